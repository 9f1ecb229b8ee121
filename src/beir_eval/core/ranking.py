"""Ranks of judged documents: the settings, and the rules for order, ties and duplicates.

The rank of a document is 1 + the number of documents with a higher score + the number of documents
with the same score that the tie rule puts before it. ``rank_counting`` does the counting.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from beir_eval.core.arrays import Ints, Mask, equal_ranges, position_in_row, starts_from_lengths
from beir_eval.core.rank_counting import (
    count_higher_and_equal,
    group_ties,
    offsets_by_grade,
    offsets_by_id,
    offsets_by_position,
    tied_positions,
)
from beir_eval.errors import (
    DuplicateDocumentError,
    SettingError,
    check_choice,
    check_flag,
    first_few,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock, Scores

#: The values of ``ties`` that do not depend on grades.
TIES_WITHOUT_GRADES = ("trec_eval9", "trec_eval10", "input")
#: Those that compare scores as given; the others compare them as float32.
_TIES_AS_GIVEN = ("trec_eval10", "input")
#: What the precision of a tie rule makes of the different scores of a ranking: one value, fewer
#: values, or (of judged documents) as many.
ONE_VALUE, FEWER_VALUES, AS_GIVEN = 1, 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """How scores become ranks, and which queries count in means; checked when it is made.

    Attributes:
        order: "score" (highest first) or "given" (the order of the run is the ranking).
        ties: the order of documents with equal scores: "trec_eval9" (document id descending, scores
            as float32, as trec_eval 9, pytrec_eval and BEIR), "trec_eval10" (the same with scores
            in double precision, as trec_eval 10), "input" (the order given), "best" or "worst"
            (relevant documents first or last, scores as float32, to see how much ties matter).
        missing: a judged query that the run does not have counts as an empty ranking ("zero"), is
            left out ("skip", as in BEIR and pytrec_eval), or is an "error".
        no_relevant: a query without relevant documents counts with the score that the measure gives
            it, mostly 0 ("zero", as in trec_eval), or is left out of the mean ("skip"). Measures
            that are defined without relevant documents are not affected.
        duplicates: a document that is listed twice in a ranking is an "error"; or only the "first"
            (best-ranked) copy is ranked and the others are removed; or "keep": all copies take up
            ranks, but only the best-ranked one has its grade.
        drop_identical_ids: whether documents whose id equals that of the query are removed.
        ranks: what has a rank: "documents", or "chunks" or "characters" of text (see
            ``Spans.view``). The judgements decide; results say it only if they are not documents.
        overlap: the share of judged text that a ranking must hold; None: each character counts, or
            documents are judged. The run of text decides on this and the next two
            (``Run.text_settings``).
        copies: whether copies of a text are the same evidence: "any" or "none".
        repeated: whether text that a ranking holds again costs ranks: "kept" or "dropped".

    Raises:
        SettingError: an invalid value.
    """

    #: The valid values of each setting that is text; the other settings are True or False.
    CHOICES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "order": ("score", "given"),
        "ties": (*TIES_WITHOUT_GRADES, "best", "worst"),
        "missing": ("zero", "skip", "error"),
        "no_relevant": ("zero", "skip"),
        "duplicates": ("error", "first", "keep"),
        "ranks": ("documents", "chunks", "characters"),
        "copies": ("any", "none"),
        "repeated": ("kept", "dropped"),
    }
    #: Each setting in a few words, for the help of the command line.
    SUMMARIES: ClassVar[Mapping[str, str]] = {
        "order": "What ranks.",
        "ties": "The order of equal scores.",
        "missing": "Judged queries that a run lacks.",
        "no_relevant": "Queries with nothing relevant.",
        "duplicates": "Documents listed twice.",
        "drop_identical_ids": "Drop the query itself from its ranking, or keep it.",
        "ranks": "What has a rank, if spans are judged.",
    }

    order: str = "score"
    ties: str = "trec_eval9"
    missing: str = "zero"
    no_relevant: str = "zero"
    duplicates: str = "error"
    drop_identical_ids: bool = False
    ranks: str = field(default="documents", metadata={"written": "if set"})
    overlap: float | None = field(default=None, metadata={"written": "if set"})
    copies: str = field(default="any", metadata={"written": "if set"})
    repeated: str = field(default="kept", metadata={"written": "if set"})

    def __post_init__(self) -> None:
        """Check every value, or raise SettingError."""
        for listed in fields(self):
            value = getattr(self, listed.name)
            if listed.name in self.CHOICES:
                check_choice(listed.name, value, self.CHOICES[listed.name])
            elif listed.name != "overlap":
                check_flag(listed.name, value)
            elif value is not None and not (hasattr(value, "__float__") and 0 < value <= 1):
                msg = f"overlap is a share above 0 and at most 1, not {shown(value)}"
                raise SettingError(msg)


def drop_documents(block: RankingBlock, qrels: Qrels, settings: EvaluationSettings) -> RankingBlock:
    """Return the block without the documents that the settings drop, so that later ranks move up.

    If a judged document is listed more than once, the best-ranked copy becomes the hit.

    Args:
        block: the rankings of some judged queries.
        qrels: the qrels that the block was made with.
        settings: ``duplicates`` and ``drop_identical_ids`` say which documents are dropped, beside
            those that the qrels exclude.

    Raises:
        DuplicateDocumentError: a document is listed twice, and ``settings.duplicates`` is "error".
    """
    result, dropped = block, block.copy_group[:0]
    if len(block.copy_group):
        if settings.duplicates == "error":
            _raise_duplicate_error(block, qrels)
        spare = _spare_copies(block, settings)
        result = _use_best_copies(block, spare, settings)
        if settings.duplicates == "first":
            dropped = spare
    if settings.drop_identical_ids:
        dropped = np.union1d(dropped, block.identical)
    if len(block.excluded):
        dropped = np.union1d(dropped, block.excluded)
    return _remove_entries(result, dropped, qrels) if len(dropped) else result


def rank_hits(
    block: RankingBlock, qrels: Qrels, settings: EvaluationSettings, extreme: str | None = None
) -> tuple[Ints, Mask, Ints]:
    """Return the rank of each judged document, whether it is tied, and what float32 does to scores.

    A document is tied if another entry of its ranking has the same score, in the precision of the
    tie rule. If the order given is the ranking, no document is tied.

    Args:
        block: what ``drop_documents`` returned.
        qrels: the qrels that the block was made with.
        settings: ``order`` and ``ties`` decide about ranks.
        extreme: "best" or "worst" orders by grade the documents that tie under ``settings.ties``.

    Returns:
        The 1-based ranks, i8[H]; bool[H]; and of each ranking, i8[R], what the precision of the tie
        rule makes of its different scores: ``ONE_VALUE``, ``FEWER_VALUES`` or ``AS_GIVEN``; 0 if
        none of the documents is judged, or all scores are the same.
    """
    scores, hit_score = block.scores, block.hit_score
    float32 = np.zeros(len(block.rows), dtype=np.int64)
    if scores is None or hit_score is None or settings.order == "given":
        rank = hit_positions(block, qrels) - block.starts[block.hit_ranking] + 1
        return rank, np.zeros(len(rank), dtype=np.bool_), float32
    given = scores
    scores, hit_score = _rounded(scores, settings.ties), _rounded(hit_score, settings.ties)
    above, equal = count_higher_and_equal(
        scores, block.starts, block.hit_ranking, hit_score, block.hit_position
    )
    rank, is_tied = above + 1, equal > 1
    all_tie = equal == np.diff(block.starts)[block.hit_ranking]
    float32[block.hit_ranking[~all_tie]] = AS_GIVEN
    if not is_tied.any():
        return rank, is_tied, float32
    hits, group = group_ties(np.flatnonzero(is_tied), block.hit_ranking, hit_score)
    judgement = block.hit_judgement[hits]
    first_hits = hits[position_in_row(group) == 0]
    row, score = block.hit_ranking[first_hits], hit_score[first_hits]
    members, starts = tied_positions(scores, block.starts, row, score)
    lowest, highest = (of.reduceat(given[members], starts[:-1]) for of in (np.minimum, np.maximum))
    near = hits[(lowest < highest)[group]]
    float32[block.hit_ranking[near]] = np.where(all_tie[near], ONE_VALUE, FEWER_VALUES)
    rule = extreme or settings.ties
    if rule in ("best", "worst"):
        offsets = offsets_by_grade(qrels.grades[judgement], group, equal[hits])
        if rule == "worst":
            offsets = equal[hits] - 1 - offsets
    elif rule == "input":
        positions = hit_positions(block, qrels)[hits]
        offsets = offsets_by_position(positions, group, members, starts)
    else:
        doc_ids = [qrels.doc_ids[index] for index in judgement.tolist()]
        offsets = offsets_by_id(doc_ids, group, block.ids_at(members), starts)
    rank[hits] += offsets
    return rank, is_tied, float32


# Copies and identical ids


def _raise_duplicate_error(block: RankingBlock, qrels: Qrels) -> None:
    row = int(np.searchsorted(block.starts, block.copy_position[0], side="right")) - 1
    query_id = qrels.query_ids[int(block.rows[row])]
    in_row = block.copy_position < block.starts[row + 1]
    doc_ids = sorted(set(block.ids_at(block.copy_position[in_row])))
    num_repeated = int(block.spare_copies().sum())
    msg = (
        f"documents are listed more than once in a ranking: query {shown(query_id)} repeats "
        f"{first_few(doc_ids)} ({num_repeated} repeated entries or more). If these are rankings of "
        "several systems, keep the rows of one (where=); else fix the run, or set "
        "duplicates='first' (the best-ranked copy counts) or duplicates='keep' (later copies take "
        "up ranks and gain nothing)"
    )
    raise DuplicateDocumentError(msg)


def _spare_copies(block: RankingBlock, settings: EvaluationSettings) -> Ints:
    """Return the positions of all copies but the best-ranked one of each document, sorted."""
    position, group = block.copy_position, block.copy_group
    if block.scores is None or settings.order == "given":
        best_first = np.lexsort((position, group))
    else:
        best_first = np.lexsort((position, -block.scores[position], group))
    is_spare = position_in_row(group[best_first]) > 0
    return np.sort(position[best_first][is_spare])


def _use_best_copies(
    block: RankingBlock, spare: Ints, settings: EvaluationSettings
) -> RankingBlock:
    """Return the block with each hit at the best-ranked copy of its document, not the first one."""
    if block.scores is None or settings.order == "given" or block.hit_position is None:
        return block
    best_copies = block.copy_position[~np.isin(block.copy_position, spare)]
    group_of = dict(zip(block.copy_position.tolist(), block.copy_group.tolist(), strict=True))
    best_of = {group_of[position]: position for position in best_copies.tolist()}
    best_positions = [
        best_of[group_of[position]] if position in group_of else position
        for position in block.hit_position.tolist()
    ]
    hit_position = np.array(best_positions, dtype=np.int64)
    return replace(block, hit_position=hit_position, hit_score=block.scores[hit_position])


def _remove_entries(block: RankingBlock, dropped: Ints, qrels: Qrels) -> RankingBlock:
    """Return the block without the entries at these positions."""
    is_kept = np.ones(int(block.starts[-1]), dtype=np.bool_)
    is_kept[dropped] = False
    num_kept_before = starts_from_lengths(is_kept.astype(np.int64))
    kept_positions = np.flatnonzero(is_kept)
    hit_position = hit_positions(block, qrels)
    is_kept_hit = is_kept[hit_position]
    scores, hit_score = block.scores, block.hit_score
    return replace(
        block,
        starts=num_kept_before[block.starts],
        scores=None if scores is None else scores[is_kept],
        ids_at=lambda positions: block.ids_at(kept_positions[positions]),
        hit_ranking=block.hit_ranking[is_kept_hit],
        hit_judgement=block.hit_judgement[is_kept_hit],
        hit_score=None if hit_score is None else hit_score[is_kept_hit],
        hit_position=num_kept_before[hit_position[is_kept_hit]],
    )


def hit_positions(block: RankingBlock, qrels: Qrels) -> Ints:
    """Return the position of each hit, i8[H]; if the block has none, look the ids up."""
    if block.hit_position is not None:
        return block.hit_position
    hit_positions = np.zeros(len(block.hit_ranking), dtype=np.int64)
    for begin, end in equal_ranges(block.hit_ranking):
        row = int(block.hit_ranking[begin])
        first = int(block.starts[row])
        positions = np.arange(first, block.starts[row + 1], dtype=np.int64)
        position_of = {
            doc_id: position for position, doc_id in enumerate(block.ids_at(positions), first)
        }
        for hit in range(begin, end):
            hit_positions[hit] = position_of[qrels.doc_ids[int(block.hit_judgement[hit])]]
    return hit_positions


def _rounded(scores: Scores, ties: str) -> Scores:
    """Return the scores in the precision in which the tie rule compares them, f8[N] or f4[N]."""
    if ties in _TIES_AS_GIVEN or scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):  # a cast to float in C overflows to infinity too
        return scores.astype(np.float32)


# Whole rankings


def best_first(doc_ids: Sequence[str], scores: Scores, ties: str) -> list[int]:
    """Return the positions (0..N-1) of the documents of one ranking, best first.

    Args:
        doc_ids: the documents; not read if ``ties`` is "input". [N]
        scores: their scores, f8[N] or f4[N].
        ties: one of ``TIES_WITHOUT_GRADES``.
    """
    positions = list(range(len(scores)))
    if ties != "input":
        positions.sort(key=doc_ids.__getitem__, reverse=True)
    positions.sort(key=_rounded(scores, ties).tolist().__getitem__, reverse=True)
    return positions


def top_positions(
    block: RankingBlock, row: int, k: int, qrels: Qrels, settings: EvaluationSettings
) -> Ints:
    """Return the positions of the k best documents of one ranking, best first: i8[<=k].

    Args:
        block: what ``drop_documents`` returned.
        row: which ranking of the block, 0..R-1.
        k: how many documents; a shorter ranking gives fewer.
        qrels: the qrels that the block was made with.
        settings: ``order`` and ``ties`` decide about ranks.
    """
    first, last = int(block.starts[row]), int(block.starts[row + 1])
    if block.scores is None or settings.order == "given":
        return np.arange(first, min(first + k, last), dtype=np.int64)
    scores = _rounded(block.scores[first:last], settings.ties)
    candidates = np.arange(len(scores), dtype=np.int64)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= threshold)
    scores, candidates = scores[candidates], candidates + first
    doc_ids = [] if settings.ties == "input" else block.ids_at(candidates)
    if settings.ties in TIES_WITHOUT_GRADES:
        return candidates[best_first(doc_ids, scores, settings.ties)[:k]]
    # Only the best copy of a document has its grade: pop() makes later copies count as unjudged.
    grades = qrels.grades_of_row(int(block.rows[row]))
    by_score = best_first(doc_ids, scores, "input")
    grade_of = {position: grades.pop(doc_ids[position], None) for position in by_score}
    ordered = sorted(
        range(len(scores)),
        key=lambda position: _grade_preference(grade_of[position]),
        reverse=settings.ties == "best",
    )
    ordered.sort(key=scores.tolist().__getitem__, reverse=True)
    return candidates[ordered[:k]]


def _grade_preference(grade: float | None) -> tuple[bool, float]:
    """Return a sort key: relevant documents highest, then unjudged, then judged non-relevant."""
    return (grade is None or grade > 0, grade or 0.0)
