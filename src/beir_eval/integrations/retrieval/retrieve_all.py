"""All queries of a data set, answered by a retriever, as a ``Run``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.ids import distinct_ids
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.display.progress import progress_bar
from beir_eval.errors import (
    InputError,
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
from beir_eval.evaluation.records import Retrieval, RetrievalProblem, Reused
from beir_eval.integrations.retrieval.documents import run_from_rankings, without_parent_message
from beir_eval.integrations.retrieval.journal import FRESH, Journal
from beir_eval.integrations.retrieval.query_runner import QueryRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from beir_eval.core.run import Run
    from beir_eval.integrations.retrieval.documents import Ranking
    from beir_eval.integrations.retrieval.journal import SavedAnswer
    from beir_eval.integrations.retrieval.query_runner import Answer, QueryCall

ON_ERROR_CHOICES = ("stop", "missing")
#: How many queries with saved answers are run again.
DEFAULT_CHECKED = 3
#: Scores are equal if they differ by less than this share.
_SCORE_TOLERANCE = 1e-6


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
    without_parent = sum(ranking.without_parent for ranking in rankings.values())
    num_documents = sum(len(ranking.doc_ids) for ranking in rankings.values()) + left_out
    problem = without_parent_message(call.collapse, without_parent, num_documents)
    if problem is not None:
        warn_caller(problem)
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
        without_parent=without_parent,
        retries=len(runner.repeated_queries),
        chunks=chunks,
        collapse=call.collapse if call.collapse is not None and chunks else "",
        reused=() if reused is None else (reused,),
        problems=tuple(_problems(ordered_answers.values())),
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


def _problems(answers: Iterable[Answer]) -> Iterator[RetrievalProblem]:
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
            sentence = f"{output} returned no document for any of {len(by_query):,} queries"
            yield RetrievalProblem(kind="silent", sentence=sentence)
    for written, total in sorted(parts):
        yield RetrievalProblem(kind="part", sentence=part_sentence((written, total)))


def part_sentence(part: tuple[int, int]) -> str:
    """Return that a store has a part of a corpus.

    Args:
        part: (documents written, documents of the corpus); 0 if that is not known.
    """
    written, total = part
    of_all = f"{written:,} of the {total:,} documents of the corpus"
    if not total:
        of_all = f"the first {written:,} of more documents"
    return (
        f"the store has {of_all}: scores are higher than with all of them; compare only retrievers "
        "on the same part"
    )
