"""Tails and quantiles of distributions by ``scipy.special``, and the root of a function.

``scipy.stats`` and ``scipy.optimize`` have the same, but take several times as long to import as
all else that a comparison needs. Student's t distribution is in ``student_t``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from beir_eval.significance.validation import scipy_special, scipy_stats

if TYPE_CHECKING:
    from collections.abc import Callable


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function is 0, to the last digit, by bisection.

    Args:
        function: it increases between ``low`` and ``high``.
        low: a number at which it is below 0.
        high: a number at which it is 0 or above.

    Returns:
        A float at which the function is 0 or above; it is below 0 at the next smaller float.

    >>> increasing_root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623730951
    """
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return high


def noncentral_t_upper_tail(
    limit: float, freedom: float, noncentrality: float, *, purpose: str = "the power of a test"
) -> float:
    """Return the probability that a variable with the noncentral t distribution exceeds a limit.

    The variable is (Z + noncentrality) / √(V / freedom), where Z has the standard normal
    distribution and V an independent chi-square distribution.

    Formula: F(−limit; freedom, −noncentrality), the lower tail of the mirrored variable; where
    scipy does not know it, 1 − F(limit; freedom, noncentrality).

    Args:
        limit: the value that is exceeded.
        freedom: the degrees of freedom, above 0.
        noncentrality: for a paired t test, √Q times the true difference in standard deviations.
        purpose: what needs scipy, for the message if it is missing.

    Source: Johnson and Welch, Applications of the non-central t-distribution, Biometrika 31, 1940.

    Raises:
        MissingExtraError: scipy is not installed.

    >>> round(noncentral_t_upper_tail(2.0, 33, 2.9), 3)
    0.813
    """
    special = scipy_special(purpose)
    tail = float(special.nctdtr(freedom, -noncentrality, -limit))
    if math.isnan(tail):  # scipy 1.17: one in twenty, mostly far from the noncentrality
        tail = 1 - float(special.nctdtr(freedom, noncentrality, limit))
    if math.isnan(tail):  # about one in a thousand, such as limit 12.7, freedom 1, −8
        tail = float(scipy_stats(purpose).nct.sf(limit, freedom, noncentrality))
    return tail


def negative_binomial_quantile(
    probability: float, successes: int, share: float, *, purpose: str = "the power of a test"
) -> int:
    """Return how many failures come before so many successes at most, with this probability.

    Formula: the smallest n >= 0 with I(share; successes, n + 1) >= probability, where I is the
    regularised incomplete beta function: the probability of so many successes within n failures.

    Args:
        probability: the probability that there are no more failures, between 0 and 1.
        successes: the number of successes, at least 1.
        share: the probability of a success in each trial, above 0 and at most 1.
        purpose: what needs scipy, for the message if it is missing.

    Source: Johnson, Kemp and Kotz, Univariate Discrete Distributions, 3rd edition, 2005, 5.6.

    Raises:
        MissingExtraError: scipy is not installed.

    >>> negative_binomial_quantile(0.8, 6, 0.25)
    25
    """
    betainc = scipy_special(purpose).betainc

    def is_enough(failures: int) -> bool:
        return bool(betainc(successes, failures + 1, share) >= probability)

    # scipy's nbdtrik, the inverse in closed form, returns 1e100 for a share of 1.
    beyond = 1
    while not is_enough(beyond - 1):
        beyond *= 2
    return bisect_left(range(beyond), True, key=is_enough)  # noqa: FBT003 - what is looked for
