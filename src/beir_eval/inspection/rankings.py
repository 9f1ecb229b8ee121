"""Signs of mistakes in a run, of which ids and scores have modules of their own.

In rankings: those of other queries or of one, or not of the judged documents. Where judged
documents are ranked also shows scores or grades that mean something else.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.core.run import Run

#: The turn of a conversation, at the end of a query's id.
_TURN = re.compile(r"[\W_]\d+$")
#: How many judgements are compared with them, in at least so many queries.
_MOST_COMPARED, _FEWEST_COMPARED = 20_000, 30
#: The share of rankings that the right query may fit best if they were exchanged, and how well it
#: may fit compared with the best query.
_OWN_FITS, _LITTLE = 0.05, 0.25
#: How many times more often the first documents are relevant for a query than later ones; and by
#: how many standard deviations queries fit better than those of mixed rankings, of which so many
#: sets are made.
_TIMES_MORE_FIRST, _DEVIATIONS, _MOST_MIXED = 2.0, 4.0, 20
#: How many times more relevant documents rankings hold at most that do not fit their queries, and
#: at least if they do; and how many of these may be relevant for several queries.
_AS_EXCHANGED, _FITS_ITS_QUERY, _MOST_SHARED = 1.5, 5.0, 0.5
#: The share of judgements with grade 0 in a pool, and how many judged documents of most rankings
#: make a single one without any suspicious.
_LEAST_NOT_RELEVANT, _MANY_JUDGED = 0.2, 20
#: The lowest rate at which rankings fit a neighbour of their query by chance, and the probability
#: of as many as there are that is no chance, as a logarithm.
_LEAST_RATE, _LOG_CHANCE = 0.005, np.log(1e-4)


def other_queries(
    qrels: Qrels, run: Run, matrix: RelevanceMatrix, sample: RankingSample
) -> Iterator[Finding]:
    """Yield a finding if rankings fit other queries than theirs.

    A query fits a ranking by the sum of 1 / rank of its relevant documents among the first ten. If
    most rankings fit another query, nearly none its own, and not by chance, the rankings were
    exchanged; also, where topics are near to each other, if they hold no more relevant documents of
    their own query than exchanged rankings would. If some do not fit their own query but the one
    after it in the run, or the one before, and not by chance, these were shifted.

    Args:
        qrels: the judgements.
        run: the run.
        matrix: the relevance matrix of qrels and run.
        sample: rankings of the run.
    """
    most = max(_FEWEST_COMPARED, _MOST_COMPARED * len(qrels) // len(qrels.doc_ids))
    ranked = sample.judged_rankings(most)
    finds = matrix.num_relevant_upto(TOP)[[row for row, _ in ranked]]
    num_failed = int(np.count_nonzero(finds == 0))
    least = max(LEAST_RANKINGS, LEAST_SHARE * len(ranked))
    if len(ranked) < LEAST_QUERIES or num_failed < least:
        return
    tops = {row: sample.best_ids(documents, TOP) for row, documents in ranked}
    rows_of = _relevant_for(qrels, chain.from_iterable(tops.values()))
    fits = {row: _fits(rows_of, doc_ids) for row, doc_ids in tops.items()}
    own = np.array([fits[row].pop(row, 0.0) for row in tops])
    best = np.array([max(fits[row].values(), default=0.0) for row in tops])
    others_fit = int(np.count_nonzero(best > own))
    fit_others = (
        others_fit > MOST_RANKINGS * len(tops)
        and np.count_nonzero(own > best) <= _OWN_FITS * len(tops)
        and own.sum() <= _LITTLE * best.sum()
    )
    exchanged = _as_if_exchanged(len(qrels), rows_of, tops)
    if (fit_others or exchanged) and _is_of_a_query(
        rows_of, list(tops.values()), float(best.sum())
    ):
        if exchanged and not fit_others:
            num_own, num_expected = exchanged
            yield Finding.from_code(
                "rankings-of-other-queries",
                f"rankings do not fit their queries: among the first {TOP} documents of "
                f"{len(tops):,} rankings, {num_own:,} are relevant for their query; if rankings "
                f"were exchanged at random, {num_expected:.0f} would be",
                count=num_failed,
                total=len(tops),
            )
            return
        count, which = others_fit, "another query better than their own"
    else:
        rows = qrels.find_rows(run.query_ids)
        own_fits = dict(zip(tops, own.tolist(), strict=True))
        count, side = _shifted(qrels, rows[rows >= 0].tolist(), fits, own_fits)
        if count < least:
            return
        which = f"the query {side} theirs, and not their own"
    yield Finding.from_code(
        "rankings-of-other-queries",
        f"rankings seem to belong to other queries: {count:,} of {len(tops):,} rankings looked at "
        f"fit {which}",
        count=count,
        total=len(tops),
    )


def _as_if_exchanged(
    num_queries: int, rows_of: Mapping[str, Sequence[int]], tops: Mapping[int, Sequence[str]]
) -> tuple[int, float] | None:
    """Return how many relevant documents rankings hold, and would hold of exchanged rankings.

    It is none if they hold clearly more, if that cannot be shown of so few, or if queries share
    their relevant documents, so that the ranking of one is as good for another.

    Args:
        num_queries: the number of judged queries.
        rows_of: {document: the queries that it is relevant for, as indices}.
        tops: {query: the first documents of its ranking}.
    """
    num_own = num_of_others = num_relevant = num_shared = 0
    for row, doc_ids in tops.items():
        for doc_id in doc_ids:
            rows = rows_of.get(doc_id, ())
            is_own = row in rows
            num_own += is_own
            num_of_others += len(rows) - is_own
            num_relevant += bool(rows)
            num_shared += len(rows) > 1
    expected = num_of_others / max(num_queries - 1, 1)
    if num_own > _AS_EXCHANGED * expected or num_shared > _MOST_SHARED * num_relevant:
        return None
    if _log_chance(num_own, _FITS_ITS_QUERY * expected) > _LOG_CHANCE:
        return None
    return num_own, expected


def _log_chance(count: float, mean: float) -> float:
    """Return Chernoff's bound on the probability that a Poisson variable is so far from its mean.

    It is on one side: above the mean, or below it.

    Args:
        count: the value of the variable.
        mean: its mean.

    Returns:
        The logarithm of the bound.
    """
    return count - mean - count * float(np.log(count / mean)) if count else -mean


def _shifted(
    qrels: Qrels,
    rows: Sequence[int],
    fits: Mapping[int, Mapping[int, float]],
    own: Mapping[int, float],
) -> tuple[int, str]:
    """Return how many rankings fit the query "after" or "before" theirs only, if it is no chance.

    It is 0 if far fewer fit the query on the other side; or if it is more than expected of
    rankings that fit their own query, and of any two queries. Queries of one topic may be
    neighbours.

    Args:
        qrels: the judgements.
        rows: the queries in the order of the run, as indices.
        fits: {query: how well its ranking fits each other query}, as indices.
        own: {query: how well its ranking fits it}.
    """
    after, before = dict(pairwise(rows)), dict(pairwise(reversed(rows)))
    # Of many queries only those that are compared and their neighbours: their ids are searched.
    near = {other for row in own for other in (row, after.get(row, row), before.get(row, row))}
    ids = {row: qrels.query_ids[row] for row in sorted(near)}
    conversations = dict(zip(ids, _conversations(list(ids.values())), strict=True))
    # [its own query does not fit, the query after it or before it]
    num_neighbours = np.zeros((2, 2))
    for row, fit in own.items():
        for is_before, other in enumerate((after.get(row, row), before.get(row, row))):
            if other != row and other in fits[row] and conversations[row] != conversations[other]:
                num_neighbours[int(not fit), is_before] += 1
    most, fewest = num_neighbours[1].max(), num_neighbours[1].min()
    num_failed = sum(not fit for fit in own.values())
    of_pairs = sum(map(len, fits.values())) / (len(own) * (len(qrels) - 1))
    of_neighbours = num_neighbours[0].max() / max(len(own) - num_failed, 1)
    expected = num_failed * max(of_pairs, of_neighbours, _LEAST_RATE)
    log_probability = _log_chance(most, expected) if most > expected else 0.0
    is_one_sided = most - fewest >= STANDARD_ERRORS * (most + fewest) ** 0.5
    is_chance = not is_one_sided and log_probability > _LOG_CHANCE
    return 0 if is_chance else int(most), ("after", "before")[int(num_neighbours[1].argmax())]


def _conversations(query_ids: Sequence[str]) -> Sequence[str]:
    """Return the conversation of each query; its ranking may begin with the answer before.

    In ids such as "31_4" the text before the last separator is the conversation, if it is the same
    for some queries and not for all; else each query is one.

    Args:
        query_ids: the ids of the queries. [Q]
    """
    parts = [_TURN.sub("", query_id) for query_id in query_ids]
    return parts if 1 < len(set(parts)) <= len(parts) / 2 else query_ids


def _relevant_for(qrels: Qrels, doc_ids: Iterable[str]) -> dict[str, list[int]]:
    """Return {document: the queries that it is relevant for, as indices} of these documents."""
    listed = set(doc_ids)
    rows_of: dict[str, list[int]] = defaultdict(list)
    is_listed = np.fromiter(map(listed.__contains__, qrels.doc_ids), bool, len(qrels.doc_ids))
    for judgement in np.flatnonzero(is_listed & (qrels.grades > 0)).tolist():
        rows_of[qrels.doc_ids[judgement]].append(int(qrels.row[judgement]))
    return rows_of


def _fits(rows_of: Mapping[str, Sequence[int]], doc_ids: Sequence[str]) -> dict[int, float]:
    """Return {query: the sum of 1 / rank of its relevant documents} of the top of a ranking.

    Args:
        rows_of: {document: the queries that it is relevant for}.
        doc_ids: the first documents, best first.
    """
    fits: dict[int, float] = defaultdict(float)
    for rank, doc_id in enumerate(doc_ids, start=1):
        for row in rows_of.get(doc_id, ()):
            fits[row] += 1 / rank
    return fits


def _is_of_a_query(
    rows_of: Mapping[str, Sequence[int]], tops: Sequence[Sequence[str]], best: float
) -> bool:
    """Return whether rankings were made for a query, whichever it was, and not by chance.

    The first documents are relevant for some query more often than later ones; or the documents of
    a ranking are relevant for the same query more often than those of different rankings.

    Args:
        rows_of: {document: the queries that it is relevant for}.
        tops: the first documents of each ranking, best first.
        best: the sum over rankings of how well the best query fits.
    """
    first, last = (
        np.mean([doc_id in rows_of for doc_ids in tops for doc_id in doc_ids[part]] or [False])
        for part in (slice(0, 2), slice(TOP // 2, TOP))
    )
    if first >= _TIMES_MORE_FIRST * last:
        return True
    by_chance = _best_fits_of_mixed(rows_of, tops)
    return best > float(np.mean(by_chance) + _DEVIATIONS * np.std(by_chance, ddof=1))


def _best_fits_of_mixed(
    rows_of: Mapping[str, Sequence[int]], tops: Sequence[Sequence[str]]
) -> list[float]:
    """Return the sum over mixed rankings of how well the best query fits, for each set of them.

    In a mixed ranking the document at each rank is that of another ranking at this rank; in set s
    each is s rankings after the one before.

    Args:
        rows_of: {document: the queries that it is relevant for}.
        tops: the first documents of each ranking, best first.
    """
    relevant = [
        (ranking, rank, row)
        for ranking, doc_ids in enumerate(tops)
        for rank, doc_id in enumerate(doc_ids)
        for row in rows_of.get(doc_id, ())
    ]
    ranking, rank, row = np.array(relevant, dtype=np.int64).reshape(-1, 3).T
    num_rows = int(row.max(initial=0)) + 1
    sums = []
    for step in range(1, min(len(tops), _MOST_MIXED) + 1):
        mixed = (ranking - rank * step) % len(tops)
        pairs, pair = np.unique(mixed * num_rows + row, return_inverse=True)
        best = np.zeros(len(tops))
        np.maximum.at(best, pairs // num_rows, np.bincount(pair, 1 / (rank + 1)))
        sums.append(float(best.sum()))
    return sums


def rankings_without_judged(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if some rankings hold no judged document, and the others hold several.

    Only where documents that are not relevant are judged too, as in a pool: then those that systems
    rank first are judged, relevant or not.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
    """
    if np.count_nonzero(qrels.grades == 0) < _LEAST_NOT_RELEVANT * len(qrels.grades):
        return
    is_known = (qrels.num_judged >= TOP) & (matrix.num_retrieved >= TOP)
    num_judged = np.bincount(matrix.cells.row, minlength=len(qrels))[is_known]
    num_without = int(np.count_nonzero(num_judged == 0))
    if len(num_judged) < LEAST_QUERIES or not 0 < num_without < len(num_judged):
        return
    usual = int(np.median(num_judged[num_judged > 0]))
    least = 1 if usual >= _MANY_JUDGED else max(LEAST_RANKINGS, LEAST_SHARE * len(num_judged))
    if usual >= LEAST_LONG and num_without >= least:
        without = np.flatnonzero(is_known)[num_judged == 0].tolist()
        yield Finding.from_code(
            "rankings-without-judged",
            f"{num_without:,} of {len(num_judged):,} rankings "
            f"{'holds' if num_without == 1 else 'hold'} no judged document, and half of the "
            f"others {usual} or more",
            count=num_without,
            total=len(num_judged),
            examples=(f"query {shown(qrels.query_ids[row])}" for row in without),
        )


