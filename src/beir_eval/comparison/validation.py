"""Checks of comparisons that were loaded from files: their systems and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.errors import first_few
from beir_eval.evaluation.validation import check_measure_names, check_unique

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
