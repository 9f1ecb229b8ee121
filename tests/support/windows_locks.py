"""A replacement for msvcrt that locks bytes of open files in memory, as Windows does."""

import errno
import os
import types


class WindowsLocks(types.ModuleType):
    """A module ``msvcrt``; ``held`` is {(file, position of the byte): descriptor}."""

    LK_NBLCK = 2

    def __init__(self):
        super().__init__("msvcrt")
        self.held = {}

    def locking(self, descriptor, mode, count):
        assert (mode, count) == (self.LK_NBLCK, 1)
        byte = _file_id(descriptor), os.lseek(descriptor, 0, os.SEEK_CUR)
        assert byte[1] < 2**31  # a long of 32 bits
        holder = self.held.get(byte, descriptor)
        # A lock ends with the handle that took it.
        if holder != descriptor and _file_id(holder) == byte[0]:
            raise PermissionError(errno.EACCES, "Permission denied")
        self.held[byte] = descriptor


def _file_id(descriptor):
    """Return an id of the file of a descriptor, or None if the descriptor is closed."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino
