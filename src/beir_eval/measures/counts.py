"""Counts that are summed over queries (trec_eval's num_*), and utility, which is averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.relevance_matrix import is_relevant
from beir_eval.measures.registry import measure

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.relevance_matrix import RelevanceMatrix

__all__ = ["num_nonrel_judged_ret", "num_q", "num_rel", "num_rel_ret", "num_ret", "utility"]


@measure(
    "num_q",
    aliases="numq",
    cutoff="none",
    aggregate="sum",
    undefined_without_relevant=False,
    tools={"trec_eval": ("num_q", None), "ir_measures": ("NumQ", None)},
)
def num_q(matrix: RelevanceMatrix) -> Ints:
    """The number of queries evaluated.

    Formula: 1 for every query, summed over queries. Undefined never. Source: trec_eval ``num_q``.

    >>> from beir_eval import evaluate, num_q
    >>> evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 0.9}}, [num_q])["num_q"]
    2.0
    """
    return np.ones(matrix.num_queries, dtype=np.int64)


@measure(
    "num_ret",
    aliases="numret",
    aggregate="sum",
    undefined_without_relevant=False,
    tools={"trec_eval": ("num_ret", None), "ir_measures": ("NumRet", None)},
)
def num_ret(matrix: RelevanceMatrix, *, cutoff: int | None = None) -> Ints:
    """The number of documents retrieved.

    Formula: min(k, retrieved), summed over queries. Undefined never. Source: trec_eval ``num_ret``.

    >>> from beir_eval import evaluate, num_ret
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.9, "x": 0.8}}, [num_ret])["num_ret"]
    2.0
    """
    return matrix.num_retrieved_upto(cutoff)


@measure(
    "utility",
    aliases="set_utility",
    implied={"hits": {"other": 0}},
    undefined_without_relevant=False,
    tools={"trec_eval": ("utility", None)},
)
def utility(  # noqa: PLR0913 - one argument for each parameter
    matrix: RelevanceMatrix,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    relevant: float = 1,
    other: float = -1,
    missed: float = 0,
) -> Floats:
    """The worth of the retrieved set: so much for each relevant document, so much off for others.

    Formula: ``relevant``·found + ``other``·(n − found) + ``missed``·(R − found), where n is the
    number of documents retrieved in the top k and found the number of relevant ones among them.
    Averaged over queries. Not bounded by 1. With ``other=0`` it is the mean number of relevant
    documents found, which ranx calls ``hits``.

    Undefined never.

    Source: trec_eval ``utility``, without its fourth weight, which is for all other documents of
    the collection.

    >>> from beir_eval import evaluate, utility
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "y": 0.7}}
    >>> evaluate(qrels, run, [utility, utility(missed=-2)]).as_dict()
    {'utility': -1.0, 'utility(missed=-2)': -3.0}
    """
    retrieved = matrix.num_retrieved_upto(cutoff)
    hits = matrix.num_relevant_upto(cutoff, rel)
    misses = matrix.num_relevant(rel) - hits
    return relevant * hits + other * (retrieved - hits) + missed * misses.astype(np.float64)


@measure(
    "num_rel",
    aliases="numrel",
    cutoff="none",
    aggregate="sum",
    undefined_without_relevant=False,
    tools={"trec_eval": ("num_rel", None), "ir_measures": ("NumRel", None)},
)
def num_rel(matrix: RelevanceMatrix, *, rel: float | None = None) -> Ints:
    """The number of relevant documents in the qrels, retrieved or not.

    Formula: R, summed over queries. Undefined never. Source: trec_eval ``num_rel``.

    >>> from beir_eval import evaluate, num_rel
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.9}}, [num_rel])["num_rel"]
    1.0
    """
    return matrix.num_relevant(rel)


@measure(
    "num_rel_ret",
    aliases="numrelret",
    aggregate="sum",
    undefined_without_relevant=False,
    tools={"trec_eval": ("num_rel_ret", None)},
)
def num_rel_ret(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Ints:
    """The number of relevant documents retrieved.

    Formula: relevant in the top k, summed over queries. Undefined never. Source: trec_eval
    ``num_rel_ret``.

    >>> from beir_eval import evaluate, num_rel_ret
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8}}, [num_rel_ret])["num_rel_ret"]
    1.0
    """
    return matrix.num_relevant_upto(cutoff, rel)


@measure(
    "num_nonrel_judged_ret",
    by_grade=False,
    unjudged="left out",
    aggregate="sum",
    undefined_without_relevant=False,
    tools={"trec_eval": ("num_nonrel_judged_ret", None)},
)
def num_nonrel_judged_ret(
    matrix: RelevanceMatrix, *, cutoff: int | None = None, rel: float | None = None
) -> Ints:
    """The number of retrieved documents that are judged and not relevant.

    Formula: judged non-relevant in the top k (negative grades are unjudged), summed over queries.
    Undefined never. Source: trec_eval ``num_nonrel_judged_ret``.

    >>> from beir_eval import evaluate, num_nonrel_judged_ret
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.9, "b": 0.8, "x": 0.7}}
    >>> evaluate(qrels, run, [num_nonrel_judged_ret])["num_nonrel_judged_ret"]
    1.0
    """
    cells = matrix.cells.upto(cutoff)
    return matrix.count(cells.row[(cells.grade >= 0) & ~is_relevant(cells.grade, rel)])
