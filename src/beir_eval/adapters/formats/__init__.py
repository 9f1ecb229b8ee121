"""The tables of file formats: ``RUN_FORMATS`` and ``QRELS_FORMATS``.

Detection, reading, writing, the recognition of files in folders and the messages that list formats
all use these tables. To add a format, change two files: this one (a row, and the name of the module
below), and the module with its reader, and with its writer if it has one. docs/extending.md has
an example.

Inside: the readers and writers, which are imported for files of their format only (``text_runs``,
``text_qrels``, ``json_formats``, ``csv_formats``, ``parquet``), and ``text_lines``, which
detection and these modules share, with the writer of TREC runs, which needs no polars. Nothing is
public: ``read_run`` and the like choose the format.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.formats.text_lines import (
    BYTE_ORDER_MARK,
    csv_cell,
    encode_utf8,
    first_line_of,
    header_delimiter,
    is_beir_header,
    tag_of_words,
    trec_word,
)
from beir_eval.core.column_names import NO_COLUMNS, QUERY_NAMES, matching_names
from beir_eval.core.files import (
    HEAD_SIZE,
    PARQUET_MAGIC,
    check_is_text,
    is_binary,
    kind_of_text,
    split_fields,
)
from beir_eval.core.imports import import_name
from beir_eval.errors import FileFormatError, check_choice, needs_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.files import FileContent

#: Keys of the query id in a record of JSON lines; ``_id`` and ``id`` count if there is no other.
QUERY_KEYS = (*QUERY_NAMES, "_id", "id")
#: A file with one line that is longer than this (bytes) is taken for a whole run, not for a record.
LONGEST_RECORD = 1 << 24
_TREC_QRELS_COLUMNS, _TREC_RUN_COLUMNS, _BEIR_COLUMNS = 4, 6, 3
#: The smallest number of columns of comma-separated values: query, document and a number.
_CSV_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Format:
    """A format of runs or of judgements.

    Reader and writer are named as "module:function", where the module is one of this package. It is
    imported for files of this format only, because it may need polars, which is an extra.

    Attributes:
        name: the name for users, as in ``read_run(path, format="trec")``.
        detect: a function (content, first line) → whether the file has this format. The first line
            is the first that is neither blank nor a comment; it is empty for a binary file.
        endings: the endings of file names by which files of this format are found in a folder.
        read: the reader: FileContent → Run or Qrels.
        write: the writer: (rankings, tag) of a run, or the rows of judgements, → bytes. Empty for a
            format that is only read.
        written_endings: the endings of file names that are written in this format; if empty,
            ``endings``.
        check_id: a function that raises InputError for an id that a written run cannot contain; the
            writers of judgements check ids themselves.
        keeps_empty: whether a written run keeps queries without documents.
        has_columns: whether the columns have names: then the reader also takes ``StatedColumns``.
        has_tag: whether the last column is the tag: then the reader takes these too.
    """

    name: str
    detect: Callable[[FileContent, bytes], bool]
    endings: tuple[str, ...]
    read: str
    write: str = ""
    written_endings: tuple[str, ...] = ()
    check_id: Callable[[str], object] = encode_utf8
    keeps_empty: bool = False
    has_columns: bool = False
    has_tag: bool = False


@dataclass(frozen=True, slots=True)
class FormatTable:
    """The formats of runs, or those of judgements.

    Attributes:
        formats: in the order in which messages list them. Detection tries the last one first, so a
            more specific format comes after a general one that also accepts its files.
        example: valid lines of text, as an error message shows them.
        columns: the columns of valid lines, as an error message describes them.
        hash_ids: whether the first line may belong to BEIR qrels with an id that begins with #.
        is_ambiguous: a function: whether the first line has two of the formats at once.
        other_kind: a function: the end of the error message for a first line of none of the
            formats, if it shows a file of another kind; else "".
    """

    formats: tuple[Format, ...]
    example: str
    columns: str
    hash_ids: bool
    is_ambiguous: Callable[[bytes], bool]
    other_kind: Callable[[bytes], str] = lambda _line: ""

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings by which files of any of the formats are found in a folder."""
        return tuple(ending for file_format in self.formats for ending in file_format.endings)

    def choose(
        self, content: FileContent, stated: str | None, columns: StatedColumns = NO_COLUMNS
    ) -> Format:
        """Return the format of a file.

        Args:
            content: the file, from which the format is detected if ``stated`` is None.
            stated: the name of the format.
            columns: the names of columns that the caller states.

        Raises:
            SettingError: there is no format of this name.
            FileFormatError: the content has none of the formats.
        """
        by_name = {file_format.name: file_format for file_format in self.formats}
        if stated is None:
            if columns and not is_binary(content.head):
                _, line = first_line_of(content)
                if header_delimiter(line, columns):
                    return by_name["csv"]
            return self._detect(content)
        check_choice("format", stated, by_name)
        return by_name[stated]

    def _detect(self, content: FileContent) -> Format:
        number, line = 1, b""
        if not is_binary(content.head):
            number, line = first_line_of(content, hash_ids=self.hash_ids)
        if self.is_ambiguous(line):
            problem = (
                "this line is TREC's qrels if white space separates its columns (query, iteration, "
                "document, grade), and BEIR's if only tabs do (query, document, grade). State it: "
                "format='trec' or format='beir'; or add BEIR's header, query-id<tab>corpus-id<tab>"
                "score"
            )
            raise FileFormatError(content.path, problem, line=number)
        for file_format in reversed(self.formats):
            if file_format.detect(content, line):
                return file_format
        check_is_text(content.path, content.head)
        if not line:
            problem = f"there is no line in it; expected lines such as {self.example}"
            raise FileFormatError(content.path, problem)
        columns = f"{len(line.split())} columns"
        if other := self.other_kind(line):
            raise FileFormatError(
                content.path, f"{columns}, expected {self.columns}{other}", line=number
            )
        kind, _ = kind_of_text(line[:HEAD_SIZE].decode(errors="replace"))
        looks_like = f" (this looks like {kind})" if kind else ""
        problem = f"{columns}{looks_like}, expected {self.columns}"
        raise FileFormatError(content.path, problem, line=number)


