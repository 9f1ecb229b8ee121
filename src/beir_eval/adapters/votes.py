"""Qrels from the votes of several people on documents: ``qrels_from_votes``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beir_eval.core.arrays import is_iterable
from beir_eval.core.column_names import DOC_NAMES, QUERY_NAMES, matching_names
from beir_eval.core.ids import id_text
from beir_eval.core.judgement_errors import is_grade
from beir_eval.core.qrels import Qrels
from beir_eval.errors import (
    InputError,
    QrelsError,
    SettingError,
    check_choice,
    check_count,
    first_few,
    shown,
)

RULES = ("mean", "majority", "any")
_VOTE_WORDS = {"up": 1.0, "down": 0.0, "yes": 1.0, "no": 0.0}
_VOTE_NAMES = ("vote", "rating", "feedback", "label")
#: Less specific names, used if a row has none of the usual ones.
_FALLBACK_NAMES = {"query_id": ("query",), "doc_id": ("document",), "vote": ()}
_ROW_LENGTH = 3


@dataclass(frozen=True, slots=True)
class VoteJudgements:
    """Judgements from votes, with the number of votes.

    Attributes:
        qrels: the judgements.
        votes: {query_id: {doc_id: number of votes}} of the judgements in ``qrels``.
        left_out: {query_id: {doc_id: number of votes}} of documents with too few votes, which are
            not in ``qrels``.
    """

    qrels: Qrels
    votes: dict[str, dict[str, int]]
    left_out: dict[str, dict[str, int]]


def qrels_from_votes(
    rows: Iterable[Any],
    *,
    rule: str = "mean",
    min_votes: int = 1,
    threshold: float | None = None,
) -> VoteJudgements:
    """Return judgements from votes: one grade for all votes on a document for a query.

    Args:
        rows: one row per vote: (query_id, doc_id, vote), or a mapping with these names or their
            usual variants (such as the rows of a dataframe's ``to_dict("records")`` or
            ``iter_rows(named=True)``). A vote is a finite number (a star rating, 1 and 0, 1 and
            -1), True or False, or "up" or "down" ("yes" or "no"), which count as 1 and 0.
        rule: how votes become a grade. "mean": their mean, but 0 if it is negative (a negative
            grade means "unjudged"). "majority": 1 if more than half of the votes are positive,
            else 0. "any": 1 if at least one vote is positive, else 0.
        min_votes: the least number of votes for a grade, from 1. Documents with fewer are left out
            of the qrels and listed in ``left_out``.
        threshold: for "mean": the grade is 1 if the mean is at least this, else 0, instead of the
            mean itself. For "majority" and "any": a vote is positive if it is at least this; by
            default if it is above 0.

    Returns:
        The judgements, with the number of votes on each, and the documents left out.

    Raises:
        InputError: ``rows`` is not iterable, a row has another shape, an id is invalid, a vote is
            none of the above, or a row has two different values for the same field.
        QrelsError: no document has enough votes.
        SettingError: an unknown rule, ``min_votes`` below 1, or a threshold that is not a finite
            number.

    >>> rows = [("q", "a", "up"), ("q", "a", "down"), ("q", "b", "up")]
    >>> judged = qrels_from_votes(rows)
    >>> judged.qrels.as_dict(), judged.votes
    ({'q': {'b': 1.0, 'a': 0.5}}, {'q': {'a': 2, 'b': 1}})
    """
    check_choice("rule", rule, RULES)
    check_count("min_votes", min_votes)
    if threshold is not None and not is_grade(threshold):
        msg = f"threshold must be a finite number, not {shown(threshold)}"
        raise SettingError(msg)
    votes_cast: dict[str, dict[str, list[float]]] = {}
    if not is_iterable(rows):
        msg = f"votes must be rows of (query_id, doc_id, vote), not {shown(rows)}"
        raise InputError(msg)
    for index, row in enumerate(rows):
        query_id, doc_id, vote = _read_row(index, row)
        votes_cast.setdefault(query_id, {}).setdefault(doc_id, []).append(vote)
    grades: dict[str, dict[str, float]] = {}
    votes: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, int]] = {}
    for query_id, documents in votes_cast.items():
        for doc_id, values in documents.items():
            counts = votes if len(values) >= min_votes else left_out
            counts.setdefault(query_id, {})[doc_id] = len(values)
            if counts is votes:
                grades.setdefault(query_id, {})[doc_id] = _grade(values, rule, threshold)
    if not grades:
        msg = (
            f"no document has {shown(min_votes)} votes, so nothing is judged; {len(votes_cast)} "
            "queries had some"
        )
        raise QrelsError(msg)
    return VoteJudgements(Qrels(grades), votes, left_out)


def _grade(votes: Sequence[float], rule: str, threshold: float | None) -> float:
    """Return the grade of a document from its votes; see ``qrels_from_votes``."""
    if rule == "mean":
        mean = math.fsum(votes) / len(votes)
        return max(mean, 0.0) if threshold is None else float(mean >= threshold)
    positive = sum(vote > 0 if threshold is None else vote >= threshold for vote in votes)
    return float(positive > len(votes) / 2) if rule == "majority" else float(positive > 0)


def _read_row(index: int, row: Any) -> tuple[str, str, float]:
    """Return query id, document id and vote of a row; ``index`` is its number in errors."""
    if isinstance(row, Mapping):
        query, doc, vote = (
            _field(index, row, names) for names in (QUERY_NAMES, DOC_NAMES, _VOTE_NAMES)
        )
    elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == _ROW_LENGTH:
        query, doc, vote = row
    else:
        msg = f"row {index} is {shown(row)}; it must be (query_id, doc_id, vote) or name these"
        raise InputError(msg)
    try:
        query_id, doc_id = id_text(query), id_text(doc)
    except (TypeError, ValueError) as error:
        msg = f"row {index}: {error}"
        raise InputError(msg) from error
    return query_id, doc_id, _vote_number(index, vote)


def _field(index: int, row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value that a row has under one of these names, or else a fallback name."""
    keys = matching_names(row, names) or matching_names(row, _FALLBACK_NAMES[names[0]])
    if not keys:
        msg = f"row {index} has no {names[0]}; it has {first_few(row)}"
        raise InputError(msg)
    if len({str(row[name]) for name in keys}) > 1:
        fields = ", ".join(f"{name}={shown(row[name])}" for name in keys)
        msg = f"row {index} has two fields for the same value, and they differ: {fields}"
        raise InputError(msg)
    return row[keys[0]]


def _vote_number(index: int, vote: Any) -> float:
    """Return a vote as a number; raise InputError if it is neither a number nor a known word."""
    if isinstance(vote, str) and vote.strip().lower() in _VOTE_WORDS:
        return _VOTE_WORDS[vote.strip().lower()]
    if not is_grade(vote):
        msg = (
            f"the vote of row {index} is {shown(vote)}; it must be a number, True, False, 'up' or "
            "'down'"
        )
        raise InputError(msg)
    return float(vote)
