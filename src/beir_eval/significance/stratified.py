"""Averages over strata, such as data sets: scores for tests, the bootstrap, and ranks."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, SettingError
from beir_eval.significance.bootstrap import DRAWS, bca_levels, resampled_means
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_draws,
    generator,
    interval_levels,
    row_means,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from beir_eval.core.arrays import Floats, Ints

#: Fewer units than this are not resampled: they say too little about other units.
FEWEST_UNITS = 5


@dataclass(frozen=True, eq=False)
class StratifiedBootstrap:
    """Averages of R rows over strata, in B resamples. All rows share the resamples (paired).

    Attributes:
        averages: the average of each row, in the unit of the scores, f8[R].
        resampled: the averages in every resample, f8[R, B].
        deviations: each query's score minus the mean of its stratum, scaled as ``balanced`` does,
            f8[R, Q].
        hierarchical: whether the units were resampled too.
    """

    averages: Floats
    resampled: Floats
    deviations: Floats
    hierarchical: bool

    def interval(
        self, row: int, against: int | None = None, *, confidence: float = 0.95
    ) -> tuple[float, float]:
        """Return the interval of a row's average, or of its difference from another row's.

        It is a BCa interval (the formula is in ``bca_levels``) with the acceleration from
        ``deviations``; if the units were resampled, it is the percentile interval.

        Args:
            row: the index of the row.
            against: the index of the row to subtract; None for the average itself.
            confidence: the nominal probability that such an interval contains the true value.

        Returns:
            The low and the high end, in the unit of the scores.

        Raises:
            SettingError: confidence is not between 0 and 1.
        """
        levels = interval_levels(confidence)
        average = float(self.averages[row])
        resampled, deviations = self.resampled[row], self.deviations[row]
        if against is not None:
            average -= float(self.averages[against])
            resampled = resampled - self.resampled[against]
            deviations = deviations - self.deviations[against]
        if not self.hierarchical:
            noise = TOLERANCE * max(1.0, float(np.abs(self.averages).max()))
            if float(np.abs(deviations).max()) <= noise:
                return average, average
            levels = bca_levels(levels, deviations, resampled - average)
        low, high = np.quantile(resampled, levels).tolist()
        return low, high


def balanced(strata: Sequence[Any], *, units: Sequence[Hashable] | None = None) -> Floats:
    """Return the scores of all strata in one array, scaled so that row means are averages of units.

    Pass differences of its rows to ``sign_flip_many``, or a ``Family`` of it to ``randomise``: they
    change signs query by query, so no query takes the place of a query of another stratum.

    Formula: the score of a query in stratum s is multiplied by (Q / Q_s) / (U · strata in its
    unit), with Q queries in all, Q_s queries in the stratum, and U units.

    Args:
        strata: for each stratum the scores by row and query, f8[R, Q_s]; the rows (systems, say)
            are the same in all strata.
        units: the unit of each stratum. The score of a unit is the mean of its strata. By default
            every stratum is a unit.

    Returns:
        The scaled scores, queries in the order of the strata, f8[R, Q].

    Raises:
        InputError: there are no strata, the strata have different numbers of rows, ``units`` has
            another length than ``strata``, or the scores of a stratum are not finite numbers or
            cover fewer than two queries.

    >>> balanced([[[1.0, 1.0, 1.0, 1.0]], [[0.0, 0.0]]]).tolist()
    [[0.75, 0.75, 0.75, 0.75, 0.0, 0.0]]
    """
    return _scaled(_check_strata(strata), _unit_numbers(strata, units))


def stratified_bootstrap(
    strata: Sequence[Any],
    *,
    units: Sequence[Hashable] | None = None,
    hierarchical: bool = False,
    draws: int = DRAWS,
    rng: Any = 0,
) -> StratifiedBootstrap:
    """Resample queries within each stratum, and with ``hierarchical`` the units as well.

    Formula: in each resample, Q_s queries of every stratum are drawn with replacement. The score of
    a unit is the mean of its strata, and the average is the mean of the units. Hierarchical: first
    U units are drawn with replacement, then queries within each of them; a unit that is drawn
    twice gets new queries each time.

    Args:
        strata: for each stratum the scores by row and query, f8[R, Q_s]; the rows (systems, say)
            are the same in all strata.
        units: the unit of each stratum. The score of a unit is the mean of its strata. By default
            every stratum is a unit.
        hierarchical: whether to resample units, so that the intervals are about other units of the
            same kind; otherwise they are about these units. With few units the intervals are
            somewhat too narrow, as in any bootstrap of few values.
        draws: the number of resamples. The result takes 8·draws·R bytes, the computation several
            times as many.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Source: Davison and Hinkley, Bootstrap Methods and their Application, 1997, sections 3.2
    (several samples) and 3.8 (hierarchical).

    Raises:
        InputError: there are no strata, the strata have different numbers of rows, ``units`` has
            another length than ``strata``, or the scores of a stratum are not finite numbers or
            cover fewer than two queries.
        SettingError: hierarchical=True with fewer than five units, draws is below 1, or rng is
            neither a seed nor a Generator.

    >>> drawn = stratified_bootstrap([[[0.0, 1.0, 0.0, 1.0]], [[0.5, 0.5]]])
    >>> drawn.averages.tolist(), drawn.interval(0)
    ([0.5], (0.25, 0.75))
    """
    arrays, unit_numbers = _check_strata(strata), _unit_numbers(strata, units)
    check_draws(draws)
    num_units = max(unit_numbers) + 1
    if hierarchical and num_units < FEWEST_UNITS:
        msg = (
            f"hierarchical=True resamples data sets, which takes {FEWEST_UNITS} or more; there are "
            f"{num_units}. With hierarchical=False what is found holds for these data sets"
        )
        raise SettingError(msg)
    random = generator(rng)
    drawn = random.integers(0, num_units, size=(draws, num_units)) if hierarchical else None
    totals = np.zeros((len(arrays[0]), draws))
    for unit in range(num_units):
        parts = [
            array for array, number in zip(arrays, unit_numbers, strict=True) if number == unit
        ]
        # A resample is listed as often as this unit is drawn in it.
        resamples = np.arange(draws) if drawn is None else np.nonzero(drawn == unit)[0]
        means = np.zeros((len(totals), len(resamples)))
        for part in parts:
            means += resampled_means(part, len(resamples), random)
        for row, unit_means in enumerate(means / len(parts)):
            totals[row] += np.bincount(resamples, weights=unit_means, minlength=draws)
    centred = [array - row_means(array)[:, None] for array in arrays]
    return StratifiedBootstrap(
        _averages(arrays, unit_numbers),
        totals / num_units,
        _scaled(centred, unit_numbers),
        hierarchical,
    )


@dataclass(frozen=True, eq=False)
class Ranks:
    """The bootstrapped ranks of R rows. Rank 1 is the best; rows that tie share the better rank.

    Attributes:
        low, high: the ends of the interval of each row's rank, i8[R] each.
        first: the share of resamples in which each row has rank 1, f8[R]. It is not the
            probability that the row is truly the best.
    """

    low: Ints
    high: Ints
    first: Floats


def resampled_ranks(resampled: Any, *, confidence: float = 0.95) -> Ranks:
    """Return intervals of the ranks of rows from resampled means; a higher mean is better.

    Formula: rank = 1 + ``#{rows with a higher mean}`` in each resample. The ends are the smallest
    ranks that at least a share (1 − confidence)/2, or (1 + confidence)/2, of the resamples do not
    exceed. Means that differ by no more than 1e-12 of the largest absolute mean tie.

    Args:
        resampled: the means of R rows in B resamples, f8[R, B], as in
            ``StratifiedBootstrap.resampled``.
        confidence: the share of the resamples that the interval is to contain.

    Source: Goldstein and Spiegelhalter, League tables and their limitations, J. Royal Statistical
    Society A 159(3), 1996.

    Raises:
        InputError: the means are not finite numbers, are not two-dimensional, or are of fewer than
            two resamples.
        SettingError: confidence is not between 0 and 1.

    >>> resampled_ranks([[0.5, 0.5, 0.5, 0.5], [0.4, 0.4, 0.4, 0.6]], confidence=0.8).first.tolist()
    [0.75, 0.25]
    """
    values = as_scores(resampled, 2, "the resampled means")
    levels = interval_levels(confidence)
    tolerance = TOLERANCE * float(np.abs(values).max())
    ranks = np.stack([1 + np.count_nonzero(values > row + tolerance, axis=0) for row in values])
    low, high = np.quantile(ranks, levels, axis=1, method="inverted_cdf").astype(np.int64)
    return Ranks(low, high, (ranks == 1).mean(axis=1))


def _check_strata(strata: Sequence[Any]) -> list[Floats]:
    """Return the scores of each stratum as f8[R, Q_s].

    Raises:
        InputError: there are no strata, their numbers of rows differ, or scores are unusable.
    """
    arrays = [as_scores(stratum, 2, "the scores of a stratum") for stratum in strata]
    if not arrays or len({len(array) for array in arrays}) > 1:
        msg = f"strata must have the same rows, not {[len(array) for array in arrays]}"
        raise InputError(msg)
    return arrays


def _unit_numbers(strata: Sequence[Any], units: Sequence[Hashable] | None) -> list[int]:
    """Return the unit of each stratum as a number; units are numbered from 0 as they first occur.

    Raises:
        InputError: there are more or fewer units than strata.
    """
    names = list(range(len(strata))) if units is None else list(units)
    if len(names) != len(strata):
        msg = f"units must name the unit of each of {len(strata)} strata, not of {len(names)}"
        raise InputError(msg)
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [number_of[name] for name in names]


def _weights(unit_numbers: Sequence[int]) -> list[float]:
    """Return the weight of each stratum in the average: 1 / (units · strata in its unit)."""
    count_of, num_units = Counter(unit_numbers), max(unit_numbers) + 1
    return [1 / (num_units * count_of[number]) for number in unit_numbers]


def _scaled(arrays: Sequence[Floats], unit_numbers: Sequence[int]) -> Floats:
    """Return the scores scaled as ``balanced`` explains, f8[R, Q]."""
    total = sum(array.shape[1] for array in arrays)
    return np.concatenate(
        [
            array * (weight * total / array.shape[1])
            for array, weight in zip(arrays, _weights(unit_numbers), strict=True)
        ],
        axis=1,
    )


def _averages(arrays: Sequence[Floats], unit_numbers: Sequence[int]) -> Floats:
    """Return the average of each row over the units, f8[R]."""
    means = np.stack([row_means(array) for array in arrays], axis=1)
    weights = _weights(unit_numbers)
    return np.array([math.fsum(row) for row in (means * weights).tolist()])
