"""Gain-based measures that trec_eval calls experimental: G, binG, Rndcg, ndcg_rel."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import starts_of
from beir_eval.core.relevance_matrix import Cells
from beir_eval.measures.arithmetic import check_gains, discount, gains, ratio, running_sum
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.measures.parameters import Gain

__all__ = ["G", "Rndcg", "binG", "ndcg_rel"]


class _Gainful(NamedTuple):
    """Cells with a gain above 0, and that gain, f8[C]."""

    cells: Cells
    gain: Floats

    @classmethod
    def of(cls, cells: Cells, gain: Gain) -> _Gainful:
        of_cell = gains(cells.grade, gain)
        return cls(cells.where(of_cell > 0), of_cell[of_cell > 0])

    def running_dcg(self) -> Floats:
        """Return DCG down to each cell, f8[C]."""
        return running_sum(self.gain / discount(self.cells.rank), self.cells)

    def dcg(self, matrix: RelevanceMatrix) -> Floats:
        """Return DCG of the whole, f8[Q]."""
        return matrix.sum(self.gain / discount(self.cells.rank), self.cells.row)


class _Ideal(NamedTuple):
    """The ideal ranking: documents with a gain stand at ranks 1 to n of their query.

    Attributes:
        gainful: the documents, best first.
        size: n for each query, i8[Q].
        starts: where each query begins, i8[Q+1].
    """

    gainful: _Gainful
    size: Ints
    starts: Ints

    @classmethod
    def of(cls, matrix: RelevanceMatrix, gain: Gain) -> _Ideal:
        check_gains(matrix, gain)
        gainful = _Gainful.of(matrix.judgements, gain)
        size = matrix.count(gainful.cells.row)
        return cls(gainful, size, starts_of(size))

    def index_at(self, cells: Cells) -> Ints:
        """Return the ideal document at each cell's rank, the last one for deeper ranks."""
        return self.starts[cells.row] + np.minimum(cells.rank, self.size[cells.row]) - 1


