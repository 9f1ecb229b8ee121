"""What a measure is, and the one registry of all of them.

A measure is a function of a relevance matrix, defined once with ``@measure``; the keyword
arguments of the function are the measure's parameters. The name that the decorator leaves behind
is a ``Measure``, a small frozen value: ``nDCG @ 10`` sets its cutoff, ``nDCG(gain="exp")`` a
parameter, ``str()`` prints what ``parse`` reads.
"""

from __future__ import annotations

import difflib
import inspect
import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np

from beir_eval.errors import MeasureError, UnknownMeasureError
from beir_eval.measures.parameters import CHECKS, printed

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.core.relevance_matrix import RelevanceMatrix

__all__ = ["JUDGED_ONLY", "Definition", "Measure", "definitions"]

MeasureFunction: TypeAlias = Callable[..., Any]
Aggregate: TypeAlias = Literal["mean", "sum", "geometric"]
Additive: TypeAlias = Literal["always", "with_cutoff", "never"]

#: No ranking is deeper, and i8 arrays hold it.
HIGHEST_CUTOFF = 2**53

#: The parameter that every measure takes, handled here and nowhere else.
JUDGED_ONLY = "judged_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One entry of the registry: what the decorator was told, and what the signature shows.

    Attributes:
        name: the canonical name.
        function: (matrix, *, cutoff, …parameters) -> f8[Q].
        defaults: the parameters and their defaults; a parameter without one is required.
        cutoff: whether the measure takes a cutoff: "optional" or "none".
        aggregate: how queries are summarised: their mean, their sum or their geometric mean.
        by_grade: whether relevant documents first, by grade, is the best order of tied documents.
        higher_is_better: whether relevant documents instead of unjudged ones can only raise a
            score. Otherwise a high score says how much is unjudged, and systems are not compared.
        additive: whether a score is a sum over the relevant documents of a weight for their rank,
            times a factor for the number retrieved, times one for the number of relevant documents
            in the qrels: "always", "never", or "with_cutoff", where the factors only separate then.
        undefined_without_relevant: whether a query with nothing relevant has no score of its own
            (0 by default, left out with no_relevant="skip").
        shown: parameters that the name always spells out.
        number: what a bare number behind the name means ("@10", "_10"): cutoff or a parameter.
        aliases: other names, lower case, each with the parameters it implies.
        tools: this measure's name in other tools, without and with a cutoff (``{k}``).
    """

    name: str
    function: MeasureFunction
    defaults: Mapping[str, Any]
    aliases: Mapping[str, Mapping[str, Any]]
    cutoff: Literal["optional", "none"] = "optional"
    aggregate: Aggregate = "mean"
    by_grade: bool = True
    higher_is_better: bool = True
    additive: Additive = "never"
    undefined_without_relevant: bool = True
    shown: Mapping[str, Any] = field(default_factory=dict)
    number: str = "cutoff"
    tools: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)

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
    """Return all measures by canonical name, in the order of their definition."""
    return dict(_DEFINITIONS)


def resolve(name: str) -> tuple[Definition, Mapping[str, Any]] | None:
    """Return the measure that goes by this name in any spelling, and the parameters implied."""
    found = _ALIASES.get(name.strip().lower())
    return None if found is None else (_DEFINITIONS[found[0]], found[1])


def unknown(text: str, name: str) -> UnknownMeasureError:
    """Return the error for a name that nothing goes by, with the nearest names there are."""
    nearest = difflib.get_close_matches(name.strip().lower(), list(_ALIASES), n=3, cutoff=0.5)
    canonical = list(dict.fromkeys(_ALIASES[alias][0] for alias in nearest))
    hint = f"did you mean {' or '.join(canonical)}? " if canonical else ""
    return UnknownMeasureError(
        f"there is no measure {text!r}; {hint}`beir-eval measures` lists them all"
    )


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters and cutoff: frozen, hashable, printable.

    Attributes:
        name: the canonical name.
        cutoff: only the first ``cutoff`` documents count; None for the whole ranking.
        parameters: (name, value) of everything that differs from its default, by name.

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
            raise unknown(str(self.name), str(self.name))

    def __call__(self, **parameters: Any) -> Measure:
        """Return the measure with these parameters set.

        Raises:
            MeasureError: it takes no such parameter, or not this value.
        """
        known = (*self.definition.defaults, JUDGED_ONLY)
        checked: dict[str, Hashable] = dict(self.parameters)
        for name, value in parameters.items():
            if name not in known:
                msg = f"{self.name} has no parameter {name!r}; it takes {', '.join(known)}"
                raise MeasureError(msg)
            checked[name] = CHECKS[name](name, value)
        defaults = {JUDGED_ONLY: False, **self.definition.defaults}
        kept = {
            name: value
            for name, value in checked.items()
            if name in self.definition.shown or value != defaults[name]
        }
        return Measure(self.name, self.cutoff, tuple(sorted(kept.items())))

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure over the first ``cutoff`` documents.

        Raises:
            MeasureError: the measure takes no cutoff, or it is not a whole number above 0.
        """
        if self.definition.cutoff == "none":
            msg = f"{self.name} takes no cutoff, but got @{cutoff}"
            raise MeasureError(msg)
        if isinstance(cutoff, bool) or not hasattr(cutoff, "__index__"):
            msg = f"a cutoff must be a whole number above 0, not {cutoff!r}"
            raise MeasureError(msg)
        k = operator.index(cutoff)
        if k > HIGHEST_CUTOFF:
            msg = f"a cutoff must be at most {HIGHEST_CUTOFF}, not {k}"
            raise MeasureError(msg)
        if k < 1:
            msg = f"a cutoff must be 1 or more, not {k}; {self.name}@{k} has no documents to count"
            raise MeasureError(msg)
        return Measure(self.name, k, self.parameters)

    @property
    def definition(self) -> Definition:
        """The registry's entry."""
        return _DEFINITIONS[self.name]

    def check_complete(self) -> Measure:
        """Return the measure itself, or raise MeasureError where it lacks something required."""
        given = dict(self.parameters)
        for name, default in self.definition.defaults.items():
            if default is inspect.Parameter.empty and name not in given:
                msg = f"{self.name} needs the parameter {name}, for example {self.name}({name}=0.5)"
                raise MeasureError(msg)
        return self

    def scores(self, matrix: RelevanceMatrix) -> Floats:
        """Return the score of every query, f8[Q]; NaN where the measure is undefined."""
        self.check_complete()
        arguments: dict[str, Any] = dict(self.parameters)
        if arguments.pop(JUDGED_ONLY, False):
            matrix = matrix.condensed()
        if self.definition.cutoff != "none":
            arguments["cutoff"] = self.cutoff
        return np.asarray(self.definition.function(matrix, **arguments), dtype=np.float64)

    @property
    def has_tie_extremes(self) -> bool:
        """Whether the best and the worst order of tied documents is by grade."""
        gain: Any = dict(self.parameters).get("gain")
        credits_zero = isinstance(gain, tuple) and any(value for grade, value in gain if grade <= 0)
        return self.definition.by_grade and not credits_zero

    @property
    def is_additive(self) -> bool:
        """Whether the weights of relevant documents add up; a condensed list moves their ranks."""
        if (JUDGED_ONLY, True) in self.parameters:
            return False
        additive = self.definition.additive
        return additive == "always" or (additive == "with_cutoff" and self.cutoff is not None)

    def has_relevant(self, matrix: RelevanceMatrix) -> Any:
        """Return which queries have something relevant, as this measure sees it, bool[Q]."""
        if not self.definition.undefined_without_relevant:
            return np.ones(matrix.num_queries, dtype=np.bool_)
        rel: Any = dict(self.parameters).get("rel")
        return matrix.num_relevant(rel) > 0

    def __str__(self) -> str:
        """Return the canonical name, which ``parse`` reads back."""
        listed = ", ".join(f"{name}={printed(value)}" for name, value in self.parameters)
        brackets = f"({listed})" if listed else ""
        return f"{self.name}{brackets}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    def __repr__(self) -> str:
        """Return the canonical name."""
        return str(self)


class _Traits(TypedDict, total=False):
    """The fields of ``Definition`` that ``measure`` takes as they are."""

    cutoff: Literal["optional", "none"]
    aggregate: Aggregate
    by_grade: bool
    higher_is_better: bool
    additive: Additive
    undefined_without_relevant: bool
    shown: Mapping[str, Any]
    number: str
    tools: Mapping[str, tuple[str | None, str | None]]


def measure(
    name: str,
    *,
    aliases: str = "",
    implied: Mapping[str, Mapping[str, Any]] | None = None,
    **traits: Unpack[_Traits],
) -> Callable[[MeasureFunction], Measure]:
    """Register the function under ``name`` and leave a ``Measure`` in its place.

    ``aliases`` are further names, separated by blanks; ``implied`` names that imply parameters.
    The other arguments are fields of ``Definition``, which has their defaults.
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
        _DEFINITIONS[name] = definition
        for alias, parameters in definition.aliases.items():
            if alias in _ALIASES:
                msg = f"two measures go by the name {alias!r}"
                raise AssertionError(msg)
            _ALIASES[alias] = (name, parameters)
        return Measure(name)(**definition.shown)

    return register
