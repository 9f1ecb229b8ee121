"""``Measure``, its ``Definition``, and the registry that the decorator ``@measure`` fills.

A measure is a function of a relevance matrix, defined with ``@measure``; the keyword arguments of
the function are the measure's parameters. The decorator replaces the function with a ``Measure``,
a small frozen value: ``nDCG @ 10`` sets its cutoff, ``nDCG(gain="exp")`` a parameter, and
``str()`` returns a name that ``parse`` reads.
"""

from __future__ import annotations

import difflib
import inspect
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np

from beir_eval.errors import MeasureError, UnknownMeasureError, shown
from beir_eval.measures.parameters import CHECKS, format_value

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.core.relevance_matrix import RelevanceMatrix

__all__ = ["JUDGED_ONLY", "Definition", "Measure", "definitions"]

MeasureFunction: TypeAlias = Callable[..., Any]
Aggregate: TypeAlias = Literal["mean", "sum", "geometric"]
Unjudged: TypeAlias = Literal["not relevant", "left out", "counted"]
#: Two numbers between which every score lies, the lower one first.
Bounds: TypeAlias = tuple[float, float]

#: No ranking is longer, and the number fits in i8 arrays.
HIGHEST_CUTOFF = 2**53

#: The number of characters of a name that is compared with all spellings letter by letter.
_LONGEST_COMPARED = 30

