"""Ranking and ties: from a block of scores to the ranks of its judged documents.

The rank of a document is 1 + the number of documents with a higher score + the number of equal
scores that the tie rule puts before it. ``rank_counting`` does the arithmetic; here are the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from beir_eval.core.arrays import Ints, Mask, position_in_row, runs_of, starts_of
from beir_eval.core.rank_counting import (
    count,
    places_by_grade,
    places_by_id,
    places_by_position,
    tie_groups,
    tied_positions,
)
from beir_eval.errors import DuplicateDocumentError, SettingError, check_choice, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock, Scores

#: The tie rules that need no judgements.
PLAIN_TIES = ("trec_eval", "trec_eval9", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """How runs are ranked and averaged: checked once, then passed on whole.

    Attributes:
        order: "score" (highest first) or "given" (the order of the run is the ranking).
        ties: how equal scores are ordered: "trec_eval" (document id descending, scores in double
            precision, as trec_eval 10), "trec_eval9" (the same with scores as float32, as
            trec_eval 9, pytrec_eval and BEIR), "input" (in the order given), "best" and "worst"
            (relevant documents first or last: the extremes that a tie rule can make).
        missing: a judged query that the run does not have counts as an empty ranking ("zero"), is
            left out ("skip", as BEIR and pytrec_eval do), or is an "error".
        no_relevant: a query with nothing relevant scores 0 ("zero", as trec_eval) or is left out of
            the mean ("skip").
        duplicates: a document that is listed twice in a ranking is an "error", only the "first"
            (best ranked) copy counts and the ranking closes up, or "keep": later copies gain
            nothing and ranks stay.
        drop_identical_ids: leave out documents whose id is that of the query.

    Raises:
        SettingError: a value that does not exist.
    """

    #: The values of each setting that has a few; the others are True or False.
    CHOICES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "order": ("score", "given"),
        "ties": (*PLAIN_TIES, "best", "worst"),
        "missing": ("zero", "skip", "error"),
        "no_relevant": ("zero", "skip"),
        "duplicates": ("error", "first", "keep"),
    }

    order: str = "score"
    ties: str = "trec_eval"
    missing: str = "zero"
    no_relevant: str = "zero"
    duplicates: str = "error"
    drop_identical_ids: bool = False

    def __post_init__(self) -> None:
        """Raise SettingError for a value that does not exist."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in self.CHOICES:
                check_choice(field.name, value, self.CHOICES[field.name])
            elif not isinstance(value, bool):
                msg = f"{field.name} must be True or False, not {value!r}"
                raise SettingError(msg)


def drop_documents(block: RankingBlock, qrels: Qrels, settings: EvaluationSettings) -> RankingBlock:
    """Return the block without the documents that the settings drop; the rankings close up.

    Of a document that is listed more than once, the best-ranked copy becomes the hit.

    Raises:
        DuplicateDocumentError: a document is listed twice and the settings call that an error.
    """
    if len(block.copy_group) and settings.duplicates == "error":
        _refuse_duplicates(block, qrels)
    spare = _spare_copies(block, settings)
    dropped = spare if settings.duplicates == "first" else spare[:0]
    if settings.drop_identical_ids:
        dropped = np.union1d(dropped, block.identical)
    kept = _best_copies(block, spare, settings) if len(spare) else block
    return _without(kept, dropped, qrels) if len(dropped) else kept


def rank_hits(block: RankingBlock, qrels: Qrels, settings: EvaluationSettings) -> tuple[Ints, Mask]:
    """Return the 1-based rank of each judged document of the block, and whether it is tied.

    ``block`` is what ``drop_documents`` returns. A document is tied if another one of its ranking
    has the same score.

    Returns:
        i8[H], bool[H]
    """
    scores, hit_score = block.scores, block.hit_score
    if scores is None or hit_score is None or settings.order == "given":
        rank = _hit_positions(block, qrels) - block.starts[block.hit_ranking] + 1
        return rank, np.zeros(len(rank), dtype=np.bool_)
    scores, hit_score = _compared(scores, settings.ties), _compared(hit_score, settings.ties)
    above, equal = count(scores, block.starts, block.hit_ranking, hit_score, block.hit_position)
    rank, is_tied = above + 1, equal > 1
    if not is_tied.any():
        return rank, is_tied
    hits, group = tie_groups(np.flatnonzero(is_tied), block.hit_ranking, hit_score)
    judgement = block.hit_judgement[hits]
    if settings.ties in ("best", "worst"):
        places = places_by_grade(qrels.grades[judgement], group, equal[hits])
        if settings.ties == "worst":
            places = equal[hits] - 1 - places
    else:
        of_each_tie = hits[np.flatnonzero(np.diff(group, prepend=-1))]
        row, score = block.hit_ranking[of_each_tie], hit_score[of_each_tie]
        members, starts = tied_positions(scores, block.starts, row, score)
        if settings.ties == "input":
            positions = _hit_positions(block, qrels)[hits]
            places = places_by_position(positions, group, members, starts)
        else:
            doc_ids = [qrels.doc_ids[index] for index in judgement.tolist()]
            places = places_by_id(doc_ids, group, block.ids_at(members), starts)
    rank[hits] += places
    return rank, is_tied


# Copies and identical ids


def _refuse_duplicates(block: RankingBlock, qrels: Qrels) -> None:
    first = block.copy_position[:1]
    row = int(np.searchsorted(block.starts, first[0], side="right")) - 1
    query_id = qrels.query_ids[int(block.rows[row])]
    in_row = block.copy_position < block.starts[row + 1]
    doc_ids = sorted(set(block.ids_at(block.copy_position[in_row])))
    msg = (
        f"documents stand more than once in a ranking: query {query_id!r} repeats {some(doc_ids)} "
        f"({block.num_spare_copies} repeated entries or more). Mend the run, or choose "
        "duplicates='first' (keep the best-ranked copy) or 'keep' (later copies take up ranks and "
        "gain nothing)"
    )
    raise DuplicateDocumentError(msg)


