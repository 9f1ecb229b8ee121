"""LangChain: evaluate a retriever on a data set.

Inside: ``evaluate_retriever``. Public: ``evaluate_retriever``; it needs the extra ``langchain``
(MissingExtraError without it).
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.langchain.evaluate_retriever import evaluate_retriever

__all__ = ["evaluate_retriever"]

lazy_exports(
    __name__,
    {"evaluate_retriever": "beir_eval.integrations.langchain.evaluate_retriever"},
    extra=("langchain-core", "langchain", "evaluating a retriever of LangChain"),
)
