"""Text of lines, for detection, readers and writers: the first line, checks of ids, UTF-8.

The writer of TREC runs is here, and not beside their reader, which needs polars, an extra.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from beir_eval.core.column_names import NO_COLUMNS, USUAL_NAMES, columns_of_role
from beir_eval.core.files import HEAD_SIZE, FileContent, is_number, split_fields
from beir_eval.core.ranking import best_first
from beir_eval.errors import FileFormatError, InputError, RunError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.line_parts import LinePart

Result = TypeVar("Result")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: The white space between columns and around lines; other white space belongs to an id.
ASCII_BLANKS = " \t\n\r\v\f"
#: The number of characters that a cell of a CSV file may have; Python's module csv reads no more.
LONGEST_CSV_CELL = 131_072
#: The index of the rank, the score and the first word of the tag in a line of a TREC run.
_RANK, _SCORE, _TAG = 3, 4, 5
_GRADE_HEADERS = frozenset({"score", "grade", "label", "rel", "relevance", "relevance_score"})
_BEIR_COLUMNS = 3
#: What messages say about the last line of a file if it is too short and has no line end.
CUT_OFF = "; it is the last line and has no end: the file may be cut off"
#: What may separate the columns below a header; blanks those of the columns of TREC.
DELIMITERS = (",", ";", "\t", " ")
_ZERO_BYTE = "a zero byte; ids and numbers of a text file contain none"


def first_line(head: bytes, *, hash_ids: bool = False) -> tuple[int, bytes]:
    """Return (1-based number, text) of the first line that is neither blank nor a comment.

    Without such a line this is (1, b"").

    Args:
        head: the first bytes of a file.
        hash_ids: take a line that begins with ``#`` but has two tabs, and a number after them, for
            a line of BEIR qrels, whose ids may begin with ``#``.
    """
    lines = io.BytesIO(head.removeprefix(BYTE_ORDER_MARK))
    for number, line in enumerate(lines, start=1):
        text = line.rstrip(b"\r\n")
        is_beir = hash_ids and re.fullmatch(rb"[^\t]+\t[^\t]+\t[-+.\deE]+", text) is not None
        if text.strip() and (not text.startswith(b"#") or is_beir):
            return number, text.strip(b" ")
    return 1, b""


def first_line_of(content: FileContent, *, hash_ids: bool = False) -> tuple[int, bytes]:
    """Return what ``first_line`` does for a file, of which more is read if its head is not enough.

    The head is not enough if it has comments and blank lines only, or not the whole first line.

    Args:
        content: the file.
        hash_ids: as for ``first_line``.
    """
    number, line = first_line(content.head, hash_ids=hash_ids)
    is_complete = line and content.head.count(b"\n") >= number
    if is_complete or len(content.head) < HEAD_SIZE:
        return number, line
    return first_line(content.data(), hash_ids=hash_ids)


def tag_of_words(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the tag of a line of a TREC run if it has several words; else nothing.

    The rank before it must be a whole number, the score a number, and the first word of the tag
    none: otherwise the blank may be one in an id, which shifts rank and score to the right.

    Args:
        fields: the words of the line.

    >>> tag_of_words("q1 Q0 d1 1 0.9 BM25 (k1=0.9)".split())
    ('BM25', '(k1=0.9)')
    >>> tag_of_words("q1 Q0 my d1 1 0.9 BM25".split())
    ()
    """
    tag = tuple(fields[_TAG:])
    if len(tag) > 1 and has_rank_and_score(fields) and not is_number(tag[0]):
        return tag
    return ()


def has_rank_and_score(fields: Sequence[str]) -> bool:
    """Return whether a line of a TREC run has a whole number as rank and a number as score."""
    rank = fields[_RANK]
    return rank.isascii() and rank.isdecimal() and is_number(fields[_SCORE])


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of a header, without blanks and quotes around them."""
    return [cell.strip(ASCII_BLANKS + '"') for cell in line.split(delimiter)]


def header_delimiter(line: bytes, columns: StatedColumns = NO_COLUMNS) -> str | None:
    """Return what separates the columns of a header that names queries and documents; else None.

    A line with a number that has no commas is no header. If the caller states names, one
    name that is stated or recognised is enough.

    Args:
        line: the first line of a file.
        columns: the names of columns that the caller states.

    >>> header_delimiter(b"qid;docno;score"), header_delimiter(b"q1 Q0 d1 1 0.9 tag")
    (';', None)
    """
    if line.startswith((b"{", b"[", b"<")):
        return None
    text = line[:HEAD_SIZE].decode(errors="replace")
    for delimiter in DELIMITERS:
        cells = cells_of(text, delimiter)
        if len(cells) == 1 or (delimiter != "," and any(map(is_number, cells))):
            continue
        if all(columns_of_role(cells, role) for role in ("query_id", "doc_id")):
            return delimiter
        if columns and (
            any(name in cells for name in columns.names.values())
            or any(columns_of_role(cells, role) for role in USUAL_NAMES)
        ):
            return delimiter
    return None


def is_header(fields: Sequence[str]) -> bool:
    """Return whether the first row of a BEIR qrels file names its columns.

    Some files have no such row, and skipping it blindly loses a judgement.
    """
    return fields[-1].strip(ASCII_BLANKS).lower() in _GRADE_HEADERS


def is_beir_header(line: bytes) -> bool:
    """Return whether a line names three columns between tabs, the last one the grade."""
    names = cells_of(line.decode(errors="replace"), "\t")
    return len(names) == _BEIR_COLUMNS and is_header(names)


def names_document_first(fields: Sequence[str]) -> bool:
    """Return whether the header of BEIR's qrels names the document before the query."""
    return bool(columns_of_role(fields[:1], "doc_id") and columns_of_role(fields[1:2], "query_id"))


