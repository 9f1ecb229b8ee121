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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.files import FileContent
    from beir_eval.core.line_parts import LinePart

Item = TypeVar("Item")
Result = TypeVar("Result")

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


class NotRanksError(FileFormatError):
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
    check_order(content)
    rows = columns.rows_of([TAG])
    return _read_by_lines(content, TREC, rows) if rows.where else _read(content, TREC)


def check_order(content: FileContent) -> None:
    """Raise FileFormatError if the columns of the first line of a TREC run are permuted."""
    number, line = first_line_of(content)
    if line.split()[2:3] == [b"Q0"] != line.split()[1:2]:
        problem = f"the third column is Q0: the columns are permuted, expected {TREC.description}"
        raise FileFormatError(content.path, problem, line=number)


def read_msmarco(content: FileContent) -> Run:
    """Return the run of a file of format "msmarco": query, document, rank, and optionally a score.

    The third of three columns may also be a score.

    Raises:
        FileFormatError, OSError: see ``beir_eval.read_run``.
    """
    layout = layout_of(content)
    if layout is MSMARCO_SCORED:
        return _read(content, layout)
    try:
        return _read(content, MSMARCO)
    except NotRanksError as error:
        not_ranks = error
    try:
        return _read(content, THREE_SCORED)
    except FileFormatError as error:
        raise neither_error(not_ranks, error) from error


def layout_of(content: FileContent) -> Layout:
    """Return the layout of a file of format "msmarco"; three columns may also be ``THREE_SCORED``.

    Raises:
        FileFormatError: the first line has another number of columns.
    """
    number, line = first_line_of(content)
    layouts = {len(layout.names): layout for layout in (MSMARCO, MSMARCO_SCORED)}
    columns = len(line.split())
    if columns not in layouts:
        problem = f"{columns} columns, expected 3 or 4 (query, document, rank, and maybe a score)"
        raise FileFormatError(content.path, problem, line=number)
    return layouts[columns]


def neither_error(not_ranks: NotRanksError, error: FileFormatError) -> FileFormatError:
    """Return the error of a file of three columns.

    Args:
        not_ranks: why the third does not hold ranks.
        error: why it cannot be read with scores.
    """
    if not isinstance(error, _NotScoresError) and error.line != not_ranks.line:
        return error
    problem = (
        f"the third of three columns holds neither ranks ({not_ranks.problem}) nor scores "
        f"({error.problem}). The ranks of a query are different whole numbers from 0 or 1 on; "
        "its scores have fractions, or never increase. Write a TREC run, or CSV with the "
        "header query_id,doc_id,score; qrels are read with read_qrels"
    )
    return FileFormatError(not_ranks.path, problem, line=not_ranks.line)


def rows_with_ranks(content: FileContent) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of every line of a valid run; nothing if its lines lack one.

    The rank is text: in TREC runs it is ignored, so that it may be anything.
    """
    _, line = first_line_of(content)
    layouts = {len(layout.names): layout for layout in (TREC, MSMARCO_SCORED)}
    layout = layouts.get(len(line.split()), TREC if tag_of(content) else None)
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
        frame = _read_lines(content, layout, tag_of(content) if layout is TREC else ())
        if frame.is_empty():
            raise no_line_error(content, layout) from None
    if layout is MSMARCO_SCORED:
        refuse_qrels(content, frame)
    if layout.ranked_by == RANK:
        frame = sort_by_rank(content, frame)
    if layout is THREE_SCORED:
        _check_scores(content, *(frame[name].to_list() for name in (QUERY, DOC, SCORE)))
    return Run.from_source(source_from_frames([frame]))


def frames_of_parts(
    head: FileContent,
    layout: Layout,
    parts: Iterable[LinePart],
    where: Mapping[str, str],
    *,
    is_tagged: bool = False,
) -> Iterator[tuple[LinePart, pl.DataFrame, RowFilter]]:
    """Yield each part of a run, its rows in columns, and what its tags are.

    The parts are read by several threads. One with a line that polars may read otherwise is read
    line by line, as the readers of whole files do with the whole file then.

    Args:
        head: the first lines of the file.
        layout: the columns of its lines.
        parts: its lines.
        where: {``TAG``: the tag of the lines that count}; empty for all lines.
        is_tagged: whether rows also have columns ``GIVEN_RANK`` and ``TAG``, for ``lists_twice``.

    Yields:
        The tags are only those of the parts that are read line by line: all lines of others have
        the tag of the first line of the file.

    Raises:
        FileFormatError: as the readers of whole files; the error names the line.
    """
    tag = tag_of(head) if layout is TREC else ()
    form = None if where or is_tagged else LineForm.from_content(head, layout)

    def read(part: LinePart) -> tuple[LinePart, pl.DataFrame, RowFilter]:
        rows = RowFilter(where)
        try:
            if form is not None:
                return part, _read_plain_part(part.data, layout, form), rows
        except NotPlainError:
            pass
        lines = read_later_lines(
            head.path, part, lambda content: _columns_of_lines(content, layout, tag, rows)
        )
        rows.note(TAG, lines.tags)
        frame = _frame_of(lines, layout)
        if is_tagged:
            columns = {GIVEN_RANK: lines.ranks, TAG: lines.tags}
            types = dict.fromkeys(columns, pl.String)
            frame = frame.hstack(pl.DataFrame(columns, schema=types))
        return part, frame, rows

    yield from _in_threads(read, parts)


def lists_twice(rows: pl.DataFrame) -> bool:
    """Return whether lines of several tags list the same document, or rank, for a query.

    Args:
        rows: all rows of some queries, with their ranks and tags.
    """
    return any(
        rows.select(QUERY, name).n_unique() < rows.select(QUERY, name, TAG).n_unique()
        for name in (DOC, GIVEN_RANK)
    )


def _in_threads(read: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``read(item)`` of each item in their order, with a few threads that read ahead."""
    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    with ThreadPoolExecutor(workers) as pool:
        pending: deque[Future[Result]] = deque()
        try:
            for item in items:
                pending.append(pool.submit(read, item))
                if len(pending) > workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def tag_of(content: FileContent) -> tuple[str, ...]:
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

    def read(span: tuple[int, int]) -> pl.DataFrame:
        return _read_plain_part(content.part(*span), layout, form)

    yield from _in_threads(read, content.spans(_PART_SIZE))


