"""Running a Haystack pipeline for many queries, one after the other or some at a time."""

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

from beir_eval.errors import InputError, RetrievalError, SettingError
from beir_eval.integrations.haystack.documents import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from beir_eval.integrations.haystack.documents import DocumentNames
    from beir_eval.integrations.haystack.sockets import Socket


#: How much of an error's text is kept.
_LONGEST_REASON = 500


class Answer(NamedTuple):
    """What the pipeline found for one query.

    Attributes:
        ranking: ids and scores, each document once.
        left_out: documents that the ranking holds already, or that have no name.
        seconds: what the query took; None where it is not known.
    """

    ranking: Ranking
    left_out: int
    seconds: float | None


class Asking(NamedTuple):
    """A pipeline, what it is given for a query, and where its documents come out."""

    pipeline: Any
    inputs: Callable[[str, str], Mapping[str, Any]]
    output: Socket
    names: DocumentNames

    def ask(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query."""
        start = time.perf_counter()
        response = self.pipeline.run(*self._request(query_id, text))
        return self._answer(query_id, response, time.perf_counter() - start)

    async def ask_async(self, query_id: str, text: str) -> Answer:
        """Run the pipeline for one query, in the event loop."""
        start = time.perf_counter()
        response = await self.pipeline.run_async(*self._request(query_id, text))
        return self._answer(query_id, response, time.perf_counter() - start)

    def _request(self, query_id: str, text: str) -> tuple[dict[str, Any], set[str]]:
        data = self.inputs(query_id, text)
        if not isinstance(data, Mapping):
            msg = (
                f"inputs(query_id, text) must return what the pipeline is run with, "
                f"{{component: {{input: value}}}}, not {data!r:.60}"
            )
            raise InputError(msg)
        return dict(data), {self.output.component}

    def _answer(self, query_id: str, response: Mapping[str, Any], seconds: float) -> Answer:
        # A router may have taken another way: then nothing was retrieved.
        documents = response.get(self.output.component, {}).get(self.output.name, [])
        ranking = Ranking.distinct_from_documents(query_id, documents, self.names)
        return Answer(ranking, len(documents) - len(ranking.doc_ids), seconds)


@dataclass(frozen=True)
class Round:
    """One pipeline run for many queries.

    Attributes:
        asking: the pipeline.
        queries: {query_id: text}.
        stop: whether the first failure is raised; otherwise failures are collected.
        answered: called with each answer, as it comes.
        advance: called after each query.
        failures: {query_id: reason}.
    """

    asking: Asking
    queries: Mapping[str, str]
    stop: bool
    answered: Callable[[str, Answer], None]
    advance: Callable[[], Any]
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, concurrency: int) -> None:
        """Run the pipeline for every query, ``concurrency`` of them at a time.

        Raises:
            RetrievalError: a query failed, with ``stop``.
            SettingError: the pipeline cannot run several queries at a time.
        """
        if hasattr(self.asking.pipeline, "warm_up"):
            self.asking.pipeline.warm_up()  # loading models is no query's time
        if concurrency == 1 and isinstance(self.asking.pipeline, Pipeline):
            self._one_by_one()
        elif hasattr(self.asking.pipeline, "run_async"):
            try:
                _in_a_loop(self._together(concurrency))
            except ExceptionGroup as group:
                raise group.exceptions[0] from group.exceptions[0].__cause__
        else:
            msg = "concurrency needs a pipeline with run_async: an AsyncPipeline in Haystack 2"
            raise SettingError(msg)

    def _one_by_one(self) -> None:
        for query_id, text in self.queries.items():
            answer = None
            with self._failing(query_id):
                answer = self.asking.ask(query_id, text)
            self._note(query_id, answer)

    async def _together(self, concurrency: int) -> None:
        pending = iter(self.queries.items())

        async def work() -> None:
            for query_id, text in pending:
                answer = None
                with self._failing(query_id):
                    answer = await self.asking.ask_async(query_id, text)
                self._note(query_id, answer)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self.queries))):
                group.create_task(work())

    @contextmanager
    def _failing(self, query_id: str) -> Iterator[None]:
        try:
            yield
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                raise
            reason = _shortened(f"{type(error).__name__}: {error}")
            if self.stop:
                text = self.queries[query_id]
                msg = f"the pipeline failed for query {query_id!r} ({text!r:.80}): {reason}"
                raise RetrievalError(msg) from error
            self.failures[query_id] = reason

    def _note(self, query_id: str, answer: Answer | None) -> None:
        if answer is not None:
            self.answered(query_id, answer)
        self.advance()


def _is_being_cancelled() -> bool:
    """Return whether it is this task that is cancelled, and not something that it waited for."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop here, so nothing that could be cancelled
        return False
    return task is None or task.cancelling() > 0


def _shortened(text: str) -> str:
    flat = " ".join(text.split()).encode(errors="backslashreplace").decode()
    return flat if len(flat) <= _LONGEST_REASON else f"{flat[:_LONGEST_REASON]} …"


def _in_a_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run it in an event loop of its own: in a thread where one is running here, as in Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    begun = threading.Event()
    place: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []

    async def noted() -> None:
        place.append((asyncio.get_running_loop(), asyncio.current_task()))
        begun.set()
        await work

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(contextvars.copy_context().run, asyncio.run, noted())
        try:
            done.result()
        except BaseException:
            if not done.done():  # an interrupt came here: stop over there too
                begun.wait()
                [(loop, task)] = place
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
            raise
