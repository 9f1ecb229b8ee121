"""Labels of queries to slice by: from query lengths, judgements, metadata or numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import rows_from_lengths
from beir_eval.core.files import as_path
from beir_eval.core.ids import checked_query_ids
from beir_eval.datasets.corpus import read_query_metadata
from beir_eval.errors import FileFormatError, InputError, SettingError, first_few, shown
from beir_eval.evaluation.inputs import as_qrels
from beir_eval.significance.validation import is_number, is_whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from beir_eval.evaluation.inputs import QrelsLike

#: The default number of slices into which a number per query is cut.
PARTS = 4
_MOST_PARTS = 1000
#: A column: {query_id: label or number}.
Column = Mapping[str, Any]


def cut(
    values: Mapping[str, float],
    *,
    edges: Sequence[float] | None = None,
    parts: int = PARTS,
    unit: str = "",
) -> dict[str, str]:
    """Return {query_id: label}, where a label is a range of numbers.

    The queries are sorted by their numbers, so that slices are shown in that order.

    Args:
        values: {query_id: number}; a query whose number is NaN is left out.
        edges: the numbers at which a slice ends and the next one begins, ascending; a number equal
            to an edge belongs to the slice above it. None cuts at quantiles.
        parts: the number of slices of about equal size if ``edges`` is None; equal numbers get the
            same label, so there may be fewer.
        unit: what the numbers count; appended to each label.

    Raises:
        InputError: a value is not a number, or all are NaN, or there are none.
        SettingError: fewer than two parts or more than 1,000, or edges that are not finite numbers
            or do not ascend.

    >>> cut({"q1": 3, "q2": 12, "q3": 4}, edges=(4, 8), unit="words")
    {'q1': 'below 4 words', 'q3': '4 to 7 words', 'q2': '8 or more words'}
    """
    for query_id, value in values.items():
        if not is_number(value):
            msg = f"numbers were expected, not {shown(value)} for query {shown(query_id)}"
            raise InputError(msg)
    numbers = {query_id: value for query_id, value in values.items() if not math.isnan(value)}
    if not numbers:
        raise InputError("there is no number to cut at; give one for each query")
    are_whole = all(float(value).is_integer() for value in numbers.values())
    if edges is None:
        if not is_whole_number(parts, least=2) or parts > _MOST_PARTS:
            msg = f"parts must be a whole number from 2 to {_MOST_PARTS}, not {shown(parts)}"
            raise SettingError(msg)
        shares = [part / parts for part in range(1, parts)]
        quantiles = np.quantile(list(numbers.values()), shares, method="higher").tolist()
        lowest = min(numbers.values())
        edges = [edge for edge in dict.fromkeys(quantiles) if edge > lowest]
    else:
        edges = list(edges)
        if not all(map(math.isfinite, edges)) or edges != sorted({*edges}):
            msg = f"edges must be finite numbers that ascend, not {shown(edges)}"
            raise SettingError(msg)
    are_whole = are_whole and all(float(edge).is_integer() for edge in edges)
    labels = _slice_labels(
        list(edges), are_whole=are_whole, are_counts=are_whole and min(numbers.values()) >= 0
    )
    suffix = f" {unit}" if unit else ""
    ordered = sorted(numbers, key=lambda query_id: numbers[query_id])
    return {
        query_id: f"{labels[bisect_right(edges, numbers[query_id])]}{suffix}"
        for query_id in ordered
    }


def _slice_labels(edges: list[float], *, are_whole: bool, are_counts: bool) -> list[str]:
    """Return the label of each slice in ascending order, one more than there are edges.

    Args:
        edges: ascending.
        are_whole: whether all numbers and edges are whole, so that a range ends with a number.
        are_counts: whether, in addition, no number is negative, so that "below 1" means 0.
    """
    if not edges:
        return ["all"]
    labels = ["0" if are_counts and edges[0] == 1 else f"below {_edge_text(edges[0])}"]
    for low, high in pairwise(edges):
        if are_whole:
            last = high - 1
            labels.append(
                _edge_text(low) if low == last else f"{_edge_text(low)} to {_edge_text(last)}"
            )
        else:
            labels.append(f"{_edge_text(low)} to below {_edge_text(high)}")
    return [*labels, f"{_edge_text(edges[-1])} or more"]


def _edge_text(edge: float) -> str:
    return f"{int(edge)}" if float(edge).is_integer() else repr(float(f"{edge:.12g}"))


def by_length(
    queries: Mapping[str, str],
    *,
    edges: Sequence[float] | None = (4, 8, 16, 32),
    parts: int = PARTS,
) -> dict[str, str]:
    """Return {query_id: label} by the number of words, which are separated by white space.

    Args:
        queries: {query_id: text}.
        edges: the numbers of words at which a slice ends and the next one begins, ascending; an
            edge belongs to the slice above it. The default edges double, because queries have from
            about 3 words (NFCorpus) to about 190 (ArguAna) on average. None cuts at quantiles.
        parts: the number of slices of about equal size if ``edges`` is None.

    Raises:
        InputError: there is no query, a query id is neither text nor
            an integer or is empty, or a text is not text.
        SettingError: fewer than two parts, or edges that do not ascend.

    >>> by_length({"q1": "what is ndcg", "q2": "how is the gain of a document discounted"})
    {'q1': 'below 4 words', 'q2': '8 to 15 words'}
    """
    query_ids = checked_query_ids(queries, "queries", InputError)
    try:
        counts = [len(str.split(text)) for text in queries.values()]
    except TypeError as error:
        msg = f"queries must be {{query_id: text}}: {error}"
        raise InputError(msg) from error
    lengths = dict(zip(query_ids, counts, strict=True))
    return cut(lengths, edges=edges, parts=parts, unit="words")


def by_num_relevant(
    qrels: QrelsLike,
    *,
    edges: Sequence[float] | None = (1, 2, 5, 10, 50),
    parts: int = PARTS,
) -> dict[str, str]:
    """Return {query_id: label} by the number of relevant documents (grade above 0).

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, a dataframe, a path that
            ``read_qrels`` reads, or a ``Dataset``. Queries without judgements get no label.
        edges: the numbers of documents at which a slice ends and the next one begins, ascending; an
            edge belongs to the slice above it. None cuts at quantiles.
        parts: the number of slices of about equal size if ``edges`` is None.

    Raises:
        QrelsError: the qrels are invalid.
        SettingError: fewer than two parts, or edges that do not ascend.

    >>> by_num_relevant({"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"d": 1}})
    {'q2': '1 relevant', 'q1': '2 to 4 relevant'}
    """
    judged = as_qrels(qrels)
    row = rows_from_lengths(np.diff(judged.starts))
    counts = np.bincount(row[judged.grades > 0], minlength=len(judged.query_ids)).tolist()
    numbers = dict(zip(judged.query_ids, counts, strict=True))
    return cut(numbers, edges=edges, parts=parts, unit="relevant")


def by_metadata(path: str | Path, key: str) -> dict[str, Any]:
    """Return {query_id: value of one key of its metadata}, read from queries.jsonl.

    Queries without the key, or with null as its value, are left out. If all values are numbers,
    they stay numbers, and ``compare_slices`` cuts them into slices; otherwise all become text.

    Args:
        path: the file, or a data-set folder that contains queries.jsonl or queries.jsonl.gz.
        key: a key of the object "metadata" of each query.

    Raises:
        FileFormatError: the file has another format, no query has the key (the message lists the
            keys), or a value is a list or an object.
        InputError: ``path`` is neither text nor a path, or contains a zero byte.
        OSError: the file cannot be read.
    """
    file = as_path(path)
    if file.is_dir():
        plain, packed = file / "queries.jsonl", file / "queries.jsonl.gz"
        file = packed if packed.exists() and not plain.exists() else plain
    value_of: dict[str, Any] = {}
    keys: dict[str, None] = {}
    for query_id, metadata in read_query_metadata(file):
        keys |= dict.fromkeys(metadata)
        value = metadata.get(key)
        if isinstance(value, (list, dict)):
            problem = (
                f"metadata {shown(key)} of query {shown(query_id)} is no label but {shown(value)}"
            )
            raise FileFormatError(file, problem)
        if value is not None:
            value_of[query_id] = value
    if not value_of:
        problem = f"no query has metadata {shown(key)}; there are {first_few(keys) or 'none'}"
        raise FileFormatError(file, problem)
    if all(is_number(value) for value in value_of.values()):
        return value_of
    return {query_id: _label_text(value) for query_id, value in value_of.items()}


def _label_text(value: Any) -> str:
    """Return a value as text; True and False become "true" and "false", as in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def columns_of(slices: Any) -> dict[str, dict[str, str]]:
    """Return {column name: {query_id: label}}, with columns of numbers cut into slices.

    Args:
        slices: one column, {query_id: label or number}, which gets the name "slice"; or several,
            {column name: column}.

    Raises:
        InputError: ``slices`` is neither, a label is neither text, True, False nor a number, a
            column mixes text and numbers, or a query id is neither text nor an integer or is
            empty.
    """
    if not isinstance(slices, Mapping) or not slices:
        msg = (
            "slices must be {query_id: label} or {name: {query_id: label}}, not "
            f"{shown(slices)}"
        )
        raise InputError(msg)
    are_columns = [isinstance(column, Mapping) for column in slices.values()]
    if any(are_columns) and not all(are_columns):
        raise InputError("slices must be one column or several, not labels and columns mixed")
    columns = slices if all(are_columns) else {"slice": slices}
    return {str(name): _column_labels(str(name), column) for name, column in columns.items()}


def _column_labels(name: str, column: Column) -> dict[str, str]:
    """Return {query_id: label} of one column; queries whose label is None are left out."""
    query_ids = checked_query_ids(column, name, InputError)
    label_of = {
        query_id: value
        for query_id, value in zip(query_ids, column.values(), strict=True)
        if value is not None
    }
    if label_of and all(is_number(value) for value in label_of.values()):
        return cut(label_of)
    not_labels = [
        query_id for query_id, value in label_of.items() if not isinstance(value, (str, bool))
    ]
    if not_labels:
        msg = (
            f"{name}: a label is text, and a column of numbers is cut; query "
            f"{shown(not_labels[0])} has {shown(label_of[not_labels[0]])}"
        )
        raise InputError(msg)
    return {query_id: _label_text(value) for query_id, value in label_of.items()}
