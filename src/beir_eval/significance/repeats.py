"""Tests over queries and repeats: both the queries and the runs of each system are a sample.

Two trainings of one configuration with other seeds differ, and so do two calls of one language
model. A test over queries holds for these runs only. The tests here hold for other runs of the same
systems on other queries of the same kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError
from beir_eval.significance.distributions import exceeded_with, increasing_root
from beir_eval.significance.power import MOST_QUERIES, deviation_factors
from beir_eval.significance.validation import (
    FEWEST_QUERIES,
    as_scores,
    check_positive,
    check_share,
    residuals,
    row_means,
    scipy_special,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from beir_eval.core.arrays import Floats

#: Repeats of a system whose noise is to be estimated.
FEWEST_REPEATS = 2
#: The logarithm of the smallest p that is looked for: quantiles of the t distribution are not known
#: far below it. A smaller p is reported as this one.
_SMALLEST_LOG_P = -345.0
#: The probability that an interval of a standard deviation contains it.
_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class CrossedTests:
    """Tests of D mean differences over Q queries and the repeats of the systems.

    Attributes:
        differences: the mean differences, in the unit of the scores, f8[D].
        query_variances: the variance of each mean difference from the choice of queries, f8[D].
        repeat_variances: that from the choice of repeats, f8[D]; 0 if the repeats' means differ by
            no more than the choice of queries explains.
        num_queries: Q.
        degrees_of_freedom: of the estimate of ``repeat_variances``, f8[D]; infinite where both
            systems are deterministic.
        deviations: the estimated standard deviation of the mean score of a repeat, for other
            repeats on the same queries, f8[D], in the unit of the scores: the root of the pooled
            variance. With ``paired``, that of the mean difference of a pair of repeats.
    """

    differences: Floats
    query_variances: Floats
    repeat_variances: Floats
    num_queries: int
    degrees_of_freedom: Floats
    deviations: Floats

    @property
    def variances(self) -> Floats:
        """The variance of each mean difference, f8[D]."""
        return self.query_variances + self.repeat_variances

    def p(self) -> Floats:
        """Return the two-sided p-values, above 0, not corrected for their number, f8[D]."""
        return np.array(
            [self._p_of(index, float(value)) for index, value in enumerate(self.differences)]
        )

    def p_below(self, limit: float) -> Floats:
        """Return the p of "the true mean difference is at most ``limit``", f8[D].

        Args:
            limit: a difference, in the unit of the scores.
        """
        p = []
        for index, value in enumerate((self.differences - limit).tolist()):
            half = self._p_of(index, value) / 2
            p.append(half if value > 0 else 1 - half)
        return np.array(p)

    def p_equal(self, margin: float) -> Floats:
        """Return the p of "the systems differ by the margin or more", f8[D].

        Args:
            margin: the largest difference that does not matter, in the unit of the scores.
        """
        return np.maximum(self.p_below(-margin), self.opposite().p_below(-margin))

    def opposite(self) -> CrossedTests:
        """Return the tests of the opposite differences."""
        return replace(self, differences=-self.differences)

    def intervals(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return low and high ends of the intervals, f8[D] and f8[D].

        An interval excludes 0 exactly if the two-sided p is below its level.

        Args:
            levels: 1 − the confidence of each interval, f8[D].
        """
        half_widths = np.array(
            [
                self._critical(index, level / 2) * math.sqrt(float(self.variances[index]))
                for index, level in enumerate(levels.tolist())
            ]
        )
        return self.differences - half_widths, self.differences + half_widths

    def _critical(self, index: int, tail: float) -> float:
        """Return the critical value of a comparison for the probability of one tail."""
        return critical_value(
            float(self.query_variances[index]),
            float(self.repeat_variances[index]),
            self.num_queries,
            float(self.degrees_of_freedom[index]),
            tail,
            _by_scipy,
        )

    def _p_of(self, index: int, difference: float) -> float:
        """Return the two-sided p of a difference with the variance of a comparison."""
        variance = float(self.variances[index])
        if not difference:
            return 1.0
        if not variance:
            return math.exp(_SMALLEST_LOG_P)
        statistic = abs(difference) / math.sqrt(variance)

        def excess(log_p: float) -> float:
            return statistic - self._critical(index, math.exp(log_p) / 2)

        if excess(_SMALLEST_LOG_P) >= 0:
            return math.exp(_SMALLEST_LOG_P)
        return math.exp(increasing_root(excess, _SMALLEST_LOG_P, 0.0))


