"""A test that is repeated at many looks: the level that each look may spend, and its bound.

Each look compares another system with the same baseline on the same queries. Nothing accrues from
look to look, so the looks are tested jointly: a sign vector flips the differences of all looks, and
a sign vector that crosses the bound of a look is spent. The bound of a look depends on this look
and on the sign vectors that earlier looks have spent, so it never changes afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import SettingError, check_choice, check_count, shown
from beir_eval.significance.validation import (
    LEVEL_TOLERANCE,
    TOLERANCE,
    check_share,
    is_number,
)

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.significance.sign_vectors import Keys, SignVectors

#: The alternatives of a test at many looks.
LOOK_ALTERNATIVES = ("two-sided", "greater")
#: Σ 1/(k·ln²(k + 1)) over all k from 1.
_OPEN_TOTAL = 3.387735531952002


@dataclass(frozen=True, slots=True)
class Spending:
    """How much of a level the first looks may spend.

    Formula: with K planned looks, the first k may spend alpha·(1 − reserve)·k/K. Without a planned
    number, look k may spend alpha·w_k, w_k proportional to 1/(k·ln²(k + 1)), which sums to 1 over
    all k. Look K + j after the planned ones may spend alpha·reserve·w_j.

    Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 70(3),
    1983.

    Attributes:
        alpha: the level of all looks together, between 0 and 1.
        looks: K, the planned number of looks; None if there is none.
        reserve: the share of alpha that is kept for looks after the planned ones, from 0 to below
            1.

    Raises:
        SettingError: a value is outside its range, or a share is reserved without planned looks.

    >>> Spending(0.05, looks=50).up_to(25)
    0.025
    """

    alpha: float
    looks: int | None = 50
    reserve: float = 0.0

    def __post_init__(self) -> None:
        """Check every value."""
        check_share("alpha", self.alpha)
        if self.looks is not None:
            check_count("looks", self.looks)
        if not is_number(self.reserve) or not 0 <= self.reserve < 1:
            msg = f"reserve must be a number from 0 to below 1, not {shown(self.reserve)}"
            raise SettingError(msg)
        if self.looks is None and self.reserve:
            msg = (
                f"reserve={self.reserve!r} is for looks after the planned ones, but looks=None "
                "plans none; leave reserve out, or state a number of looks"
            )
            raise SettingError(msg)

    def allows(self, look: int) -> bool:
        """Return whether the look with this number, from 1, may spend anything."""
        return self.looks is None or look <= self.looks or self.reserve > 0

    def up_to(self, look: int) -> float:
        """Return the level that the first looks, up to this number, may spend together."""
        if self.looks is None:
            return self.alpha * _open_share(look)
        share = (1 - self.reserve) * min(look, self.looks) / self.looks
        return self.alpha * (share + self.reserve * _open_share(look - self.looks))


def _open_share(look: int) -> float:
    """Return Σ w_k of the first looks of an unlimited number; 0 for none."""
    weights = (1 / (k * math.log1p(k) ** 2) for k in range(1, look + 1))
    return math.fsum(weights) / _OPEN_TOTAL


@dataclass(frozen=True, eq=False)
class Flips:
    """The statistics of R looks, and those of all sign vectors.

    The statistic of differences x is Σx/√Σx², or its absolute value if the test is two-sided. It
    increases with t, and 0 stands for differences that are all 0.

    Attributes:
        observed: the statistics, f8[R].
        drawn: those of the sign vectors, f8[R, B]; one-sided, each vector's opposite follows, f8[R,
            2B].
        largest: the largest statistic that any signs of the differences give, f8[R].
    """

    observed: Floats
    drawn: Floats
    largest: Floats


@dataclass(frozen=True, eq=False)
class Crossing:
    """What one look spends.

    Attributes:
        bound: the statistic of the look must exceed this; None if no signs of its differences
            could.
        crosses: whether it does.
        spent: the indices of the sign vectors that are spent at this look, ascending, i8[S].
        count: how many of all sign vectors and the observed signs are spent up to this look.
    """

    bound: float | None
    crosses: bool
    spent: Ints
    count: int


def flip_looks(differences: Floats, keys: Keys, signs: SignVectors, alternative: str) -> Flips:
    """Return the statistics of looks and of all sign vectors.

    Args:
        differences: by look and query, above 0 where the look is better, f8[R, Q]; 0 where a query
            is not compared.
        keys: the key of each query, which gives its random signs, u8[Q].
        signs: the sign vectors.
        alternative: "two-sided" or "greater".

    Raises:
        SettingError: the alternative is unknown.
    """
    check_choice("alternative", alternative, LOOK_ALTERNATIVES)
    norms = np.sqrt((differences**2).sum(axis=1))
    scaled = differences / np.where(norms > 0, norms, 1.0)[:, None]
    differing = scaled.any(axis=0)
    columns = np.ascontiguousarray(scaled[:, differing])
    totals = columns.sum(axis=1)
    drawn, begin = np.empty((len(scaled), signs.draws)), 0
    for sums in signs.products(columns, keys[differing]):
        end = begin + sums.shape[1]
        np.subtract(2 * sums, totals[:, None], out=drawn[:, begin:end])
        begin = end
    largest = np.abs(columns).sum(axis=1)
    if alternative == "two-sided":
        return Flips(np.abs(totals), np.abs(drawn, out=drawn), largest)
    return Flips(totals, np.concatenate([drawn, -drawn], axis=1), largest)


def spend(  # noqa: PLR0913 - the state of earlier looks, and this one
    observed: float,
    drawn: Floats,
    largest: float,
    alive: Ints,
    *,
    count: int,
    level: float,
    has_crossed: bool = False,
) -> Crossing:
    """Return the bound of one look, and the sign vectors that it spends.

    The observed signs and the D drawn ones are exchangeable if no look differs from the baseline
    and the differences of all looks are jointly symmetric. The rule treats them all alike and
    spends at most a share ``level`` of them up to this look, so the observed signs are among them
    with a probability of at most ``level``.

    Formula: m = ⌊level·(D + 1)⌋ − count. A living sign vector, or the observed one, is spent if at
    most m of the living ones, itself included, have a statistic as high. So the observed statistic
    must exceed the m-th highest of the living drawn ones, the bound. Statistics that differ by no
    more than 2e-12·``largest`` are equal.

    Args:
        observed: the statistic of the look.
        drawn: those of the D sign vectors, f8[D].
        largest: the largest statistic that any signs of the differences give.
        alive: the indices of the sign vectors that no earlier look has spent, i8[A].
        count: how many are spent, the observed one included.
        level: the level that may be spent up to this look.
        has_crossed: whether the observed signs were spent at an earlier look.

    >>> crossing = spend(3.0, np.array([1.0, 2.0, 2.5]), 3.5, np.arange(3), count=0, level=0.5)
    >>> crossing.bound > 2.0, crossing.crosses, crossing.spent.tolist(), crossing.count
    (True, True, [2], 2)
    """
    living = drawn[alive]
    allowed = math.floor(level * (len(drawn) + 1) * (1 + LEVEL_TOLERANCE)) - count
    if allowed <= 0 or allowed > len(living):
        return Crossing(None, crosses=False, spent=alive[:0], count=count)
    tolerance = 2 * TOLERANCE * largest
    order = np.argpartition(-living, allowed - 1)[:allowed]
    candidates = living[order]  # any other has m living ones above it
    bound = float(candidates.min()) + tolerance
    crosses = bool(observed > bound)
    highest = living[living >= bound - 3 * tolerance]
    if not has_crossed:
        highest = np.append(highest, observed)
    as_high = len(highest) - np.searchsorted(np.sort(highest), candidates - tolerance)
    spent = np.sort(alive[order[as_high <= allowed]])
    return Crossing(
        bound if bound < largest else None,
        crosses,
        spent,
        count + len(spent) + (crosses and not has_crossed),
    )
