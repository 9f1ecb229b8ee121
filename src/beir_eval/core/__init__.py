"""Judgements and runs become arrays: ids, scores, ranks, and the relevance matrix.

Inside: ``qrels`` and ``run`` (what users pass), ``run_sources`` (a module for each kind of object
that holds a run), ``ranking`` and ``rank_counting`` (order, ties, duplicates),
``relevance_matrix``; below them arrays, ids, dataframes, files and saved records, which the other
packages share. No measure and no file format of another tool is known here.

Public: ``Qrels``, ``Run``, ``RankingRules``, ``RelevanceMatrix``, ``Relevance``, ``relate``.
"""

from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import RankingRules
from beir_eval.core.relevance_matrix import Relevance, RelevanceMatrix, relate
from beir_eval.core.run import Run

__all__ = ["Qrels", "RankingRules", "Relevance", "RelevanceMatrix", "Run", "relate"]
