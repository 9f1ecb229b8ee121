"""``free_memory``: how much memory this process can still take."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
#: The folders of the memory limits of containers: their limit, and what is used of it.
_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def free_memory() -> int | None:
    """Return the number of bytes that are free; None if the platform does not say.

    The limit of a container counts, if it is lower than what the machine has.
    """
    amounts: list[int] = []
    with suppress(OSError, ValueError):
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        amounts += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvail")]
    if not amounts:
        with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
            amounts.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, used in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            amounts.append(int(limit.read_text()) - int(used.read_text()))
    return max(0, min(amounts)) if amounts else None
