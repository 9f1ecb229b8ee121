"""How far unjudged documents could move the difference of two systems on one measure.

A *completion* says of every hole whether it is relevant. ``bounds_of`` returns an object that knows
the score of every system under each completion, and the completions with the lowest and the highest
difference of each pair: ``AdditiveBounds`` for measures that are a sum over documents (exact), or
``TriedBounds`` for all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

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

#: The greatest depth for measures that are not a sum over documents, whose scores are computed for
#: each hole.
DEEPEST_TRIED = 100
#: Of each query 1, 2, 3, … unjudged documents are assumed to be relevant. All these numbers are
#: tried if numbers × queries × pairs × depth stays within ``_WORK`` for a measure; otherwise fewer,
#: evenly spaced, but at least ``LEAST_STEPS``. Only for measures that are not a sum over documents.
_WORK, LEAST_STEPS = 20_000_000, 4
#: Cells of relevance matrices in memory at a time.
_CELLS = 1_000_000
#: The factor of a measure for the number of relevant documents is computed for every number up to
#: this, beyond it where the factor's reciprocal is not linear.
_FEW_HOLES = 16
#: Relative rounding errors of that factor.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Holes:
    """The H holes in the top of any system, sorted by query.

    Attributes:
        documents: indices into the pool, i8[H].
        query: the query of each hole, i8[H].
        is_in_top: whether each is in the top of a system, one mask for each system, bool[H]. [S]
        starts: where the holes of each query begin, and the end of the last, i8[Q+1].
    """

    documents: Ints
    query: Ints
    is_in_top: Sequence[Mask]
    starts: Ints

    @classmethod
    def in_top_of(
        cls,
        pool: Pool,
        systems: Sequence[Sequence[RunRanks]],
        depth: int | None,
        compared: Mask,
    ) -> Holes:
        """Return the holes in the first ``depth`` of any system, in the compared queries.

        Args:
            pool: the judged documents and the holes.
            systems: the ranks in each run of each system. [S][repeats]
            depth: the last rank that counts; None for the whole ranking.
            compared: the queries that are compared, bool[Q].
        """
        is_counted = pool.is_hole & compared[pool.qrels.row]
        is_in_top = [in_top(repeats, depth) & is_counted for repeats in systems]
        documents = np.flatnonzero(np.logical_or.reduce(is_in_top))
        query = pool.qrels.row[documents]
        return cls(
            documents,
            query,
            [mask[documents] for mask in is_in_top],
            starts_from_lengths(np.bincount(query, minlength=pool.num_queries)),
        )

    def __len__(self) -> int:
        """Return H."""
        return len(self.documents)

    def choices(self, completion: Mask) -> Choices:
        """Return a completion, bool[H], as one set of holes for each query."""
        return Choices(
            np.arange(len(self.starts) - 1, dtype=np.int64),
            np.bincount(self.query[completion], minlength=len(self.starts) - 1),
            self.documents[completion],
        )

    def first_of(self, order: Ints, size: Ints) -> Mask:
        """Return the completion with the first holes of each query in some order.

        Args:
            order: the holes, sorted by query, i8[H].
            size: how many of each query are relevant, i8[Q].
        """
        completion = np.zeros(len(self), dtype=np.bool_)
        position = np.arange(len(self)) - self.starts[self.query]
        completion[order] = position < size[self.query]
        return completion


@dataclass(frozen=True, eq=False)
class PairBounds:
    """How far the holes could move the difference of two systems.

    Attributes:
        low, high: the least and the greatest difference of each query, f8[Q].
        unjudged: the number of holes in the top of either system.
        exact: whether no completion reaches further.
        lowest, highest: completions with these differences, bool[H].
    """

    low: Floats
    high: Floats
    unjudged: int
    exact: bool
    lowest: Mask
    highest: Mask


class MeasureBounds(Protocol):
    """The scores of all systems on one measure, as judged and under every completion."""

    holes: Holes

    def pair_bounds(self, system: int, against: int) -> PairBounds:
        """Return how far the holes could move the difference of two systems, by index."""

    def changes(self, system: int, against: int) -> Floats:
        """Return the change in the difference of a hole's query if it alone is relevant, f8[H]."""

    def scores(self, completion: Mask) -> Floats:
        """Return the scores under a completion, bool[H]: f8[S, Q]."""


