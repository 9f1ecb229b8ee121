"""Tests of many comparisons, corrected for the whole family: max-T."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.corrections import CorrectedTests
from beir_eval.significance.validation import TOLERANCE, is_at_most

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.significance.randomisation import FlippedFamily


def max_t_tests(flipped: FlippedFamily, alpha: float) -> CorrectedTests:
    """Test a family of comparisons against the largest t expected by chance among them.

    The sign of a query is flipped in all comparisons at once. This keeps the correlation of the
    comparisons: the more they are correlated, the less their p-values are corrected.

    Formula: r = Σ d_q / √(Q·Σ d_q²) replaces t. It gives the same order, since
    t = r·√((Q − 1) / (1 − r²)), and sign flips do not change Σ d_q². The share of sign vectors with
    ``max over the family of |r*| >= |r| − 1e-12`` is (1 + count) / (draws + 1), or count / draws if
    all sign vectors are tried. It is computed for two references: for flips of the differences,
    which is right if they are symmetric about 0, and for flips of the differences from their mean,
    which keeps the level of the other comparisons if some systems differ very much. p is the larger
    of the two, and at least the p of ``sign_flip``.

    The critical value c is the ``|r|`` that makes p equal to alpha. The interval contains
    mean ± c'·s/√Q, where c' is the t of c, and the sign-flip interval (``sign_flip_intervals``) of
    the level at which this comparison alone exceeds c.

    Args:
        flipped: the family, randomised with ``largest="family"``.
        alpha: the level of the family, which is the level of ``flipped``: the largest probability
            that a comparison without a true difference is significant.

    Degenerate: if all differences of a row are 0, its p is 1. Without enough queries for a p of
    alpha, intervals are unbounded.

    Source: Westfall and Young, Resampling-Based Multiple Testing, 1993; Boytsov, Belova and
    Westfall, Deciding on an adjustment for multiplicity in IR experiments, SIGIR 2013. The second
    reference and the intervals are our construction; ``benchmarks/familywise.py`` simulates them.
    """
    critical = np.maximum(flipped.critical, flipped.own_critical(alpha))
    p = max_t_p(flipped)
    ends = [
        _interval_at(flipped, index, float(limit)) for index, limit in enumerate(critical.tolist())
    ]
    low, high = np.array(ends).T
    levels = np.full(len(p), alpha)
    own_levels = flipped.levels_of(critical)
    return CorrectedTests.agreeing(
        flipped.means, p, is_at_most(p, alpha), low, high, levels, own_levels
    )


def max_t_p(flipped: FlippedFamily) -> Floats:
    """Return the corrected p-values of the max-T tests of a family, f8[D]."""
    return np.maximum(flipped.p_largest, flipped.p())


def _interval_at(flipped: FlippedFamily, index: int, critical: float) -> tuple[float, float]:
    """Return the interval of one comparison for a critical ``|r|``, as ``max_t_tests`` explains."""
    if critical >= 1 - TOLERANCE:
        return -math.inf, math.inf
    mean = float(flipped.means[index])
    num_queries = flipped.num_queries
    critical_t = critical * math.sqrt((num_queries - 1) / (1 - critical * critical))
    half_width = critical_t * float(flipped.deviations[index]) / math.sqrt(num_queries)
    # The statistics are in descending order.
    num_larger = int(np.searchsorted(-flipped.reached[index], -critical - TOLERANCE, side="left"))
    low, high = (float(ends[index][num_larger]) for ends in (flipped.lowest, flipped.highest))
    return min(low, mean - half_width), max(high, mean + half_width)
