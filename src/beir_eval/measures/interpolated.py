"""Interpolated precision at a recall level, and 11-point average precision."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.relevance_matrix import RelevanceMatrix

__all__ = ["AP_11pt", "IPrec"]

RECALL_POINTS = tuple(tenths / 10 for tenths in range(11))


@measure(
    "IPrec",
    bounds=(0, 1),
    aliases="iprec_at_recall interpolated_precision",
    number_sets="recall",
    tools={
        "trec_eval": ("iprec_at_recall_{recall:.2f}", None),
        "ir_measures": ("IPrec@{recall}", None),
    },
)
def IPrec(
    matrix: RelevanceMatrix,
    *,
    cutoff: int | None = None,
    recall: float,
    rel: float | None = None,
    rounding: str = "trec_eval9",
) -> Floats:
    """Interpolated precision at a recall level: the best precision at that recall or beyond.

    Formula: max of precision at rank r over all r at which at least n relevant documents are
    retrieved, with n = ⌊recall·R + 0.9⌋ (``rounding="trec_eval9"``, which pytrec_eval and
    ir_measures have too) or ``recall``·R rounded half away from zero (``"trec_eval10"``). 0 if n
    are never retrieved.

    Undefined when R = 0: 0.

    Source: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section
    8.4; trec_eval ``iprec_at_recall``.

    >>> from beir_eval import IPrec, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "y": 0.7, "b": 0.6}}
    >>> result = evaluate(qrels, run, [IPrec(recall=0.5), IPrec(recall=1)])
    >>> result["IPrec(recall=0.5)"], result["iprec_at_recall_1.00"]
    (1.0, 0.5)
    """
    return _best_precision(matrix, cutoff, rel, _num_needed(matrix, recall, rel, rounding))


@measure(
    "AP_11pt",
    bounds=(0, 1),
    aliases="11pt_avg 11pt 11-pt_avg 11_point_average_precision",
    tools={"trec_eval": ("11pt_avg", None)},
)
def AP_11pt(
    matrix: RelevanceMatrix,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    rounding: str = "trec_eval9",
) -> Floats:
    """11-point average precision: the mean of interpolated precision at recall 0, .1, … 1.

    Formula: Σ IPrec(recall) / 11 over recall = 0, 0.1, …, 1. ``rounding`` is "trec_eval9" or
    "trec_eval10", explained in IPrec.

    Undefined when R = 0: 0.

    Source: Manning, Raghavan and Schütze, 2008, section 8.4; trec_eval ``11pt_avg``.

    >>> from beir_eval import AP_11pt, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "y": 0.7, "b": 0.6}}
    >>> result = evaluate(qrels, run, [AP_11pt])  # 1.0 up to recall .5, then 0.5
    >>> result["AP_11pt"] == (6 * 1.0 + 5 * 0.5) / 11
    True
    """
    total = np.zeros(matrix.num_queries)
    for recall in reversed(RECALL_POINTS):  # the order in which trec_eval adds them up
        num_needed = _num_needed(matrix, recall, rel, rounding)
        total += _best_precision(matrix, cutoff, rel, num_needed)
    return total / len(RECALL_POINTS)


def _num_needed(matrix: RelevanceMatrix, recall: float, rel: float | None, rounding: str) -> Ints:
    """Return how many relevant documents a query needs for a recall level, i8[Q]."""
    exact = recall * matrix.num_relevant(rel).astype(np.float64)
    if rounding == "trec_eval9":
        return np.trunc(exact + 0.9).astype(np.int64)
    floor = np.floor(exact)
    return (floor + (exact - floor >= 0.5)).astype(np.int64)  # noqa: PLR2004 - one half


def _best_precision(
    matrix: RelevanceMatrix, cutoff: int | None, rel: float | None, num_needed: Ints
) -> Floats:
    """Return the highest precision from the ``num_needed``-th relevant document on, f8[Q]."""
    relevant = matrix.relevant(rel)
    relevant_so_far = matrix.relevant_so_far(rel)
    valid = (relevant_so_far >= num_needed[relevant.row]) & (relevant.rank <= (cutoff or math.inf))
    best = np.zeros(matrix.num_queries)
    np.maximum.at(best, relevant.row[valid], (relevant_so_far / relevant.rank)[valid])
    return best
