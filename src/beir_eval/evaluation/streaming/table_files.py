"""Score tables: their rows from the rows of a run, and the Parquet files that hold them.

Whole queries are scored at a time, and written part by part; tables are read whole or a few rows at
a time. A table of ``evaluate_stream`` is a file. One that Spark wrote is a folder of files, each
with a part of the rows.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from beir_eval.core.arrays import starts_from_lengths
from beir_eval.core.atomic_writes import open_without_links, sync_folder
from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.core.files import as_path, is_parquet, parquet_errors
from beir_eval.core.run import Run
from beir_eval.core.run_sources.columns import ColumnSource
from beir_eval.core.run_sources.dataframe import FrameRankings
from beir_eval.errors import FileFormatError, ResultError
from beir_eval.evaluation.score_table import (
    FACTS_KEY,
    POSITION,
    QUERY_ID,
    REPEATED,
    TableFacts,
    column_types,
    result_of_table,
    score_queries,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.arrays import Ints
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.evaluation.streaming.judgements import Judgements
    from beir_eval.measures import Measure

#: The column of the places of rows in their file.
ROW = "row_in_file"


class PartScores(NamedTuple):
    """What was evaluated of some rows of a run.

    Attributes:
        columns: the columns of a score table, with ``position``; None if no query is judged.
        not_judged: the number of queries that are not judged.
    """

    columns: dict[str, Any] | None
    not_judged: int


class Scorer:
    """Evaluates whole queries of a run.

    Args:
        judgements: the judgements of all queries.
        measures: the measures.
        settings: how the run is ranked.
    """

    def __init__(
        self, judgements: Judgements, measures: Sequence[Measure], settings: EvaluationSettings
    ) -> None:
        """Keep the arguments."""
        self.judgements, self.measures, self.settings = judgements, measures, settings

    def grouped(self, frame: pl.DataFrame, queries: pl.Series, lengths: Ints) -> PartScores:
        """Return the scores of queries whose rows follow each other.

        Args:
            frame: query, document and score.
            queries: the queries, each once. [S]
            lengths: the number of rows of each, i8[S].
        """
        rows = self.judgements.find(queries)
        is_judged = rows >= 0
        if not is_judged.any():
            return PartScores(None, len(rows))
        if not is_judged.all():
            frame = frame.filter(pl.Series(np.repeat(is_judged, lengths)))
        lengths = lengths[is_judged]
        rows = rows[is_judged]
        query_ids = queries.filter(pl.Series(is_judged)).to_list()
        run = run_of_rows(frame, query_ids, lengths)
        return PartScores(self._score(np.sort(rows), run), int(np.count_nonzero(~is_judged)))

    def ungrouped(self, frame: pl.DataFrame) -> PartScores:
        """Return the scores of all queries in some rows, which may be in any order.

        Args:
            frame: query, document, score, and ``ROW`` if the order of the file matters.
        """
        rows = self.judgements.find(frame[QUERY])
        is_judged = rows >= 0
        not_judged = 0
        if not is_judged.all():
            mask = pl.Series(is_judged)
            not_judged = frame.filter(~mask)[QUERY].n_unique()
            frame, rows = frame.filter(mask), rows[is_judged]
        if not len(rows):
            return PartScores(None, not_judged)
        order = (
            np.lexsort((frame[ROW].to_numpy(), rows))
            if ROW in frame.columns
            else np.argsort(rows, kind="stable")
        )
        frame, rows = frame[order], rows[order]
        distinct, lengths = np.unique(rows, return_counts=True)
        query_ids = self.judgements.queries[distinct].to_list()
        run = run_of_rows(frame, query_ids, lengths.astype(np.int64))
        return PartScores(self._score(distinct, run), not_judged)

    def missing(self, rows: Ints) -> dict[str, Any]:
        """Return the rows of queries that the run does not have.

        Args:
            rows: indices of judged queries, at least one.
        """
        return self._score(rows, Run({}))

    def _score(self, rows: Ints, run: Run) -> dict[str, Any]:
        columns = score_queries(self.judgements.select(rows), run, self.measures, self.settings)
        return {**columns, POSITION: rows}


def run_of_rows(frame: pl.DataFrame, query_ids: Sequence[str], lengths: Ints) -> Run:
    """Return a run of grouped rows.

    Args:
        frame: query, document and score; a row without a document stands for an empty ranking.
        query_ids: the queries, each once. [S]
        lengths: the number of rows of each, i8[S].
    """
    if frame[DOC].null_count():
        is_document = frame[DOC].is_not_null()
        row = np.repeat(np.arange(len(lengths)), lengths)[is_document.to_numpy()]
        lengths = np.bincount(row, minlength=len(lengths)).astype(np.int64)
        frame = frame.filter(is_document)
    has_scores = not len(frame) or frame[SCORE].null_count() == 0
    frame = frame.rechunk()
    scores = frame[SCORE] if has_scores else None
    rankings = FrameRankings(starts_from_lengths(lengths), frame[DOC], scores)
    return Run.from_source(ColumnSource(query_ids, rankings))


def run_of_rows_in_any_order(frame: pl.DataFrame) -> Run:
    """Return a run of a few rows, its queries in the order of their first rows.

    Args:
        frame: query, document and score; a row without a document stands for an empty ranking.
    """
    row_of: dict[str, int] = {}
    queries = frame[QUERY].to_list()
    rows = np.array([row_of.setdefault(query, len(row_of)) for query in queries])
    frame = frame[np.argsort(rows, kind="stable")]
    return run_of_rows(frame, list(row_of), np.bincount(rows).astype(np.int64))


_TYPES: dict[type, Any] = {str: pl.String, float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
#: Rows of a table that are read at a time.
_ROWS_AT_ONCE = 100_000
#: Where Spark keeps its schema, with the metadata of columns, in each Parquet file that it writes.
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"
#: A folder of this name is inside the folder of a table while Spark's job writes it.
_UNFINISHED = "_temporary"


def table_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns of a score table as a frame; an undefined score is null."""
    frame = pl.DataFrame({name: pl.Series(values) for name, values in columns.items()})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def write_part(path: Path, columns: Mapping[str, Any]) -> None:
    """Write rows of a score table to a file, completely or not at all."""
    temporary = path.with_suffix(".tmp")
    table_frame(columns).write_parquet(temporary, statistics=False)
    _finish(temporary, path)


