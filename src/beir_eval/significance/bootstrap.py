"""Bootstrap confidence intervals of mean differences, by resampling queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import check_choice
from beir_eval.significance.validation import (
    TOLERANCE,
    all_equal,
    as_scores,
    check_draws,
    differences_of,
    generator,
    interval_levels,
    residuals,
    row_means,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

METHODS = ("bca", "percentile")
#: Default number of resamples. The random error of an end is then about 1% of the length.
DRAWS = 10_000
#: Numbers in a block of resamples: 32 MiB.
_BLOCK = 2**22
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean difference.

    Attributes:
        difference: the mean of first − second, in the unit of the scores.
        low, high: the ends of the interval, in the same unit.
        confidence: the nominal probability that such an interval contains the true difference.
        method: "bca" or "percentile" (bootstrap), or "sign_flip" (``sign_flip_interval``).
        num_queries: Q, the number of queries.
        draws: the number of resamples, or of sign vectors.
    """

    difference: float
    low: float
    high: float
    confidence: float
    method: str
    num_queries: int
    draws: int


@dataclass(frozen=True, eq=False)
class Intervals:
    """Confidence intervals of D mean differences.

    Attributes:
        differences: the means of the differences, in the unit of the scores, f8[D].
        low, high: the ends of the intervals, in the same unit, f8[D] each.
        confidence: the nominal probability that such an interval contains its true difference.
        method: "bca" or "percentile" (bootstrap), or "sign_flip" (``sign_flip_interval``).
        num_queries: Q, the number of queries.
        draws: the number of resamples, or of sign vectors.
    """

    differences: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    num_queries: int
    draws: int


def bootstrap_interval(  # noqa: PLR0913 - one keyword per setting
    first: Any,
    second: Any = None,
    *,
    confidence: float = 0.95,
    method: str = "bca",
    draws: int = DRAWS,
    rng: Any = 0,
) -> Interval:
    """Return a confidence interval of the mean difference by resampling queries.

    Formula: θ* are the means of ``draws`` samples of Q queries with replacement. "percentile": the
    quantiles of θ* at x and 1 − x, with x = (1 − confidence)/2 (linear interpolation). "bca": the
    quantiles of θ* at Φ(z0 + (z0 + z)/(1 − a(z0 + z))), where z is the normal quantile of x or
    1 − x; z0 the normal quantile of the share of θ* below θ (ties count half; the share is kept
    1/(2·draws) away from 0 and 1); and a = Σ(d − mean)³ / (6 (Σ(d − mean)²)^1.5) the acceleration
    from the jackknife.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        confidence: the nominal probability that such an interval contains the true difference.
        method: "bca" (bias-corrected and accelerated) or "percentile".
        draws: the number of resamples.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: if all differences are equal, both ends are their mean.

    Source: Efron, Better bootstrap confidence intervals, J. American Statistical Association
    82(397), 1987; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: confidence is not between 0 and 1, the method is unknown, draws is below 1,
            or rng is neither a seed nor a Generator.

    >>> interval = bootstrap_interval([0.1, 0.2, 0.3, 0.4], method="percentile")
    >>> round(interval.low, 6), round(interval.difference, 6), round(interval.high, 6)
    (0.15, 0.25, 0.35)
    """
    differences = differences_of(first, second)
    intervals = bootstrap_intervals(
        differences[None, :], confidence=confidence, method=method, draws=draws, rng=rng
    )
    return Interval(
        float(intervals.differences[0]),
        float(intervals.low[0]),
        float(intervals.high[0]),
        intervals.confidence,
        intervals.method,
        intervals.num_queries,
        intervals.draws,
    )


