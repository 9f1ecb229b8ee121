"""pytrec_eval's public interface over this package's engine: no C extension, the same numbers.

Code written for pytrec_eval needs one changed line,
``import beir_eval.integrations.pytrec_eval as pytrec_eval``. For libraries that import pytrec_eval
themselves, call ``install()`` first.

What is the same: names, nicknames, default cutoffs, trec_eval 9's ties (scores as float32) and
rounding, every value of every query, the order of the queries. What is not: ids may be integers,
grades may be fractions, numbers may be numpy's; an empty ranking scores 0 instead of what was left
in memory; a query that has nothing relevant has relative_P 0, not NaN; a cutoff of 0, a cutoff that
is asked for twice and a parameter that a measure does not take are errors or counted once, where
the C extension ends the interpreter or takes no notice; damaged files raise errors of this package.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from beir_eval.errors import DuplicateDocumentError, FileFormatError, QrelsError
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.integrations._trec_eval_names import NICKNAMES, SUPPORTED, values_of
from beir_eval.measures import JUDGED_ONLY, Measure, num_q

#: The release of pytrec_eval-terrier whose interface and numbers these are; ir_measures takes no
#: pytrec_eval without a version.
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

#: The measures for relevance judgements.
supported_measures: set[str] = set(SUPPORTED)
#: Names that stand for several measures.
supported_nicknames: dict[str, set[str]] = {name: set(found) for name, found in NICKNAMES.items()}


class RelevanceEvaluator:
    """Scores of runs on one set of judgements, query by query.

    Args:
        query_relevance: {query_id: {doc_id: grade}}; a query without judgements is left out.
        measures: names of ``supported_measures``, with parameters or without ("ndcg_cut",
            "ndcg_cut_10", "P.5,10"), or of ``supported_nicknames``.
        relevance_level: the lowest grade that is relevant, for measures that only ask whether.
        judged_docs_only_flag: whether unjudged documents are dropped first.

    Raises:
        MeasureError: a ValueError: no such measure, or parameters that it does not take.
        QrelsError: a ValueError: an id or a grade is none.

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
        """Check judgements and measures once."""
        self._values = values_of(measures)
        self._adapted: dict[Measure, Measure] = {}
        for measure in dict.fromkeys(one for value in self._values for one in value.measures):
            changes: dict[str, Any] = {JUDGED_ONLY: True} if judged_docs_only_flag else {}
            if "rel" in measure.definition.defaults:
                changes["rel"] = relevance_level
            self._adapted[measure] = measure(**changes)
        if not isinstance(query_relevance, Mapping):
            msg = (
                "query_relevance must be {query_id: {doc_id: grade}}, not "
                f"{type(query_relevance).__name__}"
            )
            raise QrelsError(msg)
        self._evaluator: Evaluator | None = None
        if any(query_relevance.values()):
            # Without measures the answer still names the queries; an evaluator needs a measure.
            self._evaluator = Evaluator(
                query_relevance,
                list(self._adapted.values()) or [num_q],
                ties="trec_eval9",
                missing="skip",
            )

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return {query_id: {measure: value}} for the queries that are judged and in the run.

        Queries stand in the order of the run, which is left as it is. Without measures, each query
        has an empty dict.

        Raises:
            RunError: a ValueError: a score is not a finite number, an id is none.
        """
        evaluator = self._evaluator
        if evaluator is None or not scores:
            return {}
        judged = set(evaluator.qrels.query_ids)
        if not any(str(query_id) in judged for query_id in scores):
            return {}
        result = evaluator.evaluate(scores)
        columns = [
            value.formula(*(result.scores(self._adapted[one]) for one in value.measures)).tolist()
            for value in self._values
        ]
        names = [value.name for value in self._values]
        rows = list(zip(*columns, strict=True)) or [()] * len(result.query_ids)
        row_of = dict(zip(result.query_ids, rows, strict=True))
        return {
            query_id: dict(zip(names, row_of[query_id], strict=True))
            for query_id in map(str, scores)
            if query_id in row_of
        }


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Return one number for many queries: sum of num_*, exp of the mean of gm_*, else the mean.

    >>> compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a TREC run: {query_id: {doc_id: score}}. ``read_run`` is faster.

    Raises:
        FileFormatError: another number of columns, a score that is none.
        DuplicateDocumentError: a document stands twice for a query.

    >>> parse_run(["q Q0 a 1 0.5 tag"])["q"]
    {'a': 0.5}
    """
    run: dict[str, dict[str, float]] = _parsed(f_run, _RUN_COLUMNS, 4, float)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of TREC qrels: {query_id: {doc_id: grade}}. ``read_qrels`` does more.

    Raises:
        FileFormatError: another number of columns, a grade that is no integer.
        DuplicateDocumentError: a document is judged twice for a query.

    >>> parse_qrel(["q 0 a 1"])["q"]
    {'a': 1}
    """
    qrels: dict[str, dict[str, int]] = _parsed(f_qrel, _QRELS_COLUMNS, 3, int)
    return qrels


def _parsed(lines: Iterable[str], columns: int, place: int, number: Callable[[str], Any]) -> Any:
    path = getattr(lines, "name", "lines")
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for count, line in enumerate(lines, start=1):
        fields = line.strip().split()
        if len(fields) != columns:
            problem = f"{len(fields)} columns, expected {columns}"
            raise FileFormatError(path, problem, line=count)
        query_id, doc_id = fields[0], fields[2]
        if doc_id in found[query_id]:
            msg = f"{path}, line {count}: document {doc_id!r} stands twice for query {query_id!r}"
            raise DuplicateDocumentError(msg)
        try:
            found[query_id][doc_id] = number(fields[place])
        except ValueError as error:
            problem = f"{fields[place]!r} is no {number.__name__}"
            raise FileFormatError(path, problem, line=count) from error
    return found


def install() -> None:
    """Let ``import pytrec_eval`` mean this module from now on, in this process.

    For libraries that import pytrec_eval themselves, such as BEIR and MTEB; call it before they
    are imported. What has imported the C extension already keeps it.
    """
    sys.modules["pytrec_eval"] = sys.modules[__name__]
