"""Reading measure names, ours and other tools', and writing ours as other tools do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from beir_eval.errors import MeasureError, check_choice
from beir_eval.measures.registry import Definition, Measure, resolve, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TOOLS", "MeasureLike", "definition_of", "parse", "parse_all", "spelled"]

#: Wherever a measure is wanted: the value itself, or its name in any spelling.
MeasureLike: TypeAlias = "Measure | str"

#: Whose names ``spelled`` writes; MTEB has names for its result files only.
TOOLS = ("beir", "trec_eval", "ir_measures")

# A name, parameters in brackets or none, a number behind @ or none.
_FORM = re.compile(r"(?P<name>[^@()]+)(?:\((?P<parameters>.*)\))?(?:@(?P<number>[^@()]+))?")
# name_at_10 (MTEB, Python identifiers), name_10 and name.10 (trec_eval)
_SUFFIX = re.compile(r"(?P<name>.+?)(?:_at_|[_.])(?P<number>\d+(?:\.\d+)?|\.\d+)")
# rbp.95 (ranx)
_RANX_RBP = re.compile(r"rbp\.(?P<digits>\d+)", re.IGNORECASE)
_LONGEST_NAME = 100_000
# ir_measures writes nDCG's gain as dcg=
_IR_MEASURES_GAINS = {"log2": "linear", "exp-log2": "exp"}


def parse(text: MeasureLike) -> Measure:
    """Return the measure that a name stands for.

    Reads the canonical names and the spellings of BEIR (``NDCG@10``), trec_eval (``ndcg_cut_10``,
    ``map_cut.100``), ir_measures (``AP@100``, ``nDCG(dcg="exp-log2")@10``), ranx (``hit_rate@5``)
    and MTEB (``ndcg_at_10``). Upper and lower case do not matter. A Measure is returned as it is.

    Raises:
        UnknownMeasureError: nothing goes by that name; the message names the nearest.
        MeasureError: a parameter or the cutoff is impossible or missing.

    >>> parse("ndcg_cut_10"), parse("AP@100"), parse("P(rel=2)@5")
    (nDCG@10, MAP@100, Precision(rel=2)@5)
    """
    if isinstance(text, Measure):
        return text.check_complete()
    if not isinstance(text, str):
        msg = f"a measure is a name or a Measure, not {text!r} of type {type(text).__name__}"
        raise MeasureError(msg)
    if len(text) > _LONGEST_NAME:
        msg = f"a measure's name has at most {_LONGEST_NAME} characters, not {len(text)}"
        raise MeasureError(msg)
    return _parse_text(text.strip())


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> Measure:
    return _parse(text).check_complete()


def parse_all(texts: Iterable[MeasureLike]) -> tuple[Measure, ...]:
    """Return the measures of several names, each measure once, in the order given.

    Raises:
        MeasureError: as ``parse``; also for a single name where a list is expected, and for none.
    """
    if isinstance(texts, (str, Measure)):
        texts = [texts]
    if not isinstance(texts, Iterable):
        msg = f"measures must be a list of names, not {texts!r}"
        raise MeasureError(msg)
    found = tuple(dict.fromkeys(parse(text) for text in texts))
    if not found:
        msg = "no measure was asked for; name at least one, for example 'nDCG@10'"
        raise MeasureError(msg)
    return found


def definition_of(name: str) -> Definition:
    """Return what is known of a measure by its name in any spelling, cutoff or none.

    Raises:
        MeasureError: as ``parse``, but for what a bare name lacks.

    >>> definition_of("ndcg").name
    'nDCG'
    """
    return _parse(name.strip()).definition


def _parse(text: str) -> Measure:
    if ranx := _RANX_RBP.fullmatch(text):
        return Measure("RBP")(p=float(f"0.{ranx['digits']}"))
    form = _FORM.fullmatch(text)
    if form is None:
        raise unknown(text, text)
    name, number = form["name"].strip(), form["number"]
    number = None if number is None else number.strip()
    found = resolve(name)
    suffix = _SUFFIX.fullmatch(name)
    if found is None and suffix and number is None and form["parameters"] is None:
        name, number = suffix["name"], suffix["number"]
        found = resolve(name)
    if found is None:
        raise unknown(text, name)
    definition, implied = found
    parameters = dict(definition.shown) | dict(implied)
    if form["parameters"] is not None:
        parameters |= _parameters(text, form["parameters"])
    measure = Measure(definition.name)(**parameters)
    return measure if number is None else _with_number(measure, number, text)


def _with_number(measure: Measure, number: str, text: str) -> Measure:
    definition = measure.definition
    if definition.number != "cutoff":
        try:
            return measure(**{definition.number: float(number)})
        except ValueError as error:
            msg = f"in {text!r}, {number!r} is no {definition.number}: {error}"
            raise MeasureError(msg) from error
    if not re.fullmatch(r"\d+", number):
        msg = f"in {text!r}, the cutoff {number!r} is not a whole number above 0"
        raise MeasureError(msg)
    return measure @ int(number)


def _parameters(text: str, listed: str) -> dict[str, Any]:
    """Read ``rel=2, gain="exp"``: names with literal values, nothing is evaluated."""
    try:
        call = ast.parse(f"f({listed})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError  # noqa: TRY301 - one message for every way to be wrong
        values = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        if len(values) < len(call.keywords):
            raise ValueError  # noqa: TRY301
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        msg = f'in {text!r}, ({listed}) is not a list of parameters such as (rel=2, gain="exp")'
        raise MeasureError(msg) from error
    if "dcg" in values:
        gain = values.pop("dcg")
        check_choice("dcg", gain, _IR_MEASURES_GAINS)
        values["gain"] = _IR_MEASURES_GAINS[gain]
    return values


def spelled(measure: Measure, tool: str) -> str:
    """Return the measure's name in another tool, or ours where that tool has no such measure.

    >>> spelled(parse("nDCG@10"), "trec_eval"), spelled(parse("F1@10"), "trec_eval")
    ('ndcg_cut_10', 'F1@10')
    """
    check_choice("names", tool, TOOLS)
    return name_in(tool, measure) or str(measure)


def name_in(tool: str, measure: Measure) -> str | None:
    """Return the measure's name in another tool, None where that tool has no such measure.

    >>> name_in("mteb", parse("nDCG@10")), name_in("mteb", parse("F1@10"))
    ('ndcg_at_10', None)
    """
    without, with_cutoff = measure.definition.tools.get(tool, (None, None))
    template = without if measure.cutoff is None else with_cutoff
    parameters = dict(measure.parameters)
    if template is None:
        return None
    if tool == "ir_measures":
        template = _ir_measures_parameters(template, parameters)
    fields = {name: parameters.pop(name) for name in list(parameters) if f"{{{name}" in template}
    if parameters:
        return None
    name = template.format(k=measure.cutoff, **fields)
    # trec_eval's recall levels have two digits; a level with more keeps our name.
    return name if tool != "trec_eval" or _parse_text(name) == measure else None


def _ir_measures_parameters(template: str, parameters: dict[str, Any]) -> str:
    """Put the parameters that ir_measures knows by the same name into the template."""
    shared: Sequence[str] = [name for name in ("judged_only", "rel") if name in parameters]
    if not shared or "(" in template:
        return template
    name, at, cutoff = template.partition("@")
    return f"{name}({', '.join(f'{one}={{{one}}}' for one in shared)}){at}{cutoff}"
