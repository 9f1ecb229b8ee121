"""Measures of binary relevance: precision, recall, average precision, and more."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.measures.arithmetic import ratio
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix

__all__ = [
    "F1",
    "MAP",
    "MRR",
    "Precision",
    "R_cap",
    "Recall",
    "Rprec",
    "Rprec_mult",
    "Success",
    "gm_map",
    "set_map",
]


@measure(
    "Precision",
    bounds=(0, 1),
    aliases="p prec set_p setp",
    tools={
        "beir": (None, "P@{k}"),
        "trec_eval": ("set_P", "P_{k}"),
        "ir_measures": ("SetP", "P@{k}"),
        "mteb": (None, "precision_at_{k}"),
    },
)
def Precision(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """The share of the first k documents that are relevant.

    Formula: (relevant in the top k) / k. Divided by k even where fewer were retrieved; without a
    cutoff, divided by the number retrieved, as in trec_eval's ``set_P``.

    Undefined when nothing was retrieved and there is no cutoff: 0.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; trec_eval ``P``.

    >>> from beir_eval import Precision, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> evaluate(qrels, run, [Precision @ 2])["Precision@2"]
    0.5
    """
    retrieved = matrix.num_retrieved if cutoff is None else cutoff
    return ratio(matrix.num_relevant_upto(cutoff, rel), retrieved)


@measure(
    "Recall",
    bounds=(0, 1),
    aliases="r set_recall set_r setr",
    tools={
        "beir": (None, "Recall@{k}"),
        "trec_eval": ("set_recall", "recall_{k}"),
        "ir_measures": ("SetR", "R@{k}"),
        "mteb": (None, "recall_at_{k}"),
    },
)
def Recall(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """The share of the relevant documents that are among the first k.

    Formula: (relevant in the top k) / R, with R the number of relevant documents in the qrels.

    Undefined when R = 0: 0.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; trec_eval ``recall``.

    >>> from beir_eval import Recall, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    >>> evaluate(qrels, run, [Recall @ 2])["Recall@2"]
    0.25
    """
    return ratio(matrix.num_relevant_upto(cutoff, rel), matrix.num_relevant(rel))


@measure(
    "R_cap",
    bounds=(0, 1),
    aliases="rcap recall_cap capped_recall relative_p set_relative_p",
    tools={"beir": (None, "R_cap@{k}"), "trec_eval": ("set_relative_P", "relative_P_{k}")},
)
def R_cap(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Capped recall: recall that can reach 1 even where more than k are relevant.

    Formula: (relevant in the top k) / min(R, k); without a cutoff, k is the number retrieved.
    The same value: precision divided by the highest precision that is possible.

    Undefined when R = 0: 0 (BEIR and trec_eval divide by zero there); also 0 when nothing was
    retrieved and there is no cutoff.

    Source: Thakur et al., BEIR, NeurIPS 2021 Datasets and Benchmarks, section 3; trec_eval
    ``relative_P`` and ``set_relative_P``.

    >>> from beir_eval import R_cap, evaluate
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
    >>> evaluate(qrels, {"q": {"a": 0.9, "x": 0.8}}, [R_cap @ 2])["R_cap@2"]
    0.5
    """
    depth = matrix.num_retrieved if cutoff is None else cutoff
    return ratio(matrix.num_relevant_upto(cutoff, rel), np.minimum(matrix.num_relevant(rel), depth))


