"""Rankings in columns of a polars frame, which comes from a dataframe or a run file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from beir_eval.core.arrays import Ints, starts_from_lengths
from beir_eval.core.dataframes import DOC, QUERY, SCORE
from beir_eval.core.ids import pick_ids
from beir_eval.core.number_lookup import find_occurrences, find_repeated, first_occurrences
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, LookUpResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.qrels import Qrels


@dataclass(frozen=True, eq=False)
class FrameRankings(FlatRankings):
    """Rankings whose document ids are in a polars column; ids become ``str`` only when needed.

    Ids are compared by a 64-bit hash, and as text if the hashes are equal.

    Attributes:
        documents: the document ids, ranking after ranking. [N]
    """

    documents: pl.Series

    def ids_at(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        ids: list[str] = self.documents[positions].to_list()
        return ids

    def look_up(self, qrels: Qrels, rows: Ints, judgement: Ints, ranking: Ints) -> LookUpResult:
        """Return what ``FlatRankings.look_up`` describes, by comparing hashes, then text."""
        judged, query_ids = pick_ids(qrels.doc_ids, judgement), pick_ids(qrels.query_ids, rows)
        hashes = _hashes(self.documents)
        wanted = _as_series([*judged, *query_ids])
        wanted_hashes = _hashes(wanted)

        def find_wanted(part: slice, row: Ints) -> tuple[Ints, Ints]:
            index, position = find_occurrences(hashes, self.starts, row, wanted_hashes[part])
            is_same_id = (self.documents[position] == wanted[part][index]).to_numpy()
            return index[is_same_id], position[is_same_id]

        hits, position = first_occurrences(*find_wanted(slice(len(judged)), ranking))
        by_position = np.argsort(position, kind="stable")
        all_rankings = np.arange(len(query_ids), dtype=np.int64)
        _, identical = find_wanted(slice(len(judged), None), all_rankings)
        return LookUpResult(
            hits[by_position], position[by_position], identical, *self._repeated(hashes)
        )

    def _repeated(self, hashes: Ints) -> tuple[Ints, Ints]:
        """Return group and position of every document that its ranking lists more than once."""
        group, position = find_repeated(hashes, self.starts)
        if not len(group):
            return group, position
        group_of: dict[tuple[int, str], int] = {}
        keys = zip(group.tolist(), self.ids_at(position), strict=True)
        exact_group = np.array(
            [group_of.setdefault(key, len(group_of)) for key in keys], dtype=np.int64
        )
        is_copy = np.bincount(exact_group)[exact_group] > 1
        return exact_group[is_copy], position[is_copy]


def source_from_frame(frame: pl.DataFrame) -> ColumnSource:
    """Return the source of a frame with checked columns ``QUERY``, ``DOC`` and perhaps ``SCORE``.

    Rows are grouped by query, in the order of first appearance; the order within a query stays.
    Without a column of scores, the order of the rows is the ranking.
    """
    starts, query_ids = _query_stretches(frame[QUERY])
    if len(set(query_ids)) < len(query_ids):
        row_of: dict[str, int] = {}
        stretch_rows = [row_of.setdefault(query_id, len(row_of)) for query_id in query_ids]
        rows = np.repeat(np.array(stretch_rows, dtype=np.int64), np.diff(starts))
        frame = frame[np.argsort(rows, kind="stable")]
        starts, query_ids = _query_stretches(frame[QUERY])
    scores = frame[SCORE] if SCORE in frame.columns else None
    return ColumnSource(query_ids, FrameRankings(starts, frame[DOC], scores))


def _query_stretches(queries: pl.Series) -> tuple[Ints, list[str]]:
    """Return where each sequence of rows of one query begins (and the end), and its query."""
    spans = queries.rle().struct
    return starts_from_lengths(spans.field("len").to_numpy().astype(np.int64)), spans.field(
        "value"
    ).to_list()


def _as_series(ids: Sequence[str]) -> pl.Series:
    """Return ids as a column; an id that is not valid Unicode becomes "", which matches no id."""
    try:
        return pl.Series(ids, dtype=pl.String)
    except UnicodeEncodeError:
        encodable = [text if text.encode(errors="replace").decode() == text else "" for text in ids]
        return pl.Series(encodable, dtype=pl.String)


def _hashes(ids: pl.Series) -> Ints:
    """Return a 64-bit hash of each id, i8[N]: ids with different hashes are different."""
    return ids.hash(seed=0).to_numpy().view(np.int64)
