"""The pipelines of ``beir-eval haystack``: their files, their sockets and fields.

It does not import Haystack, so that the options can be shown without it.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from beir_eval.cli.option_sets import option
from beir_eval.errors import BeirEvalError, BeirEvalWarning, InputError, warn_caller
from beir_eval.integrations.retrieval.documents import AUTO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.integrations.haystack.retriever import PipelineRetriever

#: The value of --collapse that counts each chunk.
_NO_COLLAPSE = "none"
_FOR_ONE = "NAME=… is for the pipeline of this name"


@dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """The sockets and fields of the pipelines, and the components that they may have."""

    SECTION: ClassVar[str] = "Pipelines"

    inputs: list[str] | None = option(
        f"An input that takes the query, as component.input; {_FOR_ONE}; repeat.",
        "--input",
        metavar="SOCKET",
    )
    documents_from: list[str] | None = option(
        f"The output of the ranking, as component.output; {_FOR_ONE}.", metavar="SOCKET"
    )
    field: list[str] | None = option(
        f"What identifies a document: id (default), content or meta.<key>; {_FOR_ONE}; repeat.",
        "--by",
        metavar="FIELD",
    )
    collapse: list[str] | None = option(
        "The field with the document that a chunk is a part of, for example meta.source_id; by "
        f"default meta.beir_doc_id, which --index writes; none: each chunk counts; {_FOR_ONE}.",
        metavar="FIELD",
    )
    allow: list[str] | None = option(
        "A module of your own components, for example my.parts.*", metavar="MODULE"
    )


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


def retriever_settings(
    names: Sequence[str], options: PipelineOptions, *, keep_stages: bool, returns_chunks: bool
) -> dict[str, dict[str, Any]]:
    """Return the settings of ``PipelineRetriever`` of each pipeline, from the options."""
    from beir_eval.integrations.retrieval.evaluate_dataset import CHUNK_FIELDS  # noqa: PLC0415

    inputs = _values_of_pipelines("--input", options.inputs or (), names)
    fields = _values_of_pipelines("--by", options.field or (), names)
    outputs = _values_of_pipelines(
        "--documents-from", options.documents_from or (), names, is_single=True
    )
    collapsed = _values_of_pipelines("--collapse", options.collapse or (), names, is_single=True)
    return {
        name: {
            "inputs": inputs[name] or None,
            "document_comparison_field": CHUNK_FIELDS if returns_chunks else fields[name] or "id",
            "documents_from": next(iter(outputs[name]), None),
            "collapse": (
                None
                if returns_chunks or collapsed[name] == [_NO_COLLAPSE]
                else next(iter(collapsed[name]), AUTO)
            ),
            "keep_stages": keep_stages,
        }
        for name in names
    }


def _values_of_pipelines(
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
