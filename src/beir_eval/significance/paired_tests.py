"""One pair of systems by Student's t: difference, equivalence, standardised effect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError
from beir_eval.significance.validation import (
    all_equal,
    at_least_smallest,
    check_alternative,
    check_positive,
    check_share,
    differences_of,
    row_means,
    scipy_stats,
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
        test: "paired t", "sign flip", "Wilcoxon" or "sign".
        difference: mean of first − second, in the unit of the scores.
        statistic: t; the mean difference (sign flip); the rank sum that scipy reports (Wilcoxon);
            the queries that the first system wins (sign).
        p: above 0.
        num_queries: Q.
        alternative: "two-sided", "less" or "greater".
        draws: sign vectors that were tried; 0 for the other tests.
        exact: whether p comes from all possibilities, not from a formula or from draws; False for
            Wilcoxon, where scipy chooses.
        note: what a reader should know before using p; mostly empty.
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
    """A way to test one pair, as ``PAIRED_TESTS`` lists it.

    Attributes:
        test: takes ``(first, second=None, *, alternative="two-sided")``.
        label: what notes call it.
        is_drawn: whether ``test`` takes ``draws`` and ``rng`` too.
    """

    test: Callable[..., PairedTest]
    label: str
    is_drawn: bool = False

    def of_differences(self, differences: Floats, *, draws: int, rng: int) -> PairedTest:
        """Return the two-sided test of f8[Q]; draws and seed are for tests that take them."""
        return self.test(differences, **({"draws": draws, "rng": rng} if self.is_drawn else {}))


@dataclass(frozen=True)
class Equivalence:
    """Whether two systems are equal within ±delta.

    Attributes:
        difference: mean of first − second.
        low, high: the t interval of the mean difference at confidence 1 − 2·alpha.
        p: the larger p of the two one-sided tests, above 0.
        delta, alpha: what was asked.
        num_queries: Q.
        equivalent: p <= alpha.
    """

    difference: float
    low: float
    high: float
    p: float
    delta: float
    alpha: float
    num_queries: int
    equivalent: bool


def paired_t(first: Any, second: Any = None, *, alternative: str = "two-sided") -> PairedTest:
    """Test whether two systems differ in their mean, by Student's t test of the differences.

    Formula: t = mean(d) / (s / √Q), s the standard deviation of the differences with Q − 1 in the
    denominator; p from the t distribution with Q − 1 degrees of freedom.

    Args:
        first: scores of one system, f8[Q], or the differences themselves where ``second`` is None.
        second: scores of the other, in the same order of queries, f8[Q].
        alternative: "two-sided", or that the mean difference is "less" or "greater" than 0.

    Degenerate: all differences 0: t = 0 and p = 1. All differences equal, not 0: t is infinite and
    p that of the exact sign-flip test, 2^(1−Q) two-sided; the note says so. A p below the smallest
    float is given as that (2.2e-308).

    Source: Student, The probable error of a mean, Biometrika 6(1), 1908.

    Raises:
        InputError: not numbers, NaN, fewer than two queries, different lengths.
        SettingError: another alternative.
        MissingExtraError: scipy is not installed.

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


def equivalence(
    first: Any, second: Any = None, *, delta: float, alpha: float = 0.05
) -> Equivalence:
    """Test whether two systems are equal within ±delta: two one-sided paired t tests.

    Formula: p is the larger p of the tests of "mean(d) <= −delta" against greater and of "mean(d)
    >= delta" against less. p <= alpha just when the 1 − 2·alpha interval mean(d) ± t(1 − alpha, Q −
    1)·s/√Q lies within ±delta. "No difference was shown" is not "equal": this test shows equality.

    Args:
        first: as ``paired_t``.
        second: as ``paired_t``.
        delta: the largest difference that does not matter, in the unit of the scores.
        alpha: the chance of calling systems equal that differ by delta or more.

    Degenerate: all differences equal: the interval is that point; p is 2^−Q where it lies within
    ±delta (the exact sign-flip test of the shifted differences) and 1 where it does not, so that
    not even a system and its copy are called equal after fewer than five queries at alpha = .05.

    Source: Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987.

    Raises:
        InputError, MissingExtraError: as ``paired_t``.
        SettingError: delta not above 0, alpha not between 0 and ½.

    >>> equivalence([0.001, -0.002, 0.001, 0.0], delta=0.01).equivalent
    True
    """
    differences = differences_of(first, second)
    check_positive("delta", delta)
    check_share("alpha", alpha)
    if alpha >= 0.5:  # noqa: PLR2004 - beyond it the interval is empty
        msg = f"alpha must lie below 0.5, not {alpha!r}"
        raise SettingError(msg)
    above, below = differences + delta, differences - delta
    p = max(_t_test(above, "greater")[1], _t_test(below, "less")[1])
    mean, half = float(row_means(differences)), 0.0
    if not all_equal(differences):
        error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
        half = error * float(scipy_stats("equivalence").t.isf(alpha, len(differences) - 1))
    return Equivalence(
        difference=mean,
        low=mean - half,
        high=mean + half,
        p=p,
        delta=float(delta),
        alpha=float(alpha),
        num_queries=len(differences),
        equivalent=p <= alpha,
    )


def standardised_effect(first: Any, second: Any = None) -> float:
    """Return the mean difference in standard deviations of the differences; no unit.

    Formula: mean(d) / s, s with Q − 1 in the denominator. It equals t / √Q, and unlike t and p does
    not grow with the number of queries.

    Args:
        first: as ``paired_t``.
        second: as ``paired_t``.

    Degenerate: all differences 0: 0. All differences equal, not 0: infinite, with their sign.

    Source: Cohen, Statistical Power Analysis, 1988 (d_z); Sakai, Laboratory Experiments in
    Information Retrieval, 2018.

    Raises:
        InputError: as ``paired_t``.

    >>> round(standardised_effect([0.5, 0.4, 0.9], [0.4, 0.2, 0.6]), 6)  # .2 / .1
    2.0
    """
    return _per_deviation(differences_of(first, second))


def _per_deviation(differences: Floats) -> float:
    largest = float(np.abs(differences).max())
    if not largest:
        return 0.0
    scaled = differences / largest  # no unit; squares stay in the range of a float
    mean = float(row_means(scaled))
    return math.copysign(math.inf, mean) if all_equal(scaled) else mean / float(scaled.std(ddof=1))


def _t_test(differences: Floats, alternative: str) -> tuple[float, float]:
    """Return t and p."""
    stats = scipy_stats("the paired t test")
    count = len(differences)
    statistic = _per_deviation(differences) * math.sqrt(count)
    if math.isinf(statistic):
        return statistic, _p_of_equal_differences(statistic > 0, count, alternative)
    if alternative == "two-sided":
        p = 2 * float(stats.t.sf(abs(statistic), count - 1))
    else:
        p = float(stats.t.sf(statistic if alternative == "greater" else -statistic, count - 1))
    if not differences.any():
        p = 1.0
    return statistic, at_least_smallest(p)


def _p_of_equal_differences(above: bool, count: int, alternative: str) -> float:  # noqa: FBT001
    """Return the sign-flip p: only the observed signs (and all reversed) are as extreme."""
    if alternative == "two-sided":
        return at_least_smallest(math.ldexp(1.0, 1 - count))
    if above == (alternative == "greater"):
        return at_least_smallest(math.ldexp(1.0, -count))
    return 1.0
