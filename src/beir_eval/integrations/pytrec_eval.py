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

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from beir_eval._arrays import Floats
from beir_eval.errors import DuplicateDocumentError, FileFormatError, MeasureError, QrelsError
from beir_eval.evaluator import Evaluator
from beir_eval.measures import (
    JUDGED_ONLY,
    MAP,
    MRR,
    AP_11pt,
    G,
    IPrec,
    Measure,
    Precision,
    R_cap,
    Recall,
    Rndcg,
    Rprec,
    Rprec_mult,
    Success,
    binG,
    bpref,
    gm_bpref,
    gm_map,
    infAP,
    nDCG,
    ndcg_rel,
    num_nonrel_judged_ret,
    num_q,
    num_rel,
    num_rel_ret,
    num_ret,
    set_map,
)

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "install",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

#: Our measures' scores, f8[Q] each, in; trec_eval's value, f8[Q], out.
_Formula: TypeAlias = Callable[..., Floats]

_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_TENTHS = tuple(f"{tenth / 10}" for tenth in range(11))
_FIFTHS = tuple(f"{fifth / 5}" for fifth in range(1, 11))
_RUN_COLUMNS, _QRELS_COLUMNS = 6, 4


class _Value(NamedTuple):
    """One number of a query: its name, and of which of our measures it is made, and how."""

    name: str
    measures: tuple[Measure, ...]
    formula: _Formula


class _Family(NamedTuple):
    """A measure of trec_eval: its default parameters, and the values that parameters mean."""

    defaults: tuple[str, ...]
    values: Callable[[tuple[str, ...]], list[_Value]]
    takes_parameters: bool = True


def _itself(scores: Floats) -> Floats:
    return scores


def _plain(name: str, measure: Measure, formula: _Formula = _itself) -> _Family:
    return _Family((), lambda _: [_Value(name, (measure,), formula)], takes_parameters=False)


def _at_cutoffs(name: str, measure: Measure, defaults: tuple[str, ...] = _CUTOFFS) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[_Value]:
        cutoffs = dict.fromkeys(int(float(parameter)) for parameter in parameters)
        return [_Value(f"{name}_{k}", (measure @ k,), _itself) for k in cutoffs]

    return _Family(defaults, values)


def _at_points(
    name: str, measure: Callable[[float], Measure], defaults: tuple[str, ...]
) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[_Value]:
        return [
            _Value(f"{name}_{point:.2f}", (measure(point),), _itself)
            for point in map(float, parameters)
        ]

    return _Family(defaults, values)


def _f_measure(parameters: tuple[str, ...]) -> list[_Value]:
    """trec_eval's parameter is the square of F's beta; of several it takes the first."""
    x = float(parameters[0])

    def formula(precision: Floats, recall: Floats) -> Floats:
        below = recall + x * precision
        above = (x + 1.0) * precision * recall
        return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)

    return [_Value("set_F", (Precision, Recall), formula)]


