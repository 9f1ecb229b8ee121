"""Results that ``evaluate --json`` or ``EvaluationResult.save`` wrote, as input of a command."""

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


def saved_results(files: Sequence[Path]) -> list[EvaluationResult] | None:
    """Return saved results; None where the files are judgements and runs."""
    found = [_records(path) for path in files]
    if all(records is None for records in found):
        return None
    results: list[EvaluationResult] = []
    origins: list[Path] = []
    for path, records in zip(files, found, strict=True):
        if records is None:
            msg = f"{path}: saved results were expected in every file, or judgements and runs"
            raise InputError(msg)
        results += [EvaluationResult.from_content(record, path) for record in records]
        origins += [path] * len(records)
    names = [one.name for one in results]
    if len(set(names)) < len(names) and len(set(origins)) == len(origins):
        # The same system at two times: known by its files.
        results = [
            one.model_copy(update={"name": name})
            for one, name in zip(results, system_names(origins), strict=True)
        ]
    return results


def _records(path: Path) -> list[object] | None:
    """Return the saved results of a file, as they stand there; None for another file."""
    if path.is_dir():
        return None
    content = FileContent(path)
    if not content.head.lstrip().startswith((b"{", b"[")):
        return None
    try:
        whole = json.loads(content.data())
    except (ValueError, RecursionError):
        return None
    listed = whole if isinstance(whole, list) else [whole]
    is_saved = listed and all(
        isinstance(one, dict) and {"schema_version", "values", "measures"} <= one.keys()
        for one in listed
    )
    return listed if is_saved else None
