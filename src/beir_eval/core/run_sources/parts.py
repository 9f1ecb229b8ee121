"""Rankings that need not fit into memory: their rows are read in parts, for each use anew."""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

import polars as pl

from beir_eval.core.column_names import QUERY
from beir_eval.core.run_sources.base import StartAgainError
from beir_eval.core.run_sources.dataframe import source_from_frames
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock
    from beir_eval.core.run_sources.columns import ColumnSource

#: Rows that are gathered, and about as many that a partition has; the largest number of partitions.
_PART_ROWS, _MOST_PARTITIONS = 1_000_000, 256
_PARTITION = "partition"


class RowReader(Protocol):
    """What reads the rows of a run, from the first one, as often as they are needed."""

    @property
    def num_rows(self) -> int:
        """About how many rows there are."""
        ...

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows, checked: ``QUERY``, ``DOC``, and what ``rankings`` needs.

        Raises:
            StartAgainError: the rows are of another kind; they are read as these from now on.
        """
        ...

    @property
    def needs_all_rows(self) -> bool:
        """Whether all rows must have been read before those of a query can be checked."""
        ...

    def rankings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return all rows of some queries as rankings: ``QUERY``, ``DOC``, perhaps ``SCORE``.

        Raises:
            InputError: they are not valid.
        """
        ...

    def can_read_otherwise(self, error: InputError) -> bool:
        """Return whether rows that were not valid may be of another kind, and read them so."""
        ...


class PartsSource:
    """The source of a run whose rows are read in parts.

    As long as the rows of each query follow each other, whole queries are yielded as they come. If
    a query comes back, the blocks that were yielded do not count (``StartAgainError``): the rows
    are partitioned by a hash of the query into temporary Parquet files, which are removed with this
    object, and whole partitions are yielded from then on. So are rows that are not valid before
    all rows of a query are known, such as ranks.

    Args:
        reader: reads the rows.
    """

    checks_all_documents: ClassVar[bool] = True
    is_in_parts: ClassVar[bool] = True

    def __init__(self, reader: RowReader) -> None:
        """Read nothing yet."""
        self._reader, self._is_grouped = reader, True
        self._partitions: Path | None = None
        self._query_ids: tuple[str, ...] | None = None

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, in the order of the rows, which are read if need be."""
        while self._query_ids is None:
            try:
                for _ in self._sources():
                    pass
            except StartAgainError:
                continue
        return self._query_ids

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries.

        Raises:
            StartAgainError: the blocks that were yielded do not count; ask for blocks again.
        """
        for source in self._sources():
            yield from source.blocks(qrels)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking, one partition after the other if the rows are not grouped."""
        if self.query_ids:  # reading them shows whether the rows are grouped
            for source in self._sources():
                yield from source.rankings()

    def _sources(self) -> Iterator[ColumnSource]:
        """Yield rankings; after the last ones, all query ids are known."""
        for rows in self._whole_queries():
            try:
                rankings = self._reader.rankings(rows)
            except InputError as error:
                if self._partitions is None:
                    self._is_grouped = False  # a row that comes later may explain it
                elif self._reader.can_read_otherwise(error):
                    self._remove_partitions()
                    self._partitions = None
                else:
                    raise
                raise StartAgainError from error
            yield source_from_frames([rankings])

    def _whole_queries(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of whole queries."""
        if self._is_grouped and not self._reader.needs_all_rows:
            yield from self._grouped_rows()
            return
        if self._partitions is None:
            self._partitions = self._write_partitions()
        for folder in sorted(self._partitions.iterdir()):
            parts = [pl.read_parquet(file, glob=False) for file in sorted(folder.iterdir())]
            yield grouped_by_query(pl.concat(parts))

    def _grouped_rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of whole queries as they are read, as long as no query comes back."""
        seen: dict[str, None] = {}
        rest: list[pl.DataFrame] = []
        for frame in _gathered(self._reader.frames()):
            rows = pl.concat([*rest, frame])
            stretches = rows[QUERY].rle().struct
            queries = stretches.field("value").to_list()
            end = len(rows) - int(stretches.field("len")[-1])  # the last query may go on
            if not seen.keys().isdisjoint(queries) or len(set(queries)) < len(queries):
                self._is_grouped = False
                raise StartAgainError
            seen.update(dict.fromkeys(queries[:-1]))
            rest = [rows[end:]]
            if end:
                yield rows[:end]
        if rest:
            seen[rest[0][QUERY][0]] = None
            yield rest[0]
        self._query_ids = tuple(seen)

    def _write_partitions(self) -> Path:
        """Return the folder of the partitions, each a folder of files in the order of the rows."""
        num_partitions = -(-self._reader.num_rows // _PART_ROWS)
        num_partitions = max(1, min(_MOST_PARTITIONS, num_partitions))
        folder = Path(tempfile.mkdtemp(prefix="beir-eval-"))
        self._remove_partitions = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        seen: dict[str, None] = {}
        try:
            for number, rows in enumerate(_gathered(self._reader.frames())):
                seen.update(dict.fromkeys(rows[QUERY].unique(maintain_order=True).to_list()))
                key = (rows[QUERY].hash(seed=0) % num_partitions).alias(_PARTITION)
                parts = rows.with_columns(key).partition_by(
                    _PARTITION, as_dict=True, include_key=False
                )
                for (partition,), part in parts.items():
                    path = folder / f"{partition:03}" / f"{number:09}.parquet"
                    path.parent.mkdir(exist_ok=True)
                    _write(path, part)
        except BaseException:
            self._remove_partitions()
            raise
        self._query_ids = tuple(seen)
        return folder


def grouped_by_query(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each query together, in the order given.

    Hashes are sorted 3.6 times faster than ids. The rows of queries with one hash stay mixed.
    """
    return rows.sort(pl.col(QUERY).hash(seed=0), maintain_order=True)


def _gathered(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows of frames in larger frames."""
    waiting: list[pl.DataFrame] = []
    num_rows = 0
    for frame in frames:
        waiting.append(frame)
        num_rows += len(frame)
        if num_rows >= _PART_ROWS:
            yield pl.concat(waiting)
            waiting, num_rows = [], 0
    if num_rows:
        yield pl.concat(waiting)


def _write(path: Path, rows: pl.DataFrame) -> None:
    """Write rows; raise OSError if the disk is full, for which polars has no class of its own."""
    try:
        rows.write_parquet(path, compression="lz4", statistics=False)
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        problem = f"it cannot be written; check that the disk has space ({reason})"
        raise OSError(errno.EIO, problem, str(path)) from error
