"""Corrections of p-values for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.arrays import Floats


def bonferroni(p: Any) -> Floats:
    """Return p-values corrected for the family-wise error by Bonferroni's inequality.

    Formula: min(1, m·p), m the number of p-values that are not NaN.

    Args:
        p: p-values of one family, f8 of any shape; NaN stays NaN and is not counted.

    Source: Dunn, Multiple comparisons among means, J. American Statistical Association 56, 1961.

    Raises:
        InputError: not numbers from 0 to 1.

    >>> bonferroni([0.25, 0.5]).tolist()
    [0.5, 1.0]
    """
    return _corrected(p, lambda ordered: ordered * len(ordered))


def holm(p: Any) -> Floats:
    """Return p-values corrected for the family-wise error by Holm's step-down method.

    It holds the error whatever the dependence, and is never weaker than Bonferroni's.

    Formula: for the i-th smallest of m, min(1, max over j <= i of (m − j + 1)·p_(j)).

    Args:
        p: as ``bonferroni``.

    Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian J.
    Statistics 6(2), 1979.

    Raises:
        InputError: as ``bonferroni``.

    >>> holm([0.5, 0.125, 0.125]).tolist()
    [0.5, 0.375, 0.375]
    """
    return _corrected(
        p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    )


def benjamini_hochberg(p: Any) -> Floats:
    """Return p-values corrected for the false discovery rate.

    Formula: for the i-th smallest of m, min(1, min over j >= i of m·p_(j)/j).

    Args:
        p: as ``bonferroni``.

    Source: Benjamini and Hochberg, Controlling the false discovery rate, J. Royal Statistical
    Society B 57(1), 1995.

    Raises:
        InputError: as ``bonferroni``.

    >>> benjamini_hochberg([0.5, 0.125, 0.25]).tolist()
    [0.5, 0.375, 0.375]
    """

    def stepped_up(ordered: Floats) -> Floats:
        each = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
        return np.asarray(np.minimum.accumulate(each[::-1])[::-1])

    return _corrected(p, stepped_up)


CORRECTIONS: dict[str, Callable[[Any], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-hochberg": benjamini_hochberg,
    "none": lambda p: _corrected(p, lambda ordered: ordered),
}


def correct(p: Any, method: str = "holm") -> Floats:
    """Return p-values corrected by "holm", "bonferroni", "benjamini-hochberg" or "none".

    Args:
        p: p-values of one family, f8 of any shape; NaN stays NaN and is not counted.
        method: one of the above.

    Raises:
        InputError: not numbers from 0 to 1.
        SettingError: another method.

    >>> correct([0.25, float("nan"), 0.5], "bonferroni").tolist()
    [0.5, nan, 1.0]
    """
    check_choice("correction", method, CORRECTIONS)
    return CORRECTIONS[method](p)


def _corrected(p: Any, step: Callable[[Floats], Floats]) -> Floats:
    """Apply ``step`` to the p-values in ascending order; give them back where they stood."""
    given = np.asarray(p)
    if given.dtype.kind not in "fiu" and given.size:
        msg = f"p-values must be numbers from 0 to 1, not {given.dtype}"
        raise InputError(msg)
    values = given.astype(np.float64)
    flat = values.reshape(-1)
    known = np.flatnonzero(~np.isnan(flat))
    wrong = flat[known][(flat[known] < 0) | (flat[known] > 1)]
    if len(wrong):
        msg = f"p-values must be numbers from 0 to 1, not {float(wrong[0])!r}"
        raise InputError(msg)
    ascending = known[np.argsort(flat[known], kind="stable")]
    flat[ascending] = np.minimum(step(flat[ascending]), 1.0)
    return flat.reshape(values.shape)