def load(origin: str, purpose: str) -> Callable[..., Any]:
    """Return a reader or a writer, importing its module.

    Args:
        origin: its name in the table, "module:function".
        purpose: what polars is needed for, for the error message.

    Raises:
        MissingExtraError: the module needs polars, which is not installed.
    """
    with needs_extra("polars", "files", purpose):
        function: Callable[..., Any] = import_name(f"{__name__}.{origin}")
    return function


def _has_columns(*numbers: int) -> Callable[[FileContent, bytes], bool]:
    """Return a function for ``Format.detect``: whether a line has one of these numbers of columns.

    Args:
        numbers: numbers of columns, which are separated by white space.
    """
    return lambda _content, line: len(line.split()) in numbers


def _is_beir(_content: FileContent, line: bytes) -> bool:
    """Return whether a line has three columns, by white space or by tabs only, or two words."""
    return len(line.split()) in (_BEIR_COLUMNS - 1, _BEIR_COLUMNS) or (
        len(line.split(b"\t")) == _BEIR_COLUMNS
    )


def _is_trec_run(_content: FileContent, line: bytes) -> bool:
    """Return whether a line has the six columns of a TREC run, or more by the blanks of its tag."""
    columns = len(line.split())
    if columns <= _TREC_RUN_COLUMNS:
        return columns == _TREC_RUN_COLUMNS
    return bool(tag_of_words(split_fields(line.decode(errors="replace"))))


def _is_trec_and_beir(line: bytes) -> bool:
    """Return whether a line can be one of TREC's qrels and one of BEIR's, whose ids hold blanks."""
    columns, by_tabs = line.split(), line.split(b"\t")
    return (
        len(columns) == _TREC_QRELS_COLUMNS
        and len(by_tabs) == _BEIR_COLUMNS
        and (columns[1] == b"Q0" or columns[1].isdigit())
    )


def _hint_of_run(line: bytes) -> str:
    """Return where a TREC run belongs, for a line of one that was read as qrels; else ""."""
    fields = line.split()
    is_run = len(fields) >= _TREC_RUN_COLUMNS and fields[3].isdigit()
    where = "; this looks like a run: the qrels come first, then the runs (read_run reads a run)"
    return where if is_run else ""


def _is_json(_content: FileContent, line: bytes) -> bool:
    return line.startswith((b"{", b"["))


