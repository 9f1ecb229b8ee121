"""Readers of runs and judgements as values below a header, and writers with commas.

Commas, semicolons, tabs or blanks separate the values that are read.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

from beir_eval.adapters.formats.text_lines import (
    ASCII_BLANKS,
    DELIMITERS,
    check_no_zero_byte,
    csv_cell,
    encode_utf8,
    first_line_of,
    header_delimiter,
    is_beir_header,
)
from beir_eval.adapters.formats.text_qrels import grade_text
from beir_eval.core.column_names import (
    NO_COLUMNS,
    RANK_NAMES,
    choose_column,
    group_columns,
    is_data,
    matching_names,
)
from beir_eval.core.files import read_number
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import FileFormatError, InputError, RunError, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.column_names import RowFilter, StatedColumns
    from beir_eval.core.files import FileContent


#: Whole numbers up to this may be grades.
_HIGHEST_GRADE = 4
#: Columns beside those of ids that can hold no grade: without others, each judgement has grade 1.
_NO_GRADES = ("iteration", "iter", "q0", "query", "query_text", "topic", "text", "title", "docid")


def read_run(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Run:
    """Return the run of a file of format "csv": a header, then a document per line.

    Raises:
        FileFormatError: there is no header, it lacks a column, a line has another number of
            columns, an id is empty, a score is not a finite number, or there is no document.
        InputError: the rows are those of several systems.
    """
    [whole] = columns_of_run(content, columns, [content.text()])
    return Run.from_columns(*whole)


def check_header(content: FileContent, columns: StatedColumns) -> None:
    """Raise FileFormatError unless the first lines of a run have a header with its columns."""
    _Table(content, "score", columns, [content.text()])


def columns_of_run(
    content: FileContent, columns: StatedColumns, parts: Iterable[str], size: int | None = None
) -> Iterator[tuple[list[str], list[str], list[float]]]:
    """Yield queries, documents and scores of a run, ``size`` rows at a time.

    Args:
        content: the file, or its first lines.
        columns: the names of columns that the caller states, and which rows count.
        parts: the text of the file in parts of whole lines, from the first line on.
        size: the number of rows; None for all at once.

    Raises:
        FileFormatError, InputError: as ``read_run``.
    """
    table = _Table(content, "score", columns, parts)
    may_be_grades = is_beir_header(first_line_of(content)[1])
    while (rows := table.read(size)) is not None:
        may_be_grades = may_be_grades and all(map(_may_be_grade, rows[2]))
        yield rows
    if may_be_grades:
        problem = (
            f"a header such as that of BEIR's qrels, and whole numbers up to {_HIGHEST_GRADE}: "
            "these look like judgements, not like scores; read them with read_qrels"
        )
        raise FileFormatError(content.path, problem)


def read_qrels(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Qrels:
    """Return the qrels of a file of format "csv": a header, then a judgement per line.

    Without a column that may hold grades, each has grade 1.

    Raises:
        FileFormatError: there is no header, it lacks a column, a line has another number of
            columns, an id is empty, a grade is not a finite number, or there is no judgement.
        InputError: the rows are those of several systems, or parts of the data.
        QrelsError: a document is judged twice with different grades.
    """
    rows = _Table(content, "grade", columns, [content.text()]).read()
    return Qrels.from_columns(*(rows or ()))


def rows_with_ranks(
    content: FileContent, columns: StatedColumns = NO_COLUMNS
) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of the lines of a valid run with a column of ranks.

    The content may be the first lines of the file: a cell that goes on behind them ends it.
    """
    _, names, rows, _ = _read_header(content, columns, [content.text()])
    ranks = matching_names(names, RANK_NAMES)
    if len(ranks) != 1:
        return
    query, score = (_index_of(names, role, columns) for role in ("query_id", "score"))
    with suppress(InputError):
        for number, row in rows:
            yield (
                row[query],
                row[names.index(ranks[0])],
                read_number(content.path, number, "score", row[score]),
            )


def write_run(rankings: Sequence[tuple[str, Sequence[str], Floats]], _tag: str) -> bytes:
    """Return the bytes of format "csv": the columns query_id, doc_id, score.

    Raises:
        InputError: an id contains a zero byte, is too long or is not Unicode.
        RunError: the run has no document.
    """
    lines = []
    for query, docs, scores in rankings:
        cell = csv_cell(query)
        lines += [
            f"{cell},{csv_cell(doc)},{score!r}\n"
            for doc, score in zip(docs, scores.tolist(), strict=True)
        ]
    if not lines:
        raise RunError("the run holds no document, and a CSV file without a row is no run")
    return encode_utf8("".join(["query_id,doc_id,score\n", *lines]))


def write_qrels(rows: Sequence[tuple[str, str, float]]) -> bytes:
    """Return the bytes of format "csv": the columns query_id, doc_id, grade.

    Raises:
        InputError: an id contains a zero byte, is too long or is not Unicode.
    """
    lines = [
        f"{csv_cell(query)},{csv_cell(doc)},{grade_text(grade)}\n" for query, doc, grade in rows
    ]
    return encode_utf8("".join(["query_id,doc_id,grade\n", *lines]))


