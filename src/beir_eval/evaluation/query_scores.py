"""Scores and counts of each query: what a result is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.ranking import AS_GIVEN, ONE_VALUE
from beir_eval.core.relevance_matrix import relate
from beir_eval.errors import MeasureError, QueryMismatchError, RunError, first_few
from beir_eval.evaluation.records import Counted
from beir_eval.inspection.unmatched_ids import reason_of_query_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.relevance_matrix import RelevanceMatrix, RunSummary
    from beir_eval.core.run import Run
    from beir_eval.measures import Measure

#: Measures are computed for so many queries at a time, so that the memory of their arrays is used
#: again: 24 measures of 300,000 queries take half of the time in a new process.
_QUERIES_AT_ONCE = 8192
#: Scores of fewer documents may be nearly equal, in rankings that are not wrong.
_FEWEST_DOCUMENTS = 10


def scores_of(
    matrix: RelevanceMatrix, measures: Sequence[Measure], settings: EvaluationSettings
) -> Floats:
    """Return the score of every query on every measure, f8[M, Q]; NaN is an undefined score.

    Args:
        matrix: the matrix of Q queries.
        measures: the M measures.
        settings: ``no_relevant`` says what queries without relevant documents score.

    Raises:
        MeasureError: a score is beyond what a float can hold.
    """
    values = np.empty((len(measures), matrix.num_queries))
    is_too_large = np.zeros(len(measures), dtype=np.bool_)
    for queries, part in matrix.parts(_QUERIES_AT_ONCE):
        for row, measure in zip(values[:, queries], measures, strict=True):
            row[:] = measure.scores(part)
            if settings.no_relevant == "skip":
                row[~measure.has_relevant(part)] = np.nan
        # A sum is finite only if no score is infinite; looking at each score takes twice as long.
        if not np.isfinite(values[:, queries].sum()):
            is_too_large |= np.isinf(values[:, queries]).any(axis=1)
    if is_too_large.any():
        measure = measures[int(np.flatnonzero(is_too_large)[0])]
        msg = f"a score of {measure} is beyond what a float can hold; use smaller gains"
        raise MeasureError(msg)
    return values


def scores_at_tie_extremes(
    qrels: Qrels, run: Run, measures: Sequence[Measure], settings: EvaluationSettings
) -> tuple[Floats, Floats]:
    """Return the scores with relevant documents last, and first, among equal scores: f8[M, Q] each.

    Scores are equal in the precision of the tie rule.

    Args:
        qrels: the judgements of Q queries.
        run: the run.
        measures: the M measures; these are extremes of those that have them
            (``Measure.has_tie_extremes``).
        settings: how the run was evaluated.
    """
    last, first = (relate(qrels, run, settings, extreme=name)[0] for name in ("worst", "best"))
    return scores_of(last, measures, settings), scores_of(first, measures, settings)


def differences_as_given(
    matrix: RelevanceMatrix,
    summary: RunSummary,
    measures: Sequence[Measure],
    settings: EvaluationSettings,
) -> dict[int, list[float]]:
    """Return how much higher scores are where documents' scores are compared as given, not float32.

    Differences are rounded to multiples of 2^-30, so that their sums are exact, in whatever parts
    they are added. Of a measure with a geometric mean they are those of the logarithms.

    Args:
        matrix: the matrix that ``relate`` returned.
        summary: the summary that it returned.
        measures: the M measures.
        settings: those of ``relate``; with another tie rule than "trec_eval9" nothing differs.

    Returns:
        {row of the matrix: the difference on each measure}, of the queries with documents that tie
        as float32 only. [M]
    """
    rows = np.flatnonzero((summary.float32 > 0) & (summary.float32 < AS_GIVEN))
    if not len(rows) or settings.ties != "trec_eval9":
        return {}
    both = (matrix.select(rows), summary.by_double_precision(rows))
    scores = np.array([scores_of(of, measures, settings) for of in both])
    is_geometric = [measure.definition.aggregate == "geometric" for measure in measures]
    scores[:, is_geometric] = np.log(scores[:, is_geometric])
    part, whole = np.modf(np.nan_to_num(scores[1] - scores[0]))
    differences = (whole + np.round(part * 2**30) / 2**30).T
    return dict(zip(rows.tolist(), differences.tolist(), strict=True))


def check_float32(float32: Ints, lengths: Ints) -> None:
    """Raise RunError if float32 makes the different scores of every ranking one value.

    Args:
        float32: what it makes of the scores of each ranking, as in ``RunSummary``, i8[Q].
        lengths: the number of documents of each ranking, i8[Q].
    """
    num_lost = lengths[float32 == ONE_VALUE].sum()
    if (float32 <= ONE_VALUE).all() and num_lost >= _FEWEST_DOCUMENTS:
        msg = (
            "as float32, the different scores of each ranking become one value (0, infinite or the "
            "nearest number), so that only document ids would order them. Choose "
            "ties='trec_eval10', which compares scores as given, or rescale them"
        )
        raise RunError(msg)


def cutoffs_of(measures: Iterable[Measure]) -> list[int]:
    """Return the different cutoffs of measures, ascending."""
    return sorted({measure.cutoff for measure in measures if measure.cutoff})


def ends_before(lengths: Ints, cutoffs: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return {cutoff: (how many rankings end before it, the length of the shortest)}, if any do.

    Args:
        lengths: the length of each ranking that lacks judged text, i8[R].
        cutoffs: the cutoffs.
    """
    return {
        cutoff: (int(np.count_nonzero(lengths < cutoff)), int(lengths.min()))
        for cutoff in cutoffs
        if (lengths < cutoff).any()
    }


