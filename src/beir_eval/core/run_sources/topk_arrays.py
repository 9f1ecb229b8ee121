"""Rankings as top-k arrays: ids [Q, k] and scores [Q, k], as a vector index returns them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import Floats, Ints, follow_each_other, rows_of, starts_of
from beir_eval.core.ids import checked_ids
from beir_eval.core.run_sources.array_inputs import PADDING, Names, as_array, check_range
from beir_eval.core.run_sources.columns import FlatRankings, Retrieved, judged_parts
from beir_eval.core.run_sources.scores import refuse_score
from beir_eval.core.run_sources.search import find, first_of_each, repeated, repeated_among
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock

#: Cells looked at together: few enough that the arrays of a step stay small.
BLOCK_CELLS = 200_000
_HIGHEST_NUMBER = np.iinfo(np.int64).max
#: Its digits.
_LONGEST_NUMBER = 19


@dataclass(frozen=True, eq=False)
class NumberedRankings(FlatRankings):
    """Rankings whose documents are numbers: ids themselves, or row numbers that name documents.

    Attributes:
        names: what row numbers name; None where the number is the id.
        row_numbers: those of each id that may be looked for, if there are names.
        check_all: whether all documents are compared to find copies, or only judged ones.
    """

    documents: Ints
    names: Names | None
    row_numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    check_all: bool = True

    def ids_at(self, chosen: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""
        numbers = self.documents[chosen].tolist()
        if self.names is None:
            return list(map(str, numbers))
        return [self.names.texts[number] for number in numbers]

    def look_up(self, judged: Sequence[str], ranking: Ints, own_ids: Sequence[str]) -> Retrieved:
        """Find the judged documents of each ranking, its copies, and the id of its query."""
        index, position = self._find(judged, ranking)
        if self.check_all:
            first = None if self.names is None else self.names.first
            numbers = self.documents if first is None else first[self.documents]
            copy_group, copy_position = repeated(numbers, self.starts)
        else:
            copy_group, copy_position = repeated_among(index, position)
        _, identical = self._find(own_ids, np.arange(len(own_ids), dtype=np.int64))
        hits = first_of_each(index, position)
        return Retrieved(*hits, identical, copy_group, copy_position)

    def _find(self, ids: Sequence[str], ranking: Ints) -> tuple[Ints, Ints]:
        """Return index and position of every occurrence of ids in their rankings."""
        if self.names is None:
            index, number = _decimal_numbers(ids)
        else:
            index, number = _row_numbers(ids, self.row_numbers)
        at, position = find(self.documents, self.starts, ranking[index], number)
        return index[at], position


@dataclass(frozen=True, slots=True)
class ArraySource:
    """Numbers [Q, k] whose meaning is a document id; padding is left out."""

    query_ids: Sequence[str]
    numbers: NDArray[Any]
    scores: NDArray[Any] | None
    names: Names | None
    checks_all_documents: bool

    @classmethod
    def from_arrays(
        cls,
        ids: Any,
        scores: Any | None,
        query_ids: Iterable[Any],
        doc_ids: Sequence[Any] | Mapping[int, Any] | None,
        check_duplicates: bool,  # noqa: FBT001 - named by Run.from_arrays
    ) -> Self:
        """Check shapes and kinds (see ``Run.from_arrays``)."""
        numbers = as_array("ids", ids)
        if numbers.dtype.kind not in "iu":
            msg = (
                f"ids must be integers [Q, k], not {numbers.dtype}; for ids that are text use "
                "Run.from_columns or Run.from_rankings"
            )
            raise RunError(msg)
        if isinstance(query_ids, str):
            msg = f"query_ids must be a list of ids, not the text {query_ids!r}"
            raise RunError(msg)
        queries = list(checked_ids(query_ids, "query_ids", RunError))
        if len(queries) != len(numbers):
            msg = f"there are {len(queries)} query_ids for {len(numbers)} rows of ids"
            raise RunError(msg)
        if len(set(queries)) < len(queries):
            msg = "query_ids names a query twice; each row must have a query of its own"
            raise RunError(msg)
        values = None if scores is None else as_array("scores", scores)
        if values is not None and (values.shape != numbers.shape or values.dtype.kind not in "iuf"):
            msg = (
                f"scores must be numbers of the shape of ids, {list(numbers.shape)}, not "
                f"{values.dtype} {list(values.shape)}"
            )
            raise RunError(msg)
        names = None if doc_ids is None else Names.of(doc_ids)
        check_range(numbers, queries.__getitem__, None if names is None else names.texts)
        repeats = names is not None and names.first is not None
        return cls(queries, numbers, values, names, check_duplicates or repeats)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for place, query_id in enumerate(self.query_ids):
            part = self._part(np.array([place]))
            scores = None if part.scores is None else part.scores.astype(np.float64)
            yield query_id, part.ids_at(slice(None)), scores

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the judged rankings in their order, about ``BLOCK_CELLS`` cells at a time."""
        row_numbers = self._row_numbers_in(qrels)
        lengths = np.full(len(self.numbers), self.numbers.shape[1], dtype=np.int64)
        for places, rows in judged_parts(self.query_ids, lengths, qrels, BLOCK_CELLS):
            rankings = replace(
                self._part(places), row_numbers=row_numbers, check_all=self.checks_all_documents
            )
            yield rankings.block(rows, qrels)

    def _row_numbers_in(self, qrels: Qrels) -> dict[str, list[int]]:
        """Return the row numbers of the judged documents, and of ids of queries."""
        numbers_of: dict[str, list[int]] = {}
        if self.names is not None:
            sought = {*qrels.doc_ids, *qrels.query_ids}
            for number, text in enumerate(self.names.texts):
                if text in sought:
                    numbers_of.setdefault(text, []).append(number)
        return numbers_of

    def _part(self, places: Ints) -> NumberedRankings:
        """Return these rows without padding, checked: the arrays are the caller's."""
        table = np.asarray(_chosen(self.numbers, places))
        # The arrays are the caller's, who may have changed them.
        has_padding = check_range(
            table,
            lambda row: self.query_ids[int(places[row])],
            None if self.names is None else self.names.texts,
        )
        table = table.astype(np.int64, copy=False)
        real = table != PADDING if has_padding else None
        numbers = table.ravel() if real is None else table[real]
        in_row = np.full(len(table), table.shape[1]) if real is None else real.sum(axis=1)
        starts = starts_of(in_row.astype(np.int64, copy=False))
        rankings = NumberedRankings(starts, numbers, None, self.names)
        if self.scores is None:
            return rankings
        scores = _chosen(self.scores, places)
        scores = scores.ravel() if real is None else scores[real]
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if not np.isfinite(scores).all():
            first = np.flatnonzero(~np.isfinite(scores))[:1]
            (row,) = np.searchsorted(starts, first, side="right") - 1
            (doc_id,) = rankings.ids_at(first)
            refuse_score(self.query_ids[int(places[row])], doc_id, float(scores[first[0]]))
        return replace(rankings, scores=scores)


