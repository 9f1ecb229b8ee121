"""The runs of ``beir-eval haystack``: how pipelines run, their repeats and files, their results.

It does not import Haystack, so that the options can be shown without it.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.text import Text

from beir_eval.adapters.dataset_folder import is_dataset
from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.adapters.writers import format_to_write
from beir_eval.cli.comparison_options import check_options
from beir_eval.cli.console import check_folder, error_console
from beir_eval.cli.haystack_pipelines import naming_run
from beir_eval.cli.option_sets import COMMON, SPLIT, option
from beir_eval.core.files import part_of_file_name, plain_name
from beir_eval.core.ids import repeated_ids
from beir_eval.errors import (
    BeirEvalWarning,
    InputError,
    check_choice,
    check_count,
    first_few,
    warn_caller,
)
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED, ON_ERROR_CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.run import Run
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import Measure


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Which queries run, how, how often, and where the runs are saved."""

    SECTION: ClassVar[str] = "Running"

    limit: int | None = option("Only the first queries.")
    split: str | None = option(SPLIT, metavar="NAME")
    concurrency: int = option("How many queries at a time.", default=1)
    on_error: str = option(
        "A query that fails: stop, or count it as missing.", default="stop", metavar="NAME"
    )
    check_saved: int = option(
        "How many queries with saved answers to run again; if one is now ranked otherwise, they "
        "are refused; 0 checks none.",
        default=DEFAULT_CHECKED,
    )
    fresh: bool = option("Replace saved answers instead of reusing them.", "--fresh", default=False)
    save_run: Path | None = option(
        "Write the run here, and resume from it later; for several runs a folder, with a file "
        "NAME.trec for each pipeline and NAME_1.trec, … for repeats."
    )
    repeats: int | None = option(
        "Run each pipeline so many times, for pipelines whose rankings vary, such as those with a "
        "language model. Verdicts then hold for other runs of the pipelines too."
    )
    stages: bool = option(
        "Say which component lost the relevant documents.",
        "--stages",
        default=False,
        rich_help_panel=COMMON,
    )

    def __post_init__(self) -> None:
        """Check the combination."""
        check_options(
            {
                "--fresh replaces the answers of --save-run, which is not stated; leave it out": (
                    self.fresh and self.save_run is None
                ),
            }
        )

    def check(self) -> None:
        """Raise SettingError if the queries cannot be run so."""
        check_choice("on_error", self.on_error, ON_ERROR_CHOICES)
        check_count("concurrency", self.concurrency)


@dataclass(frozen=True, kw_only=True)
class PipelineRuns:
    """The runs to make of one pipeline: one, or one for each repeat.

    Attributes:
        name: the name of the system.
        names: the names of its runs: that of the system, or with repeats "NAME_1", "NAME_2", …
        files: the file that each run is saved in; None for no such file.
        is_named: whether messages name the run: there are several.
    """

    name: str
    names: tuple[str, ...]
    files: tuple[Path | None, ...]
    is_named: bool


def runs_of_pipelines(
    names: Sequence[str],
    num_repeats: int | None,
    deterministic: Sequence[str],
    save_run: Path | None,
) -> list[PipelineRuns]:
    """Return the runs to make of each pipeline, with the files to save them in.

    Args:
        names: the names of the pipelines.
        num_repeats: how often a pipeline is run; None for once.
        deterministic: the names of pipelines that are run once.
        save_run: the run file of a single run, or the folder of several; None to save none.

    Raises:
        InputError: two runs would have one name or one file; or ``save_run`` is a folder for one
            run, or the name of a file for several.
    """
    run_names = {
        name: (name,)
        if num_repeats is None or name in deterministic
        else tuple(f"{name}_{number}" for number in range(1, num_repeats + 1))
        for name in names
    }
    every_name = [name for of_pipeline in run_names.values() for name in of_pipeline]
    file_names = [_file_name(name) for name in every_name]
    if repeated := repeated_ids(file_names if save_run is not None else every_name):
        msg = f"two runs have the name {first_few(repeated)}; rename a pipeline's file"
        raise InputError(msg)
    is_named = len(every_name) > 1
    if save_run is not None and is_named:
        _check_run_folder(save_run, len(every_name))
    elif save_run is not None:
        format_to_write(save_run)
    return [
        PipelineRuns(
            name=name,
            names=of_pipeline,
            files=tuple(
                save_run / _file_name(run_name) if save_run is not None and is_named else save_run
                for run_name in of_pipeline
            ),
            is_named=is_named,
        )
        for name, of_pipeline in run_names.items()
    ]


