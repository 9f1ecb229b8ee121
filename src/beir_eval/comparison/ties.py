"""How far the order of equal scores decides the means of the systems of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.records import TieRange
from beir_eval.core.arrays import exact_sum
from beir_eval.evaluation.query_scores import scores_at_tie_extremes
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.to_judge import ComparedRuns
    from beir_eval.evaluation.result import EvaluationResult


def tie_ranges(
    compared: ComparedRuns, results: Mapping[str, Sequence[EvaluationResult]]
) -> Iterator[TieRange]:
    """Yield the ranges of the means of the systems whose mean depends on the order of equal scores.

    They are those of ``Evaluator.tie_ranges`` over the queries compared, means over repeats.

    Args:
        compared: the runs of the comparison.
        results: the results of each system.
    """
    decisions = compared.decisions
    measures = [measure for measure in map(parse, decisions.measures) if measure.has_tie_extremes]
    tied = [system for system in decisions.systems if any(map(_has_ties, results[system]))]
    if not measures or not tied:
        return
    qrels = compared.qrels.select(decisions.query_ids)
    ends = {
        system: np.mean(
            [
                scores_at_tie_extremes(qrels, run, measures, compared.settings)
                for run in compared.runs[system]
            ],
            axis=0,
        )
        for system in tied
    }
    for index, name in enumerate(map(str, measures)):
        is_compared = ~np.isnan(decisions.scores[name].array).any(axis=0)
        for system, (last, first) in ends.items():
            low, high = (
                exact_sum(scores[index][is_compared]) / int(is_compared.sum())
                for scores in (last, first)
            )
            if low < high:
                yield TieRange(measure=name, system=system, low=low, high=high)


def _has_ties(result: EvaluationResult) -> bool:
    return result.counted is not None and result.counted.tied_documents > 0
