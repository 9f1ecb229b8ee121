"""Verdicts that no completion of the judgements changes, shown without trying all of them.

For each pair of systems and each query the lowest and the highest difference are known
(``Ranges``). ``unchangeable`` returns the verdicts that are the same wherever the differences lie
between these ends. It never returns a verdict that a completion changes; it may miss some that none
changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance import correct
from beir_eval.significance.bounded_mean import gaffke_p_values
from beir_eval.significance.equivalence import smallest_margin
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import all_subsets
from beir_eval.significance.validation import TOLERANCE, is_at_most, scipy_stats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.records import ComparisonSettings
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.sign_vectors import Keys, SignVectors

#: The p of random sign vectors must be on its side of the level by so many standard errors: other
#: completions are tested with other sign vectors, or with all of them.
_STANDARD_ERRORS = 4.0
#: Statistics from −1 to 1 are compared with this tolerance, wider than that of the test itself.
_STATISTIC_TOLERANCE = 1e-9
#: p-values that several corrections take together, without one of the whole family.
_CORRECTIONS_OF_P = ("none", "holm", "bonferroni", "benjamini-hochberg")


@dataclass(frozen=True, eq=False)
class Ranges:
    """The differences that D pairs can have on each of Q queries, whichever holes are relevant.

    Attributes:
        low, high: the lowest and the highest, f8[D, Q] each.
        keys: the key of each query, by which its random signs are drawn, u8[Q].
    """

    low: Floats
    high: Floats
    keys: Keys

    @property
    def are_points(self) -> bool:
        """Whether no difference can change."""
        return bool((self.low == self.high).all())

    @property
    def is_above_0(self) -> Mask:
        """Whether the mean difference is above 0 in every completion, bool[D]."""
        return np.asarray(self.low.sum(axis=1) > TOLERANCE * self._scale)

    @property
    def is_below_0(self) -> Mask:
        """Whether the mean difference is below 0 in every completion, bool[D]."""
        return np.asarray(self.high.sum(axis=1) < -TOLERANCE * self._scale)

    @property
    def _scale(self) -> Floats:
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class EndTests:
    """The sign-flip tests at the ends of the ranges, uncorrected.

    Attributes:
        p_low, p_high: p if every query has its lowest, or highest, difference, f8[D] each.
        standard_errors: by how much random sign vectors must be on their side of the level, in
            standard errors of p; 0 if all sign vectors are tried.
        draws: the number of sign vectors.
    """

    p_low: Floats
    p_high: Floats
    standard_errors: float
    draws: int

    def highest_p(self, ranges: Ranges) -> Floats:
        """Return a number that p exceeds in no completion, f8[D].

        p of the sign-flip test decreases with every difference while the mean is above 0, and
        increases while it is below 0.
        """
        p = np.where(ranges.is_above_0, self.p_low, np.where(ranges.is_below_0, self.p_high, 1.0))
        return np.asarray(np.minimum(p + self._slack(p), 1.0))

    def lowest_p(self) -> Floats:
        """Return a number above 0 that p is below in no completion, f8[D]."""
        p = np.minimum(self.p_low, self.p_high)
        return np.asarray(np.maximum(p - self._slack(p), np.finfo(np.float64).tiny))

    def _slack(self, p: Floats) -> Floats:
        error = np.sqrt(p * (1 - p) / self.draws) + 1 / self.draws
        return np.asarray(self.standard_errors * error)


def tests_at_ends(ranges: Ranges, signs: SignVectors) -> EndTests:
    """Return the uncorrected sign-flip tests at the ends of the ranges, from one pass."""
    num_pairs, num_queries = ranges.low.shape
    rows = np.concatenate([ranges.low, ranges.high])
    [flipped] = randomise([Family(rows, ranges.keys, np.arange(len(rows)))], signs)
    p = flipped.p()
    is_enumerated = signs.can_enumerate(num_queries)
    return EndTests(
        p[:num_pairs], p[num_pairs:], 0.0 if is_enumerated else _STANDARD_ERRORS, signs.draws
    )


def unchangeable(  # noqa: PLR0913, PLR0917 - the family, and how it is tested
    verdicts: Sequence[str],
    ranges: Ranges,
    ends: EndTests,
    settings: ComparisonSettings,
    signs: SignVectors,
    equality: EqualityTest,
) -> Mask:
    """Return which verdicts are certain to be the same in every completion, bool[D].

    For other tests than "sign_flip" no verdict is certain. With the corrections "max-t-step-down"
    and "tukey", "better" and "worse" are not certain.

    Args:
        verdicts: the observed verdicts. [D]
        ranges: the differences that the pairs of the whole family can have.
        ends: the tests at their ends.
        settings: the test, the correction, the level and the margin.
        signs: the random sign vectors of the test.
        equality: the test of equality.
    """
    observed = np.array(verdicts)
    if ranges.are_points:
        return np.ones(len(observed), dtype=np.bool_)
    if settings.test != "sign_flip":
        return np.zeros(len(observed), dtype=np.bool_)
    alpha, correction = settings.alpha, settings.correction
    if len(observed) == 1:
        correction = "none"
    is_decided = np.isin(observed, ("better", "worse"))
    always = np.zeros(len(observed), dtype=np.bool_)
    if correction in _CORRECTIONS_OF_P:
        # The corrected values increase with every one of the p-values.
        always = is_at_most(correct(ends.highest_p(ranges), correction), alpha)
        never = ~is_at_most(correct(ends.lowest_p(), correction), alpha)
    else:
        never = ~is_at_most(ends.lowest_p(), alpha)  # the corrected p is never below p
        if correction == "max-t" and is_decided.any():
            always = is_at_most(_highest_p_of_max_t(ranges, signs, ends), alpha)
    always_equal, never_equal = np.zeros((2, len(observed)), dtype=np.bool_)
    if equality.can_be_shown(ranges.low.shape[1], alpha):
        always_equal = correct(equality.highest_p(ranges.low, ranges.high), "holm") <= alpha
        never_equal = correct(equality.lowest_p(ranges.low, ranges.high), "holm") > alpha
    else:
        never_equal[:] = True
    return np.asarray(
        np.select(
            [observed == "better", observed == "worse", observed == "equal"],
            [always & ranges.is_above_0, always & ranges.is_below_0, never & always_equal],
            default=never & never_equal,
        ).astype(np.bool_)
    )


# Equality within the margin


@dataclass(frozen=True)
class EqualityTest:
    """The test of equality (``significance.equivalence``).

    Attributes:
        margin: the smallest difference that matters.
        score_range: the highest possible score minus the lowest; None if there is no such number.
    """

    margin: float
    score_range: float | None

    def can_be_shown(self, num_queries: int, alpha: float) -> bool:
        """Return whether so many queries can show equality at a level, whatever the scores are."""
        if self.score_range is None:
            return True
        smallest = smallest_margin(num_queries, alpha=alpha, score_range=self.score_range)
        return smallest <= self.margin

    def highest_p(self, low: Floats, high: Floats) -> Floats:
        """Return a number that p exceeds for no differences within ranges, f8[D].

        The t tests have the highest p for the mean nearest to the margin and the largest standard
        deviation; no differences have a larger one than the corners of the ranges farthest from the
        mean of their middles. The p of Gaffke's bound is monotone in every difference.

        Args:
            low: the lowest differences, f8[D, Q].
            high: the highest differences, f8[D, Q].
        """
        centre = ((low + high) / 2).mean(axis=1, keepdims=True)
        squares = np.maximum(np.square(low - centre), np.square(high - centre)).sum(axis=1)
        nearest = np.minimum(low.mean(axis=1) + self.margin, self.margin - high.mean(axis=1))
        p = np.where(nearest > 0, _t_p(nearest, squares, low.shape[1]), 1.0)
        p = np.maximum(p, math.ldexp(1.0, -low.shape[1]))  # the p of equal differences
        return np.maximum(p, self._bound_p(low, -high))

    def lowest_p(self, low: Floats, high: Floats) -> Floats:
        """Return a number that p is below for no differences within ranges, f8[D].

        The t tests have the lowest p for the mean farthest inside the margin and the smallest
        standard deviation: that of values as near to each other as the ranges allow.

        Args:
            low: the lowest differences, f8[D, Q].
            high: the highest differences, f8[D, Q].
        """
        return np.maximum(self.lowest_p_of_t(low, high), self._bound_p(high, -low))

    def lowest_p_of_t(self, low: Floats, high: Floats) -> Floats:
        """Return ``lowest_p`` of the t tests alone, which is fast, f8[D]."""
        squares = _smallest_squares(low, high)
        farthest = np.minimum(high.mean(axis=1) + self.margin, self.margin - low.mean(axis=1))
        return np.where(farthest > 0, _t_p(farthest, squares, low.shape[1]), 0.5)

    def _bound_p(self, losses: Floats, gains: Floats) -> Floats:
        """Return the larger p of Gaffke's bound of two sets of differences, f8[D]; 0 without."""
        if self.score_range is None:
            return np.zeros(len(losses))
        lowest = -self.score_range
        return np.maximum(
            *(
                gaffke_p_values(np.clip(rows, lowest, -lowest), -self.margin, lowest=lowest)
                for rows in (losses, gains)
            )
        )


