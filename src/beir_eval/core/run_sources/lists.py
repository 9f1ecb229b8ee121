"""Rankings in Python lists: three columns, or one list of document ids per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, compress, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    is_iterable,
    read_finite_floats,
    starts_from_lengths,
)
from beir_eval.core.ids import checked_columns, checked_ids, checked_query_ids
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, LookUpResult
from beir_eval.core.run_sources.score_checks import raise_first_score_error
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ListedRankings(FlatRankings):
    """Rankings whose document ids are in one list.

    Attributes:
        documents: the document ids, ranking after ranking. [N]
    """

    documents: list[str]

    def take(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        if isinstance(positions, slice):
            return self.documents[positions]
        return [self.documents[position] for position in positions.tolist()]

    ids_at = take

    def look_up(
        self, judged: Sequence[str], ranking: Ints, query_ids: Sequence[str]
    ) -> LookUpResult:
        """Return what ``FlatRankings.look_up`` describes, with a dict per ranking."""
        first_positions: list[int] = []
        identical: list[int] = []
        copies: list[list[int]] = []
        judged_bounds = pairwise(
            starts_from_lengths(np.bincount(ranking, minlength=len(query_ids))).tolist()
        )
        ranking_bounds = pairwise(self.starts.tolist())
        for query_id, (begin, end), (first, last) in zip(
            query_ids, ranking_bounds, judged_bounds, strict=True
        ):
            doc_ids = self.documents[begin:end]
            position_of = dict(zip(doc_ids, range(begin, end), strict=True))
            if len(position_of) < len(doc_ids):
                positions_of: dict[str, list[int]] = {}
                for position, doc_id in enumerate(doc_ids, begin):
                    positions_of.setdefault(doc_id, []).append(position)
                position_of = {doc_id: positions[0] for doc_id, positions in positions_of.items()}
                copies += [positions for positions in positions_of.values() if len(positions) > 1]
                identical += positions_of.get(query_id, ())
            elif query_id in position_of:
                identical.append(position_of[query_id])
            first_positions += map(position_of.get, judged[first:last], repeat(-1))
        first_position = _as_ints(first_positions)
        hits = np.flatnonzero(first_position >= 0)
        copy_group = _as_ints([group for group, positions in enumerate(copies) for _ in positions])
        copy_position = _as_ints(list(chain.from_iterable(copies)))
        return LookUpResult(
            hits, first_position[hits], _as_ints(identical), copy_group, copy_position
        )


def _as_ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def source_from_lists(
    query_ids: Sequence[str], rankings: Collection[Sequence[str]], scores: Floats | None
) -> ColumnSource:
    """Return the source of rankings that are already checked.

    Args:
        query_ids: the queries, distinct, as text. [Q]
        rankings: the document ids of each query, as text. [Q]
        scores: the scores of all documents, finite, ranking after ranking, f8[N]; None if the order
            given is the ranking.
    """
    lengths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    doc_ids = list(chain.from_iterable(rankings))
    return ColumnSource(query_ids, ListedRankings(starts_from_lengths(lengths), doc_ids, scores))


def source_from_texts(
    query_ids: Sequence[str], table: Sequence[Sequence[Any]], scores: NDArray[Any] | None
) -> ColumnSource:
    """Return the source of a table of document ids, a row for each query.

    Args:
        query_ids: the queries, distinct, as text. [Q]
        table: the ids, best first; "" and None are padding. [Q][k]
        scores: their scores, numbers [Q, k]; None if the order given is the ranking.

    Raises:
        RunError: an id is neither text nor an integer, or a score is not finite.
    """
    is_document = [[not (doc is None or doc == "") for doc in row] for row in table]
    rankings = [
        checked_ids(list(compress(row, selected)), "ids", RunError)
        for row, selected in zip(table, is_document, strict=True)
    ]
    if scores is None:
        return source_from_lists(query_ids, rankings, None)
    values = scores[np.array(is_document, dtype=np.bool_).reshape(scores.shape)].astype(np.float64)
    if not np.isfinite(values).all():
        queries = chain.from_iterable(map(repeat, query_ids, map(len, rankings)))
        raise_first_score_error(
            zip(queries, chain.from_iterable(rankings), values.tolist(), strict=True)
        )
    return source_from_lists(query_ids, rankings, values)


def source_from_columns(
    query_ids: Iterable[Any], doc_ids: Iterable[Any], scores: Iterable[Any]
) -> ColumnSource:
    """Return the source of three columns, checked (see ``Run.from_columns``).

    Rows are grouped by query; the order within a query stays.
    """
    queries, docs, raw_scores = checked_columns(
        (query_ids, doc_ids, scores), "scores", "run", RunError
    )
    try:
        checked_scores = read_finite_floats(raw_scores, len(raw_scores))
    except NOT_NUMBERS:
        raise_first_score_error(zip(queries, docs, raw_scores, strict=True))
    row_of: dict[str, int] = {}
    row = np.fromiter(
        (row_of.setdefault(query, len(row_of)) for query in queries), np.int64, len(queries)
    )
    starts = starts_from_lengths(np.bincount(row, minlength=len(row_of)))
    by_query = np.argsort(row, kind="stable")
    doc_ids = [docs[index] for index in by_query.tolist()]
    return ColumnSource(list(row_of), ListedRankings(starts, doc_ids, checked_scores[by_query]))


def source_from_rankings(rankings: Mapping[Any, Iterable[Any]]) -> ColumnSource:
    """Return the source of {query_id: [doc_id, …]}, checked (see ``Run.from_rankings``)."""
    if not isinstance(rankings, Mapping):
        msg = f"rankings must be {{query_id: [doc_id, …]}}, not {type(rankings).__name__}"
        raise RunError(msg)
    checked_rankings: list[list[str]] = []
    query_ids = checked_query_ids(rankings, "run", RunError)
    for query_id, ranking in zip(query_ids, rankings.values(), strict=True):
        is_unordered = isinstance(ranking, (str, bytes, Mapping, AbstractSet))
        if is_unordered or not is_iterable(ranking):
            msg = (
                f"the ranking of query {shown(query_id)} must be a list of ids, not "
                f"{type(ranking).__name__}"
            )
            raise RunError(msg)
        checked_rankings.append(list(checked_ids(ranking, "run", RunError)))
    return source_from_lists(query_ids, checked_rankings, None)
