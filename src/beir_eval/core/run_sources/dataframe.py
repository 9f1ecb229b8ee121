"""Rankings in columns of a polars frame: a dataframe, or a file that was read into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from beir_eval.core.arrays import Ints, starts_of
from beir_eval.core.dataframes import DOC, QUERY, SCORE
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, Retrieved
from beir_eval.core.run_sources.search import find, first_of_each, repeated

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class FrameRankings(FlatRankings):
    """Rankings whose document ids are in a column: they stay in polars until one is asked for.

    Ids are compared by a 64-bit hash, and as text where the hashes agree.
    """

    documents: pl.Series

    def ids_at(self, chosen: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        ids: list[str] = self.documents[chosen].to_list()
        return ids

    def look_up(self, judged: Sequence[str], ranking: Ints, own_ids: Sequence[str]) -> Retrieved:
        """Find the judged documents of each ranking, its copies, and the id of its query."""
        hashes = _hashes(self.documents)
        wanted = _series([*judged, *own_ids])
        wanted_hashes = _hashes(wanted)

        def occurrences(part: slice, row: Ints) -> tuple[Ints, Ints]:
            index, position = find(hashes, self.starts, row, wanted_hashes[part])
            same = (self.documents[position] == wanted[part][index]).to_numpy()
            return index[same], position[same]

        hits, position = first_of_each(*occurrences(slice(len(judged)), ranking))
        by_position = np.argsort(position, kind="stable")
        every_ranking = np.arange(len(own_ids), dtype=np.int64)
        _, identical = occurrences(slice(len(judged), None), every_ranking)
        return Retrieved(
            hits[by_position], position[by_position], identical, *self._repeated(hashes)
        )

    def _repeated(self, hashes: Ints) -> tuple[Ints, Ints]:
        """Return group and position of every entry that its ranking lists more than once."""
        group, position = repeated(hashes, self.starts)
        if not len(group):
            return group, position
        number: dict[tuple[int, str], int] = {}
        keys = zip(group.tolist(), self.ids_at(position), strict=True)
        exact = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
        is_copy = np.bincount(exact)[exact] > 1
        return exact[is_copy], position[is_copy]


def source_from_frame(frame: pl.DataFrame) -> ColumnSource:
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
    return ColumnSource(query_ids, FrameRankings(starts, frame[DOC], scores))


def _stretches(queries: pl.Series) -> tuple[Ints, list[str]]:
    """Return where each stretch of one query begins (and the end), and the query of each."""
    runs = queries.rle().struct
    return starts_of(runs.field("len").to_numpy().astype(np.int64)), runs.field("value").to_list()


def _series(ids: Sequence[str]) -> pl.Series:
    """Return ids as a column; one that is not Unicode, which no frame can hold, as empty text."""
    try:
        return pl.Series(ids, dtype=pl.String)
    except UnicodeEncodeError:
        unicode = [text if text.encode(errors="replace").decode() == text else "" for text in ids]
        return pl.Series(unicode, dtype=pl.String)


def _hashes(ids: pl.Series) -> Ints:
    """Return a 64-bit hash of each id: what has another hash is another id."""
    return ids.hash(seed=0).to_numpy().view(np.int64)
