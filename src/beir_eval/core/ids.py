"""Ids are text; an integer means its decimal string.

So ``12``, ``numpy.int64(12)`` and ``"12"`` name the same document, and ``"012"`` another one.
"""

from __future__ import annotations

import operator
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, cast

from beir_eval.core.arrays import follow_each_other

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from beir_eval.core.arrays import Ints
    from beir_eval.errors import InputError

#: Ids looked at together: few enough to stay in the processor's cache between two looks.
_PART = 2_000


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
        return str.__str__(value)  # of an Enum, str() would be its name
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        msg = f"an id must be text or an integer, not {value!r} of type {type(value).__name__}"
        raise TypeError(msg)
    return str(operator.index(cast("int", value)))


def ids_as_text(values: Iterable[object]) -> list[str]:
    """Return the text of every id; a list of nothing but non-empty ``str`` is returned as it is.

    Raises:
        TypeError, ValueError: as ``id_text``.
    """
    listed = values if isinstance(values, list) else list(values)
    parts = (listed[begin : begin + _PART] for begin in range(0, len(listed), _PART))
    if all(set(map(type, part)) <= {str} and all(part) for part in parts):
        return cast("list[str]", listed)
    return [id_text(value) for value in listed]


def checked_ids(values: Iterable[object], what: str, error: type[InputError]) -> list[str]:
    """Return ids as ``ids_as_text`` does.

    Args:
        values: the ids.
        what: how messages call what holds them, for example "run".
        error: the class of error to raise.

    Raises:
        InputError: (as ``error``) no list, an id that is empty or neither text nor an integer.
    """
    try:
        return ids_as_text(values)
    except (TypeError, ValueError) as problem:
        msg = f"{what}: {problem}"
        raise error(msg) from problem


def checked_query_ids(values: Iterable[object], what: str, error: type[InputError]) -> list[str]:
    """Return the distinct ids of queries as ``checked_ids`` does.

    Raises:
        InputError: (as ``error``) as ``checked_ids``; two of them name the same query.
    """
    query_ids = checked_ids(values, what, error)
    if query_ids is not values and len(set(query_ids)) < len(query_ids):
        msg = f"{what}: an integer and a text query id name the same query; keep one of the two"
        raise error(msg)
    return query_ids


def checked_columns(
    columns: Iterable[Iterable[Any]], numbers: str, what: str, error: type[InputError]
) -> tuple[list[str], list[str], list[Any]]:
    """Return three columns of one length: query and document ids as text, and numbers.

    Args:
        columns: query ids, document ids and numbers; the numbers are not looked at.
        numbers: how messages call the numbers, for example "scores".
        what: how messages call what the columns hold, for example "run".
        error: the class of error to raise.

    Raises:
        InputError: (as ``error``) no columns, columns of different lengths, or what is not an id.
    """
    try:
        queries, docs, values = map(list, columns)
    except TypeError as problem:
        msg = f"{what}: three columns were expected: {problem}"
        raise error(msg) from problem
    lengths = len(queries), len(docs), len(values)
    if len(set(lengths)) > 1:
        msg = f"query_ids, doc_ids and {numbers} must be equally long, not {lengths}"
        raise error(msg)
    return checked_ids(queries, what, error), checked_ids(docs, what, error), values


def pick_ids(ids: Sequence[str], indices: Ints) -> Sequence[str]:
    """Return the ids at these indices: a slice where they follow each other, which is faster."""
    if follow_each_other(indices):
        return ids[int(indices[0]) : int(indices[-1]) + 1]
    return [ids[index] for index in indices.tolist()]


def repeated_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids that are listed more than once, in the order of their first occurrence.

    >>> repeated_ids(["a", "b", "c", "b", "a"])
    ['a', 'b']
    """
    return [listed for listed, count in Counter(ids).items() if count > 1]


def have_text_keys(mappings: Sequence[object]) -> bool:
    """Return whether these are dicts of which it is certain that all keys are ``str``.

    False means "not certain". No key is looked at: CPython keeps dicts whose keys have always been
    ``str`` in a table of their own kind, which shows in their size.
    """
    if not set(map(type, mappings)) <= {dict}:
        return False
    dicts = cast("Sequence[dict[object, object]]", mappings)
    return set(map(dict.__sizeof__, dicts)) <= _text_sizes()


@cache
def _text_sizes() -> frozenset[int]:
    """Return the sizes of all dicts with text keys; none where they cannot be told by it.

    A dict of 2^n slots holds 2/3 as many entries, of 16 bytes each (24 for keys of other kinds),
    and an index of 1, 2, 4 or 8 bytes a slot. Small ones are tried out; large ones follow suit.
    """
    empty = dict.__sizeof__({})
    slots = range(3, 40)
    entry, index = 16, {n: (1 << n) * (1 + (n > 7) + 2 * (n > 15) + 4 * (n > 31)) for n in slots}  # noqa: PLR2004
    table = {n: index[n] + entry * (2**n * 2 // 3) for n in slots}
    header = dict.__sizeof__({"a": 0}) - empty - table[3]
    sizes = frozenset({empty} | {empty + header + table[n] for n in slots})
    for count in (1, 5, 6, 11, 22, 43, 86, 171, 400):  # one of each size of table, up to 1024 slots
        text: dict[object, None] = dict.fromkeys(map(str, range(count)))
        mixed = {**text, 0: None}
        if dict.__sizeof__(text) not in sizes or dict.__sizeof__(mixed) in sizes:
            return frozenset()  # pragma: no cover - another Python than CPython 3.11 to 3.13
    return sizes


def is_dataframe(value: object) -> bool:
    """Return whether this is a dataframe: it has the Arrow interface, or is a polars LazyFrame."""
    is_lazy = type(value).__name__ == "LazyFrame" and hasattr(value, "collect")
    return is_lazy or hasattr(value, "__arrow_c_stream__")
