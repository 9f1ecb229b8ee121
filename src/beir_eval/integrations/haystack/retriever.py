"""A Haystack pipeline as a retriever: runs queries and returns their rankings as a ``Run``."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, check_count
from beir_eval.integrations.haystack.fingerprint import (
    fingerprint_of_function,
    fingerprint_of_pipeline,
)
from beir_eval.integrations.haystack.pipeline_call import PipelineCall
from beir_eval.integrations.haystack.sockets import documents_output, id_inputs, query_inputs
from beir_eval.integrations.retrieval.documents import DocumentNames
from beir_eval.integrations.retrieval.retrieve_all import RunnerSettings, retrieve_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Retrieval

    #: Names of the inputs that take the query; or a function (query_id, text) -> pipeline inputs.
    Inputs = str | Iterable[str] | Callable[[str, str], Mapping[str, Any]]


class PipelineRetriever:
    """A Haystack pipeline as a retriever: takes {query_id: text}, returns a ``Run``.

    A ``PipelineRetriever`` is a system for a ``Benchmark``. ``Benchmark`` also takes a pipeline
    itself; use this class if the pipeline needs settings.

    Args:
        pipeline: the pipeline; it is not changed.
        inputs: the inputs that take the query, as "component.input" or several of them; or a
            function (query_id, text) that returns the inputs of the pipeline, {component: {input:
            value}}. By default, the query goes to the one required input of text, or to several
            named "query", "question" or "text"; and to optional ones named "query" or "question".
            Inputs named "query_ids", such as those of an evaluator, get the id, unless this is a
            function.
        documents_from: the output with the ranked documents, as "component.output". By default,
            the one list of Documents from which the pipeline makes no other list of Documents.
        document_comparison_field: the field that identifies a document in the judgements: "id",
            "content" or "meta.a.b", or several as a composite key.
        collapse: the field with the name of the document that a chunk is a part of, such as
            "meta.source_id". All chunks of a document then count as that document. A document
            without this field counts as a document of its own; a warning counts these.
        concurrency: how many queries run at a time. More than 1 needs a pipeline with
            ``run_async``: any pipeline of Haystack 3, an AsyncPipeline of Haystack 2.
        progress: whether to show a progress bar, on a terminal or in a notebook.

    Attributes:
        pipeline: the pipeline.
        collapse: the field of this name.
        found_chunks: whether the last call of ``retrieve`` got documents with ``meta.source_id``.

    Raises:
        SettingError: this is not a pipeline, ``concurrency`` is below 1, a field is not one of the
            above, or the inputs or the output do not exist or are ambiguous.
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        pipeline: Any,
        *,
        inputs: Inputs | None = None,
        documents_from: str | None = None,
        document_comparison_field: str | Sequence[str] = "id",
        collapse: str | None = None,
        concurrency: int = 1,
        progress: bool = False,
    ) -> None:
        """Find the inputs and the output in the pipeline."""
        if not hasattr(pipeline, "graph") or not hasattr(pipeline, "run"):
            msg = f"a Haystack pipeline was expected, not {type(pipeline).__name__}"
            raise SettingError(msg)
        check_count("concurrency", concurrency)
        output = documents_output(pipeline, documents_from)
        if callable(inputs):
            request, self._inputs_text = inputs, f"function {fingerprint_of_function(inputs)}"
        else:
            text_sockets, id_sockets = query_inputs(pipeline, inputs), id_inputs(pipeline)
            self._inputs_text = ", ".join(map(str, [*text_sockets, *id_sockets]))

            def request(query_id: str, text: str) -> Mapping[str, Any]:
                data: dict[str, dict[str, Any]] = {}
                for socket in text_sockets:
                    data.setdefault(socket.component, {})[socket.name] = text
                for socket in id_sockets:
                    data.setdefault(socket.component, {})[socket.name] = [query_id]
                return data

        names = DocumentNames.from_fields(document_comparison_field, collapse)
        self._call = PipelineCall(pipeline, request, output, names)
        self._concurrency, self._progress = concurrency, progress
        self.pipeline, self.collapse = pipeline, collapse
        self.found_chunks = False

    @property
    def made_by(self) -> dict[str, str]:
        """The pipeline and the settings that a run was made by, for comparison with saved runs.

        The pipeline is represented by the hash of its components, their serialised settings and
        their connections. The content of its document store is not included. A function as
        ``inputs`` is represented by the hash of its code, without default values of arguments.
        """
        names = self._call.names
        return {
            "pipeline": fingerprint_of_pipeline(self._call.pipeline),
            "inputs": self._inputs_text,
            "documents_from": str(self._call.output),
            "documents_go_by": " + ".join(names.fields),
            "collapse": names.collapse or "",
        }

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of ``made_by``, by which a benchmark recognises its saved runs."""
        return hashlib.sha256(json.dumps(self.made_by).encode()).hexdigest()

    def __call__(self, queries: Mapping[str, str], corpus: object = None) -> Run:  # noqa: ARG002
        """Return the rankings of all queries; this makes the retriever a system of ``Benchmark``.

        Args:
            queries: {query_id: text}.
            corpus: ignored; the pipeline searches its own document store.

        Raises:
            RetrievalError: the pipeline failed for a query.
            InputError: an id is neither text nor an integer, or is listed twice.
        """
        return self.retrieve(queries)[0]

    def retrieve(
        self,
        queries: Mapping[str, str],
        *,
        on_error: str = "stop",
        save_run: str | Path | None = None,
    ) -> tuple[Run, Retrieval]:
        """Run the pipeline for every query and return the run; only ids and scores are kept.

        Args:
            queries: {query_id: text}.
            on_error: "stop" raises the first failure; "missing" leaves queries that fail out of the
                run.
            save_run: the file to write the run to after the last query, such as "bm25.trec". Each
                answer is saved in ``<save_run>.progress.jsonl`` at once. A later call with the same
                file runs only the queries that have no saved answer. The file gets all saved
                answers, also those to queries of earlier calls.

        Returns:
            The run of these queries; and the time that each query took, the failures, and the
            number of documents that were left out because they were repeated or have no name.

        Raises:
            RetrievalError: the pipeline failed for a query, with ``on_error="stop"``.
            RunError: the pipeline failed for every query.
            SettingError: ``on_error`` is unknown; the ending of ``save_run`` is not that of a
                format that can be written; the saved answers are those of another pipeline; the
                file exists without saved answers; or another process is writing it.
            InputError: an id is neither text nor an integer, is listed twice, or cannot be written
                in the format of ``save_run``; or the folder of ``save_run`` does not exist.
            FileFormatError: the file with saved answers is damaged.
            OSError: a file cannot be written.
        """
        retrieved = retrieve_all(
            self._call,
            queries,
            self.made_by if save_run is not None else {},
            RunnerSettings(
                concurrency=self._concurrency,
                on_error=on_error,
                save_run=save_run,
                progress=self._progress,
            ),
            collapse=self._call.names.collapse,
        )
        self.found_chunks = retrieved.has_chunks
        return retrieved.run, retrieved.retrieval
