"""Power where each query is won, lost or tied, as under Success@5: by the share of differing ones.

``estimate_power`` shifts every difference by a constant. That cannot happen to differences that are
1, 0 or −1: there, a true difference is more wins among the queries that differ.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.power import MOST_QUERIES, PowerEstimate, estimate_power, smallest_p

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: Nothing is said unless this many times as many queries differ as can be significant at all.
_DIFFERING_PER_SIGNIFICANT = 2
#: Differences are of one size if they are equal within this.
_TOLERANCE = 1e-9


def are_wins_and_losses(differences: Floats, size: float) -> bool:
    """Return whether a query differs, and each that does is won or lost by ``size``.

    >>> are_wins_and_losses(np.array([1.0, 0.0, -1.0]), 1.0)
    True
    """
    sizes = np.abs(differences[differences != 0])
    return len(sizes) > 0 and bool(np.all(np.abs(sizes - size) < _TOLERANCE))


def estimate_power_of_scores(
    differences: Floats, score_range: float | None, **settings: Any
) -> PowerEstimate:
    """Return ``estimate_win_power`` if every query is won, lost or tied, else ``estimate_power``.

    Args:
        differences: the differences by query, f8[Q].
        score_range: the highest possible score minus the lowest, by which queries are then won and
            lost, in the unit of the scores; None for measures without a highest score.
        settings: delta, alpha, power, alternative and confidence.
    """
    if score_range is not None and are_wins_and_losses(differences, score_range):
        return estimate_win_power(differences, size=score_range, **settings)
    return estimate_power(differences, **settings)


def estimate_win_power(  # noqa: PLR0913 - one keyword per setting
    differences: Floats,
    *,
    size: float = 1.0,
    delta: float = 0.01,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
    confidence: float = 0.95,
) -> PowerEstimate:
    """Return which true difference so many queries detect, each won or lost by the same size.

    Formula: of Q queries a share s differs, and a true difference of d is a share (1 + d/s)/2 of
    wins among these. The sign-flip test, which is then the sign test, detects it with this power if
    Q·d − c = z(1 − alpha/2)·√(Q·s) + z(power)·√(Q·(s − d²)), with c = 0 without and 1 with a
    continuity correction (Connor, Biometrics 43(1), 1987). ``detectable`` takes c = ½ and the
    observed share; its range takes the 95% interval of the share (Wilson, JASA 22, 1927), with
    c = 0 at its low and c = 1 at its high end. If the low share is too small for any difference to
    be detected, the range begins with that share, the largest difference there is.

    Degenerate: nothing is known if fewer queries differ than twice the number that can be
    significant, such as 12 at alpha = .05: the values are None and ``note`` gives the reason.

    Args:
        differences: the differences by query, each 0, ``size`` or −``size``; f8[Q].
        size: by how much a query is won or lost, in the unit of the scores.
        delta: the smallest difference that matters, above 0, in the same unit.
        alpha: the level of the test.
        power: the probability of detecting the difference, above alpha.
        alternative: "two-sided"; or "less" or "greater" for a one-sided test.
        confidence: the level of the interval of the share.

    ``benchmarks/power.py`` compares claimed with true power.

    >>> few = np.repeat([1.0, -1.0, 0.0], [8, 7, 35])
    >>> estimate = estimate_win_power(few)
    >>> low, high = estimate.detectable_low, estimate.detectable_high
    >>> round(low, 2), round(estimate.detectable, 2), round(high, 2)
    (0.17, 0.22, 0.27)
    """
    num_queries, num_differing = len(differences), int(np.count_nonzero(differences))
    level = alpha if alternative == "two-sided" else min(2 * alpha, power / 2)
    differ = "query differs" if num_differing == 1 else "queries differ"
    unknown = PowerEstimate(
        num_queries=num_queries,
        num_differing=num_differing,
        smallest_p=smallest_p(num_differing, alternative=alternative),
        sd=float(differences.std(ddof=1)),
        detectable=None,
        detectable_low=None,
        detectable_high=None,
        queries_low=None,
        queries_high=None,
        delta=delta,
        alpha=alpha,
        power=power,
        confidence=confidence,
        alternative=alternative,
        simulated=False,
        note=f"{num_differing} {differ}: too few to estimate power",
    )
    fewest_significant = math.ceil(1 - math.log2(level))
    if num_differing < _DIFFERING_PER_SIGNIFICANT * fewest_significant:
        return unknown
    low, share, high = _share_interval(num_differing, num_queries, confidence)
    detectable = _detectable(share, num_queries, 0.5, level, power)
    highest = _detectable(high, num_queries, 1.0, level, power)
    if detectable is None or highest is None:
        return unknown
    return replace(
        unknown,
        detectable=size * detectable,
        detectable_low=size * (_detectable(low, num_queries, 0.0, level, power) or low),
        detectable_high=size * highest,
        queries_low=_queries(low, delta / size, 0.0, level, power),
        queries_high=_queries(high, delta / size, 1.0, level, power),
        note="",
    )


def _share_interval(count: int, total: int, confidence: float) -> tuple[float, float, float]:
    """Return Wilson's interval of a share, with the share in the middle."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = count / total, 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return max(0.0, centre - half), share, min(1.0, centre + half)


def _detectable(
    share: float, num_queries: int, correction: float, alpha: float, power: float
) -> float | None:
    """Return the difference that is detected if this share of queries differs; None if none is.

    Args:
        share: the share of queries that differ.
        num_queries: Q, the number of queries.
        correction: c of the formula.
        alpha: the level of the two-sided test.
        power: the probability of detecting the difference.
    """
    normal = NormalDist()
    critical = correction + normal.inv_cdf(1 - alpha / 2) * math.sqrt(num_queries * share)
    # The square of the formula: (Q² + z²Q)·d² − 2·Q·critical·d + critical² − z²·Q·s = 0.
    of_power = normal.inv_cdf(power) ** 2 * num_queries
    square, half = num_queries**2 + of_power, num_queries * critical
    # Below 0 by rounding only, since as many queries differ as the caller demands.
    discriminant = max(0.0, half**2 - square * (critical**2 - of_power * share))
    sign = 1 if power >= 0.5 else -1  # noqa: PLR2004 - the power at the critical value
    detected = (half + sign * math.sqrt(discriminant)) / square
    return detected if 0 < detected <= share else None


def _queries(
    share: float, delta: float, correction: float, alpha: float, power: float
) -> int | None:
    """Return how many queries detect ``delta`` if this share differs; None for more than 10^15."""
    normal, share = NormalDist(), max(share, min(delta, 1.0))
    spread = normal.inv_cdf(1 - alpha / 2) * math.sqrt(share)
    spread += normal.inv_cdf(power) * math.sqrt(max(0.0, share - delta**2))
    root = (spread + math.sqrt(spread**2 + 4 * correction * delta)) / (2 * delta)
    return math.ceil(root**2) if root**2 <= MOST_QUERIES else None
