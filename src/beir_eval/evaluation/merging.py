"""Which results may become one: alike in all that makes the numbers, and over other queries."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from beir_eval.errors import ResultError, some
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.evaluation.records import Counted


class _Result(Protocol):
    """What is asked of an ``EvaluationResult`` here."""

    @property
    def query_ids(self) -> tuple[str, ...]: ...
    @property
    def measures(self) -> tuple[str, ...]: ...
    @property
    def counted(self) -> Counted: ...


def check_alike(first: _Result, second: _Result) -> None:
    """Raise ResultError unless both were made in the same way."""
    for what in ("name", "measures", "settings", "provenance.package_version"):
        ours, theirs = attrgetter(what)(first), attrgetter(what)(second)
        if ours != theirs:
            msg = f"only results with the same {what} can be merged, not {ours} and {theirs}"
            raise ResultError(msg)
    grades = first.counted.max_grade, second.counted.max_grade
    if grades[0] != grades[1] and any(_takes_max_grade(name) for name in first.measures):
        msg = (
            f"ERR depends on the highest grade of the whole qrels, but these results were made "
            f"with {grades[0]:g} and {grades[1]:g}; state it: ERR(max_grade=…)"
        )
        raise ResultError(msg)


def _takes_max_grade(name: str) -> bool:
    measure = parse(name)
    given = dict(measure.parameters)
    return "max_grade" in measure.definition.defaults and "max_grade" not in given


def check_disjoint(results: Sequence[_Result]) -> None:
    """Raise ResultError where two results hold the same query."""
    seen: set[str] = set()
    for result in results:
        queries = {*result.query_ids, *result.counted.queries_missing}
        if shared := seen & queries:
            twice = some(sorted(shared))
            msg = f"results over disjoint queries were expected, but they share {twice}"
            raise ResultError(msg)
        seen |= queries
