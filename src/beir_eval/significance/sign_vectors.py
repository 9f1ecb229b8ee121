"""Sign vectors for sign-flip tests, in blocks that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.validation import check_draws, generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats, Ints

#: Numbers in a block of signs, and in the products with a block: 64 MiB each.
_BLOCK = 2**23
_BITS = 64


@dataclass(frozen=True, eq=False)
class SignVectors:
    """Vectors of Q signs: all 2^Q of them if ``draws`` allows it, random ones otherwise.

    The signs are drawn vector by vector, 64 queries from each random word, independently of the
    size of the blocks. So with the same seed, a pair of systems has the same p-value alone and
    among other pairs.

    Attributes:
        num_queries: Q, the number of queries.
        draws: the number of vectors.
        exact: whether these are all 2^Q vectors, each once. The first one flips no sign.
        rng: the source of random bits.
    """

    num_queries: int
    draws: int
    exact: bool
    rng: np.random.Generator

    @classmethod
    def choose(cls, num_queries: int, draws: int, rng: Any) -> SignVectors:
        """Return all 2^Q sign vectors if these are at most ``draws``, else ``draws`` random ones.

        Args:
            num_queries: Q, the number of queries.
            draws: the number of random vectors, a whole number above 0.
            rng: a seed (a whole number from 0) or a numpy Generator.

        Raises:
            SettingError: draws is below 1, or rng is neither a seed nor a Generator.
        """
        check_draws(draws)
        exact = 1 << num_queries <= draws
        return cls(num_queries, 1 << num_queries if exact else int(draws), exact, generator(rng))

    def blocks(self, width: int) -> Iterator[Floats]:
        """Yield blocks of sign vectors, ±1 as f8[b, Q].

        The block is overwritten by the next one: all blocks share a buffer.

        Args:
            width: the number of rows that are multiplied with a block. b is small enough for the
                products, f8[width, b], to fit in memory too.
        """
        block_size = min(self.draws, max(1, _BLOCK // max(self.num_queries, width)))
        buffer = np.empty((block_size, self.num_queries))
        for begin in range(0, self.draws, block_size):
            size = min(block_size, self.draws - begin)
            bits = self._all_bits(begin, size) if self.exact else self._random_bits(size)
            bits *= -2
            bits += 1
            np.copyto(buffer[:size], bits)
            yield buffer[:size]

    def p_values(self, counts: Ints | np.int64) -> Floats:
        """Return p-values from counts of vectors whose statistic is at least as extreme.

        Random vectors: (1 + count) / (draws + 1), where the added 1 is for the observed signs. All
        vectors: count / 2^Q, where count includes the observed signs. So no p-value is 0.

        Args:
            counts: numbers of vectors, i8 of any shape.
        """
        if self.exact:
            return np.asarray(counts / self.draws)
        return np.asarray((1 + counts) / (self.draws + 1))

    def _random_bits(self, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        """Return ``count`` random vectors of bits, i1[count, Q]."""
        words = -(-self.num_queries // _BITS)
        drawn = self.rng.integers(0, 2**_BITS, size=(count, words), dtype=np.uint64)
        return np.unpackbits(
            drawn.astype("<u8", copy=False).view(np.uint8), axis=1, count=self.num_queries
        ).view(np.int8)

    def _all_bits(self, begin: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        """Return the bits of the numbers from ``begin`` on, i1[count, Q], lowest bit first."""
        codes = np.arange(begin, begin + count, dtype=np.int64)[:, None]
        return ((codes >> np.arange(self.num_queries)) & 1).astype(np.int8)
