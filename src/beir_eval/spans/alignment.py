"""Where a text stands in a document: ``Aligner`` (one document), ``Alignment`` (counts), hints."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Ints

#: How a text was found, strictest first.
Stage: TypeAlias = Literal["stated", "exact", "white_space", "letters", "fuzzy", "lost"]
#: Places of a text in a document that are looked at.
_MOST_PLACES = 1000
#: Letters of a piece that is looked for if the whole text is not there; how many letters pieces may
#: stand apart from where they would; the share of pieces that must be there.
_PIECE, _APART, _LEAST_SHARE = 12, 48, 0.5


class Location(NamedTuple):
    """Where a text stands in a document: characters ``start`` to ``end`` - 1, from 0."""

    start: int
    end: int


class Match(NamedTuple):
    """The places of a text in a document, and how they were found. [P]; none if it is lost."""

    stage: Stage
    locations: tuple[Location, ...]


LOST = Match("lost", ())


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the texts of spans or chunks were found in their documents; counts of different texts.

    Attributes:
        stated: they stand at the offsets that were stated.
        exact: they stand elsewhere, character by character.
        white_space: only white space differs.
        letters: only letters and digits are the same: case, accents, punctuation and white space
            differ.
        fuzzy: at least half of the pieces of 12 letters stand near each other, in order.
        lost: none of these.
        unchecked: no text was given, or no corpus, so that the stated offsets were taken.
        wrong_offsets: the texts that were given with offsets, and do not stand there.
        several_places: the texts that stand at several places; the one nearest to what the offsets
            say was taken, or the first.
        unknown_documents: the texts of documents that the corpus does not have.
    """

    stated: int = 0
    exact: int = 0
    white_space: int = 0
    letters: int = 0
    fuzzy: int = 0
    lost: int = 0
    unchecked: int = 0
    wrong_offsets: int = 0
    several_places: int = 0
    unknown_documents: int = 0


class Aligner:
    """The text of one document, in which other texts are found.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        """Keep the text; what is derived from it is computed when needed."""
        self.text = text
        self._forms: dict[Stage, tuple[str, Ints]] = {}

    def states(self, text: str, start: int) -> bool:
        """Return whether ``text`` stands at this offset."""
        return start >= 0 and self.text.startswith(text, start)

    def find(self, text: str) -> Match:
        """Return every place of a text by the first stage that finds one.

        The exact places are followed by those at which white space differs: where a cleaner changed
        the text, a copy elsewhere may be the exact one.

        Args:
            text: the text; of nothing but white space it is lost.
        """
        if not text.strip():
            return LOST
        starts = occurrences(self.text, text)
        exact = [Location(start, start + len(text)) for start in starts]
        begins = {start + len(text) - len(text.lstrip()) for start in starts}
        needle, _ = _reduced(text, "white_space")
        whole, index = self._form("white_space")
        others = [
            Location(int(index[at]), int(index[at + len(needle) - 1]) + 1)
            for at in occurrences(whole, needle)
            if int(index[at]) not in begins
        ]
        if exact or others:
            return Match("exact" if exact else "white_space", (*exact, *others))
        letters, _ = _reduced(text, "letters")
        whole, index = self._form("letters")
        if letters and (starts := occurrences(whole, letters)):
            return Match(
                "letters", tuple(self._location(index, at, at + len(letters)) for at in starts)
            )
        return self._find_pieces(letters)

    def _location(self, index: Ints, first: int, end: int) -> Location:
        """Return the location of characters of a reduced text, with a full stop or the like."""
        stop = int(index[end - 1]) + 1
        while stop < len(self.text) and unicodedata.category(self.text[stop])[0] == "P":
            stop += 1
        return Location(int(index[first]), stop)

    def _form(self, stage: Stage) -> tuple[str, Ints]:
        """Return the reduced text, and the place of each of its characters in the text, i8[N]."""
        if stage not in self._forms:
            self._forms[stage] = _reduced(self.text, stage)
        return self._forms[stage]

    def _find_pieces(self, letters: str) -> Match:
        """Return the places at which most pieces of a text stand, about as far apart as in it.

        What stands before the first piece and after the last one is a part as far as it is equal.
        """
        whole, index = self._form("letters")
        offsets = range(0, len(letters) - _PIECE + 1, _PIECE)
        hits = sorted(
            (at - offset, at, offset)
            for offset in offsets
            for at in occurrences(whole, letters[offset : offset + _PIECE])
        )
        if not hits:
            return LOST
        windows: list[tuple[int, int, int]] = []
        count_of: dict[int, int] = {}
        first = 0
        for last, (diagonal, _, offset) in enumerate(hits):
            count_of[offset] = count_of.get(offset, 0) + 1
            while hits[first][0] < diagonal - _APART:
                count_of[hits[first][2]] -= 1
                if not count_of[hits[first][2]]:
                    del count_of[hits[first][2]]
                first += 1
            windows.append((len(count_of), first, last))
        most = max(count for count, _, _ in windows)
        if most < _LEAST_SHARE * len(offsets):
            return LOST
        locations: list[Location] = []
        previous = -len(letters)
        for count, first, last in windows:
            if count != most:
                continue
            by_place = sorted((at, offset) for _, at, offset in hits[first : last + 1])
            (start, begin), (stop, end) = by_place[0], by_place[-1]
            if start > previous + len(letters) // 2:
                previous = start
                backwards = whole[max(start - begin, 0) : start][::-1]
                start -= _num_equal(backwards, letters[:begin][::-1])
                stop += _num_equal(whole[stop : stop + len(letters)], letters[end:])
                locations.append(self._location(index, start, stop))
        return Match("fuzzy", tuple(locations))


def occurrences(whole: str, part: str, *, overlapping: bool = True) -> list[int]:
    """Return where ``part`` begins in ``whole``; of what repeats, the first thousand.

    >>> occurrences("aaaa", "aa"), occurrences("aaaa", "aa", overlapping=False)
    ([0, 1, 2], [0, 2])
    """
    step = 1 if overlapping else len(part)
    starts: list[int] = []
    at = whole.find(part)
    while at >= 0 and len(starts) < _MOST_PLACES:
        starts.append(at)
        at = whole.find(part, at + step)
    return starts


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, without case and accents.

    >>> letters_of("Café № 5!")
    'cafeno5'
    """
    return _reduced(text, "letters")[0]


