"""Rankings as top-k arrays: ids [Q, k] and scores [Q, k], as a vector index returns them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, compress, count
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    are_consecutive,
    rows_from_lengths,
    starts_from_lengths,
)
from beir_eval.core.ids import checked_ids, pick_ids
from beir_eval.core.number_lookup import (
    find_occurrences,
    find_repeated,
    first_occurrences,
    repeated_occurrences,
)
from beir_eval.core.qrels import are_query_ids_of_qrels
from beir_eval.core.run_sources.array_inputs import PADDING, DocIdTable, as_array, check_numbers
from beir_eval.core.run_sources.base import raise_score_error
from beir_eval.core.run_sources.columns import FlatRankings, LookUpResult, split_judged_queries
from beir_eval.core.run_sources.lists import source_from_texts
from beir_eval.errors import RunError, check_flag, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock, RunSource

#: Cells per block: few enough that the arrays of a block stay small.
BLOCK_CELLS = 400_000


class WantedNumbers:
    """The numbers of judged documents and of queries, in arrays of ids or of row numbers."""

    def __init__(self, id_table: DocIdTable | None, qrels: Qrels) -> None:
        """Find the row numbers of judged documents and of queries, if numbers are row numbers.

        Args:
            id_table: the document id of each row number; None if the numbers are document ids.
            qrels: the judged documents.
        """
        self._rows_of: dict[str, list[int]] | None = None
        if id_table is not None:
            rows_of: dict[str, list[int]] = {}
            ids = {*qrels.doc_ids, *qrels.query_ids}
            for row in compress(count(), map(ids.__contains__, id_table.doc_ids)):
                rows_of.setdefault(id_table.doc_ids[row], []).append(row)
            self._rows_of = rows_of

    def of_judgements(self, qrels: Qrels, judgement: Ints) -> tuple[Ints, Ints]:
        """Return the numbers of judged documents.

        Args:
            qrels: the judged documents.
            judgement: some of the judgements, i8[W].

        Returns:
            The index (0..W-1) of each number, and the numbers: i8[V], i8[V]. An id may have no
            number, or several.
        """
        if self._rows_of is None:
            return _at_least_0(qrels.doc_numbers[judgement])
        return _row_numbers(pick_ids(qrels.doc_ids, judgement), self._rows_of)

    def of_queries(self, qrels: Qrels, rows: Ints) -> tuple[Ints, Ints]:
        """Return the numbers of documents with the ids of queries, as ``of_judgements`` does.

        Args:
            qrels: the judged documents.
            rows: some of the queries, i8[R].
        """
        if self._rows_of is None:
            return _at_least_0(qrels.query_numbers[rows])
        return _row_numbers(pick_ids(qrels.query_ids, rows), self._rows_of)


def _row_numbers(ids: Sequence[str], rows_of: Mapping[str, Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the index of the id of each row number, and the row numbers: i8[V], i8[V].

    Args:
        ids: the ids. [W]
        rows_of: {id: its row numbers}; an id may have none, or several.
    """
    numbers = [rows_of.get(doc_id, ()) for doc_id in ids]
    index = rows_from_lengths(np.fromiter(map(len, numbers), np.int64, len(numbers)))
    return index, np.array(list(chain.from_iterable(numbers)), dtype=np.int64)


