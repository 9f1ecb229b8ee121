"""The rankings inside the report: as many queries, and as much text, as there is room for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.report.json_text import size_of
from beir_eval.report.texts import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from beir_eval.report.dataset_views import DatasetView
    from beir_eval.report.texts import Texts


class _Length(NamedTuple):
    """How many characters of titles and texts are held."""

    title: int
    text: int


_NOTHING = _Length(0, 0)
#: Longest first. Where not even the last lets the texts of all queries in, those on which the
#: systems differ most have them, so long, and the others are held without.
_LENGTHS = (_Length(160, 400), _Length(160, 200), _Length(120, 100))


class Rankings:
    """The top lists of some queries of a view, those on which the systems differ most first.

    A document has a number from the first query on that shows it, so the data of the first n
    queries is that of the first n − 1 and one piece more: what fits is found in one pass.
    """

    def __init__(self, view: DatasetView, places: Sequence[int], top: int) -> None:
        """Take the view, the places of the queries that the report holds, and the depth."""
        self._view, self._places, self._top = view, places, top
        self._tops = [getattr(view.results.get(name), "top", None) or {} for name in view.systems]
        self._number_of: dict[str, int] = {}
        spread = view.spread()
        self._order = sorted(range(len(places)), key=lambda index: -float(spread[places[index]]))

    def within(self, most: int, texts: Texts) -> tuple[dict[str, Any], list[str]]:
        """Return as many rankings as fit into so many bytes, and sentences on what was left out."""
        bare = self._data([], {}, _NOTHING)
        if not any(self._tops):
            return bare, []
        pieces, left = _fitting(map(self._piece, self._order), most - size_of(bare), _bytes_of)
        known = texts.documents({doc_id for piece in pieces for doc_id in piece.new})
        read, length = _readable(pieces, known, left)
        held = {doc_id: known[doc_id] for piece in read for doc_id in piece.new if doc_id in known}
        notices = self._notices(len(pieces), len(read), known, length)
        return self._data(pieces, held, length), notices

    def _piece(self, index: int) -> _Piece:
        query_id = self._view.query_ids[self._places[index]]
        lists = [one.get(query_id) for one in self._tops]
        shown = dict.fromkeys(
            doc_id for one in lists if one is not None for doc_id in one.doc_ids[: self._top]
        )
        new = [doc_id for doc_id in shown if doc_id not in self._number_of]
        for doc_id in new:
            self._number_of[doc_id] = len(self._number_of)
        number_of = self._number_of
        return _Piece(
            index,
            new,
            [
                None if one is None else [number_of[doc_id] for doc_id in one.doc_ids[: self._top]]
                for one in lists
            ],
            [
                {
                    number_of[doc_id]: rank
                    for rank, doc_id in enumerate(one.doc_ids[self._top :], start=self._top + 1)
                    if doc_id in shown
                }
                if one is not None
                else {}
                for one in lists
            ],
            {
                number_of[doc_id]: int(grade) if float(grade).is_integer() else grade
                for one in lists
                if one is not None
                for doc_id, grade in zip(
                    one.doc_ids[: self._top], one.grades[: self._top], strict=True
                )
                if grade is not None
            },
            [None if one is None else len(one.doc_ids) for one in lists],
        )

    def _notices(
        self, held: int, read: int, known: Mapping[str, tuple[str, str]], length: _Length
    ) -> list[str]:
        notices = []
        if held < len(self._order):
            notices.append(
                f"rankings are held for {held:,} of {len(self._order):,} queries, those on which "
                "the systems differ most"
            )
        if known and read < held:
            notices.append(
                f"titles and texts of documents are held for {read:,} queries, those on which the "
                "systems differ most"
            )
        if length != _LENGTHS[0] and any(len(text) > length.text for _, text in known.values()):
            notices.append(f"texts of documents are cut after {length.text} characters")
        return notices

    def _data(
        self, held: Sequence[_Piece], known: Mapping[str, tuple[str, str]], length: _Length
    ) -> dict[str, Any]:
        grades = [one.counted.max_grade for one in self._view.results.values()]
        return {
            "has_rankings": any(self._tops),
            "has_texts": bool(known),
            "max_grade": max(grades, default=1),
            "documents": [one for piece in held for one in _documents(piece.new, known, length)],
            "rankings": {piece.place: piece.ranked for piece in held},
            "elsewhere": {piece.place: piece.elsewhere for piece in held if any(piece.elsewhere)},
            "grades": {piece.place: piece.grades for piece in held},
            "depths": {piece.place: piece.depths for piece in held},
        }


class _Piece(NamedTuple):
    """One query: the documents that no query before it shows, and by system what it ranks.

    ``elsewhere`` is {document: rank} of those that another system shows and this one ranks deeper,
    ``depths`` how many documents of its ranking are known.
    """

    place: int
    new: list[str]
    ranked: list[list[int] | None]
    elsewhere: list[dict[int, int]]
    grades: dict[int, float]
    depths: list[int | None]


#: The four keys of a query, with quotes, colons and commas.
_PIECE_BYTES = 40


def _documents(
    doc_ids: Sequence[str], known: Mapping[str, tuple[str, str]], length: _Length
) -> list[tuple[str, str, str]]:
    found = [(doc_id, *known.get(doc_id, ("", ""))) for doc_id in doc_ids]
    return [
        (doc_id, excerpt(title, length.title), excerpt(text, length.text))
        for doc_id, title, text in found
    ]


def _fitting(
    pieces: Iterable[_Piece], room: int, bytes_of: Callable[[_Piece], int]
) -> tuple[list[_Piece], int]:
    """Return the first pieces that fit, and the room that they leave."""
    held: list[_Piece] = []
    for piece in pieces:
        size = bytes_of(piece)
        if size > room:
            break
        room -= size
        held.append(piece)
    return held, room


def _readable(
    pieces: list[_Piece], known: Mapping[str, tuple[str, str]], room: int
) -> tuple[list[_Piece], _Length]:
    """Return the pieces whose texts fit, all of them if some length allows, and that length."""
    for length in _LENGTHS:
        bytes_of = partial(_bytes_of_texts, known=known, length=length)
        read, _ = _fitting(pieces, room, bytes_of)
        if len(read) == len(pieces):
            break
    return read, length


def _bytes_of(piece: _Piece) -> int:
    return size_of([piece[2:], _documents(piece.new, {}, _NOTHING)]) + _PIECE_BYTES


def _bytes_of_texts(piece: _Piece, known: Mapping[str, tuple[str, str]], length: _Length) -> int:
    return size_of([one[1:] for one in _documents(piece.new, known, length)])
