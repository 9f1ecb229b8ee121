"""The numbers of Haystack's own evaluators, from the same core.

Their rules, where they are not ours: the order of a list is the ranking; a document that is
retrieved twice keeps both ranks and gains once; every document of the ground truth counts as
relevant for MAP, MRR and recall, whatever its score; recall alone takes no notice of an empty
value; a query without ground truth scores 0. Values are compared as Python compares them, lists
and dicts by their JSON.

Source: haystack-ai 3.4, DocumentNDCGEvaluator, DocumentMAPEvaluator, DocumentMRREvaluator,
DocumentRecallEvaluator. (2.26 differs: its nDCG goes by id, its MAP divides by what was found.)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.integrations.haystack.documents import (
    DocumentsExpected,
    Ranking,
    field_of,
    grades_of,
    highest,
    run_from_rankings,
)
from beir_eval.measures import MAP, MRR, Recall, Success, nDCG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: Success is their recall of mode "single_hit", Recall that of "multi_hit".
HAYSTACK_MEASURES = (nDCG, MAP, MRR, Success, Recall)

#: A query without ground truth is judged by this alone: it has nothing relevant.
_NOTHING = {"nothing": 0.0}


def evaluate_as_haystack(
    query_ids: Sequence[str],
    retrieved: Sequence[Sequence[Any]],
    truth: Sequence[Sequence[Any]],
    field: str,
    measures: Sequence[Measure],
) -> EvaluationResult:
    """Return what Haystack's evaluators say, for some of ``HAYSTACK_MEASURES``.

    Raises:
        InputError: a ground-truth list has documents with and without a score, or a negative one.
    """
    code_of = _codes()
    rankings: dict[str, Ranking] = {}
    graded: dict[str, dict[str, float]] = {}
    not_empty: dict[str, dict[str, float]] = {}
    for query_id, found, wanted in zip(query_ids, retrieved, truth, strict=True):
        with DocumentsExpected(query_id, found, "retrieved"):
            codes = [code_of(field_of(document, field)) for document in found]
        rankings[query_id] = Ranking(codes, None)
        with DocumentsExpected(query_id, wanted, "ground-truth"):
            values = [field_of(document, field) for document in wanted]
            grades = grades_of(query_id, wanted)
        _check_not_negative(query_id, grades)
        graded[query_id] = highest(
            [
                (code_of(value), grade)
                for value, grade in zip(values, grades, strict=True)
                if value is not None
            ]
        )
        not_empty[query_id] = {code_of(one): 1.0 for one in values if not _is_empty(one)}
    run = run_from_rankings(rankings)
    listed = {query_id: dict.fromkeys(grades, 1.0) for query_id, grades in graded.items()}
    views = {nDCG: graded, MAP: listed, MRR: listed, Success: not_empty, Recall: not_empty}
    results = [_evaluate(views[measure], run, measure) for measure in measures]
    return results[0].model_copy(
        update={
            "measures": tuple(map(str, measures)),
            "values": ScoreMatrix(np.concatenate([one.values.array for one in results])),
        }
    )


def _evaluate(grades: dict[str, dict[str, float]], run: Run, measure: Measure) -> EvaluationResult:
    judged = {query_id: one or _NOTHING for query_id, one in grades.items()}
    return Evaluator(judged, [measure], order="given", duplicates="keep").evaluate(run)


def _codes() -> Callable[[Any], str]:
    """Return what names values: two have one name where Python finds them equal."""
    known: dict[Any, str] = {}

    def code_of(value: Any) -> str:
        if value is None:  # equal to nothing, not even to itself
            return known.setdefault(object(), str(len(known)))
        try:
            return known.setdefault(value, str(len(known)))
        except TypeError:
            text = json.dumps(value, sort_keys=True, default=repr)
            return known.setdefault((_codes, text), str(len(known)))

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
