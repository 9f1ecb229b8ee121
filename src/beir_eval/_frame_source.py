"""Rankings in columns of a polars frame: a dataframe, or a file that was read into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from beir_eval._arrays import Floats, Ints, ranges, rows_of, starts_of
from beir_eval._blocks import Block
from beir_eval._dataframes import DOC, QUERY, SCORE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.qrels import Qrels


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Rankings in columns, query after query; ids stay in polars until one is asked for."""

    query_ids: Sequence[str]
    starts: Ints
    docs: pl.Series
    scores: Floats | None

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> FrameSource:
        """Group the rows by query, in the order of first appearance; the order within stays.

        Without a column of scores, the order of the rows is the ranking.
        """
        if frame.is_empty():
            return cls([], starts_of(np.zeros(0, dtype=np.int64)), frame[DOC], np.zeros(0))
        starts, query_ids = _stretches(frame[QUERY])
        if len(set(query_ids)) < len(query_ids):
            number: dict[str, int] = {}
            of_stretch = [number.setdefault(query_id, len(number)) for query_id in query_ids]
            of_row = np.repeat(np.array(of_stretch, dtype=np.int64), np.diff(starts))
            frame = frame[np.argsort(of_row, kind="stable")]
            starts, query_ids = _stretches(frame[QUERY])
        scores = frame[SCORE].to_numpy() if SCORE in frame.columns else None
        return cls(query_ids, starts, frame[DOC].rechunk(), scores)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for row, query_id in enumerate(self.query_ids):
            first, last = int(self.starts[row]), int(self.starts[row + 1])
            scores = None if self.scores is None else self.scores[first:last]
            yield query_id, self.docs[first:last].to_list(), scores

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield one block with all judged rankings, in the order of the file."""
        row_of = {query_id: row for row, query_id in enumerate(qrels.query_ids)}
        places = [place for place, query_id in enumerate(self.query_ids) if query_id in row_of]
        if not places:
            return
        rows = np.array([row_of[self.query_ids[place]] for place in places], dtype=np.int64)
        docs, scores, starts = self.docs, self.scores, self.starts
        if len(places) < len(self.query_ids):
            chosen = ranges(self.starts[places], self.starts[np.array(places) + 1])
            docs = docs.gather(chosen)
            scores = None if scores is None else scores[chosen]
            starts = starts_of(np.diff(self.starts)[places])
        row = rows_of(np.diff(starts))
        hit_judgement, hit_position = _find_judged(qrels, rows, docs, row)
        copy_group, copy_position = _find_copies(docs, row)
        yield Block(
            rows=rows,
            starts=starts,
            scores=scores,
            ids=_SeriesIds(docs),
            hit_row=row[hit_position],
            hit_judgement=hit_judgement,
            hit_score=None if scores is None else scores[hit_position],
            hit_position=hit_position,
            identical=_find_identical(qrels, rows, docs, row),
            copy_group=copy_group,
            copy_position=copy_position,
        )


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
    begins = (queries != queries.shift(1)).fill_null(value=True).arg_true()
    starts = np.append(begins.to_numpy().astype(np.int64), len(queries))
    return starts, queries.gather(begins).to_list()


def _find_judged(qrels: Qrels, rows: Ints, docs: pl.Series, row: Ints) -> tuple[Ints, Ints]:
    """Return judgement and first position of each judged document found, by position."""
    place_of_row = np.full(len(qrels), -1, dtype=np.int64)
    place_of_row[rows] = np.arange(len(rows))
    judged = pl.DataFrame(
        {
            "row": place_of_row[qrels.row],
            DOC: _column(qrels.doc_ids),
            "judgement": np.arange(len(qrels.doc_ids), dtype=np.int64),
        }
    )
    positions = _positions_of(judged[DOC].unique(), docs)
    found = (
        pl.DataFrame({"row": row[positions], DOC: docs.gather(positions), "position": positions})
        .join(judged, on=["row", DOC], how="inner")
        .sort("position")
        .unique(subset="judgement", keep="first", maintain_order=True)
    )
    return found["judgement"].to_numpy(), found["position"].to_numpy()


def _column(ids: Sequence[str]) -> pl.Series:
    """Return ids as a column; one that is not Unicode, which no frame can hold, as empty text."""
    try:
        return pl.Series(ids, dtype=pl.String)
    except UnicodeEncodeError:
        unicode = [one if one.encode(errors="replace").decode() == one else "" for one in ids]
        return pl.Series(unicode, dtype=pl.String)


def _positions_of(wanted: pl.Series, docs: pl.Series) -> Ints:
    """Return where any of these ids stands."""
    found: Ints = docs.is_in(wanted.implode()).arg_true().to_numpy().astype(np.int64)
    return found


def _find_identical(qrels: Qrels, rows: Ints, docs: pl.Series, row: Ints) -> Ints:
    """Return the positions of documents whose id is that of their query."""
    queries = _column([qrels.query_ids[one] for one in rows.tolist()])
    candidates = _positions_of(queries, docs)
    if not len(candidates):
        return candidates
    same = docs.gather(candidates) == queries.gather(row[candidates])
    identical: Ints = candidates[same.to_numpy()]
    return identical


def _find_copies(docs: pl.Series, row: Ints) -> tuple[Ints, Ints]:
    """Return group and position of every entry whose document stands more than once in its row.

    Candidates share a 64-bit hash of row and id; they are then compared exactly.
    """
    mixed = docs.hash(seed=0).to_numpy() + row.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    in_order = np.sort(mixed)
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    nothing = np.zeros(0, dtype=np.int64)
    if not len(repeated):
        return nothing, nothing
    candidates = np.flatnonzero(np.isin(mixed, repeated))
    places: dict[tuple[int, str], list[int]] = {}
    found = zip(row[candidates].tolist(), docs.gather(candidates).to_list(), strict=True)
    for position, key in zip(candidates.tolist(), found, strict=True):
        places.setdefault(key, []).append(position)
    copies = [group for group in places.values() if len(group) > 1]
    if not copies:
        return nothing, nothing
    sizes = np.array([len(group) for group in copies], dtype=np.int64)
    return rows_of(sizes), np.concatenate([np.array(group, dtype=np.int64) for group in copies])
