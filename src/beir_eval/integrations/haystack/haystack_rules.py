"""The numbers of Haystack's own evaluators, computed by this package's measures.

Haystack's rules, where they differ from ours:

- The order of a list is the ranking.
- A document that is retrieved twice keeps both ranks and gains once.
- For MAP, MRR and recall, every ground-truth document is relevant, whatever its score.
- Recall ignores ground-truth documents whose value is empty text; the other measures count them.
- A query without ground truth scores 0.
- Values are equal if Python finds them equal; lists and dicts if their JSON is equal.

Source: haystack-ai 3.4, DocumentNDCGEvaluator, DocumentMAPEvaluator, DocumentMRREvaluator,
DocumentRecallEvaluator. (In 2.26, nDCG compares ids, and MAP divides by the number of relevant
documents that were retrieved.)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError
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


def evaluate_as_haystack(
    query_ids: Sequence[str],
    retrieved: Sequence[Sequence[Any]],
    truth: Sequence[Sequence[Any]],
    field: str,
    measures: Sequence[Measure],
) -> EvaluationResult:
    """Return the numbers of Haystack's evaluators, as a result.

    Args:
        query_ids: the ids of the queries. [Q]
        retrieved: the retrieved documents of each query, best first. [Q]
        truth: the ground-truth documents of each query. [Q]
        field: the field by which documents are compared: "content", "id" or "meta.a.b".
        measures: one or more of ``HAYSTACK_MEASURES``.

    Raises:
        InputError: an object is not a document, a ground-truth score is negative or not a finite
            number, or only some documents of a ground-truth list have a score.
    """
    code_of = _equality_codes()
    rankings: dict[str, Ranking] = {}
    graded: dict[str, dict[str, float]] = {}
    non_empty: dict[str, dict[str, float]] = {}
    for query_id, documents, truth_documents in zip(query_ids, retrieved, truth, strict=True):
        with DocumentsExpected(query_id, documents, "retrieved"):
            codes = [code_of(field_value(document, field)) for document in documents]
        rankings[query_id] = Ranking(codes, None)
        with DocumentsExpected(query_id, truth_documents, "ground-truth"):
            values = [field_value(document, field) for document in truth_documents]
            grades = grades_of(query_id, truth_documents)
        _check_not_negative(query_id, grades)
        graded[query_id] = highest_grades(
            [
                (code_of(value), grade)
                for value, grade in zip(values, grades, strict=True)
                if value is not None
            ]
        )
        non_empty[query_id] = {code_of(value): 1.0 for value in values if not _is_empty(value)}
    run = run_from_rankings(rankings)
    all_relevant = {query_id: dict.fromkeys(grades, 1.0) for query_id, grades in graded.items()}
    grades_for = {
        nDCG: graded,
        MAP: all_relevant,
        MRR: all_relevant,
        Success: non_empty,
        Recall: non_empty,
    }
    results = [_evaluate(grades_for[measure], run, measure) for measure in measures]
    return results[0].model_copy(
        update={
            "measures": tuple(map(str, measures)),
            "values": ScoreMatrix(np.concatenate([result.values.array for result in results])),
        }
    )


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
    """Return a function that returns the code of a value: equal values have the same code."""
    code_by_value: dict[Any, str] = {}

    def code_of(value: Any) -> str:
        if value is None:  # Haystack never matches a missing value, so each gets its own code
            return code_by_value.setdefault(object(), str(len(code_by_value)))
        try:
            return code_by_value.setdefault(value, str(len(code_by_value)))
        except TypeError:
            text = json.dumps(value, sort_keys=True, default=repr)
            return code_by_value.setdefault((_equality_codes, text), str(len(code_by_value)))

    return code_of


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def _check_not_negative(query_id: str, grades: Sequence[float]) -> None:
    if min(grades, default=0) < 0:
        msg = (
            f"query {query_id!r} has a ground-truth document with the score {min(grades)!r}, which "
            "Haystack's nDCG would subtract; grades of 0 and more were expected"
        )
        raise InputError(msg)
