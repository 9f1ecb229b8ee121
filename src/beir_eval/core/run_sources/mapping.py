"""Rankings in a dict of dicts, {query_id: {doc_id: score}}, read without copying it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from functools import partial
from itertools import accumulate, chain, compress, count, islice, repeat
from operator import contains, methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    equal_ranges,
    read_finite_floats,
    read_floats,
    starts_from_lengths,
)
from beir_eval.core.ids import checked_ids, checked_query_ids, have_text_keys, pick_ids
from beir_eval.core.run_sources.base import RankingBlock, raise_first_score_error
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.qrels import Qrels

#: Scores per block: few enough to stay in the processor's cache while they are compared.
BLOCK_SCORES = 100_000
#: Usual scores per chunk: so few that only the first look at a ranking waits for the memory.
_CHUNK_SCORES = 10_000
#: More scores than this are in a chunk only if it is a single ranking.
_MAX_CHUNK_SCORES = 2 * _CHUNK_SCORES
#: Rankings of the first chunk, before their usual length is known.
_FIRST_CHUNK = 64


class MappingSource:
    """The source of a run that is {query_id: {doc_id: score}}; the mapping is not copied.

    Each step handles many rankings in one call, which is fast for many short rankings and for few
    long ones. The scores of judged queries are read once per evaluation. Document ids are read only
    where they are needed: of documents that are tied with a judged one or in a top list; of
    rankings that contain their query's id; of rankings with judged documents if order="given",
    ties="input" or a dropped document requires positions; and if a key is not certainly ``str``.
    """

    #: True, because a dict has no duplicates.
    checks_all_documents: ClassVar[bool] = True

    def __init__(self, mapping: Mapping[Any, Mapping[Any, Any]]) -> None:
        """Check the query ids; the rankings are checked when they are read."""
        self._keys = keys = list(mapping)
        self.query_ids: Sequence[str] = checked_query_ids(keys, "run", RunError)
        _refuse_several_runs(mapping, keys)
        self._mapping = mapping

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order of the mapping."""
        rankings = _rankings_with_text_ids(self.query_ids, self._rankings_of(self._keys))
        for query_id, ranking in zip(self.query_ids, rankings, strict=True):
            doc_ids, scores = list(ranking), _read_ranking_scores(query_id, ranking)
            yield query_id, doc_ids, scores

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, in blocks of about ``BLOCK_SCORES`` scores.

        Other rankings are not read, because a mapping may load each ranking on access.
        """
        rows = qrels.find_rows(self.query_ids)
        is_judged = rows >= 0
        if is_judged.all():
            query_ids, rankings = self.query_ids, self._rankings_of(self._keys)
        else:
            rows, query_ids = rows[is_judged], list(compress(self.query_ids, is_judged))
            rankings = self._rankings_of(compress(self._keys, is_judged))
        judged = _Judged.of_rows(qrels, rows)
        chunks: list[_Chunk] = []
        begin, size, num_scores = 0, _FIRST_CHUNK, 0
        while begin < len(rankings):
            end = begin + size
            chunk = _read_chunk(begin, query_ids[begin:end], rankings[begin:end], judged)
            begin = chunk.end
            size = max(1, _CHUNK_SCORES * len(chunk.lengths) // max(1, len(chunk.scores)))
            chunks.append(chunk)
            num_scores += len(chunk.scores)
            if num_scores >= BLOCK_SCORES or begin == len(rankings):
                block = _build_block(rows, query_ids, judged, chunks)
                yield block
                chunks, num_scores = [], 0

    def _rankings_of(self, keys: Iterable[Any]) -> list[Any]:
        """Return the rankings of these queries.

        Raises:
            RunError: the mapping has got other queries since it was passed.
        """
        if list(self._mapping) != self._keys:
            raise RunError("the run has other queries than when it was passed; make a new Run")
        return list(map(self._mapping.__getitem__, keys))


def _refuse_several_runs(mapping: Mapping[Any, Any], keys: Sequence[Any]) -> None:
    """Raise RunError for {name: run}, the runs of several systems; only the first one is read."""
    ranking = mapping[keys[0]] if keys and type(mapping) is dict else None
    documents = next(iter(ranking.values()), None) if type(ranking) is dict else None
    if isinstance(documents, Mapping):
        msg = (
            f"a run must be {{query_id: {{doc_id: score}}}}, but under {shown(keys[0])} there are "
            "dicts of dicts; for {name: run} use compare_runs(qrels, runs), or evaluate one of them"
        )
        raise RunError(msg)


def _rankings_with_text_ids(
    query_ids: Sequence[str], rankings: list[Any]
) -> list[Mapping[str, Any]]:
    """Return the rankings with text ids: the caller's mappings if all their ids are text."""
    if have_text_keys(rankings):
        for query_id in compress(query_ids, map(dict.__contains__, rankings, repeat(""))):
            msg = f"the ranking of query {shown(query_id)}: an id is empty"
            raise RunError(msg)
        return rankings
    return [
        _ranking_with_text_ids(query_id, ranking)
        for query_id, ranking in zip(query_ids, rankings, strict=True)
    ]


