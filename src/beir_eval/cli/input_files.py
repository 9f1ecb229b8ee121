"""The files that commands read: judgements and runs, saved results, spans and chunks, ``-``.

Of ``compare`` also the runs of ``--repeats``. Saved results are those of ``evaluate -o r.json`` and
of ``EvaluationResult.save``. Judged spans of text and ranked chunks are
inputs of ``evaluate`` and ``compare``. The argument ``-`` is standard input.
"""

from __future__ import annotations

import glob
import json
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.adapters.dataset_folder import is_dataset
from beir_eval.cli.console import show_in_messages, warn
from beir_eval.cli.option_sets import InputOptions
from beir_eval.cli.options import (
    RunReading,
    check_different_files,
    read_runs,
    run_files,
    stated_columns,
    system_names,
)
from beir_eval.core.files import (
    HEAD_SIZE,
    FileContent,
    file_stem,
    is_parquet,
    kind_of_json,
    kind_of_text,
    plain_name,
)
from beir_eval.core.line_parts import unpacked_blocks
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import FileFormatError, InputError, one_line
from beir_eval.evaluation.inputs import JudgedFolder
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.spans import SpanView


def all_files(stated: Sequence[Path], groups: Mapping[str, Sequence[Path]]) -> list[Path]:
    """Return all files to read, each once: judgements and runs, or saved results.

    Args:
        stated: the judgements, then run files or folders of them; or saved results. Empty if
            options name all saved results.
        groups: {name: files of its repeats}.

    Raises:
        InputError: there are none, or a folder contains no run file.
    """
    if not stated and not groups:
        msg = "judgements, then run files or folders of them, or saved results were expected"
        raise InputError(msg)
    files = [*stated[:1], *run_files(stated[1:])]
    for path in [file for repeats in groups.values() for file in repeats]:
        if path not in files:
            files.append(path)
    return files


class ComparisonInputs(NamedTuple):
    """What is compared: judgements and runs, or saved results (without judgements).

    Attributes:
        qrels: the judgements, with BEIR's conventions for them; None for saved results.
        systems: {name: its repeats}, runs or results.
        view: the judged spans that ``qrels`` are made of; None for judgements of documents.
    """

    qrels: JudgedFolder | None
    systems: dict[str, list[Any]]
    view: SpanView | None = None

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.systems)

    def grouped(
        self, files: Sequence[Path], groups: Mapping[str, Sequence[Path]]
    ) -> ComparisonInputs:
        """Return the inputs with the repeats of a system under its name.

        Args:
            files: judgements and runs, or files of saved results.
            groups: {name: files of its repeats}.

        Raises:
            InputError: a file of a group holds several results, or a name is taken.
        """
        if not groups:
            return self
        paths = files if self.qrels is None else files[1:]
        if len(paths) != len(self.systems):
            msg = "with --repeats, each file must hold one saved result"
            raise InputError(msg)
        group_of = {path: name for name, paths_of in groups.items() for path in paths_of}
        systems: dict[str, list[Any]] = {}
        for path, (name, repeats) in zip(paths, self.systems.items(), strict=True):
            if path not in group_of and name in groups:
                msg = f"--repeats {name}: the name of {path} too; name the repeats otherwise"
                raise InputError(msg)
            if path in group_of:
                systems.setdefault(group_of[path], []).extend(repeats)
            else:
                systems[name] = repeats
        return self._replace(systems=systems)


def read_inputs(
    files: Sequence[Path],
    policies: Mapping[str, Any],
    reading: InputOptions,
    *,
    judgements_first: bool,
) -> ComparisonInputs:
    """Return the judgements and runs, or the saved results, in the files.

    Args:
        files: judgements and runs, or files of saved results.
        policies: the fields of ``EvaluationSettings``.
        reading: how judgements and runs are read.
        judgements_first: whether the first file may hold judgements; otherwise all of them must
            hold saved results.

    Raises:
        InputError: there are runs without judgements, or options that apply to runs only are set
            for saved results.
    """
    results = read_saved_results(files)
    if results is None:
        if not judgements_first:
            msg = (
                "the judgements were expected as the argument of the command, as in beir-eval "
                "compare qrels.tsv --repeats ..."
            )
            raise InputError(msg)
        view = view_of_spans(files[0], reading)
        with stated_columns(reading) as names:
            how = RunReading(reading.run_format, reading.chunk_ids, names, view)
            qrels = (
                how.judgements(files[0], reading, files[1:])
                if view is None
                else JudgedFolder(view.qrels, None)
            )
            runs = read_runs(files[1:], how)
        return ComparisonInputs(qrels, {name: [run] for name, run in runs.items()}, view)
    stated = {name: value for name, value in policies.items() if value is not None}
    is_for_runs = (
        reading != InputOptions()
        or "drop_identical_ids" in stated
        or EvaluationSettings(**stated) != EvaluationSettings()
    )
    if is_for_runs:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in policies)
        msg = (
            f"{options}, --split, --format, --qrels-format, --chunk-ids, --columns, --where, "
            "--exclude, --corpus and --ranks are for judgements and runs; saved results were "
            "evaluated already"
        )
        raise InputError(msg)
    return ComparisonInputs(None, {result.name: [result] for result in results})


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
            saved = next(file for file, other in zip(files, contents, strict=True) if other)
            msg = (
                f"{path}: {_why_not_saved(path)}. Compare saved results, such as {saved}, or "
                "judgements and runs; not both"
            )
            raise InputError(msg)
        results += [EvaluationResult.from_content(record, path) for record in records]
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
        # The same system, saved at two times: name the results after their files.
        name_of = dict(zip(files, system_names(files), strict=True))
        is_single = len(files) == len(results)
        results = [
            result.model_copy(
                update={"name": name_of[file] if is_single else f"{name_of[file]}/{result.name}"}
            )
            for result, file in zip(results, origins, strict=True)
        ]
    return results


