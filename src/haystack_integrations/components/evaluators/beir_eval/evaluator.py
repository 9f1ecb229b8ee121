"""Retrieved documents against ground truth or qrels, in a pipeline."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.core.component import InputSocket

from beir_eval.adapters.readers import read_qrels
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, QrelsError, SettingError, check_choice, some
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.integrations.haystack.documents import DocumentNames
from beir_eval.integrations.haystack.haystack_rules import HAYSTACK_MEASURES, evaluate_as_haystack
from beir_eval.measures import DEFAULT_MEASURES, Measure, parse, parse_all

from .inputs import (
    UNJUDGED,
    judged_by_documents,
    judged_by_qrels,
    query_ids_of,
    run_of,
    warn_if_nothing_is_shared,
    with_rel,
)
from .outputs import OUTPUT_TYPES, in_thread, outputs_of

RULES = ("beir_eval", "haystack")

#: Haystack's marker for an input without a default. A parameter with this default may follow an
#: optional one, and a pipeline still requires the input.
_MANDATORY: Any = InputSocket.default_value


@component
class BEIREvaluator:
    """Evaluates retrieved documents: nDCG, MAP, Recall, R_cap, Precision, MRR at k, and more.

    Takes what Haystack's document evaluators take, and returns what they return (``score``,
    ``individual_scores``), for all measures at once. The mean is over the queries handed in; an
    empty list of retrieved documents scores 0.

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
        primary: str = "nDCG@10",
        document_comparison_field: str | Sequence[str] | None = None,
        collapse: str | None = None,
        qrels: Qrels | Mapping[str, Mapping[str, float]] | str | Path | None = None,
        split: str | None = None,
        qrels_sha256: str | None = None,
        max_grade: float | None = None,
        rel: float | None = None,
        order: str = "given",
        duplicates: str = "first",
        unjudged: str = "error",
        rules: str = "beir_eval",
    ) -> None:
        """Set what is measured, and how documents are matched.

        Args:
            measures: names in any spelling; by default BEIR's: nDCG, MAP, Recall, R_cap, Precision
                and MRR at 1, 3, 5, 10, 100 and 1000.
            primary: the measure of ``score`` and ``individual_scores``.
            document_comparison_field: what a document goes by: "content", "id", "meta.a.b", or a
                list of these as a composite key. By default "content" for ground-truth documents,
                as Haystack's evaluators; "id" for qrels, for a ``Run``, and with ``collapse``.
            collapse: a field that names the document that a chunk is a part of, as
                "meta.source_id", which Haystack's DocumentSplitter sets. Of several chunks of one
                document the best-ranked counts, and the ranking closes up.
            qrels: judgements, as {query_id: {doc_id: grade}}, or a file or data-set folder, read
                when the component warms up. Ids are those of ``query_ids``, and what documents go
                by.
            split: the split of a data-set folder; "test" by default.
            qrels_sha256: ``Qrels.fingerprint()`` that the judgements must have.
            max_grade: the highest grade of the whole, on which ERR depends, where ``qrels`` as a
                mapping are a part of it.
            rel: the lowest grade that is relevant, for measures that ask; above 0 by default.
            order: what ranks lists of documents: their order ("given"), or ``Document.score``
                ("score"). A ``Run`` ranks as it does: by its scores where it has any.
            duplicates: a document that is retrieved twice counts at its best rank and the ranking
                closes up ("first"), keeps both ranks and gains once ("keep"), or is an "error".
            unjudged: a query without judgements is an "error", scores NaN and is left out of the
                means ("skip"), or scores 0 ("zero").
            rules: "haystack" for the numbers of Haystack's own evaluators: see
                ``haystack_compatible``.

        Raises:
            MeasureError, SettingError: a value that does not exist.
            QrelsError: ``qrels`` is a mapping with something wrong in it.
        """
        check_choice("order", order, ("given", "score"))
        check_choice("duplicates", duplicates, ("first", "keep", "error"))
        check_choice("unjudged", unjudged, UNJUDGED)
        check_choice("rules", rules, RULES)
        self.rel, self.order, self.duplicates = rel, order, duplicates
        self.unjudged, self.rules = unjudged, rules
        default = HAYSTACK_MEASURES if rules == "haystack" else DEFAULT_MEASURES
        self.primary = with_rel(parse(primary), rel)
        chosen: Iterable[Measure] = default if measures is None else parse_all(measures)  # type: ignore[arg-type]
        self.measures = tuple(
            dict.fromkeys([*(with_rel(one, rel) for one in chosen), self.primary])
        )
        field = document_comparison_field
        self.document_comparison_field = list(field) if isinstance(field, (list, tuple)) else field
        self.collapse, self.split, self.qrels_sha256 = collapse, split, qrels_sha256
        self._names("id")
        if collapse is not None and duplicates != "first":
            msg = "collapse counts the best-ranked chunk of a document: it needs duplicates='first'"
            raise SettingError(msg)
        self._path = str(qrels) if isinstance(qrels, (str, Path)) else None
        if split is not None and self._path is None:
            msg = f"split={split!r} is for qrels in a data-set folder"
            raise SettingError(msg)
        self._qrels = None if qrels is None or self._path else Qrels.coerce(qrels)
        if self._qrels is not None and max_grade is not None:
            self._qrels = self._qrels.select(self._qrels.query_ids, max_grade=max_grade)
        if self._qrels is not None:
            self._check_sha256(self._qrels, "the qrels")
        if rules == "haystack":
            self._check_haystack_rules()

    @classmethod
    def haystack_compatible(
        cls, *, primary: str = "nDCG", document_comparison_field: str = "content"
    ) -> "BEIREvaluator":
        """Return an evaluator with exactly the numbers of Haystack's own (3.x): five of them.

        "nDCG" is DocumentNDCGEvaluator, "MAP" DocumentMAPEvaluator, "MRR" DocumentMRREvaluator,
        "Success" and "Recall" DocumentRecallEvaluator of mode "single_hit" and "multi_hit".

        Args:
            primary: the measure of ``score`` and ``individual_scores``.
            document_comparison_field: "content", "id" or "meta.a.b".
        """
        return cls(
            HAYSTACK_MEASURES,
            primary=primary,
            document_comparison_field=document_comparison_field,
            unjudged="zero",
            duplicates="keep",
            rules="haystack",
        )

    def _names(self, default: str) -> DocumentNames:
        field = self.document_comparison_field
        return DocumentNames.by(default if field is None else field, self.collapse)

    def _check_haystack_rules(self) -> None:
        others = [str(one) for one in self.measures if one not in HAYSTACK_MEASURES]
        if others:
            known = ", ".join(map(str, HAYSTACK_MEASURES))
            msg = f"rules='haystack' knows {known}, but not {some(others)}"
            raise SettingError(msg)
        field = self.document_comparison_field
        fixed = {
            "collapse": self.collapse is None,
            "qrels": self._path is None and self._qrels is None,
            "order": self.order == "given",
            "duplicates": self.duplicates == "keep",
            "unjudged": self.unjudged == "zero",
            "document_comparison_field": field is None or isinstance(field, str),
        }
        wrong = [setting for setting, fits in fixed.items() if not fits]
        if wrong:
            msg = (
                f"rules='haystack' has its own {some(wrong)}; make the component with "
                "BEIREvaluator.haystack_compatible()"
            )
            raise SettingError(msg)

    # Judgements

    def warm_up(self) -> None:
        """Read the qrels where they are a file; once.

        Raises:
            FileFormatError, OSError: they cannot be read.
            QrelsError: they are not those of ``qrels_sha256``.
        """
        if self._path is None or self._qrels is not None:
            return
        qrels = read_qrels(self._path, split=self.split)
        self._check_sha256(qrels, self._path)
        self._qrels = qrels

    def _check_sha256(self, qrels: Qrels, what: str) -> None:
        if self.qrels_sha256 is not None and qrels.fingerprint() != self.qrels_sha256.lower():
            msg = (
                f"{what}: the judgements have changed: their SHA-256 is {qrels.fingerprint()}, "
                f"not {self.qrels_sha256}; restore them, or set qrels_sha256 anew"
            )
            raise QrelsError(msg)

    # Serialisation

    def to_dict(self) -> dict[str, Any]:
        """Return the settings; of qrels that were read from a file, the path and the SHA-256."""
        qrels: Any = self._path
        sha256 = self.qrels_sha256
        max_grade = None
        if self._path is None and self._qrels is not None:
            qrels, max_grade = self._qrels.as_dict(), self._qrels.max_grade
        elif self._qrels is not None:
            sha256 = self._qrels.fingerprint()
        return default_to_dict(
            self,
            measures=list(map(str, self.measures)),
            primary=str(self.primary),
            document_comparison_field=self.document_comparison_field,
            collapse=self.collapse,
            qrels=qrels,
            split=self.split,
            qrels_sha256=sha256,
            max_grade=max_grade,
            rel=self.rel,
            order=self.order,
            duplicates=self.duplicates,
            unjudged=self.unjudged,
            rules=self.rules,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "BEIREvaluator":
        """Return the component with these settings."""
        made: BEIREvaluator = default_from_dict(cls, data)
        return made

    # Evaluation

    @component.output_types(**OUTPUT_TYPES)
    def run(
        self,
        ground_truth_documents: list[list[Document]] | None = None,
        retrieved_documents: list[list[Document]] | Run = _MANDATORY,
        query_ids: list[str] | None = None,
        qrels: Qrels | dict[str, dict[str, float]] | None = None,
    ) -> dict[str, Any]:
        """Evaluate.

        The arguments are in the order of Haystack's document evaluators. To judge by qrels, pass
        ``retrieved_documents`` by name.

        Args:
            ground_truth_documents: the relevant documents of each query [Q]; ``Document.score`` is
                the grade, 1 where a list has no scores.
            retrieved_documents: the documents of each query, best first [Q]; or a ``Run``, which
                pipelines hand on without copying it. Required in every call.
            query_ids: the ids of the queries [Q]; needed with qrels, unless a ``Run`` names them.
            qrels: judgements, instead of those of the constructor; ``Qrels`` are not copied.

        Returns:
            ``score`` and ``individual_scores`` of the primary measure, in the order of the
            queries; ``metrics``, {measure: mean}; ``results``, {measure: {"score",
            "individual_scores"}} as EvaluationRunResult takes them; ``result``, the
            EvaluationResult: all of it, and what was counted.

        Raises:
            InputError: no retrieved documents, lists of different lengths, something else than
                Documents, a query without judgements, ground truth and qrels both or neither.
            DuplicateDocumentError: a document is retrieved twice, with ``duplicates="error"``.
        """
        if retrieved_documents is _MANDATORY:
            msg = (
                "retrieved_documents are missing. The first argument is ground_truth_documents, as "
                "in Haystack's evaluators; to judge by qrels, pass retrieved_documents by name"
            )
            raise InputError(msg)
        self.warm_up()
        queries = query_ids_of(retrieved_documents, ground_truth_documents, query_ids)
        judgements = self._qrels if qrels is None else Qrels.coerce(qrels)
        if qrels is not None and judgements is not None:
            self._check_sha256(judgements, "the qrels")
        if ground_truth_documents is not None:
            if judgements is not None:
                msg = "ground_truth_documents and qrels are both given; judge by one of them"
                raise InputError(msg)
            if self.rules == "haystack":
                return self._as_haystack(queries, retrieved_documents, ground_truth_documents)
        elif judgements is None or self.rules == "haystack":
            msg = "there is nothing to judge by: hand over ground_truth_documents" + (
                "" if self.rules == "haystack" else ", or qrels here or to the constructor"
            )
            raise InputError(msg)
        is_run = isinstance(retrieved_documents, Run)
        by_content = ground_truth_documents is not None and not is_run and self.collapse is None
        names = self._names("content" if by_content else "id")
        run = run_of(queries, retrieved_documents, names, scored=self.order == "score")
        if ground_truth_documents is not None:
            judged = judged_by_documents(queries, ground_truth_documents, names, self.unjudged)
        else:
            assert judgements is not None  # noqa: S101 - checked above
            judged = judged_by_qrels(queries, judgements, self.unjudged)
        warn_if_nothing_is_shared(run, judged, names, retrieved_documents)
        evaluator = Evaluator(
            judged,
            self.measures,
            order="score" if is_run else self.order,
            duplicates=self.duplicates,
        )
        return outputs_of(evaluator.evaluate(run), queries, str(self.primary))

    run_async = in_thread(run)

    def _as_haystack(
        self, queries: list[str], retrieved: list[list[Document]] | Run, truth: list[list[Document]]
    ) -> dict[str, Any]:
        if isinstance(retrieved, Run):
            msg = (
                "rules='haystack' compares Documents; retrieved_documents must be lists, not a Run"
            )
            raise InputError(msg)
        field = self.document_comparison_field
        assert field is None or isinstance(field, str)  # noqa: S101 - checked by the constructor
        result = evaluate_as_haystack(queries, retrieved, truth, field or "content", self.measures)
        return outputs_of(result, queries, str(self.primary), plain_mean=True)
