"""A drop-in replacement for pytrec_eval: its public interface and its numbers, no C extension.

In code written for pytrec_eval, change one line:
``import beir_eval.integrations.pytrec_eval as pytrec_eval``. For libraries that import pytrec_eval
themselves, call ``install()`` first.

The same as in pytrec_eval: names, nicknames, default cutoffs, trec_eval 9's ties (scores as
float32) and rounding, every value of every query, the order of the queries.

Different from pytrec_eval:

- Ids may be integers, grades may be fractions, numbers may be numpy's.
- An empty ranking scores 0; pytrec_eval returns what was left in memory.
- ``relative_P`` of a query without relevant documents is 0, not NaN.
- A cutoff of 0 is an error; in pytrec_eval it crashes the interpreter.
- A cutoff that is listed twice counts once.
- A name of which only the beginning is read ("P_5_10" as "P_5", "map.5" as "map") gives a warning.
- A parameter that crashes the interpreter in pytrec_eval ("ndcg.5", "P_0") is an error.

docs/drop-in.md lists every known difference.

Qrels and runs that pytrec_eval takes and ``evaluate`` refuses have empty ids or infinite scores.
They are converted before they are evaluated; the drop-in ``beir`` does so too.
"""

from __future__ import annotations

import math
import operator
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from beir_eval.errors import DuplicateDocumentError, FileFormatError, RunError
from beir_eval.evaluation.evaluator import Evaluator, for_drop_in
from beir_eval.integrations._trec_eval_names import NICKNAMES, SUPPORTED, values_of_measures
from beir_eval.measures import JUDGED_ONLY, Measure, num_q

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The release of pytrec_eval-terrier with this interface and these numbers. ir_measures requires
#: that pytrec_eval has a version.
__version__ = "0.5.11"

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "install",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_RUN_COLUMNS, _QRELS_COLUMNS = 6, 4
_Result = TypeVar("_Result")
#: Replaces the empty id. Like the empty id, it sorts before all usual ids, and no data set has it.
EMPTY_ID = "\1\1 empty id \1"


class _RepeatedDocumentError(DuplicateDocumentError, AssertionError):
    """A document listed twice for a query; pytrec_eval raises AssertionError."""


#: The measures for relevance judgements.
supported_measures: set[str] = set(SUPPORTED)
#: Nicknames, each with the names of its measures.
supported_nicknames: dict[str, set[str]] = {
    name: set(measures) for name, measures in NICKNAMES.items()
}