@measure(
    "F1",
    bounds=(0, 1),
    aliases="f f_beta fbeta f_score f-score set_f setf",
    tools={"trec_eval": ("set_F", None), "ir_measures": ("SetF", None)},
)
def F1(
    matrix: RelevanceMatrix,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    beta: float = 1,
) -> Floats:
    """The weighted harmonic mean of precision and recall.

    Formula: (1 + b²)·P·R / (R + b²·P) with b = ``beta``: recall counts b times as much as
    precision. trec_eval's ``set_F.x`` has x = b², and no cutoff.

    Undefined when P and R are both 0: 0.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; trec_eval ``set_F``.

    >>> from beir_eval import F1, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    >>> evaluate(qrels, run, [F1 @ 2])["F1@2"]
    0.5
    """
    relevant_retrieved = matrix.num_relevant_upto(cutoff, rel)
    precision = ratio(relevant_retrieved, matrix.num_retrieved if cutoff is None else cutoff)
    recall = ratio(relevant_retrieved, matrix.num_relevant(rel))
    weight = float(beta) * float(beta)
    return ratio((weight + 1.0) * precision * recall, recall + weight * precision)


@measure(
    "MAP",
    bounds=(0, 1),
    aliases="ap map_cut average_precision mean_average_precision",
    tools={
        "beir": (None, "MAP@{k}"),
        "trec_eval": ("map", "map_cut_{k}"),
        "ir_measures": ("AP", "AP@{k}"),
        "mteb": (None, "map_at_{k}"),
    },
)
def MAP(matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    """Average precision: the mean of the precisions at the ranks of the relevant documents.

    Formula: Σ over the relevant documents in the top k of (relevant so far / rank), divided by R,
    the number of relevant documents in the qrels, whatever k is. Its mean over queries is MAP.
    (sentence-transformers divides by min(k, R); some tutorials call the mean of P@1..k "MAP".)

    Undefined when R = 0: 0.

    Source: Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000; trec_eval
    ``map`` and ``map_cut``.

    >>> from beir_eval import MAP, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "y": 0.7, "b": 0.6}}
    >>> evaluate(qrels, run, [MAP])["MAP"]  # (1/1 + 2/4) / 2
    0.75
    """

    def precisions(relevant: Cells) -> Floats:
        return matrix.relevant_so_far(rel) / relevant.rank

    total = matrix.shared_sum(("AP", rel), precisions, matrix.relevant(rel), cutoff)
    return ratio(total, matrix.num_relevant(rel))


@measure(
    "gm_map",
    bounds=(0.00001, 1),
    aliases="gmap gm-map",
    aggregate="geometric",
    tools={"trec_eval": ("gm_map", None)},
)
def gm_map(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Average precision for a geometric mean, which weighs the worst queries most.

    Formula: max(AP, 0.00001) for each query; over queries, exp(mean of the logarithms).

    Undefined when R = 0: AP is 0 and counts as 0.00001.

    Source: Robertson, On GMAP, CIKM 2006; trec_eval ``gm_map``, whose value for a single query is
    the logarithm.

    >>> from beir_eval import evaluate, gm_map
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> round(evaluate(qrels, run, [gm_map])["gm_map"], 12)
    0.5
    """
    average_precision: Floats = MAP.definition.function(matrix, cutoff=cutoff, rel=rel)
    return np.maximum(average_precision, 0.00001)


@measure(
    "MRR",
    bounds=(0, 1),
    aliases="rr recip_rank reciprocal_rank mean_reciprocal_rank",
    tools={
        "beir": (None, "MRR@{k}"),
        "trec_eval": ("recip_rank", None),
        "ir_measures": ("RR", "RR@{k}"),
        "mteb": (None, "mrr_at_{k}"),
    },
)
def MRR(matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    """Reciprocal rank: one over the rank of the first relevant document.

    Formula: 1 / rank of the first relevant document in the top k, or 0 without one. Its mean
    over queries is MRR.

    Undefined when R = 0: 0.

    Source: Voorhees, The TREC-8 question answering track report, 1999; trec_eval ``recip_rank``.

    >>> from beir_eval import MRR, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> evaluate(qrels, run, [MRR @ 10])["MRR@10"]
    0.5
    """
    relevant = matrix.relevant(rel)
    first = relevant.where(matrix.relevant_so_far(rel) == 1).upto(cutoff)
    return matrix.sum(1.0 / first.rank, first.row)


@measure(
    "Success",
    bounds=(0, 1),
    aliases="s accuracy acc top_k_accuracy top_n_accuracy hit_rate hitrate hit",
    tools={
        "beir": (None, "Accuracy@{k}"),
        "trec_eval": (None, "success_{k}"),
        "ir_measures": (None, "Success@{k}"),
        "mteb": (None, "hit_rate_at_{k}"),
    },
)
def Success(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Whether any of the first k documents is relevant: accuracy, top-N accuracy, hit rate.

    Formula: 1 if the top k hold a relevant document, else 0.

    Undefined when R = 0: 0.

    Source: trec_eval ``success``; BEIR ``top_k_accuracy``.

    >>> from beir_eval import Success, evaluate
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> result = evaluate(qrels, run, [Success @ 1, Success @ 2])
    >>> result["Success@1"], result["hit_rate@2"]
    (0.0, 1.0)
    """
    return np.minimum(matrix.num_relevant_upto(cutoff, rel), 1).astype(np.float64)


@measure(
    "Rprec",
    bounds=(0, 1),
    aliases="r-prec r-precision r_precision r_prec rprecision",
    cutoff="none",
    tools={"trec_eval": ("Rprec", None), "ir_measures": ("Rprec", None)},
)
def Rprec(matrix: RelevanceMatrix, *, rel: float | None = None) -> Floats:
    """R-precision: the precision at rank R.

    Formula: (relevant in the top R) / R, with R the number of relevant documents in the qrels.

    Undefined when R = 0: 0.

    Source: Buckley and Voorhees, SIGIR 2000; trec_eval ``Rprec``.

    >>> from beir_eval import Rprec, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> evaluate(qrels, run, [Rprec])["Rprec"]
    0.5
    """
    relevant, total = matrix.relevant(rel), matrix.num_relevant(rel)
    within = relevant.where(relevant.rank <= total[relevant.row])
    return ratio(matrix.count(within.row), total)


@measure(
    "Rprec_mult",
    bounds=(0, 1),
    aliases="r-prec_mult",
    cutoff="none",
    number_sets="multiple",
    tools={"trec_eval": ("Rprec_mult_{multiple:.2f}", None)},
)
def Rprec_mult(matrix: RelevanceMatrix, *, multiple: float, rel: float | None = None) -> Floats:
    """Precision at a multiple of R: below 1 the top of the ranking, above 1 its depth.

    Formula: (relevant in the top n) / n, with n = ⌊multiple·R + 0.9⌋.

    Undefined when R = 0: 0.

    Source: trec_eval ``Rprec_mult`` (Buckley, 2008).

    >>> from beir_eval import Rprec_mult, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> evaluate(qrels, run, [Rprec_mult(multiple=2)])["Rprec_mult(multiple=2)"]  # P@4
    0.5
    """
    depth = np.trunc(multiple * matrix.num_relevant(rel).astype(np.float64) + 0.9)
    relevant = matrix.relevant(rel)
    within = relevant.where(relevant.rank <= depth[relevant.row])
    return ratio(matrix.count(within.row), depth)


@measure(
    "set_map",
    bounds=(0, 1),
    aliases="setap set_ap setmap",
    tools={"trec_eval": ("set_map", None), "ir_measures": ("SetAP", None)},
)
def set_map(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    """Precision times recall of the retrieved set.

    Formula: found² / (n · R), where found is the number of relevant documents in the top k and
    n = k; without a cutoff, n is the number retrieved and found counts the whole ranking.

    Undefined when R = 0 or nothing was retrieved: 0.

    Source: trec_eval ``set_map``.

    >>> from beir_eval import evaluate, set_map
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    >>> evaluate(qrels, run, [set_map])["set_map"]  # 1/2 · 1/2
    0.25
    """
    relevant_retrieved = matrix.num_relevant_upto(cutoff, rel).astype(np.float64)
    retrieved = matrix.num_retrieved if cutoff is None else cutoff
    return ratio(relevant_retrieved * relevant_retrieved, retrieved * matrix.num_relevant(rel))
