"""How far the order of equal scores decides the means of the systems of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.records import TieRange
from beir_eval.core.arrays import exact_sum
from beir_eval.core.relevance_matrix import relate
from beir_eval.display.tables import Table, score_text
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.decisions import Decisions
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.unjudged.analysis import EvaluatedRuns
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.evaluation.result import EvaluationResult


def tie_ranges(decisions: Decisions, evaluated: EvaluatedRuns) -> Iterator[TieRange]:
    """Yield the ranges of the means of the systems whose mean depends on the order of equal scores.

    Scores are equal in the precision of the tie rule. Measures without such extremes have none.

    Args:
        decisions: the decisions of the comparison.
        evaluated: its runs and their results.
    """
    measures = [name for name in decisions.measures if parse(name).has_tie_extremes]
    settings = evaluated.settings
    if settings.order == "given" or not measures:
        return
    of_systems = {
        system: (
            _matrices(evaluated, system, "worst"),
            _matrices(evaluated, system, "best"),
        )
        for system in decisions.systems
        if any(map(_has_ties, evaluated.results[system]))
    }
    for name in measures:
        compared = ~np.isnan(decisions.scores[name].array).any(axis=0)
        for system, (worst, best) in of_systems.items():
            low, high = (
                exact_sum(
                    np.mean([parse(name).scores(matrix) for matrix in matrices], axis=0)[
                        _rows_of(decisions, matrices[0])[compared]
                    ]
                )
                / int(compared.sum())
                for matrices in (worst, best)
            )
            if low < high:
                yield TieRange(measure=name, system=system, low=low, high=high)


def _has_ties(result: EvaluationResult) -> bool:
    return result.counted is not None and result.counted.tied_documents > 0


def _matrices(evaluated: EvaluatedRuns, system: str, extreme: str) -> Sequence[RelevanceMatrix]:
    """Return the matrix of each run of a system with its ties in the best or the worst order."""
    return [
        relate(evaluated.qrels, run, evaluated.settings, extreme=extreme)[0]
        for run in evaluated.runs[system]
    ]


def _rows_of(decisions: Decisions, matrix: RelevanceMatrix) -> np.ndarray:
    """Return the row of each query of the comparison in a matrix, i8[Q]."""
    row_of = {query_id: row for row, query_id in enumerate(matrix.query_ids)}
    return np.array([row_of[query_id] for query_id in decisions.query_ids], dtype=np.int64)


def ties_table(comparison: Comparison) -> Table:
    """Return a table of the ranges, a row for each system and measure."""
    return Table(
        ("measure", "system", "relevant last", "relevant first"),
        [
            (ties.measure, ties.system, score_text(ties.low), score_text(ties.high))
            for ties in comparison.ties
        ],
    )


#: What the table shows.
TIES_TITLE = "Means with other orders of equal scores"


def widest_ties(comparison: Comparison) -> Mapping[str, TieRange]:
    """Return {system: its range on the first measure} where it is wider than the margin."""
    return {
        ties.system: ties
        for ties in comparison.ties
        if ties.measure == comparison.measures[0]
        and ties.high - ties.low > comparison.settings.margin
    }
