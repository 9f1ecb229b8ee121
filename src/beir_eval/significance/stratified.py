"""Averages over strata, such as data sets: queries are resampled, or flipped, within each."""

from __future__ import annotations

import math
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

    from beir_eval.core.arrays import Floats

#: Resampling fewer units tells nothing about the units there might have been.
FEWEST_UNITS = 5


@dataclass(frozen=True, eq=False)
class StratifiedBootstrap:
    """Averages over strata, resampled; the same resamples serve all rows, so rows are paired.

    Attributes:
        averages: of the rows, f8[R].
        resampled: the averages in every resample, f8[R, B].
        deviations: what each query adds to an average, less the mean of its stratum, scaled as
            ``balanced`` does, f8[R, Q].
        hierarchical: whether the units were resampled too.
    """

    averages: Floats
    resampled: Floats
    deviations: Floats
    hierarchical: bool

    def interval(
        self, row: int, against: int | None = None, *, confidence: float = 0.95
    ) -> tuple[float, float]:
        """Return the interval of the average of a row, or of its difference to another row.

        BCa (``bootstrap_interval``), the acceleration from what each query adds to the average;
        the percentile interval where the units were resampled.

        Raises:
            SettingError: confidence outside 0 to 1.
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
    """Return all queries in one array, scaled so that a row's mean is its average over units.

    What flips signs of, or corrects over, such rows does so within the strata: no query of one
    ever stands for a query of another. ``sign_flip_many``, ``sign_flip_pairs``, ``max_t`` and
    ``max_t_pairs`` take them; a bootstrap that mixes all queries does not fit them.

    Formula: the score of a query in stratum s is multiplied by (Q / Q_s) / (U · parts of its unit),
    with Q queries in all, Q_s in the stratum, and U units.

    Args:
        strata: f8[R, Q_s] for each stratum, rows alike.
        units: by stratum, the unit that it is a part of; a unit is the mean of its parts. By
            default every stratum is a unit.

    Raises:
        InputError: no strata, different numbers of rows, and as ``sign_flip_many``.

    >>> balanced([[[1.0, 1.0, 1.0, 1.0]], [[0.0, 0.0]]]).tolist()
    [[0.75, 0.75, 0.75, 0.75, 0.0, 0.0]]
    """
    return _scaled(_checked(strata), _places(strata, units))


def stratified_bootstrap(
    strata: Sequence[Any],
    *,
    units: Sequence[Hashable] | None = None,
    hierarchical: bool = False,
    draws: int = DRAWS,
    rng: Any = 0,
) -> StratifiedBootstrap:
    """Resample queries within each stratum, and with ``hierarchical`` the units as well.

    Formula: in each resample Q_s queries of every stratum are drawn with replacement; a unit is the
    mean of its parts, and the average that of the units. Hierarchical: first U units are drawn
    with replacement, then queries within each of them, anew for a unit that is drawn again.

    Args:
        strata: f8[R, Q_s] for each stratum, rows alike (systems, say).
        units: as ``balanced``.
        hierarchical: whether the units stand for others that there might have been. Otherwise
            what is found holds for these. With few units the intervals are somewhat too narrow, as
            those of any bootstrap of few values.
        draws: resamples. Memory is 16·draws·R bytes.
        rng: a seed, or a numpy Generator.

    Source: Davison and Hinkley, Bootstrap Methods and their Application, 1997, sections 3.2
    (several samples) and 3.8 (hierarchical).

    Raises:
        InputError: no strata, different numbers of rows, fewer than two queries in one, NaN.
        SettingError: hierarchical with fewer than five units, draws below 1, no seed.

    >>> drawn = stratified_bootstrap([[[0.0, 1.0, 0.0, 1.0]], [[0.5, 0.5]]])
    >>> drawn.averages.tolist(), drawn.interval(0)
    ([0.5], (0.25, 0.75))
    """
    arrays, places = _checked(strata), _places(strata, units)
    check_draws(draws)
    count = max(places) + 1
    if hierarchical and count < FEWEST_UNITS:
        msg = (
            f"hierarchical=True resamples data sets, which takes {FEWEST_UNITS} or more; there are "
            f"{count}. With hierarchical=False what is found holds for these data sets"
        )
        raise SettingError(msg)
    random = generator(rng)
    chosen = random.integers(0, count, size=(draws, count)) if hierarchical else None
    totals = np.zeros((len(arrays[0]), draws))
    for unit in range(count):
        parts = [array for array, place in zip(arrays, places, strict=True) if place == unit]
        where = np.arange(draws) if chosen is None else np.nonzero(chosen == unit)[0]
        means = np.zeros((len(totals), len(where)))
        for part in parts:
            means += resampled_means(part, len(where), random)
        for row, each in enumerate(means / len(parts)):
            totals[row] += np.bincount(where, weights=each, minlength=draws)
    centred = [array - row_means(array)[:, None] for array in arrays]
    return StratifiedBootstrap(
        _averages(arrays, places), totals / count, _scaled(centred, places), hierarchical
    )


def _checked(strata: Sequence[Any]) -> list[Floats]:
    arrays = [as_scores(one, 2, "the scores of a stratum") for one in strata]
    if not arrays or len({len(one) for one in arrays}) > 1:
        msg = f"strata must have the same rows, not {[len(one) for one in arrays]}"
        raise InputError(msg)
    return arrays


def _places(strata: Sequence[Any], units: Sequence[Hashable] | None) -> list[int]:
    """Return the unit of each stratum as a number from 0, in the order they are met."""
    named = list(range(len(strata))) if units is None else list(units)
    if len(named) != len(strata):
        msg = f"units must name the unit of each of {len(strata)} strata, not of {len(named)}"
        raise InputError(msg)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(named))}
    return [numbers[name] for name in named]


def _shares(places: Sequence[int]) -> list[float]:
    return [1 / ((max(places) + 1) * places.count(place)) for place in places]


def _scaled(arrays: Sequence[Floats], places: Sequence[int]) -> Floats:
    total = sum(array.shape[1] for array in arrays)
    return np.concatenate(
        [
            array * (share * total / array.shape[1])
            for array, share in zip(arrays, _shares(places), strict=True)
        ],
        axis=1,
    )


def _averages(arrays: Sequence[Floats], places: Sequence[int]) -> Floats:
    means = np.stack([row_means(array) for array in arrays], axis=1)
    shares = _shares(places)
    return np.array([math.fsum(row) for row in (means * shares).tolist()])
