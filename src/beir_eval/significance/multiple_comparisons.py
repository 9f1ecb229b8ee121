"""Tests of many comparisons, corrected for the whole family: randomised Tukey HSD and max-T."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.corrections import CorrectedTests
from beir_eval.significance.randomisation import Family, randomise, rank_at
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
    check_draws,
    check_share,
    generator,
    is_at_most,
    row_means,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.significance.randomisation import FlippedFamily

#: Default number of randomisations. The smallest p is then 1e-4; two standard errors of a p of .05
#: are .0044.
DRAWS = 10_000
#: Scores in a block of permutations, to fit in the processor's cache; and the fewest columns of a
#: block, since numpy is slow on small arrays. With many systems the second limit decides.
_SCORES_PER_BLOCK, _FEWEST_COLUMNS = 2**16, 2**12


@dataclass(frozen=True, eq=False)
class MaxT:
    """Max-T tests of a family of D paired comparisons.

    Attributes:
        differences: mean differences, in the unit of the scores, f8[D].
        statistics: t of each comparison, f8[D]; infinite if its differences are equal but not 0.
        p: two-sided p-values, corrected for the whole family, f8[D].
        low, high: the ends of the intervals, in the unit of the scores, f8[D] each; simultaneous
            unless ``step_down``. An interval excludes 0 exactly if p <= alpha.
        alpha: the level of the family.
        num_queries: Q, the number of queries.
        step_down: whether the step-down variant was used.
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
    step_down: bool
    draws: int
    exact: bool


