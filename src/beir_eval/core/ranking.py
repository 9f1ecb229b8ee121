"""Ranking and ties: from a block of scores to the ranks of its judged documents.

The rank of a document is 1 + the number of documents with a higher score + the number of equal
scores that the tie rule puts before it. ``rank_counting`` does the arithmetic; here are the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.arrays import Ints, Mask, position_in_row, runs_of, starts_of
from beir_eval.core.rank_counting import (
    Scored,
    count,
    places_by_grade,
    places_by_id,
    places_by_position,
    tie_groups,
    tied_positions,
)
from beir_eval.core.run_sources.base import Block, Scores
from beir_eval.errors import DuplicateDocumentError, SettingError, check_choice, some

if TYPE_CHECKING:
    from beir_eval.core.qrels import Qrels

ORDERS = ("score", "given")
TIES = ("trec_eval", "trec_eval9", "input", "best", "worst")
DUPLICATES = ("error", "first", "keep")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRules:
    """How a ranking is made of what a run holds.

    Attributes:
        order: "score" (highest first) or "given" (the order of the run is the ranking).
        ties: how equal scores are ordered: "trec_eval" (document id descending, scores in double
            precision, as trec_eval 10), "trec_eval9" (the same with scores as float32, as
            trec_eval 9, pytrec_eval and BEIR), "input" (in the order given), "best" and "worst"
            (relevant documents first or last: the extremes that a tie rule can make).
        duplicates: a document that stands twice in a ranking is an "error", only the "first"
            (best ranked) copy counts and the ranking closes up, or "keep": later copies gain
            nothing and ranks stay.
        drop_identical_ids: leave out documents whose id is that of the query.
    """

    order: str = "score"
    ties: str = "trec_eval"
    duplicates: str = "error"
    drop_identical_ids: bool = False

    def __post_init__(self) -> None:
        """Raise SettingError for a value that does not exist."""
        check_choice("order", self.order, ORDERS)
        check_choice("ties", self.ties, TIES)
        check_choice("duplicates", self.duplicates, DUPLICATES)
        if not isinstance(self.drop_identical_ids, bool):
            msg = f"drop_identical_ids must be True or False, not {self.drop_identical_ids!r}"
            raise SettingError(msg)


class RankedBlock(NamedTuple):
    """What ranking a block yields; C judged documents were retrieved.

    Attributes:
        judgement: which judgement of the qrels was retrieved, i8[C].
        rank: its 1-based rank, i8[C].
        tied: whether its score stands more than once in its ranking, bool[C].
        rows, num_retrieved: for each ranking, its query and its number of documents, i8[R].
        duplicates, identical: entries that repeat a document, or name their own query.
        tidy: the block as it was ranked, without what was dropped.
    """

    judgement: Ints
    rank: Ints
    tied: Mask
    rows: Ints
    num_retrieved: Ints
    duplicates: int
    identical: int
    tidy: Block


def rank_block(block: Block, qrels: Qrels, rules: RankingRules) -> RankedBlock:
    """Return the rank of every judged document of the block.

    Raises:
        DuplicateDocumentError: a document stands twice and the rules call that an error.
    """
    if len(block.copy_group) and rules.duplicates == "error":
        _refuse_duplicates(block, qrels)
    spare = _spare_copies(block, rules)
    dropped = spare if rules.duplicates == "first" else spare[:0]
    if rules.drop_identical_ids:
        dropped = np.union1d(dropped, block.identical)
    tidy = _best_copies(block, spare, rules) if len(spare) else block
    if len(dropped):
        tidy = _without(tidy, dropped, qrels)

    if tidy.scores is None or rules.order == "given":
        rank = _hit_positions(tidy, qrels) - tidy.starts[tidy.hit_row] + 1
        tied = np.zeros(len(rank), dtype=np.bool_)
    else:
        scored = _scored(tidy, rules)
        above, equal = count(scored)
        tied = equal > 1
        rank = above + 1
        if tied.any():
            rank += _places_in_ties(tidy, scored, equal, qrels, rules.ties)
    return RankedBlock(
        judgement=tidy.hit_judgement,
        rank=rank,
        tied=tied,
        rows=tidy.rows,
        num_retrieved=np.diff(tidy.starts),
        duplicates=len(spare),
        identical=len(block.identical),
        tidy=tidy,
    )


# Copies and identical ids


def _refuse_duplicates(block: Block, qrels: Qrels) -> None:
    first = block.copy_position[:1]
    row = int(np.searchsorted(block.starts, first[0], side="right")) - 1
    query_id = qrels.query_ids[int(block.rows[row])]
    in_row = block.copy_position < block.starts[row + 1]
    doc_ids = sorted(set(block.ids.at(block.copy_position[in_row])))
    extra = len(block.copy_position) - len(np.unique(block.copy_group))
    msg = (
        f"documents stand more than once in a ranking: query {query_id!r} repeats {some(doc_ids)} "
        f"({extra} repeated entries or more). Mend the run, or choose duplicates='first' (keep "
        "the best-ranked copy) or 'keep' (later copies take up ranks and gain nothing)"
    )
    raise DuplicateDocumentError(msg)


def _spare_copies(block: Block, rules: RankingRules) -> Ints:
    """Return the positions of all copies but the best-ranked one of each document, sorted."""
    if not len(block.copy_group):
        return block.copy_group
    position, group = block.copy_position, block.copy_group
    if block.scores is None or rules.order == "given":
        best_first = np.lexsort((position, group))
    else:
        best_first = np.lexsort((position, -block.scores[position], group))
    is_spare = position_in_row(group[best_first]) > 0
    return np.sort(position[best_first][is_spare])


def _best_copies(block: Block, spare: Ints, rules: RankingRules) -> Block:
    """Let each hit stand for the best-ranked copy of its document, instead of the first."""
    if block.scores is None or rules.order == "given" or block.hit_position is None:
        return block
    best = block.copy_position[~np.isin(block.copy_position, spare)]
    group_of = dict(zip(block.copy_position.tolist(), block.copy_group.tolist(), strict=True))
    best_of = {group_of[position]: position for position in best.tolist()}
    moved = [
        best_of[group_of[position]] if position in group_of else position
        for position in block.hit_position.tolist()
    ]
    hit_position = np.array(moved, dtype=np.int64)
    return _replace(block, hit_position=hit_position, hit_score=block.scores[hit_position])


def _without(block: Block, dropped: Ints, qrels: Qrels) -> Block:
    """Return the block without the entries at these positions; the rankings close up."""
    kept = np.ones(int(block.starts[-1]), dtype=np.bool_)
    kept[dropped] = False
    kept_before = starts_of(kept.astype(np.int64))
    position = _hit_positions(block, qrels)
    stays = kept[position]
    scores, hit_score = block.scores, block.hit_score
    return _replace(
        block,
        starts=kept_before[block.starts],
        scores=None if scores is None else scores[kept],
        ids=_KeptIds(block, np.flatnonzero(kept)),
        hit_row=block.hit_row[stays],
        hit_judgement=block.hit_judgement[stays],
        hit_score=None if hit_score is None else hit_score[stays],
        hit_position=kept_before[position[stays]],
    )


class _KeptIds:
    """The ids of a block from which entries were dropped."""

    def __init__(self, block: Block, kept: Ints) -> None:
        self._ids = block.ids
        self._kept = kept

    def at(self, positions: Ints) -> list[str]:
        return self._ids.at(self._kept[positions])


def _hit_positions(block: Block, qrels: Qrels) -> Ints:
    """Return the position of each judged document, looked up by id where only scores are known."""
    if block.hit_position is not None:
        return block.hit_position
    found = np.zeros(len(block.hit_row), dtype=np.int64)
    for begin, end in runs_of(block.hit_row):
        row = int(block.hit_row[begin])
        first = int(block.starts[row])
        positions = np.arange(first, block.starts[row + 1], dtype=np.int64)
        place_of = {doc_id: place for place, doc_id in enumerate(block.ids.at(positions), first)}
        for hit in range(begin, end):
            found[hit] = place_of[qrels.doc_ids[int(block.hit_judgement[hit])]]
    return found


def _compared(scores: Scores, rules: RankingRules) -> Scores:
    """Return the scores in the precision in which the tie rule compares them."""
    if rules.ties != "trec_eval9" or scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):  # a C cast to float gives an infinity there too
        return scores.astype(np.float32)


def _replace(block: Block, **changes: object) -> Block:
    values = {name: getattr(block, name) for name in Block.__slots__}
    return Block(**(values | changes))


def _scored(block: Block, rules: RankingRules) -> Scored:
    if block.scores is None or block.hit_score is None:
        msg = "a block with scores knows the scores of its judged documents"
        raise AssertionError(msg)
    scores, hit_score = _compared(block.scores, rules), _compared(block.hit_score, rules)
    return Scored(scores, block.starts, block.hit_row, hit_score, block.hit_position)


# Ties


def _places_in_ties(block: Block, scored: Scored, equal: Ints, qrels: Qrels, ties: str) -> Ints:
    """Return how many documents of equal score the tie rule puts before each hit, i8[H]."""
    hits, group = tie_groups(scored, equal)
    judgement = block.hit_judgement[hits]
    if ties in ("best", "worst"):
        places = places_by_grade(qrels.grades[judgement], group, equal[hits])
        if ties == "worst":
            places = equal[hits] - 1 - places
    else:
        members, starts = tied_positions(scored, hits, group)
        if ties == "input":
            positions = _hit_positions(block, qrels)[hits]
            places = places_by_position(positions, group, members, starts)
        else:
            doc_ids = [qrels.doc_ids[one] for one in judgement.tolist()]
            places = places_by_id(doc_ids, group, block.ids.at(members), starts)
    result = np.zeros(len(equal), dtype=np.int64)
    result[hits] = places
    return result


# Top lists


def top_positions(block: Block, row: int, k: int, qrels: Qrels, rules: RankingRules) -> list[int]:
    """Return the positions of the k best documents of one ranking, best first.

    ``block`` is the tidy block of a ``RankedBlock``.
    """
    first, last = int(block.starts[row]), int(block.starts[row + 1])
    if block.scores is None or rules.order == "given":
        return list(range(first, min(first + k, last)))
    scores = _compared(block.scores[first:last], rules)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = first + np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(first, last, dtype=np.int64)
    ordered = candidates.tolist()
    if rules.ties in ("best", "worst"):
        # A later copy of a document gains nothing: taken out, its grade is taken for unjudged.
        grades = qrels.judged(int(block.rows[row]))
        id_of = dict(zip(ordered, block.ids.at(candidates), strict=True))
        by_score = sorted(ordered, key=lambda position: -float(scores[position - first]))
        grade_of = {position: grades.pop(id_of[position], None) for position in by_score}
        best_first = rules.ties == "best"
        ordered.sort(key=lambda position: _fortune(grade_of[position]), reverse=best_first)
    elif rules.ties != "input":
        id_of = dict(zip(ordered, block.ids.at(candidates), strict=True))
        ordered.sort(key=id_of.__getitem__, reverse=True)
    ordered.sort(key=lambda position: float(scores[position - first]), reverse=True)
    return ordered[:k]


def _fortune(grade: float | None) -> tuple[int, float]:
    """Sort relevant documents above unjudged ones, and those above judged zeros."""
    if grade is None:
        return (1, 0.0)
    return (2, grade) if grade > 0 else (0, grade)
