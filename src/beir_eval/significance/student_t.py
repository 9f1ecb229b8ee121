"""Student's t distribution in Python: tails and quantiles, the same whatever is installed.

scipy has it too, but importing it took a tenth of the command ``compare``, and the last bits of an
interval would depend on its version. Both agree to ten digits for up to 100,000 degrees of freedom.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: The relative difference at which the continued fraction has converged.
_PRECISION = 1e-16
#: It converges in about √degrees of freedom steps.
_MOST_STEPS = 1_000_000
#: A number in place of 0 in a denominator of Lentz's method.
_TINY = 1e-300
#: From so many on, the ratio of two gamma functions is taken from its series: the difference of
#: two large logarithms would lose digits.
_LARGE = 50.0
#: The coefficients of 1, 1/a, 1/a², … in Γ(a + ½) / (Γ(a)·√a).
_GAMMA_RATIO_SERIES = (
    1.0,
    -1 / 8,
    1 / 128,
    5 / 1024,
    -21 / 32_768,
    -399 / 262_144,
    869 / 4_194_304,
    39_325 / 33_554_432,
)


def upper_tail(statistic: Any, freedom: float) -> Any:
    """Return the probability of a larger t.

    Formula: half the regularised incomplete beta function I(v/(v + t²); v/2, ½) for t >= 0.

    Args:
        statistic: t, a number or f8[D].
        freedom: v, the degrees of freedom, above 0; may be infinite, for the normal distribution.

    >>> round(upper_tail(2.0, 10), 7)
    0.036694
    """
    return _mapped(lambda value: _upper_tail(value, float(freedom)), statistic)


def exceeded_with(tail: Any, freedom: float) -> Any:
    """Return the t that is exceeded with this probability.

    Args:
        tail: the probability, above 0 and below 1, a number or f8[D].
        freedom: the degrees of freedom, above 0; may be infinite, for the normal distribution.

    >>> round(exceeded_with(0.025, 10), 7)
    2.2281389
    """
    return _mapped(lambda value: _exceeded_with(value, float(freedom)), tail)


def _mapped(function: Any, values: Any) -> Any:
    """Return the function of a number, or of every number of an array."""
    array = np.asarray(values, dtype=np.float64)
    if not array.ndim:
        return function(float(array))
    results: Floats = np.array([function(value) for value in array.ravel().tolist()])
    return results.reshape(array.shape)


def _upper_tail(statistic: float, freedom: float) -> float:
    """Return the probability of a larger t."""
    if math.isnan(statistic):
        return math.nan
    if statistic < 0:
        return 1.0 - _upper_tail(-statistic, freedom)
    if math.isinf(statistic):
        return 0.0
    if math.isinf(freedom):
        return math.erfc(statistic / math.sqrt(2)) / 2
    square = statistic * statistic / freedom
    # t² / (v + t²) and v / (v + t²), each without cancellation.
    above, below = square / (1 + square), 1 / (1 + square)
    if math.isinf(square):
        above, below = 1.0, 0.0
    half = freedom / 2
    # Γ(v/2 + ½) / (Γ(v/2)·Γ(½)) · below^(v/2) · above^½
    front = (
        _gamma_ratio(half)
        / math.sqrt(math.pi)
        * math.exp(-half * math.log1p(square))
        * math.sqrt(above)
    )
    if below < (half + 1) / (half + 2.5):
        return front * _continued_fraction(below, half, 0.5) / half / 2
    return 0.5 - front * _continued_fraction(above, 0.5, half)


def _gamma_ratio(half: float) -> float:
    """Return Γ(a + ½) / Γ(a)."""
    if half < _LARGE:
        return math.gamma(half + 0.5) / math.gamma(half)
    series = 0.0
    for coefficient in reversed(_GAMMA_RATIO_SERIES):
        series = series / half + coefficient
    return math.sqrt(half) * series


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method.

    Source: Press et al., Numerical Recipes, 3rd edition, 2007, 6.4.
    """
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    result = d
    for step in range(1, _MOST_STEPS):  # pragma: no branch - it converges
        double = 2 * step
        for numerator in (
            step * (b - step) * x / ((a + double - 1) * (a + double)),
            -(a + step) * (a + b + step) * x / ((a + double) * (a + double + 1)),
        ):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            factor = d * c
            result *= factor
        if abs(factor - 1.0) <= _PRECISION:
            break
    return result


@lru_cache(maxsize=4096)
def _exceeded_with(tail: float, freedom: float) -> float:
    """Return the t that is exceeded with this probability, by Newton's method in a bracket."""
    if math.isinf(freedom):
        from statistics import NormalDist  # noqa: PLC0415 - few have infinite degrees of freedom

        return -NormalDist().inv_cdf(tail)
    if tail > 0.5:  # noqa: PLR2004 - the median is 0
        return -_exceeded_with(1.0 - tail, freedom)
    height = _gamma_ratio(freedom / 2) / math.sqrt(freedom * math.pi)
    low, high, value = 0.0, math.inf, 1.0
    while low < value < high:
        above = _upper_tail(value, freedom)
        low, high = (value, high) if above > tail else (low, value)
        slope = value * height
        slope *= math.exp(-(freedom + 1) / 2 * math.log1p(value * value / freedom))
        # Newton's step on the logarithms of the tail and of t, which are nearly linear far out.
        step = above * math.log(above / tail) / slope if slope and above else -1.0
        further = value * math.exp(max(-2.0, min(step, 2.0)))
        if not low < further < high:
            further = 2 * low if math.isinf(high) else (low + high) / 2
        if abs(further - value) <= _PRECISION * value:
            return further
        value = further
    return value
