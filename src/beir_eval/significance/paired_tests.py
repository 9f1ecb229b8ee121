"""The paired tests besides sign flips: Student's t, Wilcoxon's signed ranks and the sign test.

Also the standardised effect, and the records of all paired tests. Wilcoxon's and the sign test are
for reports that require them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.distributions import exceeded_with, upper_tail
from beir_eval.significance.validation import (
    all_equal,
    at_least_smallest,
    check_alternative,
    differences_of,
    row_means,
    scipy_stats,
    without_noise,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats

_NO_VARIANCE = (
    "All differences are equal, so the t statistic is infinite; p is that of the exact sign-flip "
    "test, which needs no variance."
)
#: Up to so many queries all signs of the ranks are counted, as by scipy if there are ties.
_MOST_ENUMERATED = 13
_DISCOURAGED = (
    "The literature advises against this test for mean scores: it does not test the difference of "
    "the means, and it agrees with the randomisation, t and bootstrap tests least (Smucker, Allan "
    "and Carterette 2007; Urbano, Lima and Hanjalic 2019)."
)


@dataclass(frozen=True)
class PairedTest:
    """A test of one pair of systems over the same queries.

    Attributes:
        test: "paired t", "sign flip", "Wilcoxon" or "sign".
        difference: mean of first − second, in the unit of the scores.
        statistic: t (paired t); the mean difference (sign flip); the rank sum (Wilcoxon); the
            number of queries on which the first system is better (sign).
        p: the p-value, above 0.
        num_queries: Q, the number of queries.
        alternative: "two-sided", "less" or "greater".
        draws: the number of sign vectors tried, each of which stands for its opposite too; 0 for
            the other tests.
        exact: whether p is that of the exact distribution: True for the sign test, and for sign
            flips if all sign vectors of the queries that differ were tried. False for Wilcoxon,
            whose p is exact for few queries only.
        note: what a reader should know before using p; empty in most cases.
    """

    test: str
    difference: float
    statistic: float
    p: float
    num_queries: int
    alternative: str
    draws: int = 0
    exact: bool = False
    note: str = ""


@dataclass(frozen=True)
class PairedTestMethod:
    """A test of one pair of systems, as ``PAIRED_TESTS`` lists it.

    Attributes:
        test: the function; it takes ``(first, second=None, *, alternative="two-sided")``.
        label: the name of the test in notes.
        takes_draws: whether ``test`` draws at random and also takes ``draws`` and ``rng``.
        interval: the kind of interval that belongs to the test: "sign_flip" or "t"; None if no
            interval of the mean difference does.
    """

    test: Callable[..., PairedTest]
    label: str
    takes_draws: bool = False
    interval: str | None = None

    def test_differences(self, differences: Floats, *, draws: int | None, rng: int) -> PairedTest:
        """Return the two-sided test of differences.

        Args:
            differences: first − second by query, f8[Q].
            draws: the number of draws, for a test that draws; None for its default.
            rng: the seed, for a test that draws.
        """
        return self.test(differences, **({"draws": draws, "rng": rng} if self.takes_draws else {}))


def paired_t(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test whether two systems differ in their mean, by Student's t test of the differences.

    Formula: t = mean(d) / (s / √Q), where s is the standard deviation of the differences with Q − 1
    in the denominator; p is from the t distribution with Q − 1 degrees of freedom.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        alternative: "two-sided", or "less" or "greater": the mean difference is below or above 0.

    Degenerate: if all differences are 0, t = 0 and p = 1. If they are equal but not 0, t is
    infinite and p is that of the exact sign-flip test, 2^(1−Q) two-sided; the note says so. A p
    below the smallest normal float is reported as that float (2.2e-308).

    Source: Student, The probable error of a mean, Biometrika 6(1), 1908.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: the alternative is unknown.

    >>> round(paired_t([0.5, 0.4, 0.9], [0.4, 0.2, 0.6]).statistic, 6)  # .2 / (.1 / √3)
    3.464102
    """
    differences = differences_of(first, second)
    check_alternative(alternative)
    statistic, p = _t_test(differences, alternative)
    return PairedTest(
        test="paired t",
        difference=float(row_means(differences)),
        statistic=statistic,
        p=p,
        num_queries=len(differences),
        alternative=alternative,
        note=_NO_VARIANCE if math.isinf(statistic) else "",
    )


