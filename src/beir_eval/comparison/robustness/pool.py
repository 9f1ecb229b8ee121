"""Holes: documents that nobody judged, as a matrix in which some of them are relevant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import Ints, Mask, position_in_row, ranges, rows_of, starts_of
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import drop_documents, rank_hits
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Self

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run

#: The grade of a hole while ranks are looked up: among equal scores ties="best" and "worst" put
#: unjudged documents between the relevant ones and the zeros, and so this grade.
_HOLE = float(np.nextafter(0, 1))


class _Rows(NamedTuple):
    """Some documents of a pool, by query: their indices i8[N], and where each query begins."""

    documents: Ints
    starts: Ints

    @classmethod
    def of(cls, documents: Ints, qrels: Qrels) -> Self:
        lengths = np.bincount(qrels.row[documents], minlength=len(qrels))
        return cls(documents, starts_of(lengths))

    def of_queries(self, query: Ints) -> tuple[Ints, Ints]:
        """Return the documents of each query, one query after the other, and whose they are."""
        begin, end = self.starts[query], self.starts[query + 1]
        return self.documents[ranges(begin, end)], rows_of(end - begin)


class Ranked(NamedTuple):
    """Where one run has the documents of a pool.

    Attributes:
        rank: of each document, 0 where it is not retrieved, i8[J].
        judged: the judged documents that are retrieved, by query.
        num_retrieved: by query, i8[Q].
        has_scores: whether scores made the ranking, so that there can be ties.
        has_ties: whether a document of the pool shares its score with another.
    """

    rank: Ints
    judged: _Rows
    num_retrieved: Ints
    has_scores: bool
    has_ties: bool


@dataclass(frozen=True, eq=False)
class Choices:
    """Sets of holes: each chooses, for one query, the holes that are taken to be relevant.

    Attributes:
        query: the query of each set, i8[P].
        size: how many holes each holds, i8[P].
        holes: their indices into the pool, set after set, i8[sum of sizes].
    """

    query: Ints
    size: Ints
    holes: Ints

    def part(self, begin: int, end: int) -> Choices:
        """Return the sets from ``begin`` to ``end``."""
        first = int(self.size[:begin].sum())
        last = first + int(self.size[begin:end].sum())
        return Choices(self.query[begin:end], self.size[begin:end], self.holes[first:last])

    @classmethod
    def none(cls, num_queries: int) -> Choices:
        """Return the empty set for each query: what was judged, as it is."""
        query = np.arange(num_queries, dtype=np.int64)
        return cls(query, np.zeros(num_queries, np.int64), np.zeros(0, np.int64))


class Pool:
    """The judged documents of some queries, and holes beside them. J documents in all.

    Attributes:
        qrels: both, in the order of the queries.
        is_hole: bool[J].
        max_grade: the highest grade of the whole qrels.
    """

    def __init__(
        self, qrels: Qrels, query_ids: Sequence[str], holes: Mapping[str, AbstractSet[str]]
    ) -> None:
        """Put {query_id: unjudged documents} beside the judgements of these queries."""
        judged = qrels.select(query_ids).as_dict()
        self.qrels = Qrels(
            {
                query_id: grades | dict.fromkeys(sorted(holes.get(query_id, ())), _HOLE)
                for query_id, grades in judged.items()
            }
        )
        sizes = [(len(judged[one]), len(holes.get(one, ()))) for one in self.qrels.query_ids]
        self.is_hole: Mask = np.repeat(
            np.tile([False, True], len(sizes)), np.array(sizes, dtype=np.int64).ravel()
        )
        self.max_grade = qrels.max_grade

    @property
    def num_queries(self) -> int:
        """Q, the number of queries."""
        return len(self.qrels)

    def rank(self, run: Run, settings: EvaluationSettings) -> Ranked:
        """Find the documents of the pool in a run."""
        if settings.duplicates == "error":  # the evaluation has looked already, at what it checks
            settings = replace(settings, duplicates="keep")
        rank = np.zeros(len(self.is_hole), dtype=np.int64)
        num_retrieved = np.zeros(self.num_queries, dtype=np.int64)
        has_scores = has_ties = False
        for block in run.blocks(self.qrels):
            kept = drop_documents(block, self.qrels, settings)
            rank[kept.hit_judgement], is_tied = rank_hits(kept, self.qrels, settings)
            num_retrieved[kept.rows] = np.diff(kept.starts)
            has_scores |= kept.scores is not None and settings.order == "score"
            has_ties |= bool(is_tied.any())
        judged = _Rows.of(np.flatnonzero((rank > 0) & ~self.is_hole), self.qrels)
        return Ranked(rank, judged, num_retrieved, has_scores, has_ties)

    def matrix(self, ranked: Ranked, choices: Choices, grade: float) -> RelevanceMatrix:
        """Return a matrix with one row for each set of holes, which have this grade in it.

        Args:
            ranked: where the run has the documents.
            choices: which holes are relevant. [P]
            grade: no judged document may have a higher one.
        """
        found, row = ranked.judged.of_queries(choices.query)
        member = rows_of(choices.size)
        met = ranked.rank[choices.holes] > 0
        row = np.concatenate([row, member[met]])
        rank = np.concatenate([ranked.rank[found], ranked.rank[choices.holes[met]]])
        grades = np.concatenate([self.qrels.grades[found], np.full(int(met.sum()), grade)])
        order = np.argsort(row * (1 + rank.max(initial=0)) + rank, kind="stable")
        return RelevanceMatrix(
            ("",) * len(choices.query),  # sets of holes have no names
            ranked.num_retrieved[choices.query],
            max(self.max_grade, grade),
            Cells(row[order], rank[order], grades[order]),
            self._ideal(choices, grade),
        )

    def _ideal(self, choices: Choices, grade: float) -> Cells:
        """Return the ideal ranking of each set: its holes, then what is judged, best first."""
        found, judged_row = self._judged.of_queries(choices.query)
        row = np.concatenate([rows_of(choices.size), judged_row])
        order = np.argsort(row, kind="stable")
        grades = np.concatenate([np.full(len(choices.holes), grade), self.qrels.grades[found]])
        row = row[order]
        return Cells(row, position_in_row(row) + 1, grades[order])

    @cached_property
    def _judged(self) -> _Rows:
        judged = np.flatnonzero(~self.is_hole)
        row, grades = self.qrels.row[judged], self.qrels.grades[judged]
        return _Rows.of(judged[np.lexsort((-grades, row))], self.qrels)


def judged_share(pool: Pool, ranked: Ranked, depth: int) -> tuple[int, int]:
    """Return how many of the first ``depth`` documents are judged, and of how many."""
    shown = (ranked.rank > 0) & (ranked.rank <= depth) & ~pool.is_hole & (pool.qrels.grades >= 0)
    return int(shown.sum()), int(np.minimum(ranked.num_retrieved, depth).sum())


def in_top(ranked: Sequence[Ranked], depth: int | None) -> Mask:
    """Return which documents of the pool any of these runs has in its first ``depth``, bool[J].

    With None, anywhere.
    """
    found = np.zeros(len(ranked[0].rank), dtype=np.bool_)
    for one in ranked:
        found |= (one.rank > 0) & (one.rank <= (depth or np.inf))
    return found
