"""trec_eval's measures as pytrec_eval names them, made of this package's measures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from beir_eval.core.arrays import Floats
from beir_eval.errors import MeasureError
from beir_eval.measures import (
    AP_11pt,
    IPrec,
    Measure,
    Precision,
    Recall,
    Rprec_mult,
    gm_bpref,
    gm_map,
    num_q,
    num_rel,
    num_rel_ret,
    num_ret,
    parse,
)

#: Our measures' scores, f8[Q] each, in; trec_eval's value, f8[Q], out.
_Formula: TypeAlias = Callable[..., Floats]

_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_TENTHS = tuple(f"{tenth / 10}" for tenth in range(11))
_FIFTHS = tuple(f"{fifth / 5}" for fifth in range(1, 11))


class Value(NamedTuple):
    """One number of a query: its name, and of which of our measures it is made, and how."""

    name: str
    measures: tuple[Measure, ...]
    formula: _Formula


class _Family(NamedTuple):
    """A measure of trec_eval: its default parameters, and the values that parameters mean.

    A measure without default parameters takes none.
    """

    defaults: tuple[str, ...]
    values: Callable[[tuple[str, ...]], list[Value]]


def _itself(scores: Floats) -> Floats:
    return scores


def _plain(name: str, measure: Measure, formula: _Formula = _itself) -> _Family:
    return _Family((), lambda _: [Value(name, (measure,), formula)])


def _at_cutoffs(name: str, measure: Measure, defaults: tuple[str, ...] = _CUTOFFS) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[Value]:
        cutoffs = dict.fromkeys(int(float(parameter)) for parameter in parameters)
        return [Value(f"{name}_{k}", (measure @ k,), _itself) for k in cutoffs]

    return _Family(defaults, values)


def _at_points(
    name: str, measure: Callable[[float], Measure], defaults: tuple[str, ...]
) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[Value]:
        return [
            Value(f"{name}_{point:.2f}", (measure(point),), _itself)
            for point in map(float, parameters)
        ]

    return _Family(defaults, values)


def _f_measure(parameters: tuple[str, ...]) -> list[Value]:
    """trec_eval's parameter is the square of F's beta; of several it takes the first."""
    x = float(parameters[0])

    def formula(precision: Floats, recall: Floats) -> Floats:
        below = recall + x * precision
        above = (x + 1.0) * precision * recall
        return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)

    return [Value("set_F", (Precision, Recall), formula)]


def _utility(parameters: tuple[str, ...]) -> list[Value]:
    """The collection counts as empty, as in pytrec_eval, which cannot be told its size."""
    if len(parameters) != 4:  # noqa: PLR2004 - relevant or not, retrieved or not
        msg = f"utility takes four weights, not {len(parameters)}: {','.join(parameters)}"
        raise MeasureError(msg)
    a, b, c, d = map(float, parameters)

    def formula(found: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        others, missed = retrieved - found, relevant - found
        return a * found + b * others + c * missed + d * (found - retrieved - relevant)

    return [Value("utility", (num_rel_ret, num_ret, num_rel), formula)]


def _logarithm(scores: Floats) -> Floats:
    return np.array([math.log(score) for score in scores.tolist()])


def _nothing(scores: Floats) -> Floats:
    return np.zeros(len(scores))


_V9 = "trec_eval9"
#: trec_eval's names that ``parse`` reads, of measures that take no parameters there, or cutoffs.
_PLAIN = (
    *("G", "Rndcg", "Rprec", "binG", "bpref", "infAP", "map", "ndcg", "ndcg_rel"),
    *("num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "recip_rank"),
    *("set_P", "set_map", "set_recall", "set_relative_P"),
)
_WITH_CUTOFFS = ("P", "map_cut", "ndcg_cut", "recall", "relative_P")
_FAMILIES: Mapping[str, _Family] = {
    **{name: _plain(name, parse(name)) for name in _PLAIN},
    **{name: _at_cutoffs(name, parse(name)) for name in _WITH_CUTOFFS},
    "success": _at_cutoffs("success", parse("success"), ("1", "5", "10")),
    "11pt_avg": _plain("11pt_avg", AP_11pt(rounding=_V9)),
    "Rprec_mult": _at_points("Rprec_mult", lambda point: Rprec_mult(multiple=point), _FIFTHS),
    "iprec_at_recall": _at_points(
        "iprec_at_recall", lambda point: IPrec(recall=point, rounding=_V9), _TENTHS
    ),
    "gm_bpref": _plain("gm_bpref", gm_bpref, _logarithm),
    "gm_map": _plain("gm_map", gm_map, _logarithm),
    # What trec_eval prints as text, pytrec_eval returns as 0.
    "relstring": _Family(("10",), lambda _: [Value("relstring", (num_q,), _nothing)]),
    "runid": _plain("runid", num_q, _nothing),
    "set_F": _Family(("1.0",), _f_measure),
    "utility": _Family(("1.0", "-1.0", "0.0", "0.0"), _utility),
}

#: The measures for relevance judgements, as pytrec_eval names them.
SUPPORTED: frozenset[str] = frozenset(_FAMILIES)
#: Names that stand for several measures.
NICKNAMES: Mapping[str, frozenset[str]] = {
    "all_trec": SUPPORTED,
    "official": frozenset(
        {
            *("P", "Rprec", "bpref", "gm_map", "iprec_at_recall", "map", "num_q", "num_rel"),
            *("num_rel_ret", "num_ret", "recip_rank", "runid"),
        }
    ),
    "set": frozenset(
        {
            *("num_q", "num_rel", "num_rel_ret", "num_ret", "runid", "set_F", "set_P", "set_map"),
            *("set_recall", "set_relative_P", "utility"),
        }
    ),
}

_PARAMETERS = re.compile(r"[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")


def values_of(measures: Iterable[str]) -> list[Value]:
    """Return the numbers that names stand for, each once, by name."""
    asked: dict[str, set[str]] = {}
    for measure in map(str, measures):
        if measure in NICKNAMES:
            for name in NICKNAMES[measure]:
                asked.setdefault(name, set())
        elif measure in _FAMILIES:
            asked.setdefault(measure, set())
        else:
            name, parameters = _split(measure)
            asked.setdefault(name, set()).update(parameters)
    found: dict[str, Value] = {}
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
            if parameters and family.defaults:
                return name, parameters[1].split(",")
    msg = f"unsupported measure {measure}; supported are {', '.join(sorted(_FAMILIES))}"
    raise MeasureError(msg)
