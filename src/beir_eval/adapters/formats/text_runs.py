"""Readers of runs in columns of text, TREC and MS MARCO, with polars.

polars reads files whose columns are separated by exactly one blank or one tab. All other files are
read line by line: this is slower, but allows any number of blanks and tabs, and an error names the
line. Without polars, an extra, every file is read so.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.adapters.formats.text_lines import (
    BYTE_ORDER_MARK,
    CUT_OFF,
    check_no_zero_byte,
    first_line_of,
    has_rank_and_score,
    is_cut_line,
    read_later_lines,
    tag_of_words,
)
from beir_eval.core.column_names import DOC, NO_COLUMNS, QUERY, SCORE, TAG, RowFilter
from beir_eval.core.files import decode, read_number, split_fields
from beir_eval.core.run import Run
from beir_eval.errors import FileFormatError, shown, warn_caller

try:
    import polars as pl

    from beir_eval.core.run_sources.dataframe import source_from_frames
except ImportError:  # the base install: ``_read`` needs none of the functions that use it
    pl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.files import FileContent
    from beir_eval.core.line_parts import LinePart

RANK, GIVEN_RANK = "rank", "given_rank"
#: In a run with more different tags than this, the last column is no tag.
_MOST_TAGS = 50
_MOST_RANK_DIGITS = 18
_RANK_PATTERN = rf"^[0-9]{{1,{_MOST_RANK_DIGITS}}}$"
#: Bytes that a worker reads at a time, and how many of them it checks at a time.
_PART_SIZE, _CHECKED_SIZE = 1 << 22, 1 << 19
#: polars reads each part with several threads too.
_MOST_WORKERS = 4
#: The first bytes of zlib data.
_ZLIB_HEADERS = (b"x\x01", b"x^", b"x\x9c", b"x\xda")


#: Whole numbers in this range may be grades.
_LOWEST_GRADE, _HIGHEST_GRADE = -2, 4


class NotPlainError(Exception):
    """Lines that polars may not read as we do: they are read one by one."""


class _NotRanksError(FileFormatError):
    """The third of three columns does not hold ranks; it may hold scores."""


class _NotScoresError(FileFormatError):
    """The third of three columns does not hold scores either."""


class Layout(NamedTuple):
    """The columns of a line.

    Attributes:
        names: the names of the columns, in their order.
        description: the columns as an error message describes them.
        ranked_by: the column that ranks the documents of a query, ``SCORE`` or ``RANK``.
    """

    names: tuple[str, ...]
    description: str
    ranked_by: str

    def index_of(self, name: str) -> int:
        """Return the 0-based index of a column."""
        return self.names.index(name)


TREC = Layout(
    (QUERY, "iteration", DOC, GIVEN_RANK, SCORE, TAG),
    "6 (query, Q0, document, rank, score, tag)",
    SCORE,
)


class LineForm(NamedTuple):
    """How the columns of plain lines are separated, as the first line of a file shows.

    Attributes:
        separator: the single character between the columns.
        ending: the last separator and the tag of a TREC run, with which all plain lines end; empty
            if they may end with anything.
    """

    separator: str
    ending: bytes = b""

    @classmethod
    def from_content(cls, content: FileContent, layout: Layout) -> LineForm | None:
        """Return the form of a file; None if its first line is not plain.

        Args:
            content: the file, or its first lines.
            layout: its columns.
        """
        _, line = first_line_of(content)
        for separator in (b" ", b"\t"):
            fields = line.split(separator)
            if len(fields) == len(layout.names) and fields == line.split():
                ending = separator + fields[-1] if layout is TREC else b""
                return cls(separator.decode(), ending)
        return None


MSMARCO = Layout((QUERY, DOC, RANK), "3 (query, document, rank)", RANK)
THREE_SCORED = Layout((QUERY, DOC, SCORE), "3 (query, document, score)", SCORE)
MSMARCO_SCORED = Layout((QUERY, DOC, GIVEN_RANK, SCORE), "4 (query, document, rank, score)", SCORE)


def read_trec(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Run:
    """Return the run of a file of format "trec": query, Q0, document, rank, score, tag.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
        InputError: no line has the stated tag, or the lines are those of several systems.
    """
    number, line = first_line_of(content)
    if line.split()[2:3] == [b"Q0"] != line.split()[1:2]:
        problem = f"the third column is Q0: the columns are permuted, expected {TREC.description}"
        raise FileFormatError(content.path, problem, line=number)
    rows = columns.rows_of([TAG])
    return _read_by_lines(content, TREC, rows) if rows.where else _read(content, TREC)


def read_msmarco(content: FileContent) -> Run:
    """Return the run of a file of format "msmarco": query, document, rank, and optionally a score.

    The third of three columns may also be a score.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
    """
    number, line = first_line_of(content)
    columns = len(line.split())
    if columns == len(MSMARCO_SCORED.names):
        return _read(content, MSMARCO_SCORED)
    if columns != len(MSMARCO.names):
        problem = f"{columns} columns, expected 3 or 4 (query, document, rank, and maybe a score)"
        raise FileFormatError(content.path, problem, line=number)
    try:
        return _read(content, MSMARCO)
    except _NotRanksError as error:
        not_ranks = error
    try:
        return _read(content, THREE_SCORED)
    except FileFormatError as error:
        if not isinstance(error, _NotScoresError) and error.line != not_ranks.line:
            raise
        problem = (
            f"the third of three columns holds neither ranks ({not_ranks.problem}) nor scores "
            f"({error.problem}). The ranks of a query are different whole numbers from 0 or 1 on; "
            "its scores have fractions, or never increase. Write a TREC run, or CSV with the "
            "header query_id,doc_id,score; qrels are read with read_qrels"
        )
        raise FileFormatError(content.path, problem, line=not_ranks.line) from error


def rows_with_ranks(content: FileContent) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of every line of a valid run; nothing if its lines lack one.

    The rank is text: in TREC runs it is ignored, so that it may be anything.
    """
    _, line = first_line_of(content)
    layouts = {len(layout.names): layout for layout in (TREC, MSMARCO_SCORED)}
    layout = layouts.get(len(line.split()), TREC if _tag_of(content) else None)
    if layout is None:
        return
    query, rank, score = map(layout.index_of, (QUERY, GIVEN_RANK, SCORE))
    for _, fields in _split_lines(content):
        yield fields[query], fields[rank], float(fields[score])


