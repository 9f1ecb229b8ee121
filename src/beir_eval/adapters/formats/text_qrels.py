"""Judgements as lines of text, read and written: TREC's four columns, BEIR's three."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.adapters.formats.text_lines import encoded, trec_word
from beir_eval.core.files import read_number, split_fields
from beir_eval.core.qrels import Qrels
from beir_eval.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.files import FileContent

_TREC_COLUMNS = 4
_BEIR_COLUMNS = 3
_GRADE_HEADERS = frozenset({"score", "grade", "label", "rel", "relevance", "relevance_score"})


def read_trec(content: FileContent) -> Qrels:
    """Read "trec": query, iteration, document, grade.

    Raises:
        FileFormatError: a line with another number of columns, a grade that is not a finite
            number, no judgement at all, or a run.
    """
    columns = _columns(content, _trec(content))
    _refuse_run(content, *columns)
    return Qrels.from_columns(*columns)


def read_beir(content: FileContent) -> Qrels:
    """Read "beir": query, document, grade, separated by tabs, with a header row or without.

    Raises:
        FileFormatError: a line with another number of columns, an empty id, a grade that is not a
            finite number, or no judgement at all.
    """
    return Qrels.from_columns(*_columns(content, _beir(content)))


def write_trec(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return "trec": query, 0, document, grade.

    Raises:
        InputError: an id with white space, or not Unicode.
    """
    lines = [
        f"{trec_word(query)} 0 {trec_word(doc)} {_plain(grade)}\n" for query, doc, grade in rows
    ]
    return encoded("".join(lines))


def write_beir(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return "beir": query, document, grade, separated by tabs, below a header row.

    Raises:
        InputError: an id with a tab or with blanks at its ends, or not Unicode.
    """
    lines = [f"{_cell(query)}\t{_cell(doc)}\t{_plain(grade)}\n" for query, doc, grade in rows]
    return encoded("".join(["query-id\tcorpus-id\tscore\n", *lines]))


def _columns(
    content: FileContent, rows: Iterable[tuple[int, list[str]]]
) -> tuple[list[str], list[str], list[float]]:
    """Return query ids, document ids and grades."""
    queries: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    for number, fields in rows:
        if not fields[0] or not fields[-2]:
            raise FileFormatError(content.path, "an id is empty", line=number)
        queries.append(fields[0])
        documents.append(fields[-2])
        grades.append(read_number(content.path, number, "grade", fields[-1]))
    if not queries:
        problem = "no judgement in it; expected lines such as 'q1 0 d1 1' or 'q1<tab>d1<tab>1'"
        raise FileFormatError(content.path, problem)
    return queries, documents, grades


def _refuse_run(
    content: FileContent, queries: Sequence[str], documents: Sequence[str], grades: Sequence[float]
) -> None:
    """Raise FileFormatError for four columns of MS MARCO: query, document, rank, score."""
    first = [place for place, query in enumerate(queries) if query == queries[0]]
    ranks = [documents[place] for place in first]
    counted = [str(rank) for rank in range(1, len(first) + 1)]
    if ranks == counted and any(not grades[place].is_integer() for place in first):
        problem = (
            "the third column counts 1, 2, … and the fourth holds fractions: this looks like a run "
            "(query, document, rank, score), not like qrels; read it with read_run"
        )
        raise FileFormatError(content.path, problem)


def _trec(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(content):
        if line.startswith("#"):
            continue
        fields = split_fields(line)
        if len(fields) != _TREC_COLUMNS:
            problem = (
                f"{len(fields)} columns, expected 4 (query, iteration, document, grade) separated "
                "by blanks or tabs"
            )
            raise FileFormatError(content.path, problem, line=number)
        yield number, fields


def _beir(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    """Split at tabs, where a line has any: ids may hold blanks. The first row may be a header."""
    is_first = True
    for number, line in _lines(content):
        by_tab = [field.strip(" ") for field in line.split("\t")]
        fields = by_tab if len(by_tab) > 1 else split_fields(line)
        if len(fields) != _BEIR_COLUMNS:
            found = f"{len(fields)} columns"
            problem = f"{found}, expected 3 (query, document, grade) separated by tabs"
            raise FileFormatError(content.path, problem, line=number)
        if not (is_first and _is_header(fields)):
            yield number, fields
        is_first = False


def _is_header(fields: Sequence[str]) -> bool:
    """Return whether the first row of a BEIR qrels file names its columns.

    Some files have no such row, and skipping it blindly loses a judgement.
    """
    return fields[-1].strip().lower() in _GRADE_HEADERS


def _lines(content: FileContent) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    for number, line in enumerate(content.text().split("\n"), start=1):
        bare = line.removesuffix("\r")
        if bare.strip():
            yield number, bare


def _cell(text: str) -> str:
    """Return the text, or raise InputError where BEIR's reader would see another one."""
    if any(mark in text for mark in "\t\r\n") or text != text.strip(" "):
        msg = f"{text!r} holds a tab or ends in blanks, which a BEIR file cannot say; write JSON"
        raise InputError(msg)
    return text


def _plain(grade: float) -> str:
    """Return a whole grade without a point, as other readers expect it."""
    return str(int(grade)) if grade.is_integer() else repr(grade)
