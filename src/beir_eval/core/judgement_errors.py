"""What is wrong with judgements, found once it is known that something is."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from beir_eval.core.arrays import NOT_NUMBERS, Ints, read_floats
from beir_eval.core.ids import repeated_ids
from beir_eval.errors import QrelsError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Above it sums of gains would overflow.
HIGHEST_GRADE = 1e100


def is_grade(value: object) -> bool:
    """Return whether ``value`` is a number (of any type) that a grade can be."""
    try:
        return bool(np.abs(read_floats([value], 1)[0]) <= HIGHEST_GRADE)
    except NOT_NUMBERS:
        return False


def refuse_grade(
    queries: Sequence[str],
    starts: Ints,
    documents: Sequence[str],
    judged_of: Iterable[Mapping[Any, Any]],
) -> NoReturn:
    """Raise QrelsError that names the first grade that is not a finite number."""
    grades = chain.from_iterable(judged.values() for judged in judged_of)
    for place, grade in enumerate(grades):
        if not is_grade(grade):
            query_id = queries[int(np.searchsorted(starts, place, side="right")) - 1]
            msg = (
                f"the grade of document {documents[place]!r} for query {query_id!r} is "
                f"{grade!r}; a grade must be a finite number, at most {HIGHEST_GRADE:g}"
            )
            raise QrelsError(msg)
    msg = "the judgements cannot be read: their length, keys and values do not agree"
    raise QrelsError(msg)


def check_distinct(queries: Sequence[str], starts: Ints, documents: Sequence[str]) -> None:
    """Raise QrelsError where an integer and a text id of one query name the same document."""
    for row, query_id in enumerate(queries):
        begin, end = int(starts[row]), int(starts[row + 1])
        twice = sorted(repeated_ids(documents[begin:end]))
        if twice:
            msg = (
                f"query {query_id!r} judges {some(twice)} twice, once as text and once as an "
                "integer; keep one of the two"
            )
            raise QrelsError(msg)