def _read(content: FileContent, layout: Layout) -> Run:
    if pl is None:
        return _read_by_lines(content, layout)
    try:
        frames = _read_columns(content, layout)
        if layout is TREC:
            return Run.from_source(source_from_frames(frames))
        frame = pl.concat(frames)
    except NotPlainError:
        frame = _read_lines(content, layout, _tag_of(content) if layout is TREC else ())
        if frame.is_empty():
            raise _no_line_error(content, layout) from None
    if layout is MSMARCO_SCORED:
        _refuse_qrels(content, frame)
    if layout.ranked_by == RANK:
        frame = _sort_by_rank(content, frame)
    if layout is THREE_SCORED:
        _check_scores(content, *(frame[name].to_list() for name in (QUERY, DOC, SCORE)))
    return Run.from_source(source_from_frames([frame]))


def trec_frames(
    path: Path, parts: Iterable[LinePart], head: FileContent
) -> Iterator[tuple[LinePart, pl.DataFrame]]:
    """Yield each part of a TREC run with its columns: query, document, score.

    The parts are read by several threads. One with a line that polars may read otherwise is read
    line by line, as ``read_trec`` reads the whole file then; so are all without a separator.

    Args:
        path: the file, for messages.
        parts: its lines.
        head: the first lines of the file.

    Raises:
        FileFormatError: as ``read_trec``; the error names the line.
        InputError: the lines of a part are those of several systems.
    """
    form, tag = LineForm.from_content(head, TREC), _tag_of(head)

    def read(part: LinePart) -> pl.DataFrame:
        try:
            if form is not None:
                return _read_plain_part(part.data, TREC, form)
        except NotPlainError:
            pass
        return read_later_lines(path, part, lambda content: _read_lines(content, TREC, tag))

    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    with ThreadPoolExecutor(workers) as pool:
        pending: deque[tuple[LinePart, Future[pl.DataFrame]]] = deque()
        try:
            for part in parts:
                pending.append((part, pool.submit(read, part)))
                if len(pending) > workers:
                    first, frame = pending.popleft()
                    yield first, frame.result()
            while pending:
                first, frame = pending.popleft()
                yield first, frame.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _tag_of(content: FileContent) -> tuple[str, ...]:
    """Return the words of the tag in the first line of a TREC run if it has several, else none."""
    _, line = first_line_of(content)
    return tag_of_words(split_fields(line.decode(errors="replace")))