def merge_parts(parts: Sequence[Path], path: Path, facts: TableFacts) -> None:
    """Write the rows of all parts to one file with the facts, completely or not at all.

    Args:
        parts: files of ``write_part``, at least one.
        path: the score table, which is replaced.
        facts: what is known about the table.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open_without_links(temporary, "xb"):
            pass  # it is new, and no link
        pl.scan_parquet(list(parts), glob=False, hive_partitioning=False).sink_parquet(
            temporary, metadata={FACTS_KEY: facts.model_dump_json()}, engine="streaming"
        )
        _finish(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _finish(temporary: Path, path: Path) -> None:
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def has_score_table(path: Path) -> bool:
    """Return whether a path is a score table: a file, or a folder of files that Spark wrote.

    False for anything that cannot be read.
    """
    try:
        with parquet_errors(path):
            if path.is_dir():
                parts = _parts_of(path)
                return bool(parts) and _spark_facts(pl.read_parquet_metadata(parts[0])) is not None
            return is_parquet(path) and FACTS_KEY in pl.read_parquet_metadata(path)
    except (OSError, FileFormatError):
        return False


def _parts_of(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder that Spark wrote, in the order of their names."""
    return sorted(folder.glob("[!._]*.parquet"))


def _spark_facts(metadata: Mapping[str, str]) -> str | None:
    """Return the facts that Spark keeps with the column of query ids, as JSON; None without them.

    Args:
        metadata: that of a Parquet file.
    """
    try:
        fields = json.loads(metadata.get(_SPARK_SCHEMA, ""))["fields"]
        [facts] = [field["metadata"][FACTS_KEY] for field in fields if field["name"] == QUERY_ID]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return facts if isinstance(facts, str) else None


