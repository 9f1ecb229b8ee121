"""The file of a ledger: lines of JSON that are only appended, each with a hash of all before it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from beir_eval.comparison.ledger.records import LedgerHeader, Look
from beir_eval.core.atomic_writes import create_atomically, lock, write_all, write_errors
from beir_eval.core.files import kind_of_json, kind_of_text
from beir_eval.core.saved import SCHEMA_VERSION
from beir_eval.errors import FileFormatError, InputError, ResultError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The beginning of each line, before and after its hash.
_BEFORE_HASH, _AFTER_HASH = b'{"sha256":"', b'",'
_HASH_LENGTH = 64
_PREFIX_LENGTH = len(_BEFORE_HASH) + _HASH_LENGTH + len(_AFTER_HASH)
#: How long to wait for another process where a lock cannot wait by itself (Windows), in seconds.
_LONGEST_WAIT, _PAUSE = 600.0, 0.05
_CAN_WAIT = os.name != "nt"
_Record = TypeVar("_Record", bound=BaseModel)


class LedgerContent(NamedTuple):
    """What the file of a ledger holds.

    Attributes:
        header: the first line.
        looks: the further lines.
        last_hash: the hash of the last line.
        size: the bytes of all complete lines. A last line without its end was never acknowledged.
    """

    header: LedgerHeader
    looks: tuple[Look, ...]
    last_hash: bytes
    size: int


class LockedLedger:
    """The file of a ledger, locked for other processes.

    Args:
        path: the file.
        file: the file, open for reading and writing without a buffer.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.content = read_content(path, file.read())

    def append(self, look: Look) -> None:
        """Append a look, and wait until it is on the disk.

        Raises:
            ResultError: a text in it is not Unicode.
            OSError: the file cannot be written; it has no part of the look then.
        """
        content = self.content
        line, _ = _line_of(look, content.last_hash)
        with write_errors(self._path):
            try:
                self._file.truncate(content.size)  # a line that an interruption has cut off
                self._file.seek(content.size)
                write_all(self._file, line)
                os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):
                    self._file.truncate(content.size)
                raise


def create_ledger_file(path: Path, header: LedgerHeader) -> None:
    """Create the file of a ledger without looks.

    Raises:
        FileExistsError: the file exists.
        InputError: there is no such folder, or its file system cannot lock files.
        ResultError: a text in the header is not Unicode.
        OSError: the file cannot be written.
    """
    line, _ = _line_of(header, b"")
    if not path.absolute().parent.is_dir():
        msg = f"{path}: there is no folder {path.absolute().parent}; make it first"
        raise InputError(msg)
    with write_errors(path), tempfile.TemporaryFile(dir=path.absolute().parent) as probe:
        if not lock(probe):
            raise _no_locks_error(path)
    create_atomically(path, line)


def read_ledger_file(path: Path) -> LedgerContent:
    """Return the content of the file; a last line that is being written is not part of it.

    Raises:
        FileFormatError: the file is not a ledger, is of another version, or a line of it was
            changed or damaged; the message names the line.
        OSError: the file cannot be read.
    """
    return read_content(path, path.read_bytes())


@contextmanager
def locked_ledger(path: Path) -> Iterator[LockedLedger]:
    """Lock the file, as soon as no other process has it locked, and read it.

    Raises:
        InputError: the file system cannot lock files, or the file was deleted meanwhile.
        FileFormatError: as ``read_ledger_file``.
        OSError: the file cannot be opened.
    """
    with path.open("r+b", buffering=0) as file:
        deadline = time.monotonic() + _LONGEST_WAIT
        while not lock(file):
            if _CAN_WAIT or time.monotonic() > deadline:
                raise _no_locks_error(path)
            time.sleep(_PAUSE)
        if not os.fstat(file.fileno()).st_nlink:
            msg = f"{path}: the ledger was deleted while another process recorded a look"
            raise InputError(msg)
        yield LockedLedger(path, file)


