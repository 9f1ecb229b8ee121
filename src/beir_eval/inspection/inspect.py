"""``Inspector``: what looks for mistakes in a run, each only if there is a symptom of it.

A symptom is an unusual number of an evaluation, which says that a search is worth its time. It is
computed from the relevance matrix and a first look at some rankings, in a few calls of numpy. It is
no finding: weak systems have some too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.ranking_sample import Sampler
from beir_eval.inspection.confused_inputs import judgements_as_run, swapped_inputs
from beir_eval.inspection.finding import (
    LEAST_DOCUMENTS,
    LEAST_LONG,
    LEAST_QUERIES,
    LEAST_RANKINGS,
    LEAST_SHARE,
    MOST_RANKINGS,
    TOP,
    Finding,
    without,
)
from beir_eval.inspection.judgements import (
    findings_of_labels,
    findings_of_qrels,
    grades_look_like_scores,
    inverted_grades,
    is_deep_pool,
    lowest_grade_counts,
)
from beir_eval.inspection.rankings import other_queries, rankings_without_judged, same_ranking
from beir_eval.inspection.scores import findings_of_scores
from beir_eval.inspection.spellings import IdForms
from beir_eval.inspection.unmatched_ids import (
    find_unmatched_ids,
    rounded_ids,
    shifted_ids,
    spellings,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.ranking_sample import RankingSample, StatedRanking
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Counted
    from beir_eval.measures import Measure

#: The ids of the run are read only if fewer queries than this share retrieve a judged document.
_FEW_MATCHED = 0.2
#: If so many queries find nothing relevant in their first ten documents, or of a deep pool so few
#: of these documents are judged, ids or queries may be other ones.
_MOST_FAILED, _FEW_JUDGED = 0.85, 0.5
#: Of so few queries, this share that fails is looked at.
_FEW_QUERIES, _MANY_FAILED = 60, 0.15
#: How much longer than the longest row of failures that chance makes one is; in units of the
#: spread of that length.
_LONGER = 3.0
#: The share of judged documents in rankings that have the score of another document.
_MANY_TIED = 0.25
#: At how many ids of the qrels it is looked how they are written, and at one of how many that were
#: seen of the run.
_MOST_IDS, _STEP = 80, 4


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
        step = max(1, len(qrels.doc_ids) // _MOST_IDS)
        self._judged_ids = IdForms.from_ids(qrels.doc_ids[::step])
        self._of_qrels = tuple(findings_of_qrels(qrels, measures))

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
        counted: Counted,
        sampler: Sampler,
        settings: EvaluationSettings,
        *,
        search_ids: bool,
    ) -> tuple[Finding, ...]:
        """Return all that looks like a mistake.

        Args:
            run: the run.
            matrix: the relevance matrix of all judged queries and the run.
            counted: what was counted.
            sampler: what was looked at while the run was read.
            settings: how the run is evaluated; with ``order="given"`` scores are not looked at.
            search_ids: whether ids are searched for other spellings; contents are not.
        """
        qrels, by_score = self._qrels, settings.order == "score"
        unmatched: tuple[Finding, ...] = ()
        if has_few_matched(counted):
            unmatched = tuple(
                find_unmatched_ids(qrels, run, matrix, counted, search_ids=search_ids)
            )
        if self._may_be_swapped and (swapped := tuple(swapped_inputs(qrels, run))):
            return (*unmatched, *swapped)
        # A run that is slow to read is searched whatever it looks like: that costs little more.
        sample = sampler.sample(is_first_look=not run.is_slow_to_read)
        seen = Symptoms()
        if not run.is_slow_to_read:
            seen = self._symptoms(matrix, counted, sample, by_score=by_score)
            if seen.need_sample or unmatched:
                sample = sampler.sample()
                # Of what repeats, a first look may see one ranking only.
                seen = seen._replace(same_first=seen.same_first or seen.few_found)
        findings: Iterable[Finding] = ()
        if not unmatched:
            findings = findings_of_run(
                qrels,
                run,
                matrix,
                sample,
                seen,
                stated_ranks=run.stated_ranks,
                by_score=by_score,
                search_ids=search_ids,
            )
        elif search_ids:
            findings = (*rounded_ids(qrels, sample), *shifted_ids(qrels, sample))
        return (*unmatched, *self._of_qrels, *findings)

    def _symptoms(
        self, matrix: RelevanceMatrix, counted: Counted, look: RankingSample, *, by_score: bool
    ) -> Symptoms:
        """Return the symptoms of an evaluation, from a first look at the run."""
        qrels, num_retrieved = self._qrels, matrix.num_retrieved
        num_judged = matrix.count(matrix.cells.row)
        num_full = np.count_nonzero((num_retrieved > 0) & (num_judged == num_retrieved))
        is_long = (num_retrieved >= TOP) & (qrels.num_judged >= TOP)
        least_full = max(LEAST_RANKINGS, LEAST_SHARE * counted.queries_ranked)
        firsts = [tuple(look.doc_ids[documents]) for documents in look.slices()]
        firsts = [doc_ids for doc_ids in firsts if len(doc_ids) == TOP]
        forms = IdForms.from_ids(look.doc_ids[::_STEP])
        ranks = relative_ranks(matrix)
        ranks = ranks[~np.isnan(ranks)]
        are_wrong = len(ranks) >= LEAST_QUERIES and float(ranks.mean()) > MOST_RANKINGS
        may_be_grades = False
        if by_score and look.scores is not None:
            are_tied = counted.tied_documents > _MANY_TIED * counted.documents_judged
            are_wrong = are_wrong or are_tied or _some_rise(look.scores, look.starts)
            is_grade = (look.scores == np.floor(look.scores)) & (look.scores <= qrels.max_grade)
            may_be_grades = bool(is_grade.any())
        return Symptoms(
            without_judged=bool((num_judged[is_long] == 0).any()),
            few_found=_few_found(qrels, matrix),
            same_first=len(set(firsts)) < len(firsts),
            judged_only=may_be_grades and bool(num_full >= least_full),
            other_ids=self._judged_ids.differ(forms),
            rounded_ids=forms.are_floats or self._judged_ids.are_floats,
            scores=are_wrong,
        )


class Symptoms(NamedTuple):
    """What is unusual in an evaluation; by default all, so that everything is looked for.

    Attributes:
        without_judged: a ranking holds no judged document, and many are judged for its query.
        few_found: hardly any ranking begins with what fits its query, or neighbours do not.
        same_first: a ranking begins with the documents of another one.
        judged_only: rankings hold judged documents only, with scores that may be grades.
        other_ids: ids are written in ways that the other side does not have.
        rounded_ids: ids may be numbers that lost digits as floats.
        scores: scores rise or are equal, or relevant documents are in the second half.
    """

    without_judged: bool = True
    few_found: bool = True
    same_first: bool = True
    judged_only: bool = True
    other_ids: bool = True
    rounded_ids: bool = True
    scores: bool = True

    @property
    def need_sample(self) -> bool:
        """Whether more rankings must be read; the first two are of what the matrix shows."""
        return any(self[1:])


def has_few_matched(counted: Counted) -> bool:
    """Return whether so few queries retrieve a judged document that the ids must be compared.

    Of fewer than six queries it is not known: the sign-flip test cannot decide with so few, and so
    few may well match nothing.
    """
    few = _FEW_MATCHED * counted.queries_ranked
    return counted.queries_judged >= LEAST_QUERIES and counted.queries_matched < few


def _few_found(qrels: Qrels, matrix: RelevanceMatrix) -> bool:
    """Return whether hardly any ranking begins with what fits its query, or neighbours do not."""
    is_ranked = matrix.num_retrieved > 0
    num_ranked = int(np.count_nonzero(is_ranked))
    if num_ranked < LEAST_QUERIES:
        return False
    has_failed = matrix.num_relevant_upto(TOP)[is_ranked] == 0
    if is_deep_pool(qrels):
        top = matrix.cells.upto(TOP)
        if len(top.row) < _FEW_JUDGED * np.minimum(matrix.num_retrieved, TOP).sum():
            return True
        has_failed |= matrix.count(top.row)[is_ranked] < _FEW_JUDGED * TOP / 2
    fits = np.flatnonzero(~has_failed)
    num_failed = num_ranked - len(fits)
    if num_failed >= _MOST_FAILED * num_ranked:
        return True
    if num_failed < LEAST_RANKINGS:
        return False
    if num_ranked <= _FEW_QUERIES:
        return num_failed >= _MANY_FAILED * num_ranked
    gaps = (fits[1:] - fits[:-1]).max(initial=0)
    longest = int(max(fits[0] + 1, gaps, num_ranked - fits[-1])) - 1
    spread = -1 / math.log(num_failed / num_ranked)
    return longest >= LEAST_RANKINGS and longest > spread * (math.log(len(fits)) + _LONGER)


def _some_rise(scores: Floats, starts: Ints) -> bool:
    """Return whether a ranking of three documents or more begins with scores that never fall.

    Args:
        scores: the scores of rankings, f8[N].
        starts: where each ranking begins, and the end of the last, i8[S+1].
    """
    first, last = starts[:-1], starts[1:] - 1
    is_long = last - first >= LEAST_DOCUMENTS - 1
    num_falls = np.concatenate(([0], (scores[1:] < scores[:-1]).cumsum()))
    return bool((num_falls[last[is_long]] == num_falls[first[is_long]]).any())


def relative_ranks(matrix: RelevanceMatrix) -> Floats:
    """Return the mean relative rank of the relevant documents of each query, f8[Q].

    0 is the first place and 1 the last; NaN without a relevant document, or with fewer than five
    retrieved ones.

    Args:
        matrix: the relevance matrix of qrels and run.
    """
    means = matrix.mean_relative_ranks(matrix.relevant())
    return np.where(matrix.num_retrieved >= LEAST_LONG, means, np.nan)


def findings_of_run(  # noqa: PLR0913 - both sides, and how they are looked at
    qrels: Qrels,
    run: Run,
    matrix: RelevanceMatrix,
    sample: RankingSample,
    seen: Symptoms,
    *,
    stated_ranks: Sequence[StatedRanking],
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
        stated_ranks: the ranks that lines of its file state.
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
            of_scores = tuple(
                findings_of_scores(sample, stated_ranks, ranks, is_thorough=is_thorough)
            )
        # Scores in the order of labels have ties, and wrong scores make right grades look wrong.
        if is_thorough or not labels:
            yield from of_scores
        # Negatives that were chosen because systems rank them first are fewer than those of a pool.
        if is_thorough or (is_deep_pool(qrels) and not of_scores):
            yield from inverted_grades(qrels, matrix)
            yield from lowest_grade_counts(qrels, matrix)
        if seen.other_ids and search_ids and not is_thorough:
            yield from spellings(qrels, sample)
    yield from as_run
    if search_ids and seen.rounded_ids:
        yield from rounded_ids(qrels, sample)
    if search_ids and seen.few_found:
        yield from shifted_ids(qrels, sample)
    of_others = tuple(other_queries(qrels, run, matrix, sample)) if seen.few_found else ()
    yield from of_others
    if seen.without_judged and not of_others:
        yield from rankings_without_judged(qrels, matrix)
    if seen.same_first:
        yield from same_ranking(qrels, sample)
