"""Results wherever they are: in memory, in a file of ``save``, or in a score table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from beir_eval.core.files import as_path, is_parquet
from beir_eval.evaluation.result import EvaluationResult


def load_result(path: str | Path) -> EvaluationResult:
    """Return a saved result: a file of ``EvaluationResult.save``, or a score table.

    A score table is a Parquet file, or a folder of them that Spark wrote.

    Raises:
        ResultError: the path is something else.
        FileFormatError: the file is damaged.
        MissingExtraError: the file is a score table, and polars is not installed.
        OSError: the file cannot be read.
    """
    if not (as_path(path).is_dir() or is_parquet(as_path(path))):
        return EvaluationResult.load(path)
    from beir_eval.evaluation.streaming.table_files import read_score_table  # noqa: PLC0415

    return read_score_table(path)


def as_result(value: Any) -> Any:
    """Return the result behind a path or a ``StreamedResult``; any other value as it is.

    A text that is not the path of a file or a folder is returned too: it may be the name of a
    system.

    Raises:
        ResultError, FileFormatError, MissingExtraError, OSError: as ``load_result``.
    """
    if isinstance(value, Path) or (isinstance(value, str) and _exists(value)):
        return load_result(value)
    # Its module needs polars, and is loaded if there is such a result.
    module = sys.modules.get("beir_eval.evaluation.streaming.result")
    if module is not None and isinstance(value, module.StreamedResult):
        return value.load()
    return value


def _exists(text: str) -> bool:
    """Return whether a text is the path of something."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False
