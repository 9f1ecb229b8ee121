"""An upper bound of the max-T p over all completions of the judgements.

For each sign vector the statistic of every pair has a largest value over the ranges of its
differences, and the pair in question a smallest value without flips. Counted are the sign vectors
for which a largest value reaches the smallest. That the pairs share documents is not used, so that
the bound may be higher than every p.

Source: our construction; tests try all completions of small cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.robustness.extreme_statistics import (
    STATISTIC_TOLERANCE,
    largest_statistics,
    least_squares,
    smallest_squares,
    smallest_statistics,
)
from beir_eval.significance.sign_vectors import all_subsets
from beir_eval.significance.validation import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.robustness.ranges import Ranges
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.sign_vectors import SignVectors

#: Pairs × sign vectors that are looked at together.
_PART = 2**18
#: A pair is given up if this many standard deviations more sign vectors reach it than the level.
_GIVEN_UP = 6
#: Differences × sign vectors for which largest statistics are computed: about 10 s.
_WORK = 50_000_000


class Reached(NamedTuple):
    """How many sign vectors reach each of D pairs, in the two references of ``max_t``.

    Attributes:
        counts: an upper bound of the number in every completion, i8[2, D].
        draws: the number of sign vectors.
    """

    counts: Ints
    draws: int


def most_reached(
    ranges: Ranges, signs: SignVectors, is_wanted: Mask, level: float, slack: float
) -> Reached:
    """Return how many sign vectors at most reach each pair in any completion.

    Simple bounds come first. Largest statistics are computed for pairs that these leave open.

    Args:
        ranges: the differences that D pairs can have.
        signs: the random sign vectors of the test.
        is_wanted: the pairs in question; their mean differences are never 0, bool[D].
        level: the share of sign vectors that must not be exceeded.
        slack: how far below it a share may have to be.
    """
    statistics = _Statistics(ranges)
    simple = np.zeros((2, len(ranges.low)), dtype=np.int64)
    least = np.zeros_like(simple)
    draws = 0
    for subsets in _parts(ranges, signs):
        draws += subsets.shape[1]
        for reference, draw in enumerate(statistics.of_draws(subsets)):
            simple[reference] += draw.num_reached(draw.upper, statistics.smallest)
            least[reference] += draw.num_reached(draw.middle, statistics.smallest)
    is_uncertain = simple.max(axis=0) > (level - slack) * draws
    is_open = is_wanted & is_uncertain & (least.max(axis=0) <= level * draws)
    if not is_open.any():
        return Reached(simple, draws)
    search = _LargestStatistics(statistics, is_open)
    sharp, seen = np.zeros_like(simple), 0
    for subsets in _parts(ranges, signs):
        for reference, draw in enumerate(statistics.of_draws(subsets)):
            search.lower(draw, reference, subsets)
            sharp[reference] += draw.num_reached(draw.upper, statistics.smallest)
        seen += subsets.shape[1]
        expected = level * seen
        most = level * draws
        if not signs.can_enumerate(len(ranges.keys)):
            most = min(most, expected + _GIVEN_UP * np.sqrt(expected))
        search.give_up(sharp.max(axis=0) > most)
    return Reached(np.where(search.is_open, np.minimum(simple, sharp), simple), draws)


def _parts(ranges: Ranges, signs: SignVectors) -> Iterator[Floats]:
    """Yield random subsets of the queries, or all, as 0/1, few enough to work with, f8[Q, b]."""
    num_pairs, num_queries = ranges.low.shape
    is_enumerated = signs.can_enumerate(num_queries)
    blocks = [all_subsets(num_queries)] if is_enumerated else signs.blocks(ranges.keys)
    size = max(_PART // num_pairs, 64)
    for block in blocks:
        for begin in range(0, block.shape[1], size):
            yield block[:, begin : begin + size]


@dataclass(frozen=True, eq=False)
class _Draws:
    """Statistics of D pairs for b sign vectors, in one of the references.

    Attributes:
        own: whether a sign vector makes the pair's own statistic reach its observed value with the
            differences at their worst end, bool[D, b]; where it does not, it does so in no
            completion. None if the pair's own statistic is bounded by ``upper`` like the others.
        upper: upper bounds of ``|r|`` over the ranges, f8[D, b].
        middle: ``|r|`` in the middle of the ranges, f8[D, b].
        flipped: the numerator of r in the middle of the ranges, f8[D, b].
        room: by how much the numerator can differ from it, f8[D, b].
    """

    own: Mask | None
    upper: Floats
    middle: Floats
    flipped: Floats
    room: Floats

    def is_reached(self, values: Floats, smallest: Floats) -> Mask:
        """Return by which sign vectors some of D pairs are reached, bool[D, b].

        Args:
            values: ``|r|`` of the pairs, f8[D, b].
            smallest: the statistic to reach, f8[D].
        """
        if self.own is None:
            return np.asarray(values.max(axis=0) >= smallest[:, None])
        return np.asarray(self.own | (_largest_of_others(values) >= smallest[:, None]))

    def num_reached(self, values: Floats, smallest: Floats) -> Ints:
        """Return by how many sign vectors some of D pairs are reached, i8[D]."""
        return np.asarray(np.count_nonzero(self.is_reached(values, smallest), axis=1))


class _Statistics:
    """Bounds of the statistics of D pairs over the ranges of their differences.

    Attributes:
        ranges: the ranges.
        least_norms: the smallest norms of the differences and of the centred differences over the
            ranges, f8[2, D].
        smallest: a lower bound of ``|r|`` without flips, f8[D].
    """

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        low, high = ranges.low, ranges.high
        self._root = np.sqrt(low.shape[1])
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        centred = self._middle - self._middle.mean(axis=1, keepdims=True)
        self._middle_norms = np.linalg.norm([self._middle, centred], axis=2)
        scale = np.abs([low, high]).max(axis=(0, 2))
        # Centred differences that are 0 but for rounding count as 0, as in the test.
        is_constant = np.abs(centred).max(axis=1) <= TOLERANCE * scale
        self._middle_norms[1, is_constant] = 0.0
        self.least_norms = np.sqrt([least_squares(low, high), smallest_squares(low, high)])
        self.least_norms[1, is_constant] = 0.0
        # The signs are turned so that the difference in question is above 0.
        is_below = ranges.is_below_0[:, None]
        self._worst = np.where(is_below, -high, low)
        self.smallest = (
            smallest_statistics(self._worst, np.where(is_below, -low, high)) - STATISTIC_TOLERANCE
        )
        self._zero = 2 * TOLERANCE * np.maximum(np.abs(low), np.abs(high)).sum(axis=1)

    def of_draws(self, subsets: Floats) -> Iterator[_Draws]:
        """Yield the statistics for sign vectors in both references.

        Args:
            subsets: the queries with the sign +1, as 0/1, f8[Q, b].
        """
        rows = np.concatenate([self._middle, self._half, self._worst])
        # This order of the factors is three times as fast in OpenBLAS as rows @ subsets.
        sums = (subsets.T @ np.ascontiguousarray(rows.T)).T
        middle, half, worst = np.split(sums, 3)
        total, least_sum = self._middle.sum(axis=1)[:, None], self._worst.sum(axis=1)[:, None]
        all_room = self._half.sum(axis=1)[:, None]
        mean_sign = 2 * subsets.mean(axis=0) - 1
        flipped = 2 * middle - total
        # The pair's own event in the first reference is certain to be in that of its worst end.
        own = np.minimum(worst, least_sum - worst) <= self._zero[:, None]
        yield self._draws(0, own, flipped, np.broadcast_to(all_room, flipped.shape))
        yield self._draws(
            1,
            None,
            flipped - mean_sign * total,
            all_room - mean_sign * (2 * half - all_room),
        )

    def _draws(self, reference: int, own: Mask | None, flipped: Floats, room: Floats) -> _Draws:
        numerator = np.abs(flipped)
        return _Draws(
            own=own,
            upper=self.statistic(numerator + room, self.least_norms[reference]),
            middle=self.statistic(numerator, self._middle_norms[reference]) - STATISTIC_TOLERANCE,
            flipped=flipped,
            room=room,
        )

    def statistic(self, numerator: Floats, norms: Floats) -> Floats:
        """Return numerator / (√Q · norm), at most 1, f8[D, b]; 0 / 0 is 0."""
        divisor = (self._root * norms)[:, None]
        is_zero = divisor <= 0
        quotient = numerator / np.where(is_zero, 1.0, divisor)
        quotient[is_zero[:, 0]] = numerator[is_zero[:, 0]] > self._zero[is_zero[:, 0], None]
        return np.asarray(np.minimum(quotient, 1.0))


class _LargestStatistics:
    """Largest statistics, for the sign vectors that simple bounds leave open.

    Attributes:
        is_open: the pairs in question, bool[D].
    """

    def __init__(self, statistics: _Statistics, is_open: Mask) -> None:
        self.is_open, self._statistics = is_open.copy(), statistics
        self._work = _WORK

    def give_up(self, is_reached: Mask) -> None:
        """Stop looking for some pairs, bool[D]."""
        self.is_open &= ~is_reached

    def lower(self, draws: _Draws, reference: int, subsets: Floats) -> None:
        """Replace the upper bounds that matter for open pairs by largest statistics, in place."""
        if not self.is_open.any():
            return
        smallest = self._statistics.smallest
        could_be_reached = draws.is_reached(draws.upper, smallest)
        could_be_reached &= ~draws.is_reached(draws.middle, smallest)
        is_uncertain: Mask = np.asarray(could_be_reached[self.is_open].any(axis=0))
        if not is_uncertain.any():
            return
        limit = smallest[self.is_open].min()
        least_norms = self._statistics.least_norms[reference]
        sides = [
            self._statistics.statistic(sign * draws.flipped + draws.room, least_norms) >= limit
            for sign in (1, -1)
        ]
        for pair in range(len(smallest)):
            columns = [np.flatnonzero(is_uncertain & side[pair]) for side in sides]
            self._lower_pair(draws, reference, subsets, pair, columns)

    def _lower_pair(
        self, draws: _Draws, reference: int, subsets: Floats, pair: int, columns: list[Ints]
    ) -> None:
        both = np.concatenate(columns)
        ranges = self._statistics.ranges
        low, high = ranges.low[pair], ranges.high[pair]
        work = both.size * np.count_nonzero(low < high)
        if not 0 < work <= self._work:
            return
        self._work -= int(work)
        signs = np.repeat([1.0, -1.0], [part.size for part in columns])
        weights = (2 * subsets[:, both] - 1) * signs
        if reference == 1:
            weights -= weights.mean(axis=0)
        largest = largest_statistics(
            low,
            high,
            weights,
            self._statistics.least_norms[reference, pair],
            centred=bool(reference),
        )
        merged = np.zeros(draws.upper.shape[1])
        np.maximum.at(merged, both, largest + STATISTIC_TOLERANCE)
        draws.upper[pair, both] = np.minimum(draws.upper[pair], merged)[both]


def _largest_of_others(values: Floats) -> Floats:
    """Return for each row the largest value of the other rows in each column: f8[D, b]."""
    if len(values) == 1:
        return np.zeros_like(values)
    largest = values.argmax(axis=0)
    columns = np.arange(values.shape[1])
    top = values[largest, columns]
    rest = values.copy()
    rest[largest, columns] = -np.inf
    others = np.broadcast_to(top, values.shape).copy()
    others[largest, columns] = rest.max(axis=0)
    return others
