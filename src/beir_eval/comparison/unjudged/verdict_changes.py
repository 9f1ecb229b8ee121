"""Whether unjudged documents can change the verdicts of the pairs on one measure.

"cannot" follows from bounds of the differences that hold under every completion; "could" from one
completion whose scores were computed. What neither decides is "not known".

Let u = Σx / ‖x‖ for the differences x of a pair. The sign-flip p is monotone in every difference,
so its values at the ends of the bounds bound it. t increases with u. Of the sign vectors, at most
the share D·2·tail(u) gives a family of D pairs a statistic that reaches u, whatever the differences
of the other pairs are, because Σ ±x / ‖x‖ is a Rademacher sum: tail(u) = exp(−u²/2) (Hoeffding,
Probability inequalities for sums of bounded random variables, JASA 58, 1963). That holds for
centred differences too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance import correct
from beir_eval.significance.distributions import upper_tail
from beir_eval.significance.paired_tests import t_p_values
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.comparison.records import ComparisonSettings, VerdictChange
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.sign_vectors import Keys, SignVectors

#: Sign vectors that are drawn, and the standard errors by which p must be on its side of the level.
_MOST_DRAWS, _STANDARD_ERRORS = 10_000, 4.0
#: Corrections of each p alone, never below p and at most D times p; and by the largest statistic.
_OF_P = ("none", "holm", "bonferroni", "benjamini-hochberg")
_OF_LARGEST = ("max-t", "max-t-step-down")
#: For how many norms a lower bound of u is sought, and the steps of its bisection.
_NORMS, _STEPS = 16, 20
#: Numbers below this share of the largest are rounding errors.
_TINY = 1e-12
#: What a lower bound of u is lowered by, for rounding errors.
_MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class VerdictTests:
    """The verdicts of D pairs on Q queries, and how they were tested.

    Attributes:
        verdicts: as observed. [D]
        keys: of the queries, by which signs are drawn, u8[Q].
        settings: the test, the correction, the level and the margin.
        may_be_equal: whether so many queries can show equality, bool[D].
        signs: the sign vectors of the test.
        has_clusters: whether queries are related.
    """

    verdicts: np.ndarray
    keys: Keys
    settings: ComparisonSettings
    may_be_equal: Mask
    signs: SignVectors
    has_clusters: bool

    @property
    def can_be_decided(self) -> bool:
        """Whether anything is known of verdicts by this test and correction."""
        return (
            self.settings.test in ("sign_flip", "t")
            and not self.has_clusters
            and self.settings.has_flips_tested
            and self.correction in (*_OF_P, *_OF_LARGEST)
        )

    @property
    def correction(self) -> str:
        """The correction; "none" for a single pair."""
        return self.settings.correction if len(self.verdicts) > 1 else "none"

    def p_range(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return numbers between which the uncorrected p certainly is, f8[R] each.

        Args:
            rows: differences, f8[R, Q].
        """
        if self.settings.test == "t":
            deviations = np.where(np.ptp(rows, axis=1) > 0, rows.std(axis=1, ddof=1), 0.0)
            p = t_p_values(rows.mean(axis=1), deviations, rows.shape[1])
            return p, p
        signs = self.signs
        is_exact = signs.can_enumerate(rows.shape[1])
        if not is_exact:
            signs = replace(signs, draws=min(signs.draws, _MOST_DRAWS))
        [flipped] = randomise([Family(rows, self.keys, np.arange(len(rows)))], signs)
        p = flipped.p()
        if is_exact:
            return p, p
        slack = _STANDARD_ERRORS * (np.sqrt(p * (1 - p) / signs.draws) + 1 / signs.draws)
        return np.maximum(p - slack, 0.0), np.minimum(p + slack, 1.0)

    def is_significant(self, p: Floats, ratio: Floats) -> Mask:
        """Return which pairs are significant whatever the other pairs are, bool[R].

        Args:
            p: numbers that the uncorrected p does not exceed, f8[R].
            ratio: numbers that ``|u|`` is not below, f8[R].
        """
        count, alpha = len(self.verdicts), self.settings.alpha
        if self.correction in _OF_LARGEST:
            share = np.minimum(2 * count * np.exp(-(ratio**2) / 2), 1.0)
            draws = self.signs.draws
            share += _STANDARD_ERRORS * (np.sqrt(np.minimum(share, 0.5) / draws) + 1 / draws)
            return np.asarray((share <= alpha) & is_at_most(p, alpha))
        factor = 1 if self.correction == "none" else count
        return np.asarray(is_at_most(np.minimum(p * factor, 1.0), alpha))