def _t_p(mean: Floats, squares: Floats, num_queries: int) -> Floats:
    """Return the p of "the mean is at most 0" for means and sums of squared deviations, f8[D]."""
    error = np.sqrt(squares / (num_queries * (num_queries - 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(
            error > 0, mean / error, np.where(mean > 0, math.inf, np.where(mean < 0, -math.inf, 0))
        )
    stats = scipy_stats("a test of equality")
    return np.asarray(np.maximum(stats.t.sf(statistic, num_queries - 1), 0.0))


def _smallest_squares(low: Floats, high: Floats) -> Floats:
    """Return the smallest sum of squared deviations from the mean within the ranges, f8[D].

    The minimum over c of Σ (distance of c to [low, high])², which is convex in c: a search by
    thirds, less a tolerance.
    """
    if low is high:
        return np.asarray(low.var(axis=1) * low.shape[1] * (1 - _STATISTIC_TOLERANCE))
    left, right = low.min(axis=1), high.max(axis=1)

    def squares(centre: Floats) -> Floats:
        outside = np.maximum(low - centre[:, None], 0) + np.maximum(centre[:, None] - high, 0)
        return np.asarray(np.square(outside).sum(axis=1))

    for _ in range(100):
        third = (right - left) / 3
        first, second = left + third, right - third
        is_left = squares(first) <= squares(second)
        left, right = np.where(is_left, left, first), np.where(is_left, second, right)
    return np.asarray(squares((left + right) / 2) * (1 - _STATISTIC_TOLERANCE))


# Max-T


def _highest_p_of_max_t(ranges: Ranges, signs: SignVectors, ends: EndTests) -> Floats:
    """Return a number that the single-step max-T p exceeds in no completion, f8[D].

    p is the larger of two shares of sign vectors (``significance.max_t``), and at least the
    uncorrected p. For each sign vector the statistic of every pair has an upper bound over its
    ranges, and the pair in question a lower bound without flips. Counted are the sign vectors for
    which a bound is reached. It is 1 if the mean difference can be 0.

    Source: our construction; tests try all completions of small cases.
    """
    num_pairs, num_queries = ranges.low.shape
    bounds = _StatisticBounds(ranges)
    counts, draws = np.zeros((2, num_pairs), dtype=np.int64), 0
    for sums in _subset_sums(bounds.product_rows, ranges.keys, signs):
        counts += bounds.num_reached(sums)
        draws += sums.shape[1]
    added = 0 if signs.can_enumerate(num_queries) else 1
    p = (added + counts) / (added + draws)
    error = np.sqrt(p * (1 - p) / signs.draws) + 1 / signs.draws
    # Enumerated or not, the reference of centred differences draws the other queries at random.
    p[0] += ends.standard_errors * error[0]
    p[1] += _STANDARD_ERRORS * error[1]
    highest = np.maximum(p.max(axis=0), ends.highest_p(ranges))
    return np.where(ranges.is_above_0 | ranges.is_below_0, np.minimum(highest, 1.0), 1.0)


def _subset_sums(rows: Floats, keys: Keys, signs: SignVectors) -> Iterator[Floats]:
    """Yield the sums of rows over random subsets of the queries, or over all, f8[R, b]."""
    if signs.can_enumerate(rows.shape[1]):
        yield rows @ all_subsets(rows.shape[1])
    else:
        yield from signs.products(rows, keys)


class _StatisticBounds:
    """Bounds of the max-T statistics of D pairs over the ranges of their differences.

    Attributes:
        product_rows: the rows whose sums over subsets are needed, f8[2D+1, Q].
    """

    def __init__(self, ranges: Ranges) -> None:
        low, high = ranges.low, ranges.high
        middle, half = (low + high) / 2, (high - low) / 2
        self._num_pairs, self._num_queries = low.shape
        num_queries = low.shape[1]
        self.product_rows = np.concatenate([middle, half, np.ones((1, num_queries))])
        self._middle, self._half = middle.sum(axis=1), half.sum(axis=1)
        is_across_0 = (low <= 0) & (high >= 0)
        low_squares, high_squares = np.square(low), np.square(high)
        least = np.where(is_across_0, 0.0, np.minimum(low_squares, high_squares)).sum(axis=1)
        most = np.maximum(low_squares, high_squares).sum(axis=1)
        largest_sum = np.maximum(np.abs(low.sum(axis=1)), np.abs(high.sum(axis=1)))
        centred_norm = np.linalg.norm(middle - middle.mean(axis=1, keepdims=True), axis=1)
        centred = np.square(np.maximum(centred_norm - np.linalg.norm(half, axis=1), 0.0))
        centred = np.maximum(centred, least - np.square(largest_sum) / num_queries)
        self._norms = np.sqrt(num_queries * np.stack([least, centred]))
        # The signs are turned so that the difference in question is above 0.
        self._sign = np.where(ranges.is_below_0, -1.0, 1.0)
        self._least_sum = np.where(ranges.is_below_0, -high.sum(axis=1), low.sum(axis=1))
        scale = np.maximum(np.abs(low), np.abs(high)).sum(axis=1)
        self._tolerance = 2 * TOLERANCE * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(most > 0, self._least_sum / np.sqrt(num_queries * most), 0.0)
        self._statistic = statistic - _STATISTIC_TOLERANCE

    def num_reached(self, sums: Floats) -> Ints:
        """Return for how many subsets a bound reaches each pair, for both references, i8[2, D].

        Args:
            sums: the sums of ``product_rows`` over b subsets, f8[2D+1, b].
        """
        num_pairs = self._num_pairs
        middle, half, size = sums[:num_pairs], sums[num_pairs:-1], sums[-1]
        flipped = 2 * middle - self._middle[:, None]
        share = 2 * size / self._num_queries - 1  # the mean of the signs
        numerators = (
            np.abs(flipped) + self._half[:, None],
            np.abs(flipped - share * self._middle[:, None])
            + self._half[:, None]
            - share * (2 * half - self._half[:, None]),
        )
        # The pair's own event in the first reference is certain to be in that of its worst end.
        worst = self._sign[:, None] * middle - half
        own = np.minimum(worst, self._least_sum[:, None] - worst) <= self._tolerance[:, None]
        counts = np.empty((2, num_pairs), dtype=np.int64)
        for reference, numerator in enumerate(numerators):
            norms = self._norms[reference][:, None]
            bound = np.where(norms > 0, numerator / np.where(norms > 0, norms, 1.0), 1.0)
            bound[(self._middle == 0) & (self._half == 0) & (self._norms[0] == 0)] = 0.0
            np.minimum(bound, 1.0, out=bound)
            if reference == 1:
                reached = bound.max(axis=0) >= self._statistic[:, None]
            else:
                reached = own | (_largest_of_others(bound) >= self._statistic[:, None])
            counts[reference] = np.count_nonzero(reached, axis=1)
        return counts


def _largest_of_others(values: Floats) -> Floats:
    """Return for each row the largest value of the other rows in each column: f8[D, b]."""
    if len(values) == 1:
        return np.zeros_like(values)
    largest = values.argmax(axis=0)
    columns = np.arange(values.shape[1])
    top = values[largest, columns]
    rest = values.copy()
    rest[largest, columns] = -math.inf
    others = np.broadcast_to(top, values.shape).copy()
    others[largest, columns] = rest.max(axis=0)
    return others
