"""Checks of a result that was loaded from a file: names and scores are possible."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.errors import InputError, first_few, shown
from beir_eval.evaluation.given_scores import check_within
from beir_eval.measures import parse
from beir_eval.measures.names import registered
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.evaluation.score_matrix import ScoreMatrix
    from beir_eval.measures.scales import ScoreScale


def check_result(result: EvaluationResult) -> None:
    """Check that a result lists each measure once, and holds scores that the measures can have.

    Raises:
        ValueError: it does not; the message begins with the name of the field.
    """
    check_unique("measures", result.measures)
    check_scores("values", result.values, result.measures, result.query_ids, result.custom_measures)


def check_unique(field: str, names: Sequence[Hashable]) -> None:
    """Raise ValueError if a name is listed twice.

    Args:
        field: the field with the names, for the message.
        names: the names, or tuples of names.
    """
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        msg = f"{field}: listed more than once: {first_few(repeated)}"
        raise ValueError(msg)


def check_measure_names(measures: Sequence[str], custom_measures: Mapping[str, ScoreScale]) -> None:
    """Raise ValueError unless each measure is a custom one or named canonically.

    Args:
        measures: the names of the measures. [M]
        custom_measures: {name: scale} of those that are not measures of this package.
    """
    for name in measures:
        if name not in custom_measures and str(parse(name)) != name:
            msg = f"measures: {shown(name)} is not the canonical name of a measure"
            raise ValueError(msg)
    for name in custom_measures:
        if name not in measures or registered(name) is not None:
            msg = f"custom_measures: {shown(name)} is not among the measures, or not a custom one"
            raise ValueError(msg)


def check_scores(
    field: str,
    scores: ScoreMatrix,
    measures: Sequence[str],
    query_ids: Sequence[str],
    custom_measures: Mapping[str, ScoreScale],
) -> None:
    """Raise ValueError unless the scores are within the bounds of their measures.

    Infinite scores are not looked for: reading a file has refused every infinite number.

    Args:
        field: the field with the scores, for the message.
        scores: f8[M, Q].
        measures: the measure of each row. [M]
        query_ids: the query of each column. [Q]
        custom_measures: {name: scale} of the measures that are not measures of this package.
    """
    for name, row in zip(measures, scores.array, strict=True):
        try:
            check_within(name, query_ids, row, scale_of(name, custom_measures))
        except InputError as error:
            msg = f"{field}: {error}"
            raise ValueError(msg) from error
