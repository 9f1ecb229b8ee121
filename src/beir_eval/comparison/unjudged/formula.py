"""``Formula``: a measure as a sum over layers of grades, read off its own scores.

    score = Σ_l inc_l · Σ_{grade ≥ l} w(rank)  /  Σ_l inc_l · norm(n_l)

Layer l holds the documents of grade l or more, n_l of them in the qrels, and inc_l is its gain
above the layer below. The ideal DCG is such a sum too, because the documents of a layer are the
first of the ideal ranking: norm(n) = Σ_{i ≤ n} w(i). Binary measures have one layer. Of a measure
of the first relevant document (``Definition.first_relevant``) the score is the largest w instead.

w and norm come from the measure's scores of rankings with one relevant document, so that no measure
is defined twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import position_in_row, rows_from_lengths
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix, is_relevant
from beir_eval.measures.arithmetic import gains

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.measures import Measure

#: norm is the same at so many times the cutoff, and at twice that, if it has a limit.
_FAR = 4


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
        # It grows, and with a cutoff mostly up to that.
        for last in sorted({min(measure.cutoff or most, most), most}):
            far = _FAR * max(most, last)
            numbers = np.concatenate([np.arange(1, last + 1), [far, 2 * far]])
            scores = self._scores_of_one(measure, np.ones_like(numbers), numbers, 2 * far)
            with np.errstate(divide="ignore", invalid="ignore"):
                norms = np.nan_to_num(scores[0] / scores, nan=1.0)
            if norms[last - 1] == norms[-2] == norms[-1]:
                break
        limit = norms[-1] if norms[-1] == norms[-2] else np.inf
        of_more = np.full(most - last, limit)
        return np.concatenate([[1.0], norms[:-2], of_more, [limit]])
