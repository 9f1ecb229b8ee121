"""Rankings in Python lists: three columns, or one list of document ids per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain, compress, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    concatenate_ranges,
    is_iterable,
    read_finite_floats,
    starts_from_lengths,
)
from beir_eval.core.ids import checked_columns, checked_ids, checked_query_ids, pick_ids
from beir_eval.core.run_sources.base import raise_first_score_error
from beir_eval.core.run_sources.columns import ColumnSource, FlatRankings, LookUpResult
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.core.qrels import Qrels

#: Up to so many judged documents of a ranking are looked for in a set, more in a dict with their
#: positions. The set takes 60% of the time of the dict.
_FEW_JUDGED = 4


@dataclass(frozen=True, eq=False)
class ListedRankings(FlatRankings):
    """Rankings whose document ids are in a list for each ranking.

    Attributes:
        documents: the document ids of each ranking of the run; each is asked for when it is needed,
            so a caller may read them only then.
        rows: which of them these R rankings are. [R]
    """

    documents: Sequence[Sequence[str]]
    rows: Sequence[int]

    def ids_at(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        if isinstance(positions, slice):
            begin, end, _ = positions.indices(int(self.starts[-1]))
            row = int(np.searchsorted(self.starts, begin, side="right")) - 1
            if begin < end <= self.starts[row + 1]:  # of one ranking, as when all are listed
                first = int(self.starts[row])
                return list(self.documents[self.rows[row]][begin - first : end - first])
            positions = np.arange(begin, end, dtype=np.int64)
        rows = np.searchsorted(self.starts, positions, side="right") - 1
        indices = (positions - self.starts[rows]).tolist()
        return [
            self.documents[self.rows[row]][index]
            for row, index in zip(rows.tolist(), indices, strict=True)
        ]

    def select(self, rankings: Ints) -> Self:
        """Return some of the rankings.

        Args:
            rankings: ascending indices, each at most once.
        """
        first, last = self.starts[rankings], self.starts[rankings + 1]
        scores = None if self.scores is None else self.scores[concatenate_ranges(first, last)]
        rows = [self.rows[ranking] for ranking in rankings.tolist()]
        return replace(self, starts=starts_from_lengths(last - first), rows=rows, scores=scores)

    def look_up(self, qrels: Qrels, rows: Ints, judgement: Ints, ranking: Ints) -> LookUpResult:
        """Return what ``FlatRankings.look_up`` describes, with a set or a dict per ranking."""
        judged, query_ids = pick_ids(qrels.doc_ids, judgement), pick_ids(qrels.query_ids, rows)
        first_positions: list[int] = []
        identical: list[int] = []
        copies: list[list[int]] = []
        judged_bounds = pairwise(
            starts_from_lengths(np.bincount(ranking, minlength=len(query_ids))).tolist()
        )
        rankings = map(self.documents.__getitem__, self.rows)
        for query_id, doc_ids, begin, (first, last) in zip(
            query_ids, rankings, self.starts[:-1].tolist(), judged_bounds, strict=True
        ):
            wanted = judged[first:last]
            positions = range(begin, begin + len(doc_ids))
            position_of: dict[str, int] | None = None
            distinct: Collection[str]
            if len(wanted) <= _FEW_JUDGED:
                distinct = set(doc_ids)
            else:
                distinct = position_of = dict(zip(doc_ids, positions, strict=True))
            if len(distinct) < len(doc_ids):
                positions_of: dict[str, list[int]] = {}
                for position, doc_id in zip(positions, doc_ids, strict=True):
                    positions_of.setdefault(doc_id, []).append(position)
                copies += [many for many in positions_of.values() if len(many) > 1]
                identical += positions_of.get(query_id, ())
                position_of = {doc_id: many[0] for doc_id, many in positions_of.items()}
            elif query_id in distinct:
                identical.append(begin + doc_ids.index(query_id))
            if position_of is not None:
                first_positions += map(position_of.get, wanted, repeat(-1))
                continue
            first_positions += [
                begin + doc_ids.index(doc_id) if doc_id in distinct else -1 for doc_id in wanted
            ]
        first_position = _as_ints(first_positions)
        hits = np.flatnonzero(first_position >= 0)
        copy_group = _as_ints([group for group, many in enumerate(copies) for _ in many])
        copy_position = _as_ints(list(chain.from_iterable(copies)))
        return LookUpResult(
            hits, first_position[hits], _as_ints(identical), copy_group, copy_position
        )


def _as_ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def source_from_lists(
    query_ids: Sequence[str],
    rankings: Sequence[Sequence[str]],
    scores: Floats | None,
    lengths: Iterable[int] | None = None,
) -> ColumnSource:
    """Return the source of rankings that are already checked.

    Args:
        query_ids: the queries, distinct, as text. [Q]
        rankings: the document ids of each query, as text. [Q]
        scores: the scores of all documents, finite, ranking after ranking, f8[N]; None if the order
            given is the ranking.
        lengths: how many documents each ranking has, for rankings that are to be read only when
            they are evaluated. [Q]
    """
    known = map(len, rankings) if lengths is None else lengths
    starts = starts_from_lengths(np.fromiter(known, np.int64, len(rankings)))
    flat = ListedRankings(starts, rankings, scores, range(len(rankings)))
    return ColumnSource(query_ids, flat)


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
    rankings = [doc_ids[begin:end] for begin, end in pairwise(starts.tolist())]
    return source_from_lists(list(row_of), rankings, checked_scores[by_query])


def source_from_rankings(rankings: Mapping[Any, Iterable[Any]]) -> ColumnSource:
    """Return the source of {query_id: [doc_id, …]}, checked (see ``Run.from_rankings``)."""
    if not hasattr(rankings, "values"):
        msg = (
            f"rankings must be {{query_id: [doc_id, …]}}, not {type(rankings).__name__}; "
            "read_run(path) reads a file"
        )
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
