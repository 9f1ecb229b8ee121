"""``Pool``: judged and unjudged documents of runs, and scores as if some of these were judged.

A *completion* gives every unjudged document of the collection a grade, or leaves it unjudged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import position_in_row, rows_from_lengths
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
        tops = [result.top or {} for repeats in results for result in repeats]
        self.doc_ids: list[str] = []
        #: The index of each unjudged document of a query. [Q]
        self._indices: list[dict[str, int]] = []
        for query_id in self.query_ids:
            unjudged = {
                doc_id: 0
                for top in (of_run[query_id] for of_run in tops if query_id in of_run)
                for doc_id, grade in zip(top.doc_ids, top.grades, strict=True)
                if grade is None
            }
            begin = len(self.doc_ids)
            self.doc_ids += unjudged
            self._indices.append(dict(zip(unjudged, range(begin, len(self.doc_ids)), strict=True)))
        self.row = rows_from_lengths(np.array([len(indices) for indices in self._indices]))

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
        for query_id, indices in zip(self.query_ids, self._indices, strict=True):
            documents[query_id].update(dict.fromkeys(indices, _SOME_GRADE))
        both = Qrels(documents)
        starts, lengths = both.starts[:-1], np.diff(self._judged.starts)
        is_judged = np.arange(len(both.row)) - starts[both.row] < lengths[both.row]
        self.systems = [
            [self._ranks_of_run(run, both, is_judged, settings) for run in repeats]
            for repeats in runs
        ]

    def _ranks_of_top(self, result: EvaluationResult) -> RunRanks:
        unjudged = [0] * len(self.doc_ids)
        num_retrieved, num_judged = [0] * len(self.query_ids), [0] * len(self.query_ids)
        ranks: list[int] = []
        grades: list[float] = []
        for row, query_id in enumerate(self.query_ids):
            top = (result.top or {}).get(query_id)
            if top is None:
                continue
            begin, num_retrieved[row] = len(ranks), len(top.doc_ids)
            # The first rank of each document: a later copy gains nothing.
            first = dict(zip(reversed(top.doc_ids), range(len(top.doc_ids), 0, -1), strict=True))
            indices = self._indices[row]
            for rank, (doc_id, grade) in enumerate(zip(top.doc_ids, top.grades, strict=True), 1):
                if grade is None:
                    unjudged[indices[doc_id]] = first[doc_id]
                elif first[doc_id] == rank:
                    ranks.append(rank)
                    grades.append(grade)
            num_judged[row] = len(ranks) - begin
        cells = Cells(
            rows_from_lengths(np.array(num_judged)), np.array(ranks, np.int64), np.array(grades)
        )
        return RunRanks(cells, np.array(unjudged, np.int64), np.array(num_retrieved, np.int64))

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
