"""The sign-flip randomisation test of one pair of systems, of many pairs, and of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.bootstrap import Intervals
from beir_eval.significance.paired_tests import PairedTest
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys
from beir_eval.significance.validation import (
    as_scores,
    check_alternative,
    check_share,
    differences_of,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.significance.randomisation import FlippedFamily

METHOD = "sign_flip"


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Sign-flip tests of D difference vectors.

    Attributes:
        differences: mean differences, in the unit of the scores, f8[D].
        p: p-values, not corrected for their number, f8[D].
        num_queries: Q, the number of queries.
        alternative: "two-sided", "less" or "greater".
        draws: the number of random sign vectors; for a comparison with ``exact`` all were tried.
        exact: which p-values are from all sign vectors of the queries that differ, bool[D].
    """

    differences: Floats
    p: Floats
    num_queries: int
    alternative: str
    draws: int
    exact: Mask


def sign_flip(
    first: Any,
    second: Any = None,
    *,
    alternative: str = "two-sided",
    draws: int | None = None,
    rng: Any = 0,
) -> PairedTest:
    """Test whether two systems differ in their mean, by flipping signs of their differences.

    If the systems are exchangeable within each query, the differences d_q and −d_q are equally
    likely. T = Σ d_q is compared with T* = Σ s_q·d_q over sign vectors s: all of them if there are
    at most ``draws`` up to their opposites, random ones otherwise. The sign of a difference of 0
    does not matter, so only queries that differ are counted.

    Formula: two-sided, count = ``#{|T*| >= |T| − tolerance}`` and p = (1 + count) / (draws + 1), or
    count / draws if all sign vectors are tried. One-sided, each sign vector counts with its
    opposite: p = (1 + count) / (2·draws + 2), or count / (2·draws). The tolerance ``2e-12·Σ|d_q|``
    keeps ties that float arithmetic would break.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        alternative: "two-sided", or "less" or "greater": the mean difference is below or above 0.
        draws: the number of random sign vectors; None means 100,000, or 20,000 for more than 1,000
            queries.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: if all differences are 0, p = 1. If they are equal but not 0, the exact two-sided p
    is 2^(1−Q). With m queries that differ, no two-sided p is below 2^(1−m).

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
    check_alternative(alternative)
    flipped = _flip_rows(differences[None, :], None, draws, rng)
    mean = float(flipped.means[0])
    return PairedTest(
        test="sign flip",
        difference=mean,
        statistic=mean,
        p=float(flipped.p(alternative)[0]),
        num_queries=flipped.num_queries,
        alternative=alternative,
        draws=int(flipped.num_distinct[0]),
        exact=bool(flipped.exact[0]),
    )


def sign_flip_intervals(
    differences: Any, *, confidence: float = 0.95, draws: int | None = None, rng: Any = 0
) -> Intervals:
    """Return the intervals of D mean differences that belong to ``sign_flip``; not simultaneous.

    An interval consists of the values μ that the sign-flip test of the differences d_q − μ does not
    reject. So it excludes 0 exactly if the two-sided p is at most 1 − confidence. It assumes that
    the differences are symmetric about their mean; docs/statistics.md lists its coverage where they
    are not.

    Formula: the means of random subsets of the queries, and of their complements, are Hartigan's
    typical values. With r = ⌊(1 − confidence)·(draws + 1)⌋, the ends are the r-th smallest and the
    r-th largest of these 2·draws means. If all subsets are tried, they are the (r + 1)-th, with
    r = ⌊(1 − confidence)·draws⌋. An empty subset has the mean −∞ at the low end, ∞ at the high end.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        confidence: the nominal probability that such an interval contains its true difference.
        draws: the number of random subsets; None means 100,000, or 20,000 for more than 1,000
            queries. All subsets are tried instead if they are not more, up to complement.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: with fewer than six queries an interval is unbounded at a confidence of .95. If all
    differences are equal, both ends are their mean, with enough queries.

    Source: Hartigan, Using subsample values as typical values, J. American Statistical Association
    64(328), 1969.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries.
        SettingError: confidence is not between 0 and 1, draws is below 1, or rng is neither a seed
            nor a Generator.

    >>> sign_flip_intervals([[0.5] * 6, [0.0] * 6]).high.tolist()
    [0.5, 0.0]
    """
    check_share("confidence", confidence)
    values = as_scores(differences, 2, "the differences")
    level = 1 - confidence
    flipped = _flip_rows(values, level, draws, rng)
    low, high = flipped.intervals(np.full(len(values), level))
    return Intervals(
        flipped.means,
        low,
        high,
        float(confidence),
        METHOD,
        flipped.num_queries,
        int(flipped.num_distinct.max()),
    )


def sign_flip_many(
    differences: Any,
    *,
    alternative: str = "two-sided",
    draws: int | None = None,
    rng: Any = 0,
) -> SignFlips:
    """Return the ``sign_flip`` tests of D difference vectors; p is not corrected.

    All rows share the sign vectors: a block of signs times the differences is one matrix product.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        alternative: "two-sided", or "less" or "greater": the mean difference is below or above 0.
        draws: the number of random sign vectors; None means 100,000, or 20,000 for more than 1,000
            queries. For a comparison with no more than this, up to their opposites, all are tried.
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
    flipped = _flip_rows(values, None, draws, rng)
    return SignFlips(
        flipped.means,
        flipped.p(alternative),
        flipped.num_queries,
        alternative,
        int(flipped.num_distinct.max()),
        flipped.exact,
    )


def _flip_rows(values: Floats, level: float | None, draws: int | None, rng: Any) -> FlippedFamily:
    """Return the randomisation distributions of rows of differences, f8[D, Q]."""
    num_queries = values.shape[1]
    signs = SignVectors.choose(num_queries, draws, rng)
    family = Family(values, position_keys(num_queries), np.arange(len(values)))
    [flipped] = randomise([family], signs, level=level)
    return flipped
