"""Parsing of measure names in the spellings of several tools, and names in those spellings."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from beir_eval.core.arrays import is_iterable
from beir_eval.errors import (
    MAX_VALUE_SHOWN,
    MeasureError,
    UnknownMeasureError,
    check_choice,
    first_few,
    shorten,
    shown,
)
from beir_eval.measures.parameters import CHECKS, LONGEST_TABLE
from beir_eval.measures.registry import (
    HIGHEST_CUTOFF,
    Definition,
    Measure,
    resolve,
    similar_names,
    unknown_measure,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = [
    "TOOLS",
    "MeasureLike",
    "definition_of",
    "parse",
    "parse_all",
    "spelled",
    "with_rel",
]

#: What every function that needs a measure accepts: a ``Measure``, or its name in any spelling.
MeasureLike: TypeAlias = "Measure | str"

#: The tools whose names ``spelled`` writes. MTEB's names serve only its result files.
TOOLS = ("beir", "trec_eval", "ir_measures")

# A name, optional parameters in brackets, an optional number after @.
_FORM = re.compile(r"(?P<name>[^@()]+)(?:\((?P<parameters>.*)\))?(?:@(?P<number>[^@()]+))?")
# name_at_10 (MTEB, Python identifiers), name_10 and name.10 (trec_eval)
_SUFFIX = re.compile(
    r"(?P<name>.+?)(?:_at_|[_.])(?P<number>\d+(?:\.\d+)?|\.\d+)", re.IGNORECASE | re.ASCII
)
# rbp.95 (ranx)
_RANX_RBP = re.compile(r"rbp\.(?P<digits>\d+)", re.IGNORECASE | re.ASCII)
# P.5,10 and iprec_at_recall.0.1,0.2 (trec_eval), nDCG@5,10: a name with a number, and one more
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+", re.ASCII)
_NUMBERED = re.compile(rf"(?P<name>.*?[@_.])(?:{_NUMBER.pattern})", re.ASCII)
# map-l2, mrr@10-l2 (ranx): the lowest relevant grade
_RANX_LEVEL = re.compile(r"(?P<measure>.+)-l(?P<level>\d+)", re.IGNORECASE | re.ASCII)
# a text without quotes, such as exp or exp-log2
_BARE_WORD = re.compile(r"[a-z][\w-]*", re.IGNORECASE | re.ASCII)
# nDCG10, nDCG-10, nDCG 10 and nDCG at 10, which no tool writes
_WITHOUT_AT = re.compile(r"(?P<name>.*?[^\W\d])(?:\s+at\s+|[\s_-]*)(?P<number>\d+)", re.ASCII)
#: More digits than the highest cutoff has.
_MOST_DIGITS = 20
# ir_measures' values of dcg=, which is nDCG's parameter gain
_IR_MEASURES_GAINS = {"log2": "linear", "exp-log2": "exp"}


def parse(text: MeasureLike) -> Measure:
    """Return the measure with this name.

    Reads the canonical names and the spellings of BEIR (``NDCG@10``), trec_eval (``ndcg_cut_10``,
    ``map_cut.100``), ir_measures (``AP@100``, ``nDCG(dcg="exp-log2")@10``), ranx (``hit_rate@5``,
    ``map-l2``) and MTEB (``ndcg_at_10``). The case of a measure's name does not matter, and
    neither do quotes around a value: ``nDCG(gain=exp)@10``.

    Args:
        text: a name, with parameters in brackets and a cutoff after @ where wanted, or a
            ``Measure``, which is returned unchanged.

    Raises:
        UnknownMeasureError: no measure has this name, and the message suggests similar ones; or
            the text has several, such as ``P.5,10``, which ``parse_all`` reads.
        MeasureError: ``text`` is neither a name nor a ``Measure``, a parameter or the cutoff is not
            allowed, or a required parameter is missing.

    >>> parse("ndcg_cut_10"), parse("AP@100"), parse("P(rel=2)@5")
    (nDCG@10, MAP@100, Precision(rel=2)@5)
    """
    if isinstance(text, Measure):
        return text.check_complete()
    if not isinstance(text, str):
        msg = (
            f"a measure is a name such as 'nDCG@10' or a Measure, not {shown(text)} of type "
            f"{type(text).__name__}"
        )
        raise MeasureError(msg)
    return _parse_complete(text.strip())


@lru_cache(maxsize=1024)
def _parse_complete(text: str) -> Measure:
    """Return the measure with this name, with all its required parameters."""
    return _parse(text).check_complete()


def parse_all(texts: Iterable[MeasureLike] | MeasureLike) -> tuple[Measure, ...]:
    """Return the measures with these names, each measure once, in the order of the names.

    Args:
        texts: names or ``Measure`` values, or a single one of them. A text may hold several names,
            separated by commas or blanks; a name may have several cutoffs, as in trec_eval's
            ``P.5,10``.

    Raises:
        UnknownMeasureError: no measure has one of the names.
        MeasureError: ``texts`` is empty, not iterable or a mapping, an element is neither a name
            nor a ``Measure``, or a parameter or cutoff is not allowed or missing.

    >>> parse_all("nDCG@10, MAP@100"), parse_all(["P@5 P@10", "MRR"])
    ((nDCG@10, MAP@100), (Precision@5, Precision@10, MRR))
    >>> parse_all("ndcg_cut.5,10"), parse_all("nDCG@5,10, MAP")
    ((nDCG@5, nDCG@10), (nDCG@5, nDCG@10, MAP))
    """
    if isinstance(texts, (str, Measure)):
        texts = [texts]
    _check_is_list(texts)
    measures = tuple(dict.fromkeys(parse(name) for text in texts for name in _names_in(text)))
    if not measures:
        msg = "no measure is named; name at least one, for example 'nDCG@10'"
        raise MeasureError(msg)
    return measures


def with_rel(measures: Iterable[Measure], rel: float | None) -> tuple[Measure, ...]:
    """Return the measures with a lowest grade that is relevant, as trec_eval's option -l sets it.

    A measure that states its ``rel`` keeps it. A measure that takes none, such as nDCG or ERR, is
    unchanged: it takes the grades as they are.

    Args:
        measures: the measures.
        rel: the lowest grade that is relevant; None changes nothing.

    Returns:
        The measures in the same order, each once.

    Raises:
        MeasureError: ``rel`` is not a finite number above 0.

    >>> with_rel(parse_all("MAP, P(rel=1)@5, nDCG@10"), 2)
    (MAP(rel=2), Precision(rel=1)@5, nDCG@10)
    """
    if rel is not None:
        level = CHECKS["rel"]("rel", rel)
        measures = (measure(rel=level) if lacks_rel(measure) else measure for measure in measures)
    return tuple(dict.fromkeys(measures))


def lacks_rel(measure: Measure) -> bool:
    """Return whether a measure takes a lowest relevant grade and states none."""
    return "rel" in measure.definition.defaults and "rel" not in dict(measure.parameters)


def definition_of(name: str) -> Definition:
    """Return the registry's definition of the measure with this name.

    Args:
        name: in any spelling that ``parse`` reads; required parameters may be left out.

    Raises:
        UnknownMeasureError: no measure has this name.
        MeasureError: a parameter or the cutoff is not allowed.

    >>> definition_of("ndcg").name
    'nDCG'
    """
    return _parse(name.strip()).definition


@lru_cache(maxsize=1024)
def registered(name: str) -> Measure | None:
    """Return the measure with this name; None if no measure has it, as for a custom measure.

    Args:
        name: a name in any spelling that ``parse`` reads, or the name of a custom measure.

    Raises:
        MeasureError: a parameter or the cutoff is not allowed.
    """
    try:
        return parse(name)
    except UnknownMeasureError:
        return None


def name_among(names: Collection[str], measure: MeasureLike) -> str:
    """Return the name by which a result lists a measure: that of a custom one, or the canonical.

    A measure that states no ``rel`` is also found where it is listed at one level only, as of
    ``evaluate(qrels, run, ["MAP"], rel=2)``.

    Args:
        names: the names that the result lists; those of custom measures are not in the registry.
        measure: one of these names, or a measure, or its name in any spelling that ``parse`` reads.

    Returns:
        A name, which need not be among ``names``.

    Raises:
        UnknownMeasureError: no measure has this name, and it is not among ``names``.
        MeasureError: a parameter or the cutoff is not allowed.

    >>> name_among(["faithfulness", "nDCG@10"], "faithfulness"), name_among([], "ndcg_cut_10")
    ('faithfulness', 'nDCG@10')
    >>> name_among(["MAP(rel=2)"], "map"), name_among(["MAP(rel=2)", "MAP(rel=3)"], "map")
    ('MAP(rel=2)', 'MAP')
    """
    if isinstance(measure, str) and measure in names:
        return measure
    parsed = parse(measure)
    if str(parsed) in names or not lacks_rel(parsed):
        return str(parsed)
    levels = {dict(listed.parameters).get("rel") for listed in map(registered, names) if listed}
    at_levels = {str(parsed(rel=level)) for level in levels - {None}}.intersection(names)
    return at_levels.pop() if len(at_levels) == 1 else str(parsed)


def names_among(
    names: Collection[str], measures: Iterable[MeasureLike] | MeasureLike
) -> tuple[str, ...]:
    """Return the names by which a result lists measures, each once; ``name_among`` for several.

    Args:
        names: the names that the result lists.
        measures: one or several of these names, or measures, or their names in any spelling.

    Raises:
        UnknownMeasureError: no measure has one of the names, and it is not among ``names``.
        MeasureError: ``measures`` is empty or not iterable, or a parameter or the cutoff is not
            allowed.
    """
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    _check_is_list(measures)
    listed = tuple(
        dict.fromkeys(
            name_among(names, name)
            for measure in measures
            for name in (
                [measure] if isinstance(measure, str) and measure in names else _names_in(measure)
            )
        )
    )
    return listed or tuple(map(str, parse_all(())))  # which raises the error


def names_as_typed(texts: Iterable[MeasureLike], rel: float | None = None) -> dict[str, str]:
    """Return {canonical name: name with the word that was typed} for measures of another name.

    Another name is one that neither begins with the canonical one nor is the beginning of it,
    besides case and punctuation (AP for MAP, hit_rate for Success), or one that implies parameters.
    P_5 and ndcg_cut_10 are spellings of Precision@5 and nDCG@10.

    Args:
        texts: the names that were typed, of which each may hold several.
        rel: the level of relevance that the measures got, as of ``with_rel``.

    >>> names_as_typed(["hits@10, AP", "P_5"]), names_as_typed(["RR-l2"])
    ({'utility(other=0)@10': 'hits@10', 'MAP': 'AP'}, {'MRR(rel=2)': 'RR(rel=2)'})
    """
    typed: dict[str, str] = {}
    for name in [name for text in texts for name in _names_in(text) if isinstance(name, str)]:
        try:
            measure, word = _read(name.strip())
        except UnknownMeasureError:  # a custom measure
            continue
        [measure] = with_rel([measure], rel)
        named = measure.named(word) if _is_another_name(word, measure) else str(measure)
        typed.setdefault(str(measure), named)
    return {canonical: name for canonical, name in typed.items() if name != canonical}


def _is_another_name(word: str, measure: Measure) -> bool:
    """Return whether a word for a measure is another name, not a spelling of the canonical one."""
    entry = resolve(word)
    if entry is not None and entry[1]:
        return True
    typed, canonical = (re.sub(r"[\W_]", "", name.lower()) for name in (word, measure.name))
    return not (typed.startswith(canonical) or canonical.startswith(typed))


def _check_is_list(measures: object) -> None:
    """Raise MeasureError unless the value is an iterable of measures."""
    if isinstance(measures, Mapping) or not is_iterable(measures):
        msg = (
            "measures must be a list of names such as ['nDCG@10', 'MAP@100'], not "
            f"{'a mapping' if isinstance(measures, Mapping) else shown(measures)}"
        )
        raise MeasureError(msg)


def _names_in(text: MeasureLike) -> Sequence[MeasureLike]:
    """Return the names in a text that commas or blanks separate; any other object alone.

    A number after a comma is one more cutoff of the name before it: P.5,10 is P.5 and P.10.
    """
    # "nDCG 10" is one name, in a spelling that ``parse`` refuses with a suggestion.
    if not isinstance(text, str) or _meant(text.strip()):
        return [text]
    # "nDCG (rel=2) @ 10" is one name too.
    for mark in "@(":
        text = mark.join(part.strip() for part in text.split(mark))
    names: list[str] = []
    for part, is_after_comma in _split(text):
        numbered = None
        if is_after_comma and names:
            numbered = _NUMBER.fullmatch(part) and _NUMBERED.fullmatch(names[-1])
        names.append(f"{numbered['name']}{part}" if numbered else part)
    return names or [text]


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts between commas and blanks outside brackets, and whether after a comma."""
    depth, part, is_after_comma = 0, "", False
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth > 0 or not (character == "," or character.isspace()):
            part += character
            continue
        if part:
            yield part, is_after_comma
            part, is_after_comma = "", False
        is_after_comma = is_after_comma or character == ","
    if part:
        yield part, is_after_comma


