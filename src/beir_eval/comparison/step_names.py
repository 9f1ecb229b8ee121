"""The number of a step in the name of a checkpoint."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The words before a step in the names that trainers give: step-500, checkpoint-500, epoch-2.
_WORDS = ("step", "checkpoint", "epoch")
_NUMBER = r"(?P<step>[0-9]+(?:\.[0-9]+)?)"
#: A regular expression for the last number in a name.
LAST_NUMBER = rf"(?<![0-9]){_NUMBER}[^0-9]*$"


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
