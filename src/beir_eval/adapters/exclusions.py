"""Documents to leave out of the ranking of a query: files of them, and those of a data set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import table_files
from beir_eval.core.files import FileContent, as_path
from beir_eval.errors import FileFormatError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from beir_eval.core.qrels import Qrels

#: The field of queries that lists the documents, as in the data set BRIGHT.
_FIELD = "excluded_ids"
#: What BRIGHT lists for a query of which no document is excluded.
_NOTHING = "N/A"


def read_exclusions(path: str | Path) -> dict[str, list[str]]:
    """Return {query_id: documents} of a file with two columns: query and document.

    The columns are separated by blanks or tabs; lines that start with ``#`` are comments.

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
            columns = line.decode("utf-8-sig").split()
        except UnicodeDecodeError as error:
            raise FileFormatError(file, "not a text in UTF-8", line=number) from error
        if not columns or columns[0].startswith("#"):
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
        folder: the data set, whose ``queries.jsonl`` may have the field ``excluded_ids``, also
            inside ``metadata``.

    Raises:
        FileFormatError: the field is not a list of ids, or its line is no JSON.
        OSError: the file cannot be read.
    """
    for file in table_files(folder, "queries"):
        if file.suffix == ".parquet" or _FIELD.encode() not in (data := FileContent(file).data()):
            continue
        records = []
        for number, line in enumerate(data.splitlines(), start=1):
            if _FIELD.encode() in line:
                try:
                    records.append(json.loads(line))
                except (ValueError, RecursionError) as error:
                    problem = f"not a line of JSON ({error})"
                    raise FileFormatError(file, problem, line=number) from error
        qrels = excluding_listed(qrels, file, records)
    return qrels


def excluding_listed(qrels: Qrels, name: Path | str, records: Iterable[Mapping[str, Any]]) -> Qrels:
    """Return the judgements without the documents that records of queries exclude.

    Args:
        qrels: the judgements.
        name: the file or table of the queries, for messages.
        records: the queries as {field: value}.

    Raises:
        FileFormatError: the field is not a list of ids.
    """
    excluded: dict[str, list[str]] = {}
    for record in records:
        fields = {**(record.get("metadata") or {}), **record}
        query_id, listed = fields.get("_id", fields.get("id")), fields.get(_FIELD)
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(doc, str | int) for doc in listed):
            problem = f"{_FIELD} of query {shown(query_id)} must be a list of ids"
            raise FileFormatError(name, problem)
        excluded[str(query_id)] = [str(doc) for doc in listed if doc != _NOTHING]
    judged = {query_id: excluded[query_id] for query_id in qrels.query_ids if query_id in excluded}
    return qrels.excluding(judged) if any(judged.values()) else qrels
