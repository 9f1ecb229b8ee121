"""Files: read with clear errors (gzip and zstd too), written atomically, locked, hashed."""

from __future__ import annotations

import errno
import gzip
import io
import math
import os
import re
import stat
import time
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from beir_eval.core.paths import name_as_text
from beir_eval.errors import FileFormatError, MissingExtraError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
#: The size of a ``FileContent``'s head.
HEAD_SIZE = 1 << 16
#: The sizes of the first and of the largest part in which packed data is read.
_FIRST_PART, _LARGEST_PART = 1 << 13, 1 << 26
#: zlib's number for data in the format of gzip.
_GZIP_FORMAT = 31
_ZERO_BYTES = re.compile(rb"\0*")
#: The position of the byte that is locked on Windows: the last one that signed 32 bits can address.
_LOCKED_BYTE = 2**31 - 2
#: Temporary files of ``write_atomically``: an id of the computer, and 128 random bits.
_TEMPORARY_NAME = re.compile(r"\.beir-eval-[0-9a-f]{8}-[0-9a-f]{32}\.tmp")
#: On Windows an open file cannot be renamed, so a temporary file cannot be locked until then.
_CAN_RENAME_OPEN_FILES = os.name != "nt"
#: How many temporary files are created until one can be locked; the last one is used without.
_LOCK_ATTEMPTS = 4
_DAY = 24 * 60 * 60
#: A search for temporary files that takes longer (in seconds) is not repeated at once.
_QUICK_SEARCH = 0.01
_next_searches: dict[Path, float] = {}


class FileContent:
    """The content of a file, decompressed if its first bytes are those of gzip or zstd.

    Attributes:
        path: the file.
        head: the first 64 KiB of the decompressed content.

    Raises:
        FileFormatError: a compressed file is truncated or damaged.
        MissingExtraError: a zstd file without the package zstandard.
        OSError: the file does not exist, is a folder, or is not readable.
    """

    def __init__(self, path: Path) -> None:
        """Read the first bytes of ``path``; read all of a compressed file or a pipe."""
        self.path = path
        self._unpacked: bytes | None = None
        with path.open("rb") as file:
            self.head = file.read(HEAD_SIZE)
            # A pipe can be read only once.
            if not path.is_file() or self.head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
                self._unpacked = unpack(path, self.head + file.read())
                self.head = self._unpacked[:HEAD_SIZE]

    def data(self) -> bytes:
        """Return the whole content."""
        return self.path.read_bytes() if self._unpacked is None else self._unpacked

    def source(self) -> Path | io.BytesIO:
        """Return what polars can read the content from: the path, or a buffer of the bytes.

        A buffer is needed for a compressed file, and for a path with unprintable characters:
        polars cannot open a path that is not valid Unicode.
        """
        if self._unpacked is None and str(self.path).isprintable():
            return self.path.absolute()
        return io.BytesIO(self.data())

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield the content in parts of about ``size`` bytes that end at the end of a line."""
        with (
            io.BytesIO(self._unpacked)
            if self._unpacked is not None
            else self.path.open("rb") as file
        ):
            pending: list[bytes] = []
            while part := file.read(size):
                end = part.rfind(b"\n") + 1
                if end:
                    yield b"".join([*pending, part[:end]])
                    pending = [part[end:]]
                else:
                    pending.append(part)
            if last_part := b"".join(pending):
                yield last_part

    def text(self) -> str:
        """Return the whole content as text; a UTF-8 byte order mark is dropped.

        Raises:
            FileFormatError: the file is binary or not UTF-8.
        """
        return decode(self.path, self.data())


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file; return False if it is locked already or cannot be locked.

    The lock is against other processes, and against other handles of the file in this one. It ends
    when the file is closed or the process ends. Other processes can still read the file. Where no
    locks exist (WebAssembly), return True.
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
    fcntl = import_module("fcntl")  # by name: type checkers know fcntl on Unix only
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(file: IO[Any]) -> None:
    """Lock a byte far behind the end of the file: on Windows others cannot read locked bytes."""
    msvcrt = import_module("msvcrt")
    descriptor = file.fileno()
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)


def plain_name(path: Path) -> str:
    """Return a file's name without .gz and .zst."""
    return path.name.removesuffix(".gz").removesuffix(".zst")


def file_stem(path: Path) -> str:
    """Return a file's name without its extension, and without .gz and .zst: a system's name."""
    name = name_as_text(plain_name(path))
    return name.rpartition(".")[0] or name


def is_gzip(path: Path) -> bool:
    """Return whether a file starts with the first bytes of gzip."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise FileFormatError for every error inside the ``with`` block, also for a missing file."""
    try:
        yield
    except BaseException as error:
        # On some damaged files polars raises PanicException, which is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(path, f"not a readable Parquet file ({error})") from error


