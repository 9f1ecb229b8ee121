"""Bootstrap intervals of a mean difference, queries resampled."""

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
    row_means,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

METHODS = ("bca", "percentile")
#: Resamples unless told: the ends are then known to about a hundredth of the interval's length.
DRAWS = 10_000
#: Numbers in one block of resamples: 32 MiB.
_BLOCK = 2**22
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean difference.

    Attributes:
        difference: the mean of first − second, in the unit of the scores.
        low, high: the ends.
        confidence: the chance that such an interval holds the true difference.
        method: "bca" or "percentile".
        num_queries, draws: Q, and how often the queries were resampled.
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
    """Confidence intervals of many mean differences; the fields are those of ``Interval``.

    Attributes:
        differences, low, high: f8[D].
        confidence, method, num_queries, draws: of all of them.
    """

    differences: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    num_queries: int
    draws: int


def bootstrap_interval(  # noqa: PLR0913 - one keyword a setting
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
    x and 1 − x quantiles of θ*, x = (1 − confidence)/2 (linear interpolation). "bca": its quantiles
    at Φ(z0 + (z0 + z)/(1 − a(z0 + z))), z the normal quantile of x and 1 − x, z0 the normal
    quantile of the share of θ* below θ (ties by half; kept 1/(2·draws) away from 0 and 1), and a =
    Σ(d − mean)³ / (6 (Σ(d − mean)²)^1.5), the acceleration from the jackknife.

    Args:
        first: scores of one system, f8[Q], or the differences themselves where ``second`` is None.
        second: scores of the other, in the same order of queries, f8[Q].
        confidence: the chance that such an interval holds the true difference.
        method: "bca" (bias-corrected and accelerated) or "percentile".
        draws: resamples.
        rng: a seed, or a numpy Generator.

    Degenerate: all differences equal: both ends are their value.

    Source: Efron, Better bootstrap confidence intervals, J. American Statistical Association
    82(397), 1987; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14.

    Raises:
        InputError: not numbers, NaN, fewer than two queries, different lengths.
        SettingError: confidence outside 0 to 1, another method, draws below 1, no seed.

    >>> interval = bootstrap_interval([0.1, 0.2, 0.3, 0.4], method="percentile")
    >>> round(interval.low, 6), round(interval.difference, 6), round(interval.high, 6)
    (0.15, 0.25, 0.35)
    """
    differences = differences_of(first, second)
    many = bootstrap_intervals(
        differences[None, :], confidence=confidence, method=method, draws=draws, rng=rng
    )
    return Interval(
        float(many.differences[0]),
        float(many.low[0]),
        float(many.high[0]),
        many.confidence,
        many.method,
        many.num_queries,
        many.draws,
    )


def bootstrap_intervals(
    differences: Any,
    *,
    confidence: float = 0.95,
    method: str = "bca",
    draws: int = DRAWS,
    rng: Any = 0,
) -> Intervals:
    """Return the ``bootstrap_interval`` of each of many difference vectors, at once.

    The same resamples serve all rows: how often each query was drawn, times the differences, is one
    matrix product. Memory is 8·draws·D bytes.

    Args:
        differences: f8[D, Q], one row a comparison.
        confidence: as ``bootstrap_interval``.
        method: as ``bootstrap_interval``.
        draws: as ``bootstrap_interval``.
        rng: as ``bootstrap_interval``.

    Raises:
        InputError, SettingError: as ``bootstrap_interval``.

    >>> bootstrap_intervals([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]).high.tolist()
    [0.5, 0.0]
    """
    values = as_scores(differences, 2, "the differences")
    levels = interval_levels(confidence)
    check_choice("method", method, METHODS)
    check_draws(draws)
    means = row_means(values)
    resampled = resampled_means(values, draws, generator(rng))
    ends = np.repeat(means[:, None], 2, axis=1)
    for row in np.flatnonzero(~all_equal(values)).tolist():
        row_levels = levels
        if method == "bca":
            row_levels = bca_levels(levels, values[row] - means[row], resampled[row] - means[row])
        ends[row] = np.quantile(resampled[row], row_levels)
    return Intervals(
        means, ends[:, 0], ends[:, 1], float(confidence), method, values.shape[1], int(draws)
    )


def resampled_means(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the means of resampled queries: f8[D, Q] -> f8[D, draws]."""
    num_rows, num_queries = values.shape
    means = np.empty((num_rows, draws))
    size = max(1, _BLOCK // num_queries)
    for begin in range(0, draws, size):
        count = min(size, draws - begin)
        drawn = rng.integers(0, num_queries, size=(count, num_queries))
        drawn += num_queries * np.arange(count)[:, None]
        times = np.bincount(drawn.reshape(-1), minlength=count * num_queries)
        product = values @ times.reshape(count, num_queries).T.astype(np.float64)
        means[:, begin : begin + count] = product / num_queries
    return means


def bca_levels(levels: list[float], deviations: Floats, resampled: Floats) -> list[float]:
    """Return the levels corrected for bias and skewness; both arrays are less their mean."""
    draws = len(resampled)
    # A resample whose mean is the sample's may be a rounding error away from it.
    tie = TOLERANCE * float(np.abs(deviations).mean())
    below = np.count_nonzero(resampled < -tie) + np.count_nonzero(resampled <= tie)
    share = min(max(int(below), 1), 2 * draws - 1) / (2 * draws)
    bias = _NORMAL.inv_cdf(share)
    # It has no unit; scaled, no power of it leaves the range of a float.
    scaled = deviations / np.abs(deviations).max()
    acceleration = float((scaled**3).sum()) / (6 * float(np.square(scaled).sum()) ** 1.5)
    return [_corrected(level, bias, acceleration) for level in levels]


def _corrected(level: float, bias: float, acceleration: float) -> float:
    shifted = bias + _NORMAL.inv_cdf(level)
    shrink = 1 - acceleration * shifted
    if shrink <= 0:  # past the pole of the formula: the level has reached its end
        return float(shifted > 0)
    corrected = _NORMAL.cdf(bias + shifted / shrink)
    return corrected if math.isfinite(corrected) else float(shifted > 0)
