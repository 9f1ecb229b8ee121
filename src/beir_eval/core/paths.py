"""Paths that users pass, checked, and names of files as text that can be written to other files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from beir_eval.errors import InputError, shown


def as_path(path: object, label: str = "the path") -> Path:
    """Return a path that a user passed.

    Args:
        path: a text or a path object.
        label: what the message calls the path.

    Raises:
        InputError: it is neither, or cannot be the name of a file, as with a zero byte or too many
            characters.
    """
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if not isinstance(text, str):
        msg = f"{label} must be text or a Path, not {shown(path)} of type {type(path).__name__}"
        raise InputError(msg)
    if "\0" in text:
        msg = f"{label} contains a zero byte: {shown(text)}"
        raise InputError(msg)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        msg = f"{label} cannot be the name of a file: {shown(text)}"
        raise InputError(msg) from error
    if _is_too_long(text):
        msg = (
            f"{label} is too long for the name of a file: {shown(text)}, {len(text):,} characters; "
            "pass the path of a file, not its content"
        )
        raise InputError(msg)
    return Path(path)  # type: ignore[arg-type]


def _is_too_long(path: str) -> bool:
    """Return whether the system refuses a path for its length; the limits differ by file system."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def name_as_text(name: str) -> str:
    r"""Return the name of a file with ``\xff`` for each byte that is not UTF-8.

    Such a byte is a surrogate in the name, which no file of text can contain.

    >>> name_as_text("bm25"), name_as_text("caf\udce9")
    ('bm25', 'caf\\xe9')
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def part_of_file_name(name: str) -> str:
    """Return a name as a part of the name of a file: a part of a path in it is no folder.

    >>> part_of_file_name("runs/bm25")
    'runs_bm25'
    """
    for separator in filter(None, ("/", os.sep, os.altsep)):
        name = name.replace(separator, "_")
    return name