def file_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and is rarely needed

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, data: bytes) -> bytes:
    """Return ``data`` decompressed if its first bytes are those of gzip or zstd, else unchanged.

    Args:
        path: the file of the data, for messages.
        data: the bytes.

    Raises:
        FileFormatError: the compressed data is truncated or damaged.
        MissingExtraError: zstd without the package zstandard.
    """
    try:
        if data.startswith(GZIP_MAGIC):
            return _unpack_members(data, partial(zlib.decompressobj, wbits=_GZIP_FORMAT))
        if data.startswith(ZSTD_MAGIC):
            return _unpack_zstd(data)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each library raises its own errors for damaged data, and none of them names the file.
        problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
        raise FileFormatError(path, problem) from error
    return data


def _unpack_zstd(data: bytes) -> bytes:
    return _unpack_members(data, _import_zstandard().ZstdDecompressor().decompressobj)


def _unpack_members(data: bytes, new_decompressor: Callable[[], Any]) -> bytes:
    """Return the content of packed data, which may be several packed files one after the other.

    The first member gets all of the data, further ones small parts of it: a decompressor copies
    what follows its member, which would take time quadratic in the number of members.

    Args:
        data: the packed bytes; zero bytes after a member are ignored, as gzip does.
        new_decompressor: a function that returns a decompressor of one member.
    """
    view, position, contents = memoryview(data), 0, []
    while position < len(data):
        member, size = new_decompressor(), _FIRST_PART if position else len(data)
        while not member.eof:
            part = view[position : position + size]
            if not len(part):
                raise EOFError("the last member has no end")
            contents.append(member.decompress(part))
            position += len(part) - len(member.unused_data)
            size = min(8 * size, _LARGEST_PART)
        position = _ZERO_BYTES.match(data, position).end()  # type: ignore[union-attr]
    return contents[0] if len(contents) == 1 else b"".join(contents)


def _import_zstandard() -> Any:
    with needs_extra("zstandard", "files", "a .zst file"):
        import zstandard  # noqa: PLC0415 - an extra
    return zstandard