def _by_scipy(tail: float, freedom: float) -> float:
    """Return ``exceeded_with``; scipy's is faster for many tails, as a search for p has."""
    special = scipy_special("a test over repeats")
    quantile = special.ndtri(tail) if math.isinf(freedom) else special.stdtrit(freedom, tail)
    return -float(quantile)


def critical_value(  # noqa: PLR0913, PLR0917 - the numbers of one formula
    query_variance: float,
    repeat_variance: float,
    num_queries: int,
    degrees_of_freedom: float,
    tail: float,
    quantile: Callable[[float, float], float] = exceeded_with,
) -> float:
    """Return the critical value of the test of ``crossed_tests``; that of queries if both are 0.

    Args:
        query_variance: the variance from the choice of queries.
        repeat_variance: that from the choice of repeats.
        num_queries: Q.
        degrees_of_freedom: of the second variance; may be infinite.
        tail: the probability of one tail.
        quantile: a function that returns the t that is exceeded with a probability, for degrees of
            freedom.
    """
    of_queries = quantile(tail, num_queries - 1)
    if not repeat_variance:
        return of_queries
    # With infinite degrees of freedom this is the normal distribution.
    of_repeats = quantile(tail, degrees_of_freedom)
    share = repeat_variance / (query_variance + repeat_variance)
    return (1 - share) * of_queries + share * of_repeats


def crossed_tests(
    repeats: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    *,
    paired: bool = False,
    deterministic: Iterable[int] = (),
    weights: Any = None,
) -> CrossedTests:
    """Test pairs of systems whose scores are a sample of queries and of repeats.

    Formula: with d_q the difference of the two systems' means over their repeats on query q,
    v = var(d)/Q is the variance from the queries. A repeat's mean over queries varies about its
    system's mean with the variance s², which is pooled over all systems with repeats:
    s² = Σ (repeat mean − system mean)² / f, f = Σ (k − 1), k the number of repeats of a system. The
    difference of two systems has the variance a = s²·(1/k_first + 1/k_second) from the repeats. Of
    it, e = r·(1/k_first + 1/k_second)/Q is in v already, where r is the pooled mean square of the
    residuals of queries × repeats. So V = v + max(0, a − e), and the interval is
    mean(d) ± c·√V with c = (v·t(Q − 1) + max(0, a − e)·t(f)) / V.

    If systems have different numbers of repeats, a is at least Σ s_i²/k_i with each system's own
    variance, less its e; and f counts as if every system had the smallest number. Else a system of
    which few repeats vary much would be taken for one that varies as little as the others.

    Paired repeats (the same seed in both systems) give a difference for each repeat: then s² and r
    are those of these differences, a = s²/k, e = r/(k·Q) and f = k − 1.

    Args:
        repeats: for each system the scores of its repeats by query, f8[k, Q]; queries in the same
            order in all.
        pairs: the indices of the two systems of each comparison. [D]
        paired: whether repeat i of one system belongs to repeat i of the other.
        deterministic: the indices of systems whose repeats would all be equal. They need one repeat
            only, and have no variance.
        weights: for clusters of queries in place of queries, how much a difference of 1 on all
            queries adds to that of each cluster, with a mean of 1, f8[Q] (``margin_tests``): then
            d_q − mean(d) becomes d_q − mean(d)·weight, and so in the residuals. None for queries.

    The variance s² is pooled, so it is assumed to be alike in all systems with repeats. With two
    repeats of two systems it has two degrees of freedom, and only large differences are
    significant.

    Source: Cochran and Cox, Experimental Designs, 1957, section 4.14 (a weighted critical value for
    two variances). ``benchmarks/repeats.py`` simulates the error rates and the power.

    Raises:
        InputError: the scores are not finite numbers or cover fewer than two queries, systems have
            different numbers of queries, a system that is not deterministic has fewer than two
            repeats, or paired repeats differ in number.
        MissingExtraError: scipy is not installed.

    >>> first = [[0.50, 0.61, 0.42, 0.71], [0.56, 0.65, 0.50, 0.75]]
    >>> second = [[0.40, 0.55, 0.37, 0.60], [0.35, 0.48, 0.33, 0.58]]
    >>> tests = crossed_tests([first, second], [(0, 1)])
    >>> round(float(tests.differences[0]), 4), tests.p().round(3).tolist()
    (0.13, [0.068])
    """
    arrays = [as_scores(array, 2, "the scores of a system's repeats") for array in repeats]
    exact = set(deterministic)
    _check_repeats(arrays, pairs, exact, paired=paired)
    num_queries = arrays[0].shape[1]
    means = np.stack([array.mean(axis=0) for array in arrays])
    differences = np.stack([means[first] - means[second] for first, second in pairs])
    sizes = np.ones(num_queries) if weights is None else np.asarray(weights, dtype=np.float64)
    query_variances = residuals(differences, sizes).var(axis=1, ddof=1) / num_queries
    noisy = [array for index, array in enumerate(arrays) if index not in exact]
    pooled = _pooled(noisy, sizes)
    freedom = len(noisy) * (min(map(len, noisy), default=1) - 1)
    columns = []
    for first, second in pairs:
        pair = [index for index in (first, second) if index not in exact]
        if not pair:
            columns.append((0.0, math.inf, 0.0))
        elif paired and len(pair) == 2:  # noqa: PLR2004 - both systems
            spread = _pooled([arrays[first] - arrays[second]], sizes)
            variance = spread.beyond_residuals(num_queries)
            columns.append(
                (variance / len(arrays[first]), spread.degrees_of_freedom, math.sqrt(variance))
            )
        else:
            variance = pooled.beyond_residuals(num_queries)
            of_pair = sum(1 / len(arrays[index]) for index in pair) * variance
            own = sum(
                _pooled([arrays[index]], sizes).beyond_residuals(num_queries) / len(arrays[index])
                for index in pair
            )
            is_balanced = len(set(map(len, noisy))) == 1
            columns.append(
                (of_pair if is_balanced else max(of_pair, own), freedom, math.sqrt(variance))
            )
    repeat_variances, degrees_of_freedom, deviations = np.array(columns, dtype=np.float64).T
    return CrossedTests(
        row_means(differences),
        query_variances,
        repeat_variances,
        num_queries,
        degrees_of_freedom,
        deviations,
    )


