"""Power: detectable differences and numbers of queries, before an experiment and after it.

``estimate_power`` shifts every difference by a constant. That cannot happen where each query is
won, lost or tied, as under Success@5, so that differences are 1, 0 or −1: there, a true difference
is more wins among the queries that differ (``estimate_win_power``).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError
from beir_eval.significance.distributions import (
    exceeded_with,
    increasing_root,
    negative_binomial_quantile,
    noncentral_t_upper_tail,
)
from beir_eval.significance.validation import (
    FEWEST_QUERIES,
    all_equal,
    at_least_smallest,
    check_alternative,
    check_positive,
    check_share,
    differences_of,
    is_number,
    is_whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from beir_eval.core.arrays import Floats, Ints

MOST_QUERIES = 10**15
#: With fewer differing queries, nothing is said about power.
FEWEST_DIFFERING = 10
#: With fewer differing queries, the sign-flip test is simulated; else the t formula is close.
_SIMULATED_BELOW = 50
#: Sign vectors of each test at alpha = .05; more for smaller levels, up to the most.
_FLIPS, _MOST_FLIPS = 199, 9_999
#: Simulated samples, and how many if each takes more sign vectors than this.
_SAMPLES, _FEWER_SAMPLES, _MANY_FLIPS = 400, 160, 1_999
#: Sign vectors that are multiplied with the samples at once: the sums stay in the cache.
_BLOCK = 512
#: The factor between the differences from which on the simulated one is looked for.
_NEXT_GUESS = 0.8
#: Shifts are not told from 0 below this.
_SMALLEST_SHIFT = 1e-30
#: Two sums in single precision are equal if they differ by no more than this part of their terms.
_FLOAT32_TOLERANCE = 1e-5
#: A kurtosis above that of 98% of real pairs (benchmarks/power.py), and how many queries it counts.
_USUAL_KURTOSIS, _USUAL_QUERIES = 10.0, 40
#: From so many queries on, a closed formula gives their number.
_GUENTHER_FROM = 100
_NO_SPREAD = "all differences are equal: how much they vary is not known"
_NONE_DETECTED = "too few queries differ to estimate power"
#: Nothing is said unless this many times as many queries differ as can be significant at all.
_DIFFERING_PER_SIGNIFICANT = 2
#: Differences are of one size if they are equal within this.
_TOLERANCE = 1e-9


def minimum_detectable_difference(
    sd: float, num_queries: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest true difference that Q queries detect with this power.

    It describes the experiment, not its outcome: it depends on how much the differences vary
    between queries, not on the observed mean difference.

    Formula: the delta at which ``P(|t'| > t(1 − alpha/2, Q − 1))`` is ``power``, where t' has the
    noncentral t distribution with Q − 1 degrees of freedom and noncentrality √Q·delta / sd.

    Args:
        sd: the standard deviation over queries of the differences, in the unit of the scores.
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the two-sided paired t test.
        power: the probability of detecting the difference, above alpha.

    Returns:
        The difference in the unit of the scores; 0 if sd is 0.

    Source: Cohen, Statistical Power Analysis, 1988; Sakai, Laboratory Experiments in Information
    Retrieval, 2018.

    Raises:
        SettingError: sd is below 0, Q is below 2, alpha or power is not between 0 and 1, or power
            is not above alpha.
        MissingExtraError: scipy is not installed, and there are fewer than five queries.

    >>> round(minimum_detectable_difference(0.3, 100), 4)
    0.0849
    """
    _check_settings(sd, alpha, power)
    _check_queries(num_queries)
    if not sd:
        return 0.0
    # The unknown is the noncentrality √Q·delta / sd, which is near 2.8 for most Q.
    upper = 1.0
    while _power(upper / math.sqrt(num_queries), num_queries, alpha) < power:
        upper *= 2.0
    root = increasing_root(
        lambda shift: _power(shift / math.sqrt(num_queries), num_queries, alpha) - power, 0.0, upper
    )
    return root * float(sd) / math.sqrt(num_queries)


