"""The numbers of Haystack's own evaluators, computed by this package's measures.

Haystack's rules, where they differ from ours:

- The order of a list is the ranking.
- A document that is retrieved twice keeps both ranks and gains once.
- For MAP, MRR and recall, every ground-truth document is relevant; its score is not read.
- Recall ignores ground-truth documents whose value is empty text; the other measures count them.
- A query without ground truth scores 0.
- Values are equal if Python finds them equal, lists and dicts too.

Source: haystack-ai 3.4, DocumentNDCGEvaluator, DocumentMAPEvaluator, DocumentMRREvaluator,
DocumentRecallEvaluator. (In 2.26, nDCG compares ids, and MAP divides by the number of relevant
documents that were retrieved.)
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.errors import InputError, SettingError
from beir_eval.evaluation.coverage import with_counts
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.inspection.finding import Finding
from beir_eval.integrations.haystack.documents import (
    NO_RELEVANT_DOCUMENT,
    RetrievedNames,
    grades_of,
    highest_grades,
)
from beir_eval.integrations.retrieval.documents import (
    NOT_DOCUMENTS,
    ReadNames,
    check_documents,
    documents_error,
    field_value,
)
from beir_eval.measures import MAP, MRR, Recall, Success, nDCG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: Success is Haystack's recall in the mode "single_hit", Recall that in the mode "multi_hit".
HAYSTACK_MEASURES = (nDCG, MAP, MRR, Success, Recall)

#: The name of a document whose value is empty text, and how the name of a value begins that is no
#: text.
_EMPTY, _VALUE = f"{NOT_AN_ID}empty", f"{NOT_AN_ID}value "


def check_field(field: str) -> None:
    """Raise SettingError, in Haystack's words, for a field by which it cannot compare documents."""
    if field not in ("content", "id") and not field.startswith("meta."):
        msg = (
            f"Unsupported document_comparison_field: '{field}'. "
            "Use 'content', 'id', or 'meta.<key>'."
        )
        raise SettingError(msg)


def check_lengths(truth: Any, retrieved: Any) -> None:
    """Raise InputError, in Haystack's words, for lists that are empty or differ in length.

    Args:
        truth: the ground-truth documents of each query [Q]; what is no list is not checked.
        retrieved: the retrieved documents of each query. [Q]
    """
    if not isinstance(truth, (list, tuple)) or not isinstance(retrieved, (list, tuple)):
        return
    if not truth or not retrieved:
        msg = "ground_truth_documents and retrieved_documents must be provided."
        raise InputError(msg)
    if len(truth) != len(retrieved):
        msg = (
            "The length of ground_truth_documents and retrieved_documents must be the same. "
            f"There are {len(truth)} and {len(retrieved)} lists"
        )
        raise InputError(msg)


def evaluate_as_haystack(  # noqa: PLR0913, PLR0917 - one argument a fact
    query_ids: Sequence[str],
    retrieved: Sequence[Sequence[Any]],
    truth: Sequence[Sequence[Any]],
    field: str,
    measures: Sequence[Measure],
    primary: Measure,
) -> EvaluationResult:
    """Return the numbers of Haystack's evaluators, as a result.

    nDCG is left out if ground-truth scores are not grades of 0 and more, and it is not ``primary``;
    a warning of the result says so.

    Args:
        query_ids: the ids of the queries. [Q]
        retrieved: the retrieved documents of each query, best first. [Q]
        truth: the ground-truth documents of each query. [Q]
        field: the field by which documents are compared: "content", "id" or "meta.a.b".
        measures: one or more of ``HAYSTACK_MEASURES``.
        primary: the one of ``measures`` that is needed.

    Raises:
        InputError: an object is not a document; or nDCG is ``primary``, and a ground-truth score is
            negative or not a finite number, or only some documents of a ground-truth list have a
            score.
    """
    names = _ValueNames(field)
    truth_names = [
        _names_of_truth(query_id, documents, names)
        for query_id, documents in zip(query_ids, truth, strict=True)
    ]
    all_relevant = dict(zip(query_ids, map(_relevant, truth_names), strict=True))
    with_value = all_relevant
    if any(_EMPTY in relevant for relevant in all_relevant.values()):
        with_value = {
            query_id: {name: grade for name, grade in relevant.items() if name != _EMPTY}
            for query_id, relevant in all_relevant.items()
        }
    grades_for = {MAP: all_relevant, MRR: all_relevant, Success: with_value, Recall: with_value}
    problem = ""
    if nDCG in measures:
        try:
            grades_for[nDCG] = _grades_for_ndcg(query_ids, truth, truth_names) or all_relevant
        except InputError as error:
            if primary == nDCG:
                raise
            problem = str(error)
    run = RetrievedNames(query_ids, retrieved, names).run(scored=False)
    computed = [measure for measure in measures if measure in grades_for]
    result = _evaluate_each(run, {measure: grades_for[measure] for measure in computed})
    if not problem or result.counted is None:
        return result
    left_out = Finding.from_code(
        "left-out-measure", fact=f"nDCG is left out: {problem}", count=len(query_ids)
    )
    return with_counts(result, findings=(*result.counted.findings, left_out))


