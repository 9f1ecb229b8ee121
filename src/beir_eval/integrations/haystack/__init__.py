"""Haystack pipelines: index a corpus, run every query of a data set, evaluate the rankings.

Call ``index(dataset, store)``, then ``evaluate_pipeline(pipeline, dataset)``. With
``PipelineRetriever``, a pipeline is a system of a ``Benchmark``. The components for use inside a
pipeline are in ``haystack_integrations.components.evaluators.beir_eval``.

Inside: ``evaluate_pipeline``, ``evaluate_pipeline_stages``, ``retriever`` (a pipeline as a
retriever, and one query of it), ``stage_tracer`` (what each component returns), ``pipeline_stages``
(which outputs are stages), ``components`` and ``sockets`` (of a pipeline), ``indexing`` (writes a
corpus, and knows what was written), ``store_checks`` (what a store lacks), ``load_pipeline``
(YAML), ``demo``; the queries are run by ``integrations.retrieval``.
``documents`` (converts documents to a ``Run``) and ``haystack_rules`` (the numbers of Haystack's
evaluators): the components use these two as well, and they do not import Haystack.

Public: ``evaluate_pipeline``, ``evaluate_pipeline_stages``, ``index``, ``beir_documents``,
``PipelineRetriever``, ``to_evaluation_run_result``; they need the extra ``haystack``
(MissingExtraError without it).
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.haystack.evaluate_pipeline import (
        evaluate_pipeline,
        to_evaluation_run_result,
    )
    from beir_eval.integrations.haystack.evaluate_pipeline_stages import evaluate_pipeline_stages
    from beir_eval.integrations.haystack.indexing import beir_documents, index
    from beir_eval.integrations.haystack.retriever import PipelineRetriever

__all__ = [
    "PipelineRetriever",
    "beir_documents",
    "evaluate_pipeline",
    "evaluate_pipeline_stages",
    "index",
    "to_evaluation_run_result",
]

lazy_exports(
    __name__,
    {
        "beir_eval.integrations.haystack.evaluate_pipeline": (
            "evaluate_pipeline to_evaluation_run_result"
        ),
        "beir_eval.integrations.haystack.evaluate_pipeline_stages": "evaluate_pipeline_stages",
        "beir_eval.integrations.haystack.indexing": "beir_documents index",
        "beir_eval.integrations.haystack.retriever": "PipelineRetriever",
    },
    extra=("haystack-ai", "haystack", "evaluating a pipeline"),
)
