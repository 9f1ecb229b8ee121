"""The pipelines of ``beir-eval haystack`` as systems: names, settings, run files, evaluation.

It does not import Haystack, so that the options can be shown without it.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from beir_eval.adapters.dataset_folder import is_dataset
from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.adapters.writers import format_to_write
from beir_eval.cli.console import check_folder, error_console
from beir_eval.core.files import part_of_file_name, plain_name
from beir_eval.core.ids import repeated_ids
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalError, BeirEvalWarning, InputError, first_few, warn_caller
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import Measure

#: The ending of the run files in the folder of ``--save-run``.
_RUN_ENDING = ".trec"


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


def check_arguments(pipelines: Sequence[Path], dataset: Path) -> None:
    """Raise InputError if the data set is not the last argument, or a pipeline is a folder."""
    folder = next((path for path in pipelines if path.is_dir()), None)
    if folder is not None and not dataset.is_dir():
        ordered = " ".join(str(path) for path in (*pipelines, dataset) if path != folder)
        msg = (
            f"{folder} is a folder; the pipeline's file comes first, then the data set: "
            f"beir-eval haystack {ordered} {folder}"
        )
        raise InputError(msg)
    if folder is not None:
        msg = f"{folder} is a folder; the files of pipelines were expected before the data set"
        raise InputError(msg)
    if dataset.is_file():
        files = " ".join(map(str, (*pipelines, dataset)))
        msg = (
            f"{dataset} is a file; the folder of the data set was expected as the last argument: "
            f"beir-eval haystack {files} DATASET"
        )
        raise InputError(msg)


def values_of_pipelines(
    option: str, values: Sequence[str], names: Sequence[str], *, is_single: bool = False
) -> dict[str, list[str]]:
    """Return {pipeline: its values of an option}.

    Args:
        option: the option, for messages.
        values: its values; "NAME=VALUE" is for the pipeline of this name and replaces, for this
            pipeline, the values without a name.
        names: the names of the pipelines.
        is_single: whether the option has one value for a pipeline.

    Raises:
        InputError: a pipeline has several values, with ``is_single``.
    """
    for_all: list[str] = []
    own: dict[str, list[str]] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if equals and name in names:
            own.setdefault(name, []).append(rest)
        else:
            for_all.append(value)
    by_pipeline = {name: own.get(name, for_all) for name in names}
    if is_single and (several := [name for name, of_it in by_pipeline.items() if len(of_it) > 1]):
        msg = (
            f"{option} is stated {len(by_pipeline[several[0]])} times; state it once, or once for "
            f"each pipeline, as in {option} {several[0]}={by_pipeline[several[0]][0]}"
        )
        raise InputError(msg)
    return by_pipeline


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
    """Return the name of the file of a run."""
    return f"{part_of_file_name(run_name)}{_RUN_ENDING}"


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


def judged_result(
    qrels: Qrels, measures: Sequence[Measure], name: str, *, drop_identical_ids: bool
) -> EvaluationResult:
    """Return the result of a run of the judged documents, in the place of a pipeline's.

    With it, the settings of a comparison and a gate are checked before any pipeline runs.

    Args:
        qrels: the judgements.
        measures: what is evaluated.
        name: the name of the pipeline, for messages.
        drop_identical_ids: the setting of the evaluation.
    """
    qrels = qrels.select(qrels.query_ids)
    qrels.ranks = "documents"  # also if they are of text: the run is made of the judgements
    evaluator = Evaluator(qrels, measures, drop_identical_ids=drop_identical_ids, fingerprint=True)
    # Without scores: with the grades as scores it would look like a mistake.
    run = Run.from_rankings({query: list(judged) for query, judged in qrels.as_dict().items()})
    return evaluate_without_warning(evaluator, run, name)


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


@contextmanager
def naming_run(name: str, *, is_named: bool, given: Collection[str] = ()) -> Iterator[None]:
    """Name a run in the errors and warnings of the ``with`` block.

    Warnings of other packages are dropped, as ``print_errors`` does.

    Args:
        name: the name of the run or pipeline.
        is_named: whether to name it: there are several.
        given: the texts of warnings that are not about this run, and were given before.
    """
    if not is_named:
        yield
        return
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except BeirEvalError as error:
        first, *others = error.args or ("",)
        error.args = (f"{name}: {first}", *others)
        raise
    finally:
        for warning in caught:
            text = str(warning.message)
            if issubclass(warning.category, BeirEvalWarning) and text not in given:
                warn_caller(text if text.startswith(f"{name}: ") else f"{name}: {text}")


def load_retrievers(
    pipelines: Mapping[str, Path],
    settings: Mapping[str, Mapping[str, Any]],
    *,
    allowed_modules: Sequence[str],
    concurrency: int,
    check_saved: int,
) -> dict[str, PipelineRetriever]:
    """Return {name: pipeline} of the pipelines in files.

    Args:
        pipelines: {name: file}.
        settings: {name: keywords of ``PipelineRetriever``}.
        allowed_modules: the modules of their own components.
        concurrency: how many queries run at a time.
        check_saved: how many queries with saved answers are run again.
    """
    from beir_eval.integrations.haystack import PipelineRetriever  # noqa: PLC0415
    from beir_eval.integrations.haystack.load_pipeline import load_pipeline  # noqa: PLC0415

    retrievers = {}
    for name, path in pipelines.items():
        pipeline = load_pipeline(path, allowed_modules=allowed_modules, concurrent=concurrency > 1)
        with naming_run(name, is_named=len(pipelines) > 1):
            retrievers[name] = PipelineRetriever(
                pipeline,
                **settings[name],
                concurrency=concurrency,
                check_saved=check_saved,
                progress=True,
            )
    return retrievers


@contextmanager
def _naming_store(store: str, index_pipeline: Path | None) -> Iterator[None]:
    """Name the store if a component raises while the corpus is written to it."""
    try:
        yield
    except (BeirEvalError, OSError):
        raise
    except Exception as error:  # whatever a component raises
        msg = f"the corpus cannot be written to {store}: {type(error).__name__}: {error}"
        if index_pipeline is not None:
            msg += (
                ". If the store has the documents already, let the writer of the indexing "
                "pipeline replace them (policy: overwrite), or leave out --index-pipeline"
            )
        raise InputError(msg) from error


def index_stores(
    dataset: Dataset,
    retrievers: Mapping[str, PipelineRetriever],
    index_pipeline: Path | None,
    *,
    allowed_modules: Sequence[str],
) -> Iterator[str]:
    """Write the corpus to the store of each pipeline, and yield a sentence for each store.

    A store that several pipelines share is written once.

    Args:
        dataset: the data set.
        retrievers: {name: pipeline}.
        index_pipeline: the file of a pipeline to write it through; None writes text.
        allowed_modules: the modules of the components of that pipeline.

    Raises:
        SettingError: a pipeline has no store or several, or searches by embedding where text is
            written, or the indexing pipeline writes to another store; nothing is written then.
    """
    from beir_eval.integrations.haystack import index  # noqa: PLC0415
    from beir_eval.integrations.haystack.indexing import store_key  # noqa: PLC0415
    from beir_eval.integrations.haystack.load_pipeline import (  # noqa: PLC0415
        check_not_shared,
        document_store_of,
        load_pipeline,
        write_to_store,
    )
    from beir_eval.integrations.haystack.store_checks import (  # noqa: PLC0415
        check_text_is_enough,
    )

    stores: dict[str, Any] = {}
    owners: dict[str, list[str]] = {}
    for name, retriever in retrievers.items():
        with naming_run(name, is_named=len(retrievers) > 1):
            store = document_store_of(retriever.pipeline)
            if index_pipeline is None:
                check_text_is_enough(retriever.pipeline)
        stores[store_key(store)] = store
        owners.setdefault(store_key(store), []).append(name)
    check_not_shared({", ".join(owners[key]): store for key, store in stores.items()})
    targets = stores
    if index_pipeline is not None:
        targets = {}
        for key, store in stores.items():
            pipeline = load_pipeline(index_pipeline, allowed_modules=allowed_modules)
            write_to_store(pipeline, store, index_pipeline)
            targets[key] = pipeline
    for key, target in targets.items():
        of_which = "the pipeline's store"
        if len(retrievers) > 1:
            of_which = f"the store of {', '.join(owners[key])}"
        with _naming_store(of_which, index_pipeline):
            written = f"{index(dataset, target):,} documents written to {of_which}"
        if index_pipeline is not None:
            written += f" through {index_pipeline}: {stores[key].count_documents():,} in the store"
        yield written


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
