"""Qrels and runs that pytrec_eval takes and ``evaluate`` refuses: empty ids and infinite scores.

Both drop-ins, ``beir`` and ``pytrec_eval``, convert them before they evaluate.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from beir_eval.errors import RunError

_Result = TypeVar("_Result")

#: Replaces the empty id. Like the empty id, it sorts before all usual ids, and no data set has it.
EMPTY_ID = "\1\1 empty id \1"


def without_empty_ids(numbers: Any) -> Any:
    """Return qrels or a run with ``EMPTY_ID`` in place of empty query and document ids.

    Args:
        numbers: {query_id: {doc_id: grade or score}}; not changed. If it contains no empty id, or
            ``EMPTY_ID`` too, or is no such dict, it is returned itself.
    """
    if not isinstance(numbers, Mapping) or EMPTY_ID in numbers:
        return numbers
    docs_of_queries = [docs for docs in numbers.values() if isinstance(docs, dict)]
    if "" not in numbers and not any(map(operator.contains, docs_of_queries, repeat(""))):
        return numbers
    return {
        EMPTY_ID if query_id == "" else query_id: _without_empty_id(docs)
        for query_id, docs in numbers.items()
    }


def _without_empty_id(docs: Any) -> Any:
    if not isinstance(docs, dict) or "" not in docs or EMPTY_ID in docs:
        return docs
    return {EMPTY_ID if doc_id == "" else doc_id: number for doc_id, number in docs.items()}


def evaluate_with_infinite_scores(evaluate: Callable[[Any], _Result], run: Any) -> _Result:
    """Return ``evaluate(run)``, with infinite scores replaced by the largest and the lowest double.

    As float32, as in pytrec_eval, these numbers are infinite again. In double precision, a score
    that is itself the largest or the lowest double ties with the infinite ones.

    Args:
        evaluate: evaluates a run; called again with a changed copy if it refuses the run.
        run: {query_id: {doc_id: score}}; not changed.

    Raises:
        RunError: ``evaluate`` refuses the run for another reason.
    """
    try:
        return evaluate(run)
    except RunError:
        finite = _with_finite_scores(run)
        if finite is run:
            raise
    return evaluate(finite)


def _with_finite_scores(run: Any) -> Any:
    if not isinstance(run, Mapping):
        return run
    replaced = {
        query_id: {
            doc_id: math.copysign(sys.float_info.max, score) if _is_infinite(score) else score
            for doc_id, score in ranking.items()
        }
        for query_id, ranking in run.items()
        if isinstance(ranking, Mapping) and any(map(_is_infinite, ranking.values()))
    }
    return {**run, **replaced} if replaced else run


def _is_infinite(score: object) -> bool:
    return isinstance(score, (float, np.floating)) and bool(np.isinf(score))