def with_result_files(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, with the files of saved results in place of a folder that has some.

    The files of a folder are in the order of the numbers in their names: step-500 before step-1000.
    A folder without saved results, such as a data set, is returned as it is.
    """
    files: list[Path] = []

    def by_name(path: Path) -> list[tuple[int, str]]:
        return _with_numbers(path.name)

    for path in paths:
        inside: list[Path] = []
        if path.is_dir() and not is_dataset(path):
            inside = list(path.glob("[!.]*.json*"))
        files += sorted(filter(_holds_results, inside), key=by_name) or [path]
    return files


def _holds_results(path: Path) -> bool:
    """Return whether a path is a file of saved results."""
    return path.is_file() and _read_records(path) is not None


def _read_records(path: Path) -> list[object] | None:
    """Return the saved results in a file, as parsed JSON; None for a file of another kind."""
    if path.is_dir() or is_parquet(path):
        return None
    # A packed run need not fit into memory.
    if not next(unpacked_blocks(path, HEAD_SIZE), b"").lstrip().startswith((b"{", b"[")):
        return None
    try:
        data = json.loads(FileContent(path).data())
    except (ValueError, RecursionError):
        return None
    records = data if isinstance(data, list) else [data]
    is_saved = records and all(
        isinstance(record, dict) and {"schema_version", "values", "measures"} <= record.keys()
        for record in records
    )
    return records if is_saved else None


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


#: The share of a span that must be read where chunks have ranks.
_OVERLAP = 0.75


def view_of_spans(path: Path, reading: InputOptions) -> SpanView | None:
    """Return the judged spans of a file as judgements; None if it holds judgements of documents.

    Args:
        path: the file or folder of the judgements.
        reading: ``corpus`` and ``ranks``; without both, a file of JSON lines is looked at.

    Raises:
        FileFormatError: the options are for spans, and the file holds none.
        InputError: options are set that spans do not have.
        QrelsError: a span does not fit the corpus.
    """
    stated = replace(InputOptions(), corpus=reading.corpus, ranks=reading.ranks)
    is_asked_for = stated != InputOptions()
    if not is_asked_for and not plain_name(path).endswith(".jsonl"):
        return None
    from beir_eval.spans import Spans  # noqa: PLC0415 - few judge spans
    from beir_eval.spans.records import holds_spans  # noqa: PLC0415

    if path.is_dir() or not holds_spans(path):
        if not is_asked_for:
            return None
        problem = (
            "--corpus and --ranks are for judged spans of text: JSON lines with "
            "query_id, doc_id, start and end or text"
        )
        raise FileFormatError(path, problem)
    if reading != stated:
        msg = (
            "--split, --format, --qrels-format, --columns, --where, --exclude and --chunk-ids are "
            f"for judgements of documents; {path} holds spans of text"
        )
        raise InputError(msg)
    if reading.corpus is None:
        warn("offsets of spans and chunks are taken as stated; --corpus CORPUS checks them")
    ranks = reading.ranks or "characters"
    overlap = _OVERLAP if ranks == "chunks" else None
    return Spans.from_jsonl(path, reading.corpus).view(ranks, overlap=overlap)


#: What messages call the input behind ``-``.
STANDARD_INPUT = "standard input"
_DASH = "-"


@contextmanager
def opened_inputs(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths, with a temporary copy of standard input in place of ``-``.

    The copy is named "stdin", as a system in it is then. It is removed at the end of the ``with``
    block. Readers detect the format of a file from its content, and may read it more than once.

    Args:
        paths: the files that a command reads, as the user named them.

    Raises:
        InputError: ``-`` is named twice, or standard input is closed.
    """
    dashes = [path for path in paths if str(path) == _DASH]
    if not dashes:
        yield list(paths)
        return
    if len(dashes) > 1:
        msg = "- is named twice, but standard input can be read only once; name a file instead"
        raise InputError(msg)
    if sys.stdin is None:
        msg = "- names standard input, which is closed; name a file instead"
        raise InputError(msg)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "stdin")
        show_in_messages(copy, STANDARD_INPUT)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [copy if str(path) == _DASH else path for path in paths]