@lru_cache(maxsize=1024)
def _meant(text: str) -> str:
    """Return the name that a text is an odd spelling of, such as nDCG@10 for nDCG10; "" for none.

    The scores that sentence-transformers writes have the similarity before the name:
    cosine_ndcg@10, dot-NDCG@10.
    """
    candidates = [f"{text}10"] if text.endswith("@") else []
    if form := _WITHOUT_AT.fullmatch(text):
        candidates.append(f"{form['name']}@{form['number']}")
    candidates += [text[separator.end() :] for separator in re.finditer("[_-]", text)]
    for candidate in candidates:
        name, _, number = candidate.partition("@")
        if resolve(name) is not None and number.isdecimal() and int(number[:_MOST_DIGITS]) > 0:
            return str(_parse(candidate))
    return ""


def _parse(text: str) -> Measure:
    """Return the measure with this name; required parameters may be missing."""
    return _read(text)[0]


def _read(text: str) -> tuple[Measure, str]:
    """Return the measure with this name, and the word in it that names the measure."""
    if ranx_rbp := _RANX_RBP.fullmatch(text):
        return Measure("RBP")(p=float(f"0.{ranx_rbp['digits']}")), "RBP"
    ranx = _RANX_LEVEL.fullmatch(text)
    if ranx and not _RANX_LEVEL.fullmatch(ranx["measure"]):
        measure, word = _read(ranx["measure"])
        return _at_level(measure, int(ranx["level"][:_MOST_DIGITS]), text), word
    form = _FORM.fullmatch(text)
    if form is None:
        raise _unknown(text, text)
    name, number = form["name"].strip(), form["number"]
    number = None if number is None else number.strip()
    entry = resolve(name)
    suffix = _SUFFIX.fullmatch(name)
    if entry is None and suffix and number is None and form["parameters"] is None:
        name, number = suffix["name"], suffix["number"]
        entry = resolve(name)
    if entry is None:
        raise _unknown(text, name, form["parameters"], number)
    definition, implied = entry
    parameters = dict(definition.always_named) | dict(implied)
    if form["parameters"] is not None:
        parameters |= _read_parameters(text, form["parameters"])
    measure = Measure(definition.name)(**parameters)
    # trec_eval's F, whose number is the square of beta.
    if name.lower() == "set_f" and number is not None and "@" not in text:
        return _with_beta_squared(measure, number, text), name
    return (measure if number is None else _with_number(measure, number, text)), name