def is_cut_line(content: FileContent, number: int) -> bool:
    """Return whether a line is the last of a file and has no line end."""
    data = content.data()
    return not data.endswith(b"\n") and data.count(b"\n") == number - 1


def check_no_zero_byte(content: FileContent, text: str) -> None:
    """Raise FileFormatError if the text of a file contains a zero byte."""
    index = text.find("\0")
    if index >= 0:
        raise FileFormatError(content.path, _ZERO_BYTE, line=text.count("\n", 0, index) + 1)


def read_later_lines(path: Path, part: LinePart, read: Callable[[FileContent], Result]) -> Result:
    """Return what a reader of whole files returns for a part of one; errors name the right line.

    Args:
        path: the file.
        part: some of its lines. Before those of later parts, the reader finds an empty line.
        read: the reader.

    Raises:
        FileFormatError: as the reader.
    """
    data, lines_before = part.data, part.first_line - 1
    if lines_before:
        # Only the first part of a file is searched for the signs of a binary file.
        zero = data.find(b"\0")
        if zero >= 0:
            line = part.first_line + data.count(b"\n", 0, zero)
            raise FileFormatError(path, _ZERO_BYTE, line=line)
        # A byte order mark belongs to an id, unless it begins the file.
        data, lines_before = b"\n" + data, lines_before - 1
    try:
        return read(FileContent.from_bytes(path, data))
    except FileFormatError as error:
        if error.line is None or not lines_before:
            raise
        raise type(error)(path, error.problem, line=error.line + lines_before) from error


def encode_utf8(text: str) -> bytes:
    """Return the text as UTF-8; raise InputError if an id in it is not Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - 20) : error.end]
        msg = f"an id is not Unicode text, so no file can contain it: …{shown(part)}"
        raise InputError(msg) from error


def trec_word(text: str) -> str:
    """Return the text if it fits into a column of a TREC file.

    Raises:
        InputError: it is empty, contains ASCII white space or a zero byte, begins with ``#`` or
            a byte order mark, or is not Unicode.
    """
    encode_utf8(str(text))
    if split_fields(str(text)) != [text] or text.startswith(("#", "\ufeff")) or "\0" in text:
        msg = (
            f"{shown(text)} contains white space or a zero byte or begins with #, so a TREC file "
            "cannot contain it; write JSON"
        )
        raise InputError(msg)
    return text


def csv_cell(text: str) -> str:
    """Return an id as a cell of a CSV file, in quotes if it needs them.

    Raises:
        InputError: it contains a zero byte, is too long for a CSV reader, or is not Unicode.
    """
    encode_utf8(text)
    if "\0" in text or len(text) > LONGEST_CSV_CELL:
        msg = (
            f"{shown(text)} contains a zero byte or more than {LONGEST_CSV_CELL:,} characters, so "
            "a CSV file cannot contain it; write JSON"
        )
        raise InputError(msg)
    if any(mark in text for mark in ',"\r\n') or text != text.strip(ASCII_BLANKS):
        return f'"{text.replace(chr(34), 2 * chr(34))}"'
    return text


def write_trec(rankings: Sequence[tuple[str, Sequence[str], Floats]], tag: str) -> bytes:
    """Return the bytes of format "trec": query, Q0, document, rank, score, tag.

    Args:
        rankings: (query id, document ids, scores f8[N]) of each query.
        tag: the last column.

    Raises:
        InputError: an id contains white space, begins with # or is not Unicode.
        RunError: the run has no document.
    """
    lines = []
    for query, docs, scores in rankings:
        word = trec_word(query)
        ranks = _ranks(docs, scores).tolist()
        for doc, rank, score in zip(docs, ranks, scores.tolist(), strict=True):
            lines.append(f"{word} Q0 {trec_word(doc)} {rank} {score!r} {tag}\n")
    if not lines:
        raise RunError("the run holds no document, and a TREC file without a line is no run")
    return encode_utf8("".join(lines))


def _ranks(docs: Sequence[str], scores: Floats) -> Ints:
    """Return the 1-based rank of each document in the order of trec_eval, i8[N].

    The order is by score, then by document id, both descending.

    Args:
        docs: document ids. [N]
        scores: f8[N].
    """
    ranks = np.empty(len(docs), dtype=np.int64)
    ranks[best_first(docs, scores, "trec_eval10")] = np.arange(1, len(docs) + 1)
    return ranks
