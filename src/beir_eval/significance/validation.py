"""Checks of scores and settings for all modules of significance, and arithmetic they share."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import exact_sum
from beir_eval.errors import InputError, SettingError, check_choice, check_count, needs_extra, shown

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask

ALTERNATIVES = ("two-sided", "less", "greater")
#: With fewer queries, the variation between queries cannot be estimated.
FEWEST_QUERIES = 2
#: Two numbers are equal if they differ by no more than this, relative to the numbers they were
#: computed from: in float arithmetic 0.3 - 0.2 is smaller than 0.1. (An exact comparison of sums
#: gave p = .853 instead of .942 on differences of Precision@10.)
TOLERANCE = 1e-12
#: Levels are compared with p-values with this relative tolerance: 0.05 / 3 × 3 is 0.05.
LEVEL_TOLERANCE = 1e-9
#: The number of seeds that a generator chooses from.
_SEEDS = 2**63
#: The largest score: the squares of larger ones could exceed the range of a float.
_LARGEST = 1e100
#: The smallest p-value reported: no p-value is 0.
_SMALLEST_P = float(np.finfo(np.float64).tiny)
#: More draws would take years.
_MOST_DRAWS = 10**12


def as_scores(values: Any, dimensions: int | tuple[int, ...], name: str = "the scores") -> Floats:
    """Return scores as a new array f8[..., Q].

    Args:
        values: numbers or booleans, queries in the last dimension; not changed.
        dimensions: the number of dimensions, or the numbers allowed.
        name: what messages call the scores.

    Raises:
        InputError: the scores are not finite numbers (up to 1e100), have another number of
            dimensions, are empty, or cover fewer than two queries.
    """
    allowed = (dimensions,) if isinstance(dimensions, int) else dimensions
    try:
        array = np.asarray(values)
    except ValueError as error:
        msg = f"{name} must be rows of equal length: {error}"
        raise InputError(msg) from error
    if array.dtype.kind not in "fiub" or array.ndim not in allowed:
        expected = " or ".join(f"{number}" for number in allowed)
        msg = (
            f"{name} must be numbers in {expected} dimensions, queries last, not {array.ndim} "
            f"dimensions of {array.dtype}"
        )
        raise InputError(msg)
    if not math.prod(array.shape[:-1]):
        msg = f"{name} are empty: their shape is {array.shape}"
        raise InputError(msg)
    if array.shape[-1] < FEWEST_QUERIES:
        msg = f"{name} cover {array.shape[-1]} queries; at least {FEWEST_QUERIES} are needed"
        raise InputError(msg)
    scores = array.astype(np.float64)
    usable = (np.abs(scores) <= _LARGEST).reshape(-1, scores.shape[-1]).all(axis=0)
    unusable = np.flatnonzero(~usable)
    if len(unusable):
        msg = (
            f"{name} hold NaN, infinity or more than {_LARGEST:g} for {len(unusable)} queries, "
            f"first at index {unusable[0]}; leave those queries out of all systems"
        )
        raise InputError(msg)
    return scores


def differences_of(first: Any, second: Any) -> Floats:
    """Return first − second, f8[Q]; ``first`` if ``second`` is None.

    Raises:
        InputError: the scores are not finite numbers in one dimension, cover fewer than two
            queries, or differ in number.
    """
    if second is None:
        return as_scores(first, 1, "the differences")
    first_scores, second_scores = as_scores(first, 1), as_scores(second, 1)
    if len(first_scores) != len(second_scores):
        msg = (
            f"the two systems have scores for {len(first_scores)} and {len(second_scores)} "
            "queries; a paired test needs both scores of every query, in the same order"
        )
        raise InputError(msg)
    differences: Floats = first_scores - second_scores
    return differences


def row_means(values: Floats) -> Floats:
    """Return means over queries, which do not depend on their order: f8[..., Q] -> f8[...]."""
    rows = values.reshape(-1, values.shape[-1])
    totals = np.array([exact_sum(row) for row in rows])
    return np.asarray(totals.reshape(values.shape[:-1]) / values.shape[-1])


def residuals(values: Floats, weights: Floats | None = None) -> Floats:
    """Return values minus what their mean adds to each of them: f8[D, Q] -> f8[D, Q].

    Args:
        values: one row per comparison.
        weights: for clusters of queries, how much a difference of 1 on all queries adds to that of
            each cluster, with a mean of 1, f8[Q]; None for queries.
    """
    means = row_means(values)[:, None]
    return values - (means if weights is None else means * weights)


def without_noise(differences: Floats) -> Floats:
    """Return the differences without rounding noise, so that equal ones tie: f8[Q] -> f8[Q]."""
    largest = float(np.abs(differences).max())
    return np.round(differences / largest, 12) * largest if largest else differences


def all_equal(values: Floats) -> Mask:
    """Return which rows have equal values but for rounding noise: f8[..., Q] -> bool[...]."""
    spread = values.max(axis=-1) - values.min(axis=-1)
    return np.asarray(spread <= TOLERANCE * np.abs(values).max(axis=-1))


def at_least_smallest(p: float) -> float:
    """Return p, or the smallest normal float if p is below it: no p-value is 0."""
    return max(p, _SMALLEST_P)


def is_at_most(p: Floats, level: Floats | float) -> Mask:
    """Return which p-values are at most their level, but for rounding."""
    return np.asarray(p <= np.asarray(level) * (1 + LEVEL_TOLERANCE))


def check_alternative(alternative: str) -> None:
    """Raise SettingError unless ``alternative`` is one of ``ALTERNATIVES``."""
    check_choice("alternative", alternative, ALTERNATIVES)


def check_draws(draws: Any) -> None:
    """Raise SettingError unless ``draws`` is a whole number from 1 to 10^12."""
    check_count("draws", draws)
    if draws > _MOST_DRAWS:
        msg = f"draws must be at most {_MOST_DRAWS:,}, not {shown(draws)}"
        raise SettingError(msg)


def check_draws_suffice(draws: int, level: float) -> None:
    """Raise SettingError if no two-sided p of so many sign vectors is at most a level."""
    needed = math.ceil(1 / (level * (1 + LEVEL_TOLERANCE))) - 1
    if draws < needed:
        msg = (
            f"{draws:,} sign vectors are too few for a p of {level:.2g}, the level that decides: "
            f"it takes {needed:,} draws or more"
        )
        raise SettingError(msg)


def check_share(setting: str, value: Any) -> None:
    """Raise SettingError unless ``value`` is between 0 and 1, both excluded."""
    if not is_number(value) or not 0 < value < 1:
        msg = f"{setting} must lie between 0 and 1, both excluded, not {shown(value)}"
        raise SettingError(msg)


def interval_levels(confidence: Any) -> list[float]:
    """Return the levels of the two quantiles between which a share ``confidence`` lies.

    Raises:
        SettingError: confidence is not between 0 and 1.
    """
    check_share("confidence", confidence)
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def check_positive(setting: str, value: Any) -> None:
    """Raise SettingError unless ``value`` is a finite number above 0."""
    if not is_number(value) or not 0 < value < math.inf:
        msg = f"{setting} must be a number above 0, not {shown(value)}"
        raise SettingError(msg)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a single real number that a float can hold, and not a bool."""
    is_too_large = isinstance(value, int) and abs(value) > sys.float_info.max
    is_real = isinstance(value, (int, float, np.integer, np.floating))
    return is_real and not isinstance(value, bool) and not is_too_large


