"""The files of ``beir-eval compare``: judgements and runs or saved results, repeats, candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.cli.option_sets import InputOptions
from beir_eval.cli.options import (
    RunReading,
    read_judgements,
    read_runs,
    run_files,
    stated_columns,
)
from beir_eval.cli.saved_results import is_score_table, read_saved_results
from beir_eval.cli.spans import view_of_spans
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import InputError
from beir_eval.evaluation.inputs import JudgedFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.spans import SpanView


def all_files(
    stated: Sequence[Path], groups: Mapping[str, Sequence[Path]], candidates: object
) -> list[Path]:
    """Return all files to read, each once: judgements and runs, or saved results.

    Args:
        stated: the judgements, then run files or folders of them; or saved results. Empty if
            options name all saved results.
        groups: {name: files of its repeats}.
        candidates: the files of all candidates, or their number.

    Raises:
        InputError: there are none, or a folder contains no run file.
    """
    if not stated and not groups:
        msg = "judgements, then run files or folders of them, or saved results were expected"
        raise InputError(msg)
    files = list(stated[:1])
    for path in stated[1:]:
        files += [path] if is_score_table(path) else run_files([path])
    for path in [file for repeats in groups.values() for file in repeats]:
        if path not in files:
            files.append(path)
    if isinstance(candidates, list):
        files += [path for path in candidates if path not in files]
    return files


class ComparisonInputs(NamedTuple):
    """What is compared: judgements and runs, or saved results (without judgements).

    Attributes:
        qrels: the judgements, with BEIR's conventions for them; None for saved results.
        systems: {name: its repeats}, runs or results.
        candidates: {name: run or result} of all candidates; empty if they are not known.
        view: the judged spans that ``qrels`` are made of; None for judgements of documents.
    """

    qrels: JudgedFolder | None
    systems: dict[str, list[Any]]
    candidates: dict[str, list[Any]]
    view: SpanView | None = None

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.systems)

    def grouped(
        self,
        files: Sequence[Path],
        groups: Mapping[str, Sequence[Path]],
        candidates: object,
        stated: Sequence[Path],
    ) -> ComparisonInputs:
        """Return the inputs with the repeats of a system under its name, and candidates apart.

        Args:
            files: judgements and runs, or files of saved results.
            groups: {name: files of its repeats}.
            candidates: the files of all candidates, or their number.
            stated: the files of the systems that are compared, besides those of groups.

        Raises:
            InputError: a file of a group holds several results, or a name is taken.
        """
        if not groups and not isinstance(candidates, list):
            return self
        paths = files if self.qrels is None else files[1:]
        if len(paths) != len(self.systems):
            msg = "with --repeats and --chosen-from, each file must hold one saved result"
            raise InputError(msg)
        group_of = {path: name for name, paths_of in groups.items() for path in paths_of}
        only_candidates = set(candidates) if isinstance(candidates, list) else set()
        systems: dict[str, list[Any]] = {}
        all_candidates: dict[str, list[Any]] = {}
        for path, (name, repeats) in zip(paths, self.systems.items(), strict=True):
            if path in only_candidates:
                all_candidates[name] = repeats
            if path not in group_of and name in groups:
                msg = f"--repeats {name}: the name of {path} too; name the repeats otherwise"
                raise InputError(msg)
            if path in group_of:
                systems.setdefault(group_of[path], []).extend(repeats)
            elif path not in only_candidates or path in stated:
                systems[name] = repeats
        return self._replace(systems=systems, candidates=all_candidates)


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
        with stated_columns(reading.columns) as names:
            qrels = (
                read_judgements(files[0], reading.split, reading.qrels_format, names)
                if view is None
                else JudgedFolder(view.qrels, None)
            )
            how = RunReading(reading.run_format, reading.chunk_ids, names, view)
            runs = read_runs(files[1:], how)
        return ComparisonInputs(qrels, {name: [run] for name, run in runs.items()}, {}, view)
    stated = {name: value for name, value in policies.items() if value is not None}
    is_for_runs = (
        reading != InputOptions()
        or "drop_identical_ids" in stated
        or EvaluationSettings(**stated) != EvaluationSettings()
    )
    if is_for_runs:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in policies)
        msg = (
            f"{options}, --split, --format, --qrels-format, --chunk-ids, --columns, --corpus, "
            "--ranks and --overlap are for judgements and runs; saved results were evaluated "
            "already"
        )
        raise InputError(msg)
    return ComparisonInputs(None, {result.name: [result] for result in results}, {})
