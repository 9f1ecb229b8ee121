"""Checks of comparisons that were loaded from files: every mean and every pair is there, once."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from beir_eval.errors import first_few
from beir_eval.evaluation.validation import check_measure_names, check_unique
from beir_eval.measures.scales import ROUNDING, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.records import Difference
    from beir_eval.measures.scales import ScoreScale


class Mean(Protocol):
    """The fields that every record of a mean has."""

    measure: str
    mean: float


class Pair(Protocol):
    """The fields that every record of a pair of systems has."""

    system: str
    against: str


def check_names(
    systems: Sequence[str],
    baseline: str | None,
    measures: Sequence[str],
    custom_measures: Mapping[str, ScoreScale],
) -> None:
    """Check the systems and the measures of a comparison.

    Args:
        systems: the names of the systems. [S]
        baseline: one of them, or None.
        measures: the names of the measures. [M]
        custom_measures: {name: scale} of those that are not measures of this package.

    Raises:
        ValueError: a name is listed twice, the baseline is not among the systems, or a measure is
            neither a custom one nor named canonically; the message begins with the field.
    """
    check_unique("systems", systems)
    check_unique("measures", measures)
    if baseline is not None and baseline not in systems:
        msg = f"baseline: {baseline!r} is not among the systems {first_few(systems)}"
        raise ValueError(msg)
    check_measure_names(measures, custom_measures)


def check_among(field: str, actual: Iterable[object], expected: Iterable[object]) -> None:
    """Raise ValueError unless a field holds at most one entry for each of the keys, and no other.

    Args:
        field: the field, for the message.
        actual: the key of each entry, such as (measure, system).
        expected: the keys, each once.
    """
    counts, known = Counter(actual), set(expected)
    others = [key for key, count in counts.items() if count > 1 or key not in known]
    if others:
        msg = f"{field}: repeated, or not of this comparison: {first_few(others)}"
        raise ValueError(msg)


def check_each_once(field: str, actual: Iterable[object], expected: Iterable[object]) -> None:
    """Raise ValueError unless a field holds an entry for each of the keys expected, and no other.

    Args:
        field: the field, for the message.
        actual: the key of each entry, such as (measure, system).
        expected: the keys, each once.
    """
    entries, keys = list(actual), list(expected)  # of a dict, the keys
    present = set(entries)
    missing = [key for key in keys if key not in present]
    if missing:
        msg = f"{field}: no entry for {first_few(missing)}"
        raise ValueError(msg)
    check_among(field, entries, keys)


def check_means(
    field: str, means: Iterable[Mean], custom_measures: Mapping[str, ScoreScale]
) -> None:
    """Raise ValueError unless every mean is within the bounds of its measure.

    Args:
        field: the field that holds the means, for the message.
        means: the means.
        custom_measures: {name: scale} of the measures that are not measures of this package.
    """
    for index, record in enumerate(means):
        check_mean(f"{field}.{index}.mean", record.mean, scale_of(record.measure, custom_measures))


def check_mean(field: str, mean: float, scale: ScoreScale) -> None:
    """Raise ValueError unless a mean is within the bounds of the scores."""
    if scale.bounds is not None and scale.is_outside(mean):
        low, high = scale.bounds
        msg = f"{field}: {mean:g} is outside the bounds {low:g} to {high:g} of the measure"
        raise ValueError(msg)


def check_differences(
    field: str, differences: Sequence[Difference], custom_measures: Mapping[str, ScoreScale]
) -> None:
    """Check the numbers of differences that files may hold.

    Args:
        field: the field that holds them, for the message.
        differences: the differences.
        custom_measures: {name: scale} of the measures that are not measures of this package.

    Raises:
        ValueError: a p is outside 0 to 1, a deviation below 0, the counts of queries do not add up,
            or a difference is larger than the range of the measure.
    """
    for index, record in enumerate(differences):
        name = f"{field}.{index}"
        for p_field in ("p", "p_t", "p_corrected", "p_equal"):
            check_probability(f"{name}.{p_field}", getattr(record, p_field))
        check_probability(f"{name}.p_queries", record.p_queries or 0.0)
        for noise_field in ("repeat_deviation", "repeat_variance", "noise_to_undo"):
            if (getattr(record, noise_field) or 0.0) < 0:
                msg = f"{name}.{noise_field}: {getattr(record, noise_field):g} is below 0"
                raise ValueError(msg)
        counts = (record.wins, record.ties, record.losses)
        if min(counts) < 0 or sum(counts) != record.num_queries:
            msg = (
                f"{name}: wins, ties and losses are {counts}, which do not add up to num_queries, "
                f"{record.num_queries}"
            )
            raise ValueError(msg)
        largest = scale_of(record.measure, custom_measures).range
        if largest is not None and abs(record.difference) > largest * (1 + ROUNDING):
            msg = (
                f"{name}.difference: {record.difference:g} is more than the range of "
                f"{record.measure}, {largest:g}"
            )
            raise ValueError(msg)


def check_probability(field: str, value: float) -> None:
    """Raise ValueError unless a number is from 0 to 1."""
    if not 0 <= value <= 1:
        msg = f"{field}: {value:g} is not from 0 to 1"
        raise ValueError(msg)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, ...]]:
    """Return the pairs of systems that are compared, the two names of each in sorted order."""
    return [
        tuple(sorted(pair))
        for pair in combinations(systems, 2)
        if baseline is None or baseline in pair
    ]


def pair_of(record: Pair) -> tuple[str, ...]:
    """Return the names of the two systems of a record in sorted order."""
    return tuple(sorted((record.system, record.against)))
