"""Similarity of two rankings, lists of different document ids: Kendall, RBO, overlap."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats


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
    return _share_of_pairs(
        disagreeing,
        len(shared_ranks) + only_first + only_second,
        same=first == second,
    )


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
    return _rbo_of_lists(short, long, p)


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


def _share_of_pairs(num_disagreeing: float, num_documents: int, *, same: bool) -> float:
    """Return the disagreeing share of all pairs of documents.

    Without a pair it is 0 for equal lists of one document (``same``), and NaN otherwise.
    """
    num_pairs = math.comb(num_documents, 2)
    if not num_pairs:
        return 0.0 if num_documents and same else math.nan
    return num_disagreeing / num_pairs


def _rbo_of_lists(short: Sequence[str], long: Sequence[str], p: float) -> RBO:
    """Return the RBO of two lists; ``short`` may be empty, ``long`` not."""
    s, l = len(short), len(long)  # noqa: E741 - the letters of the paper
    shared = _shared_by_depth(short, long)
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


def _shared_by_depth(short: Sequence[str], long: Sequence[str]) -> Floats:
    """Return how many documents the first d of both lists share, for d = 1 … len(long), f8[l]."""
    rank_in_short = {doc_id: rank for rank, doc_id in enumerate(short)}
    num_new = np.zeros(len(long))
    for rank, doc_id in enumerate(long):
        if doc_id in rank_in_short:
            num_new[max(rank, rank_in_short[doc_id])] += 1
    return np.cumsum(num_new)
