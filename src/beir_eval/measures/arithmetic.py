"""Array functions that measures share: ratios, discounts, powers, gains, running sums."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import Floats, Ints, equal_ranges, position_in_row
from beir_eval.errors import MeasureError, first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix
    from beir_eval.measures.parameters import Gain


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Return numerator / denominator, 0 where the denominator is 0."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    if bottom.all():
        return np.asarray(top / bottom)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom != 0)


# The tables use math.log2 and math.pow, the C functions that trec_eval calls. numpy's logarithm and
# power can differ from them in the last bit: np.log2 first at rank 1,620, 0.8 ** x at rank 3.


@lru_cache(maxsize=1)
def _discount_table(size: int) -> Floats:
    return np.array([math.nan, *(math.log2(rank + 1) for rank in range(1, size))])


@lru_cache(maxsize=8)
def _power_table(p: float, size: int) -> Floats:
    return np.array([math.nan, *(math.pow(p, rank - 1) for rank in range(1, size))])


def _table_size(rank: Ints) -> int:
    """Return a power of two above the highest rank, so that many matrices share a table."""
    return 1 << max(10, int(rank.max(initial=0)).bit_length())


def discount(rank: Ints) -> Floats:
    """Return the discount log2(rank + 1) of each rank: i8[C] -> f8[C]."""
    return _discount_table(_table_size(rank))[rank]


def power(p: float, rank: Ints) -> Floats:
    """Return p ** (rank - 1) for each rank: i8[C] -> f8[C]."""
    return _power_table(p, _table_size(rank))[rank]


def gains(grades: Floats, gain: Gain) -> Floats:
    """Return the gain of each grade: f8[C] -> f8[C].

    Negative grades (pooled but unjudged) gain 0, and so does grade 0 unless a table says otherwise.

    Raises:
        MeasureError: a gain table lacks a grade above 0 that occurs, or 2^grade is too large.
    """
    if gain == "linear":
        return np.maximum(grades, 0.0)
    distinct, index = np.unique(grades, return_inverse=True)
    if gain == "exp":
        values = [power_of_two(max(grade, 0.0)) - 1.0 for grade in distinct.tolist()]
    else:
        table = {0.0: 0.0} | {float(grade): float(value) for grade, value in dict(gain).items()}  # type: ignore[arg-type]
        absent = [grade for grade in distinct.tolist() if grade >= 0 and grade not in table]
        if absent:
            msg = (
                f"the gain table has no gain for grade {first_few(absent)}; it knows "
                f"{first_few(table)}"
            )
            raise MeasureError(msg)
        values = [table[grade] if grade >= 0 else 0.0 for grade in distinct.tolist()]
    return np.array(values, dtype=np.float64)[index]


def power_of_two(grade: float) -> float:
    """Return 2 ** grade.

    Raises:
        MeasureError: the power is too large for a float.
    """
    try:
        return math.pow(2.0, grade)
    except OverflowError:
        msg = f"2^grade cannot be computed for grade {grade:g}; use a gain table or other grades"
        raise MeasureError(msg) from None


def check_gains(matrix: RelevanceMatrix, gain: Gain) -> None:
    """Check that a gain table has every judged grade, retrieved or not.

    Raises:
        MeasureError: the table lacks a judged grade above 0.
    """
    if not isinstance(gain, str):
        gains(matrix.judgements.grade, gain)


def running_sum(values: Floats, cells: Cells) -> Floats:
    """Return, for each cell, the sum of its query's values down to and including it, f8[C].

    The values of a query are added one by one in rank order, as a loop over ranks adds them.
    """
    total = values.astype(np.float64)
    for cell in _cells_after_first(cells):
        total[cell] = total[cell - 1] + values[cell]
    return total


def product_above(factor: Floats, cells: Cells) -> Floats:
    """Return, for each cell, the product of its query's factors at better ranks, f8[C].

    The factors of a query are multiplied one by one in rank order, so that the last bit of a
    query's product does not depend on the other queries.
    """
    product = np.ones(len(factor))
    for cell in _cells_after_first(cells):
        product[cell] = product[cell - 1] * factor[cell - 1]
    return product


def _cells_after_first(cells: Cells) -> Iterator[Ints]:
    """Yield the indices of every query's second cell, then of every third cell, and so on."""
    position = position_in_row(cells.row)
    by_position = np.argsort(position, kind="stable")
    for begin, end in list(equal_ranges(position[by_position]))[1:]:
        yield by_position[begin:end]
