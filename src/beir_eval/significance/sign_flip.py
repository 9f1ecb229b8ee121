"""The sign-flip randomisation test of one pair of systems, of many pairs, and of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError
from beir_eval.significance.paired_tests import PairedTest
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_alternative,
    differences_of,
    row_means,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints

#: Default number of sign vectors. Two standard errors of a p of .05 are then .0014.
DRAWS = 100_000


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Sign-flip tests of D difference vectors.

    Attributes:
        differences: mean differences, in the unit of the scores, f8[D].
        p: p-values, not corrected for their number, f8[D].
        num_queries: Q, the number of queries.
        alternative: "two-sided", "less" or "greater".
        draws: the number of sign vectors tried.
        exact: whether these are all 2^Q sign vectors.
    """

    differences: Floats
    p: Floats
    num_queries: int
    alternative: str
    draws: int
    exact: bool


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Tests of all pairs of S systems.

    Attributes:
        test: "sign flip" (p not corrected), "randomised Tukey HSD" or "max-T" (both corrected).
        differences: mean of the row's system − mean of the column's, in the unit of the scores,
            f8[..., S, S].
        p: two-sided p-values, symmetric, 1 on the diagonal, f8[..., S, S].
        num_queries: Q, the number of queries.
        draws: the number of sign vectors or permutations tried.
        exact: whether these are all 2^Q sign vectors; False for permutations.
    """

    test: str
    differences: Floats
    p: Floats
    num_queries: int
    draws: int
    exact: bool


def sign_flip(
    first: Any,
    second: Any = None,
    *,
    alternative: str = "two-sided",
    draws: int = DRAWS,
    rng: Any = 0,
) -> PairedTest:
    """Test whether two systems differ in their mean, by flipping signs of their differences.

    If the systems are exchangeable within each query, the differences d_q and −d_q are equally
    likely. T = Σ d_q is compared with T* = Σ s_q·d_q over sign vectors s: all 2^Q of them if these
    are at most ``draws``, random ones otherwise.

    Formula: two-sided, count = ``#{|T*| >= |T| − tolerance}`` and p = (1 + count) / (draws + 1), or
    count / 2^Q if all sign vectors are tried. The tolerance ``1e-12·Σ|d_q|`` keeps ties that float
    arithmetic would break. It does not depend on T, since rounding errors do not become smaller
    when the differences almost cancel.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        alternative: "two-sided", or "less" or "greater": the mean difference is below or above 0.
        draws: the number of random sign vectors; all 2^Q are tried instead if they are not more.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: if all differences are 0, p = 1. If they are equal but not 0, the exact two-sided p
    is 2^(1−Q).

    Source: Fisher, The Design of Experiments, 1935; Smucker, Allan and Carterette, CIKM 2007. For
    the added 1: Phipson and Smyth, 2010.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: draws is below 1, the alternative is unknown, or rng is neither a seed nor a
            Generator.

    >>> sign_flip([0.5, 0.4, 0.9], [0.4, 0.2, 0.6]).p  # of 8 sign vectors 2 are as extreme
    0.25
    """
    differences = differences_of(first, second)
    tests = sign_flip_many(differences[None, :], alternative=alternative, draws=draws, rng=rng)
    mean = float(tests.differences[0])
    return PairedTest(
        test="sign flip",
        difference=mean,
        statistic=mean,
        p=float(tests.p[0]),
        num_queries=tests.num_queries,
        alternative=alternative,
        draws=tests.draws,
        exact=tests.exact,
    )


def sign_flip_many(
    differences: Any, *, alternative: str = "two-sided", draws: int = DRAWS, rng: Any = 0
) -> SignFlips:
    """Return the ``sign_flip`` tests of D difference vectors; p is not corrected.

    All rows share the sign vectors: a block of signs times the differences is one matrix product.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        alternative: "two-sided", or "less" or "greater": the mean difference is below or above 0.
        draws: the number of random sign vectors; all 2^Q are tried instead if they are not more.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries.
        SettingError: draws is below 1, the alternative is unknown, or rng is neither a seed nor a
            Generator.

    >>> sign_flip_many([[0.1, 0.2, 0.3], [0.1, -0.1, 0.0]]).p.tolist()
    [0.25, 1.0]
    """
    values = as_scores(differences, 2, "the differences")
    check_alternative(alternative)
    signs = SignVectors.choose(values.shape[1], draws, rng)
    totals, tolerance = values.sum(axis=1), TOLERANCE * np.abs(values).sum(axis=1)
    counts = np.zeros(len(values), dtype=np.int64)
    for block in signs.blocks(len(values)):
        counts += _count_extreme(values @ block.T, totals, tolerance, alternative)
    return SignFlips(
        row_means(values),
        signs.p_values(counts),
        signs.num_queries,
        alternative,
        signs.draws,
        signs.exact,
    )


def sign_flip_pairs(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Return the two-sided ``sign_flip`` tests of all pairs of systems; p is not corrected.

    All pairs share the sign vectors s, and Σ s(a − b) = Σ s·a − Σ s·b. So the signs are multiplied
    with the scores of S systems, not with the differences of S(S−1)/2 pairs. The mean of each query
    over the systems is subtracted first: no difference changes, and rounding errors become smaller.
    The tolerance is ``1e-12·(Σ|a| + Σ|b|)`` of these centred scores.

    Args:
        scores: scores by system and query, f8[S, Q], or by measure too, f8[M, S, Q]. Systems are
            compared within a measure.
        draws: the number of random sign vectors; all 2^Q are tried instead if they are not more.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Raises:
        InputError: the scores are not finite numbers, have another number of dimensions, or cover
            fewer than two queries or two systems.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> sign_flip_pairs([[0.5, 0.4, 0.9], [0.4, 0.2, 0.6], [0.4, 0.2, 0.6]]).p[0].tolist()
    [1.0, 0.25, 0.25]
    """
    values, centred = scores_and_centred(scores, (2, 3))
    signs = SignVectors.choose(values.shape[-1], draws, rng)
    by_measure = centred.reshape(-1, *values.shape[-2:])
    num_measures, num_systems, num_queries = by_measure.shape
    counts = np.zeros((num_measures, num_systems, num_systems), dtype=np.int64)
    for block in signs.blocks(num_measures * num_systems):
        flipped = by_measure.reshape(-1, num_queries) @ block.T
        for measure, products in enumerate(flipped.reshape(num_measures, num_systems, -1)):
            _count_pairs(products, by_measure[measure], counts[measure])
    p = signs.p_values(counts + counts.swapaxes(1, 2))
    p[:, np.arange(num_systems), np.arange(num_systems)] = 1.0
    return AllPairs(
        "sign flip",
        mean_differences(values),
        p.reshape(*values.shape[:-1], num_systems),
        num_queries,
        signs.draws,
        signs.exact,
    )