def _file_name(run_name: str) -> str:
    """Return the name of the file of a run in the folder of ``--save-run``."""
    return f"{part_of_file_name(run_name)}.trec"


def _check_run_folder(folder: Path, num_runs: int) -> None:
    """Raise InputError unless the runs can be saved in a folder, which need not exist."""
    if not folder.is_dir() and plain_name(folder).endswith(RUN_FORMATS.endings):
        msg = (
            f"--save-run {folder}: {num_runs} runs are made, so a folder was expected, such as "
            "--save-run runs"
        )
        raise InputError(msg)
    if is_dataset(folder):
        msg = f"--save-run {folder} is a data set; name another folder for the runs"
        raise InputError(msg)
    check_folder(folder)


@contextmanager
def noting_warnings(texts: set[str]) -> Iterator[None]:
    """Add the texts of the warnings of the ``with`` block to ``texts``, and give them as before."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BeirEvalWarning)
            yield
    finally:
        for warning in caught:
            if issubclass(warning.category, BeirEvalWarning):
                texts.add(str(warning.message))
                warn_caller(str(warning.message))


class EvaluatedPipelines(NamedTuple):
    """The runs of pipelines and their results, {name: one for each repeat}.

    Attributes:
        runs: the runs.
        results: the results.
        stages: {name: the stages of its run}; empty if they were not asked for.
    """

    runs: dict[str, list[Run]]
    results: dict[str, list[EvaluationResult]]
    stages: dict[str, StagedResult]

    @property
    def all_results(self) -> list[EvaluationResult]:
        """The results of all runs, in their order."""
        return [result for of_pipeline in self.results.values() for result in of_pipeline]

    def in_report(self) -> EvaluationResult | StagedResult | list[EvaluationResult]:
        """Return what a report shows without a comparison: stages, the result, or all of them."""
        results = self.all_results
        if len(self.stages) == len(results) == 1:
            return next(iter(self.stages.values()))
        return results[0] if len(results) == 1 else results


def evaluate_pipelines(  # noqa: PLR0913 - one keyword a setting
    runs: Sequence[PipelineRuns],
    retrievers: Mapping[str, PipelineRetriever],
    dataset: Dataset,
    measures: Sequence[Measure],
    *,
    given: Collection[str],
    stages_of: Callable[[PipelineRetriever, Retrieved, EvaluationResult], StagedResult] | None,
    **settings: Any,
) -> EvaluatedPipelines:
    """Run each pipeline once, or once for each repeat, and evaluate the runs.

    Args:
        runs: the runs to make.
        retrievers: {name: pipeline}.
        dataset: the data set.
        measures: what to compute.
        given: the texts of warnings that are not about a run, and were given before.
        stages_of: returns the stages of a pipeline that has run; None if they are not asked for.
        settings: keywords of ``retrieve_and_evaluate``.
    """
    from beir_eval.integrations.haystack.evaluate_pipeline import (  # noqa: PLC0415
        retrieve_and_evaluate,
    )

    evaluated = EvaluatedPipelines({}, {}, {})
    for of_pipeline in runs:
        for name, file in zip(of_pipeline.names, of_pipeline.files, strict=True):
            if file is not None and of_pipeline.is_named:
                file.parent.mkdir(parents=True, exist_ok=True)
            if of_pipeline.is_named and error_console.is_terminal:
                error_console.print(Text(f"{name}:", style="dim"))  # above its progress bar
            with naming_run(name, is_named=of_pipeline.is_named, given=given):
                retrieved, result = retrieve_and_evaluate(
                    retrievers[of_pipeline.name],
                    dataset,
                    measures,
                    run_name=name,
                    save_run=file,
                    rankings_vary=len(of_pipeline.names) > 1,
                    **settings,
                )
                if stages_of is not None:
                    retriever = retrievers[of_pipeline.name]
                    evaluated.stages[of_pipeline.name] = stages_of(retriever, retrieved, result)
            evaluated.runs.setdefault(of_pipeline.name, []).append(retrieved.run)
            evaluated.results.setdefault(of_pipeline.name, []).append(result)
    return evaluated