def two_sided_t_p(differences: Floats) -> float:
    """Return the two-sided p of ``paired_t`` on differences that are checked already, f8[Q].

    It is shown beside the p of another test.
    """
    return _t_test(differences, "two-sided")[1]


def t_intervals(means: Floats, deviations: Floats, num_queries: int, levels: Floats) -> Any:
    """Return the low and high ends of t intervals, each at its own level: f8[D] and f8[D].

    Formula: mean ± t(1 − level/2, Q − 1)·s/√Q.

    Args:
        means: the means, f8[D].
        deviations: the standard deviations, Q − 1 in the denominator, f8[D].
        num_queries: Q, the number of queries.
        levels: 1 − the confidence of each interval, f8[D].
    """
    half_widths = exceeded_with(levels / 2, num_queries - 1)
    half_widths = half_widths * deviations / math.sqrt(num_queries)
    return means - half_widths, means + half_widths


def t_p_values(means: Floats, deviations: Floats, num_queries: int) -> Floats:
    """Return the two-sided p of t tests, above 0, f8[D].

    Args:
        means: the means, f8[D].
        deviations: the standard deviations, Q − 1 in the denominator, f8[D]. If one is 0, p is that
            of the exact sign-flip test, or 1 for a mean of 0.
        num_queries: Q, the number of queries.
    """
    statistics = np.abs(means) * math.sqrt(num_queries) / np.where(deviations, deviations, 1.0)
    p = 2 * upper_tail(statistics, num_queries - 1)
    exact = np.where(means, math.ldexp(1.0, 1 - num_queries), 1.0)
    return np.maximum(np.where(deviations, p, exact), at_least_smallest(0.0))


def standardised_effect(first: Any, second: Any = None) -> float:
    """Return the mean difference divided by the standard deviation of the differences; no unit.

    Formula: mean(d) / s, where s has Q − 1 in the denominator. It equals t / √Q; unlike t, it does
    not grow with the number of queries.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].

    Degenerate: 0 if all differences are 0; infinite, with their sign, if they are equal but not 0.

    Source: Cohen, Statistical Power Analysis, 1988 (d_z); Sakai, Laboratory Experiments in
    Information Retrieval, 2018.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.

    >>> round(standardised_effect([0.5, 0.4, 0.9], [0.4, 0.2, 0.6]), 6)  # .2 / .1
    2.0
    """
    return _effect(differences_of(first, second))


def _effect(differences: Floats) -> float:
    """Return mean / standard deviation of f8[Q]; 0 if all are 0, ±infinity if all are equal."""
    largest = float(np.abs(differences).max())
    if not largest:
        return 0.0
    scaled = differences / largest  # so that squares stay in the range of a float
    mean = float(row_means(scaled))
    return math.copysign(math.inf, mean) if all_equal(scaled) else mean / float(scaled.std(ddof=1))


def _t_test(differences: Floats, alternative: str) -> tuple[float, float]:
    """Return t and p for f8[Q]."""
    num_queries = len(differences)
    statistic = _effect(differences) * math.sqrt(num_queries)
    if math.isinf(statistic):
        return statistic, _p_of_equal_differences(statistic > 0, num_queries, alternative)
    if alternative == "two-sided":
        p = 2 * float(upper_tail(abs(statistic), num_queries - 1))
    else:
        p = float(
            upper_tail(statistic if alternative == "greater" else -statistic, num_queries - 1)
        )
    if not differences.any():
        p = 1.0
    return statistic, at_least_smallest(p)


def _p_of_equal_differences(is_positive: bool, num_queries: int, alternative: str) -> float:  # noqa: FBT001
    """Return the exact sign-flip p of equal differences that are not 0.

    Of all 2^Q sign vectors only the observed one is as extreme; two-sided, its opposite too.
    """
    if alternative == "two-sided":
        return at_least_smallest(math.ldexp(1.0, 1 - num_queries))
    if is_positive == (alternative == "greater"):
        return at_least_smallest(math.ldexp(1.0, -num_queries))
    return 1.0


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
