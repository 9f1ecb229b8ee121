"""Signs of mistakes in scores, and in ranks that stand beside them."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
    LEAST_DOCUMENTS,
    LEAST_LONG,
    LEAST_QUERIES,
    LEAST_RANKINGS,
    LEAST_SHARE,
    MOST_RANKINGS,
    STANDARD_ERRORS,
    TOP,
    Finding,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.ranking_sample import RankingSample, StatedRanking

#: A few rankings with fewer steps in all ascend by chance.
_LEAST_STEPS = 10
#: The share of documents with tied scores that an evaluation reports, and that ``validate`` does.
_MOST_TIED, _FEW_TIED = 0.5, 0.1
#: The mean relative rank below which relevant documents are ranked first.
_RANKED_FIRST = 0.5


def findings_of_scores(
    sample: RankingSample,
    stated_ranks: Iterable[StatedRanking],
    known_ranks: Floats,
    *,
    is_thorough: bool,
) -> Iterator[Finding]:
    """Yield what looks like a mistake in scores: at most one finding on their direction.

    Without scores, it is whether relevant documents come last.

    Args:
        sample: rankings of a run.
        stated_ranks: the ranks that lines of its file state.
        known_ranks: what ``relative_ranks`` returns.
        is_thorough: whether what few documents show is reported too.
    """
    is_known = is_thorough or len(set(sample.doc_ids)) >= LEAST_DIFFERENT
    if sample.scores is None:
        if is_known:
            yield from _relevant_last(known_ranks, is_thorough=is_thorough, has_scores=False)
        return
    lists = [sample.scores[documents] for documents in sample.slices()]
    several = [scores for scores in lists if len(scores) > 1]
    is_constant = [bool((scores == scores[0]).all()) for scores in several]
    num_documents = sum(map(len, compress(several, is_constant)))
    is_enough = is_thorough or (
        sum(is_constant) >= LEAST_RANKINGS and num_documents >= _LEAST_STEPS
    )
    if are_constant := is_enough and _are_many(is_constant, several):
        yield Finding.from_code(
            "constant-scores",
            f"all documents have the same score in {sum(is_constant):,} of {len(several):,} "
            "rankings, so the order of their ids decides",
            count=sum(is_constant),
            total=len(several),
        )
    # Of few documents the same one may be relevant for every query, as in an example.
    is_varied = is_known and (is_thorough or len(lists) >= LEAST_QUERIES)
    directions: list[Finding] = []
    stated = [ranking for ranking in stated_ranks if len(ranking[1]) > 1]
    ranked = [ranking for ranking in stated if _are_different_wholes(ranking[1])]
    if stated:
        directions = list(_direction_of_ranks(stated, ranked, is_thorough=is_thorough))
    # Ranks that agree with the scores show that the best document is listed last.
    if not directions and not ranked:
        directions = list(_ascending(sample, lists, known_ranks, is_thorough=is_thorough))
    if not directions and is_varied:
        directions = list(_relevant_last(known_ranks, is_thorough=is_thorough))
    yield from directions
    # Where all are constant, that is said.
    if is_thorough or (is_varied and not are_constant and not directions):
        yield from _tied(lists, is_thorough=is_thorough)


def _tied(lists: Sequence[Floats], *, is_thorough: bool) -> Iterator[Finding]:
    """Yield a finding if many documents have the score of another one in their ranking.

    An evaluation looks at the first ten documents: a retriever may give all that it does not find
    the score 0.

    Args:
        lists: the scores of each ranking. [S]
        is_thorough: whether all documents are looked at.
    """
    num_documents = 0
    tied: list[Floats] = []
    for ranking in lists:
        scores = np.sort(ranking)[0 if is_thorough else -TOP :]
        num_documents += len(scores)
        is_tied = np.zeros(len(scores), dtype=np.bool_)
        equals_next = scores[1:] == scores[:-1]
        is_tied[:-1] |= equals_next
        is_tied[1:] |= equals_next
        tied.append(scores[is_tied])
    num_tied = sum(map(len, tied))
    if num_tied and num_tied >= (_FEW_TIED if is_thorough else _MOST_TIED) * num_documents:
        which = "documents" if is_thorough else f"documents in the top {TOP}"
        yield Finding.from_code(
            "tied-scores",
            f"{num_tied:,} of {num_documents:,} {which} ({num_tied / num_documents:.0%}) have "
            "the score of another one in their ranking, so the order of the ids decides",
            count=num_tied,
            total=num_documents,
            examples=(
                f"{count:,} of them have {value:g}"
                for value, count in Counter(np.concatenate(tied).tolist()).most_common(1)
            ),
        )


def _are_many(flags: Sequence[bool], lists: Sequence[Floats]) -> bool:
    """Return whether most rankings have a property, or a share of the long ones that is no chance.

    Args:
        flags: which rankings have it. [S]
        lists: the rankings. [S]
    """
    if sum(flags) > MOST_RANKINGS * len(flags):
        return True
    long = [flag for flag, ranking in zip(flags, lists, strict=True) if len(ranking) >= LEAST_LONG]
    return sum(long) >= max(LEAST_RANKINGS, LEAST_SHARE * len(long))


def _ascending(
    sample: RankingSample,
    lists: Sequence[Floats],
    known_ranks: Floats,
    *,
    is_thorough: bool,
) -> Iterator[Finding]:
    """Yield a finding if rankings list their lowest score first, and it is not seen to be right.

    It is right if the relevant documents of these queries have the highest scores.
    """
    long = [scores for scores in lists if len(scores) >= LEAST_DOCUMENTS]
    ascends = [
        bool(scores[0] < scores[-1] and (scores[1:] >= scores[:-1]).all()) for scores in long
    ]
    num_steps = sum(len(scores) - 1 for scores, flag in zip(long, ascends, strict=True) if flag)
    is_enough = is_thorough or sum(ascends) >= LEAST_RANKINGS
    if num_steps < _LEAST_STEPS or not is_enough or not _are_many(ascends, long):
        return
    rows = sample.rows[[len(scores) >= LEAST_DOCUMENTS for scores in lists]][np.array(ascends)]
    known = known_ranks[rows[rows >= 0]]
    known = known[~np.isnan(known)]
    if len(known) >= LEAST_RANKINGS and known.mean() < _RANKED_FIRST:
        return
    yield Finding.from_code(
        "ascending-scores",
        f"scores are ascending from the first document to the last in {sum(ascends):,} of "
        f"{len(long):,} rankings, and higher scores are better",
        count=sum(ascends),
        total=len(long),
    )


def _are_different_wholes(numbers: Floats) -> bool:
    is_whole = bool((numbers == np.floor(numbers)).all())
    return is_whole and len(np.unique(numbers)) == len(numbers)


def _direction_of_ranks(
    rankings: Sequence[StatedRanking], ranked: Sequence[StatedRanking], *, is_thorough: bool
) -> Iterator[Finding]:
    """Yield a finding if ranks and scores are swapped, ascend together, or disagree.

    Args:
        rankings: (query, ranks, scores) of several documents each.
        ranked: those whose ranks are different whole numbers.
        is_thorough: whether a single ranking that disagrees is reported.
    """
    swapped = [query for query, ranks, scores in rankings if _are_swapped(ranks, scores)]
    if len(swapped) > MOST_RANKINGS * len(rankings):
        yield Finding.from_code(
            "swapped-ranks-and-scores",
            f"ranks and scores look swapped: in {len(swapped):,} of {len(rankings):,} rankings "
            "looked at, the scores are 1, 2, … and the ranks descend",
            count=len(swapped),
            total=len(rankings),
        )
        return
    against: list[str] = []
    num_reversed = num_steps = 0
    for query_id, ranks, scores in ranked:
        order = np.argsort(ranks, kind="stable")
        steps = np.diff(scores[order])
        rises = np.flatnonzero(steps > 0)
        if len(rises):
            first = order[rises[0] : rises[0] + 2]
            texts = [f"rank {ranks[line]:.0f} has {scores[line]:g}" for line in first.tolist()]
            against.append(f"query {shown(query_id)}: {', '.join(texts)}")
            is_reversed = bool((steps >= 0).all())
            num_reversed += is_reversed
            num_steps += len(steps) if is_reversed else 0
    if num_reversed > MOST_RANKINGS * len(ranked) and num_steps >= _LEAST_STEPS:
        yield Finding.from_code(
            "ascending-scores",
            f"scores are ascending with the rank in {num_reversed:,} of {len(ranked):,} "
            "rankings looked at, and higher scores are better",
            count=num_reversed,
            total=len(ranked),
            examples=against[:1],
        )
    elif against and (is_thorough or len(against) >= LEAST_SHARE * len(ranked)):
        yield Finding.from_code(
            "ranks-against-scores",
            f"in {len(against):,} of {len(ranked):,} rankings looked at, a document has a "
            "higher score than one with a better rank, and scores decide",
            count=len(against),
            total=len(ranked),
            examples=against,
        )


def _are_swapped(ranks: Floats, scores: Floats) -> bool:
    """Return whether the scores count 1, 2, … or 0, 1, … and the ranks descend.

    If the ranks count too, down to 1 or 0, the file may list the lowest score first and agree.

    Args:
        ranks: the ranks of one ranking, in the order of the lines, f8[N].
        scores: its scores, f8[N].
    """
    counts = np.arange(len(scores))
    is_count = scores[0] in {0.0, 1.0} and bool((scores == counts + scores[0]).all())
    is_countdown = ranks[-1] in {0.0, 1.0} and bool((ranks[::-1] == counts + ranks[-1]).all())
    is_descending = bool((np.diff(ranks) <= 0).all()) and ranks[0] > ranks[-1]
    return is_count and is_descending and not is_countdown


#: The mean relative rank of relevant documents, from 0 to 1, above which they are ranked last.
_RANKED_LAST = 0.58
#: The standard deviation of a random number between 0 and 1.
_SPREAD_OF_RANDOM_RANK = 12**-0.5


def _relevant_last(
    known_ranks: Floats, *, is_thorough: bool, has_scores: bool = True
) -> Iterator[Finding]:
    """Yield a finding if relevant documents tend to be the last of their rankings.

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
        yield Finding.from_code(
            "relevant-ranked-last",
            f"relevant documents tend to {last}: their mean rank is at {mean:.0%} of the "
            f"length of the ranking, and {best}",
            count=len(known),
            total=len(known_ranks),
        )
