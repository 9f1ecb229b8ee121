"""Checks of comparisons that were loaded from files: every mean and every pair is there, once."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from beir_eval.errors import first_few
from beir_eval.evaluation.validation import check_measure_names, check_unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.measures.scales import ScoreScale


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
