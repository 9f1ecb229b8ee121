"""Documents to leave out of the ranking of a query: files of them, and those of a data set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import ID_NAMES, table_files
from beir_eval.core.files import FileContent, as_path, parquet_errors
from beir_eval.core.ids import id_text
from beir_eval.core.qrels import excluded_ids
from beir_eval.errors import FileFormatError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from beir_eval.core.qrels import Qrels

#: The field of queries that lists the documents, as in the data set BRIGHT.
EXCLUDED_IDS = "excluded_ids"


def read_exclusions(path: str | Path) -> dict[str, list[str]]:
    """Return {query_id: documents} of a file with two columns: query and document.

    The columns are separated by tabs or, in a line without one, by blanks; lines that start with
    ``#`` are comments.

    Args:
        path: the file, which may be compressed.

    Raises:
        FileFormatError: a line has another number of columns, or the file is empty or no text.
        OSError: the file cannot be read.
    """
    file = as_path(path)
    excluded: dict[str, list[str]] = {}
    for number, line in enumerate(FileContent(file).data().splitlines(), start=1):
        try:
            text = line.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise FileFormatError(file, "not a text in UTF-8", line=number) from error
        columns = text.split("\t") if "\t" in text else text.split()
        if not text or text.startswith("#"):
            continue
        if len(columns) != 2:  # noqa: PLR2004 - a query and a document
            problem = f"two columns were expected, query and document, not {len(columns)}"
            raise FileFormatError(file, problem, line=number)
        excluded.setdefault(columns[0], []).append(columns[1])
    if not excluded:
        raise FileFormatError(file, "no line with a query and a document to leave out")
    return excluded


def with_listed_exclusions(qrels: Qrels, folder: Path) -> Qrels:
    """Return the judgements without the documents that the queries of their folder exclude.

    Args:
        qrels: the judgements.
        folder: the data set, whose queries may have the field ``excluded_ids``, in JSON lines also
            inside ``metadata``.

    Raises:
        FileFormatError: the field is not a list of ids, or its line is no JSON object.
        MissingExtraError: the queries are a Parquet file and polars is not installed.
        OSError: the file cannot be read.
    """
    for file in table_files(folder, "queries"):
        qrels = excluding_listed(qrels, file, _records(file))
    return qrels


def lists_exclusions(folder: Path) -> bool:
    """Return whether the queries of a folder have the field ``excluded_ids``; raise as above."""
    return any(True for file in table_files(folder, "queries") for _ in _records(file))


def excluding_listed(
    qrels: Qrels, name: Path | str, records: Iterable[tuple[int, Mapping[str, Any]]]
) -> Qrels:
    """Return the judgements without the documents that records of queries exclude.

    Args:
        qrels: the judgements.
        name: the file or table of the queries, for messages.
        records: the number of each query's line or row, and the query as {field: value}.

    Raises:
        FileFormatError: the field is not a list of ids.
    """
    excluded: dict[str, frozenset[str]] = {}
    judged = set(qrels.query_ids)
    for number, record in records:
        listed = record.get(EXCLUDED_IDS)
        if listed is None and isinstance(metadata := record.get("metadata"), dict):
            listed = metadata.get(EXCLUDED_IDS)
        if listed is None:
            continue
        try:
            query_id = id_text(next(record[field] for field in ID_NAMES if field in record))
            doc_ids = excluded_ids(query_id, listed)
        except (StopIteration, TypeError, ValueError) as error:
            problem = f"{EXCLUDED_IDS} must be a list of ids of a query, not {shown(listed)}"
            raise FileFormatError(name, problem, line=number) from error
        if query_id in judged:
            excluded[query_id] = excluded.get(query_id, frozenset()) | doc_ids
    return qrels.excluding(excluded) if excluded else qrels


def _records(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the content of each query, if the file has the field."""
    return _rows_of_parquet(file) if file.suffix == ".parquet" else _lines_with_field(file)


def _lines_with_field(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the JSON object of each line that has the field."""
    data = FileContent(file).data()
    if EXCLUDED_IDS.encode() not in data:
        return
    for number, line in enumerate(data.splitlines(), start=1):
        if EXCLUDED_IDS.encode() in line:
            try:
                record = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                raise FileFormatError(file, f"not a line of JSON ({error})", line=number) from error
            if not isinstance(record, dict):
                raise FileFormatError(file, "a JSON object was expected", line=number)
            yield number, record


def _rows_of_parquet(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the content of each row, if there is a column of that name."""
    with needs_extra("polars", "files", "reading Parquet files"):
        import polars as pl  # noqa: PLC0415 - an extra
    with parquet_errors(file):
        frame = pl.scan_parquet(file, glob=False)
        names = [name for name in frame.collect_schema() if name in (*ID_NAMES, EXCLUDED_IDS)]
        if EXCLUDED_IDS in names:
            yield from enumerate(frame.select(names).collect().iter_rows(named=True), start=1)
