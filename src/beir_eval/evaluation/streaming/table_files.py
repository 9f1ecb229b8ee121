"""Score tables as Parquet files: written part by part, read whole or a few rows at a time."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import polars as pl

from beir_eval.core.atomic_writes import open_without_links, sync_folder
from beir_eval.core.files import is_parquet, parquet_errors
from beir_eval.core.paths import as_path
from beir_eval.errors import FileFormatError, ResultError
from beir_eval.evaluation.score_table import (
    FACTS_KEY,
    POSITION,
    TableFacts,
    column_types,
    result_of_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult

_TYPES: dict[type, Any] = {str: pl.String, float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
#: Rows of a table that are read at a time.
_ROWS_AT_ONCE = 100_000


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
    """Return whether a file is a score table; False for anything that cannot be read."""
    try:
        with parquet_errors(path):
            return is_parquet(path) and FACTS_KEY in pl.read_parquet_metadata(path)
    except (OSError, FileFormatError):
        return False


class ScoreTableFile:
    """A score table in a Parquet file, of which nothing but the facts has been read.

    Attributes:
        path: the file.
        facts: what is known about the table.
        num_rows: the number of judged queries.

    Raises:
        ResultError: the file is no score table, or a column is missing or of another type.
        FileFormatError: the file cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the facts."""
        self.path = as_path(path)
        with parquet_errors(self.path):
            metadata = pl.read_parquet_metadata(self.path)
            self._scan = pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
            schema = self._scan.collect_schema()
            self.num_rows = int(self._scan.select(pl.len()).collect().item())
        if FACTS_KEY not in metadata:
            msg = (
                f"{path}: a Parquet file without the facts of a score table; evaluate_stream("
                "table=…) and beir-eval evaluate --table write score tables"
            )
            raise ResultError(msg)
        try:
            content = json.loads(metadata[FACTS_KEY])
        except ValueError as error:
            msg = f"{path}: not a score table: its facts are not JSON: {error}"
            raise ResultError(msg) from error
        self.facts = TableFacts.from_content(content, path)
        expected = {name: _TYPES[kind] for name, kind in column_types(self.facts.measures).items()}
        wrong = [name for name, kind in expected.items() if schema.get(name) != kind]
        if wrong or not self.num_rows:
            problem = f"the columns {wrong[:3]} are missing or of another type"
            msg = f"{path}: not a score table: {problem if wrong else 'it has no row'}"
            raise ResultError(msg)
        self._columns = [*expected, *([POSITION] if POSITION in schema else [])]

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
            ResultError: a query is listed twice, or a score is infinite.
            QueryMismatchError: the run has no judged query.
        """
        with parquet_errors(self.path):
            frame = self._scan.select(self._columns).collect()
        return result_of_table(self.facts, columns_of(frame))


def columns_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the columns of a frame, as ``result_of_table`` takes them."""
    return {
        name: frame[name].to_list() if frame[name].dtype == pl.String else frame[name].to_numpy()
        for name in frame.columns
    }


def read_score_table(path: str | Path) -> EvaluationResult:
    """Return the result in a score table, a Parquet file, with every score in memory.

    Args:
        path: the file that ``evaluate_stream`` wrote.

    Raises:
        ResultError: the file is no score table.
        FileFormatError: the file cannot be read.
    """
    return ScoreTableFile(path).load()
