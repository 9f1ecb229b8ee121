"""How alike the compared systems rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.agreement import agree
from beir_eval.comparison.robustness.records import LIKENESS_ROWS, Likeness
from beir_eval.core.run import Run
from beir_eval.errors import QueryMismatchError
from beir_eval.evaluation.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.agreement import Agreement
    from beir_eval.comparison.records import Compared
    from beir_eval.evaluation.result import EvaluationResult

#: Beyond it likeness is left out: pairs of systems, and pairs times queries.
MOST_PAIRS, MOST_RANKINGS = 45, 100_000


def likeness_of(
    compared: Compared, results: Mapping[str, EvaluationResult], k: int
) -> tuple[Likeness, ...] | None:
    """Return how alike each pair ranks, by the top lists of its results; None for too many pairs.

    The lists are ranked already, by the rules of the evaluation.
    """
    pairs = list(dict.fromkeys((one.system, one.against) for one in compared.differences))
    if len(pairs) > MOST_PAIRS or len(pairs) * len(compared.query_ids) > MOST_RANKINGS:
        return None
    tops = {name: _top_lists(compared, result) for name, result in results.items()}
    return tuple(
        _likeness(compared, system, against, _agreement(tops[system], tops[against], k), k)
        for system, against in pairs
    )


def _top_lists(compared: Compared, result: EvaluationResult) -> Run:
    top = result.top or {}
    return Run.from_rankings(
        {query_id: top[query_id].doc_ids for query_id in compared.query_ids if query_id in top}
    )


def _agreement(one: Run, other: Run, k: int) -> Agreement | None:
    try:
        return agree(one, other, k=k, duplicates="first")
    except QueryMismatchError:  # each lacks the queries that the other has
        return None


def _likeness(
    compared: Compared, system: str, against: str, found: Agreement | None, k: int
) -> Likeness:
    values = np.full((len(LIKENESS_ROWS), len(compared.query_ids)), np.nan)
    means: dict[str, float] = {}
    if found is not None:
        place_of = {query_id: place for place, query_id in enumerate(compared.query_ids)}
        places = [place_of[query_id] for query_id in found.query_ids]
        for row, name in zip(values, LIKENESS_ROWS, strict=True):
            row[places] = found.per_query[name]
        means = {name: value for name, value in found.mean.items() if not math.isnan(value)}
    lowest, residual = means.get("rbo_lowest"), means.get("rbo_residual")
    return Likeness(
        system=system,
        against=against,
        k=k,
        rbo=means.get("rbo"),
        rbo_lowest=lowest,
        rbo_highest=None if lowest is None or residual is None else lowest + residual,
        overlap=means.get("overlap"),
        kendall_distance=means.get("kendall_distance"),
        values=ScoreMatrix.owning(values),
    )