@measure("G", aliases="normalized_gain", tools={"trec_eval": ("G", None)})
def G(matrix: RelevanceMatrix, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """Normalised gain: a document counts less the more gain could have stood above it.

    Formula: Σ gain(d) / log2(2 + cost(r) − found(r)) / Σ gains of all judged documents, over the
    documents d at ranks r in the top k; found(r) is the gain of the first r documents, cost(r) that
    of the first r of the ideal ranking, where each rank costs at least 1. ``gain`` as in CG.

    Undefined when no judged document has a gain: 0.

    Source: trec_eval ``G`` (Buckley, 2008).

    >>> from beir_eval import G, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}
    >>> evaluate(qrels, run, [G])["G"]  # 1 / log2(2 + 3 − 1)
    0.5
    """
    ideal = _Ideal.of(matrix, gain)
    shown = _Gainful.of(matrix.cells.upto(cutoff), gain)
    cells, found = shown.cells, running_sum(shown.gain, shown.cells)
    cost = running_sum(np.maximum(ideal.gainful.gain, 1.0), ideal.gainful.cells)
    beyond = np.maximum(cells.rank - ideal.size[cells.row], 0)
    left = 2.0 + cost[ideal.index_at(cells)] + beyond - found
    logarithms = np.array([math.log2(one) for one in left.tolist()], dtype=np.float64)
    total = matrix.sum(ideal.gainful.gain, ideal.gainful.cells.row)
    return ratio(matrix.sum(shown.gain / logarithms, cells.row), total)


@measure("binG", aliases="binary_g", tools={"trec_eval": ("binG", None)})
def binG(matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    """Binary G: a relevant document counts less the more others stand above it.

    Formula: Σ over the relevant documents in the top k of 1 / log2(2 + documents above that are
    not relevant), divided by R.

    Undefined when R = 0: 0.

    Source: trec_eval ``binG`` (Buckley, 2008).

    >>> from beir_eval import binG, evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}, [binG])["binG"]
    0.5
    """
    relevant, place = matrix.relevant(rel), matrix.place_among_relevant(rel)
    seen = relevant.rank <= (cutoff or math.inf)
    others = (relevant.rank - place)[seen]
    return ratio(
        matrix.sum(1.0 / discount(others + 1), relevant.row[seen]), matrix.num_relevant(rel)
    )


@measure("Rndcg", aliases="r_ndcg", cutoff="none", tools={"trec_eval": ("Rndcg", None)})
def Rndcg(matrix: RelevanceMatrix, *, gain: Gain = "linear", rel: float | None = None) -> Floats:
    """NDCG averaged over the depths at which the ideal ranking falls to a lower gain.

    Formula: the mean of DCG@n / IDCG@n over each n at which the documents of one gain above 0 end
    in the ideal ranking, and once more over the whole ranking where it is at least two documents
    longer than the last such n. ``gain`` as in CG; R, which only decides whether there is a score,
    counts grades >= ``rel``.

    Undefined when R = 0: 0.

    Source: trec_eval ``Rndcg`` (Buckley, 2008).

    >>> from beir_eval import Rndcg, evaluate
    >>> qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> round(evaluate(qrels, run, [Rndcg])["Rndcg"], 4)  # nothing at depth 1, a at depth 2
    0.2398
    """
    ideal = _Ideal.of(matrix, gain)
    shown = _Gainful.of(matrix.cells, gain)
    dcg, ideal_dcg = shown.running_dcg(), ideal.gainful.running_dcg()
    row, of_gain = ideal.gainful.cells.row, ideal.gainful.gain
    ends = np.ones(len(row), dtype=np.bool_)
    ends[:-1] = (row[1:] != row[:-1]) | (of_gain[1:] != of_gain[:-1])
    last = ideal.gainful.cells.where(ends)
    total = matrix.sum(_down_to(shown.cells, dcg, last) / ideal_dcg[ends], last.row)
    has_tail = (ideal.size > 0) & (matrix.num_retrieved >= ideal.size + 2)
    whole = Cells(np.flatnonzero(has_tail), matrix.num_retrieved[has_tail], np.zeros(0))
    total[has_tail] += _down_to(shown.cells, dcg, whole) / ideal_dcg[ideal.starts[1:][has_tail] - 1]
    return np.where(
        matrix.num_relevant(rel) > 0, ratio(total, matrix.count(last.row) + has_tail), 0.0
    )


@measure("ndcg_rel", aliases="ndcg-rel", cutoff="none", tools={"trec_eval": ("ndcg_rel", None)})
def ndcg_rel(matrix: RelevanceMatrix, *, gain: Gain = "linear") -> Floats:
    """NDCG averaged over the documents with a gain: at the rank of each.

    Formula: (1/n) Σ over the n judged documents with a gain of DCG@r / IDCG@r, with r the rank of
    the document; one that is not retrieved counts with DCG / IDCG of the whole. ``gain`` as in CG.

    Undefined when no judged document has a gain: 0.

    Source: trec_eval ``ndcg_rel`` (Buckley, 2008).

    >>> from beir_eval import evaluate, ndcg_rel
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}
    >>> evaluate(qrels, run, [ndcg_rel])["ndcg_rel"]
    0.5
    """
    ideal = _Ideal.of(matrix, gain)
    shown = _Gainful.of(matrix.cells, gain)
    dcg, ideal_dcg = shown.running_dcg(), ideal.gainful.running_dcg()
    row = shown.cells.row
    total = matrix.sum(dcg / ideal_dcg[ideal.index_at(shown.cells)], row)
    absent = (ideal.size - matrix.count(row)).astype(np.float64)
    whole = ratio(absent * shown.dcg(matrix), ideal.gainful.dcg(matrix))
    return ratio(total + whole, ideal.size)


def _down_to(cells: Cells, running: Floats, depth: Cells) -> Floats:
    """Return the running value of the last cell down to a depth of its query, 0 where none is.

    Args:
        cells: by query then rank. [C]
        running: a value that grows from cell to cell within a query, f8[C].
        depth: queries, and a rank in each. [D]
    """
    stride = 1 + max(cells.rank.max(initial=0), depth.rank.max(initial=0))
    place = np.searchsorted(
        cells.row * stride + cells.rank, depth.row * stride + depth.rank, side="right"
    )
    within = (place > 0) & (cells.row[place - 1] == depth.row) if len(cells.row) else place > 0
    found = np.zeros(len(depth.row))
    found[within] = running[place[within] - 1]
    return found
