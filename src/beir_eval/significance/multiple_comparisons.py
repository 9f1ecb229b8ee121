"""Tests of many comparisons, corrected for the whole family: randomised Tukey HSD and max-T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.sign_flip import AllPairs, mean_differences, scores_and_centred
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_draws,
    generator,
    row_means,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from beir_eval.core.arrays import Floats

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
        num_queries: Q, the number of queries.
        step_down: whether the step-down variant was used.
        draws: the number of sign vectors tried.
        exact: whether these are all 2^Q sign vectors.
    """

    differences: Floats
    statistics: Floats
    p: Floats
    num_queries: int
    step_down: bool
    draws: int
    exact: bool


def randomised_tukey_hsd(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Test all pairs of systems against the largest difference expected by chance among them.

    In each draw the systems' labels are permuted within every query, uniformly and independently.
    Prefer ``max_t_pairs``. This test controls the family-wise error only if the systems are
    exchangeable; equal means are not enough. With one system twice as noisy as four others, its
    error was .073 at a level of .05, that of ``max_t_pairs`` .050 (``benchmarks/familywise.py``).
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
    values, centred = scores_and_centred(scores, 2)
    check_draws(draws)
    num_queries = values.shape[1]
    ranges = _permuted_ranges(centred, draws, generator(rng))
    totals = centred.sum(axis=1)
    gaps = np.abs(totals[:, None] - totals[None, :])
    tolerance = TOLERANCE * np.abs(centred).max(axis=0).sum()
    p = (1 + _num_at_least(ranges, gaps - tolerance)) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    return AllPairs(
        "randomised Tukey HSD", mean_differences(values), p, num_queries, int(draws), exact=False
    )


def max_t(differences: Any, *, draws: int = DRAWS, rng: Any = 0, step_down: bool = False) -> MaxT:
    """Test a family of comparisons against the largest t expected by chance among them.

    The sign of a query is flipped in all comparisons at once. This keeps the correlation of the
    comparisons: the more they are correlated, the less their p-values are corrected.

    Formula: r = Σ d_q / √(Q·Σ d_q²) replaces t. It gives the same order, since
    t = r·√((Q − 1) / (1 − r²)), and sign flips do not change Σ d_q². Then count =
    ``#{max over the family of |r*| >= |r| − 1e-12}`` and p = (1 + count) / (draws + 1), or
    count / 2^Q if all sign vectors are tried.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        draws: the number of random sign vectors; all 2^Q are tried instead if they are not more.
        rng: a seed (a whole number from 0) or a numpy Generator.
        step_down: whether the maximum is only over the comparisons with no larger ``|r|``; p then
            never decreases from a larger to a smaller ``|r|``. No p is larger than without it, and
            the family-wise error is controlled at the same level.

    Degenerate: if all differences of a row are 0, its p is 1. A row of rounding noise is tested
    like any other; ``max_t_pairs`` recognises it.

    Source: Westfall and Young, Resampling-Based Multiple Testing, 1993; Boytsov, Belova and
    Westfall, Deciding on an adjustment for multiplicity in IR experiments, SIGIR 2013.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> max_t([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]).p.tolist()
    [0.25, 1.0]
    """
    values = as_scores(differences, 2, "the differences")
    signs = SignVectors.choose(values.shape[1], draws, rng)
    ratios, scaled = _ratios(values)
    size = np.abs(ratios)
    p = _step_down_p(scaled, size, signs) if step_down else _single_step_p(scaled, size, signs)
    return MaxT(
        row_means(values),
        _as_t(ratios, signs.num_queries),
        p,
        signs.num_queries,
        step_down,
        signs.draws,
        signs.exact,
    )


def max_t_pairs(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Return the single-step ``max_t`` of all pairs of systems.

    The array of all differences is never formed. Unlike in ``max_t``, two systems whose scores
    differ only by rounding noise have p = 1.

    Args:
        scores: scores by system and query, f8[S, Q].
        draws: the number of random sign vectors; all 2^Q are tried instead if they are not more.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Raises:
        InputError: the scores are not finite numbers, are not two-dimensional, or cover fewer than
            two queries or two systems.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> max_t_pairs([[0.5, 0.4, 0.9], [0.4, 0.2, 0.6], [0.4, 0.2, 0.6]]).p[0].tolist()
    [1.0, 0.25, 0.25]
    """
    values, centred = scores_and_centred(scores, 2)
    signs = SignVectors.choose(values.shape[1], draws, rng)
    scale = _scale_of_pairs(centred)

    def largest_statistics(products: Floats) -> Floats:
        largest = np.zeros(products.shape[1])
        for row in range(len(products) - 1):
            gaps = products[row] - products[row + 1 :]
            np.abs(gaps, out=gaps)
            gaps /= scale[row, row + 1 :, None]
            np.maximum(largest, gaps.max(axis=0), out=largest)
        return largest

    totals = centred.sum(axis=1)
    size = np.abs(totals[:, None] - totals[None, :]) / scale
    drawn = _largest_by_draw(centred, signs, largest_statistics)
    p = signs.p_values(_num_at_least(drawn, size - TOLERANCE))
    return AllPairs(
        "max-T", mean_differences(values), p, signs.num_queries, signs.draws, signs.exact
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


def _ratios(values: Floats) -> tuple[Floats, Floats]:
    """Return r of each row, and the rows scaled so that their sum is r: f8[D], f8[D, Q]."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    in_range = values / np.where(largest, largest, 1.0)
    norm = np.sqrt(values.shape[1] * np.square(in_range).sum(axis=1, keepdims=True))
    scaled = in_range / np.where(norm, norm, 1.0)
    return scaled.sum(axis=1), scaled


def _as_t(ratios: Floats, num_queries: int) -> Floats:
    """Return t for each r, f8[D]; infinite if r is ±1, that is, if all differences are equal."""
    unexplained = 1.0 - np.square(ratios)
    is_infinite = unexplained <= TOLERANCE
    t = ratios * np.sqrt((num_queries - 1) / np.where(is_infinite, 1.0, unexplained))
    return np.where(is_infinite, np.copysign(np.inf, ratios), t)


def _scale_of_pairs(centred: Floats) -> Floats:
    """Return √(Q·Σ(a − b)²) of all pairs, f8[S, S]; infinity if only rounding noise differs."""
    num_systems, num_queries = centred.shape
    noise = TOLERANCE * np.abs(centred).max()
    scale = np.full((num_systems, num_systems), np.inf)
    for row in range(num_systems):
        gaps = centred[row] - centred
        norm = np.sqrt(num_queries * np.square(gaps).sum(axis=1))
        scale[row] = np.where(np.abs(gaps).max(axis=1) > noise, norm, np.inf)
    return scale


def _largest_by_draw(
    rows: Floats, signs: SignVectors, largest_statistics: Callable[[Floats], Floats]
) -> Floats:
    """Return the largest statistic of each sign vector, f8[draws].

    Args:
        rows: f8[D, Q].
        signs: the sign vectors.
        largest_statistics: f8[D, b] -> f8[b]: from the rows times b sign vectors.
    """
    return np.concatenate([largest_statistics(rows @ block.T) for block in signs.blocks(len(rows))])


def _single_step_p(scaled: Floats, size: Floats, signs: SignVectors) -> Floats:
    """Return p of each comparison, f8[D], from the scaled rows f8[D, Q] and ``|r|``, f8[D]."""
    largest = _largest_by_draw(
        scaled, signs, lambda flipped: np.asarray(np.abs(flipped).max(axis=0))
    )
    return signs.p_values(_num_at_least(largest, size - TOLERANCE))


def _step_down_p(scaled: Floats, size: Floats, signs: SignVectors) -> Floats:
    """Return the step-down p of each comparison, f8[D], as ``_single_step_p`` does."""
    ascending = np.argsort(size, kind="stable")
    limits = size[ascending, None] - TOLERANCE
    counts = np.zeros(len(size), dtype=np.int64)
    for block in signs.blocks(len(scaled)):
        flipped = np.abs(scaled[ascending] @ block.T)
        counts += np.count_nonzero(np.maximum.accumulate(flipped, axis=0) >= limits, axis=1)
    p = np.empty(len(size))
    # p must not decrease from the largest |r| to the smallest.
    p[ascending] = np.maximum.accumulate(signs.p_values(counts)[::-1])[::-1]
    return p


def _num_at_least(drawn: Floats, limits: Floats) -> Any:
    """Return how many drawn values are at least each limit, i8 in the shape of ``limits``."""
    return len(drawn) - np.searchsorted(np.sort(drawn), limits, side="left")
