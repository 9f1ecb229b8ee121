"""Similarity of two rankings by Kendall, RBO and overlap, and that of each pair in a comparison."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.differences import MOST_PAIRS
from beir_eval.core.saved import FROZEN
from beir_eval.evaluation.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult

#: Likeness is left out for more pairs of systems than ``MOST_PAIRS``, or pairs times queries.
MOST_RANKING_PAIRS = 100_000
#: The rows of ``Likeness.values``.
LIKENESS_ROWS = ("rbo", "overlap", "kendall_distance")


class RBO(NamedTuple):
    """Rank-biased overlap of two rankings, of which only the top documents are known.

    Attributes:
        lowest: the lower bound: no further document is shared below the known ones.
        residual: the upper bound minus the lower bound, that is, how much the unknown documents
            could add.
        extrapolated: the estimate: the agreement stays as it is at the end of the known documents.
    """

    lowest: float
    residual: float
    extrapolated: float


def kendall_distance(
    first: Sequence[str],
    second: Sequence[str],
    *,
    k: int | None = None,
    penalty: float = 0.5,
) -> float:
    """Return the share of document pairs on whose order two top-k lists disagree, 0 to 1.

    Formula: K / (n(n−1)/2) over the n documents of either list. A pair of documents counts 1 if the
    lists order it differently. A document absent from a list ranks below all documents in the
    list. A pair of which one list has neither document counts ``penalty``. Equal lists have 0,
    reversed lists 1, lists that differ by one swap of neighbours 1 / (n(n−1)/2), disjoint lists of
    k documents (3k−1)/(4k−2) with penalty ½.

    Undefined if there is no pair: NaN, but 0 if both lists hold the same single document.

    Args:
        first: document ids, best first.
        second: document ids of the other ranking, best first.
        k: how many top documents of each ranking to compare; None compares all.
        penalty: what a pair counts if one list has neither of its documents, from 0 to 1.

    Source: Kendall, 1938; Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete
    Mathematics 17(1), 2003 (K with penalty parameter p).

    >>> kendall_distance(["a", "b", "c"], ["b", "a", "c"])  # 1 of 3 pairs
    0.3333333333333333
    """
    first, second = first[:k], second[:k]
    rank_in_second = {doc_id: rank for rank, doc_id in enumerate(second)}
    shared_ranks = [rank_in_second[doc_id] for doc_id in first if doc_id in rank_in_second]
    disagreeing: float = _count_inversions(shared_ranks)
    only_first = len(first) - len(shared_ranks)
    only_second = len(second) - len(shared_ranks)
    disagreeing += _count_absent_above(first, set(second)) + _count_absent_above(second, set(first))
    disagreeing += only_first * only_second
    disagreeing += penalty * (math.comb(only_first, 2) + math.comb(only_second, 2))
    num_pairs = math.comb(len(shared_ranks) + only_first + only_second, 2)
    if not num_pairs:
        return 0.0 if first and first == second else math.nan
    return disagreeing / num_pairs


def rbo(
    first: Sequence[str], second: Sequence[str], *, p: float = 0.9, k: int | None = None
) -> RBO:
    """Return rank-biased overlap: top-weighted agreement of two rankings of any length.

    Formula: (1 − p) Σ over depths d of p^(d−1) · (documents shared by the first d) / d. The sum has
    no last depth, and finite lists are the top of longer rankings, so the result has a lower bound,
    a residual and an extrapolated value (``RBO``).

    Undefined if both lists are empty: NaN. If one list is empty, the extrapolated value is 0.

    Args:
        first: document ids, best first.
        second: document ids of the other ranking, best first.
        p: the persistence, the probability that a reader goes on to the next rank; at least 1e-6
            and below 1.
        k: how many top documents of each ranking to compare; None compares all.

    Source: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4),
    2010; extrapolation for lists of different lengths by its equation 32.

    >>> round(rbo([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], p=0.9).extrapolated, 3)
    0.828
    """
    short, long = sorted((first[:k], second[:k]), key=len)
    if not long:
        return RBO(math.nan, math.nan, math.nan)
    s, l = len(short), len(long)  # noqa: E741 - the letters of the paper
    rank_in_short = {doc_id: rank for rank, doc_id in enumerate(short)}
    num_new = np.zeros(l)
    for rank, doc_id in enumerate(long):
        if doc_id in rank_in_short:
            num_new[max(rank, rank_in_short[doc_id])] += 1
    shared = np.cumsum(num_new)  # by the first d of both lists, for d = 1 … l
    depth = np.arange(1, l + 1, dtype=np.float64)
    weight = np.power(p, depth)
    scale = (1.0 - p) / p
    # The lower bound: the number shared stays X_l, and Σ p^d/d over all d is −ln(1 − p).
    last = shared[-1]
    lowest = scale * (np.sum((shared - last) * weight / depth) - last * math.log1p(-p))
    # The upper bound: as much as possible is shared below the known documents; from depth f on,
    # all of it.
    f = l + s - int(last)
    deeper = np.arange(1, f + 1, dtype=np.float64)
    known = np.concatenate([shared, np.full(f - l, last)])
    possible = np.maximum(deeper - s, 0) + np.maximum(deeper - l, 0)
    highest = scale * np.sum((known + possible) / deeper * np.power(p, deeper)) + p**f
    if s:
        extrapolated_shared = shared + np.maximum(depth - s, 0) * shared[s - 1] / s
        agreement = (last - shared[s - 1]) / l + shared[s - 1] / s
        extrapolated = scale * np.sum(extrapolated_shared / depth * weight) + agreement * p**l
    else:
        extrapolated = 0.0
    return RBO(float(lowest), float(highest - lowest), float(extrapolated))


def overlap(first: Sequence[str], second: Sequence[str], *, k: int) -> float:
    """Return the share of documents that two top-k lists have in common, 0 to 1.

    Formula: (number of documents in the first k of both lists) / k. If both lists are shorter than
    k, the denominator is the length of the longer list.

    Undefined if both lists are empty: NaN.

    Args:
        first: document ids, best first.
        second: document ids of the other ranking, best first.
        k: how many top documents of each ranking to compare, a whole number above 0.

    >>> overlap(["a", "b", "c"], ["c", "x", "a"], k=2)
    0.0
    """
    first, second = first[:k], second[:k]
    longest = max(len(first), len(second))
    return len(set(first) & set(second)) / longest if longest else math.nan


def _count_inversions(ranks: Sequence[int]) -> int:
    """Return how many pairs of the list are in descending order."""
    earlier_ranks: list[int] = []
    count = 0
    for rank in ranks:
        count += len(earlier_ranks) - bisect_left(earlier_ranks, rank)
        insort(earlier_ranks, rank)
    return count


def _count_absent_above(ranking: Sequence[str], other_ids: set[str]) -> int:
    """Return how many pairs have a document absent from the other list above one that it has."""
    num_absent = count = 0
    for doc_id in ranking:
        if doc_id in other_ids:
            count += num_absent
        else:
            num_absent += 1
    return count


# Each pair in a comparison


class Likeness(BaseModel):
    """The ranking similarity of the top documents, over the queries that both systems have.

    A number is a mean over the queries for which it is defined, or None if there is no such query.

    Attributes:
        system, against: the names of the systems; only the first of a system's repeats is compared.
        k: how many top documents of each ranking are compared at most.
        rbo: rank-biased overlap, extrapolated.
        rbo_lowest, rbo_highest: the bounds of RBO, whatever documents rank below those compared.
        overlap: the share of the documents compared that both have.
        kendall_distance: the share of document pairs that the two order differently; a pair of
            which one list has neither document counts ½.
        values: rbo, overlap and kendall_distance of every query of the comparison, f8[3, Q]; NaN
            where a system lacks the query or the value is undefined.
    """

    model_config = FROZEN

    system: str
    against: str
    k: int
    rbo: float | None
    rbo_lowest: float | None
    rbo_highest: float | None
    overlap: float | None
    kendall_distance: float | None
    values: ScoreMatrix


def likeness_of(
    comparison: Compared, results: Mapping[str, Sequence[EvaluationResult]], k: int
) -> tuple[Likeness, ...] | None:
    """Return the likeness of each pair; None for too many pairs.

    Args:
        comparison: its pairs and queries are used.
        results: {system: results of its repeats} with their top documents, which the evaluation
            has ranked; the first repeat is compared.
        k: how many top documents to compare at most; fewer if a result has kept fewer.
    """
    pairs = dict.fromkeys((pair.system, pair.against) for pair in comparison.differences)
    if len(pairs) > MOST_PAIRS or len(pairs) * len(comparison.query_ids) > MOST_RANKING_PAIRS:
        return None
    kept = [_num_kept(repeats[0]) for repeats in results.values()]
    k = min([k, *(count for count in kept if count is not None)])
    rankings = {
        name: {
            query_id: list(dict.fromkeys(top[query_id].doc_ids))  # each document counts once
            for query_id in comparison.query_ids
            if query_id in top
        }
        for name, repeats in results.items()
        for top in [repeats[0].top or {}]
    }
    likeness = []
    for system, against in pairs:
        first, second = rankings[system], rankings[against]
        similarities = np.full((len(LIKENESS_ROWS) + 2, len(comparison.query_ids)), np.nan)
        for column, query_id in enumerate(comparison.query_ids):
            if query_id in first and query_id in second:
                pair = first[query_id], second[query_id]
                bounded = rbo(*pair, k=k)
                similarities[:, column] = (
                    bounded.extrapolated,
                    overlap(*pair, k=k),
                    kendall_distance(*pair, k=k),
                    bounded.lowest,
                    bounded.residual,
                )
        means = [_mean_of_defined(values) for values in similarities]
        rbo_mean, overlap_mean, kendall_mean, lowest, residual = means
        likeness.append(
            Likeness(
                system=system,
                against=against,
                k=k,
                rbo=rbo_mean,
                rbo_lowest=lowest,
                rbo_highest=None if lowest is None or residual is None else lowest + residual,
                overlap=overlap_mean,
                kendall_distance=kendall_mean,
                values=ScoreMatrix.from_owned_array(similarities[: len(LIKENESS_ROWS)].copy()),
            )
        )
    return tuple(likeness)


def _num_kept(result: EvaluationResult) -> int | None:
    """Return how many top documents a result has kept of each ranking; None for all."""
    longest = max((len(top.doc_ids) for top in (result.top or {}).values()), default=0)
    counted = result.counted
    is_whole = not longest or (counted is not None and longest >= counted.deepest_ranking)
    return None if is_whole else longest


def _mean_of_defined(values: Floats) -> float | None:
    """Return the mean of the values that are no NaN, f8[Q]; None without such values."""
    defined = values[~np.isnan(values)].tolist()
    return math.fsum(defined) / len(defined) if defined else None
