"""Where judged documents are ranked: signs of scores or grades that mean something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.evaluation.suspicions.judgements import SCALE, is_deep_pool
from beir_eval.evaluation.suspicions.suspicion import Suspicion
from beir_eval.evaluation.suspicions.thresholds import (
    LEAST_LONG,
    LEAST_QUERIES,
    STANDARD_ERRORS,
    TOP,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import RelevanceMatrix

#: The mean relative rank of relevant documents, from 0 to 1, above which they are ranked last.
_RANKED_LAST = 0.58
#: The standard deviation of a random number between 0 and 1.
_SPREAD_OF_RANDOM_RANK = 12**-0.5
#: By how much the mean relative ranks of two grades must differ.
_BEHIND = 0.1
#: Of few grades without 0 the lowest may mean not relevant if at least this share of the judgements
#: have it, and this share of the first ten documents is judged. Of 23 real runs on TREC's pools, it
#: is .90 or more; where only the relevant documents are listed, .86 or less.
_LOWEST_SHARE, _ALL_RELEVANT = 0.3, 0.88


def relative_ranks(matrix: RelevanceMatrix) -> Floats:
    """Return the mean relative rank of the relevant documents of each query, f8[Q].

    0 is the first place and 1 the last; NaN without a relevant document, or with fewer than five
    retrieved ones.

    Args:
        matrix: the relevance matrix of qrels and run.
    """
    means = _mean_relative_ranks(matrix, matrix.cells.grade > 0)
    is_long = matrix.num_retrieved >= LEAST_LONG
    return np.where(is_long, means, np.nan)


def _mean_relative_ranks(matrix: RelevanceMatrix, mask: Mask) -> Floats:
    """Return the mean relative rank of some cells of each query, f8[Q]; NaN for a query without.

    Args:
        matrix: the relevance matrix of qrels and run.
        mask: which cells, bool[C].
    """
    cells = matrix.cells.where(mask)
    relative = (cells.rank - 0.5) / matrix.num_retrieved[cells.row]
    counts = np.bincount(cells.row, minlength=matrix.num_queries)
    return np.where(counts > 0, matrix.sum(relative, cells.row) / np.maximum(counts, 1), np.nan)


def relevant_last(
    known_ranks: Floats, *, is_thorough: bool, has_scores: bool = True
) -> Iterator[Suspicion]:
    """Yield a suspicion if relevant documents tend to be the last of their rankings.

    Args:
        known_ranks: what ``relative_ranks`` returns.
        is_thorough: whether the spread of few queries is taken as it is.
        has_scores: whether scores rank; else ranks do, or the order of the documents.
    """
    known = known_ranks[~np.isnan(known_ranks)]
    if len(known) < LEAST_QUERIES:
        return
    # Of few queries the spread may be small by chance; that of a random rank is known.
    spread = max(float(known.std(ddof=1)), 0.0 if is_thorough else _SPREAD_OF_RANDOM_RANK)
    mean, error = float(known.mean()), spread / len(known) ** 0.5
    last, best = "have the lowest scores of their rankings", "higher scores are better"
    if not has_scores:
        last, best = "be the last of their rankings", "rank 1 is the best"
    if mean > _RANKED_LAST and mean - 0.5 > STANDARD_ERRORS * error:
        yield Suspicion(
            code="relevant-ranked-last",
            fact=(
                f"relevant documents tend to {last}: their mean rank is at {mean:.0%} of the "
                f"length of the ranking, and {best}"
            ),
            count=len(known),
            total=len(known_ranks),
        )


def suspicions_of_grades(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Suspicion]:
    """Yield suspicions of the scale of a deep pool: where it begins, and which end is the best.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of qrels and run.
    """
    if is_deep_pool(qrels):
        yield from _inverted(qrels, matrix)
        yield from _lowest_counts(qrels, matrix)


def _lowest_counts(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Suspicion]:
    """Yield a suspicion if most first documents count as relevant, many with the lowest grade.

    So it is with a scale that begins at 1. Of two or three grades often only the relevant documents
    are listed, but then no system finds that many.
    """
    lowest = qrels.grades.min()
    is_long = matrix.num_retrieved >= TOP
    if lowest < 1 or len(np.unique(qrels.grades)) > SCALE or is_long.sum() < LEAST_QUERIES:
        return
    count, total = int(np.count_nonzero(qrels.grades == lowest)), len(qrels.grades)
    cells = matrix.cells.upto(TOP)
    share = float(is_long[cells.row].sum()) / (TOP * int(is_long.sum()))
    if _LOWEST_SHARE * total <= count < total and share >= _ALL_RELEVANT:
        yield Suspicion(
            code="grades-without-zero",
            fact=(
                f"{share:.0%} of the top {TOP} count as relevant: no grade is 0, and {count:,} of "
                f"{total:,} are {lowest:g}"
            ),
            count=count,
            total=total,
        )


def _inverted(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Suspicion]:
    """Yield a suspicion if the lowest grade is ranked before the highest.

    The first documents of systems are judged, so that judged documents of low grades tend to be
    ranked late. Not so where other negatives were chosen; they are few.
    """
    grades = matrix.cells.grade
    distinct = np.unique(grades)
    if len(distinct) < SCALE:
        return
    low, high = (_mean_relative_ranks(matrix, grades == distinct[at]) for at in (0, -1))
    have_both = ~np.isnan(low) & ~np.isnan(high)
    if np.count_nonzero(have_both) < LEAST_QUERIES:
        return
    low, high = low[have_both], high[have_both]
    behind = high - low
    error = float(behind.std(ddof=1)) / len(behind) ** 0.5
    if behind.mean() > max(_BEHIND, STANDARD_ERRORS * error):
        yield Suspicion(
            code="inverted-grades",
            fact=(
                f"documents of grade {distinct[-1]:g} tend to be ranked behind those of grade "
                f"{distinct[0]:g}: their mean rank is at {high.mean():.0%} of the length of "
                f"the ranking, the others' at {low.mean():.0%}"
            ),
            count=len(behind),
            total=len(qrels),
        )
