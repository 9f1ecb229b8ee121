"""Sign vectors for sign-flip tests, in blocks that fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.validation import check_draws, generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats, Ints

#: Numbers in one block of signs, or of products with it: 64 MiB each.
_BLOCK = 2**23
_BITS = 64


@dataclass(frozen=True, eq=False)
class SignVectors:
    """Vectors of Q signs: all 2^Q of them where ``draws`` allows it, random ones otherwise.

    The signs come from random bits, 64 queries a word, vector by vector. So the same seed gives the
    same signs whatever is multiplied with them: a pair has one p-value, alone or among others.

    Attributes:
        num_queries: Q.
        draws: how many vectors there are.
        exact: whether they are all there can be (each once; the first is the identity).
        rng: where random bits come from.
    """

    num_queries: int
    draws: int
    exact: bool
    rng: np.random.Generator

    @classmethod
    def choose(cls, num_queries: int, draws: int, rng: Any) -> SignVectors:
        """Return all sign vectors if they are at most ``draws``, else so many random ones.

        Args:
            num_queries: Q.
            draws: a whole number above 0.
            rng: a seed, or a numpy Generator.

        Raises:
            SettingError: draws below 1, no seed.
        """
        check_draws(draws)
        exact = 1 << num_queries <= draws
        return cls(num_queries, 1 << num_queries if exact else int(draws), exact, generator(rng))

    def blocks(self, width: int) -> Iterator[Floats]:
        """Yield ±1 as f8[b, Q], so few at a time that f8[b, width] fits in memory too.

        One buffer serves every block: use each before asking for the next.
        """
        size = min(self.draws, max(1, _BLOCK // max(self.num_queries, width)))
        buffer = np.empty((size, self.num_queries))
        for begin in range(0, self.draws, size):
            count = min(size, self.draws - begin)
            bits = self._all_bits(begin, count) if self.exact else self._random_bits(count)
            bits *= -2
            bits += 1
            np.copyto(buffer[:count], bits)
            yield buffer[:count]

    def p_values(self, counts: Ints | np.int64) -> Floats:
        """Return p from how many of the vectors gave a value at least as extreme.

        Random vectors: (1 + count) / (draws + 1), since the identity is one more possibility. All
        vectors: count / 2^Q, which includes the identity. Neither is ever 0.
        """
        if self.exact:
            return np.asarray(counts / self.draws)
        return np.asarray((1 + counts) / (self.draws + 1))

    def _random_bits(self, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        words = -(-self.num_queries // _BITS)
        drawn = self.rng.integers(0, 2**_BITS, size=(count, words), dtype=np.uint64)
        return np.unpackbits(
            drawn.astype("<u8", copy=False).view(np.uint8), axis=1, count=self.num_queries
        ).view(np.int8)

    def _all_bits(self, begin: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
        codes = np.arange(begin, begin + count, dtype=np.int64)[:, None]
        return ((codes >> np.arange(self.num_queries)) & 1).astype(np.int8)
