"""A small store of documents, and Haystack pipelines over it."""

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
    """A store that holds the capitals.

    In Haystack 2, stores of one index share their documents, and each writing over a document moves
    the mean length that BM25 computes with.
    """
    made = InMemoryDocumentStore(index=index, bm25_algorithm="BM25Plus")
    if not made.count_documents():
        made.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return made


def retrieving(store=None, *, top_k=3, is_async=False):
    """A pipeline of one retriever; in Haystack 2, those for an event loop are another class."""
    kind = getattr(haystack, "AsyncPipeline", Pipeline) if is_async else Pipeline
    made = kind()
    retriever = InMemoryBM25Retriever(make_store() if store is None else store, top_k=top_k)
    made.add_component("retriever", retriever)
    return made
