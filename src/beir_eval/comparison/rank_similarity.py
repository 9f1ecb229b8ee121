"""How alike two rankings are: lists of document ids, best first, and nothing else."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.ids import repeated_ids
from beir_eval.errors import DuplicateDocumentError, RunError, SettingError, check_choice, some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats

PAIRS = ("union", "intersection")
#: Below it RBO looks at nothing but the first document.
LOWEST_P = 1e-6


class RBO(NamedTuple):
    """Rank-biased overlap of two rankings of which only the beginnings are known.

    Attributes:
        lowest: if nothing below the known beginnings overlaps.
        residual: how much the unknown rest could add; lowest + residual is the highest.
        extrapolated: if the agreement goes on as at the end of the known beginnings.
    """

    lowest: float
    residual: float
    extrapolated: float


def kendall_distance(
    first: Sequence[str],
    second: Sequence[str],
    *,
    k: int | None = None,
    penalty: float = 0.5,
    pairs: str = "union",
) -> float:
    """Return the share of document pairs on whose order two top-k lists disagree, 0 to 1.

    Formula: K / (n(n−1)/2) over the n documents of either list. A pair counts 1 when the lists
    order it differently; a document absent from a list stands below all that are in it; a pair that
    one list lacks altogether counts ``penalty``. Equal lists have 0, reversed ones 1, one swap of
    neighbours 1 / (n(n−1)/2), disjoint lists of k documents (3k−1)/(4k−2) with penalty ½. With
    ``pairs="intersection"`` only documents in both lists count.

    Undefined when there is no pair: NaN, but 0 where both lists are the same one document.

    Source: Kendall, 1938; Fagin, Kumar and Sivakumar, Comparing top k lists, SIAM J. Discrete
    Mathematics 17(1), 2003 (K with penalty parameter p).

    Raises:
        SettingError: k below 1, a penalty outside 0 to 1, another value of ``pairs``.
        DuplicateDocumentError: a list holds a document twice.

    >>> kendall_distance(["a", "b", "c"], ["b", "a", "c"])  # 1 of 3 pairs
    0.3333333333333333
    """
    check_choice("pairs", pairs, PAIRS)
    if not _is_number(penalty) or not 0 <= penalty <= 1:
        msg = f"penalty must be from 0 to 1, not {penalty!r}"
        raise SettingError(msg)
    one, other = _top(first, k), _top(second, k)
    place = {doc: rank for rank, doc in enumerate(other)}
    common = [place[doc] for doc in one if doc in place]
    disagreeing: float = _inversions(common)
    if pairs == "intersection":
        return _share(disagreeing, len(common), same=one == other)
    only_one, only_other = len(one) - len(common), len(other) - len(common)
    disagreeing += _above_common(one, set(other)) + _above_common(other, set(one))
    disagreeing += only_one * only_other
    disagreeing += penalty * (math.comb(only_one, 2) + math.comb(only_other, 2))
    return _share(disagreeing, len(common) + only_one + only_other, same=one == other)


def spearman(first: Sequence[str], second: Sequence[str], *, k: int | None = None) -> float:
    """Return Spearman's rank correlation over the documents in both lists, −1 to 1.

    Formula: 1 − 6 Σ d² / (n(n² − 1)), d the difference of ranks after ranking the n common
    documents anew in each list.

    Undefined below two common documents: NaN.

    Source: Spearman, 1904.

    Raises:
        SettingError, DuplicateDocumentError: as ``kendall_distance``.

    >>> spearman(["a", "b", "x", "c"], ["c", "b", "a"])
    -1.0
    """
    one, other = _top(first, k), _top(second, k)
    shared = set(one) & set(other)
    count = len(shared)
    if count < 2:  # noqa: PLR2004 - a correlation needs two
        return math.nan
    rank = {doc: place for place, doc in enumerate(doc for doc in other if doc in shared)}
    squares = sum(
        (place - rank[doc]) ** 2 for place, doc in enumerate(doc for doc in one if doc in shared)
    )
    return 1.0 - 6.0 * squares / (count * (count * count - 1))


def rbo(
    first: Sequence[str], second: Sequence[str], *, p: float = 0.9, k: int | None = None
) -> RBO:
    """Return rank-biased overlap: top-weighted agreement of two rankings of any length.

    Formula: (1 − p) Σ over depths d of p^(d−1) · (documents shared by the first d) / d. ``p`` is
    the chance of going on to the next depth. Of finite lists only a beginning is known: see
    ``RBO``.

    Undefined when both lists are empty: NaN; with one list empty nothing is known of it, and the
    extrapolated value is 0.

    Source: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4),
    2010; extrapolation for lists of different lengths by its equation 32.

    Raises:
        SettingError: p outside 0 to 1, k below 1.
        DuplicateDocumentError: a list holds a document twice.

    >>> round(rbo([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], p=0.9).extrapolated, 3)
    0.828
    """
    if not _is_number(p) or not LOWEST_P <= p < 1:
        msg = f"p must be at least {LOWEST_P:g} and below 1, not {p!r}"
        raise SettingError(msg)
    short, long = sorted((_top(first, k), _top(second, k)), key=len)
    if not long:
        return RBO(math.nan, math.nan, math.nan)
    return _rbo(short, long, p)


def overlap(first: Sequence[str], second: Sequence[str], *, k: int) -> float:
    """Return the share of documents that two top-k lists have in common, 0 to 1.

    Formula: (documents in the first k of both) / k; divided by the length of the longer list where
    both are shorter than k.

    Undefined when both lists are empty: NaN.

    Raises:
        SettingError, DuplicateDocumentError: as ``kendall_distance``.

    >>> overlap(["a", "b", "c"], ["c", "x", "a"], k=2)
    0.0
    """
    one, other = _top(first, k), _top(second, k)
    longest = max(len(one), len(other))
    return len(set(one) & set(other)) / longest if longest else math.nan


def _top(ranking: Sequence[str], k: Any) -> list[str]:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        msg = f"k must be a whole number above 0, not {k!r}"
        raise SettingError(msg)
    if isinstance(ranking, (str, AbstractSet, Mapping)):
        msg = f"a ranking must be a list of ids, not {ranking!r}"
        raise RunError(msg)
    top = list(ranking)[:k]
    if len(set(top)) < len(top):
        msg = f"a ranking holds {some(sorted(repeated_ids(top)))} more than once; keep one of each"
        raise DuplicateDocumentError(msg)
    return top


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _inversions(places: Sequence[int]) -> int:
    """Return how many pairs stand in the wrong order."""
    seen: list[int] = []
    count = 0
    for place in places:
        count += len(seen) - bisect_left(seen, place)
        insort(seen, place)
    return count


def _above_common(ranking: Sequence[str], others: set[str]) -> int:
    """Count pairs in which a document the other list lacks stands above one that it has."""
    lacking = count = 0
    for doc in ranking:
        if doc in others:
            count += lacking
        else:
            lacking += 1
    return count


def _share(disagreeing: float, documents: int, *, same: bool) -> float:
    total = math.comb(documents, 2)
    if not total:
        return 0.0 if documents and same else math.nan
    return disagreeing / total


def _rbo(short: Sequence[str], long: Sequence[str], p: float) -> RBO:
    s, l = len(short), len(long)  # noqa: E741 - the letters of the paper
    shared = _shared_by_depth(short, long)
    depth = np.arange(1, l + 1, dtype=np.float64)
    weight = np.power(p, depth)
    scale = (1.0 - p) / p
    # Nothing more is shared: X_l stays, and Σ p^d/d over all d is −ln(1 − p).
    last = shared[-1]
    lowest = scale * (np.sum((shared - last) * weight / depth) - last * math.log1p(-p))
    # As much as possible is shared below the known beginnings; all of it from depth f on.
    f = l + s - int(last)
    deeper = np.arange(1, f + 1, dtype=np.float64)
    known = np.concatenate([shared, np.full(f - l, last)])
    free = np.maximum(deeper - s, 0) + np.maximum(deeper - l, 0)
    highest = scale * np.sum((known + free) / deeper * np.power(p, deeper)) + p**f
    if s:
        goes_on = shared + np.maximum(depth - s, 0) * shared[s - 1] / s
        agreement = (last - shared[s - 1]) / l + shared[s - 1] / s
        extrapolated = scale * np.sum(goes_on / depth * weight) + agreement * p**l
    else:
        extrapolated = 0.0
    return RBO(float(lowest), float(highest - lowest), float(extrapolated))


def _shared_by_depth(short: Sequence[str], long: Sequence[str]) -> Floats:
    """Return how many documents the first d of both lists share, for d = 1 to the longer length."""
    place = {doc: rank for rank, doc in enumerate(short)}
    new = np.zeros(len(long))
    for rank, doc in enumerate(long):
        if doc in place:
            new[max(rank, place[doc])] += 1
    return np.cumsum(new)
