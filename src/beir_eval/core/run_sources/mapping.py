"""Rankings in a dict of dicts."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import partial
from itertools import chain, compress, repeat
from operator import contains, methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    Mask,
    read_finite_floats,
    runs_of,
    starts_of,
    stretches,
)
from beir_eval.core.ids import checked_ids, checked_query_ids, have_text_keys
from beir_eval.core.run_sources.base import RankingBlock
from beir_eval.core.run_sources.scores import refuse_scores
from beir_eval.errors import RunError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.qrels import Qrels

#: Scores read at a time: few enough to stay in the processor's cache while they are compared.
BLOCK_SCORES = 100_000
#: Scores handed to ``struct`` in one call.
_SCORES_AT_ONCE = 10_000


class MappingSource:
    """{query_id: {doc_id: score}}, left as it is and read once per evaluation.

    Written for many short rankings as much as for few long ones: what can be done for all of them
    is done in one call. Only the scores of a ranking are read; a document id is looked at where it
    is judged, tied with a judged one, or wanted in a top list.
    """

    #: A dict has no duplicates.
    checks_all_documents: ClassVar[bool] = True

    def __init__(self, mapping: Mapping[Any, Mapping[Any, Any]]) -> None:
        """Check the outer ids; the rankings are checked when they are read."""
        self._listed = keys = list(mapping)
        self.query_ids: Sequence[str] = checked_query_ids(keys, "run", RunError)
        self._mapping = mapping

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order of the mapping."""
        self._refuse_changes()
        rankings = _with_text_keys(self.query_ids, list(self._mapping.values()))
        for query_id, ranking in zip(self.query_ids, rankings, strict=True):
            yield query_id, list(ranking), _scores(query_id, ranking)

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the judged rankings in their order, about ``BLOCK_SCORES`` scores at a time.

        No other ranking is asked for: the mapping may load them when it is asked.
        """
        self._refuse_changes()
        rows = qrels.find_rows(self.query_ids)
        is_judged = rows >= 0
        if is_judged.all():
            query_ids, rankings = self.query_ids, list(self._mapping.values())
        else:
            rows, query_ids = rows[is_judged], list(compress(self.query_ids, is_judged))
            judged_keys = compress(self._listed, is_judged)
            rankings = list(map(self._mapping.__getitem__, judged_keys))
        rankings = _with_text_keys(query_ids, rankings)
        starts = starts_of(np.fromiter(map(len, rankings), np.int64, len(rankings)))
        for begin, end in stretches(starts, BLOCK_SCORES):
            part = _Part(
                rows=rows[begin:end],
                query_ids=query_ids[begin:end],
                rankings=rankings[begin:end],
                starts=starts[begin : end + 1] - starts[begin],
            )
            yield _mapping_block(qrels, part)

    def _refuse_changes(self) -> None:
        """Raise RunError where the queries are not those that they were."""
        listed = list(self._mapping)
        if listed == self._listed:
            return
        lost = [query_id for query_id in self._listed if query_id not in self._mapping]
        new = set(listed) - set(self._listed)
        how = f"lost the query {lost[0]!r}" if lost else f"got {some(new) or 'another order'}"
        msg = f"the run has {how} since it was handed over; make a new Run"
        raise RunError(msg)


def _with_text_keys(query_ids: Sequence[str], rankings: list[Any]) -> list[Mapping[str, Any]]:
    """Return rankings with text ids: the caller's own mappings where they are text."""
    if have_text_keys(rankings):
        for query_id in compress(query_ids, map(dict.__contains__, rankings, repeat(""))):
            msg = f"the ranking of query {query_id!r}: an id is empty"
            raise RunError(msg)
        return rankings
    return [
        _with_text_ids(query_id, ranking)
        for query_id, ranking in zip(query_ids, rankings, strict=True)
    ]


def _with_text_ids(query_id: str, ranking: object) -> Mapping[str, Any]:
    """Return the ranking, a new one where its ids are not text, or raise RunError."""
    if not isinstance(ranking, Mapping):
        msg = (
            f"the ranking of query {query_id!r} must be {{doc_id: score}}, not "
            f"{type(ranking).__name__}; for a list of ids use Run.from_rankings"
        )
        raise RunError(msg)
    # A kind of text with a hash of its own, such as an Enum, is not found by its text.
    hashes = [getattr(kind, "__hash__", None) for kind in set(map(type, ranking))]
    if all(one is str.__hash__ for one in hashes) and "" not in ranking:
        return ranking
    texts = checked_ids(ranking, f"the ranking of query {query_id!r}", RunError)
    as_text = dict(zip(texts, ranking.values(), strict=True))
    if len(as_text) < len(ranking):
        msg = (
            f"the ranking of query {query_id!r} holds a document both as an integer and as "
            "text; keep one of the two"
        )
        raise RunError(msg)
    return as_text


