"""Checks of a record that was loaded from a file: its names are possible."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.errors import first_few, shown
from beir_eval.measures import parse
from beir_eval.measures.names import registered

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from beir_eval.measures.scales import ScoreScale


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