def verdict_changes(
    tests: VerdictTests,
    bounds: tuple[Floats, Floats] | None,
    differences_at: Callable[[Ints, str], Floats] | None,
) -> list[VerdictChange]:
    """Return for each pair whether unjudged documents can change its verdict. [D].

    Args:
        tests: the verdicts.
        bounds: the lowest and the highest differences, f8[D, Q] each; None if they are not known.
        differences_at: returns the differences of some pairs, i8[C], under the completion near
            their "lowest" or "highest" difference, f8[C, Q]; None if none can be computed.
    """
    can = np.zeros(len(tests.verdicts), dtype=np.bool_)
    cannot = can.copy()
    if tests.can_be_decided and bounds is not None:
        cannot = cannot_change(tests, *bounds)
    if tests.can_be_decided and differences_at is not None:
        # The end against the verdict first.
        for is_against in (True, False):
            for end, verdict in (("lowest", "better"), ("highest", "worse")):
                is_open = ~(can | cannot) & ((tests.verdicts == verdict) == is_against)
                pairs = np.flatnonzero(is_open)
                if len(pairs):
                    can[pairs] = _is_changed(tests, pairs, differences_at(pairs, end))
    changes: list[VerdictChange] = np.select(
        [can, cannot], ["could", "cannot"], default="not known"
    ).tolist()
    return changes


def cannot_change(tests: VerdictTests, low: Floats, high: Floats) -> Mask:
    """Return which verdicts are the same under every completion, bool[D].

    Args:
        tests: the verdicts.
        low: the lowest differences, f8[D, Q].
        high: the highest differences, f8[D, Q].
    """
    alpha, count = tests.settings.alpha, len(low)
    rounding = _TINY * np.maximum(np.abs(low), np.abs(high)).sum(axis=1)
    is_above, is_below = low.sum(axis=1) > rounding, high.sum(axis=1) < -rounding
    has_sign = is_above | is_below
    # The ends of |difference|, where the sum has one sign.
    least, most = np.where(is_below[:, None], (-high, -low), (low, high))
    ratio = np.where(has_sign, smallest_ratio(least, most), 0.0)
    if tests.settings.test == "t":
        p_most = np.where(has_sign, _t_p(ratio, low.shape[1]), 1.0)
        # Equal differences have the p of sign flips, which is above that of nearly equal ones.
        may_all_be_equal = low.max(axis=1) <= high.min(axis=1)
        p_of_equal = np.ldexp(1.0, 1 - low.shape[1])
        p_most = np.maximum(p_most, np.where(may_all_be_equal, p_of_equal, 0.0))
        p_least = _t_p(_largest_ratio(low, high), low.shape[1])
    else:
        from_p, to_p = tests.p_range(np.concatenate([low, high]))
        p_most = np.where(is_above, to_p[:count], np.where(is_below, to_p[count:], 1.0))
        p_least = np.minimum(from_p[:count], from_p[count:])
    if tests.correction in _OF_LARGEST:
        is_always = tests.is_significant(p_most, ratio)
        is_never = ~is_at_most(p_least, alpha)
    else:
        is_always = is_at_most(correct(p_most, tests.correction), alpha)
        is_never = ~is_at_most(correct(p_least, tests.correction), alpha)
    stays_undecided = is_never & ~tests.may_be_equal
    is_same: Mask = np.select(
        [tests.verdicts == "better", tests.verdicts == "worse", tests.verdicts == "undecided"],
        [is_always & is_above, is_always & is_below, stays_undecided],
        default=False,
    )
    return is_same


