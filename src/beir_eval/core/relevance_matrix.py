"""The relevance matrix: where ids end and arrays begin.

Every measure depends on a run only through the ranks of its judged documents, so the matrix
(query × rank → grade) is sparse: only judged cells exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import ConfigDict

from beir_eval.core.arrays import Floats, Ints, Mask, position_in_row, running_count
from beir_eval.core.ids import repeated_ids
from beir_eval.core.ranking import EvaluationSettings, drop_documents, rank_hits, top_positions
from beir_eval.errors import ResultError, some

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from typing import Self

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.base import RankingBlock


class Cells(NamedTuple):
    """Cells of the matrix, by query then rank.

    Attributes:
        row: the query, an index into ``query_ids``, i8[C].
        rank: 1-based, i8[C].
        grade: f8[C].
    """

    row: Ints
    rank: Ints
    grade: Floats

    def where(self, mask: Mask) -> Cells:
        """Return the cells for which ``mask`` is set."""
        return Cells(self.row[mask], self.rank[mask], self.grade[mask])

    def upto(self, cutoff: int | None) -> Cells:
        """Return the cells of rank at most ``cutoff``; all of them for None."""
        if cutoff is None or self.rank.max(initial=0) <= cutoff:
            return self
        return self.where(self.rank <= cutoff)


@dataclass(frozen=True, eq=False)
class RelevanceMatrix:
    """Query × rank → grade, for Q queries; only judged cells exist.

    Attributes:
        query_ids: [Q]
        num_retrieved: the length of each ranking, 0 where the run has none, i8[Q].
        max_grade: the highest grade of the whole qrels; it belongs to the data set, not to the
            queries at hand, so that no query's score depends on another query.
        cells: the documents that are judged and retrieved, at their rank in the run.
        judgements: all judged documents, at their rank in the ideal ranking (best grade first).
    """

    query_ids: tuple[str, ...]
    num_retrieved: Ints
    max_grade: float
    cells: Cells
    judgements: Cells
    _relevant: dict[float | None, Cells] = field(default_factory=dict, init=False, repr=False)
    _counts: dict[Hashable, Ints] = field(default_factory=dict, init=False, repr=False)
    _places: dict[float | None, Ints] = field(default_factory=dict, init=False, repr=False)

    @property
    def num_queries(self) -> int:
        """Q, the number of queries."""
        return len(self.query_ids)

    def sum(self, values: Floats, row: Ints) -> Floats:
        """Add values up by query, in the order given: f8[C] -> f8[Q].

        One after the other, as a loop over ranks does, so that not even the last bit differs.
        """
        return np.bincount(row, weights=values, minlength=self.num_queries).astype(
            np.float64, copy=False
        )

    def count(self, row: Ints) -> Ints:
        """Count cells by query: i8[C] -> i8[Q]."""
        return np.bincount(row, minlength=self.num_queries)

    def relevant(self, rel: float | None = None) -> Cells:
        """Return the relevant documents that were retrieved: grade >= rel, or > 0 for None."""
        if rel not in self._relevant:
            self._relevant[rel] = self.cells.where(is_relevant(self.cells.grade, rel))
        return self._relevant[rel]

    def num_relevant(self, rel: float | None = None) -> Ints:
        """Return R, the number of relevant documents of each query, i8[Q]."""
        judged = self.judgements
        return self._count_of(("R", rel), lambda: judged.row[is_relevant(judged.grade, rel)])

    def num_retrieved_upto(self, cutoff: int | None) -> Ints:
        """Return how many documents are in the first ``cutoff`` ranks, i8[Q]."""
        return self.num_retrieved if cutoff is None else np.minimum(self.num_retrieved, cutoff)

    def num_relevant_upto(self, cutoff: int | None, rel: float | None = None) -> Ints:
        """Return how many relevant documents stand in the first ``cutoff``, i8[Q]."""
        return self._count_of((cutoff, rel), lambda: self.relevant(rel).upto(cutoff).row)

    def _count_of(self, key: Hashable, row: Callable[[], Ints]) -> Ints:
        """Count once what several measures ask for; nobody may change it."""
        if key not in self._counts:
            self._counts[key] = self.count(row())
            self._counts[key].flags.writeable = False
        return self._counts[key]

    def place_among_relevant(self, rel: float | None = None) -> Ints:
        """Return, for each of ``relevant(rel)``, how many its query has down to its rank."""
        if rel not in self._places:
            self._places[rel] = position_in_row(self.relevant(rel).row) + 1
            self._places[rel].flags.writeable = False
        return self._places[rel]

    def running_count(self, mask: Mask) -> Ints:
        """Return, for each cell, how many cells of ``mask`` its query has down to its rank."""
        return running_count(mask, self.cells.row)

    @cached_property
    def _condensed(self) -> RelevanceMatrix:
        judged = self.cells.where(self.cells.grade >= 0)
        closed_up = Cells(judged.row, position_in_row(judged.row) + 1, judged.grade)
        return RelevanceMatrix(
            self.query_ids, self.count(judged.row), self.max_grade, closed_up, self.judgements
        )

    def condensed(self) -> RelevanceMatrix:
        """Return the matrix of condensed lists: unjudged documents dropped, ranks closed up.

        Negative grades mean "pooled but unjudged" and are dropped too (trec_eval's ``-J``).
        """
        return self._condensed

    def select(self, rows: Ints) -> RelevanceMatrix:
        """Return the matrix of these queries only (ascending indices into ``query_ids``)."""
        new_row = np.full(self.num_queries, -1, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        parts = [
            Cells(new_row[cells.row], cells.rank, cells.grade).where(new_row[cells.row] >= 0)
            for cells in (self.cells, self.judgements)
        ]
        query_ids = tuple(self.query_ids[row] for row in rows.tolist())
        return RelevanceMatrix(query_ids, self.num_retrieved[rows], self.max_grade, *parts)

    @classmethod
    def concatenate(cls, matrices: Sequence[RelevanceMatrix]) -> Self:
        """Join matrices of disjoint queries of one qrels.

        Raises:
            ResultError: none given, a query occurs twice, or their highest grades differ.
        """
        query_ids = tuple(query_id for matrix in matrices for query_id in matrix.query_ids)
        if len(set(query_ids)) < len(query_ids):
            shared = some(sorted(repeated_ids(query_ids)))
            msg = f"matrices of disjoint queries were expected, but they share {shared}"
            raise ResultError(msg)
        grades = {matrix.max_grade for matrix in matrices}
        if len(grades) != 1:
            msg = f"matrices of one qrels were expected, but their highest grades are {grades}"
            raise ResultError(msg)
        offsets = np.cumsum([0, *(matrix.num_queries for matrix in matrices)])
        return cls(
            query_ids,
            np.concatenate([matrix.num_retrieved for matrix in matrices]),
            grades.pop(),
            _join([matrix.cells for matrix in matrices], offsets),
            _join([matrix.judgements for matrix in matrices], offsets),
        )

    def to_dense(self, k: int) -> Floats:
        """Return the textbook matrix f8[Q, k]: the grade at each rank, NaN where unjudged."""
        dense = np.full((self.num_queries, k), np.nan)
        shown = self.cells.upto(k)
        dense[shown.row, shown.rank - 1] = shown.grade
        return dense


def is_relevant(grade: Floats, rel: float | None) -> Mask:
    """Return which grades are relevant: >= rel, or > 0 where ``rel`` is None."""
    return grade > 0 if rel is None else grade >= rel


def _join(parts: Sequence[Cells], offsets: Ints) -> Cells:
    row = [cells.row + offset for cells, offset in zip(parts, offsets[:-1], strict=True)]
    return Cells(
        np.concatenate(row),
        np.concatenate([cells.rank for cells in parts]),
        np.concatenate([cells.grade for cells in parts]),
    )


# From qrels and a run


@dataclass(frozen=True, slots=True)
class TopDocuments:
    """The best documents of one ranking, best first; grade None where unjudged."""

    # How a result checks the ones it is loaded with.
    __pydantic_config__ = ConfigDict(extra="forbid")

    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] | None
    grades: tuple[float | None, ...]


class RunSummary(NamedTuple):
    """What a run holds for the judged queries, beside the ranks of its judged documents.

    Attributes:
        missing: the queries that the run does not have, bool[Q].
        tied: how many judged documents share their score with another of the ranking, i8[Q].
        duplicates: entries that repeat a document of their ranking.
        identical: documents whose id is that of their query.
        top: the best documents by query, for the queries that the run has, in the order of the
            qrels.
    """

    missing: Mask
    tied: Ints
    duplicates: int
    identical: int
    top: dict[str, TopDocuments]


def relate(
    qrels: Qrels, run: Run, settings: EvaluationSettings, *, keep_top: int = 0
) -> tuple[RelevanceMatrix, RunSummary]:
    """Return the matrix of all judged queries, in the order of the qrels, and a summary of the run.

    Args:
        qrels: what is judged.
        run: what was retrieved.
        settings: how a ranking is made of what the run holds.
        keep_top: how many of the best documents of each query the summary keeps.

    Raises:
        RunError: a score of a judged query is not a finite number, or (DuplicateDocumentError) a
            document is listed twice where the settings call that an error.
    """
    num_retrieved = np.zeros(len(qrels), dtype=np.int64)
    missing = np.ones(len(qrels), dtype=np.bool_)
    judgements: list[Ints] = []
    ranks: list[Ints] = []
    ties: list[Mask] = []
    duplicates = identical = 0
    top: dict[str, TopDocuments] = {}
    for block in run.blocks(qrels):
        kept = drop_documents(block, qrels, settings)
        rank, is_tied = rank_hits(kept, qrels, settings)
        missing[block.rows] = False
        num_retrieved[block.rows] = np.diff(kept.starts)
        if keep_top:
            top.update(_top_documents(kept, qrels, settings, keep_top))
        judgements.append(kept.hit_judgement)
        ranks.append(rank)
        ties.append(is_tied)
        duplicates += block.num_spare_copies
        identical += len(block.identical)
    judgement, rank = _joined(judgements), _joined(ranks)
    row = qrels.row[judgement]
    tied = np.bincount(row[_joined(ties) > 0], minlength=len(qrels))
    by_row = np.argsort(row * (1 + rank.max(initial=0)) + rank, kind="stable")
    matrix = RelevanceMatrix(
        qrels.query_ids,
        num_retrieved,
        qrels.max_grade,
        Cells(row[by_row], rank[by_row], qrels.grades[judgement[by_row]]),
        Cells(qrels.row, *qrels.ideal),
    )
    if top:
        top = {query_id: top[query_id] for query_id in qrels.query_ids if query_id in top}
    return matrix, RunSummary(missing, tied, duplicates, identical, top)


def _joined(parts: Sequence[Ints] | Sequence[Mask]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _top_documents(
    block: RankingBlock, qrels: Qrels, settings: EvaluationSettings, k: int
) -> Iterator[tuple[str, TopDocuments]]:
    for index, row in enumerate(block.rows.tolist()):
        positions = top_positions(block, index, k, qrels, settings)
        doc_ids = tuple(block.ids_at(positions))
        grade_of = qrels.judged(row)
        scores = None if block.scores is None else tuple(block.scores[positions].tolist())
        grades = tuple(grade_of.get(doc_id) for doc_id in doc_ids)
        yield qrels.query_ids[row], TopDocuments(doc_ids, scores, grades)
