"""Rankings as top-k arrays: ids [Q, k] and scores [Q, k], as a vector index returns them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.arrays import Floats, Ints, ranges, rows_of, starts_of
from beir_eval.core.ids import ids_as_text
from beir_eval.core.run_sources.array_inputs import PADDING, Names, as_array, check_range
from beir_eval.core.run_sources.base import Block, Scores
from beir_eval.core.run_sources.scores import refuse_score
from beir_eval.core.run_sources.search import find, repeated
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.core.qrels import Qrels

#: Cells looked at together: few enough that the arrays of a step stay small.
BLOCK_CELLS = 200_000
_HIGHEST_NUMBER = np.iinfo(np.int64).max
#: Its digits.
_LONGEST_NUMBER = 19


class Wanted(NamedTuple):
    """Documents looked for: numbers in the ranking of a query of the qrels, by query.

    Attributes:
        row: the query, an index into the qrels' queries, never decreasing, i8[W].
        number: the document's number, i8[W].
        item: what the caller knows it by, i8[W].
    """

    row: Ints
    number: Ints
    item: Ints


@dataclass(frozen=True, slots=True)
class ArraySource:
    """Numbers [Q, k] whose meaning is a document id; padding is left out."""

    query_ids: Sequence[str]
    numbers: NDArray[Any]
    scores: NDArray[Any] | None
    names: Names | None
    check_duplicates: bool

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
        try:
            queries = ids_as_text(list(query_ids))
        except (TypeError, ValueError) as error:
            msg = f"query_ids: {error}"
            raise RunError(msg) from error
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
            part = self._rows(np.array([place]))
            doc_ids = _ArrayIds(part.numbers, self.names).at(np.arange(len(part.numbers)))
            scores = part.scores
            yield query_id, doc_ids, None if scores is None else scores.astype(np.float64)

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the judged rankings, about ``BLOCK_CELLS`` cells at a time."""
        if tuple(self.query_ids) == qrels.query_ids:
            places = np.arange(len(qrels))
        else:
            place_of = dict(zip(self.query_ids, range(len(self.query_ids)), strict=True))
            found = map(place_of.get, qrels.query_ids, repeat(-1))
            places = np.fromiter(found, np.int64, len(qrels))
        rows = np.flatnonzero(places >= 0)
        judged, queries = self._wanted(qrels)
        step = max(1, BLOCK_CELLS // max(1, self.numbers.shape[1]))
        for begin in range(0, len(rows), step):
            here = rows[begin : begin + step]
            yield self._block(here, places[here], judged, queries)

    def _block(self, rows: Ints, places: Ints, judged: Wanted, queries: Wanted) -> Block:
        part = self._rows(places)
        hit_judgement, hit_position = part.find(judged, rows)
        in_order = np.lexsort((hit_position, hit_judgement))
        hit_judgement, hit_position = hit_judgement[in_order], hit_position[in_order]
        if self.check_duplicates:
            numbers = part.numbers
            if self.names is not None and self.names.first is not None:
                numbers = self.names.first[numbers]
            copy_group, copy_position = repeated(numbers, part.starts)
        else:
            copy_group, copy_position = _copies_among(hit_judgement, hit_position)
        first = np.ones(len(hit_judgement), dtype=np.bool_)
        first[1:] = hit_judgement[1:] != hit_judgement[:-1]
        hit_judgement, hit_position = hit_judgement[first], hit_position[first]
        scores = part.scores
        return Block(
            rows=rows,
            starts=part.starts,
            scores=scores,
            ids=_ArrayIds(part.numbers, self.names),
            hit_row=np.searchsorted(part.starts, hit_position, side="right") - 1,
            hit_judgement=hit_judgement,
            hit_score=None if scores is None else scores[hit_position],
            hit_position=hit_position,
            identical=np.sort(part.find(queries, rows)[1]),
            copy_group=copy_group,
            copy_position=copy_position,
            all_checked=self.check_duplicates,
        )

    def _rows(self, places: Ints) -> Rows:
        """Return numbers and scores of these rows, checked: the arrays are the caller's."""
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
        if self.scores is None:
            return Rows(numbers, starts, None)
        scores = _chosen(self.scores, places)
        scores = scores.ravel() if real is None else scores[real]
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if not np.isfinite(scores).all():
            first = np.flatnonzero(~np.isfinite(scores))[:1]
            (row,) = np.searchsorted(starts, first, side="right") - 1
            (doc_id,) = _ArrayIds(numbers, self.names).at(first)
            refuse_score(self.query_ids[int(places[row])], doc_id, float(scores[first[0]]))
        return Rows(numbers, starts, scores)

    def _wanted(self, qrels: Qrels) -> tuple[Wanted, Wanted]:
        """Return the judged documents, and the queries' own ids, by their numbers."""
        judgements = np.arange(len(qrels.doc_ids), dtype=np.int64)
        queries = np.arange(len(qrels), dtype=np.int64)
        if self.names is None:
            return (
                _by_value(qrels.row, qrels.doc_ids, judgements),
                _by_value(queries, qrels.query_ids, queries),
            )
        sought = {*qrels.doc_ids, *qrels.query_ids}
        numbers_of: dict[str, list[int]] = {}
        for number, text in enumerate(self.names.texts):
            if text in sought:
                numbers_of.setdefault(text, []).append(number)
        return (
            _by_name(qrels.row, qrels.doc_ids, judgements, numbers_of),
            _by_name(queries, qrels.query_ids, queries, numbers_of),
        )


class Rows(NamedTuple):
    """Some rows of the arrays, without padding.

    Attributes:
        numbers: i8[N].
        starts: where each row begins, and the end of the last, i8[R+1].
        scores: finite, f4[N] or f8[N].
    """

    numbers: Ints
    starts: Ints
    scores: Scores | None

    def find(self, wanted: Wanted, rows: Ints) -> tuple[Ints, Ints]:
        """Return item and position of every occurrence of what is wanted in its own ranking."""
        begin = np.searchsorted(wanted.row, rows, side="left")
        end = np.searchsorted(wanted.row, rows, side="right")
        chosen = ranges(begin, end)
        index, position = find(
            self.numbers, self.starts, rows_of(end - begin), wanted.number[chosen]
        )
        return wanted.item[chosen[index]], position


class _ArrayIds:
    """The ids of a block of numbers."""

    def __init__(self, numbers: Ints, names: Names | None) -> None:
        self._numbers = numbers
        self._names = names

    def at(self, positions: Ints) -> list[str]:
        """Return the ids at these positions of the block."""
        numbers = self._numbers[positions].tolist()
        if self._names is None:
            return list(map(str, numbers))
        return [self._names.texts[number] for number in numbers]


def _chosen(table: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Return these rows, without a copy where they follow each other."""
    if len(places) and places[-1] - places[0] == len(places) - 1 and (np.diff(places) == 1).all():
        return table[places[0] : places[-1] + 1]
    return table[places]


def _by_value(row: Ints, ids: Sequence[str], items: Ints) -> Wanted:
    """Return what has an integer for its id: other text names no number."""
    numbers = _all_numbers(ids)
    if numbers is not None:
        return Wanted(row, numbers, items)
    found = [
        (place, int(ids[place]))
        for place in compress(range(len(ids)), map(str.isdecimal, ids))
        if ids[place].isascii()
        and len(ids[place]) <= _LONGEST_NUMBER
        and (ids[place][0] != "0" or ids[place] == "0")
    ]
    fitting = [(place, number) for place, number in found if number <= _HIGHEST_NUMBER]
    places = np.array([place for place, _ in fitting], dtype=np.int64)
    return Wanted(
        row[places], np.array([number for _, number in fitting], dtype=np.int64), items[places]
    )


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


def _by_name(
    row: Ints, ids: Sequence[str], items: Ints, numbers_of: dict[str, list[int]]
) -> Wanted:
    """Return what the map names, under each of its numbers."""
    found = [
        (place, number) for place, text in enumerate(ids) for number in numbers_of.get(text, ())
    ]
    places = np.array([place for place, _ in found], dtype=np.int64)
    numbers = np.array([number for _, number in found], dtype=np.int64)
    return Wanted(row[places], numbers, items[places])


def _copies_among(judgement: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return group and position of judged documents that were found more than once."""
    if not len(judgement):
        return judgement, position
    group = np.cumsum(np.diff(judgement, prepend=-1) != 0) - 1
    repeated = np.bincount(group)[group] > 1
    return group[repeated], position[repeated]
