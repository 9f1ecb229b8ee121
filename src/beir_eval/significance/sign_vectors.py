"""Random and exhaustive sign vectors for sign-flip tests, as the subsets of queries they keep.

A vector of signs s and the subset of queries with s = +1 are the same thing: the flipped sum
``Σ s·x`` is ``2·Σ(subset) − Σ x``. So one product with 0/1 rows serves the test (flipped sums) and
its interval (means of subsets).

Such a product moves 64 bits of memory for each random bit. For very many queries the bits stay
packed, and the sums take bounded memory (``subset_sums``): a table holds the 256 possible sums of
eight queries, and eight bits select one of them.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.validation import check_draws, seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from typing import Any

    from beir_eval.core.arrays import Floats, Ints

    #: Sums of two rows each, one in the real part and one in the imaginary part.
    Pairs = np.ndarray[tuple[int, int], np.dtype[np.complex128]]
    #: The random bits of some queries, a row for each, u8[N, ⌈draws / 64⌉].
    Words = np.ndarray[tuple[int, int], np.dtype[np.uint64]]

#: Keys of queries, u8[N]: whole numbers of 64 bits that identify them.
Keys = np.ndarray[tuple[int], np.dtype[np.uint64]]
#: Numbers of a block of subsets: 64 MiB.
_BLOCK = 2**23
#: Columns of the products that are returned at a time: few enough for the processor's cache.
_COLUMNS = 2**13
#: Memory of the random bits, which are packed: 128 MiB.
_PACKED_BYTES = 2**27
_WORD_BITS = 64
#: For more queries than this, a block of 64 subsets would be larger than ``_BLOCK``, and the sums
#: come from ``subset_sums``.
_MOST_IN_BLOCKS = _BLOCK // _WORD_BITS
#: The bits that Philox yields at each step of its counter: four words.
_COUNTED = 4 * _WORD_BITS
#: Numbers of draws unless told, and the number of queries above which the smaller one is used. The
#: standard error of a p-value of .05 is then .0007, or .0015.
DRAWS, DRAWS_OF_MANY_QUERIES, MANY_QUERIES = 100_000, 20_000, 1_000
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


@dataclass(frozen=True, eq=False)
class SignVectors:
    """Random subsets of queries.

    The random bits of a query depend on the seed and on the key of the query only. So a pair of
    systems has the same subsets alone and among other pairs, in any order of the queries.

    Attributes:
        draws: the number of subsets, B. Each stands for its complement too, whose flipped sum is
            the same with the opposite sign.
        seed: the seed, from 0 to 2^63 − 1.
    """

    draws: int
    seed: int

    @classmethod
    def choose(cls, num_queries: int, draws: int | None, rng: Any) -> SignVectors:
        """Return the random subsets for a number of queries.

        Args:
            num_queries: Q, the number of queries.
            draws: the number of subsets, a whole number above 0; None means 100,000, or 20,000 for
                more than 1,000 queries.
            rng: a seed (a whole number from 0) or a numpy Generator.

        Raises:
            SettingError: draws is below 1, or rng is neither a seed nor a Generator.
        """
        if draws is None:
            draws = DRAWS if num_queries <= MANY_QUERIES else DRAWS_OF_MANY_QUERIES
        check_draws(draws)
        return cls(int(draws), seed_of(rng))

    def can_enumerate(self, num_queries: int) -> bool:
        """Return whether all subsets of so many queries, up to complement, are at most B."""
        return num_queries == 0 or 1 << (num_queries - 1) <= self.draws

    def products(self, rows: Floats, keys: Keys) -> Iterator[Floats]:
        """Yield the sums of rows over random subsets, for up to 8,192 subsets at a time.

        Args:
            rows: the numbers to add up, f8[R, N].
            keys: the key of the query of each column of ``rows``, u8[N].

        Yields:
            f8[R, b], the columns in the order of the draws; overwritten by the next.
        """
        if len(keys) > _MOST_IN_BLOCKS:
            yield from self._products_of_many(rows, keys)
            return
        num_columns = min(_COLUMNS, self.draws)
        buffer, columns = np.empty((len(rows), num_columns)), np.ascontiguousarray(rows.T)
        filled = 0
        for subsets in self.blocks(keys):
            # This order of the factors is three times as fast in OpenBLAS as rows @ subsets.
            products, begin = (subsets.T @ columns).T, 0
            while begin < products.shape[1]:
                size = min(num_columns - filled, products.shape[1] - begin)
                buffer[:, filled : filled + size] = products[:, begin : begin + size]
                begin, filled = begin + size, filled + size
                if filled == num_columns:
                    yield buffer
                    filled = 0
        if filled:
            yield buffer[:, :filled]

    def _products_of_many(self, rows: Floats, keys: Keys) -> Iterator[Floats]:
        """Yield what ``products`` yields, in memory that does not grow with the queries."""
        step = draws_at_once(len(rows))
        for begin in range(0, self.draws, step):
            count = min(step, self.draws - begin)
            sums = subset_sums(rows, keys, partial(self._words, begin=begin, count=count))
            for first in range(0, count, _COLUMNS):
                yield sums[:, first : min(first + _COLUMNS, count)]

    def kept_of(self, num_queries: int) -> Ints:
        """Return how many of some further queries each subset keeps: Binomial(N, ½), i8[B].

        Args:
            num_queries: N, queries whose numbers are 0, so that only their count matters.
        """
        return _halves(num_queries, self.draws, self._key(num_queries, 1 << 63))

    def blocks(self, keys: Keys) -> Iterator[Floats]:
        """Yield the subsets as 0/1, f8[N, b]; each is overwritten by the next."""
        num_queries = max(len(keys), 1)
        packed_draws = max(_COUNTED, _PACKED_BYTES * 8 // num_queries // _COUNTED * _COUNTED)
        block_draws = max(_WORD_BITS, _BLOCK // num_queries // _WORD_BITS * _WORD_BITS)
        buffer = np.empty((len(keys), min(block_draws, self.draws)))
        for begin in range(0, self.draws, packed_draws):
            count = min(packed_draws, self.draws - begin)
            words = self._words(keys, begin, count)
            packed = words.astype("<u8", copy=False).view(np.uint8)
            for first in range(0, count, block_draws):
                size = min(block_draws, count - first)
                part = packed[:, first // 8 : -(-(first + size) // 8)]
                np.copyto(buffer[:, :size], np.unpackbits(part, axis=1, count=size))
                yield buffer[:, :size]

    def _words(
        self, keys: Keys, begin: int, count: int
    ) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        """Return the random bits of the draws from ``begin`` on, u8[N, ⌈count / 64⌉]."""
        words = np.empty((len(keys), -(-count // _WORD_BITS)), dtype=np.uint64)
        # A new generator for each query would take longer than its numbers.
        random = np.random.Philox(key=self._key(0), counter=begin // _COUNTED)
        start: Any = random.state
        for row, key in enumerate(keys):
            start["state"]["key"][0] = key
            random.state = start
            words[row] = random.random_raw(words.shape[1])
        return words

    def _key(self, query_key: int, stream: int = 0) -> int:
        """Return the key of 128 bits of one query's random numbers."""
        return (self.seed ^ stream) << _WORD_BITS | query_key


@lru_cache(maxsize=16)
def _halves(num_queries: int, draws: int, key: int) -> Ints:
    """Return random numbers of the distribution Binomial(N, ½), i8[draws], not to be changed."""
    drawn = np.random.Generator(np.random.Philox(key=key)).binomial(num_queries, 0.5, size=draws)
    drawn.flags.writeable = False
    return drawn


def all_subsets(num_queries: int) -> Floats:
    """Return all subsets of N queries up to complement, as 0/1: f8[N, 2^(N−1)].

    The last query is in none of them, and the first subset is empty.
    """
    codes = np.arange(1 << max(num_queries - 1, 0), dtype=np.int64)
    return ((codes >> np.arange(num_queries)[:, None]) & 1).astype(np.float64)


def position_keys(num_queries: int) -> Keys:
    """Return the keys of queries that are known by their position only, u8[Q]."""
    return np.arange(num_queries, dtype=np.uint64)


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
