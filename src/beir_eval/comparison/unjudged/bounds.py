"""How far unjudged documents could move the difference of two systems on each query.

``Bounds`` gives two numbers between which the difference lies under every completion: whatever
grade, from 0 to the highest, each unjudged document of the collection has, retrieved or not, alike
in all systems. For each end there is a completion that goes far in its direction.

``Formula`` is a measure as a sum over layers of grades, read off its own scores:

    score = Σ_l inc_l · Σ_{grade ≥ l} w(rank)  /  Σ_l inc_l · norm(n_l)

Layer l holds the documents of grade l or more, n_l of them in the qrels, and inc_l is its gain
above the layer below. The ideal DCG is such a sum too, because the documents of a layer are the
first of the ideal ranking: norm(n) = Σ_{i ≤ n} w(i). Binary measures have one layer. Of a measure
of the first relevant document (``Definition.first_relevant``) the score is the largest w instead.
w and norm come from the measure's scores of rankings with one relevant document, so that no measure
is defined twice.

With N the difference of the numerators of ``Formula`` and I the denominator, the highest N / I is
the root λ of max(N − λ·I) = 0. For λ ≥ 0 each layer takes, of the unjudged documents in the order
of their difference of w, the first t that maximise its part, and layers are nested because norm
flattens; so this end is exact. If N ≤ 0 under every completion, the highest N divided by the limit
of I is an end that may not be reached. Documents below the cutoff, and those that nobody retrieved,
are in I only. Grades between two levels are covered, since N − λ·I is an integral over levels.

Of a measure of the first relevant document a single document decides, so both ends are exact.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import position_in_row, rows_from_lengths
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix, is_relevant
from beir_eval.measures.arithmetic import gains

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from beir_eval.comparison.unjudged.pool import Pool
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.measures import Measure

#: norm is the same at so many times the cutoff, and at twice that, if it has a limit.
_FAR = 4
#: Numbers of pairs × queries × unjudged documents in memory at a time.
_PART = 4_000_000
#: Steps of Dinkelbach's method, which needs a handful.
_MOST_STEPS = 60
_ROUNDING = 1e-12
#: How closely the formula must give the observed scores.
_CLOSE = 1e-9


class Formula:
    """The parts of a measure's formula.

    Attributes:
        top_grade: the highest grade that a document can have.
        levels: the lowest grade of each layer, ascending, f8[L].
        increments: the gain of each layer above the one below, f8[L].
        weights: the weight of ranks 0 (not retrieved), 1, …, and last that of all ranks below, 0
            both, f8[deepest + 2].
        norms: the factor of 0, 1, …, N documents, and last its limit, f8[N + 2].
        is_divided: whether the factor depends on their number.
    """

    def __init__(
        self, measure: Measure, grades: Floats, max_grade: float, *, deepest: int, most: int
    ) -> None:
        """Read the parts off a measure.

        Args:
            measure: the measure.
            grades: the grades of all judged documents, f8[J].
            max_grade: the highest grade of the qrels, above 0.
            deepest: the last rank that counts.
            most: N, the number of judged documents of a query, at most.
        """
        parameters: dict[str, Any] = dict(measure.parameters)
        defaults = measure.definition.defaults
        # A document is relevant with the grade ``rel``, even if no judged one is.
        self.top_grade = float(max(max_grade, parameters.get("rel") or 0.0))
        levels = np.unique(np.append(grades, self.top_grade))
        if "rel" in defaults:
            self.levels = levels[is_relevant(levels, parameters.get("rel"))][:1]
            self.increments = np.ones(1)
        else:
            self.levels = levels[levels > 0]
            gain = gains(self.levels, parameters.get("gain", "linear"))
            self.increments = np.diff(gain, prepend=0.0)
        ranks = np.arange(1, deepest + 1)
        scores = self._scores_of_one(measure, ranks, np.ones_like(ranks), deepest)
        # Sums of gains are not divided by an ideal.
        is_sum_of_gains = "gain" in defaults and measure.bounds is None
        scale = float(self.increments.sum()) if is_sum_of_gains else 1.0
        self._measure, self._score_of_first = measure, float(scores[0])
        self.weights = np.concatenate([[0.0], scores / scale, [0.0]])
        self.norms = self._norms(measure, max(most, 1))
        self.is_divided = not bool((self.norms[1:] == 1).all())
        self.norms[0] = 0.0 if self.is_divided else 1.0

    def holds_for_lengths(self, lengths: Ints) -> bool:
        """Return whether the weights are the same in rankings of other lengths.

        Args:
            lengths: numbers of documents, above 0, i8[N].
        """
        first = np.ones_like(lengths)
        scores = self._scores_of_one(self._measure, first, first, lengths)
        return bool((scores == scores[-1:]).all()) and (
            not len(scores) or bool(np.isclose(scores[-1], self._score_of_first))
        )

    def _scores_of_one(
        self, measure: Measure, ranks: Ints, numbers: Ints, lengths: Ints | int
    ) -> Floats:
        """Return the scores of rankings with one relevant document, f8[N].

        Args:
            measure: the measure.
            ranks: its rank, i8[N].
            numbers: how many relevant documents the qrels have, i8[N].
            lengths: the length of each ranking, or of all, i8[N].
        """
        query = np.arange(len(ranks))
        row = rows_from_lengths(numbers)
        matrix = RelevanceMatrix(
            ("",) * len(ranks),
            np.broadcast_to(lengths, ranks.shape),
            self.top_grade,
            Cells(query, ranks, np.full(len(ranks), self.top_grade)),
            Cells(row, position_in_row(row) + 1, np.full(len(row), self.top_grade)),
        )
        return measure.scores(matrix)

    def _norms(self, measure: Measure, most: int) -> Floats:
        """Return norm(0), not known yet, norm(1) = 1, …, norm(N), and its limit, f8[N + 2]."""
        if measure.is_of_first_relevant:
            return np.ones(most + 2)
        far = _FAR * max(most, measure.cutoff or 1)
        # It grows with the number of documents; with a cutoff mostly up to that number.
        for last in sorted({min(measure.cutoff or most, most), most}):
            numbers = np.concatenate([np.arange(1, last + 1), [far, 2 * far]])
            scores = self._scores_of_one(measure, np.ones_like(numbers), numbers, 2 * far)
            with np.errstate(divide="ignore", invalid="ignore"):
                norms = np.nan_to_num(scores[0] / scores, nan=1.0)
            if norms[last - 1] == norms[-2] == norms[-1]:
                break
        limit = norms[-1] if norms[-1] == norms[-2] else np.inf
        of_more = np.full(most - last, limit)
        return np.concatenate([[1.0], norms[:-2], of_more, [limit]])


def can_be_bounded(measure: Measure, max_grade: float) -> bool:
    """Return whether more relevant documents mean a higher score, and their gain is known.

    Args:
        measure: the measure.
        max_grade: the highest grade of the qrels, which a table of gains must contain.
    """
    parameters: dict[str, Any] = dict(measure.parameters)
    gain, highest = parameters.get("gain"), max(max_grade, parameters.get("rel") or 0.0)
    return measure.has_tie_extremes and (not isinstance(gain, tuple) or highest in dict(gain))


def is_as_observed(pool: Pool, measure: Measure, observed: Floats, compared: Mask) -> bool:
    """Return whether the pool gives the observed scores, so that it gives those of completions.

    Args:
        pool: the documents.
        measure: the measure.
        observed: the scores of all systems, f8[S, Q].
        compared: the queries that are compared, bool[Q].
    """
    scores = pool.scores(range(len(pool.systems)), measure, np.full(len(pool.row), np.nan))
    return np.allclose(scores[:, compared], observed[:, compared], rtol=0, atol=_CLOSE)


class Bounds:
    """The differences that unjudged documents could cause, on one measure.

    Attributes:
        is_known: whether the formula holds, so that the bounds do. If not, only the completions
            are of use.
    """

    def __init__(self, pool: Pool, measure: Measure, observed: Floats, compared: Mask) -> None:
        """Compute the numerators of all systems.

        Args:
            pool: the documents.
            measure: the measure.
            observed: the scores of all systems, f8[S, Q].
            compared: the queries that are compared, bool[Q].
        """
        self._row, self._position = pool.row, position_in_row(pool.row)
        width = int(self._position.max(initial=-1)) + 1
        num_queries, num_systems = len(pool.query_ids), len(pool.systems)
        judged_row, judged_grade = pool.judgements
        deepest = max(min(measure.cutoff or pool.longest, pool.longest), 1)
        sizes = np.bincount(judged_row, minlength=1)
        self._formula = formula = Formula(
            measure,
            judged_grade,
            pool.max_grade,
            deepest=deepest,
            most=int(sizes.max()) + width,
        )
        self._is_first = measure.is_of_first_relevant
        #: How many judged documents each layer has, i8[L, Q].
        self._sizes = np.stack(
            [
                np.bincount(judged_row[judged_grade >= level], minlength=num_queries)
                for level in formula.levels
            ]
        )
        #: The weights of the judged documents, summed or the largest, f8[L, S, Q].
        self._numerators = np.zeros((len(formula.levels), num_systems, num_queries))
        #: The weights of the unjudged documents, f8[S, Q, most of a query].
        self._weights = np.zeros((num_systems, num_queries, width))
        for system, repeats in enumerate(pool.systems):
            for ranks in repeats:
                weights = formula.weights / len(repeats)
                self._weights[system, self._row, self._position] += weights[
                    np.minimum(ranks.unjudged, deepest + 1)
                ]
                weight = weights[np.minimum(ranks.judged.rank, deepest + 1)]
                for layer, level in enumerate(formula.levels):
                    is_in_layer = ranks.judged.grade >= level
                    row, values = ranks.judged.row[is_in_layer], weight[is_in_layer]
                    if self._is_first:
                        np.maximum.at(self._numerators[layer, system], row, values)
                    else:
                        self._numerators[layer, system] += np.bincount(row, values, num_queries)
        has_repeats = max(map(len, pool.systems)) > 1
        has_formula = measure.is_additive or (self._is_first and not has_repeats)
        lengths = np.unique(
            np.concatenate([run.num_retrieved[compared] for runs in pool.systems for run in runs])
        )
        self.is_known = (
            has_formula
            and formula.holds_for_lengths(lengths[lengths > 0])
            and np.allclose(
                self._observed()[:, compared], observed[:, compared], rtol=0, atol=_CLOSE
            )
        )

    def _observed(self) -> Floats:
        """Return the scores by the formula, f8[S, Q]."""
        if self._is_first:
            return np.asarray(self._numerators.max(axis=0))
        return self._divided(self._summed(self._numerators), self._sizes)

    def _summed(self, layers: Floats) -> Floats:
        """Return the sum over layers, each times its gain: f8[L, …] -> f8[…]."""
        return np.asarray(np.tensordot(self._formula.increments, layers, axes=1))

    def _divided(self, numerator: Floats, sizes: Ints) -> Floats:
        """Return the numerator over the ideal, 0 where nothing is relevant.

        Args:
            numerator: f8[…, Q].
            sizes: the number of documents in each layer, i8[L, Q] or as many axes as needed.
        """
        if not self._formula.is_divided:
            return numerator
        divisor = np.broadcast_to(self._summed(self._formula.norms[sizes]), numerator.shape)
        return np.divide(numerator, divisor, out=np.zeros_like(numerator), where=divisor > 0)

    def of_pairs(self, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Return the lowest and the highest differences, f8[D, Q] each.

        Args:
            pairs: the indices of system and against. [D]
        """
        lowest, highest = [], []
        for first, second in self._parts(pairs):
            highest.append(self._highest(first, second)[0])
            lowest.append(-self._highest(second, first)[0])
        return np.concatenate(lowest), np.concatenate(highest)

    def completions(self, pairs: Sequence[tuple[int, int]], end: str) -> Iterator[Floats]:
        """Yield for each pair a completion near one end: grades, NaN if unjudged, f8[U].

        Args:
            pairs: the indices of system and against.
            end: "lowest" or "highest".
        """
        for first, second in self._parts(pairs):
            ordered = (first, second) if end == "highest" else (second, first)
            grades = self._highest(*ordered)[1]()
            yield from np.where(grades > 0, grades, np.nan)

    def _parts(self, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[Ints, Ints]]:
        """Yield the systems of a few pairs at a time."""
        size = max(_PART // max(self._weights[0].size, 1), 1)
        for begin in range(0, len(pairs), size):
            first, second = np.array(pairs[begin : begin + size]).T
            yield first, second

    def changes(self) -> Floats:
        """Return the change of each system's score if one document alone is relevant, f8[S, U]."""
        weight = self._weights[:, self._row, self._position]
        observed = self._observed()[:, self._row]
        if self._is_first:
            return np.maximum(weight - observed, 0.0)
        total = self._summed(self._numerators)[:, self._row]
        total += self._formula.increments.sum() * weight
        return self._divided(total, self._sizes[:, self._row] + 1) - observed

    def _highest(self, first: Ints, second: Ints) -> tuple[Floats, Callable[[], Floats]]:
        """Return the highest differences, f8[D, Q], and what returns their grades, f8[D, U]."""
        if self._is_first:
            return self._highest_of_first(first, second)
        change = self._weights[first] - self._weights[second]
        order = np.argsort(-change, axis=2, kind="stable")
        gain = np.maximum(np.take_along_axis(change, order, axis=2), 0.0)
        num_gains = np.count_nonzero(gain, axis=2)
        most = int(num_gains.max(initial=0))
        sums = np.zeros((*gain.shape[:2], most + 1))
        np.cumsum(gain[:, :, :most], axis=2, out=sums[:, :, 1:])
        base = self._numerators[:, first] - self._numerators[:, second]
        total = self._summed(base + sums[:, :, -1])
        size = np.broadcast_to(num_gains, base.shape).copy()
        if not self._formula.is_divided:
            return total, partial(self._grades_of, order, size)
        is_above = total > 0
        largest_ideal = self._formula.norms[-1] * self._formula.increments.sum()
        value = self._ratio(base, sums, size, is_above)
        ends = np.where(is_above, value + _ROUNDING, total / largest_ideal)
        return ends, partial(self._grades_of, order, size)

    def _ratio(self, base: Floats, sums: Floats, size: Ints, is_above: Mask) -> Floats:
        """Return the highest N / I by Dinkelbach's method, f8[D, Q]; 0 where it is not above 0.

        Args:
            base: N of the judged documents, f8[L, D, Q].
            sums: what the first 0, 1, … unjudged documents add to a layer, f8[D, Q, most + 1].
            size: replaced, where ``is_above``, by how many of them are in each layer, i8[L, D, Q].
            is_above: where N can be above 0, bool[D, Q].
        """
        formula, numbers = self._formula, np.arange(sums.shape[2])
        norms = formula.norms[self._sizes[..., None] + numbers]
        value = np.zeros(base.shape[1:])
        for _ in range(_MOST_STEPS):
            numerator, divisor = np.zeros_like(value), np.zeros_like(value)
            for layer, increment in enumerate(formula.increments):
                best = (sums - value[..., None] * norms[layer]).argmax(axis=2)
                size[layer] = np.where(is_above, best, size[layer])
                added = np.take_along_axis(sums, best[..., None], axis=2)[..., 0]
                numerator += increment * (base[layer] + added)
                divisor += increment * formula.norms[self._sizes[layer] + best]
            ratio = np.divide(numerator, divisor, out=np.zeros_like(value), where=divisor > 0)
            step = np.where(is_above, ratio - value, 0.0)
            value += np.maximum(step, 0.0)
            if step.max(initial=0.0) <= _ROUNDING:
                break
        return value

    def _grades_of(self, order: Ints, size: Ints) -> Floats:
        """Return the grades of the unjudged documents; 0: not relevant, f8[D, U].

        Args:
            order: the documents of each query by position, best first, i8[D, Q, most].
            size: how many of them are in each layer, i8[L, D, Q].
        """
        position_in_order = np.empty_like(order)
        ascending = np.broadcast_to(np.arange(order.shape[2]), order.shape)
        np.put_along_axis(position_in_order, order, ascending, axis=2)
        position_in_order = position_in_order[:, self._row, self._position]
        grades = np.zeros(position_in_order.shape)
        for level, of_layer in zip(
            [*self._formula.levels[:-1], self._formula.top_grade], size, strict=True
        ):
            grades[position_in_order < of_layer[:, self._row]] = level
        return grades

    def _highest_of_first(self, first: Ints, second: Ints) -> tuple[Floats, Callable[[], Floats]]:
        """Return what ``_highest`` returns if the first relevant document is the score."""
        best = self._numerators.max(axis=0)
        high = best[first] - best[second]
        if not self._weights.shape[2]:
            return high, partial(np.zeros, (len(first), 0))
        with_document = np.maximum(best[..., None], self._weights)
        change = with_document[first] - with_document[second]
        largest, at = change.max(axis=2), change.argmax(axis=2)

        def grades() -> Floats:
            is_chosen = (at[:, self._row] == self._position) & (largest > high)[:, self._row]
            return np.where(is_chosen, self._formula.top_grade, 0.0)

        return np.maximum(high, largest), grades
