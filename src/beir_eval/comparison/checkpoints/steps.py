"""Which step of the training a name stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError, some
from beir_eval.significance.validation import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.checkpoints.result import Step

#: The last number in a name.
LAST_NUMBER = r"(?P<step>\d+(?:\.\d+)?)\D*$"


def steps_of(names: Sequence[str], steps: Any) -> list[Step]:
    """Return the step of every name, all of them different.

    Raises:
        SettingError: a name has no step, two have the same, names are missing or too many.
    """
    found = _matched(names, steps) if isinstance(steps, str) else _listed(names, steps)
    by_step: dict[Step, list[str]] = {}
    for name, step in zip(names, found, strict=True):
        by_step.setdefault(step, []).append(name)
    for step, several in by_step.items():
        if len(several) > 1:
            msg = (
                f"{some(several)} have the same step, {step}; hand over {{name: step}}, or the "
                "names in order. Repeats of one checkpoint belong into one list of results"
            )
            raise SettingError(msg)
    return found


def _matched(names: Sequence[str], pattern: str) -> list[Step]:
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
    found = [_number(match[group]) if match else None for match in matches]
    wrong = [name for name, step in zip(names, found, strict=True) if step is None]
    if wrong:
        msg = (
            f"no step is found by {pattern!r} in {some(wrong)}; hand over another pattern, "
            "{name: step}, or the names in order"
        )
        raise SettingError(msg)
    return [step for step in found if step is not None]


def _number(text: str | None) -> Step | None:
    if text is not None and text.isdecimal():
        return int(text)
    try:
        number = float(text or "")
    except ValueError:
        return None
    if not np.isfinite(number):
        return None
    return int(number) if number.is_integer() else number


def _listed(names: Sequence[str], steps: Any) -> list[Step]:
    if isinstance(steps, Mapping):
        given = dict(steps)
    else:
        listed = list(steps)
        given = {name: place for place, name in enumerate(listed, start=1)}
        if len(given) < len(listed):
            msg = f"a name stands twice in the order {listed}"
            raise SettingError(msg)
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        parts = [f"without a step: {some(missing)}"] if missing else []
        parts += [f"not among the results: {some(unknown)}"] if unknown else []
        msg = f"steps must name each of the {len(names)} results; {'; '.join(parts)}"
        raise SettingError(msg)
    for name in names:
        if not is_number(given[name]) or not np.isfinite(given[name]):
            msg = f"the step of {name!r} must be a number, not {given[name]!r}"
            raise SettingError(msg)
    return [given[name] for name in names]
