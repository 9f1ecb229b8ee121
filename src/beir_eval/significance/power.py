"""Power of the paired t test: detectable differences, and numbers of queries needed."""

from __future__ import annotations

import math
from bisect import bisect_left
from statistics import NormalDist
from typing import Any

from beir_eval.errors import SettingError
from beir_eval.significance.validation import (
    FEWEST_QUERIES,
    check_positive,
    check_share,
    is_number,
    is_whole_number,
    scipy_stats,
)

_MOST_QUERIES = 10**15


def paired_t_power(delta: float, sd: float, num_queries: int, *, alpha: float = 0.05) -> float:
    """Return the probability that a two-sided paired t test detects a true difference.

    Formula: ``P(|t'| > t(1 − alpha/2, Q − 1))``, where t' has the noncentral t distribution with
    Q − 1 degrees of freedom and noncentrality √Q·delta / sd.

    Args:
        delta: the true mean difference, above 0, in the unit of the scores.
        sd: the standard deviation over queries of the differences, above 0, in the same unit.
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the test.

    Raises:
        SettingError: delta or sd is not above 0, Q is below 2, or alpha is not between 0 and 1.
        MissingExtraError: scipy is not installed.

    >>> round(paired_t_power(0.1, 0.2, 34), 4)
    0.8078
    """
    check_positive("delta", delta)
    check_positive("sd", sd)
    _check_queries(num_queries)
    check_share("alpha", alpha)
    return _power(delta / sd, num_queries, alpha)


def minimum_detectable_difference(
    sd: float, num_queries: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest true difference that Q queries detect with this power.

    It describes the experiment, not its outcome: it depends on how much the differences vary
    between queries, not on the observed mean difference.

    Formula: the delta for which ``paired_t_power`` is ``power``.

    Args:
        sd: the standard deviation over queries of the differences, in the unit of the scores.
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the two-sided paired t test.
        power: the probability of detecting the difference, above alpha.

    Returns:
        The difference in the unit of the scores; 0 if sd is 0.

    Source: Cohen, Statistical Power Analysis, 1988; Sakai, Laboratory Experiments in Information
    Retrieval, 2018.

    Raises:
        SettingError: sd is below 0, Q is below 2, alpha or power is not between 0 and 1, or power
            is not above alpha.
        MissingExtraError: scipy is not installed.

    >>> round(minimum_detectable_difference(0.3, 100), 4)
    0.0849
    """
    _check_settings(sd, alpha, power)
    _check_queries(num_queries)
    if not sd:
        return 0.0
    scipy_stats("the power of a test")
    from scipy.optimize import brentq  # noqa: PLC0415 - an extra

    # The unknown is the noncentrality √Q·delta / sd, which is near 2.8 for most Q.
    upper = 1.0
    while _power(upper / math.sqrt(num_queries), num_queries, alpha) < power:
        upper *= 2.0
    root = brentq(
        lambda shift: _power(shift / math.sqrt(num_queries), num_queries, alpha) - power,
        0.0,
        upper,
        xtol=1e-14,
    )
    return float(root) * float(sd) / math.sqrt(num_queries)


def queries_needed(delta: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return how many queries detect a true difference of ``delta`` with this power.

    Formula: the smallest Q >= 2 for which ``paired_t_power`` is at least ``power``.

    Args:
        delta: the smallest difference that matters, above 0, in the unit of the scores. Choose it
            before the experiment; do not use the observed difference.
        sd: the standard deviation over queries of the differences, in the same unit.
        alpha: the level of the two-sided paired t test.
        power: the probability of detecting the difference, above alpha.

    Returns:
        The number of queries, at least 2; 2 if sd is 0.

    Source: Cohen, Statistical Power Analysis, 1988; Sakai, Laboratory Experiments in Information
    Retrieval, 2018.

    Raises:
        SettingError: delta is not above 0, sd is below 0, alpha or power is not between 0 and 1,
            power is not above alpha, or more than about 1e15 queries are needed.
        MissingExtraError: scipy is not installed.

    >>> queries_needed(0.1, 0.2)
    34
    """
    check_positive("delta", delta)
    _check_settings(sd, alpha, power)
    if not sd:
        return FEWEST_QUERIES
    effect = delta / sd
    # The result for the normal distribution is a little too small: start there.
    normal = NormalDist()
    estimate = ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / effect) ** 2
    if estimate > _MOST_QUERIES:
        msg = f"delta={delta!r} is too small against sd={sd!r}"
        raise SettingError(msg)
    too_few, enough = FEWEST_QUERIES - 1, max(FEWEST_QUERIES, int(estimate))
    step = 1
    while _power(effect, enough, alpha) < power:
        too_few, enough, step = enough, enough + step, 2 * step
    while too_few < FEWEST_QUERIES <= enough - step:
        if _power(effect, enough - step, alpha) < power:
            too_few = enough - step
        else:
            enough, step = enough - step, 2 * step
    untried = range(too_few + 1, enough)
    return too_few + 1 + bisect_left(untried, power, key=lambda count: _power(effect, count, alpha))


def _power(effect: float, num_queries: int, alpha: float) -> float:
    """Return the power for a true difference of ``effect`` standard deviations."""
    stats = scipy_stats("the power of a test")
    freedom = num_queries - 1
    shift = effect * math.sqrt(num_queries)
    limit = float(stats.t.isf(alpha / 2, freedom))
    # scipy's nct.cdf is NaN at times: the lower tail is computed as the upper tail for −shift.
    return float(stats.nct.sf(limit, freedom, shift) + stats.nct.sf(limit, freedom, -shift))


def _check_settings(sd: Any, alpha: Any, power: Any) -> None:
    if not is_number(sd) or not 0 <= sd < math.inf:
        msg = f"sd must be a number from 0, not {sd!r}"
        raise SettingError(msg)
    check_share("alpha", alpha)
    check_share("power", power)
    if power <= alpha:
        msg = f"power={power!r} must be above alpha={alpha!r}, the power against no difference"
        raise SettingError(msg)


def _check_queries(num_queries: Any) -> None:
    if not is_whole_number(num_queries, least=FEWEST_QUERIES):
        msg = f"num_queries must be a whole number from {FEWEST_QUERIES}, not {num_queries!r}"
        raise SettingError(msg)
