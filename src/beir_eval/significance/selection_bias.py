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

#: The number of random halvings of the queries. Its random error is small beside the variation of
#: the estimate between sets of queries.
HALVINGS = 200


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
    average. How much is measured by selecting on one half of the queries and looking at the other
    half, which had no part in the selection, in 200 random halvings.

    Formula: a halving has the row means A on one half and C on the other, with best rows a and c.
    The mean that was selected is too high by A_a − C_a on one half and by C_c − A_c on the other;
    their average is ((A_a − A_c) + (C_c − C_a)) / 2, which is never below 0. ``bias`` is the mean
    of these averages, times 1/√2, since the means of all Q queries vary less than those of Q/2 by
    this factor. (If Q is odd, the factor is 2 / (√(Q/h) + √(Q/(Q − h))), h = (Q − 1)/2.)

    It is an average over sets of queries like these. How much the mean of this row is too high on
    these queries is not known. In simulations the average estimate was 0.9 to 1.1 times the truth
    for nDCG of equal checkpoints on 25 or more queries. It was too low, 0.7 to 0.9 times the truth,
    on 50 or fewer queries of which hardly any differ (MRR, Recall), since the rows often tie on
    half of them, and on 10 queries. It was too high, by a factor of 4 and more, if some rows are
    better by so much that all queries nearly always tell them apart, but half of them do not;
    little bias is left then.

    Args:
        scores: scores by query, one row per system or checkpoint, f8[R, Q].
        draws: the number of bootstrap resamples for ``highest_in_resamples``. Their means take
            8·draws·R bytes, the computation several times as many.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: with one row, and with equal rows, the bias is 0.

    Source: Tibshirani and Tibshirani, A bias correction for the minimum error rate in
    cross-validation, Annals of Applied Statistics 3(2), 2009 (the problem). The halvings, and how
    the estimate compares with others: ``benchmarks/checkpoints.py``.

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
    is_highest = _is_highest(resampled)
    bias = halving_bias(values, HALVINGS, random)
    return BestOfMany(best, float(means[best]), bias, is_highest.mean(axis=1))


def halving_bias(values: Floats, halvings: int, rng: np.random.Generator) -> float:
    """Return the ``bias`` of ``best_of_many``.

    Args:
        values: scores by query, f8[R, Q], Q >= 2.
        halvings: the number of random halvings.
        rng: the generator of the halvings.
    """
    num_queries = values.shape[1]
    size = num_queries // 2
    is_first = rng.permuted(np.tile(np.arange(num_queries) < size, (halvings, 1)), axis=1)
    first = values @ is_first.T.astype(np.float64) / size
    second = values @ (~is_first).T.astype(np.float64) / (num_queries - size)
    # argmax of booleans: the first of the rows that tie.
    best_first, best_second = (
        _is_highest(means).argmax(axis=0, keepdims=True) for means in (first, second)
    )
    excess = first - second
    excess = np.take_along_axis(excess, best_first, 0) - np.take_along_axis(excess, best_second, 0)
    shrinkage = 2 / (math.sqrt(num_queries / size) + math.sqrt(num_queries / (num_queries - size)))
    # A mean that ties within the tolerance may be lower by a rounding error.
    return max(0.0, float(excess.mean()) / 2 * shrinkage)


def _is_highest(means: Floats) -> Mask:
    """Return which rows have the highest mean, or tie with it, in each column: [R, B] -> [R, B]."""
    highest = means.max(axis=0)
    return np.asarray(means >= highest - TOLERANCE * np.abs(highest))
