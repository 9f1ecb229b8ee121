"""``is_too_large``: whether a run file is too large for an evaluation in memory.

That depends on ``free_memory``: how much memory this process can still take.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval.core.imports import import_name
from beir_eval.errors import BeirEvalError

if TYPE_CHECKING:
    from beir_eval.core.column_names import StatedColumns

#: The class of a run file that is read in parts, which needs polars.
RUN_FILE = "beir_eval.adapters.run_parts:RunFile"
#: A file is evaluated in memory if that takes at most this share of what is free.
SHARE = 0.5
#: Bytes of memory for a byte of text or a row of Parquet, as measured with rows in any order, which
#: take most.
_PER_BYTE, _PER_ROW = 5, 200
#: Bytes of memory for a byte of a file, at most: a row of Parquet may have as few as 5 bytes.
_LARGEST = _PER_ROW // 5
_MEMINFO = Path("/proc/meminfo")
#: The folders of the memory limits of containers: their limit, and what is used of it.
_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def is_too_large(path: Path, stated: str | None, columns: StatedColumns) -> bool:
    """Return whether an evaluation in memory would take more than half of the free memory.

    False for files that cannot be read in parts, and where free memory is not known.

    Args:
        path: a run file.
        stated: the name of its format; None detects it.
        columns: what is stated about its columns.
    """
    free = free_memory()
    # Most files are small: their format need not be known.
    if free is None or not path.is_file() or _LARGEST * path.stat().st_size < SHARE * free:
        return False
    try:
        run = import_name(RUN_FILE)(path, stated, columns)
        rows = run.num_rows() * _PER_ROW if run.format.name == "parquet" else 0
    except (BeirEvalError, OSError):
        return False
    return bool((rows or run.num_bytes() * _PER_BYTE) > SHARE * free)


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
