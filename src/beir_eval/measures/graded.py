"""Measures of graded relevance: CG, DCG, nDCG and ERR."""
# ruff: noqa: N802 - measures are named as the field names them

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.errors import MeasureError
from beir_eval.measures.arithmetic import (
    check_gains,
    discount,
    gains,
    power_of_two,
    product_above,
    ratio,
)
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats
    from beir_eval.core.relevance_matrix import Cells, RelevanceMatrix
    from beir_eval.measures.parameters import Gain

__all__ = ["CG", "DCG", "ERR", "nDCG"]


@measure(
    "CG",
    aliases="cumulated_gain cumulative_gain",
    undefined_without_relevant=False,
)
def CG(matrix: RelevanceMatrix, *, cutoff: int | None = None, gain: Gain = "linear") -> Floats:
    """Cumulated gain: the sum of the gains of the first k documents.

    Formula: Σ gain(grade) over the first k documents. ``gain`` is "linear" (the grade itself),
    "exp" (2^grade − 1) or a table {grade: gain} whose gains are not negative and do not decrease
    with the grade. A table must have every judged grade above 0; grade 0 gains 0 if it is not in
    the table. Unjudged documents and negative grades gain 0. Not bounded by 1.

    Undefined never.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS
    20(4), 2002.

    >>> from beir_eval import CG, evaluate
    >>> qrels, run = {"q": {"a": 3, "b": 2}}, {"q": {"a": 0.9, "b": 0.8}}
    >>> evaluate(qrels, run, [CG @ 2, CG(gain="exp") @ 2]).as_dict()
    {'CG@2': 5.0, 'CG(gain="exp")@2': 10.0}
    """
    check_gains(matrix, gain)
    cells = matrix.cells.upto(cutoff)
    return matrix.sum(gains(cells.grade, gain), cells.row)


@measure(
    "DCG",
    aliases="discounted_cumulated_gain",
    undefined_without_relevant=False,
)
def DCG(matrix: RelevanceMatrix, *, cutoff: int | None = None, gain: Gain = "linear") -> Floats:
    """Discounted cumulated gain: gains count less the lower they rank.

    Formula: Σ gain(grade) / log2(rank + 1) over the first k documents. ``gain`` is "linear", "exp"
    or a table {grade: gain}, explained in CG. Not bounded by 1.

    Undefined never.

    Source: Järvelin and Kekäläinen, 2002. The discount log2(rank + 1), from rank 1 on, is that of
    Burges et al., Learning to rank using gradient descent, ICML 2005, and of trec_eval.

    >>> from beir_eval import DCG, evaluate
    >>> qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> evaluate(qrels, run, [DCG @ 3])["DCG@3"]  # 2/log2(2) + 1/log2(4)
    2.5
    """
    check_gains(matrix, gain)
    return _dcg(matrix, "run", gain, cutoff).copy()


@measure(
    "nDCG",
    bounds=(0, 1),
    aliases="ndcg_cut normalized_discounted_cumulated_gain",
    implied={"ndcg_burges": {"gain": "exp"}},
    tools={
        "beir": (None, "NDCG@{k}"),
        "trec_eval": ("ndcg", "ndcg_cut_{k}"),
        "ir_measures": ("nDCG", "nDCG@{k}"),
        "mteb": (None, "ndcg_at_{k}"),
    },
)
def nDCG(matrix: RelevanceMatrix, *, cutoff: int | None = None, gain: Gain = "linear") -> Floats:
    """Normalised discounted cumulated gain: DCG over that of the ideal ranking.

    Formula: DCG@k / IDCG@k, where IDCG is the DCG of all judged documents of the query sorted by
    grade (not only of the returned ones), cut at k; ``gain`` as in CG. Without a cutoff the ideal
    is not cut at the number retrieved.

    Undefined when no judged document has a gain: 0.

    Source: Järvelin and Kekäläinen, 2002; trec_eval ``ndcg`` and ``ndcg_cut``.

    >>> from beir_eval import evaluate, nDCG
    >>> qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 0.9, "a": 0.8}}
    >>> round(evaluate(qrels, run, [nDCG @ 10])["nDCG@10"], 4)  # (1 + 2/log2 3) / (2 + 1/log2 3)
    0.8597
    """
    check_gains(matrix, gain)
    return ratio(_dcg(matrix, "run", gain, cutoff), _dcg(matrix, "ideal", gain, cutoff))


def _dcg(matrix: RelevanceMatrix, ranking: str, gain: Gain, cutoff: int | None) -> Floats:
    """Return the DCG of each query in the "run" or in the "ideal" ranking, f8[Q]."""
    cells = matrix.cells if ranking == "run" else matrix.judgements

    def discounted_gains(cells: Cells) -> Floats:
        return gains(cells.grade, gain) / discount(cells.rank)

    try:
        return matrix.shared_sum(("DCG", ranking, gain), discounted_gains, cells, cutoff)
    except MeasureError:  # perhaps only for a grade beyond the cutoff
        top = cells.upto(cutoff)
        return matrix.sum(discounted_gains(top), top.row)


@measure(
    "ERR",
    bounds=(0, 1),
    aliases="expected_reciprocal_rank",
    tools={"ir_measures": (None, "ERR@{k}")},
)
def ERR(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, max_grade: float | None = None
) -> Floats:
    """Expected reciprocal rank: of the rank at which a reader stops, satisfied.

    Formula: Σ over ranks r of (1/r) · p(r) · Π over i < r of (1 − p(i)), where p = (2^grade − 1) /
    2^max_grade is the probability that a document satisfies the reader; unjudged documents have
    p = 0. ``max_grade`` is by default the highest grade of the whole qrels.

    Undefined when R = 0: 0.

    Source: Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance,
    CIKM 2009; gdeval.

    Raises:
        MeasureError: a grade is above ``max_grade``, or 2^max_grade is too large for a float.

    >>> from beir_eval import ERR, evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "b": 0.8}}
    >>> evaluate(qrels, run, [ERR @ 20])["ERR@20"]  # 1/2 + (1/2)(1/2)(1/2)
    0.625
    """
    highest = matrix.max_grade if max_grade is None else float(max_grade)
    if matrix.max_grade > highest:
        msg = f"the qrels hold grade {matrix.max_grade:g}, above max_grade={highest:g} of ERR"
        raise MeasureError(msg)
    cells = matrix.cells.upto(cutoff)
    cells = cells.where(cells.grade > 0)
    p_satisfied = gains(cells.grade, "exp") / power_of_two(highest)
    p_reached = product_above(1.0 - p_satisfied, cells)
    return matrix.sum(p_reached * p_satisfied / cells.rank, cells.row)