def _read_plain_part(part: bytes, layout: Layout, form: LineForm) -> pl.DataFrame:
    """Return query, document, and score or rank of whole lines.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    needed = list(dict.fromkeys([QUERY, DOC, layout.ranked_by]))
    if layout is MSMARCO_SCORED:
        needed.append(GIVEN_RANK)
    return _ranked_columns(_read_plain_columns(part, layout.names, form, needed), layout)


def _read_plain_columns(
    part: bytes, names: Sequence[str], form: LineForm, needed: Sequence[str]
) -> pl.DataFrame:
    """Return columns of whole lines that are exactly as expected: ``SCORE`` as f8, others as text.

    Args:
        part: the lines.
        names: the names of the columns.
        form: what is between the columns, and at the end of each line.
        needed: the columns to return.

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
        schema={name: pl.Float64 if name == SCORE else pl.String for name in names},
        quote_char=None,
        truncate_ragged_lines=True,
    )
    try:
        frame = scan.select(needed).collect()
    except (
        pl.exceptions.ComputeError,  # an invalid number, text that is not UTF-8
        pl.exceptions.SchemaError,  # a first line with another number of columns
        pl.exceptions.NoDataError,
    ) as error:
        raise NotPlainError from error
    if lines != len(frame) or any(frame[name].null_count() for name in needed):
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


class _LineColumns(NamedTuple):
    """The columns of lines: queries, documents, scores or ranks; ranks and tags of a TREC run."""

    queries: list[str]
    docs: list[str]
    values: list[float]
    ranks: list[str]
    tags: list[str]

    def check(self, rows: RowFilter) -> None:
        """Check what was noted of the lines of a whole file.

        Raises:
            InputError: no line has the stated tag, or the lines are those of several systems: of
                several tags, which list the same document, or rank, for a query.
        """
        num_tags = len(set(self.tags))
        if may_be_systems(num_tags) and any(
            len(set(zip(self.queries, values, strict=True)))
            < len(set(zip(self.queries, values, self.tags, strict=True)))
            for values in (self.docs, self.ranks)
        ):
            rows.note(TAG, self.tags)
        rows.check()


def may_be_systems(num_tags: int) -> bool:
    """Return whether so many different values of the last column may be the tags of systems."""
    return 1 < num_tags <= _MOST_TAGS


def _columns_of_lines(
    content: FileContent, layout: Layout, tag: tuple[str, ...], rows: RowFilter
) -> _LineColumns:
    """Return the columns of lines, read line by line.

    Args:
        content: the file, or lines of it.
        layout: its columns.
        tag: the words of the tag that every line of a TREC run must have, if they are several.
        rows: the lines of a TREC run that count.

    Raises:
        FileFormatError: a line has another number of columns or an invalid number; the error names
            the line.
    """
    ranks: list[str] = []
    tags: list[str] = []
    lines = _chosen_lines(content, rows, ranks, tags) if layout is TREC else _split_lines(content)
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
    return _LineColumns(queries, docs, values, ranks, tags)


