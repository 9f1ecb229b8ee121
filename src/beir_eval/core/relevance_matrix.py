"""The relevance matrix, and ``relate``, which makes it from qrels and a run.

Every measure depends on a run only through the ranks of its judged documents and the length of
each ranking. So the matrix (query × rank → grade) is sparse: it stores only judged cells, as
arrays. Ids and scores are not needed after this point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from pydantic import ConfigDict

from beir_eval.core.arrays import Floats, Ints, Mask, position_in_row, running_count
from beir_eval.core.ids import repeated_ids
from beir_eval.core.ranking import (
    AS_GIVEN,
    EvaluationSettings,
    drop_documents,
    rank_hits,
    top_positions,
)
from beir_eval.core.run_sources.base import StartAgainError
from beir_eval.errors import ResultError, RunError, first_few

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from typing import Self

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import Sampler
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.base import RankingBlock

_Array = TypeVar("_Array", Floats, Ints)


class Cells(NamedTuple):
    """C cells of the matrix, sorted by query, then by rank.

    Attributes:
        row: the query of each cell, an index into ``query_ids``, i8[C].
        rank: its 1-based rank, i8[C].
        grade: its grade, f8[C].
    """

    row: Ints
    rank: Ints
    grade: Floats

    def where(self, mask: Mask) -> Cells:
        """Return the cells for which ``mask`` (bool[C]) is True."""
        return Cells(self.row[mask], self.rank[mask], self.grade[mask])

    def upto(self, cutoff: int | None) -> Cells:
        """Return the cells of rank at most ``cutoff``; all cells for None."""
        if cutoff is None or self.rank.max(initial=0) <= cutoff:
            return self
        return self.where(self.rank <= cutoff)


@dataclass(frozen=True, eq=False)
class RelevanceMatrix:
    """The sparse matrix query × rank → grade of Q queries, which every measure is computed from.

    Attributes:
        query_ids: the queries. [Q]
        num_retrieved: the length of each ranking, without dropped documents; 0 if the run has none,
            i8[Q].
        max_grade: the highest grade of the data set, not only of these queries, so that no query's
            score depends on which other queries are evaluated.
        cells: the documents that are judged and retrieved, at their rank in the run.
        judgements: all judged documents, at their rank in the ideal ranking (highest grade first).
    """

    query_ids: tuple[str, ...]
    num_retrieved: Ints
    max_grade: float
    cells: Cells
    judgements: Cells
    _relevant: dict[float | None, Cells] = field(default_factory=dict, init=False, repr=False)
    _shared: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def num_queries(self) -> int:
        """The number of queries, Q."""
        return len(self.query_ids)

    def sum(self, values: Floats, row: Ints) -> Floats:
        """Return the sum of the values of each query, f8[Q]; 0 for a query without values.

        Values are added one after the other in the order given, as a loop over ranks does, so that
        the result has the same bits as such a loop (of trec_eval).

        Args:
            values: the value of each cell, f8[C].
            row: the query of each cell, an index into ``query_ids``, i8[C].
        """
        return np.bincount(row, weights=values, minlength=self.num_queries).astype(
            np.float64, copy=False
        )

    def shared_sum(
        self,
        key: Hashable,
        get_values: Callable[[Cells], Floats],
        cells: Cells,
        cutoff: int | None = None,
    ) -> Floats:
        """Return the sum of the values of each query down to a rank, as ``sum`` adds them.

        The values, and sums that are equal for several cutoffs, are computed once.

        Args:
            key: what the values are, with their parameters.
            get_values: returns the value of each cell, finite, f8[C].
            cells: the cells.
            cutoff: the last rank that counts; None counts all ranks.

        Returns:
            f8[Q], read-only.
        """
        values = self.shared(key, lambda: get_values(cells))
        if cutoff is None or cells.rank.max(initial=0) <= cutoff:
            return self.shared((key, "sum"), lambda: self.sum(values, cells.row))
        # Adding 0 changes no bit, and is faster than leaving cells out.
        return self.sum(np.where(cells.rank <= cutoff, values, 0.0), cells.row)

    def shared(self, key: Hashable, compute: Callable[[], _Array]) -> _Array:
        """Return an array that several measures need, computed once per key; read-only.

        Args:
            key: what it is, with its parameters.
            compute: computes it.
        """
        if key not in self._shared:
            self._shared[key] = compute()
            self._shared[key].flags.writeable = False
        return cast("_Array", self._shared[key])

    def count(self, row: Ints) -> Ints:
        """Return the number of cells of each query, i8[Q].

        Args:
            row: the query of each cell, an index into ``query_ids``, i8[C].
        """
        return np.bincount(row, minlength=self.num_queries)

    def relevant(self, rel: float | None = None) -> Cells:
        """Return the cells of the relevant documents that were retrieved.

        Args:
            rel: the lowest relevant grade; None means every grade above 0.
        """
        if rel not in self._relevant:
            self._relevant[rel] = self.cells.where(is_relevant(self.cells.grade, rel))
        return self._relevant[rel]

    def mean_relative_ranks(self, cells: Cells) -> Floats:
        """Return the mean relative rank of some cells of each query, f8[Q]; NaN without any.

        It is 0 before the first document of the ranking, and 1 behind the last.

        Args:
            cells: some of the cells.
        """
        relative = (cells.rank - 0.5) / self.num_retrieved[cells.row]
        counts = self.count(cells.row)
        return np.where(counts > 0, self.sum(relative, cells.row) / np.maximum(counts, 1), np.nan)

    def num_relevant(self, rel: float | None = None) -> Ints:
        """Return the number of relevant documents in the qrels (R) of each query, read-only i8[Q].

        Args:
            rel: the lowest relevant grade; None means every grade above 0.
        """
        judged = self.judgements
        return self.shared(
            ("R", rel), lambda: self.count(judged.row[is_relevant(judged.grade, rel)])
        )

    def num_retrieved_upto(self, cutoff: int | None) -> Ints:
        """Return how many documents are in the first ``cutoff`` ranks, i8[Q].

        Args:
            cutoff: the last rank that counts; None counts all ranks.
        """
        return self.num_retrieved if cutoff is None else np.minimum(self.num_retrieved, cutoff)

    def num_relevant_upto(self, cutoff: int | None, rel: float | None = None) -> Ints:
        """Return how many relevant documents are in the first ``cutoff`` ranks, read-only i8[Q].

        Args:
            cutoff: the last rank that counts; None means all ranks.
            rel: the lowest relevant grade; None means every grade above 0.
        """
        relevant = self.relevant(rel)
        if cutoff is not None and relevant.rank.max(initial=0) <= cutoff:
            cutoff = None
        return self.shared((cutoff, rel), lambda: self.count(relevant.upto(cutoff).row))

    def relevant_so_far(self, rel: float | None = None) -> Ints:
        """Return the 1-based position of each cell of ``relevant(rel)`` among those of its query.

        Args:
            rel: the lowest relevant grade; None means every grade above 0.

        Returns:
            i8 of the length of ``relevant(rel)``, read-only: the number of relevant documents that
            the query has at this rank or above.
        """
        return self.shared(("so far", rel), lambda: position_in_row(self.relevant(rel).row) + 1)

    def running_count(self, mask: Mask) -> Ints:
        """Return, for each cell, how many cells in ``mask`` its query has up to that rank, i8[C].

        Args:
            mask: which of ``cells`` count, bool[C].
        """
        return running_count(mask, self.cells.row)

    @cached_property
    def condensed(self) -> RelevanceMatrix:
        """The matrix of the condensed rankings: judged documents only, ranks renumbered.

        Documents with a negative grade ("pooled but unjudged") are dropped too, as by trec_eval's
        option ``-J``.
        """
        judged = self.cells.where(self.cells.grade >= 0)
        condensed_cells = Cells(judged.row, position_in_row(judged.row) + 1, judged.grade)
        return RelevanceMatrix(
            self.query_ids, self.count(judged.row), self.max_grade, condensed_cells, self.judgements
        )

    def select(self, rows: Ints) -> RelevanceMatrix:
        """Return the matrix of these queries only.

        Args:
            rows: ascending indices into ``query_ids``, each at most once, i8[R].
        """
        new_row = np.full(self.num_queries, -1, dtype=np.int64)
        new_row[rows] = np.arange(len(rows))
        parts = [
            Cells(new_row[cells.row], cells.rank, cells.grade).where(new_row[cells.row] >= 0)
            for cells in (self.cells, self.judgements)
        ]
        query_ids = tuple(self.query_ids[row] for row in rows.tolist())
        return RelevanceMatrix(query_ids, self.num_retrieved[rows], self.max_grade, *parts)

    def parts(self, size: int) -> Iterator[tuple[slice, RelevanceMatrix]]:
        """Yield the matrix in parts of consecutive queries, each with its range of queries.

        Args:
            size: the highest number of queries of a part, at least 1.
        """
        if self.num_queries <= size:
            yield slice(0, self.num_queries), self
            return
        begins = np.arange(0, self.num_queries + size, size)
        begins[-1] = self.num_queries
        bounds = begins.tolist()
        cells_of, judgements_of = (
            _split_cells(cells, begins) for cells in (self.cells, self.judgements)
        )
        for begin, end, cells, judgements in zip(
            bounds[:-1], bounds[1:], cells_of, judgements_of, strict=True
        ):
            yield (
                slice(begin, end),
                RelevanceMatrix(
                    self.query_ids[begin:end],
                    self.num_retrieved[begin:end],
                    self.max_grade,
                    cells,
                    judgements,
                ),
            )

    @classmethod
    def concatenate(cls, matrices: Sequence[RelevanceMatrix]) -> Self:
        """Return one matrix from matrices of disjoint queries of the same data set.

        Args:
            matrices: at least one matrix; their queries follow each other in this order.

        Raises:
            ResultError: there is no matrix, two matrices share a query, or their highest grades
                differ.
        """
        query_ids = tuple(query_id for matrix in matrices for query_id in matrix.query_ids)
        if len(set(query_ids)) < len(query_ids):
            repeated = first_few(sorted(repeated_ids(query_ids)))
            msg = f"matrices of disjoint queries were expected, but they share {repeated}"
            raise ResultError(msg)
        max_grades = {matrix.max_grade for matrix in matrices}
        if len(max_grades) != 1:
            msg = f"matrices of one qrels were expected, but their highest grades are {max_grades}"
            raise ResultError(msg)
        offsets = np.cumsum([0, *(matrix.num_queries for matrix in matrices)])
        return cls(
            query_ids,
            np.concatenate([matrix.num_retrieved for matrix in matrices]),
            max_grades.pop(),
            _concatenate_cells([matrix.cells for matrix in matrices], offsets),
            _concatenate_cells([matrix.judgements for matrix in matrices], offsets),
        )

    def to_dense(self, k: int) -> Floats:
        """Return the dense matrix f8[Q, k]: the grade at ranks 1 to k, NaN without a grade.

        Args:
            k: the number of ranks.
        """
        dense = np.full((self.num_queries, k), np.nan)
        cells = self.cells.upto(k)
        dense[cells.row, cells.rank - 1] = cells.grade
        return dense


def is_relevant(grade: Floats, rel: float | None) -> Mask:
    """Return which grades are relevant: at least ``rel``, or above 0 if ``rel`` is None."""
    return grade > 0 if rel is None else grade >= rel


def _split_cells(cells: Cells, begins: Ints) -> list[Cells]:
    """Return the cells of each range of queries, with rows that start at 0.

    Args:
        cells: all cells.
        begins: the first query of each of P ranges, and the end of the last, i8[P+1].
    """
    bounds = np.searchsorted(cells.row, begins).tolist()
    return [
        Cells(cells.row[first:last] - begin, cells.rank[first:last], cells.grade[first:last])
        for begin, first, last in zip(begins.tolist(), bounds, bounds[1:], strict=False)
    ]


def _concatenate_cells(parts: Sequence[Cells], offsets: Ints) -> Cells:
    rows = [cells.row + offset for cells, offset in zip(parts, offsets[:-1], strict=True)]
    return Cells(
        np.concatenate(rows),
        np.concatenate([cells.rank for cells in parts]),
        np.concatenate([cells.grade for cells in parts]),
    )


# The matrix of qrels and a run


@dataclass(frozen=True, slots=True)
class TopDocuments:
    """The best documents of one ranking, best first.

    Attributes:
        doc_ids: the documents.
        scores: their scores; None if the run has no scores.
        grades: their grades; None for an unjudged document.
    """

    # pydantic checks these when a saved result is loaded.
    __pydantic_config__ = ConfigDict(extra="forbid")

    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] | None
    grades: tuple[float | None, ...]


class RunSummary(NamedTuple):
    """What a run contains for the Q judged queries, apart from the ranks of judged documents.

    Attributes:
        missing: which queries the run does not have, bool[Q].
        tied: how many judged documents of each query share their score with another document of
            the ranking, i8[Q].
        duplicates: how many entries of each query's ranking repeat a document of it, i8[Q]; of
            judged documents only, unless ``run.checks_all_documents``.
        identical: how many documents of each query have the id of the query, i8[Q].
        excluded: how many documents of each query the qrels exclude, i8[Q].
        top: {query id: the best documents}, for the queries that the run has, in the order of the
            qrels; empty if ``keep_top`` is 0.
        float32: what the precision of the tie rule makes of the different scores of each query,
            as ``rank_hits`` returns it, i8[Q].
        by_double_precision: a function that returns the matrix of some queries (ascending rows,
            i8[R]) whose documents are ranked by their scores in double precision.
    """

    missing: Mask
    tied: Ints
    duplicates: Ints
    identical: Ints
    excluded: Ints
    top: dict[str, TopDocuments]
    float32: Ints
    by_double_precision: Callable[[Ints], RelevanceMatrix]


def relate(  # noqa: PLR0913 - what ranks depend on, and what is collected
    qrels: Qrels,
    run: Run,
    settings: EvaluationSettings,
    *,
    keep_top: int = 0,
    sampler: Sampler | None = None,
    extreme: str | None = None,
) -> tuple[RelevanceMatrix, RunSummary]:
    """Return the matrix of all judged queries, in the order of the qrels, and a summary of the run.

    Args:
        qrels: the judged documents.
        run: the rankings. Queries that are not judged are ignored.
        settings: how scores, ties and duplicates become ranks.
        keep_top: how many of the best documents of each query the summary contains.
        sampler: collects a few of the rankings; None if they are not wanted.
        extreme: "best" or "worst" orders by grade the documents that tie under ``settings.ties``.

    Raises:
        RunError: a ranking of a judged query is not valid, for example a score is not a finite
            number; the run was changed after it was made; or it ranks characters or chunks, and
            the judgements are of documents, or the other way round.
        DuplicateDocumentError: a document is listed twice, and ``settings.duplicates`` is "error".
    """
    if run.ranks != qrels.ranks:
        msg = (
            f"the judgements are of {qrels.ranks} and the run ranks {run.ranks}: judgements of "
            "spans and runs on them are made by one view, as view.qrels and view.run(chunks)"
        )
        raise RunError(msg)
    while True:
        try:
            return _relate(qrels, run, settings, keep_top, sampler, extreme)
        except StartAgainError:
            if sampler is not None:
                sampler.clear()


def _relate(  # noqa: PLR0913, PLR0917 - the arguments of relate
    qrels: Qrels,
    run: Run,
    settings: EvaluationSettings,
    keep_top: int,
    sampler: Sampler | None,
    extreme: str | None,
) -> tuple[RelevanceMatrix, RunSummary]:
    """Return what ``relate`` describes, unless the run must be read again."""
    num_retrieved = np.zeros(len(qrels), dtype=np.int64)
    missing = np.ones(len(qrels), dtype=np.bool_)
    judgements: list[Ints] = []
    ranks: list[Ints] = []
    ties: list[Mask] = []
    duplicates, identical, excluded, float32 = (np.zeros_like(num_retrieved) for _ in range(4))
    top: dict[str, TopDocuments] = {}
    doubles: list[tuple[Ints, Ints]] = []
    for block in run.blocks(qrels):
        kept_block = drop_documents(block, qrels, settings)
        rank, is_tied, float32[block.rows] = rank_hits(kept_block, qrels, settings, extreme)
        missing[block.rows] = False
        num_retrieved[block.rows] = np.diff(kept_block.starts)
        if sampler is not None:
            sampler.add(block)
        if keep_top:
            top.update(_top_documents(kept_block, qrels, settings, keep_top))
        judgements.append(kept_block.hit_judgement)
        ranks.append(rank)
        ties.append(is_tied)
        rounded = np.flatnonzero((float32[block.rows] > 0) & (float32[block.rows] < AS_GIVEN))
        if len(rounded) and settings.ties == "trec_eval9" and extreme is None:
            as_given = kept_block.select(rounded)
            rank_as_given = rank_hits(as_given, qrels, replace(settings, ties="trec_eval10"))[0]
            doubles.append((as_given.hit_judgement, rank_as_given))
        if len(block.copy_group):
            duplicates[block.rows] = block.spare_copies()
        if len(block.identical):
            identical[block.rows] = block.count_by_ranking(block.identical)
        if len(block.excluded):
            excluded[block.rows] = block.count_by_ranking(block.excluded)
    judgement = _concatenate(judgements)
    tied = np.bincount(qrels.row[judgement][_concatenate(ties) > 0], minlength=len(qrels))
    matrix = RelevanceMatrix(
        qrels.query_ids,
        num_retrieved,
        qrels.max_grade,
        _sorted_cells(qrels, judgement, _concatenate(ranks)),
        Cells(qrels.row, *qrels.ideal),
    )
    if top:
        top = {query_id: top[query_id] for query_id in qrels.query_ids if query_id in top}

    def by_double_precision(rows: Ints) -> RelevanceMatrix:
        cells = _sorted_cells(qrels, *map(_concatenate, zip(*doubles, strict=True)))
        return replace(matrix, cells=cells).select(rows)

    return matrix, RunSummary(
        missing, tied, duplicates, identical, excluded, top, float32, by_double_precision
    )


def _sorted_cells(qrels: Qrels, judgement: Ints, rank: Ints) -> Cells:
    """Return the cells of judged documents (indices into the judgements) at their ranks."""
    row = qrels.row[judgement]
    order = np.argsort(row * (1 + rank.max(initial=0)) + rank, kind="stable")
    return Cells(row[order], rank[order], qrels.grades[judgement[order]])


def _concatenate(parts: Sequence[Ints] | Sequence[Mask]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _top_documents(
    block: RankingBlock, qrels: Qrels, settings: EvaluationSettings, k: int
) -> Iterator[tuple[str, TopDocuments]]:
    for index, row in enumerate(block.rows.tolist()):
        if block.top_of is not None:
            yield qrels.query_ids[row], block.top_of(index, k)
            continue
        positions = top_positions(block, index, k, qrels, settings)
        doc_ids = tuple(block.ids_at(positions))
        grade_of = qrels.grades_of_row(row)
        scores = None if block.scores is None else tuple(block.scores[positions].tolist())
        grades = tuple(grade_of.get(doc_id) for doc_id in doc_ids)
        yield qrels.query_ids[row], TopDocuments(doc_ids, scores, grades)
