"""Bootstrap intervals of ranks, and the bias from selecting the best of many systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.bootstrap import DRAWS, resampled_means
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_draws,
    generator,
    interval_levels,
    row_means,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints, Mask

#: The parts of the queries, of which one is held out at a time. Among rows with the same true mean,
#: the bias of selecting on 5 parts of 6, times √(5/6), is at least 91% of that of selecting on all.
PARTS = 6
#: The number of random partitions of the queries. Its random error is small beside the variation of
#: the estimate between sets of queries.
PARTITIONS = 100


@dataclass(frozen=True, eq=False)
class Ranks:
    """The bootstrapped ranks of R rows. Rank 1 is the best; rows that tie share the better rank.

    Attributes:
        low, high: the ends of the interval of each row's rank, i8[R] each.
        first: the share of resamples in which each row has rank 1, f8[R]. It is not the
            probability that the row is truly the best.
    """

    low: Ints
    high: Ints
    first: Floats


@dataclass(frozen=True, eq=False)
class BestOfMany:
    """The best of R rows, and the bias of its mean from having been selected.

    Attributes:
        best: the index of the best row; the first one if rows tie.
        score: its mean, in the unit of the scores.
        bias: how much such a mean is too high on average, in the same unit; >= 0. An estimate.
        highest_in_resamples: the share of bootstrap resamples in which each row has the highest
            mean or ties with it, f8[R]. It is not the probability that the row is truly the best.
    """

    best: int
    score: float
    bias: float
    highest_in_resamples: Floats


def resampled_ranks(resampled: Any, *, confidence: float = 0.95) -> Ranks:
    """Return intervals of the ranks of rows from resampled means; a higher mean is better.

    Formula: rank = 1 + ``#{rows with a higher mean}`` in each resample. The ends are the smallest
    ranks that at least a share (1 − confidence)/2, or (1 + confidence)/2, of the resamples do not
    exceed. Means that differ by no more than 1e-12 of the largest absolute mean tie.

    Args:
        resampled: the means of R rows in B resamples, f8[R, B], as in
            ``StratifiedBootstrap.resampled``.
        confidence: the share of the resamples that the interval is to contain.

    Source: Goldstein and Spiegelhalter, League tables and their limitations, J. Royal Statistical
    Society A 159(3), 1996.

    Raises:
        InputError: the means are not finite numbers, are not two-dimensional, or are of fewer than
            two resamples.
        SettingError: confidence is not between 0 and 1.

    >>> resampled_ranks([[0.5, 0.5, 0.5, 0.5], [0.4, 0.4, 0.4, 0.6]], confidence=0.8).first.tolist()
    [0.75, 0.25]
    """
    values = as_scores(resampled, 2, "the resampled means")
    levels = interval_levels(confidence)
    tolerance = TOLERANCE * float(np.abs(values).max())
    ranks = np.stack([1 + np.count_nonzero(values > row + tolerance, axis=0) for row in values])
    low, high = np.quantile(ranks, levels, axis=1, method="inverted_cdf").astype(np.int64)
    return Ranks(low, high, (ranks == 1).mean(axis=1))


def best_of_many(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> BestOfMany:
    """Return the row with the highest mean, and an estimate of how much this mean is too high.

    The best of many rows is partly the luckiest on these queries, so its mean is too high on
    average. How much is measured by selecting on five sixths of the queries and looking at the
    other sixth, which had no part in the selection, for all six sixths of 100 random partitions.

    Formula: of the Q queries, part p of a partition has h_p, and the others n_p. The row with the
    best mean on the others, a, has the mean C_a on part p, and M_a on all queries. ``bias`` is the
    average over the partitions of ``Σ_p h_p (M_a − C_a) / Σ_p h_p √(n_p/Q)``: M_a − C_a is n_p/Q of
    what the mean on the n_p queries is too high by, and the means of Q queries vary less than those
    of n_p by √(n_p/Q). It is never below 0. With fewer than six queries, each is a part.

    If all rows have the same true mean, selecting on fewer queries gives no smaller bias, so the
    estimate is at least about √(5/6), 91%, of the truth on average (71% to 89% for 2 to 5 queries).
    In simulations with scores of real runs it was 0.86 to 1.07 times the truth on average for
    nearly equal checkpoints, also on 10 queries and where hardly any differ (MRR, Recall); choosing
    on halves gave 0.7 to 0.9 there. (The standard errors of these ratios were .02 to .08, and .16
    for two checkpoints on 10 queries: none is significantly below 0.91.) If one checkpoint is
    better it was 0.84 ± 0.07 at the lowest, on 10 queries, and up to 3 if all queries nearly always
    tell them apart; little bias is left then.

    It is an average over sets of queries like these. How much the mean of this row is too high on
    these queries is not known, and a single estimate is rough: its standard deviation was half the
    truth for 20 checkpoints, about the truth for two on 300 queries, and several times the truth
    where hardly any query differs.

    Args:
        scores: scores by query, one row per system or checkpoint, f8[R, Q].
        draws: the number of bootstrap resamples for ``highest_in_resamples``. Their means take
            8·draws·R bytes, the computation several times as many.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: with one row, and with equal rows, the bias is 0.

    Source: Tibshirani and Tibshirani, A bias correction for the minimum error rate in
    cross-validation, Annals of Applied Statistics 3(2), 2009 (the problem). The factor √(n/Q) is
    our construction; ``benchmarks/checkpoints.py`` and ``benchmarks/picks.py`` simulate it.

    Raises:
        InputError: the scores are not finite numbers, are not two-dimensional, or cover fewer than
            two queries.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> selection = best_of_many([[0.5, 0.5, 0.5], [0.25, 0.25, 0.25]])
    >>> selection.best, selection.score, selection.bias
    (0, 0.5, 0.0)
    """
    values = as_scores(scores, 2)
    check_draws(draws)
    random = generator(rng)
    means = row_means(values)
    best = int(np.argmax(means))
    resampled = resampled_means(values, draws, random)
    is_highest = _is_highest(resampled, _tolerance(values))
    bias = held_out_bias(values, PARTITIONS, random)
    return BestOfMany(best, float(means[best]), bias, is_highest.mean(axis=1))


def held_out_bias(values: Floats, partitions: int, rng: np.random.Generator) -> float:
    """Return the ``bias`` of ``best_of_many``.

    Args:
        values: scores by query, f8[R, Q], Q >= 2.
        partitions: the number of random partitions of the queries into six parts.
        rng: the generator of the partitions.
    """
    num_queries = values.shape[1]
    num_parts = min(PARTS, num_queries)
    # What all rows have in common has no part in it; equal rows become 0.
    relative = values - values[0]
    sums, tolerance = relative.sum(axis=1, keepdims=True), _tolerance(values)
    means = sums / num_queries
    parts = np.tile(np.arange(num_queries) % num_parts, (partitions, 1))
    rng.permuted(parts, axis=1, out=parts)
    total = divisor = 0.0
    for part in range(num_parts):
        held_out = np.count_nonzero(parts[0] == part)
        selecting = num_queries - held_out
        sums_held_out = relative @ (parts == part).T.astype(np.float64)
        # argmax of booleans: the first of the rows that tie.
        best = _is_highest((sums - sums_held_out) / selecting, tolerance).argmax(axis=0)
        losses = np.take_along_axis(means - sums_held_out / held_out, best[None], 0)
        total += held_out * float(losses.mean())
        divisor += held_out * math.sqrt(selecting / num_queries)
    # The losses of one row add up to 0 but for rounding.
    return total / divisor if total > tolerance * num_queries else 0.0


def _tolerance(values: Floats) -> float:
    """Return by how much means of values tie."""
    return TOLERANCE * float(np.abs(values).max())


def _is_highest(means: Floats, tolerance: float) -> Mask:
    """Return which rows have the highest mean, or tie with it, in each column: [R, B] -> [R, B]."""
    return np.asarray(means >= means.max(axis=0) - tolerance)
