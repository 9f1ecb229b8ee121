"""``RunFile``: a run file that need not fit into memory, read with the checks of ``read_run``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.adapters.formats import RUN_FORMATS, Format
from beir_eval.core.files import (
    HEAD_SIZE,
    PARQUET_MAGIC,
    FileContent,
    is_packed,
    is_parquet,
    parquet_errors,
    split_fields,
)
from beir_eval.core.line_parts import line_parts, unpacked_blocks
from beir_eval.core.progress import progress_bar
from beir_eval.core.run import Run
from beir_eval.errors import FileFormatError, InputError, RunError, needs_extra

with needs_extra("polars", "files", "reading a run file in parts"):
    import polars as pl

from beir_eval.adapters.formats import csv_formats, parquet, text_runs
from beir_eval.adapters.formats.text_lines import first_line_of, read_later_lines
from beir_eval.core.column_names import (
    DOC,
    QUERY,
    RUN_ROLES,
    SCORE,
    TAG,
    RowFilter,
    StatedColumns,
    group_columns,
)
from beir_eval.core.dataframes import to_columns
from beir_eval.core.run_sources.base import StartAgainError
from beir_eval.core.run_sources.parts import PartsSource, grouped_by_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

#: Bytes of text, or rows of Parquet or CSV, that are read at a time.
_PART_SIZE, _PART_ROWS = 1 << 22, 250_000
#: A line of a run has about so many bytes, at least.
_LINE_SIZE = 20
#: How many times smaller packed text is.
_TIMES_PACKED = 4
#: The first bytes of a text file that show its format: a file without a second line in these is no
#: run that can be read in parts.
_LONGEST_HEAD = 1 << 26


class RunFile:
    """A run file whose rows are read in parts: TREC, MS MARCO, CSV or Parquet.

    Attributes:
        path: the file.
        head: its first lines; of a Parquet file the whole.
        format: its format.
        columns: what is stated about its columns.

    Raises:
        FileFormatError: the file has another format, or is a pipe.
        SettingError: there is no such format.
        OSError: the file cannot be read.
    """

    path: Path
    head: FileContent
    format: Format
    columns: StatedColumns

    def __init__(self, path: Path, stated: str | None, columns: StatedColumns) -> None:
        """Detect the format."""
        path.stat()  # raises OSError if there is none
        if not path.is_file():
            problem = "not a file, which could be read again; save the run to a file"
            raise FileFormatError(path, problem)
        begin = PARQUET_MAGIC if is_parquet(path) else _head(path)
        self.head = FileContent.from_bytes(path, begin)
        self.path, self.columns = path, columns
        self.format = RUN_FORMATS.choose(self.head, stated, columns)
        name = self.format.name
        problem = f"a run of format {name!r} is not read in parts"
        if name == "parquet" and begin == PARQUET_MAGIC:
            self.head = FileContent(path)
        elif name == "parquet":
            raise FileFormatError(path, f"{problem} if it is packed; unpack it (gunzip, unzstd)")
        elif name not in _READERS:
            problem += f", only those of {', '.join(_READERS)}; convert it with beir-eval convert"
            raise FileFormatError(path, problem)

    def run(self) -> Run:
        """Return the run, whose rows are read, and checked, each time that they are needed.

        Raises:
            FileFormatError: the first line is not valid.
            InputError: the file lacks a column.
        """
        return Run.from_source(PartsSource(_READERS[self.format.name](self)))

    def num_bytes(self) -> int:
        """Return about how many bytes the file has when it is unpacked."""
        return self.path.stat().st_size * (_TIMES_PACKED if is_packed(self.path) else 1)

    def num_rows(self) -> int:
        """Return about how many rows there are; of a Parquet file, exactly how many."""
        if self.format.name == "parquet":
            with parquet_errors(self.path):
                return int(self.scan().select(pl.len()).collect().item())
        return self.num_bytes() // _LINE_SIZE

    def scan(self) -> pl.LazyFrame:
        """Return the rows of a Parquet file."""
        source = self.path.absolute() if str(self.path).isprintable() else self.path.open("rb")
        return pl.scan_parquet(source, glob=False, hive_partitioning=False)


class _Part(NamedTuple):
    """Rows, and how many bytes of the file have been read."""

    bytes_read: int
    rows: pl.DataFrame


class _Reader:
    """What the readers of all formats share: the progress bar, and errors that name the file."""

    needs_all_rows = False

    def __init__(self, file: RunFile) -> None:
        self._file, self._path = file, file.path

    @property
    def num_rows(self) -> int:
        """About how many rows there are."""
        return self._file.num_rows()

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows; a progress bar appears if reading takes longer than a second."""
        shown = 0
        with (
            progress_bar(
                delayed=True,
                leave=False,
                total=self._path.stat().st_size,
                unit="B",
                unit_scale=True,
                desc="reading",
            ) as advance,
            self._naming_file(),
        ):
            for part in self._parts():
                yield part.rows
                advance(part.bytes_read - shown)
                shown = part.bytes_read

    def _parts(self) -> Iterator[_Part]:
        raise NotImplementedError

    def rankings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return all rows of some queries as rankings."""
        return rows

    def can_read_otherwise(self, _error: InputError) -> bool:
        """Return whether rows that were not valid may be of another kind, and read them so."""
        return False

    @contextmanager
    def _naming_file(self) -> Iterator[None]:
        """Name the file in the errors of the ``with`` block."""
        try:
            yield
        except FileFormatError:
            raise
        except InputError as error:
            raise FileFormatError(self._path, str(error)) from error


class _TrecReader(_Reader):
    """The lines of a TREC run."""

    def __init__(self, file: RunFile) -> None:
        super().__init__(file)
        text_runs.check_order(file.head)
        self._where = file.columns.rows_of([TAG]).where
        fields = split_fields(first_line_of(file.head)[1].decode(errors="replace"))
        self._first_tag = " ".join(fields[text_runs.TREC.index_of(TAG) :])
        # Those of all lines, once they were read, if there are several.
        self._tags: Collection[str] = ()

    def _parts(self) -> Iterator[_Part]:
        """Yield the lines.

        Raises:
            StartAgainError: there are several tags: lines are read with their ranks and tags.
        """
        noted, is_tagged, is_empty = RowFilter(self._where), self.needs_all_rows, True
        lines = line_parts(self._path, _PART_SIZE)
        for part, rows, of_part in text_runs.frames_of_parts(
            self._file.head, text_runs.TREC, lines, self._where, is_tagged=is_tagged
        ):
            noted.add(of_part)
            if not (is_tagged or self._where) and noted.values_of(TAG) - {self._first_tag}:
                self.needs_all_rows = True
                raise StartAgainError
            is_empty = is_empty and rows.is_empty()
            yield _Part(part.bytes_read, rows)
        if is_tagged:
            self._tags = noted.values_of(TAG)
        else:
            noted.check()
        if is_empty:
            raise text_runs.no_line_error(self._file.head, text_runs.TREC)

    def rankings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows, unless they are those of several systems."""
        if text_runs.may_be_systems(len(self._tags)) and text_runs.lists_twice(rows):
            noted = RowFilter({})
            noted.note(TAG, self._tags)
            with self._naming_file():
                noted.check()
        return rows