class ScoreTableFile:
    """A score table in Parquet, of which nothing but the facts has been read.

    Attributes:
        path: the file, or the folder that Spark wrote.
        facts: what is known about the table.
        num_rows: the number of judged queries.

    Raises:
        ResultError: the file is no score table, a column is missing or of another type, or Spark
            has not finished the folder.
        FileFormatError: the file cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the facts."""
        self.path = as_path(path)
        self._is_of_spark = self.path.is_dir()
        files = _parts_of(self.path) if self._is_of_spark else [self.path]
        self.facts = TableFacts.from_text(self._read_facts(files), path)
        with parquet_errors(self.path):
            self._scan = pl.scan_parquet(files, glob=False, hive_partitioning=False)
            schema = self._scan.collect_schema()
            self.num_rows = int(self._scan.select(pl.len()).collect().item())
        expected = {name: _TYPES[kind] for name, kind in column_types(self.facts.measures).items()}
        if self._is_of_spark:
            expected[REPEATED] = pl.Int64
        wrong = [name for name, kind in expected.items() if schema.get(name) != kind]
        if wrong or not self.num_rows:
            problem = f"the columns {wrong[:3]} are missing or of another type"
            msg = f"{path}: not a score table: {problem if wrong else 'it has no row'}"
            raise ResultError(msg)
        has_positions = POSITION in schema and not self._is_of_spark
        self._columns = [*expected, *([POSITION] if has_positions else [])]

    def _read_facts(self, files: Sequence[Path]) -> str:
        """Return the facts as JSON.

        Raises:
            ResultError: there are none, the files have different ones, or Spark still writes them.
            FileFormatError: a file cannot be read.
        """
        if self._is_of_spark and (self.path / _UNFINISHED).exists():
            msg = (
                f"{self.path}: the job of Spark that writes this table has not finished, or was "
                f"interrupted (the folder has {_UNFINISHED} in it); wait for it, or write the "
                "table again"
            )
            raise ResultError(msg)
        with parquet_errors(self.path):
            metadata = [pl.read_parquet_metadata(file) for file in files]
        if self._is_of_spark:
            texts = {_spark_facts(of_file) for of_file in metadata}
        else:
            texts = {metadata[0].get(FACTS_KEY)}
            if texts == {None} and _spark_facts(metadata[0]) is not None:
                msg = (
                    f"{self.path}: one file of a score table that Spark wrote, which may have a "
                    f"part of its rows; name the folder, {self.path.parent}"
                )
                raise ResultError(msg)
        if len(texts) > 1:
            msg = (
                f"{self.path}: files of different score tables; write each table into a folder of "
                'its own, with mode("overwrite")'
            )
            raise ResultError(msg)
        text = next(iter(texts), None)
        if text is None:
            kind = "a folder" if self._is_of_spark else "a Parquet file"
            msg = (
                f"{self.path}: {kind} without the facts of a score table; evaluate_stream(table=…) "
                "and beir-eval evaluate -o s.parquet write score tables, and so does Spark from "
                "what beir_eval.integrations.spark.evaluate returned"
            )
            raise ResultError(msg)
        return text

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows, some at a time.

        Args:
            columns: the columns to read; None for all.
        """
        names = self._columns if columns is None else list(columns)
        for row in range(0, self.num_rows, _ROWS_AT_ONCE):
            with parquet_errors(self.path):
                yield self._scan.select(names).slice(row, _ROWS_AT_ONCE).collect()

    @property
    def has_positions(self) -> bool:
        """Whether the table has the place of each query in the qrels."""
        return POSITION in self._columns

    def load(self) -> EvaluationResult:
        """Return the result over all rows, with every score in memory.

        Raises:
            ResultError: a query is listed twice, or scores and counts do not fit each other.
            QueryMismatchError: the run has no judged query.
        """
        with parquet_errors(self.path):
            frame = self._scan.select(self._columns).collect()
        if self._is_of_spark:
            frame = frame.sort(QUERY_ID)  # Spark does not keep the order of rows
        return result_of_table(self.facts, columns_of(frame))


def columns_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the columns of a frame, as ``result_of_table`` takes them."""
    return {
        name: frame[name].to_list() if frame[name].dtype == pl.String else frame[name].to_numpy()
        for name in frame.columns
    }


def read_score_table(path: str | Path) -> EvaluationResult:
    """Return the result in a score table, with every score in memory.

    Args:
        path: the file that ``evaluate_stream`` wrote; or the folder of Parquet files that Spark
            wrote, whose queries come in the order of their ids.

    Raises:
        ResultError: the path is no score table, or Spark has not finished to write it.
        FileFormatError: a file cannot be read.
    """
    return ScoreTableFile(path).load()
