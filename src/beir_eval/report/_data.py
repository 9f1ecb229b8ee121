"""The data inside the report: scores and rankings as JSON, trimmed to a size, never silently."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.adapters._corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval._arrays import Floats
    from beir_eval.report._parts import Part

#: The most that scores, and rankings with their texts, may take, in bytes, over all parts.
MOST_SCORES = 1_800_000
MOST_RANKINGS = 3_000_000
#: More queries than this would make the table slow.
MOST_QUERIES = 20_000
#: Characters of a query's text, of a title, and of a document's text: longest first. Rather all
#: queries with short texts than a few with long ones.
_QUERY, _TITLE = 240, 160
_EXCERPTS = (400, 200, 100, 0)
_SHORTEST = 100
#: What a score takes as JSON; a document beside its id and its text; its title, mostly.
_SCORE_BYTES, _DOCUMENT_BYTES, _TITLE_BYTES = 9, 12, 60
#: Digits of a score: two more than are shown.
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Texts:
    """What people read: {query_id: text}, and documents by id; both may be unknown.

    ``corpus`` is a ``Corpus``, or {doc_id: text} or {doc_id: {"title", "text"}}.
    """

    queries: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus | Mapping[str, Any] | None = None

    def documents(self, wanted: set[str]) -> dict[str, tuple[str, str]]:
        """Return {doc_id: (title, text)} of the documents that the corpus has."""
        if self.corpus is None or not wanted:
            return {}
        if isinstance(self.corpus, Corpus):
            # One pass: the index that look-ups need would read the whole file as well.
            return {
                one.doc_id: (one.title, one.text) for one in self.corpus if one.doc_id in wanted
            }
        held = {doc_id: self.corpus[doc_id] for doc_id in wanted if doc_id in self.corpus}
        return {doc_id: _title_and_text(one) for doc_id, one in held.items()}


def _title_and_text(one: Any) -> tuple[str, str]:
    if isinstance(one, Mapping):
        return str(one.get("title") or ""), str(one.get("text") or "")
    return "", str(one)


def data_of(
    parts: Sequence[tuple[Part, Texts]], top: int, notices: list[str]
) -> list[dict[str, Any]]:
    """Return the parts as JSON; what had to be left out is added to ``notices``."""
    share = len(parts)
    made = [_part_data(part, texts, share, notices) for part, texts in parts]
    for (part, texts), data in zip(parts, made, strict=True):
        _add_rankings(data, part, texts, top, MOST_RANKINGS // share, notices)
        del data["places"]
    return made


def as_json(value: Any) -> str:
    """Return JSON that can stand inside an HTML element: it holds no ``<``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair cannot be written as UTF-8; JSON has another way to write it.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return whole.replace("<", "\\u003c")


def _part_data(part: Part, texts: Texts, share: int, notices: list[str]) -> dict[str, Any]:
    where = f"{part.name}: " if part.name else ""
    places = _queries_held(part, share)
    if len(places) < len(part.query_ids):
        notices.append(
            f"{where}the table and the charts hold {len(places):,} of {len(part.query_ids):,} "
            "queries, those on which the systems differ most; means and verdicts are over all"
        )
    each = len(places) * len(part.systems) * _SCORE_BYTES
    most = max(1, (MOST_SCORES // share) // max(each, 1))
    measures = part.measures[:most]
    if len(measures) < len(part.measures):
        notices.append(
            f"{where}scores by query are held for {len(measures)} of {len(part.measures)} "
            f"measures: {', '.join(measures)}"
        )
    return {
        "name": part.name,
        "systems": part.systems,
        "measures": measures,
        "pair": part.pair,
        "queries": [
            [part.query_ids[place], _excerpt(texts.queries.get(part.query_ids[place], ""), _QUERY)]
            for place in places
        ],
        "scores": {name: _score_lists(part.scores[name][:, places]) for name in measures},
        "places": places,
    }


def _queries_held(part: Part, share: int) -> list[int]:
    each = len(part.systems) * _SCORE_BYTES
    most = min(MOST_QUERIES, MOST_SCORES // each) // share
    if len(part.query_ids) <= most:
        return list(range(len(part.query_ids)))
    order = np.argsort(-part.spread(), kind="stable")
    return sorted(order[:most].tolist())


def _score_lists(scores: Floats) -> list[list[float | None]]:
    rounded: list[list[float]] = np.round(scores, _DIGITS).tolist()
    return [[None if math.isnan(one) else one for one in row] for row in rounded]


def _add_rankings(  # noqa: PLR0913, PLR0917 - one call
    data: dict[str, Any], part: Part, texts: Texts, top: int, most: int, notices: list[str]
) -> None:
    """Add the top lists of as many queries as fit, those on which the systems differ most first."""
    tops = [getattr(part.results.get(name), "top", None) or {} for name in part.systems]
    grades = [one.counted.max_grade for one in part.results.values()]
    data |= {
        "top": top,
        "has_rankings": any(tops),
        "max_grade": max(grades, default=1),
        "documents": [],
        "rankings": {},
        "grades": {},
    }
    if not any(tops):
        return
    number_of: dict[str, int] = {}
    budget, spread, places = most, part.spread(), data["places"]
    order = sorted(range(len(places)), key=lambda index: -float(spread[places[index]]))
    each = _DOCUMENT_BYTES + (0 if texts.corpus is None else _TITLE_BYTES + _SHORTEST)
    for index in order:
        lists = [one.get(part.query_ids[places[index]]) for one in tops]
        shown = [None if one is None else one.doc_ids[:top] for one in lists]
        ids = dict.fromkeys(doc_id for one in shown for doc_id in one or ())
        new = [doc_id for doc_id in ids if doc_id not in number_of]
        budget -= sum(len(doc_id.encode(errors="replace")) + each for doc_id in new)
        budget -= sum(8 * len(one or ()) for one in shown) + 14 * len(ids)
        if budget < 0:
            break
        number_of |= {doc_id: number for number, doc_id in enumerate(new, start=len(number_of))}
        data["rankings"][index] = [
            None if one is None else [number_of[doc_id] for doc_id in one] for one in shown
        ]
        data["grades"][index] = {
            number_of[doc_id]: _plain(grade)
            for one in lists
            if one is not None
            for doc_id, grade in zip(one.doc_ids[:top], one.grades[:top], strict=True)
            if grade is not None
        }
    known = texts.documents(set(number_of))
    data["documents"] = _documents(number_of, known, most)
    where = f"{part.name}: " if part.name else ""
    if len(data["rankings"]) < len(places):
        notices.append(
            f"{where}rankings are held for {len(data['rankings']):,} of {len(places):,} queries, "
            "those on which the systems differ most"
        )


def _documents(
    number_of: Iterable[str], known: Mapping[str, tuple[str, str]], most: int
) -> list[tuple[str, str, str]]:
    """Return (id, title, text) of the documents, the texts as long as there is room for."""
    listed: list[tuple[str, str, str]] = []
    for length in _EXCERPTS:
        listed = [
            (doc_id, _excerpt(title, _TITLE), _excerpt(text, length))
            for doc_id in number_of
            for title, text in [known.get(doc_id, ("", ""))]
        ]
        if len(as_json(listed).encode()) <= most:
            break
    return listed


def _excerpt(text: str, length: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[:length].rstrip()} …" if length else ""


def _plain(grade: float) -> float | int:
    return int(grade) if float(grade).is_integer() else grade
