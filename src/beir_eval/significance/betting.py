"""Evidence on the mean of bounded values that arrive one after the other: wealth from fair bets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: The shares of the wealth at stake in each bet: 20 bettors of the same initial wealth each keep
#: to one of them. None is 1, so that a bettor never loses everything.
_STAKES = (np.arange(20) + 0.5) / 20
#: Steps of a bisection: the bound is exact to 2^-60 of the range of the values.
_BISECTIONS = 60


class Wealth:
    """The wealth of bets against "the true mean is at most ``mean``", value by value.

    Each bet is fair or unfavourable if that is true, so the wealth exceeds 1/alpha at any time with
    a probability of at most alpha (Ville's inequality), however long the values are watched.

    Formula: wealth = 1/20 · Σ_c Π_t (1 − c + c·(x_t − lowest)/(mean − lowest)) over the stakes
    c = 1/40, 3/40, …, 39/40. It starts at 1, does not depend on the order of the values, and
    decreases with ``mean``.

    Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, J.
    Royal Statistical Society B 86(1), 2024 (diversified bets, the mixture over stakes); the mixture
    is that of Cover, Universal portfolios, Mathematical Finance 1(1), 1991.

    Args:
        mean: the mean that is bet against, in the unit of the values, above ``lowest``.
        lowest: the lowest possible value, in the same unit.
    """

    def __init__(self, mean: float, *, lowest: float) -> None:
        self._scale, self._lowest = 1 / (mean - lowest), lowest
        self._logs = np.full(len(_STAKES), -math.log(len(_STAKES)))

    def add(self, value: float) -> float:
        """Return the natural logarithm of the wealth after one more value."""
        self._logs += np.log1p(_STAKES * ((value - self._lowest) * self._scale - 1))
        return self.log

    @property
    def log(self) -> float:
        """The natural logarithm of the wealth."""
        return float(np.logaddexp.reduce(self._logs))


def log_wealth(values: Floats, mean: float, *, lowest: float) -> Floats:
    """Return the logarithm of the ``Wealth`` after each value, f8[..., T] -> f8[..., T].

    Args:
        values: the values in the order of their arrival.
        mean: the mean that is bet against, above ``lowest``.
        lowest: the lowest possible value.
    """
    ratios = (values - lowest) / (mean - lowest) - 1
    total = np.full(values.shape, -math.inf)
    for stake in _STAKES:
        np.logaddexp(total, np.cumsum(np.log1p(stake * ratios), axis=-1), out=total)
    return np.asarray(total - math.log(len(_STAKES)))


def lower_confidence_bound(values: Floats, *, lowest: float, alpha: float) -> float:
    """Return the highest mean against which the wealth has ever reached 1/alpha.

    It is at most the true mean at all times, with a probability of at least 1 − alpha: a one-sided
    confidence sequence, with the intersection over all earlier values. The upper one is that of the
    negative values.

    Args:
        values: the values so far, in the order of their arrival, f8[T].
        lowest: the lowest possible value, in the unit of the values.
        alpha: the level, between 0 and 1.

    Degenerate: ``lowest`` without a value above it.
    """
    low, high = lowest, float(values.max(initial=lowest))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        is_excluded = log_wealth(values, middle, lowest=lowest).max() >= -math.log(alpha)
        low, high = (middle, high) if is_excluded else (low, middle)
    return low