def decode(path: Path, data: bytes) -> str:
    """Return the UTF-8 text of ``data``, the bytes of ``path``; a byte order mark is dropped.

    Raises:
        FileFormatError: the data is binary, or not UTF-8 (the error has the line number).
    """
    check_is_text(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text; convert the file to UTF-8"
        raise FileFormatError(path, problem, line=line) from error


def is_binary(data: bytes) -> bool:
    """Return whether the first 4,096 bytes contain a zero byte, which text files do not."""
    return b"\0" in data[:4096]


def check_is_text(path: Path, data: bytes) -> None:
    """Check that ``data``, the bytes of ``path``, is not binary, or raise FileFormatError."""
    if is_binary(data):
        problem = "a binary file, where lines of text were expected"
        raise FileFormatError(path, problem)


def split_fields(line: str) -> list[str]:
    """Split a line at ASCII white space only, as trec_eval does.

    >>> split_fields("q1  d1 1")
    ['q1', 'd1', '1']
    """
    return [field.decode() for field in line.encode().split()]


def read_number(path: Path, line: int, label: str, text: str) -> float:
    """Return the finite number that ``text`` spells.

    Args:
        path: the file, for messages.
        line: the 1-based line number, for messages.
        label: what messages call the number, for example "score".
        text: the text of the number.

    Raises:
        FileFormatError: the text is not a finite number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # float() also reads "1_0" as 10, digits of other scripts, and control characters around them.
    if not math.isfinite(value) or "_" in text or not (text.isascii() and text.isprintable()):
        problem = f"the {label} {shown(text)} is not a finite number"
        raise FileFormatError(path, problem, line=line)
    return value


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` completely or not at all, compressed if it ends in .gz or .zst.

    The bytes go to a temporary file in the same folder, which then replaces ``path``. A reader sees
    the old file or the new one, and an interrupted write leaves the old one. Symbolic links to the
    file are followed. A pipe or a device is written to directly.

    The new file has owner, group and permissions of the file that it replaces, as far as the
    process may set them; if it cannot set the group, the group gets no permissions. Without an old
    file, the permissions are those of any new file (666 without the bits of the umask). The
    temporary file never has more permissions than that. Its name cannot be predicted, and it is not
    created through a link. If the process is killed, the temporary file remains, and the next write
    to the folder removes it.

    Raises:
        MissingExtraError: the path ends in .zst and the package zstandard is not installed.
        OSError: the file cannot be written; the error names ``path``.
    """
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = _import_zstandard().ZstdCompressor().compress(data)
    try:
        target = _resolve_links(path)
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a folder raises here
        else:
            _remove_abandoned_files(target.parent)
            _replace_file(target, data)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _resolve_links(path: Path) -> Path:
    """Return the path with symbolic links followed; raise OSError for a loop or an invalid path."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError) as error:
        raise OSError(errno.EINVAL, str(error)) from error


def _replace_file(target: Path, data: bytes) -> None:
    old = target.stat() if target.exists() else None
    temporary, file = _create_temporary_file(target.parent, 0o666 if old is None else 0o600)
    try:
        with file:
            file.write(data)
            file.flush()
            if old is not None:
                _copy_permissions(old, file)
            os.fsync(file.fileno())
            if _CAN_RENAME_OPEN_FILES:
                temporary.replace(target)  # still locked: no other process removes it before
        if not _CAN_RENAME_OPEN_FILES:
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _create_temporary_file(folder: Path, permissions: int) -> tuple[Path, IO[bytes]]:
    """Create a file with an unpredictable name in a folder, and lock it where locks exist.

    The lock shows other processes that the writer is alive. A process that looks at the file before
    it is locked takes it for abandoned and removes it; then another file is created.

    Args:
        folder: the folder.
        permissions: those of the file, from which the umask is subtracted.
    """
    for attempts_left in reversed(range(_LOCK_ATTEMPTS)):
        path = folder / f".beir-eval-{_host_id()}-{os.urandom(16).hex()}.tmp"
        file = open_without_links(path, "xb", permissions=permissions)
        if not _CAN_RENAME_OPEN_FILES or not attempts_left:
            break  # without a lock: on Windows, and on file systems that have none
        if try_lock(file) and os.fstat(file.fileno()).st_nlink:
            break
        file.close()
        path.unlink(missing_ok=True)
    return path, file


def _copy_permissions(old: os.stat_result, file: IO[bytes]) -> None:
    """Give an open file the owner, the group and the permissions of another one.

    If the group cannot be set, the permissions are not given to another group.
    """
    if not hasattr(os, "fchown"):
        return  # Windows: a file has the permissions of its folder
    descriptor, mode = file.fileno(), old.st_mode & 0o777
    new = os.fstat(descriptor)
    if new.st_uid != old.st_uid:
        with suppress(OSError):  # only the superuser may change the owner
            os.fchown(descriptor, old.st_uid, -1)
    if new.st_gid != old.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode &= ~0o070
    with suppress(OSError):  # file systems without permissions
        os.fchmod(descriptor, mode)


def _remove_abandoned_files(folder: Path) -> None:
    """Remove the temporary files of ``write_atomically`` in a folder whose writers are dead.

    Files that cannot be removed are left. Looking through a large folder takes at most a tenth of
    the time of many writes to it.
    """
    start = time.monotonic()
    if start < _next_searches.get(folder, -math.inf):
        return
    with suppress(OSError):
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _TEMPORARY_NAME.fullmatch(entry.name)]
        for name in names:
            with suppress(OSError):
                _remove_if_abandoned(folder / name)
    seconds = time.monotonic() - start
    if seconds > _QUICK_SEARCH:
        _next_searches[folder] = start + 10 * seconds


def _remove_if_abandoned(path: Path) -> None:
    """Remove a temporary file of this user if its writer is dead.

    The lock of a file of this computer ends with its writer. Locks of other computers may not be
    visible here, and on Windows there are none: such a file must be a day old.

    Raises:
        OSError: the file cannot be opened or removed.
    """
    with open_without_links(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not is_of_this_user(status):
            return
        if _CAN_RENAME_OPEN_FILES and path.name.startswith(f".beir-eval-{_host_id()}-"):
            if try_lock(file):
                path.unlink()
            return
    if time.time() - status.st_mtime > _DAY:
        path.unlink()


def _host_id() -> str:
    """Return eight hexadecimal digits that depend on the name of this computer."""
    name = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(name.encode(errors='surrogateescape')):08x}"


def is_of_this_user(status: os.stat_result) -> bool:
    """Return whether a file belongs to the user of this process; True where files have no user."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def open_without_links(
    path: Path, mode: str, *, permissions: int = 0o666, buffering: int = -1
) -> IO[bytes]:
    """Open a binary file unless its name is a symbolic link; do not wait if it is a pipe.

    On Windows, where only privileged users create links, they are followed.

    Args:
        path: the file.
        mode: the mode of ``open``, such as "xb".
        permissions: those of a new file, from which the umask is subtracted.
        buffering: that of ``open``; 0 for none.

    Raises:
        OSError: the file cannot be opened, is a link, or must be new and exists.
    """
    further_flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file: IO[bytes] = open(  # noqa: SIM115 - Path.open has no opener
        path,
        mode,
        buffering,
        opener=lambda name, flags: os.open(name, flags | further_flags, permissions),
    )
    return file


def write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of ``data`` to an unbuffered file, which may take only a part at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def sync_folder(folder: Path) -> None:
    """Wait until the names of new files in a folder are on the disk, where that is possible."""
    with suppress(OSError):  # Windows opens no folders, and some file systems do not sync them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
