"""Rankings in columns of a polars frame: a dataframe, or a file that was read into one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from beir_eval.core.arrays import Floats, Ints, ranges, rows_of, starts_of, stretches
from beir_eval.core.dataframes import DOC, QUERY, SCORE
from beir_eval.core.run_sources.base import Block
from beir_eval.core.run_sources.search import find, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.qrels import Qrels


#: Documents looked at together: few enough that most of what is made of them stays in the cache.
BLOCK_DOCS = 100_000


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Rankings in columns, query after query; ids stay in polars until one is asked for."""

    query_ids: Sequence[str]
    starts: Ints
    docs: pl.Series
    scores: pl.Series | None

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> FrameSource:
        """Group the rows by query, in the order of first appearance; the order within stays.

        Without a column of scores, the order of the rows is the ranking.
        """
        starts, query_ids = _stretches(frame[QUERY])
        if len(set(query_ids)) < len(query_ids):
            number: dict[str, int] = {}
            of_stretch = [number.setdefault(query_id, len(number)) for query_id in query_ids]
            of_row = np.repeat(np.array(of_stretch, dtype=np.int64), np.diff(starts))
            frame = frame[np.argsort(of_row, kind="stable")]
            starts, query_ids = _stretches(frame[QUERY])
        scores = frame[SCORE] if SCORE in frame.columns else None
        return cls(query_ids, starts, frame[DOC], scores)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for row, query_id in enumerate(self.query_ids):
            docs, scores = self._rows(np.array([row]))
            yield query_id, docs.to_list(), scores

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the judged rankings in their order, ``BLOCK_DOCS`` documents at a time."""
        row_of = dict(zip(qrels.query_ids, range(len(qrels)), strict=True))
        row = np.fromiter(
            map(row_of.get, self.query_ids, repeat(-1)), np.int64, len(self.query_ids)
        )
        places = np.flatnonzero(row >= 0)
        starts = starts_of(np.diff(self.starts)[places])
        judged = _Column.of(qrels.doc_ids)
        queries = _Column.of(qrels.query_ids)
        for begin, end in stretches(starts, BLOCK_DOCS):
            docs, scores = self._rows(places[begin:end])
            part = _Part(
                row[places[begin:end]],
                starts[begin : end + 1] - starts[begin],
                _Column(docs, _hashes(docs)),
            )
            yield part.block(scores, qrels, judged, queries)

    def _rows(self, places: Ints) -> tuple[pl.Series, Floats | None]:
        """Return documents and scores of these queries."""
        first, last = self.starts[places[0]], self.starts[places[-1] + 1]
        if places[-1] - places[0] == len(places) - 1:
            chosen: slice | Ints = slice(int(first), int(last))
        else:
            chosen = ranges(self.starts[places], self.starts[places + 1])
        return self.docs[chosen], None if self.scores is None else self.scores[chosen].to_numpy()


class _Column(NamedTuple):
    """Ids, and a 64-bit hash of each, i8[N]: what has another hash is another id."""

    ids: pl.Series
    hashes: Ints

    @classmethod
    def of(cls, ids: Sequence[str]) -> _Column:
        column = _series(ids)
        return cls(column, _hashes(column))


class _Part(NamedTuple):
    """Some judged rankings: the query of the qrels of each, where it begins, its documents."""

    rows: Ints
    starts: Ints
    docs: _Column

    def block(
        self, scores: Floats | None, qrels: Qrels, judged: _Column, queries: _Column
    ) -> Block:
        """Return the block, with what is judged, identical or repeated found."""
        first, last = qrels.starts[self.rows], qrels.starts[self.rows + 1]
        hit_judgement, hit_position = self._find(rows_of(last - first), judged, ranges(first, last))
        by_judgement = np.lexsort((hit_position, hit_judgement))
        is_first = np.diff(hit_judgement[by_judgement], prepend=-1) != 0
        hits = by_judgement[is_first]
        hits = hits[np.argsort(hit_position[hits], kind="stable")]
        hit_judgement, hit_position = hit_judgement[hits], hit_position[hits]
        _, identical = self._find(np.arange(len(self.rows)), queries, self.rows)
        copy_group, copy_position = self._copies()
        return Block(
            rows=self.rows,
            starts=self.starts,
            scores=scores,
            ids=_SeriesIds(self.docs.ids),
            hit_row=np.searchsorted(self.starts, hit_position, side="right") - 1,
            hit_judgement=hit_judgement,
            hit_score=None if scores is None else scores[hit_position],
            hit_position=hit_position,
            identical=np.sort(identical),
            copy_group=copy_group,
            copy_position=copy_position,
        )

    def _find(self, row: Ints, wanted: _Column, chosen: Ints) -> tuple[Ints, Ints]:
        """Return which of the chosen ids of a column stand where in their ranking."""
        index, position = find(self.docs.hashes, self.starts, row, wanted.hashes[chosen])
        index = chosen[index]
        same = (self.docs.ids[position] == wanted.ids[index]).to_numpy()
        return index[same], position[same]

    def _copies(self) -> tuple[Ints, Ints]:
        """Return group and position of every entry whose document stands more than once."""
        group, position = repeated(self.docs.hashes, self.starts)
        if not len(group):
            return group, position
        number: dict[tuple[int, str], int] = {}
        doc_ids = self.docs.ids[position].to_list()
        keys = zip(group.tolist(), doc_ids, strict=True)
        exact = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
        is_copy = np.bincount(exact)[exact] > 1
        return exact[is_copy], position[is_copy]


class _SeriesIds:
    """The ids of a block as a polars column."""

    def __init__(self, docs: pl.Series) -> None:
        self._docs = docs

    def at(self, positions: Ints) -> list[str]:
        """Return the ids at these positions of the block."""
        found: list[str] = self._docs.gather(positions).to_list()
        return found


def _stretches(queries: pl.Series) -> tuple[Ints, list[str]]:
    """Return where each stretch of one query begins (and the end), and the query of each."""
    runs = queries.rle().struct
    return starts_of(runs.field("len").to_numpy().astype(np.int64)), runs.field("value").to_list()


def _series(ids: Sequence[str]) -> pl.Series:
    """Return ids as a column; one that is not Unicode, which no frame can hold, as empty text."""
    try:
        return pl.Series(ids, dtype=pl.String)
    except UnicodeEncodeError:
        unicode = [one if one.encode(errors="replace").decode() == one else "" for one in ids]
        return pl.Series(unicode, dtype=pl.String)


def _hashes(ids: pl.Series) -> Ints:
    return ids.hash(seed=0).to_numpy().view(np.int64)
