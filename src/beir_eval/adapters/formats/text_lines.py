"""Text of lines, for detection, readers and writers: the first line, checks of ids, UTF-8."""

from __future__ import annotations

import re

from beir_eval.core.files import split_fields
from beir_eval.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def first_line(head: bytes, *, hash_ids: bool = False) -> tuple[int, bytes]:
    """Return (1-based number, text) of the first line that is neither blank nor a comment.

    Without such a line this is (1, b"").

    Args:
        head: the first bytes of a file.
        hash_ids: take a line that begins with ``#`` but has two tabs, and a number after them, for
            a line of BEIR qrels, whose ids may begin with ``#``.
    """
    for number, line in enumerate(head.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        text = line.rstrip(b"\r")
        is_beir = hash_ids and re.fullmatch(rb"[^\t]+\t[^\t]+\t[-+.\deE]+", text) is not None
        if text.strip() and (not text.startswith(b"#") or is_beir):
            return number, text.strip(b" ")
    return 1, b""


def encode_utf8(text: str) -> bytes:
    """Return the text as UTF-8; raise InputError if an id in it is not Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - 20) : error.end]
        msg = f"an id is not Unicode text, which no file can say: …{part!r}"
        raise InputError(msg) from error


def trec_word(text: str) -> str:
    """Return the text if it fits into a column of a TREC file.

    Raises:
        InputError: it is empty, contains ASCII white space, begins with ``#`` or a byte order
            mark, or is not Unicode.
    """
    encode_utf8(str(text))
    if split_fields(str(text)) != [text] or text.startswith(("#", "\ufeff")):
        msg = f"{text!r} holds blanks or begins with #, which a TREC file cannot say; write JSON"
        raise InputError(msg)
    return text
