"""``GoldText``: the gold characters of one query, and where they stand."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.spans.alignment import letters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask

#: The fewest letters of a text whose copies are the same evidence; shorter ones, such as a year,
#: stand everywhere.
_LEAST_LETTERS = 20


class GoldSpan(NamedTuple):
    """A span in the text of its document.

    Attributes:
        doc_id: the document.
        start: its first character; -1 if the whole document is the span.
        end: the character after its last one.
        grade: its grade.
        text: its text; None if it is not known.
        name: the id of the span, with the offsets that were stated.
    """

    doc_id: str
    start: int
    end: int
    grade: float
    text: str | None
    name: str


class Interval(NamedTuple):
    """Characters of a document that are gold.

    Attributes:
        start: the first of them.
        end: the character after the last one.
        gold: which gold character each of them is, i8[end - start].
    """

    start: int
    end: int
    gold: Ints


class GoldText:
    """The gold characters of one query: N different ones, numbered from 0.

    Spans of the same document that overlap share their characters, and with ``copies`` so do spans
    with the same text: it is the same evidence.

    Args:
        spans: the spans of the query.
        copies: whether copies of a text of at least 20 letters are the same evidence.

    Attributes:
        grades: the highest grade of the spans that contain each character, f8[N].
        names: (document, first character, number of characters) of runs of gold characters, in
            their order.
        spans: each different span, with the highest grade that it has, and its gold characters.
        whole: the spans that are whole documents, each document once.
        copied_texts: the texts whose copies are the same evidence, with their gold characters.
    """

    def __init__(self, spans: Sequence[GoldSpan], *, copies: bool) -> None:
        """Number the gold characters."""
        whole = sorted((span for span in spans if span.start < 0), key=lambda span: span.grade)
        self.whole = list({span.doc_id: span for span in whole}.values())
        located = sorted((span for span in spans if span.start >= 0), key=_by_place)
        self._intervals: dict[str, list[Interval]] = defaultdict(list)
        numbers = self._number(located)
        count = sum(interval.end - interval.start for interval in self.intervals())
        same = np.arange(count)
        if copies:
            _merge_copies(located, numbers, same)
        kept, renumbered = np.unique(same, return_inverse=True)
        self.grades: Floats = np.full(len(kept), -math.inf)
        different: dict[tuple[int, int, int], tuple[GoldSpan, Ints]] = {}
        for span, own in zip(located, numbers, strict=True):
            gold = renumbered[own]
            np.maximum.at(self.grades, gold, span.grade)
            key = (int(gold[0]), int(gold[-1]), len(gold))
            first, _ = different.get(key, (span, gold))
            different[key] = first._replace(grade=max(first.grade, span.grade)), gold
        self.spans = list(different.values())
        self.names: list[tuple[str, int, int]] = []
        begin = 0
        for doc_id, intervals in self._intervals.items():
            for index, interval in enumerate(intervals):
                is_own = same[begin : begin + len(interval.gold)] == interval.gold
                self.names += _runs(doc_id, interval.start, is_own)
                begin += len(interval.gold)
                intervals[index] = interval._replace(gold=renumbered[interval.gold])
        self.copied_texts: list[tuple[str, Ints]] = []
        if copies:
            texts: dict[str, Ints] = {}
            for span, gold in self.spans:
                if span.text is not None and len(span.text) == len(gold) and _is_long(span.text):
                    texts.setdefault(span.text, gold)
            self.copied_texts = list(texts.items())

    def __len__(self) -> int:
        """Return N, the number of different gold characters."""
        return len(self.grades)

    def intervals(self) -> Iterable[Interval]:
        """Yield the intervals of all documents, in the order of the gold characters."""
        return (interval for intervals in self._intervals.values() for interval in intervals)

    def in_document(self, doc_id: str) -> Sequence[Interval]:
        """Return the gold of a document, without copies from elsewhere."""
        return self._intervals.get(doc_id, ())

    def _number(self, located: Sequence[GoldSpan]) -> list[Ints]:
        """Fill the intervals; return the numbers of the characters of each span, before merging."""
        numbers: list[Ints] = []
        count = 0
        for span in located:
            intervals = self._intervals[span.doc_id]
            last = intervals[-1] if intervals else None
            if last is None or span.start >= last.end:
                last = Interval(
                    span.start, span.end, np.arange(count, count + span.end - span.start)
                )
                intervals.append(last)
            elif span.end > last.end:
                first = int(last.gold[0])
                last = Interval(
                    last.start, span.end, np.arange(first, first + span.end - last.start)
                )
                intervals[-1] = last
            count = int(last.gold[-1]) + 1
            numbers.append(last.gold[span.start - last.start : span.end - last.start])
        return numbers


def _by_place(span: GoldSpan) -> tuple[str, int, int]:
    return span.doc_id, span.start, span.end


def _is_long(text: str) -> bool:
    return len(letters_of(text)) >= _LEAST_LETTERS


def _merge_copies(located: Sequence[GoldSpan], numbers: Sequence[Ints], same: Ints) -> None:
    """Give characters the lowest number of those that are copies of each other.

    Args:
        located: the spans. [S]
        numbers: the numbers of their characters. [S]
        same: the number that each character shares with its copies, at first its own; changed.
    """
    first_of: dict[str, Ints] = {}
    copies: list[tuple[Ints, Ints]] = []
    for span, own in zip(located, numbers, strict=True):
        if span.text is not None and len(span.text) == len(own) and _is_long(span.text):
            first = first_of.setdefault(span.text, own)  # equal texts meet in the first of them
            if first[0] != own[0]:
                copies.append((own, first))
    different = sorted(first_of.items(), key=lambda item: -len(item[0]))
    copies += [
        (own, theirs[at : at + len(own)])
        for index, (text, own) in enumerate(different)
        for longer, theirs in different[:index]
        if (at := longer.find(text)) >= 0 and theirs[at] != own[0]
    ]
    is_changed = bool(copies)
    while is_changed:
        is_changed = False
        for first, second in copies:
            lowest = np.minimum(same[first], same[second])
            is_changed |= bool((same[first] != lowest).any() or (same[second] != lowest).any())
            same[first] = same[second] = lowest
        same[:] = same[same]


def _runs(doc_id: str, start: int, is_own: Mask) -> list[tuple[str, int, int]]:
    """Return (document, first character, count) of the runs of characters that are no copies."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_own, [False]]).astype(np.int8)))
    bounds = edges.reshape(-1, 2).tolist()
    return [(doc_id, start + begin, end - begin) for begin, end in bounds]