def judged_rows(matrix: RelevanceMatrix, cutoff: int) -> Ints:
    """Return the query of each judged document in the first ``cutoff`` ranks, i8[judged]."""
    cells = matrix.cells.upto(cutoff)
    return cells.row[cells.grade >= 0]


def check_missing(
    query_ids: Sequence[str], missing: Mask, settings: EvaluationSettings, run: Run | None = None
) -> None:
    """Raise QueryMismatchError unless the run has the judged queries that it must have.

    Args:
        query_ids: the judged queries. [Q]
        missing: which of them the run does not have, bool[Q].
        settings: ``missing`` says whether all must be there.
        run: the run, which may show why it has none of them; None if it is not at hand.
    """
    if missing.all():
        reason = "" if run is None else reason_of_query_ids(query_ids, run)
        others = (
            "" if run is None else f"; the run has {first_few(run.query_ids) or 'no query at all'}"
        )
        remedy = "Check that both belong to the same data set and split"
        msg = (
            f"the run has no query in common with the qrels. The qrels judge {first_few(query_ids)}"
            f"{others}. {f'Likely reason: {reason}' if reason else remedy}"
        )
        raise QueryMismatchError(msg)
    if settings.missing == "error" and missing.any():
        missing_ids = [query_ids[row] for row in np.flatnonzero(missing).tolist()]
        msg = (
            f"{len(missing_ids)} of {len(query_ids)} judged queries are missing from the run: "
            f"{first_few(missing_ids)}. Complete the run, or choose missing='zero' or 'skip'"
        )
        raise QueryMismatchError(msg)


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """What was counted for each of Q judged queries.

    Attributes:
        query_ids: the queries. [Q]
        missing: which queries the run does not have, bool[Q].
        documents_retrieved: the length of each ranking, without dropped documents, i8[Q].
        documents_judged: how many of these documents have a grade, i8[Q].
        relevant_judgements: how many grades of the qrels are above 0, i8[Q].
        negative_judgements: how many are below 0, i8[Q].
        tied_documents: how many judged documents share their score with another entry, i8[Q].
        duplicates: how many entries list a document again in the same ranking, i8[Q].
        identical_ids: how many retrieved documents have the id of the query, i8[Q].
        float32: what the precision of the tie rule makes of scores, as in ``RunSummary``,
            i8[Q].
    """

    query_ids: tuple[str, ...]
    missing: Mask
    documents_retrieved: Ints
    documents_judged: Ints
    relevant_judgements: Ints
    negative_judgements: Ints
    tied_documents: Ints
    duplicates: Ints
    identical_ids: Ints
    float32: Ints

    @classmethod
    def of_matrix(cls, matrix: RelevanceMatrix, summary: RunSummary, qrels: Qrels) -> QueryCounts:
        """Return the counts of what ``relate`` returned for these qrels."""
        return cls(
            query_ids=matrix.query_ids,
            missing=summary.missing,
            documents_retrieved=matrix.num_retrieved,
            documents_judged=matrix.count(matrix.cells.row),
            relevant_judgements=matrix.num_relevant(),
            negative_judgements=matrix.count(qrels.row[qrels.grades < 0]),
            tied_documents=summary.tied,
            duplicates=summary.duplicates,
            identical_ids=summary.identical,
            float32=summary.float32,
        )

    def counted(
        self,
        settings: EvaluationSettings,
        judged_in_top: Mapping[int, int],
        **of_the_whole: Any,
    ) -> Counted:
        """Return the counts over all queries.

        Args:
            settings: how the run was evaluated.
            judged_in_top: {cutoff: judged documents in the first ``cutoff`` ranks of all queries}.
            of_the_whole: the fields of ``Counted`` that do not belong to a judged query.
        """
        empty = (self.documents_retrieved == 0) & ~self.missing
        without_relevant = self.relevant_judgements == 0
        if settings.missing == "skip":
            without_relevant &= ~self.missing
        # Not validated: these numbers are computed here.
        return Counted.model_construct(
            queries_judged=len(self.query_ids),
            queries_missing=self._ids_where(self.missing),
            queries_empty=self._ids_where(empty),
            queries_without_relevant=self._ids_where(without_relevant),
            duplicates=int(self.duplicates.sum()),
            identical_ids=int(self.identical_ids.sum()),
            tied_documents=int(self.tied_documents.sum()),
            tied_queries=int(np.count_nonzero(self.tied_documents)),
            negative_judgements=int(self.negative_judgements.sum()),
            deepest_ranking=int(self.documents_retrieved.max()),
            judged_in_top={
                cutoff: (judged, int(np.minimum(self.documents_retrieved, cutoff).sum()))
                for cutoff, judged in judged_in_top.items()
            },
            queries_matched=int(np.count_nonzero(self.documents_judged)),
            documents_retrieved=int(self.documents_retrieved.sum()),
            documents_judged=int(self.documents_judged.sum()),
            **of_the_whole,
        )

    def _ids_where(self, mask: Mask) -> tuple[str, ...]:
        """Return the ids of the queries for which a mask is set, bool[Q]."""
        return tuple(self.query_ids[row] for row in np.flatnonzero(mask).tolist())
