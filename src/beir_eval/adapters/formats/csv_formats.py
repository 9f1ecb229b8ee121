"""Readers of runs and judgements as values below a header, and writers with commas.

Commas, semicolons, tabs or blanks separate the values that are read.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
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
    from collections.abc import Iterator, Sequence

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
    queries, docs, scores = _read_columns(content, "score", columns)
    if is_beir_header(first_line_of(content)[1]) and all(map(_may_be_grade, scores)):
        problem = (
            f"a header such as that of BEIR's qrels, and whole numbers up to {_HIGHEST_GRADE}: "
            "these look like judgements, not like scores; read them with read_qrels"
        )
        raise FileFormatError(content.path, problem)
    return Run.from_columns(queries, docs, scores)


def read_qrels(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Qrels:
    """Return the qrels of a file of format "csv": a header, then a judgement per line.

    Without a column that may hold grades, each has grade 1.

    Raises:
        FileFormatError: there is no header, it lacks a column, a line has another number of
            columns, an id is empty, a grade is not a finite number, or there is no judgement.
        InputError: the rows are those of several systems, or parts of the data.
        QrelsError: a document is judged twice with different grades.
    """
    return Qrels.from_columns(*_read_columns(content, "grade", columns))


def rows_with_ranks(
    content: FileContent, columns: StatedColumns = NO_COLUMNS
) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of the lines of a valid run with a column of ranks.

    The content may be the first lines of the file: a cell that goes on behind them ends it.
    """
    _, names, rows = _read_header(content, columns)
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


def _read_columns(
    content: FileContent, role: str, columns: StatedColumns
) -> tuple[list[str], list[str], list[float]]:
    """Return query ids, document ids and numbers.

    Args:
        content: the file.
        role: what the numbers are, "score" or "grade".
        columns: the names of columns that the caller states.

    Raises:
        FileFormatError: as ``read_run``.
    """
    number, names, rows = _read_header(content, columns)
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
    queries: list[str] = []
    docs: list[str] = []
    values: list[float] = []
    for number, row in rows:
        if len(row) != len(names):
            problem = f"{len(row)} columns, expected {len(names)}, as in the header"
            raise FileFormatError(content.path, problem, line=number)
        if not row[query] or not row[doc]:
            raise FileFormatError(content.path, "an id is empty", line=number)
        queries.append(row[query])
        docs.append(row[doc])
        values.append(1.0 if value is None else read_number(content.path, number, role, row[value]))
    if not queries:
        raise FileFormatError(content.path, "there is no line below the header")
    if names[query] in queries or names[doc] in docs:
        raise _no_header_error(content, names)
    return queries, docs, values


def _no_header_error(content: FileContent, names: Sequence[str]) -> FileFormatError:
    """Return the error of a first line that is a row of the table."""
    problem = (
        f"no header: {first_few(names)} are values, not the names of columns; add a line above "
        "that names them, such as query_id,doc_id,score"
    )
    return FileFormatError(content.path, problem, line=first_line_of(content)[0])


def _read_header(
    content: FileContent, columns: StatedColumns
) -> tuple[int, list[str], Iterator[tuple[int, list[str]]]]:
    """Return the number of the header's line, the names of the columns, and the rows that count.

    After the last row, they raise InputError if they are those of several systems.
    """
    line = first_line_of(content)[1]
    delimiter = header_delimiter(line, columns) or max(
        DELIMITERS[:-1], key=lambda mark: line.count(mark.encode())
    )
    rows = _rows(content, delimiter)
    number, header = next(rows, (1, [""]))
    names = [name.strip(ASCII_BLANKS) for name in header]
    chosen = columns.rows_of(names)
    if chosen.where or group_columns(tuple(names)):
        rows = _chosen_rows(rows, names, chosen)
    return number, names, rows


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


def _rows(content: FileContent, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (1-based number of its last line, cells) of the header and of every row below it.

    Blank lines are left out, and comments above the header.

    Args:
        content: the file.
        delimiter: what separates the cells.

    Raises:
        FileFormatError: a quote has no end, or text after it.
    """
    text = content.text()
    check_no_zero_byte(content, text)
    num_above = first_line_of(content)[0] - 1
    lines = io.StringIO(text.split("\n", num_above)[-1], newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > 1 or "".join(row).strip(ASCII_BLANKS):
                yield num_above + reader.line_num, row
    except csv.Error as error:
        kind = {",": "comma", ";": "semicolon", "\t": "tab", " ": "blank"}[delimiter]
        problem = f"not {kind}-separated values: {error}"
        raise FileFormatError(content.path, problem, line=num_above + reader.line_num) from error


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
