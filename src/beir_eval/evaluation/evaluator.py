"""``evaluate`` and ``Evaluator``: the scores of runs on one qrels."""

from __future__ import annotations

import operator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beir_eval._version import __version__
from beir_eval.core.ranking import TIES_WITHOUT_GRADES, EvaluationSettings
from beir_eval.core.relevance_matrix import relate
from beir_eval.core.saved import SCHEMA_VERSION
from beir_eval.errors import (
    SettingError,
    about_system,
    check_count,
    check_flag,
    check_name,
    first_few,
)
from beir_eval.evaluation.coverage import warn_of_content
from beir_eval.evaluation.inputs import as_qrels, as_run, conventions_of, excluding, followed
from beir_eval.evaluation.query_scores import (
    QueryCounts,
    check_float32,
    check_missing,
    cutoffs_of,
    differences_as_given,
    ends_before,
    judged_rows,
    scores_at_tie_extremes,
    scores_of,
)
from beir_eval.evaluation.records import Provenance, QrelsHash, sums_of
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.inspection.inspect import Inspector
from beir_eval.measures import DEFAULT_MEASURES, TEXT_MEASURES, parse_all, with_rel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import RelevanceMatrix, RunSummary
    from beir_eval.core.run import Run
    from beir_eval.evaluation.inputs import ExcludeLike, QrelsLike, RunLike
    from beir_eval.evaluation.records import Counted
    from beir_eval.measures import Measure, MeasureLike