def scores_and_centred(scores: Any, dimensions: int | tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the scores f8[..., S, Q], and the scores minus each query's mean over the systems.

    Raises:
        InputError: the scores are not finite numbers, have another number of dimensions, or cover
            fewer than two queries or two systems.
    """
    values = as_scores(scores, dimensions)
    if values.shape[-2] < 2:  # noqa: PLR2004 - a pair
        raise InputError("one system cannot be compared; give the scores of two or more")
    return values, values - values.mean(axis=-2, keepdims=True)


def mean_differences(values: Floats) -> Floats:
    """Return mean of the row's system − mean of the column's: f8[..., S, Q] -> f8[..., S, S]."""
    means = row_means(values)
    return np.asarray(means[..., :, None] - means[..., None, :])


def _count_pairs(products: Floats, centred: Floats, counts: Ints) -> None:
    """Add to ``counts``, above the diagonal, how many T* of each pair are as extreme as its T.

    Args:
        products: centred scores times b sign vectors, f8[S, b].
        centred: centred scores, f8[S, Q].
        counts: i8[S, S], changed in place.
    """
    totals, sizes = centred.sum(axis=1), np.abs(centred).sum(axis=1)
    for row in range(len(centred) - 1):
        below = slice(row + 1, None)
        counts[row, below] += _count_extreme(
            products[row] - products[below],
            totals[row] - totals[below],
            TOLERANCE * (sizes[row] + sizes[below]),
            "two-sided",
        )


def _count_extreme(flipped: Floats, totals: Floats, tolerance: Floats, alternative: str) -> Ints:
    """Return how many T* are at least as extreme as T, i8[D].

    Args:
        flipped: T* of each comparison and sign vector, f8[D, b]; overwritten if two-sided.
        totals: T of each comparison, f8[D].
        tolerance: the difference up to which T* and T are equal, f8[D].
        alternative: "two-sided", "less" or "greater".
    """
    if alternative == "two-sided":
        np.abs(flipped, out=flipped)
        totals, alternative = np.abs(totals), "greater"
    if alternative == "greater":
        extreme = flipped >= (totals - tolerance)[:, None]
    else:
        extreme = flipped <= (totals + tolerance)[:, None]
    return np.asarray(np.count_nonzero(extreme, axis=1))
