"""The arithmetic of ranks: counting higher scores, finding equal ones, placing them.

A ranking is compared with each of its judged documents, many rankings at a time, or sorted where
it holds so many judged documents that sorting is cheaper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.arrays import Floats, Ints, Mask, position_in_row, ranges, runs_of, starts_of
from beir_eval.core.run_sources.search import face, one_per_row, together

if TYPE_CHECKING:
    from beir_eval.core.run_sources.base import Scores

# Costs in nanoseconds that decide between comparing and sorting. Only speed depends on them.
_COMPARE_ONE, _SORT_ONE, _SORT_A_RANKING = 2, 20, 10_000


def count(
    scores: Scores, starts: Ints, row: Ints, score: Scores, position: Ints | None
) -> tuple[Ints, Ints]:
    """Return for each hit how many scores of its ranking are higher, and how many equal: i8[H].

    A hit's own score counts as equal, so the second number is at least 1.

    Args:
        scores: of R rankings, f8[N] or f4[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking of each hit, never decreasing, i8[H].
        score: the score of each hit, one of those of its ranking, [H].
        position: where each hit stands, i8[H]; None where that is not known.
    """
    if position is None or not _descend(scores, starts):
        return _count_all(scores, starts, row, score)
    # The ranking is sorted already, as most are: only what is tied must be counted.
    above = position - starts[row]
    equal = np.ones(len(above), dtype=np.int64)
    before = np.maximum(position - 1, starts[row])
    after = np.minimum(position + 1, starts[row + 1] - 1)
    is_tied = (before < position) & (scores[before] == score)
    is_tied |= (after > position) & (scores[after] == score)
    tied = np.flatnonzero(is_tied)
    if len(tied):
        above[tied], equal[tied] = _count_all(scores, starts, row[tied], score[tied])
    return above, equal


def _descend(scores: Scores, starts: Ints) -> bool:
    """Return whether no ranking has a score that is higher than the one before it."""
    descends = scores[1:] <= scores[:-1]
    inner = starts[(starts > 0) & (starts < len(scores))]
    descends[inner - 1] = True
    return bool(descends.all())


def _count_all(scores: Scores, starts: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Do what ``count`` does for rankings in any order."""
    above = np.zeros(len(row), dtype=np.int64)
    equal = np.zeros(len(row), dtype=np.int64)
    sorting = _worth_sorting(starts, row)
    for hits in one_per_row(row, np.flatnonzero(~sorting)):
        facing, target, begin = face(scores, starts, row[hits], score[hits])
        above[hits] = np.add.reduceat(facing > target, begin, dtype=np.int64)
        equal[hits] = np.add.reduceat(facing == target, begin, dtype=np.int64)
    for hits in together(row, np.flatnonzero(sorting)):
        first, last = starts[row[hits[0]]], starts[row[hits[0]] + 1]
        ascending = np.sort(scores[first:last])
        # In ascending order they are looked up in a third of the time.
        hits = hits[np.argsort(score[hits])]  # noqa: PLW2901
        wanted = score[hits]
        not_above = np.searchsorted(ascending, wanted, side="right")
        above[hits] = len(ascending) - not_above
        equal[hits] = 1
        tied = (not_above > 1) & (ascending[not_above - 2] == wanted)
        if tied.any():
            below = np.searchsorted(ascending, wanted[tied], side="left")
            equal[hits[tied]] = not_above[tied] - below
    return above, equal


def tie_groups(tied: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Return the tied hits, tie after tie, and the number of the tie of each: i8[T], i8[T].

    Args:
        tied: which hits are tied, i8[T].
        row: the ranking of each hit, i8[H].
        score: the score of each hit. [H]
    """
    hits = tied[np.lexsort((score[tied], row[tied]))]
    row, score = row[hits], score[hits]
    begins = np.ones(len(hits), dtype=np.bool_)
    begins[1:] = (row[1:] != row[:-1]) | (score[1:] != score[:-1])
    return hits, np.cumsum(begins) - 1


def tied_positions(scores: Scores, starts: Ints, row: Ints, score: Scores) -> tuple[Ints, Ints]:
    """Return the positions of all documents of each tie, and where each tie begins.

    Ties follow each other in the order given; positions ascend within a tie.

    Args:
        scores: of R rankings, f8[N] or f4[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking of each tie, never decreasing, i8[T].
        score: the score of each tie. [T]
    """
    found: list[Ints] = []
    owner: list[Ints] = []
    sorting = _worth_sorting(starts, row)
    for ties in one_per_row(row, np.flatnonzero(~sorting)):
        begin, end = starts[row[ties]], starts[row[ties] + 1]
        positions, lengths = ranges(begin, end), end - begin
        same = scores[positions] == np.repeat(score[ties], lengths)
        found.append(positions[same])
        owner.append(np.repeat(ties, lengths)[same])
    for ties in together(row, np.flatnonzero(sorting)):
        first, last = starts[row[ties[0]]], starts[row[ties[0]] + 1]
        ranking = scores[first:last]
        ascending = np.argsort(ranking, kind="stable")
        low = np.searchsorted(ranking, score[ties], side="left", sorter=ascending)
        high = np.searchsorted(ranking, score[ties], side="right", sorter=ascending)
        found.append(first + ascending[ranges(low, high)])
        owner.append(np.repeat(ties, high - low))
    owners = np.concatenate(owner)
    by_tie = np.argsort(owners, kind="stable")
    return (
        np.concatenate(found)[by_tie],
        starts_of(np.bincount(owners, minlength=len(row))),
    )


def places_by_id(doc_ids: list[str], group: Ints, tied_ids: list[str], starts: Ints) -> Ints:
    """Return each hit's 0-based place in its tie, ids descending.

    By code point, which is the byte order of UTF-8, as trec_eval's ``strcmp``.

    Args:
        doc_ids: the hits' ids. [H]
        group: the hits' ties, never decreasing, i8[H].
        tied_ids: the ids of all documents of the ties, tie after tie.
        starts: where each tie begins in ``tied_ids``.
    """
    places = np.zeros(len(doc_ids), dtype=np.int64)
    bounds = starts.tolist()
    for begin, end in runs_of(group):
        number = int(group[begin])
        descending = sorted(tied_ids[bounds[number] : bounds[number + 1]], reverse=True)
        # Read backwards, so that of a document that is kept twice the first copy counts.
        place_of = dict(zip(reversed(descending), range(len(descending) - 1, -1, -1), strict=True))
        for hit in range(begin, end):
            places[hit] = place_of[doc_ids[hit]]
    return places


def places_by_position(positions: Ints, group: Ints, members: Ints, starts: Ints) -> Ints:
    """Return each hit's 0-based place in its tie, in the order given."""
    tie_of_member = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    stride = 1 + int(members.max())
    before = np.searchsorted(tie_of_member * stride + members, group * stride + positions)
    return np.asarray(before - starts[group], dtype=np.int64)


def places_by_grade(grades: Floats, group: Ints, equal: Ints) -> Ints:
    """Return each hit's 0-based place in its tie, in the order that suits a measure best.

    Relevant documents first, by grade; then the unjudged ones; judged zeros last, because bpref
    counts them against what stands below.
    """
    best_first = np.lexsort((-grades, group))
    place = np.empty(len(grades), dtype=np.int64)
    place[best_first] = position_in_row(group[best_first])
    judged = np.bincount(group)[group]
    return np.where(grades > 0, place, equal - (judged - place))


def _worth_sorting(starts: Ints, row: Ints) -> Mask:
    """Return for which of these hits sorting their ranking costs less than comparing with it."""
    size = np.diff(starts)[row]
    in_row = np.bincount(row, minlength=1)[row] if len(row) else row
    comparing = _COMPARE_ONE * in_row * size
    return np.asarray(comparing > _SORT_A_RANKING + _SORT_ONE * (size + in_row))