def _ranking_with_text_ids(query_id: str, ranking: object) -> Mapping[str, Any]:
    """Return a ranking with text ids: itself, or a new one if some id is not text.

    Raises:
        RunError: it is not a mapping, an id is empty or neither text nor an integer, or two ids
            name the same document.
    """
    if not isinstance(ranking, Mapping):
        msg = (
            f"the ranking of query {shown(query_id)} must be {{doc_id: score}}, not "
            f"{type(ranking).__name__}; for a list of ids use Run.from_rankings, for a list of "
            "pairs dict(pairs)"
        )
        raise RunError(msg)
    # A subclass of str with its own hash, such as an Enum, cannot be looked up by its text.
    hashes = [getattr(kind, "__hash__", None) for kind in set(map(type, ranking))]
    if all(hash_method is str.__hash__ for hash_method in hashes) and "" not in ranking:
        return ranking
    doc_ids = checked_ids(ranking, f"the ranking of query {shown(query_id)}", RunError)
    text_ranking = dict(zip(doc_ids, ranking.values(), strict=True))
    if len(text_ranking) < len(ranking):
        msg = (
            f"the ranking of query {shown(query_id)} holds a document both as an integer and as "
            "text; keep one of the two"
        )
        raise RunError(msg)
    return text_ranking


def _look_up_ids(rankings: Sequence[Mapping[str, Any]], starts: Ints, positions: Ints) -> list[str]:
    """Return the document ids at these positions; only the rankings concerned are listed.

    Args:
        rankings: R rankings, N documents in all.
        starts: where each ranking begins, and the end of the last, i8[R+1].
        positions: indices of documents (0..N-1).
    """
    ids = [""] * len(positions)
    rows = np.searchsorted(starts, positions, side="right") - 1
    by_row = np.argsort(rows, kind="stable")
    order, ranks = by_row.tolist(), (positions - starts[rows])[by_row].tolist()
    for begin, end in equal_ranges(rows[by_row]):
        keys = list(islice(rankings[int(rows[order[begin]])], max(ranks[begin:end]) + 1))
        for at in range(begin, end):
            ids[order[at]] = keys[ranks[at]]
    return checked_ids(ids, "run", RunError)


class _Judged(NamedTuple):
    """The W judgements of R queries, query after query.

    Attributes:
        judgement: the index of each judgement, i8[W].
        query: its query, an index into the R queries, i8[W].
        doc_ids: its document. [W]
        counts: how many there are of each query. [R]
        starts: where those of each query begin, and the end of the last, i8[R+1].
    """

    judgement: Ints
    query: Ints
    doc_ids: Sequence[str]
    counts: list[int]
    starts: Ints

    @classmethod
    def of_rows(cls, qrels: Qrels, rows: Ints) -> _Judged:
        """Return the judgements of these queries of the qrels, i8[R]."""
        judgement, query = qrels.judgements_of(rows)
        doc_ids = pick_ids(qrels.doc_ids, judgement)
        counts = np.bincount(query, minlength=len(rows))
        return cls(judgement, query, doc_ids, counts.tolist(), starts_from_lengths(counts))


class _Chunk(NamedTuple):
    """What was read of consecutive rankings.

    Attributes:
        begin, end: the first ranking, and the one behind the last.
        rankings: {doc_id: score} of each query, with text ids.
        lengths: how many documents each ranking has.
        scores: the scores of all N documents, f8[N].
        judged_scores: those of the W judged documents of these queries, f8[W]; NaN if the ranking
            does not have the document.
        holding_query: the numbers of the rankings that have a document with the id of their query.
    """

    begin: int
    end: int
    rankings: list[Mapping[str, Any]]
    lengths: list[int]
    scores: Floats
    judged_scores: Floats
    holding_query: list[int]


