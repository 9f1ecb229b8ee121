"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats


def bonferroni(p: Any) -> Floats:
    """Return p-values corrected for the family-wise error by Bonferroni's inequality.

    Formula: min(1, m·p), where m is the number of p-values that are not NaN.

    Args:
        p: the p-values of one family of tests, numbers of any shape; NaN is not counted and stays.

    Returns:
        The corrected p-values, f8 in the shape of ``p``.

    Source: Dunn, Multiple comparisons among means, J. American Statistical Association 56, 1961.

    Raises:
        InputError: a p-value is not a number from 0 to 1.

    >>> bonferroni([0.25, 0.5]).tolist()
    [0.5, 1.0]
    """
    return _correct_sorted(p, lambda ordered: ordered * len(ordered))


def holm(p: Any) -> Floats:
    """Return p-values corrected for the family-wise error by Holm's step-down method.

    It controls the error under any dependence between the tests, and its p-values are never larger
    than Bonferroni's.

    Formula: for the i-th smallest of m, min(1, max over j <= i of (m − j + 1)·p_(j)).

    Args:
        p: the p-values of one family of tests, numbers of any shape; NaN is not counted and stays.

    Returns:
        The corrected p-values, f8 in the shape of ``p``.

    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian J.
    Statistics 6(2), 1979.

    Raises:
        InputError: a p-value is not a number from 0 to 1.

    >>> holm([0.5, 0.125, 0.125]).tolist()
    [0.5, 0.375, 0.375]
    """
    return _correct_sorted(
        p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    )


def benjamini_hochberg(p: Any) -> Floats:
    """Return p-values corrected for the false discovery rate.

    Formula: for the i-th smallest of m, min(1, min over j >= i of m·p_(j)/j).

    Args:
        p: the p-values of one family of tests, numbers of any shape; NaN is not counted and stays.

    Returns:
        The corrected p-values, f8 in the shape of ``p``.

    Source: Benjamini and Hochberg, Controlling the false discovery rate, J. Royal Statistical
    Society B 57(1), 1995.

    Raises:
        InputError: a p-value is not a number from 0 to 1.

    >>> benjamini_hochberg([0.5, 0.125, 0.25]).tolist()
    [0.5, 0.375, 0.375]
    """

    def step_up(ordered: Floats) -> Floats:
        scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
        return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])

    return _correct_sorted(p, step_up)


CORRECTIONS: dict[str, Callable[[Any], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-hochberg": benjamini_hochberg,
    "none": lambda p: _correct_sorted(p, lambda ordered: ordered),
}


def correct(p: Any, method: str = "holm") -> Floats:
    """Return p-values corrected by one of four methods.

    Args:
        p: the p-values of one family of tests, numbers of any shape; NaN is not counted and stays.
        method: "holm" or "bonferroni" (family-wise error), "benjamini-hochberg" (false discovery
            rate) or "none" (p-values are checked and returned as they are).

    Returns:
        The corrected p-values, f8 in the shape of ``p``.

    Raises:
        InputError: a p-value is not a number from 0 to 1.
        SettingError: the method is unknown.

    >>> correct([0.25, float("nan"), 0.5], "bonferroni").tolist()
    [0.5, nan, 1.0]
    """
    check_choice("correction", method, CORRECTIONS)
    return CORRECTIONS[method](p)


def _correct_sorted(p: Any, correction: Callable[[Floats], Floats]) -> Floats:
    """Return p-values in their original order, corrected in ascending order and cut off at 1.

    Args:
        p: numbers of any shape; NaN stays NaN.
        correction: maps the p-values that are not NaN, in ascending order, to corrected ones.

    Raises:
        InputError: a p-value is not a number from 0 to 1.
    """
    array = np.asarray(p)
    if array.dtype.kind not in "fiu" and array.size:
        msg = f"p-values must be numbers from 0 to 1, not {array.dtype}"
        raise InputError(msg)
    values = array.astype(np.float64)
    flat = values.reshape(-1)
    known = np.flatnonzero(~np.isnan(flat))
    outside = flat[known][(flat[known] < 0) | (flat[known] > 1)]
    if len(outside):
        msg = f"p-values must be numbers from 0 to 1, not {float(outside[0])!r}"
        raise InputError(msg)
    ascending = known[np.argsort(flat[known], kind="stable")]
    flat[ascending] = np.minimum(correction(flat[ascending]), 1.0)
    return flat.reshape(values.shape)