def _read_columns(content: FileContent, layout: Layout) -> Iterator[pl.DataFrame]:
    """Yield the columns as polars reads them, part after part.

    In parts the text of a run is never whole in memory, only its columns: 340 MB for a file of
    240 MB, where polars takes 570 MB for the same columns of the whole file.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    form = LineForm.from_content(content, layout)
    if form is None:
        raise NotPlainError
    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    with ThreadPoolExecutor(workers) as pool:
        pending: deque[Future[pl.DataFrame]] = deque()
        try:
            for span in content.spans(_PART_SIZE):
                pending.append(pool.submit(_read_part, content, span, layout, form))
                if len(pending) > workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _read_part(
    content: FileContent, span: tuple[int, int], layout: Layout, form: LineForm
) -> pl.DataFrame:
    """Return query, document, and score or rank of a part of a file.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    return _read_plain_part(content.part(*span), layout, form)


def _read_plain_part(part: bytes, layout: Layout, form: LineForm) -> pl.DataFrame:
    """Return query, document, and score or rank of whole lines.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    needed = list(dict.fromkeys([QUERY, DOC, layout.ranked_by]))
    if layout is MSMARCO_SCORED:
        needed.append(GIVEN_RANK)
    number = SCORE if SCORE in layout.names else None
    return _ranked_columns(read_plain_columns(part, layout.names, number, form, needed), layout)


def read_plain_columns(
    part: bytes,
    names: Sequence[str],
    number: str | None,
    form: LineForm,
    needed: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Return columns of whole lines that are exactly as expected.

    Args:
        part: the lines.
        names: the names of the columns.
        number: the column of numbers, f8; the others are text.
        form: what is between the columns, and at the end of each line.
        needed: the columns to return; None for all.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    # polars would take an id that begins like this for zlib data, and unpack it; it would drop a
    # byte order mark.
    if part.startswith((*_ZLIB_HEADERS, BYTE_ORDER_MARK)):
        raise NotPlainError
    # polars silently fills up short lines with nulls and cuts long ones.
    lines = _count_plain_lines(part, len(names), form)
    scan = pl.scan_csv(
        part,
        separator=form.separator,
        has_header=False,
        schema={name: pl.Float64 if name == number else pl.String for name in names},
        quote_char=None,
        truncate_ragged_lines=True,
    )
    selected = list(names if needed is None else needed)
    try:
        frame = scan.select(selected).collect()
    except (
        pl.exceptions.ComputeError,  # an invalid number, text that is not UTF-8
        pl.exceptions.SchemaError,  # a first line with another number of columns
        pl.exceptions.NoDataError,
    ) as error:
        raise NotPlainError from error
    if lines != len(frame) or any(frame[name].null_count() for name in selected):
        raise NotPlainError
    return frame


def _ranked_columns(frame: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return query, document, and score or rank.

    Raises:
        NotPlainError: a score or a rank is invalid.
    """
    if any(
        not frame[name].str.contains(_RANK_PATTERN).all()
        for name in (RANK, GIVEN_RANK)
        if name in frame
    ):
        raise NotPlainError
    if SCORE in frame and not frame[SCORE].is_finite().all():
        raise NotPlainError
    columns = frame.select(QUERY, DOC, layout.ranked_by)
    return (
        columns if layout.ranked_by == SCORE else columns.with_columns(pl.col(RANK).cast(pl.Int64))
    )


def _count_plain_lines(part: bytes, columns: int, form: LineForm) -> int:
    """Return the number of lines of a part of a file that consists of plain lines.

    A plain line has exactly the separators it needs, no two of them adjacent, no other white space
    or control character, and is not a comment. Both readers split such a line into the same
    columns, none of them empty. All end as the form says.

    Args:
        part: whole lines.
        columns: the number of columns of a line.
        form: what is between the columns, and at the end of each line.

    Raises:
        NotPlainError: a line is not plain.
    """
    lines = begin = 0
    while begin < len(part):
        # The arrays of a piece of this size stay in the processor's cache.
        end = part.rfind(b"\n", begin, begin + _CHECKED_SIZE) + 1
        end = end or part.find(b"\n", begin) + 1 or len(part)
        lines += _plain_lines(part[begin:end], columns, form)
        begin = end
    return lines


