"""Which format a file has, told by its content."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from beir_eval.core.column_names import QUERY_NAMES, matching
from beir_eval.core.files import check_is_text
from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from beir_eval.core.files import FileContent

RUN_FORMATS = ("trec", "msmarco", "json", "jsonl", "parquet")
QRELS_FORMATS = ("trec", "beir", "json", "jsonl", "parquet")

TREC_RUN_COLUMNS = 6
MSMARCO_COLUMNS = (3, 4)
TREC_QRELS_COLUMNS = 4
BEIR_QRELS_COLUMNS = 3

PARQUET_MAGIC = b"PAR1"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: A record names its query by one of these; by ``id`` only where there is no better name.
QUERY_KEYS = (*QUERY_NAMES, "_id", "id")
#: A single line that is longer than this holds a whole run, not one record.
LONGEST_RECORD = 1 << 24


def format_of_content(content: FileContent, known: tuple[str, ...]) -> str:
    """Return the format of a file of rankings (``RUN_FORMATS``) or judgements (``QRELS_FORMATS``).

    Raises:
        FileFormatError: nothing known looks like this.
    """
    if content.head.startswith(PARQUET_MAGIC):
        return "parquet"
    check_is_text(content.path, content.head)
    number, line = first_line(content.head, hash_ids=known is QRELS_FORMATS)
    if line.startswith((b"{", b"[")):
        return "jsonl" if _is_a_record(content) else "json"
    if not line:
        what = (
            "'q1 Q0 d1 1 0.9 tag'" if known is RUN_FORMATS else "'q1 0 d1 1' or 'q1<tab>d1<tab>1'"
        )
        problem = f"there is no line in it; expected lines such as {what}"
        raise FileFormatError(content.path, problem)
    columns = len(line.split())
    by_tab = len(line.split(b"\t"))
    if known is RUN_FORMATS:
        return _run_format(content, number, columns)
    if BEIR_QRELS_COLUMNS in (by_tab, columns):
        return "beir"
    if columns == TREC_QRELS_COLUMNS:
        return "trec"
    problem = (
        f"{columns} columns, expected 4 (TREC: query, iteration, document, grade) or 3 (BEIR: "
        "query, document, grade, separated by tabs)"
    )
    raise FileFormatError(content.path, problem, line=number)


def _run_format(content: FileContent, number: int, columns: int) -> str:
    if columns == TREC_RUN_COLUMNS:
        return "trec"
    if columns in MSMARCO_COLUMNS:
        return "msmarco"
    problem = (
        f"{columns} columns, expected 6 (query, Q0, document, rank, score, tag) or, as MS MARCO, "
        "3 or 4 (query, document, rank, score)"
    )
    raise FileFormatError(content.path, problem, line=number)


def first_line(head: bytes, *, hash_ids: bool = False) -> tuple[int, bytes]:
    """Return number and text of the first line that is neither blank nor a comment.

    With ``hash_ids``, a line with two tabs and a number behind them is one of BEIR's qrels, whose
    ids may begin with ``#``.
    """
    for number, line in enumerate(head.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        bare = line.rstrip(b"\r")
        is_beir = hash_ids and re.fullmatch(rb"[^\t]+\t[^\t]+\t[-+.\deE]+", bare) is not None
        if bare.strip() and (not bare.startswith(b"#") or is_beir):
            return number, bare.strip(b" ")
    return 1, b""


def _is_a_record(content: FileContent) -> bool:
    """Return whether the first line is an object of its own: one record of several, or of one."""
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