def queries_needed(delta: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return how many queries detect a true difference of ``delta`` with this power.

    Formula: the smallest Q >= 2 at which ``minimum_detectable_difference`` is at most ``delta``.

    Args:
        delta: the smallest difference that matters, above 0, in the unit of the scores. Choose it
            before the experiment; do not use the observed difference.
        sd: the standard deviation over queries of the differences, in the same unit.
        alpha: the level of the two-sided paired t test.
        power: the probability of detecting the difference, above alpha.

    Returns:
        The number of queries, at least 2; 2 if sd is 0.

    Source: Cohen, Statistical Power Analysis, 1988; Sakai, Laboratory Experiments in Information
    Retrieval, 2018.

    Raises:
        SettingError: delta is not above 0, sd is below 0, alpha or power is not between 0 and 1,
            power is not above alpha, or more than about 1e15 queries are needed.
        MissingExtraError: scipy is not installed, and there are fewer than five queries.

    >>> queries_needed(0.1, 0.2)
    34
    """
    check_positive("delta", delta)
    _check_settings(sd, alpha, power)
    if not sd:
        return FEWEST_QUERIES
    effect = delta / sd
    # The result for the normal distribution is a little too small: start there.
    normal = NormalDist()
    estimate = ((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) / effect) ** 2
    if estimate > MOST_QUERIES:
        msg = f"delta={delta!r} is too small against sd={sd!r}"
        raise SettingError(msg)
    too_few, enough = FEWEST_QUERIES - 1, max(FEWEST_QUERIES, int(estimate))
    step = 1
    while _power(effect, enough, alpha) < power:
        too_few, enough, step = enough, enough + step, 2 * step
    while too_few < FEWEST_QUERIES <= enough - step:
        if _power(effect, enough - step, alpha) < power:
            too_few = enough - step
        else:
            enough, step = enough - step, 2 * step
    untried = range(too_few + 1, enough)
    return too_few + 1 + bisect_left(untried, power, key=lambda count: _power(effect, count, alpha))


def smallest_p(num_differing: int, *, alternative: str = "two-sided") -> float:
    """Return the smallest p that the sign-flip test can reach if so many queries differ.

    If all differences have the same sign, 2 of the 2^m sign vectors are as extreme, 1 one-sided.
    So 5 differing queries never decide at alpha = .05, whatever the size of the differences.

    Formula: 2^(1−m) for m differing queries, 2^−m one-sided; 1 for m = 0, and never below 2.2e-308.

    Args:
        num_differing: m, the number of queries on which the systems differ, from 0.
        alternative: "two-sided", "less" or "greater".

    Raises:
        SettingError: m is not a whole number from 0, or the alternative is unknown.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    if not is_whole_number(num_differing, least=0):
        msg = f"num_differing must be a whole number from 0, not {num_differing!r}"
        raise SettingError(msg)
    check_alternative(alternative)
    exponent = (alternative == "two-sided") - int(num_differing)
    return at_least_smallest(min(math.ldexp(1.0, exponent), 1.0))


@dataclass(frozen=True)
class PowerEstimate:
    """What so many queries like these can show about two systems.

    Attributes:
        num_queries: Q, the number of queries.
        num_differing: the number of queries on which the systems differ.
        smallest_p: the smallest p that so many differing queries can reach. Above ``alpha``, no
            outcome could have been significant.
        sd: the standard deviation over queries of the differences, in the unit of the scores.
        detectable: the true difference that the test would detect with this power, in the unit of
            the scores; None if it is not known (see ``note``).
        detectable_low, detectable_high: the same for the ends of the interval of the standard
            deviation; None if it is not known.
        queries_low, queries_high: how many queries would detect a true difference of ``delta`` with
            this power, for the ends of the interval of the standard deviation; None if it is not
            known, or more than 10^15.
        delta: the difference that ``queries_low`` and ``queries_high`` are for, in the same unit.
        alpha: the level of the test.
        power: the probability of detecting a difference.
        confidence: the nominal level of the interval of the standard deviation.
        alternative: "two-sided", "less" or "greater": what the test detects.
        simulated: whether ``detectable`` is from a simulation of the sign-flip test (few queries
            differ), not from the t formula.
        note: why something is not known; empty in most cases.
    """

    num_queries: int
    num_differing: int
    smallest_p: float
    sd: float
    detectable: float | None
    detectable_low: float | None
    detectable_high: float | None
    queries_low: int | None
    queries_high: int | None
    delta: float
    alpha: float
    power: float
    confidence: float
    alternative: str
    simulated: bool
    note: str

    @property
    def could_be_significant(self) -> bool:
        """Whether any outcome with so many differing queries could have been significant."""
        return self.smallest_p <= self.alpha


def estimate_power(  # noqa: PLR0913 - one keyword per setting
    first: Any,
    second: Any = None,
    *,
    delta: float = 0.01,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
    confidence: float = 0.95,
) -> PowerEstimate:
    """Return which true difference so many queries detect, and how many queries detect ``delta``.

    Both are ranges, since the standard deviation of the differences is an estimate. Both describe
    an experiment with queries like these; they do not depend on the observed mean difference.

    Formula: for fewer than 50 differing queries, the sign-flip test is simulated: 400 samples of Q
    queries (160 below a level of about .005) are drawn from the observed differences; queries on
    which the systems tie keep a difference of 0, the others are centred and shifted, so that the
    mean is the true difference.
    The t formula would promise too much here: with few differing queries the test decides rarely,
    however large the shift. Otherwise ``minimum_detectable_difference`` and ``queries_needed`` with
    the standard deviation (with 2·alpha if one-sided). Two-sided, the direction with the lower
    power counts. The interval of the standard deviation is Bonett's:
    s²·c·exp(±z·c·√((g − (Q−3)/Q)/(Q−1))), c = Q/(Q − z), g the kurtosis about the trimmed mean. The
    chi-square interval would be too narrow: score differences have heavy tails, and few queries do
    not show them. So g is averaged with a kurtosis of 10 that counts as 40 differing queries.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        delta: the smallest difference that matters, above 0, in the unit of the scores.
        alpha: the level of the test; the p-values of a single comparison are meant.
        power: the probability of detecting the difference, above alpha.
        alternative: "two-sided"; or "less" or "greater" for a one-sided test, such as of a loss.
        confidence: the nominal level of the interval of the standard deviation.

    The ranges are approximate: on resampled real differences they hold the truth in 91% to 100% of
    samples, but in 70% to 75% of those with 25 or 50 queries and a skewness of 3.

    Degenerate: nothing is known if fewer than 10 queries differ, or if all differences are equal:
    the values are None and ``note`` gives the reason.

    Source: Guenther, Sample size formulas for normal theory t tests, The American Statistician
    35(4), 1981; Bonett, Computational Statistics and Data Analysis 50(3), 2006; Hoenig and Heisey,
    The Abuse of Power, The American Statistician 55(1), 2001. ``benchmarks/power.py`` compares
    claimed with true power.

    Raises:
        InputError: the scores are not finite numbers, cover fewer than two queries, or differ in
            number.
        SettingError: delta is not above 0, alpha, power or confidence is not between 0 and 1, power
            is not above alpha, or the alternative is unknown.
        MissingExtraError: scipy is not installed, and there are fewer than five queries.

    >>> estimate = estimate_power([0.1, -0.1, 0.2, -0.2] * 25)  # 100 queries
    >>> low, high = estimate.detectable_low, estimate.detectable_high
    >>> round(low, 3), round(estimate.detectable, 3), round(high, 3)
    (0.038, 0.045, 0.054)
    >>> few = estimate_power([0.5, 0.5, 0.5, 0.0, 0.0])
    >>> few.could_be_significant, few.smallest_p, few.detectable
    (False, 0.25, None)
    """
    differences = differences_of(first, second)
    check_positive("delta", delta)
    check_alternative(alternative)
    check_share("confidence", confidence)
    _check_settings(0.0, alpha, power)
    deviation = 0.0 if all_equal(differences) else float(differences.std(ddof=1))
    experiment = _Experiment(
        differences[differences != 0], len(differences), alpha, power, alternative
    )
    note = experiment.unknown_because() or ("" if deviation else _NO_SPREAD)
    factors, detectable = (1.0, 1.0), None
    needed: tuple[int | None, int | None] = (None, None)
    if not note:
        factors = deviation_factors(differences, confidence)
        detectable = experiment.detectable(deviation)
        needed = (
            experiment.queries_for(delta / factors[0], deviation),
            experiment.queries_for(delta / factors[1], deviation),
        )
    return PowerEstimate(
        num_queries=len(differences),
        num_differing=experiment.num_differing,
        smallest_p=experiment.smallest_p,
        sd=deviation,
        detectable=detectable,
        detectable_low=None if detectable is None else detectable * factors[0],
        detectable_high=None if detectable is None else detectable * factors[1],
        queries_low=needed[0],
        queries_high=needed[1],
        delta=float(delta),
        alpha=float(alpha),
        power=float(power),
        confidence=float(confidence),
        alternative=alternative,
        simulated=detectable is not None and experiment.is_small,
        note=note if note or detectable is not None else _NONE_DETECTED,
    )


def _power(effect: float, num_queries: int, alpha: float) -> float:
    """Return the power for a true difference of ``effect`` standard deviations."""
    freedom = num_queries - 1
    shift = effect * math.sqrt(num_queries)
    limit = float(exceeded_with(alpha / 2, freedom))
    # The lower tail is the upper tail for −shift.
    return sum(noncentral_t_upper_tail(limit, freedom, sign * shift) for sign in (1, -1))


def _check_settings(sd: Any, alpha: Any, power: Any) -> None:
    if not is_number(sd) or not 0 <= sd < math.inf:
        msg = f"sd must be a number from 0, not {sd!r}"
        raise SettingError(msg)
    check_share("alpha", alpha)
    check_share("power", power)
    if power <= alpha:
        msg = f"power={power!r} must be above alpha={alpha!r}, the power against no difference"
        raise SettingError(msg)


def _check_queries(num_queries: Any) -> None:
    if not is_whole_number(num_queries, least=FEWEST_QUERIES):
        msg = f"num_queries must be a whole number from {FEWEST_QUERIES}, not {num_queries!r}"
        raise SettingError(msg)


@dataclass(frozen=True, eq=False)
class _Experiment:
    """Queries like those observed, and the test of their differences.

    Attributes:
        differing: the differences that are not 0, f8[m].
        num_queries: Q, the number of queries, with those that tie.
        alpha, power, alternative: as for ``estimate_power``.
    """

    differing: Floats
    num_queries: int
    alpha: float
    power: float
    alternative: str

    @property
    def num_differing(self) -> int:
        return len(self.differing)

    @property
    def smallest_p(self) -> float:
        return smallest_p(self.num_differing, alternative=self.alternative)

    @property
    def is_small(self) -> bool:
        return self.num_differing < _SIMULATED_BELOW

    @property
    def two_sided_alpha(self) -> float:
        """The level at which the two-sided t formula describes this test."""
        return (
            self.alpha if self.alternative == "two-sided" else min(2 * self.alpha, self.power / 2)
        )

    @property
    def fewest_significant(self) -> int:
        """The smallest number of differing queries that can be significant."""
        return math.ceil((self.alternative == "two-sided") - math.log2(self.alpha))

    def unknown_because(self) -> str:
        """Return why nothing is known about power, "" if something is."""
        if not self.num_differing:
            return "no query differs"
        if self.smallest_p > self.alpha:
            queries = "query differs" if self.num_differing == 1 else "queries differ"
            return f"{self.num_differing} {queries}: too few for significance at {self.alpha:g}"
        if self.num_differing < FEWEST_DIFFERING:
            return f"{self.num_differing} queries differ: too few to estimate power"
        return ""

    def detectable(self, deviation: float) -> float | None:
        """Return the true difference that is detected; None if no difference is.

        Args:
            deviation: the standard deviation of the differences, above 0.
        """
        if not self.is_small:
            return deviation * _detectable_effect(
                self.num_queries, self.two_sided_alpha, self.power
            )
        normal = NormalDist()
        effect = normal.inv_cdf(1 - self.two_sided_alpha / 2) + normal.inv_cdf(self.power)
        directions = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[self.alternative]
        detected = _SimulatedTests(self).detectable(
            directions, effect * deviation / math.sqrt(self.num_queries)
        )
        return detected if detected < math.inf else None

    def queries_for(self, delta: float, deviation: float) -> int | None:
        """Return how many queries detect ``delta``; None for more than 10^15.

        From 100 on this is Guenther's formula, which differs from ``queries_needed`` by 1 at most.
        So many queries are the least of which enough differ for a significant outcome.

        Args:
            delta: the true difference, above 0.
            deviation: the standard deviation of the differences, above 0.
        """
        normal, alpha = NormalDist(), self.two_sided_alpha
        critical = normal.inv_cdf(1 - alpha / 2)
        needed = ((critical + normal.inv_cdf(self.power)) * deviation / delta) ** 2
        if needed > MOST_QUERIES:
            return None
        if needed > _GUENTHER_FROM:
            needed = math.ceil(needed + critical**2 / 2)
        else:
            needed = queries_needed(delta, deviation, alpha=alpha, power=self.power)
        share = self.num_differing / self.num_queries
        if needed * share > 10 * self.fewest_significant:
            return needed
        failures = negative_binomial_quantile(self.power, self.fewest_significant, share)
        return max(needed, self.fewest_significant + failures)


class _SimulatedTests:
    """Sign-flip tests of samples from an experiment, for any true difference.

    A true difference shifts all differing queries of a sample by the same amount. A sign vector
    that flips some of them is as extreme as the sample until the shift exceeds minus the mean of
    the flipped ones; two-sided, or minus the mean of the others. So the sample is significant for
    shifts above a quantile of these limits.
    """

    def __init__(self, experiment: _Experiment) -> None:
        """Draw the samples and the signs, always the same for the same number of queries."""
        self._experiment = experiment
        self._is_two_sided = experiment.alternative == "two-sided"
        alpha, num_queries = experiment.alpha, experiment.num_queries
        num_flips = min(_MOST_FLIPS, max(_FLIPS, math.ceil(10 / alpha) - 1))
        num_samples = _SAMPLES if num_flips <= _MANY_FLIPS else _FEWER_SAMPLES
        # The sample itself is one of those that are as extreme.
        self._most_extreme = math.floor(alpha * (1 + num_flips) * (1 + _FLOAT32_TOLERANCE))
        draws = _draws(num_queries, experiment.num_differing, num_flips > _FLIPS)
        self._counts, self._is_drawn = draws.counts[:num_samples], draws.is_drawn[:num_samples]
        self._signs, self._sign_sums = draws.signs[:num_flips], draws.sign_sums
        differing = (experiment.differing - experiment.differing.mean()).astype(np.float32)
        self._samples = differing[draws.indices[:num_samples]] * self._is_drawn

    def detectable(self, directions: Sequence[int], guess: float) -> float:
        """Return the smallest true difference that the tests detect often enough.

        Args:
            directions: 1, -1 or both, the signs of the true difference; the one that is harder to
                detect counts.
            guess: about the size of the difference, above 0; it sets the effort, not the result.

        Returns:
            The size of the difference; infinite if the tests detect none.
        """
        experiment = self._experiment
        if not self._most_extreme:
            return math.inf
        share = experiment.num_differing / experiment.num_queries
        rank = math.ceil(experiment.power * len(self._samples)) - 1
        detected = 0.0
        for direction in directions:
            least = detected or guess / share
            shift = np.partition(self._significant_from(direction, least), rank)[rank]
            while shift <= least and not detected and least > _SMALLEST_SHIFT:
                least *= _NEXT_GUESS
                shift = np.partition(self._significant_from(direction, least), rank)[rank]
            detected = float(shift)
            if math.isinf(detected):
                break
        return detected * share

    def _significant_from(self, direction: int, least: float) -> Floats:
        """Return the shift from which each sample is significant, f8[S]; infinite if none.

        Args:
            direction: 1 or -1, the sign of the shift.
            least: a shift above 0; a sample that is significant at it has this value.
        """
        columns, limits = self._extreme(direction, least)
        num_extreme = np.bincount(columns, minlength=len(self._counts))
        can_be_significant = self._counts >= self._experiment.fewest_significant
        significant_from = np.where(can_be_significant, least, np.inf)
        is_later = can_be_significant & (num_extreme >= self._most_extreme)
        order = np.lexsort((-limits, columns))
        first = num_extreme.cumsum() - num_extreme
        last_extreme = order[first[is_later] + self._most_extreme - 1]
        significant_from[is_later] = np.maximum(limits[last_extreme], least)
        return significant_from

    def _extreme(self, direction: int, least: float) -> tuple[Ints, NDArray[np.float32]]:
        """Return the sign vectors that are as extreme as a sample at a shift.

        Args:
            direction: 1 or -1, the sign of the shift.
            least: its size.

        Returns:
            For each pair of such a vector and a sample, which sample it is, i8[N], and the shift
            from which it is less extreme, f4[N].
        """
        samples, is_two_sided = direction * self._samples, self._is_two_sided
        sums, shift = samples.sum(axis=1), np.float32(least)
        shifted = (samples + shift * self._is_drawn).T
        # More vectors than needed do no harm, their limits are below the shift.
        own = shifted.sum(axis=0) - _FLOAT32_TOLERANCE * np.abs(shifted).sum(axis=0)
        columns, limits = [], []
        for start in range(0, len(self._signs), _BLOCK):
            flipped = self._signs[start : start + _BLOCK] @ shifted
            sizes = np.abs(flipped) if is_two_sided else flipped
            positions = np.flatnonzero(sizes >= own)
            column = positions % len(samples)
            count, total = self._counts[column], sums[column]
            sign_sum = self._sign_sums[start + positions // len(samples), count]
            unshifted = flipped.ravel()[positions] - shift * sign_sum
            with np.errstate(divide="ignore", invalid="ignore"):
                limit = (unshifted - total) / (count - sign_sum)
                if is_two_sided:
                    limit = np.fmax(limit, -(unshifted + total) / (count + sign_sum))
            # A vector that flips none, or all, is as extreme at any shift.
            limit[(sign_sum == count) | (is_two_sided & (sign_sum == -count))] = np.inf
            columns.append(column)
            limits.append(limit)
        return np.concatenate(columns), np.concatenate(limits)


@dataclass(frozen=True, eq=False)
class _Draws:
    """The random numbers of a simulation, the same for experiments of the same size.

    Attributes:
        counts: by sample, the number of queries that differ, i8[S].
        indices: which of the differing queries they are, i8[S, W].
        is_drawn: 1 for those that count, 0 beyond ``counts``, f4[S, W].
        signs: sign vectors, 1 and -1, f4[B, W].
        sign_sums: the sum of the first n signs, n from 0 to W, i1[B, W + 1].
    """

    counts: Ints
    indices: Ints
    is_drawn: NDArray[np.float32]
    signs: NDArray[np.float32]
    sign_sums: NDArray[np.int8]


@lru_cache(maxsize=16)
def _draws(num_queries: int, num_differing: int, many_flips: bool) -> _Draws:  # noqa: FBT001
    """Return the random numbers; fewer sign vectors are the first of more."""
    rng = np.random.default_rng(0)
    counts = rng.binomial(num_queries, num_differing / num_queries, _SAMPLES)
    width = max(1, int(counts.max()))
    indices = rng.integers(0, num_differing, (_SAMPLES, width))
    flips = _MOST_FLIPS if many_flips else _FLIPS
    signs = 2 * rng.integers(0, 2, (flips, width), dtype=np.int8) - 1
    sign_sums = np.zeros((flips, width + 1), dtype=np.int8)
    signs.cumsum(axis=1, dtype=np.int8, out=sign_sums[:, 1:])
    is_drawn = (np.arange(width) < counts[:, None]).astype(np.float32)
    return _Draws(counts, indices, is_drawn, signs.astype(np.float32), sign_sums)


def deviation_factors(differences: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of Bonett's interval of the standard deviation, divided by it.

    Few queries do not show the tail: the kurtosis is averaged with one that is usual.

    Args:
        differences: f8[Q], Q at least 10, not all equal.
        confidence: the nominal level.
    """
    num_queries, normal = len(differences), NormalDist().inv_cdf((1 + confidence) / 2)
    ordered = np.sort(differences)
    trimmed = int(num_queries / (2 * math.sqrt(num_queries - 4)))
    centre = ordered[trimmed : num_queries - trimmed].mean()
    deviations = (differences - differences.mean()) / np.abs(differences).max()
    from_centre = (differences - centre) / np.abs(differences).max()
    kurtosis = num_queries * float((from_centre**4).sum()) / float((deviations**2).sum()) ** 2
    num_differing = np.count_nonzero(differences)
    usual = _USUAL_KURTOSIS * num_queries / num_differing
    kurtosis = (num_differing * kurtosis + _USUAL_QUERIES * usual) / (
        num_differing + _USUAL_QUERIES
    )
    correction = num_queries / (num_queries - min(normal, num_queries / 2))
    error = correction * math.sqrt(
        max(0.0, kurtosis - (num_queries - 3) / num_queries) / (num_queries - 1)
    )
    middle = math.log(correction) / 2
    return math.exp(middle - normal * error / 2), math.exp(middle + normal * error / 2)


@lru_cache(maxsize=256)
def _detectable_effect(num_queries: int, alpha: float, power: float) -> float:
    """Return the minimum detectable difference in standard deviations."""
    return minimum_detectable_difference(1.0, num_queries, alpha=alpha, power=power)


def are_wins_and_losses(differences: Floats, size: float) -> bool:
    """Return whether a query differs, and each that does is won or lost by ``size``.

    >>> are_wins_and_losses(np.array([1.0, 0.0, -1.0]), 1.0)
    True
    """
    sizes = np.abs(differences[differences != 0])
    return len(sizes) > 0 and bool(np.all(np.abs(sizes - size) < _TOLERANCE))


def estimate_power_of_scores(
    differences: Floats, score_range: float | None, **settings: Any
) -> PowerEstimate:
    """Return ``estimate_win_power`` if every query is won, lost or tied, else ``estimate_power``.

    Args:
        differences: the differences by query, f8[Q].
        score_range: the highest possible score minus the lowest, by which queries are then won and
            lost, in the unit of the scores; None for measures without a highest score.
        settings: delta, alpha, power, alternative and confidence.
    """
    if score_range is not None and are_wins_and_losses(differences, score_range):
        return estimate_win_power(differences, size=score_range, **settings)
    return estimate_power(differences, **settings)


def estimate_win_power(  # noqa: PLR0913 - one keyword per setting
    differences: Floats,
    *,
    size: float = 1.0,
    delta: float = 0.01,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: str = "two-sided",
    confidence: float = 0.95,
) -> PowerEstimate:
    """Return which true difference so many queries detect, each won or lost by the same size.

    Formula: of Q queries a share s differs, and a true difference of d is a share (1 + d/s)/2 of
    wins among these. The sign-flip test, which is then the sign test, detects it with this power if
    Q·d − c = z(1 − alpha/2)·√(Q·s) + z(power)·√(Q·(s − d²)), with c = 0 without and 1 with a
    continuity correction (Connor, Biometrics 43(1), 1987). ``detectable`` takes c = ½ and the
    observed share; its range takes the 95% interval of the share (Wilson, JASA 22, 1927), with
    c = 0 at its low and c = 1 at its high end. If the low share is too small for any difference to
    be detected, the range begins with that share, the largest difference there is.

    Degenerate: nothing is known if fewer queries differ than twice the number that can be
    significant, such as 12 at alpha = .05: the values are None and ``note`` gives the reason.

    Args:
        differences: the differences by query, each 0, ``size`` or −``size``; f8[Q].
        size: by how much a query is won or lost, in the unit of the scores.
        delta: the smallest difference that matters, above 0, in the same unit.
        alpha: the level of the test.
        power: the probability of detecting the difference, above alpha.
        alternative: "two-sided"; or "less" or "greater" for a one-sided test.
        confidence: the level of the interval of the share.

    ``benchmarks/power.py`` compares claimed with true power.

    >>> few = np.repeat([1.0, -1.0, 0.0], [8, 7, 35])
    >>> estimate = estimate_win_power(few)
    >>> low, high = estimate.detectable_low, estimate.detectable_high
    >>> round(low, 2), round(estimate.detectable, 2), round(high, 2)
    (0.17, 0.22, 0.27)
    """
    num_queries, num_differing = len(differences), int(np.count_nonzero(differences))
    level = alpha if alternative == "two-sided" else min(2 * alpha, power / 2)
    differ = "query differs" if num_differing == 1 else "queries differ"
    unknown = PowerEstimate(
        num_queries=num_queries,
        num_differing=num_differing,
        smallest_p=smallest_p(num_differing, alternative=alternative),
        sd=float(differences.std(ddof=1)),
        detectable=None,
        detectable_low=None,
        detectable_high=None,
        queries_low=None,
        queries_high=None,
        delta=delta,
        alpha=alpha,
        power=power,
        confidence=confidence,
        alternative=alternative,
        simulated=False,
        note=f"{num_differing} {differ}: too few to estimate power",
    )
    fewest_significant = math.ceil(1 - math.log2(level))
    if num_differing < _DIFFERING_PER_SIGNIFICANT * fewest_significant:
        return unknown
    low, share, high = _share_interval(num_differing, num_queries, confidence)
    detectable = _detectable(share, num_queries, 0.5, level, power)
    highest = _detectable(high, num_queries, 1.0, level, power)
    if detectable is None or highest is None:
        return unknown
    return replace(
        unknown,
        detectable=size * detectable,
        detectable_low=size * (_detectable(low, num_queries, 0.0, level, power) or low),
        detectable_high=size * highest,
        queries_low=_queries(low, delta / size, 0.0, level, power),
        queries_high=_queries(high, delta / size, 1.0, level, power),
        note="",
    )


def _share_interval(count: int, total: int, confidence: float) -> tuple[float, float, float]:
    """Return Wilson's interval of a share, with the share in the middle."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, scale = count / total, 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return max(0.0, centre - half), share, min(1.0, centre + half)


def _detectable(
    share: float, num_queries: int, correction: float, alpha: float, power: float
) -> float | None:
    """Return the difference that is detected if this share of queries differs; None if none is.

    Args:
        share: the share of queries that differ.
        num_queries: Q, the number of queries.
        correction: c of the formula.
        alpha: the level of the two-sided test.
        power: the probability of detecting the difference.
    """
    normal = NormalDist()
    critical = correction + normal.inv_cdf(1 - alpha / 2) * math.sqrt(num_queries * share)
    # The square of the formula: (Q² + z²Q)·d² − 2·Q·critical·d + critical² − z²·Q·s = 0.
    of_power = normal.inv_cdf(power) ** 2 * num_queries
    square, half = num_queries**2 + of_power, num_queries * critical
    # Below 0 by rounding only, since as many queries differ as the caller demands.
    discriminant = max(0.0, half**2 - square * (critical**2 - of_power * share))
    sign = 1 if power >= 0.5 else -1  # noqa: PLR2004 - the power at the critical value
    detected = (half + sign * math.sqrt(discriminant)) / square
    return detected if 0 < detected <= share else None


def _queries(
    share: float, delta: float, correction: float, alpha: float, power: float
) -> int | None:
    """Return how many queries detect ``delta`` if this share differs; None for more than 10^15."""
    normal, share = NormalDist(), max(share, min(delta, 1.0))
    spread = normal.inv_cdf(1 - alpha / 2) * math.sqrt(share)
    spread += normal.inv_cdf(power) * math.sqrt(max(0.0, share - delta**2))
    root = (spread + math.sqrt(spread**2 + 4 * correction * delta)) / (2 * delta)
    return math.ceil(root**2) if root**2 <= MOST_QUERIES else None