def _chosen_lines(
    content: FileContent, rows: RowFilter, ranks: list[str], tags: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a TREC run that count, and add the rank and the tag of each."""
    for number, fields in _split_lines(content):
        if len(fields) >= len(TREC.names):
            tag = sys.intern(" ".join(fields[TREC.index_of(TAG) :]))
            if rows.where and not rows.keeps({TAG: tag}):
                continue
            ranks.append(fields[TREC.index_of(GIVEN_RANK)])
            tags.append(tag)
        yield number, fields


def _read_lines(content: FileContent, layout: Layout, tag: tuple[str, ...]) -> pl.DataFrame:
    """Return the columns of a file, read line by line.

    Raises:
        FileFormatError: as ``_columns_of_lines``.
        InputError: the lines are those of several systems.
    """
    rows = RowFilter({})
    lines = _columns_of_lines(content, layout, tag, rows)
    lines.check(rows)
    return _frame_of(lines, layout)


def _frame_of(lines: _LineColumns, layout: Layout) -> pl.DataFrame:
    """Return query, document, and score or rank."""
    dtype = pl.Int64 if layout.ranked_by == RANK else pl.Float64
    columns = {
        QUERY: pl.Series(lines.queries, dtype=pl.String),
        DOC: pl.Series(lines.docs, dtype=pl.String),
        layout.ranked_by: pl.Series(lines.values, dtype=dtype),
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
            raise NotRanksError(content.path, problem, line=number)
        problem += (
            "; four columns are query, document, rank and score. TREC qrels are read with "
            "read_qrels"
        )
        raise FileFormatError(content.path, problem, line=number)
    return int(text)


def sort_by_rank(content: FileContent, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by rank, without the column of ranks.

    Raises:
        NotRanksError: two documents of a query have the same rank, or its ranks do not begin at 0
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


class ScoreChecks:
    """Whether the third of three columns can hold scores and nothing else.

    Args:
        content: the file, for messages.
    """

    def __init__(self, content: FileContent) -> None:
        """Begin without a line."""
        self._content = content
        self._fractional: set[str] = set()
        self._before: dict[str, float] = {}
        # {query: the problem of its first whole number that is higher than the one before}
        self._rises: dict[str, str] = {}
        self._falls, self._may_be_grades = False, True

    def add(self, queries: Iterable[str], docs: Iterable[str], scores: Iterable[float]) -> None:
        """Look at lines, in the order of the file.

        Args:
            queries: the query of each line.
            docs: the document of each line.
            scores: the number of each line.
        """
        for query, doc, score in zip(queries, docs, scores, strict=True):
            last = self._before.get(query, score)
            if score > last and query not in self._rises:
                self._rises[query] = (
                    f"the whole numbers of query {shown(query)} rise from {last:g} to {score:g} at "
                    f"document {shown(doc)}"
                )
            if not score.is_integer():
                self._fractional.add(query)
            self._falls |= score < last
            self._may_be_grades &= _LOWEST_GRADE <= score <= _HIGHEST_GRADE
            self._before[query] = score

    def end(self) -> None:
        """Check all lines.

        Raises:
            _NotScoresError: the whole numbers of a query increase, there is neither a fraction nor
                a number that is less than the one before, or the numbers may be grades.
        """
        rises = (self._rises[query] for query in self._rises if query not in self._fractional)
        problem = next(rises, None)
        if problem is None and self._fractional:
            return
        if problem is None and not self._falls:
            problem = "no number is a fraction, or less than the one before for its query"
        elif problem is None and self._may_be_grades:
            problem = f"whole numbers up to {_HIGHEST_GRADE} that never increase may be grades"
        if problem is not None:
            raise _NotScoresError(self._content.path, problem)


def _check_scores(content: FileContent, *columns: Sequence[Any]) -> None:
    """Check queries, documents and scores as ``ScoreChecks`` does."""
    checks = ScoreChecks(content)
    checks.add(*columns)
    checks.end()


def refuse_qrels(content: FileContent, frame: pl.DataFrame) -> None:
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


def _repeated_rank_error(content: FileContent, query: str, rank: int) -> NotRanksError:
    """Return the error of two documents with the same rank for a query."""
    problem = f"two documents have the rank {rank} for query {shown(query)}"
    return NotRanksError(content.path, problem)


def _first_rank_error(content: FileContent, query: str, rank: int) -> NotRanksError:
    """Return the error of a query whose ranks do not begin at 0 or 1."""
    problem = f"the ranks of query {shown(query)} begin at {rank}, not at 0 or 1"
    return NotRanksError(content.path, problem)


def no_line_error(content: FileContent, layout: Layout) -> FileFormatError:
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
    tag, rows = tag_of(content) if layout is TREC else (), rows or RowFilter({})
    lines = _columns_of_lines(content, layout, tag, rows)
    lines.check(rows)
    queries, docs, values = lines[:3]
    if not queries:
        raise no_line_error(content, layout)
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
        NotRanksError: two documents of a query have the same rank, or its ranks do not begin at 0
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
