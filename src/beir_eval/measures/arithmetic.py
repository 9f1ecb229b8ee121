"""What several measures share: safe ratios, tables of logarithms and powers, gains."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import Floats, Ints, position_in_row, runs_of
from beir_eval.errors import MeasureError, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix
    from beir_eval.measures.parameters import Gain


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Return numerator / denominator, 0 where the denominator is 0."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom != 0)


# Tables are filled with math.log2 and math.pow, which are the C functions that trec_eval calls;
# numpy's own logarithm and power differ from them in the last bit, first at rank 1620.


@lru_cache(maxsize=1)
def _discount_table(size: int) -> Floats:
    return np.array([math.nan, *(math.log2(rank + 1) for rank in range(1, size))])


@lru_cache(maxsize=8)
def _power_table(p: float, size: int) -> Floats:
    return np.array([math.nan, *(math.pow(p, rank - 1) for rank in range(1, size))])


def _table_size(rank: Ints) -> int:
    """Return a power of two above the highest rank, so that a table serves many matrices."""
    return 1 << max(10, int(rank.max(initial=0)).bit_length())


def discount(rank: Ints) -> Floats:
    """Return log2(rank + 1), f8[C]."""
    return _discount_table(_table_size(rank))[rank]


def power(p: float, rank: Ints) -> Floats:
    """Return p ** (rank - 1), f8[C]."""
    return _power_table(p, _table_size(rank))[rank]


def gains(grade: Floats, gain: Gain) -> Floats:
    """Return the gain of each grade, f8[C]; negative grades (pooled, unjudged) gain 0.

    Raises:
        MeasureError: a gain table lacks a grade that occurs (grade 0 may be left out: it gains 0).
    """
    if gain == "linear":
        return np.maximum(grade, 0.0)
    grades, of_grade = np.unique(grade, return_inverse=True)
    if gain == "exp":
        values = [power_of_two(one) - 1.0 if one > 0 else 0.0 for one in grades.tolist()]
    else:
        table = {0.0: 0.0} | {float(one): float(value) for one, value in dict(gain).items()}  # type: ignore[arg-type]
        absent = [one for one in grades.tolist() if one >= 0 and one not in table]
        if absent:
            msg = f"the gain table has no gain for grade {some(absent)}; it knows {some(table)}"
            raise MeasureError(msg)
        values = [table[one] if one >= 0 else 0.0 for one in grades.tolist()]
    return np.array(values, dtype=np.float64)[of_grade]


def power_of_two(grade: float) -> float:
    """Return 2 ** grade, or raise MeasureError where that is no number."""
    try:
        return math.pow(2.0, grade)
    except OverflowError:
        msg = f"2^grade cannot be computed for grade {grade:g}; use a gain table or other grades"
        raise MeasureError(msg) from None


def check_gains(matrix: RelevanceMatrix, gain: Gain) -> None:
    """Raise MeasureError for a table that lacks a judged grade, whether retrieved or not."""
    if not isinstance(gain, str):
        gains(matrix.judgements.grade, gain)


def running_sum(values: Floats, cells: Cells) -> Floats:
    """Return, for each cell, the sum of the values of its query down to it, f8[C].

    Added up one after the other within each query, as a loop over ranks does.
    """
    total = values.astype(np.float64)
    for here in _below_the_first(cells):
        total[here] = total[here - 1] + values[here]
    return total


def product_above(factor: Floats, cells: Cells) -> Floats:
    """Return, for each cell, the product of the factors of its query at better ranks, f8[C].

    Multiplied one after the other within each query, so that no query's value depends on another.
    """
    before = np.ones(len(factor))
    for here in _below_the_first(cells):
        before[here] = before[here - 1] * factor[here - 1]
    return before


def _below_the_first(cells: Cells) -> Iterator[Ints]:
    """Yield the second cell of every query that has so many, then the third, and so on."""
    place = position_in_row(cells.row)
    by_place = np.argsort(place, kind="stable")
    for begin, end in list(runs_of(place[by_place]))[1:]:
        yield by_place[begin:end]