def _at_least_0(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the index of each number that is not negative, and these numbers: i8[V], i8[V]."""
    index = np.flatnonzero(numbers >= 0)
    return index, numbers[index]


@dataclass(frozen=True, eq=False)
class NumberedRankings(FlatRankings):
    """Rankings whose documents are numbers: document ids, or row numbers of document ids.

    Attributes:
        documents: the numbers, ranking after ranking, i8[N].
        id_table: the document id of each row number; None if the numbers are document ids.
        wanted: the numbers of judged documents and of documents with the id of a query; None if
            nothing is looked up.
        check_all: whether all documents are checked for duplicates, or only judged ones.
    """

    documents: Ints
    id_table: DocIdTable | None
    wanted: WantedNumbers | None = None
    check_all: bool = True

    def ids_at(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        numbers = self.documents[positions].tolist()
        if self.id_table is None:
            return list(map(str, numbers))
        return [self.id_table.doc_ids[number] for number in numbers]

    def look_up(self, qrels: Qrels, rows: Ints, judgement: Ints, ranking: Ints) -> LookUpResult:
        """Return what ``FlatRankings.look_up`` describes, by comparing numbers."""
        assert self.wanted is not None  # noqa: S101 - set by ArraySource.blocks
        index, position = self._find(*self.wanted.of_judgements(qrels, judgement), ranking)
        if self.check_all:
            first_row = None if self.id_table is None else self.id_table.first_row
            numbers = self.documents if first_row is None else first_row[self.documents]
            copy_group, copy_position = find_repeated(numbers, self.starts)
        else:
            copy_group, copy_position = repeated_occurrences(index, position)
        all_rankings = np.arange(len(rows), dtype=np.int64)
        _, identical = self._find(*self.wanted.of_queries(qrels, rows), all_rankings)
        hits = first_occurrences(index, position)
        return LookUpResult(*hits, identical, copy_group, copy_position)

    def _find(self, index: Ints, number: Ints, ranking: Ints) -> tuple[Ints, Ints]:
        """Return the index (0..W-1) and position of every occurrence of ids in their rankings.

        Args:
            index: the id (0..W-1) of each number, never decreasing, i8[V].
            number: the numbers to look for, i8[V].
            ranking: the ranking of each id, never decreasing, i8[W].
        """
        wanted, position = find_occurrences(self.documents, self.starts, ranking[index], number)
        return index[wanted], position


@dataclass(frozen=True, slots=True)
class ArraySource:
    """The source of a run whose rankings are arrays [Q, k], one row per query.

    Attributes:
        query_ids: the query of each row, distinct, as text. [Q]
        numbers: document ids, or row numbers of ``id_table``; -1 is padding. [Q, k]
        scores: their scores [Q, k]; None if the order given is the ranking.
        id_table: the document id of each row number; None if the numbers are document ids.
        checks_all_documents: whether all documents are checked for duplicates.
    """

    query_ids: Sequence[str]
    numbers: NDArray[Any]
    scores: NDArray[Any] | None
    id_table: DocIdTable | None
    checks_all_documents: bool

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for row, query_id in enumerate(self.query_ids):
            ranking = self._read_rows(np.array([row]))
            scores = None if ranking.scores is None else ranking.scores.astype(np.float64)
            yield query_id, ranking.ids_at(slice(None)), scores

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, in blocks of about ``BLOCK_CELLS`` cells."""
        wanted = WantedNumbers(self.id_table, qrels)
        lengths = np.full(len(self.numbers), self.numbers.shape[1], dtype=np.int64)
        for rows, qrels_rows in split_judged_queries(self.query_ids, lengths, qrels, BLOCK_CELLS):
            rankings = replace(
                self._read_rows(rows), wanted=wanted, check_all=self.checks_all_documents
            )
            yield rankings.block(qrels_rows, qrels)

    def _read_rows(self, rows: Ints) -> NumberedRankings:
        """Return the rankings in these rows of the arrays, checked and without padding."""
        table = np.asarray(_select_rows(self.numbers, rows))
        has_padding = table.size > 0 and table.min() < 0
        table = table.astype(np.int64, copy=False)
        is_document = table != PADDING if has_padding else None
        numbers = table.ravel() if is_document is None else table[is_document]
        lengths = (
            np.full(len(table), table.shape[1]) if is_document is None else is_document.sum(axis=1)
        )
        starts = starts_from_lengths(lengths.astype(np.int64, copy=False))
        rankings = NumberedRankings(starts, numbers, None, self.id_table)
        if self.scores is None:
            return rankings
        scores = _select_rows(self.scores, rows)
        scores = scores.ravel() if is_document is None else scores[is_document]
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if not np.isfinite(scores).all():
            first = np.flatnonzero(~np.isfinite(scores))[:1]
            (row,) = np.searchsorted(starts, first, side="right") - 1
            (doc_id,) = rankings.ids_at(first)
            raise_score_error(self.query_ids[int(rows[row])], doc_id, float(scores[first[0]]))
        return replace(rankings, scores=scores)


def source_from_arrays(
    ids: Any,
    scores: Any | None,
    query_ids: Iterable[Any],
    doc_ids: Sequence[Any] | Mapping[int, Any] | None,
    check_duplicates: bool,  # noqa: FBT001 - named by Run.from_arrays
) -> RunSource:
    """Return the source, with shapes, types and ids checked (see ``Run.from_arrays``)."""
    table = as_array("ids", ids)
    if table.dtype.kind not in "iuUOT":
        msg = f"ids must be integers or texts [Q, k], not {table.dtype}"
        if table.dtype.kind == "f":
            msg += "; the first argument is the ids, the second the scores"
        raise RunError(msg)
    check_flag("check_duplicates", check_duplicates)
    queries = _checked_queries(query_ids)
    if len(queries) != len(table):
        msg = f"there are {len(queries)} query_ids for {len(table)} rows of ids"
        raise RunError(msg)
    values = None if scores is None else as_array("scores", scores)
    if values is not None and (values.shape != table.shape or values.dtype.kind not in "iuf"):
        msg = (
            f"scores must be numbers of the shape of ids, {list(table.shape)}, not "
            f"{values.dtype} {list(values.shape)}"
        )
        raise RunError(msg)
    if table.dtype.kind not in "iu":
        if doc_ids is not None:
            msg = "doc_ids is for ids that are row numbers, but these ids are texts; leave it out"
            raise RunError(msg)
        return source_from_texts(queries, table.tolist(), values)
    id_table = None if doc_ids is None else DocIdTable.from_doc_ids(doc_ids)
    check_numbers(table, queries.__getitem__, None if id_table is None else id_table.doc_ids)
    has_repeats = id_table is not None and id_table.first_row is not None
    return ArraySource(queries, table, values, id_table, check_duplicates or has_repeats)


def _checked_queries(query_ids: Iterable[Any]) -> Sequence[str]:
    """Return distinct query ids as text, or raise RunError."""
    if are_query_ids_of_qrels(query_ids):
        return cast("tuple[str, ...]", query_ids)
    if isinstance(query_ids, (str, bytes)):
        msg = f"query_ids must be a list of ids, not the text {shown(query_ids)}"
        raise RunError(msg)
    queries = list(checked_ids(query_ids, "query_ids", RunError))
    if len(set(queries)) < len(queries):
        msg = "query_ids names a query twice; each row must have a query of its own"
        raise RunError(msg)
    return queries


def _select_rows(table: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Return these rows of a table; without a copy if they are consecutive."""
    if are_consecutive(rows):
        return table[rows[0] : rows[-1] + 1]
    return table[rows]
