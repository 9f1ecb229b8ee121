"""Files: read whole (packed ones too) with clear errors, written whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import math
import os
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from beir_eval.errors import FileFormatError, MissingExtraError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_HEAD = 1 << 16
#: What is locked of a file on Windows: the last byte that a position of 32 bits (signed) reaches.
_LOCKED_BYTE = 2**31 - 2


class FileContent:
    """A file's content, unpacked where it is gzip or zstd (told by its first bytes).

    Attributes:
        path: the file.
        head: the first 64 KiB of the content.

    Raises:
        FileFormatError: a packed file is truncated or damaged.
        MissingExtraError: a zstd file without the package zstandard.
        OSError: there is no such file, it is a folder, or it may not be read.
    """

    def __init__(self, path: Path) -> None:
        """Read the first bytes; a packed file, or a pipe, is read at once."""
        self.path = path
        self._unpacked: bytes | None = None
        with path.open("rb") as file:
            self.head = file.read(_HEAD)
            # A pipe can be read only once.
            if not path.is_file() or self.head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
                self._unpacked = unpack(path, self.head + file.read())
                self.head = self._unpacked[:_HEAD]

    def data(self) -> bytes:
        """Return the whole content."""
        return self.path.read_bytes() if self._unpacked is None else self._unpacked

    def source(self) -> Path | io.BytesIO:
        """Return what polars can read the content from: the file, unless it is packed.

        Nor can it open a file whose name is not Unicode.
        """
        if self._unpacked is None and str(self.path).isprintable():
            return self.path.absolute()
        return io.BytesIO(self.data())

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield the content in parts of about ``size`` bytes that end where a line ends."""
        with (
            io.BytesIO(self._unpacked)
            if self._unpacked is not None
            else self.path.open("rb") as file
        ):
            rest: list[bytes] = []
            while part := file.read(size):
                end = part.rfind(b"\n") + 1
                if end:
                    yield b"".join([*rest, part[:end]])
                    rest = [part[end:]]
                else:
                    rest.append(part)
            if last := b"".join(rest):
                yield last

    def text(self) -> str:
        """Return the whole content as text; a UTF-8 byte order mark is dropped.

        Raises:
            FileFormatError: the file is binary or not UTF-8.
        """
        return decode(self.path, self.data())


def lock(file: IO[Any]) -> bool:
    """Keep other processes from locking an open file; False where another one has locked it.

    The lock ends with the file, and with the process. Other processes can still read the file.
    """
    for lock_on_platform in (_lock_on_unix, _lock_on_windows):
        try:
            lock_on_platform(file)
        except ImportError:  # another platform
            continue
        except OSError:
            return False
        return True
    return True  # WebAssembly: there is only this process


def _lock_on_unix(file: IO[Any]) -> None:
    fcntl = import_module("fcntl")  # by name: type checkers know each module on its platform only
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(file: IO[Any]) -> None:
    """Lock a byte far behind the end of the file: others cannot read what is locked on Windows."""
    msvcrt = import_module("msvcrt")
    descriptor = file.fileno()
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)


def plain_name(path: Path) -> str:
    """Return a file's name without the ending of a packer."""
    return path.name.removesuffix(".gz").removesuffix(".zst")


def stem_of(path: Path) -> str:
    """Return a file's name without its ending and that of a packer: what a system is called."""
    name = plain_name(path)
    return name.rpartition(".")[0] or name


def is_gzip(path: Path) -> bool:
    """Return whether the first bytes of a file are those of gzip."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Turn what polars raises for a damaged Parquet file into FileFormatError."""
    try:
        yield
    except BaseException as error:
        # polars panics, which is no Exception, on some damaged files.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(path, f"not a readable Parquet file ({error})") from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and few ask for it

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, data: bytes) -> bytes:
    """Return what gzip or zstd packed, told by the first bytes; other bytes as they are."""
    try:
        if data.startswith(GZIP_MAGIC):
            return gzip.decompress(data)
        if data.startswith(ZSTD_MAGIC):
            return _unpack_zstd(data)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each library has its own errors for damaged data; none of them names the file.
        problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
        raise FileFormatError(path, problem) from error
    return data


def _unpack_zstd(data: bytes) -> bytes:
    parts = []
    while data:
        frame = _zstandard().ZstdDecompressor().decompressobj()
        parts.append(frame.decompress(data))
        if not frame.eof:
            raise EOFError("the last frame has no end")
        data = frame.unused_data
    return b"".join(parts)


def _zstandard() -> Any:
    with needs_extra("zstandard", "files", "a .zst file"):
        import zstandard  # noqa: PLC0415 - an extra
    return zstandard


def decode(path: Path, data: bytes) -> str:
    """Return text from bytes of ``path``, or raise FileFormatError with the line at fault."""
    check_is_text(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text; convert the file to UTF-8"
        raise FileFormatError(path, problem, line=line) from error


def is_binary(data: bytes) -> bool:
    """Return whether the first bytes show a binary file."""
    return b"\0" in data[:4096]


def check_is_text(path: Path, data: bytes) -> None:
    """Raise FileFormatError where the first bytes show a binary file."""
    if is_binary(data):
        problem = "a binary file, where lines of text were expected"
        raise FileFormatError(path, problem)


def split_fields(line: str) -> list[str]:
    """Split at blanks and tabs, as trec_eval does: not at other scripts' white space.

    >>> split_fields("q1  d1 1")
    ['q1', 'd1', '1']
    """
    return [field.decode() for field in line.encode().split()]


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
    """Write ``data`` to ``path``, packed where its name ends in .gz or .zst; all or nothing.

    The bytes go to a temporary file beside it, which then takes its name: a reader sees the old
    file or the new one, and an interrupted write leaves the old one. A link is followed; into a
    pipe or a device the bytes are simply written.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = _zstandard().ZstdCompressor().compress(data)
    try:
        target = _target(path)
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a folder raises here
        else:
            _replace_with(target, data)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _target(path: Path) -> Path:
    """Follow links; raise OSError for a path that leads nowhere."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError) as error:
        raise OSError(errno.EINVAL, str(error)) from error


def _replace_with(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{os.urandom(16).hex()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
