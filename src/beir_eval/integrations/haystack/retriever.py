"""A Haystack pipeline as a retriever: runs queries and returns their rankings as a ``Run``.

``PipelineCall`` runs one query: it makes the inputs, and reads the documents of the output.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from beir_eval.core.own_code import sha256_of
from beir_eval.core.qrels import highest_grades_of
from beir_eval.errors import InputError, SettingError, check_count, warn_caller
from beir_eval.integrations.haystack.components import (
    as_pipeline,
    code_of_components,
    sha256_of_pipeline,
    stores_of,
)
from beir_eval.integrations.haystack.documents import EMPTY_STORE_HINT
from beir_eval.integrations.haystack.indexing import PART, is_known, written_hash
from beir_eval.integrations.haystack.pipeline_stages import PipelineStages, documents_of_stage
from beir_eval.integrations.haystack.sockets import (
    all_document_outputs,
    documents_output,
    find_output,
    generates_text,
    id_inputs,
    query_inputs,
)
from beir_eval.integrations.haystack.stage_tracer import Recorded, recording
from beir_eval.integrations.haystack.store_checks import (
    check_embeddings,
    count_stored,
    random_rankings,
    store_findings,
)
from beir_eval.integrations.retrieval.documents import (
    AUTO,
    DocumentNames,
    answer_from_documents,
    parents_in,
)
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.run_queries import (
    DEFAULT_CHECKED,
    QueryCall,
    RunnerSettings,
    retrieve_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Retrieval
    from beir_eval.inspection.finding import Finding
    from beir_eval.integrations.haystack.sockets import Socket
    from beir_eval.integrations.haystack.stage_tracer import QueryRecord
    from beir_eval.integrations.retrieval.documents import Answer
    from beir_eval.integrations.retrieval.run_queries import AnswerFunction, Retrieved

    #: Names of the inputs that take the query; or a function (query_id, text) -> pipeline inputs.
    Inputs = str | Iterable[str] | Callable[[str, str], Mapping[str, Any]]

_PART = re.compile(r"(\d{1,18}) of (\d{1,18}|more)")


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
                request, inputs_text = inputs, f"function {sha256_of(inputs)}"
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
        self._last_findings: tuple[Finding, ...] = ()

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
        for finding in retrieval.findings:
            warn_caller(finding.sentence)
        return run

    def store_findings(self, judged: Mapping[str, float]) -> tuple[Finding, ...]:
        """Return what the document stores show before any query is run.

        Args:
            judged: {doc_id: highest grade} of the judged documents.
        """
        with as_pipeline(self.pipeline) as opened:
            has_own_inputs = self._call.input_function is not None
            return tuple(store_findings(opened, judged, self.names, has_own_inputs=has_own_inputs))

    def retrieval_findings(self, judged: Mapping[str, float]) -> tuple[Finding, ...]:
        """Return what the document stores and the last call show; a benchmark asks for it.

        Args:
            judged: {doc_id: highest grade} of the judged documents.
        """
        return (*self.store_findings(judged), *self._last_findings)

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
        self._last_findings = retrieved.retrieval.findings
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


@dataclass(frozen=True)
class PipelineCall(QueryCall):
    """A pipeline, its inputs for a query, and its output of documents.

    Attributes:
        pipeline: the pipeline.
        inputs: returns {component: {input: value}} for (query_id, text).
        inputs_text: what identifies the inputs.
        input_function: the user's function that makes the inputs; None without one.
        output: the output with the ranked documents.
        names: the fields that identify a document.
        document_outputs: {path of a component: its outputs of documents}, which are counted.
        may_vary: whether a component generates text, so that rankings may vary.
        reads_part: whether documents say that ``index`` wrote a part of a corpus; not if this
            process knows what it has written.
        answers: its output of generated answers; None to keep none.
        stages: its stages, whose rankings and times are kept; None to keep none.
        failed: {query_id: what was recorded of a query that failed}, filled while queries run.
        collapse: the field with the document that a chunk is a part of; None for no such field.
        label: what messages call the pipeline.
        if_empty: what to do if no document was retrieved.
        if_chunks: the keyword for the field with the document that a chunk is a part of.
    """

    pipeline: Any
    inputs: Callable[[str, str], Mapping[str, Any]]
    inputs_text: str
    input_function: Callable[[str, str], Mapping[str, Any]] | None
    output: Socket
    names: DocumentNames
    document_outputs: Mapping[tuple[str, ...], Sequence[str]]
    may_vary: bool = False
    reads_part: bool = True
    answers: Socket | None = None
    stages: PipelineStages | None = None
    failed: dict[str, QueryRecord] = field(default_factory=dict)
    collapse: str | None = None
    label: str = "the pipeline"
    if_empty: str = EMPTY_STORE_HINT
    if_chunks: str = "collapse"

    def made_by(self) -> Origin:
        """Return what makes the answers of the pipeline, for comparison with saved answers."""
        functions = [] if self.input_function is None else [self.input_function]
        code = code_of_components(self.pipeline, *functions)
        collapse = self.collapse or ""
        return Origin(
            settings={
                "pipeline": sha256_of_pipeline(self.pipeline),
                "inputs": self.inputs_text,
                "documents_from": str(self.output),
                "documents_go_by": " + ".join(self.names.fields),
                "collapse": f"{AUTO} {collapse}" if self.names.is_automatic else collapse,
            },
            own_code=code.own,
            packages=code.packages,
            corpus=written_hash(store for _, store in stores_of(self.pipeline)),
            stored_documents=count_stored(self.pipeline),
        )

    def look_ahead(self, qrels: Qrels) -> Sequence[Finding]:
        """Return what the document stores show before any query is run."""
        judged, has_own_inputs = highest_grades_of(qrels), self.input_function is not None
        return tuple(
            store_findings(self.pipeline, judged, self.names, has_own_inputs=has_own_inputs)
        )

    def look_back(self, qrels: Qrels, run: Run) -> Sequence[Finding]:
        """Return whether the rankings may as well be random ones of the store."""
        return tuple(random_rankings(qrels, run, count_stored(self.pipeline) or 0))

    def check(self) -> None:
        """Raise SettingError if a component searches by embedding, and no document has one."""
        check_embeddings(self.pipeline)

    def start(self, concurrency: int) -> AnswerFunction:
        """Load the models of the pipeline, and return the function that answers a query.

        Raises:
            SettingError: several queries at a time need ``run_async``, which the pipeline lacks.
        """
        if hasattr(self.pipeline, "warm_up"):
            self.pipeline.warm_up()  # the time of a query does not include loading models
        if concurrency == 1 and isinstance(self.pipeline, Pipeline):
            return self.run
        if hasattr(self.pipeline, "run_async"):
            return self.run_async
        msg = "concurrency needs a pipeline with run_async: an AsyncPipeline in Haystack 2"
        raise SettingError(msg)

    def run(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query."""
        answer = self._run_once(query_id, text)
        return self._run_once(query_id, text) if self._lacks_stages(answer) else answer

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query, in the event loop."""
        answer = await self._run_once_async(query_id, text)
        return await self._run_once_async(query_id, text) if self._lacks_stages(answer) else answer

    def _lacks_stages(self, answer: Answer) -> bool:
        """Return whether the query is run again, because its stages are not known.

        A component that enables a tracer of its own usually does so once, when it is used first.
        """
        return self.stages is not None and answer.stages is None

    def _run_once(self, query_id: str, text: str) -> Answer:
        start = time.perf_counter()
        with self._recording(query_id) as record:
            response = self.pipeline.run(*self._run_arguments(query_id, text))
        seconds = time.perf_counter() - start
        return self._answer_from_response(query_id, response, seconds, record)

    async def _run_once_async(self, query_id: str, text: str) -> Answer:
        start = time.perf_counter()
        with self._recording(query_id) as record:
            response = await self.pipeline.run_async(*self._run_arguments(query_id, text))
        seconds = time.perf_counter() - start
        return self._answer_from_response(query_id, response, seconds, record)

    @contextmanager
    def _recording(self, query_id: str) -> Iterator[QueryRecord]:
        """Record what the components return; of a query that fails, keep what there is."""
        with recording(self._recorded) as record:
            try:
                yield record
            except BaseException:
                self.failed[query_id] = record
                raise
            self.failed.pop(query_id, None)  # an earlier attempt

    @cached_property
    def _recorded(self) -> Recorded:
        if self.stages is None:
            return Recorded(self.document_outputs)

        def ids_of(documents: Sequence[Any]) -> list[str]:
            # As the ranking of the answer, without its scores and counts.
            return list(dict.fromkeys(filter(None, self.names.names_of(documents))))

        return Recorded(self.document_outputs, self.stages.by_path, ids_of)

    def _run_arguments(self, query_id: str, text: str) -> tuple[dict[str, Any], set[str]]:
        data = self.inputs(query_id, text)
        if not isinstance(data, Mapping):
            msg = (
                f"inputs(query_id, text) must return what the pipeline is run with, "
                f"{{component: {{input: value}}}}, not {data!r:.60}"
            )
            raise InputError(msg)
        wanted = {self.output.component}
        if self.answers is not None:
            wanted.add(self.answers.component)
        return dict(data), wanted

    def _answer_from_response(
        self, query_id: str, response: Mapping[str, Any], seconds: float, record: QueryRecord
    ) -> Answer:
        # If a router chose another branch, the output is missing: no document was retrieved.
        output = response.get(self.output.component, {}).get(self.output.name)
        documents = documents_of_stage(output or [])
        parents = parents_in(documents)
        answer = answer_from_documents(query_id, documents, self.names, seconds, parents=parents)
        part = _part_of(documents) if self.reads_part else None
        answer = answer._replace(outputs=record.sizes, part=part)
        if self.answers is not None:
            generated = response.get(self.answers.component, {}).get(self.answers.name) or []
            texts = _texts_of(generated, self.answers)
            answer = answer._replace(texts=texts, texts_from=str(self.answers))
        if self.stages is None or not record.is_complete:
            return answer
        rankings = dict(record.rankings)
        rankings.pop(str(self.stages.last), None)
        if output is not None:
            rankings[str(self.stages.last)] = answer.ranking.doc_ids
        times = {name: astuple(taken) for name, taken in record.times.items()}
        return answer._replace(stages=rankings, times=times)


def _texts_of(generated: Any, output: Socket) -> list[str]:
    """Return generated answers as texts: those of answers, chat messages, or texts.

    Raises:
        InputError: the output is something else.
    """
    texts = []
    for answer in [generated] if isinstance(generated, str) else generated:
        text = answer
        for attribute in ("data", "text"):
            if not isinstance(text, str) and hasattr(answer, attribute):
                text = getattr(answer, attribute)
        if text is not None and not isinstance(text, str):
            msg = (
                f"{output} returned {answer!r:.60}, which has no text; answers_from= is an output "
                "of answers, replies or texts"
            )
            raise InputError(msg)
        texts.append(text or "")
    return texts


def _part_of(documents: Sequence[Any]) -> tuple[int, int] | None:
    """Return (documents written, documents of the corpus) if ``index`` wrote a part of a corpus."""
    for document in documents:
        text = document.meta.get(PART)
        match = _PART.fullmatch(text) if isinstance(text, str) else None
        if match is not None:
            return int(match[1]), 0 if match[2] == "more" else int(match[2])
    return None
