"""Files: read whole (``.gz`` too) with clear errors, written whole or not at all."""

from __future__ import annotations

import gzip
import math
import os
import uuid
import zlib
from typing import TYPE_CHECKING

from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked where it is gzip (told by its first bytes).

    Raises:
        FileFormatError: a gzip file is truncated or damaged.
        OSError: there is no such file, it is a folder, or it may not be read.
    """
    data = path.read_bytes()
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        problem = f"the gzip file is truncated or damaged ({error}); fetch or pack it again"
        raise FileFormatError(path, problem) from error


def read_text(path: Path) -> str:
    """Return the content of a text file; a UTF-8 byte order mark is dropped.

    Raises:
        FileFormatError: the file is binary or not UTF-8.
        OSError: as ``read_bytes``.
    """
    return decode(path, read_bytes(path))


def decode(path: Path, data: bytes) -> str:
    """Return text from bytes of ``path``, or raise FileFormatError with the line at fault."""
    check_is_text(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text; convert the file to UTF-8"
        raise FileFormatError(path, problem, line=line) from error


def check_is_text(path: Path, data: bytes) -> None:
    """Raise FileFormatError where the first bytes show a binary file."""
    if b"\0" in data[:4096]:
        problem = "a binary file, where lines of text were expected"
        raise FileFormatError(path, problem)


def read_number(path: Path, line: int, what: str, text: str) -> float:
    """Return the finite number that ``text`` reads as, or raise FileFormatError for its line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:  # float() reads "1_0" as 10
        problem = f"the {what} {text!r} is not a finite number"
        raise FileFormatError(path, problem, line=line)
    return value


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, packed when the name ends in ``.gz``; all of it or nothing.

    The bytes go to a temporary file beside it, which then takes its name: a reader sees the old
    file or the new one, and an interrupted write leaves the old one.
    """
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
