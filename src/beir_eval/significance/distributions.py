"""Tails and quantiles of distributions by ``scipy.special``, and the root of a function.

``scipy.stats`` and ``scipy.optimize`` have the same, but take several times as long to import as
all else that a comparison needs. Student's t distribution is in ``student_t``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.validation import scipy_special

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats

#: The relative rounding error of a sum of probabilities.
_ROUNDING = 1e-10
#: An integral over a standard normal variable within ±10 misses 1e-23; so many nodes give 1e-15.
_SPREAD, _NODES = 10.0, 80


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
