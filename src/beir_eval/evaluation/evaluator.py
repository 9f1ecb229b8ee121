"""Evaluator: qrels and measures once, then any number of runs."""

from __future__ import annotations

import operator
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval._version import __version__
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.relevance_matrix import relate
from beir_eval.core.run import Run
from beir_eval.core.saved import SCHEMA_VERSION
from beir_eval.errors import (
    BeirEvalWarning,
    MeasureError,
    QueryMismatchError,
    SettingError,
    check_count,
    some,
)
from beir_eval.evaluation.records import Counted, Provenance
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures import DEFAULT_MEASURES, parse_all

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.core.qrels import QrelsMapping
    from beir_eval.core.relevance_matrix import RelevanceMatrix, RunSummary
    from beir_eval.core.run import RunMapping
    from beir_eval.measures import Measure, MeasureLike


class Evaluator:
    """Evaluates runs on one qrels; reads the judgements and checks the settings once.

    Args:
        qrels: ``Qrels`` or {query_id: {doc_id: grade}}.
        measures: names in any spelling or ``Measure`` values; by default nDCG, MAP, Recall, R_cap,
            Precision and MRR at 1, 3, 5, 10, 100 and 1000.
        order: "score" (highest first) or "given" (the order of the run is the ranking).
        ties: the order of equal scores: "trec_eval" (document id descending, scores in double
            precision: trec_eval 10), "trec_eval9" (scores as float32: trec_eval 9, pytrec_eval,
            BEIR), "input" (as given), "best" or "worst" (relevant documents first or last).
        missing: a judged query that the run does not have counts as an empty ranking ("zero"), is
            left out ("skip", as BEIR and pytrec_eval do), or is an "error".
        no_relevant: a query with nothing relevant scores 0 ("zero", as trec_eval) or is left out of
            the mean ("skip"; its score is NaN).
        duplicates: a document that stands twice in a ranking is an "error"; "first" counts its
            best-ranked copy only and closes up; "keep" lets later copies gain nothing.
        drop_identical_ids: leave out retrieved documents whose id is that of the query.
        keep_top: how many of the best documents of each query the result keeps.
        fingerprint: keep the SHA-256 of qrels and run in the result; it reads all ids.

    Raises:
        QrelsError, MeasureError, SettingError: the arguments are not as above.

    >>> evaluator = Evaluator({"q": {"a": 1}}, ["MRR@10"])
    >>> evaluator.evaluate({"q": {"x": 0.9, "a": 0.8}}, name="A")["MRR@10"]
    0.5
    >>> evaluator.evaluate({"q": {"x": 0.8, "a": 0.9}}, name="B")["MRR@10"]
    1.0
    """

    def __init__(  # noqa: PLR0913 - one keyword a policy
        self,
        qrels: Qrels | QrelsMapping,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        *,
        order: str = "score",
        ties: str = "trec_eval",
        missing: str = "zero",
        no_relevant: str = "zero",
        duplicates: str = "error",
        drop_identical_ids: bool = False,
        keep_top: int = 0,
        fingerprint: bool = False,
    ) -> None:
        """Check everything that can be checked without a run."""
        self.qrels = Qrels.coerce(qrels)
        self.measures: tuple[Measure, ...] = (
            DEFAULT_MEASURES if measures is None else parse_all(measures)  # type: ignore[arg-type]
        )
        self._settings = EvaluationSettings(
            order=order,
            ties=ties,
            missing=missing,
            no_relevant=no_relevant,
            duplicates=duplicates,
            drop_identical_ids=drop_identical_ids,
        )
        check_count("keep_top", keep_top, least=0)
        self._keep_top = operator.index(keep_top)
        self._qrels_sha256 = self.qrels.fingerprint() if fingerprint else None
        _warn_of_grades(self.qrels, self.measures)
        _check_extremes(ties, self.measures)

    def evaluate(self, run: Run | RunMapping, *, name: str = "run") -> EvaluationResult:
        """Return every score of one run; the run is left as it is.

        Args:
            run: ``Run`` or {query_id: {doc_id: score}}.
            name: what made the run, for tables and reports.

        Raises:
            RunError: a score is not a finite number, an id is not an id, or
                (DuplicateDocumentError) a document stands twice.
            QueryMismatchError: no query in common; or, with ``missing="error"``, queries missing.
        """
        if not isinstance(name, str):
            msg = f"name must be text, not {name!r}"
            raise SettingError(msg)
        run = Run.coerce(run)
        matrix, summary = relate(self.qrels, run, self._settings, keep_top=self._keep_top)
        self._check_queries(summary.missing, run)
        counted = self._counted(matrix, summary, run)
        skipped = None
        if self._settings.missing == "skip" and summary.missing.any():
            skipped = matrix.select(np.flatnonzero(summary.missing))
            matrix = matrix.select(np.flatnonzero(~summary.missing))
        # Not validated: these numbers are our own. What is loaded from a file is.
        return EvaluationResult.model_construct(
            schema_version=SCHEMA_VERSION,
            name=name,
            measures=tuple(map(str, self.measures)),
            query_ids=matrix.query_ids,
            values=self._values(matrix),
            skipped_values=None if skipped is None else self._values(skipped),
            counted=counted,
            settings=self._settings,
            provenance=Provenance(
                package_version=__version__,
                qrels_sha256=self._qrels_sha256,
                run_sha256=None if self._qrels_sha256 is None else run.fingerprint(),
            ),
            top=summary.top if self._keep_top else None,
        )

    def _values(self, matrix: RelevanceMatrix) -> ScoreMatrix:
        values = np.empty((len(self.measures), matrix.num_queries))
        for row, measure in zip(values, self.measures, strict=True):
            row[:] = measure.scores(matrix)
            if self._settings.no_relevant == "skip":
                row[~measure.has_relevant(matrix)] = np.nan
        too_large = np.flatnonzero(np.isinf(values).any(axis=1)).tolist()
        if too_large:
            measure = self.measures[too_large[0]]
            msg = f"a score of {measure} is beyond what a float can hold; use smaller gains"
            raise MeasureError(msg)
        return ScoreMatrix.owning(values)

    def _check_queries(self, missing: Mask, run: Run) -> None:
        if missing.all():
            ours, theirs = some(self.qrels.query_ids), some(run.query_ids) or "no query at all"
            msg = (
                f"the run has no query in common with the qrels. The qrels judge {ours}; the run "
                f"has {theirs}. Check that both belong to the same data set and split"
            )
            raise QueryMismatchError(msg)
        if self._settings.missing == "error" and missing.any():
            absent = [self.qrels.query_ids[row] for row in np.flatnonzero(missing)]
            msg = (
                f"{len(absent)} of {len(self.qrels)} judged queries are missing from the run: "
                f"{some(absent)}. Complete the run, or choose missing='zero' or 'skip'"
            )
            raise QueryMismatchError(msg)

    def _counted(self, matrix: RelevanceMatrix, summary: RunSummary, run: Run) -> Counted:
        query_ids, missing = matrix.query_ids, summary.missing
        empty = (matrix.num_retrieved == 0) & ~missing
        evaluated = (
            ~missing if self._settings.missing == "skip" else np.ones(len(query_ids), np.bool_)
        )
        cutoffs = sorted({measure.cutoff for measure in self.measures if measure.cutoff})

        def ids(mask: Any) -> tuple[str, ...]:
            return tuple(query_ids[row] for row in np.flatnonzero(mask).tolist())

        return Counted(
            queries_judged=len(self.qrels),
            queries_missing=ids(missing),
            queries_empty=ids(empty),
            queries_without_relevant=ids((matrix.num_relevant() == 0) & evaluated),
            queries_not_judged=len(run) - int(np.count_nonzero(~missing)),
            queries_without_judgements=self.qrels.queries_without_judgements,
            duplicates=summary.duplicates,
            duplicates_checked="all" if run.checks_all_documents else "judged",
            identical_ids=summary.identical,
            tied_documents=int(summary.tied.sum()),
            tied_queries=int(np.count_nonzero(summary.tied)),
            negative_judgements=int(np.count_nonzero(self.qrels.grades < 0)),
            repeated_judgements=self.qrels.repeated_judgements,
            max_grade=matrix.max_grade,
            deepest_ranking=int(matrix.num_retrieved.max()),
            judged_in_top={cutoff: _judged_in_top(matrix, cutoff) for cutoff in cutoffs},
        )


