"""Student's t test, the standardised effect, and the records of all paired tests."""

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
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats

_NO_VARIANCE = (
    "All differences are equal, so the t statistic is infinite; p is that of the exact sign-flip "
    "test, which needs no variance."
)


@dataclass(frozen=True)
class PairedTest:
    """A test of one pair of systems over the same queries.

    Attributes:
        test: "paired t" or "sign flip".
        difference: mean of first − second, in the unit of the scores.
        statistic: t (paired t); the mean difference (sign flip).
        p: the p-value, above 0.
        num_queries: Q, the number of queries.
        alternative: "two-sided", "less" or "greater".
        draws: the number of sign vectors tried, each of which stands for its opposite too; 0 for
            the t test.
        exact: whether all sign vectors of the queries that differ were tried.
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
        interval: the kind of interval that belongs to the test: "sign_flip" or "t".
        takes_draws: whether ``test`` draws at random and also takes ``draws`` and ``rng``.
    """

    test: Callable[..., PairedTest]
    label: str
    interval: str
    takes_draws: bool = False

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