#: The parameter that every measure takes; ``Measure`` applies it, not the measure's function.
JUDGED_ONLY = "judged_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An entry of the registry: the arguments of ``@measure``, and the function's defaults.

    Attributes:
        name: the canonical name.
        function: (matrix, *, cutoff, …parameters) -> f8[Q] or i8[Q]; without ``cutoff`` if the
            measure takes none.
        defaults: the parameters and their defaults; the default of a required parameter is
            ``inspect.Parameter.empty``.
        cutoff: whether the measure takes a cutoff: "optional" or "none".
        aggregate: how scores are combined over queries: "mean", "sum" or "geometric".
        by_grade: whether ordering tied documents by descending grade gives the best score. True for
            utility, which is right unless its weight ``relevant`` is below ``other``.
        higher_is_better: whether a higher score is better: relevant documents in place of unjudged
            ones never lower it, else never raise it.
        unjudged: what a document without a judgement is: "not relevant", "left out" (it counts
            neither for nor against a ranking), or "counted" (the score says how much is unjudged).
        bounds: two numbers between which the score of every query lies, whatever the qrels, the
            run, the parameters and the cutoff; rounding of floats may exceed them by less than
            1e-12. None if there are no such numbers, as for counts and sums of gains.
        undefined_without_relevant: whether a query without relevant documents has no defined score
            (left out of the mean with no_relevant="skip"; otherwise it counts as ``scores``
            returns it, mostly 0). Relevant means a grade above 0 or of at least ``rel``, whatever a
            gain table says.
        always_named: parameters that the name always includes, with their default values.
        number_sets: what a number after the name sets ("@10", "_10"): "cutoff" or a parameter's
            name.
        aliases: the names in lower case, canonical one included, each with the parameters that it
            implies.
        tools: templates of the measure's names in other tools, by tool: without a cutoff, and with
            one (``{k}``). None if the tool has no such measure.
    """

    name: str
    function: MeasureFunction
    defaults: Mapping[str, Any]
    aliases: Mapping[str, Mapping[str, Any]]
    cutoff: Literal["optional", "none"] = "optional"
    aggregate: Aggregate = "mean"
    by_grade: bool = True
    higher_is_better: bool = True
    unjudged: Unjudged = "not relevant"
    bounds: Bounds | None = None
    undefined_without_relevant: bool = True
    always_named: Mapping[str, Any] = field(default_factory=dict)
    number_sets: str = "cutoff"
    tools: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

    @property
    def rates_systems(self) -> bool:
        """Whether systems are compared by it, unlike by how much of theirs is unjudged."""
        return self.higher_is_better or self.unjudged != "counted"

    @property
    def documentation(self) -> str:
        """The docstring: definition, formula, undefined case, source, example."""
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.documentation.partition("\n")[0]


_DEFINITIONS: dict[str, Definition] = {}
_ALIASES: dict[str, tuple[str, Mapping[str, Any]]] = {}


def definitions() -> Mapping[str, Definition]:
    """Return the definitions of all measures by canonical name, in the order of registration."""
    return dict(_DEFINITIONS)


def resolve(name: str) -> tuple[Definition, Mapping[str, Any]] | None:
    """Return the definition for a name or alias, and the parameters that the name implies.

    Case does not matter; the name has no cutoff and no brackets. None if no measure has this name.
    """
    entry = _ALIASES.get(name.strip().lower())
    return None if entry is None else (_DEFINITIONS[entry[0]], entry[1])


def unknown_measure(text: str, suggestions: Sequence[str], meant: str = "") -> UnknownMeasureError:
    """Return the error for a name that no measure has; its message suggests names.

    Args:
        text: the whole text, for the message.
        suggestions: similar names.
        meant: the name that the text is an odd spelling of, if it is one.
    """
    if meant:
        return UnknownMeasureError(f"there is no measure {shown(text)}; did you mean {meant}?")
    hint = f"did you mean {' or '.join(suggestions)}? " if suggestions else ""
    return UnknownMeasureError(
        f"there is no measure {shown(text)}; {hint}`beir-eval list measures` lists them all"
    )


def similar_names(name: str) -> list[str]:
    """Return the names of the measures whose spellings are closest to a name, at most three.

    These are the measures with the fewest edits if they are few for the length of the name, or
    else those that share parts with it.

    Args:
        name: a name without parameters and cutoff that no measure has.

    >>> similar_names("ndgc"), similar_names("presicion")
    (['nDCG'], ['Precision'])
    """
    typed = name.strip().lower()
    nearest: list[str] = []
    if len(typed) <= _LONGEST_COMPARED:
        edits = {alias: _num_edits(typed, alias) for alias in _ALIASES}
        fewest = min(edits.values(), default=len(typed))
        if fewest <= max(1, len(typed) // 4):
            nearest = [alias for alias, number in edits.items() if number == fewest]
    nearest = nearest or difflib.get_close_matches(typed, list(_ALIASES), n=3, cutoff=0.5)
    return list(dict.fromkeys(_ALIASES[alias][0] for alias in nearest))[:3]


def _num_edits(first: str, second: str) -> int:
    """Return how many letters to insert, delete, replace or swap with the next make one the other.

    >>> _num_edits("ndgc", "ndcg"), _num_edits("mapp", "map")
    (1, 1)
    """
    before: list[int] = []
    row = list(range(len(second) + 1))
    for index, letter in enumerate(first, start=1):
        above, before_above = row, before
        row = [index]
        for column, other in enumerate(second, start=1):
            edits = min(row[-1] + 1, above[column] + 1, above[column - 1] + (letter != other))
            if (
                index > 1
                and column > 1
                and (letter, first[index - 2]) == (second[column - 2], other)
            ):
                edits = min(edits, before_above[column - 2] + 1)
            row.append(edits)
        before = above
    return row[-1]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters and cutoff: frozen, hashable, printable.

    Attributes:
        name: the canonical name.
        cutoff: only the first ``cutoff`` documents count; None for the whole ranking.
        parameters: (name, value) pairs sorted by name: the parameters that differ from their
            defaults, and those that the measure's name always includes.

    >>> from beir_eval import Precision, nDCG
    >>> nDCG @ 10
    nDCG@10
    >>> str(Precision(rel=2) @ 5)
    'Precision(rel=2)@5'
    >>> nDCG(gain="linear") @ 10 == nDCG @ 10
    True
    """

    name: str
    cutoff: int | None = None
    parameters: tuple[tuple[str, Hashable], ...] = field(default=())

    def __post_init__(self) -> None:
        """Raise UnknownMeasureError for a name that no measure has."""
        if self.name not in _DEFINITIONS:
            raise unknown_measure(str(self.name), similar_names(str(self.name)))

    def __call__(self, **parameters: Any) -> Measure:
        """Return the measure with these parameters set; others keep their values.

        Raises:
            MeasureError: the measure has no such parameter, or the value is not allowed.
        """
        known = (*self.definition.defaults, JUDGED_ONLY)
        checked: dict[str, Hashable] = dict(self.parameters)
        for name, value in parameters.items():
            if name not in known:
                msg = f"{self.name} has no parameter {shown(name)}; it takes {', '.join(known)}"
                raise MeasureError(msg)
            checked[name] = CHECKS[name](name, value)
        defaults = {JUDGED_ONLY: False, **self.definition.defaults}
        explicit = {
            name: value
            for name, value in checked.items()
            if name in self.definition.always_named or value != defaults[name]
        }
        return Measure(self.name, self.cutoff, tuple(sorted(explicit.items())))

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure over the first ``cutoff`` documents.

        Raises:
            MeasureError: the measure takes no cutoff, or ``cutoff`` is not a whole number from 1
                to 2^53.
        """
        if self.definition.cutoff == "none":
            msg = f"{self.name} takes no cutoff, but got @{shown(cutoff)}"
            raise MeasureError(msg)
        try:
            k = None if isinstance(cutoff, bool) else operator.index(cutoff)
        except TypeError:  # not a whole number, or an array of several
            k = None
        if k is None:
            msg = f"a cutoff must be a whole number above 0, not {shown(cutoff)}"
            raise MeasureError(msg)
        if k > HIGHEST_CUTOFF:
            msg = f"a cutoff must be at most {HIGHEST_CUTOFF}, not {shown(k)}"
            raise MeasureError(msg)
        if k < 1:
            msg = f"a cutoff must be 1 or more, not {shown(k)}: no document would count"
            raise MeasureError(msg)
        return Measure(self.name, k, self.parameters)

    @property
    def definition(self) -> Definition:
        """The measure's entry in the registry."""
        return _DEFINITIONS[self.name]

    def check_complete(self) -> Measure:
        """Return the measure itself if all its required parameters are set.

        Raises:
            MeasureError: a required parameter is missing.
        """
        for name, default in self.definition.defaults.items():
            if default is inspect.Parameter.empty and name not in dict(self.parameters):
                msg = f"{self.name} needs the parameter {name}, for example {self.name}({name}=0.5)"
                raise MeasureError(msg)
        return self

    def scores(self, matrix: RelevanceMatrix) -> Floats:
        """Return the score of every query, f8[Q].

        A query for which the measure is undefined has the score that its documentation gives for
        this case: 0 for most, 0.00001 for gm_map and gm_bpref, NaN for Judged and Hole.

        Args:
            matrix: the grades of Q queries by rank, as ``relate`` builds it from qrels and a run.

        Raises:
            MeasureError: a required parameter is missing, or the parameters do not fit the grades,
                for example a gain table without a judged grade.
        """
        self.check_complete()
        arguments: dict[str, Any] = dict(self.parameters)
        if arguments.pop(JUDGED_ONLY, False):
            matrix = matrix.condensed
        if self.definition.cutoff != "none":
            arguments["cutoff"] = self.cutoff
        return np.asarray(self.definition.function(matrix, **arguments), dtype=np.float64)

    @property
    def has_tie_extremes(self) -> bool:
        """Whether tied documents score best and worst when they are ordered by grade.

        It is False for gain tables that credit grade 0. The weights of utility are not checked.
        """
        gain: Any = dict(self.parameters).get("gain")
        credits_zero = isinstance(gain, tuple) and any(value for grade, value in gain if grade <= 0)
        return self.definition.by_grade and not credits_zero

    @property
    def bounds(self) -> Bounds | None:
        """Two numbers between which the score of every query lies; None if there are none.

        They hold whatever the qrels, the run, the parameters and the cutoff; rounding of floats may
        exceed them by less than 1e-12.

        >>> from beir_eval import DCG, nDCG
        >>> (nDCG @ 10).bounds, (DCG @ 10).bounds
        ((0, 1), None)
        """
        return self.definition.bounds

    def has_relevant(self, matrix: RelevanceMatrix) -> Any:
        """Return which queries have a relevant document by this measure's ``rel``, bool[Q].

        All of them for a measure that is defined without relevant documents.

        Args:
            matrix: the grades of Q queries by rank.
        """
        if not self.definition.undefined_without_relevant:
            return np.ones(matrix.num_queries, dtype=np.bool_)
        rel: Any = dict(self.parameters).get("rel")
        return matrix.num_relevant(rel) > 0

    def __str__(self) -> str:
        """Return the canonical name, which ``parse`` reads."""
        return self.named(self.name)

    def named(self, word: str) -> str:
        """Return the name with another word for the measure, which ``parse`` reads too.

        Args:
            word: the canonical name or an alias; the parameters that it implies are left out.

        >>> from beir_eval import Success
        >>> (Success(rel=2) @ 5).named("hit_rate")
        'hit_rate(rel=2)@5'
        """
        end = "" if self.cutoff is None else f"@{self.cutoff}"
        if not self.parameters:
            return word + end
        _, implied = resolve(word) or (None, dict[str, Any]())
        listed = ", ".join(
            f"{name}={format_value(value)}"
            for name, value in self.parameters
            if implied.get(name) != value
        )
        return f"{word}({listed}){end}" if listed else word + end

    def __repr__(self) -> str:
        """Return the canonical name."""
        return str(self)