def _plain_lines(part: bytes, columns: int, form: LineForm) -> int:
    """Return what ``_count_plain_lines`` describes, at once."""
    if b"\r" in part:
        part = part.replace(b"\r\n", b"\n")
    if part[-1:] != b"\n":
        part += b"\n"
    byte = np.frombuffer(part, dtype=np.uint8)
    is_edge = byte <= ord(" ")
    if is_edge[0] or (is_edge[1:] & is_edge[:-1]).any():
        raise NotPlainError
    edges = np.flatnonzero(is_edge)
    ends = edges[columns - 1 :: columns]
    lines = len(ends)
    if (
        len(edges) != lines * columns
        or not (byte[ends] == ord("\n")).all()
        or np.count_nonzero(byte == ord(form.separator)) != lines * (columns - 1)
    ):
        raise NotPlainError
    if b"#" in part and (part[:1] == b"#" or (byte[ends[:-1] + 1] == ord("#")).any()):
        raise NotPlainError
    if size := len(form.ending):
        windows = np.ndarray(max(len(part) - size, 0), f"V{size}", part, strides=(1,))
        if ends[0] < size or windows[ends - size].tobytes() != form.ending * lines:
            raise NotPlainError
    return lines


def _columns_of_lines(
    content: FileContent,
    layout: Layout,
    tag: tuple[str, ...] = (),
    rows: RowFilter | None = None,
) -> tuple[list[str], list[str], list[float]]:
    """Return queries, documents, and scores or ranks, read line by line.

    Args:
        content: the file, or lines of it.
        layout: its columns.
        tag: the words of the tag that every line of a TREC run must have, if they are several.
        rows: the lines of a TREC run that count; None for all.

    Raises:
        FileFormatError: a line has another number of columns or an invalid number; the error names
            the line.
        InputError: no line has the stated tag, or the lines are those of several systems.
    """
    rows = RowFilter({}) if rows is None else rows
    tagged: list[tuple[str, str]] = []
    lines = _chosen_lines(content, rows, tagged) if layout is TREC else _split_lines(content)
    queries: list[str] = []
    docs: list[str] = []
    values: list[float] = []
    query, doc, value = (layout.index_of(name) for name in (QUERY, DOC, layout.ranked_by))
    num_columns, by_rank = len(layout.names), layout.ranked_by == RANK
    if tag:
        num_columns += len(tag) - 1
    for number, fields in lines:
        if len(fields) != num_columns or (tag and not _has_tag(fields, tag)):
            problem = (
                f"{len(fields)} columns, expected {layout.description} separated by blanks or tabs"
            )
            if tag:
                problem += (
                    f"; the tag of the first line, {shown(' '.join(tag))}, contains blanks, so "
                    "every line must have it after a whole rank and a score, and no id may contain "
                    "a blank. Write a tag without blanks"
                )
            if (tag or len(fields) < num_columns) and is_cut_line(content, number):
                problem += CUT_OFF
            raise FileFormatError(content.path, problem, line=number)
        if layout is MSMARCO_SCORED:
            _parse_rank(content, number, fields[layout.index_of(GIVEN_RANK)], layout)
        queries.append(fields[query])
        docs.append(fields[doc])
        if by_rank:
            values.append(_parse_rank(content, number, fields[value], layout))
        else:
            values.append(read_number(content.path, number, "score", fields[value]))
    if _are_of_systems(queries, docs, tagged):
        rows.note(TAG, [tag for _, tag in tagged])
    rows.check()
    return queries, docs, values


