"""Rankings in Python lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import NOT_NUMBERS, Floats, Ints, read_finite_floats, starts_of
from beir_eval.core.ids import checked_columns, checked_ids, checked_query_ids
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, Retrieved
from beir_eval.core.run_sources.scores import refuse_scores
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True, eq=False)
class ListedRankings(FlatRankings):
    """Rankings whose document ids are in a list."""

    documents: list[str]

    def take(self, chosen: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        if isinstance(chosen, slice):
            return self.documents[chosen]
        return [self.documents[position] for position in chosen.tolist()]

    ids_at = take

    def look_up(self, judged: Sequence[str], ranking: Ints, own_ids: Sequence[str]) -> Retrieved:
        """Find the judged documents of each ranking, its copies, and the id of its query."""
        first_positions: list[int] = []
        identical: list[int] = []
        copies: list[list[int]] = []
        judged_bounds = pairwise(starts_of(np.bincount(ranking, minlength=len(own_ids))).tolist())
        bounds = pairwise(self.starts.tolist())
        for own_id, (begin, end), (first, last) in zip(own_ids, bounds, judged_bounds, strict=True):
            doc_ids = self.documents[begin:end]
            position_of = dict(zip(doc_ids, range(begin, end), strict=True))
            if len(position_of) < len(doc_ids):
                positions_of: dict[str, list[int]] = {}
                for position, doc_id in enumerate(doc_ids, begin):
                    positions_of.setdefault(doc_id, []).append(position)
                position_of = {doc_id: each[0] for doc_id, each in positions_of.items()}
                copies += [each for each in positions_of.values() if len(each) > 1]
                identical += positions_of.get(own_id, ())
            elif own_id in position_of:
                identical.append(position_of[own_id])
            first_positions += map(position_of.get, judged[first:last], repeat(-1))
        found = _integers(first_positions)
        hits = np.flatnonzero(found >= 0)
        copy_group = _integers([group for group, each in enumerate(copies) for _ in each])
        copy_position = _integers(list(chain.from_iterable(copies)))
        return Retrieved(hits, found[hits], _integers(identical), copy_group, copy_position)


def _integers(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def source_from_lists(
    query_ids: Sequence[str], rankings: Collection[Sequence[str]], scores: Floats | None
) -> ColumnSource:
    """Lay out rankings that are checked already.

    Args:
        query_ids: distinct, as text. [Q]
        rankings: the document ids of each query, as text. [Q]
        scores: finite, of all documents, ranking after ranking, f8[N]; None when the order is the
            ranking.
    """
    lengths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    doc_ids = list(chain.from_iterable(rankings))
    return ColumnSource(query_ids, ListedRankings(starts_of(lengths), doc_ids, scores))


def source_from_columns(
    query_ids: Iterable[Any], doc_ids: Iterable[Any], scores: Iterable[Any]
) -> ColumnSource:
    """Group three columns by query, keeping the order within each (see ``Run.from_columns``)."""
    queries, docs, raw_scores = checked_columns(
        (query_ids, doc_ids, scores), "scores", "run", RunError
    )
    try:
        values = read_finite_floats(raw_scores, len(raw_scores))
    except NOT_NUMBERS:
        refuse_scores(zip(queries, docs, raw_scores, strict=True))
    codes: dict[str, int] = {}
    row = np.fromiter(
        (codes.setdefault(query, len(codes)) for query in queries), np.int64, len(queries)
    )
    starts = starts_of(np.bincount(row, minlength=len(codes)))
    grouped = np.argsort(row, kind="stable")
    doc_ids = [docs[index] for index in grouped.tolist()]
    return ColumnSource(list(codes), ListedRankings(starts, doc_ids, values[grouped]))


def source_from_rankings(rankings: Mapping[Any, Iterable[Any]]) -> ColumnSource:
    """Check and lay out {query_id: [doc_id, …]} (see ``Run.from_rankings``)."""
    if not isinstance(rankings, Mapping):
        msg = f"rankings must be {{query_id: [doc_id, …]}}, not {type(rankings).__name__}"
        raise RunError(msg)
    listed: list[list[str]] = []
    query_ids = checked_query_ids(rankings, "run", RunError)
    for query_id, ranking in zip(query_ids, rankings.values(), strict=True):
        no_order = isinstance(ranking, (str, bytes, Mapping, AbstractSet))
        if no_order or not isinstance(ranking, Iterable):
            msg = (
                f"the ranking of query {query_id!r} must be a list of ids, not "
                f"{type(ranking).__name__}"
            )
            raise RunError(msg)
        listed.append(list(checked_ids(ranking, "run", RunError)))
    return source_from_lists(query_ids, listed, None)
