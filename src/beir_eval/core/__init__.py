"""Qrels and runs as arrays: ids, scores, ranks, and the relevance matrix.

Inside: ``qrels`` (with ``judgement_errors``) and ``run``, the classes that users pass;
``run_sources`` (one module per kind of object that holds a run); ``ranking`` (order, ties,
duplicates) and ``rank_counting`` (ranks without sorting); ``number_lookup`` (finding documents in
rankings); ``relevance_matrix``. Shared with the other packages: ``arrays`` (grouped arrays),
``ids``, ``column_names``, ``dataframes``, ``files`` (paths and reading, and the kind of a file for
messages), ``atomic_writes`` (and locks), ``saved`` (records in JSON files), ``imports`` (lazy
imports), ``line_parts`` (text read in parts), ``progress`` (the progress bar), ``own_code`` (what
identifies a retriever). This package contains no measure and no file format of another tool.

Public: ``Qrels``, ``Run``, ``EvaluationSettings``, ``RelevanceMatrix``, ``RunSummary``, ``relate``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.relevance_matrix import RelevanceMatrix, RunSummary, relate
    from beir_eval.core.run import Run

__all__ = ["EvaluationSettings", "Qrels", "RelevanceMatrix", "Run", "RunSummary", "relate"]

lazy_exports(
    __name__,
    {
        "beir_eval.core.qrels": "Qrels",
        "beir_eval.core.ranking": "EvaluationSettings",
        "beir_eval.core.relevance_matrix": "relate RelevanceMatrix RunSummary",
        "beir_eval.core.run": "Run",
    },
)
