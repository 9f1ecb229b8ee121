"""The options ``--repeats``, ``--clusters`` and ``--chosen-from`` of ``beir-eval compare``."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval.cli.options import run_files
from beir_eval.cli.slice_columns import METADATA, read_columns
from beir_eval.core.files import file_stem
from beir_eval.errors import InputError, first_few

if TYPE_CHECKING:
    from collections.abc import Sequence

_WILDCARDS = "*?["


def repeat_groups(requests: Sequence[str]) -> dict[str, list[Path]]:
    """Return {system name: files of its repeats} of the values of ``--repeats``.

    Args:
        requests: each is "NAME=FILE,FILE" or a pattern such as "dense_seed*.trec"; files behind =
            may be patterns too. Without a name, the system is named after the pattern, up to its
            first wildcard.

    Raises:
        InputError: a value names no file, only one, or a system or file that another one names.
    """
    groups: dict[str, list[Path]] = {}
    for request in requests:
        name, separator, listed = request.partition("=")
        if not separator or Path(request).is_file():
            name, listed = _name_of_pattern(request), request
        if not name:
            msg = f"--repeats {request}: name the system, as in NAME={listed}"
            raise InputError(msg)
        option = f"--repeats {request}"
        if not all(listed.split(",")):
            msg = f"{option}: files were expected behind =, as in {name}=run1.trec,run2.trec"
            raise InputError(msg)
        files = [file for part in listed.split(",") for file in _files_of(part, option)]
        if len(files) == 1:
            msg = (
                f"{option}: two files or more were expected, found {files[0]}; list them, as in "
                f"{name}=run1.trec,run2.trec, or give a pattern, as in {name}_seed*.trec"
            )
            raise InputError(msg)
        if name in groups:
            msg = f"--repeats names {name} twice; list all of its files in one"
            raise InputError(msg)
        twice = {file for others in groups.values() for file in others} & set(files)
        if twice or len(set(files)) < len(files):
            repeated = sorted(twice or {file for file in files if files.count(file) > 1})
            msg = f"--repeats: {repeated[0]} is listed twice; a run is one repeat of one system"
            raise InputError(msg)
        groups[name] = files
    return groups


def candidate_files(chosen_from: str | None) -> int | list[Path] | None:
    """Return the value of ``--chosen-from``: a number, or the run files that it names.

    Args:
        chosen_from: a number, a pattern of run files or a folder of them.

    Raises:
        InputError: there is no such file.
    """
    if chosen_from is None:
        return None
    if chosen_from.isascii() and chosen_from.isdigit():
        return int(chosen_from)
    is_pattern = any(character in chosen_from for character in _WILDCARDS)
    if not is_pattern and not Path(chosen_from).exists():
        msg = (
            f"--chosen-from {chosen_from}: a whole number, a pattern of run files or a folder of "
            "them was expected"
        )
        raise InputError(msg)
    return run_files(_files_of(chosen_from, f"--chosen-from {chosen_from}"))


def cluster_labels(source: str, folder: Path | None) -> dict[str, str]:
    """Return {query_id: label} of the value of ``--clusters``.

    Args:
        source: "metadata.KEY", or the path of a file with a header, query ids and one column of
            labels.
        folder: the data-set folder with the judgements; None if they are a file, or not known.

    Raises:
        InputError: the source names nothing that can be read, or a file with several columns.
        FileFormatError, OSError: a file cannot be read.
    """
    path = Path(source)
    if path.is_file():
        columns = read_columns(path)
        if len(columns) > 1:
            msg = (
                f"--clusters {source}: one column of labels was expected besides the query ids, "
                f"found {first_few(columns)}"
            )
            raise InputError(msg)
        [labels] = columns.values()
        return labels
    if not source.startswith(METADATA):
        msg = f"--clusters {source}: there is no such file; give a file of labels or {METADATA}KEY"
        raise InputError(msg)
    if folder is None:
        msg = (
            f"--clusters {source} reads the queries of a data set: give its folder as judgements, "
            "or a file of labels"
        )
        raise InputError(msg)
    from beir_eval.comparison.slices import by_metadata  # noqa: PLC0415

    column = by_metadata(folder, source.removeprefix(METADATA))
    return {query_id: str(label) for query_id, label in column.items() if label is not None}


def _files_of(pattern: str, option: str) -> list[Path]:
    """Return the file of this name, or the files that match the pattern, sorted.

    Raises:
        InputError: there is none.
    """
    path = Path(pattern)
    if path.exists() or not any(character in pattern for character in _WILDCARDS):
        return [path]
    names = sorted(glob.glob(pattern), key=_with_numbers)  # noqa: PTH207 - an absolute pattern
    files = [Path(name) for name in names if Path(name).is_file()]
    if not files:
        msg = f"{option}: no file matches {pattern}"
        raise InputError(msg)
    return files


def _with_numbers(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by the numbers in them: seed2 before seed10."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _name_of_pattern(pattern: str) -> str:
    """Return the name of a system from a pattern of its files.

    >>> _name_of_pattern("runs/dense_seed*.trec"), _name_of_pattern("*.trec")
    ('dense_seed', '')
    """
    stem = file_stem(Path(pattern))
    ends = [stem.index(character) for character in _WILDCARDS if character in stem]
    return stem[: min(ends, default=len(stem))].rstrip("-_. ")
