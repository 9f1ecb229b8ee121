"""Where a text stands in a document: ``Aligner`` (one document), ``Alignment`` (counts), hints."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from beir_eval.core.arrays import Ints, Mask

#: How a text was found, strictest first.
Stage: TypeAlias = Literal["stated", "exact", "white_space", "letters", "fuzzy", "lost"]
#: Copies of a text in a document that are looked for; places of a text that are returned, around a
#: hint or the first ones; places of its pieces that are looked at.
_MOST_COPIES, _MOST_PLACES, _MOST_HITS = 1000, 4, 512
#: Letters of a piece that is looked for if the whole text is not there; how many letters pieces may
#: stand apart from where they would; the share of pieces that must be there.
_PIECE, _APART, _LEAST_SHARE = 12, 48, 0.5
#: Which of the ASCII characters a stage leaves, bool[128].
_KEPT: Mapping[str, Mask] = {
    "white_space": np.array([not chr(code).isspace() for code in range(128)]),
    "letters": np.array([chr(code).isalnum() for code in range(128)]),
}
#: An odd factor, whose powers make a number of the characters of a piece.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Location(NamedTuple):
    """Where a text stands in a document: characters ``start`` to ``end`` - 1, from 0."""

    start: int
    end: int


class Match(NamedTuple):
    """Places of a text in a document, and how they were found; none if it is lost. [P].

    Of many places they are the first ones, or those around the hint.
    """

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


class _Form:
    """What a stage leaves of a text: N characters.

    Its pieces of 12 characters are numbers in ascending order, so that one is found in log N steps:
    to search the text, for each of its many chunks, would take N times their number.

    Args:
        text: the characters left.
        index: the place of each of them in the text, i8[N].
    """

    def __init__(self, text: str, index: Ints) -> None:
        self.text, self.index = text, index

    @cached_property
    def _pieces(self) -> tuple[npt.NDArray[np.uint64], Ints]:
        """The number of each piece, ascending, and where it begins, ascending for equal ones."""
        numbers = _piece_numbers(self.text)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order

    def begins_of(self, part: str, offsets: Sequence[int]) -> list[Ints]:
        """Return where each of some pieces of a text begins, ascending.

        Args:
            part: the text.
            offsets: where the pieces begin in it.
        """
        numbers, begins = self._pieces
        wanted = _piece_numbers(part)[offsets]
        bounds = [np.searchsorted(numbers, wanted, side).tolist() for side in ("left", "right")]
        return [begins[first:end] for first, end in zip(*bounds, strict=True)]

    def near(self, hint: float | None) -> int:
        """Return which character is at a place of the whole text; -1 for no place."""
        return -1 if hint is None else int(np.searchsorted(self.index, hint))

    def occurrences(self, part: str, near: int) -> list[int]:
        """Return where a text begins: the last place up to ``near``, and the next ones.

        Args:
            part: the text.
            near: where it probably begins; -1 if that is not known.
        """
        offsets = [*_offsets(part), len(part) - _PIECE] if len(part) >= _PIECE else []
        rarest, offset = min(
            zip(self.begins_of(part, offsets), offsets, strict=True),
            key=lambda piece: len(piece[0]),
            default=(None, 0),
        )
        if rarest is None or len(rarest) > _MOST_HITS:
            before = self.text.rfind(part, 0, near + len(part)) if near >= 0 else -1
            return occurrences(self.text, part, start=max(before, 0), most=_MOST_PLACES)
        starts = (rarest - offset).tolist()
        after = bisect_right(starts, near)
        before_it = (at for at in reversed(starts[:after]) if self._has(part, at))
        behind_it = (at for at in starts[after:] if self._has(part, at))
        return [*islice(before_it, 1), *islice(behind_it, _MOST_PLACES)]

    def _has(self, part: str, at: int) -> bool:
        return at >= 0 and self.text.startswith(part, at)

    def pieces_around(self, part: str, diagonal: int) -> list[tuple[int, int]]:
        """Return the most pieces of a text that stand together if it begins at about ``diagonal``.

        Args:
            part: the text.
            diagonal: where it begins, give or take 48 characters.

        Returns:
            (where the piece stands, where it stands in the text), in ascending order.
        """
        hits: list[tuple[int, int]] = []
        for offset in _offsets(part):
            here = diagonal + offset
            first, end = max(0, here - _APART), max(0, here + _APART + _PIECE)
            at = self.text.find(part[offset : offset + _PIECE], first, end)
            if at >= 0:
                hits.append((at - offset, offset))
        ends = sorted(at for at, _ in hits)
        last = max(ends, key=lambda end: bisect_right(ends, end) - bisect_left(ends, end - _APART))
        return sorted((at + offset, offset) for at, offset in hits if last - _APART <= at <= last)


def _offsets(text: str) -> range:
    """Return where the pieces begin that a text consists of."""
    return range(0, len(text) - _PIECE + 1, _PIECE)


def _piece_numbers(text: str) -> npt.NDArray[np.uint64]:
    """Return a number for each piece of 12 characters, the same for equal ones, u8[N - 11]."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    numbers = np.zeros(max(0, len(codes) - _PIECE + 1), np.uint64)
    for offset in range(_PIECE):
        numbers = numbers * _FACTOR + codes[offset : offset + len(numbers)]
    return numbers


