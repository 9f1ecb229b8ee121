"""LlamaIndex: a measure for its ``RetrieverEvaluator``, and a retriever evaluated on a data set.

Inside: ``evaluate_retriever`` and ``retrieval_metric``. Public: ``evaluate_retriever`` and
``QrelsMetric``; they need the extra ``llama-index`` (MissingExtraError without it).
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.llama_index.evaluate_retriever import evaluate_retriever
    from beir_eval.integrations.llama_index.retrieval_metric import QrelsMetric

__all__ = ["QrelsMetric", "evaluate_retriever"]

lazy_exports(
    __name__,
    {
        "QrelsMetric": "beir_eval.integrations.llama_index.retrieval_metric",
        "evaluate_retriever": "beir_eval.integrations.llama_index.evaluate_retriever",
    },
    extra=("llama-index-core", "llama-index", "evaluating a retriever of LlamaIndex"),
)
