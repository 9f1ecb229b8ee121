"""Columns to slice by: {query_id: label} from lengths, judgements, metadata, numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import rows_of
from beir_eval.core.ids import id_text
from beir_eval.core.qrels import Qrels
from beir_eval.datasets.corpus import read_metadata
from beir_eval.errors import FileFormatError, InputError, SettingError, some
from beir_eval.significance.validation import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.qrels import QrelsMapping

#: A number for each query is cut into so many parts of about equal size unless told otherwise.
PARTS = 4
#: What one column is: a label or a number by query.
Column = Mapping[str, Any]


def cut(
    values: Mapping[str, float],
    *,
    edges: Sequence[float] | None = None,
    parts: int = PARTS,
    unit: str = "",
) -> dict[str, str]:
    """Return {query_id: label} from a number for each query.

    The queries come in the order of their numbers, so that slices are shown in that order.

    Args:
        values: {query_id: number}; a query whose number is NaN is left out.
        edges: where a slice ends and the next begins; a number equal to an edge belongs above it.
        parts: without edges, into how many parts of about equal size; equal numbers stay together,
            so there may be fewer.
        unit: what is counted, put behind the numbers.

    Raises:
        InputError: a value is no number, or there is none.
        SettingError: fewer than two parts, edges that do not ascend.

    >>> cut({"q1": 3, "q2": 12, "q3": 4}, edges=(4, 8), unit="words")
    {'q1': 'below 4 words', 'q3': '4 to 7 words', 'q2': '8 or more words'}
    """
    wrong = [query_id for query_id, value in values.items() if not is_number(value)]
    if wrong:
        msg = f"numbers were expected, not {values[wrong[0]]!r} for query {wrong[0]!r}"
        raise InputError(msg)
    known = {one: value for one, value in values.items() if not math.isnan(value)}
    if not known:
        raise InputError("there is no number to cut at; give one for each query")
    whole = all(float(value).is_integer() for value in known.values())
    if edges is None:
        if parts < 2:  # noqa: PLR2004 - a cut
            msg = f"parts must be a whole number from 2, not {parts!r}"
            raise SettingError(msg)
        shares = [part / parts for part in range(1, parts)]
        found = np.quantile(list(known.values()), shares, method="higher").tolist()
        lowest = min(known.values())
        edges = [edge for edge in dict.fromkeys(found) if edge > lowest]
    elif any(first >= second for first, second in pairwise(edges)):
        msg = f"edges must ascend, not {list(edges)}"
        raise SettingError(msg)
    whole = whole and all(float(one).is_integer() for one in edges)
    labels = _labels(list(edges), whole=whole, counts=whole and min(known.values()) >= 0)
    behind = f" {unit}" if unit else ""
    ordered = sorted(known, key=lambda query_id: known[query_id])
    return {
        query_id: f"{labels[bisect_right(edges, known[query_id])]}{behind}" for query_id in ordered
    }


def _labels(edges: list[float], *, whole: bool, counts: bool) -> list[str]:
    if not edges:
        return ["all"]
    labels = ["0" if counts and edges[0] == 1 else f"below {_shown(edges[0])}"]
    for low, high in pairwise(edges):
        if whole:
            last = high - 1
            labels.append(_shown(low) if low == last else f"{_shown(low)} to {_shown(last)}")
        else:
            labels.append(f"{_shown(low)} to below {_shown(high)}")
    return [*labels, f"{_shown(edges[-1])} or more"]


def _shown(edge: float) -> str:
    return f"{int(edge)}" if float(edge).is_integer() else repr(float(f"{edge:.12g}"))


def by_length(
    queries: Mapping[str, str],
    *,
    edges: Sequence[float] | None = (4, 8, 16, 32),
    parts: int = PARTS,
) -> dict[str, str]:
    """Return {query_id: label} by the number of words, separated by white space.

    Args:
        queries: {query_id: text}.
        edges: as ``cut``: doubling by default, since the data sets go from 3 words (NFCorpus) to
            190 (ArguAna) a query. None cuts into ``parts`` of about equal size.
        parts: as ``cut``.

    Raises:
        InputError, SettingError: as ``cut``.

    >>> by_length({"q1": "what is ndcg", "q2": "how is the gain of a document discounted"})
    {'q1': 'below 4 words', 'q2': '8 to 15 words'}
    """
    lengths = {id_text(one): len(text.split()) for one, text in queries.items()}
    return cut(lengths, edges=edges, parts=parts, unit="words")


def by_num_relevant(
    qrels: Qrels | QrelsMapping,
    *,
    edges: Sequence[float] | None = (1, 2, 5, 10, 50),
    parts: int = PARTS,
) -> dict[str, str]:
    """Return {query_id: label} by the number of relevant documents (grade above 0).

    Args:
        qrels: the judgements.
        edges: as ``cut``; None cuts into ``parts`` of about equal size.
        parts: as ``cut``.

    Raises:
        QrelsError: the qrels cannot be used.
        InputError, SettingError: as ``cut``.

    >>> by_num_relevant({"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"d": 1}})
    {'q2': '1 relevant', 'q1': '2 to 4 relevant'}
    """
    judged = Qrels.coerce(qrels)
    row = rows_of(np.diff(judged.starts))
    counts = np.bincount(row[judged.grades > 0], minlength=len(judged.query_ids)).tolist()
    numbers = dict(zip(judged.query_ids, counts, strict=True))
    return cut(numbers, edges=edges, parts=parts, unit="relevant")


def by_metadata(path: str | Path, key: str) -> dict[str, Any]:
    """Return {query_id: what its metadata holds under a key}, from queries.jsonl.

    Queries without the key, or with null under it, are left out. Where all values are numbers they
    stay so, and ``compare_slices`` cuts them; other values become text.

    Args:
        path: the file, or the folder of the data set.
        key: a key of the records' "metadata".

    Raises:
        FileFormatError: not such a file, no query has the key (the message lists those there
            are), or it holds a list or an object.
        OSError: it cannot be read.
    """
    file = Path(path)
    if file.is_dir():
        plain, packed = file / "queries.jsonl", file / "queries.jsonl.gz"
        file = packed if packed.exists() and not plain.exists() else plain
    found: dict[str, Any] = {}
    keys: dict[str, None] = {}
    for query_id, metadata in read_metadata(file):
        keys |= dict.fromkeys(metadata)
        value = metadata.get(key)
        if isinstance(value, (list, dict)):
            problem = f"metadata {key!r} of query {query_id!r} is no label but {str(value)[:60]}"
            raise FileFormatError(file, problem)
        if value is not None:
            found[query_id] = value
    if not found:
        problem = f"no query has metadata {key!r}; there are {some(keys) or 'none'}"
        raise FileFormatError(file, problem)
    if all(is_number(value) for value in found.values()):
        return found
    return {one: _as_label(value) for one, value in found.items()}


def _as_label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def columns_of(slices: Any) -> dict[str, dict[str, str]]:
    """Return {column: {query_id: label}}; a single column is called "slice".

    Raises:
        InputError: it is neither a column nor several, or a label is neither text nor a number.
    """
    if not isinstance(slices, Mapping) or not slices:
        msg = f"slices must be {{query_id: label}} or {{name: {{query_id: label}}}}, not {slices!r}"
        raise InputError(msg)
    several = [isinstance(one, Mapping) for one in slices.values()]
    if any(several) and not all(several):
        raise InputError("slices must be one column or several, not labels and columns mixed")
    columns = slices if all(several) else {"slice": slices}
    return {str(name): _labelled(str(name), column) for name, column in columns.items()}


def _labelled(name: str, column: Column) -> dict[str, str]:
    texts = {id_text(one): value for one, value in column.items() if value is not None}
    if texts and all(is_number(value) for value in texts.values()):
        return cut(texts)
    wrong = [one for one, value in texts.items() if not isinstance(value, (str, bool))]
    if wrong:
        msg = (
            f"{name}: a label is text, and a column of numbers is cut; query {wrong[0]!r} has "
            f"{texts[wrong[0]]!r}"
        )
        raise InputError(msg)
    return {one: _as_label(value) for one, value in texts.items()}
