"""``needs_streaming``: whether a run file is too large for an evaluation in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.core.files import is_packed
from beir_eval.core.free_memory import free_memory
from beir_eval.errors import BeirEvalError

if TYPE_CHECKING:
    from pathlib import Path

#: A file is evaluated in memory if that takes at most this share of what is free.
SHARE = 0.5
#: Bytes of memory for a byte of text or a row of Parquet, as measured with rows in any order, which
#: take most.
_PER_BYTE, _PER_ROW = 5, 200
#: How many times smaller packed text is.
TIMES_PACKED = 4
#: Bytes of memory for a byte of a file, at most: a row of Parquet may have as few as 5 bytes.
_LARGEST = _PER_ROW // 5


def needs_streaming(path: Path, format: str | None = None) -> bool:  # noqa: A002
    """Return whether an evaluation in memory would take more than half of the free memory.

    False for files that cannot be read in parts, and where free memory is not known.

    Args:
        path: a run file.
        format: its format; None detects it.
    """
    free = free_memory()
    # Most files are small: their format need not be known.
    if free is None or not path.is_file() or _LARGEST * path.stat().st_size < SHARE * free:
        return False
    from beir_eval.adapters.run_parts import RunFile  # noqa: PLC0415 - needs polars

    try:
        run = RunFile(path, format)
        if run.format == "parquet":
            needed = _PER_ROW * run.num_parquet_rows()
        else:
            needed = run.size * _PER_BYTE * (TIMES_PACKED if is_packed(path) else 1)
    except (BeirEvalError, OSError):
        return False
    return needed > SHARE * free
