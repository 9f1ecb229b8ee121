"""What the tests of significance take in: scores by query, settings, scipy; checked here once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import exact_sum
from beir_eval.errors import InputError, SettingError, check_choice, check_count, needs_extra

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Mask

ALTERNATIVES = ("two-sided", "less", "greater")
#: Fewer tell nothing about the spread between queries.
FEWEST_QUERIES = 2
#: Two numbers that differ by less, relative to what they were computed from, are equal: float
#: arithmetic makes 0.3 - 0.2 smaller than 0.1. (A naive comparison of sums gave p = .853 instead
#: of .942 on differences of Precision@10.)
TOLERANCE = 1e-12
#: Beyond it squares would leave the range of a float.
_LARGEST = 1e100
#: A p-value that a float cannot hold is reported as this, never as 0.
_SMALLEST_P = float(np.finfo(np.float64).tiny)


def as_scores(values: Any, dimensions: int | tuple[int, ...], what: str = "the scores") -> Floats:
    """Return finite numbers as f8[..., Q], at least two queries; ``values`` is left as it is.

    Raises:
        InputError: not numbers, not finite, another number of dimensions, fewer than two queries.
    """
    allowed = (dimensions,) if isinstance(dimensions, int) else dimensions
    try:
        given = np.asarray(values)
    except ValueError as error:
        msg = f"{what} must be rows of equal length: {error}"
        raise InputError(msg) from error
    if given.dtype.kind not in "fiub" or given.ndim not in allowed:
        expected = " or ".join(f"{number}" for number in allowed)
        msg = (
            f"{what} must be numbers in {expected} dimensions, queries last, not {given.ndim} "
            f"dimensions of {given.dtype}"
        )
        raise InputError(msg)
    if not math.prod(given.shape[:-1]):
        msg = f"{what} are empty: their shape is {given.shape}"
        raise InputError(msg)
    if given.shape[-1] < FEWEST_QUERIES:
        msg = f"{what} cover {given.shape[-1]} queries; at least {FEWEST_QUERIES} are needed"
        raise InputError(msg)
    scores = given.astype(np.float64)
    usable = (np.abs(scores) <= _LARGEST).reshape(-1, scores.shape[-1]).all(axis=0)
    strange = np.flatnonzero(~usable)
    if len(strange):
        msg = (
            f"{what} hold NaN, infinity or more than {_LARGEST:g} for {len(strange)} queries, "
            f"first at index {strange[0]}; leave those queries out of all systems"
        )
        raise InputError(msg)
    return scores


def differences_of(first: Any, second: Any) -> Floats:
    """Return first − second, f8[Q]; ``first`` itself where ``second`` is None.

    Raises:
        InputError: as ``as_scores``, or the two do not cover the same number of queries.
    """
    if second is None:
        return as_scores(first, 1, "the differences")
    one, other = as_scores(first, 1), as_scores(second, 1)
    if len(one) != len(other):
        msg = (
            f"the two systems have scores for {len(one)} and {len(other)} queries; "
            "a paired test needs both scores of every query, in the same order"
        )
        raise InputError(msg)
    differences: Floats = one - other
    return differences


def row_means(values: Floats) -> Floats:
    """Return the mean over queries, whatever their order to the last bit: f8[..., Q] -> f8[...]."""
    rows = values.reshape(-1, values.shape[-1])
    totals = np.array([exact_sum(row) for row in rows])
    return np.asarray(totals.reshape(values.shape[:-1]) / values.shape[-1])


def without_noise(differences: Floats) -> Floats:
    """Return the differences with rounding noise removed, so that equal ones tie: f8[Q]."""
    largest = float(np.abs(differences).max())
    return np.round(differences / largest, 12) * largest if largest else differences


def all_equal(values: Floats) -> Mask:
    """Return which rows have one value throughout, rounding noise aside: f8[..., Q] -> bool."""
    spread = values.max(axis=-1) - values.min(axis=-1)
    return np.asarray(spread <= TOLERANCE * np.abs(values).max(axis=-1))


def at_least_smallest(p: float) -> float:
    """Return p, or the smallest float above 0 that is not denormal: no p-value is 0."""
    return max(p, _SMALLEST_P)


def check_alternative(alternative: str) -> None:
    """Raise SettingError unless it is one of ``ALTERNATIVES``."""
    check_choice("alternative", alternative, ALTERNATIVES)


def check_draws(draws: Any) -> None:
    """Raise SettingError unless ``draws`` is a whole number above 0."""
    check_count("draws", draws)


def check_share(setting: str, value: Any) -> None:
    """Raise SettingError unless ``value`` lies between 0 and 1, both excluded."""
    if not is_number(value) or not 0 < value < 1:
        msg = f"{setting} must lie between 0 and 1, both excluded, not {value!r}"
        raise SettingError(msg)


def interval_levels(confidence: Any) -> list[float]:
    """Return the quantiles between which this share lies.

    Raises:
        SettingError: confidence outside 0 to 1.
    """
    check_share("confidence", confidence)
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def check_positive(setting: str, value: Any) -> None:
    """Raise SettingError unless ``value`` is a finite number above 0."""
    if not is_number(value) or not 0 < value < math.inf:
        msg = f"{setting} must be a number above 0, not {value!r}"
        raise SettingError(msg)


def is_number(value: Any) -> bool:
    """Return whether this is one real number."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole_number(value: Any, *, least: int) -> bool:
    """Return whether this is one whole number of at least ``least``."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and bool(value >= least)


def generator(rng: Any) -> np.random.Generator:
    """Return the generator of a seed, or the generator itself, which goes on from where it is.

    Raises:
        SettingError: neither; None in particular would make two calls disagree.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if not is_whole_number(rng, least=0):
        msg = f"rng must be a seed (a whole number from 0) or a numpy Generator, not {rng!r}"
        raise SettingError(msg)
    return np.random.default_rng(int(rng))


def check_seed(rng: Any) -> None:
    """Raise SettingError unless ``rng`` is a seed, which can be kept with what was found."""
    if not is_whole_number(rng, least=0):
        msg = f"rng must be a seed, a whole number from 0, not {rng!r}"
        raise SettingError(msg)


def scipy_stats(purpose: str) -> Any:
    """Return ``scipy.stats``.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    with needs_extra("scipy", "stats", purpose):
        from scipy import stats  # noqa: PLC0415 - an extra
    return stats
