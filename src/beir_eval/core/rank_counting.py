"""Ranks without sorting: counts of higher and equal scores, and the order within ties.

The scores of a ranking are compared with those of its judged documents ("hits"), many rankings at
a time. A ranking with many judged documents is sorted instead, if that is cheaper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    Mask,
    concatenate_ranges,
    equal_ranges,
    position_in_row,
    starts_from_lengths,
)
from beir_eval.core.number_lookup import (
    align_targets,
    count_by_row,
    split_by_row,
    split_one_per_row,
)

if TYPE_CHECKING:
    from beir_eval.core.run_sources.base import Scores

# Estimated costs in nanoseconds, for the choice between comparing and sorting: of comparing one
# score, of sorting one score, and of sorting one ranking. They affect speed only.
_COMPARE_SCORE_NS, _SORT_SCORE_NS, _SORT_RANKING_NS = 2, 20, 10_000


def count_higher_and_equal(
    scores: Scores, starts: Ints, row: Ints, score: Scores, position: Ints | None
) -> tuple[Ints, Ints]:
    """Return for each hit how many scores of its ranking are higher, and how many are equal.

    Args:
        scores: the scores of R rankings, f8[N] or f4[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking of each hit, never decreasing, i8[H].
        score: the score of each hit, which occurs in its ranking, of the type of ``scores``. [H]
        position: the position of each hit in ``scores``, i8[H]; None if it is not known.

    Returns:
        i8[H], i8[H]. A hit's own score counts as equal, so the second number is at least 1.
    """
    if position is None or not _are_descending(scores, starts):
        return _count_unsorted(scores, starts, row, score)
    # All rankings are sorted already, as in most runs: only tied scores must be counted.
    above = position - starts[row]
    equal = np.ones(len(above), dtype=np.int64)
    before = np.maximum(position - 1, starts[row])
    after = np.minimum(position + 1, starts[row + 1] - 1)
    is_tied = (before < position) & (scores[before] == score)
    is_tied |= (after > position) & (scores[after] == score)
    tied = np.flatnonzero(is_tied)
    if len(tied):
        above[tied], equal[tied] = _count_unsorted(scores, starts, row[tied], score[tied])
    return above, equal


def _are_descending(scores: Scores, starts: Ints) -> bool:
    """Return whether the scores of every ranking never increase."""
    descends = scores[1:] <= scores[:-1]
    inner = starts[(starts > 0) & (starts < len(scores))]
    descends[inner - 1] = True
    return bool(descends.all())


def _count_unsorted(scores: Scores, starts: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Return what ``count_higher_and_equal`` does, for rankings in any order."""
    above = np.zeros(len(row), dtype=np.int64)
    equal = np.zeros(len(row), dtype=np.int64)
    use_sorting = _is_sorting_cheaper(starts, row)
    for hits in split_one_per_row(row, np.flatnonzero(~use_sorting)):
        values, targets, begin = align_targets(scores, starts, row[hits], score[hits])
        above[hits] = count_by_row(values > targets, begin)
        equal[hits] = count_by_row(values == targets, begin)
    for hits in split_by_row(row, np.flatnonzero(use_sorting)):
        first, last = starts[row[hits[0]]], starts[row[hits[0]] + 1]
        ascending = np.sort(scores[first:last])
        # Looking up ascending scores takes a third of the time.
        hits = hits[np.argsort(score[hits])]  # noqa: PLW2901
        hit_scores = score[hits]
        not_above = np.searchsorted(ascending, hit_scores, side="right")
        above[hits] = len(ascending) - not_above
        equal[hits] = 1
        # For the lowest score the index may be -1, the highest score. The two are equal only if all
        # scores are, and then the count is right too.
        tied = ascending[not_above - 2] == hit_scores
        if tied.any():
            below = np.searchsorted(ascending, hit_scores[tied], side="left")
            equal[hits[tied]] = not_above[tied] - below
    return above, equal


def group_ties(tied: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Return the tied hits, tie after tie, and the number of each hit's tie: i8[T], i8[T].

    A tie consists of the documents of one ranking that have the same score.

    Args:
        tied: the indices of the tied hits, i8[T].
        row: the ranking of each hit, i8[H].
        score: the score of each hit. [H]
    """
    hits = tied[np.lexsort((score[tied], row[tied]))]
    row, score = row[hits], score[hits]
    is_new_tie = np.ones(len(hits), dtype=np.bool_)
    is_new_tie[1:] = (row[1:] != row[:-1]) | (score[1:] != score[:-1])
    return hits, np.cumsum(is_new_tie) - 1


def tied_positions(scores: Scores, starts: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Return the positions of the M documents of T ties, judged or not.

    Args:
        scores: the scores of R rankings, f8[N] or f4[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking of each tie, never decreasing, i8[T].
        score: the score of each tie. [T]

    Returns:
        The positions (0..N-1), tie after tie, ascending within a tie, i8[M]; where each tie begins
        in them, and the end of the last, i8[T+1].
    """
    position_parts: list[Ints] = []
    tie_parts: list[Ints] = []
    use_sorting = _is_sorting_cheaper(starts, row)
    for ties in split_one_per_row(row, np.flatnonzero(~use_sorting)):
        begin, end = starts[row[ties]], starts[row[ties] + 1]
        positions, lengths = concatenate_ranges(begin, end), end - begin
        is_tied = scores[positions] == np.repeat(score[ties], lengths)
        position_parts.append(positions[is_tied])
        tie_parts.append(np.repeat(ties, lengths)[is_tied])
    for ties in split_by_row(row, np.flatnonzero(use_sorting)):
        first, last = starts[row[ties[0]]], starts[row[ties[0]] + 1]
        ranking = scores[first:last]
        ascending = np.argsort(ranking, kind="stable")
        low = np.searchsorted(ranking, score[ties], side="left", sorter=ascending)
        high = np.searchsorted(ranking, score[ties], side="right", sorter=ascending)
        position_parts.append(first + ascending[concatenate_ranges(low, high)])
        tie_parts.append(np.repeat(ties, high - low))
    tie = np.concatenate(tie_parts)
    by_tie = np.argsort(tie, kind="stable")
    return (
        np.concatenate(position_parts)[by_tie],
        starts_from_lengths(np.bincount(tie, minlength=len(row))),
    )


def offsets_by_id(doc_ids: list[str], group: Ints, tied_ids: list[str], starts: Ints) -> Ints:
    """Return how many documents of its tie are ranked before each hit, by descending id: i8[H].

    Ids are compared by code point. That is the byte order of UTF-8, in which trec_eval's ``strcmp``
    compares them.

    Args:
        doc_ids: the id of each hit. [H]
        group: the tie of each hit, never decreasing, i8[H].
        tied_ids: the ids of all M documents of the T ties, tie after tie. [M]
        starts: where each tie begins in ``tied_ids``, and the end of the last, i8[T+1].
    """
    offsets = np.zeros(len(doc_ids), dtype=np.int64)
    bounds = starts.tolist()
    for begin, end in equal_ranges(group):
        tie = int(group[begin])
        descending = sorted(tied_ids[bounds[tie] : bounds[tie + 1]], reverse=True)
        # Reversed, so that a document that is listed twice gets the offset of its first copy.
        offset_of = dict(zip(reversed(descending), range(len(descending) - 1, -1, -1), strict=True))
        for hit in range(begin, end):
            offsets[hit] = offset_of[doc_ids[hit]]
    return offsets


def offsets_by_position(positions: Ints, group: Ints, members: Ints, starts: Ints) -> Ints:
    """Return how many documents of its tie are before each hit in the order given: i8[H].

    Args:
        positions: the position of each hit, i8[H].
        group: the tie of each hit, never decreasing, i8[H].
        members: the positions of all M documents of the T ties, tie after tie, ascending within a
            tie, i8[M].
        starts: where each tie begins in ``members``, and the end of the last, i8[T+1].
    """
    tie_of_member = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    stride = 1 + int(members.max())
    before = np.searchsorted(tie_of_member * stride + members, group * stride + positions)
    return np.asarray(before - starts[group], dtype=np.int64)


def offsets_by_grade(grades: Floats, group: Ints, equal: Ints) -> Ints:
    """Return how many documents of its tie are ranked before each hit, in the best possible order.

    That is: relevant documents by descending grade, then unjudged documents, then hits with a grade
    of 0 or below. These are last because bpref counts judged non-relevant documents against the
    relevant documents below them.

    Args:
        grades: the grade of each hit, f8[H].
        group: the tie of each hit, never decreasing, i8[H].
        equal: the size of each hit's tie, i8[H].

    Returns:
        i8[H]
    """
    best_first = np.lexsort((-grades, group))
    offset = np.empty(len(grades), dtype=np.int64)
    offset[best_first] = position_in_row(group[best_first])
    num_judged = np.bincount(group)[group]
    return np.where(grades > 0, offset, equal - (num_judged - offset))


def _is_sorting_cheaper(starts: Ints, row: Ints) -> Mask:
    """Return for which hits sorting their ranking is cheaper than comparing with it: bool[H].

    Args:
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking of each hit, i8[H].
    """
    length = np.diff(starts)[row]
    num_hits = np.bincount(row)[row]
    compare_cost = _COMPARE_SCORE_NS * num_hits * length
    return np.asarray(compare_cost > _SORT_RANKING_NS + _SORT_SCORE_NS * (length + num_hits))
