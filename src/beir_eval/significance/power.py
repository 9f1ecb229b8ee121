"""Power: detectable differences and numbers of queries, before an experiment and after it."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError
from beir_eval.significance.distributions import (
    increasing_root,
    negative_binomial_quantile,
    noncentral_t_upper_tail,
)
from beir_eval.significance.student_t import student_t
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
    scipy_special,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats, Ints

MOST_QUERIES = 10**15
#: With fewer differing queries, nothing is said about power.
FEWEST_DIFFERING = 10
#: With fewer differing queries, the sign-flip test is simulated; else the t formula is close.
_SIMULATED_BELOW = 50
#: Simulated samples; sign vectors of each test at alpha = .05, more for smaller ones.
_SAMPLES, _FLIPS = 400, 199
_MOST_FLIPS = 9_999
#: Sign vectors that are multiplied with the samples at once: the sums stay in the cache.
_BLOCK = 512
#: The relative precision of a simulated difference.
_PRECISION = 0.02
#: The factor between the differences that are tried first.
_STEP = 1.25
#: Two sums in single precision are equal if they differ by no more than this, relative to them.
_FLOAT32_TOLERANCE = 1e-5
#: Sums this close below the limit, relative to it, may exceed it for a larger difference.
_CANDIDATE_TOLERANCE = 1e-4
#: From so many queries on, a closed formula gives their number.
_GUENTHER_FROM = 100
_NO_SPREAD = "all differences are equal: how much they vary is not known"
_NONE_DETECTED = "too few queries differ to estimate power"


def paired_t_power(delta: float, sd: float, num_queries: int, *, alpha: float = 0.05) -> float:
    """Return the probability that a two-sided paired t test detects a true difference.

    Formula: ``P(|t'| > t(1 − alpha/2, Q − 1))``, where t' has the noncentral t distribution with
    Q − 1 degrees of freedom and noncentrality √Q·delta / sd.

    Args:
        delta: the true mean difference, above 0, in the unit of the scores.
        sd: the standard deviation over queries of the differences, above 0, in the same unit.
        num_queries: Q, the number of queries, at least 2.
        alpha: the level of the test.

    Raises:
        SettingError: delta or sd is not above 0, Q is below 2, or alpha is not between 0 and 1.
        MissingExtraError: scipy is not installed.

    >>> round(paired_t_power(0.1, 0.2, 34), 4)
    0.8078
    """
    check_positive("delta", delta)
    check_positive("sd", sd)
    _check_queries(num_queries)
    check_share("alpha", alpha)
    return _power(delta / sd, num_queries, alpha)


def minimum_detectable_difference(
    sd: float, num_queries: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest true difference that Q queries detect with this power.

    It describes the experiment, not its outcome: it depends on how much the differences vary
    between queries, not on the observed mean difference.

    Formula: the delta for which ``paired_t_power`` is ``power``.

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
        MissingExtraError: scipy is not installed.

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

    Formula: the smallest Q >= 2 for which ``paired_t_power`` is at least ``power``.

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
        MissingExtraError: scipy is not installed.

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
    queries are drawn from the observed differences; queries on which the systems tie keep a
    difference of 0, the others are centred and shifted, so that the mean is the true difference.
    The t formula would promise too much here: with few differing queries the test decides rarely,
    however large the shift. Otherwise ``minimum_detectable_difference`` and ``queries_needed`` with
    the standard deviation (with 2·alpha if one-sided). Two-sided, the direction with the lower
    power counts. The interval of the standard deviation is Bonett's:
    s²·c·exp(±z·c·√((g − (Q−3)/Q)/(Q−1))), c = Q/(Q − z), g the kurtosis about the trimmed mean. The
    chi-square interval would be too narrow: score differences have heavy tails.

    Args:
        first: scores of one system by query, f8[Q]; the differences if ``second`` is None.
        second: scores of the other system, queries in the same order, f8[Q].
        delta: the smallest difference that matters, above 0, in the unit of the scores.
        alpha: the level of the test; the p-values of a single comparison are meant.
        power: the probability of detecting the difference, above alpha.
        alternative: "two-sided"; or "less" or "greater" for a one-sided test, such as of a loss.
        confidence: the nominal level of the interval of the standard deviation.

    The ranges are approximate: on resampled real differences they hold the truth in 77% to 98% of
    samples, but in 55% to 65% of those with 25 or 50 queries and a skewness of 3.

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
        MissingExtraError: scipy is not installed.

    >>> estimate = estimate_power([0.1, -0.1, 0.2, -0.2] * 25)  # 100 queries
    >>> low, high = estimate.detectable_low, estimate.detectable_high
    >>> round(low, 3), round(estimate.detectable, 3), round(high, 3)
    (0.043, 0.045, 0.048)
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
    scipy_special("the power of a test")
    freedom = num_queries - 1
    shift = effect * math.sqrt(num_queries)
    limit = float(student_t().isf(alpha / 2, freedom))
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
        formula = deviation * _detectable_effect(self.num_queries, self.two_sided_alpha, self.power)
        if not self.is_small:
            return formula
        tests, detected = _SimulatedTests(self), formula
        if not tests.can_detect:
            return None
        directions = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[self.alternative]
        tests.prepare(directions[0], formula / _STEP)
        for direction in directions:
            share_detected = partial(tests.share_detected, direction)
            if direction == directions[0] or share_detected(detected) < self.power:
                reached = _smallest_reaching(share_detected, self.power, detected)
                if reached is None:
                    return None
                detected = reached
        return detected

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

    A larger difference makes fewer sign vectors as extreme as the sample. So the sums of all sign
    vectors are computed for the smallest difference of a search, and only the extreme ones are
    kept for the others.
    """

    def __init__(self, experiment: _Experiment) -> None:
        """Draw the samples and the signs, always the same for the same number of queries."""
        self._alpha, self._alternative = experiment.alpha, experiment.alternative
        self._share = experiment.num_differing / experiment.num_queries
        self._flips = min(_MOST_FLIPS, max(_FLIPS, math.ceil(10 / self._alpha) - 1))
        self._draws = _draws(experiment.num_queries, experiment.num_differing, self._flips > _FLIPS)
        differing = experiment.differing - experiment.differing.mean()
        self._samples = differing.astype(np.float32)[self._draws.indices] * self._draws.is_drawn
        self._sums = self._samples.sum(axis=1)
        self._can_be_significant = self._draws.counts >= experiment.fewest_significant
        self._candidates: _Candidates | None = None

    @property
    def can_detect(self) -> bool:
        """Whether a sample could be significant that no sign vector is as extreme as."""
        return self._alpha * (1 + self._flips) >= 1

    def share_detected(self, direction: int, difference: float) -> float:
        """Return the share of samples with a significant difference in this direction.

        Args:
            direction: 1 or -1, the sign of the true difference.
            difference: the size of the true difference, above 0.
        """
        shift, sums, limits = self._shifted(direction, difference)
        candidates = self._candidates
        if candidates is None or candidates.direction != direction or shift < candidates.shift:
            candidates = self.prepare(direction, difference)
        flipped = candidates.flipped_sums + (shift - candidates.shift) * candidates.sign_sums
        if self._alternative == "two-sided":
            np.abs(flipped, out=flipped)
        is_extreme = flipped >= limits[candidates.samples]
        extreme = np.bincount(candidates.samples[is_extreme], minlength=_SAMPLES)
        significant = (1 + extreme) <= self._alpha * (1 + self._flips)
        return float(np.mean(significant & (sums > 0) & self._can_be_significant))

    def prepare(self, direction: int, difference: float) -> _Candidates:
        """Find what is extreme at this difference, for the tests of this and larger ones.

        Args:
            direction: 1 or -1, the sign of the true difference.
            difference: the size of the true difference, above 0.
        """
        shift, _, limits = self._shifted(direction, difference)
        limits -= _CANDIDATE_TOLERANCE * np.abs(limits)
        shifted = (direction * self._samples + shift * self._draws.is_drawn).T
        vectors, samples, flipped_sums = [], [], []
        for start in range(0, self._flips, _BLOCK):
            flipped = self._draws.signs[start : min(start + _BLOCK, self._flips)] @ shifted
            sizes = np.abs(flipped) if self._alternative == "two-sided" else flipped
            positions = np.flatnonzero(sizes >= limits)
            vectors.append(start + positions // _SAMPLES)
            samples.append(positions % _SAMPLES)
            flipped_sums.append(flipped.ravel()[positions])
        columns = np.concatenate(samples)
        sign_sums = self._draws.sign_sums[np.concatenate(vectors), self._draws.counts[columns]]
        self._candidates = _Candidates(
            direction, shift, columns, np.concatenate(flipped_sums), sign_sums
        )
        return self._candidates

    def _shifted(self, direction: int, difference: float) -> tuple[np.float32, Floats, Floats]:
        """Return what each differing query is shifted by, and of samples the sums and limits."""
        shift = np.float32(difference / self._share)
        sums = direction * self._sums + shift * self._draws.counts
        return shift, sums, (sums * (1 - _FLOAT32_TOLERANCE)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The pairs of sign vector and sample that may be extreme from a shift on.

    Attributes:
        direction: 1 or -1, the sign of the true difference.
        shift: what is added to each differing query, in this direction.
        samples: the sample of each pair, i8[N].
        flipped_sums: the sum of its shifted differences with these signs, f4[N].
        sign_sums: the sum of its signs, i1[N]: what the other sum grows by, per shift.
    """

    direction: int
    shift: np.float32
    samples: Ints
    flipped_sums: Floats
    sign_sums: Ints


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
    is_drawn: Floats
    signs: Floats
    sign_sums: Ints


@lru_cache(maxsize=8)
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


def _smallest_reaching(
    share_detected: Callable[[float], float], power: float, start: float
) -> float | None:
    """Return about the smallest size at which a share reaches ``power``; None if none does.

    Args:
        share_detected: a function that increases with its argument.
        power: the share to reach.
        start: a first guess, above 0.
    """
    low, high = start, start
    for _ in range(30):
        if share_detected(high) >= power:
            break
        low, high = high, _STEP * high
    else:
        return None
    while low == high or share_detected(low) >= power:
        low = low / _STEP
        high = min(high, _STEP * low)
    while high > low * (1 + _PRECISION):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if share_detected(middle) >= power else (middle, high)
    return high


def deviation_factors(differences: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of Bonett's interval of the standard deviation, divided by it.

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
