"""What was counted, in sentences a person reads under a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from beir_eval.errors import some
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Counted, Retrieval
    from beir_eval.evaluation.result import EvaluationResult


def notes_on(result: EvaluationResult) -> list[str]:
    """Return the notes on one result; what did not occur is not mentioned."""
    counted, settings = result.counted, result.settings
    return [
        *_on_queries(counted, settings),
        *([] if result.retrieval is None else _on_retrieval(result.retrieval)),
        *_on_documents(counted, settings),
        *_on_measures(counted, settings, result.num_scored),
    ]


def _on_retrieval(retrieval: Retrieval) -> Iterator[str]:
    if failed := retrieval.failures:
        reasons = "; ".join(f"{query}: {text}" for query, text in list(failed.items())[:3])
        yield f"{_count(len(failed), 'query')} failed and count as missing ({reasons})"
    if retrieval.left_out:
        entries = _count(retrieval.left_out, "retrieved document")
        yield f"{entries} left out, which the ranking holds already or which have no name"
    if retrieval.seconds:
        timed = _count(len(retrieval.seconds), "query")
        middle, slow = _seconds(retrieval.p50), _seconds(retrieval.p95)
        yield f"time per query: median {middle}, 95th percentile {slow} (of {timed})"


def _seconds(value: float) -> str:
    """Return a duration as a person reads it.

    >>> _seconds(0.01234), _seconds(2.5)
    ('12.3 ms', '2.50 s')
    """
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.3g} ms"


def _on_queries(counted: Counted, settings: EvaluationSettings) -> Iterator[str]:
    judged = counted.queries_judged
    if missing := counted.queries_missing:
        retrieved = counted.queries_retrieved
        over = (
            f"means over the {retrieved} that it has (missing='skip')"
            if settings.missing == "skip"
            else f"they count as empty rankings in the means over all {judged} (missing='zero')"
        )
        yield f"{len(missing)} of {judged} judged queries missing from the run: {over}"
    else:
        yield f"{_count(judged, 'judged query')}, all of them in the run"
    if empty := counted.queries_empty:
        yield f"{_count(len(empty), 'query')} with an empty ranking: {some(empty)}"
    if without := counted.queries_without_relevant:
        skip = settings.no_relevant == "skip"
        effect = "left out of means that need one" if skip else "counted as undefined, mostly 0"
        queries = _count(len(without), "query")
        yield f"{queries} with no grade above 0 ({effect}): {some(without)}"
    if extra := counted.queries_not_judged:
        yield f"{_count(extra, 'query')} of the run not judged: without effect"
    if unjudged := counted.queries_without_judgements:
        yield f"{_count(unjudged, 'query')} of the qrels with no judgement: left out"


def _on_documents(counted: Counted, settings: EvaluationSettings) -> Iterator[str]:
    if counted.duplicates:
        effect = {
            "first": "only the best-ranked copy counts and the ranking closes up",
            "keep": "later copies gain nothing and ranks stay",
        }[settings.duplicates]
        entries = _count(counted.duplicates, "entry")
        yield f"{entries} of a document that its ranking holds already: {effect}"
    if counted.duplicates_checked == "judged":
        yield "only judged documents were looked at for duplicates"
    if counted.identical_ids:
        effect = "dropped" if settings.drop_identical_ids else "kept"
        yield f"{_count(counted.identical_ids, 'document')} with the id of the query ({effect})"
    if counted.tied_documents:
        yield (
            f"{_count(counted.tied_documents, 'judged document')} of "
            f"{_count(counted.tied_queries, 'query')} with the score of another entry: "
            f"ties='{settings.ties}' orders them"
        )
    if counted.negative_judgements:
        yield f"{_count(counted.negative_judgements, 'negative grade')}: pooled but unjudged"
    if counted.repeated_judgements:
        repeated = _count(counted.repeated_judgements, "repeated judgement")
        yield f"{repeated} in the qrels, counted once"
    shares = [
        f"{share:.1%} of the top {k}"
        for k, share in counted.judged_share.items()
        if not math.isnan(share)
    ]
    if shares:
        yield f"share of retrieved documents that are judged: {', '.join(shares)}"


def _on_measures(
    counted: Counted, settings: EvaluationSettings, num_scored: Mapping[str, int]
) -> Iterator[str]:
    deepest = counted.deepest_ranking
    if any((parse(name).cutoff or 0) > deepest for name in num_scored):
        yield f"* the cutoff is beyond the deepest ranking, of {_count(deepest, 'document')}"
    skipped = len(counted.queries_missing) if settings.missing == "skip" else 0
    evaluated = counted.queries_judged - skipped
    partly = [name for name, scored in num_scored.items() if scored < evaluated]
    if partly:
        counts = ", ".join(f"{name} over {num_scored[name]}" for name in partly)
        yield f"undefined for some queries, which its mean leaves out: {counts}"


def _count(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> _count(1, "query"), _count(2, "query"), _count(0, "document")
    ('1 query', '2 queries', '0 documents')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("y") else f"{number} {what}s"