def is_whole_number(value: Any, *, least: int) -> bool:
    """Return whether ``value`` is a single whole number of at least ``least`` and not a bool."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and bool(value >= least)


def generator(rng: Any) -> np.random.Generator:
    """Return a new generator for a seed; a generator is returned as it is, with its state.

    Raises:
        SettingError: rng is neither. None is refused, since two calls would then differ.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if not is_whole_number(rng, least=0):
        msg = f"rng must be a seed (a whole number from 0) or a numpy Generator, not {shown(rng)}"
        raise SettingError(msg)
    return np.random.default_rng(int(rng))


def seed_of(rng: Any) -> int:
    """Return a seed below 2^63: the first such number of a generator, whose state advances.

    Raises:
        SettingError: rng is neither a seed (a whole number from 0) nor a Generator.
    """
    return int(generator(rng).integers(_SEEDS))


def check_seed(rng: Any) -> None:
    """Raise SettingError unless ``rng`` is a seed, which a result can store."""
    if not is_whole_number(rng, least=0):
        msg = f"rng must be a seed, a whole number from 0, not {shown(rng)}"
        raise SettingError(msg)


def scipy_special(purpose: str) -> Any:
    """Return ``scipy.special``; ``purpose`` completes the message if scipy is missing.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    with needs_extra("scipy", "stats", purpose):
        from scipy import special  # noqa: PLC0415 - an extra
    return special
