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
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, SettingError
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.integrations.haystack.documents import (
    DocumentsExpected,
    Ranking,
    field_value,
    grades_of,
    highest_grades,
    run_from_rankings,
)
from beir_eval.measures import MAP, MRR, Recall, Success, nDCG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: Success is Haystack's recall in the mode "single_hit", Recall that in the mode "multi_hit".
HAYSTACK_MEASURES = (nDCG, MAP, MRR, Success, Recall)

#: The judgements of a query without ground truth: no document is relevant.
_NO_RELEVANT_DOCUMENT = {"nothing": 0.0}


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
) -> tuple[EvaluationResult, str | None]:
    """Return the numbers of Haystack's evaluators, as a result, and why nDCG is left out.

    nDCG is left out if ground-truth scores are not grades of 0 and more, and it is not ``primary``.

    Args:
        query_ids: the ids of the queries. [Q]
        retrieved: the retrieved documents of each query, best first. [Q]
        truth: the ground-truth documents of each query. [Q]
        field: the field by which documents are compared: "content", "id" or "meta.a.b".
        measures: one or more of ``HAYSTACK_MEASURES``.
        primary: the one of ``measures`` that is needed.

    Returns:
        The result, and the problem with the grades, or None without a problem.

    Raises:
        InputError: an object is not a document; or nDCG is ``primary``, and a ground-truth score is
            negative or not a finite number, or only some documents of a ground-truth list have a
            score.
    """
    code_of = _equality_codes()
    rankings: dict[str, Ranking] = {}
    codes_of_truth: dict[str, list[str | None]] = {}
    non_empty: dict[str, dict[str, float]] = {}
    for query_id, documents, truth_documents in zip(query_ids, retrieved, truth, strict=True):
        with DocumentsExpected(query_id, documents, "retrieved"):
            codes = [code_of(field_value(document, field)) for document in documents]
        rankings[query_id] = Ranking(codes, None)
        with DocumentsExpected(query_id, truth_documents, "ground-truth"):
            values = [field_value(document, field) for document in truth_documents]
        codes_of_truth[query_id] = [None if value is None else code_of(value) for value in values]
        non_empty[query_id] = {code_of(value): 1.0 for value in values if not _is_empty(value)}
    all_relevant = {
        query_id: {code: 1.0 for code in codes if code is not None}
        for query_id, codes in codes_of_truth.items()
    }
    grades_for = {MAP: all_relevant, MRR: all_relevant, Success: non_empty, Recall: non_empty}
    problem = None
    if nDCG in measures:
        try:
            for query_id, documents in zip(query_ids, truth, strict=True):
                _check_all_or_none_scored(query_id, documents)
            grades_for[nDCG] = {
                query_id: _graded(query_id, documents, codes_of_truth[query_id])
                for query_id, documents in zip(query_ids, truth, strict=True)
            }
        except InputError as error:
            if primary == nDCG:
                raise
            problem = str(error)
    computed = [measure for measure in measures if measure in grades_for]
    run = run_from_rankings(rankings)
    results = [_evaluate(grades_for[measure], run, measure) for measure in computed]
    result = results[0].model_copy(
        update={
            "measures": tuple(map(str, computed)),
            "values": ScoreMatrix(np.concatenate([result.values.array for result in results])),
        }
    )
    return result, problem


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
    query_id: str, documents: Sequence[Any], codes: Sequence[str | None]
) -> dict[str, float]:
    """Return the grade of each ground-truth document of one query by its code.

    Args:
        query_id: the query, for error messages.
        documents: its ground-truth documents; all have a score, or none has. [N]
        codes: their codes; None for documents without a value, which get no grade. [N]

    Raises:
        InputError: a score is negative or not a finite number.
    """
    coded = [(code, doc) for code, doc in zip(codes, documents, strict=True) if code is not None]
    grades = grades_of(query_id, [document for _, document in coded])
    _check_not_negative(query_id, grades)
    return highest_grades([(code, grade) for (code, _), grade in zip(coded, grades, strict=True)])


def _evaluate(
    grades_of_query: dict[str, dict[str, float]], run: Run, measure: Measure
) -> EvaluationResult:
    qrels = {
        query_id: grade_of or _NO_RELEVANT_DOCUMENT
        for query_id, grade_of in grades_of_query.items()
    }
    evaluator = Evaluator(qrels, [measure], order="given", duplicates="keep")
    return evaluate_without_warning(evaluator, run)


def _equality_codes() -> Callable[[Any], str]:
    """Return a function that returns the code of a value: equal values have the same code.

    Codes begin with a control character, so that none is the id of a query.
    """
    code_by_value: dict[Any, str] = {}

    def code_of(value: Any) -> str:
        if value is None:  # Haystack never matches a missing value, so each gets its own code
            return code_by_value.setdefault(object(), f"\1{len(code_by_value)}")
        try:
            return code_by_value.setdefault(value, f"\1{len(code_by_value)}")
        except TypeError:
            key = (_equality_codes, _hashable(value))
            return code_by_value.setdefault(key, f"\1{len(code_by_value)}")

    return code_of


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


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def _check_not_negative(query_id: str, grades: Sequence[float]) -> None:
    if min(grades, default=0) < 0:
        msg = (
            f"query {query_id!r} has a ground-truth document with the score {min(grades)!r}, which "
            "Haystack's nDCG would subtract; grades of 0 and more were expected"
        )
        raise InputError(msg)
