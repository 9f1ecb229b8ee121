"""Top-k arrays at the door: shapes, kinds, and what the numbers in them name."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.ids import id_text, ids_as_text
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from beir_eval.core.arrays import Ints

PADDING = -1
_DIMENSIONS = 2


class Names(NamedTuple):
    """The document id of each row number, and for each the first row number of that id."""

    texts: list[str]
    #: i8[N]; None where every id has one row number.
    first: Ints | None

    @classmethod
    def of(cls, doc_ids: Any) -> Self:
        """Check the ids, and look for repeated ones; a mapping may leave row numbers out."""
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
        number_of: dict[str, int] = {}
        named = [text for text in texts if text]
        if len(set(named)) == len(named):
            return cls(texts, None)
        first = [number_of.setdefault(text, number) for number, text in enumerate(texts)]
        return cls(texts, np.array(first, dtype=np.int64))


def _by_row_number(doc_ids: Mapping[Any, Any]) -> list[str]:
    """Return the ids by row number, with "" for numbers that the mapping leaves out."""
    rows = {operator.index(row): id_text(doc_id) for row, doc_id in doc_ids.items()}
    if rows and min(rows) < 0:
        msg = f"a row number is {min(rows)}; they count from 0"
        raise ValueError(msg)
    return [rows.get(row, "") for row in range(max(rows, default=-1) + 1)]


def as_array(what: str, values: Any) -> NDArray[Any]:
    """Return [Q, k] of anything that turns into a numpy array on the CPU."""
    if hasattr(values, "detach"):  # a torch tensor that may carry gradients
        values = values.detach()
    if str(getattr(values, "dtype", "")) == "torch.bfloat16":  # which numpy does not have
        values = values.float()
    if isinstance(values, np.ma.MaskedArray):
        is_integer = values.dtype.kind in "iu"
        wide = values.astype(np.int64 if is_integer else np.float64)
        values = np.ma.filled(wide, PADDING if is_integer else np.nan)
    try:
        if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
            array = np.from_dlpack(values)
        else:
            array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        msg = f"{what} cannot be read as a numpy array: {error}. Hand over a numpy array"
        raise RunError(msg) from error
    if array.ndim != _DIMENSIONS:
        msg = f"{what} must be [Q, k], a row for each query, not of shape {list(array.shape)}"
        raise RunError(msg)
    return array


def check_range(
    numbers: NDArray[Any], query_of_row: Callable[[int], str], texts: Sequence[str] | None
) -> bool:
    """Return whether there is padding: -1.

    Raises:
        RunError: a number below -1, or one for which doc_ids has no document.
    """
    if not numbers.size:
        return False
    lowest = int(numbers.min())
    highest = np.iinfo(np.int64).max if texts is None else len(texts) - 1
    outside = np.zeros(0, dtype=np.bool_)
    may_exceed = texts is not None or numbers.dtype == np.uint64
    if lowest < PADDING or (may_exceed and int(numbers.max()) > highest):
        outside = (numbers < PADDING) | (numbers > highest)
    elif texts is not None and "" in texts:
        unnamed = np.array([not text for text in texts])
        outside = unnamed[np.maximum(numbers, 0)] & (numbers != PADDING)
    if not outside.any():
        return lowest < 0
    row, column = np.argwhere(outside)[0]
    allowed = (
        "an id of 0 or more"
        if texts is None
        else f"a row number of doc_ids, 0 to {len(texts) - 1}, that it names,"
    )
    msg = (
        f"the id {numbers[row, column]} of query {query_of_row(int(row))!r} (place {column}) is "
        f"outside: expected {allowed} or {PADDING} for padding"
    )
    raise RunError(msg)