def _is_changed(tests: VerdictTests, pairs: Ints, rows: Floats) -> Mask:
    """Return which verdicts differ under a completion, whatever the other pairs are, bool[C].

    Args:
        tests: the verdicts.
        pairs: the pairs, i8[C].
        rows: the differences of each under the completion, f8[C, Q].
    """
    observed, means = tests.verdicts[pairs], rows.mean(axis=1)
    p_least, p_most = tests.p_range(rows)
    # No correction lowers p.
    is_lost = ~is_at_most(p_least, tests.settings.alpha)
    is_gained = tests.is_significant(p_most, np.abs(ratio_of(rows))) & (np.abs(means) > _TINY)
    is_other: Mask = np.select(
        [observed == "better", observed == "worse", observed == "equal"],
        [(means <= 0) | is_lost, (means >= 0) | is_lost, np.abs(means) > tests.settings.margin],
        default=is_gained,
    )
    return is_other


def ratio_of(rows: Floats) -> Floats:
    """Return u = Σx / ‖x‖ of differences, 0 if all are 0: f8[R, Q] -> f8[R]."""
    norm = np.linalg.norm(rows, axis=1)
    ratio: Floats = np.divide(rows.sum(axis=1), norm, out=np.zeros(len(rows)), where=norm > 0)
    return ratio


def _largest_ratio(low: Floats, high: Floats) -> Floats:
    """Return an upper bound of ``|u|`` over boxes, f8[D]."""
    sums = np.maximum(high.sum(axis=1), -low.sum(axis=1))
    norms = np.linalg.norm(np.clip(0.0, low, high), axis=1)
    largest = np.full(len(low), np.sqrt(low.shape[1]))
    ratio: Floats = np.divide(sums, norms, out=largest.copy(), where=norms > 0)
    return np.asarray(np.minimum(ratio, largest))


def smallest_ratio(low: Floats, high: Floats) -> Floats:
    """Return lower bounds of u = Σx / ‖x‖ over boxes in which Σx > 0, f8[D].

    For every norm t > 0, ‖x‖ ≤ (‖x‖² / t + t) / 2, so u ≥ r if Σ min(x − r·x² / 2t) ≥ r·t / 2,
    where each minimum is at an end. r is found by bisection for several t, and the best counts.

    Args:
        low: the lowest differences, f8[D, Q].
        high: the highest differences, f8[D, Q].
    """
    squares_low, squares_high = low**2, high**2
    least = np.square(np.clip(0.0, low, high)).sum(axis=1)
    most = np.maximum(squares_low, squares_high).sum(axis=1)
    best = np.divide(low.sum(axis=1), np.sqrt(most), out=np.zeros(len(low)), where=most > 0)
    for share in np.linspace(0, 1, _NORMS):
        norm = np.sqrt(least + share * (most - least))
        norm = np.where(norm > 0, norm, 1.0)
        begin, end = np.maximum(best, 0.0), np.full(len(low), np.sqrt(low.shape[1]))
        for _ in range(_STEPS):
            middle = (begin + end) / 2
            factor = (middle / (2 * norm))[:, None]
            sums = np.minimum(low - factor * squares_low, high - factor * squares_high).sum(axis=1)
            holds = sums >= middle * norm / 2
            begin, end = np.where(holds, middle, begin), np.where(holds, end, middle)
        best = np.maximum(best, begin)
    return np.asarray(best - _MARGIN)


def _t_p(ratio: Floats, num_queries: int) -> Floats:
    """Return the two-sided p of the t test with a ratio u, f8[R]."""
    freedom = num_queries - 1
    with np.errstate(divide="ignore"):
        t = np.abs(ratio) * np.sqrt(freedom / np.maximum(num_queries - ratio**2, 0.0))
    return np.asarray(2 * upper_tail(t, freedom))
