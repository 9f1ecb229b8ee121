"""Random and exhaustive sign vectors for sign-flip tests, as the subsets of queries they keep.

A vector of signs s and the subset of queries with s = +1 are the same thing: the flipped sum
``Σ s·x`` is ``2·Σ(subset) − Σ x``. So one product with 0/1 rows serves the test (flipped sums) and
its interval (means of subsets).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.subset_sums import draws_at_once, subset_sums
from beir_eval.significance.validation import check_draws, seed_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from beir_eval.core.arrays import Floats, Ints

#: Keys of queries, u8[N]: whole numbers of 64 bits that identify them.
Keys = np.ndarray[tuple[int], np.dtype[np.uint64]]
#: Numbers of a block of subsets: 64 MiB.
_BLOCK = 2**23
#: Columns of the products that are returned at a time: few enough for the processor's cache.
_COLUMNS = 2**13
#: Memory of the random bits, which are packed: 128 MiB.
_PACKED_BYTES = 2**27
_BITS = 64
#: For more queries than this, a block of 64 subsets would be larger than ``_BLOCK``, and the sums
#: come from ``subset_sums``.
_MOST_IN_BLOCKS = _BLOCK // _BITS
#: The bits that Philox yields at each step of its counter: four words.
_COUNTED = 4 * _BITS
#: Numbers of draws unless told, and the number of queries above which the smaller one is used. The
#: standard error of a p-value of .05 is then .0007, or .0015.
DRAWS, DRAWS_OF_MANY_QUERIES, MANY_QUERIES = 100_000, 20_000, 1_000


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
        block_draws = max(_BITS, _BLOCK // num_queries // _BITS * _BITS)
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
        words = np.empty((len(keys), -(-count // _BITS)), dtype=np.uint64)
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
        return (self.seed ^ stream) << _BITS | query_key


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
