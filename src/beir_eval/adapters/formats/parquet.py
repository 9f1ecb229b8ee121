"""Readers and writers of runs and judgements as Parquet files, with polars."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from beir_eval.adapters.formats.text_lines import encode_utf8
from beir_eval.core.column_names import (
    NO_COLUMNS,
    QRELS_ROLES,
    RANK_NAMES,
    RUN_ROLES,
    choose_column,
    matching_names,
)
from beir_eval.core.files import parquet_errors
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.files import FileContent


def read_run(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Run:
    """Return the run of a file of format "parquet".

    The columns are named as ``Run.from_dataframe`` recognises them.

    Raises:
        FileFormatError: the content is not a Parquet file.
        InputError: a column is missing, an id is invalid, a number is not finite, or the rows are
            those of several systems.
    """
    frame = _read(content, columns)
    names = names_of(frame.columns, RUN_ROLES, columns, "the run")
    return Run.from_dataframe(frame, **names)


def rows_with_ranks(
    content: FileContent, columns: StatedColumns = NO_COLUMNS, most: int | None = None
) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of the first rows, or all, of a valid run with ranks."""
    available = list(pl.read_parquet_schema(content.source()))
    ranks = matching_names(available, RANK_NAMES)
    if len(ranks) == 1:
        names = names_of(available, RUN_ROLES, columns, "the run")
        read = [names["query_id"], ranks[0], names["score"]]
        frame = pl.read_parquet(content.source(), glob=False, columns=read, n_rows=most)
        for query, rank, score in frame.select(read).iter_rows():
            yield str(query), str(rank), float(score)


def read_qrels(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Qrels:
    """Return the qrels of a file of format "parquet".

    The columns are named as ``Qrels.from_dataframe`` recognises them.

    Raises:
        FileFormatError: the content is not a Parquet file.
        InputError: a column is missing, an id is invalid, a number is not finite, or the rows are
            those of several systems.
    """
    frame = _read(content, columns)
    names = names_of(frame.columns, QRELS_ROLES, columns, "the qrels")
    return Qrels.from_dataframe(frame, **names)


def write_run(rankings: Sequence[tuple[str, Sequence[str], Floats]], _tag: str) -> bytes:
    """Return the bytes of format "parquet": the columns query_id, doc_id, score.

    Raises:
        InputError: an id is not Unicode.
    """
    queries = [query for query, docs, _ in rankings for _ in docs]
    docs = [doc for _, doc_ids, _ in rankings for doc in doc_ids]
    scores = [score for _, _, values in rankings for score in values.tolist()]
    return _to_parquet({"query_id": queries, "doc_id": docs}, "score", scores)


def write_qrels(rows: Sequence[tuple[str, str, float]]) -> bytes:
    """Return the bytes of format "parquet": the columns query_id, doc_id, grade.

    Raises:
        InputError: an id is not Unicode.
    """
    queries, docs, grades = zip(*rows, strict=True)
    return _to_parquet({"query_id": queries, "doc_id": docs}, "grade", grades)


def _read(content: FileContent, columns: StatedColumns) -> pl.DataFrame:
    """Return the rows that count."""
    with parquet_errors(content.path):
        frame = pl.read_parquet(content.source(), glob=False)
    rows: pl.DataFrame = columns.rows_of(frame.columns).rows_of_frame(frame)
    return rows


def names_of(
    available: Sequence[str], roles: Sequence[str], columns: StatedColumns, label: str
) -> dict[str, str]:
    """Return {role: name of its column}.

    Args:
        available: the names of all columns.
        roles: the roles.
        columns: the names of columns that the caller states.
        label: what messages call the table.

    Raises:
        InputError: a column is missing, not recognised or one of several that match.
    """
    return {
        role: choose_column(
            available,
            role,
            columns.name_of(role, available),
            InputError,
            label,
            how_to_state="name it with columns= as {role}",
        )
        for role in roles
    }


def _to_parquet(ids: Mapping[str, Sequence[str]], name: str, numbers: Sequence[float]) -> bytes:
    """Return a Parquet file with columns of ids and a column of numbers, called ``name``."""
    for values in ids.values():
        encode_utf8("".join(values))
    columns = {key: pl.Series(values, dtype=pl.String) for key, values in ids.items()}
    columns[name] = pl.Series(numbers, dtype=pl.Float64)
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()