def _with_beta_squared(measure: Measure, number: str, text: str) -> Measure:
    """Return the measure of trec_eval's set_F.4, whose number is the square of beta, no cutoff.

    Raises:
        MeasureError: the number is not above 0.
    """
    beta = float(number) ** 0.5
    if not 0 < beta < math.inf:
        msg = (
            f"the number of {shown(text)} is the square of beta, above 0, as in set_F.4 for beta=2"
        )
        raise MeasureError(msg)
    return measure if beta == 1 else measure(beta=beta)


def _at_level(measure: Measure, level: int, text: str) -> Measure:
    """Return the measure with the lowest relevant grade of a name of ranx, such as map-l2.

    Raises:
        MeasureError: the measure takes none, or states one.
    """
    if lacks_rel(measure):
        return measure(rel=level)
    takes = measure.definition.defaults
    if "rel" in takes:
        msg = f"{shown(text)} states two levels of relevance; leave one out: {measure}"
    elif "gain" in takes:
        # ranx gives no gain to grades below the level; every other grade is its gain.
        grades = range(max(1, level - 5), level + 2)
        instead = measure(gain={grade: grade if grade >= level else 0 for grade in grades})
        msg = (
            f"in {shown(text)}, -l{level} is no level of {measure.name}, which takes the grades as "
            f"they are; to give grades below {level} no gain, write a table with the gains of all "
            f"grades in the qrels, such as {instead}"
        )
    else:
        msg = (
            f"in {shown(text)}, -l{level} is a level of relevance, and {measure.name} takes none; "
            f"write {measure}"
        )
    raise MeasureError(msg)


