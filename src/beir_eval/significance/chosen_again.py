"""The test of the best of several candidates, in which every draw chooses again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import SettingError
from beir_eval.significance.equivalence import check_alpha
from beir_eval.significance.sign_vectors import SignVectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.sign_vectors import Keys

#: Queries are cut into so many parts, so many times.
PARTS, PARTITIONS = 5, 10
#: Of fewer differing units the interval is not shown: it is too short there.
FEWEST_DIFFERING = 10
#: Sums that differ by this share of the largest number, for each of them, are equal but for
#: rounding.
_ROUNDING = 1e-12
#: Numbers of the sums of all candidates, parts and draws that are in memory at a time: 64 MiB.
_NUMBERS = 2**23
#: Odd factors of a hash (splitmix64), and the step between partitions.
_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class ChosenAgain:
    """The best of C candidates against a baseline, over N units (queries, or clusters of them).

    Attributes:
        best: the row with the highest mean.
        in_sample: its mean.
        held_out: the mean of ``differences``.
        held_out_error: its standard error over the partitions, for these units.
        low, high: the interval of ``held_out``; NaN if fewer than ten units differ.
        p: the one-sided p.
        chosen: how many of the 50 parts chose each row, i8[C].
        differences: of each unit the number of the row that the other parts chose, the mean over
            the partitions, f8[N].
        draws: the number of random sign vectors.
    """

    best: int
    in_sample: float
    held_out: float
    held_out_error: float
    low: float
    high: float
    p: float
    chosen: Ints
    differences: Floats
    draws: int

    def decides(self, alpha: float) -> bool:
        """Whether p is at most half of the level, but for rounding."""
        return self.p <= alpha / 2 * (1 + 1e-9)


def chosen_again(  # noqa: PLR0913 - one keyword a part of the method
    rows: Floats,
    keys: Keys,
    *,
    strata: Ints | None = None,
    alpha: float = 0.05,
    draws: int = 10_000,
    rng: Any = 0,
) -> ChosenAgain:
    """Test whether the best of several rows has a mean above 0, choosing it again in every draw.

    The mean of the row that is best on some queries is too high on these. So each query is measured
    with the row that is best on the others: queries are cut into five parts by a hash of their
    keys, ten times, and each part takes the row with the highest sum outside it. A paired test of
    these numbers is not valid, since their parts share queries. Here every draw flips the signs of
    all rows of a query at once, and chooses again.

    Formula: D = the chosen numbers, averaged over the partitions; U = ``Σ D / √(Σ D²)``, 0 if all D
    are 0; p = ``(1 + #{U* ≥ U}) / (draws + 1)`` over random signs. With t(u) =
    ``u √((n − 1) / (n − u²))``, and u the r-th largest and the r-th smallest U*, r =
    ⌊alpha / 2 · (draws + 1)⌋, the interval is mean − t(u) · sd / √n: it is above 0 exactly if
    p ≤ alpha / 2. If the numbers of all rows are jointly symmetric about 0, the test is exact.

    Args:
        rows: the gain of each candidate over the baseline by unit, f8[C, N]; a row of zeros is the
            baseline itself. For averages of data sets, numbers whose mean is that average.
        keys: the key of each unit, u8[N]. It decides its parts and its signs, so that the order of
            the units does not matter.
        strata: the data set of each unit, i8[N], if there are several; parts are cut within each.
        alpha: the level, below .5; half of it decides on one side.
        draws: the number of random sign vectors.
        rng: a seed or a numpy Generator.

    Source: our construction, after Bengio and Grandvalet, JMLR 5, 2004: the variance of a
    cross-validation has no unbiased estimator. benchmarks/choosing.py has its error rates.

    Raises:
        SettingError: alpha is no share, draws is below 1, or no p can reach alpha / 2.
    """
    check_alpha(alpha)
    num_units = rows.shape[1]
    signs = SignVectors.choose(num_units, draws, rng)
    rank = math.floor(alpha / 2 * (signs.draws + 1) * (1 + 1e-9))
    if rank < 1:
        msg = (
            f"with draws={signs.draws} no p is below {1 / (signs.draws + 1):.3g}, and "
            f"{alpha / 2:g} decides; use draws={math.ceil(2 / alpha)} or more"
        )
        raise SettingError(msg)
    tolerance = _ROUNDING * num_units * float(np.abs(rows).max(initial=0.0))
    partitions = [_parts_of(keys, strata, partition) for partition in range(PARTITIONS)]
    chosen = np.zeros(len(rows), dtype=np.int64)
    unflipped = np.ones((num_units, 1))
    by_partition = np.hstack(
        [_chosen_numbers(rows, unflipped, [parts], tolerance, chosen) for parts in partitions]
    )
    own = np.add.reduce(by_partition, axis=1, keepdims=True) / PARTITIONS
    differences = own[:, 0]
    statistic = float(_statistics(own)[0])
    flipped = np.sort(
        np.concatenate(
            [
                _statistics(_chosen_numbers(rows, part, partitions, tolerance))
                for block in signs.blocks(keys)
                for part in _in_parts(2 * block - 1, len(rows))
            ]
        )
    )
    p = (1 + int(np.count_nonzero(flipped >= statistic - 1e-9))) / (len(flipped) + 1)
    means = rows.mean(axis=1)
    best = int(np.flatnonzero(means >= means.max() - tolerance / num_units)[0])
    low = high = math.nan
    if np.count_nonzero(differences) >= FEWEST_DIFFERING:
        error = float(differences.std(ddof=1)) / math.sqrt(num_units)
        low, high = (
            float(differences.mean()) - error * _as_t(float(flipped[at]), num_units)
            for at in (len(flipped) - rank, rank - 1)
        )
    return ChosenAgain(
        best,
        float(means[best]),
        float(differences.mean()),
        float(by_partition.mean(axis=0).std(ddof=1)) / math.sqrt(PARTITIONS),
        low,
        high,
        p,
        chosen,
        differences,
        len(flipped),
    )


def _parts_of(keys: Keys, strata: Ints | None, partition: int) -> list[Mask]:
    """Return the units of each of the five parts, bool[N] each.

    Units are dealt out in the order of a hash of their keys, in each stratum.
    """
    hashes = keys + np.uint64((partition + 1) * _STEP % 2**64)
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    hashes ^= hashes >> np.uint64(31)
    numbers = np.zeros(len(keys), dtype=np.int64) if strata is None else strata
    part = np.empty(len(keys), dtype=np.int64)
    for stratum in np.unique(numbers):
        members = np.flatnonzero(numbers == stratum)
        order = members[np.argsort(hashes[members], kind="stable")]
        part[order] = np.arange(len(order)) % PARTS
    return [part == number for number in range(PARTS)]


def _in_parts(signs: Floats, num_rows: int) -> Iterator[Floats]:
    """Yield the signs of as many draws as fit into memory with all sums, f8[N, b]."""
    step = max(1, _NUMBERS // (num_rows * (PARTS + 3)))
    for begin in range(0, signs.shape[1], step):
        yield signs[:, begin : begin + step]


def _chosen_numbers(
    rows: Floats,
    signs: Floats,
    partitions: list[list[Mask]],
    tolerance: float,
    chosen: Ints | None = None,
) -> Floats:
    """Return the numbers D of each draw, f8[N, b].

    Args:
        rows: as of ``chosen_again``, f8[C, N].
        signs: the signs of the units in each draw, f8[N, b].
        partitions: the parts of each partition.
        tolerance: by how much equal sums may differ.
        chosen: counts how often the first draw chooses each row, i8[C].
    """
    numbers = np.zeros(signs.shape)
    for parts in partitions:
        sums = [rows[:, part] @ signs[part] for part in parts]
        total = np.add.reduce(sums)
        for part, of_part in zip(parts, sums, strict=True):
            outside = np.subtract(total, of_part, out=of_part)
            # The first of equal rows: a boolean array has its maximum there.
            row = np.argmax(outside >= outside.max(axis=0) - tolerance, axis=0)
            numbers[part] += rows[:, part].T[:, row]
            if chosen is not None:
                chosen[row[0]] += 1
    return numbers * signs / len(partitions)


def _statistics(numbers: Floats) -> Floats:
    """Return U of each draw: f8[N, b] -> f8[b]."""
    squares = np.sqrt((numbers**2).sum(axis=0))
    return np.asarray(numbers.sum(axis=0) / np.where(squares > 0, squares, 1.0))


def _as_t(statistic: float, num_units: int) -> float:
    """Return the t of the numbers whose U this is."""
    left = num_units - statistic**2
    if left <= 1e-9 * num_units:
        return math.copysign(math.inf, statistic)
    return statistic * math.sqrt((num_units - 1) / left)
