"""Confidence intervals of mean differences, and the parts of intervals by resampling queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.validation import TOLERANCE

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: Default number of resamples. The random error of an end is then about 1% of the length.
DRAWS = 10_000
#: Numbers in a block of resamples: 32 MiB.
_BLOCK = 2**22
_NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class Intervals:
    """Confidence intervals of D mean differences.

    Attributes:
        differences: the means of the differences, in the unit of the scores, f8[D].
        low, high: the ends of the intervals, in the same unit, f8[D] each.
        confidence: the nominal probability that such an interval contains its true difference.
        method: "sign_flip" (``sign_flip_intervals``).
        num_queries: Q, the number of queries.
        draws: the number of sign vectors.
    """

    differences: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    num_queries: int
    draws: int


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

    Formula: Φ(z0 + (z0 + z)/(1 − a(z0 + z))), where z is the normal quantile of the level; z0 that
    of the share of resampled means below the mean (ties count half; the share is kept 1/(2B) away
    from 0 and 1); and a = Σd³ / (6 (Σd²)^1.5) the acceleration from the jackknife, with d the
    deviations.

    Args:
        levels: the levels of the percentile interval.
        deviations: the values minus their mean, f8[Q]; not all 0.
        resampled: the means of the resamples minus the mean of the values, f8[B].

    Source: Efron, Better bootstrap confidence intervals, J. American Statistical Association
    82(397), 1987; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 14.
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