@dataclass(frozen=True)
class _Spread:
    """How much the means of repeats vary.

    Attributes:
        variance: the variance of the mean of a repeat about the mean of its system.
        residual_mean_square: the mean square of what neither query nor repeat explains.
        degrees_of_freedom: of the first.
    """

    variance: float
    residual_mean_square: float
    degrees_of_freedom: int

    def beyond_residuals(self, num_queries: int) -> float:
        """Return the variance without what the residuals of so many queries explain."""
        return max(0.0, self.variance - self.residual_mean_square / num_queries)


def _pooled(arrays: Sequence[Floats], sizes: Floats) -> _Spread:
    """Return the spread of repeats, f8[k, Q] each, pooled over systems.

    Args:
        arrays: the scores of the repeats of each system.
        sizes: how much an effect on all queries adds at each of them, f8[Q].
    """
    freedom = sum(len(array) - 1 for array in arrays)
    if not freedom:
        return _Spread(0.0, 0.0, 0)
    between = residual = 0.0
    for array in arrays:
        of_repeats = array.mean(axis=1, keepdims=True)
        deviations = of_repeats - of_repeats.mean()
        between += float((deviations**2).sum())
        unexplained = array - array.mean(axis=0) - deviations * sizes
        residual += float((unexplained**2).sum())
    num_queries = arrays[0].shape[1]
    return _Spread(between / freedom, residual / (freedom * (num_queries - 1)), freedom)


def _check_repeats(
    arrays: Sequence[Floats], pairs: Sequence[tuple[int, int]], exact: set[int], *, paired: bool
) -> None:
    """Raise InputError unless the noise of every pair's repeats can be estimated."""
    if len({array.shape[1] for array in arrays}) > 1:
        msg = f"systems must have the same queries, not {[array.shape[1] for array in arrays]}"
        raise InputError(msg)
    for index, array in enumerate(arrays):
        if index not in exact and len(array) < FEWEST_REPEATS:
            msg = (
                f"system {index} has one repeat, so its noise cannot be estimated; give two or "
                "more, or list it as deterministic"
            )
            raise InputError(msg)
    for first, second in pairs:
        counts = len(arrays[first]), len(arrays[second])
        if paired and not {first, second} & exact and counts[0] != counts[1]:
            msg = f"paired repeats must be equally many, not {counts[0]} and {counts[1]}"
            raise InputError(msg)


