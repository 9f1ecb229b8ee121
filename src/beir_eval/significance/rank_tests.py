"""Wilcoxon's signed ranks and the sign test: here for those who must report them."""

from __future__ import annotations

from typing import Any

import numpy as np

from beir_eval.significance.paired_tests import PairedTest
from beir_eval.significance.validation import (
    at_least_smallest,
    check_alternative,
    differences_of,
    row_means,
    scipy_stats,
    without_noise,
)

_DISCOURAGED = (
    "The literature advises against this test for mean scores: it does not test the difference of "
    "the means, and it agrees with the randomisation, t and bootstrap tests least (Smucker, Allan "
    "and Carterette 2007; Urbano, Lima and Hanjalic 2019)."
)


def wilcoxon(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test with Wilcoxon's signed ranks, on explicit request: the result's note advises against it.

    Formula: the absolute differences are ranked, those of 0 left out; the statistic is the sum of
    the ranks of positive differences (two-sided: the smaller of the positive and negative sums). p
    is exact for few queries without ties, and a normal approximation otherwise, as scipy has it.
    Differences that rounding noise alone keeps apart (1e-12 of the largest) are ties.

    Args:
        first: as ``paired_t``.
        second: as ``paired_t``.
        alternative: as ``paired_t``.

    Degenerate: all differences 0: statistic 0 and p = 1.

    Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945.

    Raises:
        InputError, SettingError, MissingExtraError: as ``paired_t``.

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4]).p  # all signs alike: 2 of 2^4
    0.125
    """
    differences = differences_of(first, second)
    check_alternative(alternative)
    stats = scipy_stats("the Wilcoxon test")
    statistic, p = 0.0, 1.0
    clean = without_noise(differences)
    if clean.any():
        found = stats.wilcoxon(clean, alternative=alternative)
        statistic, p = float(found.statistic), float(found.pvalue)
    return PairedTest(
        test="Wilcoxon",
        difference=float(row_means(differences)),
        statistic=statistic,
        p=at_least_smallest(p),
        num_queries=len(differences),
        alternative=alternative,
        note=_DISCOURAGED,
    )


def sign_test(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test which system wins more queries, on explicit request: the note advises against it.

    Formula: wins of the first system among the queries that are no tie, against the binomial
    distribution with probability ½. Differences within rounding noise of 0 (1e-12 of the largest)
    are ties.

    Args:
        first: as ``paired_t``.
        second: as ``paired_t``.
        alternative: as ``paired_t``.

    Degenerate: ties only: p = 1.

    Source: Arbuthnott, 1710; Conover, Practical Nonparametric Statistics, 1999.

    Raises:
        InputError, SettingError, MissingExtraError: as ``paired_t``.

    >>> sign_test([0.1, 0.2, 0.3, 0.0]).p  # three wins of three: 2 / 2^3
    0.25
    """
    differences = differences_of(first, second)
    check_alternative(alternative)
    stats = scipy_stats("the sign test")
    clean = without_noise(differences)
    wins, losses = int(np.count_nonzero(clean > 0)), int(np.count_nonzero(clean < 0))
    p = 1.0
    if wins + losses:
        p = float(stats.binomtest(wins, wins + losses, alternative=alternative).pvalue)
    return PairedTest(
        test="sign",
        difference=float(row_means(differences)),
        statistic=float(wins),
        p=at_least_smallest(p),
        num_queries=len(differences),
        alternative=alternative,
        exact=True,
        note=_DISCOURAGED,
    )
