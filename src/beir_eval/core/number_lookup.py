"""Searches for numbers in grouped arrays: where they occur, and which occur more than once.

The numbers identify documents: ids, row numbers or hashes. ``rank_counting`` also uses the helpers
that compare each ranking with one value at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from beir_eval.core.arrays import (
    Ints,
    Mask,
    concatenate_ranges,
    equal_ranges,
    position_in_row,
    starts_from_lengths,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Up to this many wanted numbers per ranking are compared with the ranking one after the other.
_FEW_WANTED = 16

_T = TypeVar("_T", bound="NDArray[np.generic]")


def find_occurrences(numbers: Ints, starts: Ints, row: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return every occurrence of wanted numbers in their rankings.

    Args:
        numbers: the numbers of R rankings, i8[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking in which each wanted number is looked for, never decreasing, i8[W].
        wanted: the wanted numbers, distinct within a ranking, i8[W].

    Returns:
        The index of the wanted number (0..W-1) and the position (0..N-1) of each occurrence, in no
        particular order.
    """
    empty = np.zeros(0, dtype=np.int64)
    if not len(row):
        return empty, empty
    occurrences: list[tuple[Ints, Ints]] = [(empty, empty)]
    # With few rankings, one pass per ranking takes fewer steps than one pass per wanted number.
    has_many_wanted = np.bincount(row)[row] > min(_FEW_WANTED, len(starts) - 1)
    for subset in split_one_per_row(row, np.flatnonzero(~has_many_wanted)):
        values, targets, begin = align_targets(numbers, starts, row[subset], wanted[subset])
        matches = np.flatnonzero(values == targets)  # as indices into the flattened values
        owner = np.searchsorted(begin, matches, side="right") - 1
        occurrences.append((subset[owner], starts[row[subset]][owner] + matches - begin[owner]))
    for subset in split_by_row(row, np.flatnonzero(has_many_wanted)):
        first, last = starts[row[subset[0]]], starts[row[subset[0]] + 1]
        by_number = subset[np.argsort(wanted[subset], kind="stable")]
        nearest = np.searchsorted(wanted[by_number], numbers[first:last])
        nearest[nearest == len(by_number)] = 0
        matches = np.flatnonzero(wanted[by_number[nearest]] == numbers[first:last])
        occurrences.append((by_number[nearest[matches]], first + matches))
    return (
        np.concatenate([index for index, _ in occurrences]),
        np.concatenate([position for _, position in occurrences]),
    )


