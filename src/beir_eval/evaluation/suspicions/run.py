"""Signs of mistakes in a run: its scores, ids and rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.evaluation.suspicions.ids import rounded_ids, shifted_ids, spellings
from beir_eval.evaluation.suspicions.rankings import (
    judgements_as_run,
    other_queries,
    rankings_without_judged,
    relative_ranks,
    relevant_last,
    same_ranking,
    suspicions_of_grades,
)
from beir_eval.evaluation.suspicions.scores import suspicions_of_scores
from beir_eval.evaluation.suspicions.suspicion import LEAST_DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.evaluation.suspicions.suspicion import Suspicion


def suspicions_of_run(  # noqa: PLR0913 - both sides, and how they are looked at
    qrels: Qrels,
    matrix: RelevanceMatrix,
    sample: RankingSample,
    settings: EvaluationSettings,
    *,
    ids_match: bool,
    search_ids: bool = True,
) -> tuple[Suspicion, ...]:
    """Return what looks like a mistake in a run.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
        sample: rankings of the run.
        settings: how the run is evaluated; with ``order="given"`` scores are not looked at.
        ids_match: whether nothing shows that the document ids are other ones; if something does,
            only ids are looked at.
        search_ids: whether ids are searched for other spellings; contents are not.
    """
    if not ids_match:
        return (*rounded_ids(qrels, sample), *shifted_ids(qrels, sample)) if search_ids else ()
    about_rankings = tuple(suspicions_of_rankings(qrels, matrix, sample, search_ids=search_ids))
    if any(suspicion.code == "judgements-as-run" for suspicion in about_rankings):
        return about_rankings
    about_scores: Iterable[Suspicion] = ()
    if sample.scores is None and len(set(sample.doc_ids)) >= LEAST_DIFFERENT:
        about_scores = relevant_last(relative_ranks(matrix), is_thorough=False, has_scores=False)
    elif sample.scores is not None and settings.order == "score":
        about_scores = suspicions_of_scores(sample, relative_ranks(matrix))
    return (
        *about_scores,
        *suspicions_of_grades(qrels, matrix),
        *(spellings(qrels, sample) if search_ids else ()),
        *about_rankings,
    )


def suspicions_of_rankings(
    qrels: Qrels, matrix: RelevanceMatrix, sample: RankingSample, *, search_ids: bool = True
) -> Iterator[Suspicion]:
    """Yield what looks like a mistake in the documents of rankings, whatever their scores.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
        sample: rankings of a run.
        search_ids: whether ids are searched for other spellings.
    """
    yield from judgements_as_run(qrels, sample)
    if search_ids:
        yield from rounded_ids(qrels, sample)
        yield from shifted_ids(qrels, sample)
    of_others = tuple(other_queries(qrels, sample))
    yield from of_others or rankings_without_judged(qrels, matrix)
    yield from same_ranking(qrels, sample)
