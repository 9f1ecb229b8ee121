"""Rankings as top-k arrays: ids [Q, k] and scores [Q, k], as a vector index returns them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    are_consecutive,
    rows_from_lengths,
    starts_from_lengths,
)
from beir_eval.core.ids import checked_ids
from beir_eval.core.number_lookup import (
    find_occurrences,
    find_repeated,
    first_occurrences,
    repeated_occurrences,
)
from beir_eval.core.run_sources.array_inputs import PADDING, DocIdTable, as_array, check_numbers
from beir_eval.core.run_sources.columns import FlatRankings, LookUpResult, split_judged_queries
from beir_eval.core.run_sources.lists import source_from_texts
from beir_eval.core.run_sources.score_checks import raise_score_error
from beir_eval.errors import RunError, check_flag, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock, RunSource

#: Cells per block: few enough that the arrays of a block stay small.
BLOCK_CELLS = 200_000
_MAX_NUMBER = np.iinfo(np.int64).max
#: The number of its digits.
_MAX_DIGITS = 19


@dataclass(frozen=True, eq=False)
class NumberedRankings(FlatRankings):
    """Rankings whose documents are numbers: document ids, or row numbers of document ids.

    Attributes:
        documents: the numbers, ranking after ranking, i8[N].
        id_table: the document id of each row number; None if the numbers are document ids.
        row_numbers: {document id: its row numbers}, for the ids that may be looked up; empty if
            ``id_table`` is None.
        check_all: whether all documents are checked for duplicates, or only judged ones.
    """

    documents: Ints
    id_table: DocIdTable | None
    row_numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    check_all: bool = True

    def ids_at(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        numbers = self.documents[positions].tolist()
        if self.id_table is None:
            return list(map(str, numbers))
        return [self.id_table.doc_ids[number] for number in numbers]

    def look_up(
        self, judged: Sequence[str], ranking: Ints, query_ids: Sequence[str]
    ) -> LookUpResult:
        """Return what ``FlatRankings.look_up`` describes, by comparing numbers."""
        index, position = self._find(judged, ranking)
        if self.check_all:
            first_row = None if self.id_table is None else self.id_table.first_row
            numbers = self.documents if first_row is None else first_row[self.documents]
            copy_group, copy_position = find_repeated(numbers, self.starts)
        else:
            copy_group, copy_position = repeated_occurrences(index, position)
        _, identical = self._find(query_ids, np.arange(len(query_ids), dtype=np.int64))
        hits = first_occurrences(index, position)
        return LookUpResult(*hits, identical, copy_group, copy_position)

    def _find(self, ids: Sequence[str], ranking: Ints) -> tuple[Ints, Ints]:
        """Return the index (0..W-1) and position of every occurrence of ids in their rankings.

        Args:
            ids: the ids to look for, as text. [W]
            ranking: the ranking of each id, never decreasing, i8[W].
        """
        if self.id_table is None:
            index, number = _decimal_numbers(ids)
        else:
            index, number = _row_numbers(ids, self.row_numbers)
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
        row_numbers = self._row_numbers_by_id(qrels)
        lengths = np.full(len(self.numbers), self.numbers.shape[1], dtype=np.int64)
        for rows, qrels_rows in split_judged_queries(self.query_ids, lengths, qrels, BLOCK_CELLS):
            rankings = replace(
                self._read_rows(rows), row_numbers=row_numbers, check_all=self.checks_all_documents
            )
            yield rankings.block(qrels_rows, qrels)

    def _row_numbers_by_id(self, qrels: Qrels) -> dict[str, list[int]]:
        """Return {id: its row numbers} for the ids of judged documents and of queries."""
        row_numbers: dict[str, list[int]] = {}
        if self.id_table is not None:
            wanted = {*qrels.doc_ids, *qrels.query_ids}
            for row, doc_id in enumerate(self.id_table.doc_ids):
                if doc_id in wanted:
                    row_numbers.setdefault(doc_id, []).append(row)
        return row_numbers

    def _read_rows(self, rows: Ints) -> NumberedRankings:
        """Return the rankings in these rows of the arrays, checked and without padding."""
        table = np.asarray(_select_rows(self.numbers, rows))
        # Checked again, because the caller may have changed the arrays.
        has_padding = check_numbers(
            table,
            lambda row: self.query_ids[int(rows[row])],
            None if self.id_table is None else self.id_table.doc_ids,
        )
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
    if isinstance(query_ids, (str, bytes)):
        msg = f"query_ids must be a list of ids, not the text {shown(query_ids)}"
        raise RunError(msg)
    queries = list(checked_ids(query_ids, "query_ids", RunError))
    if len(queries) != len(table):
        msg = f"there are {len(queries)} query_ids for {len(table)} rows of ids"
        raise RunError(msg)
    if len(set(queries)) < len(queries):
        msg = "query_ids names a query twice; each row must have a query of its own"
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


def _select_rows(table: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Return these rows of a table; without a copy if they are consecutive."""
    if are_consecutive(rows):
        return table[rows[0] : rows[-1] + 1]
    return table[rows]


def _decimal_numbers(ids: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the indices of the ids that are decimal strings, and their numbers: i8[V], i8[V]."""
    numbers = _all_decimal_numbers(ids)
    if numbers is not None:
        return np.arange(len(ids), dtype=np.int64), numbers
    decimal = [
        (index, int(ids[index]))
        for index in compress(range(len(ids)), map(str.isdecimal, ids))
        if ids[index].isascii()
        and len(ids[index]) <= _MAX_DIGITS
        and (ids[index][0] != "0" or ids[index] == "0")
    ]
    fitting = [(index, number) for index, number in decimal if number <= _MAX_NUMBER]
    index, number = np.array(fitting, dtype=np.int64).reshape(-1, 2).T
    return index, number


def _all_decimal_numbers(ids: Sequence[str]) -> Ints | None:
    """Return the number of each id, i8[W]; None if some id is not a decimal string."""
    digits = "".join(ids)
    if not (digits.isdecimal() and digits.isascii()):
        return None
    try:
        numbers = np.fromiter(map(int, ids), np.int64, len(ids))
    except (OverflowError, ValueError):  # beyond 64 bits, empty, or longer than int() accepts
        return None
    lengths = 1 + np.searchsorted(10 ** np.arange(1, _MAX_DIGITS), numbers, side="right")
    return numbers if int(lengths.sum()) == len(digits) else None  # None for leading zeros


def _row_numbers(ids: Sequence[str], row_numbers: Mapping[str, Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the index of the id of each row number, and the row numbers: i8[V], i8[V].

    Args:
        ids: the ids. [W]
        row_numbers: {id: its row numbers}; an id may have none, or several.
    """
    numbers = [row_numbers.get(doc_id, ()) for doc_id in ids]
    index = rows_from_lengths(np.fromiter(map(len, numbers), np.int64, len(numbers)))
    return index, np.array(list(chain.from_iterable(numbers)), dtype=np.int64)