def _read_chunk(
    begin: int, query_ids: Sequence[str], raw_rankings: list[Any], judged: _Judged
) -> _Chunk:
    """Read some rankings, or the first of them if they are longer than those before.

    Args:
        begin: the number of the first ranking.
        query_ids: the query of each ranking.
        raw_rankings: the rankings as the caller passed them.
        judged: the judgements of all rankings.
    """
    rankings = _rankings_with_text_ids(query_ids, raw_rankings)
    lengths = list(map(len, rankings))
    if sum(lengths) > _MAX_CHUNK_SCORES:
        num_rankings = max(1, bisect_right(list(accumulate(lengths)), _MAX_CHUNK_SCORES))
        rankings, lengths = rankings[:num_rankings], lengths[:num_rankings]
        query_ids = query_ids[:num_rankings]
    # With plain dicts, no Python code runs per document.
    are_dicts = set(map(type, rankings)) <= {dict}
    get: Any = dict.get if are_dicts else _get_score
    values_of: Any = dict.values if are_dicts else methodcaller("values")
    end = begin + len(rankings)
    first, last = judged.starts[[begin, end]].tolist()
    counts = judged.counts[begin:end]
    owners: Iterable[Mapping[str, Any]] = rankings
    if set(counts) != {1}:
        owners = chain.from_iterable(map(repeat, rankings, counts))
    try:
        scores = read_finite_floats(chain.from_iterable(map(values_of, rankings)), sum(lengths))
        judged_scores = read_floats(
            map(get, owners, judged.doc_ids[first:last], repeat(math.nan)), last - first
        )
    except NOT_NUMBERS:
        _raise_score_error(query_ids, rankings)
    holding_query = list(compress(count(begin), map(contains, rankings, query_ids)))
    return _Chunk(begin, end, rankings, lengths, scores, judged_scores, holding_query)


def _build_block(
    rows: Ints, query_ids: Sequence[str], judged: _Judged, chunks: Sequence[_Chunk]
) -> RankingBlock:
    """Return consecutive chunks as one block.

    Args:
        rows: the query of each ranking, an index into the query ids of the qrels, i8[R].
        query_ids: the query of each ranking. [R]
        judged: the judgements of all rankings.
        chunks: what was read.
    """
    begin, end = chunks[0].begin, chunks[-1].end
    first, last = judged.starts[[begin, end]].tolist()
    rankings = list(chain.from_iterable(chunk.rankings for chunk in chunks))
    lengths = chain.from_iterable(chunk.lengths for chunk in chunks)
    starts = starts_from_lengths(np.fromiter(lengths, np.int64, end - begin))
    judged_score = np.concatenate([chunk.judged_scores for chunk in chunks])
    hits = np.flatnonzero(~np.isnan(judged_score))
    identical = [
        int(starts[row - begin]) + list(rankings[row - begin]).index(query_ids[row])
        for row in chain.from_iterable(chunk.holding_query for chunk in chunks)
    ]
    return RankingBlock(
        rows=rows[begin:end],
        starts=starts,
        scores=np.concatenate([chunk.scores for chunk in chunks]),
        ids_at=partial(_look_up_ids, rankings, starts),
        hit_ranking=(judged.query[first:last] - begin)[hits],
        hit_judgement=judged.judgement[first:last][hits],
        hit_score=judged_score[hits],
        hit_position=None,
        identical=np.array(identical, dtype=np.int64),
    )


def _read_ranking_scores(query_id: str, ranking: Mapping[str, Any]) -> Floats:
    """Return the scores of one ranking, f8[N], or raise RunError for the first invalid one."""
    try:
        return read_finite_floats(ranking.values(), len(ranking))
    except NOT_NUMBERS:
        _raise_score_error([query_id], [ranking])


def _raise_score_error(query_ids: Sequence[str], rankings: Sequence[Mapping[str, Any]]) -> NoReturn:
    raise_first_score_error(
        (query_id, doc_id, score)
        for query_id, ranking in zip(query_ids, rankings, strict=True)
        for doc_id, score in ranking.items()
    )


def _get_score(ranking: Mapping[str, Any], doc_id: str, default: float) -> Any:
    return ranking.get(doc_id, default)
