"""Tests of many comparisons, corrected for the whole family: max-T."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.corrections import CorrectedTests
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_flip import (
    AllPairs,
    all_pairs_family,
    matrix_of_pairs,
    scores_of_systems,
)
from beir_eval.significance.sign_vectors import SignVectors, position_keys
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_share,
    is_at_most,
    row_means,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.significance.randomisation import FlippedFamily


@dataclass(frozen=True, eq=False)
class MaxT:
    """Max-T tests of a family of D paired comparisons.

    Attributes:
        differences: mean differences, in the unit of the scores, f8[D].
        statistics: t of each comparison, f8[D]; infinite if its differences are equal but not 0.
        p: two-sided p-values, corrected for the whole family, f8[D].
        low, high: the ends of the intervals, in the unit of the scores, f8[D] each, which hold
            simultaneously. An interval excludes 0 exactly if p <= alpha.
        alpha: the level of the family.
        num_queries: Q, the number of queries.
        draws: the number of sign vectors tried, each of which stands for its opposite too.
        exact: whether these are all sign vectors of the queries on which something differs.
    """

    differences: Floats
    statistics: Floats
    p: Floats
    low: Floats
    high: Floats
    alpha: float
    num_queries: int
    draws: int
    exact: bool


def max_t(
    differences: Any,
    *,
    alpha: float = 0.05,
    draws: int | None = None,
    rng: Any = 0,
) -> MaxT:
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
    mean ± c'·s/√Q, where c' is the t of c, and the sign-flip interval (``sign_flip_interval``) of
    the level at which this comparison alone exceeds c.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        alpha: the level of the family: the largest probability that a comparison without a true
            difference is significant.
        draws: the number of random sign vectors; None means 100,000, or 20,000 for more than 1,000
            queries. All sign vectors are tried instead if they are not more, up to their opposites.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: if all differences of a row are 0, its p is 1. Without enough queries for a p of
    alpha, intervals are unbounded. A row of rounding noise is tested like any other;
    ``max_t_pairs`` recognises it.

    Source: Westfall and Young, Resampling-Based Multiple Testing, 1993; Boytsov, Belova and
    Westfall, Deciding on an adjustment for multiplicity in IR experiments, SIGIR 2013. The second
    reference and the intervals are our construction; ``benchmarks/familywise.py`` simulates them.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries.
        SettingError: alpha is not between 0 and 1, draws is below 1, or rng is neither a seed nor a
            Generator.

    >>> max_t([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]).p.tolist()
    [0.25, 1.0]
    """
    check_share("alpha", alpha)
    values = as_scores(differences, 2, "the differences")
    signs = SignVectors.choose(values.shape[1], draws, rng)
    family = Family(values, position_keys(values.shape[1]), np.arange(len(values)))
    [flipped] = randomise([family], signs, level=alpha, largest="family")
    tests = max_t_tests(flipped, alpha)
    return MaxT(
        flipped.means,
        t_of_ratio(flipped.statistics, flipped.num_queries),
        tests.p_corrected,
        tests.low,
        tests.high,
        float(alpha),
        flipped.num_queries,
        flipped.num_largest,
        flipped.is_largest_exact,
    )


def max_t_pairs(scores: Any, *, draws: int | None = None, rng: Any = 0) -> AllPairs:
    """Return the ``max_t`` of all pairs of systems.

    The array of all differences is never formed. Unlike in ``max_t``, two systems whose scores
    differ only by rounding noise have p = 1.

    Args:
        scores: scores by system and query, f8[S, Q].
        draws: the number of random sign vectors; None means 100,000, or 20,000 for more than 1,000
            queries. All sign vectors are tried instead if they are not more, up to their opposites.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Raises:
        InputError: the scores are not finite numbers, are not two-dimensional, or cover fewer than
            two queries or two systems.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> max_t_pairs([[0.5, 0.4, 0.9], [0.4, 0.2, 0.6], [0.4, 0.2, 0.6]]).p[0].tolist()
    [1.0, 0.25, 0.25]
    """
    values = scores_of_systems(scores, 2)
    signs = SignVectors.choose(values.shape[1], draws, rng)
    family = all_pairs_family(values)
    [flipped] = randomise([family], signs, largest="family")
    p = np.maximum(flipped.p_largest, flipped.p())
    means = row_means(values)
    return AllPairs(
        "max-T",
        means[:, None] - means[None, :],
        matrix_of_pairs(family, p, len(values)),
        flipped.num_queries,
        flipped.num_largest,
        flipped.is_largest_exact,
    )


def max_t_tests(flipped: FlippedFamily, alpha: float) -> CorrectedTests:
    """Return the max-T tests of a family, with intervals that agree with them (``max_t``).

    Args:
        flipped: the family, randomised with ``largest="family"``.
        alpha: the level of the family, which is the level of ``flipped``.
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
    """Return the interval of one comparison for a critical ``|r|``, as ``max_t`` explains."""
    if critical >= 1 - TOLERANCE:
        return -math.inf, math.inf
    mean = float(flipped.means[index])
    critical_t = float(t_of_ratio(np.array([critical]), flipped.num_queries)[0])
    half_width = critical_t * float(flipped.deviations[index]) / math.sqrt(flipped.num_queries)
    # The statistics are in descending order.
    num_larger = int(np.searchsorted(-flipped.reached[index], -critical - TOLERANCE, side="left"))
    low, high = flipped.ends_of_rank(index, 1 + num_larger)
    return min(low, mean - half_width), max(high, mean + half_width)


def t_of_ratio(ratios: Floats, num_queries: int) -> Floats:
    """Return t for each r, f8[D]; infinite if r is ±1, that is, if all differences are equal."""
    unexplained = 1.0 - np.square(ratios)
    is_infinite = unexplained <= TOLERANCE
    t = ratios * np.sqrt((num_queries - 1) / np.where(is_infinite, 1.0, unexplained))
    return np.where(is_infinite, np.copysign(np.inf, ratios), t)