def _is_jsonl(content: FileContent, line: bytes) -> bool:
    """Return whether the first line is a record, or the content is an array of records."""
    if re.match(rb"\s*\[\s*\{", content.head.removeprefix(BYTE_ORDER_MARK)):
        return True
    if not _is_json(content, line):
        return False
    line, _, other_lines = content.data().removeprefix(BYTE_ORDER_MARK).strip().partition(b"\n")
    if not other_lines.strip() and len(line) > LONGEST_RECORD:
        return False
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict):
        return False
    # A whole run on one line, {query_id: {doc_id: score}}, has an object under every key.
    is_whole_run = all(isinstance(value, dict) for value in record.values())
    return bool(other_lines.strip()) or (
        not is_whole_run and bool(matching_names(record, QUERY_KEYS))
    )


def _is_csv(_content: FileContent, line: bytes) -> bool:
    """Return whether the first line is a header, or can only be a line with commas.

    No other format has lines of one column, except JSON, which begins with a bracket. The reader
    refuses such a line if it is not a header, and says so.
    """
    if header_delimiter(line) is not None:
        return True
    if line.startswith((b"{", b"[", b"<")):
        return False
    return line[:HEAD_SIZE].count(b",") + 1 >= _CSV_COLUMNS and len(line.split()) == 1


def _is_csv_qrels(content: FileContent, line: bytes) -> bool:
    """Return what ``_is_csv`` does, but not for the header of BEIR's qrels, with three tabs."""
    return not is_beir_header(line) and _is_csv(content, line)


def _is_parquet(content: FileContent, _line: bytes) -> bool:
    return content.head.startswith(PARQUET_MAGIC)


#: Endings under which both TREC runs and TREC qrels are written.
_TREC_ENDINGS = (".trec", ".txt", ".run", ".qrels")

RUN_FORMATS = FormatTable(
    formats=(
        Format(
            "trec",
            _is_trec_run,
            (".trec", ".run", ".txt", ".res"),
            "text_runs:read_trec",
            "text_lines:write_trec",
            _TREC_ENDINGS,
            check_id=trec_word,
            has_tag=True,
        ),
        Format("msmarco", _has_columns(3, 4), (".tsv",), "text_runs:read_msmarco"),
        Format(
            "json",
            _is_json,
            (".json",),
            "json_formats:read_json_run",
            "json_formats:write_run",
            keeps_empty=True,
        ),
        Format("jsonl", _is_jsonl, (".jsonl",), "json_formats:read_jsonl_run", has_columns=True),
        Format(
            "csv",
            _is_csv,
            (".csv",),
            "csv_formats:read_run",
            "csv_formats:write_run",
            check_id=csv_cell,
            has_columns=True,
        ),
        Format(
            "parquet",
            _is_parquet,
            (".parquet",),
            "parquet:read_run",
            "parquet:write_run",
            has_columns=True,
        ),
    ),
    example="'q1 Q0 d1 1 0.9 tag'",
    columns=(
        "6 (query, Q0, document, rank, score, tag) or, as MS MARCO, 3 or 4 (query, document, rank, "
        "score), separated by blanks or tabs; or CSV with the header query_id,doc_id,score"
    ),
    hash_ids=False,
    is_ambiguous=lambda _line: False,
)

#: JSON and CSV have no endings here: such a file in a folder of qrels may contain anything.
QRELS_FORMATS = FormatTable(
    formats=(
        Format(
            "trec",
            _has_columns(4),
            (".trec", ".qrels"),
            "text_qrels:read_trec",
            "text_qrels:write_trec",
            _TREC_ENDINGS,
        ),
        Format(
            "beir",
            _is_beir,
            (".tsv",),
            "text_qrels:read_beir",
            "text_qrels:write_beir",
        ),
        Format(
            "json",
            _is_json,
            (),
            "json_formats:read_json_qrels",
            "json_formats:write_qrels",
            (".json",),
        ),
        Format("jsonl", _is_jsonl, (), "json_formats:read_jsonl_qrels", has_columns=True),
        Format(
            "csv",
            _is_csv_qrels,
            (),
            "csv_formats:read_qrels",
            "csv_formats:write_qrels",
            (".csv",),
            has_columns=True,
        ),
        Format(
            "parquet",
            _is_parquet,
            (".parquet",),
            "parquet:read_qrels",
            "parquet:write_qrels",
            has_columns=True,
        ),
    ),
    example="'q1 0 d1 1' or 'q1<tab>d1<tab>1'",
    columns=(
        "4 (TREC: query, iteration, document, grade), 3 (BEIR: query, document, grade, separated "
        "by tabs) or 2 (query, document), or CSV with the header query_id,doc_id,grade"
    ),
    hash_ids=True,
    is_ambiguous=_is_trec_and_beir,
    other_kind=_hint_of_run,
)
