"""Scores that were computed elsewhere, or loaded from a file: read, and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.ids import checked_query_ids
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.errors import (
    InputError,
    MeasureError,
    SettingError,
    UnknownMeasureError,
    first_few,
    shown,
)
from beir_eval.measures import parse
from beir_eval.measures.names import registered
from beir_eval.measures.scales import ScoreScale, scale_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from beir_eval.core.arrays import Floats

#: The columns that tables of scores by query have beside the measures.
_COLUMNS = ("query_id", "system")


class GivenScores(NamedTuple):
    """Scores that were computed elsewhere, as arrays.

    Attributes:
        measures: canonical names, and the names of custom measures. [M]
        query_ids: the queries with a score on any measure. [Q]
        values: f8[M, Q], NaN where a query has no score.
        custom_measures: {name: scale} of the measures that are not in the registry.
    """

    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    custom_measures: dict[str, ScoreScale]


def read_given_scores(scores: Any, bounds: Any, higher_is_better: Any) -> GivenScores:
    """Return checked scores; the arguments and errors are those of ``from_scores``."""
    if not isinstance(scores, Mapping) or not all(
        isinstance(by_query, Mapping) for by_query in scores.values()
    ):
        msg = f"scores must be {{measure: {{query_id: score}}}}, not {type(scores).__name__}"
        if isinstance(scores, Mapping):
            msg = f"{msg} of values that are not all mappings {{query_id: score}}"
        raise InputError(msg)
    if not scores:
        msg = "scores hold no measure; {measure: {query_id: score}} was expected"
        raise InputError(msg)
    canonical_of = {given: _canonical_name(given) for given in scores}
    _check_distinct(canonical_of)
    custom_measures = _custom_scales(canonical_of, bounds, higher_is_better)
    rows = []
    for given, by_query in scores.items():
        query_ids = checked_query_ids(list(by_query), f"scores of {given}", InputError)
        rows.append(dict(zip(query_ids, by_query.values(), strict=True)))
    query_ids = list(dict.fromkeys(query_id for row in rows for query_id in row))
    if not query_ids:
        msg = "scores hold no query; {measure: {query_id: score}} was expected"
        raise InputError(msg)
    values = np.empty((len(rows), len(query_ids)))
    for index, (name, row) in enumerate(zip(canonical_of.values(), rows, strict=True)):
        values[index] = _row_of_scores(name, row, query_ids)
        _check_within(name, query_ids, values[index], scale_of(name, custom_measures))
    return GivenScores(tuple(canonical_of.values()), tuple(query_ids), values, custom_measures)


def _canonical_name(given: Any) -> str:
    """Return the canonical name of a registered measure, or the name of a custom one, checked."""
    if not isinstance(given, str):
        return str(parse(given))
    measure = registered(given)
    if measure is not None:
        return str(measure)
    if not given or not given.isprintable() or given != given.strip() or given in _COLUMNS:
        msg = (
            f"{given!r} cannot be the name of a custom measure: a name is printable text without "
            f"blanks around it, and not {' or '.join(_COLUMNS)}"
        )
        raise MeasureError(msg)
    return given


def _check_distinct(canonical_of: Mapping[Any, str]) -> None:
    """Raise MeasureError if two of the names given are of the same measure."""
    given_by_name: dict[str, str] = {}
    for given, name in canonical_of.items():
        if name in given_by_name:
            msg = f"{given_by_name[name]!r} and {str(given)!r} are both {name}; keep one of the two"
            raise MeasureError(msg)
        given_by_name[name] = str(given)


def _custom_scales(
    canonical_of: Mapping[Any, str], bounds: Any, higher_is_better: Any
) -> dict[str, ScoreScale]:
    """Return {name: scale} of the custom measures among the names given.

    Raises:
        UnknownMeasureError: ``higher_is_better`` is not stated for one of them.
        SettingError: a statement is about another measure, or its value is not allowed.
    """
    custom = [name for name in canonical_of.values() if registered(name) is None]
    bounds_of = _by_measure("bounds", bounds, canonical_of, custom)
    direction_of = _by_measure("higher_is_better", higher_is_better, canonical_of, custom)
    scales = {}
    for name in custom:
        direction = direction_of.get(name)
        if direction is None:
            raise _no_direction(name)
        try:
            scales[name] = ScoreScale(bounds_of.get(name), direction)
        except SettingError as error:
            msg = f"{name}: {error}"
            raise SettingError(msg) from error
    return scales


def _no_direction(name: str) -> UnknownMeasureError:
    """Return the error for a name that no measure has, if its direction was not stated."""
    try:
        parse(name)
    except UnknownMeasureError as error:
        reason = str(error)
    return UnknownMeasureError(
        f"{reason}. If {name!r} is a custom measure, state higher_is_better=True or False, and "
        "bounds=(lowest, highest) if its scores have bounds"
    )


def _by_measure(
    setting: str, stated: Any, canonical_of: Mapping[Any, str], custom: Sequence[str]
) -> dict[str, Any]:
    """Return {custom measure: value} of a setting that is stated for all of them or by measure.

    Raises:
        SettingError: there is no custom measure, or a measure named is not a custom one.
    """
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        named, values = list(canonical_of), dict.fromkeys(custom, stated)
        others = [] if custom else named
    else:
        values = dict(stated)
        others = [name for name in values if name not in custom]
    if others:
        names = ", ".join(f"{str(name)!r}" for name in others[:5])
        registered_names = [
            f"{str(name)!r} is {canonical_of[name]}" for name in others if name in canonical_of
        ]
        reason = (
            f"{', '.join(registered_names[:5])}, whose bounds and direction are known; a custom "
            "measure needs another name"
            if registered_names
            else f"scores hold {first_few(map(str, canonical_of))}"
        )
        msg = f"{setting} is stated for {names}, which is not a custom measure here: {reason}"
        raise SettingError(msg)
    return values


def _row_of_scores(name: str, row: Mapping[str, Any], query_ids: Sequence[str]) -> Floats:
    """Return the scores of one measure, f8[Q]; NaN where a query has none.

    Raises:
        InputError: a score is infinite or not a number.
    """
    scores = np.full(len(query_ids), np.nan)
    for index, query_id in enumerate(query_ids):
        score = row.get(query_id)
        if score is None or _is_nan(score):
            continue
        if isinstance(score, (bool, np.bool_)) or not is_finite_number(score):
            msg = (
                f"{name}: the score of query {query_id!r} is {score!r}; a score must be a finite "
                "number, or NaN or None if the query has no score"
            )
            raise InputError(msg)
        scores[index] = float(score)
    return scores


def _is_nan(score: Any) -> bool:
    """Return whether a score is a NaN of any type."""
    return hasattr(score, "__float__") and bool(np.ndim(score) == 0 and score != score)  # noqa: PLR0124


def _check_within(name: str, query_ids: Sequence[str], scores: Floats, scale: ScoreScale) -> None:
    """Raise InputError if a score lies outside the bounds of its measure.

    A score that exceeds a bound by rounding is set to it, in place.

    Args:
        name: the measure, for the message.
        query_ids: the queries. [Q]
        scores: their scores, f8[Q]; NaN is not checked.
        scale: the bounds of the measure.
    """
    if scale.bounds is None:
        return
    low, high = scale.bounds
    outside = np.flatnonzero(scale.is_outside(scores))
    if len(outside):
        index = int(outside[0])
        remedy = (
            "a share is a number from 0 to 1, so divide percentages by 100"
            if registered(name) is not None
            else "correct the score, or state other bounds"
        )
        msg = (
            f"{name}: the score of query {query_ids[index]!r} is {scores[index]:g}, outside the "
            f"bounds {low:g} to {high:g} ({len(outside)} of {len(query_ids)} scores are): {remedy}"
        )
        raise InputError(msg)
    np.clip(scores, low, high, out=scores)


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
