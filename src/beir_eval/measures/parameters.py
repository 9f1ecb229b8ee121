"""Checks of the parameters of measures; a parameter's name means the same in every measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from beir_eval.errors import MeasureError, check_choice, shown

#: A gain table: (grade, gain), grades ascending.
GainTable: TypeAlias = tuple[tuple[float, float], ...]
Gain: TypeAlias = str | GainTable
#: Takes a parameter's name and value; returns the value that is stored, or raises MeasureError.
Check: TypeAlias = Callable[[str, Any], Hashable]

GAINS = ("linear", "exp")
HIGHEST_BETA = 1e6
LONGEST_TABLE = 1000
ROUNDINGS = ("trec_eval9", "trec_eval10")


def _number(name: str, value: Any) -> float:
    """Return a finite number; a whole number as int, so that it prints without ".0"."""
    try:
        is_number = hasattr(value, "__float__") and not isinstance(value, (bool, str))
        number = float(value) if is_number else None
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):  # an array of several numbers
        number = None
    if number is None:
        msg = f"{name} must be a number, not {shown(value)}"
        raise MeasureError(msg)
    if not math.isfinite(number):
        msg = f"{name} must be a finite number, not {shown(value)}"
        raise MeasureError(msg)
    return int(number) if number.is_integer() else number


def _above_zero(name: str, value: Any) -> float:
    number = _number(name, value)
    if number <= 0:
        msg = f"{name} must be above 0, not {shown(value)}"
        raise MeasureError(msg)
    return number


def _within(low: float, high: float, *, inclusive: bool) -> Check:
    def check(name: str, value: Any) -> float:
        number = _number(name, value)
        inside = low <= number <= high if inclusive else low < number < high
        if not inside:
            limits = "from {} to {}" if inclusive else "above {} and below {}"
            msg = f"{name} must be {limits.format(low, high)}, not {shown(value)}"
            raise MeasureError(msg)
        return number

    return check


def _one_of(choices: tuple[str, ...]) -> Check:
    def check(name: str, value: Any) -> str:
        check_choice(name, value, choices, MeasureError)
        return str(value)

    return check


def _true_or_false(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        msg = f"{name} must be True or False, not {shown(value)}"
        raise MeasureError(msg)
    return value


def _gain(name: str, value: Any) -> Hashable:
    """Return "linear", "exp", or a table as a ``GainTable``."""
    if isinstance(value, str):
        return _one_of(GAINS)(name, value)
    pairs = value.items() if isinstance(value, Mapping) else value
    try:
        table = sorted(
            (_number("a grade", grade), _number("a gain", gain)) for grade, gain in pairs
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, MeasureError):
            raise
        msg = f"gain must be 'linear', 'exp' or a table {{grade: gain}}, not {shown(value)}"
        raise MeasureError(msg) from error
    if not 0 < len(table) <= LONGEST_TABLE:
        msg = f"a gain table must hold 1 to {LONGEST_TABLE} grades, not {len(table)}"
        raise MeasureError(msg)
    if len({grade for grade, _ in table}) < len(table):
        msg = f"a gain table must hold each grade once, but it is {shown(table)}"
        raise MeasureError(msg)
    gains = [gain for _, gain in table]
    if gains[0] < 0 or gains != sorted(gains):
        msg = (
            f"gains must not be negative nor decrease with the grade, but the table is "
            f"{shown(dict(table))}; otherwise the ideal ranking would not be the best one"
        )
        raise MeasureError(msg)
    return tuple(table)


#: The check of each parameter.
CHECKS: Mapping[str, Check] = {
    "rel": _above_zero,
    "beta": _within(0, HIGHEST_BETA, inclusive=False),
    "max_grade": _above_zero,
    "p": _within(0, 1, inclusive=False),
    "multiple": _above_zero,
    "relevant": _number,
    "other": _number,
    "missed": _number,
    "recall": _within(0, 1, inclusive=True),
    "rounding": _one_of(ROUNDINGS),
    "gain": _gain,
    "judged_only": _true_or_false,
}


def format_value(value: Any) -> str:
    """Return a parameter's value as text that ``parse`` reads."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{grade}: {gain}" for grade, gain in value) + "}"
    return f'"{value}"' if isinstance(value, str) else repr(value)