class Aligner:
    """The text of one document, in which other texts are found.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        """Keep the text; what is derived from it is computed when needed."""
        self.text = text
        self._forms: dict[Stage, _Form] = {}

    def states(self, text: str, start: int) -> bool:
        """Return whether ``text`` stands at this offset."""
        return start >= 0 and self.text.startswith(text, start)

    def find(self, text: str, hint: float | None = None) -> Match:
        """Return places of a text by the first stage that finds one.

        The exact places are followed by those at which white space differs: where a cleaner changed
        the text, a copy elsewhere may be the exact one.

        Args:
            text: the text; of nothing but white space it is lost.
            hint: where it probably begins; None for the first of many places.
        """
        needle = "".join(text.split())
        if not needle:
            return LOST
        form, lead = self._form("white_space"), len(text) - len(text.lstrip())
        exact: list[Location] = []
        others: list[Location] = []
        for at in form.occurrences(needle, form.near(None if hint is None else hint + lead)):
            first = int(form.index[at])
            if self.states(text, first - lead):
                exact.append(Location(first - lead, first - lead + len(text)))
            else:
                others.append(Location(first, int(form.index[at + len(needle) - 1]) + 1))
        # Of a text that stands at many places, as a row of dots does, only a few were looked at.
        if not exact and len(others) >= _MOST_PLACES and (at := self.text.find(text)) >= 0:
            exact.append(Location(at, at + len(text)))
        if exact or others:
            return Match("exact" if exact else "white_space", (*exact, *others))
        letters, form = letters_of(text), self._form("letters")
        if letters and (starts := form.occurrences(letters, form.near(hint))):
            return Match("letters", tuple(self._location(at, at + len(letters)) for at in starts))
        return self._find_pieces(letters, form.near(hint))

    def _location(self, first: int, end: int) -> Location:
        """Return the location of some letters of the text, with a full stop or the like."""
        index = self._form("letters").index
        stop = int(index[end - 1]) + 1
        while stop < len(self.text) and unicodedata.category(self.text[stop])[0] == "P":
            stop += 1
        return Location(int(index[first]), stop)

    def _form(self, stage: Stage) -> _Form:
        """Return what a stage leaves of the text."""
        if stage not in self._forms:
            self._forms[stage] = _Form(*_reduced(self.text, stage))
        return self._forms[stage]

    def _find_pieces(self, letters: str, near: int) -> Match:
        """Return the places at which most pieces of a text stand, about as far apart as in it.

        Its rarest pieces say where to look. What stands before the first piece and after the last
        one is a part as far as it is equal.

        Args:
            letters: the letters of the text.
            near: which letter of the document it probably begins at; -1 if that is not known.
        """
        form = self._form("letters")
        offsets = _offsets(letters)
        by_offset = zip(offsets, form.begins_of(letters, offsets), strict=True)
        hits: list[tuple[int, int]] = []
        for offset, begins in sorted(by_offset, key=lambda item: len(item[1])):
            left, here = _MOST_HITS - len(hits), int(np.searchsorted(begins, near + offset))
            first = max(0, min(here - left // 2, len(begins) - left))
            hits += [(at - offset, offset) for at in begins[first : first + left].tolist()]
        densest = _densest(sorted(hits), near, len(letters) // 2)
        runs = [form.pieces_around(letters, diagonal) for diagonal in densest]
        most = max(map(len, runs), default=0)
        if not most or most < _LEAST_SHARE * len(offsets):
            return LOST
        locations: list[Location] = []
        for pieces in runs:
            (start, begin), (stop, end) = pieces[0], pieces[-1]
            if len(pieces) == most:
                backwards = form.text[max(start - begin, 0) : start][::-1]
                start -= _num_equal(backwards, letters[:begin][::-1])
                stop += _num_equal(form.text[stop : stop + len(letters)], letters[end:])
                locations.append(self._location(start, stop))
        return Match("fuzzy", tuple(locations))


def _densest(hits: Sequence[tuple[int, int]], near: int, apart: int) -> list[int]:
    """Return up to four diagonals at the ends of 48 letters with most pieces, the nearest first.

    Args:
        hits: (diagonal, piece), ascending: where a text would begin by where one of its pieces is.
        near: the diagonal that they are near to.
        apart: they are further apart than this.
    """
    counts: list[int] = []
    count_of: dict[int, int] = {}
    first = 0
    for diagonal, piece in hits:
        count_of[piece] = count_of.get(piece, 0) + 1
        while hits[first][0] < diagonal - _APART:
            count_of[hits[first][1]] -= 1
            if not count_of[hits[first][1]]:
                del count_of[hits[first][1]]
            first += 1
        counts.append(len(count_of))
    chosen: list[int] = []
    windows = (
        (-count, abs(hit[0] - near), hit[0]) for count, hit in zip(counts, hits, strict=True)
    )
    for _, _, diagonal in sorted(windows):
        if all(abs(diagonal - other) > apart for other in chosen):
            chosen.append(diagonal)
        if len(chosen) == _MOST_PLACES:
            break
    return chosen


def occurrences(
    whole: str, part: str, *, overlapping: bool = True, start: int = 0, most: int = _MOST_COPIES
) -> list[int]:
    """Return where ``part`` begins in ``whole``, from ``start``; of what repeats, the first ones.

    >>> occurrences("aaaa", "aa"), occurrences("aaaa", "aa", overlapping=False)
    ([0, 1, 2], [0, 2])
    """
    step = 1 if overlapping else len(part)
    starts: list[int] = []
    at = whole.find(part, start)
    while at >= 0 and len(starts) < most:
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
    if text.isascii():
        codes = np.frombuffer(text.encode(), np.uint8)
        index = np.flatnonzero(_KEPT[stage][codes])
        left = codes[index].tobytes().decode()
        return left.lower() if stage == "letters" else left, index
    kept = list(_letters(text) if stage == "letters" else _without_white_space(text))
    return "".join(letter for _, letter in kept), np.array([at for at, _ in kept], np.int64)


def _without_white_space(text: str) -> Iterator[tuple[int, str]]:
    return ((at, letter) for at, letter in enumerate(text) if not letter.isspace())


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
