"""The sign-flip randomisation test: of one pair of systems, of many, of all pairs."""

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

#: Sign vectors drawn unless told: a p-value of .05 is then known to ±.0014 (two standard errors).
DRAWS = 100_000


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Sign-flip tests of many difference vectors at once.

    Attributes:
        differences: mean differences, f8[D].
        p: not corrected for their number, f8[D].
        num_queries: Q.
        alternative: "two-sided", "less" or "greater".
        draws: how many sign vectors were tried.
        exact: whether these are all 2^Q.
    """

    differences: Floats
    p: Floats
    num_queries: int
    alternative: str
    draws: int
    exact: bool


@dataclass(frozen=True, eq=False)
class AllPairs:
    """A test of all pairs of S systems.

    Attributes:
        test: "sign flip" (p not corrected), "randomised Tukey HSD" or "max-T" (both corrected).
        differences: mean of the row's system − mean of the column's, f8[..., S, S].
        p: two-sided, symmetric, 1 on the diagonal, f8[..., S, S].
        num_queries: Q.
        draws: how many randomisations were tried.
        exact: whether these are all there are.
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
    count / 2^Q over all sign vectors. The tolerance, ``1e-12·Σ|d_q|``, keeps ties that float
    arithmetic would break; it is at least ``1e-12·|T|``, and larger where the differences almost
    cancel, since rounding errors do not shrink with T.

    Args:
        first: scores of one system, f8[Q], or the differences themselves where ``second`` is None.
        second: scores of the other, in the same order of queries, f8[Q].
        alternative: "two-sided", or that the mean difference is "less" or "greater" than 0.
        draws: sign vectors to try.
        rng: a seed, or a numpy Generator.

    Degenerate: all differences 0: p = 1. All differences equal: 2^(1−Q) at best, as it should be.

    Source: Fisher, The Design of Experiments, 1935; Smucker, Allan and Carterette, CIKM 2007. For
    the added 1: Phipson and Smyth, 2010.

    Raises:
        InputError: not numbers, NaN, fewer than two queries, different lengths.
        SettingError: draws below 1, another alternative, no seed.

    >>> sign_flip([0.5, 0.4, 0.9], [0.4, 0.2, 0.6]).p  # of 8 sign vectors 2 are as extreme
    0.25
    """
    differences = differences_of(first, second)
    many = sign_flip_many(differences[None, :], alternative=alternative, draws=draws, rng=rng)
    mean = float(many.differences[0])
    return PairedTest(
        test="sign flip",
        difference=mean,
        statistic=mean,
        p=float(many.p[0]),
        num_queries=many.num_queries,
        alternative=alternative,
        draws=many.draws,
        exact=many.exact,
    )


def sign_flip_many(
    differences: Any, *, alternative: str = "two-sided", draws: int = DRAWS, rng: Any = 0
) -> SignFlips:
    """Return what ``sign_flip`` returns for each of many difference vectors, at once.

    The same sign vectors serve all rows: blocks of signs times differences are one matrix product.

    Args:
        differences: f8[D, Q], one row a comparison.
        alternative: as ``sign_flip``.
        draws: as ``sign_flip``.
        rng: as ``sign_flip``.

    Raises:
        InputError, SettingError: as ``sign_flip``.

    >>> sign_flip_many([[0.1, 0.2, 0.3], [0.1, -0.1, 0.0]]).p.tolist()
    [0.25, 1.0]
    """
    values = as_scores(differences, 2, "the differences")
    check_alternative(alternative)
    signs = SignVectors.choose(values.shape[1], draws, rng)
    totals, tolerance = values.sum(axis=1), TOLERANCE * np.abs(values).sum(axis=1)
    counts = np.zeros(len(values), dtype=np.int64)
    for block in signs.blocks(len(values)):
        counts += _as_extreme(values @ block.T, totals, tolerance, alternative)
    return SignFlips(
        row_means(values),
        signs.p_values(counts),
        signs.num_queries,
        alternative,
        signs.draws,
        signs.exact,
    )


def sign_flip_pairs(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Return the two-sided ``sign_flip`` of all pairs of systems; p is not corrected.

    One sign serves a query in all pairs, and Σ s(a − b) = Σ s·a − Σ s·b: so it takes products with
    the S systems, not with the S(S−1)/2 pairs. The scores of a query are centred first, which no
    difference sees, so that less cancels. The tolerance is
    ``1e-12·(Σ|a| + Σ|b|)`` of centred scores.

    Args:
        scores: f8[S, Q] of S systems, or f8[M, S, Q] of M measures (no pairs across measures).
        draws: as ``sign_flip``.
        rng: as ``sign_flip``.

    Raises:
        InputError: as ``sign_flip``, or fewer than two systems.
        SettingError: as ``sign_flip``.

    >>> sign_flip_pairs([[0.5, 0.4, 0.9], [0.4, 0.2, 0.6], [0.4, 0.2, 0.6]]).p[0].tolist()
    [1.0, 0.25, 0.25]
    """
    values, centred = systems_of(scores, (2, 3))
    signs = SignVectors.choose(values.shape[-1], draws, rng)
    by_measure = centred.reshape(-1, *values.shape[-2:])
    num_measures, num_systems, num_queries = by_measure.shape
    counts = np.zeros((num_measures, num_systems, num_systems), dtype=np.int64)
    for block in signs.blocks(num_measures * num_systems):
        flipped = by_measure.reshape(-1, num_queries) @ block.T
        for one, products in enumerate(flipped.reshape(num_measures, num_systems, -1)):
            _count_pairs(products, by_measure[one], counts[one])
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


def systems_of(scores: Any, dimensions: int | tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the scores f8[..., S, Q], and the same with each query's mean taken off.

    Raises:
        InputError: as ``as_scores``, or fewer than two systems.
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
    """Add to the upper triangle: products f8[S, b], centred scores f8[S, Q], counts i8[S, S]."""
    totals, sizes = centred.sum(axis=1), np.abs(centred).sum(axis=1)
    for row in range(len(centred) - 1):
        below = slice(row + 1, None)
        counts[row, below] += _as_extreme(
            products[row] - products[below],
            totals[row] - totals[below],
            TOLERANCE * (sizes[row] + sizes[below]),
            "two-sided",
        )


def _as_extreme(flipped: Floats, totals: Floats, tolerance: Floats, alternative: str) -> Ints:
    """Count how many T* are as extreme as T: f8[D, b], f8[D], f8[D] -> i8[D]. Uses up T*."""
    if alternative == "two-sided":
        np.abs(flipped, out=flipped)
        totals, alternative = np.abs(totals), "greater"
    if alternative == "greater":
        extreme = flipped >= (totals - tolerance)[:, None]
    else:
        extreme = flipped <= (totals + tolerance)[:, None]
    return np.asarray(np.count_nonzero(extreme, axis=1))
