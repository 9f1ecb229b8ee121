"""Signs that rankings were made from the judgements, or judgements from the rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.inspection.finding import LEAST_DOCUMENTS, LEAST_LONG, LEAST_QUERIES, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import RelevanceMatrix

#: The share of rankings that are in the order of their labels; of 65 real runs it is .13 at most.
_IN_ORDER = 0.9
#: The share of rankings that begin with all judged documents and no other; of 69 real runs it is 0.
_JUDGED_FIRST = 0.5


def findings_of_labels(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if rankings know the judgements, or the judgements a ranking.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
    """
    if judged_first := tuple(_judged_first(qrels, matrix)):
        yield from judged_first
    else:
        yield from _in_order_of_labels(matrix)


def _judged_first(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if rankings begin with exactly the judged documents, three or more."""
    num_judged = qrels.num_judged
    is_counted = (num_judged >= LEAST_DOCUMENTS) & (matrix.num_retrieved > num_judged)
    least = max(1, _JUDGED_FIRST * np.count_nonzero(is_counted))
    cells = matrix.cells
    # Mostly settled here: the first three documents of so many rankings are rarely all judged.
    if np.count_nonzero(cells.rank <= LEAST_DOCUMENTS) < LEAST_DOCUMENTS * least:
        return
    num_first = matrix.count(cells.row[cells.rank <= num_judged[cells.row]])
    count = int(np.count_nonzero(is_counted & (num_first == num_judged)))
    total = int(np.count_nonzero(is_counted))
    if total >= LEAST_QUERIES and count >= least:
        yield Finding.from_code(
            "judgements-of-this-run",
            f"{count:,} of {total:,} rankings begin with all judged documents and no other: the "
            "judgements seem to be made from this run",
            count=count,
            total=total,
        )


def _in_order_of_labels(matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if hardly any judged document is ranked below one of a lower grade.

    A ranking shows it if it holds five judged documents or more, of different grades.
    """
    row, steps = matrix.cells.row, np.diff(matrix.cells.grade)
    steps[row[1:] != row[:-1]] = 0
    is_rise = steps > 0
    # Settled here for nearly all runs.
    if np.count_nonzero(is_rise) > (1 - _IN_ORDER) * len(row):
        return
    num_rises, num_falls = matrix.count(row[1:][is_rise]), matrix.count(row[1:][steps < 0])
    shows = (matrix.count(row) >= LEAST_LONG) & (num_rises + num_falls > 0)
    count = int(np.count_nonzero(shows & (num_rises == 0)))
    total = int(np.count_nonzero(shows))
    if total >= LEAST_QUERIES and count >= _IN_ORDER * total:
        yield Finding.from_code(
            "sorted-by-labels",
            f"{count:,} of {total:,} rankings with judged documents of several grades are sorted "
            "by their labels",
            count=count,
            total=total,
        )
