"""Where a text stands in a document: ``Aligner`` (one document), ``Alignment`` (counts), hints."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

        White space around a text is not looked for if the text is not there as a whole.

        Args:
            text: the text; of nothing but white space it is lost.
        """
        if not text.strip():
            return LOST
        if starts := occurrences(self.text, text):
            return Match("exact", tuple(Location(start, start + len(text)) for start in starts))
        stages: tuple[Stage, ...] = ("white_space", "letters")
        for stage in stages:
            needle, _ = _reduced(text, stage)
            if not needle:
                continue
            whole, index = self._form(stage)
            if starts := occurrences(whole, needle):
                return Match(
                    stage, tuple(self._location(index, at, at + len(needle)) for at in starts)
                )
        return self._find_pieces(_reduced(text, "letters")[0])

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


def occurrences(whole: str, part: str) -> list[int]:
    """Return where ``part`` begins in ``whole``, occurrences that do not overlap.

    >>> occurrences("abcabcab", "abc"), occurrences("aaaa", "aa")
    ([0, 3], [0, 2])
    """
    starts: list[int] = []
    at = whole.find(part)
    while at >= 0 and len(starts) < _MOST_PLACES:
        starts.append(at)
        at = whole.find(part, at + len(part))
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
    """How far stated offsets are from the true ones in a document, from texts with one place.

    Args:
        stated: the offsets that were stated for these texts. [A]
        true: where they stand. [A]
        length: the length of the document.
        highest: the highest end that is stated for any text of the document.
    """

    def __init__(
        self, stated: Sequence[int], true: Sequence[int], length: int, highest: int
    ) -> None:
        """Sort the anchors."""
        pairs = sorted(set(zip(stated, true, strict=True)))
        self._stated = [offset for offset, _ in pairs]
        self._true = [offset for _, offset in pairs]
        self._scale = length / highest if highest > length else 1.0

    def true_offset(self, stated: int) -> float:
        """Return where a text probably stands: between the anchors around it, or beside one."""
        after = bisect_left(self._stated, stated)
        if not self._stated:
            return stated * self._scale
        if after == 0:
            return self._true[0] + stated - self._stated[0]
        if after == len(self._stated):
            return self._true[-1] + stated - self._stated[-1]
        low, high = self._stated[after - 1], self._stated[after]
        begin, end = self._true[after - 1], self._true[after]
        return begin + (end - begin) * (stated - low) / (high - low)


def nearest(locations: Sequence[Location], hint: float) -> Location:
    """Return the place that begins nearest to a hint, the first of equal ones."""
    return min(locations, key=lambda location: abs(location.start - hint))