class Evaluator:
    """An evaluator of any number of runs on one qrels.

    It reads the judgements and checks the settings once; ``evaluate(run)`` returns the scores of a
    run. The function ``evaluate`` does both for a single run.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, a dataframe that ``Qrels.from_dataframe``
            reads, a path that ``read_qrels`` reads, or a ``Dataset``. Of a folder named as a data
            set of BEIR, the official split is read ("dev" for msmarco).
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it, such as MAP and Recall, which are then MAP(rel=2) and Recall(rel=2); None:
            every grade above 0 is. nDCG and ERR take the grades as they are.
        order: how a query's documents are ranked:

            - "score": highest score first;
            - "given": in the order of the run, scores are not used. A run without scores is always
              ranked so.
        ties: the order of documents with equal scores, if ``order="score"``:

            - "trec_eval9": document id descending, scores compared as float32, as in trec_eval 9,
              pytrec_eval and BEIR;
            - "trec_eval10": document id descending, scores compared in double precision, as in
              trec_eval 10;
            - "input": in the order of the run;
            - "best" or "worst": relevant documents first or last, scores compared as float32, which
              gives the highest or the lowest score that any order of the tied documents gives.
        missing: what happens to judged queries that the run does not have:

            - "zero": they count as empty rankings, which score 0 in most measures;
            - "skip": they are left out of the means, as in BEIR and pytrec_eval;
            - "error": QueryMismatchError is raised.
        no_relevant: what happens to queries whose qrels have no relevant document (no grade above
            0, or none that reaches the measure's ``rel``):

            - "zero": they score 0 in measures that need a relevant document, as in trec_eval
              (0.00001 in gm_map);
            - "skip": they are left out of the means of these measures; their score is NaN.
        duplicates: what happens to a document that is listed more than once in a ranking:

            - "error": DuplicateDocumentError is raised;
            - "first": only the best-ranked copy counts, and the ranking closes up;
            - "keep": the best-ranked copy counts; the others gain nothing but keep their ranks.
        drop_identical_ids: whether documents whose id equals the query id are removed from the
            rankings; None removes them for a ``Dataset`` or a data-set folder of which BEIR does
            (ArguAna, Quora), and a note of the result says so.
        exclude: documents to leave out of the ranking of a query before ranks are counted, as
            {query_id: [doc_id, …]} or a file with two columns, query and document; None takes those
            that the queries of a data set list (``excluded_ids``, as in BRIGHT). A relevant
            document that is excluded counts as not found.
        keep_top: how many of the best documents of each query the result keeps (its ``top``); 0 for
            none.
        fingerprint: whether the result records the SHA-256 of the qrels and of the run (its
            ``provenance``). This reads all ids of both.

    Attributes:
        qrels: the judgements.
        measures: the measures, in the order given.

    Raises:
        QrelsError: there is no judgement, an id is empty or of another type, or a grade is not a
            finite number.
        MeasureError: a measure does not exist (UnknownMeasureError), its parameter or cutoff is
            impossible, or no measure is named; or ``rel`` is not a finite number above 0.
        SettingError: a setting has another value; or ``ties`` is "best" or "worst" for a measure
            whose highest and lowest scores are not those of relevant documents first and last.
        MissingExtraError: the qrels are a dataframe, and polars (or pyarrow for pandas) is not
            installed.

    >>> evaluator = Evaluator({"q": {"a": 1}}, ["MRR@10"])
    >>> evaluator.evaluate({"q": {"x": 0.9, "a": 0.8}}, name="A")["MRR@10"]
    0.5
    >>> evaluator.evaluate({"q": {"x": 0.8, "a": 0.9}}, name="B")["MRR@10"]
    1.0
    """

    def __init__(  # noqa: PLR0913 - one keyword a policy
        self,
        qrels: QrelsLike,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        *,
        rel: float | None = None,
        order: str = "score",
        ties: str = "trec_eval9",
        missing: str = "zero",
        no_relevant: str = "zero",
        duplicates: str = "error",
        drop_identical_ids: bool | None = None,
        exclude: ExcludeLike | None = None,
        keep_top: int = 0,
        fingerprint: bool = False,
    ) -> None:
        """Check everything that can be checked without a run."""
        self.qrels: Qrels = as_qrels(qrels)
        if exclude is not None:
            self.qrels = excluding(self.qrels, exclude)
        self._conventions = conventions_of(qrels)
        if self._conventions is not None:
            self._conventions = followed(self._conventions, drop_identical_ids)
        self.measures: tuple[Measure, ...] = (
            default_measures(self.qrels) if measures is None else parse_all(measures)
        )
        if rel is not None:
            self.measures = with_rel(self.measures, rel)
        self._settings = EvaluationSettings(
            order=order,
            ties=ties,
            missing=missing,
            no_relevant=no_relevant,
            duplicates=duplicates,
            ranks=self.qrels.ranks,
            drop_identical_ids=(
                self._conventions is not None and self._conventions.drops_identical_ids
                if drop_identical_ids is None
                else drop_identical_ids
            ),
        )
        check_count("keep_top", keep_top, least=0)
        self._keep_top = operator.index(keep_top)
        check_flag("fingerprint", fingerprint)
        self._qrels_sha256 = self.qrels.fingerprint() if fingerprint else None
        self._is_drop_in = False
        self._inspector = Inspector(self.qrels, self.measures)
        if ties not in TIES_WITHOUT_GRADES and (
            names := [str(measure) for measure in self.measures if not measure.has_tie_extremes]
        ):
            msg = (
                f"ties={ties!r} is not offered for {first_few(names)}: relevant documents first or "
                "last are not their extremes; ask for them with another tie rule"
            )
            raise SettingError(msg)

    def evaluate(self, run: RunLike, *, name: str = "run") -> EvaluationResult:
        """Return every score of one run. The run is not changed.

        Args:
            run: ``Run``, {query_id: {doc_id: score}}, a dataframe that ``Run.from_dataframe``
                reads, or the path of a run file.
            name: the name of the system that made the run, for tables and reports.

        Returns:
            The scores of the evaluated queries, in the order of the qrels.

        Raises:
            RunError: a score of a judged query is not a finite number, or an id is empty or of
                another type.
            DuplicateDocumentError: a document is listed twice in the ranking of a judged query, and
                ``duplicates="error"``.
            QueryMismatchError: the run has no judged query; or, with ``missing="error"``, not all
                of them.
            SettingError: the name is not Unicode text.
            MeasureError: a score is beyond what a float can hold.
            MissingExtraError: the run is a dataframe, and polars (or pyarrow for pandas) is not
                installed.

        Warns:
            BeirEvalWarning: no retrieved document is judged, or hardly any, and the document ids of
                run and qrels do not match; the qrels look like a run, and the run like qrels; or
                the qrels have fractional grades, and a measure without a threshold counts every
                grade above 0 as relevant.
        """
        result = self._evaluate(run, name)
        if result.counted is not None and result.counted.findings:
            warn_of_content(result, name)
        return result

    def tie_ranges(self, run: RunLike) -> dict[str, tuple[float, float]]:
        """Return {measure: (its lowest, its highest mean)} over the orders of equal scores.

        Scores are equal in the precision of the tie rule: with ties="trec_eval9" as float32. The
        queries are those of the mean. Measures of what is judged, such as Judged, are left out.

        Args:
            run: as for ``evaluate``, which raises the same errors.

        >>> Evaluator({"q1": {"a": 1}}, "MRR").tie_ranges({"q1": {"a": 0.5, "b": 0.5}})
        {'MRR': (0.5, 1.0)}
        """
        run = as_run(run)
        result = self._evaluate(run, "run", search_ids=False)
        qrels = self.qrels.select(result.query_ids)
        last, first = (
            result.model_copy(update={"values": ScoreMatrix.from_owned_array(scores)}).aggregate
            for scores in scores_at_tie_extremes(qrels, run, self.measures, self._settings)
        )
        return {
            name: (min(last[name], first[name]), max(last[name], first[name]))
            for name in (str(measure) for measure in self.measures if measure.has_tie_extremes)
        }

    def _evaluate(self, run: RunLike, name: str, *, search_ids: bool = True) -> EvaluationResult:
        """Return what ``evaluate`` returns, without the warnings of unmatched ids and mistakes."""
        check_name("name", name)
        if isinstance(run, (str, Path)):
            ranked = as_run(run)
            with about_system(str(run)):  # errors of the content name the file too
                return self._evaluate(ranked, name, search_ids=search_ids)
        run = as_run(run)
        sampler = self._inspector.sampler(run)
        matrix, summary = relate(
            self.qrels, run, self._settings, keep_top=self._keep_top, sampler=sampler
        )
        if summary.missing.any():
            check_missing(self.qrels.query_ids, summary.missing, self._settings, run)
        counted = self._count(matrix, summary, run)
        if sampler is not None and (
            findings := self._inspector.inspect(
                run, matrix, counted, sampler, self._settings, search_ids=search_ids
            )
        ):
            counted = counted.model_copy(update={"findings": findings})
        skipped = None
        if self._settings.missing == "skip" and summary.missing.any():
            without = matrix.select(np.flatnonzero(summary.missing))
            scores = scores_of(without, self.measures, self._settings)
            skipped = ScoreMatrix.from_owned_array(scores)
            matrix = matrix.select(np.flatnonzero(~summary.missing))
        # Not validated, nor are the records inside: these numbers are computed here, and to build
        # the validators takes 30 ms of the first call. Results loaded from a file are validated.
        return EvaluationResult.model_construct(
            schema_version=SCHEMA_VERSION,
            name=name,
            measures=tuple(map(str, self.measures)),
            query_ids=matrix.query_ids,
            values=ScoreMatrix.from_owned_array(scores_of(matrix, self.measures, self._settings)),
            skipped_values=skipped,
            counted=counted,
            settings=replace(self._settings, **run.text_settings),
            provenance=Provenance.model_construct(
                package_version=__version__,
                qrels_hash=QrelsHash(self.qrels),
                qrels_sha256=self._qrels_sha256,
                excluded_sha256=self.qrels.excluded_sha256,
                run_sha256=None if self._qrels_sha256 is None else run.fingerprint(),
                conventions=self._conventions,
            ),
            top=summary.top if self._keep_top else None,
        )

    def _count(self, matrix: RelevanceMatrix, summary: RunSummary, run: Run) -> Counted:
        """Return the counts of queries, documents and judgements of a run."""
        counts = QueryCounts.of_matrix(matrix, summary, self.qrels)
        moved: dict[int, list[float]] = {}
        if not self._is_drop_in:
            check_float32(summary.float32, matrix.num_retrieved)
            moved = differences_as_given(matrix, summary, self.measures, self._settings)
        cutoffs = cutoffs_of(self.measures)
        excluded = None
        if self.qrels.excluded:
            excluded = int(summary.excluded.sum()), int(np.count_nonzero(summary.excluded))
        text = run.text_counts
        if text is not None:
            is_whole = matrix.count(matrix.cells.row) == self.qrels.num_judged
            ends = ends_before(matrix.num_retrieved[~summary.missing & ~is_whole], cutoffs)
            text, cutoffs = replace(text, ends_before=ends), []
        return counts.counted(
            self._settings,
            {cutoff: len(judged_rows(matrix, cutoff)) for cutoff in cutoffs},
            queries_not_judged=len(run) - int(np.count_nonzero(~summary.missing)),
            queries_without_judgements=self.qrels.queries_without_judgements,
            duplicates_checked="all" if run.checks_all_documents else "judged",
            repeated_judgements=self.qrels.repeated_judgements,
            max_grade=matrix.max_grade,
            **run.chunk_counts,
            text=text,
            excluded=excluded,
            double_precision=sums_of(moved.values(), self.measures) if moved else {},
        )