def _evaluate_each(
    run: Run, grades_for: Mapping[Measure, dict[str, dict[str, float]]]
) -> EvaluationResult:
    """Return one result of measures that need different judgements.

    Args:
        run: the rankings.
        grades_for: {measure: {query_id: {name: grade}}}. Measures that share a dict are computed
            together.
    """
    measures_by_grades: dict[int, list[Measure]] = {}
    for measure, grades in grades_for.items():
        measures_by_grades.setdefault(id(grades), []).append(measure)
    results: list[EvaluationResult] = []
    scores: dict[Measure, Floats] = {}
    for measures in measures_by_grades.values():
        qrels = {
            query_id: grade_of or NO_RELEVANT_DOCUMENT
            for query_id, grade_of in grades_for[measures[0]].items()
        }
        evaluator = Evaluator(qrels, measures, order="given", duplicates="keep")
        results.append(evaluate_without_warning(evaluator, run, search_ids=False))
        scores.update(zip(measures, results[-1].values.array, strict=True))
    return results[0].model_copy(
        update={
            "measures": tuple(map(str, grades_for)),
            "values": ScoreMatrix(np.stack([scores[measure] for measure in grades_for])),
        }
    )


# Ground truth


def _names_of_truth(
    query_id: str, documents: Sequence[Any], names: _ValueNames
) -> list[str | None]:
    """Return the name of each ground-truth document of a query; None for one without a value."""
    check_documents(query_id, documents, "ground-truth")
    try:
        return names.names_of(documents)
    except NOT_DOCUMENTS as error:
        raise documents_error(query_id, documents, "ground-truth", error) from error


def _relevant(names: Sequence[str | None]) -> dict[str, float]:
    """Return the grade 1 for each name."""
    relevant: dict[Any, float] = dict.fromkeys(names, 1.0)
    relevant.pop(None, None)
    return relevant


def _grades_for_ndcg(
    query_ids: Sequence[str],
    truth: Sequence[Sequence[Any]],
    truth_names: Sequence[Sequence[str | None]],
) -> dict[str, dict[str, float]] | None:
    """Return {query_id: {name: grade}}; None if no ground-truth document has a score.

    Args:
        query_ids: the ids of the queries. [Q]
        truth: the ground-truth documents of each query. [Q]
        truth_names: their names. [Q]

    Raises:
        InputError: a score is negative or not a finite number, or only some documents of a list
            have one.
    """
    if all(document.score is None for document in chain.from_iterable(truth)):
        return None
    for query_id, documents in zip(query_ids, truth, strict=True):
        _check_all_or_none_scored(query_id, documents)
    return {
        query_id: _graded(query_id, documents, names)
        for query_id, documents, names in zip(query_ids, truth, truth_names, strict=True)
    }


def _check_all_or_none_scored(query_id: str, documents: Sequence[Any]) -> None:
    """Raise InputError, in Haystack's words, if only some documents have a score."""
    missing = sum(document.score is None for document in documents)
    if 0 < missing < len(documents):
        msg = (
            "Either none or all documents in each list of ground_truth_documents must have a "
            f"score. For query {query_id!r}, {missing} of {len(documents)} have none"
        )
        raise InputError(msg)


def _graded(
    query_id: str, documents: Sequence[Any], names: Sequence[str | None]
) -> dict[str, float]:
    """Return the grade of each ground-truth document of one query by its name.

    Args:
        query_id: the query, for error messages.
        documents: its ground-truth documents; all have a score, or none has. [N]
        names: their names; None for documents without a value, which get no grade. [N]

    Raises:
        InputError: a score is negative or not a finite number.
    """
    named = [(name, doc) for name, doc in zip(names, documents, strict=True) if name is not None]
    grades = grades_of(query_id, [document for _, document in named])
    _check_not_negative(query_id, grades)
    return highest_grades([name for name, _ in named], grades)


# Names


class _ValueNames:
    """The names of documents by one field: equal values have equal names.

    The name of a text is the text itself, so that most documents are named without a look at each.
    """

    def __init__(self, field: str) -> None:
        """Set the field: "content", "id" or "meta.a.b"."""
        self._field = field
        self._name_by_value: dict[Any, str] = {}

    def names_of(self, documents: Sequence[Any]) -> list[str | None]:
        """Return the name of each document; None for a document without a value."""
        if self._field == "content":
            values = [document.content for document in documents]  # Haystack checks that it is text
            are_texts = True
        else:
            values = [field_value(document, self._field) for document in documents]
            are_texts = set(map(type, values)) <= {str}
        if are_texts and all(values):
            return values
        return [None if value is None else self._name_of(value) for value in values]

    def read(self, documents: Sequence[Any]) -> ReadNames:
        """Return what ``names_of`` returns; Haystack's evaluators know no chunks."""
        return ReadNames(self.names_of(documents))

    def _name_of(self, value: Any) -> str:
        if isinstance(value, str):
            return str.__str__(value) or _EMPTY
        try:
            return self._name_by_value.setdefault(value, f"{_VALUE}{len(self._name_by_value)}")
        except TypeError:
            key = (_ValueNames, _hashable(value))
            return self._name_by_value.setdefault(key, f"{_VALUE}{len(self._name_by_value)}")


def _hashable(value: Any) -> Any:
    """Return a hashable object for a value: equal ones for lists, dicts and sets that are equal."""
    try:
        if isinstance(value, (list, tuple)):
            return isinstance(value, list), tuple(map(_hashable, value))
        if isinstance(value, Mapping):
            return "mapping", frozenset((key, _hashable(item)) for key, item in value.items())
        if isinstance(value, (set, frozenset)):
            return frozenset(value)
        hash(value)
    except (TypeError, RecursionError):  # another unhashable type, a list that contains itself
        return "text", repr(value)
    return value


def _check_not_negative(query_id: str, grades: Sequence[float]) -> None:
    if min(grades, default=0) < 0:
        msg = (
            f"query {query_id!r} has a ground-truth document with the score {min(grades)!r}, which "
            "Haystack's nDCG would subtract; grades of 0 and more were expected"
        )
        raise InputError(msg)