def _ids_at(rankings: Sequence[Mapping[str, Any]], starts: Ints, positions: Ints) -> list[str]:
    """Return the ids at these positions: only the keys of their rankings are listed."""
    ids = [""] * len(positions)
    rows = np.searchsorted(starts, positions, side="right") - 1
    by_row = np.argsort(rows, kind="stable")
    for begin, end in runs_of(rows[by_row]):
        row = int(rows[by_row[begin]])
        keys = list(rankings[row])
        first = int(starts[row])
        for index in by_row[begin:end].tolist():
            ids[index] = keys[int(positions[index]) - first]
    return checked_ids(ids, "run", RunError)


class _Part(NamedTuple):
    """Some of the judged rankings, and which queries of the qrels they answer, i8[R]."""

    rows: Ints
    query_ids: Sequence[str]
    rankings: list[Mapping[str, Any]]
    starts: Ints


def _mapping_block(qrels: Qrels, part: _Part) -> RankingBlock:
    rankings, starts = part.rankings, part.starts
    judgement, ranking, judged = qrels.judgements_of(part.rows)
    judged_starts = starts_of(np.bincount(ranking, minlength=len(rankings)))
    scores, judged_score, holds_query = _read(part, judged, judged_starts)
    hits = np.flatnonzero(~np.isnan(judged_score))
    identical = [
        int(starts[row]) + list(rankings[row]).index(part.query_ids[row])
        for row in np.flatnonzero(holds_query).tolist()
    ]
    return RankingBlock(
        rows=part.rows,
        starts=starts,
        scores=scores,
        ids_at=partial(_ids_at, rankings, starts),
        hit_ranking=ranking[hits],
        hit_judgement=judgement[hits],
        hit_score=judged_score[hits],
        hit_position=None,
        identical=np.array(identical, dtype=np.int64),
    )


def _read(part: _Part, judged: Sequence[str], judged_starts: Ints) -> tuple[Floats, Floats, Mask]:
    """Return all scores, those of the judged documents, and which rankings hold their query.

    In small parts, so that a ranking is still in the processor's cache when it is looked into.

    Args:
        part: R rankings, N documents in all.
        judged: the judged documents of each, ranking after ranking. [J]
        judged_starts: where those of each ranking begin, and the end of the last, i8[R+1].

    Returns:
        f8[N]; f8[J], NaN where the ranking does not hold the document; bool[R].
    """
    rankings, starts = part.rankings, part.starts
    # Plain dicts are looked into without a step of Python for each document.
    are_dicts = set(map(type, rankings)) <= {dict}
    get: Any = dict.get if are_dicts else _get
    values_of: Any = dict.values if are_dicts else methodcaller("values")
    scores, found = np.empty(starts[-1]), np.empty(len(judged))
    holds_query = np.empty(len(rankings), dtype=np.bool_)
    counts = np.diff(judged_starts).tolist()
    try:
        for begin, end in stretches(starts, _SCORES_AT_ONCE):
            here = rankings[begin:end]
            _fill(scores, starts[[begin, end]], chain.from_iterable(map(values_of, here)))
            first, last = looked_up = judged_starts[[begin, end]]
            rankings_of = chain.from_iterable(map(repeat, here, counts[begin:end]))
            values = map(get, rankings_of, judged[first:last], repeat(math.nan))
            _fill(found, looked_up, values)
            holds_query[begin:end] = list(map(contains, here, part.query_ids[begin:end]))
    except NOT_NUMBERS:
        _refuse_score(part.query_ids, rankings)
    if not np.isfinite(scores).all():
        _refuse_score(part.query_ids, rankings)
    return scores, found, holds_query


def _fill(array: Floats, stretch: Ints, values: Iterable[Any]) -> None:
    """Write numbers of any kind into a stretch of f8[N] (see ``read_floats``)."""
    begin, end = stretch.tolist()
    struct.pack_into(f"{end - begin}d", array.data, 8 * begin, *values)


def _scores(query_id: str, ranking: Mapping[str, Any]) -> Floats:
    """Return the scores of one ranking, or raise RunError for the first bad one."""
    try:
        return read_finite_floats(ranking.values(), len(ranking))
    except NOT_NUMBERS:
        _refuse_score([query_id], [ranking])


def _refuse_score(query_ids: Sequence[str], rankings: Sequence[Mapping[str, Any]]) -> NoReturn:
    refuse_scores(
        (query_id, doc_id, score)
        for query_id, ranking in zip(query_ids, rankings, strict=True)
        for doc_id, score in ranking.items()
    )


def _get(ranking: Mapping[str, Any], doc_id: str, default: float) -> Any:
    return ranking.get(doc_id, default)
