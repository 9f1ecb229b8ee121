"""Corrections of p-values for multiple comparisons, and intervals that agree with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import InputError, check_choice
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.core.arrays import Floats, Mask


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


CORRECTIONS: dict[str, Callable[[Any], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "none": lambda p: _correct_sorted(p, lambda ordered: ordered),
}


def correct(p: Any, method: str = "holm") -> Floats:
    """Return p-values corrected by one of three methods.

    Args:
        p: the p-values of one family of tests, numbers of any shape; NaN is not counted and stays.
        method: "holm" or "bonferroni" (family-wise error) or "none" (p-values are checked and
            returned as they are).

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


@dataclass(frozen=True, eq=False)
class CorrectedTests:
    """Tests of D mean differences, corrected for all of them, with intervals that agree.

    Attributes:
        p_corrected: the corrected p-values, f8[D].
        is_significant: which differences are significant at the level: bool[D].
        low, high: the ends of the intervals, f8[D] each; infinite where unbounded. An interval
            excludes 0 exactly if its difference is significant.
        levels: 1 − the confidence of each interval, f8[D]: of the whole family where all intervals
            hold simultaneously.
        own_levels: the level at which each difference was tested alone, f8[D].
    """

    p_corrected: Floats
    is_significant: Mask
    low: Floats
    high: Floats
    levels: Floats
    own_levels: Floats

    @classmethod
    def agreeing(  # noqa: PLR0913, PLR0917 - the fields
        cls,
        means: Floats,
        p_corrected: Floats,
        is_significant: Mask,
        low: Floats,
        high: Floats,
        levels: Floats,
        own_levels: Floats,
    ) -> CorrectedTests:
        """Return the tests of mean differences; an end within rounding of 0 is set to agree."""
        smallest = np.finfo(np.float64).tiny
        is_positive, is_negative = is_significant & (means > 0), is_significant & (means < 0)
        low = np.where(is_positive, np.maximum(low, smallest), low)
        high = np.where(is_negative, np.minimum(high, -smallest), high)
        low = np.where(is_significant, low, np.minimum(low, 0.0))
        high = np.where(is_significant, high, np.maximum(high, 0.0))
        return cls(p_corrected, is_significant, low, high, levels, own_levels)

    def split(self, lengths: Sequence[int]) -> list[CorrectedTests]:
        """Return the tests in parts of these lengths."""
        ends = np.cumsum(lengths)[:-1]
        columns = (
            self.p_corrected,
            self.is_significant,
            self.low,
            self.high,
            self.levels,
            self.own_levels,
        )
        return [
            CorrectedTests(*parts)
            for parts in zip(*(np.split(column, ends) for column in columns), strict=True)
        ]


def corrected_tests(
    means: Floats,
    p: Floats,
    intervals: Callable[[Floats], tuple[Floats, Floats]],
    method: str,
    alpha: float,
) -> CorrectedTests:
    """Return tests corrected by a method of ``correct``, with intervals that agree with them.

    Each interval has the level at which its hypothesis was tested (``tested_levels``).

    Args:
        means: the mean differences, f8[D].
        p: their uncorrected p-values, f8[D].
        intervals: the ends of all intervals, low and high f8[D], from their levels f8[D]. An
            interval excludes 0 exactly if its p is at most its level.
        method: the correction, as in ``correct``.
        alpha: the level of the whole family.
    """
    levels = tested_levels(p, method, alpha)
    return CorrectedTests.agreeing(
        means,
        correct(p, method),
        is_at_most(p, levels) & (means != 0),
        *intervals(levels),
        levels,
        levels,
    )


def tested_levels(p: Floats, method: str, alpha: float) -> Floats:
    """Return the level at which a correction tests each of m hypotheses, f8[m].

    Formula: "none": alpha. "bonferroni": alpha/m. "holm": alpha/(m − i + 1) for the i-th smallest p
    if it is rejected, and alpha/(m − R) for all others, with R rejections. So a hypothesis is
    rejected exactly if its p is at most its level, and the interval with confidence 1 − level
    excludes 0 exactly then.

    Args:
        p: the uncorrected p-values of one family, f8[m], none of them NaN.
        method: as in ``correct``.
        alpha: the level of the family, between 0 and 1.
    """
    check_choice("correction", method, CORRECTIONS)
    num_tests = len(p)
    if method == "none":
        return np.full(num_tests, alpha)
    if method == "bonferroni":
        return np.full(num_tests, alpha / num_tests)
    ascending = np.argsort(p, kind="stable")
    number = np.arange(1, num_tests + 1)
    in_order = alpha / (num_tests - number + 1)
    is_rejected = np.logical_and.accumulate(is_at_most(p[ascending], in_order))
    num_rejected = int(is_rejected.sum())
    in_order[num_rejected:] = alpha / max(num_tests - num_rejected, 1)
    levels = np.empty(num_tests)
    levels[ascending] = in_order
    return levels


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
