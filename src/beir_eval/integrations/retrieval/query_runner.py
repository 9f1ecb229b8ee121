"""Running a retriever for many queries: sequentially, in an event loop, or in threads."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from beir_eval.errors import BeirEvalError, RetrievalError, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.records import RetrievalProblem
    from beir_eval.integrations.retrieval.documents import Ranking
    from beir_eval.integrations.retrieval.origin import Origin

    #: Takes (query_id, text) and returns the answer, at once or as a coroutine function.
    AnswerFunction = Callable[[str, str], "Answer"] | Callable[[str, str], Awaitable["Answer"]]

#: The number of characters of an error message that are kept.
_MAX_REASON_LENGTH = 500
#: The seconds between a failure and the second attempt; they double with every further attempt.
FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0


class Answer(NamedTuple):
    """The documents that a retriever returned for one query.

    Attributes:
        ranking: ids and scores, each document once.
        left_out: the number of documents that were repeated or have no name.
        seconds: how long the query took; None if it is not known.
        parents: {field: its values in the first documents}, for fields that may hold the document
            that a chunk is a part of; empty for an answer that was saved before.
        outputs: {output of the pipeline: the number of documents that it had}, for each output of
            documents that ran; empty if they are not known.
        part: (documents written, documents of the corpus), if the store has a part of a corpus.
        stages: {stage: the ids of its documents} of the stages that ran; None if they were not
            kept, or are not known.
        times: {component: (seconds of its run, seconds beside it, number of runs)}.
        texts: the generated answers, best first; None if they were not kept.
        texts_from: the output that they are from.
    """

    ranking: Ranking
    left_out: int
    seconds: float | None
    parents: Mapping[str, frozenset[str]] = {}
    outputs: Mapping[str, int] = {}
    part: tuple[int, int] | None = None
    stages: Mapping[str, Sequence[str]] | None = None
    times: Mapping[str, tuple[float, float, int]] = {}
    texts: Sequence[str] | None = None
    texts_from: str = ""


class QueryCall(Protocol):
    """A retriever that answers one query at a time; hosts are subclasses.

    Attributes:
        label: what messages call the retriever, such as "the pipeline".
        if_empty: what to do if no document was retrieved, for the warning.
        if_chunks: the keyword that names the field with the document that a chunk is a part of, for
            the warning that the ids of documents differ.
        may_vary: whether the same query may get another ranking each time, as with a language
            model.
        collapse: the field with the document that a chunk is a part of; None for no such field.
    """

    label: str = "the retriever"
    if_empty: str = (
        "the retriever returned none, or none that has the field of document_comparison_field="
    )
    if_chunks: str = "document_comparison_field"
    may_vary: bool = False
    collapse: str | None = None

    def made_by(self) -> Origin:
        """Return what makes the answers; saved answers must be of an equal origin."""
        ...

    def look_ahead(self, qrels: Qrels) -> Sequence[RetrievalProblem]:  # noqa: ARG002 - of hosts
        """Return what the retriever cannot find, before any query is run."""
        return ()

    def check(self) -> None:
        """Raise SettingError if the retriever cannot find anything."""
        return

    def start(self, concurrency: int) -> AnswerFunction:
        """Load what the first query needs, and return the function that answers a query.

        A function that is not a coroutine function runs in threads if several queries run at a
        time, or if there is a time limit.

        Raises:
            SettingError: the retriever cannot answer so many queries at a time.
        """
        ...


@dataclass(frozen=True)
class QueryRunner:
    """Runs a retriever for many queries.

    Attributes:
        call: the retriever.
        queries: {query_id: text}.
        stop_on_error: whether the first failure is raised; otherwise failures are collected.
        on_answer: called with (query_id, answer) after each query that did not fail.
        advance: called after each query.
        timeout: the seconds after which an attempt fails; None for no limit.
        retries: how often an attempt that failed is repeated, after 1, 2, 4, … seconds.
        failures: {query_id: reason}, filled by ``run``.
        repeated_queries: the query of each attempt that failed and was repeated, filled by ``run``.
    """

    call: QueryCall
    queries: Mapping[str, str]
    stop_on_error: bool
    on_answer: Callable[[str, Answer], None]
    advance: Callable[[], Any]
    timeout: float | None = None
    retries: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    repeated_queries: list[str] = field(default_factory=list)

    def run(self, concurrency: int) -> None:
        """Answer every query, at most ``concurrency`` queries at a time.

        Raises:
            RetrievalError: a query failed, with ``stop_on_error``.
            SettingError: the retriever cannot answer several queries at a time.
        """
        answer = self.call.start(concurrency)
        is_async = inspect.iscoroutinefunction(answer)
        if concurrency == 1 and not is_async and self.timeout is None and not self.retries:
            self._run_sequentially(cast("Callable[[str, str], Answer]", answer))
            return
        answer_async = (
            cast("Callable[[str, str], Awaitable[Answer]]", answer)
            if is_async
            else _in_threads(cast("Callable[[str, str], Answer]", answer))
        )
        try:
            _run_in_event_loop(self._run_concurrently(answer_async, concurrency))
        except ExceptionGroup as group:
            raise group.exceptions[0] from group.exceptions[0].__cause__

    def _run_sequentially(self, answer_query: Callable[[str, str], Answer]) -> None:
        for query_id, text in self.queries.items():
            answer = None
            with self._handle_failure(query_id):
                answer = answer_query(query_id, text)
            self._report(query_id, answer)

    async def _run_concurrently(
        self, answer_query: Callable[[str, str], Awaitable[Answer]], concurrency: int
    ) -> None:
        pending = iter(self.queries.items())

        async def run_pending() -> None:
            for query_id, text in pending:
                answer = None
                with self._handle_failure(query_id):
                    answer = await self._attempt(answer_query, query_id, text)
                self._report(query_id, answer)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self.queries))):
                group.create_task(run_pending())

    async def _attempt(
        self, answer_query: Callable[[str, str], Awaitable[Answer]], query_id: str, text: str
    ) -> Answer:
        """Answer a query; repeat attempts that fail, as often as ``retries`` allows.

        An error of this package is not repeated: it says that the answer has the wrong shape.
        """
        wait_seconds = FIRST_WAIT_SECONDS
        for _ in range(self.retries):
            try:
                return await self._answer_in_time(answer_query, query_id, text)
            except BeirEvalError:
                raise
            except Exception:  # noqa: BLE001 - whatever the retriever raises
                self.repeated_queries.append(query_id)
                await asyncio.sleep(wait_seconds)
                wait_seconds = min(2 * wait_seconds, _LONGEST_WAIT_SECONDS)
        return await self._answer_in_time(answer_query, query_id, text)

    async def _answer_in_time(
        self, answer_query: Callable[[str, str], Awaitable[Answer]], query_id: str, text: str
    ) -> Answer:
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return await answer_query(query_id, text)
        except TimeoutError as error:
            if not limit.expired():
                raise
            msg = f"no answer within {self.timeout:g} seconds"
            raise TimeoutError(msg) from error

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
                msg = (
                    f"{self.call.label} failed for query {shown(query_id)} ({shown(text)}): "
                    f"{reason}"
                )
                raise RetrievalError(msg) from error
            self.failures[query_id] = reason

    def _report(self, query_id: str, answer: Answer | None) -> None:
        if answer is not None:
            self.on_answer(query_id, answer)
        self.advance()


def _in_threads(
    answer_query: Callable[[str, str], Answer],
) -> Callable[[str, str], Coroutine[Any, Any, Answer]]:
    """Return a coroutine function that calls a function in a thread of its own.

    A thread cannot be ended. One that takes too long is left behind; as a daemon it does not keep
    the program from ending.
    """

    async def answer_in_thread(query_id: str, text: str) -> Answer:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()

        def finish(answer: Answer | None, error: BaseException | None) -> None:
            if future.done():  # the query has run out of time
                return
            if error is None:
                future.set_result(cast("Answer", answer))
            else:
                future.set_exception(error)

        def run() -> None:
            answer: Answer | None = None
            error: BaseException | None = None
            try:
                answer = answer_query(query_id, text)
            except StopIteration as stop:  # a future does not take it
                error = RuntimeError(f"the retriever raised {stop!r}")
            except BaseException as other:  # noqa: BLE001 - raised again where it is awaited
                error = other
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(finish, answer, error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), daemon=True).start()
        return await future

    return answer_in_thread


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
    interrupted = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = []

    async def record_and_run() -> None:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        if interrupted.is_set():
            coroutine.close()
        else:
            await coroutine

    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(contextvars.copy_context().run, asyncio.run, record_and_run()).result()
        except BaseException:
            # An interrupt of this thread, at any moment since the other one was started: the task
            # there is cancelled, or does not begin.
            interrupted.set()
            for loop, task in running:
                with suppress(RuntimeError):  # the loop is closed
                    if task is not None:
                        loop.call_soon_threadsafe(task.cancel)
            raise
