"""Whether qrels and run were confused: swapped, or one of them made from the other."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import RunError
from beir_eval.inspection.finding import (
    LEAST_QUERIES,
    LEAST_RANKINGS,
    LEAST_SHARE,
    Finding,
)
from beir_eval.inspection.judgements import DIFFERENT_SHARE, are_many_levels, are_usual_grades

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.run import Run

#: A run whose scores have at most this many different numbers may be qrels.
_MOST_GRADES = 5
#: How many scores per query there are for each grade, at least: more if the grades do not repeat.
_TIMES_MORE, _TIMES_MORE_WITHOUT_TIES = 0.5, 2
#: How many rankings are examined.
_MOST_RANKINGS = 1_000


def swapped_inputs(qrels: Qrels, run: Run) -> Iterator[Finding]:
    """Yield the finding that qrels and run are swapped, if the scores are grades.

    These are few different, small, whole numbers. If the grades may be usual ones too, scores must
    also repeat within rankings, and have at most twice as many entries per query, or have at most
    half as many.

    Args:
        qrels: judgements whose grades look like scores.
        run: the run; at most 1,000 rankings are read.
    """
    try:
        rankings = [scores for _, _, scores in islice(run.rankings(), _MOST_RANKINGS)]
    except RunError:  # of a query that is not evaluated
        return
    known = [scores for scores in rankings if scores is not None]
    if len(known) < len(rankings) or not sum(map(len, known)):
        return
    scores = np.concatenate(known)
    if not are_usual_grades(scores) or len(np.unique(scores)) > _MOST_GRADES:
        return
    num_different = sum(len(np.unique(ranking)) for ranking in known)
    do_repeat = num_different < DIFFERENT_SHARE * len(scores)
    least = _TIMES_MORE if do_repeat else _TIMES_MORE_WITHOUT_TIES
    times_more = len(qrels.grades) / len(qrels) / (len(scores) / len(rankings))
    if are_many_levels(qrels.grades) or times_more >= least:
        lowest, highest = float(qrels.grades.min()), float(qrels.grades.max())
        yield Finding.from_code(
            "swapped-files",
            f"the qrels look like a run (grades from {lowest:.6g} to {highest:.6g}), and the run "
            "looks like qrels (few different scores, small whole numbers)",
            count=1,
        )


def judgements_as_run(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if rankings consist of judged documents, with their grades as scores."""
    if sample.scores is None:
        return
    num_equal = num_rankings = 0
    documents_of_grades: set[str] = set()
    for row, documents in zip(sample.rows.tolist(), sample.slices(), strict=True):
        if row >= 0 and documents.start < documents.stop:
            num_rankings += 1
            scores = sample.scores[documents]
            # Mostly settled here: scores are rarely whole numbers as low as grades.
            if scores[0] == np.floor(scores[0]) <= qrels.max_grade:
                graded = qrels.grades_of_row(row)
                doc_ids = sample.doc_ids[documents]
                if list(map(graded.get, doc_ids)) == scores.tolist():
                    num_equal += 1
                    documents_of_grades.update(doc_ids)
    if (
        num_equal >= max(LEAST_RANKINGS, LEAST_SHARE * num_rankings)
        and len(documents_of_grades) >= LEAST_QUERIES
    ):
        yield Finding.from_code(
            "judgements-as-run",
            f"{num_equal:,} of {num_rankings:,} rankings looked at consist of judged documents "
            "only, with their grades as scores: the run looks like the judgements",
            count=num_equal,
            total=num_rankings,
        )