def _unknown(
    text: str, name: str, parameters: str | None = None, number: str | None = None
) -> UnknownMeasureError:
    """Return the error for a text that is no name of a measure.

    Args:
        text: the text.
        name: the name in it, without parameters and cutoff.
        parameters: the parameters in it, which the names that are suggested keep.
        number: the number in it, which they keep too.
    """
    names = _names_in(text)
    if len(names) > 1:
        msg = (
            f"one measure was expected, not {len(names)}: {first_few(names)}; name one of them "
            "(parse_all reads several)"
        )
        return UnknownMeasureError(msg)
    ending = "" if parameters is None else f"({parameters})"
    if number is not None:
        ending += f"@{number}"
    suggestions = [_with_ending(similar, ending) for similar in similar_names(name)]
    return unknown_measure(text, suggestions, _meant(text))


def _with_ending(name: str, ending: str) -> str:
    """Return the name of a measure with parameters and cutoff; without, if it does not take them.

    Args:
        name: the name of a measure.
        ending: parameters in brackets and a cutoff after @, where the user stated them.
    """
    try:
        return str(_parse(f"{name}{ending}"))
    except MeasureError:
        return name


def _with_number(measure: Measure, number: str, text: str) -> Measure:
    """Return the measure with the number of its name set: as its cutoff, or as a parameter."""
    definition = measure.definition
    if not _NUMBER.fullmatch(number) and len(_names_in(text)) > 1:
        raise _unknown(text, definition.name)
    if definition.number_sets != "cutoff":
        try:
            return measure(**{definition.number_sets: float(number)})
        except ValueError as error:
            msg = f"in {shown(text)}, {shown(number)} is no {definition.number_sets}: {error}"
            raise MeasureError(msg) from error
    if not (number.isascii() and number.isdecimal()):
        msg = (
            f"in {shown(text)}, the cutoff {shown(number)} is not a whole number above 0; write "
            f"one, as in {definition.name}@10"
        )
        raise MeasureError(msg)
    digits = number.lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:
        msg = (
            f"in {shown(text)}, the cutoff has {len(digits):,} digits; it must be at most "
            f"{HIGHEST_CUTOFF}"
        )
        raise MeasureError(msg)
    return measure @ int(digits)


