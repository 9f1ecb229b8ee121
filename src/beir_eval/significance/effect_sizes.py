"""Effect sizes of mean differences: by the differences of a pair, and by the residuals of ANOVA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.validation import all_equal

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: Residuals up to this, relative to the scores, are rounding noise.
_NOISE = 1e-12
#: A smaller kurtosis, which a small sample easily has, does not make an interval narrower.
_NORMAL_KURTOSIS = 3.0


@dataclass(frozen=True)
class Spread:
    """A standard deviation to divide mean differences by.

    Attributes:
        deviation: the standard deviation, in the unit of the scores.
        log_error: the standard error of its logarithm.
    """

    deviation: float
    log_error: float

    @classmethod
    def from_differences(cls, differences: Floats) -> Spread:
        """Return the spread of the differences of one pair, f8[Q]."""
        if all_equal(differences):
            return cls(0.0, 0.0)
        return cls._from_residuals(differences - differences.mean(), len(differences) - 1)

    @classmethod
    def from_scores(cls, scores: Floats) -> Spread:
        """Return the spread of the residuals of the two-way ANOVA of systems and queries.

        Args:
            scores: the scores of all systems that are compared, f8[S, Q].
        """
        residuals = scores - scores.mean(axis=0)
        residuals -= scores.mean(axis=1, keepdims=True)
        residuals += scores.mean()
        if _largest(residuals) <= _NOISE * _largest(scores):
            return cls(0.0, 0.0)
        return cls._from_residuals(residuals.ravel(), (scores.shape[0] - 1) * (scores.shape[1] - 1))

    @classmethod
    def _from_residuals(cls, residuals: Floats, freedom: int) -> Spread:
        largest = _largest(residuals)
        scaled = residuals / largest
        powers = np.square(scaled)
        squares = float(powers.sum())
        np.power(scaled, 4, out=powers)
        kurtosis = len(scaled) * float(powers.sum()) / squares**2
        deviation = math.sqrt(squares / freedom) * largest
        return cls(deviation, math.sqrt((max(kurtosis, _NORMAL_KURTOSIS) - 1) / (4 * freedom)))


def _largest(values: Floats) -> float:
    """Return the largest absolute value."""
    return max(float(values.max()), -float(values.min()))


@dataclass(frozen=True)
class Effect:
    """A mean difference divided by a standard deviation, with its interval; no unit.

    Attributes:
        size: the effect; infinite, with its sign, if the deviation is 0 and the difference is not.
        low, high: the ends of its interval; infinite where unbounded.
    """

    size: float
    low: float
    high: float


def effect_of(difference: float, low: float, high: float, spread: Spread, level: float) -> Effect:
    """Return the effect size of a mean difference.

    Its interval follows from that of the difference, widened for the error of the deviation. It
    excludes 0 exactly if the interval of the difference does.

    Formula: with d = difference/deviation, l = low/deviation, and e the normal quantile of
    1 − level/2 times the standard error of log(deviation), the low end is
    d − √((d − l)² + (d·e)²), or exp(log d − √((log d − log l)² + e²)) if l > 0. The high end is
    the same with the signs changed. The standard error is √((k − 1) / 4f), where k is the
    kurtosis, at least 3, and f the number of degrees of freedom.

    Args:
        difference: the mean difference.
        low: the low end of its interval.
        high: the high end.
        spread: the standard deviation to divide by.
        level: 1 − the confidence of the interval.

    Source: for the combination of two intervals: Zou and Donner, Construction of confidence limits
    about effect measures, Statistics in Medicine 27(10), 2008.
    """
    if not spread.deviation:
        return Effect(
            *(math.copysign(math.inf, value) if value else 0.0 for value in (difference, low, high))
        )
    error = spread.log_error * NormalDist().inv_cdf(1 - level / 2)
    size = difference / spread.deviation
    low_end = _low_end(size, low / spread.deviation, error)
    return Effect(size, low_end, -_low_end(-size, -high / spread.deviation, error))


def _low_end(size: float, low: float, error: float) -> float:
    """Return the low end of an effect from the scaled low end of the difference."""
    if math.isinf(low):
        return low
    if low > 0:
        return size * math.exp(-math.hypot(math.log(size / low), error))
    return size - math.hypot(size - low, size * error)
