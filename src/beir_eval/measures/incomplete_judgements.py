"""Measures for incomplete judgements: shares of judged documents, bpref, infAP, RBP."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.relevance_matrix import is_relevant
from beir_eval.measures.arithmetic import power, ratio
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.core.relevance_matrix import RelevanceMatrix

__all__ = ["RBP", "Hole", "Judged", "RBP_residual", "bpref", "gm_bpref", "infAP"]

# ε, with which trec_eval smooths the estimated precision in infAP
_INFAP_EPSILON = 0.00001


@measure(
    "Judged",
    bounds=(0, 1),
    by_grade=False,
    aliases="judged_share judgement_rate",
    unjudged="counted",
    undefined_without_relevant=False,
    tools={"ir_measures": ("Judged", "Judged@{k}")},
)
def Judged(matrix: RelevanceMatrix, *, cutoff: int | None = None) -> Floats:
    """The share of the first k documents that are judged for this query.

    Formula: (judged in the top k) / min(k, retrieved). Negative grades are "pooled but unjudged".

    Undefined when nothing was retrieved: NaN, and the query is left out of the mean.

    Source: ir_measures ``Judged``.

    >>> from beir_eval import Judged, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.9, "b": 0.8, "x": 0.7, "y": 0.6}}
    >>> evaluate(qrels, run, [Judged @ 10])["Judged@10"]
    0.5
    """
    retrieved = matrix.num_retrieved_upto(cutoff)
    cells = matrix.cells.upto(cutoff)
    judged = matrix.count(cells.row[cells.grade >= 0])
    return np.where(retrieved > 0, ratio(judged, retrieved), np.nan)


@measure(
    "Hole",
    bounds=(0, 1),
    by_grade=False,
    higher_is_better=False,
    unjudged="counted",
    aliases="holes",
    undefined_without_relevant=False,
)
def Hole(matrix: RelevanceMatrix, *, cutoff: int | None = None) -> Floats:
    """The share of the first k documents that are not judged for this query: 1 − Judged@k.

    Formula: 1 − (judged in the top k) / min(k, retrieved). BEIR's Hole@k differs: it is
    the number of documents judged for no query at all, divided by k even on shorter lists.

    Undefined when nothing was retrieved: NaN, and the query is left out of the mean.

    Source: the complement of ir_measures ``Judged``.

    >>> from beir_eval import Hole, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.9, "x": 0.8, "y": 0.7, "z": 0.6}}
    >>> evaluate(qrels, run, [Hole @ 4])["Hole@4"]
    0.75
    """
    return 1.0 - (Judged if cutoff is None else Judged @ cutoff).scores(matrix)


@measure(
    "bpref",
    bounds=(0, 1),
    aliases="binary_preference",
    unjudged="left out",
    tools={"trec_eval": ("bpref", None), "ir_measures": ("Bpref", None)},
)
def bpref(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Binary preference: how often relevant documents rank above judged non-relevant ones.

    Formula: (1/R) Σ over the retrieved relevant documents of 1 − min(n, R) / min(N, R), where n is
    the number of judged non-relevant documents above the document and N the number of them in the
    qrels; the term is 1 if n = 0. Unjudged documents are ignored. If the qrels hold only relevant
    documents, as those of most BEIR data sets do, bpref is Recall with the same cutoff.

    Undefined when R = 0: 0.

    Source: Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004,
    as corrected in trec_eval ``bpref``.

    >>> from beir_eval import bpref, evaluate
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}
    >>> run = {"q": {"a": 0.9, "c": 0.8, "x": 0.7, "b": 0.6}}
    >>> evaluate(qrels, run, [bpref])["bpref"]  # (1 + (1 − 1/2)) / 2
    0.75
    """
    non_relevant_above, relevant, num_relevant, num_non_relevant = _judged_counts(matrix, rel)
    most_above = np.minimum(num_non_relevant, num_relevant)[matrix.cells.row]
    penalty = ratio(np.minimum(non_relevant_above, num_relevant[matrix.cells.row]), most_above)
    counted = relevant & (matrix.cells.rank <= (cutoff or np.inf))
    return ratio(matrix.sum((1.0 - penalty)[counted], matrix.cells.row[counted]), num_relevant)