def bounds_of(
    pool: Pool,
    systems: Sequence[Sequence[RunRanks]],
    measure: Measure,
    holes: Holes,
    num_pairs: int,
) -> MeasureBounds:
    """Return the scores of all systems on a measure under every completion.

    Args:
        pool: the judged documents and the holes.
        systems: the ranks in each run of each system. [S][repeats]
        measure: a measure that ``can_be_bounded``.
        holes: the holes in the top of any system.
        num_pairs: the number of pairs of systems. The more pairs, the fewer completions are tried
            for each, if the measure is not a sum over documents.
    """
    if measure.is_additive:
        bounds = AdditiveBounds(pool, systems, measure, holes)
        if bounds.is_known:
            return bounds
    return TriedBounds(pool, systems, measure, holes, num_pairs)


def own_depth(measure: Measure) -> int | None:
    """Return the rank down to which documents can change a measure; None for the whole ranking.

    A measure of condensed lists can reach below its cutoff.
    """
    return None if (JUDGED_ONLY, True) in measure.parameters else measure.cutoff


def depth_within(measure: Measure, limit: int) -> int:
    """Return the rank down to which unjudged documents are looked at.

    Args:
        measure: its own depth is the greatest that can matter.
        limit: how many documents of each ranking are known.
    """
    if not measure.is_additive:
        limit = min(limit, DEEPEST_TRIED)
    depth = own_depth(measure)
    return limit if depth is None else min(depth, limit)


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
    return float(max(max_grade if max_grade > 0 else 1.0, rel or 0.0))


def can_be_bounded(measure: Measure, max_grade: float) -> bool:
    """Return whether bounds can be computed for a measure.

    More relevant documents must mean a higher score, and a table of gains must contain the grade of
    a relevant hole.
    """
    gain = dict(measure.parameters).get("gain")
    is_gain_known = not isinstance(gain, tuple) or _hole_grade(measure, max_grade) in dict(gain)
    return measure.has_tie_extremes and is_gain_known


