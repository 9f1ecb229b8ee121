"""Text files read in parts of whole lines, decompressed on the way, so that memory is bounded."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from beir_eval.core.files import GZIP_FORMAT, GZIP_MAGIC, ZSTD_MAGIC, import_zstandard
from beir_eval.errors import FileFormatError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Bytes of a packed file that are read at a time.
_PACKED_SIZE = 1 << 18


class LinePart(NamedTuple):
    """Whole lines of a file.

    Attributes:
        data: the lines; only the last line of the file may lack its end.
        first_line: the 1-based number of the first of them.
        bytes_read: how much of the file has been read, packed as it is.
    """

    data: bytes
    first_line: int
    bytes_read: int


def line_parts(path: Path, size: int) -> Iterator[LinePart]:
    """Yield the content of a file in parts of whole lines, about ``size`` bytes each.

    Args:
        path: the file, which may be packed with gzip or zstd.
        size: the number of bytes; parts with long lines, or of a packed file, may have more.

    Raises:
        FileFormatError: a packed file is truncated or damaged.
        MissingExtraError: a zstd file without the package zstandard.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        waiting: list[bytes] = []
        first_line = 1
        for block in _blocks(path, file, size):
            waiting.append(block)
            if sum(map(len, waiting)) < size or b"\n" not in block:
                continue
            data = b"".join(waiting)
            end = data.rfind(b"\n") + 1
            yield LinePart(data[:end], first_line, file.tell())
            first_line += data.count(b"\n")
            waiting = [data[end:]]
        if data := b"".join(waiting):
            yield LinePart(data, first_line, file.tell())


def unpacked_blocks(path: Path, size: int) -> Iterator[bytes]:
    """Yield the content of a file, decompressed, in blocks of about ``size`` bytes or more.

    Args:
        path: the file, which may be packed with gzip or zstd.
        size: the number of bytes of a block of a file that is not packed.

    Raises:
        FileFormatError, MissingExtraError, OSError: as ``line_parts``.
    """
    with path.open("rb") as file:
        yield from _blocks(path, file, size)


def _blocks(path: Path, file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the decompressed content of an open file."""
    magic = file.read(4)
    file.seek(0)
    if not magic.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        while block := file.read(size):
            yield block
        return
    is_gzip = magic.startswith(GZIP_MAGIC)
    new_decompressor: Callable[[], Any] = (
        partial(zlib.decompressobj, wbits=GZIP_FORMAT)
        if is_gzip
        else import_zstandard().ZstdDecompressor().decompressobj
    )
    try:
        yield from filter(None, _unpacked(file, new_decompressor, padded=is_gzip))
    except (MissingExtraError, FileFormatError, OSError, GeneratorExit):
        raise
    except Exception as error:
        # Each library raises its own errors for damaged data, and none of them names the file.
        problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
        raise FileFormatError(path, problem) from error


def _unpacked(
    file: BinaryIO, new_decompressor: Callable[[], Any], *, padded: bool
) -> Iterator[bytes]:
    """Yield the content of an open packed file, of several packed files one after the other too.

    Args:
        file: the file.
        new_decompressor: a function that returns a decompressor of one member.
        padded: whether zero bytes after a member are ignored, as the program gzip does.
    """
    member = None
    is_first = True
    while packed := file.read(_PACKED_SIZE):
        while packed:
            if member is None:
                if padded and not is_first:
                    packed = packed.lstrip(b"\0")
                    if not packed:
                        break
                member, is_first = new_decompressor(), False
            yield member.decompress(packed)
            packed = member.unused_data if member.eof else b""
            if member.eof:
                member = None
    if member is not None:
        raise EOFError("the last member has no end")
