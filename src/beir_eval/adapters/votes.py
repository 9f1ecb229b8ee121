"""Votes of people on results, as qrels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beir_eval.core.column_names import DOC_NAMES, QUERY_NAMES, matching
from beir_eval.core.ids import id_text
from beir_eval.core.judgement_errors import is_grade
from beir_eval.core.qrels import Qrels
from beir_eval.errors import InputError, QrelsError, SettingError, check_choice, check_count

RULES = ("mean", "majority", "any")
_WORDS = {"up": 1.0, "down": 0.0, "yes": 1.0, "no": 0.0}
_VOTE_NAMES = ("vote", "rating", "feedback", "label")
#: Less telling names, taken where there is no better one.
_OTHER_NAMES = {"query_id": ("query",), "doc_id": ("document",), "vote": ()}
_ROW = 3


@dataclass(frozen=True, slots=True)
class VoteJudgements:
    """Judgements that people voted for.

    Attributes:
        qrels: the judgements.
        votes: how many votes each rests on, {query_id: {doc_id: number}}.
        left_out: pairs of query and document with too few votes, {query_id: {doc_id: number}}.
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
    """Turn votes into judgements.

    Args:
        rows: (query_id, doc_id, vote), or mappings with these names (as a dataframe's
            ``to_dict("records")`` or ``iter_rows(named=True)`` gives them). A vote is a number (a
            star rating, 1 and 0, 1 and -1), True or False, or "up" or "down" ("yes" or "no"), which
            count 1 and 0.
        rule: "mean": the mean of the votes is the grade, 0 if it is negative (a negative grade
            would mean "unjudged"). "majority": grade 1 where more than half of the votes are
            positive, else 0. "any": grade 1 where one vote is positive, else 0.
        min_votes: pairs with fewer votes are left out, and listed.
        threshold: for "mean", grade 1 where the mean is at least this, else 0, instead of a
            fractional grade; for the others, which votes are positive (above 0 by default).

    Raises:
        InputError: a row of another shape, an id that is none, a vote that is no vote; a row that
            names its document twice and differently.
        QrelsError: no pair has enough votes.
        SettingError: a value that does not exist.

    >>> rows = [("q", "a", "up"), ("q", "a", "down"), ("q", "b", "up")]
    >>> judged = qrels_from_votes(rows)
    >>> judged.qrels.as_dict(), judged.votes
    ({'q': {'b': 1.0, 'a': 0.5}}, {'q': {'a': 2, 'b': 1}})
    """
    check_choice("rule", rule, RULES)
    check_count("min_votes", min_votes)
    if threshold is not None and not is_grade(threshold):
        msg = f"threshold must be a finite number, not {threshold!r}"
        raise SettingError(msg)
    cast: dict[str, dict[str, list[float]]] = {}
    if not isinstance(rows, Iterable):
        msg = f"votes must be rows of (query_id, doc_id, vote), not {rows!r}"
        raise InputError(msg)
    for place, row in enumerate(rows):
        query_id, doc_id, vote = _read(place, row)
        cast.setdefault(query_id, {}).setdefault(doc_id, []).append(vote)
    grades: dict[str, dict[str, float]] = {}
    votes: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, int]] = {}
    for query_id, documents in cast.items():
        for doc_id, values in documents.items():
            counts = votes if len(values) >= min_votes else left_out
            counts.setdefault(query_id, {})[doc_id] = len(values)
            if counts is votes:
                grades.setdefault(query_id, {})[doc_id] = _grade(values, rule, threshold)
    if not grades:
        msg = (
            f"no document has {min_votes} votes, so nothing is judged; {len(cast)} queries had some"
        )
        raise QrelsError(msg)
    return VoteJudgements(Qrels(grades), votes, left_out)


def _grade(votes: Sequence[float], rule: str, threshold: float | None) -> float:
    if rule == "mean":
        mean = math.fsum(votes) / len(votes)
        return max(mean, 0.0) if threshold is None else float(mean >= threshold)
    positive = sum(vote > 0 if threshold is None else vote >= threshold for vote in votes)
    return float(positive > len(votes) / 2) if rule == "majority" else float(positive > 0)


def _read(place: int, row: Any) -> tuple[str, str, float]:
    if isinstance(row, Mapping):
        query, doc, vote = (
            _named(place, row, names) for names in (QUERY_NAMES, DOC_NAMES, _VOTE_NAMES)
        )
    elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == _ROW:
        query, doc, vote = row
    else:
        msg = f"row {place} is {row!r}; it must be (query_id, doc_id, vote) or name these"
        raise InputError(msg)
    try:
        query_id, doc_id = id_text(query), id_text(doc)
    except (TypeError, ValueError) as error:
        msg = f"row {place}: {error}"
        raise InputError(msg) from error
    return query_id, doc_id, _vote(place, vote)


def _named(place: int, row: Mapping[str, Any], names: Sequence[str]) -> Any:
    found = matching(row, names) or matching(row, _OTHER_NAMES[names[0]])
    if not found:
        msg = f"row {place} has no {names[0]}; it has {', '.join(map(repr, row))}"
        raise InputError(msg)
    if len({str(row[name]) for name in found}) > 1:
        said = ", ".join(f"{name}={row[name]!r}" for name in found)
        msg = f"row {place} names one thing twice and differently: {said}"
        raise InputError(msg)
    return row[found[0]]


def _vote(place: int, vote: Any) -> float:
    if isinstance(vote, str) and vote.strip().lower() in _WORDS:
        return _WORDS[vote.strip().lower()]
    if not is_grade(vote):
        msg = (
            f"the vote of row {place} is {vote!r}; it must be a number, True, False, 'up' or 'down'"
        )
        raise InputError(msg)
    return float(vote)