def _read_parameters(text: str, listed: str) -> dict[str, Any]:
    """Return the parameters in ``rel=2, gain="exp"``. Values must be literals: no code runs.

    A text needs no quotes: ``gain=exp``.
    """
    source = f"f({listed})"
    try:
        call = ast.parse(source, mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError  # noqa: TRY301 - one message for every way to be wrong
        values = {
            keyword.arg: _read_value(source, keyword.value)
            for keyword in call.keywords
            if keyword.arg
        }
        if len(values) < len(call.keywords):
            raise ValueError  # noqa: TRY301
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        problem = 'is not a list of parameters such as (rel=2, gain="exp")'
        msg = f"in {shown(text)}, ({shorten(listed, MAX_VALUE_SHOWN)}) {problem}"
        raise MeasureError(msg) from error
    if isinstance(values.get("gains"), Mapping) and not values.keys() & {"gain", "dcg"}:
        values["gain"] = _with_grades_between(values.pop("gains"))
    if "dcg" in values:
        gain = values.pop("dcg")
        if not isinstance(gain, str) or gain not in _IR_MEASURES_GAINS:
            known = ", ".join(map(repr, _IR_MEASURES_GAINS))
            msg = f"in {shown(text)}, dcg must be one of {known}, not {shown(gain)}"
            raise MeasureError(msg)
        values["gain"] = _IR_MEASURES_GAINS[gain]
    return values


def _read_value(source: str, value: ast.expr) -> Any:
    """Return the value of a parameter: a literal, or a text without quotes."""
    text = (
        ast.get_source_segment(source, value) if isinstance(value, (ast.Name, ast.BinOp)) else None
    )
    return text if text and _BARE_WORD.fullmatch(text) else ast.literal_eval(value)


def _with_grades_between(gains: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return ir_measures' gains of grades, {grade: gain}, as a gain table.

    There, a grade that is not in it is its own gain, and such grades are left out of its names; in
    a gain table they must be listed. So whole grades below the highest are added. A qrels with
    another grade is then refused when it is evaluated, not scored differently.
    """
    if not all(isinstance(grade, int) and grade <= LONGEST_TABLE for grade in gains):
        return gains
    return {grade: grade for grade in range(1, max(gains, default=0))} | dict(gains)


def spelled(measure: Measure, tool: str) -> str:
    """Return the measure's name in another tool; our name if no name in that tool is known.

    The tool may still have the measure: our name is returned for nDCG(gain="exp"), which is
    nDCG(dcg="exp-log2") in ir_measures, and for F1(beta=2), which is set_F.4 in trec_eval.

    Args:
        measure: the measure to name.
        tool: one of ``TOOLS``: "beir", "trec_eval" or "ir_measures".

    Raises:
        SettingError: another tool.

    >>> spelled(parse("nDCG@10"), "trec_eval"), spelled(parse("F1@10"), "trec_eval")
    ('ndcg_cut_10', 'F1@10')
    """
    check_choice("names", tool, TOOLS)
    return name_in(tool, measure) or str(measure)


def name_in(tool: str, measure: Measure) -> str | None:
    """Return the measure's name in another tool; None if no name in that tool is known.

    Args:
        tool: "beir", "trec_eval", "ir_measures" or "mteb".
        measure: the measure to name.

    >>> name_in("mteb", parse("nDCG@10")), name_in("mteb", parse("F1@10"))
    ('ndcg_at_10', None)
    """
    without_cutoff, with_cutoff = measure.definition.tools.get(tool, (None, None))
    template = without_cutoff if measure.cutoff is None else with_cutoff
    parameters = dict(measure.parameters)
    if template is None:
        return None
    if tool == "ir_measures":
        template = _add_shared_parameters(template, parameters)
    fields = {name: parameters.pop(name) for name in list(parameters) if f"{{{name}" in template}
    if parameters:
        return None
    name = template.format(k=measure.cutoff, **fields)
    # trec_eval's recall levels have two digits: a level with more digits has no name there.
    return name if tool != "trec_eval" or _parse_complete(name) == measure else None


def _add_shared_parameters(template: str, parameters: dict[str, Any]) -> str:
    """Return ir_measures' template with the parameters that have the same name there."""
    shared: Sequence[str] = [name for name in ("judged_only", "rel") if name in parameters]
    if not shared or "(" in template:
        return template
    name, at, cutoff = template.partition("@")
    return f"{name}({', '.join(f'{key}={{{key}}}' for key in shared)}){at}{cutoff}"
