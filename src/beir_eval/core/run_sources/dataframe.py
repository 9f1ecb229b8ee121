"""Rankings in columns of a polars frame, which comes from a dataframe or a run file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from beir_eval.core.arrays import Ints, starts_from_lengths
from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.core.ids import pick_ids
from beir_eval.core.number_lookup import find_occurrences, find_repeated, first_occurrences
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, LookUpResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def source_from_frames(frames: Iterable[pl.DataFrame]) -> ColumnSource:
    """Return the source of frames with checked columns ``QUERY``, ``DOC`` and perhaps ``SCORE``.

    Rows are grouped by query, in the order of first appearance; the order within a query stays.
    Without a column of scores, the order of the rows is the ranking.

    Args:
        frames: the parts of a table, at least one; of their queries only the stretches are kept.
    """
    query_ids: list[str] = []
    lengths: list[int] = []
    documents: list[pl.Series] = []
    scores: list[pl.Series] = []
    for frame in frames:
        for query_id, length in _query_stretches(frame[QUERY]):
            if query_ids and query_id == query_ids[-1]:
                lengths[-1] += length
            else:
                query_ids.append(query_id)
                lengths.append(length)
        documents.append(frame[DOC])
        if SCORE in frame.columns:
            scores.append(frame[SCORE])
    all_documents, all_scores = pl.concat(documents), pl.concat(scores) if scores else None
    if len(set(query_ids)) < len(query_ids):
        row_of: dict[str, int] = {}
        rows = np.array([row_of.setdefault(query_id, len(row_of)) for query_id in query_ids])
        order = np.argsort(np.repeat(rows, lengths), kind="stable")
        all_documents = all_documents[order]
        all_scores = None if all_scores is None else all_scores[order]
        query_ids = list(row_of)
        lengths = np.bincount(rows, weights=lengths).astype(np.int64).tolist()
    starts = starts_from_lengths(np.array(lengths, dtype=np.int64))
    return ColumnSource(query_ids, FrameRankings(starts, all_documents, all_scores))


def _query_stretches(queries: pl.Series) -> Iterator[tuple[str, int]]:
    """Yield each query and its number of rows, for each sequence of rows of one query."""
    spans = queries.rle().struct
    return zip(spans.field("value").to_list(), spans.field("len").to_list(), strict=True)


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
