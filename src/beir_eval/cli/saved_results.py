"""Read results of ``evaluate -o r.json`` and of ``EvaluationResult.save``, and score tables."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from beir_eval.adapters.dataset_folder import is_dataset
from beir_eval.cli.options import check_different_files, system_names
from beir_eval.core.file_kinds import kind_of_json, kind_of_text
from beir_eval.core.files import FileContent, is_parquet
from beir_eval.errors import InputError, needs_extra, one_line
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.saved_results import load_result

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
            if is_parquet(path):
                load_result(path)  # raises: it says what the file is instead
            saved = next(file for file, other in zip(files, contents, strict=True) if other)
            msg = (
                f"{path}: {_why_not_saved(path)}. Compare saved results, such as {saved}, or "
                "judgements and runs; not both"
            )
            raise InputError(msg)
        results += [
            record
            if isinstance(record, EvaluationResult)
            else EvaluationResult.from_content(record, path)
            for record in records
        ]
        origins += [path] * len(records)
    # The name comes from the file: no line of the output may begin with it.
    results = [
        result
        if (name := one_line(result.name)) == result.name
        else result.model_copy(update={"name": name})
        for result in results
    ]
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        check_different_files(files)
    if len(set(names)) < len(names) and len(set(origins)) == len(origins):
        # The same system, saved at two times: name the results after their files.
        results = [
            result.model_copy(update={"name": name})
            for result, name in zip(results, system_names(origins), strict=True)
        ]
    return results


def with_result_files(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, with the files of saved results in place of a folder that has some.

    The files of a folder are in the order of the numbers in their names: step-500 before step-1000.
    A folder without saved results, such as a data set, is returned as it is, and so is one that is
    a single score table, written by Spark.
    """
    files: list[Path] = []
    for path in paths:
        inside: list[Path] = []
        if path.is_dir() and not is_dataset(path) and not is_score_table(path):
            inside = [*path.glob("[!.]*.json*"), *path.glob("[!.]*.parquet")]
        files += sorted(filter(_holds_results, inside), key=_by_numbers) or [path]
    return files


def _holds_results(path: Path) -> bool:
    """Return whether a file or a folder has saved results; no score table is read for it."""
    if path.is_dir() or is_parquet(path):
        return is_score_table(path)
    return path.is_file() and _read_records(path) is not None


def _by_numbers(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts names by the numbers in them."""
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def saved_results(files: Sequence[Path]) -> list[EvaluationResult]:
    """Return the results in all files, as ``read_saved_results``; every file must hold some.

    Raises:
        InputError: a file holds no saved results.
    """
    results = read_saved_results(files)
    if results is None:
        msg = f"{files[0]}: {_why_not_saved(files[0])}"
        raise InputError(msg)
    return results


def _read_records(path: Path) -> list[object] | None:
    """Return the saved results in a file, as parsed JSON; None for a file of another kind.

    The result of a score table is returned as it is.
    """
    if is_score_table(path):
        return [load_result(path)]
    if path.is_dir() or is_parquet(path):
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


def is_score_table(path: Path) -> bool:
    """Return whether a path is a Parquet file, or a folder of Parquet files, with a score table."""
    if not (any(path.glob("*.parquet")) if path.is_dir() else is_parquet(path)):
        return False
    with needs_extra("polars", "files", "reading a Parquet file"):
        from beir_eval.evaluation.streaming.table_files import has_score_table  # noqa: PLC0415
    return has_score_table(path)


def _why_not_saved(path: Path) -> str:
    """Return why a file holds no saved results, and the remedy."""
    text = "" if path.is_dir() else FileContent(path).data().decode("utf-8", "replace").strip()
    again = "write it again with beir-eval evaluate -o r.json"
    kind = ""
    if path.is_dir():
        kind = "a folder"
    elif not text:
        return f"the file is empty; {again}"
    elif text.startswith(("{", "[")):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"the JSON is damaged or cut off ({error}); {again}"
        if not data:
            return f"there is no result in the file; {again}"
        kind, _ = kind_of_json(data)
    else:
        kind, _ = kind_of_text(text)
    remedy = (
        "name the file of beir-eval evaluate -o r.json"
        if kind.startswith("a saved")
        else "evaluate the run first (beir-eval evaluate QRELS RUN -o r.json)"
    )
    return f"{kind or 'a file of another kind'}, not a saved result; {remedy}"
