"""A small document store, and a Haystack pipeline that searches it."""

import haystack
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

TEXTS = {
    "paris": "Paris is the capital of France on the river Seine",
    "berlin": "Berlin is the capital of Germany on the river Spree",
    "rome": "Rome is the capital of Italy on the river Tiber",
    "oslo": "Oslo is the capital of Norway by a fjord",
    "lyon": "Lyon is a city of France on the river Rhone",
}
QUERIES = {"q1": "capital of France", "q2": "Norway fjord", "q3": "river Tiber"}
QRELS = {"q1": {"paris": 2, "lyon": 1}, "q2": {"oslo": 1}, "q3": {"rome": 1, "berlin": 0}}


def make_store(index="capitals"):
    """Return a store that holds the capitals.

    In Haystack 2, stores with the same index share their documents, and overwriting a document
    changes the mean length that BM25 uses.
    """
    store = InMemoryDocumentStore(index=index, bm25_algorithm="BM25Plus")
    if not store.count_documents():
        store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return store


def retrieving(store=None, *, top_k=3, is_async=False):
    """Return a pipeline of one retriever; Haystack 2 has another class for an event loop."""
    pipeline_class = getattr(haystack, "AsyncPipeline", Pipeline) if is_async else Pipeline
    pipeline = pipeline_class()
    retriever = InMemoryBM25Retriever(make_store() if store is None else store, top_k=top_k)
    pipeline.add_component("retriever", retriever)
    return pipeline
