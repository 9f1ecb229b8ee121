"""Checks of runs: their scores, and their ids against those of the qrels."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from beir_eval.core.ids import repeated_ids
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.ranking_sample import RankingSample, StatedRanks
from beir_eval.core.relevance_matrix import relate
from beir_eval.errors import number_of, shown
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.inspection.confused_inputs import swapped_inputs
from beir_eval.inspection.finding import Finding
from beir_eval.inspection.inspect import Symptoms, findings_of_run
from beir_eval.inspection.judgements import grades_look_like_scores
from beir_eval.inspection.spellings import IdMatcher
from beir_eval.inspection.unmatched_ids import (
    UNMATCHED,
    check_spellings,
    nearly_equal,
    reason_of_query_ids,
)
from beir_eval.measures import DEFAULT_MEASURES
from beir_eval.validation.qrels_checks import check_encodings, check_header, of_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from beir_eval.core.qrels import Qrels
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
    run = system.run
    yield from check_header(((query_id, doc_ids) for query_id, doc_ids, _ in run.rankings()))
    documents = (doc_ids for _, doc_ids, _ in run.rankings())
    num_ids = len(run) + system.num_documents
    yield from check_encodings(chain([run.query_ids], documents), num_ids, system.bad_lines)
    if grades_look_like_scores(qrels):
        yield from swapped_inputs(qrels, run)
    sample = RankingSample.of_run(run, qrels, StatedRanks.of_lines(system.ranks()))
    yield from _check_matches(system, qrels, sample)
    matrix, _ = relate(qrels, run, EvaluationSettings(duplicates="keep"))
    yield from findings_of_run(qrels, run, matrix, sample, Symptoms(), is_thorough=True)
    depth = max((len(doc_ids) for _, doc_ids, _ in run.rankings()), default=0)
    yield from _check_depth(depth, measures)


def _check_matches(system: RunInput, qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield findings about the queries and documents that run and qrels share."""
    run = system.run
    rows = qrels.find_rows(run.query_ids)
    if (rows < 0).all():
        reason = reason_of_query_ids(qrels.query_ids, run)
        yield Finding.from_code(
            "query-ids-do-not-match",
            f"none of the {len(qrels):,} judged queries is in the run",
            reason=reason,
            count=len(qrels),
            total=len(qrels),
            examples=[
                f"the qrels judge {shown(qrels.query_ids[0])}",
                *(f"the run has {shown(query_id)}" for query_id in run.query_ids[:1]),
            ],
        )
        return
    # The cheapest measure, and scores that float32 would make equal: only the counts are read.
    evaluator = Evaluator(qrels, ["num_ret"], ties="trec_eval10", duplicates="keep")
    counted = evaluate_without_warning(evaluator, run).counted
    if counted is None:
        return
    absent = [*counted.queries_missing, *counted.queries_empty]
    fact = f"of {len(qrels):,} judged queries have no document in the run"
    yield from of_ids("judged-queries-missing", absent, fact, len(qrels))
    not_judged = [
        query_id for query_id, row in zip(run.query_ids, rows.tolist(), strict=True) if row < 0
    ]
    fact = f"of {len(run):,} queries of the run are not judged"
    yield from of_ids("queries-not-judged", not_judged, fact, len(run))
    pairs = IdMatcher(counted.queries_missing).pairs(not_judged)
    yield from check_spellings("query", "the run", pairs)
    yield from _check_documents(system, qrels, counted, sample)


def _check_documents(
    system: RunInput, qrels: Qrels, counted: Counted, sample: RankingSample
) -> Iterator[Finding]:
    """Yield findings about the documents of judged queries."""
    num_documents = counted.documents_retrieved
    unmatched = [finding for finding in counted.findings if finding.code == UNMATCHED]
    yield from unmatched
    if not unmatched:
        pairs = nearly_equal(qrels, sample, is_thorough=True)
        yield from check_spellings("document", "the run", pairs)
    if counted.duplicates:
        yield Finding.from_code(
            "repeated-documents",
            f"{counted.duplicates:,} of {num_documents:,} entries repeat a document of their "
            "ranking",
            count=counted.duplicates,
            total=num_documents,
            examples=_repeated(system, qrels),
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


def _repeated(system: RunInput, qrels: Qrels) -> Iterator[str]:
    """Yield examples of documents that are listed more than once."""
    judged = set(qrels.query_ids)
    for query_id, doc_ids, _ in system.run.rankings():
        if query_id in judged and len(set(doc_ids)) < len(doc_ids):
            yield f"{shown(repeated_ids(doc_ids)[0])} for query {shown(query_id)}"


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
