"""Running a retriever for all queries of a data set, whose answers become a ``Run``.

A ``QueryRunner`` answers the queries, sequentially, in an event loop, or in threads;
``retrieve_all`` saves their answers in a journal, or reuses those that are there.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from beir_eval.core.ids import distinct_ids
from beir_eval.core.progress import progress_bar
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.errors import (
    BeirEvalError,
    InputError,
    RetrievalError,
    RunError,
    SettingError,
    check_choice,
    check_count,
    check_flag,
    first_few,
    shown,
    warn_caller,
)
from beir_eval.evaluation.coverage import versions_text
from beir_eval.evaluation.records import Retrieval, Reused
from beir_eval.inspection.finding import Finding
from beir_eval.integrations.retrieval.documents import run_from_rankings, without_parent
from beir_eval.integrations.retrieval.journal import FRESH, Journal

if TYPE_CHECKING:
    from collections.abc import (
        Awaitable,
        Callable,
        Coroutine,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.integrations.retrieval.documents import Answer, Ranking
    from beir_eval.integrations.retrieval.journal import SavedAnswer
    from beir_eval.integrations.retrieval.origin import Origin

    #: Takes (query_id, text) and returns the answer, at once or as a coroutine function.
    AnswerFunction = Callable[[str, str], "Answer"] | Callable[[str, str], Awaitable["Answer"]]

#: The number of characters of an error message that are kept.
_MAX_REASON_LENGTH = 500
#: The seconds between a failure and the second attempt; they double with every further attempt.
FIRST_WAIT_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 30.0
ON_ERROR_CHOICES = ("stop", "missing")
#: How many queries with saved answers are run again.
DEFAULT_CHECKED = 3
#: Scores are equal if they differ by less than this share.
_SCORE_TOLERANCE = 1e-6


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

    def look_ahead(self, qrels: Qrels) -> Sequence[Finding]:  # noqa: ARG002 - of hosts
        """Return what the retriever cannot find, before any query is run."""
        return ()

    def look_back(self, qrels: Qrels, run: Run) -> Sequence[Finding]:  # noqa: ARG002 - of hosts
        """Return what looks wrong in all rankings."""
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


@dataclass(frozen=True, kw_only=True)
class RunnerSettings:
    """How the queries are run.

    Attributes:
        concurrency: how many queries run at a time.
        timeout: the seconds after which an attempt fails; None for no limit.
        retries: how often an attempt that failed is repeated.
        on_error: "stop" raises the first failure; "missing" leaves queries that fail out.
        save_run: the file to write the run to, beside the journal; None for none.
        fresh: whether the answers of an earlier call with the same ``save_run`` are replaced,
            instead of being reused.
        check_saved: how many queries with reused answers are run again, to compare their rankings;
            0 for none.
        rankings_vary: whether the same query may get another ranking each time; then no query is
            run again to compare.
        progress: whether to show a progress bar, on a terminal or in a notebook.
        is_enough: returns whether a saved answer has all that is asked for; if not, the query is
            answered again.

    Raises:
        SettingError: a setting has no such value.
    """

    concurrency: int = 1
    timeout: float | None = None
    retries: int = 0
    on_error: str = "stop"
    save_run: str | Path | None = None
    fresh: bool = False
    check_saved: int = DEFAULT_CHECKED
    rankings_vary: bool = False
    progress: bool = False
    is_enough: Callable[[Answer], bool] = lambda _answer: True

    def __post_init__(self) -> None:
        """Check the values."""
        check_count("concurrency", self.concurrency)
        check_count("retries", self.retries, least=0)
        check_count("check_saved", self.check_saved, least=0)
        check_flag("fresh", self.fresh)
        check_choice("on_error", self.on_error, ON_ERROR_CHOICES)
        if self.fresh and self.save_run is None:
            msg = f"{FRESH} replaces the saved answers of save_run, which is not set; leave it out"
            raise SettingError(msg)
        timeout = self.timeout
        if timeout is None:
            return
        if isinstance(timeout, bool) or not is_finite_number(timeout) or not 0 < timeout < math.inf:
            msg = f"timeout must be a number of seconds above 0, or None, not {shown(timeout)}"
            raise SettingError(msg)


class Retrieved(NamedTuple):
    """The rankings of all queries, and how they were made.

    Attributes:
        run: the run.
        retrieval: times, failures, documents that were left out, and answers that were reused.
        answers: {query_id: its answer}, with the rankings of stages if these were kept.
    """

    run: Run
    retrieval: Retrieval
    answers: Mapping[str, Answer]

    @property
    def parents(self) -> dict[str, Mapping[str, frozenset[str]]]:
        """{query_id: {field: its values}}, of ``Answer.parents``."""
        return {query_id: answer.parents for query_id, answer in self.answers.items()}


def retrieve_all(
    call: QueryCall,
    queries: Mapping[str, str],
    settings: RunnerSettings,
) -> Retrieved:
    """Answer every query and return the run; only ids and scores are kept.

    Args:
        call: the retriever.
        queries: {query_id: text}.
        settings: how the queries are run.

    Raises:
        RetrievalError: a query failed, with ``on_error="stop"``.
        RunError: every query failed.
        SettingError: as ``QueryCall.check`` and ``Journal``; or a query whose answer was saved is
            ranked otherwise now.
        InputError, FileFormatError, OSError: as ``Journal``; or an id is neither text nor an
            integer, or is listed twice.
    """
    call.check()
    query_ids = distinct_ids(queries, "ids of queries", InputError)
    queries = dict(zip(query_ids, queries.values(), strict=True))
    if settings.save_run is None:
        return _retrieve(call, queries, settings, None)
    maker = call.label.removeprefix("the ")
    with Journal(settings.save_run, call.made_by(), maker, fresh=settings.fresh) as journal:
        return _retrieve(call, queries, settings, journal)


def _retrieve(
    call: QueryCall,
    queries: Mapping[str, str],
    settings: RunnerSettings,
    journal: Journal | None,
) -> Retrieved:
    saved = {} if journal is None else journal.answers_to(queries)
    saved = {
        query_id: entry for query_id, entry in saved.items() if settings.is_enough(entry.answer)
    }
    reused = None
    if journal is not None and saved:
        reused = _reused(call, queries, settings, journal, saved)
    answers = {query_id: entry.answer for query_id, entry in saved.items()}
    unanswered = {query_id: text for query_id, text in queries.items() if query_id not in answers}

    def save_answer(query_id: str, answer: Answer) -> None:
        if journal is not None:
            journal.add(query_id, queries[query_id], answer)
        answers[query_id] = answer

    with progress_bar(
        shown=settings.progress, total=len(queries), initial=len(answers), desc="queries"
    ) as advance:
        runner = QueryRunner(
            call,
            unanswered,
            settings.on_error == "stop",
            save_answer,
            advance,
            settings.timeout,
            settings.retries,
        )
        if unanswered:
            runner.run(settings.concurrency)
    if not answers:
        reasons = first_few(f"{query_id}: {reason}" for query_id, reason in runner.failures.items())
        msg = f"{call.label} failed for every query: {reasons}"
        raise RunError(msg)
    if journal is not None and (unanswered or journal.lacks_run):
        journal.write_run()
    ordered_answers = {query_id: answers[query_id] for query_id in queries if query_id in answers}
    rankings = {query_id: answer.ranking for query_id, answer in ordered_answers.items()}
    left_out = sum(answer.left_out for answer in ordered_answers.values())
    num_without_parent = sum(ranking.without_parent for ranking in rankings.values())
    num_documents = sum(len(ranking.doc_ids) for ranking in rankings.values()) + left_out
    for finding in without_parent(call.collapse, num_without_parent, num_documents):
        warn_caller(finding.sentence)
    chunks = sum(ranking.chunks for ranking in rankings.values())
    retrieval = Retrieval(
        seconds={
            query_id: answer.seconds
            for query_id, answer in ordered_answers.items()
            if answer.seconds is not None
        },
        failures=runner.failures,
        left_out=left_out,
        further_chunks=sum(ranking.further_chunks for ranking in rankings.values()),
        unnamed=sum(ranking.unnamed for ranking in rankings.values()),
        without_parent=num_without_parent,
        retries=len(runner.repeated_queries),
        chunks=chunks,
        collapse=call.collapse if call.collapse is not None and chunks else "",
        reused=() if reused is None else (reused,),
        findings=tuple(_findings(ordered_answers.values())),
    )
    return Retrieved(run_from_rankings(rankings), retrieval, ordered_answers)


# Saved answers


def _reused(
    call: QueryCall,
    queries: Mapping[str, str],
    settings: RunnerSettings,
    journal: Journal,
    saved: Mapping[str, SavedAnswer],
) -> Reused:
    """Return what is reused, after some of these queries have been run again.

    Raises:
        SettingError: a query is ranked otherwise now.
    """
    times = sorted(entry.at for entry in saved.values())
    reused = Reused(
        file=journal.path.name,
        answers=len(saved),
        queries=len(queries),
        first_saved=times[0],
        last_saved=times[-1],
        changed_versions=journal.changed_versions,
    )
    if settings.rankings_vary:
        return reused.model_copy(update={"not_checked": "the rankings vary from run to run"})
    query_ids = [query_id for query_id in queries if query_id in saved]
    num_checked = min(settings.check_saved, len(saved))
    spread = np.linspace(0, len(saved) - 1, num_checked).round().astype(np.int64).tolist()
    now: dict[str, Answer] = {}
    runner = QueryRunner(
        call,
        {query_ids[index]: queries[query_ids[index]] for index in spread},
        stop_on_error=False,
        on_answer=now.__setitem__,
        advance=lambda: None,
        timeout=settings.timeout,
        retries=settings.retries,
    )
    if num_checked:
        runner.run(settings.concurrency)
    differing = [
        query_id
        for query_id, answer in now.items()
        if not _are_alike(saved[query_id].answer.ranking, answer.ranking)
    ]
    if differing and not call.may_vary:
        changed = versions_text(journal.changed_versions)
        msg = (
            f"{journal.path}: {len(differing)} of {len(now)} queries that were run again are "
            f"ranked otherwise than when their answers were saved: {first_few(differing)}. "
            f"Something has changed that is not recorded in the file, such as documents, a model "
            f"or a service{f'; or one of these packages: {changed}' if changed else ''}. Evaluate "
            f"again with {FRESH}, which replaces the saved answers. If {call.label} does not "
            f"always rank alike, check_saved=0 reuses them without this check"
        )
        raise SettingError(msg)
    checks = {
        "checked": len(now),
        "differing": len(differing),
        "not_checked": "; ".join(dict.fromkeys(runner.failures.values())),
    }
    return reused.model_copy(update=checks)


def _are_alike(saved: Ranking, now: Ranking) -> bool:
    """Return whether two rankings have the same documents in the same order, with equal scores."""
    if saved.doc_ids != now.doc_ids or (saved.scores is None) != (now.scores is None):
        return False
    return np.allclose(saved.scores or (), now.scores or (), rtol=_SCORE_TOLERANCE, atol=1e-12)


def _findings(answers: Iterable[Answer]) -> Iterator[Finding]:
    """Yield the outputs that had no document for any query, and that a store has a part."""
    sizes: dict[str, list[int]] = {}
    parts: set[tuple[int, int]] = set()
    for answer in answers:
        for output, size in answer.outputs.items():
            sizes.setdefault(output, []).append(size)
        if answer.part is not None:
            parts.add(answer.part)
    for output, by_query in sizes.items():
        if not any(by_query) and len(by_query) > 1:  # one query alone may well find nothing
            yield Finding.from_code(
                "silent-output",
                f"{output} returned no document for any of {len(by_query):,} queries",
                count=len(by_query),
                total=len(by_query),
            )
    yield from map(part_of_corpus, sorted(parts))


def part_of_corpus(part: tuple[int, int]) -> Finding:
    """Return that a store has a part of a corpus.

    Args:
        part: (documents written, documents of the corpus); 0 if that is not known.
    """
    written, total = part
    of_all = f"{written:,} of the {total:,} documents of the corpus"
    if not total:
        of_all = f"the first {written:,} of more documents"
    return Finding.from_code(
        "part-of-corpus",
        f"the store has {of_all}: scores are higher than with all of them",
        count=written,
        total=total or None,
    )
