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
    rows_from_lengths,
    split_rows,
    starts_from_lengths,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Up to this many wanted numbers per ranking are compared with the ranking one after the other.
_FEW_WANTED = 16
#: An odd number whose multiples spread over all 64 bits (2^64 divided by the golden ratio).
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: Entries that are hashed into one table, and slots of the table per entry: few enough that the
#: table stays in the processor's cache.
_CHUNK_SIZE = 20_000
_SLOTS_PER_ENTRY = 8

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
    row = rows_from_lengths(np.diff(starts))
    # Within a ranking, different numbers have different keys, because the factor is odd.
    key = (numbers.view(np.uint64) * _HASH_MULTIPLIER + row.view(np.uint64)) * _HASH_MULTIPLIER
    colliding = [
        starts[begin] + _find_slot_collisions(key[starts[begin] : starts[end]])
        for begin, end in split_rows(starts, _CHUNK_SIZE)
    ]
    candidates = np.concatenate(colliding) if colliding else starts[:0]
    if not len(candidates):
        return candidates, candidates
    candidates = candidates[np.argsort(key[candidates], kind="stable")]
    is_same_as_next = np.diff(key[candidates]) == 0
    candidates = candidates[np.append(is_same_as_next, False) | np.append(False, is_same_as_next)]
    candidates = candidates[np.lexsort((numbers[candidates], row[candidates]))]
    starts_group = np.ones(len(candidates), dtype=np.bool_)
    starts_group[1:] = (np.diff(numbers[candidates]) != 0) | (np.diff(row[candidates]) != 0)
    group = np.cumsum(starts_group) - 1
    # Entries with equal keys but different numbers or rankings are groups of one: drop them.
    is_copy = np.bincount(group)[group] > 1 if len(group) else starts_group
    return group[is_copy], candidates[is_copy]


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


def _find_slot_collisions(key: NDArray[np.uint64]) -> Ints:
    """Return the entries that share a slot: all whose key occurs more than once, and a few others.

    Every entry writes its index to a slot of a table; the key decides the slot. If an entry then
    reads another index, two entries share the slot. This is faster than sorting the keys.

    Args:
        key: the key of each entry, u8[N].
    """
    bits = max(1, (_SLOTS_PER_ENTRY * len(key)).bit_length())
    slot = (key >> np.uint64(64 - bits)).view(np.int64)
    entry = np.arange(len(key), dtype=np.int32)
    table = np.empty(1 << bits, dtype=np.int32)
    table[slot] = entry
    last_entry = table[slot]
    overwritten = np.flatnonzero(last_entry != entry)
    is_shared = np.zeros(len(key), dtype=np.bool_)
    is_shared[overwritten] = is_shared[last_entry[overwritten]] = True
    return np.flatnonzero(is_shared)


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