def _no_locks_error(path: Path) -> InputError:
    msg = (
        f"{path}: the file cannot be locked, so that two processes could record at once; nothing "
        "was written. Keep the ledger on a file system with locks, such as a local disk"
    )
    return InputError(msg)


def _line_of(record: BaseModel, previous_hash: bytes) -> tuple[bytes, bytes]:
    """Return the line of a record, and its hash.

    Raises:
        ResultError: a text is not Unicode.
    """
    try:
        content = record.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        msg = f"not recorded, a name or an id is not Unicode: {error}"
        raise ResultError(msg) from error
    line_hash = _hash_of(content, previous_hash)
    return _BEFORE_HASH + line_hash + _AFTER_HASH + content[1:] + b"\n", line_hash


def _hash_of(content: bytes, previous_hash: bytes) -> bytes:
    """Return the SHA-256 of a line's content and the hash before it, in hexadecimal digits."""
    return hashlib.sha256(previous_hash + content).hexdigest().encode()


def read_content(path: Path, data: bytes) -> LedgerContent:
    """Return the content of the bytes of a file.

    Args:
        path: the file, for messages.
        data: all its bytes.

    Raises:
        FileFormatError: as ``read_ledger_file``.
    """
    *lines, cut_off = data.split(b"\n")
    if not lines:
        _refuse_other_file(path, cut_off)
    _check_version(path, lines[0])
    header, last_hash = _read_line(path, 1, lines[0], b"", LedgerHeader)
    looks: list[Look] = []
    for number, line in enumerate(lines[1:], start=2):
        look, last_hash = _read_line(path, number, line, last_hash, Look)
        looks.append(look)
    return LedgerContent(header, tuple(looks), last_hash, len(data) - len(cut_off))


def _read_line(
    path: Path, number: int, line: bytes, previous_hash: bytes, kind: type[_Record]
) -> tuple[_Record, bytes]:
    """Return the record of a line, and its hash.

    Raises:
        FileFormatError: the line was changed or damaged.
    """
    line_hash = line[len(_BEFORE_HASH) : len(_BEFORE_HASH) + _HASH_LENGTH]
    content = b"{" + line[_PREFIX_LENGTH:]
    if line[:_PREFIX_LENGTH] != _BEFORE_HASH + _hash_of(content, previous_hash) + _AFTER_HASH:
        problem = (
            "the line was changed or is damaged: its SHA-256 does not fit the line and those "
            "before it. What the ledger says no longer holds; restore the file from a copy"
        )
        raise FileFormatError(path, problem, line=number)
    try:
        return kind.model_validate(json.loads(content)), line_hash
    except (ValidationError, ValueError, RecursionError) as error:
        problem = f"not a line of a ledger of layout {SCHEMA_VERSION}: {error}"
        raise FileFormatError(path, problem, line=number) from error


def _check_version(path: Path, line: bytes) -> None:
    """Raise FileFormatError unless a line is the first of a ledger of this version."""
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        first = None
    if not isinstance(first, dict) or not {"sha256", "schema_version"} <= first.keys():
        _refuse_other_file(path, line)
    elif first["schema_version"] != SCHEMA_VERSION:
        problem = (
            f"a ledger of layout {SCHEMA_VERSION} was expected, found schema_version "
            f"{first['schema_version']!r}; use the version of beir-eval that wrote it, or begin "
            "another ledger"
        )
        raise FileFormatError(path, problem, line=1)


def _refuse_other_file(path: Path, line: bytes) -> None:
    """Raise FileFormatError for a file that does not begin as a ledger does."""
    text = line.decode("utf-8", "replace")
    try:
        kind, _ = kind_of_json(json.loads(text))
    except (ValueError, RecursionError):
        kind, _ = kind_of_text(text)
    actual = f"this is {kind}, " if kind else "the file is empty, " if not line else ""
    problem = f"{actual}not a ledger; name a new file to begin a ledger"
    raise FileFormatError(path, problem, line=1)
