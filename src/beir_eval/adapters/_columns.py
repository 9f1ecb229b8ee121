"""Runs as columns of text, and Parquet files, read with polars.

Columns separated by one blank or one tab are read by polars; whatever it stumbles over goes line
by line, which takes any white space and knows which line is at fault.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from beir_eval._dataframes import DOC, QUERY, SCORE
from beir_eval._files import decode, read_number, split_fields
from beir_eval._frame_source import FrameSource
from beir_eval.adapters.recognition import BYTE_ORDER_MARK, MSMARCO_COLUMNS, first_line
from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval._files import FileContent

RANK, LAST = "rank", "last"
_WHITE_SPACE = (" ", "\t", "\v", "\f", "\r")


class Layout(NamedTuple):
    """The columns of a line, and how messages describe them."""

    names: tuple[str, ...]
    described: str
    #: What orders the documents of a query.
    orders: str

    def place(self, name: str) -> int:
        """Return the 0-based place of a column."""
        return self.names.index(name)


TREC = Layout(
    (QUERY, "iteration", DOC, "given_rank", SCORE, LAST),
    "6 (query, Q0, document, rank, score, tag)",
    SCORE,
)
MSMARCO = Layout((QUERY, DOC, RANK), "3 (query, document, rank)", RANK)
MSMARCO_SCORED = Layout(
    (QUERY, DOC, "given_rank", SCORE), "4 (query, document, rank, score)", SCORE
)


def read_run(content: FileContent, kind: str) -> FrameSource:
    """Read a "trec" or "msmarco" run.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
    """
    layout = TREC if kind == "trec" else _msmarco_layout(content)
    separator = _separator(content.head, layout)
    frame = None if separator is None else _read_columns(content, layout, separator)
    if frame is None:
        frame = _read_lines(content, layout)
    if layout is MSMARCO_SCORED:
        _refuse_qrels(content, frame)
    return FrameSource.from_frame(frame if layout.orders == SCORE else _by_rank(content, frame))


def read_parquet(content: FileContent) -> pl.DataFrame:
    """Read a Parquet file.

    Raises:
        FileFormatError: it is none.
    """
    try:
        return pl.read_parquet(io.BytesIO(content.data()))
    except (pl.exceptions.PolarsError, OSError) as error:
        problem = f"not a readable Parquet file ({error})"
        raise FileFormatError(content.path, problem) from error


def _msmarco_layout(content: FileContent) -> Layout:
    number, line = first_line(content.head)
    columns = len(line.split())
    if columns not in MSMARCO_COLUMNS:
        problem = f"{columns} columns, expected 3 or 4 (query, document, rank, and maybe a score)"
        raise FileFormatError(content.path, problem, line=number)
    return MSMARCO if columns == len(MSMARCO.names) else MSMARCO_SCORED


def _separator(head: bytes, layout: Layout) -> str | None:
    """Return the one character between the columns of the first line, None where there is none."""
    if head.startswith(BYTE_ORDER_MARK):
        return None
    _, line = first_line(head)
    for separator in (b" ", b"\t"):
        fields = line.split(separator)
        if len(fields) == len(layout.names) and fields == line.split():
            return separator.decode()
    return None


def _read_columns(content: FileContent, layout: Layout, separator: str) -> pl.DataFrame | None:
    """Return the columns, or None where any line is not exactly as expected."""
    types = {SCORE: pl.Float64, RANK: pl.Int64}
    wanted = list(dict.fromkeys([QUERY, DOC, layout.orders, layout.names[-1]]))
    try:
        frame = (
            pl.scan_csv(
                _for_polars(content),
                separator=separator,
                has_header=False,
                schema={name: types.get(name, pl.String) for name in layout.names},
                quote_char=None,
                comment_prefix="#",
                glob=False,
                truncate_ragged_lines=True,
            )
            .select(wanted)
            .collect()
        )
    except (
        pl.exceptions.ComputeError,  # a number that is none, text that is not UTF-8
        pl.exceptions.SchemaError,  # a first line with another number of columns
        pl.exceptions.NoDataError,
    ):
        return None
    # polars fills up short lines with nulls and cuts off long ones, both without a word: the first
    # show as nulls in the last column, the second by the number of separators.
    if any(frame[name].null_count() for name in wanted):
        return None
    if not _is_plain(content, separator, len(frame) * (len(layout.names) - 1)):
        return None
    if layout.orders == SCORE and not frame[SCORE].is_finite().all():
        return None
    if any((frame[name].str.len_bytes() == 0).any() for name in (QUERY, DOC)):
        return None
    return frame.select(QUERY, DOC, layout.orders)


def _for_polars(content: FileContent) -> str | io.BytesIO:
    """Return the path of a plain file, which polars reads itself, or the unpacked bytes."""
    source = content.unpacked()
    if isinstance(source, bytes):
        return io.BytesIO(source)
    name = str(source)
    is_unicode = name.isprintable() and name.encode(errors="replace").decode() == name
    return name if is_unicode else io.BytesIO(content.data())


def _is_plain(content: FileContent, separator: str, expected: int) -> bool:
    """Return whether the file holds so many separators and no other white space but line ends.

    So both readers agree on where a column ends, and a line that is too long does not pass.
    """
    found = dict.fromkeys(_WHITE_SPACE, 0)
    line_ends = 0
    for chunk in content.chunks():
        byte = np.frombuffer(chunk, dtype=np.uint8)
        for space in _WHITE_SPACE:
            found[space] += int(np.count_nonzero(byte == ord(space)))
        if found["\r"]:
            line_ends += chunk.count(b"\r\n")
    # A line end that falls between two chunks is missed, and the file then read line by line.
    return (
        found.pop("\r") == line_ends
        and found.pop(separator) == expected
        and not any(found.values())
    )


def _read_lines(content: FileContent, layout: Layout) -> pl.DataFrame:
    """Return the columns, read line by line; raise FileFormatError with the line at fault."""
    queries: list[str] = []
    docs: list[str] = []
    values: list[float] = []
    query, doc, value = (layout.place(name) for name in (QUERY, DOC, layout.orders))
    for number, fields in _fields(content):
        if len(fields) != len(layout.names):
            problem = (
                f"{len(fields)} columns, expected {layout.described} separated by blanks or tabs"
            )
            raise FileFormatError(content.path, problem, line=number)
        queries.append(fields[query])
        docs.append(fields[doc])
        if layout.orders == RANK:
            values.append(_rank(content, number, fields[value]))
        else:
            values.append(read_number(content.path, number, "score", fields[value]))
    if not queries:
        problem = f"there is no line in it; expected lines of {layout.described} columns"
        raise FileFormatError(content.path, problem)
    dtype = pl.Int64 if layout.orders == RANK else pl.Float64
    return pl.DataFrame({QUERY: queries, DOC: docs, layout.orders: pl.Series(values, dtype=dtype)})


def _fields(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of every line that is neither blank nor a comment."""
    for number, line in enumerate(decode(content.path, content.data()).split("\n"), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, split_fields(line)


def _rank(content: FileContent, number: int, text: str) -> int:
    if not text.isdecimal():
        problem = (
            f"the rank {text!r} is not a whole number; three columns are query, document and rank. "
            "For query, document and score write a dataframe or a TREC run"
        )
        raise FileFormatError(content.path, problem, line=number)
    return int(text)


def _by_rank(content: FileContent, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by rank, without the rank: their order is the ranking."""
    twice = frame.filter(frame.select(QUERY, RANK).is_duplicated())
    if len(twice):
        query, _, rank = twice.row(0)
        problem = f"two documents stand at rank {rank} of query {query!r}"
        raise FileFormatError(content.path, problem)
    return frame.sort(RANK, maintain_order=True).drop(RANK)


def _refuse_qrels(content: FileContent, frame: pl.DataFrame) -> None:
    """Raise FileFormatError where the second column is TREC's iteration: that is no document."""
    iterations = frame[DOC].unique().to_list()
    if iterations in (["0"], ["Q0"]):
        problem = (
            f"the second of four columns is always {iterations[0]!r}: these look like TREC qrels, "
            "not like a run (query, document, rank, score)"
        )
        raise FileFormatError(content.path, problem)
