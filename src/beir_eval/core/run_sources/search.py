"""Documents known by number: where wanted ones stand, and which stand more than once.

Also how rankings are laid beside the values they are compared with, one value for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from beir_eval.core.arrays import (
    Ints,
    position_in_row,
    ranges,
    rows_of,
    runs_of,
    starts_of,
    stretches,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Up to so many wanted documents of a ranking are compared with it one after the other.
_FEW_WANTED = 16
#: An odd number whose multiples spread over all 64 bits (2^64 divided by the golden ratio).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Entries among which repeated ones are looked for together, and slots for each of them in a table
#: that stays in the processor's cache.
_LOOKED_AT_TOGETHER = 20_000
_SLOTS = 8

_T = TypeVar("_T", bound="NDArray[np.generic]")


def find(numbers: Ints, starts: Ints, row: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return every occurrence of wanted numbers in their rankings.

    Args:
        numbers: of R rankings, i8[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        row: the ranking in which each wanted number is looked for, never decreasing, i8[W].
        wanted: the numbers, i8[W].

    Returns:
        The index (0..W-1) and the position (0..N-1) of each occurrence, in no particular order.
    """
    nothing = np.zeros(0, dtype=np.int64)
    if not len(row):
        return nothing, nothing
    found: list[tuple[Ints, Ints]] = [(nothing, nothing)]
    # Of few rankings each is looked through by itself: fewer steps than one for each wanted number.
    many = np.bincount(row)[row] > min(_FEW_WANTED, len(starts) - 1)
    for some in one_per_row(row, np.flatnonzero(~many)):
        facing, beside, begin = face(numbers, starts, row[some], wanted[some])
        at = np.flatnonzero(facing == beside)
        place = np.searchsorted(begin, at, side="right") - 1
        found.append((some[place], starts[row[some]][place] + at - begin[place]))
    for some in together(row, np.flatnonzero(many)):
        first, last = starts[row[some[0]]], starts[row[some[0]] + 1]
        by_number = some[np.argsort(wanted[some], kind="stable")]
        at = np.searchsorted(wanted[by_number], numbers[first:last])
        at[at == len(by_number)] = 0
        same = np.flatnonzero(wanted[by_number[at]] == numbers[first:last])
        found.append((by_number[at[same]], first + same))
    return (
        np.concatenate([index for index, _ in found]),
        np.concatenate([position for _, position in found]),
    )


def repeated(numbers: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return group and position of every entry whose number stands more than once in its ranking.

    Args:
        numbers: of R rankings, i8[N].
        starts: where each ranking begins, and the end of the last, i8[R+1].
    """
    row = rows_of(np.diff(starts))
    # Different for entries of one ranking with different numbers, since the factor is odd.
    key = (numbers.view(np.uint64) * _SPREAD + row.view(np.uint64)) * _SPREAD
    sharing = [
        starts[begin] + _sharing_a_slot(key[starts[begin] : starts[end]])
        for begin, end in stretches(starts, _LOOKED_AT_TOGETHER)
    ]
    suspects = np.concatenate(sharing) if sharing else starts[:0]
    if not len(suspects):
        return suspects, suspects
    suspects = suspects[np.argsort(key[suspects], kind="stable")]
    same = np.diff(key[suspects]) == 0
    suspects = suspects[np.append(same, False) | np.append(False, same)]
    suspects = suspects[np.lexsort((numbers[suspects], row[suspects]))]
    new = np.ones(len(suspects), dtype=np.bool_)
    new[1:] = (np.diff(numbers[suspects]) != 0) | (np.diff(row[suspects]) != 0)
    group = np.cumsum(new) - 1
    # Equal keys of different numbers leave no group, or groups of one.
    is_copy = np.bincount(group)[group] > 1 if len(group) else new
    return group[is_copy], suspects[is_copy]


def first_of_each(index: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return, of what was found more than once, the first position only; sorted by index.

    Args:
        index: what was found, i8[F].
        position: where, i8[F].
    """
    if (index[1:] > index[:-1]).all():
        return index, position
    by_index = np.lexsort((position, index))
    index, position = index[by_index], position[by_index]
    is_first = np.diff(index, prepend=-1) != 0
    return index[is_first], position[is_first]


def repeated_among(index: Ints, position: Ints) -> tuple[Ints, Ints]:
    """Return index and position of what was found more than once; sorted by position."""
    copies = np.flatnonzero(np.bincount(index, minlength=1)[index] > 1)
    copies = copies[np.argsort(position[copies], kind="stable")]
    return index[copies], position[copies]


def _sharing_a_slot(key: NDArray[np.uint64]) -> Ints:
    """Return the entries, among them all whose key occurs twice: u8[N] -> i8[S].

    Every entry leaves its index in a table, in a slot that its key decides. Where another index is
    found afterwards, two entries share the slot. This is faster than sorting the keys.
    """
    bits = max(1, (_SLOTS * len(key)).bit_length())
    slot = (key >> np.uint64(64 - bits)).view(np.int64)
    own = np.arange(len(key), dtype=np.int32)
    table = np.empty(1 << bits, dtype=np.int32)
    table[slot] = own
    last = table[slot]
    others = np.flatnonzero(last != own)
    shares = np.zeros(len(key), dtype=np.bool_)
    shares[others] = shares[last[others]] = True
    return np.flatnonzero(shares)


def one_per_row(row: Ints, chosen: Ints) -> Iterator[Ints]:
    """Split the chosen indices into sets that hold at most one of each row."""
    level = position_in_row(row[chosen])
    by_level = np.argsort(level, kind="stable")
    for begin, end in runs_of(level[by_level]):
        yield chosen[by_level[begin:end]]


def together(row: Ints, chosen: Ints) -> Iterator[Ints]:
    """Split the chosen indices into sets of one row each."""
    for begin, end in runs_of(row[chosen]):
        yield chosen[begin:end]


def face(values: _T, starts: Ints, rows: Ints, targets: _T) -> tuple[_T, _T, Ints]:
    """Return the values of these rankings, each one's target beside them, and where each begins.

    Args:
        values: of R rankings. [N]
        starts: where each begins, and the end of the last, i8[R+1].
        rows: some of the rankings, ascending, each at most once, i8[F].
        targets: what each of them is compared with. [F]
    """
    lengths = np.diff(starts)
    chosen = lengths[rows]
    beside: _T = np.repeat(targets, chosen)  # type: ignore[assignment]
    if len(rows) == len(lengths):
        return values, beside, starts[:-1]
    if (lengths == lengths[0]).all():  # rows of a table
        return values.reshape(len(lengths), -1)[rows].ravel(), beside, starts_of(chosen)[:-1]  # type: ignore[return-value]
    return values[ranges(starts[rows], starts[rows + 1])], beside, starts_of(chosen)[:-1]  # type: ignore[return-value]
