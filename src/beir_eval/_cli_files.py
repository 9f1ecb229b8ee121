"""What the commands share: options with choices, and run files by the names of their systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from beir_eval._cli_output import slow_progress
from beir_eval._files import stem_of
from beir_eval.adapters.files import read_run
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from beir_eval.evaluator import Evaluator
    from beir_eval.results import EvaluationResult


def choice(option: str, values: Sequence[str], text: str) -> typer.models.OptionInfo:
    listed = ", ".join(values)
    info: typer.models.OptionInfo = typer.Option(option, help=f"{text} One of: {listed}.")
    return info


def evaluate_files(evaluator: Evaluator, paths: Sequence[Path]) -> list[EvaluationResult]:
    results = []
    with slow_progress(2 * len(paths)) as advance:
        for path, name in zip(paths, system_names(paths), strict=True):
            run = read_run(path)
            advance(f"measuring {name}")
            try:
                results.append(evaluator.evaluate(run, name=name))
            except InputError as error:
                msg = f"{path}: {error}"
                raise InputError(msg) from error
            advance(f"measured {name}")
    return results


def system_names(paths: Sequence[Path]) -> list[str]:
    """Return each file's stem; where two files share it, the whole name, or the folder with it."""
    stems = [stem_of(path) for path in paths]
    for candidates in (
        stems,
        [path.name for path in paths],
        [f"{path.absolute().parent.name}/{stem}" for path, stem in zip(paths, stems, strict=True)],
    ):
        names = candidates
        if len(set(names)) == len(names):
            break
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"two runs go by the name {', '.join(twice)}; rename one of the files"
        raise InputError(msg)
    return names