def _spare_copies(block: RankingBlock, settings: EvaluationSettings) -> Ints:
    """Return the positions of all copies but the best-ranked one of each document, sorted."""
    if not len(block.copy_group):
        return block.copy_group
    position, group = block.copy_position, block.copy_group
    if block.scores is None or settings.order == "given":
        best_first = np.lexsort((position, group))
    else:
        best_first = np.lexsort((position, -block.scores[position], group))
    is_spare = position_in_row(group[best_first]) > 0
    return np.sort(position[best_first][is_spare])


def _best_copies(block: RankingBlock, spare: Ints, settings: EvaluationSettings) -> RankingBlock:
    """Let each hit stand for the best-ranked copy of its document, instead of the first."""
    if block.scores is None or settings.order == "given" or block.hit_position is None:
        return block
    best = block.copy_position[~np.isin(block.copy_position, spare)]
    group_of = dict(zip(block.copy_position.tolist(), block.copy_group.tolist(), strict=True))
    best_of = {group_of[position]: position for position in best.tolist()}
    moved = [
        best_of[group_of[position]] if position in group_of else position
        for position in block.hit_position.tolist()
    ]
    hit_position = np.array(moved, dtype=np.int64)
    return replace(block, hit_position=hit_position, hit_score=block.scores[hit_position])


def _without(block: RankingBlock, dropped: Ints, qrels: Qrels) -> RankingBlock:
    """Return the block without the entries at these positions; the rankings close up."""
    kept = np.ones(int(block.starts[-1]), dtype=np.bool_)
    kept[dropped] = False
    kept_before, position_of_kept = starts_of(kept.astype(np.int64)), np.flatnonzero(kept)
    position = _hit_positions(block, qrels)
    stays = kept[position]
    scores, hit_score = block.scores, block.hit_score
    return replace(
        block,
        starts=kept_before[block.starts],
        scores=None if scores is None else scores[kept],
        ids_at=lambda positions: block.ids_at(position_of_kept[positions]),
        hit_ranking=block.hit_ranking[stays],
        hit_judgement=block.hit_judgement[stays],
        hit_score=None if hit_score is None else hit_score[stays],
        hit_position=kept_before[position[stays]],
    )


def _hit_positions(block: RankingBlock, qrels: Qrels) -> Ints:
    """Return the position of each judged document, looked up by id where only scores are known."""
    if block.hit_position is not None:
        return block.hit_position
    found = np.zeros(len(block.hit_ranking), dtype=np.int64)
    for begin, end in runs_of(block.hit_ranking):
        row = int(block.hit_ranking[begin])
        first = int(block.starts[row])
        positions = np.arange(first, block.starts[row + 1], dtype=np.int64)
        place_of = {doc_id: place for place, doc_id in enumerate(block.ids_at(positions), first)}
        for hit in range(begin, end):
            found[hit] = place_of[qrels.doc_ids[int(block.hit_judgement[hit])]]
    return found


def _compared(scores: Scores, ties: str) -> Scores:
    """Return the scores in the precision in which the tie rule compares them."""
    if ties != "trec_eval9" or scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):  # a C cast to float gives an infinity there too
        return scores.astype(np.float32)


# Whole rankings


def best_first(doc_ids: Sequence[str], scores: Scores, ties: str) -> list[int]:
    """Return the positions of the documents by score; equal scores by a tie rule without grades.

    Args:
        doc_ids: not looked at where ``ties`` is "input". [N]
        scores: f8[N] or f4[N].
        ties: one of ``PLAIN_TIES``.
    """
    positions = list(range(len(scores)))
    if ties != "input":
        positions.sort(key=doc_ids.__getitem__, reverse=True)
    positions.sort(key=_compared(scores, ties).tolist().__getitem__, reverse=True)
    return positions


def top_positions(
    block: RankingBlock, row: int, k: int, qrels: Qrels, settings: EvaluationSettings
) -> Ints:
    """Return the positions of the k best documents of one ranking, best first: i8[<=k].

    ``block`` is what ``drop_documents`` returns.
    """
    first, last = int(block.starts[row]), int(block.starts[row + 1])
    if block.scores is None or settings.order == "given":
        return np.arange(first, min(first + k, last), dtype=np.int64)
    scores = _compared(block.scores[first:last], settings.ties)
    candidates = np.arange(len(scores), dtype=np.int64)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= threshold)
    scores, candidates = scores[candidates], candidates + first
    doc_ids = [] if settings.ties == "input" else block.ids_at(candidates)
    if settings.ties in PLAIN_TIES:
        return candidates[best_first(doc_ids, scores, settings.ties)[:k]]
    # A later copy of a document gains nothing: taken out, its grade is taken for unjudged.
    grades = qrels.judged(int(block.rows[row]))
    by_score = best_first(doc_ids, scores, "input")
    grade_of = {position: grades.pop(doc_ids[position], None) for position in by_score}
    ordered = sorted(
        range(len(scores)),
        key=lambda position: _fortune(grade_of[position]),
        reverse=settings.ties == "best",
    )
    ordered.sort(key=scores.tolist().__getitem__, reverse=True)
    return candidates[ordered[:k]]


def _fortune(grade: float | None) -> tuple[int, float]:
    """Sort relevant documents above unjudged ones, and those above judged zeros."""
    if grade is None:
        return (1, 0.0)
    return (2, grade) if grade > 0 else (0, grade)
