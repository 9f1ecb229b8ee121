"""Running a Haystack pipeline for many queries, sequentially or concurrently."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack import Pipeline

from beir_eval.errors import InputError, RetrievalError, SettingError, shown
from beir_eval.integrations.haystack.documents import Ranking, are_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from beir_eval.integrations.haystack.documents import DocumentNames
    from beir_eval.integrations.haystack.sockets import Socket


#: The number of characters of an error message that are kept.
_MAX_REASON_LENGTH = 500


class Answer(NamedTuple):
    """The documents that the pipeline returned for one query.

    Attributes:
        ranking: ids and scores, each document once.
        left_out: the number of documents that were repeated or have no name.
        seconds: how long the query took; None if it is not known.
        has_chunks: whether documents say which document they are a chunk of; False for an answer
            that was saved before.
    """

    ranking: Ranking
    left_out: int
    seconds: float | None
    has_chunks: bool = False


class PipelineCall(NamedTuple):
    """A pipeline, its inputs for a query, and its output of documents.

    Attributes:
        pipeline: the pipeline.
        inputs: returns {component: {input: value}} for (query_id, text).
        output: the output with the ranked documents.
        names: the fields that identify a document.
    """

    pipeline: Any
    inputs: Callable[[str, str], Mapping[str, Any]]
    output: Socket
    names: DocumentNames

    def run(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query."""
        start = time.perf_counter()
        response = self.pipeline.run(*self._run_arguments(query_id, text))
        return self._answer_from_response(query_id, response, time.perf_counter() - start)

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query, in the event loop."""
        start = time.perf_counter()
        response = await self.pipeline.run_async(*self._run_arguments(query_id, text))
        return self._answer_from_response(query_id, response, time.perf_counter() - start)

    def _run_arguments(self, query_id: str, text: str) -> tuple[dict[str, Any], set[str]]:
        data = self.inputs(query_id, text)
        if not isinstance(data, Mapping):
            msg = (
                f"inputs(query_id, text) must return what the pipeline is run with, "
                f"{{component: {{input: value}}}}, not {data!r:.60}"
            )
            raise InputError(msg)
        return dict(data), {self.output.component}

    def _answer_from_response(
        self, query_id: str, response: Mapping[str, Any], seconds: float
    ) -> Answer:
        # If a router chose another branch, the output is missing: no document was retrieved.
        documents = response.get(self.output.component, {}).get(self.output.name, [])
        ranking = Ranking.distinct_from_documents(query_id, documents, self.names)
        num_left_out = len(documents) - len(ranking.doc_ids)
        return Answer(ranking, num_left_out, seconds, are_chunks(documents))


@dataclass(frozen=True)
class QueryRunner:
    """Runs a pipeline for many queries.

    Attributes:
        call: the pipeline with its inputs and output.
        queries: {query_id: text}.
        stop_on_error: whether the first failure is raised; otherwise failures are collected.
        on_answer: called with (query_id, answer) after each query that did not fail.
        advance: called after each query.
        failures: {query_id: reason}, filled by ``run``.
    """

    call: PipelineCall
    queries: Mapping[str, str]
    stop_on_error: bool
    on_answer: Callable[[str, Answer], None]
    advance: Callable[[], Any]
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, concurrency: int) -> None:
        """Run the pipeline for every query, at most ``concurrency`` queries at a time.

        Raises:
            RetrievalError: a query failed, with ``stop_on_error``.
            SettingError: several queries at a time need ``run_async``, which the pipeline lacks.
        """
        if hasattr(self.call.pipeline, "warm_up"):
            self.call.pipeline.warm_up()  # the time of a query does not include loading models
        if concurrency == 1 and isinstance(self.call.pipeline, Pipeline):
            self._run_sequentially()
        elif hasattr(self.call.pipeline, "run_async"):
            try:
                _run_in_event_loop(self._run_concurrently(concurrency))
            except ExceptionGroup as group:
                raise group.exceptions[0] from group.exceptions[0].__cause__
        else:
            msg = "concurrency needs a pipeline with run_async: an AsyncPipeline in Haystack 2"
            raise SettingError(msg)

    def _run_sequentially(self) -> None:
        for query_id, text in self.queries.items():
            answer = None
            with self._handle_failure(query_id):
                answer = self.call.run(query_id, text)
            self._report(query_id, answer)

    async def _run_concurrently(self, concurrency: int) -> None:
        pending = iter(self.queries.items())

        async def run_pending() -> None:
            for query_id, text in pending:
                answer = None
                with self._handle_failure(query_id):
                    answer = await self.call.run_async(query_id, text)
                self._report(query_id, answer)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self.queries))):
                group.create_task(run_pending())

    @contextmanager
    def _handle_failure(self, query_id: str) -> Iterator[None]:
        """Raise an exception of the query as RetrievalError, or add it to ``failures``."""
        try:
            yield
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                raise
            reason = _shorten(f"{type(error).__name__}: {error}")
            if self.stop_on_error:
                text = self.queries[query_id]
                msg = f"the pipeline failed for query {shown(query_id)} ({shown(text)}): {reason}"
                raise RetrievalError(msg) from error
            self.failures[query_id] = reason

    def _report(self, query_id: str, answer: Answer | None) -> None:
        if answer is not None:
            self.on_answer(query_id, answer)
        self.advance()


def _is_being_cancelled() -> bool:
    """Return whether this task is cancelled, rather than something that it awaits."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # without an event loop there is no task to cancel
        return False
    return task is None or task.cancelling() > 0


def _shorten(text: str) -> str:
    """Return the text on one line, cut to ``_MAX_REASON_LENGTH`` characters."""
    line = " ".join(text.split()).encode(errors="backslashreplace").decode()
    return line if len(line) <= _MAX_REASON_LENGTH else f"{line[:_MAX_REASON_LENGTH]} …"


def _run_in_event_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a new event loop; in a new thread if a loop is running, as in Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    started = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []

    async def record_and_run() -> None:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        started.set()
        await coroutine

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(contextvars.copy_context().run, asyncio.run, record_and_run())
        try:
            future.result()
        except BaseException:
            if not future.done():  # an interrupt of this thread: cancel the task in the other one
                started.wait()
                [(loop, task)] = running
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
            raise
