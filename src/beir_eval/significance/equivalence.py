"""Tests within a margin: two systems are equal, or one is not worse, for many pairs or one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, SettingError
from beir_eval.significance.bounded_mean import gaffke_p_values
from beir_eval.significance.distributions import exceeded_with, upper_tail
from beir_eval.significance.validation import (
    FEWEST_QUERIES,
    TOLERANCE,
    all_equal,
    as_scores,
    at_least_smallest,
    check_positive,
    check_share,
    differences_of,
    is_number,
    is_whole_number,
    residuals,
    row_means,
    scipy_special,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

#: How p was computed, as the records name it.
BOUNDED, T_ONLY = "Gaffke's bound and t", "t only"
_HIGHEST_ALPHA = 0.5
#: The relative precision of ``detectable_equality``, and of the smallest margin of clusters.
_MARGIN_PRECISION = 1e-3


@dataclass(frozen=True, eq=False)
class MarginTests:
    """Tests of D mean differences against a margin, both ways.

    Attributes:
        differences: means of first − second, in the unit of the scores, f8[D].
        p_worse: p of "first is worse than second by delta or more", f8[D].
        p_better: p of "first is better than second by delta or more", f8[D].
        delta: the margin, in the unit of the scores.
        num_queries: Q, the number of queries.
        method: "Gaffke's bound and t", or "t only" for measures without a range.
    """

    differences: Floats
    p_worse: Floats
    p_better: Floats
    delta: float
    num_queries: int
    method: str

    @property
    def p_equal(self) -> Floats:
        """The p of "the systems differ by delta or more", f8[D]: the larger of the two."""
        return np.maximum(self.p_worse, self.p_better)


@dataclass(frozen=True)
class NonInferiority:
    """The result of ``non_inferiority``: whether a system loses less than delta.

    Attributes:
        difference: mean of first − second, in the unit of the scores.
        low: the lower end of its one-sided t interval at confidence 1 − alpha, in the same unit. A
            limit above −delta is required but does not suffice.
        p: the larger p of the tests, above 0.
        delta: the smallest loss that matters, in the same unit.
        alpha: the level of the test.
        num_queries: Q, the number of queries.
        non_inferior: whether p <= alpha.
        method: "Gaffke's bound and t", or "t only" for scores without a range.
    """

    difference: float
    low: float
    p: float
    delta: float
    alpha: float
    num_queries: int
    non_inferior: bool
    method: str


def non_inferiority(  # noqa: PLR0913 - one keyword per setting
    first: Any,
    second: Any = None,
    *,
    delta: float,
    alpha: float = 0.05,
    score_range: float | None = 1.0,
    weights: Any = None,
) -> NonInferiority:
    """Test whether the first system loses less than delta, also where the sample shows no loss.

    Formula: p is the larger p of "mean(d) <= −delta" by a one-sided t test and by Gaffke's bound;
    see ``margin_tests``, which has both sides.

    Args:
        first: scores of the system in question by query, f8[Q]; the differences if ``second`` is
            None.
        second: scores of the other system, queries in the same order, f8[Q].
        delta: the smallest loss that matters, above 0, in the unit of the scores.
        alpha: the level of the test: the highest probability of passing a system whose true loss is
            delta or more.
        score_range: the highest possible score minus the lowest, in the same unit; None for
            measures without a highest score, which are tested by t only.
        weights: for clusters of queries, as in ``margin_tests``, f8[Q]; None for queries.

    Degenerate: if all differences are equal, the p of the t test is 2^−Q if they are above −delta,
    otherwise 1.

    Source: as ``margin_tests``.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, differ in
            number, or a difference exceeds ``score_range``.
        SettingError: delta or ``score_range`` is not above 0, or alpha is not between 0 and ½.

    >>> non_inferiority([0.0] * 298, delta=0.01).non_inferior  # .99^298 is .0500…
    False
    >>> non_inferiority([0.0] * 299, delta=0.01).non_inferior
    True
    """
    differences = differences_of(first, second)
    check_alpha(alpha)
    tests = margin_tests(
        differences[None, :], delta=delta, score_range=score_range, weights=weights
    )
    mean, p = float(tests.differences[0]), float(tests.p_worse[0])
    return NonInferiority(
        difference=mean,
        low=mean - _half_width(differences, alpha, weights),
        p=p,
        delta=tests.delta,
        alpha=float(alpha),
        num_queries=tests.num_queries,
        non_inferior=p <= alpha,
        method=tests.method,
    )


def margin_tests(
    differences: Any,
    *,
    delta: float,
    score_range: float | None = 1.0,
    weights: Any = None,
) -> MarginTests:
    """Test whether D pairs of systems are equivalent within ±delta, also against losses not seen.

    A paired test that is not significant does not show that systems are equal; this test can.
    If 1% of all queries lose everything, 50 queries often contain none of them: a test that looks
    only at the sample then calls systems equal that differ by 0.01. For scores in a known range
    this test does not.

    Formula: p is the largest of four p-values: of "mean(d) <= −delta" and of "mean(d) >= delta",
    each by a one-sided t test and by Gaffke's bound. Gaffke's bound of the first is the share of
    random weights for which the weighted mean of the Q differences and of a pseudo-query with the
    difference −score_range is at most −delta; the weights are uniform on the simplex. Without a
    range, p is the larger of the two t tests (Schuirmann).

    p is not corrected for the number of tests. The p of a row does not depend on the other rows, on
    the order of the queries, or on any draws. About 1 ms for a row of some thousand queries.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        delta: the margin, above 0, in the unit of the scores.
        score_range: the highest possible score minus the lowest, in the same unit; None for
            measures without a highest score, which are tested by t only.
        weights: for clusters of queries in place of queries, how much a difference of 1 on all
            queries adds to the difference of each cluster, with a mean of 1, f8[Q]: its size times
            Q, divided by the number of all queries. A column of ``differences`` is then the sum
            over its queries, times the same factor. d + delta becomes d + delta·weight, and
            Gaffke's pseudo-cluster is as large as the largest one. None for queries.

    Degenerate: if all differences are equal, the p of the t tests is 2^−Q if they are between
    −delta and delta (the exact sign-flip test of the shifted differences), otherwise 1.

    Source: Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15(6), 1987; Gaffke, Mathematical
    Methods of Statistics 14(4), 2005; Learned-Miller and Thomas, arXiv 1905.06208, 2019. That the
    error is at most alpha for all distributions is their conjecture, proven for differences with
    two values; a preprint (Vlassis and Thomas, arXiv 2607.08415, 2026) reports a general proof.
    ``benchmarks/equality.py`` simulates it.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, cover fewer
            than two queries, or exceed ``score_range``.
        SettingError: delta or ``score_range`` is not above 0.

    >>> tests = margin_tests([[0.0] * 299, [0.0] * 298 + [-1.0]], delta=0.01)
    >>> tests.p_worse.round(3).tolist(), tests.p_better.round(3).tolist()
    ([0.05, 0.199], [0.05, 0.025])
    """
    values = as_scores(differences, 2, "the differences")
    check_positive("delta", delta)
    if weights is not None:
        return _margin_tests_of_clusters(values, np.asarray(weights), float(delta), score_range)
    p_worse, p_better = _t_p_values(values + delta), _t_p_values(delta - values)
    if score_range is not None:
        _check_range(score_range, values)
        lowest = -float(score_range)
        np.clip(values, lowest, -lowest, out=values)
        p_worse = np.maximum(p_worse, gaffke_p_values(values, -delta, lowest=lowest))
    means = row_means(values)
    if score_range is not None:
        np.negative(values, out=values)
        p_better = np.maximum(p_better, gaffke_p_values(values, -delta, lowest=lowest))
    return MarginTests(
        differences=means,
        p_worse=p_worse,
        p_better=p_better,
        delta=float(delta),
        num_queries=values.shape[1],
        method=T_ONLY if score_range is None else BOUNDED,
    )


def _margin_tests_of_clusters(
    values: Floats, weights: Floats, delta: float, score_range: float | None
) -> MarginTests:
    """Return ``margin_tests`` of clusters: f8[D, Q] and f8[Q]."""
    p_sides = []
    for side in (values, -values):
        above = side + delta * weights
        p = _t_p_values(above)
        if score_range is not None:
            _check_range(score_range, values / weights)
            lowest = (delta - float(score_range)) * float(weights.max())
            above = np.maximum(above, lowest)
            p = np.maximum(p, gaffke_p_values(above, 0.0, lowest=lowest))
        p_sides.append(p)
    return MarginTests(
        differences=row_means(values),
        p_worse=p_sides[0],
        p_better=p_sides[1],
        delta=delta,
        num_queries=values.shape[1],
        method=T_ONLY if score_range is None else BOUNDED,
    )


def smallest_margin(
    num_queries: int,
    *,
    alpha: float = 0.05,
    score_range: float = 1.0,
    weights: Any = None,
) -> float:
    """Return the smallest margin within which so many queries could show that systems are equal.

    With a smaller margin ``margin_tests`` say "not shown" whatever the scores are. For m
    comparisons that are corrected by Holm, none is shown with a margin below that of alpha/m. It is
    not a limit of ``non_inferiority``: there gains on some queries make up for losses that the
    sample could have missed.

    Formula: score_range · (1 − alpha^(1/Q)). If a share x of all queries loses ``score_range`` and
    the others tie, Q queries contain no loss with probability (1 − x)^Q; the true loss is
    x·score_range. A test that calls Q ties equal has an error of at most alpha only if
    (1 − delta/score_range)^Q <= alpha.

    Args:
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the test.
        score_range: the highest possible score minus the lowest, in the unit of the scores.
        weights: for clusters of queries, as in ``margin_tests``, f8[Q]. The margin is then larger,
            because the cluster that may be missing is taken to be as large as the largest: it is
            the smallest at which clusters without any difference are called equal. None for
            queries.

    Raises:
        SettingError: Q is below 2, alpha is not between 0 and ½, or ``score_range`` is not above 0.

    >>> [round(smallest_margin(count), 3) for count in (50, 100, 299, 1000)]
    [0.058, 0.03, 0.01, 0.003]
    """
    if not is_whole_number(num_queries, least=FEWEST_QUERIES):
        msg = f"num_queries must be a whole number from {FEWEST_QUERIES}, not {num_queries!r}"
        raise SettingError(msg)
    check_alpha(alpha)
    check_positive("score_range", score_range)
    low = -float(score_range) * math.expm1(math.log(alpha) / num_queries)
    if weights is None:
        return low
    high, equal = float(score_range), np.zeros((1, num_queries))
    while high - low > _MARGIN_PRECISION * high:
        middle = (low + high) / 2
        tests = margin_tests(equal, delta=middle, score_range=score_range, weights=weights)
        low, high = (low, middle) if tests.p_equal[0] <= alpha else (middle, high)
    return high


def lower_bound(
    differences: Any,
    *,
    alpha: float = 0.05,
    score_range: float = 1.0,
    weights: Any = None,
) -> float:
    """Return the lower bound of a true mean difference that also covers what the sample missed.

    Where few queries differ, intervals of tests are too narrow: of queries that nearly all tie, a
    sample may contain none of those that lose. This bound counts one more query that loses
    everything.

    Formula: the smallest mean whose p by Gaffke's test is above alpha (``gaffke_p_values``). If no
    query differs, it is score_range · (alpha^(1/Q) − 1).

    Args:
        differences: first − second by query, f8[Q].
        alpha: the bound is above the true mean in at most this share of samples.
        score_range: the highest possible score minus the lowest, in the unit of the scores.
        weights: for clusters of queries, as in ``margin_tests``, f8[Q]; None for queries.

    Returns:
        The bound in the unit of the scores, at most the mean of the sample; too low by less than
        1e-3 of its size, or of 1e-3 of the range.

    Source: as ``margin_tests``. ``benchmarks/few_differences.py`` simulates the coverage.

    Raises:
        InputError: the differences are not finite numbers, are fewer than two, or exceed
            ``score_range``.
        SettingError: alpha is not between 0 and ½, or ``score_range`` is not above 0.

    >>> round(lower_bound([0.0] * 30), 4), round(lower_bound([1.0] + [0.0] * 29), 4)
    (-0.095, -0.0739)
    """
    values = differences_of(differences, None)
    check_alpha(alpha)
    if weights is None and not values.any():
        return -smallest_margin(len(values), alpha=alpha, score_range=score_range)
    weights = None if weights is None else np.asarray(weights)
    _check_range(score_range, values if weights is None else values / weights)
    lowest, largest_weight = -float(score_range), 1.0 if weights is None else float(weights.max())
    above_lowest = values - lowest * (1.0 if weights is None else weights)
    if weights is None:
        above_lowest = np.maximum(above_lowest, 0.0)

    def is_excluded(mean: float) -> bool:
        above = above_lowest + (lowest - mean) * (1.0 if weights is None else weights)
        worst = (lowest - mean) * largest_weight
        return bool(
            gaffke_p_values(np.maximum(above, worst)[None, :], 0.0, lowest=worst)[0] <= alpha
        )

    low, high = lowest, float(values.mean())
    while high - low > _MARGIN_PRECISION * max(abs(low), _MARGIN_PRECISION * score_range):
        middle = (low + high) / 2
        low, high = (middle, high) if is_excluded(middle) else (low, middle)
    return low


def detectable_equality(
    sd: float,
    num_queries: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    score_range: float | None = 1.0,
) -> float:
    """Return the smallest margin within which equal systems are called equal with this power.

    Formula: the smallest delta for which ``margin_tests`` have p <= alpha for Q normally
    distributed differences with this standard deviation whose mean is off by
    z((1 + power)/2)·sd/√Q. A mean of equal systems is off by at most that with this power.

    Args:
        sd: the standard deviation over queries of the differences, in the unit of the scores.
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the test.
        power: the probability that equal systems are called equal.
        score_range: the highest possible score minus the lowest, in the same unit; None for
            measures without a highest score.

    Returns:
        The margin in the unit of the scores; at least ``smallest_margin``, and not above the range.
        Without a range and with an sd of 0: 0, or infinity if so few queries show no margin.

    Raises:
        SettingError: sd is below 0, Q is below 2, alpha is not between 0 and ½, power is not
            between 0 and 1, or ``score_range`` is not above 0.
        MissingExtraError: scipy is not installed.

    >>> round(detectable_equality(0.05, 500), 3)
    0.01
    """
    if not is_number(sd) or not 0 <= sd < math.inf:
        msg = f"sd must be a number from 0, not {sd!r}"
        raise SettingError(msg)
    check_share("power", power)
    lowest = smallest_margin(num_queries, alpha=alpha, score_range=score_range or 1.0)
    if score_range is not None:
        check_positive("score_range", score_range)
    limit = math.inf if score_range is None else float(score_range)
    if sd == 0 and score_range is None:
        return 0.0 if math.ldexp(1.0, -num_queries) <= alpha else math.inf
    normal_quantile = scipy_special("a test within a margin").ndtri
    normal = normal_quantile((np.arange(num_queries) + 0.5) / num_queries)
    offset = float(normal_quantile((1 + power) / 2)) / math.sqrt(num_queries)
    values = sd * (normal / normal.std(ddof=1) + offset)
    values = np.clip(values, -limit, limit)[None, :]

    def is_shown(delta: float) -> bool:
        tests = margin_tests(values, delta=delta, score_range=score_range)
        return bool(tests.p_better[0] <= alpha)

    low = 0.0 if score_range is None else lowest * (1 - _MARGIN_PRECISION)
    high = max(lowest, sd * 4 / math.sqrt(num_queries))
    while high < limit and not is_shown(high):
        low, high = high, 2 * high
    if high >= limit and not is_shown(limit):
        return limit
    high = min(high, limit)
    while high - low > _MARGIN_PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_shown(middle) else (middle, high)
    return high


def _t_p_values(values: Floats) -> Floats:
    """Return the p of the t test of "mean <= 0" against "mean > 0" for each row: f8[D, Q] -> f8[D].

    If all values of a row are equal, p is 2^−Q for values above 0 and 1 for others.
    """
    num_queries = values.shape[1]
    largest = np.abs(values).max(axis=1, keepdims=True)
    scaled = values / np.where(largest, largest, 1.0)  # so that squares stay in a float's range
    means, deviations = row_means(scaled), scaled.std(axis=1, ddof=1)
    constant = all_equal(scaled)
    statistics = means * math.sqrt(num_queries) / np.where(constant, 1.0, deviations)
    p = upper_tail(statistics, num_queries - 1)
    exact = np.where(means > 0, at_least_smallest(math.ldexp(1.0, -num_queries)), 1.0)
    return np.maximum(np.where(constant, exact, p), at_least_smallest(0.0))


def _half_width(differences: Floats, alpha: float, weights: Any = None) -> float:
    """Return t(1 − alpha, Q − 1)·s/√Q, 0 if all differences are equal."""
    if weights is not None:
        differences = residuals(differences[None, :], np.asarray(weights))[0]
    if all_equal(differences):
        return 0.0
    standard_error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return standard_error * float(exceeded_with(alpha, len(differences) - 1))


def check_alpha(alpha: Any) -> None:
    """Raise SettingError unless alpha is between 0 and ½, both excluded."""
    check_share("alpha", alpha)
    if alpha >= _HIGHEST_ALPHA:  # beyond it the interval is empty
        msg = f"alpha must lie below {_HIGHEST_ALPHA}, not {alpha!r}"
        raise SettingError(msg)


def _check_range(score_range: Any, differences: Floats) -> None:
    """Raise an error unless ``score_range`` is above 0 and no difference exceeds it.

    Raises:
        SettingError: ``score_range`` is not a number above 0.
        InputError: a difference exceeds it by more than a rounding error.
    """
    check_positive("score_range", score_range)
    largest = float(np.abs(differences).max())
    if largest > score_range * (1 + TOLERANCE):
        msg = (
            f"a difference of {largest:g} exceeds score_range={score_range!r}: give the highest "
            "possible score minus the lowest, or None for a measure without a highest score"
        )
        raise InputError(msg)
