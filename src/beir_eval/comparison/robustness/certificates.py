"""Verdicts that no completion of the judgements changes, shown without trying all of them.

For each pair of systems and each query the lowest and the highest difference are known
(``Ranges``). ``unchangeable`` returns the verdicts that are the same wherever the differences lie
between these ends. It returns no verdict that a completion changes, up to four standard errors of
the random sign vectors; it may miss some that none changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.robustness.extreme_statistics import smallest_squares
from beir_eval.comparison.robustness.max_t_certificate import most_reached
from beir_eval.significance import correct
from beir_eval.significance.bounded_mean import gaffke_p_values
from beir_eval.significance.equivalence import smallest_margin
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.student_t import student_t
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.records import ComparisonSettings
    from beir_eval.comparison.robustness.ranges import Ranges
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.significance.sign_vectors import SignVectors

#: The p of random sign vectors must be on its side of the level by so many standard errors: other
#: completions are tested with other sign vectors, or with all of them.
_STANDARD_ERRORS = 4.0
#: p-values that several corrections take together, without one of the whole family.
_CORRECTIONS_OF_P = ("none", "holm", "bonferroni", "benjamini-hochberg")
#: p of the step-down correction is never above that of the other.
_CORRECTIONS_BY_MAX_T = ("max-t", "max-t-step-down")


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

    For other tests than "sign_flip" no verdict is certain. With the correction "tukey", "better"
    and "worse" are not certain.

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
        if correction in _CORRECTIONS_BY_MAX_T and is_decided.any():
            always = is_at_most(_highest_p_of_max_t(ranges, signs, ends, is_decided, alpha), alpha)
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
        squares = smallest_squares(low, high)
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
    return np.asarray(np.maximum(student_t().sf(statistic, num_queries - 1), 0.0))


# Max-T


def _highest_p_of_max_t(
    ranges: Ranges, signs: SignVectors, ends: EndTests, is_decided: Mask, alpha: float
) -> Floats:
    """Return a number that the single-step max-T p exceeds in no completion, f8[D].

    That holds up to the random sign vectors, as for ``EndTests``. p is the larger of two shares of
    sign vectors (``significance.max_t``), and at least the uncorrected p. It is 1 if the mean
    difference can be 0.
    """
    highest = ends.highest_p(ranges)
    is_determined = ranges.is_above_0 | ranges.is_below_0
    is_wanted = is_decided & is_determined & is_at_most(highest, alpha)
    if not is_wanted.any():
        return np.ones(len(highest))
    # Besides its standard errors, p gets 1 / draws of the observed signs, and below
    # _STANDARD_ERRORS / draws. 10 is above their sum; a larger slack only means more pairs with
    # sharp bounds.
    slack = (_STANDARD_ERRORS * math.sqrt(alpha * (1 - alpha) * signs.draws) + 10) / signs.draws
    reached = most_reached(ranges, signs, is_wanted, alpha, slack)
    added = 0 if signs.can_enumerate(ranges.low.shape[1]) else 1
    p = (added + reached.counts) / (added + reached.draws)
    error = np.sqrt(p * (1 - p) / signs.draws) + 1 / signs.draws
    p[0] += ends.standard_errors * error[0]
    # Where no system differs, the centred differences are flipped at random, enumerated or not.
    is_random = ends.standard_errors or not ranges.always_differ.all()
    p[1] += _STANDARD_ERRORS * error[1] if is_random else 0.0
    return np.where(is_wanted, np.minimum(np.maximum(p.max(axis=0), highest), 1.0), 1.0)
