"""Ids of queries and documents: conversion to text, checks, repeated ids.

Ids are text, and an integer means its decimal string: ``12``, ``numpy.int64(12)`` and ``"12"``
name the same document, ``"012"`` names another one.
"""

from __future__ import annotations

import hashlib
import operator
import zlib
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, cast

import numpy as np

from beir_eval.core.arrays import are_consecutive
from beir_eval.errors import InputError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from beir_eval.core.arrays import Ints

    _Hashes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]

#: Placeholders of documents without an id begin with this; no field of a document has such a value.
NOT_AN_ID = "\0"
#: Ids per chunk: few enough to stay in the processor's cache between the two checks.
_CHUNK_SIZE = 2_000
_MAX_NUMBER = np.iinfo(np.int64).max
#: The number of its digits.
_MAX_DIGITS = 19
#: The base of the polynomials of ``quick_hashes``, and how many ids are joined at a time: few, so
#: that the arrays stay small. Longer ids are replaced by a digest first.
_BASE, _JOINED_AT_ONCE, _LINE_BREAK = np.uint64(6364136223846793005), 2_000, ord("\n")
_LONGEST_JOINED = 200


def id_text(value: object) -> str:
    """Return the text of one id.

    Raises:
        TypeError: the id is neither text nor an integer (bool is not an integer here).
        ValueError: the id is empty, or an integer with more digits than Python converts (4,300).
    """
    if isinstance(value, str):
        if not value:
            msg = "an id is empty"
            raise ValueError(msg)
        return str.__str__(value)  # of an Enum, str() would be its name
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        # A document in place of its id is not shown: it may be long.
        name = type(value).__name__
        is_plain = type(value).__module__ == "builtins" and not isinstance(value, dict)
        actual = f"{shown(value)} of type {name}" if is_plain else f"an object of type {name}"
        msg = f"an id must be text or an integer, not {actual}"
        raise TypeError(msg)
    return str(operator.index(cast("int", value)))  # ValueError for more than 4,300 digits


def ids_as_text(values: Iterable[object]) -> list[str]:
    """Return the text of every id; a list whose items are all non-empty ``str`` is returned itself.

    Raises:
        TypeError: an id is neither text nor an integer, or ``values`` is not iterable.
        ValueError: an id is empty.
    """
    listed = values if isinstance(values, list) else list(values)
    chunks = (listed[begin : begin + _CHUNK_SIZE] for begin in range(0, len(listed), _CHUNK_SIZE))
    if all(set(map(type, chunk)) <= {str} and all(chunk) for chunk in chunks):
        return cast("list[str]", listed)
    return [id_text(value) for value in listed]


def checked_ids(values: Iterable[object], label: str, error_class: type[InputError]) -> list[str]:
    """Return the text of every id, like ``ids_as_text``, with errors of the caller's class.

    Args:
        values: the ids.
        label: what messages call the object that holds the ids, for example "run".
        error_class: the class of the error to raise.

    Raises:
        InputError: (of class ``error_class``) ``values`` is not iterable, or an id is empty or
            neither text nor an integer.
    """
    try:
        return ids_as_text(values)
    except (TypeError, ValueError) as error:
        msg = f"{label}: {error}"
        raise error_class(msg) from error


def checked_query_ids(
    values: Iterable[object], label: str, error_class: type[InputError]
) -> list[str]:
    """Return the text of every query id, like ``checked_ids``, and check that they are distinct.

    ``values`` are the keys of a mapping, so only ids that had to be converted can be equal.

    Raises:
        InputError: (of class ``error_class``) as ``checked_ids``; also if an integer and a text id
            name the same query.
    """
    query_ids = checked_ids(values, label, error_class)
    if query_ids is not values and len(set(query_ids)) < len(query_ids):
        msg = f"{label}: an integer and a text query id name the same query; keep one of the two"
        raise error_class(msg)
    return query_ids


def checked_columns(
    columns: Iterable[Iterable[Any]], numbers_label: str, label: str, error_class: type[InputError]
) -> tuple[list[str], list[str], list[Any]]:
    """Return three columns of the same length: query ids and document ids as text, and numbers.

    Args:
        columns: query ids, document ids and numbers; the numbers are returned unchecked.
        numbers_label: what messages call the numbers, for example "scores".
        label: what messages call the object that the columns hold, for example "run".
        error_class: the class of the error to raise.

    Raises:
        InputError: (of class ``error_class``) a column is not iterable, or is text, a mapping or a
            set; the columns have different lengths, or an id is empty or neither text nor an
            integer.
    """
    columns = list(columns)
    for values in columns:
        if isinstance(values, (str, bytes, Mapping, AbstractSet)):
            msg = f"{label}: a column must be a list, not {shown(values)}"
            raise error_class(msg)
    try:
        query_ids, doc_ids, numbers = map(list, columns)
    except TypeError as error:
        msg = f"{label}: three columns were expected: {error}"
        raise error_class(msg) from error
    lengths = len(query_ids), len(doc_ids), len(numbers)
    if len(set(lengths)) > 1:
        msg = (
            f"the columns must be equally long, but there are {lengths[0]} query_ids, "
            f"{lengths[1]} doc_ids and {lengths[2]} {numbers_label}"
        )
        raise error_class(msg)
    return (
        checked_ids(query_ids, label, error_class),
        checked_ids(doc_ids, label, error_class),
        numbers,
    )