def same_ranking(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if queries with different relevant documents have the same ranking.

    Queries that say the same have the same relevant documents too: then a query counts twice.
    """
    rows_of: dict[tuple[str, ...], list[int]] = defaultdict(list)
    num_rankings = 0
    for row, documents in zip(sample.rows.tolist(), sample.slices(), strict=True):
        if documents.stop - documents.start >= TOP:
            num_rankings += 1
            rows_of[tuple(sample.best_ids(documents, TOP))].append(row)
    same = [rows for rows in rows_of.values() if len(rows) > 1]
    groups = [rows for rows in same if _have_different_answers(qrels, rows)]
    count = sum(map(len, groups))
    # Examples have few documents, so that rankings are equal by chance.
    is_varied = len(set(sample.doc_ids)) >= LEAST_DIFFERENT
    is_enough = is_varied or count == num_rankings >= 2 * TOP
    if is_enough and count >= max(LEAST_QUERIES, LEAST_SHARE * num_rankings):
        first = "the same first documents"
        yield Finding.from_code(
            "same-ranking",
            f"{count:,} of {num_rankings:,} rankings looked at have "
            f"{first if len(groups) == 1 else f'{first} as another one'}",
            count=count,
            total=num_rankings,
        )
    repeated = sum(_num_repeated(qrels, rows) for rows in same)
    if is_varied and repeated >= max(LEAST_QUERIES, LEAST_SHARE * num_rankings):
        yield Finding.from_code(
            "same-queries",
            f"{repeated:,} of {num_rankings:,} queries looked at have the same first {TOP} "
            "documents and the same judgements as an earlier query; each counts in means and p",
            count=repeated,
            total=num_rankings,
        )


def _num_repeated(qrels: Qrels, rows: Sequence[int]) -> int:
    """Return how many of some queries have the judgements of an earlier one of them."""
    judged = [frozenset(qrels.grades_of_row(row).items()) for row in rows if row >= 0]
    return len(judged) - len(set(judged))


def _have_different_answers(qrels: Qrels, rows: Sequence[int]) -> bool:
    """Return whether several queries have, mostly, no relevant document in common.

    Args:
        qrels: the judgements.
        rows: the queries, as indices; -1 if it is not judged, which shows nothing.
    """
    queries_of: Counter[str] = Counter()
    for row in rows:
        if row >= 0:
            queries_of.update(doc for doc, grade in qrels.grades_of_row(row).items() if grade > 0)
    return 2 * sum(count > 1 for count in queries_of.values()) <= len(queries_of)
