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

    from beir_eval.report._parts import Part

#: The most that all parts may take together, in bytes, and of that queries and scores. Page and
#: scripts take one million more.
MOST_DATA = 4_600_000
MOST_QUERY_TEXTS = 1_000_000
MOST_SCORES = 2_000_000
#: More queries than this would make the table slow.
MOST_QUERIES = 20_000
#: Characters of a text, longest first. Rather all queries with short texts of their documents than
#: a few with long ones.
_QUERY_TEXTS = (240, 120, 60, 0)
_EXCERPTS = (400, 200, 100, 0)
_SHORTEST = 100
_TITLE = 160
#: What a score takes as JSON; a document beside its id and its text; its title, mostly.
_SCORE_BYTES, _DOCUMENT_BYTES, _TITLE_BYTES = 19, 12, 60


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
    return [_part_data(part, texts, top, len(parts), notices) for part, texts in parts]


def as_json(value: Any) -> str:
    """Return JSON that can stand inside an HTML element: it holds no ``<``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair cannot be written as UTF-8; JSON has another way to write it.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return whole.replace("<", "\\u003c")


def _part_data(
    part: Part, texts: Texts, top: int, share: int, notices: list[str]
) -> dict[str, Any]:
    where = f"{part.name}: " if part.name else ""
    places = _queries_held(part, share)
    if len(places) < len(part.query_ids):
        notices.append(
            f"{where}the table and the charts hold {len(places):,} of {len(part.query_ids):,} "
            "queries, those on which the systems differ most; means and verdicts are over all"
        )
    scores = _scores_held(part, places, MOST_SCORES // share)
    if len(scores) < len(part.measures):
        notices.append(
            f"{where}scores by query are held for {len(scores)} of {len(part.measures)} "
            f"measures: {', '.join(scores)}"
        )
    data = {
        "name": part.name,
        "systems": part.systems,
        "measures": list(scores),
        "pair": part.pair,
        "queries": _queries(part, places, texts, MOST_QUERY_TEXTS // share),
        "scores": scores,
    }
    left = MOST_DATA // share - _size(data)
    data |= _rankings(part, places, texts, top, left)
    held = len(data["rankings"])
    if data["has_rankings"] and held < len(places):
        notices.append(
            f"{where}rankings are held for {held:,} of {len(places):,} queries, those on which "
            "the systems differ most"
        )
    return data


def _size(value: Any) -> int:
    return len(as_json(value).encode())


def _queries_held(part: Part, share: int) -> list[int]:
    each = len(part.systems) * _SCORE_BYTES
    most = max(1, min(MOST_QUERIES, MOST_SCORES // each) // share)
    if len(part.query_ids) <= most:
        return list(range(len(part.query_ids)))
    order = np.argsort(-part.spread(), kind="stable")
    return sorted(order[:most].tolist())


def _scores_held(part: Part, places: list[int], most: int) -> dict[str, list[list[float | None]]]:
    """Return the scores of the first measures that fit, one at least; to the last bit.

    Who wins a query must be the same here as in the counts of the comparison.
    """
    held: dict[str, list[list[float | None]]] = {}
    for name in part.measures:
        scores = [
            [None if math.isnan(one) else one for one in row]
            for row in part.scores[name][:, places].tolist()
        ]
        most -= _size(scores)
        if held and most < 0:
            break
        held[name] = scores
    return held


def _queries(part: Part, places: list[int], texts: Texts, most: int) -> list[tuple[str, str]]:
    """Return (id, text) of the queries, the texts as long as there is room for."""
    listed: list[tuple[str, str]] = []
    for length in _QUERY_TEXTS:
        listed = [
            (query_id, _excerpt(texts.queries.get(query_id, ""), length))
            for query_id in (part.query_ids[place] for place in places)
        ]
        if _size(listed) <= most:
            break
    return listed


def _rankings(part: Part, places: list[int], texts: Texts, top: int, most: int) -> dict[str, Any]:
    """Return the top lists of as many queries as fit, those on which the systems differ most."""
    tops = [getattr(part.results.get(name), "top", None) or {} for name in part.systems]
    number_of: dict[str, int] = {}
    rankings: dict[int, list[list[int] | None]] = {}
    grades: dict[int, dict[int, float]] = {}
    spread, left = part.spread(), most
    each = _DOCUMENT_BYTES + (0 if texts.corpus is None else _TITLE_BYTES + _SHORTEST)
    for index in sorted(range(len(places)), key=lambda index: -float(spread[places[index]])):
        lists = [one.get(part.query_ids[places[index]]) for one in tops]
        shown = [None if one is None else one.doc_ids[:top] for one in lists]
        ids = dict.fromkeys(doc_id for one in shown for doc_id in one or ())
        new = [doc_id for doc_id in ids if doc_id not in number_of]
        left -= sum(len(doc_id.encode(errors="replace")) + each for doc_id in new)
        left -= sum(8 * len(one or ()) for one in shown) + 14 * len(ids)
        if left < 0 or not any(tops):
            break
        number_of |= {doc_id: number for number, doc_id in enumerate(new, start=len(number_of))}
        rankings[index] = [
            None if one is None else [number_of[doc_id] for doc_id in one] for one in shown
        ]
        grades[index] = {
            number_of[doc_id]: _plain(grade)
            for one in lists
            if one is not None
            for doc_id, grade in zip(one.doc_ids[:top], one.grades[:top], strict=True)
            if grade is not None
        }
    known = texts.documents(set(number_of))
    return {
        "top": top,
        "has_rankings": any(tops),
        "max_grade": max((one.counted.max_grade for one in part.results.values()), default=1),
        "rankings": rankings,
        "grades": grades,
        "documents": _documents(number_of, known, most - _size([rankings, grades])),
    }


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
        if _size(listed) <= most:
            break
    return listed


def _excerpt(text: str, length: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[:length].rstrip()} …" if length else ""


def _plain(grade: float) -> float | int:
    return int(grade) if float(grade).is_integer() else grade
