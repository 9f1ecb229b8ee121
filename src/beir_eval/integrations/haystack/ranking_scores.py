"""One ranking of Haystack's Documents as ids and scores that say its order to every reader."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.integrations.haystack.documents import DocumentNames


def one_ranking(
    documents: Sequence[Any], names: DocumentNames
) -> tuple[list[str], list[float], int]:
    """Return ids and scores of one ranking, best first, and how many documents were left out.

    A document that the ranking holds already is left out, and so is one without a name. The scores
    put the documents in this order for every reader (see ``telling_scores``).
    """
    first: dict[str, Any] = {}
    for name, document in zip(names.of(documents), documents, strict=True):
        if name:
            first.setdefault(name, document.score)
    return list(first), telling_scores(list(first.values())), len(documents) - len(first)


def telling_scores(scores: Sequence[float | None]) -> list[float]:
    """Return scores that say the order of this list to everybody, also in single precision.

    Scores that fall from each document to the next are kept. Equal ones, which tools order each in
    their own way, are told apart by the last digit of a float32. Where scores are missing or do not
    follow the order (the order is the ranking), they are replaced by n, n-1, …, 1.

    >>> telling_scores([0.9, 0.5])
    [0.9, 0.5]
    >>> telling_scores([2.0, 2.0, 1.0])
    [2.0, 1.9999998807907104, 1.0]
    >>> telling_scores([None, None]), telling_scores([0.1, 0.9])
    ([2.0, 1.0], [2.0, 1.0])
    """
    by_rank = [float(rank) for rank in range(len(scores), 0, -1)]
    if not all(score is not None and math.isfinite(score) for score in scores):
        return by_rank
    given = np.array(scores, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = given.astype(np.float32)
    if (given[1:] > given[:-1]).any() or not np.isfinite(single).all():
        return by_rank
    told: list[float] = given.tolist()
    if (single[1:] < single[:-1]).all():
        return told
    lowest = np.float32(-np.inf)
    for place in range(1, len(single)):
        if single[place] >= single[place - 1]:
            single[place] = np.nextafter(single[place - 1], lowest)
    told = single.astype(np.float64).tolist()
    return told if np.isfinite(single).all() else by_rank
