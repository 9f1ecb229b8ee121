"""The formats of files: a table of those of runs and a table of those of judgements.

Detection, reading, writing, the recognition of files in folders and the messages that list formats
read these tables. A new format changes two files: this one (a row, and the module's name below) and
the module with its reader, and its writer if it has one. Describe the format to users in the
docstring of ``read_run`` or ``read_qrels``, too.

Inside: the readers and writers, imported for files of their format (``text_runs`` and
``trec_run_writer``, ``text_qrels``, ``json_formats``, ``parquet``), and ``text_lines``, which
detection and these modules share. Nothing is public: ``read_run`` and the like choose the format.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.formats.text_lines import BYTE_ORDER_MARK, encoded, first_line, trec_word
from beir_eval.core.column_names import QUERY_NAMES, matching
from beir_eval.core.files import check_is_text, is_binary
from beir_eval.core.imports import import_name
from beir_eval.errors import FileFormatError, check_choice, needs_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.files import FileContent

#: A record names its query by one of these; by ``id`` only where there is no better name.
QUERY_KEYS = (*QUERY_NAMES, "_id", "id")
#: A single line that is longer than this holds a whole run, not one record.
LONGEST_RECORD = 1 << 24


@dataclass(frozen=True, slots=True)
class Format:
    """A format of runs or of judgements.

    Its reader and its writer are named as "module:function", with a module of this package: it is
    imported for files of this format only, because it may need polars, which is an extra.

    Attributes:
        name: what users call it, as in ``read_run(path, format="trec")``.
        detect: whether a file has this format, by its content and its first line (without comments
            and blank lines; empty for a binary file).
        endings: the endings of file names by which it is recognised in a folder of such files.
        read: its reader: FileContent → Run or Qrels.
        write: its writer: a run's (rankings, tag), or judgements' rows, → bytes. Empty for a format
            that is only read.
        written_endings: the endings of file names for which it is written, if they are others.
        check_id: raises InputError for an id that a written file cannot hold.
        keeps_empty: whether a written run keeps queries without documents.
    """

    name: str
    detect: Callable[[FileContent, bytes], bool]
    endings: tuple[str, ...]
    read: str
    write: str = ""
    written_endings: tuple[str, ...] = ()
    check_id: Callable[[str], object] = encoded
    keeps_empty: bool = False


@dataclass(frozen=True, slots=True)
class FormatTable:
    """The formats of runs, or those of judgements.

    Attributes:
        formats: in the order in which messages list them. Detection tries the last one first: a
            special format follows the general one that would accept its files.
        example: good lines of text, as a message shows them.
        columns: the columns of good lines, as a message describes them.
        hash_ids: whether the first line may be one of BEIR's qrels with an id that begins with #.
    """

    formats: tuple[Format, ...]
    example: str
    columns: str
    hash_ids: bool

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings by which any of the formats is recognised in a folder."""
        return tuple(ending for row in self.formats for ending in row.endings)

    def choose(self, content: FileContent, stated: str | None) -> Format:
        """Return the format that was stated, or else the one that the content has.

        Raises:
            SettingError: there is no format of the stated name.
            FileFormatError: the content looks like no format of the table.
        """
        if stated is None:
            return self._detect(content)
        by_name = {row.name: row for row in self.formats}
        check_choice("format", stated, by_name)
        return by_name[stated]

    def _detect(self, content: FileContent) -> Format:
        number, line = 1, b""
        if not is_binary(content.head):
            number, line = first_line(content.head, hash_ids=self.hash_ids)
        for row in reversed(self.formats):
            if row.detect(content, line):
                return row
        check_is_text(content.path, content.head)
        if not line:
            problem = f"there is no line in it; expected lines such as {self.example}"
            raise FileFormatError(content.path, problem)
        problem = f"{len(line.split())} columns, expected {self.columns}"
        raise FileFormatError(content.path, problem, line=number)


def load(origin: str, purpose: str) -> Callable[..., Any]:
    """Return a reader or a writer of the table, importing its module.

    Raises:
        MissingExtraError: it needs polars, which is not installed.
    """
    with needs_extra("polars", "files", purpose):
        function: Callable[..., Any] = import_name(f"{__name__}.{origin}")
    return function


def _has_columns(*numbers: int, or_by_tabs: bool = False) -> Callable[[FileContent, bytes], bool]:
    """Return the test for lines with one of these numbers of columns, between any white space."""

    def test(_content: FileContent, line: bytes) -> bool:
        by_tabs = or_by_tabs and len(line.split(b"\t")) in numbers
        return by_tabs or len(line.split()) in numbers

    return test


def _is_json(_content: FileContent, line: bytes) -> bool:
    return line.startswith((b"{", b"["))


def _is_jsonl(content: FileContent, line: bytes) -> bool:
    """Return whether the first line is an object of its own: one record of several, or of one."""
    if not _is_json(content, line):
        return False
    line, _, rest = content.data().removeprefix(BYTE_ORDER_MARK).strip().partition(b"\n")
    if not rest.strip() and len(line) > LONGEST_RECORD:
        return False
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(first, dict):
        return False
    # {query_id: {doc_id: score}} on one line has an object under every key.
    is_whole = all(isinstance(value, dict) for value in first.values())
    return bool(rest.strip()) or (not is_whole and bool(matching(first, QUERY_KEYS)))


def _is_parquet(content: FileContent, _line: bytes) -> bool:
    return content.head.startswith(b"PAR1")


#: TREC runs and TREC judgements are written under any of their endings.
_TREC_ENDINGS = (".trec", ".txt", ".run", ".qrels")

RUN_FORMATS = FormatTable(
    formats=(
        Format(
            "trec",
            _has_columns(6),
            (".trec", ".run", ".txt", ".res"),
            "text_runs:read_trec",
            "trec_run_writer:write_trec",
            _TREC_ENDINGS,
            check_id=trec_word,
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
        Format("jsonl", _is_jsonl, (".jsonl",), "json_formats:read_jsonl_run"),
        Format("parquet", _is_parquet, (".parquet",), "parquet:read_run", "parquet:write_run"),
    ),
    example="'q1 Q0 d1 1 0.9 tag'",
    columns=(
        "6 (query, Q0, document, rank, score, tag) or, as MS MARCO, 3 or 4 (query, document, rank, "
        "score)"
    ),
    hash_ids=False,
)

#: A JSON file in a folder of judgements may hold anything, so that its name shows nothing.
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
            _has_columns(3, or_by_tabs=True),
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
        Format("jsonl", _is_jsonl, (), "json_formats:read_jsonl_qrels"),
        Format("parquet", _is_parquet, (".parquet",), "parquet:read_qrels", "parquet:write_qrels"),
    ),
    example="'q1 0 d1 1' or 'q1<tab>d1<tab>1'",
    columns=(
        "4 (TREC: query, iteration, document, grade) or 3 (BEIR: query, document, grade, separated "
        "by tabs)"
    ),
    hash_ids=True,
)
