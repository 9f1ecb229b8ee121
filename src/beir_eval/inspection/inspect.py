"""``Inspector``: what looks for mistakes in a run, each only if there is a symptom of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.core.ranking_sample import Sampler
from beir_eval.inspection.document_ids import rounded_ids, shifted_ids, spellings
from beir_eval.inspection.finding import Finding, without
from beir_eval.inspection.judgements import findings_of_qrels
from beir_eval.inspection.labels import findings_of_labels
from beir_eval.inspection.rankings import (
    findings_of_grades,
    judgements_as_run,
    other_queries,
    rankings_without_judged,
    same_ranking,
)
from beir_eval.inspection.scores import findings_of_scores, relative_ranks
from beir_eval.inspection.swapped_inputs import grades_look_like_scores, swapped_inputs
from beir_eval.inspection.symptoms import Symptoms, forms_of_qrels, symptoms_of
from beir_eval.inspection.unmatched_ids import find_unmatched_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Ints
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.core.run import Run
    from beir_eval.inspection.unmatched_ids import MatchCounts
    from beir_eval.measures import Measure


class Inspector:
    """Looks for mistakes in runs on one qrels, whose own findings are found once."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure]) -> None:
        """Look at the judgements.

        Args:
            qrels: the judgements.
            measures: the measures that are computed.
        """
        self._qrels = qrels
        self._may_be_swapped = grades_look_like_scores(qrels)
        self._judged_ids = forms_of_qrels(qrels)
        self._of_qrels = findings_of_qrels(qrels, measures)

    def ignore(self, *codes: str) -> None:
        """Report no finding of these codes about the judgements."""
        self._of_qrels = without(self._of_qrels, *codes)

    def sampler(self, run: Run) -> Sampler | None:
        """Return what looks at rankings while a run is read."""
        if run.text_counts is not None:  # the ids are those of characters or spans
            return None
        return Sampler(len(self._qrels), reads_later=not run.is_slow_to_read)

    def inspect(  # noqa: PLR0913 - what is known of a run
        self,
        run: Run,
        matrix: RelevanceMatrix,
        sampler: Sampler,
        settings: EvaluationSettings,
        *,
        counts: MatchCounts,
        tied: Ints,
        search_ids: bool,
    ) -> tuple[Finding, ...]:
        """Return all that looks like a mistake.

        Args:
            run: the run.
            matrix: the relevance matrix of all judged queries and the run.
            sampler: what was looked at while the run was read.
            settings: how the run is evaluated; with ``order="given"`` scores are not looked at.
            counts: how many queries retrieve a judged document.
            tied: the number of judged documents with the score of another one, of each query,
                i8[Q].
            search_ids: whether ids are searched for other spellings; contents are not.
        """
        qrels = self._qrels
        unmatched = tuple(find_unmatched_ids(qrels, run, matrix, counts, search_ids=search_ids))
        if self._may_be_swapped and (swapped := tuple(swapped_inputs(qrels, run))):
            return (*unmatched, *swapped)
        # A run that is slow to read is searched whatever it looks like: that costs little more.
        sample = sampler.sample(run.stated_ranks, is_first_look=not run.is_slow_to_read)
        by_score, seen = settings.order == "score", Symptoms()
        if not run.is_slow_to_read:
            seen = symptoms_of(qrels, matrix, sample, tied, self._judged_ids, by_score=by_score)
            if any(seen) or unmatched:
                sample = sampler.sample(run.stated_ranks)
                # Of what repeats, a first look may see one ranking only.
                seen = seen._replace(same_first=True)
        findings: Iterable[Finding] = ()
        if not unmatched:
            findings = findings_of_run(
                qrels, run, matrix, sample, seen, by_score=by_score, search_ids=search_ids
            )
        elif search_ids:
            findings = (*rounded_ids(qrels, sample), *shifted_ids(qrels, sample))
        return (*unmatched, *self._of_qrels, *findings)


def findings_of_run(  # noqa: PLR0913 - both sides, and how they are looked at
    qrels: Qrels,
    run: Run,
    matrix: RelevanceMatrix,
    sample: RankingSample,
    seen: Symptoms,
    *,
    by_score: bool = True,
    search_ids: bool = True,
    is_thorough: bool = False,
) -> Iterator[Finding]:
    """Yield what looks like a mistake in rankings of a run.

    Args:
        qrels: the judgements.
        run: the run.
        matrix: the relevance matrix of all judged queries and the run.
        sample: rankings of the run.
        seen: the symptoms; without one, what it is of is not looked for.
        by_score: whether scores rank.
        search_ids: whether ids are searched for other spellings.
        is_thorough: whether these are all rankings, of which what few show is reported too, and
            whose ids are compared elsewhere, each with each.
    """
    as_run = tuple(judgements_as_run(qrels, sample)) if seen.judged_only else ()
    if is_thorough or not as_run:
        labels = tuple(findings_of_labels(qrels, matrix))
        yield from labels
        of_scores: Sequence[Finding] = ()
        if seen.scores and (sample.scores is None or by_score):
            ranks = relative_ranks(matrix)
            of_scores = tuple(findings_of_scores(sample, ranks, is_thorough=is_thorough))
        # Scores in the order of labels have ties, and wrong scores make right grades look wrong.
        if is_thorough or not labels:
            yield from of_scores
        if is_thorough or not of_scores:
            yield from findings_of_grades(qrels, matrix, is_shallow_too=is_thorough)
        if seen.other_ids and search_ids and not is_thorough:
            yield from spellings(qrels, sample)
    yield from as_run
    if search_ids and (seen.few_found or seen.rounded_ids):
        yield from rounded_ids(qrels, sample)
    if search_ids and seen.few_found:
        yield from shifted_ids(qrels, sample)
    of_others = tuple(other_queries(qrels, run, sample)) if seen.few_found else ()
    yield from of_others or rankings_without_judged(qrels, matrix)
    if seen.same_first:
        yield from same_ranking(qrels, sample)
