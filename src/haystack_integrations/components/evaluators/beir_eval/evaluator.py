"""The component ``BEIREvaluator``: evaluates retrieved documents by ground truth or by qrels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.core.component import InputSocket

from beir_eval.adapters.readers import read_qrels
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, QrelsError, SettingError, check_choice, first_few, shown
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.integrations.haystack.documents import RetrievedNames
from beir_eval.integrations.haystack.haystack_rules import (
    HAYSTACK_MEASURES,
    check_field,
    check_lengths,
    evaluate_as_haystack,
)
from beir_eval.integrations.retrieval.documents import AUTO, DocumentNames
from beir_eval.measures import DEFAULT_MEASURES, TEXT_MEASURES, Measure, nDCG, parse, parse_all
from beir_eval.spans import Chunks, SpanView

from .findings import tell, with_findings
from .inputs import (
    UNJUDGED,
    UNMATCHED,
    JudgedSpans,
    are_chunks_of_indexed,
    judgements_of,
    naming_positions,
    qrels_from_judgements,
    resolve_query_ids,
    select_qrels,
    with_rel,
)
from .outputs import OUTPUT_TYPES, component_outputs, make_run_async

RULES = ("beir_eval", "haystack")
#: The settings of Haystack's own evaluators.
_SETTINGS_OF_HAYSTACK: dict[str, Any] = {
    "collapse": None,
    "order": "given",
    "duplicates": "keep",
    "unjudged": "zero",
    "unmatched": "missed",
}

#: The measure of ``score`` if it is evaluated and no other is named, as in the report.
_MAIN_MEASURE = nDCG @ 10

#: Haystack's marker for an input without a default value. With it, a required input may follow
#: optional ones in the signature, and a pipeline still requires it.
_MANDATORY: Any = InputSocket.default_value


@component
class BEIREvaluator:
    """Evaluates retrieved documents: nDCG, MAP, Recall, R_cap, Precision, MRR at k, and more.

    Its inputs are those of Haystack's document evaluators. Its outputs include theirs (``score``,
    ``individual_scores``), and the scores of all measures. The mean is over the queries of the
    call; an empty list of retrieved documents scores 0.

    For example::

        from haystack import Document
        from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

        evaluator = BEIREvaluator(["nDCG@10", "Recall@10"])
        outputs = evaluator.run(
            ground_truth_documents=[[Document(content="Paris"), Document(content="France")]],
            retrieved_documents=[[Document(content="Paris"), Document(content="Berlin")]],
        )
        assert outputs["metrics"]["Recall@10"] == 0.5
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        measures: Sequence[str | Measure] | str | Measure | None = None,
        *,
        primary: str | Measure | None = None,
        document_comparison_field: str | Sequence[str] | None = None,
        collapse: str | None = AUTO,
        qrels: Qrels | Mapping[str, Mapping[str, float]] | str | Path | None = None,
        split: str | None = None,
        rel: float | None = None,
        order: str = "given",
        duplicates: str = "first",
        unjudged: str = "error",
        unmatched: str = "missed",
        rules: str = "beir_eval",
        spans: str | Path | Mapping[str, Any] | None = None,
    ) -> None:
        """Set the measures, and how documents are matched.

        Args:
            measures: names in any spelling, or ``Measure`` values; by default BEIR's: nDCG, MAP,
                Recall, R_cap, Precision and MRR at 1, 3, 5, 10, 100 and 1000.
            primary: the measure of ``score`` and ``individual_scores``; computed in any case, also
                if ``measures`` does not name it. By default nDCG@10 if it is one of the measures,
                otherwise the first measure.
            document_comparison_field: the field that identifies a document: "content", "id" or
                "meta.a.b", or a list of these as a composite key. By default "content" for
                ground-truth documents, as in Haystack's evaluators; "id" for qrels, for a ``Run``,
                and with ``collapse``.
            collapse: the field with the name of the document that a chunk is a part of, such as
                "meta.source_id", which Haystack's DocumentSplitter sets. Of several chunks of a
                document, only the best-ranked counts; the documents below it move up. A document
                without this field counts as a document of its own; a warning counts these. By
                default ("auto") a document that ``index`` has written, or a chunk of it, counts as
                the document in "meta.beir_doc_id", if documents are identified by their id, and
                ``duplicates`` is "first"; with ground-truth documents also if no field is stated,
                all documents have it and a retrieved one is a chunk. None: each chunk counts as a
                document.
            qrels: judgements, as {query_id: {doc_id: grade}} or ``Qrels``; or a file or data-set
                folder, read when the component warms up. The query ids are those of
                ``query_ids``, the document ids are the values of ``document_comparison_field``.
            split: the split of a data-set folder; "test" by default.
            rel: the lowest relevant grade, for measures of binary relevance; above 0 by default.
            order: whether lists of documents are ranked by their order ("given") or by
                ``Document.score`` ("score"). A ``Run`` is ranked by its scores, or by its order if
                it has none.
            duplicates: a document retrieved twice counts at its best rank only, and the documents
                below the others move up ("first"); keeps both ranks and gains once ("keep"); or is
                an "error".
            unjudged: a query without judgements is an "error", scores NaN and is left out of the
                means ("skip"), or scores 0 ("zero").
            unmatched: a ground-truth document without the field that identifies it can match
                nothing: it counts as relevant and never found ("missed"), or is an "error".
            rules: "beir_eval", or "haystack" for the numbers of Haystack's own evaluators; see
                ``haystack_compatible``, which sets the other arguments that it needs.
            spans: a file of judged spans of text (see ``Spans.from_jsonl``), in place of qrels,
                read when the component warms up. Retrieved documents are chunks, which are found in
                the text of the document in "meta.beir_doc_id", or in the field ``collapse``. Or a
                dict with the file as "path", and more: "corpus", the data-set folder or the corpus
                file of the documents (by default the folder of the file); "ranks", what has a rank,
                "characters" (the default) or "chunks"; "overlap", the share of a span that counts
                (see ``Spans.view``; by default .75 for chunks).

        Raises:
            MeasureError: a measure or a cutoff does not exist.
            SettingError: a setting has no such value, or two settings exclude each other.
            QrelsError: ``qrels`` is not valid; for a file, see ``warm_up``.
        """
        check_choice("order", order, ("given", "score"))
        check_choice("duplicates", duplicates, ("first", "keep", "error"))
        check_choice("unjudged", unjudged, UNJUDGED)
        check_choice("unmatched", unmatched, UNMATCHED)
        check_choice("rules", rules, RULES)
        self.rel, self.order, self.duplicates = rel, order, duplicates
        self.unjudged, self.unmatched, self.rules = unjudged, unmatched, rules
        self.spans = None if spans is None else JudgedSpans.from_setting(spans)
        default = HAYSTACK_MEASURES if rules == "haystack" else DEFAULT_MEASURES
        if self.spans is not None and self.spans.ranks == "characters":
            default = TEXT_MEASURES
        chosen: Iterable[Measure] = default if measures is None else parse_all(measures)
        thresholded = [with_rel(measure, rel) for measure in chosen]
        if primary is not None:
            self.primary = with_rel(parse(primary), rel)
        else:
            self.primary = _MAIN_MEASURE if _MAIN_MEASURE in thresholded else thresholded[0]
        self.measures = tuple(dict.fromkeys([*thresholded, self.primary]))
        field = document_comparison_field
        self.document_comparison_field = list(field) if isinstance(field, (list, tuple)) else field
        self.split = split
        if collapse == AUTO and (duplicates != "first" or rules == "haystack"):
            collapse = None
        self.collapse = collapse
        # The component may be saved, and read its qrels, in another folder than this one.
        self._qrels_path = str(Path(qrels).absolute()) if isinstance(qrels, (str, Path)) else None
        self._qrels = None if qrels is None or self._qrels_path else Qrels.coerce(qrels)
        #: The hash that a file of qrels had when the component was saved.
        self._saved_hash: str | None = None
        self._view: SpanView | None = None
        self._check_settings(has_qrels=qrels is not None)

    def _check_settings(self, *, has_qrels: bool) -> None:
        """Raise SettingError for settings that exclude each other."""
        if self.rules == "haystack" and isinstance(self.document_comparison_field, str):
            check_field(self.document_comparison_field)
        self._document_names("id")
        if self.collapse is not None and self.duplicates != "first":
            msg = "collapse counts the best-ranked chunk of a document: it needs duplicates='first'"
            raise SettingError(msg)
        if self.split is not None and self._qrels_path is None:
            msg = f"split={self.split!r} is for qrels in a data-set folder"
            raise SettingError(msg)
        suits_spans = (self.rules, self.order) == ("beir_eval", "given") and self.unjudged != "zero"
        if self.spans is not None and (has_qrels or not suits_spans):
            msg = (
                "judged spans need rules='beir_eval', order='given', unjudged='error' or 'skip', "
                "and no qrels"
            )
            raise SettingError(msg)
        if self.rules == "haystack":
            self._check_haystack_rules(has_qrels=has_qrels)

    @classmethod
    def haystack_compatible(
        cls, primary: str | Measure = "nDCG", *, document_comparison_field: str = "content"
    ) -> "BEIREvaluator":
        """Return an evaluator with exactly the numbers of Haystack's own evaluators (3.x).

        It has five measures: "nDCG" is DocumentNDCGEvaluator, "MAP" is DocumentMAPEvaluator, "MRR"
        is DocumentMRREvaluator, "Success" and "Recall" are DocumentRecallEvaluator in the modes
        "single_hit" and "multi_hit". Only nDCG reads the scores of ground-truth documents. If they
        are not valid grades (some are missing, negative or not finite), nDCG is left out with a
        warning; with nDCG as ``primary`` this is an error.

        Errors that Haystack's evaluators raise too have their words. docs/drop-in.md lists the
        differences.

        Args:
            primary: which of these is the measure of ``score`` and ``individual_scores``.
            document_comparison_field: the field that identifies a document: "content", "id" or
                "meta.a.b".

        Raises:
            MeasureError, SettingError: ``primary`` is not one of the five, or another field.
        """
        if not isinstance(primary, (str, Measure)):
            msg = (
                f"primary must be one measure, not {shown(primary)}; all five measures are "
                "computed, and primary is that of score: haystack_compatible(primary='MRR')"
            )
            raise SettingError(msg)
        if not isinstance(document_comparison_field, str):
            msg = (
                "haystack_compatible compares documents by one field only, as Haystack does, not "
                f"by {shown(document_comparison_field)}; a composite key needs BEIREvaluator(…)"
            )
            raise SettingError(msg)
        return cls(
            HAYSTACK_MEASURES,
            primary=primary,
            document_comparison_field=document_comparison_field,
            rules="haystack",
            **_SETTINGS_OF_HAYSTACK,
        )

    def _document_names(self, default: str) -> DocumentNames:
        field = self.document_comparison_field
        return DocumentNames.from_fields(default if field is None else field, self.collapse)

    def _names_for(
        self, truth: list[list[Document]] | None, retrieved: list[list[Document]]
    ) -> DocumentNames:
        """Return the fields that identify documents: of ground truth, content unless stated."""
        if truth is None or self.collapse not in {None, AUTO}:
            return self._document_names("id")
        is_stated = self.document_comparison_field is not None
        if self.collapse == AUTO and not is_stated and are_chunks_of_indexed(truth, retrieved):
            return self._document_names("id")
        return self._document_names("content")

    def _check_haystack_rules(self, *, has_qrels: bool) -> None:
        """Raise SettingError for measures or settings that Haystack's rules do not have."""
        unsupported = [
            str(measure) for measure in self.measures if measure not in HAYSTACK_MEASURES
        ]
        if unsupported:
            known = ", ".join(map(str, HAYSTACK_MEASURES))
            msg = f"rules='haystack' knows {known}, but not {first_few(unsupported)}"
            raise SettingError(msg)
        field = self.document_comparison_field
        own = [
            name for name, value in _SETTINGS_OF_HAYSTACK.items() if getattr(self, name) != value
        ]
        own += ["qrels"] * has_qrels + ["document_comparison_field"] * isinstance(field, list)
        if own:
            msg = (
                f"rules='haystack' has its own {first_few(own)}; make the component with "
                "BEIREvaluator.haystack_compatible()"
            )
            raise SettingError(msg)

    # Judgements

    def warm_up(self) -> None:
        """Read the qrels or spans if they are in a file or folder; only the first call reads.

        Raises:
            FileFormatError, OSError: they cannot be read.
            SettingError: ``split`` is set, and the qrels are a file.
            QrelsError: the qrels are others than when the component was saved, or a span does not
                fit the corpus.
        """
        if self.spans is not None and self._view is None:
            self._view = self.spans.view()
        if self._qrels_path is None or self._qrels is not None:
            return
        qrels = read_qrels(self._qrels_path, split=self.split)
        if self._saved_hash not in {None, qrels.fingerprint()}:
            msg = (
                f"{self._qrels_path}: the judgements have changed since the component was saved: "
                f"their SHA-256 is {qrels.fingerprint()}, not {self._saved_hash}; restore them, or "
                "make and save the component anew"
            )
            raise QrelsError(msg)
        self._qrels = qrels

    # Serialisation

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as Haystack's serialisation of the component.

        Qrels from a file are serialised as its path. Beside the settings, "judgements" has what
        ``from_dict`` checks or keeps: the SHA-256 of such qrels once they have been read, and the
        highest grade of all qrels, on which ERR depends, if the component has a part of them.
        """
        qrels: Any = self._qrels_path
        judgements: dict[str, Any] = {"sha256": self._saved_hash} if self._saved_hash else {}
        if self._qrels is not None and self._qrels_path is not None:
            judgements = {"sha256": self._qrels.fingerprint()}
        elif self._qrels is not None:
            qrels = self._qrels.as_dict()
            if self._qrels.max_grade != self._qrels.grades.max():  # a selection of other qrels
                judgements = {"max_grade": self._qrels.max_grade}
            if self._qrels.excluded:
                excluded = self._qrels.excluded.items()
                judgements["excluded"] = {query_id: sorted(docs) for query_id, docs in excluded}
        settings = default_to_dict(
            self,
            measures=list(map(str, self.measures)),
            primary=str(self.primary),
            document_comparison_field=self.document_comparison_field,
            collapse=self.collapse,
            qrels=qrels,
            split=self.split,
            rel=self.rel,
            order=self.order,
            duplicates=self.duplicates,
            unjudged=self.unjudged,
            unmatched=self.unmatched,
            rules=self.rules,
            spans=None if self.spans is None else asdict(self.spans),
        )
        return settings | ({"judgements": judgements} if judgements else {})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "BEIREvaluator":
        """Return the component with the settings in ``data``, as ``to_dict`` returns them."""
        evaluator: BEIREvaluator = default_from_dict(cls, data)
        saved = data.get("judgements", {})
        evaluator._saved_hash = saved.get("sha256")
        qrels = evaluator._qrels
        if qrels is not None and saved:
            highest = saved.get("max_grade", qrels.max_grade)
            qrels = qrels.excluding(saved.get("excluded", {}))
            evaluator._qrels = qrels.select(qrels.query_ids, max_grade=highest)
        return evaluator

    # Evaluation

    @component.output_types(**OUTPUT_TYPES)
    def run(
        self,
        ground_truth_documents: list[list[Document]] | None = None,
        retrieved_documents: list[list[Document]] | Run = _MANDATORY,
        query_ids: list[str] | None = None,
        qrels: Qrels | dict[str, dict[str, float]] | None = None,
    ) -> dict[str, Any]:
        """Evaluate retrieved documents.

        The arguments are in the order of Haystack's document evaluators. To judge by qrels, pass
        ``retrieved_documents`` by name.

        Args:
            ground_truth_documents: the ground-truth documents of each query [Q]. The grade is
                ``Document.score``, or 1 if a list has no scores.
            retrieved_documents: the documents of each query, best first [Q]; or a ``Run``, which
                pipelines pass on without copying it. Required in every call.
            query_ids: the ids of the queries [Q]; by default those of a ``Run``, else numbers from
                0. Required with qrels and lists of documents.
            qrels: judgements, instead of those of the constructor; ``Qrels`` are not copied.

        Returns:
            ``score`` and ``individual_scores`` (mean and scores of the primary measure, in the
            order of the queries); ``metrics``, {measure: mean}; ``results``, {measure: {"score",
            "individual_scores"}} as EvaluationRunResult takes them; ``result``, the
            EvaluationResult with all of these and the counts.

        Raises:
            InputError: there are no retrieved documents; lists have different lengths; an object is
                not a Document; an id is not valid; a query has no judgements, with
                ``unjudged="error"``; or ground truth and qrels are both passed, or neither.
            QrelsError: the qrels are not valid, or as of ``warm_up``.
            DuplicateDocumentError: a document is retrieved twice, with ``duplicates="error"``.

        Warns:
            BeirEvalWarning: what looks wrong, a warning each; they are logged too, and
            ``result.warnings()`` returns them.
        """
        if retrieved_documents is _MANDATORY:
            msg = (
                "retrieved_documents are missing. The first argument is ground_truth_documents, as "
                "in Haystack's evaluators; to judge by qrels, pass retrieved_documents by name"
            )
            raise InputError(msg)
        self.warm_up()
        if self.rules == "haystack" and ground_truth_documents is not None:
            check_lengths(ground_truth_documents, retrieved_documents)
        judgements = self._qrels if qrels is None else Qrels.coerce(qrels)
        if self._view is not None:
            judgements = self._view.qrels
        if ground_truth_documents is None and (judgements is None or self.rules == "haystack"):
            msg = "there is nothing to judge by: pass ground_truth_documents" + (
                "" if self.rules == "haystack" else ", or qrels here or to the constructor"
            )
            raise InputError(msg)
        queries = resolve_query_ids(retrieved_documents, ground_truth_documents, query_ids)
        has_positions = query_ids is None and not isinstance(retrieved_documents, Run)
        with naming_positions(has_positions=has_positions):
            return self._run(queries, ground_truth_documents, retrieved_documents, judgements)

    run_async = make_run_async(run)

    def _run(
        self,
        queries: list[str],
        truth: list[list[Document]] | None,
        retrieved: list[list[Document]] | Run,
        judgements: Qrels | None,
    ) -> dict[str, Any]:
        """Return the outputs of ``run`` for queries with these ids.

        Args:
            queries: the ids. [Q]
            truth: as of ``run``.
            retrieved: likewise.
            judgements: the qrels of ``run``, or those of the constructor.
        """
        if truth is not None:
            if judgements is not None:
                msg = "ground_truth_documents and qrels are both given; judge by one of them"
                raise InputError(msg)
            if self.rules == "haystack":
                return self._run_with_haystack_rules(queries, retrieved, truth)
        result = self._evaluate(queries, retrieved, truth, judgements)
        tell(result)
        return component_outputs(result, queries, str(self.primary))

    def _evaluate(
        self,
        queries: list[str],
        retrieved: list[list[Document]] | Run,
        truth: list[list[Document]] | None,
        judgements: Qrels | None,
    ) -> EvaluationResult:
        """Return the scores of retrieved documents, with what looks wrong about them.

        Args:
            queries: the ids of the queries. [Q]
            retrieved: the retrieved documents of each query, best first [Q]; or a ``Run``.
            truth: the ground-truth documents of each query [Q]; None to judge by ``judgements``.
            judgements: qrels of these and perhaps other queries.
        """
        if self._view is not None:
            return self._evaluate_text(self._view, queries, retrieved)
        retrieved_names = None
        if isinstance(retrieved, Run):
            names, order, run = self._document_names("id"), "score", retrieved
        else:
            names, order = self._names_for(truth, retrieved), self.order
            retrieved_names = RetrievedNames(queries, retrieved, names)
            run = retrieved_names.run(scored=order == "score")
        judged = None
        if truth is not None:
            judged = judgements_of(queries, truth, names, self.unmatched)
            qrels = qrels_from_judgements(queries, judged, self.unjudged)
        else:
            assert judgements is not None  # noqa: S101 - checked by run
            qrels = select_qrels(queries, judgements, self.unjudged)
        evaluator = Evaluator(qrels, self.measures, order=order, duplicates=self.duplicates)
        result = evaluate_without_warning(evaluator, run, search_ids=not names.are_contents)
        documents = [] if isinstance(retrieved, Run) else retrieved
        return with_findings(result, run, qrels, names, judged, documents, retrieved_names)

    def _evaluate_text(
        self, view: SpanView, queries: list[str], retrieved: list[list[Document]] | Run
    ) -> EvaluationResult:
        """Return the scores of retrieved text on judged spans."""
        if isinstance(retrieved, Run):
            raise InputError("text is judged, so lists of Documents are needed, not a Run")
        by_query = dict(zip(queries, retrieved, strict=True))
        field = None if self.collapse in {None, AUTO} else self.collapse.removeprefix("meta.")
        chunks = Chunks.from_documents(by_query, view.texts, doc_id_field=field)
        qrels = select_qrels(queries, view.qrels, self.unjudged)
        return evaluate_without_warning(Evaluator(qrels, self.measures), view.run(chunks))

    def _run_with_haystack_rules(
        self, queries: list[str], retrieved: list[list[Document]] | Run, truth: list[list[Document]]
    ) -> dict[str, Any]:
        if isinstance(retrieved, Run):
            msg = (
                "rules='haystack' compares Documents; retrieved_documents must be lists, not a Run"
            )
            raise InputError(msg)
        field = self.document_comparison_field
        assert field is None or isinstance(field, str)  # noqa: S101 - checked by the constructor
        result = evaluate_as_haystack(
            queries, retrieved, truth, field or "content", self.measures, self.primary
        )
        tell(result)
        return component_outputs(result, queries, str(self.primary), plain_mean=True)