def find_repeated(numbers: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return group and position of every entry whose number occurs more than once in its ranking.

    Args:
        numbers: the numbers of R rankings, i8[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].

    Returns:
        A group number that the entries of the same number and ranking share, i8[D]; their
        positions (0..N-1), by ranking and number, i8[D].
    """
    low_bits = numbers.astype(np.uint32)
    copies = [starts[:0]]
    for rows in _rows_by_length(np.diff(starts)):
        begin, length = starts[rows], int(starts[rows[0] + 1] - starts[rows[0]])
        # Sorting the low bits, row by row, takes a fifth of the time of a table of hashes.
        table = _values_of(low_bits, begin, length)
        table.sort(axis=1)
        candidates = (table[:, 1:] == table[:, :-1]).any(axis=1)
        if candidates.any():
            copies.append(_repeated_positions(numbers, begin[candidates], length))
    position = np.concatenate(copies)
    row = np.searchsorted(starts, position, side="right") - 1
    order = np.lexsort((position, numbers[position], row))
    position, row = position[order], row[order]
    is_new = np.ones(len(position), dtype=np.bool_)
    is_new[1:] = (np.diff(numbers[position]) != 0) | (np.diff(row) != 0)
    return np.cumsum(is_new) - 1, position


def _rows_by_length(lengths: Ints) -> Iterator[Ints]:
    """Yield the rows of each length above 1, ascending: i8[R] -> i8 of the length of each part."""
    if len(lengths) and (lengths == lengths[0]).all():
        if lengths[0] > 1:
            yield np.arange(len(lengths))
        return
    by_length = np.argsort(lengths, kind="stable")
    for begin, end in equal_ranges(lengths[by_length]):
        if lengths[by_length[begin]] > 1:
            yield by_length[begin:end]


def _values_of(values: _T, begin: Ints, length: int) -> _T:
    """Return the values of rankings of one length as a table [F, length].

    Args:
        values: the values of all rankings. [N]
        begin: where each of these rankings begins, i8[F].
        length: how many values each has.
    """
    if len(values) == len(begin) * length:
        table: _T = values.reshape(len(begin), length)  # type: ignore[assignment]
    else:
        table = values[begin[:, None] + np.arange(length)]
    return table


def _repeated_positions(numbers: Ints, begin: Ints, length: int) -> Ints:
    """Return the positions of the entries whose number occurs more than once in their ranking.

    Args:
        numbers: the numbers of all rankings, i8[N].
        begin: where each ranking of this length begins, i8[F].
        length: how many entries each has.
    """
    table = _values_of(numbers, begin, length)
    order = np.argsort(table, axis=1)
    table = np.take_along_axis(table, order, axis=1)
    is_same_as_next = table[:, 1:] == table[:, :-1]
    is_copy = np.zeros(table.shape, dtype=np.bool_)
    is_copy[:, 1:] = is_same_as_next
    is_copy[:, :-1] |= is_same_as_next
    return (begin[:, None] + order)[is_copy]


def first_occurrences(index: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return the first position of each index, sorted by index: i8[G], i8[G].

    Args:
        index: the index of what was found, i8[F].
        position: its position, i8[F].
    """
    if (index[1:] > index[:-1]).all():
        return index, position
    order = np.lexsort((position, index))
    index, position = index[order], position[order]
    is_first = np.diff(index, prepend=-1) != 0
    return index[is_first], position[is_first]


def repeated_occurrences(index: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return index and position of what was found more than once, sorted by position.

    Args:
        index: the index of what was found, i8[F].
        position: its position, i8[F].
    """
    copies = np.flatnonzero(np.bincount(index, minlength=1)[index] > 1)
    copies = copies[np.argsort(position[copies], kind="stable")]
    return index[copies], position[copies]


def split_one_per_row(row: Ints, indices: Ints) -> Iterator[Ints]:
    """Yield the indices in sets with at most one index per row.

    Args:
        row: the row of each element, i8[N].
        indices: elements, their rows never decreasing, i8[S].
    """
    rows = row[indices]
    if (rows[1:] > rows[:-1]).all():
        if len(indices):
            yield indices
        return
    position = position_in_row(rows)
    by_position = np.argsort(position, kind="stable")
    for begin, end in equal_ranges(position[by_position]):
        yield indices[by_position[begin:end]]


def split_by_row(row: Ints, indices: Ints) -> Iterator[Ints]:
    """Yield the indices in one set per row.

    Args:
        row: the row of each element, i8[N].
        indices: elements, their rows never decreasing, i8[S].
    """
    for begin, end in equal_ranges(row[indices]):
        yield indices[begin:end]


def align_targets(values: _T, starts: Ints, rows: Ints, targets: _T) -> tuple[_T, _T, Ints]:
    """Return the values of some rankings, and targets with which they can be compared as arrays.

    Args:
        values: the values of R rankings. [N]
        starts: where each ranking begins, and the end of the last, i8[R+1].
        rows: some of the rankings, ascending, each at most once, i8[F].
        targets: the value that each of these rankings is compared with. [F]

    Returns:
        The M values of these rankings, one after the other [M] or, if all R rankings have the
        length K, as a table [F, K]; the target of each value, [M] or [F, 1]; where each of the
        rankings begins among the M values, i8[F].
    """
    lengths = np.diff(starts)
    sizes = lengths[rows]
    begin = starts_from_lengths(sizes)[:-1]
    are_all = len(rows) == len(lengths)
    if (lengths == lengths[0]).all():
        table: _T = values.reshape(len(lengths), -1)  # type: ignore[assignment]
        return table if are_all else table[rows], targets[:, None], begin  # type: ignore[return-value]
    aligned: _T = np.repeat(targets, sizes)  # type: ignore[assignment]
    if are_all:
        return values, aligned, begin
    positions = concatenate_ranges(starts[rows], starts[rows + 1])
    return values[positions], aligned, begin  # type: ignore[return-value]


def count_by_row(mask: Mask, begin: Ints) -> Ints:
    """Return how many values of each ranking are set in a comparison of ``align_targets``: i8[F].

    Args:
        mask: the comparison, bool[M] or bool[F, K].
        begin: where each ranking begins among the M values, i8[F].
    """
    if mask.ndim > 1:
        return np.asarray(np.count_nonzero(mask, axis=1), dtype=np.int64)
    return np.add.reduceat(mask, begin, dtype=np.int64)