def randomised_tukey_hsd(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Test all pairs of systems against the largest difference expected by chance among them.

    In each draw the systems' labels are permuted within every query, uniformly and independently.
    Prefer ``max_t_pairs``. This test controls the family-wise error only if the systems are
    exchangeable; equal means are not enough. With one of ten systems twice as noisy as the
    others, its error at 25 queries was .136 at a level of .05, that of ``max_t_pairs`` .042
    (``benchmarks/familywise.py``).
    A system that differs much from the others widens the range, so the other pairs lose power.

    Formula: range* = highest − lowest of the S permuted means. For a pair whose means differ by
    ``gap``, count = ``#{range* >= |gap| − tolerance}`` and p = (1 + count) / (draws + 1). The
    tolerance is 1e-12 times the mean over queries of the largest absolute centred score.

    Args:
        scores: scores by system and query, f8[S, Q].
        draws: the number of permutations of all labels. Time grows with draws × S × Q.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Source: Carterette, Multiple testing in statistical analysis of systems-based information
    retrieval experiments, ACM TOIS 30(1), 2012.

    Raises:
        InputError: the scores are not finite numbers, are not two-dimensional, or cover fewer than
            two queries or two systems.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> scores = [[0.9] * 12, [0.5] * 12, [0.5] * 12]
    >>> bool(randomised_tukey_hsd(scores, draws=999).p[0, 1] <= 0.01)
    True
    """
    values = scores_of_systems(scores, 2)
    centred = values - values.mean(axis=0)
    check_draws(draws)
    ranges = np.sort(_permuted_ranges(centred, draws, generator(rng)))
    totals = centred.sum(axis=1)
    gaps = np.abs(totals[:, None] - totals[None, :])
    tolerance = TOLERANCE * np.abs(centred).max(axis=0).sum()
    p = (1 + _num_at_least(ranges, gaps - tolerance)) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    means = row_means(values)
    return AllPairs(
        "randomised Tukey HSD",
        means[:, None] - means[None, :],
        p,
        values.shape[1],
        int(draws),
        exact=False,
    )


def max_t(
    differences: Any,
    *,
    alpha: float = 0.05,
    draws: int | None = None,
    rng: Any = 0,
    step_down: bool = False,
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
        step_down: whether the maximum is only over the comparisons with no larger ``|r|``; p then
            never decreases from a larger to a smaller ``|r|``. The family-wise error is controlled
            at the same level, with more power. The intervals are then those of the stage at which
            a comparison was tested; they are not simultaneous.

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
    [flipped] = randomise(
        [family], signs, level=alpha, largest="step-down" if step_down else "family"
    )
    tests = max_t_tests(flipped, alpha, step_down=step_down)
    return MaxT(
        flipped.means,
        t_of_ratio(flipped.statistics, flipped.num_queries),
        tests.p_corrected,
        tests.low,
        tests.high,
        float(alpha),
        flipped.num_queries,
        step_down,
        flipped.num_largest,
        flipped.is_largest_exact,
    )


def max_t_pairs(scores: Any, *, draws: int | None = None, rng: Any = 0) -> AllPairs:
    """Return the single-step ``max_t`` of all pairs of systems.

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


def max_t_tests(flipped: FlippedFamily, alpha: float, *, step_down: bool = False) -> CorrectedTests:
    """Return the max-T tests of a family, with intervals that agree with them (``max_t``).

    Args:
        flipped: the family, randomised with ``largest="family"``, or ``"step-down"``.
        alpha: the level of the family, which is the level of ``flipped``.
        step_down: whether comparisons are tested in stages, largest ``|r|`` first.
    """
    critical = np.maximum(flipped.critical, flipped.own_critical(alpha))
    p = max_t_p(flipped, step_down=step_down)
    if step_down:
        descending = _descending(flipped)
        is_significant = is_at_most(p, alpha)
        untested = descending[~is_significant[descending]]
        # After the first comparison that is not significant, none is tested: its stage is the last.
        critical[untested] = np.maximum(critical[untested], critical[untested[:1]])
    else:
        is_significant = is_at_most(p, alpha)
    ends = [
        _interval_at(flipped, index, float(limit)) for index, limit in enumerate(critical.tolist())
    ]
    low, high = np.array(ends).T
    own_levels = flipped.levels_of(critical)
    levels = own_levels if step_down else np.full(len(p), alpha)
    return CorrectedTests.agreeing(flipped.means, p, is_significant, low, high, levels, own_levels)


def max_t_p(flipped: FlippedFamily, *, step_down: bool = False) -> Floats:
    """Return the corrected p-values of the max-T tests of a family, f8[D].

    Args:
        flipped: the family, randomised with ``largest="family"``, or ``"step-down"``.
        step_down: whether comparisons are tested in stages, largest ``|r|`` first.
    """
    p = np.maximum(flipped.p_largest, flipped.p())
    if step_down:
        descending = _descending(flipped)
        p[descending] = np.maximum.accumulate(p[descending])
    return p


def _descending(flipped: FlippedFamily) -> Ints:
    """Return the comparisons, largest ``|r|`` first, i8[D]."""
    return np.argsort(np.abs(flipped.statistics), kind="stable")[::-1]


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


def tukey_tests(
    flipped: FlippedFamily, scores: Floats, alpha: float, *, draws: int = DRAWS, rng: Any = 0
) -> CorrectedTests:
    """Return randomised Tukey HSD tests of a family, with intervals that agree with them.

    p is the larger of Tukey's and the uncorrected p. The interval contains mean ± c, where c is the
    range of the permuted means that makes p equal to alpha, and the sign-flip interval at alpha.

    Args:
        flipped: the pairs of the systems, randomised.
        scores: scores by system and query, f8[S, Q].
        alpha: the level of the family, at most the level of ``flipped``.
        draws: the number of permutations of all labels.
        rng: a seed (a whole number from 0) or a numpy Generator.
    """
    centred = scores - scores[:1]
    ranges = np.sort(_permuted_ranges(centred, draws, generator(rng)))
    size = np.abs(flipped.means) * flipped.num_queries
    tolerance = TOLERANCE * np.abs(centred).max(axis=0).sum()
    p = np.maximum((1 + _num_at_least(ranges, size - tolerance)) / (draws + 1), flipped.p())
    rank = rank_at(alpha, draws, exact=False)
    limit = float(ranges[-rank]) / flipped.num_queries if rank else math.inf
    low, high = flipped.intervals(np.full(len(p), alpha))
    return CorrectedTests.agreeing(
        flipped.means,
        p,
        is_at_most(p, alpha),
        np.minimum(low, flipped.means - limit),
        np.maximum(high, flipped.means + limit),
        np.full(len(p), alpha),
        # The level of Bonferroni's correction: that of Tukey's test is not below it.
        np.full(len(p), alpha / len(p)),
    )


def _permuted_ranges(centred: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the range of the permuted systems' totals in each draw: f8[S, Q] -> f8[draws]."""
    num_systems, num_queries = centred.shape
    num_columns = max(_SCORES_PER_BLOCK // num_systems, _FEWEST_COLUMNS)
    block_size = min(draws, max(1, num_columns // num_queries))
    ranges = np.empty(draws)
    for begin in range(0, draws, block_size):
        size = min(block_size, draws - begin)
        totals = np.empty((num_systems, size))
        for row, permuted in _permuted_rows(np.tile(centred, size), rng):
            totals[row] = permuted.reshape(size, num_queries).sum(axis=1)
        ranges[begin : begin + size] = totals.max(axis=0) - totals.min(axis=0)
    return ranges


def _permuted_rows(columns: Floats, rng: np.random.Generator) -> Iterator[tuple[int, Floats]]:
    """Yield index and values of each row, last first, while every column is permuted.

    A Fisher-Yates shuffle of all columns of f8[S, N] at once, which overwrites ``columns``. It is
    five times as fast here as numpy's, which permutes one column after the other.
    """
    num_rows, num_columns = columns.shape
    flat, column = columns.reshape(-1), np.arange(num_columns)
    index_type = np.min_scalar_type(num_rows)
    for row in range(num_rows - 1, 0, -1):
        chosen = rng.integers(0, row + 1, size=num_columns, dtype=index_type).astype(np.int64)
        chosen *= num_columns
        chosen += column
        permuted = flat.take(chosen)
        flat[chosen] = columns[row]
        yield row, permuted
    yield 0, columns[0]


def t_of_ratio(ratios: Floats, num_queries: int) -> Floats:
    """Return t for each r, f8[D]; infinite if r is ±1, that is, if all differences are equal."""
    unexplained = 1.0 - np.square(ratios)
    is_infinite = unexplained <= TOLERANCE
    t = ratios * np.sqrt((num_queries - 1) / np.where(is_infinite, 1.0, unexplained))
    return np.where(is_infinite, np.copysign(np.inf, ratios), t)


def _num_at_least(ascending: Floats, limits: Floats) -> Any:
    """Return how many ascending values are at least each limit, i8 in the shape of the limits."""
    return len(ascending) - np.searchsorted(ascending, limits, side="left")
