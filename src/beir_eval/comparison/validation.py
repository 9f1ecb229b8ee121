"""Checks of comparisons that were loaded from files: their systems and measures."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from beir_eval.comparison.differences import pairs_to_compare
from beir_eval.errors import first_few
from beir_eval.evaluation.validation import check_measure_names, check_unique

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.result import Comparison
    from beir_eval.measures.scales import ScoreScale


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


def check_pairs(comparison: Comparison) -> None:
    """Check that means, differences and results are of the systems and the measures.

    Raises:
        ValueError: one is missing, listed twice, or of another system; the message begins with the
            field.
    """
    systems, results = comparison.systems, comparison.results
    pairs = [
        (systems[pair.system], systems[pair.against])
        for pair in pairs_to_compare(systems, comparison.baseline).listed
    ]
    differences = [(pair.measure, (pair.system, pair.against)) for pair in comparison.differences]
    means = [(mean.measure, mean.system) for mean in comparison.means]
    for name, stated, expected in (
        ("results", [*results], [*(results and systems)]),
        ("means", means, [*product(comparison.measures, systems)]),
        ("differences", differences, [*product(comparison.measures, pairs)]),
    ):
        if sorted(stated) != sorted(expected):
            msg = f"{name}: one was expected for each of {first_few(expected)}"
            raise ValueError(msg)
    for likeness in comparison.likeness or ():
        if not {likeness.system, likeness.against} <= {*systems}:
            msg = f"likeness: {likeness.system!r} or {likeness.against!r} is not among the systems"
            raise ValueError(msg)
