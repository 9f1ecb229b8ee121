"""Rows of a run in the order of the file, cut into parts of whole queries as long as it is grouped.

A file is grouped if the rows of each query follow each other.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from beir_eval.adapters.run_parts import Place
from beir_eval.core.column_names import QUERY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from beir_eval.adapters.run_parts import RunPart

#: A part of a run is evaluated when it has so many rows, or the number of queries that is set.
PART_ROWS = 1_000_000


class QueryComesBackError(Exception):
    """A query may have rows in two places: the file is not grouped."""


class SeenHashes:
    """Hashes of queries: sorted arrays, merged when they have about the same length.

    8 bytes a query, where a Python set of the ids takes about 100.
    """

    def __init__(self) -> None:
        """Begin without a hash."""
        self._arrays: list[NDArray[np.uint64]] = []

    def add(self, hashes: NDArray[np.uint64]) -> bool:
        """Add hashes; return whether all of them are new and different."""
        new = np.sort(hashes)
        if (new[1:] == new[:-1]).any():
            return False
        for array in self._arrays:
            index = np.minimum(np.searchsorted(array, new), len(array) - 1)
            if (array[index] == new).any():
                return False
        while self._arrays and len(self._arrays[-1]) <= 2 * len(new):
            new = np.concatenate([self._arrays.pop(), new])
            new.sort()
        if len(new):
            self._arrays.append(new)
        return True


class Resumption(NamedTuple):
    """Where the next part begins: a place of the file, and how many rows behind it.

    Attributes:
        start: where a part that was read begins.
        skipped: how many of its rows, and of those that follow, are finished.
    """

    start: Place = Place()
    skipped: int = 0


class QueryPart(NamedTuple):
    """The rows of whole queries.

    Attributes:
        frame: query, document and score, grouped.
        queries: the queries, each once. [S]
        lengths: the number of rows of each, i8[S].
        hashes: a hash of each, u8[S].
        next: where the part after this one begins.
        bytes_read: how much of the file has been read.
    """

    frame: pl.DataFrame
    queries: pl.Series
    lengths: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    next: Resumption
    bytes_read: int


class _Piece(NamedTuple):
    """Rows that wait: where the part that they were read in begins, and which of its rows."""

    start: Place
    first: int
    num_rows: int


class QueryParts:
    """The parts of a grouped run.

    Args:
        parts: what ``RunFile.parts`` yields.
        part_queries: how many queries a part has at most.
        seen: the queries of the parts before.
        begin: where the first part begins.
    """

    def __init__(
        self,
        parts: Iterable[RunPart],
        part_queries: int,
        seen: SeenHashes,
        begin: Resumption,
    ) -> None:
        """Keep the arguments."""
        self._parts, self._part_queries, self._seen = parts, part_queries, seen
        self._to_skip = begin.skipped
        self._frames: list[pl.DataFrame] = []
        self._pieces: deque[_Piece] = deque()
        self._rows = self._stretches = 0

    def __iter__(self) -> Iterator[QueryPart]:
        """Yield the parts.

        Raises:
            QueryComesBackError: a query has rows in two places, or its hash is that of another one.
        """
        last = None
        for part in self._parts:
            self._add(part)
            last = part
            # The last query may go on in the next part.
            if self._rows >= PART_ROWS or self._stretches > self._part_queries:
                yield from self._finished(part, is_last=False)
        if last is not None and self._rows:
            yield from self._finished(last, is_last=True)

    def _add(self, part: RunPart) -> None:
        """Add rows to those that wait, without the ones that are finished."""
        skipped = min(self._to_skip, len(part.frame))
        self._to_skip -= skipped
        frame = part.frame[skipped:]
        if len(frame):
            self._frames.append(frame)
            self._pieces.append(_Piece(part.start, skipped, len(frame)))
            self._rows += len(frame)
            self._stretches += frame[QUERY].rle().len()

    def _finished(self, part: RunPart, *, is_last: bool) -> Iterator[QueryPart]:
        """Yield parts of the queries of which all rows are known, as many as are full."""
        frame = pl.concat(self._frames)
        stretches = frame[QUERY].rle().struct
        queries = stretches.field("value")
        lengths = stretches.field("len").to_numpy().astype(np.int64)
        ends = np.cumsum(lengths)
        num_known = len(queries) if is_last else len(queries) - 1
        begin = first_row = 0
        while begin < num_known:
            by_rows = int(np.searchsorted(ends, first_row + PART_ROWS)) + 1
            end = max(begin + 1, min(begin + self._part_queries, by_rows))
            if end > num_known and not is_last:
                break
            end = min(end, num_known)
            end_row = int(ends[end - 1])
            self._consume(end_row - first_row)
            yield self._part(
                frame[first_row:end_row], queries[begin:end], lengths[begin:end], part.bytes_read
            )
            begin, first_row = end, end_row
        rest = frame[first_row:]
        self._frames = [rest] if len(rest) else []
        self._rows, self._stretches = len(rest), len(queries) - begin

    def _consume(self, rows: int) -> None:
        """Take rows from the front of those that wait."""
        while rows:
            piece = self._pieces.popleft()
            taken = min(rows, piece.num_rows)
            rows -= taken
            # The last piece stays when it is empty: the next part begins behind it.
            if taken < piece.num_rows or not self._pieces:
                rest = _Piece(piece.start, piece.first + taken, piece.num_rows - taken)
                self._pieces.appendleft(rest)

    def _part(
        self,
        frame: pl.DataFrame,
        queries: pl.Series,
        lengths: NDArray[np.int64],
        bytes_read: int,
    ) -> QueryPart:
        hashes = queries.hash(seed=0).to_numpy()
        if not self._seen.add(hashes):
            raise QueryComesBackError
        piece = self._pieces[0]
        following = Resumption(piece.start, piece.first)
        return QueryPart(frame, queries, lengths, hashes, following, bytes_read)
