"""Measures that trec_eval calls experimental: G, binG, Rndcg, ndcg_rel."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import starts_from_lengths
from beir_eval.measures.arithmetic import check_gains, discount, gains, ratio, running_sum
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix
    from beir_eval.measures.parameters import Gain

__all__ = ["G", "Rndcg", "binG", "ndcg_rel"]


class _GainCells(NamedTuple):
    """The cells that have a gain above 0.

    Attributes:
        cells: by query then rank. [C]
        gain: of each cell, f8[C].
    """

    cells: Cells
    gain: Floats

    @classmethod
    def from_cells(cls, cells: Cells, gain: Gain) -> _GainCells:
        """Return those of the cells that have a gain above 0."""
        cell_gain = gains(cells.grade, gain)
        return cls(cells.where(cell_gain > 0), cell_gain[cell_gain > 0])

    def running_dcg(self) -> Floats:
        """Return the DCG down to and including each cell, f8[C]."""
        return running_sum(self.gain / discount(self.cells.rank), self.cells)

    def dcg(self, matrix: RelevanceMatrix) -> Floats:
        """Return the DCG of each query without a cutoff, f8[Q]."""
        return matrix.sum(self.gain / discount(self.cells.rank), self.cells.row)


class _IdealRanking(NamedTuple):
    """The ideal ranking: the n documents with a gain above 0 are at ranks 1 to n of their query.

    Attributes:
        documents: these documents by query, best grade first. [D]
        size: n for each query, i8[Q].
        starts: where each query begins in ``documents``, i8[Q+1].
    """

    documents: _GainCells
    size: Ints
    starts: Ints

    @classmethod
    def from_matrix(cls, matrix: RelevanceMatrix, gain: Gain) -> _IdealRanking:
        """Return the ideal rankings of all queries.

        Raises:
            MeasureError: a gain table lacks a judged grade above 0, or 2^grade is too large.
        """
        check_gains(matrix, gain)
        documents = _GainCells.from_cells(matrix.judgements, gain)
        size = matrix.count(documents.cells.row)
        return cls(documents, size, starts_from_lengths(size))

    def index_at(self, cells: Cells) -> Ints:
        """Return the index in ``documents`` of each cell's rank, or of the last if it is deeper."""
        return self.starts[cells.row] + np.minimum(cells.rank, self.size[cells.row]) - 1