class _Traits(TypedDict, total=False):
    """The fields of ``Definition`` that ``measure`` takes and passes on unchanged."""

    cutoff: Literal["optional", "none"]
    aggregate: Aggregate
    by_grade: bool
    higher_is_better: bool
    unjudged: Unjudged
    bounds: Bounds | None
    undefined_without_relevant: bool
    always_named: Mapping[str, Any]
    number_sets: str
    tools: Mapping[str, tuple[str | None, str | None]]


def measure(
    name: str,
    *,
    aliases: str = "",
    implied: Mapping[str, Mapping[str, Any]] | None = None,
    **traits: Unpack[_Traits],
) -> Callable[[MeasureFunction], Measure]:
    """Return a decorator that registers a function as a measure and returns its ``Measure``.

    Args:
        name: the canonical name; in lower case it is also the first alias.
        aliases: further names in lower case, separated by blanks.
        implied: further names that imply parameters: {name: {parameter: value}}.
        **traits: other fields of ``Definition``, which has their defaults.
    """

    def register(function: MeasureFunction) -> Measure:
        signature = inspect.signature(function).parameters
        definition = Definition(
            name=name,
            function=function,
            defaults={
                parameter.name: parameter.default
                for parameter in list(signature.values())[1:]
                if parameter.name != "cutoff"
            },
            aliases={alias: {} for alias in [name.lower(), *aliases.split()]} | dict(implied or {}),
            **traits,
        )
        if unchecked := definition.defaults.keys() - CHECKS.keys():
            msg = f"{name}: measures.parameters.CHECKS has no check of {', '.join(unchecked)}"
            raise AssertionError(msg)
        _DEFINITIONS[name] = definition
        for alias, parameters in definition.aliases.items():
            if alias in _ALIASES:
                msg = f"two measures have the name {alias!r}"
                raise AssertionError(msg)
            _ALIASES[alias] = (name, parameters)
        return Measure(name)(**definition.always_named)

    return register
