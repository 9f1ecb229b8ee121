"""The test of the best of several candidates, in which every draw chooses again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.equivalence import check_alpha
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import LEVEL_TOLERANCE, check_draws_suffice

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.significance.sign_vectors import Keys

#: Queries are cut into so many parts.
PARTS = 5
#: So many times; of more than 300 queries less often, so that the test takes no longer.
_FEWEST_CUTS, _MOST_CUTS, _CUT_QUERIES = 10, 100, 30_000
#: Of fewer differing units the interval is not shown: it is too short there.
FEWEST_DIFFERING = 10
#: Sums that differ by this share of the largest number, for each of them, are equal but for
#: rounding.
_ROUNDING = 1e-12
#: Numbers of the sums of all candidates and draws that are in memory at a time: 2 MiB, which the
#: cache of a processor holds.
_NUMBERS = 2**18


@dataclass(frozen=True, eq=False)
class ChosenAgain:
    """The best of C candidates against a baseline, over N units (queries, or clusters of them).

    Attributes:
        best: the row with the highest mean.
        in_sample: its mean.
        held_out: the mean of ``differences``.
        low, high: the interval of ``held_out``; NaN if the row other than the baseline's that is
            chosen most often is not 0 on fewer than ten units.
        p: the one-sided p.
        chosen: how many of the parts of all partitions chose each row, i8[C].
        differences: of each unit the number of the row that the other parts chose, the mean over
            the partitions, f8[N].
    """

    best: int
    in_sample: float
    held_out: float
    low: float
    high: float
    p: float
    chosen: Ints
    differences: Floats


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
    with the row that is best on the others: queries are cut into five parts at random, a hundred
    times (above 300 queries 30,000 / N times, at least ten), and each part takes the row with the
    highest sum outside it. A paired test of these numbers is not valid, since their parts share
    queries. Here every draw flips the signs of all rows of a query at once, and chooses again.

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
    check_draws_suffice(signs.draws, alpha / 2)
    rank = math.floor(alpha / 2 * (signs.draws + 1) * (1 + LEVEL_TOLERANCE))
    # Of sums that are equal but for rounding, the first row's is the largest.
    handicaps = _ROUNDING * num_units * np.abs(rows).max(initial=0.0) * np.arange(len(rows))
    parts = _parts_of(keys, np.zeros(num_units) if strata is None else strata)
    columns, chosen = np.ascontiguousarray(rows.T), np.zeros(len(rows), dtype=np.int64)
    own = _chosen_numbers(columns, np.ones((num_units, 1)), parts, handicaps, chosen)
    differences, statistic = own[:, 0], float(_statistics(own)[0])
    step = max(1, _NUMBERS // max(rows.shape))
    flipped = np.sort(
        np.concatenate(
            [
                _statistics(
                    _chosen_numbers(columns, 2 * block[:, at : at + step] - 1, parts, handicaps)
                )
                for block in signs.blocks(keys)
                for at in range(0, block.shape[1], step)
            ]
        )
    )
    p = (1 + int(np.count_nonzero(flipped >= statistic - 1e-9))) / (len(flipped) + 1)
    means = rows.mean(axis=1)
    best = int(np.argmax(means - handicaps / num_units))
    low = high = math.nan
    num_differing = np.count_nonzero(rows, axis=1)
    most = (chosen * (num_differing > 0)).argmax()  # the row of the baseline has none
    if chosen[most] and num_differing[most] >= FEWEST_DIFFERING:
        error = float(differences.std(ddof=1)) / math.sqrt(num_units)
        low, high = (
            float(differences.mean()) - error * _as_t(float(flipped[at]), num_units)
            for at in (len(flipped) - rank, rank - 1)
        )
    return ChosenAgain(
        best,
        float(means[best]),
        float(differences.mean()),
        low,
        high,
        p,
        chosen,
        differences,
    )


def _parts_of(keys: Keys, strata: Floats | Ints) -> list[Ints]:
    """Return the indices of the units of each part, five for each partition.

    Units are dealt out at random, those of each stratum one after the other. What is drawn belongs
    to the units in the order of their keys.
    """
    by_key = np.argsort(keys)
    parts = []
    for partition in range(min(_MOST_CUTS, max(_FEWEST_CUTS, _CUT_QUERIES // len(keys)))):
        drawn = np.random.Philox(key=partition).random_raw(len(keys))
        order = by_key[np.lexsort((drawn, strata[by_key]))]
        parts += [order[number::PARTS] for number in range(PARTS)]
    return parts


def _chosen_numbers(
    columns: Floats,
    signs: Floats,
    parts: list[Ints],
    handicaps: Floats,
    chosen: Ints | None = None,
) -> Floats:
    """Return the numbers D of each draw, f8[N, b].

    Args:
        columns: the rows of ``chosen_again``, f8[N, C].
        signs: the signs of the units in each draw, f8[N, b].
        parts: the units of each part of all partitions.
        handicaps: what is subtracted from the sum of each row, f8[C].
        chosen: counts how often the first draw chooses each row, i8[C].
    """
    numbers = np.zeros(signs.shape)
    total = signs.T @ columns - handicaps
    for part in parts:
        row = np.argmax(total - signs[part].T @ columns[part], axis=1)
        numbers[part] += columns[part][:, row]
        if chosen is not None:
            chosen[row[0]] += 1
    return numbers * signs * PARTS / len(parts)


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
