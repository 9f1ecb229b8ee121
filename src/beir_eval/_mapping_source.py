"""Rankings in a dict of dicts."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from beir_eval._arrays import Floats, Ints, read_floats, starts_of
from beir_eval._blocks import Block
from beir_eval._ids import id_text, ids_as_text
from beir_eval._scores import is_finite_number, refuse_score
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.qrels import Qrels

#: Scores read at a time: few enough to stay in the processor's cache while they are compared.
BLOCK_SCORES = 100_000
#: Digits of the largest integer id that is looked for.
_LONGEST_INTEGER = 40


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
        for query_id in self._keys:
            ranking = self._ranking(query_id)
            yield query_id, list(ranking), _scores([query_id], [ranking])

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the judged rankings, about ``BLOCK_SCORES`` scores at a time."""
        rows: list[int] = []
        rankings: list[Mapping[Any, Any]] = []
        size = 0
        for row, query_id in enumerate(qrels.query_ids):
            if query_id in self._keys:
                ranking = self._ranking(query_id)
                rows.append(row)
                rankings.append(ranking)
                size += len(ranking)
                if size >= BLOCK_SCORES:
                    yield _mapping_block(qrels, rows, rankings)
                    rows, rankings, size = [], [], 0
        if rows:
            yield _mapping_block(qrels, rows, rankings)

    def _ranking(self, query_id: str) -> Mapping[str, Any]:
        """Return one ranking with text ids: the caller's own mapping where they are text."""
        try:
            ranking = self._mapping[self._keys[query_id]]
        except KeyError as error:
            msg = f"the run has lost the query {query_id!r} since it was handed over"
            raise RunError(msg) from error
        if not isinstance(ranking, Mapping):
            msg = (
                f"the ranking of query {query_id!r} must be {{doc_id: score}}, not "
                f"{type(ranking).__name__}; for a list of ids use Run.from_rankings"
            )
            raise RunError(msg)
        # Its first id shows of which kind the ids are; a look at each would cost as much as
        # reading all scores. A judged document that is not there is looked up as integer too.
        if not ranking or isinstance(next(iter(ranking)), str):
            return ranking
        return _with_text_ids(query_id, ranking)


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


def _mapping_block(qrels: Qrels, rows: Sequence[int], rankings: list[Mapping[Any, Any]]) -> Block:
    starts = starts_of(np.fromiter(map(len, rankings), np.int64, len(rankings)))
    scores = _scores([qrels.query_ids[row] for row in rows], rankings)
    judgement_starts, doc_ids = qrels.starts.tolist(), qrels.doc_ids
    hits: list[int] = []
    hit_rows: list[int] = []
    hit_scores: list[Any] = []
    identical: list[int] = []
    for place, (row, ranking) in enumerate(zip(rows, rankings, strict=True)):
        look_up = ranking.get
        for judgement in range(judgement_starts[row], judgement_starts[row + 1]):
            score = look_up(doc_ids[judgement])
            if score is not None:
                hits.append(judgement)
                hit_rows.append(place)
                hit_scores.append(score)
            elif doc_ids[judgement].isdecimal() and _as_integer(doc_ids[judgement]) in ranking:
                # It begins with text and goes on with integers: start again with text for all.
                rankings[place] = _with_text_ids(qrels.query_ids[row], ranking)
                return _mapping_block(qrels, rows, rankings)
        query_id = qrels.query_ids[row]
        if query_id in ranking:
            identical.append(int(starts[place]) + list(ranking).index(query_id))
    return Block(
        rows=np.array(rows, dtype=np.int64),
        starts=starts,
        scores=scores,
        ids=_MappingIds(rankings, starts),
        hit_row=np.array(hit_rows, dtype=np.int64),
        hit_judgement=np.array(hits, dtype=np.int64),
        hit_score=read_floats(hit_scores, len(hit_scores)),
        hit_position=None,
        identical=np.array(identical, dtype=np.int64),
    )


def _as_integer(doc_id: str) -> int | None:
    """Return the number that decimal digits say, None where no id is that long."""
    return int(doc_id) if len(doc_id) <= _LONGEST_INTEGER else None


def _scores(query_ids: Sequence[str], rankings: Sequence[Mapping[str, Any]]) -> Floats:
    """Return all scores of the rankings in one array, or raise RunError for the first bad one."""
    count = sum(map(len, rankings))
    try:
        scores = read_floats(chain.from_iterable(one.values() for one in rankings), count)
    except (struct.error, TypeError, OverflowError, ValueError):
        _refuse_score(query_ids, rankings)
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
