"""Rows of a run in any order, partitioned by a hash of the query by polars' own sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from polars.io.plugins import register_io_source

from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.evaluation.streaming.part_scores import ROW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from beir_eval.adapters.run_parts import RunPart

_BUCKET = "bucket"
#: Rows of a bucket's file that are written at a time; more of them take more memory.
_ROW_GROUP = 50_000


def partition(
    parts: Iterable[RunPart],
    folder: Path,
    num_buckets: int,
    *,
    keep_order: bool,
    report: Callable[[RunPart], None],
) -> None:
    """Write the rows of a run into folders of Parquet files, all rows of a query into one.

    Args:
        parts: what ``RunFile.parts`` yields.
        folder: the folder of the folders, which is new.
        num_buckets: the number of folders.
        keep_order: whether rows get their place in the file, as the column ``ROW``.
        report: is called for each part that was read.
    """
    schema: dict[str, Any] = {
        _BUCKET: pl.UInt32,
        QUERY: pl.String,
        DOC: pl.String,
        SCORE: pl.Float64,
    }
    if keep_order:
        schema[ROW] = pl.UInt64
    errors: list[BaseException] = []

    def rows(
        with_columns: list[str] | None,
        _predicate: Any,
        _num_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        try:
            num_before = 0
            for part in parts:
                frame = part.frame.with_columns(
                    (pl.col(QUERY).hash(seed=0) % num_buckets).cast(pl.UInt32).alias(_BUCKET)
                )
                if keep_order:
                    frame = numbered(frame, num_before)
                num_before += len(frame)
                report(part)
                yield frame.select(list(schema) if with_columns is None else with_columns)
        except BaseException as error:
            errors.append(error)
            raise

    target: Any
    if hasattr(pl, "PartitionBy"):
        target = pl.PartitionBy(folder, key=_BUCKET, include_key=False)
    else:  # polars before 1.37
        target = pl.PartitionByKey(folder, by=_BUCKET, include_key=False)  # type: ignore[attr-defined]
    try:
        register_io_source(rows, schema=schema).sink_parquet(
            target,
            mkdir=True,
            maintain_order=True,
            compression="lz4",
            statistics=False,
            row_group_size=_ROW_GROUP,
            engine="streaming",
        )
    except Exception:
        # polars replaces errors of a source by its own, with the text only.
        if errors:
            raise errors[0] from None
        raise


def numbered(frame: pl.DataFrame, first: int) -> pl.DataFrame:
    """Return rows with their places in the file as the column ``ROW``, u8[N].

    An index of polars itself has 32 bits.

    Args:
        frame: the rows.
        first: the place of the first of them.
    """
    return frame.with_columns(pl.int_range(first, first + len(frame), dtype=pl.UInt64).alias(ROW))


def buckets(folder: Path) -> list[Path]:
    """Return the folders that ``partition`` wrote, in a fixed order."""
    return sorted(path for path in folder.iterdir() if path.is_dir())


def read_bucket(folder: Path) -> pl.DataFrame:
    """Return the rows of one folder."""
    files = sorted(folder.rglob("*.parquet"))
    return pl.concat([pl.read_parquet(file, hive_partitioning=False, glob=False) for file in files])
