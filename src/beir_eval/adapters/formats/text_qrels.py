"""Readers and writers of judgements in columns of text: four in TREC qrels, three in BEIR's.

Two columns are a query and a relevant document, as in MS MARCO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.adapters.formats.text_lines import (
    ASCII_BLANKS,
    CUT_OFF,
    check_no_zero_byte,
    encode_utf8,
    is_cut_line,
    is_header,
    names_document_first,
    trec_word,
)
from beir_eval.core.files import is_number, read_number, split_fields
from beir_eval.core.qrels import Qrels
from beir_eval.errors import (
    DisagreeingJudgementsError,
    FileFormatError,
    InputError,
    first_few,
    shown,
    warn_caller,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.files import FileContent

_TREC_COLUMNS = 4
_BEIR_COLUMNS, _PAIR_LENGTH = 3, 2
#: Subtopics and rounds have numbers up to this.
_MOST_TOPICS = 50
#: Grades above this may be ids.
HIGHEST_PERCENTAGE = 100
#: What to do with judgements by subtopic or by round.
BY_ITERATION_REMEDY = (
    "Subtopics (ndeval, TREC Web diversity): keep the highest grade of each document and query, or "
    "evaluate each subtopic by itself. Rounds (TREC-COVID): keep the judgements of the last round"
)
#: Fewer grades that count 1, 2, … may well be grades.
_FEWEST_RANKS = 3


def read_trec(content: FileContent) -> Qrels:
    """Return the qrels of a file of format "trec": query, iteration, document, grade.

    Raises:
        FileFormatError: a line has another number of columns, a grade is not a finite number, there
            is no judgement, the file is a run, or its columns are permuted.
        QrelsError: a document is judged twice with different grades, or by subtopic or round.
    """
    iterations: list[str] = []
    columns = _read_columns(content, _trec_rows(content, iterations))
    queries, documents, _ = columns
    distinct = set(iterations)
    if distinct not in ({"0"}, {"Q0"}):  # then it is no run, as read_run says too
        _refuse_run(content, *columns)
    numbers = [text for text in distinct if is_number(text) and 0 <= float(text) <= _MOST_TOPICS]
    if len(distinct) > max(len(numbers) + 1, 2, len(set(documents))):
        raise _permuted_error(content, iterations)
    entries = zip(queries, iterations, documents, strict=True)
    if len(distinct) > 1 and (
        len(set(zip(queries, documents, strict=True))) < len(set(entries)) == len(queries)
    ):
        msg = (
            "judgements by subtopic, or by round: documents are judged more than once for a query, "
            f"and only the second column ({first_few(sorted(distinct))}) tells the judgements "
            f"apart. {BY_ITERATION_REMEDY}"
        )
        raise DisagreeingJudgementsError(msg, columns=columns, iterations=sorted(distinct))
    return Qrels.from_columns(*columns)


def _permuted_error(content: FileContent, documents: Iterable[object]) -> FileFormatError:
    """Return the error of columns in another order.

    Args:
        content: the file.
        documents: what a column holds that is not that of the documents.
    """
    problem = (
        f"the columns are permuted: {first_few(dict.fromkeys(documents))} seem to be documents; "
        "expected query, iteration (if any), document, grade"
    )
    return FileFormatError(content.path, problem)


def read_beir(content: FileContent) -> Qrels:
    """Return the qrels of a file of format "beir": query, document, grade, separated by tabs.

    A header row is optional. Lines of two words, a query and a document, have grade 1.

    Warns:
        BeirEvalWarning: the grades look like ranks, or the header names the document first.

    Raises:
        FileFormatError: a line has another number of columns, an id is empty, a grade is not a
            finite number, or there is no judgement.
        QrelsError: a document is judged twice with different grades.
    """
    columns = _read_columns(content, _beir_rows(content))
    _warn_of_ranks(content, columns[0], columns[2])
    return Qrels.from_columns(*columns)


def write_trec(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return the bytes of format "trec": query, 0, document, grade.

    Raises:
        InputError: an id contains white space, begins with # or is not Unicode.
    """
    lines = [
        f"{trec_word(query)} 0 {trec_word(doc)} {grade_text(grade)}\n" for query, doc, grade in rows
    ]
    return encode_utf8("".join(lines))


