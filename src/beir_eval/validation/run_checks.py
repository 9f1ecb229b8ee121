"""Checks of runs: their scores, and their ids against those of the qrels."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from beir_eval.core.ids import repeated_ids
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.ranking_sample import RankingSample, stated_rankings
from beir_eval.core.relevance_matrix import relate
from beir_eval.errors import number_of, shown
from beir_eval.evaluation.query_scores import QueryCounts
from beir_eval.inspection.confused_inputs import swapped_inputs
from beir_eval.inspection.finding import Finding
from beir_eval.inspection.inspect import Symptoms, findings_of_run, has_few_matched
from beir_eval.inspection.judgements import grades_look_like_scores
from beir_eval.inspection.spellings import IdMatcher
from beir_eval.inspection.unmatched_ids import (
    check_spellings,
    find_unmatched_ids,
    reason_of_query_ids,
    spellings,
)
from beir_eval.measures import DEFAULT_MEASURES
from beir_eval.validation.qrels_checks import check_encodings, check_header, of_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Counted
    from beir_eval.measures import Measure
    from beir_eval.validation.inputs import RunInput

#: The share of rankings with their query's id that is reported; fewer are equal by chance.
_IDENTICAL_SHARE = 0.05


def check_run(system: RunInput, qrels: Qrels, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield the findings about one run.

    Args:
        system: the run, as it was read.
        qrels: the judgements.
        measures: the measures for which it is meant; the largest cutoff matters.

    Raises:
        RunError: a ranking is not valid.
    """
    run, sample = system.run, RankingSample.of_run(system.run, qrels)
    rankings = [sample.doc_ids[documents] for documents in sample.slices()]
    yield from check_header(zip(run.query_ids, rankings, strict=True))
    yield from check_encodings(
        [run.query_ids, sample.doc_ids], len(run) + len(sample.doc_ids), system.bad_lines
    )
    if grades_look_like_scores(qrels):
        yield from swapped_inputs(qrels, run)
    settings = EvaluationSettings(duplicates="keep")
    matrix, summary = relate(qrels, run, settings)
    if summary.missing.all():
        yield Finding.from_code(
            "query-ids-do-not-match",
            f"none of the {len(qrels):,} judged queries is in the run",
            reason=reason_of_query_ids(qrels.query_ids, run),
            count=len(qrels),
            total=len(qrels),
            examples=[
                f"the qrels judge {shown(qrels.query_ids[0])}",
                *(f"the run has {shown(query_id)}" for query_id in run.query_ids[:1]),
            ],
        )
    else:
        counted = QueryCounts.of_matrix(matrix, summary, qrels).counted(settings, {})
        yield from _check_queries(run, qrels, counted)
        if has_few_matched(counted) and run.text_counts is None:
            unmatched = tuple(find_unmatched_ids(qrels, run, matrix, counted, search_ids=True))
        else:
            unmatched = ()
        yield from unmatched
        if not unmatched:
            yield from spellings(qrels, sample, is_thorough=True)
        yield from _check_documents(qrels, counted, sample)
    ranks = stated_rankings(system.ranks())
    yield from findings_of_run(
        qrels, run, matrix, sample, Symptoms(), stated_ranks=ranks, is_thorough=True
    )
    yield from _check_depth(max(map(len, rankings), default=0), measures)


def _check_queries(run: Run, qrels: Qrels, counted: Counted) -> Iterator[Finding]:
    """Yield findings about the queries that run and qrels share."""
    absent = [*counted.queries_missing, *counted.queries_empty]
    fact = f"of {len(qrels):,} judged queries have no document in the run"
    yield from of_ids("judged-queries-missing", absent, fact, len(qrels))
    not_judged = list(compress(run.query_ids, qrels.find_rows(run.query_ids) < 0))
    fact = f"of {len(run):,} queries of the run are not judged"
    yield from of_ids("queries-not-judged", not_judged, fact, len(run))
    pairs = IdMatcher(counted.queries_missing).pairs(not_judged)
    yield from check_spellings("query", "the run", pairs)


def _check_documents(qrels: Qrels, counted: Counted, sample: RankingSample) -> Iterator[Finding]:
    """Yield findings about the documents of judged queries."""
    if counted.duplicates:
        num_documents = counted.documents_retrieved
        yield Finding.from_code(
            "repeated-documents",
            f"{counted.duplicates:,} of {num_documents:,} entries list a document again in the "
            "same ranking",
            count=counted.duplicates,
            total=num_documents,
            examples=_repeated(qrels, sample),
        )
    num_ranked = counted.queries_ranked
    if counted.identical_ids and counted.identical_ids >= _IDENTICAL_SHARE * num_ranked:
        yield Finding.from_code(
            "identical-ids",
            f"{counted.identical_ids:,} of {num_ranked:,} rankings contain the document with the "
            "id of their query",
            count=counted.identical_ids,
            total=num_ranked,
        )


def _repeated(qrels: Qrels, sample: RankingSample) -> Iterator[str]:
    """Yield examples of documents that are listed more than once."""
    for row, documents in zip(sample.rows.tolist(), sample.slices(), strict=True):
        if row >= 0 and (repeated := repeated_ids(sample.doc_ids[documents])):
            yield f"{shown(repeated[0])} for query {shown(qrels.query_ids[row])}"


def _check_depth(depth: int, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield "shallow-rankings" if no ranking reaches the largest cutoff.

    The default measures have a deep one, which ``evaluate`` leaves out or marks itself.
    """
    if measures is DEFAULT_MEASURES:
        return
    deepest = max(measures, key=lambda measure: measure.cutoff or 0)
    cutoff = deepest.cutoff or 0
    if 0 < depth < cutoff:
        yield Finding.from_code(
            "shallow-rankings",
            f"the longest ranking has {number_of(depth, 'document')}, fewer than the cutoff of "
            f"{deepest}",
            count=depth,
            total=cutoff,
        )
