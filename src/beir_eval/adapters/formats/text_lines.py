"""Lines of text, as detection, readers and writers share them: the first line, and ids in lines."""

from __future__ import annotations

import re

from beir_eval.core.files import split_fields
from beir_eval.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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


def encoded(text: str) -> bytes:
    """Return UTF-8, or raise InputError for an id that is not Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - 20) : error.end]
        msg = f"an id is not Unicode text, which no file can say: …{part!r}"
        raise InputError(msg) from error


def trec_word(text: str) -> str:
    """Return the text, or raise InputError where a column of TREC would end in the middle of it."""
    encoded(str(text))
    if split_fields(str(text)) != [text] or text.startswith(("#", "\ufeff")):
        msg = f"{text!r} holds blanks or begins with #, which a TREC file cannot say; write JSON"
        raise InputError(msg)
    return text
