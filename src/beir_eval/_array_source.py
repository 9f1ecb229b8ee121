"""Rankings as top-k arrays: ids [Q, k] and scores [Q, k], as a vector index returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval._array_inputs import PADDING, Names, as_array, check_range
from beir_eval._arrays import Floats, Ints, position_in_row, ranges, rows_of, runs_of, starts_of
from beir_eval._blocks import Block
from beir_eval._ids import ids_as_text
from beir_eval._scores import refuse_score
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.qrels import Qrels

#: Cells looked at together: few enough that the arrays of a step stay small.
BLOCK_CELLS = 1_000_000
#: Up to so many judged documents of a query are compared with its ranking one after the other.
_FEW_JUDGED = 16


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
        check_range(numbers, queries, None if names is None else names.texts)
        repeats = names is not None and names.first is not None
        return cls(queries, numbers, values, names, check_duplicates or repeats)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        for row, query_id in enumerate(self.query_ids):
            numbers, _, scores = self._flat(np.array([row]))
            yield query_id, _ArrayIds(numbers, self.names).at(np.arange(len(numbers))), scores

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the judged rankings, about ``BLOCK_CELLS`` cells at a time."""
        place_of = {query_id: place for place, query_id in enumerate(self.query_ids)}
        pairs = [
            (row, place_of[query_id])
            for row, query_id in enumerate(qrels.query_ids)
            if query_id in place_of
        ]
        judged, queries = self._wanted(qrels)
        step = max(1, BLOCK_CELLS // max(1, self.numbers.shape[1]))
        for begin in range(0, len(pairs), step):
            rows, places = np.array(pairs[begin : begin + step], dtype=np.int64).T
            yield self._block(rows, places, judged, queries)

    def _block(self, rows: Ints, places: Ints, judged: Wanted, queries: Wanted) -> Block:
        numbers, starts, scores = self._flat(places)
        row = rows_of(np.diff(starts))
        hit_judgement, hit_position = _find(judged, rows, numbers, starts)
        in_order = np.lexsort((hit_position, hit_judgement, row[hit_position]))
        hit_judgement, hit_position = hit_judgement[in_order], hit_position[in_order]
        if self.check_duplicates:
            copy_group, copy_position = self._copies(row, numbers)
        else:
            copy_group, copy_position = _copies_among(hit_judgement, hit_position)
        first = np.ones(len(hit_judgement), dtype=np.bool_)
        first[1:] = hit_judgement[1:] != hit_judgement[:-1]
        hit_judgement, hit_position = hit_judgement[first], hit_position[first]
        return Block(
            rows=rows,
            starts=starts,
            scores=scores,
            ids=_ArrayIds(numbers, self.names),
            hit_row=row[hit_position],
            hit_judgement=hit_judgement,
            hit_score=None if scores is None else scores[hit_position],
            hit_position=hit_position,
            identical=np.sort(_find(queries, rows, numbers, starts)[1]),
            copy_group=copy_group,
            copy_position=copy_position,
            all_checked=self.check_duplicates,
        )

    def _flat(self, places: Ints) -> tuple[Ints, Ints, Floats | None]:
        """Return numbers and scores of these rows without padding, and where each row begins."""
        numbers = self.numbers[places].astype(np.int64)
        # The arrays are the caller's, who may have changed them.
        queries = [self.query_ids[place] for place in places.tolist()]
        check_range(numbers, queries, None if self.names is None else self.names.texts)
        scores = None if self.scores is None else self.scores[places].astype(np.float64)
        real = numbers != PADDING
        starts = starts_of(np.count_nonzero(real, axis=1).astype(np.int64))
        numbers = numbers[real]
        if scores is not None:
            scores = scores[real]
            if not np.isfinite(scores).all():
                first = np.flatnonzero(~np.isfinite(scores))[:1]
                (row,) = np.searchsorted(starts, first, side="right") - 1
                (doc_id,) = _ArrayIds(numbers, self.names).at(first)
                refuse_score(queries[row], doc_id, float(scores[first[0]]))
        return numbers, starts, scores

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

    def _copies(self, row: Ints, numbers: Ints) -> tuple[Ints, Ints]:
        """Return group and position of every entry whose document stands more than once."""
        if self.names is not None and self.names.first is not None:
            numbers = self.names.first[numbers]
        order = np.lexsort((numbers, row))
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = np.diff(numbers[order]) != 0
        new[1:] |= np.diff(row[order]) != 0
        group = np.cumsum(new) - 1
        repeated = np.bincount(group)[group] > 1
        return group[repeated], order[repeated]


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


def _by_value(row: Ints, ids: Sequence[str], items: Ints) -> Wanted:
    """Return what has an integer for its id: other text names no number."""
    found = [
        (place, int(text))
        for place, text in enumerate(ids)
        if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0")
    ]
    fitting = [(place, number) for place, number in found if number <= np.iinfo(np.int64).max]
    places = np.array([place for place, _ in fitting], dtype=np.int64)
    numbers = np.array([number for _, number in fitting], dtype=np.int64)
    return Wanted(row[places], numbers, items[places])


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


def _find(wanted: Wanted, rows: Ints, numbers: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return item and position of every occurrence of what is wanted in its own ranking."""
    begin = np.searchsorted(wanted.row, rows, side="left")
    end = np.searchsorted(wanted.row, rows, side="right")
    chosen = ranges(begin, end)
    place = np.repeat(np.arange(len(rows), dtype=np.int64), end - begin)
    number, item = wanted.number[chosen], wanted.item[chosen]
    many = (end - begin > _FEW_JUDGED)[place]
    items: list[Ints] = [np.zeros(0, dtype=np.int64)]
    positions: list[Ints] = [np.zeros(0, dtype=np.int64)]
    few = np.flatnonzero(~many)
    level = position_in_row(place[few])
    by_level = np.argsort(level, kind="stable")
    for first, last in runs_of(level[by_level]):
        some = few[by_level[first:last]]
        cells = ranges(starts[place[some]], starts[place[some] + 1])
        lengths = starts[place[some] + 1] - starts[place[some]]
        same = numbers[cells] == np.repeat(number[some], lengths)
        items.append(np.repeat(item[some], lengths)[same])
        positions.append(cells[same])
    several = np.flatnonzero(many)
    for first, last in runs_of(place[several]):
        some = several[first:last]
        by_number = some[np.argsort(number[some], kind="stable")]
        start = int(starts[place[some[0]]])
        ranking = numbers[start : int(starts[place[some[0]] + 1])]
        at = np.searchsorted(number[by_number], ranking)
        at[at == len(by_number)] = 0
        same = number[by_number[at]] == ranking
        items.append(item[by_number[at]][same])
        positions.append(start + np.flatnonzero(same))
    return np.concatenate(items), np.concatenate(positions)


def _copies_among(judgement: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return group and position of judged documents that were found more than once."""
    if not len(judgement):
        return judgement, position
    group = np.cumsum(np.diff(judgement, prepend=-1) != 0) - 1
    repeated = np.bincount(group)[group] > 1
    return group[repeated], position[repeated]