class AdditiveBounds:
    """The scores of all systems on a measure that is a sum over documents, which are exact.

    Formula: for a query with t >= 1 relevant holes, score = f(t) · (J + Σ w(hole)), with the
    documents judged relevant in J, a weight w that depends on the hole's rank in the system, and a
    factor f for the number of relevant documents (``Definition.additive``). All three come from the
    measure itself: f(1)·J is the score if one document that the system lacks is relevant, f(1)·w
    and f(t)/f(1) are scores of rankings with a single relevant document. For a given t the extreme
    difference takes the t holes with the extreme differences of weights, so every t is tried.

    Args:
        pool: the judged documents and the holes.
        systems: the ranks in each run of each system. [S][repeats]
        measure: an additive measure that ``can_be_bounded``.
        holes: the holes in the top of any system.

    Attributes:
        is_known: whether the formula could be computed. If not, the bounds must not be used.
    """

    def __init__(
        self,
        pool: Pool,
        systems: Sequence[Sequence[RunRanks]],
        measure: Measure,
        holes: Holes,
    ) -> None:
        """Compute the parts of the formula."""
        self.holes = holes
        self._pool, self._measure = pool, measure
        self._grade = _hole_grade(measure, pool.max_grade)
        no_holes = Choices.empty(pool.num_queries)
        self._observed = np.stack(
            [mean_scores(pool, repeats, measure, no_holes) for repeats in systems]
        )
        self._base = np.stack([self._with_one_elsewhere(repeats) for repeats in systems])
        profile = self._weights_by_rank(systems)
        self._weights = np.stack([self._hole_weights(repeats, profile) for repeats in systems])
        self._factors = self._factors_of_numbers()
        self.is_known = bool(
            np.isfinite(self._weights).all()
            and np.isfinite(self._factors).all()
            and (self._factors > 0).all()
        )

    def pair_bounds(self, system: int, against: int) -> PairBounds:
        """Return how far the holes could move the difference of two systems.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.
        """
        observed = self._observed[system] - self._observed[against]
        base = self._base[system] - self._base[against]
        weights = self._weights[system] - self._weights[against]
        high, highest = self._highest(observed, base, weights)
        low, lowest = self._highest(-observed, -base, -weights)
        is_in_either = self.holes.is_in_top[system] | self.holes.is_in_top[against]
        return PairBounds(
            -low, high, int(is_in_either.sum()), exact=True, lowest=lowest, highest=highest
        )

    def _highest(self, observed: Floats, base: Floats, weights: Floats) -> tuple[Floats, Mask]:
        """Return the highest differences, f8[Q], and a completion that has them, bool[H]."""
        holes = self.holes
        order = np.lexsort((-weights, holes.query))
        sums = np.concatenate([[0.0], np.cumsum(weights[order])])
        within = sums[1:] - sums[holes.starts[holes.query]]
        values = self._factors * (base[holes.query] + within)
        high, size = observed.copy(), np.zeros(len(observed), dtype=np.int64)
        has_holes = np.flatnonzero(np.diff(holes.starts))
        if len(has_holes):
            largest = np.maximum.reduceat(values, holes.starts[has_holes])
            higher = has_holes[largest > observed[has_holes]]
            high[higher] = largest[largest > observed[has_holes]]
            is_largest = values == high[holes.query]
            at_largest = np.flatnonzero(is_largest)[::-1]  # the first of each query is set last
            size_of = np.zeros_like(size)
            size_of[holes.query[at_largest]] = (
                at_largest - holes.starts[holes.query[at_largest]] + 1
            )
            size[higher] = size_of[higher]
        return high, holes.first_of(order, size)

    def changes(self, system: int, against: int) -> Floats:
        """Return the change in the difference of a hole's query if that hole alone is relevant.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.

        Returns:
            f8[H]
        """
        shift = self._base - self._observed
        by_system = self._weights + shift[:, self.holes.query]
        return np.asarray(by_system[system] - by_system[against])

    def scores(self, completion: Mask) -> Floats:
        """Return the scores under a completion.

        Args:
            completion: which holes are relevant, bool[H].

        Returns:
            f8[S, Q]
        """
        num_queries = self._observed.shape[1]
        query = self.holes.query[completion]
        number = np.bincount(query, minlength=num_queries)
        changed = np.flatnonzero(number)
        factor = self._factors[self.holes.starts[changed] + number[changed] - 1]
        scores = self._observed.copy()
        for row, base, weights in zip(scores, self._base, self._weights, strict=True):
            sums = np.bincount(query, weights[completion], minlength=num_queries)
            row[changed] = factor * (base + sums)[changed]
        return scores

    def _with_one_elsewhere(self, repeats: Sequence[RunRanks]) -> Floats:
        """Return a system's scores if one document that it does not retrieve is relevant, f8[Q]."""
        query = np.arange(self._pool.num_queries, dtype=np.int64)
        scores = [
            self._measure.scores(
                self._pool.matrix_without_holes(ranks, query, np.ones_like(query), self._grade)
            )
            for ranks in repeats
        ]
        return np.asarray(np.mean(scores, axis=0))

    def _weights_by_rank(self, systems: Sequence[Sequence[RunRanks]]) -> Floats:
        """Return the weight of each rank, from 0 to that of the deepest hole, over that of rank 1.

        Rank 0 stands for "not retrieved".
        """
        deepest = max(
            int(ranks.rank[self.holes.documents].max(initial=1))
            for repeats in systems
            for ranks in repeats
        )
        rank = np.arange(1, deepest + 1)
        zeros = np.zeros_like(rank)
        scores = self._measure.scores(
            self._pool.matrix_of_single_hole(
                zeros, rank, np.full_like(rank, deepest), zeros + 1, self._grade
            )
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.concatenate([[0.0], scores / scores[0]])

    def _hole_weights(self, repeats: Sequence[RunRanks], profile: Floats) -> Floats:
        """Return f(1)·w of each hole in a system, the mean over its repeats, f8[H]."""
        query = np.arange(self._pool.num_queries, dtype=np.int64)
        single = np.ones_like(query)
        weights = []
        for ranks in repeats:
            at_rank_1 = self._measure.scores(
                self._pool.matrix_of_single_hole(
                    query, single, np.maximum(ranks.num_retrieved, 1), single, self._grade
                )
            )
            rank = ranks.rank[self.holes.documents]
            weights.append(at_rank_1[self.holes.query] * profile[rank])
        return np.asarray(np.mean(weights, axis=0))

    def _factors_of_numbers(self) -> Floats:
        """Return f(t)/f(1) for t = 1, 2, … up to the number of holes of each query, f8[H].

        1/f is concave in t: it is constant, or a number of relevant documents (up to the cutoff or
        not), or the score of an ideal ranking. A concave function that is linear at the middle of
        an interval is linear in all of it, so only the intervals where it is not are halved.
        """
        reciprocals = np.full(len(self.holes), np.nan)
        starts, count = self.holes.starts, np.diff(self.holes.starts)
        query = np.flatnonzero(count)
        self._at_one = self._single_scores(query, np.ones_like(query))
        self._position = np.zeros(len(count), dtype=np.int64)
        self._position[query] = np.arange(len(query))
        few = np.minimum(count[query], _FEW_HOLES)
        listed = rows_from_lengths(few)
        number = position_in_row(listed) + 1
        reciprocals[starts[query[listed]] + number - 1] = self._reciprocals(query[listed], number)
        is_long = count[query] > _FEW_HOLES
        begin = np.full(int(is_long.sum()), _FEW_HOLES, dtype=np.int64)
        end, query = count[query[is_long]], query[is_long]
        reciprocals[starts[query] + end - 1] = self._reciprocals(query, end)
        while len(query):
            is_open = end - begin > 1
            query, begin, end = query[is_open], begin[is_open], end[is_open]
            middle = (begin + end) // 2
            at_middle = self._reciprocals(query, middle)
            first, last = (reciprocals[starts[query] + number - 1] for number in (begin, end))
            slope = (last - first) / np.maximum(end - begin, 1)
            straight = first + slope * (middle - begin)
            reciprocals[starts[query] + middle - 1] = at_middle
            is_straight = np.abs(at_middle - straight) <= _ROUNDING * np.abs(at_middle)
            row = rows_from_lengths((end - begin - 1)[is_straight])
            inside = position_in_row(row) + 1
            chosen = np.flatnonzero(is_straight)[row]
            reciprocals[starts[query[chosen]] + begin[chosen] + inside - 1] = (
                first[chosen] + slope[chosen] * inside
            )
            bent = ~is_straight
            query = np.concatenate([query[bent], query[bent]])
            begin, end = (
                np.concatenate([begin[bent], middle[bent]]),
                np.concatenate([middle[bent], end[bent]]),
            )
        with np.errstate(divide="ignore"):
            return np.asarray(1 / reciprocals)

    def _reciprocals(self, query: Ints, number: Ints) -> Floats:
        """Return f(1)/f(t) for some queries, i8[P], and numbers t of relevant holes, i8[P]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = self._single_scores(query, number)
            return np.asarray(self._at_one[self._position[query]] / scores)

    def _single_scores(self, query: Ints, number: Ints) -> Floats:
        """Return the scores of rankings of one hole if so many holes are relevant, f8[P]."""
        scores = np.empty(len(query))
        judged = np.diff(self._pool.qrels.starts)[query]
        for begin, end in equal_ranges(np.cumsum(judged + number) // _CELLS):
            part = slice(begin, end)
            single = np.ones(end - begin, dtype=np.int64)
            scores[part] = self._measure.scores(
                self._pool.matrix_of_single_hole(
                    query[part], single, single, number[part], self._grade
                )
            )
        return scores


class TriedBounds:
    """The scores of all systems on any measure; the bounds are the extremes of what was tried.

    These completions are tried: each hole alone, and growing sets of those best for one system.

    Args:
        pool: the judged documents and the holes.
        systems: the ranks in each run of each system. [S][repeats]
        measure: a measure that ``can_be_bounded``.
        holes: the holes in the top of any system.
        num_pairs: the number of pairs of systems. The more pairs, the fewer sets of holes are tried
            for each.
    """

    def __init__(
        self,
        pool: Pool,
        systems: Sequence[Sequence[RunRanks]],
        measure: Measure,
        holes: Holes,
        num_pairs: int,
    ) -> None:
        """Compute the score of every system as judged, and with each hole alone relevant."""
        self.holes = holes
        self._pool, self._systems, self._measure = pool, systems, measure
        no_holes = Choices.empty(pool.num_queries)
        self._observed = [self._scores(repeats, no_holes) for repeats in systems]
        self._with_hole = [self._score_with_each_hole(repeats) for repeats in systems]
        mean_depth = len(holes) // max(pool.num_queries, 1) + 1
        allowed = _WORK // (pool.num_queries * num_pairs * mean_depth)
        self._steps = max(allowed, LEAST_STEPS)

    def pair_bounds(self, system: int, against: int) -> PairBounds:
        """Return how far the holes of two systems could move their difference.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.
        """
        holes, is_in_top = self.holes, self.holes.is_in_top
        observed = self._observed[system] - self._observed[against]
        pair_holes = np.flatnonzero(is_in_top[system] | is_in_top[against])
        if not len(holes):
            nothing = np.zeros(0, dtype=np.bool_)
            return PairBounds(observed, observed, 0, exact=True, lowest=nothing, highest=nothing)
        query = holes.query[pair_holes]
        with_hole = (self._with_hole[system] - self._with_hole[against])[pair_holes]
        low, high = _Extreme(-observed, holes), _Extreme(observed, holes)
        sides = ((low, -1), (high, 1))
        for extreme, sign in sides:
            extreme.try_single(pair_holes, sign * with_hole)
        for order in (np.lexsort((-with_hole, query)), np.lexsort((with_hole, query))):
            documents = holes.documents[pair_holes[order]]
            for choices in _prefixes(query[order], documents, self._steps):
                difference = self._scores(self._systems[system], choices)
                difference -= self._scores(self._systems[against], choices)
                for extreme, sign in sides:
                    extreme.try_prefixes(pair_holes[order], choices, sign * difference)
        return PairBounds(
            -low.values,
            high.values,
            len(pair_holes),
            exact=False,
            lowest=low.completion,
            highest=high.completion,
        )

    def changes(self, system: int, against: int) -> Floats:
        """Return the change in the difference of a hole's query if that hole alone is relevant.

        Args:
            system: the index of the system.
            against: the index of the one it is compared with.

        Returns:
            f8[H]
        """
        query = self.holes.query
        ours = self._with_hole[system] - self._observed[system][query]
        return ours - (self._with_hole[against] - self._observed[against][query])

    def scores(self, completion: Mask) -> Floats:
        """Return the scores under a completion.

        Args:
            completion: which holes are relevant, bool[H].

        Returns:
            f8[S, Q]
        """
        choices = self.holes.choices(completion)
        return np.stack([self._scores(repeats, choices) for repeats in self._systems])

    def _score_with_each_hole(self, repeats: Sequence[RunRanks]) -> Floats:
        """Return a system's score of each hole's query if that hole alone is relevant, f8[H].

        All holes of a query that no run of the system has within the cutoff give the same score, so
        one of them is computed. A measure of condensed lists can reach below the cutoff.
        """
        in_cutoff = in_top(repeats, own_depth(self._measure))[self.holes.documents]
        outside = np.flatnonzero(~in_cutoff)
        _, first, inverse = np.unique(
            self.holes.query[outside], return_index=True, return_inverse=True
        )
        chosen = np.concatenate([np.flatnonzero(in_cutoff), outside[first]])
        size = np.ones(len(chosen), dtype=np.int64)
        scores = self._scores(
            repeats, Choices(self.holes.query[chosen], size, self.holes.documents[chosen])
        )
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


class _Extreme:
    """The highest value of each query, and the completion that has it.

    Args:
        values: the values if no hole is relevant, f8[Q].
        holes: all holes.
    """

    def __init__(self, values: Floats, holes: Holes) -> None:
        self.values, self._holes = values.copy(), holes
        self.completion: Mask = np.zeros(len(holes), dtype=np.bool_)

    def try_single(self, holes: Ints, values: Floats) -> None:
        """Try completions of one hole: their indices, i8[N], and values, f8[N]."""
        query = self._holes.query[holes]
        better = np.flatnonzero(values > self.values[query])
        ascending = better[np.argsort(values[better], kind="stable")]
        best = np.zeros(len(self.values), dtype=np.int64)
        best[query[ascending]] = holes[ascending]  # the highest is written last
        self.values[query[ascending]] = values[ascending]
        self.completion[best[np.unique(query[ascending])]] = True

    def try_prefixes(self, order: Ints, choices: Choices, values: Floats) -> None:
        """Try the first holes of each query.

        Args:
            order: the holes in the order of the prefixes, sorted by query, i8[N].
            choices: how many of them each prefix contains.
            values: the value of each prefix.
        """
        better = np.flatnonzero(values > self.values[choices.query])
        ascending = better[np.argsort(values[better], kind="stable")]
        query = choices.query[ascending]
        size = np.zeros(len(self.values), dtype=np.int64)
        size[query] = choices.size[ascending]
        self.values[query] = values[ascending]
        is_changed = np.zeros(len(self.values), dtype=np.bool_)
        is_changed[query] = True
        self.completion[is_changed[self._holes.query]] = False
        order_query = self._holes.query[order]
        chosen = is_changed[order_query] & (position_in_row(order_query) < size[order_query])
        self.completion[order[chosen]] = True
