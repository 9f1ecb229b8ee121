"""Bootstrap intervals of ranks, and the bias from selecting the best of many systems."""

from __future__ import annotations

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


@dataclass(frozen=True, eq=False)
class Ranks:
    """The bootstrapped ranks of R rows. Rank 1 is the best; rows that tie share the better rank.

    Attributes:
        low, high: the ends of the interval of each row's rank, i8[R] each.
        first: the share of resamples in which each row has rank 1, f8[R].
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
        bias: the bootstrap's estimate of how much this mean is too high, in the same unit; >= 0.
        chosen: the share of resamples in which each row is the best or ties with it, f8[R].
    """

    best: int
    score: float
    bias: float
    chosen: Floats


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
    average. The bootstrap repeats the selection on resampled queries and measures this bias.

    Formula: bias = E*[max over rows of θ*_r] − max over rows of the mean, where θ*_r is the mean of
    row r in a resample. Since E*[θ*_b] of the best row b is its mean, the bias is computed as the
    average over resamples of (max over rows of θ*_r) − θ*_b, which is never below 0 and has less
    Monte Carlo error.

    The estimate is mostly too low, since observed means differ more than true ones. For independent
    rows with equal true means and equal noise it is about √2 − 1, or 41%, of the bias.

    Args:
        scores: scores by query, one row per system or checkpoint, f8[R, Q].
        draws: the number of resamples. Their means take 8·draws·R bytes, the computation several
            times as many.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 10 (bias);
    Tibshirani and Tibshirani, A bias correction for the minimum error rate in cross-validation,
    Annals of Applied Statistics 3(2), 2009 (the problem).

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
    means = row_means(values)
    best = int(np.argmax(means))
    resampled = resampled_means(values, draws, generator(rng))
    highest = resampled.max(axis=0)
    bias = float((highest - resampled[best]).mean())
    is_best: Mask = resampled >= highest - TOLERANCE * np.abs(highest)
    return BestOfMany(best, float(means[best]), bias, is_best.mean(axis=1))
