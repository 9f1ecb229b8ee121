"""A pool of judged and unjudged documents, and matrices in which some unjudged ones are relevant.

A *hole* is an unjudged document in the top of a run. ``Pool`` holds the judged documents and the
holes of each query, ``Pool.rank`` their ranks in one run, and ``Pool.matrix`` builds the relevance
matrix in which a chosen set of holes is relevant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    Mask,
    concatenate_ranges,
    position_in_row,
    rows_from_lengths,
    starts_from_lengths,
)
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import drop_documents, hit_positions, rank_hits
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Self

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.base import RankingBlock

#: The grade of a hole while ranks are computed. Among equal scores, ties="best" and "worst" put
#: unjudged documents between relevant ones and those of grade 0; this grade is ordered like that.
_HOLE_GRADE = float(np.nextafter(0, 1))


class _DocumentsByQuery(NamedTuple):
    """Some documents of a pool, grouped by query.

    Attributes:
        documents: indices into the pool, query after query, i8[N].
        starts: where the documents of each query begin, and the end of the last, i8[Q+1].
    """

    documents: Ints
    starts: Ints

    @classmethod
    def from_documents(cls, documents: Ints, qrels: Qrels) -> Self:
        """Return the documents grouped; they must already be sorted by query."""
        lengths = np.bincount(qrels.row[documents], minlength=len(qrels))
        return cls(documents, starts_from_lengths(lengths))

    def of_queries(self, query: Ints) -> tuple[Ints, Ints]:
        """Return the documents of P queries, and for each document which of the P it belongs to.

        Args:
            query: indices of queries; a query may be repeated, i8[P].

        Returns:
            Indices into the pool, i8[N], and positions in ``query``, i8[N].
        """
        begin, end = self.starts[query], self.starts[query + 1]
        return self.documents[concatenate_ranges(begin, end)], rows_from_lengths(end - begin)


class RunRanks(NamedTuple):
    """The ranks of a pool's documents in one run.

    Attributes:
        rank: the 1-based rank of each document, 0 where it is not retrieved, i8[J].
        judged: the judged documents that are retrieved, by query.
        num_retrieved: the length of each query's ranking, i8[Q].
        has_scores: whether the ranking follows from scores, so that there can be ties.
        has_ties: whether a document of the pool shares its score with another.
    """

    rank: Ints
    judged: _DocumentsByQuery
    num_retrieved: Ints
    has_scores: bool
    has_ties: bool


@dataclass(frozen=True, eq=False)
class Choices:
    """P sets of holes: each set lists the holes of one query that are assumed to be relevant.

    Attributes:
        query: the query of each set, an index into the pool's queries, i8[P].
        size: the number of holes in each set, i8[P].
        holes: the holes, set after set, as indices into the pool, i8[sum of sizes].
    """

    query: Ints
    size: Ints
    holes: Ints

    def part(self, begin: int, end: int) -> Choices:
        """Return the sets from ``begin`` to ``end`` (excluded)."""
        first = int(self.size[:begin].sum())
        last = first + int(self.size[begin:end].sum())
        return Choices(self.query[begin:end], self.size[begin:end], self.holes[first:last])

    @classmethod
    def empty(cls, num_queries: int) -> Choices:
        """Return an empty set for each query: no hole is relevant."""
        query = np.arange(num_queries, dtype=np.int64)
        return cls(query, np.zeros(num_queries, np.int64), np.zeros(0, np.int64))


class Pool:
    """The judged documents and the holes of some queries, J documents in all.

    Attributes:
        qrels: the documents of both kinds, by query; a hole has a grade just above 0.
        is_hole: which of the documents are holes, bool[J].
        max_grade: the highest grade of the whole qrels.
    """

    def __init__(
        self, qrels: Qrels, query_ids: Sequence[str], holes: Mapping[str, Collection[str]]
    ) -> None:
        """Combine the judgements of these queries with their holes.

        Args:
            qrels: the judgements.
            query_ids: the queries; each must be judged. [Q]
            holes: {query_id: ids of its unjudged documents}; a query without holes may be absent.
        """
        judged = qrels.select(query_ids).as_dict()
        self.qrels = Qrels(
            {
                query_id: grades | dict.fromkeys(sorted(holes.get(query_id, ())), _HOLE_GRADE)
                for query_id, grades in judged.items()
            }
        )
        sizes = [
            (len(judged[query_id]), len(holes.get(query_id, ())))
            for query_id in self.qrels.query_ids
        ]
        self.is_hole: Mask = np.repeat(
            np.tile([False, True], len(sizes)), np.array(sizes, dtype=np.int64).ravel()
        )
        self.max_grade = qrels.max_grade

    @property
    def num_queries(self) -> int:
        """Q, the number of queries."""
        return len(self.qrels)

    def rank(self, run: Run, settings: EvaluationSettings) -> RunRanks:
        """Return the ranks of the pool's documents in a run.

        Args:
            run: the rankings; queries outside the pool are ignored.
            settings: the order, the tie rule and the treatment of duplicates. "error" counts as
                "keep".
        """
        if settings.duplicates == "error":  # the evaluation has already raised
            settings = replace(settings, duplicates="keep")
        rank = np.zeros(len(self.is_hole), dtype=np.int64)
        num_retrieved = np.zeros(self.num_queries, dtype=np.int64)
        has_scores = has_ties = False
        for block in run.blocks(self.qrels):
            kept = drop_documents(block, self.qrels, settings)
            hit_rank, is_tied = rank_hits(kept, self.qrels, settings)
            if settings.ties in ("best", "worst") and is_tied.any():
                is_hole = self.is_hole[kept.hit_judgement]
                self._order_tied_holes(kept, hit_rank, np.flatnonzero(is_tied & is_hole))
            rank[kept.hit_judgement] = hit_rank
            num_retrieved[kept.rows] = np.diff(kept.starts)
            has_scores |= kept.scores is not None and settings.order == "score"
            has_ties |= bool(is_tied.any())
        judged = _DocumentsByQuery.from_documents(
            np.flatnonzero((rank > 0) & ~self.is_hole), self.qrels
        )
        return RunRanks(rank, judged, num_retrieved, has_scores, has_ties)

    def _order_tied_holes(self, block: RankingBlock, rank: Ints, tied: Ints) -> None:
        """Give holes with equal scores the order of the run, as lists of top documents have it.

        Args:
            block: the rankings.
            rank: the rank of each hit, in which the holes of a tie are changed, i8[H].
            tied: the tied holes among the hits, i8[T].
        """
        if block.scores is None:
            return
        position = hit_positions(block, self.qrels)[tied]
        row, score = block.hit_ranking[tied], block.scores[position]
        by_position = np.lexsort((position, -score, row))
        by_rank = np.lexsort((rank[tied], -score, row))
        rank[tied[by_position]] = rank[tied[by_rank]]

    def matrix(self, ranks: RunRanks, choices: Choices, grade: float) -> RelevanceMatrix:
        """Return a matrix with one row for each set of holes.

        Args:
            ranks: the ranks of the documents in the run.
            choices: P sets of holes that are relevant.
            grade: the grade of these holes, at least the highest grade of the qrels.
        """
        return self.matrix_with_grades(ranks, choices, np.full(len(choices.holes), grade))

    def matrix_with_grades(
        self, ranks: RunRanks, choices: Choices, grades: Floats
    ) -> RelevanceMatrix:
        """Return a matrix with one row for each set of holes, each hole with its own grade.

        Args:
            ranks: the ranks of the documents in the run.
            choices: P sets of holes that are judged.
            grades: the grade of each of these holes, f8[N].
        """
        judged, row = ranks.judged.of_queries(choices.query)
        is_retrieved = ranks.rank[choices.holes] > 0
        row = np.concatenate([row, rows_from_lengths(choices.size)[is_retrieved]])
        rank = np.concatenate([ranks.rank[judged], ranks.rank[choices.holes[is_retrieved]]])
        cell_grades = np.concatenate([self.qrels.grades[judged], grades[is_retrieved]])
        return self._matrix(
            ranks.num_retrieved[choices.query],
            Cells(row, rank, cell_grades),
            choices.query,
            grades,
            choices.size,
        )

    def matrix_without_holes(
        self, ranks: RunRanks, query: Ints, num_relevant: Ints, grade: float
    ) -> RelevanceMatrix:
        """Return a matrix of P rankings, to which relevant documents are missing.

        Args:
            ranks: the ranks of the documents in the run.
            query: indices of queries, i8[P].
            num_relevant: how many relevant holes the qrels contain that the run lacks, i8[P].
            grade: the grade of these holes, at least the highest grade of the qrels.
        """
        judged, row = ranks.judged.of_queries(query)
        return self._matrix(
            ranks.num_retrieved[query],
            Cells(row, ranks.rank[judged], self.qrels.grades[judged]),
            query,
            np.full(int(num_relevant.sum()), grade),
            num_relevant,
        )

    def matrix_of_single_hole(
        self, query: Ints, rank: Ints, num_retrieved: Ints, num_relevant: Ints, grade: float
    ) -> RelevanceMatrix:
        """Return a matrix of P rankings in which one relevant hole is all that is judged.

        Args:
            query: indices of queries, i8[P].
            rank: the rank of the hole, i8[P].
            num_retrieved: the length of the ranking, i8[P].
            num_relevant: how many relevant holes the qrels contain, at least 1, i8[P].
            grade: the grade of the holes, at least the highest grade of the qrels.
        """
        cells = Cells(np.arange(len(query)), rank, np.full(len(query), grade))
        hole_grades = np.full(int(num_relevant.sum()), grade)
        return self._matrix(num_retrieved, cells, query, hole_grades, num_relevant)

    def _matrix(
        self, num_retrieved: Ints, cells: Cells, query: Ints, hole_grades: Floats, size: Ints
    ) -> RelevanceMatrix:
        """Return a matrix of P rankings.

        Args:
            num_retrieved: the length of each ranking, i8[P].
            cells: the documents retrieved, in any order.
            query: the query of each ranking, i8[P].
            hole_grades: the grades of the judged holes, ranking after ranking, f8[N].
            size: how many judged holes each ranking has, i8[P].
        """
        order = np.argsort(cells.row * (1 + cells.rank.max(initial=0)) + cells.rank, kind="stable")
        return RelevanceMatrix(
            ("",) * len(query),  # sets of holes have no names
            num_retrieved,
            max(self.max_grade, hole_grades.max(initial=-np.inf)),
            Cells(cells.row[order], cells.rank[order], cells.grade[order]),
            self._ideal(query, hole_grades, size),
        )

    def _ideal(self, query: Ints, hole_grades: Floats, size: Ints) -> Cells:
        """Return the ideal rankings: judged documents and judged holes, best first."""
        judged, judged_row = self._judged_best_first.of_queries(query)
        row = np.concatenate([rows_from_lengths(size), judged_row])
        grades = np.concatenate([hole_grades, self.qrels.grades[judged]])
        if hole_grades.min(initial=np.inf) >= self.max_grade:  # the holes are all at the top
            order = np.argsort(row, kind="stable")
        else:
            order = np.lexsort((-grades, row))
        row = row[order]
        return Cells(row, position_in_row(row) + 1, grades[order])

    @cached_property
    def _judged_best_first(self) -> _DocumentsByQuery:
        """The judged documents, by query, best grade first."""
        judged = np.flatnonzero(~self.is_hole)
        row, grades = self.qrels.row[judged], self.qrels.grades[judged]
        return _DocumentsByQuery.from_documents(judged[np.lexsort((-grades, row))], self.qrels)


def count_judged(pool: Pool, ranks: RunRanks, depth: int | None) -> tuple[int, int]:
    """Return how many of the first ``depth`` documents are judged, and how many there are.

    The counts are over all queries; with ``depth=None``, the whole ranking counts. A negative grade
    ("pooled but unjudged") is not judged.
    """
    limit = np.iinfo(np.int64).max if depth is None else depth
    is_judged = (ranks.rank > 0) & (ranks.rank <= limit) & ~pool.is_hole & (pool.qrels.grades >= 0)
    return int(is_judged.sum()), int(np.minimum(ranks.num_retrieved, limit).sum())


def in_top(repeats: Sequence[RunRanks], depth: int | None) -> Mask:
    """Return which documents of the pool are in the first ``depth`` of any of these runs, bool[J].

    With ``depth=None``, the whole ranking counts.
    """
    is_in_top = np.zeros(len(repeats[0].rank), dtype=np.bool_)
    for ranks in repeats:
        is_in_top |= (ranks.rank > 0) & (ranks.rank <= (depth or np.inf))
    return is_in_top