@dataclass(frozen=True)
class CrossedPower:
    """What so many queries and repeats like these can show about two systems.

    Attributes:
        detectable: the true difference that would be detected with this power, in the unit of the
            scores.
        detectable_low, detectable_high: the same for the ends of the intervals of both variances.
        queries_low, queries_high: how many queries, with as many repeats, would detect a true
            difference of ``delta``, for these ends; None if no number of queries would.
    """

    detectable: float
    detectable_low: float
    detectable_high: float
    queries_low: int | None
    queries_high: int | None


def crossed_power(  # noqa: PLR0913 - one keyword per setting
    tests: CrossedTests,
    index: int,
    differences: Floats,
    *,
    delta: float,
    alpha: float = 0.05,
    power: float = 0.8,
) -> CrossedPower:
    """Return which true difference a comparison of ``crossed_tests`` detects, as a range.

    Formula: (c + z(power))·√V, with c and V as in ``crossed_tests`` and z the normal quantile. The
    ranges take Bonett's interval of the variance of the differences (``estimate_power``) and the
    chi-square interval of that of the repeats, each at 95%. With more queries, v decreases as 1/Q
    and the variance of the repeats stays.

    Args:
        tests: the tests.
        index: which comparison.
        differences: its differences by query, means over repeats, f8[Q].
        delta: the smallest difference that matters, above 0, in the unit of the scores.
        alpha: the level at which it is tested.
        power: the probability of detecting the difference, above alpha.

    Raises:
        SettingError: delta is not above 0, or alpha or power is not between 0 and 1.
        MissingExtraError: scipy is not installed.
    """
    check_positive("delta", delta)
    check_share("alpha", alpha)
    check_share("power", power)
    special = scipy_special("the power of a test")
    freedom, num_queries = float(tests.degrees_of_freedom[index]), tests.num_queries
    of_queries = float(tests.query_variances[index])
    of_repeats = float(tests.repeat_variances[index])
    normal = float(special.ndtri(power))

    def detectable(query_variance: float, repeat_variance: float, count: int) -> float:
        at_count = query_variance * num_queries / count
        critical = critical_value(at_count, repeat_variance, count, freedom, alpha / 2, _by_scipy)
        return (critical + normal) * math.sqrt(at_count + repeat_variance)

    low, high = deviation_factors(differences, _CONFIDENCE)
    repeats_low = repeats_high = of_repeats
    if math.isfinite(freedom):
        repeats_low *= freedom / float(special.chdtri(freedom, (1 - _CONFIDENCE) / 2))
        repeats_high *= freedom / float(special.chdtri(freedom, (1 + _CONFIDENCE) / 2))
    ends = [(of_queries * low**2, repeats_low), (of_queries * high**2, repeats_high)]
    return CrossedPower(
        detectable(of_queries, of_repeats, num_queries),
        detectable(*ends[0], num_queries),
        detectable(*ends[1], num_queries),
        _fewest_queries(lambda count: detectable(*ends[0], count) <= delta),
        _fewest_queries(lambda count: detectable(*ends[1], count) <= delta),
    )


def _fewest_queries(is_enough: Any) -> int | None:
    """Return the smallest number of queries that is enough; None if none up to 10^15 is."""
    enough = FEWEST_QUERIES
    while not is_enough(enough):
        enough *= 2
        if enough > MOST_QUERIES:
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough


def noise_that_undoes(
    difference: float, query_variance: float, num_queries: int, num_noisy: float, *, level: float
) -> float:
    """Return the standard deviation of repeats from which a difference would not be significant.

    Each system has one run. How much the mean of a run varies with the seed is not known: this is
    the smallest standard deviation, if it were known, with which the interval of ``crossed_tests``
    contains 0.

    Formula: the s with ``|difference|`` = c·√(v + s²·n), where n is the number of systems that
    vary, v the variance from the queries and c the weighted critical value.

    Args:
        difference: the mean difference, in the unit of the scores.
        query_variance: v, its variance from the choice of queries.
        num_queries: Q.
        num_noisy: how many of the two systems vary, 1 or 2; a system with k averaged runs counts
            as 1/k.
        level: the level at which the difference was tested.

    Returns:
        The standard deviation in the unit of the scores; 0 if the difference is not significant
        without any noise.
    """

    def half_width(deviation: float) -> float:
        variance = deviation**2 * num_noisy
        critical = critical_value(query_variance, variance, num_queries, math.inf, level / 2)
        return critical * math.sqrt(query_variance + variance)

    size = abs(difference)
    if half_width(0.0) >= size:
        return 0.0
    low, high = 0.0, size
    while half_width(high) < size:
        high *= 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if half_width(middle) < size else (low, middle)
    return high
