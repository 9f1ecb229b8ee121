"""Runs as columns of text, read with polars.

Columns separated by one blank or one tab are read by polars; whatever it stumbles over goes line
by line, which takes any white space and knows which line is at fault.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from beir_eval.adapters.formats.text_lines import BYTE_ORDER_MARK, first_line
from beir_eval.core.dataframes import DOC, QUERY, SCORE
from beir_eval.core.files import decode, read_number, split_fields
from beir_eval.core.run import Run
from beir_eval.core.run_sources.dataframe import source_from_frame
from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.files import FileContent

RANK, LAST, GIVEN_RANK = "rank", "last", "given_rank"
_LONGEST_RANK = 18
_RANK = rf"^[0-9]{{1,{_LONGEST_RANK}}}$"
#: Bytes looked at together.
_PART = 1 << 19
#: How zlib data begins.
_ZLIB = (b"x\x01", b"x^", b"x\x9c", b"x\xda")


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
    (QUERY, "iteration", DOC, GIVEN_RANK, SCORE, LAST),
    "6 (query, Q0, document, rank, score, tag)",
    SCORE,
)
MSMARCO = Layout((QUERY, DOC, RANK), "3 (query, document, rank)", RANK)
MSMARCO_SCORED = Layout((QUERY, DOC, GIVEN_RANK, SCORE), "4 (query, document, rank, score)", SCORE)


def read_trec(content: FileContent) -> Run:
    """Read "trec": query, Q0, document, rank, score, tag.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
    """
    return _read(content, TREC)


def read_msmarco(content: FileContent) -> Run:
    """Read "msmarco": query, document, rank, and maybe a score.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
    """
    number, line = first_line(content.head)
    columns = len(line.split())
    layouts = {len(layout.names): layout for layout in (MSMARCO, MSMARCO_SCORED)}
    if columns not in layouts:
        problem = f"{columns} columns, expected 3 or 4 (query, document, rank, and maybe a score)"
        raise FileFormatError(content.path, problem, line=number)
    return _read(content, layouts[columns])


def _read(content: FileContent, layout: Layout) -> Run:
    separator = _separator(content.head, layout)
    frame = None if separator is None else _read_columns(content, layout, separator)
    if frame is None:
        frame = _read_lines(content, layout)
    if layout is MSMARCO_SCORED:
        _refuse_qrels(content, frame)
    if layout.orders == RANK:
        frame = _by_rank(content, frame)
    return Run.from_source(source_from_frame(frame))


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
    if content.head.startswith(_ZLIB):  # polars would unpack it, though it is the text of an id
        return None
    wanted = list(dict.fromkeys([QUERY, DOC, layout.orders]))
    if layout is MSMARCO_SCORED:
        wanted.append(GIVEN_RANK)
    # polars fills up short lines with nulls and cuts off long ones, both without a word. Both
    # readers let go of the interpreter: they run side by side.
    with ThreadPoolExecutor(1) as pool:
        lines = pool.submit(_count_plain_lines, content, layout, separator)
        try:
            frame = (
                pl.scan_csv(
                    content.source(),
                    separator=separator,
                    has_header=False,
                    schema={
                        name: pl.Float64 if name == SCORE else pl.String for name in layout.names
                    },
                    quote_char=None,
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
        if lines.result() != len(frame) or any(frame[name].null_count() for name in wanted):
            return None
    return _as_ordered(frame, layout)


def _as_ordered(frame: pl.DataFrame, layout: Layout) -> pl.DataFrame | None:
    """Return query, document and what orders them; None where a number is not as it should be."""
    if any(
        not frame[name].str.contains(_RANK).all() for name in (RANK, GIVEN_RANK) if name in frame
    ):
        return None
    if SCORE in frame and not frame[SCORE].is_finite().all():
        return None
    columns = frame.select(QUERY, DOC, layout.orders)
    return columns if layout.orders == SCORE else columns.with_columns(pl.col(RANK).cast(pl.Int64))


def _count_plain_lines(content: FileContent, layout: Layout, separator: str) -> int | None:
    """Return the number of lines; None unless each is plain.

    Plain is a line with just the separators that it must have, none beside another, with no other
    white space and no control character, and no comment: both readers agree on where its columns
    end, and none of these is empty.
    """
    columns, lines = len(layout.names), 0
    for part in content.parts(_PART):
        plain = _plain_lines(part, columns, ord(separator))
        if plain is None:
            return None
        lines += plain
    return lines


def _plain_lines(part: bytes, columns: int, separator: int) -> int | None:
    """Return the number of lines of a part of a file; None unless each is plain."""
    if b"\r" in part:
        part = part.replace(b"\r\n", b"\n")
    if part[-1:] != b"\n":
        part += b"\n"
    byte = np.frombuffer(part, dtype=np.uint8)
    is_edge = byte <= ord(" ")
    if is_edge[0] or (is_edge[1:] & is_edge[:-1]).any():
        return None
    edges = np.flatnonzero(is_edge)
    ends = edges[columns - 1 :: columns]
    lines = len(ends)
    if (
        len(edges) != lines * columns
        or not (byte[ends] == ord("\n")).all()
        or np.count_nonzero(byte == separator) != lines * (columns - 1)
    ):
        return None
    if b"#" in part and (part[:1] == b"#" or (byte[ends[:-1] + 1] == ord("#")).any()):
        return None
    return lines


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
        if layout is MSMARCO_SCORED:
            _rank(content, number, fields[layout.place(GIVEN_RANK)])
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
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_RANK):
        problem = (
            f"the rank {text!r} is not a whole number; three columns are query, document and rank, "
            "four have a score behind them. For query, document and score write a dataframe or a "
            "TREC run; TREC qrels are read with read_qrels"
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
    lowest = frame.group_by(QUERY, maintain_order=True).agg(pl.col(RANK).min())
    headless = lowest.filter(pl.col(RANK) > 1)
    if len(headless):
        query, rank = headless.row(0)
        problem = (
            f"the ranks of query {query!r} begin at {rank}, not at 0 or 1; three columns are "
            "query, document and rank, not a score"
        )
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