@measure("G", bounds=(0, 1), aliases="normalized_gain", tools={"trec_eval": ("G", None)})
def G(matrix: RelevanceMatrix, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """Normalised gain: a document counts less the more gain could rank above it.

    Formula: Σ gain(d) / log2(2 + cost(r) − found(r)) / Σ gains of all judged documents, over the
    documents d at ranks r in the top k; found(r) is the gain of the first r documents, cost(r) that
    of the first r of the ideal ranking, where each rank costs at least 1. ``gain`` is "linear",
    "exp" or a table {grade: gain}, explained in CG.

    Undefined when no judged document has a gain: 0.

    Source: trec_eval ``G`` (Buckley, 2008).

    >>> from beir_eval import G, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}
    >>> evaluate(qrels, run, [G])["G"]  # 1 / log2(2 + 3 − 1)
    0.5
    """
    ideal = _IdealRanking.from_matrix(matrix, gain)
    retrieved = _GainCells.from_cells(matrix.cells.upto(cutoff), gain)
    cells, gain_so_far = retrieved.cells, running_sum(retrieved.gain, retrieved.cells)
    cost = running_sum(np.maximum(ideal.documents.gain, 1.0), ideal.documents.cells)
    ranks_beyond = np.maximum(cells.rank - ideal.size[cells.row], 0)
    # At least 2; sums of gains from 2^53 on are rounded, so the difference may come out lower.
    log_arguments = np.maximum(2.0 + cost[ideal.index_at(cells)] + ranks_beyond - gain_so_far, 2.0)
    discounts = np.array([math.log2(value) for value in log_arguments.tolist()], dtype=np.float64)
    total = matrix.sum(ideal.documents.gain, ideal.documents.cells.row)
    return ratio(matrix.sum(retrieved.gain / discounts, cells.row), total)


@measure("binG", bounds=(0, 1), aliases="binary_g", tools={"trec_eval": ("binG", None)})
def binG(matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    """Binary G: a relevant document counts less the more others rank above it.

    Formula: (1/R) Σ over the relevant documents in the top k of 1 / log2(2 + m), where m is the
    number of documents above that are not relevant (judged or not).

    Undefined when R = 0: 0.

    Source: trec_eval ``binG`` (Buckley, 2008).

    >>> from beir_eval import binG, evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}, [binG])["binG"]
    0.5
    """
    relevant, relevant_so_far = matrix.relevant(rel), matrix.relevant_so_far(rel)
    within = relevant.rank <= (cutoff or math.inf)
    others_above = (relevant.rank - relevant_so_far)[within]
    return ratio(
        matrix.sum(1.0 / discount(others_above + 1), relevant.row[within]), matrix.num_relevant(rel)
    )


@measure(
    "Rndcg", bounds=(0, 1), aliases="r_ndcg", cutoff="none", tools={"trec_eval": ("Rndcg", None)}
)
def Rndcg(matrix: RelevanceMatrix, *, gain: Gain = "linear", rel: float | None = None) -> Floats:
    """NDCG averaged over the depths at which the ideal ranking falls to a lower gain.

    Formula: the mean of DCG@n / IDCG@n over each n at which the documents of one gain above 0 end
    in the ideal ranking. If the run's ranking is at least two documents longer than the last such
    n, DCG / IDCG of the whole ranking is one more term. ``gain`` is "linear", "exp" or a table
    {grade: gain}, explained in CG. ``rel`` only decides whether R > 0.

    Undefined when R = 0: 0.

    Source: trec_eval ``Rndcg`` (Buckley, 2008).

    >>> from beir_eval import Rndcg, evaluate
    >>> qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> round(evaluate(qrels, run, [Rndcg])["Rndcg"], 4)  # nothing at depth 1, a at depth 2
    0.2398
    """
    ideal = _IdealRanking.from_matrix(matrix, gain)
    retrieved = _GainCells.from_cells(matrix.cells, gain)
    dcg, ideal_dcg = retrieved.running_dcg(), ideal.documents.running_dcg()
    row, ideal_gain = ideal.documents.cells.row, ideal.documents.gain
    is_last = np.ones(len(row), dtype=np.bool_)
    is_last[:-1] = (row[1:] != row[:-1]) | (ideal_gain[1:] != ideal_gain[:-1])
    last = ideal.documents.cells.where(is_last)
    reached = _value_at(retrieved.cells, dcg, last.row, last.rank)
    total = matrix.sum(reached / ideal_dcg[is_last], last.row)
    has_tail = matrix.num_retrieved >= ideal.size + 2
    total[has_tail] += ratio(retrieved.dcg(matrix), ideal.documents.dcg(matrix))[has_tail]
    return np.where(
        matrix.num_relevant(rel) > 0, ratio(total, matrix.count(last.row) + has_tail), 0.0
    )


@measure(
    "ndcg_rel",
    bounds=(0, 1),
    aliases="ndcg-rel",
    cutoff="none",
    tools={"trec_eval": ("ndcg_rel", None)},
)
def ndcg_rel(matrix: RelevanceMatrix, *, gain: Gain = "linear") -> Floats:
    """NDCG averaged over the documents with a gain: at the rank of each.

    Formula: (1/n) Σ of DCG@r / IDCG@r over the n judged documents with a gain above 0, where r is
    the rank of the document; for one that is not retrieved, DCG / IDCG without a cutoff. ``gain``
    is "linear", "exp" or a table {grade: gain}, explained in CG.

    Undefined when no judged document has a gain: 0.

    Source: trec_eval ``ndcg_rel`` (Buckley, 2008).

    >>> from beir_eval import evaluate, ndcg_rel
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "y": 0.8, "a": 0.7}}
    >>> evaluate(qrels, run, [ndcg_rel])["ndcg_rel"]
    0.5
    """
    ideal = _IdealRanking.from_matrix(matrix, gain)
    retrieved = _GainCells.from_cells(matrix.cells, gain)
    dcg, ideal_dcg = retrieved.running_dcg(), ideal.documents.running_dcg()
    row = retrieved.cells.row
    of_retrieved = matrix.sum(dcg / ideal_dcg[ideal.index_at(retrieved.cells)], row)
    num_missed = (ideal.size - matrix.count(row)).astype(np.float64)
    of_missed = ratio(num_missed * retrieved.dcg(matrix), ideal.documents.dcg(matrix))
    return ratio(of_retrieved + of_missed, ideal.size)


def _value_at(cells: Cells, running: Floats, row: Ints, rank: Ints) -> Floats:
    """Return the running value at each depth, f8[D]: 0 if no cell is at that rank or above.

    Args:
        cells: by query then rank. [C]
        running: a running value of each cell, such as the DCG down to it, f8[C].
        row: the query of each depth, i8[D].
        rank: the rank of each depth, i8[D].
    """
    stride = 1 + max(cells.rank.max(initial=0), rank.max(initial=0))
    end = np.searchsorted(cells.row * stride + cells.rank, row * stride + rank, side="right")
    has_cell = end > np.searchsorted(cells.row, row)
    values = np.zeros(len(row))
    values[has_cell] = running[end[has_cell] - 1]
    return values
