"""The differences that pairs of systems can have, whichever unjudged documents are relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.significance.validation import TOLERANCE

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.significance.sign_vectors import Keys


@dataclass(frozen=True, eq=False)
class Ranges:
    """The differences that D pairs can have on each of Q queries, whichever holes are relevant.

    Attributes:
        low, high: the lowest and the highest, f8[D, Q] each.
        keys: the key of each query, by which its random signs are drawn, u8[Q].
    """

    low: Floats
    high: Floats
    keys: Keys

    @property
    def are_points(self) -> bool:
        """Whether no difference can change."""
        return bool((self.low == self.high).all())

    @property
    def always_differ(self) -> Mask:
        """On which queries some pair differs in every completion, bool[Q]."""
        return np.asarray(((self.low > 0) | (self.high < 0)).any(axis=0))

    @property
    def is_above_0(self) -> Mask:
        """Whether the mean difference is above 0 in every completion, bool[D]."""
        return np.asarray(self.low.sum(axis=1) > TOLERANCE * self._scale)

    @property
    def is_below_0(self) -> Mask:
        """Whether the mean difference is below 0 in every completion, bool[D]."""
        return np.asarray(self.high.sum(axis=1) < -TOLERANCE * self._scale)

    @property
    def _scale(self) -> Floats:
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)).sum(axis=1))
