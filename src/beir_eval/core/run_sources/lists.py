"""Rankings in flat lists: query after query, ids and scores side by side."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import Floats, Ints, read_floats, starts_of
from beir_eval.core.ids import ids_as_text
from beir_eval.core.run_sources.base import Block
from beir_eval.core.run_sources.scores import is_finite_number, refuse_score
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from beir_eval.core.qrels import Qrels


class ListSource:
    """Rankings as flat lists: query after query, ids and scores side by side."""

    def __init__(
        self, query_ids: Sequence[str], starts: Ints, doc_ids: list[str], scores: Floats | None
    ) -> None:
        """Take checked parts: ids as text, distinct queries, finite scores (None: in order)."""
        self.query_ids: Sequence[str] = query_ids
        self._starts: list[int] = starts.tolist()
        self._doc_ids = doc_ids
        self._scores = scores
        self._row_of = {query_id: row for row, query_id in enumerate(query_ids)}

    @classmethod
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], scores: Iterable[Any]
    ) -> Self:
        """Group three columns by query, keeping the order within each."""
        try:
            raw_queries, raw_docs, raw_scores = list(query_ids), list(doc_ids), list(scores)
        except TypeError as error:
            msg = f"run: three columns were expected: {error}"
            raise RunError(msg) from error
        lengths = len(raw_queries), len(raw_docs), len(raw_scores)
        if len(set(lengths)) > 1:
            msg = f"query_ids, doc_ids and scores must be equally long, not {lengths}"
            raise RunError(msg)
        try:
            queries, docs = ids_as_text(raw_queries), ids_as_text(raw_docs)
        except (TypeError, ValueError) as error:
            msg = f"run: {error}"
            raise RunError(msg) from error
        try:
            values = read_floats(raw_scores, len(raw_scores))
        except (struct.error, TypeError, OverflowError, ValueError):
            values = np.full(len(raw_scores), np.nan)
        if not np.isfinite(values).all():
            for query, doc, score in zip(queries, docs, raw_scores, strict=True):
                if not is_finite_number(score):
                    refuse_score(query, doc, score)
        codes: dict[str, int] = {}
        row = np.fromiter(
            (codes.setdefault(query, len(codes)) for query in queries), np.int64, len(queries)
        )
        starts = starts_of(np.bincount(row, minlength=len(codes)))
        grouped = np.argsort(row, kind="stable")
        return cls(list(codes), starts, [docs[place] for place in grouped], values[grouped])

    @classmethod
    def from_rankings(cls, rankings: Mapping[Any, Iterable[Any]]) -> Self:
        """Lay out {query_id: [doc_id, …]}."""
        if not isinstance(rankings, Mapping):
            msg = f"rankings must be {{query_id: [doc_id, …]}}, not {type(rankings).__name__}"
            raise RunError(msg)
        listed: list[list[str]] = []
        try:
            query_ids = ids_as_text(rankings)
            for query_id, ranking in zip(query_ids, rankings.values(), strict=True):
                no_order = isinstance(ranking, (str, bytes, Mapping, AbstractSet))
                if no_order or not isinstance(ranking, Iterable):
                    msg = (
                        f"the ranking of query {query_id!r} must be a list of ids, not "
                        f"{type(ranking).__name__}"
                    )
                    raise RunError(msg)
                listed.append(ids_as_text(list(ranking)))
        except (TypeError, ValueError) as error:
            if isinstance(error, RunError):
                raise
            msg = f"run: {error}"
            raise RunError(msg) from error
        if len(set(query_ids)) < len(query_ids):
            msg = "run: an integer and a text query id name the same query; keep one of the two"
            raise RunError(msg)
        starts = starts_of(np.fromiter(map(len, listed), np.int64, len(listed)))
        return cls(query_ids, starts, list(chain.from_iterable(listed)), None)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for row, query_id in enumerate(self.query_ids):
            part = slice(self._starts[row], self._starts[row + 1])
            scores = None if self._scores is None else self._scores[part]
            yield query_id, self._doc_ids[part], scores

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield one block with all judged rankings."""
        pairs = [
            (row, self._row_of[query_id])
            for row, query_id in enumerate(qrels.query_ids)
            if query_id in self._row_of
        ]
        if pairs:
            yield self._block(qrels, *zip(*pairs, strict=True))

    def _block(self, qrels: Qrels, rows: Sequence[int], places: Sequence[int]) -> Block:
        find = _Finder()
        doc_ids: list[str] = []
        parts: list[Floats] = []
        lengths: list[int] = []
        for row, place in zip(rows, places, strict=True):
            part = slice(self._starts[place], self._starts[place + 1])
            ranking = self._doc_ids[part]
            find.in_ranking(qrels, row, ranking)
            doc_ids += ranking
            lengths.append(len(ranking))
            if self._scores is not None:
                parts.append(self._scores[part])
        scores = None if self._scores is None else np.concatenate(parts)
        hit_position = np.array(find.hit_position, dtype=np.int64)
        return Block(
            rows=np.array(rows, dtype=np.int64),
            starts=starts_of(np.array(lengths, dtype=np.int64)),
            scores=scores,
            ids=ListedIds(doc_ids),
            hit_row=np.array(find.hit_row, dtype=np.int64),
            hit_judgement=np.array(find.hit_judgement, dtype=np.int64),
            hit_score=None if scores is None else scores[hit_position],
            hit_position=hit_position,
            identical=np.array(find.identical, dtype=np.int64),
            copy_group=np.array(find.copy_group, dtype=np.int64),
            copy_position=np.array(find.copy_position, dtype=np.int64),
        )


class ListedIds:
    """The ids of a block as a list."""

    def __init__(self, doc_ids: Sequence[str]) -> None:
        """Take the ids by position."""
        self._doc_ids = doc_ids

    def at(self, positions: Ints) -> list[str]:
        """Return the ids at these positions of the block."""
        return [self._doc_ids[position] for position in positions.tolist()]


class _Finder:
    """Finds judged, repeated and identical ids, one ranking after the other."""

    def __init__(self) -> None:
        self.hit_row: list[int] = []
        self.hit_judgement: list[int] = []
        self.hit_position: list[int] = []
        self.identical: list[int] = []
        self.copy_group: list[int] = []
        self.copy_position: list[int] = []
        self._rankings = 0
        self._base = 0
        self._groups = 0

    def in_ranking(self, qrels: Qrels, row: int, ranking: Sequence[str]) -> None:
        """Look through one ranking, which answers query ``row`` of the qrels."""
        size = len(ranking)
        # Read backwards, so that the first place of a repeated document is the one kept.
        place_of = dict(zip(reversed(ranking), range(size - 1, -1, -1), strict=True))
        for judgement in range(int(qrels.starts[row]), int(qrels.starts[row + 1])):
            place = place_of.get(qrels.doc_ids[judgement])
            if place is not None:
                self.hit_row.append(self._rankings)
                self.hit_judgement.append(judgement)
                self.hit_position.append(self._base + place)
        query_id = qrels.query_ids[row]
        if query_id in place_of:
            self.identical += [
                self._base + place for place, doc_id in enumerate(ranking) if doc_id == query_id
            ]
        if len(place_of) < size:
            self._note_copies(ranking)
        self._rankings += 1
        self._base += size

    def _note_copies(self, ranking: Sequence[str]) -> None:
        places: dict[str, list[int]] = {}
        for place, doc_id in enumerate(ranking):
            places.setdefault(doc_id, []).append(self._base + place)
        for copies in places.values():
            if len(copies) > 1:
                self.copy_position += copies
                self.copy_group += [self._groups] * len(copies)
                self._groups += 1