class RelevanceEvaluator:
    """Scores each query of a run with trec_eval's measures.

    Args:
        query_relevance: {query_id: {doc_id: grade}}; a query without judgements is left out.
        measures: names of ``supported_measures``, with parameters or without ("ndcg_cut",
            "ndcg_cut_10", "P.5,10"), or of ``supported_nicknames``.
        relevance_level: the lowest relevant grade, for measures of binary relevance.
        judged_docs_only_flag: whether unjudged documents are removed from the rankings first.

    Raises:
        MeasureError: (a ValueError) an unknown measure, or a parameter such as a cutoff of 0.
        QrelsError: (a ValueError) an id or a grade is not valid.

    >>> evaluator = RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "P.1,2"})
    >>> evaluator.evaluate({"q": {"b": 0.9, "a": 0.8}})
    {'q': {'P_1': 0.0, 'P_2': 0.5, 'map': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - pytrec_eval's signature
    ) -> None:
        """Check the judgements and the measures."""
        self._values = values_of_measures(measures)
        self._adapted_measures: dict[Measure, Measure] = {}
        for measure in dict.fromkeys(source for value in self._values for source in value.measures):
            changes: dict[str, Any] = {JUDGED_ONLY: True} if judged_docs_only_flag else {}
            if "rel" in measure.definition.defaults:
                changes["rel"] = relevance_level
            self._adapted_measures[measure] = measure(**changes)
        self._evaluator: Evaluator | None = None
        if any(query_relevance.values()):
            # Without measures, evaluate still returns the queries; an Evaluator needs a measure.
            evaluator = Evaluator(
                without_empty_ids(query_relevance),
                list(self._adapted_measures.values()) or [num_q],
                ties="trec_eval9",
                missing="skip",
            )
            self._evaluator = for_drop_in(evaluator)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return {query_id: {measure: value}} for the queries that are judged and in the run.

        The queries are in the order of the run. Without measures, each query has an empty dict.

        Args:
            scores: the run, {query_id: {doc_id: score}}; it is not changed.

        Raises:
            RunError: (a ValueError) ``scores`` is no mapping, a score is NaN or not a number, or an
                id is not valid.
        """
        evaluator = self._evaluator
        if not isinstance(scores, Mapping):
            msg = f"the run must be {{query_id: {{doc_id: score}}}}, not {type(scores).__name__}"
            raise RunError(msg)
        if not scores:
            return {}
        if evaluator is None:
            return {}
        run = without_empty_ids(scores)
        judged = set(evaluator.qrels.query_ids)
        if not any(str(query_id) in judged for query_id in run):
            return {}
        result = evaluate_with_infinite_scores(evaluator.evaluate, run)
        columns = [
            value.formula(
                *(result.scores(self._adapted_measures[measure]) for measure in value.measures)
            ).tolist()
            for value in self._values
        ]
        names = [value.name for value in self._values]
        rows = list(zip(*columns, strict=True)) or [()] * len(result.query_ids)
        row_of = dict(zip(result.query_ids, rows, strict=True))
        return {
            str(query_id): dict(zip(names, row_of[str(name)], strict=True))
            for query_id, name in zip(scores, run, strict=True)
            if str(name) in row_of
        }


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Return the aggregate of a measure over queries.

    It is the sum for num_*, the exponential of the mean for gm_*, and the mean for all others.

    Args:
        measure: the name of the measure, as in the results of ``RelevanceEvaluator.evaluate``.
        values: the value of each query. [Q]

    >>> compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return a TREC run as {query_id: {doc_id: score}}. ``read_run`` is faster.

    Args:
        f_run: the lines of the run, for example an open file.

    Raises:
        FileFormatError: a line does not have 6 columns, or a score is not a number.
        DuplicateDocumentError: (also an AssertionError) a document is listed twice for a query.

    >>> parse_run(["q Q0 a 1 0.5 tag"])["q"]
    {'a': 0.5}
    """
    run: dict[str, dict[str, float]] = _parse_lines(f_run, _RUN_COLUMNS, 4, float)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return TREC qrels as {query_id: {doc_id: grade}}. ``read_qrels`` reads more formats.

    Args:
        f_qrel: the lines of the qrels, for example an open file.

    Raises:
        FileFormatError: a line does not have 4 columns, or a grade is not an integer.
        DuplicateDocumentError: (also an AssertionError) a document is judged twice for a query.

    >>> parse_qrel(["q 0 a 1"])["q"]
    {'a': 1}
    """
    qrels: dict[str, dict[str, int]] = _parse_lines(f_qrel, _QRELS_COLUMNS, 3, int)
    return qrels


def _parse_lines(
    lines: Iterable[str], column_count: int, value_index: int, number_type: Callable[[str], Any]
) -> Any:
    """Return {query_id: {doc_id: number}}, with the number from column ``value_index``."""
    path = getattr(lines, "name", "lines")
    values_of_query: dict[str, dict[str, Any]] = defaultdict(dict)
    for number, line in enumerate(lines, start=1):
        fields = line.strip().split()
        if len(fields) != column_count:
            problem = f"{len(fields)} columns, expected {column_count}"
            raise FileFormatError(path, problem, line=number)
        query_id, doc_id = fields[0], fields[2]
        if doc_id in values_of_query[query_id]:
            msg = (
                f"{path}, line {number}: document {doc_id!r} is listed twice for query {query_id!r}"
            )
            raise _RepeatedDocumentError(msg)
        try:
            values_of_query[query_id][doc_id] = number_type(fields[value_index])
        except ValueError as error:
            problem = f"{fields[value_index]!r} is no {number_type.__name__}"
            raise FileFormatError(path, problem, line=number) from error
    return values_of_query


def install() -> None:
    """Make ``import pytrec_eval`` import this module in the current process.

    This is for libraries that import pytrec_eval themselves, such as BEIR and MTEB. Call it before
    you import them: a library that has imported the C extension keeps it.
    """
    sys.modules["pytrec_eval"] = sys.modules[__name__]


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
