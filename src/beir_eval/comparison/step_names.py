"""Training steps of checkpoints, read from their names or from a mapping or list of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError, first_few, shown
from beir_eval.significance.validation import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence


#: A training step; one that is read from a name is an int if it is whole.
Step = int | float
#: The words before a step in the names that trainers give: step-500, checkpoint-500, epoch-2.
_WORDS = ("step", "checkpoint", "epoch")
#: A number, perhaps in thousands or millions (10k, 2M); no part of 1e5, 1_000 or 1.2.3.
_NUMBER = (
    r"(?P<step>[0-9]+(?:\.[0-9]+)?(?:[kKmM](?![A-Za-z]))?)"
    r"(?![0-9]|\.[0-9]|[eE][0-9]|_[0-9]{3}(?![0-9]))"
)
_UNITS = {"k": 1_000, "m": 1_000_000}
#: A regular expression for the last number in a name.
LAST_NUMBER = rf"(?<![0-9])(?<![0-9][eE]){_NUMBER}[^0-9]*$"
#: A longer number is no step; Python converts at most 4,300 digits.
_MOST_DIGITS = 300


def pattern_for(names: Sequence[str]) -> str:
    """Return a regular expression for the number after "step", "checkpoint" or "epoch".

    It is for the first of these words that two names or more have; other names, such as that of a
    baseline, have no step.
    """
    patterns = [rf"(?i:{word})[-_ =]?{_NUMBER}" for word in _WORDS]
    for pattern in patterns:
        if sum(re.search(pattern, name) is not None for name in names) > 1:
            return pattern
    return patterns[0]


def pattern_of_checkpoints(names: Sequence[str]) -> str:
    """Return a regular expression for the steps of the checkpoints among systems.

    It is ``pattern_for`` if two names or more have such a word. Otherwise it finds the last number
    of the names that are equal apart from it, so that bm25 beside v1, v2 and v3 is no checkpoint;
    without such names it finds none.
    """
    pattern = pattern_for(names)
    if any(re.search(pattern, name) for name in names):
        return pattern
    around: Counter[tuple[str, str]] = Counter()
    for name in names:
        if match := re.search(LAST_NUMBER, name):
            around[name[: match.start("step")], name[match.end("step") :]] += 1
    [(before, after), most], *others = around.most_common() or [(("", ""), 0)]
    if most > 1 and all(number < most for _, number in others):
        return rf"^{re.escape(before)}{_NUMBER}{re.escape(after)}$"
    return pattern


def steps_of(names: Sequence[str], steps: Any) -> list[Step]:
    """Return the step of every name, in the order of the names; all steps are different.

    Args:
        names: the names of the checkpoints.
        steps: a regular expression, {name: step}, or the names in the order of their steps, as for
            ``checkpoint_curve``.

    Raises:
        SettingError: a name has no step, two names have the same step, ``steps`` lacks a name or
            has an unknown one, or the expression is invalid.
    """
    step_values = (
        _steps_from_pattern(names, steps)
        if isinstance(steps, str)
        else _steps_from_list(names, steps)
    )
    by_step: dict[Step, list[str]] = {}
    for name, step in zip(names, step_values, strict=True):
        by_step.setdefault(step, []).append(name)
    for step, same_step in by_step.items():
        if len(same_step) > 1:
            msg = (
                f"{first_few(same_step)} have the same step, {step}; pass {{name: step}}, or "
                "the names in order. Repeats of one checkpoint belong into one list of results"
            )
            raise SettingError(msg)
    return step_values


def _steps_from_pattern(names: Sequence[str], pattern: str) -> list[Step]:
    """Return the number that the pattern finds in every name."""
    try:
        expression = re.compile(pattern)
    except re.error as error:
        msg = f"steps={pattern!r} is no regular expression: {error}"
        raise SettingError(msg) from error
    if "step" not in expression.groupindex and expression.groups != 1:
        msg = f"steps={pattern!r} must have a group for the step, such as (?P<step>\\d+)"
        raise SettingError(msg)
    group = "step" if "step" in expression.groupindex else 1
    matches = [expression.search(name) for name in names]
    parsed = [_parse_step(match[group]) if match else None for match in matches]
    unmatched = [name for name, step in zip(names, parsed, strict=True) if step is None]
    if unmatched:
        msg = (
            f"no step is found by {pattern!r} in {first_few(unmatched)}; pass another "
            "pattern, {name: step}, or the names in order"
        )
        raise SettingError(msg)
    return [step for step in parsed if step is not None]


def _parse_step(text: str | None) -> Step | None:
    """Return a finite number, as an int if it is whole; None if the text is no such number."""
    if text is None or len(text) > _MOST_DIGITS or not text.isascii() or "_" in text:
        return None
    if text.isdecimal():
        return int(text)
    unit = _UNITS.get(text[-1:].lower(), 1)
    try:
        number = float(text if unit == 1 else text[:-1]) * unit
    except ValueError:
        return None
    if not np.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _steps_from_list(names: Sequence[str], steps: Any) -> list[Step]:
    """Return the step of every name from {name: step}, or from its position in a list of names."""
    if isinstance(steps, Mapping):
        step_of = dict(steps)
    else:
        try:
            order = list(steps)
        except TypeError as error:
            msg = (
                "steps must be a regular expression, {name: step} or the names in order, not "
                f"{shown(steps)}"
            )
            raise SettingError(msg) from error
        step_of = {name: position for position, name in enumerate(order, start=1)}
        if len(step_of) < len(order):
            msg = f"a name is listed twice in steps: {first_few(order)}"
            raise SettingError(msg)
    missing = [name for name in names if name not in step_of]
    known = set(names)
    unknown = [name for name in step_of if name not in known]
    if missing or unknown:
        problems = [f"without a step: {first_few(missing)}"] if missing else []
        problems += [f"not among the results: {first_few(unknown)}"] if unknown else []
        msg = f"steps must name each of the {len(names)} results; {'; '.join(problems)}"
        raise SettingError(msg)
    for name in names:
        if not is_number(step_of[name]) or not np.isfinite(step_of[name]):
            msg = f"the step of {name!r} must be a number, not {shown(step_of[name])}"
            raise SettingError(msg)
    return [step_of[name] for name in names]
