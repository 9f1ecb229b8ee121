"""Where gold text stands in a ranking of chunks: ``project``."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.spans.gold import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Ints, Mask
    from beir_eval.spans.gold import GoldText
    from beir_eval.spans.texts import DocumentTexts


class LocatedChunk(NamedTuple):
    """A chunk of a ranking in the text of its document.

    Attributes:
        doc_id: the document.
        start: its first character; -1 if it was not found.
        end: the character after its last one.
        cost: the number of characters of the chunk's own text.
    """

    doc_id: str
    start: int
    end: int
    cost: int


class Projection(NamedTuple):
    """Where the N gold characters of a query stand in its ranking.

    Attributes:
        length: the number of characters of the ranking's text.
        position: where each gold character first stands, from 0; -1 if nowhere, i8[N].
        chunk: the chunk that it first stands in, from 0; -1 if none, i8[N].
        first_of_document: {document: (position, chunk)} of its first chunk.
        places: {chunk: the characters of its document that are gold and new, ascending}.
    """

    length: int
    position: Ints
    chunk: Ints
    first_of_document: dict[str, tuple[int, int]]
    offsets: dict[int, Ints]


def project(
    gold: GoldText,
    chunks: Sequence[LocatedChunk],
    texts: DocumentTexts | None,
    *,
    drops_repeated: bool,
) -> Projection:
    """Return where the gold text stands in the text of ranked chunks, read one after the other.

    Text of a chunk that is not the document's, such as a title put in front, comes first. If a
    chunk covers more of its document than its own length, since a cleaner removed characters,
    places inside it are scaled. No two gold characters stand at the same position: what would goes
    to the next one.

    Args:
        gold: the gold text of the query.
        chunks: the ranking, best first.
        texts: the texts of the documents, in which copies of gold text are found; None: no copies.
        drops_repeated: whether text that stood in the ranking before is left out of it.
    """
    position = np.full(len(gold), -1, dtype=np.int64)
    chunk_of = np.full(len(gold), -1, dtype=np.int64)
    first_of_document: dict[str, tuple[int, int]] = {}
    new_offsets: dict[int, Ints] = {}
    gold_in: dict[str, Sequence[Interval]] = {}
    shown: dict[str, list[tuple[int, int]]] = defaultdict(list)
    length, last = 0, -1
    for index, chunk in enumerate(chunks):
        doc_id, start, end, cost = chunk
        if doc_id not in first_of_document:
            first_of_document[doc_id] = length, index
            gold_in[doc_id] = _gold_in(gold, doc_id, texts)
        intervals = [
            interval for interval in gold_in[doc_id] if interval[0] < end and start < interval[1]
        ]
        if start < 0 or not (intervals or drops_repeated):
            length += cost
            continue
        length += max(0, cost - (end - start))
        scale = min(1.0, cost / max(end - start, 1))
        ranges = [(start, end)]
        if drops_repeated:
            ranges = _without(ranges, shown[doc_id])
            shown[doc_id].append((start, end))
        for begin, stop in ranges:
            hits = [
                (np.arange(max(at, begin), min(to, stop)), numbers[max(at, begin) - at : stop - at])
                for at, to, numbers in intervals
                if at < stop and begin < to
            ]
            if hits:
                offsets = np.concatenate([offset for offset, _ in hits])
                numbers = np.concatenate([number for _, number in hits])
                numbers, offsets = _new_only(numbers, offsets, position)
                if len(numbers):
                    at = length + ((offsets - begin) * scale).astype(np.int64)
                    position[numbers] = distinct(at, last + 1)
                    chunk_of[numbers] = index
                    new_offsets[index] = np.concatenate(
                        [new_offsets.get(index, offsets[:0]), offsets]
                    )
                    last = int(position[numbers[-1]])
            length += round((stop - begin) * scale)
        length = max(length, last + 1)
    return Projection(length, position, chunk_of, first_of_document, new_offsets)


def distinct(positions: Ints, least: int) -> Ints:
    """Return ascending positions of which no two are equal: what would be goes to the next one.

    Args:
        positions: ascending, i8[N].
        least: the lowest position that is free.

    >>> distinct(np.array([3, 3, 4, 9]), 0).tolist()
    [3, 4, 5, 9]
    """
    steps = np.arange(len(positions))
    result: Ints = np.maximum.accumulate(np.maximum(positions - steps, least)) + steps
    return result


def completed_at(position: Ints, counts: Mask | None, overlap: float) -> int | None:
    """Return where a share of a text has been read; None if the ranking does not hold so much.

    Args:
        position: where each character stands, -1 if nowhere, i8[N].
        counts: which characters count, bool[N]; None: all of them.
        overlap: the share, 0 to 1; of 0, one character is enough.
    """
    counted = position if counts is None or not counts.any() else position[counts]
    needed = max(1, math.ceil(overlap * len(counted) - 1e-9))
    read = counted[counted >= 0]
    return int(np.partition(read, needed - 1)[needed - 1]) if len(read) >= needed else None


def _gold_in(gold: GoldText, doc_id: str, texts: DocumentTexts | None) -> Sequence[Interval]:
    """Return the gold of a document, copies of gold text included."""
    own = gold.in_document(doc_id)
    if texts is None or not gold.copied_texts:
        return own
    intervals = list(own)
    for text, numbers in gold.copied_texts:
        for start in texts.occurrences(doc_id, text):
            is_own = any(
                at <= start and start + len(numbers) <= to and there[start - at] == numbers[0]
                for at, to, there in own
            )
            if not is_own:
                intervals.append(Interval(start, start + len(numbers), numbers))
    return intervals


def _new_only(numbers: Ints, offsets: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return the gold characters that have no position yet, each at its first place, ascending."""
    is_new = position[numbers] < 0
    numbers, offsets = numbers[is_new], offsets[is_new]
    order = np.argsort(offsets, kind="stable")
    numbers, offsets = numbers[order], offsets[order]
    _, first = np.unique(numbers, return_index=True)
    first.sort()
    return numbers[first], offsets[first]


def _without(
    ranges: list[tuple[int, int]], shown: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return what is left of ranges of characters without those that were shown."""
    for begin, end in shown:
        ranges = [
            (low, high)
            for start, stop in ranges
            for low, high in ((start, min(stop, begin)), (max(start, end), stop))
            if low < high
        ]
    return ranges
