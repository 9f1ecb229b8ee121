"""Wilcoxon's signed-rank test and the sign test, for reports that require them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: Up to so many queries all signs of the ranks are counted, as by scipy if there are ties.
_MOST_ENUMERATED = 13
_DISCOURAGED = (
    "The literature advises against this test for mean scores: it does not test the difference of "
    "the means, and it agrees with the randomisation, t and bootstrap tests least (Smucker, Allan "
    "and Carterette 2007; Urbano, Lima and Hanjalic 2019)."
)


def wilcoxon(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test whether two systems differ, by Wilcoxon's signed ranks of their differences.

    Not recommended for mean scores; the note of the result says why.

    Formula: the absolute differences are ranked without those that are 0. The statistic is the sum
    of the ranks of positive differences; two-sided, the smaller of the positive and the negative
    sum. For up to 13 queries p is exact, with ties too: the share of all signs of the ranks with a
    sum as extreme. For more, scipy chooses: exact for up to 50 without ties, else a normal
    approximation. Differences that only rounding noise separates (1e-12 of the largest) are ties.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        alternative: "two-sided", or "less" or "greater": differences are below or above 0.

    Degenerate: if all differences are 0, the statistic is 0 and p = 1.

    Source: Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: the alternative is unknown.
        MissingExtraError: scipy is not installed.

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4]).p  # all signs alike: 2 of 2^4
    0.125
    """
    differences = differences_of(first, second)
    check_alternative(alternative)
    stats = scipy_stats("the Wilcoxon test")
    statistic, p = 0.0, 1.0
    clean = without_noise(differences)
    if len(clean) <= _MOST_ENUMERATED:
        statistic, p = _exact_wilcoxon(clean, alternative)
    elif clean.any():
        result = stats.wilcoxon(clean, alternative=alternative)
        statistic, p = float(result.statistic), float(result.pvalue)
    return PairedTest(
        test="Wilcoxon",
        difference=float(row_means(differences)),
        statistic=statistic,
        p=at_least_smallest(p),
        num_queries=len(differences),
        alternative=alternative,
        note=_DISCOURAGED,
    )


def _exact_wilcoxon(differences: Floats, alternative: str) -> tuple[float, float]:
    """Return the statistic of ``wilcoxon`` and its exact p, from the counts of all rank sums.

    ``scipy.stats.wilcoxon`` returns the same bits: without ties from its table of counts, with ties
    by ranking anew for each vector of signs, which takes a tenth of a second. What unjudged
    documents could change takes hundreds of tests.

    Args:
        differences: by query, without rounding noise, f8[Q].
        alternative: as in ``wilcoxon``.
    """
    signed = differences[differences != 0]
    sizes = np.abs(signed)
    ordered = np.sort(sizes)
    # Twice the mean rank of equal sizes is a whole number.
    ranks = ordered.searchsorted(sizes) + ordered.searchsorted(sizes, side="right") + 1
    counts = np.ones(1, dtype=np.int64)  # for each sum, the number of signs that have it
    for rank in ranks.tolist():
        without, counts = counts, np.concatenate([counts, np.zeros(rank, dtype=np.int64)])
        counts[rank:] += without
    positive = int(ranks[signed > 0].sum())
    at_most = float(counts[: positive + 1].sum() / counts.sum())
    at_least = float(counts[positive:].sum() / counts.sum())
    if alternative != "two-sided":
        return positive / 2, at_most if alternative == "less" else at_least
    negative = int(ranks.sum()) - positive
    return min(positive, negative) / 2, min(2 * min(at_most, at_least), 1.0)


def sign_test(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test whether one of two systems has the higher score on more queries than the other.

    Not recommended for mean scores; the note of the result says why.

    Formula: the number of queries on which the first system has the higher score, among those
    without a tie, against the binomial distribution with probability ½. Differences within
    rounding noise of 0 (1e-12 of the largest) are ties.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        alternative: "two-sided", or "less" or "greater": the first system has the higher score on
            fewer or on more queries.

    Degenerate: if all queries are ties, p = 1.

    Source: Arbuthnott, 1710; Conover, Practical Nonparametric Statistics, 1999.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: the alternative is unknown.
        MissingExtraError: scipy is not installed.

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
