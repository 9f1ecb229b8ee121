"""Checks of scores, and the errors about invalid ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from beir_eval.core.arrays import NOT_NUMBERS, read_finite_floats
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_finite_number(value: object) -> bool:
    """Return whether ``value`` is a finite number of any type."""
    try:
        read_finite_floats([value], 1)
    except NOT_NUMBERS:
        return False
    return True


def raise_score_error(query_id: str, doc_id: object, score: object) -> NoReturn:
    """Raise RunError about one invalid score."""
    msg = (
        f"the score of document {shown(doc_id)} for query {shown(query_id)} is {shown(score)}; a "
        "score must be a finite number"
    )
    raise RunError(msg)


def raise_first_score_error(entries: Iterable[tuple[str, object, object]]) -> NoReturn:
    """Raise RunError about the first score that is not a finite number.

    Args:
        entries: (query id, document id, score) of each retrieved document.
    """
    for query_id, doc_id, score in entries:
        if not is_finite_number(score):
            raise_score_error(query_id, doc_id, score)
    msg = "a ranking cannot be read: its length, keys, values and look-ups do not agree"
    raise RunError(msg)