def bootstrap_intervals(  # noqa: PLR0913 - one keyword per setting
    differences: Any,
    *,
    confidence: float = 0.95,
    method: str = "bca",
    draws: int = DRAWS,
    rng: Any = 0,
    weights: Any = None,
) -> Intervals:
    """Return the ``bootstrap_interval`` of each of D difference vectors.

    All rows share the resamples: a resample counts how often each query is drawn, and the counts
    times the differences are one matrix product. The means take 8·draws·D bytes, their
    computation several times as many.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        confidence: the nominal probability that such an interval contains its true difference.
        method: "bca" (bias-corrected and accelerated) or "percentile".
        draws: the number of resamples.
        rng: a seed (a whole number from 0) or a numpy Generator.
        weights: for clusters of queries, which are drawn as a whole: how much a difference of 1 on
            all queries adds to that of each cluster, with a mean of 1, f8[Q] (``margin_tests``). A
            mean of a resample is the sum of its differences over that of its weights. None for
            queries.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries.
        SettingError: confidence is not between 0 and 1, the method is unknown, draws is below 1,
            or rng is neither a seed nor a Generator.

    >>> bootstrap_intervals([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]).high.tolist()
    [0.5, 0.0]
    """
    values = as_scores(differences, 2, "the differences")
    levels = interval_levels(confidence)
    check_choice("method", method, METHODS)
    check_draws(draws)
    means = row_means(values)
    sizes = None if weights is None else np.asarray(weights, dtype=np.float64)
    if sizes is None:
        resampled = resampled_means(values, draws, generator(rng))
    else:
        drawn = resampled_means(np.vstack([values, sizes]), draws, generator(rng))
        resampled = drawn[:-1] / drawn[-1]
    ends = np.repeat(means[:, None], 2, axis=1)
    are_equal = all_equal(values if sizes is None else values / sizes)
    for row in np.flatnonzero(~are_equal).tolist():
        row_levels = levels
        if method == "bca":
            [deviations] = residuals(values[row : row + 1], sizes)
            row_levels = bca_levels(levels, deviations, resampled[row] - means[row])
        ends[row] = np.quantile(resampled[row], row_levels)
    return Intervals(
        means, ends[:, 0], ends[:, 1], float(confidence), method, values.shape[1], int(draws)
    )


def resampled_means(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the mean of each row in every resample of queries: f8[D, Q] -> f8[D, draws]."""
    num_rows, num_queries = values.shape
    means = np.empty((num_rows, draws))
    block_size = max(1, _BLOCK // num_queries)
    for begin in range(0, draws, block_size):
        size = min(block_size, draws - begin)
        drawn = rng.integers(0, num_queries, size=(size, num_queries))
        drawn += num_queries * np.arange(size)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=size * num_queries)
        product = values @ counts.reshape(size, num_queries).T.astype(np.float64)
        means[:, begin : begin + size] = product / num_queries
    return means


def bca_levels(levels: list[float], deviations: Floats, resampled: Floats) -> list[float]:
    """Return quantile levels corrected for bias and skewness (BCa).

    Args:
        levels: the levels of the percentile interval.
        deviations: the values minus their mean, f8[Q]; not all 0.
        resampled: the means of the resamples minus the mean of the values, f8[B].
    """
    draws = len(resampled)
    # The mean of a resample that equals the sample's mean may differ by a rounding error.
    tolerance = TOLERANCE * float(np.abs(deviations).mean())
    twice_below = np.count_nonzero(resampled < -tolerance) + np.count_nonzero(
        resampled <= tolerance
    )
    share_below = min(max(int(twice_below), 1), 2 * draws - 1) / (2 * draws)
    bias = _NORMAL.inv_cdf(share_below)
    # The acceleration has no unit. Scaling keeps its powers within the range of a float.
    scaled = deviations / np.abs(deviations).max()
    acceleration = float((scaled**3).sum()) / (6 * float(np.square(scaled).sum()) ** 1.5)
    return [_bca_level(level, bias, acceleration) for level in levels]


def _bca_level(level: float, bias: float, acceleration: float) -> float:
    """Return the corrected level, from 0 to 1."""
    shifted = bias + _NORMAL.inv_cdf(level)
    denominator = 1 - acceleration * shifted
    if denominator <= 0:  # beyond the pole of the formula, the level is 0 or 1
        return float(shifted > 0)
    corrected = _NORMAL.cdf(bias + shifted / denominator)
    return corrected if math.isfinite(corrected) else float(shifted > 0)