def _chosen_lines(
    content: FileContent, rows: RowFilter, tagged: list[tuple[str, str]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a TREC run that count, and add the rank and the tag of each."""
    for number, fields in _split_lines(content):
        if len(fields) >= len(TREC.names):
            tag = sys.intern(" ".join(fields[TREC.index_of(TAG) :]))
            if rows.where and not rows.keeps({TAG: tag}):
                continue
            tagged.append((fields[TREC.index_of(GIVEN_RANK)], tag))
        yield number, fields


def _are_of_systems(
    queries: Sequence[str], docs: Sequence[str], tagged: Sequence[tuple[str, str]]
) -> bool:
    """Return whether lines of several tags list the same document, or rank, for a query.

    Args:
        queries: the query of each line.
        docs: the document.
        tagged: the rank and the tag; none for a file that has none.
    """
    ranks, tags = zip(*tagged, strict=True) if tagged else ((), ())
    return 1 < len(set(tags)) <= _MOST_TAGS and any(
        len(set(zip(queries, values, strict=True)))
        < len(set(zip(queries, values, tags, strict=True)))
        for values in (docs, ranks)
    )


def _read_lines(content: FileContent, layout: Layout, tag: tuple[str, ...] = ()) -> pl.DataFrame:
    """Return the columns, read line by line; raise what ``_columns_of_lines`` does."""
    queries, docs, values = _columns_of_lines(content, layout, tag)
    dtype = pl.Int64 if layout.ranked_by == RANK else pl.Float64
    columns = {
        QUERY: pl.Series(queries, dtype=pl.String),
        DOC: pl.Series(docs, dtype=pl.String),
        layout.ranked_by: pl.Series(values, dtype=dtype),
    }
    return pl.DataFrame(columns)


def _has_tag(fields: Sequence[str], tag: tuple[str, ...]) -> bool:
    """Return whether a line of a TREC run has a tag with blanks, after a rank and a score."""
    return tuple(fields[-len(tag) :]) == tag and has_rank_and_score(fields)


def _split_lines(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    """Yield (1-based number, fields) of every line that is neither blank nor a comment."""
    text = decode(content.path, content.data())
    check_no_zero_byte(content, text)
    for number, line in enumerate(text.split("\n"), start=1):
        fields = split_fields(line)
        if fields and not line.startswith("#"):
            yield number, fields


def _parse_rank(content: FileContent, number: int, text: str, layout: Layout) -> int:
    """Return a rank; raise FileFormatError for the line if it is not a whole number."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_RANK_DIGITS):
        problem = f"the rank {shown(text)} is not a whole number"
        if layout is MSMARCO:
            raise _NotRanksError(content.path, problem, line=number)
        problem += (
            "; four columns are query, document, rank and score. TREC qrels are read with "
            "read_qrels"
        )
        raise FileFormatError(content.path, problem, line=number)
    return int(text)


def _sort_by_rank(content: FileContent, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by rank, without the column of ranks.

    Raises:
        _NotRanksError: two documents of a query have the same rank, or its ranks do not begin at 0
            or 1.
    """
    repeated = frame.filter(frame.select(QUERY, RANK).is_duplicated())
    if len(repeated):
        query, _, rank = repeated.row(0)
        raise _repeated_rank_error(content, query, rank)
    first_ranks = frame.group_by(QUERY, maintain_order=True).agg(pl.col(RANK).min())
    wrong_start = first_ranks.filter(pl.col(RANK) > 1)
    if len(wrong_start):
        query, rank = wrong_start.row(0)
        raise _first_rank_error(content, query, rank)
    return frame.sort(RANK, maintain_order=True).drop(RANK)


def _check_scores(
    content: FileContent, queries: Sequence[str], docs: Sequence[str], scores: Sequence[float]
) -> None:
    """Check that the third of three columns can hold scores and nothing else.

    Args:
        content: the file, for messages.
        queries: the query of each line, in the order of the file.
        docs: the document of each line.
        scores: the number of each line.

    Raises:
        _NotScoresError: the whole numbers of a query increase, there is neither a fraction nor a
            number that is less than the one before, or the numbers may be grades.
    """
    fractional = {
        query for query, score in zip(queries, scores, strict=True) if not score.is_integer()
    }
    before: dict[str, float] = {}
    falls = False
    for query, doc, score in zip(queries, docs, scores, strict=True):
        last = before.get(query, score)
        if score > last and query not in fractional:
            problem = (
                f"the whole numbers of query {shown(query)} rise from {last:g} to {score:g} at "
                f"document {shown(doc)}"
            )
            raise _NotScoresError(content.path, problem)
        falls |= score < last
        before[query] = score
    if fractional:
        return
    if not falls:
        problem = "no number is a fraction, or less than the one before for its query"
        raise _NotScoresError(content.path, problem)
    if all(_LOWEST_GRADE <= score <= _HIGHEST_GRADE for score in scores):
        problem = f"whole numbers up to {_HIGHEST_GRADE} that never increase may be grades"
        raise _NotScoresError(content.path, problem)


def _refuse_qrels(content: FileContent, frame: pl.DataFrame) -> None:
    """Raise FileFormatError if the second column is the iteration of TREC qrels, not a document."""
    _refuse_iterations(content, frame[DOC].unique().to_list())


def _refuse_iterations(content: FileContent, documents: list[str]) -> None:
    """Raise FileFormatError if the distinct documents of a run are the iteration of TREC qrels."""
    if documents in (["0"], ["Q0"]):
        problem = (
            f"the second of four columns is always {documents[0]!r}: these look like TREC qrels, "
            "not like a run (query, document, rank, score)"
        )
        raise FileFormatError(content.path, problem)


def _repeated_rank_error(content: FileContent, query: str, rank: int) -> _NotRanksError:
    """Return the error of two documents with the same rank for a query."""
    problem = f"two documents have the rank {rank} for query {shown(query)}"
    return _NotRanksError(content.path, problem)


def _first_rank_error(content: FileContent, query: str, rank: int) -> _NotRanksError:
    """Return the error of a query whose ranks do not begin at 0 or 1."""
    problem = f"the ranks of query {shown(query)} begin at {rank}, not at 0 or 1"
    return _NotRanksError(content.path, problem)


def _no_line_error(content: FileContent, layout: Layout) -> FileFormatError:
    """Return the error of a file without a line."""
    problem = f"there is no line in it; expected lines of {layout.description} columns"
    return FileFormatError(content.path, problem)


# Without polars, or some of the lines


def _read_by_lines(content: FileContent, layout: Layout, rows: RowFilter | None = None) -> Run:
    """Return the run of a file of format "trec" or "msmarco".

    Args:
        content: the file.
        layout: the columns of its lines.
        rows: the lines of a TREC run that count; None for all.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
        InputError: no line has the stated tag, or the lines are those of several systems.

    Warns:
        BeirEvalWarning: polars would read it faster; once in a process.
    """
    if pl is None:
        _warn_of_missing_polars()
    tag = _tag_of(content) if layout is TREC else ()
    queries, docs, values = _columns_of_lines(content, layout, tag, rows)
    if not queries:
        raise _no_line_error(content, layout)
    if layout is MSMARCO_SCORED:
        _refuse_iterations(content, list(set(docs)))
    if layout.ranked_by == RANK:
        return _run_of_ranks(content, queries, docs, values)
    if layout is THREE_SCORED:
        _check_scores(content, queries, docs, values)
    return Run.from_columns(queries, docs, values)


def _run_of_ranks(
    content: FileContent, queries: Sequence[str], docs: Sequence[str], ranks: Sequence[float]
) -> Run:
    """Return a run whose documents are ordered by rank.

    Raises:
        _NotRanksError: two documents of a query have the same rank, or its ranks do not begin at 0
            or 1.
    """
    first_rank: dict[str, int] = {}
    lines_of: dict[tuple[str, float], int] = {}
    for query, rank in zip(queries, ranks, strict=True):
        first_rank[query] = min(int(rank), first_rank.get(query, int(rank)))
        lines_of[query, rank] = lines_of.get((query, rank), 0) + 1
    for query, rank in zip(queries, ranks, strict=True):
        if lines_of[query, rank] > 1:
            raise _repeated_rank_error(content, query, int(rank))
    for query, lowest in first_rank.items():
        if lowest > 1:
            raise _first_rank_error(content, query, lowest)
    rankings: dict[str, list[str]] = {}
    for line in sorted(range(len(ranks)), key=ranks.__getitem__):
        rankings.setdefault(queries[line], []).append(docs[line])
    return Run.from_rankings(rankings)


@cache
def _warn_of_missing_polars() -> None:
    """Warn that files are read line by line; only the first call does."""
    warn_caller(
        "polars is not installed: run files are read line by line, with the same scores but more "
        "slowly. Install it with: pip install 'beir-eval[files]'"
    )
