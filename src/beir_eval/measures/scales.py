"""``ScoreScale``: the bounds of a measure's scores, and whether higher scores are better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.errors import SettingError
from beir_eval.measures.names import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.core.arrays import Floats, Mask

#: A score that exceeds a bound by less than this share of the range does so by rounding.
ROUNDING = 1e-6
_Numbers = TypeVar("_Numbers", float, "Floats")


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """The bounds of a measure's scores, and whether higher scores are better.

    Attributes:
        bounds: two finite numbers between which every score lies, the lower one first; None if the
            scores have no such bounds.
        higher_is_better: whether a higher score is better; False for a latency or a rate of errors.

    Raises:
        SettingError: ``bounds`` are not two finite numbers in ascending order, or
            ``higher_is_better`` is not True or False.
    """

    bounds: tuple[float, float] | None = None
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        """Check the values, and convert numpy's numbers to Python's, which JSON needs."""
        if not isinstance(self.higher_is_better, bool):
            msg = f"higher_is_better must be True or False, not {self.higher_is_better!r}"
            raise SettingError(msg)
        if self.bounds is not None:
            object.__setattr__(self, "bounds", _checked_bounds(self.bounds))

    @property
    def range(self) -> float | None:
        """The highest possible score minus the lowest; None without bounds."""
        return None if self.bounds is None else self.bounds[1] - self.bounds[0]

    def is_outside(self, scores: float | Floats) -> Mask:
        """Return whether scores lie outside the bounds by more than rounding; NaN does not.

        A score that exceeds a bound by less than a millionth of the range does so by rounding.

        Args:
            scores: scores or means of them, a number or f8 of any shape.

        Returns:
            bool of the same shape, [] for a number.
        """
        if self.bounds is None:
            return np.zeros(np.shape(scores), dtype=np.bool_)
        low, high = self.bounds
        outside: Mask = np.fmax(low - scores, scores - high) > ROUNDING * (high - low)
        return outside

    def gains(self, differences: _Numbers) -> _Numbers:
        """Return differences of scores as gains: above 0 where the first score is the better one.

        Args:
            differences: differences of scores, or scores, a number or f8 of any shape.
        """
        return differences if self.higher_is_better else -differences

    def best(self, scores: Iterable[float]) -> float:
        """Return the highest score, or the lowest if lower is better; NaN if there is no score."""
        choose = max if self.higher_is_better else min
        return choose(scores, default=math.nan)

    def __str__(self) -> str:
        """Return bounds and direction in words.

        >>> str(ScoreScale((0, 1))), str(ScoreScale(None, higher_is_better=False))
        ('from 0 to 1, higher is better', 'without bounds, lower is better')
        """
        bounds = (
            "without bounds" if self.bounds is None else "from {:g} to {:g}".format(*self.bounds)
        )
        return f"{bounds}, {'higher' if self.higher_is_better else 'lower'} is better"


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return bounds as two floats, or raise SettingError."""
    try:
        low, high = bounds
    except (TypeError, ValueError):
        low = high = None
    if isinstance(bounds, (str, Mapping)) or not (is_finite_number(low) and is_finite_number(high)):
        msg = (
            f"bounds must be two finite numbers, the lowest and the highest possible score, not "
            f"{bounds!r}; leave bounds out for scores without a lowest or a highest"
        )
        raise SettingError(msg)
    if not float(low) < float(high):
        msg = (
            f"bounds must be the lowest and the highest possible score in this order, not {bounds}"
        )
        raise SettingError(msg)
    if math.isinf(float(high) - float(low)):
        msg = f"the range of the bounds {bounds} is beyond what a float can hold"
        raise SettingError(msg)
    return float(low), float(high)


def scale_of(name: str, custom_measures: Mapping[str, ScoreScale]) -> ScoreScale:
    """Return the bounds of a measure's scores, and whether higher scores are better.

    Args:
        name: the name by which a result lists the measure: that of a custom measure, or the
            canonical name of a registered one.
        custom_measures: {name: scale} of the custom measures.

    Returns:
        The stated scale of a custom measure, or the bounds and the direction of the registered one.

    >>> scale_of("nDCG@10", {})
    ScoreScale(bounds=(0.0, 1.0), higher_is_better=True)
    >>> scale_of("seconds", {"seconds": ScoreScale(higher_is_better=False)})
    ScoreScale(bounds=None, higher_is_better=False)
    """
    if name in custom_measures:
        return custom_measures[name]
    measure = parse(name)
    return ScoreScale(measure.bounds, measure.definition.higher_is_better)
