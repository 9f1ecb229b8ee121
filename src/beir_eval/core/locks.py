"""Locks of files, by which processes see that another one is at work."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any

#: The position of the byte that is locked on Windows: the last one that signed 32 bits can address.
_LOCKED_BYTE = 2**31 - 2


def lock(file: IO[Any]) -> bool:
    """Lock an open file as soon as no other process has it locked; return False without locks.

    On Windows it does not wait: there, a file that is locked already is like one without locks.
    """
    try:
        fcntl = import_module("fcntl")
    except ImportError:
        return try_lock(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


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
