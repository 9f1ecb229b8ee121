"""``RunFile``: a run file read in parts, so that files larger than memory can be evaluated."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.core.files import PARQUET_MAGIC, FileContent, as_path, is_parquet, parquet_errors
from beir_eval.core.line_parts import line_parts, unpacked_blocks
from beir_eval.errors import FileFormatError, InputError, RunError, needs_extra

with needs_extra("polars", "files", "reading a run file in parts"):
    import polars as pl

from beir_eval.adapters.formats.text_lines import read_later_lines
from beir_eval.adapters.formats.text_runs import trec_frames
from beir_eval.core.column_names import DOC, QUERY, SCORE, TAG, RowFilter, group_columns
from beir_eval.core.dataframes import names_of_columns, to_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The formats that are read in parts.
STREAMED_FORMATS = ("trec", "parquet", "jsonl")
#: Bytes of text, or rows of Parquet, that are read at a time.
_PART_SIZE, _PART_ROWS = 1 << 22, 250_000
#: Bytes that are read at a time to see the format of a text file, and how many of them at most: a
#: file without a second line in these is no run that can be read in parts.
_HEAD_SIZE, _LONGEST_HEAD = 1 << 16, 1 << 26
#: The last bytes of a part, which hold the tag of its last line.
_END = 1 << 12


class Place(NamedTuple):
    """A place in a run file from which reading can be resumed.

    Attributes:
        offset: the byte of the decompressed content where a line begins; of Parquet, the row.
        line: the 1-based number of the line; 1 for Parquet.
        has_scores: whether the documents of JSON lines before it have scores; None if not known.
    """

    offset: int = 0
    line: int = 1
    has_scores: bool | None = None


class RunPart(NamedTuple):
    """Some rows of a run file.

    Attributes:
        frame: query, document and score; the scores are null if the run has none. A row without a
            document stands for a query with an empty ranking.
        start: where the part begins.
        bytes_read: how much of the file has been read.
    """

    frame: pl.DataFrame
    start: Place
    bytes_read: int


class RunFile:
    """A run file that is read in parts, with the checks of ``read_run``.

    Attributes:
        path: the file.
        format: its format, one of ``STREAMED_FORMATS``.
        size: its size in bytes, packed as it is.
        label: what messages call it.

    Raises:
        FileFormatError: the file is in a format that is not read in parts, or it is a pipe or a
            folder.
        SettingError: there is no such format.
        OSError: the file cannot be read.
    """

    def __init__(self, path: str | Path, format: str | None = None) -> None:  # noqa: A002
        """Detect the format."""
        self.path, self._rows = as_path(path), RowFilter({})
        self.size = self.path.stat().st_size
        if not self.path.is_file():
            problem = "not a file, which could be read again; save the run to a file"
            raise FileFormatError(self.path, problem)
        self.label = str(self.path)
        begins_as_parquet = is_parquet(self.path)
        head = PARQUET_MAGIC if begins_as_parquet else _head(self.path)
        self._head = FileContent.from_bytes(self.path, head)
        self.format = RUN_FORMATS.choose(self._head, format).name
        if self.format == "parquet" and not begins_as_parquet:
            problem = "a packed Parquet file is not read in parts; unpack it (gunzip, unzstd)"
            raise FileFormatError(self.path, problem)
        is_array = self.format == "jsonl" and head.lstrip().startswith(b"[")
        if self.format not in STREAMED_FORMATS or is_array:
            problem = (
                f"{'an array' if is_array else 'a run'} of format {self.format!r} is not read in "
                f"parts, only those of {', '.join(STREAMED_FORMATS)}. Convert it: beir-eval "
                "convert run.csv run.trec; or evaluate it in memory (--no-stream)"
            )
            raise FileFormatError(self.path, problem)

    def parts(self, begin: Place = Place()) -> Iterator[RunPart]:  # noqa: B008 - a constant
        """Yield the rows of the file, part after part.

        Args:
            begin: where a part began, to resume there.

        Raises:
            FileFormatError: as ``read_run``.
            OSError: the file cannot be read.
        """
        readers = {"trec": self._trec, "jsonl": self._jsonl, "parquet": self._parquet}
        num_rows = 0
        with self._naming_file():
            for part in readers[self.format](begin):
                num_rows += len(part.frame)
                if len(part.frame):
                    yield part
        if not num_rows and begin == Place():
            raise FileFormatError(self.path, "there is no document in it; a run was expected")

    def _trec(self, begin: Place) -> Iterator[RunPart]:
        lines = line_parts(self.path, _PART_SIZE, begin=begin.offset, first_line=begin.line)
        for part, frame in trec_frames(self.path, lines, self._head):
            self._rows.note(TAG, part.data[-_END:].decode(errors="replace").split()[-1:])
            yield RunPart(frame, Place(part.begin, part.first_line), part.bytes_read)

    def _jsonl(self, begin: Place) -> Iterator[RunPart]:
        from beir_eval.adapters.formats.json_formats import jsonl_rows  # noqa: PLC0415

        has_scores = begin.has_scores
        for part in line_parts(self.path, _PART_SIZE, begin=begin.offset, first_line=begin.line):
            queries, docs, scores = read_later_lines(
                self.path, part, partial(jsonl_rows, rows=self._rows)
            )
            scored = {
                score is not None
                for doc, score in zip(docs, scores, strict=True)
                if doc is not None
            }
            if len(scored | ({has_scores} - {None})) > 1:
                problem = "some documents have scores and some have none"
                raise FileFormatError(self.path, problem)
            try:
                frame = pl.DataFrame(
                    {
                        QUERY: pl.Series(queries, dtype=pl.String),
                        DOC: pl.Series(docs, dtype=pl.String),
                        SCORE: pl.Series(scores, dtype=pl.Float64),
                    }
                )
            except UnicodeEncodeError as error:
                problem = "an id is not Unicode text; evaluate the file in memory (--no-stream)"
                raise FileFormatError(self.path, problem) from error
            yield RunPart(frame, Place(part.begin, part.first_line, has_scores), part.bytes_read)
            has_scores = next(iter(scored), has_scores)

    def num_parquet_rows(self) -> int:
        """Return the number of rows of a Parquet file."""
        with parquet_errors(self.path):
            return int(self._scan().select(pl.len()).collect().item())

    def _scan(self) -> pl.LazyFrame:
        source = self.path.absolute() if str(self.path).isprintable() else self.path.open("rb")
        return pl.scan_parquet(source, glob=False, hive_partitioning=False)

    def _parquet(self, begin: Place) -> Iterator[RunPart]:
        with parquet_errors(self.path):
            scan = self._scan()
            no_rows = scan.limit(0).collect()
            num_rows = int(scan.select(pl.len()).collect().item())
            systems = scan.select(group_columns(tuple(no_rows.columns))).unique().collect()
        self._rows.rows_of_frame(systems)
        names = names_of_columns(
            no_rows, number_role=SCORE, names={}, error_class=RunError, label="the run"
        )
        for row in range(begin.offset, num_rows, _PART_ROWS):
            with parquet_errors(self.path):
                frame = scan.select(names.values()).slice(row, _PART_ROWS).collect()
            checked = to_columns(
                frame,
                number_role=SCORE,
                names=names,
                error_class=RunError,
                label="the run",
                first_row=row,
            )
            end = min(num_rows, row + _PART_ROWS)
            yield RunPart(checked, Place(row), self.size * end // num_rows)

    def refuse_systems(self) -> None:
        """Refuse a run with several tags in what was read; for queries that come back.

        Raises:
            FileFormatError: the runs of several systems follow each other.
        """
        with self._naming_file():
            self._rows.check()

    @contextmanager
    def _naming_file(self) -> Iterator[None]:
        """Name the file in the errors of the ``with`` block."""
        try:
            yield
        except FileFormatError:
            raise
        except InputError as error:
            raise FileFormatError(self.path, str(error)) from error


def _head(path: Path) -> bytes:
    """Return the first lines of a text file, two at least that are neither blank nor comments."""
    head, end, num_lines = bytearray(), 0, 0
    for block in unpacked_blocks(path, _HEAD_SIZE):
        last = block.rfind(b"\n")
        head += block
        if last >= 0:
            begin, end = end, len(head) - len(block) + last + 1
            lines = head[begin:end].split(b"\n")
            num_lines += sum(1 for line in lines if line.strip() and not line.startswith(b"#"))
        if num_lines > 1 or len(head) >= _LONGEST_HEAD:
            break
    return bytes(head[:end] if num_lines > 1 else head)
