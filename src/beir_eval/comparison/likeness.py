"""The ranking similarity of each pair in a comparison, without judgements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.differences import MOST_PAIRS
from beir_eval.comparison.rank_similarity import kendall_distance, overlap, rbo
from beir_eval.core.saved import FROZEN
from beir_eval.evaluation.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import Difference
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult

#: Likeness is left out for more pairs of systems than ``MOST_PAIRS``, or pairs times queries.
MOST_RANKING_PAIRS = 100_000
#: The rows of ``Likeness.values``.
LIKENESS_ROWS = ("rbo", "overlap", "kendall_distance")


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
    if has_too_many_pairs(comparison.differences, len(comparison.query_ids)):
        return None
    kept = [_num_kept(repeats[0]) for repeats in results.values()]
    k = min([k, *(count for count in kept if count is not None)])
    rankings = {name: _top_rankings(comparison, repeats[0]) for name, repeats in results.items()}
    return tuple(
        _pair_likeness(comparison, system, against, rankings[system], rankings[against], k)
        for system, against in _compared_pairs(comparison.differences)
    )


def has_too_many_pairs(differences: Sequence[Difference], num_queries: int) -> bool:
    """Return whether there are too many pairs, or pairs times queries, to compute likeness."""
    num_pairs = len(_compared_pairs(differences))
    return num_pairs > MOST_PAIRS or num_pairs * num_queries > MOST_RANKING_PAIRS


def _compared_pairs(differences: Sequence[Difference]) -> dict[tuple[str, str], None]:
    """Return the pairs (system, against) in order, each once, as the keys of a dict."""
    return dict.fromkeys((difference.system, difference.against) for difference in differences)


def _num_kept(result: EvaluationResult) -> int | None:
    """Return how many top documents a result has kept of each ranking; None for all."""
    longest = max((len(top.doc_ids) for top in (result.top or {}).values()), default=0)
    counted = result.counted
    is_whole = not longest or (counted is not None and longest >= counted.deepest_ranking)
    return None if is_whole else longest


def _top_rankings(comparison: Compared, result: EvaluationResult) -> dict[str, list[str]]:
    """Return the top documents of the compared queries, best first; each counts once."""
    top = result.top or {}
    return {
        query_id: list(dict.fromkeys(top[query_id].doc_ids))
        for query_id in comparison.query_ids
        if query_id in top
    }


def _pair_likeness(  # noqa: PLR0913, PLR0917 - a pair and its rankings
    comparison: Compared,
    system: str,
    against: str,
    first: Mapping[str, list[str]],
    second: Mapping[str, list[str]],
    k: int,
) -> Likeness:
    """Return the likeness of a pair, from the rankings of its two systems."""
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
    rbo_mean, overlap_mean, kendall_mean, lowest, residual = map(_mean_of_defined, similarities)
    return Likeness(
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


def _mean_of_defined(values: Floats) -> float | None:
    """Return the mean of the values that are no NaN, f8[Q]; None without such values."""
    defined = values[~np.isnan(values)].tolist()
    return math.fsum(defined) / len(defined) if defined else None