def _chosen(table: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Return these rows, without a copy where they follow each other."""
    if follow_each_other(places):
        return table[places[0] : places[-1] + 1]
    return table[places]


def _decimal_numbers(ids: Sequence[str]) -> tuple[Ints, Ints]:
    """Return which ids are the decimal string of a number, and that number: i8[W], i8[W]."""
    numbers = _all_numbers(ids)
    if numbers is not None:
        return np.arange(len(ids), dtype=np.int64), numbers
    decimal = [
        (index, int(ids[index]))
        for index in compress(range(len(ids)), map(str.isdecimal, ids))
        if ids[index].isascii()
        and len(ids[index]) <= _LONGEST_NUMBER
        and (ids[index][0] != "0" or ids[index] == "0")
    ]
    fitting = [(index, number) for index, number in decimal if number <= _HIGHEST_NUMBER]
    index, number = np.array(fitting, dtype=np.int64).reshape(-1, 2).T
    return index, number


def _all_numbers(ids: Sequence[str]) -> Ints | None:
    """Return the number that each id is the decimal string of, None where some id is none."""
    digits = "".join(ids)
    if not (digits.isdecimal() and digits.isascii()):
        return None
    try:
        numbers = np.fromiter(map(int, ids), np.int64, len(ids))
    except (OverflowError, ValueError):  # beyond 64 bits, or beyond what Python reads
        return None
    lengths = 1 + np.searchsorted(10 ** np.arange(1, _LONGEST_NUMBER), numbers, side="right")
    return numbers if int(lengths.sum()) == len(digits) else None  # leading zeros


def _row_numbers(ids: Sequence[str], row_numbers: Mapping[str, Sequence[int]]) -> tuple[Ints, Ints]:
    """Return each row number of these ids, and whose it is: i8[W], i8[W]."""
    numbers = [row_numbers.get(text, ()) for text in ids]
    index = rows_of(np.fromiter(map(len, numbers), np.int64, len(numbers)))
    return index, np.array(list(chain.from_iterable(numbers)), dtype=np.int64)
