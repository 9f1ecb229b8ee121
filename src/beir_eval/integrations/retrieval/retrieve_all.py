"""All queries of a data set, answered by a retriever, as a ``Run``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.core.ids import distinct_ids
from beir_eval.core.run_sources.score_checks import is_finite_number
from beir_eval.display.progress import progress_bar
from beir_eval.errors import (
    InputError,
    RunError,
    SettingError,
    check_choice,
    check_count,
    first_few,
    shown,
    warn_caller,
)
from beir_eval.evaluation.records import Retrieval
from beir_eval.integrations.retrieval.documents import run_from_rankings, without_parent_message
from beir_eval.integrations.retrieval.journal import Journal
from beir_eval.integrations.retrieval.query_runner import QueryRunner

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from beir_eval.core.run import Run
    from beir_eval.integrations.retrieval.query_runner import Answer, QueryCall

ON_ERROR_CHOICES = ("stop", "missing")


@dataclass(frozen=True, kw_only=True)
class RunnerSettings:
    """How the queries are run.

    Attributes:
        concurrency: how many queries run at a time.
        timeout: the seconds after which an attempt fails; None for no limit.
        retries: how often an attempt that failed is repeated.
        on_error: "stop" raises the first failure; "missing" leaves queries that fail out.
        save_run: the file to write the run to, beside the journal; None for none.
        progress: whether to show a progress bar, on a terminal or in a notebook.

    Raises:
        SettingError: a setting has no such value.
    """

    concurrency: int = 1
    timeout: float | None = None
    retries: int = 0
    on_error: str = "stop"
    save_run: str | Path | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        check_count("concurrency", self.concurrency)
        check_count("retries", self.retries, least=0)
        check_choice("on_error", self.on_error, ON_ERROR_CHOICES)
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
        retrieval: times, failures, and documents that were left out.
        has_chunks: whether documents say which document they are a chunk of.
    """

    run: Run
    retrieval: Retrieval
    has_chunks: bool


def retrieve_all(
    call: QueryCall,
    queries: Mapping[str, str],
    made_by: Mapping[str, str],
    settings: RunnerSettings,
    *,
    collapse: str | None = None,
) -> Retrieved:
    """Answer every query and return the run; only ids and scores are kept.

    Args:
        call: the retriever.
        queries: {query_id: text}.
        made_by: what identifies the retriever; saved answers must be of an equal one.
        settings: how the queries are run.
        collapse: the field with the document that a chunk is a part of; None for no such field.

    Raises:
        RetrievalError: a query failed, with ``on_error="stop"``.
        RunError: every query failed.
        InputError, SettingError, FileFormatError, OSError: as ``Journal``; or an id is neither text
            nor an integer, or is listed twice.
    """
    query_ids = distinct_ids(queries, "ids of queries", InputError)
    queries = dict(zip(query_ids, queries.values(), strict=True))
    if settings.save_run is None:
        return _retrieve(call, queries, settings, None, collapse)
    with Journal(settings.save_run, made_by, call.label.removeprefix("the ")) as journal:
        return _retrieve(call, queries, settings, journal, collapse)


def _retrieve(
    call: QueryCall,
    queries: Mapping[str, str],
    settings: RunnerSettings,
    journal: Journal | None,
    collapse: str | None,
) -> Retrieved:
    answers = {} if journal is None else journal.answers_to(queries)
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
    unnamed = sum(ranking.unnamed for ranking in rankings.values())
    without_parent = sum(ranking.without_parent for ranking in rankings.values())
    num_documents = sum(len(ranking.doc_ids) for ranking in rankings.values()) + left_out
    problem = without_parent_message(collapse, without_parent, num_documents)
    if problem is not None:
        warn_caller(problem)
    retrieval = Retrieval(
        seconds={
            query_id: answer.seconds
            for query_id, answer in ordered_answers.items()
            if answer.seconds is not None
        },
        failures=runner.failures,
        left_out=left_out,
        further_chunks=0 if collapse is None else left_out - unnamed,
        unnamed=unnamed,
        without_parent=without_parent,
        retries=len(runner.repeated_queries),
    )
    has_chunks = any(answer.has_chunks for answer in ordered_answers.values())
    return Retrieved(run_from_rankings(rankings), retrieval, has_chunks)
