"""Rankings in a dict of dicts."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from beir_eval._arrays import Floats, Ints, ranges, read_floats, rows_of, starts_of
from beir_eval._blocks import Block
from beir_eval._ids import id_text, ids_as_text
from beir_eval._scores import is_finite_number, refuse_score
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.qrels import Qrels

#: Scores read at a time: few enough to stay in the processor's cache while they are compared.
BLOCK_SCORES = 100_000
#: Scores handed to ``struct`` in one call.
_SCORES_AT_ONCE = 10_000
#: Digits of the largest integer id that is looked for.
_LONGEST_INTEGER = 40
#: How many ids can be looked at in the time of looking one up as an integer.
_LOOK_UP_COST = 10


class MappingSource:
    """{query_id: {doc_id: score}}, left as it is and read once per evaluation.

    Only the scores of a ranking are read; a document id is looked at where it is judged, tied
    with a judged one, or wanted in a top list.
    """

    def __init__(self, mapping: Mapping[Any, Mapping[Any, Any]]) -> None:
        """Check the outer ids; the rankings are checked when they are read."""
        try:
            query_ids = ids_as_text(mapping)
        except (TypeError, ValueError) as error:
            msg = f"run: {error}"
            raise RunError(msg) from error
        self._mapping = mapping
        self._keys = dict(zip(query_ids, mapping, strict=True))
        if len(self._keys) < len(query_ids):
            msg = "run: an integer and a text query id name the same query; keep one of the two"
            raise RunError(msg)

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking."""
        return list(self._keys)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order of the mapping."""
        query_ids = list(self._keys)
        for query_id, ranking in zip(query_ids, self._rankings(query_ids), strict=True):
            starts = starts_of(np.array([len(ranking)], dtype=np.int64))
            yield query_id, list(ranking), _scores([query_id], [ranking], starts)

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the judged rankings, about ``BLOCK_SCORES`` scores at a time."""
        rows = [row for row, query_id in enumerate(qrels.query_ids) if query_id in self._keys]
        rankings = self._rankings([qrels.query_ids[row] for row in rows])
        starts = starts_of(np.fromiter(map(len, rankings), np.int64, len(rankings)))
        for begin, end in _parts(starts, BLOCK_SCORES):
            part = np.array(rows[begin:end], dtype=np.int64)
            yield _mapping_block(qrels, part, rankings[begin:end])

    def _rankings(self, query_ids: Sequence[str]) -> list[Mapping[Any, Any]]:
        """Return rankings with text ids: the caller's own mappings where they are text.

        Written for many short rankings: what can be is done for all of them in one call.
        """
        mapping, keys = self._mapping, self._keys
        try:
            rankings: list[Any] = [mapping[keys[query_id]] for query_id in query_ids]
        except KeyError as error:
            msg = f"the run has lost the query {error.args[0]!r} since it was handed over"
            raise RunError(msg) from error
        if not all(issubclass(kind, Mapping) for kind in set(map(type, rankings))):
            for query_id, ranking in zip(query_ids, rankings, strict=True):
                _check_is_mapping(query_id, ranking)
        # The first id of a ranking shows of which kind its ids are; a look at each would cost as
        # much as reading all scores. A judged document that is not there is looked up as an
        # integer too.
        if {type(next(iter(ranking))) for ranking in rankings if ranking} <= {str}:
            return rankings
        return [
            ranking
            if not ranking or isinstance(next(iter(ranking)), str)
            else _with_text_ids(query_id, ranking)
            for query_id, ranking in zip(query_ids, rankings, strict=True)
        ]


def _check_is_mapping(query_id: str, ranking: object) -> None:
    if not isinstance(ranking, Mapping):
        msg = (
            f"the ranking of query {query_id!r} must be {{doc_id: score}}, not "
            f"{type(ranking).__name__}; for a list of ids use Run.from_rankings"
        )
        raise RunError(msg)


def _parts(starts: Ints, size: int) -> Iterator[tuple[int, int]]:
    """Split rankings into stretches of about ``size`` scores; yield begin and end of each."""
    count = len(starts) - 1
    if count:
        inner = np.searchsorted(starts[1:], np.arange(size, starts[-1], size), side="left") + 1
        yield from pairwise(np.unique([0, *inner.tolist(), count]).tolist())


class _MappingIds:
    """The ids of a block of mappings: a ranking's keys are listed when first asked for."""

    def __init__(self, rankings: Sequence[Mapping[str, Any]], starts: Ints) -> None:
        self._rankings = rankings
        self._starts = starts

    def at(self, positions: Ints) -> list[str]:
        """Return the ids at these positions of the block."""
        ids = [""] * len(positions)
        rows = np.searchsorted(self._starts, positions, side="right") - 1
        by_row = np.argsort(rows, kind="stable")
        bounds = np.flatnonzero(np.diff(rows[by_row], prepend=-1, append=-1))
        for begin, end in pairwise(bounds.tolist()):
            row = int(rows[by_row[begin]])
            keys = list(self._rankings[row])
            first = int(self._starts[row])
            for place in by_row[begin:end].tolist():
                ids[place] = _text(keys[int(positions[place]) - first])
        return ids


