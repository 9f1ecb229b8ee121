"""One query of a Haystack pipeline: its inputs, and the documents of its output."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from beir_eval.core.qrels import highest_grades_of
from beir_eval.errors import InputError, SettingError
from beir_eval.integrations.haystack.components import code_of_components, stores_of
from beir_eval.integrations.haystack.documents import EMPTY_STORE_HINT
from beir_eval.integrations.haystack.fingerprint import fingerprint_of_pipeline
from beir_eval.integrations.haystack.indexing import PART
from beir_eval.integrations.haystack.pipeline_stages import documents_of_stage
from beir_eval.integrations.haystack.stage_tracer import Recorded, recording
from beir_eval.integrations.haystack.store_checks import (
    check_embeddings,
    count_stored,
    store_problems,
)
from beir_eval.integrations.haystack.written_corpora import written_hash
from beir_eval.integrations.retrieval.documents import AUTO, parents_in
from beir_eval.integrations.retrieval.host_retrievers import answer_from_documents
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.query_runner import QueryCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.records import RetrievalProblem
    from beir_eval.integrations.haystack.pipeline_stages import PipelineStages
    from beir_eval.integrations.haystack.sockets import Socket
    from beir_eval.integrations.haystack.stage_tracer import QueryRecord
    from beir_eval.integrations.retrieval.documents import DocumentNames
    from beir_eval.integrations.retrieval.query_runner import Answer, AnswerFunction


_PART = re.compile(r"(\d{1,18}) of (\d{1,18}|more)")


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
                "pipeline": fingerprint_of_pipeline(self.pipeline),
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

    def look_ahead(self, qrels: Qrels) -> Sequence[RetrievalProblem]:
        """Return what the document stores show before any query is run."""
        return tuple(store_problems(self.pipeline, highest_grades_of(qrels), self.names))

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
