"""Sums of rows over random subsets of very many queries, in bounded memory.

A matrix product with 0/1 columns moves 64 bits of memory for each random bit. Here the bits stay
packed: a table holds the 256 possible sums of eight queries, and eight bits select one of them.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from beir_eval.core.arrays import Floats
    from beir_eval.significance.sign_vectors import Keys

    #: Sums of two rows each, one in the real part and one in the imaginary part.
    Pairs = np.ndarray[tuple[int, int], np.dtype[np.complex128]]
    #: The random bits of some queries, a row for each, u8[N, ⌈draws / 64⌉].
    Words = np.ndarray[tuple[int, int], np.dtype[np.uint64]]

#: Queries that are added one after the other; their sum is then added to the total. This number is
#: part of the definition of the sums: with another one, their last bits would differ.
_QUERIES_PER_SUM = 2**13
#: Queries that share a table: those whose random bits fit into a byte.
_BITS = 8
#: Queries whose tables are filled at a time: few enough for the processor's cache.
_QUERIES_AT_ONCE = 2**8
#: Numbers of the sums of all draws that are in memory at a time, for each thread: 16 MiB.
_NUMBERS = 2**21
#: Draws are taken in parts of a multiple of this number.
_DRAWS = 2**13
#: For each distance of two rows, the bits that change places when 8 × 8 bits are transposed.
_SWAPS = {4: 0x0F0F0F0F0F0F0F0F, 2: 0x3333333333333333, 1: 0x5555555555555555}
_MOST_THREADS = 8


def draws_at_once(num_rows: int) -> int:
    """Return how many draws ``subset_sums`` takes without using much memory, from 8,192 on."""
    return _DRAWS * max(1, _NUMBERS // (num_rows * _DRAWS))


def subset_sums(
    rows: Floats, keys: Keys, words_of: Callable[[Keys], Words], threads: int | None = None
) -> Floats:
    """Return the sums of rows over random subsets of the queries: f8[R, N] -> f8[R, draws].

    The sums do not depend on the number of threads. Those of a draw do not depend on the others.

    Args:
        rows: the numbers to add up, f8[R, N].
        keys: the key of the query of each column, u8[N], at least one.
        words_of: a function that returns the random bits of queries by their keys: bit 7 − i of
            byte c says whether the subset of draw 8·c + i contains the query. It is called in
            several threads.
        threads: the number of threads; None for one for each processor, up to 8.
    """
    used = np.flatnonzero(rows.any(axis=1))  # the sums of the others are 0

    def sums_of_part(begin: int) -> Pairs:
        part = slice(begin, begin + _QUERIES_PER_SUM)
        return _sums_of_pairs(_in_pairs(rows[used, part]), words_of(keys[part]))

    workers = threads or min(os.cpu_count() or 1, _MOST_THREADS)
    begins = iter(range(0, len(keys), _QUERIES_PER_SUM))
    with ThreadPoolExecutor(workers) as pool:
        pending: deque[Future[Pairs]] = deque(
            pool.submit(sums_of_part, begin) for begin in islice(begins, workers + 1)
        )
        total = pending.popleft().result()
        while pending:
            pending.extend(pool.submit(sums_of_part, begin) for begin in islice(begins, 1))
            total += pending.popleft().result()
    sums = np.zeros((len(rows), total.shape[1]))
    sums[used[::2]] = total.real
    sums[used[1::2]] = total.imag[: len(used) // 2]
    return sums


def _in_pairs(rows: Floats) -> Pairs:
    """Return rows in pairs, the second one as the imaginary part: f8[R, N] -> c16[⌈R / 2⌉, N]."""
    pairs = np.zeros((-(-len(rows) // 2), rows.shape[1]), dtype=np.complex128)
    pairs.real = rows[::2]
    pairs[: len(rows) // 2].imag = rows[1::2]
    return pairs


def _sums_of_pairs(pairs: Pairs, words: Words) -> Pairs:
    """Return the sums over the subsets, adding eight queries at a time: c16[P, N] -> c16[P, draws].

    Args:
        pairs: the numbers to add up, in pairs of rows, c16[P, N].
        words: the random bits of the N queries.
    """
    num_pairs, num_words = len(pairs), words.shape[1]
    draws = num_words * 64
    sums = np.zeros((num_pairs, draws), dtype=np.complex128)
    chosen, index = np.empty(draws, dtype=np.complex128), np.empty(draws, dtype=np.intp)
    step = max(_BITS, _QUERIES_AT_ONCE // num_pairs // _BITS * _BITS)
    for begin in range(0, len(words), step):
        codes = _transposed(words[begin : begin + step])
        tables = _tables(pairs[:, begin : begin + step])
        for group, codes_of_group in enumerate(codes):
            np.copyto(index, codes_of_group)
            for pair in range(num_pairs):
                # The index is within the table; "clip" only avoids a slower check.
                np.take(tables[pair, group], index, out=chosen, mode="clip")
                sums[pair] += chosen
    # Codes are in the order of the bits, and of the bytes for each bit.
    by_bit = sums.reshape(num_pairs, _BITS, -1)[:, ::-1]
    return np.ascontiguousarray(by_bit.transpose(0, 2, 1)).reshape(num_pairs, draws)


def _transposed(words: Words) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return the bits of eight queries for each draw in a byte: u8[N, W] -> u1[⌈N / 8⌉, 64·W].

    The least significant bit is that of the first query. The draws of a group of queries are those
    with the least significant bit of each byte of the words, then those with the next bit, etc.
    """
    num_groups = -(-len(words) // _BITS)
    rows = np.zeros((num_groups * _BITS, words.shape[1]), dtype="<u8")
    rows[: len(words)] = words
    for distance, mask in _SWAPS.items():
        shift = np.uint64(distance)
        halves = rows.reshape(-1, 2, distance, words.shape[1])
        low, high = halves[:, 0], halves[:, 1]
        swapped = low >> shift
        swapped ^= high
        swapped &= np.uint64(mask)
        high ^= swapped
        swapped <<= shift
        low ^= swapped
    return rows.view(np.uint8).reshape(num_groups, -1)


def _tables(pairs: Pairs) -> np.ndarray[tuple[int, int, int], np.dtype[np.complex128]]:
    """Return the 256 sums of each group of eight queries: c16[P, N] -> c16[P, ⌈N / 8⌉, 256].

    Bit b of the index of a sum says whether it contains the query b of the group.
    """
    num_groups = -(-pairs.shape[1] // _BITS)
    padded = np.zeros((len(pairs), num_groups * _BITS), dtype=np.complex128)
    padded[:, : pairs.shape[1]] = pairs
    numbers = padded.reshape(len(pairs), num_groups, _BITS)
    tables = np.zeros((len(pairs), num_groups, 1 << _BITS), dtype=np.complex128)
    for bit in range(_BITS):
        size = 1 << bit
        np.add(tables[..., :size], numbers[..., bit, None], out=tables[..., size : 2 * size])
    return tables