def check_unicode(label: str, texts: Iterable[str]) -> None:
    """Raise InputError for the first text that is not valid Unicode, which no table can contain.

    Args:
        label: what the message calls the object that contains the texts.
        texts: ids or names.
    """
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            msg = f"{label} contains text that is not Unicode: {shown(text)}"
            raise InputError(msg) from error


def pick_ids(ids: Sequence[str], indices: Ints) -> Sequence[str]:
    """Return the ids at these indices; consecutive indices are read as a slice, for speed."""
    if are_consecutive(indices):
        return ids[int(indices[0]) : int(indices[-1]) + 1]
    return [ids[index] for index in indices.tolist()]


def distinct_ids(values: Iterable[object], label: str, error_class: type[InputError]) -> list[str]:
    """Return the text of every id, like ``checked_ids``, if no id is listed twice.

    Args:
        values: the ids.
        label: what messages call the ids, for example "query_ids".
        error_class: the class of the error to raise.

    Raises:
        InputError: (of class ``error_class``) as ``checked_ids``; or ``values`` is a text, or an id
            is listed twice.
    """
    if isinstance(values, (str, bytes)):
        msg = f"{label} must be a list of ids, not the text {shown(values)}"
        raise error_class(msg)
    ids = checked_ids(values, label, error_class)
    if repeated := repeated_ids(ids):
        msg = f"{label} must be distinct, but {first_few(repeated)} are listed twice"
        raise error_class(msg)
    return ids


def decimal_numbers(ids: Sequence[str]) -> Ints:
    """Return the number of which each id is the decimal string; -1 for other ids: i8[N].

    >>> decimal_numbers(["7", "07", "q7"]).tolist()
    [7, -1, -1]
    """
    numbers = _all_decimal_numbers(ids)
    if numbers is not None:
        return numbers
    numbers = np.full(len(ids), -1, dtype=np.int64)
    for index in compress(range(len(ids)), map(str.isdecimal, ids)):
        text = ids[index]
        is_decimal = text.isascii() and (text[0] != "0" or text == "0")
        if is_decimal and len(text) <= _MAX_DIGITS and int(text) <= _MAX_NUMBER:
            numbers[index] = int(text)
    return numbers


def _all_decimal_numbers(ids: Sequence[str]) -> Ints | None:
    """Return the number of each id, i8[N]; None if some id is not a decimal string."""
    digits = "".join(ids)
    if not (digits.isdecimal() and digits.isascii()):
        return None
    try:
        numbers = np.fromiter(map(int, ids), np.int64, len(ids))
    except (OverflowError, ValueError):  # beyond 64 bits, empty, or longer than int() accepts
        return None
    lengths = 1 + np.searchsorted(10 ** np.arange(1, _MAX_DIGITS), numbers, side="right")
    return numbers if int(lengths.sum()) == len(digits) else None  # None for leading zeros


