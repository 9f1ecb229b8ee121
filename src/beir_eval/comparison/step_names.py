"""The number of a step in the name of a checkpoint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The words before a step in the names that trainers give: step-500, checkpoint-500, epoch-2.
_WORDS = ("step", "checkpoint", "epoch")


def pattern_for(names: Sequence[str]) -> str:
    """Return a regular expression for the number after "step", "checkpoint" or "epoch".

    It is for the first of these words that two names or more have; other names, such as that of a
    baseline, have no step.
    """
    patterns = [rf"(?i:{word})[-_ =]?(?P<step>[0-9]+(?:\.[0-9]+)?)" for word in _WORDS]
    for pattern in patterns:
        if sum(re.search(pattern, name) is not None for name in names) > 1:
            return pattern
    return patterns[0]
