"""How alike the compared systems rank: ``Likeness`` of each pair, computed and as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.agreement import agree
from beir_eval.comparison.tables import low_to_high, value_or_unknown
from beir_eval.core.run import Run
from beir_eval.core.saved import FROZEN
from beir_eval.display.tables import Table
from beir_eval.errors import QueryMismatchError
from beir_eval.evaluation.score_matrix import ScoreMatrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.agreement import Agreement
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

#: Beyond it likeness is left out: pairs of systems, and pairs times queries.
MOST_PAIRS, MOST_RANKINGS = 45, 100_000
#: The rows of ``Likeness.values``.
LIKENESS_ROWS = ("rbo", "overlap", "kendall_distance")
_COLUMNS = ("system", "against", "RBO", "RBO bounds", "overlap", "Kendall distance")


class Likeness(BaseModel):
    """How alike the rankings of two systems are, over the queries that both have.

    Attributes:
        system, against: their names; of a system's repeats the first is taken.
        k: how deep.
        rbo: rank-biased overlap, extrapolated; the mean, as all that follow. None, as they, where
            the systems share no query.
        rbo_lowest, rbo_highest: its bounds, whatever stands below k.
        overlap: the share of the first k documents that both have.
        kendall_distance: the share of document pairs that the two order differently.
        values: by query, f8[3, Q]: rbo, overlap, kendall_distance; NaN where a system lacks the
            query or nothing is retrieved.
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
    comparison: Comparison, results: Mapping[str, Sequence[EvaluationResult]], k: int
) -> tuple[Likeness, ...] | None:
    """Return how alike each pair ranks, by the top lists of its results; None for too many pairs.

    The lists are ranked already, by the rules of the evaluation.
    """
    if has_too_many_pairs(comparison):
        return None
    tops = {name: _top_lists(comparison, repeats[0]) for name, repeats in results.items()}
    return tuple(
        _likeness(comparison, system, against, _agreement(tops[system], tops[against], k), k)
        for system, against in _pairs(comparison)
    )


def has_too_many_pairs(comparison: Comparison) -> bool:
    """Return whether likeness is not computed because there are too many pairs of systems."""
    pairs = len(_pairs(comparison))
    return pairs > MOST_PAIRS or pairs * len(comparison.query_ids) > MOST_RANKINGS


def _pairs(comparison: Comparison) -> dict[tuple[str, str], None]:
    return dict.fromkeys((one.system, one.against) for one in comparison.differences)


def _top_lists(comparison: Comparison, result: EvaluationResult) -> Run:
    top = result.top or {}
    return Run.from_rankings(
        {query_id: top[query_id].doc_ids for query_id in comparison.query_ids if query_id in top}
    )


def _agreement(one: Run, other: Run, k: int) -> Agreement | None:
    try:
        return agree(one, other, k=k, duplicates="first")
    except QueryMismatchError:  # each lacks the queries that the other has
        return None


def _likeness(
    comparison: Comparison, system: str, against: str, found: Agreement | None, k: int
) -> Likeness:
    values = np.full((len(LIKENESS_ROWS), len(comparison.query_ids)), np.nan)
    means: dict[str, float] = {}
    if found is not None:
        place_of = {query_id: place for place, query_id in enumerate(comparison.query_ids)}
        places = [place_of[query_id] for query_id in found.query_ids]
        for row, name in zip(values, LIKENESS_ROWS, strict=True):
            row[places] = found.per_query[name]
        means = {name: value for name, value in found.mean.items() if not math.isnan(value)}
    lowest = means.get("rbo_lowest")
    return Likeness(
        system=system,
        against=against,
        k=k,
        rbo=means.get("rbo"),
        rbo_lowest=lowest,
        rbo_highest=None if lowest is None else lowest + means["rbo_residual"],
        overlap=means.get("overlap"),
        kendall_distance=means.get("kendall_distance"),
        values=ScoreMatrix.owning(values),
    )


def likeness_table(comparison: Comparison) -> Table:
    """Return how alike every pair ranks."""
    return Table(
        _COLUMNS,
        [
            (
                one.system,
                one.against,
                value_or_unknown(one.rbo),
                low_to_high(one.rbo_lowest, one.rbo_highest),
                value_or_unknown(one.overlap),
                value_or_unknown(one.kendall_distance),
            )
            for one in comparison.likeness or ()
        ],
    )


def likeness_section(comparison: Comparison) -> str:
    """Return how alike every pair ranks, as markdown without the notes; "" if unknown."""
    if not comparison.likeness:
        return ""
    k = comparison.likeness[0].k
    table = likeness_table(comparison).markdown()
    return f"\n### How alike the first {k} documents are\n\n{table}\n"


def likeness_notes(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader must know of how likeness was found, or why not."""
    judged = comparison.to_judge is not None
    if judged and comparison.likeness is None and has_too_many_pairs(comparison):
        yield (
            f"how alike the rankings are is looked at for at most {MOST_PAIRS} pairs, and "
            f"{MOST_RANKINGS} pairs times queries: name a baseline"
        )
    if comparison.likeness and any(one.repeats > 1 for one in comparison.means):
        yield "how alike the rankings are: of a system's repeats, the first is taken"