def _reduced(text: str, stage: Stage) -> tuple[str, Ints]:
    """Return a text without what a stage ignores, and the place of each character left, i8[N]."""
    if stage == "white_space":
        pieces = [(match.start(), match.group()) for match in re.finditer(r"\S+", text)]
        locations = [np.arange(at, at + len(piece)) for at, piece in pieces]
        index = np.concatenate(locations) if locations else np.zeros(0, np.int64)
        return "".join(piece for _, piece in pieces), index
    if text.isascii():
        pieces = [(match.start(), match.group()) for match in re.finditer(r"[A-Za-z0-9]+", text)]
        locations = [np.arange(at, at + len(piece)) for at, piece in pieces]
        index = np.concatenate(locations) if locations else np.zeros(0, np.int64)
        return "".join(piece for _, piece in pieces).lower(), index
    kept = list(_letters(text))
    return "".join(letter for _, letter in kept), np.array([at for at, _ in kept], np.int64)


def _letters(text: str) -> Iterator[tuple[int, str]]:
    for at, character in enumerate(text):
        if character.isascii():
            if character.isalnum():
                yield at, character.lower()
            continue
        for part in unicodedata.normalize("NFKD", character).casefold():
            if part.isalnum():
                yield at, part


def _num_equal(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(first), len(second)))


class Anchors:
    """How far stated offsets are from the true ones in a document.

    Asked in ascending order, each text that was located is an anchor for the next one: offsets into
    a cleaned text lag behind more and more, but little from one chunk to the next.

    Args:
        known: (stated offset, true offset) of texts that stand at one place.
        length: the length of the document.
        highest: the highest end that is stated for any text of the document.
    """

    def __init__(self, known: Iterable[tuple[int, int]], length: int, highest: int) -> None:
        """Sort the anchors."""
        self._known = sorted(set(known))
        self._last: tuple[int, int] | None = None
        self._scale = length / highest if highest > length else 1.0

    def add(self, stated: int, true: int) -> None:
        """Note where the text was located that was asked for last."""
        self._last = stated, true

    def true_offset(self, stated: int) -> float:
        """Return where a text probably stands: between the anchors around it, or beside one."""
        after = bisect_left(self._known, (stated, -1))
        around = self._known[max(after - 1, 0) : after + 1]
        if self._last is not None:
            around.append(self._last)
        before = max((anchor for anchor in around if anchor[0] <= stated), default=None)
        behind = min((anchor for anchor in around if anchor[0] > stated), default=None)
        if before is None or behind is None:
            anchor = before or behind
            return stated * self._scale if anchor is None else anchor[1] + stated - anchor[0]
        slope = (behind[1] - before[1]) / (behind[0] - before[0])
        return before[1] + slope * (stated - before[0])


def nearest(locations: Sequence[Location], hint: float) -> Location:
    """Return the place that begins nearest to a hint, the first of equal ones."""
    return min(locations, key=lambda location: abs(location.start - hint))
