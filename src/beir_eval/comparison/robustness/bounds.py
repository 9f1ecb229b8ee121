"""How far unjudged documents could move the difference of two systems on one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.robustness.pool import Choices, in_top
from beir_eval.core.arrays import (
    Floats,
    Ints,
    Mask,
    concatenate_ranges,
    equal_ranges,
    position_in_row,
    rows_from_lengths,
    split_rows,
    starts_from_lengths,
)
from beir_eval.measures import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.robustness.pool import Pool, RunRanks
    from beir_eval.measures import Measure

#: The depth for a measure without a cutoff, and the greatest depth for any measure.
USUAL_DEPTH, DEEPEST = 10, 100
#: Of each query 1, 2, 3, … unjudged documents are assumed to be relevant. All these numbers are
#: tried if numbers × queries × pairs × depth stays within ``_WORK`` for a measure; otherwise fewer,
#: evenly spaced, but at least ``LEAST_STEPS``.
_WORK, LEAST_STEPS = 20_000_000, 4
#: Cells of relevance matrices in memory at a time.
_CELLS = 1_000_000


class PairBounds(NamedTuple):
    """How far the holes of two systems could move their difference.

    Attributes:
        low, high: the least and the greatest difference of each query, f8[Q].
        unjudged: the number of holes in the top of either system.
        all_tried: whether, for every number of relevant holes, the best and the worst choice for
            the system were tried.
    """

    low: Floats
    high: Floats
    unjudged: int
    all_tried: bool


def hole_depth(measure: Measure) -> int:
    """Return the rank down to which unjudged documents count as holes.

    This is the measure's cutoff: 10 if it has none, and at most 100.
    """
    return min(measure.cutoff or USUAL_DEPTH, DEEPEST)


def mean_scores(
    pool: Pool, repeats: Sequence[RunRanks], measure: Measure, choices: Choices
) -> Floats:
    """Return a system's score for each of P sets of holes, the mean over its repeats, f8[P].

    Args:
        pool: the judged documents and the holes.
        repeats: the ranks in each of the system's runs.
        measure: the measure to compute.
        choices: P sets of holes, each relevant in its query.
    """
    grade = _hole_grade(measure, pool.max_grade)
    scores = [measure.scores(pool.matrix(ranks, choices, grade)) for ranks in repeats]
    return np.asarray(np.mean(scores, axis=0))


def _hole_grade(measure: Measure, max_grade: float) -> float:
    """Return the grade of a relevant hole.

    This is the highest grade of the qrels (1 if none is positive), or the measure's ``rel`` if that
    is higher.
    """
    rel: Any = dict(measure.parameters).get("rel")
    return max(max_grade if max_grade > 0 else 1.0, rel or 0.0)


def can_be_bounded(measure: Measure, max_grade: float) -> bool:
    """Return whether bounds can be computed for a measure.

    More relevant documents must mean a higher score, and a table of gains must contain the grade of
    a relevant hole.
    """
    gain = dict(measure.parameters).get("gain")
    is_gain_known = not isinstance(gain, tuple) or _hole_grade(measure, max_grade) in dict(gain)
    return measure.has_tie_extremes and is_gain_known


class MeasureBounds:
    """The scores of all systems on one measure: as judged, and with each hole alone relevant.

    Args:
        pool: the judged documents and the holes.
        systems: the ranks in each run of each system. [S][repeats]
        measure: a measure that ``can_be_bounded``.
        compared: the queries that are compared, bool[Q].
        num_pairs: the number of pairs of systems. The more pairs, the fewer sets of holes are tried
            for each.

    Attributes:
        holes: the holes in the first ``hole_depth(measure)`` of any system, as indices into the
            pool, i8[H].
    """

    def __init__(
        self,
        pool: Pool,
        systems: Sequence[Sequence[RunRanks]],
        measure: Measure,
        compared: Mask,
        num_pairs: int,
    ) -> None:
        """Compute the score of every system as judged, and with each hole alone relevant."""
        self._pool, self._systems, self._measure = pool, systems, measure
        is_counted = pool.is_hole & compared[pool.qrels.row]
        is_in_top = [in_top(repeats, hole_depth(measure)) & is_counted for repeats in systems]
        self.holes: Ints = np.flatnonzero(np.logical_or.reduce(is_in_top))
        self._is_in_top = [mask[self.holes] for mask in is_in_top]
        self._query: Ints = pool.qrels.row[self.holes]
        no_holes = Choices.empty(pool.num_queries)
        self._observed = [self._scores(repeats, no_holes) for repeats in systems]
        self._with_hole = [self._score_with_each_hole(repeats) for repeats in systems]
        allowed = _WORK // (pool.num_queries * num_pairs * hole_depth(measure))
        self._steps = max(allowed, LEAST_STEPS)

    def pair_bounds(self, system: int, against: int) -> PairBounds:
        """Return how far the holes of two systems could move their difference.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.
        """
        observed = self._observed[system] - self._observed[against]
        pair_holes = np.flatnonzero(self._is_in_top[system] | self._is_in_top[against])
        query = self._query[pair_holes]
        with_hole = self._with_hole[system][pair_holes] - self._with_hole[against][pair_holes]
        best_first = pair_holes[np.lexsort((-with_hole, query))]
        worst_first = pair_holes[np.lexsort((with_hole, query))]
        low, high = observed.copy(), observed.copy()
        _widen(low, high, query, with_hole)
        for order in (best_first, worst_first):
            for choices in _prefixes(self._query[order], self.holes[order], self._steps):
                difference = self._scores(self._systems[system], choices)
                difference -= self._scores(self._systems[against], choices)
                _widen(low, high, choices.query, difference)
        all_tried = bool((np.bincount(query, minlength=1) <= self._steps).all())
        return PairBounds(low, high, len(pair_holes), all_tried)

    def changes(self, system: int, against: int, holes: Ints | slice) -> Floats:
        """Return the change in the difference of a hole's query if that hole alone is relevant.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.
            holes: the holes, as indices into ``self.holes`` or a slice of it, i8[N].

        Returns:
            f8[N]
        """
        query = self._query[holes]
        ours = self._with_hole[system][holes] - self._observed[system][query]
        return ours - (self._with_hole[against][holes] - self._observed[against][query])

    def _score_with_each_hole(self, repeats: Sequence[RunRanks]) -> Floats:
        """Return a system's score of each hole's query if that hole alone is relevant, f8[H].

        All holes of a query that no run of the system has within the cutoff give the same score, so
        one of them is computed. A measure of condensed lists can reach below the cutoff.
        """
        cutoff = None if (JUDGED_ONLY, True) in self._measure.parameters else self._measure.cutoff
        in_cutoff = in_top(repeats, cutoff)[self.holes]
        outside = np.flatnonzero(~in_cutoff)
        _, first, inverse = np.unique(self._query[outside], return_index=True, return_inverse=True)
        chosen = np.concatenate([np.flatnonzero(in_cutoff), outside[first]])
        size = np.ones(len(chosen), dtype=np.int64)
        scores = self._scores(repeats, Choices(self._query[chosen], size, self.holes[chosen]))
        with_hole = np.empty(len(self.holes))
        with_hole[in_cutoff] = scores[: len(chosen) - len(first)]
        with_hole[outside] = scores[len(chosen) - len(first) :][inverse]
        return with_hole

    def _scores(self, repeats: Sequence[RunRanks], choices: Choices) -> Floats:
        """Return ``mean_scores`` for P sets of holes, computed in parts to save memory, f8[P]."""
        parts = (
            mean_scores(self._pool, repeats, self._measure, part) for part in self._split(choices)
        )
        return np.concatenate([np.zeros(0), *parts])

    def _split(self, choices: Choices) -> Iterator[Choices]:
        """Yield the sets in parts whose matrices have about ``_CELLS`` cells each."""
        judged = np.diff(self._pool.qrels.starts)[choices.query]
        blocks = np.cumsum(judged + choices.size) // _CELLS
        for begin, end in equal_ranges(blocks):
            yield choices.part(begin, end)


def _prefixes(query: Ints, holes: Ints, max_prefixes: int) -> Iterator[Choices]:
    """Yield, for some queries at a time, the first 1, 2, 3, … holes of each query.

    A query with more than ``max_prefixes`` holes gets that many prefixes, evenly spaced; the last
    one holds all its holes.

    Args:
        query: the query of each hole, never decreasing, i8[N].
        holes: the holes, as indices into the pool, in the order to try, i8[N].
        max_prefixes: the greatest number of prefixes of one query.
    """
    queries, begin, count = np.unique(query, return_index=True, return_counts=True)
    steps = np.minimum(count, max_prefixes)
    for first, last in split_rows(starts_from_lengths(steps * count), 2 * _CELLS):
        query_index = first + rows_from_lengths(steps[first:last])
        step = position_in_row(query_index) + 1
        size = -(-step * count[query_index] // steps[query_index])
        chosen = holes[concatenate_ranges(begin[query_index], begin[query_index] + size)]
        yield Choices(queries[query_index], size, chosen)


def _widen(low: Floats, high: Floats, query: Ints, difference: Floats) -> None:
    """Widen the bounds in place so that they contain these differences.

    Args:
        low: the least difference of each query, f8[Q].
        high: the greatest, f8[Q].
        query: the query of each difference, i8[N].
        difference: the differences to contain, f8[N].
    """
    np.minimum.at(low, query, difference)
    np.maximum.at(high, query, difference)