def _text(doc_id: object) -> str:
    try:
        return id_text(doc_id)
    except (TypeError, ValueError) as error:
        msg = f"run: {error}"
        raise RunError(msg) from error


def _with_text_ids(query_id: str, ranking: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return a new ranking with text ids, or raise RunError."""
    try:
        texts = ids_as_text(ranking)
    except (TypeError, ValueError) as error:
        msg = f"the ranking of query {query_id!r}: {error}"
        raise RunError(msg) from error
    as_text = dict(zip(texts, ranking.values(), strict=True))
    if len(as_text) < len(ranking):
        msg = (
            f"the ranking of query {query_id!r} holds a document both as an integer and as "
            "text; keep one of the two"
        )
        raise RunError(msg)
    return as_text


def _mapping_block(qrels: Qrels, rows: Ints, rankings: list[Mapping[Any, Any]]) -> Block:
    starts = starts_of(np.fromiter(map(len, rankings), np.int64, len(rankings)))
    query_ids = [qrels.query_ids[row] for row in rows.tolist()]
    scores = _scores(query_ids, rankings, starts)
    judgement = ranges(qrels.starts[rows], qrels.starts[rows + 1])
    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    place = rows_of(counts)
    docs: Sequence[str] = qrels.doc_ids
    if len(judgement) < len(docs):
        docs = [docs[one] for one in judgement.tolist()]
    look_ups = chain.from_iterable(map(repeat, rankings, counts.tolist()))
    found = read_floats(
        [ranking.get(doc, math.nan) for ranking, doc in zip(look_ups, docs, strict=True)], len(docs)
    )
    absent = np.isnan(found)
    mixed = _mixed_rankings(rankings, np.diff(starts), docs, place, np.flatnonzero(absent))
    if mixed:
        for one in mixed:
            rankings[one] = _with_text_ids(query_ids[one], rankings[one])
        return _mapping_block(qrels, rows, rankings)
    identical = [
        int(starts[one]) + list(ranking).index(query_id)
        for one, (query_id, ranking) in enumerate(zip(query_ids, rankings, strict=True))
        if query_id in ranking
    ]
    hits = np.flatnonzero(~absent)
    return Block(
        rows=rows,
        starts=starts,
        scores=scores,
        ids=_MappingIds(rankings, starts),
        hit_row=place[hits],
        hit_judgement=judgement[hits],
        hit_score=found[hits],
        hit_position=None,
        identical=np.array(identical, dtype=np.int64),
    )


def _mixed_rankings(
    rankings: Sequence[Mapping[Any, Any]],
    lengths: Ints,
    docs: Sequence[str],
    place: Ints,
    absent: Ints,
) -> list[int]:
    """Return the rankings that begin with text ids and hold an absent document as an integer.

    Args:
        rankings: those of a block. [R]
        lengths: their lengths, i8[R].
        docs: the judged documents. [J]
        place: the ranking of each, i8[J].
        absent: those that were not found as text, indices into ``docs``.
    """
    misses = np.bincount(place[absent], minlength=len(rankings))
    many = misses * _LOOK_UP_COST > lengths
    mixed = {
        one
        for one in np.flatnonzero(many).tolist()
        if any(not issubclass(kind, str) for kind in set(map(type, rankings[one])))
    }
    few = absent[~many[place[absent]]]
    suspects = zip(few.tolist(), place[few].tolist(), strict=True)
    mixed.update(
        [
            one
            for judged, one in suspects
            if docs[judged].isdecimal() and _as_integer(docs[judged]) in rankings[one]
        ]
    )
    return sorted(mixed)


def _as_integer(doc_id: str) -> int | None:
    """Return the number that decimal digits say, None where no id is that long."""
    return int(doc_id) if len(doc_id) <= _LONGEST_INTEGER else None


def _scores(
    query_ids: Sequence[str], rankings: Sequence[Mapping[str, Any]], starts: Ints
) -> Floats:
    """Return all scores of the rankings in one array, or raise RunError for the first bad one."""
    data = bytearray(8 * int(starts[-1]))
    try:
        # In small parts, so that the pointers to the scores stay in the processor's cache.
        for begin, end in _parts(starts, _SCORES_AT_ONCE):
            values = chain.from_iterable([one.values() for one in rankings[begin:end]])
            first, last = int(starts[begin]), int(starts[end])
            struct.pack_into(f"{last - first}d", data, 8 * first, *values)
    except (struct.error, TypeError, OverflowError, ValueError):
        _refuse_score(query_ids, rankings)
    scores = np.frombuffer(data, dtype=np.float64)
    if not np.isfinite(scores).all():
        _refuse_score(query_ids, rankings)
    return scores


def _refuse_score(query_ids: Sequence[str], rankings: Sequence[Mapping[str, Any]]) -> NoReturn:
    for query_id, ranking in zip(query_ids, rankings, strict=True):
        for doc_id, score in ranking.items():
            if not is_finite_number(score):
                refuse_score(query_id, doc_id, score)
    msg = "some score is not a finite number"  # pragma: no cover - the loops above find it
    raise AssertionError(msg)