class _MsMarcoReader(_Reader):
    """The lines of an MS MARCO run: the third of three columns is a rank, or else a score."""

    def __init__(self, file: RunFile) -> None:
        super().__init__(file)
        self._layout = text_runs.layout_of(file.head)
        self._not_ranks: text_runs.NotRanksError | None = None

    def _parts(self) -> Iterator[_Part]:
        """Yield the lines.

        Raises:
            StartAgainError: the third column holds no ranks; it is read as scores.
        """
        head, layout, is_empty = self._file.head, self._layout, True
        checks = text_runs.ScoreChecks(head)
        lines = line_parts(self._path, _PART_SIZE)
        try:
            for part, rows, _ in text_runs.frames_of_parts(head, layout, lines, {}):
                if layout is text_runs.MSMARCO_SCORED and is_empty:
                    text_runs.refuse_qrels(head, rows)
                if layout is text_runs.THREE_SCORED:
                    checks.add(*(rows[name].to_list() for name in (QUERY, DOC, SCORE)))
                is_empty = is_empty and rows.is_empty()
                yield _Part(part.bytes_read, rows)
            if is_empty:
                raise text_runs.no_line_error(head, layout)
            if layout is text_runs.THREE_SCORED:
                checks.end()
        except FileFormatError as error:
            if self.can_read_otherwise(error):
                raise StartAgainError from error
            if self._not_ranks is not None:
                raise text_runs.neither_error(self._not_ranks, error) from error
            raise

    def rankings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows, by rank if they have ranks."""
        if self._layout.ranked_by == SCORE:
            return rows
        return grouped_by_query(text_runs.sort_by_rank(self._file.head, rows))

    def can_read_otherwise(self, error: InputError) -> bool:
        """Return whether the third column, which holds no ranks, may hold scores."""
        if not isinstance(error, text_runs.NotRanksError):
            return False
        self._not_ranks, self._layout = error, text_runs.THREE_SCORED
        return True


class _CsvReader(_Reader):
    """The rows below a header."""

    def __init__(self, file: RunFile) -> None:
        super().__init__(file)
        csv_formats.check_header(file.head.whole_lines_of_head(), file.columns)
        self._bytes_read = 0

    def _parts(self) -> Iterator[_Part]:
        columns = csv_formats.columns_of_run(
            self._file.head, self._file.columns, self._texts(), _PART_ROWS
        )
        types = {QUERY: pl.String, DOC: pl.String, SCORE: pl.Float64}
        for rows in columns:
            frame = pl.DataFrame(dict(zip(types, rows, strict=True)), schema=types)
            yield _Part(self._bytes_read, frame)

    def _texts(self) -> Iterator[str]:
        for part in line_parts(self._path, _PART_SIZE):
            text = read_later_lines(self._path, part, FileContent.text)
            self._bytes_read = part.bytes_read
            yield text if part.first_line == 1 else text[1:]


class _ParquetReader(_Reader):
    """The rows of a Parquet file."""

    def __init__(self, file: RunFile) -> None:
        super().__init__(file)
        with parquet_errors(self._path):
            schema = file.scan().collect_schema()
        self._names = parquet.names_of(schema.names(), RUN_ROLES, file.columns, "the run")
        self._where = file.columns.rows_of(schema.names()).where
        groups = [name for name in group_columns(tuple(schema)) if not schema[name].is_nested()]
        self._systems = list(dict.fromkeys([*self._where, *groups]))

    def _parts(self) -> Iterator[_Part]:
        scan, num_rows, num_read = self._file.scan(), self.num_rows, 0
        if self._systems:
            with parquet_errors(self._path):
                systems = scan.select(self._systems).unique(maintain_order=True).collect()
            RowFilter(self._where).rows_of_frame(systems)
        is_kept = [pl.col(name).cast(pl.String) == value for name, value in self._where.items()]
        for row in range(0, num_rows, _PART_ROWS):
            part = scan.slice(row, _PART_ROWS).filter(*is_kept).select(self._names.values())
            with parquet_errors(self._path):
                frame = part.collect()
            rows = to_columns(
                frame,
                number_role=SCORE,
                names=self._names,
                error_class=RunError,
                label="the run",
                first_row=num_read,
            )
            num_read += len(frame)
            end = min(num_rows, row + _PART_ROWS)
            yield _Part(self._path.stat().st_size * end // num_rows, rows)


#: {format: the reader of its files}.
_READERS: dict[str, type[_Reader]] = {
    "trec": _TrecReader,
    "msmarco": _MsMarcoReader,
    "csv": _CsvReader,
    "parquet": _ParquetReader,
}


def _head(path: Path) -> bytes:
    """Return the first bytes of a text file: as many as others read, and two lines of text."""
    head = bytearray()
    for block in unpacked_blocks(path, HEAD_SIZE):
        head += block
        lines = head[: head.rfind(b"\n") + 1].splitlines()
        num_lines = sum(1 for line in lines if line.strip() and not line.startswith(b"#"))
        if len(head) >= (HEAD_SIZE if num_lines > 1 else _LONGEST_HEAD):
            break
    return bytes(head)
