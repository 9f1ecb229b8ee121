"""Read results that were written by ``evaluate --json`` or ``EvaluationResult.save``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from beir_eval.cli.options import system_names
from beir_eval.core.files import FileContent
from beir_eval.errors import InputError
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_saved_results(files: Sequence[Path]) -> list[EvaluationResult] | None:
    """Return the results in all files; None if the files are judgements and runs.

    Raises:
        InputError: some of the files hold results and others do not.
    """
    contents = [_read_records(path) for path in files]
    if all(records is None for records in contents):
        return None
    results: list[EvaluationResult] = []
    origins: list[Path] = []
    for path, records in zip(files, contents, strict=True):
        if records is None:
            msg = f"{path}: saved results were expected in every file, or judgements and runs"
            raise InputError(msg)
        results += [EvaluationResult.from_content(record, path) for record in records]
        origins += [path] * len(records)
    names = [result.name for result in results]
    if len(set(names)) < len(names) and len(set(origins)) == len(origins):
        # The same system, saved at two times: name the results after their files.
        results = [
            result.model_copy(update={"name": name})
            for result, name in zip(results, system_names(origins), strict=True)
        ]
    return results


def _read_records(path: Path) -> list[object] | None:
    """Return the saved results in a file, as parsed JSON; None for a file of another kind."""
    if path.is_dir():
        return None
    content = FileContent(path)
    if not content.head.lstrip().startswith((b"{", b"[")):
        return None
    try:
        data = json.loads(content.data())
    except (ValueError, RecursionError):
        return None
    records = data if isinstance(data, list) else [data]
    is_saved = records and all(
        isinstance(record, dict) and {"schema_version", "values", "measures"} <= record.keys()
        for record in records
    )
    return records if is_saved else None
