"""How large a difference a number of queries can show, and how many queries a difference needs."""

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
    """Return the chance that a two-sided paired t test at ``alpha`` finds a true difference.

    Formula: ``P(|t'| > t(1 − alpha/2, Q − 1))``, t' noncentral t with Q − 1 degrees of freedom and
    noncentrality √Q·delta / sd.

    Args:
        delta: the true mean difference, above 0, in the unit of the scores.
        sd: standard deviation of the differences between queries, same unit.
        num_queries: Q.
        alpha: the level of the test.

    Raises:
        SettingError: delta or sd not above 0, Q below 2, alpha outside 0 to 1.
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
    """Return the smallest true difference that so many queries show with this power.

    It says what an experiment could have seen, whatever it saw: put in the spread between queries,
    not the difference that was observed.

    Formula: the delta for which ``paired_t_power`` is ``power``.

    Args:
        sd: standard deviation of the differences between queries, in the unit of the scores.
        num_queries: Q.
        alpha: the level of the two-sided paired t test.
        power: the chance to find the difference.

    Degenerate: sd 0: 0.

    Source: Cohen, Statistical Power Analysis, 1988; Sakai, Laboratory Experiments in Information
    Retrieval, 2018.

    Raises:
        SettingError: sd below 0, Q below 2, alpha or power outside 0 to 1, power not above alpha.
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

    high = 1.0
    while _power(high / math.sqrt(num_queries), num_queries, alpha) < power:
        high *= 2.0
    # Sought as the noncentrality √Q·delta / sd, which is near 2.8 for most Q.
    root = brentq(
        lambda shift: _power(shift / math.sqrt(num_queries), num_queries, alpha) - power,
        0.0,
        high,
        xtol=1e-14,
    )
    return float(root) * float(sd) / math.sqrt(num_queries)


def queries_needed(delta: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return how many queries show a true difference of ``delta`` with this power.

    ``delta`` is the smallest difference that matters, chosen beforehand, not the observed one.

    Formula: the smallest Q >= 2 for which ``paired_t_power`` is at least ``power``.

    Args:
        delta: the difference, above 0, in the unit of the scores.
        sd: standard deviation of the differences between queries, same unit.
        alpha: the level of the two-sided paired t test.
        power: the chance to find the difference.

    Degenerate: sd 0: 2.

    Source: as ``minimum_detectable_difference``.

    Raises:
        SettingError: as ``minimum_detectable_difference``, delta not above 0, or more than 1e15
            queries would be needed.
        MissingExtraError: scipy is not installed.

    >>> queries_needed(0.1, 0.2)
    34
    """
    check_positive("delta", delta)
    _check_settings(sd, alpha, power)
    if not sd:
        return FEWEST_QUERIES
    effect = delta / sd
    # The normal distribution's answer is a little too small: begin there.
    normal = NormalDist()
    roughly = ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / effect) ** 2
    if roughly > _MOST_QUERIES:
        msg = f"delta={delta!r} is too small against sd={sd!r}"
        raise SettingError(msg)
    too_few, enough = FEWEST_QUERIES - 1, max(FEWEST_QUERIES, int(roughly))
    step = 1
    while _power(effect, enough, alpha) < power:
        too_few, enough, step = enough, enough + step, 2 * step
    while too_few < FEWEST_QUERIES <= enough - step:
        if _power(effect, enough - step, alpha) < power:
            too_few = enough - step
        else:
            enough, step = enough - step, 2 * step
    between = range(too_few + 1, enough)
    return too_few + 1 + bisect_left(between, power, key=lambda count: _power(effect, count, alpha))


def _power(effect: float, num_queries: int, alpha: float) -> float:
    stats = scipy_stats("the power of a test")
    freedom = num_queries - 1
    shift = effect * math.sqrt(num_queries)
    limit = float(stats.t.isf(alpha / 2, freedom))
    # The lower tail as the upper one of the mirror image: scipy's nct.cdf is NaN there at times.
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