class _Table:
    """The rows below a header.

    Args:
        content: the file, or its first lines.
        role: what the numbers are, "score" or "grade".
        columns: the names of columns that the caller states, and which rows count.
        parts: the text of the file in parts of whole lines.

    Raises:
        FileFormatError: as ``read_run``.
    """

    def __init__(
        self, content: FileContent, role: str, columns: StatedColumns, parts: Iterable[str]
    ) -> None:
        """Find the columns."""
        number, names, self._rows, self._chosen = _read_header(content, columns, parts)
        if is_data(names):
            raise _no_header_error(content, names)
        roles = ("query_id", "doc_id", role)
        try:
            query, doc = (_index_of(names, role, columns) for role in roles[:2])
            rest = [name for index, name in enumerate(names) if index not in (query, doc)]
            are_relevant = (
                role == "grade"
                and columns.name_of(role, names) is None
                and len(matching_names(rest, _NO_GRADES)) == len(rest)
            )
            value = None if are_relevant else _index_of(names, role, columns)
        except InputError as error:
            problem = f"{error}. The first line names the columns, such as {','.join(roles)}"
            raise FileFormatError(content.path, problem, line=number) from error
        self._content, self._role, self._names = content, role, names
        self._indices, self._is_empty = (query, doc, value), True

    def read(self, size: int | None = None) -> tuple[list[str], list[str], list[float]] | None:
        """Return query ids, document ids and numbers of the next rows; None at the end.

        Args:
            size: how many rows; None for all.

        Raises:
            FileFormatError, InputError: as ``read_run``.
        """
        (query, doc, value), path = self._indices, self._content.path
        queries: list[str] = []
        docs: list[str] = []
        values: list[float] = []
        for number, row in islice(self._rows, size):
            if len(row) != len(self._names):
                problem = f"{len(row)} columns, expected {len(self._names)}, as in the header"
                raise FileFormatError(path, problem, line=number)
            if not row[query] or not row[doc]:
                raise FileFormatError(path, "an id is empty", line=number)
            queries.append(row[query])
            docs.append(row[doc])
            values.append(
                1.0 if value is None else read_number(path, number, self._role, row[value])
            )
        self._chosen.check(are_all=False)
        if not queries:
            if self._is_empty:
                raise FileFormatError(path, "there is no line below the header")
            return None
        self._is_empty = False
        if self._names[query] in queries or self._names[doc] in docs:
            raise _no_header_error(self._content, self._names)
        return queries, docs, values


def _no_header_error(content: FileContent, names: Sequence[str]) -> FileFormatError:
    """Return the error of a first line that is a row of the table."""
    problem = (
        f"no header: {first_few(names)} are values, not the names of columns; add a line above "
        "that names them, such as query_id,doc_id,score"
    )
    return FileFormatError(content.path, problem, line=first_line_of(content)[0])


def _read_header(
    content: FileContent, columns: StatedColumns, parts: Iterable[str]
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]], RowFilter]:
    """Return the number of the header's line, the names of the columns, and the rows that count.

    After the last row, they raise InputError if they are those of several systems.

    Args:
        content: the file, or its first lines.
        columns: the names of columns that the caller states, and which rows count.
        parts: the text of the file in parts of whole lines.

    Returns:
        Also the filter of the rows, with the values of those that were read.
    """
    line = first_line_of(content)[1]
    delimiter = header_delimiter(line, columns) or max(
        DELIMITERS[:-1], key=lambda mark: line.count(mark.encode())
    )
    rows = _rows(content, delimiter, parts)
    number, header = next(rows, (1, [""]))
    names = [name.strip(ASCII_BLANKS) for name in header]
    chosen = columns.rows_of(names)
    if chosen.where or group_columns(tuple(names)):
        rows = _chosen_rows(rows, names, chosen)
    return number, names, rows, chosen


def _chosen_rows(
    rows: Iterator[tuple[int, list[str]]], names: Sequence[str], chosen: RowFilter
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that count, and those of another length, which are refused."""
    for number, row in rows:
        if len(row) != len(names) or chosen.keeps(dict(zip(names, row, strict=True))):
            yield number, row
    chosen.check()


def _may_be_grade(number: float) -> bool:
    return number.is_integer() and 0 <= number <= _HIGHEST_GRADE


def _rows(
    content: FileContent, delimiter: str, parts: Iterable[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yield (1-based number of its last line, cells) of the header and of every row below it.

    Blank lines are left out, and comments above the header.

    Args:
        content: the file, or its first lines.
        delimiter: what separates the cells.
        parts: the text of the file in parts of whole lines.

    Raises:
        FileFormatError: a quote has no end, or text after it.
    """
    num_above = first_line_of(content)[0] - 1
    lines = chain.from_iterable(_lines_below(content, num_above, parts))
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > 1 or "".join(row).strip(ASCII_BLANKS):
                yield num_above + reader.line_num, row
    except csv.Error as error:
        kind = {",": "comma", ";": "semicolon", "\t": "tab", " ": "blank"}[delimiter]
        problem = f"not {kind}-separated values: {error}"
        raise FileFormatError(content.path, problem, line=num_above + reader.line_num) from error


def _lines_below(
    content: FileContent, num_above: int, parts: Iterable[str]
) -> Iterator[Iterable[str]]:
    """Yield the lines of each part, without the first ``num_above`` lines of the file."""
    for text in parts:
        check_no_zero_byte(content, text)
        *above, below = text.split("\n", num_above)
        num_above -= len(above)
        yield io.StringIO("" if num_above else below, newline="")


def _index_of(names: Sequence[str], role: str, columns: StatedColumns) -> int:
    """Return the index of a column of the header.

    Args:
        names: the names of the columns.
        role: a key of ``USUAL_NAMES``.
        columns: the names of columns that the caller states.

    Raises:
        InputError: no column, or several, have the stated name or one of the usual names.
    """
    stated, how = columns.name_of(role, names), "name it with columns= as {role}"
    name = choose_column(names, role, stated, InputError, "the table", how_to_state=how)
    return names.index(name)