def hash_ids(ids: Iterable[str]) -> _Hashes:
    """Return a number of 64 bits for each id, the same on every machine: BLAKE2b, u8[N]."""
    digests = bytearray()
    blake2b = hashlib.blake2b
    for text in ids:
        digests += blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def quick_hashes(ids: Sequence[str]) -> _Hashes:
    """Return a number of 64 bits for each id, the same on every machine, u8[N].

    It is the polynomial of the characters of the id and a line break, modulo 2^64; a line break in
    an id counts as a backslash and an n. Of an id of more than 200 characters it is the length and
    the CRC-32 of its UTF-8. It takes 0.1 µs an id, and ``hash_ids`` 1.5 µs.
    """
    hashes = [np.zeros(0, np.uint64)]
    for begin in range(0, len(ids), _JOINED_AT_ONCE):
        part = ids[begin : begin + _JOINED_AT_ONCE]
        long: list[int] = []
        short = part
        if max(map(len, part)) > _LONGEST_JOINED:
            long = [index for index, text in enumerate(part) if len(text) > _LONGEST_JOINED]
            short = [text if len(text) <= _LONGEST_JOINED else "" for text in part]
        joined = "\n".join([*short, ""])
        if joined.count("\n") > len(short):
            joined = "\n".join([*(text.replace("\n", "\\n") for text in short), ""])
        encoding, code = ("ascii", "u1") if joined.isascii() else ("utf-32-le", "<u4")
        codes = np.frombuffer(joined.encode(encoding, "surrogatepass"), code)
        starts = np.concatenate([[0], np.flatnonzero(codes == _LINE_BREAK)[:-1] + 1])
        powers, inverse = _powers(len(codes).bit_length())
        part_hashes = np.add.reduceat(powers[: len(codes)] * codes, starts) * inverse[starts]
        contents = (part[index].encode("utf-8", "surrogatepass") for index in long)
        # A third of the time that BLAKE2b takes.
        part_hashes[long] = [zlib.crc32(content) | len(content) << 32 for content in contents]
        hashes.append(part_hashes)
    return np.concatenate(hashes)


@cache
def _powers(num_bits: int) -> tuple[_Hashes, _Hashes]:
    """Return the powers of the base from 1 on, and of its inverse from 0 on, u8[2^num_bits]."""
    inverse = np.uint64(pow(int(_BASE), -1, 1 << 64))
    bases = np.repeat([[_BASE], [inverse]], 1 << num_bits, axis=1)
    powers, inverses = np.multiply.accumulate(bases, axis=1)
    return powers, inverses * _BASE


def repeated_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids that are listed more than once, in the order of their first occurrence.

    >>> repeated_ids(["a", "b", "c", "b", "a"])
    ['a', 'b']
    """
    return [text for text, count in Counter(ids).items() if count > 1]


def have_text_keys(mappings: Sequence[object]) -> bool:
    """Return whether all of these are plain dicts whose keys are certainly all ``str``.

    False means "not certain". No key is read: CPython stores dicts whose keys have always been
    ``str`` in a smaller table, so the size of the dict shows it.
    """
    if not set(map(type, mappings)) <= {dict}:
        return False
    dicts = cast("Sequence[dict[object, object]]", mappings)
    return set(map(dict.__sizeof__, dicts)) <= _text_dict_sizes()


@cache
def _text_dict_sizes() -> frozenset[int]:
    """Return the sizes that dicts with only ``str`` keys have; empty if the size cannot show it.

    A dict of 2^n slots holds at most 2/3 as many entries, of 16 bytes each (24 bytes if some key is
    not ``str``), and an index of 1, 2, 4 or 8 bytes per slot. The sizes are computed from this
    layout; those of up to 1,024 slots are compared with real dicts.
    """
    empty = dict.__sizeof__({})
    powers = range(3, 40)
    entry, index = 16, {n: (1 << n) * (1 + (n > 7) + 2 * (n > 15) + 4 * (n > 31)) for n in powers}  # noqa: PLR2004
    table = {n: index[n] + entry * (2**n * 2 // 3) for n in powers}
    header = dict.__sizeof__({"a": 0}) - empty - table[3]
    sizes = frozenset({empty} | {empty + header + table[n] for n in powers})
    for count in (1, 5, 6, 11, 22, 43, 86, 171, 400):  # one per table size, up to 1,024 slots
        text_dict: dict[object, None] = dict.fromkeys(map(str, range(count)))
        mixed_dict = {**text_dict, 0: None}
        if dict.__sizeof__(text_dict) not in sizes or dict.__sizeof__(mixed_dict) in sizes:
            return frozenset()  # pragma: no cover - another Python than CPython 3.11 to 3.13
    return sizes


def rows_remedy(value: object) -> str:
    """Return what to do with a list or array that was passed as a run or as qrels; "" if unknown.

    Args:
        value: the object.
    """
    if isinstance(value, np.ndarray):
        return "Run.from_arrays takes the arrays of an index, from_columns takes columns"
    first = value[0] if isinstance(value, (list, tuple)) and value else None
    if not isinstance(first, Mapping):
        return ""
    entries = list(first.values())
    if entries and all(isinstance(entry, Mapping) for entry in entries):
        return "compare_runs(qrels, {name: run}) takes several runs"
    return "for rows, pass a dataframe, such as polars.DataFrame(rows)"


def is_dataframe(value: object) -> bool:
    """Return whether ``value`` exports an Arrow stream (PyCapsule) or is a polars LazyFrame."""
    is_lazy = type(value).__name__ == "LazyFrame" and hasattr(value, "collect")
    return is_lazy or hasattr(value, "__arrow_c_stream__")