def evaluate(  # noqa: PLR0913 - one keyword a policy
    qrels: Qrels | QrelsMapping,
    run: Run | RunMapping,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    order: str = "score",
    ties: str = "trec_eval",
    missing: str = "zero",
    no_relevant: str = "zero",
    duplicates: str = "error",
    drop_identical_ids: bool = False,
    name: str = "run",
    keep_top: int = 0,
    fingerprint: bool = False,
) -> EvaluationResult:
    """Return every score of one run on one qrels; neither is changed.

    The arguments are those of ``Evaluator``, which saves reading the qrels again for every run.

    Raises:
        BeirEvalError: see ``Evaluator`` and ``Evaluator.evaluate``.

    >>> qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.7}}
    >>> result = evaluate(qrels, run, ["nDCG@10", "P@1"], name="bm25")
    >>> round(result["nDCG@10"], 4), result["Precision@1"]
    (0.9299, 1.0)
    """
    evaluator = Evaluator(
        qrels,
        measures,
        order=order,
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        duplicates=duplicates,
        drop_identical_ids=drop_identical_ids,
        keep_top=keep_top,
        fingerprint=fingerprint,
    )
    return evaluator.evaluate(run, name=name)


def _judged_in_top(matrix: RelevanceMatrix, cutoff: int) -> tuple[int, int]:
    shown = matrix.cells.upto(cutoff)
    judged: Floats = shown.grade[shown.grade >= 0]
    return len(judged), int(np.minimum(matrix.num_retrieved, cutoff).sum())


def _warn_of_grades(qrels: Qrels, measures: Iterable[Measure]) -> None:
    unsure = [
        str(measure)
        for measure in measures
        if "rel" in measure.definition.defaults and "rel" not in dict(measure.parameters)
    ]
    if unsure and qrels.has_fractional_grades:
        warnings.warn(
            f"the qrels hold fractional grades, and every grade above 0 counts as relevant for "
            f"{some(unsure)}; set a threshold, for example Precision(rel=0.5)@10",
            BeirEvalWarning,
            stacklevel=_frames_of_this_package(),
        )


def _frames_of_this_package() -> int:
    """Return the ``stacklevel`` with which a warning points at the line of the caller outside."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as the warnings module does
    level = 1
    while frame and frame.f_globals.get("__name__", "").startswith("beir_eval."):
        frame, level = frame.f_back, level + 1
    return level


def _check_extremes(ties: str, measures: Iterable[Measure]) -> None:
    names = [str(one) for one in measures if not one.has_tie_extremes]
    if ties in ("best", "worst") and names:
        msg = (
            f"ties={ties!r} is not offered for {some(names)}: relevant documents first or last are "
            "not their extremes; ask for them with another tie rule"
        )
        raise SettingError(msg)
