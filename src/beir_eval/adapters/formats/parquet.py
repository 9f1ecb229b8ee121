"""Runs and judgements as Parquet files, with polars."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from beir_eval.adapters.formats.text_lines import encoded
from beir_eval.core.files import parquet_errors
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.files import FileContent


def read_run(content: FileContent) -> Run:
    """Read "parquet": columns named as ``Run.from_dataframe`` recognises them.

    Raises:
        FileFormatError: not a Parquet file.
        InputError: no such columns, something that is not an id, or not a number.
    """
    return Run.from_dataframe(_read(content))


def read_qrels(content: FileContent) -> Qrels:
    """Read "parquet": columns named as ``Qrels.from_dataframe`` recognises them.

    Raises:
        FileFormatError: not a Parquet file.
        InputError: no such columns, something that is not an id, or not a number.
    """
    return Qrels.from_dataframe(_read(content))


def write_run(rankings: Sequence[tuple[str, Sequence[str], Floats]], _tag: str) -> bytes:
    """Return "parquet": the columns query_id, doc_id, score."""
    queries = [query for query, docs, _ in rankings for _ in docs]
    docs = [doc for _, listed, _ in rankings for doc in listed]
    scores = [score for _, _, values in rankings for score in values.tolist()]
    return _written({"query_id": queries, "doc_id": docs}, "score", scores)


def write_qrels(rows: Sequence[tuple[str, str, float]]) -> bytes:
    """Return "parquet": the columns query_id, doc_id, grade."""
    queries, docs, grades = zip(*rows, strict=True)
    return _written({"query_id": queries, "doc_id": docs}, "grade", grades)


def _read(content: FileContent) -> pl.DataFrame:
    with parquet_errors(content.path):
        return pl.read_parquet(content.source(), glob=False)


def _written(ids: Mapping[str, Sequence[str]], name: str, numbers: Sequence[float]) -> bytes:
    for values in ids.values():
        encoded("".join(values))
    columns = {key: pl.Series(values, dtype=pl.String) for key, values in ids.items()}
    columns[name] = pl.Series(numbers, dtype=pl.Float64)
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()
