"""A Haystack pipeline as a retriever: runs queries and returns their rankings as a ``Run``."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beir_eval.errors import check_count, warn_caller
from beir_eval.integrations.haystack.components import as_pipeline, stores_of
from beir_eval.integrations.haystack.fingerprint import fingerprint_of_function
from beir_eval.integrations.haystack.pipeline_call import PipelineCall
from beir_eval.integrations.haystack.pipeline_stages import PipelineStages
from beir_eval.integrations.haystack.sockets import (
    all_document_outputs,
    documents_output,
    find_output,
    generates_text,
    id_inputs,
    query_inputs,
)
from beir_eval.integrations.haystack.store_checks import store_problems
from beir_eval.integrations.haystack.written_corpora import is_known
from beir_eval.integrations.retrieval.documents import AUTO, DocumentNames
from beir_eval.integrations.retrieval.retrieve_all import (
    DEFAULT_CHECKED,
    RunnerSettings,
    retrieve_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Retrieval, RetrievalProblem
    from beir_eval.integrations.haystack.stage_tracer import QueryRecord
    from beir_eval.integrations.retrieval.origin import Origin
    from beir_eval.integrations.retrieval.query_runner import Answer
    from beir_eval.integrations.retrieval.retrieve_all import Retrieved

    #: Names of the inputs that take the query; or a function (query_id, text) -> pipeline inputs.
    Inputs = str | Iterable[str] | Callable[[str, str], Mapping[str, Any]]


class PipelineRetriever:
    """A Haystack pipeline as a retriever: takes {query_id: text}, returns a ``Run``.

    A ``PipelineRetriever`` is a system for a ``Benchmark``. ``Benchmark`` also takes a pipeline
    itself; use this class if the pipeline needs settings.

    Args:
        pipeline: the pipeline, or a single component that returns documents, such as a retriever or
            a SuperComponent; it is not changed.
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
            without this field counts as a document of its own; a warning counts these. By default
            ("auto") a document that ``index`` has written, or a chunk of it, counts as the document
            in ``meta.beir_doc_id`` if documents are identified by their id. None: each chunk counts
            as a document.
        concurrency: how many queries run at a time. More than 1 needs a pipeline with
            ``run_async``: any pipeline of Haystack 3, an AsyncPipeline of Haystack 2.
        check_saved: how many queries with saved answers are run again, to compare their rankings; 0
            for none.
        progress: whether to show a progress bar, on a terminal or in a notebook.
        keep_stages: whether the rankings and times of all stages are kept for
            ``evaluate_pipeline_stages``.
        answers_from: the output with the generated answers, as "component.output": a list of
            answers, texts or chat messages; None to keep no answers.

    Attributes:
        pipeline: the pipeline, or the component.
        collapse: the field of this name, or "auto".
        concurrency: how many queries run at a time.
        stages: the stages of the pipeline; None if they are not kept.
        failed: {query_id: what was recorded} of the queries that failed in the last call.

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
        collapse: str | None = AUTO,
        concurrency: int = 1,
        check_saved: int = DEFAULT_CHECKED,
        progress: bool = False,
        keep_stages: bool = False,
        answers_from: str | None = None,
    ) -> None:
        """Find the inputs and the output in the pipeline."""
        check_count("concurrency", concurrency)
        names = DocumentNames.from_fields(document_comparison_field, collapse)
        with as_pipeline(pipeline) as opened:
            output = documents_output(opened, documents_from)
            document_outputs = all_document_outputs(opened)
            may_vary = generates_text(opened)
            self.stages = PipelineStages.of_pipeline(opened, output) if keep_stages else None
            answers = None if answers_from is None else find_output(opened, answers_from)
            if callable(inputs):
                request, inputs_text = inputs, f"function {fingerprint_of_function(inputs)}"
            else:
                text_sockets, id_sockets = query_inputs(opened, inputs), id_inputs(opened)
                inputs_text = ", ".join(map(str, [*text_sockets, *id_sockets]))

                def request(query_id: str, text: str) -> Mapping[str, Any]:
                    data: dict[str, dict[str, Any]] = {}
                    for socket in text_sockets:
                        data.setdefault(socket.component, {})[socket.name] = text
                    for socket in id_sockets:
                        data.setdefault(socket.component, {})[socket.name] = [query_id]
                    return data

        self._call = PipelineCall(
            None,
            request,
            inputs_text,
            inputs if callable(inputs) else None,
            output,
            names,
            document_outputs,
            may_vary,
            stages=self.stages,
            answers=answers,
            collapse=names.collapse,
        )
        self.failed: Mapping[str, QueryRecord] = {}
        self.concurrency, self._progress, self._check_saved = concurrency, progress, check_saved
        self.pipeline, self.collapse = pipeline, collapse
        self._last_problems: tuple[RetrievalProblem, ...] = ()

    def _is_enough(self, answer: Answer) -> bool:
        """Return whether a saved answer has the stages and the generated answers asked for."""
        wanted = "" if self._call.answers is None else str(self._call.answers)
        has_texts = not wanted or (answer.texts is not None and answer.texts_from == wanted)
        return has_texts and (self.stages is None or answer.stages is not None)

    @property
    def names(self) -> DocumentNames:
        """The fields that identify a document."""
        return self._call.names

    @property
    def origin(self) -> Origin:
        """What makes the answers of the pipeline, for comparison with saved answers."""
        with as_pipeline(self.pipeline) as opened:
            return replace(self._call, pipeline=opened).made_by()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of what makes the answers, by which a benchmark recognises its saved runs.

        It covers the components, their settings and connections, the user's own code, the versions
        of packages, the number of stored documents, and what ``index`` has written in this process.
        """
        return hashlib.sha256(json.dumps(self.origin.to_record()).encode()).hexdigest()

    def __call__(self, queries: Mapping[str, str], corpus: object = None) -> Run:  # noqa: ARG002
        """Return the rankings of all queries; this makes the retriever a system of ``Benchmark``.

        Args:
            queries: {query_id: text}.
            corpus: ignored; the pipeline searches its own document store.

        Raises:
            RetrievalError: the pipeline failed for a query.
            SettingError: as ``retrieve``.
            InputError: an id is neither text nor an integer, or is listed twice.

        Warns:
            BeirEvalWarning: a component returned no document for any query, or the store has a part
                of the corpus.
        """
        run, retrieval = self.retrieve(queries)
        for problem in retrieval.problems:
            warn_caller(problem.sentence)
        return run

    def store_problems(self, judged: Mapping[str, float]) -> tuple[RetrievalProblem, ...]:
        """Return what the document stores show before any query is run.

        Args:
            judged: {doc_id: highest grade} of the judged documents.
        """
        with as_pipeline(self.pipeline) as opened:
            return tuple(store_problems(opened, judged, self.names))

    def retrieval_problems(self, judged: Mapping[str, float]) -> tuple[RetrievalProblem, ...]:
        """Return what the document stores and the last call show; a benchmark asks for it.

        Args:
            judged: {doc_id: highest grade} of the judged documents.
        """
        return (*self.store_problems(judged), *self._last_problems)

    def retrieve(
        self,
        queries: Mapping[str, str],
        *,
        on_error: str = "stop",
        save_run: str | Path | None = None,
        fresh: bool = False,
        rankings_vary: bool = False,
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
            fresh: whether saved answers are replaced instead of being reused.
            rankings_vary: whether rankings vary from run to run, so that saved answers are reused
                without running some of their queries again.

        Returns:
            The run of these queries; and the time that each query took, the failures, the number of
            documents that were left out because they were repeated or have no name, the answers
            that were reused, and the components that returned no document for any query.

        Raises:
            RetrievalError: the pipeline failed for a query, with ``on_error="stop"``.
            RunError: the pipeline failed for every query.
            SettingError: a component searches by embedding, and no document in its store in memory
                has one; ``on_error`` is unknown; the ending of ``save_run`` is not that of a format
                that can be written; the saved answers were made by another pipeline, from other
                documents or by other code, or differ from what the pipeline returns now; the file
                exists without saved answers; or another process is writing it.
            InputError: an id is neither text nor an integer, is listed twice, or cannot be written
                in the format of ``save_run``; or the folder of ``save_run`` does not exist.
            FileFormatError: the file with saved answers is damaged.
            OSError: a file cannot be written.
        """
        retrieved = self.retrieve_answers(
            queries, on_error=on_error, save_run=save_run, fresh=fresh, rankings_vary=rankings_vary
        )
        return retrieved.run, retrieved.retrieval

    def retrieve_answers(
        self, queries: Mapping[str, str], *, rankings_vary: bool, **settings: Any
    ) -> Retrieved:
        """Return what ``retrieve`` does, and the answers, with their stages if these are kept.

        Args:
            queries: as of ``retrieve``.
            rankings_vary: likewise.
            settings: ``on_error``, ``save_run`` and ``fresh``, likewise.
        """
        with self.opened(rankings_vary=rankings_vary, **settings) as (call, runner_settings):
            retrieved = retrieve_all(call, queries, runner_settings)
        self._last_problems = retrieved.retrieval.problems
        return retrieved

    @contextmanager
    def opened(self, **settings: Any) -> Iterator[tuple[PipelineCall, RunnerSettings]]:
        """Yield the pipeline as it answers queries, and how these are run.

        Args:
            settings: as of ``retrieve_answers``.
        """
        runner_settings = RunnerSettings(
            concurrency=self.concurrency,
            check_saved=self._check_saved,
            progress=self._progress,
            is_enough=self._is_enough,
            **settings,
        )
        with as_pipeline(self.pipeline, concurrent=self.concurrency > 1) as opened:
            reads_part = not is_known(store for _, store in stores_of(opened))
            call = replace(self._call, pipeline=opened, reads_part=reads_part, failed={})
            yield call, runner_settings
        self.failed = call.failed