def default_measures(qrels: Qrels) -> tuple[Measure, ...]:
    """Return the measures of an evaluation for which none is named."""
    return TEXT_MEASURES if qrels.ranks == "characters" else DEFAULT_MEASURES


def evaluate_without_warning(
    evaluator: Evaluator, run: RunLike, name: str = "run", *, search_ids: bool = True
) -> EvaluationResult:
    """Return what ``evaluator.evaluate`` returns, for callers that give the warning themselves.

    Args:
        evaluator: the evaluator.
        run: as for ``Evaluator.evaluate``.
        name: the name of the system.
        search_ids: whether ids that do not match are searched for other spellings; contents are
            not.
    """
    return evaluator._evaluate(run, name, search_ids=search_ids)  # noqa: SLF001 - its own module


def for_drop_in(evaluator: Evaluator) -> Evaluator:
    """Return the evaluator for a drop-in of another tool, which does what that tool does.

    It has no warnings on which grade is relevant: callers state it as that tool does. Whatever
    float32 makes of scores, it neither warns nor refuses.
    """
    evaluator._is_drop_in = True  # noqa: SLF001 - its own module
    evaluator._inspector.ignore("deep-learning-grades", "level-above-grades")  # noqa: SLF001
    return evaluator


def evaluate(  # noqa: PLR0913 - one keyword a policy
    qrels: QrelsLike,
    run: RunLike,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    order: str = "score",
    ties: str = "trec_eval9",
    missing: str = "zero",
    no_relevant: str = "zero",
    duplicates: str = "error",
    drop_identical_ids: bool | None = None,
    exclude: ExcludeLike | None = None,
    name: str = "run",
    keep_top: int = 0,
    fingerprint: bool = False,
) -> EvaluationResult:
    """Return every score of one run on one qrels. Neither is changed.

    ``Evaluator`` takes the same settings and evaluates several runs without reading the qrels
    again.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, a dataframe that ``Qrels.from_dataframe``
            reads, a path that ``read_qrels`` reads, or a ``Dataset``. Of a folder named as a data
            set of BEIR, the official split is read ("dev" for msmarco).
        run: ``Run``, {query_id: {doc_id: score}}, a dataframe that ``Run.from_dataframe``
            reads, or the path of a run file.
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it, such as MAP and Recall, which are then MAP(rel=2) and Recall(rel=2); None:
            every grade above 0 is. nDCG and ERR take the grades as they are.
        order: how a query's documents are ranked:

            - "score": highest score first;
            - "given": in the order of the run, scores are not used. A run without scores is always
              ranked so.
        ties: the order of documents with equal scores, if ``order="score"``:

            - "trec_eval9": document id descending, scores compared as float32, as in trec_eval 9,
              pytrec_eval and BEIR;
            - "trec_eval10": document id descending, scores compared in double precision, as in
              trec_eval 10;
            - "input": in the order of the run;
            - "best" or "worst": relevant documents first or last, scores compared as float32, which
              gives the highest or the lowest score that any order of the tied documents gives.
        missing: what happens to judged queries that the run does not have:

            - "zero": they count as empty rankings, which score 0 in most measures;
            - "skip": they are left out of the means, as in BEIR and pytrec_eval;
            - "error": QueryMismatchError is raised.
        no_relevant: what happens to queries whose qrels have no relevant document (no grade above
            0, or none that reaches the measure's ``rel``):

            - "zero": they score 0 in measures that need a relevant document, as in trec_eval
              (0.00001 in gm_map);
            - "skip": they are left out of the means of these measures; their score is NaN.
        duplicates: what happens to a document that is listed more than once in a ranking:

            - "error": DuplicateDocumentError is raised;
            - "first": only the best-ranked copy counts, and the ranking closes up;
            - "keep": the best-ranked copy counts; the others gain nothing but keep their ranks.
        drop_identical_ids: whether documents whose id equals the query id are removed from the
            rankings; None removes them for a ``Dataset`` or a data-set folder of which BEIR does
            (ArguAna, Quora), and a note of the result says so.
        exclude: documents to leave out of the ranking of a query before ranks are counted, as
            {query_id: [doc_id, …]} or a file with two columns, query and document; None takes those
            that the queries of a data set list (``excluded_ids``, as in BRIGHT). A relevant
            document that is excluded counts as not found.
        name: the name of the system that made the run, for tables and reports.
        keep_top: how many of the best documents of each query the result keeps (its ``top``); 0 for
            none.
        fingerprint: whether the result records the SHA-256 of the qrels and of the run (its
            ``provenance``). This reads all ids of both.

    Returns:
        The scores of the evaluated queries, in the order of the qrels.

    Raises:
        QrelsError: there is no judgement, an id is empty or of another type, or a grade is not a
            finite number.
        RunError: a score of a judged query is not a finite number, or an id is empty or of another
            type.
        DuplicateDocumentError: a document is listed twice in the ranking of a judged query, and
            ``duplicates="error"``.
        QueryMismatchError: the run has no judged query; or, with ``missing="error"``, not all of
            them.
        MeasureError: a measure does not exist (UnknownMeasureError), its parameter or cutoff is
            impossible, no measure is named, ``rel`` is not a finite number above 0, or a score is
            beyond what a float can hold.
        SettingError: a setting has another value, or the name is not text; or ``ties`` is "best" or
            "worst" for a measure whose highest and lowest scores are not those of relevant
            documents first and last.
        MissingExtraError: qrels or run are a dataframe, and polars (or pyarrow for pandas) is not
            installed.

    Warns:
        BeirEvalWarning: the qrels have fractional grades, and a measure without a threshold counts
            every grade above 0 as relevant; no retrieved document is judged, or hardly any, and the
            document ids of run and qrels do not match; or the qrels look like a run, and the run
            like qrels, so that the two arguments may be swapped.

    >>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
    >>> result = evaluate(qrels, run, ["nDCG@10", "P@1"], name="bm25")
    >>> round(result["nDCG@10"], 4), result["Precision@1"]
    (0.9299, 1.0)
    """
    evaluator = Evaluator(
        qrels,
        measures,
        rel=rel,
        order=order,
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        duplicates=duplicates,
        drop_identical_ids=drop_identical_ids,
        exclude=exclude,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    return evaluator.evaluate(run, name=name)