@measure(
    "gm_bpref",
    bounds=(0.00001, 1),
    aliases="gmbpref gm-bpref",
    unjudged="left out",
    aggregate="geometric",
    tools={"trec_eval": ("gm_bpref", None)},
)
def gm_bpref(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Binary preference for a geometric mean, which weighs the worst queries most.

    Formula: max(bpref, 0.00001) for each query; over queries, exp(mean of the logarithms).

    Undefined when R = 0: bpref is 0 and counts as 0.00001.

    Source: trec_eval ``gm_bpref``, whose value for a single query is the logarithm.

    >>> from beir_eval import evaluate, gm_bpref
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9}}
    >>> round(evaluate(qrels, run, [gm_bpref])["gm_bpref"], 12)
    0.5
    """
    preference: Floats = bpref.definition.function(matrix, cutoff=cutoff, rel=rel)
    return np.maximum(preference, 0.00001)


@measure(
    "infAP",
    bounds=(0, 1),
    by_grade=False,
    aliases="inferred_ap inferred_average_precision",
    unjudged="left out",
    tools={"trec_eval": ("infAP", None), "ir_measures": ("infAP", None)},
)
def infAP(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Inferred average precision, for a pool of which only a random part was judged.

    Formula: (1/R) Σ over the retrieved relevant documents, at rank r, of
    1/r + ((r−1)/r) · (pooled above / (r−1)) · (relevant above + ε) / (judged above + 2ε), with
    ε = 0.00001; the term is 1 at rank 1. Negative grades mean pooled but unjudged. If the qrels
    hold only relevant documents, nothing is estimated and infAP is MAP but for ε: use MAP.

    Undefined when R = 0: 0.

    Source: Yilmaz and Aslam, Estimating average precision with incomplete and imperfect
    judgments, CIKM 2006; trec_eval ``infAP``.

    >>> from beir_eval import evaluate, infAP
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    >>> evaluate(qrels, run, [infAP])["infAP"]
    1.0
    """
    non_relevant_above, relevant, num_relevant, _ = _judged_counts(matrix, rel)
    counted = np.flatnonzero(relevant & (matrix.cells.rank <= (cutoff or np.inf)))
    row, num_above = matrix.cells.row[counted], (matrix.cells.rank[counted] - 1).astype(np.float64)
    relevant_above = (matrix.running_count(relevant)[counted] - 1).astype(np.float64)
    judged_above = relevant_above + non_relevant_above[counted]
    pooled_above = judged_above + matrix.running_count(matrix.cells.grade < 0)[counted]
    estimate = (relevant_above + _INFAP_EPSILON) / (judged_above + 2 * _INFAP_EPSILON)
    from_above = (num_above / (num_above + 1.0)) * ratio(pooled_above, num_above) * estimate
    precision = 1.0 / (num_above + 1.0) + from_above
    return ratio(matrix.sum(precision, row), num_relevant)


def _judged_counts(
    matrix: RelevanceMatrix, rel: float | None
) -> tuple[Floats, np.ndarray, np.ndarray, np.ndarray]:
    """Return counts of judged documents: two arrays by cell, then two by query.

    Returns:
        The judged non-relevant documents of its query down to each cell, f8[C]; whether the cell
        is relevant, bool[C]; R and N, the relevant and the judged non-relevant documents in the
        qrels, i8[Q] each.
    """
    relevant = is_relevant(matrix.cells.grade, rel)
    non_relevant = (matrix.cells.grade >= 0) & ~relevant
    judged = matrix.judgements
    is_non_relevant = (judged.grade >= 0) & ~is_relevant(judged.grade, rel)
    return (
        matrix.running_count(non_relevant).astype(np.float64),
        relevant,
        matrix.num_relevant(rel),
        matrix.count(judged.row[is_non_relevant]),
    )


@measure(
    "RBP",
    bounds=(0, 1),
    aliases="rank_biased_precision",
    always_named={"p": 0.8},
    tools={"ir_measures": ("RBP(p={p}, rel=1)", None)},
)
def RBP(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, p: float = 0.8, rel: float | None = None
) -> Floats:
    """Rank-biased precision: gains of a reader who reads the next document with probability p.

    Formula: (1 − p) Σ over the relevant documents in the top k of p^(rank − 1). It never reaches 1
    on a finite ranking; RBP_residual is what unjudged and unretrieved documents could add.

    Undefined when R = 0: 0.

    Source: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness,
    ACM TOIS 27(1), 2008.

    >>> from beir_eval import RBP, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> evaluate(qrels, run, [RBP(p=0.5)])["RBP(p=0.5)"]  # 0.5 · (1 + 0.25)
    0.625
    """
    relevant = matrix.relevant(rel).upto(cutoff)
    return (1.0 - p) * matrix.sum(power(p, relevant.rank), relevant.row)


@measure(
    "RBP_residual",
    bounds=(0, 1),
    by_grade=False,
    higher_is_better=False,
    unjudged="counted",
    aliases="rbp_resid residual_rbp",
    always_named={"p": 0.8},
    undefined_without_relevant=False,
)
def RBP_residual(matrix: RelevanceMatrix, *, cutoff: int | None = None, p: float = 0.8) -> Floats:
    """What RBP could still gain if every document that is unjudged or unseen were relevant.

    Formula: 1 − (1 − p) Σ over the judged documents in the top k of p^(rank − 1). This is the
    weight of all unjudged documents plus the tail p^d after the last of d documents; trec_eval's
    ``rbp_resid`` leaves out the tail. RBP + RBP_residual is the highest RBP possible.

    Undefined never; a query without a ranking has residual 1.

    Source: Moffat and Zobel, 2008, section 3.

    >>> from beir_eval import RBP_residual, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    >>> evaluate(qrels, run, [RBP_residual(p=0.5)])["RBP_residual(p=0.5)"]  # 1/4 (x) + 1/4 (tail)
    0.5
    """
    cells = matrix.cells.upto(cutoff)
    judged = cells.where(cells.grade >= 0)
    return 1.0 - (1.0 - p) * matrix.sum(power(p, judged.rank), judged.row)
