"""The training step of a result, from its name."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, shown
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from beir_eval.comparison.result import Comparison

#: "step-500" as the evaluators for sentence-transformers name their results, "checkpoint-500" as
#: trainers name their folders. Another number in a name, as in "bm25", is not taken for a step.
_STEP = re.compile(
    r"(?<![a-z])(?:step|checkpoint)s?[-_ =]?(?P<step>\d{1,18})(?![\d.])", re.IGNORECASE | re.ASCII
)
_HIGHEST_STEP = 2**63 - 1


def step_of(what: EvaluationResult | Comparison, step: Any) -> int | None:
    """Return the step to log at.

    Args:
        what: a result or a comparison.
        step: the step; None for the one in the name of the result, such as "step-500".

    Returns:
        None if ``step`` is None, and ``what`` is a comparison or has no step in its name.

    Raises:
        SettingError: ``step`` is not a whole number from 0.
    """
    if step is None:
        match = _STEP.search(what.name) if isinstance(what, EvaluationResult) else None
        return int(match["step"]) if match else None
    try:
        number = operator.index(step)
    except TypeError:
        number = -1
    if isinstance(step, bool) or not 0 <= number <= _HIGHEST_STEP:
        msg = f"step must be a whole number from 0, or None, not {shown(step)}"
        raise SettingError(msg)
    return number
