"""Checks of judgements, and the errors that name the first invalid one.

``Qrels`` checks whole arrays for speed. Only if a check fails do these functions look for the
judgement to name.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from beir_eval.core.arrays import NOT_NUMBERS, Ints, read_floats
from beir_eval.core.ids import repeated_ids
from beir_eval.errors import QrelsError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The largest absolute value of a grade: sums of larger gains could overflow.
HIGHEST_GRADE = 1e100


def is_grade(value: object) -> bool:
    """Return whether ``value`` is a valid grade: a number between -1e100 and 1e100."""
    try:
        return bool(np.abs(read_floats([value], 1)[0]) <= HIGHEST_GRADE)
    except NOT_NUMBERS:
        return False


def raise_grade_error(
    query_ids: Sequence[str],
    starts: Ints,
    doc_ids: Sequence[str],
    judgements: Iterable[Mapping[Any, Any]],
) -> NoReturn:
    """Raise QrelsError about the first invalid grade.

    Args:
        query_ids: the queries. [Q]
        starts: where the judgements of each query begin, and the end of the last, i8[Q+1].
        doc_ids: the judged documents, query after query. [J]
        judgements: {document: grade} of each query. [Q]
    """
    grades = chain.from_iterable(judged.values() for judged in judgements)
    index, grade = next(entry for entry in enumerate(grades) if not is_grade(entry[1]))
    if isinstance(grade, Mapping):
        msg = (
            "qrels must be {query_id: {doc_id: grade}}, but there are dicts in place of grades, as "
            "in {name: run}; the qrels are the first argument, runs the second"
        )
        raise QrelsError(msg)
    query_id = query_ids[int(np.searchsorted(starts, index, side="right")) - 1]
    msg = (
        f"the grade of document {shown(doc_ids[index])} for query {shown(query_id)} is "
        f"{shown(grade)}; a grade must be a finite number, at most {HIGHEST_GRADE:g}"
    )
    raise QrelsError(msg)


def check_distinct_documents(
    query_ids: Sequence[str], starts: Ints, doc_ids: Sequence[str]
) -> None:
    """Check that no query judges a document twice, as an integer and as text, or raise QrelsError.

    Args:
        query_ids: the queries. [Q]
        starts: where the judgements of each query begin, and the end of the last, i8[Q+1].
        doc_ids: the judged documents as text, query after query. [J]
    """
    for row, query_id in enumerate(query_ids):
        begin, end = int(starts[row]), int(starts[row + 1])
        repeated = sorted(repeated_ids(doc_ids[begin:end]))
        if repeated:
            msg = (
                f"query {shown(query_id)} judges {first_few(repeated)} twice, once as text and "
                "once as an integer; keep one of the two"
            )
            raise QrelsError(msg)
