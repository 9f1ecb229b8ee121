"""Reading qrels and run files: ``read_qrels`` and ``read_run``, public at top level."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval._files import read_number, read_text
from beir_eval.adapters.beir import find_qrels, header_of_qrels
from beir_eval.errors import FileFormatError, MissingExtraError, QrelsError, SettingError
from beir_eval.qrels import Qrels
from beir_eval.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

TREC_QRELS_COLUMNS = 4
BEIR_QRELS_COLUMNS = 3


def read_qrels(path: str | Path, *, split: str | None = None) -> Qrels:
    """Read judgements from a file or from a BEIR data-set folder.

    Formats, told by the number of columns of the first line: TREC (query, iteration, document,
    grade, separated by blanks or tabs; lines that start with ``#`` are comments) and BEIR (query,
    document, grade, separated by tabs, with a header row or without). ``.gz`` files are unpacked.
    Grades may be fractions ("1.0", "0.5").

    Args:
        path: a file, or a folder that holds ``qrels/<split>.tsv``.
        split: which judgements of a folder, "test" by default; not for a file.

    Raises:
        FileFormatError: a line with another number of columns, a grade that is not a number, a
            document judged twice with different grades, no judgement at all, a truncated .gz, a
            binary file; a folder without that split.
        SettingError: ``split`` with a file.
        OSError: the file cannot be read.
    """
    source = Path(path)
    if source.is_dir():
        source = find_qrels(source, split or "test")
    elif split is not None:
        msg = f"split={split!r} belongs to a data-set folder, but {path} is a file"
        raise SettingError(msg)
    queries: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    for query_id, doc_id, grade in _judgements(source):
        queries.append(query_id)
        documents.append(doc_id)
        grades.append(grade)
    if not queries:
        problem = "no judgement in it; expected lines such as 'q1 0 d1 1' or 'q1<tab>d1<tab>1'"
        raise FileFormatError(source, problem)
    try:
        return Qrels.from_columns(queries, documents, grades)
    except QrelsError as error:
        raise FileFormatError(source, str(error)) from error


def read_run(path: str | Path) -> Run:
    """Read a TREC run: query, Q0, document, rank, score, tag, separated by blanks or tabs.

    The rank column is ignored, as trec_eval ignores it: scores rank. Lines that start with ``#``
    are comments; ``.gz`` files are unpacked. A document that stands twice is kept twice;
    ``evaluate(duplicates=…)`` decides about it.

    Raises:
        FileFormatError: a line with another number of columns, a score that is not a finite
            number, no line at all, a truncated .gz, a binary file.
        MissingExtraError: polars is not installed.
        OSError: the file cannot be read.
    """
    try:
        from beir_eval.adapters._frames import read_trec_run  # noqa: PLC0415 - an extra
    except ImportError as error:
        package, extra = "polars", "files"
        raise MissingExtraError(package, extra, "reading a run file") from error
    return Run.from_source(read_trec_run(Path(path)))


def _judgements(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield (query_id, doc_id, grade) of a qrels file."""
    columns = 0
    for number, line in _lines(path):
        fields = _fields(line, columns)
        if line.startswith("#") and len(fields) != BEIR_QRELS_COLUMNS:
            continue  # BEIR files have no comments, and their ids may begin with #
        if not columns:
            columns = len(fields)
            if columns not in (BEIR_QRELS_COLUMNS, TREC_QRELS_COLUMNS):
                problem = (
                    f"{columns} columns, expected 4 (TREC: query, iteration, document, grade) or "
                    "3 (BEIR: query, document, grade, separated by tabs)"
                )
                raise FileFormatError(path, problem, line=number)
            if columns == BEIR_QRELS_COLUMNS and header_of_qrels(fields):
                continue
        if len(fields) != columns:
            problem = f"{len(fields)} columns, expected {columns} as on the lines before"
            raise FileFormatError(path, problem, line=number)
        if not fields[0] or not fields[-2]:
            raise FileFormatError(path, "an id is empty", line=number)
        yield fields[0], fields[-2], read_number(path, number, "grade", fields[-1])


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        bare = line.removesuffix("\r")
        if bare.strip():
            yield number, bare


def _fields(line: str, columns: int) -> list[str]:
    """Split a line: BEIR's at tabs, where it has any, since its ids may hold blanks."""
    by_tab = line.split("\t")
    if len(by_tab) == BEIR_QRELS_COLUMNS and columns != TREC_QRELS_COLUMNS:
        return [field.strip() for field in by_tab]
    return [line] if line.startswith("#") else line.split()
