"""Files that are written completely or not at all, and locks of files.

Locks show processes that another one is at work.
"""

from __future__ import annotations

import errno
import gzip
import os
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from beir_eval.core.files import import_zstandard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Seconds after which a temporary file is taken for that of a killed process: a day.
_ABANDONED_SECONDS = 86_400
#: The position of the byte that is locked on Windows: the last one that signed 32 bits can address.
_LOCKED_BYTE = 2**31 - 2


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` completely or not at all, compressed if it ends in .gz or .zst.

    The bytes go to a temporary file in the same folder, which then replaces ``path``. A reader sees
    the old file or the new one, and an interrupted write leaves the old one. Symbolic links to the
    file are followed. A pipe or a device is written to directly.

    The new file has owner, group and permissions of the file that it replaces, as far as the
    process may set them; if it cannot set the group, the group gets no permissions. Without an old
    file, the permissions are those of any new file (666 without the bits of the umask). The
    temporary file never has more permissions than that. Its name cannot be predicted, and it is not
    created through a link. If the process is killed, it remains until a write to the folder a day
    later.

    Raises:
        MissingExtraError: the path ends in .zst and the package zstandard is not installed.
        OSError: the file cannot be written; the error names ``path``.
    """
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = import_zstandard().ZstdCompressor().compress(data)
    with write_errors(path):
        # Links are followed later: the pipe behind /dev/stdout has no name that can be opened.
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a folder raises here
        else:
            target = path.resolve()
            _remove_abandoned_files(target.parent)
            _replace_file(target, data)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise an OSError inside the ``with`` block as one of the same class that names ``path``.

    An error of an open file names no file, and that of a temporary file names another one.
    """
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def check_can_write(path: Path) -> None:
    """Check that ``write_atomically`` can write to ``path``; a file in its place stays unchanged.

    A temporary file is created in its folder and removed: permissions alone do not tell, for
    example on a file system that is mounted to be read.

    Raises:
        MissingExtraError: the path ends in .zst and the package zstandard is not installed.
        OSError: the file cannot be written; the error names ``path``.
    """
    if path.suffix == ".zst":
        import_zstandard()
    with write_errors(path):
        if path.exists() and not path.is_file():
            if path.is_dir() or not os.access(path, os.W_OK):
                number = errno.EISDIR if path.is_dir() else errno.EACCES
                raise OSError(number, os.strerror(number))
            return
        temporary, file = _create_temporary_file(path.resolve().parent, 0o600)
        file.close()
        temporary.unlink()


def _replace_file(target: Path, data: bytes) -> None:
    old = target.stat() if target.exists() else None
    temporary, file = _create_temporary_file(target.parent, 0o666 if old is None else 0o600)
    try:
        with file:
            file.write(data)
            file.flush()
            if old is not None:
                _copy_permissions(old, file.fileno())
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _create_temporary_file(folder: Path, permissions: int) -> tuple[Path, IO[bytes]]:
    """Create a file with an unpredictable name in a folder.

    Args:
        folder: the folder.
        permissions: those of the file, from which the umask is subtracted.
    """
    path = folder / f".beir-eval-{os.urandom(16).hex()}.tmp"
    return path, open_without_links(path, "xb", permissions=permissions)


def _copy_permissions(old: os.stat_result, descriptor: int) -> None:
    """Give an open file the owner, the group and the permissions of another one, where possible.

    If the group cannot be set, the permissions are not given to another group.
    """
    # On Windows a file has the permissions of its folder.
    for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
        with suppress(OSError, AttributeError):  # only the superuser may change the owner
            os.fchown(descriptor, owner, group)
    is_of_group = os.fstat(descriptor).st_gid == old.st_gid
    with suppress(OSError, AttributeError):  # file systems without permissions
        os.fchmod(descriptor, old.st_mode & (0o777 if is_of_group else 0o707))


def _remove_abandoned_files(folder: Path) -> None:
    """Remove the temporary files in a folder that are older than a day, where possible."""
    for path in folder.glob(".beir-eval-*.tmp"):
        with suppress(OSError):
            if path.lstat().st_mtime < time.time() - _ABANDONED_SECONDS:
                path.unlink()


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
