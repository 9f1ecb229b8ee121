"""Checks of top-k arrays: conversion to numpy, the range of the numbers, the ids they name."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.ids import id_text, ids_as_text
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.core.arrays import Ints

PADDING = -1
_DIMENSIONS = 2
#: A higher row number is accepted only if a tenth of the numbers below it have an id.
_HIGHEST_ROW = 100_000_000


class DocIdTable(NamedTuple):
    """The document id of each row number, for top-k arrays that hold row numbers.

    Attributes:
        doc_ids: the document id of each row number, "" for a number without document. [N]
        first_row: for each row number the first one with the same id, i8[N]; None if every id has
            only one row number.
    """

    doc_ids: list[str]
    first_row: Ints | None

    @classmethod
    def from_doc_ids(cls, doc_ids: Any) -> Self:
        """Return the table of ``doc_ids``, checked.

        Args:
            doc_ids: the ids in the order of row numbers, or {row number: id}, which may leave row
                numbers out.

        Raises:
            RunError: not a sequence or mapping, an invalid id, or a negative row number.
        """
        if isinstance(doc_ids, (str, bytes, AbstractSet)):
            msg = (
                "doc_ids must be a sequence or a mapping from row number to document id, not "
                f"{type(doc_ids).__name__}"
            )
            raise RunError(msg)
        try:
            texts = (
                _by_row_number(doc_ids)
                if isinstance(doc_ids, Mapping)
                else ids_as_text(list(doc_ids))
            )
        except (TypeError, ValueError) as error:
            msg = f"doc_ids: {error}"
            raise RunError(msg) from error
        first_row_of: dict[str, int] = {}
        nonempty = [text for text in texts if text]
        if len(set(nonempty)) == len(nonempty):
            return cls(texts, None)
        first_row = [first_row_of.setdefault(text, row) for row, text in enumerate(texts)]
        return cls(texts, np.array(first_row, dtype=np.int64))


def _by_row_number(doc_ids: Mapping[Any, Any]) -> list[str]:
    """Return the ids in the order of row numbers, "" for numbers that the mapping leaves out."""
    id_of_row = {operator.index(row): id_text(doc_id) for row, doc_id in doc_ids.items()}
    highest = max(id_of_row, default=-1)
    if highest > max(_HIGHEST_ROW, 10 * len(id_of_row)):  # such as ids of 63 bits in an index
        msg = f"the row number {highest} is too high for {len(id_of_row):,} ids; count from 0"
        raise ValueError(msg)
    if id_of_row and min(id_of_row) < 0:
        msg = f"a row number is {shown(min(id_of_row))}; they count from 0"
        raise ValueError(msg)
    return [id_of_row.get(row, "") for row in range(highest + 1)]


def as_array(label: str, values: Any) -> NDArray[Any]:
    """Return ``values`` as a numpy array [Q, k].

    Masked values become padding (-1) in an array of integers, and NaN in one of floats.

    Args:
        label: what messages call the values, for example "ids".
        values: anything that numpy can read on the CPU through ``__array__``.

    Raises:
        RunError: numpy cannot read the values, or they do not have two dimensions.
    """
    if hasattr(values, "detach"):  # a torch tensor that may carry gradients
        values = values.detach()
    if str(getattr(values, "dtype", "")) == "torch.bfloat16":  # a type that numpy lacks
        values = values.float()
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind in "UO":
            nothing = np.array(None, dtype=object)
            return as_array(label, np.where(np.ma.getmaskarray(values), nothing, values.data))
        is_integer = values.dtype.kind in "iu"
        widened = values.astype(np.int64 if is_integer else np.float64)
        values = np.ma.filled(widened, PADDING if is_integer else np.nan)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        msg = (
            f"{label} cannot be read as a numpy array: {error}. Pass a numpy array; for lists of "
            "different lengths use Run.from_rankings or Run.from_columns"
        )
        raise RunError(msg) from error
    if array.ndim != _DIMENSIONS:
        msg = f"{label} must be [Q, k], a row for each query, not of shape {list(array.shape)}"
        raise RunError(msg)
    return array


def check_numbers(
    numbers: NDArray[Any], query_of_row: Callable[[int], str], doc_ids: Sequence[str] | None
) -> bool:
    """Check that every number names a document or is padding; return whether there is padding.

    Args:
        numbers: document ids or row numbers, integers [Q, k].
        query_of_row: returns the query id of a row of ``numbers``, for messages.
        doc_ids: the document id of each row number; None if the numbers are document ids.

    Raises:
        RunError: a number is below -1 or above 2^63 - 1, or ``doc_ids`` has no document for it.
    """
    if not numbers.size:
        return False
    lowest = int(numbers.min())
    highest = np.iinfo(np.int64).max if doc_ids is None else len(doc_ids) - 1
    is_outside = np.zeros(0, dtype=np.bool_)
    may_exceed = doc_ids is not None or numbers.dtype == np.uint64
    if lowest < PADDING or (may_exceed and int(numbers.max()) > highest):
        is_outside = (numbers < PADDING) | (numbers > highest)
    elif doc_ids is not None and "" in doc_ids:
        is_unnamed = np.array([not doc_id for doc_id in doc_ids])
        is_outside = is_unnamed[np.maximum(numbers, 0)] & (numbers != PADDING)
    if not is_outside.any():
        return lowest < 0
    row, column = np.argwhere(is_outside)[0]
    allowed = (
        "an id of 0 or more"
        if doc_ids is None
        else f"a row number of doc_ids, 0 to {len(doc_ids) - 1}, that it names,"
    )
    msg = (
        f"the id {numbers[row, column]} of query {shown(query_of_row(int(row)))} (column {column}) "
        f"is outside: expected {allowed} or {PADDING} for padding"
    )
    raise RunError(msg)
