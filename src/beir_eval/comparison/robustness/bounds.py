"""How far unjudged documents could move the difference of two systems on one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.robustness.pool import Choices, in_top
from beir_eval.core.arrays import (
    Floats,
    Ints,
    Mask,
    position_in_row,
    ranges,
    rows_of,
    runs_of,
    starts_of,
    stretches,
)
from beir_eval.measures import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.robustness.pool import Pool, Ranked
    from beir_eval.measures import Measure

#: Where a measure has no cutoff; and where it looks deeper than bounds say anything.
USUAL_DEPTH, DEEPEST = 10, 100
#: How many numbers of relevant documents are tried of a query's unjudged ones: all, where this much
#: work for a measure (numbers × queries × pairs × depth) allows it, but no fewer than the least.
_WORK, LEAST_STEPS = 20_000_000, 4
#: Cells of a matrix that are held at a time.
_CELLS = 1_000_000


class PairBounds(NamedTuple):
    """What the holes of two systems could change, over the queries compared.

    Attributes:
        low, high: the least and greatest difference of each query, f8[Q].
        unjudged: how many documents there are.
        all_tried: whether, for every number of relevant ones, the best and the worst were tried.
    """

    low: Floats
    high: Floats
    unjudged: int
    all_tried: bool


def depth_of(measure: Measure) -> int:
    """Return down to which rank unjudged documents are looked at."""
    return min(measure.cutoff or USUAL_DEPTH, DEEPEST)


def mean_scores(pool: Pool, ranked: Sequence[Ranked], measure: Measure, choices: Choices) -> Floats:
    """Return a system's score for each set of holes, the mean of its repeats, f8[P]."""
    grade = _grade_of(measure, pool.max_grade)
    scores = [measure.scores(pool.matrix(one, choices, grade)) for one in ranked]
    return np.asarray(np.mean(scores, axis=0))


def _grade_of(measure: Measure, max_grade: float) -> float:
    """Return the grade of a hole that is relevant: the highest, and enough for the measure."""
    rel: Any = dict(measure.parameters).get("rel")
    return max(max_grade if max_grade > 0 else 1.0, rel or 0.0)


def can_be_bounded(measure: Measure, max_grade: float) -> bool:
    """Return whether more relevant documents mean a higher score, with a gain that is known."""
    gain = dict(measure.parameters).get("gain")
    known = not isinstance(gain, tuple) or _grade_of(measure, max_grade) in dict(gain)
    return measure.has_tie_extremes and known


