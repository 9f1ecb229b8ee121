"""The unjudged documents most worth judging: each is judged alone, and the systems scored again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.differences import pairs_to_compare
from beir_eval.comparison.records import DocumentToJudge
from beir_eval.core.arrays import position_in_row, rows_from_lengths
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import drop_documents, rank_hits
from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix, relate
from beir_eval.errors import NotEvaluatedError
from beir_eval.measures import parse
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.measures import Measure

#: Of rankings, so many documents are looked at for a measure without a cutoff; and for one with a
#: cutoff beyond it, all down to the cutoff if all rankings together are no longer than the second.
_DEPTH, _MOST_DOCUMENTS = 100, 3_000_000
#: The greatest number of documents of a measure, and of their changes of differences.
_MOST_CANDIDATES, _MOST_CHANGES = 1000, 200_000
#: The grade of an unjudged document while runs are ranked; ties do not depend on grades here.
_SOME_GRADE = 1.0


class ComparedRuns(NamedTuple):
    """The runs of a comparison.

    Attributes:
        qrels: the judgements.
        runs: the repeats of each system.
        settings: how they were evaluated.
    """

    qrels: Qrels
    runs: Mapping[str, Sequence[Run]]
    settings: EvaluationSettings

    def documents_to_judge(self, comparison: Compared, name: str) -> list[DocumentToJudge]:
        """Return the documents that could change the differences on a measure, most first.

        Args:
            comparison: the comparison.
            name: the canonical name of the measure.

        Raises:
            NotEvaluatedError: ranks depend on grades, with ties="best" or "worst".
        """
        if self.settings.ties in ("best", "worst"):
            msg = (
                f"documents to judge are not known with ties={self.settings.ties!r}, by which a "
                "judgement changes ranks; choose another tie rule"
            )
            raise NotEvaluatedError(msg)
        measure, systems = parse(name), comparison.systems
        pool = _Pool(
            self.qrels.select(comparison.query_ids),
            [self.runs[system] for system in systems],
            self.settings,
            self._depth(measure),
        )
        highest = self.qrels.max_grade if self.qrels.max_grade > 0 else 1.0
        changes = pool.changes(measure, highest)
        is_compared: Mask = np.logical_not(np.isnan(comparison.scores[name].array).any(axis=0))
        changes = changes * is_compared[pool.row] / is_compared.sum()
        return list(_listed(comparison, name, pool, changes))

    def _depth(self, measure: Measure) -> int:
        """Return how many documents of each ranking are looked at."""
        num_rankings = len(self.qrels) * sum(map(len, self.runs.values()))
        # Without unjudged documents, which ``judged_only`` leaves out, later ones move up.
        is_condensed = (JUDGED_ONLY, True) in measure.parameters
        cutoff = None if is_condensed else measure.cutoff
        return min(cutoff or _DEPTH, max(_MOST_DOCUMENTS // max(num_rankings, 1), _DEPTH))


def _listed(
    comparison: Compared, name: str, pool: _Pool, changes: Floats
) -> Iterator[DocumentToJudge]:
    """Yield the documents with the greatest changes, added up over the pairs.

    Args:
        comparison: the comparison.
        name: the name of the measure.
        pool: the documents.
        changes: of the mean of each system, f8[S, U].
    """
    systems = comparison.systems
    pairs = pairs_to_compare(systems, comparison.baseline).listed
    total = np.zeros(len(pool.row))
    for system, against in pairs:
        total += np.abs(changes[system] - changes[against])
    most = min(_MOST_CANDIDATES, _MOST_CHANGES // len(pairs))
    # Rounded, because last bits would order documents that matter equally.
    for document in np.argsort(-np.round(total, 12), kind="stable")[:most].tolist():
        if not total[document]:
            return
        by_pair: dict[str, dict[str, float]] = {}
        for system, against in pairs:
            if change := float(changes[system, document] - changes[against, document]):
                by_pair.setdefault(systems[system], {})[systems[against]] = change
        ranks = {
            system: [int(run.unjudged[document]) for run in repeats if run.unjudged[document]]
            for system, repeats in zip(systems, pool.runs, strict=True)
        }
        yield DocumentToJudge(
            measure=name,
            query_id=pool.query_ids[pool.row[document]],
            doc_id=pool.doc_ids[document],
            ranks={system: min(known) for system, known in ranks.items() if known},
            changes=by_pair,
            total=float(total[document]),
        )


class _Ranks(NamedTuple):
    """Where the judged and the unjudged documents of one run are.

    Attributes:
        judged: the judged documents that are retrieved, at their ranks.
        unjudged: the rank of each unjudged document of the pool; 0 if it is not retrieved, i8[U].
        num_retrieved: the length of each ranking, i8[Q].
    """

    judged: Cells
    unjudged: Ints
    num_retrieved: Ints


class _Pool:
    """The judged documents of Q queries, and the U unjudged ones in the top of any run.

    Attributes:
        query_ids: the queries. [Q]
        row: the query of each unjudged document, ascending, i8[U].
        doc_ids: the unjudged documents. [U]
        runs: the ranks in each run of each system. [S][repeats]
    """

    def __init__(
        self,
        qrels: Qrels,
        runs: Sequence[Sequence[Run]],
        settings: EvaluationSettings,
        depth: int,
    ) -> None:
        """Collect the documents in the top of each ranking, and rank them in all runs.

        Args:
            qrels: the judgements of the queries.
            runs: the runs of each system. [S][repeats]
            settings: how they were evaluated; not ties="best" or "worst", which need grades.
            depth: the length of a top.
        """
        self.query_ids = qrels.query_ids
        self._judgements = (qrels.row, qrels.grades)
        if settings.duplicates == "error":  # the evaluation has already raised
            settings = replace(settings, duplicates="keep")
        unjudged: dict[str, dict[str, float]] = {query_id: {} for query_id in qrels.query_ids}
        for run in (run for repeats in runs for run in repeats):
            for query_id, top in relate(qrels, run, settings, keep_top=depth)[1].top.items():
                known = zip(top.doc_ids, top.grades, strict=True)
                unjudged[query_id] |= {doc: _SOME_GRADE for doc, grade in known if grade is None}
        self.row = rows_from_lengths(np.array([len(docs) for docs in unjudged.values()]))
        self.doc_ids = [doc_id for docs in unjudged.values() for doc_id in docs]
        judged = qrels.as_dict()
        both = Qrels({query_id: judged[query_id] | docs for query_id, docs in unjudged.items()})
        both = both.excluding_as(qrels)
        is_judged = position_in_row(both.row) < qrels.num_judged[both.row]
        self.runs = [
            [self._ranks_of(run, both, is_judged, settings) for run in repeats] for repeats in runs
        ]

    def _ranks_of(
        self, run: Run, both: Qrels, is_judged: Mask, settings: EvaluationSettings
    ) -> _Ranks:
        rank = np.zeros(len(both.row), dtype=np.int64)
        num_retrieved = np.zeros(len(self.query_ids), dtype=np.int64)
        for block in run.blocks(both):
            kept = drop_documents(block, both, settings)
            rank[kept.hit_judgement] = rank_hits(kept, both, settings)[0]
            num_retrieved[kept.rows] = np.diff(kept.starts)
        hits = np.flatnonzero(is_judged & (rank > 0))
        return _Ranks(
            Cells(both.row[hits], rank[hits], both.grades[hits]), rank[~is_judged], num_retrieved
        )

    def changes(self, measure: Measure, highest: float) -> Floats:
        """Return how much each score changes if one document alone is relevant, f8[S, U].

        One document of each query is judged at a time. It gets the highest grade; the measure's
        ``rel``, if that is higher; or that of its gain table, if the table has no such grade.

        Args:
            measure: the measure.
            highest: the highest grade of the qrels, above 0.
        """
        parameters: dict[str, Any] = dict(measure.parameters)
        grade = max(highest, parameters.get("rel") or 0.0)
        gain = parameters.get("gain")
        if isinstance(gain, tuple) and grade not in dict(gain):
            grade = max(dict(gain))
        changes = np.zeros((len(self.runs), len(self.row)))
        position = position_in_row(self.row)
        observed = self._scores(measure, np.zeros(0, dtype=np.int64), grade, highest)
        for index in range(int(position.max(initial=-1)) + 1):
            documents = np.flatnonzero(position == index)
            change = self._scores(measure, documents, grade, highest) - observed
            changes[:, documents] = change[:, self.row[documents]]
        return changes

    def _scores(self, measure: Measure, documents: Ints, grade: float, highest: float) -> Floats:
        """Return the scores if some documents have a grade, means over repeats, f8[S, Q].

        Args:
            measure: the measure.
            documents: the documents, in the order of their queries, i8[N].
            grade: their grade.
            highest: the highest grade of the qrels.
        """
        grades = np.full(len(documents), grade)
        ideal_row = np.concatenate([self._judgements[0], self.row[documents]])
        ideal_grade = np.concatenate([self._judgements[1], grades])
        best_first = np.lexsort((-ideal_grade, ideal_row))
        ideal_row, ideal_grade = ideal_row[best_first], ideal_grade[best_first]
        ideal = Cells(ideal_row, position_in_row(ideal_row) + 1, ideal_grade)

        def matrix_of(ranks: _Ranks) -> RelevanceMatrix:
            rank = ranks.unjudged[documents]
            hits = np.flatnonzero(rank)
            row = np.concatenate([ranks.judged.row, self.row[documents[hits]]])
            rank = np.concatenate([ranks.judged.rank, rank[hits]])
            order = np.lexsort((rank, row))
            all_grades = np.concatenate([ranks.judged.grade, grades[hits]])
            cells = Cells(row[order], rank[order], all_grades[order])
            max_grade = max(highest, grade) if len(documents) else highest
            return RelevanceMatrix(self.query_ids, ranks.num_retrieved, max_grade, cells, ideal)

        return np.stack(
            [
                np.mean([measure.scores(matrix_of(ranks)) for ranks in repeats], axis=0)
                for repeats in self.runs
            ]
        )
