"""Running any retriever for the queries of a data set; what Haystack's pipelines use too.

Inside: ``evaluate_retriever`` (any function), ``run_queries`` (all queries of a data set become a
``Run``: concurrency, time limits, retries, failures), ``journal`` (resumes an interrupted run),
``origin`` (what made the answers of a journal), ``documents`` (names of documents, and rankings of
them), ``evaluate_dataset`` (retrieves and evaluates, also on judged spans of text).

Public: ``evaluate_retriever``.
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.retrieval.evaluate_retriever import evaluate_retriever

__all__ = ["evaluate_retriever"]

lazy_exports(
    __name__,
    {
        "beir_eval.integrations.retrieval.evaluate_retriever": "evaluate_retriever",
    },
)
