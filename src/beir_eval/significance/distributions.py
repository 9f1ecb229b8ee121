"""Tails and quantiles of distributions, and the root of a function.

``scipy.stats`` and ``scipy.optimize`` have the same, but take several times as long to import as
all else that a comparison needs.

Student's t distribution is in Python, the same whatever is installed: scipy has it too, but
importing it took a tenth of the command ``compare``, and the last bits of an interval would depend
on its version. Both agree to ten digits for up to 100,000 degrees of freedom. The other
distributions are by ``scipy.special``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.validation import scipy_special

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats

#: The relative rounding error of a sum of probabilities.
_ROUNDING = 1e-10
#: An integral over a standard normal variable within ±10 misses 1e-23; so many nodes give 1e-15.
_SPREAD, _NODES = 10.0, 80
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


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function is 0, to the last digit.

    Method: the Illinois variant of regula falsi; each third step is a bisection.

    Args:
        function: it increases between ``low`` and ``high``.
        low: a number at which it is below 0.
        high: a number at which it is 0 or above.

    Returns:
        A float at which the function is 0 or above; it is below 0 at the next smaller float.

    Source: Dowell and Jarratt, A modified regula falsi method, BIT 11, 1971.

    >>> increasing_root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623730951
    """
    at_low, at_high, steps, was_low = function(low), function(high), 0, None
    while low < (middle := (low + high) / 2) < high:
        steps += 1
        guess = low + (high - low) * (at_low / (at_low - at_high)) if steps % 3 else middle
        if not low < guess < high:
            guess = middle
        value = function(guess)
        is_low = value < 0
        if is_low:
            low, at_low, at_high = guess, value, at_high / (1 + (was_low is True))
        else:
            high, at_high, at_low = guess, value, at_low / (1 + (was_low is False))
        was_low = is_low
    return high


def noncentral_t_upper_tail(
    limit: float, freedom: float, noncentrality: float, *, purpose: str = "the power of a test"
) -> float:
    """Return the probability that a variable with the noncentral t distribution exceeds a limit.

    The variable is (Z + noncentrality) / S, where Z has the standard normal distribution and
    freedom·S² an independent chi-square distribution.

    Formula: E[Φ(noncentrality − limit·S)] = E[F((Z + noncentrality) / limit)], where Φ and F are
    the distribution functions of Z and S. It is integrated over the variable that spreads less, so
    that the other's distribution function is smooth there. Exact to 1e-14, save rounding; scipy's
    ``nctdtr`` is NaN at times, and before 1.15 right to nine digits only.

    Args:
        limit: the value that is exceeded, above 0.
        freedom: the degrees of freedom, at least 1.
        noncentrality: for a paired t test, √Q times the true difference in standard deviations.
        purpose: what needs scipy, for the message if it is missing.

    Source: Johnson and Welch, Applications of the non-central t-distribution, Biometrika 31, 1940.

    Raises:
        MissingExtraError: scipy is not installed, and ``limit**2`` is at least twice the freedom.

    >>> round(noncentral_t_upper_tail(2.0, 33, 2.9), 3)
    0.813
    """
    nodes, weights = _gauss_legendre()
    if 2 * freedom > limit**2:
        half = _SPREAD / math.sqrt(2 * freedom)
        low = max(-1.0, -half)
        above_one = low + (half - low) * nodes  # S − 1: its logarithm keeps all digits
        exponents = freedom * (np.log1p(above_one) - above_one - above_one**2 / 2)
        densities = weights * np.exp(exponents) / (1 + above_one)
        below = ((limit * (1 + above_one) - noncentrality) / math.sqrt(2)).tolist()
        tails = np.array([math.erfc(value) / 2 for value in below])
        return float(densities @ tails / densities.sum())
    low = max(-noncentrality, -_SPREAD)  # the variable is below 0 for a smaller Z
    if low >= _SPREAD:
        return 0.0
    gammainc = scipy_special(purpose).gammainc
    normal = low + (_SPREAD - low) * nodes
    densities = weights * (_SPREAD - low) * np.exp(-(normal**2) / 2) / math.sqrt(2 * math.pi)
    sizes = (normal + noncentrality) / limit
    return float(densities @ gammainc(freedom / 2, freedom * sizes**2 / 2))


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss's quadrature from 0 to 1, f8[80] each."""
    roots, weights = np.polynomial.legendre.leggauss(_NODES)
    return (1 + roots) / 2, weights / 2


def negative_binomial_quantile(probability: float, successes: int, share: float) -> int:
    """Return how many failures come before so many successes at most, with this probability.

    Formula: the smallest n >= 0 with Σ C(s − 1 + j, j)·p^s·(1 − p)^j >= probability, j from 0 to n,
    for s successes and the share p.

    Args:
        probability: the probability that there are no more failures, above 0 and below 1.
        successes: the number of successes, at least 1.
        share: the probability of a success in each trial, above 0 and at most 1.

    Source: Johnson, Kemp and Kotz, Univariate Discrete Distributions, 3rd edition, 2005, 5.1.

    >>> negative_binomial_quantile(0.8, 6, 0.25)
    25
    """
    failures, term = 0, share**successes
    total = term
    while total < probability * (1 - _ROUNDING) and term:
        failures += 1
        term *= (successes - 1 + failures) / failures * (1 - share)
        total += term
    return failures


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
