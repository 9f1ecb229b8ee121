"""Ids are text; an integer means its decimal string.

So ``12``, ``numpy.int64(12)`` and ``"12"`` name the same document, and ``"012"`` another one.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Collection


def id_text(value: object) -> str:
    """Return the text of one id.

    Raises:
        TypeError: the id is neither text nor an integer (bool is not an integer here).
        ValueError: the id is empty.
    """
    if isinstance(value, str):
        if not value:
            msg = "an id is empty"
            raise ValueError(msg)
        return str(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        msg = f"an id must be text or an integer, not {value!r} of type {type(value).__name__}"
        raise TypeError(msg)
    return str(operator.index(cast("int", value)))


def ids_as_text(values: Collection[object]) -> list[str]:
    """Return the text of every id; a list of nothing but non-empty ``str`` is returned as it is.

    Raises:
        TypeError, ValueError: as ``id_text``.
    """
    listed = values if isinstance(values, list) else list(values)
    if set(map(type, listed)) <= {str} and all(listed):
        return cast("list[str]", listed)
    return [id_text(value) for value in listed]


def is_dataframe(value: object) -> bool:
    """Return whether this is a dataframe: it has the Arrow interface, or is a polars LazyFrame."""
    is_lazy = type(value).__name__ == "LazyFrame" and hasattr(value, "collect")
    return is_lazy or hasattr(value, "__arrow_c_stream__")
