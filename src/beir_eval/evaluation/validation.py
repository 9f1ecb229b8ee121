"""Checks of a result that was loaded from a file: scores, settings and counts fit each other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.errors import InputError, first_few, shown
from beir_eval.evaluation.given_scores import check_within
from beir_eval.measures import parse
from beir_eval.measures.names import registered
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Counted
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.evaluation.score_matrix import ScoreMatrix
    from beir_eval.measures.scales import ScoreScale

#: No count of queries or documents is higher: shares and means of higher ones overflow a float.
_HIGHEST_COUNT = 2**53


def check_result(result: EvaluationResult) -> None:
    """Check that scores, settings and counts of a result fit each other.

    Raises:
        ValueError: they do not; the message begins with the name of the field.
    """
    check_unique("measures", result.measures)
    check_scores("values", result.values, result.measures, result.query_ids, result.custom_measures)
    counted, settings = result.counted, result.settings
    if counted is None or settings is None:
        return
    if result.skipped_values is not None:
        check_scores(
            "skipped_values", result.skipped_values, result.measures, counted.queries_missing, {}
        )
    _check_counts(counted)
    _check_queries(result, counted, settings)
    if settings.duplicates == "error" and counted.duplicates:
        msg = (
            f"counted.duplicates: {counted.duplicates:,}, but with settings.duplicates='error' "
            "there can be none"
        )
        raise ValueError(msg)
    _check_top(result, counted)
    if (retrieval := result.retrieval) is not None:
        negative = [query_id for query_id, value in retrieval.seconds.items() if value < 0]
        counts = (
            retrieval.repeated,
            retrieval.further_chunks,
            retrieval.unnamed,
            retrieval.without_parent,
            retrieval.beyond_limit,
        )
        if negative or min(counts) < 0:
            msg = f"retrieval: a duration or a count is below 0 ({first_few(negative)})"
            raise ValueError(msg)


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


def _check_counts(counted: Counted) -> None:
    """Raise ValueError for an impossible count."""
    for name in type(counted).model_fields:
        value = getattr(counted, name)
        if isinstance(value, int) and not isinstance(value, bool) and value < 0:
            msg = f"counted.{name}: {value} is below 0"
            raise ValueError(msg)
        if isinstance(value, int) and value > _HIGHEST_COUNT:
            msg = f"counted.{name}: a number of {len(str(value))} digits is no count"
            raise ValueError(msg)
        if isinstance(value, tuple):
            check_unique(f"counted.{name}", value)
    for cutoff, (judged, retrieved) in counted.judged_in_top.items():
        if cutoff < 1 or not 0 <= judged <= retrieved:
            msg = f"counted.judged_in_top: {judged} of {retrieved} documents in the top {cutoff}"
            raise ValueError(msg)
        if max(cutoff, retrieved) > _HIGHEST_COUNT:
            digits = len(str(max(cutoff, retrieved)))
            msg = f"counted.judged_in_top: a number of {digits} digits is no count"
            raise ValueError(msg)


def _check_queries(
    result: EvaluationResult, counted: Counted, settings: EvaluationSettings
) -> None:
    """Raise ValueError unless the evaluated queries are those that counts and settings imply."""
    evaluated, missing = set(result.query_ids), set(counted.queries_missing)
    skipped = settings.missing == "skip"
    expected = counted.queries_judged - (len(missing) if skipped else 0)
    if len(evaluated) != expected:
        msg = (
            f"query_ids: {len(evaluated):,} queries, but counted.queries_judged and "
            f"settings.missing={settings.missing!r} imply {expected:,}"
        )
        raise ValueError(msg)
    if settings.missing == "error" and missing:
        msg = (
            f"counted.queries_missing: {first_few(counted.queries_missing)}, but with "
            "settings.missing='error' there can be none"
        )
        raise ValueError(msg)
    if (result.skipped_values is not None) != (skipped and bool(missing)):
        msg = (
            "skipped_values: expected exactly if settings.missing='skip' and queries are missing, "
            f"but there are {'no ' if result.skipped_values is None else ''}scores"
        )
        raise ValueError(msg)
    if skipped:
        _check_among("query_ids", result.query_ids, missing, expected=False)
    else:
        _check_among("counted.queries_missing", counted.queries_missing, evaluated)
    judged = evaluated | missing
    _check_among("counted.queries_empty", counted.queries_empty, judged - missing)
    _check_among("counted.queries_without_relevant", counted.queries_without_relevant, evaluated)


def _check_among(
    field: str, query_ids: Sequence[str], others: Collection[str], *, expected: bool = True
) -> None:
    """Raise ValueError unless all query ids are among others, or none is."""
    wrong = [query_id for query_id in query_ids if (query_id in others) is not expected]
    if wrong:
        problem = "not among the queries that it can hold" if expected else "counted as missing"
        msg = f"{field}: {first_few(wrong)} {'are' if len(wrong) > 1 else 'is'} {problem}"
        raise ValueError(msg)


def _check_top(result: EvaluationResult, counted: Counted) -> None:
    """Raise ValueError unless the top documents are those of queries that the run has."""
    top = result.top or {}
    retrieved = set(result.query_ids) - set(counted.queries_missing)
    _check_among("top", list(top), retrieved)
    for query_id, documents in top.items():
        lengths = {len(documents.doc_ids), len(documents.grades)}
        if documents.scores is not None:
            lengths.add(len(documents.scores))
        if len(lengths) > 1:
            msg = f"top: query {query_id!r} has lists of different lengths"
            raise ValueError(msg)