def _utility(parameters: tuple[str, ...]) -> list[_Value]:
    """The collection counts as empty, as in pytrec_eval, which cannot be told its size."""
    if len(parameters) != 4:  # noqa: PLR2004 - relevant or not, retrieved or not
        msg = f"utility takes four weights, not {len(parameters)}: {','.join(parameters)}"
        raise MeasureError(msg)
    a, b, c, d = map(float, parameters)

    def formula(found: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        others, missed = retrieved - found, relevant - found
        return a * found + b * others + c * missed + d * (found - retrieved - relevant)

    return [_Value("utility", (num_rel_ret, num_ret, num_rel), formula)]


def _logarithm(scores: Floats) -> Floats:
    return np.array([math.log(score) for score in scores.tolist()])


def _nothing(scores: Floats) -> Floats:
    return np.zeros(len(scores))


_V9 = "trec_eval9"
_FAMILIES: Mapping[str, _Family] = {
    "11pt_avg": _plain("11pt_avg", AP_11pt(rounding=_V9)),
    "G": _plain("G", G),
    "P": _at_cutoffs("P", Precision),
    "Rndcg": _plain("Rndcg", Rndcg),
    "Rprec": _plain("Rprec", Rprec),
    "Rprec_mult": _at_points("Rprec_mult", lambda point: Rprec_mult(multiple=point), _FIFTHS),
    "binG": _plain("binG", binG),
    "bpref": _plain("bpref", bpref),
    "gm_bpref": _plain("gm_bpref", gm_bpref, _logarithm),
    "gm_map": _plain("gm_map", gm_map, _logarithm),
    "infAP": _plain("infAP", infAP),
    "iprec_at_recall": _at_points(
        "iprec_at_recall", lambda point: IPrec(recall=point, rounding=_V9), _TENTHS
    ),
    "map": _plain("map", MAP),
    "map_cut": _at_cutoffs("map_cut", MAP),
    "ndcg": _plain("ndcg", nDCG),
    "ndcg_cut": _at_cutoffs("ndcg_cut", nDCG),
    "ndcg_rel": _plain("ndcg_rel", ndcg_rel),
    "num_nonrel_judged_ret": _plain("num_nonrel_judged_ret", num_nonrel_judged_ret),
    "num_q": _plain("num_q", num_q),
    "num_rel": _plain("num_rel", num_rel),
    "num_rel_ret": _plain("num_rel_ret", num_rel_ret),
    "num_ret": _plain("num_ret", num_ret),
    "recall": _at_cutoffs("recall", Recall),
    "recip_rank": _plain("recip_rank", MRR),
    "relative_P": _at_cutoffs("relative_P", R_cap),
    # What trec_eval prints as text, pytrec_eval returns as 0.
    "relstring": _Family(("10",), lambda _: [_Value("relstring", (num_q,), _nothing)]),
    "runid": _plain("runid", num_q, _nothing),
    "set_F": _Family(("1.0",), _f_measure),
    "set_P": _plain("set_P", Precision),
    "set_map": _plain("set_map", set_map),
    "set_recall": _plain("set_recall", Recall),
    "set_relative_P": _plain("set_relative_P", R_cap),
    "success": _at_cutoffs("success", Success, ("1", "5", "10")),
    "utility": _Family(("1.0", "-1.0", "0.0", "0.0"), _utility),
}

#: The measures for relevance judgements, as pytrec_eval names them.
supported_measures: set[str] = set(_FAMILIES)
#: Names that stand for several measures.
supported_nicknames: dict[str, set[str]] = {
    "all_trec": set(_FAMILIES),
    "official": {
        *("P", "Rprec", "bpref", "gm_map", "iprec_at_recall", "map", "num_q", "num_rel"),
        *("num_rel_ret", "num_ret", "recip_rank", "runid"),
    },
    "set": {
        *("num_q", "num_rel", "num_rel_ret", "num_ret", "runid", "set_F", "set_P", "set_map"),
        *("set_recall", "set_relative_P", "utility"),
    },
}

_PARAMETERS = re.compile(r"[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")


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
        self._values = _values_of(measures)
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
        if any(query_relevance.values()) and self._values:
            self._evaluator = Evaluator(
                query_relevance, self._adapted.values(), ties=_V9, missing="skip"
            )

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return {query_id: {measure: value}} for the queries that are judged and in the run.

        Queries stand in the order of the run, which is left as it is.

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
        place_of = {query_id: place for place, query_id in enumerate(result.query_ids)}
        columns = [
            value.formula(*(result.scores(self._adapted[one]) for one in value.measures)).tolist()
            for value in self._values
        ]
        names = [value.name for value in self._values]
        rows = list(zip(*columns, strict=True))
        return {
            str(query_id): dict(zip(names, rows[place_of[str(query_id)]], strict=True))
            for query_id in scores
            if str(query_id) in place_of
        }


def _values_of(measures: Iterable[str]) -> list[_Value]:
    """Return the numbers that names stand for, each once, by name."""
    asked: dict[str, set[str]] = {}
    for measure in map(str, measures):
        if measure in supported_nicknames:
            for name in supported_nicknames[measure]:
                asked.setdefault(name, set())
        elif measure in _FAMILIES:
            asked.setdefault(measure, set())
        else:
            name, parameters = _split(measure)
            asked.setdefault(name, set()).update(parameters)
    found: dict[str, _Value] = {}
    for name in sorted(asked):
        family = _FAMILIES[name]
        for value in family.values(tuple(sorted(asked[name])) or family.defaults):
            found[value.name] = value
    return list(found.values())


def _split(measure: str) -> tuple[str, list[str]]:
    """Return name and parameters of "P.5,10" or "P_5,10"."""
    for name, family in _FAMILIES.items():
        if measure.startswith(name):
            parameters = _PARAMETERS.fullmatch(measure, len(name))
            if parameters and family.takes_parameters:
                return name, parameters[1].split(",")
    msg = f"unsupported measure {measure}; supported are {', '.join(sorted(_FAMILIES))}"
    raise MeasureError(msg)


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
