"""What the commands share: options with choices, and run files by the names of their systems."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from beir_eval.adapters.readers import read_run
from beir_eval.cli.console import warn
from beir_eval.core.files import stem_of
from beir_eval.core.ids import repeated_ids
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.display.progress import progress_bar
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from beir_eval.core.run import Run
    from beir_eval.evaluation.evaluator import Evaluator
    from beir_eval.evaluation.result import EvaluationResult

#: The option that writes a report, on every command that has results to show.
HTML = typer.Option(help="Write a report to look at, one HTML file.")
#: The option that writes the scores behind the means, on every command that evaluates.
PER_QUERY = typer.Option(help="Write every query's scores to this CSV file.")


def choice(option: str, values: Sequence[str], text: str) -> typer.models.OptionInfo:
    """Return an option that takes one of some values, all of them named in its help."""
    listed = ", ".join(values)
    info: typer.models.OptionInfo = typer.Option(option, help=f"{text} One of: {listed}.")
    return info


#: The help of the options that set how runs are ranked and averaged.
_POLICIES = {
    "order": "What ranks.",
    "ties": "The order of equal scores.",
    "missing": "Judged queries that a run lacks.",
    "no_relevant": "Queries with nothing relevant.",
    "duplicates": "Documents that stand twice.",
    "drop_identical_ids": "Drop documents that have their query's id.",
}


def with_policies(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take an option for each field of ``EvaluationSettings``.

    The command has a parameter ``policies``, a mapping of all of them by name; the options replace
    it.
    """
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.name == "policies":
            parameters += _policy_options()
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        policies = {name: given.pop(name) for name in _POLICIES}
        command(policies=policies, **given)

    # Not functools.wraps: typer would find the parameter that the options replace.
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _policy_options() -> Iterator[inspect.Parameter]:
    for field in fields(EvaluationSettings):
        option = f"--{field.name.replace('_', '-')}"
        choices, text = EvaluationSettings.CHOICES.get(field.name), _POLICIES[field.name]
        shown = choice(option, choices, text) if choices else typer.Option(option, help=text)
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[type(field.default), shown],
        )


def read_runs(paths: Sequence[Path]) -> dict[str, Run]:
    """Return the runs of files by the names of their systems."""
    return dict(zip(system_names(paths), map(read_run, paths), strict=True))


def evaluate_files(evaluator: Evaluator, paths: Sequence[Path]) -> list[EvaluationResult]:
    """Return the results of run files, each named after its file; a bar shows where it is slow."""
    results = []
    steps, layout = 2 * len(paths), "{desc} {bar} {elapsed}"
    with progress_bar(
        patient=True, leave=False, total=steps, desc="reading", bar_format=layout
    ) as advance:
        for path, name in zip(paths, system_names(paths), strict=True):
            run = read_run(path)
            advance(description=f"measuring {name}")
            try:
                results.append(evaluator.evaluate(run, name=name))
            except InputError as error:
                msg = f"{path}: {error}"
                raise InputError(msg) from error
            advance(description=f"measured {name}")
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
    shared = sorted(repeated_ids(names))
    if shared:
        msg = f"two runs go by the name {', '.join(shared)}; rename one of the files"
        raise InputError(msg)
    return names


def texts_of(path: Path, split: str | None = None) -> dict[str, Any]:
    """Return the texts that ``write_report`` takes; none where there are judgements only.

    The split is that of ``read_qrels``: "test" unless another is asked for.

    Raises:
        FileFormatError: a file is there, and not what it should be.
    """
    from beir_eval.adapters.dataset_folder import missing_texts  # noqa: PLC0415
    from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415

    if not path.is_dir():
        return {}
    if missing := missing_texts(path):
        # The judgements alone were read before.
        warn(f"{path} holds no {' and no '.join(missing)}: the report shows ids without texts")
        return {}
    found = load_dataset(path, split or "test")
    return {"queries": found.queries, "corpus": found.corpus}


def kept_for(html: Path | None) -> dict[str, Any]:
    """Return what an evaluation must keep for a report: nothing where none is wanted.

    Documents deep enough to see where one went, and where the numbers come from.
    """
    return {} if html is None else {"keep_top": 100, "fingerprint": True}


def write_html(html: Path, what: Any, **shown: Any) -> None:
    """Write a report; what writes it is imported only if one is wanted."""
    from beir_eval.report import write_report  # noqa: PLC0415

    write_report(html, what, **shown)


def check_report(html: Path | None) -> None:
    """Raise before any work where a report is wanted and cannot be written.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
        InputError: there is no such folder, or it is one.
    """
    if html is None:
        return
    from beir_eval.report import check_installed  # noqa: PLC0415

    check_installed()
    if html.is_dir():
        msg = f"{html} is a folder; name the file of the report in it"
        raise InputError(msg)
    if not html.absolute().parent.is_dir():
        msg = f"{html}: there is no folder {html.parent}; make it first"
        raise InputError(msg)
