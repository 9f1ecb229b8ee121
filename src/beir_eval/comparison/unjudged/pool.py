"""``Pool``: judged and unjudged documents of runs, and scores as if some of these were judged.

A *completion* gives every unjudged document of the collection a grade, or leaves it unjudged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import position_in_row
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import drop_documents, rank_hits
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: The grade of an unjudged document while whole runs are ranked; ties do not depend on grades here.
_SOME_GRADE = 1.0


class RunRanks(NamedTuple):
    """One run: where its judged and its unjudged documents are.

    Attributes:
        judged: the judged documents that are retrieved, at their ranks.
        unjudged: the rank of each unjudged document of the pool, 0 if it is not retrieved, or below
            what is known of the ranking, i8[U].
        num_retrieved: the length of each ranking, as far as it is known, i8[Q].
    """

    judged: Cells
    unjudged: Ints
    num_retrieved: Ints


class Pool:
    """The judged documents of Q queries, and the U unjudged ones in the top of any run.

    Attributes:
        query_ids: the queries. [Q]
        row: the query of each unjudged document, ascending, i8[U].
        doc_ids: the unjudged documents. [U]
        judgements: the query and the grade of each judged document.
        max_grade: the highest grade of the whole qrels; 1 if none is above 0.
        systems: the ranks in each run of each system, after ``rank_top`` or ``rank_whole``.
            [S][repeats]
    """

    systems: list[list[RunRanks]]

    def __init__(
        self,
        qrels: Qrels,
        query_ids: Sequence[str],
        results: Sequence[Sequence[EvaluationResult]],
    ) -> None:
        """Collect the documents in the top of each ranking.

        Args:
            qrels: the judgements.
            query_ids: the queries. [Q]
            results: the results of each system, with top documents. [S][repeats]
        """
        self._judged = qrels.select(query_ids)
        self.query_ids = self._judged.query_ids
        self.judgements = (self._judged.row, self._judged.grades)
        self.max_grade = qrels.max_grade if qrels.max_grade > 0 else 1.0
        self._row_of = {query_id: row for row, query_id in enumerate(self.query_ids)}
        unjudged: dict[tuple[int, str], None] = {}
        for result in (result for repeats in results for result in repeats):
            for query_id, top in (result.top or {}).items():
                row = self._row_of.get(query_id, -1)
                if row >= 0 and None in top.grades:
                    listed = zip(top.doc_ids, top.grades, strict=True)
                    unjudged.update(
                        ((row, doc_id), None) for doc_id, grade in listed if grade is None
                    )
        documents = sorted(unjudged, key=lambda document: document[0])
        self._index = {document: index for index, document in enumerate(documents)}
        self.row = np.fromiter((row for row, _ in documents), np.int64, len(documents))
        self.doc_ids = [doc_id for _, doc_id in documents]

    def rank_top(self, results: Sequence[Sequence[EvaluationResult]]) -> None:
        """Rank the top documents of each result.

        Args:
            results: the results of each system, with top documents. [S][repeats]
        """
        self.systems = [[self._ranks_of_top(result) for result in repeats] for repeats in results]

    def rank_whole(self, runs: Sequence[Sequence[Run]], settings: EvaluationSettings) -> None:
        """Rank whole runs, for measures to which documents below the top matter.

        Args:
            runs: the runs of each system. [S][repeats]
            settings: how they were evaluated; not ties="best" or "worst", which need grades.
        """
        if settings.duplicates == "error":  # the evaluation has already raised
            settings = replace(settings, duplicates="keep")
        documents = self._judged.as_dict()
        for row, doc_id in self._index:
            documents[self.query_ids[row]][doc_id] = _SOME_GRADE
        both = Qrels(documents)
        starts, lengths = both.starts[:-1], np.diff(self._judged.starts)
        is_judged = np.arange(len(both.row)) - starts[both.row] < lengths[both.row]
        self.systems = [
            [self._ranks_of_run(run, both, is_judged, settings) for run in repeats]
            for repeats in runs
        ]

    def _ranks_of_top(self, result: EvaluationResult) -> RunRanks:
        unjudged = np.zeros(len(self.doc_ids), dtype=np.int64)
        num_retrieved = np.zeros(len(self.query_ids), dtype=np.int64)
        rows: list[int] = []
        ranks: list[int] = []
        grades: list[float] = []
        for row, query_id in enumerate(self.query_ids):
            top = (result.top or {}).get(query_id)
            if top is None:
                continue
            num_retrieved[row] = len(top.doc_ids)
            seen: set[str] = set()
            for rank, (doc_id, grade) in enumerate(zip(top.doc_ids, top.grades, strict=True), 1):
                if doc_id in seen:  # a later copy gains nothing
                    continue
                seen.add(doc_id)
                if grade is None:
                    unjudged[self._index[row, doc_id]] = rank
                else:
                    rows.append(row)
                    ranks.append(rank)
                    grades.append(grade)
        cells = Cells(np.array(rows, np.int64), np.array(ranks, np.int64), np.array(grades))
        return RunRanks(cells, unjudged, num_retrieved)

    def _ranks_of_run(
        self, run: Run, both: Qrels, is_judged: np.ndarray, settings: EvaluationSettings
    ) -> RunRanks:
        rank = np.zeros(len(both.row), dtype=np.int64)
        num_retrieved = np.zeros(len(self.query_ids), dtype=np.int64)
        for block in run.blocks(both):
            kept = drop_documents(block, both, settings)
            rank[kept.hit_judgement] = rank_hits(kept, both, settings)[0]
            num_retrieved[kept.rows] = np.diff(kept.starts)
        retrieved = np.flatnonzero(is_judged & (rank > 0))
        retrieved = retrieved[np.lexsort((rank[retrieved], both.row[retrieved]))]
        judged = Cells(both.row[retrieved], rank[retrieved], both.grades[retrieved])
        return RunRanks(judged, rank[~is_judged], num_retrieved)

    def scores(self, systems: Iterable[int], measure: Measure, grades: Floats) -> Floats:
        """Return the scores of some systems under a completion, means over repeats, f8[S, Q].

        Args:
            systems: their indices. [S]
            measure: the measure.
            grades: the grade of each unjudged document; NaN if it stays unjudged, f8[U].
        """
        graded = np.flatnonzero(~np.isnan(grades))
        row = np.concatenate([self.judgements[0], self.row[graded]])
        grade = np.concatenate([self.judgements[1], grades[graded]])
        best_first = np.lexsort((-grade, row))
        row, grade = row[best_first], grade[best_first]
        ideal = Cells(row, position_in_row(row) + 1, grade)
        highest = max(self.max_grade, float(grades[graded].max(initial=0.0)))
        return np.stack(
            [
                np.mean(
                    [
                        measure.scores(self._matrix(ranks, graded, grades, ideal, highest))
                        for ranks in self.systems[system]
                    ],
                    axis=0,
                )
                for system in systems
            ]
        )

    def _matrix(
        self, ranks: RunRanks, graded: Ints, grades: Floats, ideal: Cells, highest: float
    ) -> RelevanceMatrix:
        """Return the matrix of a run in which some unjudged documents have grades.

        Args:
            ranks: the run.
            graded: the documents with a grade.
            grades: the grade of each unjudged document, f8[U].
            ideal: the ideal rankings.
            highest: the highest grade.
        """
        retrieved = graded[ranks.unjudged[graded] > 0]
        row = np.concatenate([ranks.judged.row, self.row[retrieved]])
        rank = np.concatenate([ranks.judged.rank, ranks.unjudged[retrieved]])
        grade = np.concatenate([ranks.judged.grade, grades[retrieved]])
        order = np.lexsort((rank, row))
        cells = Cells(row[order], rank[order], grade[order])
        return RelevanceMatrix(self.query_ids, ranks.num_retrieved, highest, cells, ideal)

    @property
    def longest(self) -> int:
        """The length of the longest ranking, as far as it is known."""
        return max(
            int(ranks.num_retrieved.max(initial=0)) for repeats in self.systems for ranks in repeats
        )
