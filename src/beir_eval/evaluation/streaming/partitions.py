"""Rows of a run as whole queries: parts of a grouped file, or a partition of one in any order.

A file is grouped if the rows of each query follow each other. As long as it is, its rows are cut
into parts in their order; rows in any order are partitioned by a hash of the query, by polars' own
sink.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from beir_eval.adapters.run_parts import Place
from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.evaluation.streaming.table_files import ROW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

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


_BUCKET = "bucket"
#: Rows of a bucket's file that are written at a time; more of them take more memory.
_ROW_GROUP = 50_000


def partition(
    parts: Iterable[RunPart],
    folder: Path,
    num_buckets: int,
    *,
    keep_order: bool,
    report: Callable[[RunPart], None],
) -> None:
    """Write the rows of a run into folders of Parquet files, all rows of a query into one.

    Args:
        parts: what ``RunFile.parts`` yields.
        folder: the folder of the folders, which is new.
        num_buckets: the number of folders.
        keep_order: whether rows get their place in the file, as the column ``ROW``.
        report: is called for each part that was read.
    """
    schema: dict[str, Any] = {
        _BUCKET: pl.UInt32,
        QUERY: pl.String,
        DOC: pl.String,
        SCORE: pl.Float64,
    }
    if keep_order:
        schema[ROW] = pl.UInt64
    errors: list[BaseException] = []

    def rows(
        with_columns: list[str] | None,
        _predicate: Any,
        _num_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        try:
            num_before = 0
            for part in parts:
                frame = part.frame.with_columns(
                    (pl.col(QUERY).hash(seed=0) % num_buckets).cast(pl.UInt32).alias(_BUCKET)
                )
                if keep_order:
                    frame = numbered(frame, num_before)
                num_before += len(frame)
                report(part)
                yield frame.select(list(schema) if with_columns is None else with_columns)
        except BaseException as error:
            errors.append(error)
            raise

    target: Any
    if hasattr(pl, "PartitionBy"):
        target = pl.PartitionBy(folder, key=_BUCKET, include_key=False)
    else:  # polars before 1.37
        target = pl.PartitionByKey(folder, by=_BUCKET, include_key=False)  # type: ignore[attr-defined]
    try:
        register_io_source(rows, schema=schema).sink_parquet(
            target,
            mkdir=True,
            maintain_order=True,
            compression="lz4",
            statistics=False,
            row_group_size=_ROW_GROUP,
            engine="streaming",
        )
    except Exception:
        # polars replaces errors of a source by its own, with the text only.
        if errors:
            raise errors[0] from None
        raise


def numbered(frame: pl.DataFrame, first: int) -> pl.DataFrame:
    """Return rows with their places in the file as the column ``ROW``, u8[N].

    An index of polars itself has 32 bits.

    Args:
        frame: the rows.
        first: the place of the first of them.
    """
    return frame.with_columns(pl.int_range(first, first + len(frame), dtype=pl.UInt64).alias(ROW))


def buckets(folder: Path) -> list[Path]:
    """Return the folders that ``partition`` wrote, in a fixed order."""
    return sorted(path for path in folder.iterdir() if path.is_dir())


def read_bucket(folder: Path) -> pl.DataFrame:
    """Return the rows of one folder."""
    files = sorted(folder.rglob("*.parquet"))
    return pl.concat([pl.read_parquet(file, hive_partitioning=False, glob=False) for file in files])