def write_beir(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return the bytes of format "beir": query, document, grade, separated by tabs, after a header.

    Raises:
        InputError: an id contains a tab, a line break or a zero byte, begins or ends with a
            blank, or is not Unicode.
    """
    lines = [
        f"{_beir_cell(query)}\t{_beir_cell(doc)}\t{grade_text(grade)}\n"
        for query, doc, grade in rows
    ]
    return encode_utf8("".join(["query-id\tcorpus-id\tscore\n", *lines]))


def _read_columns(
    content: FileContent, rows: Iterable[tuple[int, list[str]]]
) -> tuple[list[str], list[str], list[float]]:
    """Return query ids, document ids and grades.

    Args:
        content: the file, for error messages.
        rows: (line number, fields) of each judgement: first the query, last document and grade.

    Raises:
        FileFormatError: an id is empty, a grade is not a finite number, the grades are ids, or
            there is no row.
    """
    queries: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    value_of: dict[str, float] = {}  # a file has few different grades
    for number, fields in rows:
        if not fields[0] or not fields[-2]:
            raise FileFormatError(content.path, "an id is empty", line=number)
        queries.append(fields[0])
        documents.append(fields[-2])
        grade = value_of.get(fields[-1])
        if grade is None:
            are_swapped = is_number(fields[-2]) and not is_number(fields[-1].replace(",", "."))
            label = "grade (the last column; are the columns permuted?)" if are_swapped else "grade"
            grade = value_of[fields[-1]] = read_number(content.path, number, label, fields[-1])
        grades.append(grade)
    if not queries:
        problem = "no judgement in it; expected lines such as 'q1 0 d1 1' or 'q1<tab>d1<tab>1'"
        raise FileFormatError(content.path, problem)
    are_ids = len(value_of) > len(set(documents)) and all(map(str.isdigit, value_of))
    if are_ids and max(value_of.values()) > HIGHEST_PERCENTAGE:
        raise _permuted_error(content, value_of)
    return queries, documents, grades


def _refuse_run(
    content: FileContent, queries: Sequence[str], documents: Sequence[str], grades: Sequence[float]
) -> None:
    """Raise FileFormatError if the columns are an MS MARCO run: query, document, rank, score."""
    first_rows = [index for index, query in enumerate(queries) if query == queries[0]]
    ranks = [documents[index] for index in first_rows]
    expected_ranks = [str(rank) for rank in range(1, len(first_rows) + 1)]
    if ranks == expected_ranks and any(not grades[index].is_integer() for index in first_rows):
        problem = (
            "the third column counts 1, 2, … and the fourth holds fractions: this looks like a run "
            "(query, document, rank, score), not like qrels; read it with read_run"
        )
        raise FileFormatError(content.path, problem)


def _warn_of_ranks(content: FileContent, queries: Sequence[str], grades: Sequence[float]) -> None:
    """Warn if the grades of every query are 1, 2, … in the order of the lines, to 3 at least.

    Such a file is likely a run of MS MARCO: query, document, rank.
    """
    count_of: dict[str, int] = {}
    for query, grade in zip(queries, grades, strict=True):
        count_of[query] = count = count_of.get(query, 0) + 1
        if grade != count:
            return
    if max(count_of.values()) >= _FEWEST_RANKS:
        warn_caller(
            f"{content.path}: the grades of every query are 1, 2, … in the order of the lines, as "
            "in a run of MS MARCO (query, document, rank). If this is a run, read it with read_run"
        )


def _trec_rows(content: FileContent, iterations: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, four fields) of every line that is neither blank nor a comment.

    Args:
        content: the file.
        iterations: gets the second field of every line.
    """
    for number, line in _filled_lines(content):
        if line.startswith("#"):
            continue
        fields = split_fields(line)
        if len(fields) != _TREC_COLUMNS:
            problem = (
                f"{len(fields)} columns, expected 4 (query, iteration, document, grade) separated "
                "by blanks or tabs"
            )
            if len(fields) < _TREC_COLUMNS and is_cut_line(content, number):
                problem += CUT_OFF
            raise FileFormatError(content.path, problem, line=number)
        iterations.append(fields[1])
        yield number, fields


def _beir_rows(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, three fields) of every judgement, without a header.

    A line with tabs is split at tabs only, because ids may contain blanks. If the first line has
    two words, all lines must, and the grade is 1.
    """
    is_first = True
    num_columns = _BEIR_COLUMNS
    for number, line in _filled_lines(content):
        by_tab = [field.strip(" ") for field in line.split("\t")]
        words = split_fields(line)
        if is_first and len(words) == _PAIR_LENGTH:
            num_columns = _PAIR_LENGTH
        fields = by_tab if len(by_tab) > 1 and num_columns == _BEIR_COLUMNS else words
        if len(fields) != num_columns:
            names = ", ".join(("query", "document", "grade")[:num_columns])
            columns = f"{len(fields)} columns"
            problem = f"{columns}, expected {num_columns} ({names}) separated by tabs"
            if len(fields) < num_columns and is_cut_line(content, number):
                problem += CUT_OFF
            raise FileFormatError(content.path, problem, line=number)
        if num_columns == _PAIR_LENGTH:
            yield number, [*fields, "1"]
        elif not (is_first and is_header(fields)):
            yield number, fields
        elif names_document_first(fields):
            warn_caller(
                f"{content.path}: the header names {fields[0]} before {fields[1]}, but the first "
                "column of BEIR's qrels is the query, and is read so; format='csv' reads the "
                "columns by their names"
            )
        is_first = False


def _filled_lines(content: FileContent) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    content_text = content.text()
    check_no_zero_byte(content, content_text)
    for number, line in enumerate(content_text.split("\n"), start=1):
        text = line.removesuffix("\r")
        if text[:1] > " " or text.strip(ASCII_BLANKS):
            yield number, text


def _beir_cell(text: str) -> str:
    """Return an id if a reader of BEIR files reads it unchanged; otherwise raise InputError."""
    if any(mark in text for mark in "\t\r\n\0") or text != text.strip(" "):
        msg = (
            f"{shown(text)} contains a tab, a line break or a zero byte, or begins or ends with a "
            "blank, so a BEIR file cannot contain it; write JSON"
        )
        raise InputError(msg)
    return text


def grade_text(grade: float) -> str:
    """Return a grade as text; a whole one has no decimal point, as other readers expect."""
    return str(int(grade)) if grade.is_integer() else repr(grade)
