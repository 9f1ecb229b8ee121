"""Two pipelines over the bundled data set, for ``beir-eval demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from beir_eval.datasets.dataset import load_dataset
from beir_eval.datasets.demo import FOLDER
from beir_eval.integrations.haystack.evaluate_pipeline import evaluate_pipeline
from beir_eval.integrations.haystack.indexing import beir_documents, index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

_TOP_K = 20


def evaluate_demo_pipelines(measures: Iterable[MeasureLike]) -> list[EvaluationResult]:
    """Return the results of BM25 over title and text, and of its fusion with BM25 over titles."""
    dataset = load_dataset(FOLDER)
    texts, titles = InMemoryDocumentStore(), InMemoryDocumentStore()
    index(dataset, texts, progress=False)
    title_documents = (
        Document(id=document.id, content=document.meta["title"])
        for document in beir_documents(dataset)
    )
    index(title_documents, titles, progress=False)

    plain = Pipeline()
    plain.add_component("retriever", InMemoryBM25Retriever(texts, top_k=_TOP_K))

    fused = Pipeline()
    fused.add_component("texts", InMemoryBM25Retriever(texts, top_k=_TOP_K))
    fused.add_component("titles", InMemoryBM25Retriever(titles, top_k=_TOP_K))
    fused.add_component("fusion", DocumentJoiner("reciprocal_rank_fusion", top_k=_TOP_K))
    fused.connect("texts.documents", "fusion.documents")
    fused.connect("titles.documents", "fusion.documents")

    measure_list = list(measures)
    return [
        evaluate_pipeline(dataset, pipeline, measures=measure_list, name=name, progress=False)
        for name, pipeline in (("haystack bm25", plain), ("haystack bm25 + titles", fused))
    ]