class MeasureBounds:
    """The scores of all systems on one measure, as judged and with each hole alone relevant.

    Args:
        pool: judged documents and holes.
        systems: where each system's runs have them.
        measure: one that ``can_be_bounded``.
        compared: the queries that count, bool[Q].
        num_pairs: how many pairs will be asked for; of many, each gets less work.

    Attributes:
        holes: the documents within the depth of any system, indices into the pool, i8[H].
    """

    def __init__(
        self,
        pool: Pool,
        systems: Sequence[Sequence[Ranked]],
        measure: Measure,
        compared: Mask,
        num_pairs: int,
    ) -> None:
        """Evaluate every system once for each hole."""
        self._pool, self._systems, self._measure = pool, systems, measure
        counts = pool.is_hole & compared[pool.qrels.row]
        seen = [in_top(ranked, depth_of(measure)) & counts for ranked in systems]
        self.holes: Ints = np.flatnonzero(np.logical_or.reduce(seen))
        self._seen = [one[self.holes] for one in seen]
        self._query: Ints = pool.qrels.row[self.holes]
        nothing = Choices.none(pool.num_queries)
        self._observed = [self._scores(ranked, nothing) for ranked in systems]
        self._alone = [self._scores_alone(ranked) for ranked in systems]
        allowed = _WORK // (pool.num_queries * num_pairs * depth_of(measure))
        self._steps = max(allowed, LEAST_STEPS)

    def of_pair(self, system: int, against: int) -> PairBounds:
        """Return what the holes of two systems could change."""
        observed = self._observed[system] - self._observed[against]
        mine = np.flatnonzero(self._seen[system] | self._seen[against])
        query, gained = self._query[mine], self._alone[system][mine] - self._alone[against][mine]
        best = mine[np.lexsort((-gained, query))]
        worst = mine[np.lexsort((gained, query))]
        low, high = observed.copy(), observed.copy()
        _widen(low, high, query, gained)
        for ordered in (best, worst):
            for choices in _prefixes(self._query[ordered], self.holes[ordered], self._steps):
                difference = self._scores(self._systems[system], choices)
                difference -= self._scores(self._systems[against], choices)
                _widen(low, high, choices.query, difference)
        all_tried = bool((np.bincount(query, minlength=1) <= self._steps).all())
        return PairBounds(low, high, len(mine), all_tried)

    def changes(self, system: int, against: int, holes: Ints | slice) -> Floats:
        """Return by how much the difference of a hole's query changes if it alone is relevant.

        Args:
            system: one of the pair.
            against: the other.
            holes: which of ``holes``, places in it.
        """
        query = self._query[holes]
        ours = self._alone[system][holes] - self._observed[system][query]
        return ours - (self._alone[against][holes] - self._observed[against][query])

    def _scores_alone(self, ranked: Sequence[Ranked]) -> Floats:
        """Return a system's score of its query where each hole alone is relevant, f8[H].

        The holes that a system does not show have the same score in each query.
        """
        cutoff = None if (JUDGED_ONLY, True) in self._measure.parameters else self._measure.cutoff
        shown = in_top(ranked, cutoff)[self.holes]
        others = np.flatnonzero(~shown)
        _, first, alike = np.unique(self._query[others], return_index=True, return_inverse=True)
        chosen = np.concatenate([np.flatnonzero(shown), others[first]])
        ones = np.ones(len(chosen), dtype=np.int64)
        found = self._scores(ranked, Choices(self._query[chosen], ones, self.holes[chosen]))
        alone = np.empty(len(self.holes))
        alone[shown] = found[: len(chosen) - len(first)]
        alone[others] = found[len(chosen) - len(first) :][alike]
        return alone

    def _scores(self, ranked: Sequence[Ranked], choices: Choices) -> Floats:
        """Return ``mean_scores`` of each set of holes, a part of them at a time, f8[P]."""
        parts = (
            mean_scores(self._pool, ranked, self._measure, part) for part in self._parts(choices)
        )
        return np.concatenate([np.zeros(0), *parts])

    def _parts(self, choices: Choices) -> Iterator[Choices]:
        judged = np.diff(self._pool.qrels.starts)[choices.query]
        blocks = np.cumsum(judged + choices.size) // _CELLS
        for begin, end in runs_of(blocks):
            yield choices.part(begin, end)


def _prefixes(query: Ints, holes: Ints, most: int) -> Iterator[Choices]:
    """Yield the first 1, 2, 3, … holes of each query, some queries at a time.

    Of more than ``most`` holes there are so many prefixes, evenly spaced, the last of them whole.
    """
    queries, begin, count = np.unique(query, return_index=True, return_counts=True)
    steps = np.minimum(count, most)
    for first, last in stretches(starts_of(steps * count), 2 * _CELLS):
        of_query = first + rows_of(steps[first:last])
        step = position_in_row(of_query) + 1
        size = -(-step * count[of_query] // steps[of_query])
        chosen = holes[ranges(begin[of_query], begin[of_query] + size)]
        yield Choices(queries[of_query], size, chosen)


def _widen(low: Floats, high: Floats, query: Ints, difference: Floats) -> None:
    """Let the bounds of each query hold these differences."""
    np.minimum.at(low, query, difference)
    np.maximum.at(high, query, difference)
