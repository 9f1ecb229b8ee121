"""trec_eval's measures by their names in pytrec_eval, computed from this package's measures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from beir_eval.core.arrays import Floats, is_iterable
from beir_eval.errors import MeasureError, shown, warn_caller
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

#: Takes the scores of our measures, f8[Q] each; returns trec_eval's values, f8[Q].
_Formula: TypeAlias = Callable[..., Floats]

_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
_TENTHS = tuple(f"{tenth / 10}" for tenth in range(11))
_FIFTHS = tuple(f"{fifth / 5}" for fifth in range(1, 11))


class Value(NamedTuple):
    """A number that pytrec_eval returns for each query, such as ``P_5``.

    Attributes:
        name: the key in pytrec_eval's results.
        measures: our measures whose scores the formula takes.
        formula: computes the values from these scores.
    """

    name: str
    measures: tuple[Measure, ...]
    formula: _Formula


class _Family(NamedTuple):
    """A measure of trec_eval with any parameters, such as ``P``.

    Attributes:
        defaults: the parameters used if a request names none. A measure without default parameters
            takes none.
        values: returns the values for given parameters.
    """

    defaults: tuple[str, ...]
    values: Callable[[tuple[str, ...]], list[Value]]


def _unchanged(scores: Floats) -> Floats:
    return scores


def _plain_family(name: str, measure: Measure, formula: _Formula = _unchanged) -> _Family:
    return _Family((), lambda _: [Value(name, (measure,), formula)])


def _cutoff_family(name: str, measure: Measure, defaults: tuple[str, ...] = _CUTOFFS) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[Value]:
        cutoffs = dict.fromkeys(int(float(parameter)) for parameter in parameters)
        return [Value(f"{name}_{cutoff}", (measure @ cutoff,), _unchanged) for cutoff in cutoffs]

    return _Family(defaults, values)


def _number_family(
    name: str, measure: Callable[[float], Measure], defaults: tuple[str, ...]
) -> _Family:
    def values(parameters: tuple[str, ...]) -> list[Value]:
        return [
            Value(f"{name}_{number:.2f}", (measure(number),), _unchanged)
            for number in map(float, parameters)
        ]

    return _Family(defaults, values)


def _f_measure_values(parameters: tuple[str, ...]) -> list[Value]:
    """Return the value of set_F.

    trec_eval's parameter is the square of F's beta. If there are several, trec_eval uses the first.
    """
    beta_squared = float(parameters[0])

    def formula(precision: Floats, recall: Floats) -> Floats:
        denominator = recall + beta_squared * precision
        numerator = (beta_squared + 1.0) * precision * recall
        return np.divide(
            numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0
        )

    return [Value("set_F", (Precision, Recall), formula)]


def _utility_values(parameters: tuple[str, ...]) -> list[Value]:
    """Return the value of utility: a·hits + b·nonrelevant + c·missed + d·others.

    Hits and nonrelevant documents are retrieved; missed documents are relevant and not retrieved.
    The others are the rest of the collection. The size of the collection is taken as 0, as in
    pytrec_eval, which has no parameter for it; so their number is hits - retrieved - relevant.
    """
    if len(parameters) != 4:  # noqa: PLR2004 - relevant or not, retrieved or not
        msg = f"utility takes four weights, not {len(parameters)}: {','.join(parameters)}"
        raise MeasureError(msg)
    a, b, c, d = map(float, parameters)

    def formula(hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        nonrelevant, missed = retrieved - hits, relevant - hits
        return a * hits + b * nonrelevant + c * missed + d * (hits - retrieved - relevant)

    return [Value("utility", (num_rel_ret, num_ret, num_rel), formula)]


def _interpolated_average_values(parameters: tuple[str, ...]) -> list[Value]:
    """Return the value of 11pt_avg: the mean of the interpolated precision at recall levels."""
    if parameters == _TENTHS:
        return [Value("11pt_avg", (AP_11pt(rounding=_ROUNDING),), _unchanged)]
    levels = sorted(set(map(float, parameters)), reverse=True)

    def formula(*precisions: Floats) -> Floats:
        total = np.zeros(len(precisions[0]))
        for precision in precisions:
            total += precision
        return total / len(precisions)

    measures = tuple(IPrec(recall=level, rounding=_ROUNDING) for level in levels)
    return [Value("11pt_avg", measures, formula)]


def _logarithms(scores: Floats) -> Floats:
    return np.array([math.log(score) for score in scores.tolist()])


def _zeros(scores: Floats) -> Floats:
    return np.zeros(len(scores))


_ROUNDING = "trec_eval9"
#: Names that ``parse`` also reads: of measures without parameters, and of measures with cutoffs.
_WITHOUT_PARAMETERS = (
    *("G", "Rndcg", "Rprec", "binG", "bpref", "infAP", "map", "ndcg", "ndcg_rel"),
    *("num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "recip_rank"),
    *("set_P", "set_map", "set_recall", "set_relative_P"),
)
_WITH_CUTOFFS = ("P", "map_cut", "ndcg_cut", "recall", "relative_P")
_FAMILIES: Mapping[str, _Family] = {
    **{name: _plain_family(name, parse(name)) for name in _WITHOUT_PARAMETERS},
    **{name: _cutoff_family(name, parse(name)) for name in _WITH_CUTOFFS},
    "success": _cutoff_family("success", parse("success"), ("1", "5", "10")),
    "11pt_avg": _Family(_TENTHS, _interpolated_average_values),
    "Rprec_mult": _number_family(
        "Rprec_mult", lambda multiple: Rprec_mult(multiple=multiple), _FIFTHS
    ),
    "iprec_at_recall": _number_family(
        "iprec_at_recall", lambda recall: IPrec(recall=recall, rounding=_ROUNDING), _TENTHS
    ),
    "gm_bpref": _plain_family("gm_bpref", gm_bpref, _logarithms),
    "gm_map": _plain_family("gm_map", gm_map, _logarithms),
    # trec_eval prints these as text; pytrec_eval returns 0.
    "relstring": _Family(("10",), lambda _: [Value("relstring", (num_q,), _zeros)]),
    "runid": _plain_family("runid", num_q, _zeros),
    "set_F": _Family(("1.0",), _f_measure_values),
    "utility": _Family(("1.0", "-1.0", "0.0", "0.0"), _utility_values),
}

#: pytrec_eval's names of the measures for relevance judgements.
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

_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)")
#: trec_eval reads their parameters as pairs of a grade and its gain, such as 2=5; pytrec_eval has
#: no way to write these, and crashes the interpreter if it is given a number.
_WITH_GAINS = ("G", "Rndcg", "ndcg", "ndcg_rel")


def values_of_measures(measures: Iterable[str]) -> list[Value]:
    """Return the values that names of measures or nicknames request, each once, sorted by name.

    Raises:
        MeasureError: an unknown name, or parameters with which pytrec_eval cannot compute anything.
    """
    if not is_iterable(measures):
        msg = f"measures must be names, not {shown(measures)}"
        raise MeasureError(msg)
    parameters_of: dict[str, set[str]] = {}
    for measure in map(str, measures):
        if measure in NICKNAMES:
            for name in NICKNAMES[measure]:
                parameters_of.setdefault(name, set())
        elif measure in _FAMILIES:
            parameters_of.setdefault(measure, set())
        else:
            name, parameters = _split_name(measure)
            parameters_of.setdefault(name, set()).update(parameters)
    value_of: dict[str, Value] = {}
    for name in sorted(parameters_of):
        family = _FAMILIES[name]
        for value in family.values(tuple(sorted(parameters_of[name])) or family.defaults):
            value_of[value.name] = value
    return list(value_of.values())


def _split_name(measure: str) -> tuple[str, list[str]]:
    """Return the name and the parameters of a request such as "P.5,10" or "P_5,10".

    As in pytrec_eval, text after the parameters is ignored, and so are parameters of a measure that
    takes none; a warning says so.

    Raises:
        MeasureError: the request does not begin with a measure and a parameter, or trec_eval takes
            other parameters than numbers.
    """
    for name, family in _FAMILIES.items():
        parameters = _PARAMETERS.match(measure, len(name)) if measure.startswith(name) else None
        if parameters is None:
            continue
        if name in _WITH_GAINS:
            msg = f"{name} takes no parameter here, as in {measure!r}; for a cutoff use ndcg_cut"
            raise MeasureError(msg)
        read = measure[: parameters.end()] if family.defaults else name
        if read != measure:
            warn_caller(f"the measure {measure!r} is read as {read!r}, as pytrec_eval reads it")
        return name, parameters[1].split(",") if family.defaults else []
    msg = f"unsupported measure {measure}; supported are {', '.join(sorted(_FAMILIES))}"
    raise MeasureError(msg)
