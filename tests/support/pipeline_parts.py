"""Components of pipelines whose rankings vary, that fail, and that record their queries."""

import random

from haystack import Document, Pipeline, component
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

#: The queries that ``Recorded`` got, and those for which it fails.
QUERIES: list[str] = []
FAILING: set[str] = set()
#: What ``Varying`` draws from.
DRAWS = random.Random(0)


def pipeline_of(**components):
    """Return a pipeline of components by name, which are not connected."""
    pipeline = Pipeline()
    for name, instance in components.items():
        pipeline.add_component(name, instance)
    return pipeline


@component
class Answers:
    """A retriever made of a function from the query to documents."""

    def __init__(self, search):
        self.search = search

    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return {"documents": self.search(query)}


@component
class Varying:
    """Moves some of the first documents, at random in each call."""

    def __init__(self, moves: int = 2):
        self.moves = moves

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        ranking = list(documents)
        depth = min(6, len(ranking))
        for _ in range(self.moves):
            ranking.insert(DRAWS.randrange(depth), ranking.pop(DRAWS.randrange(depth)))
        return {"documents": ranking}


@component
class Recorded:
    """Passes documents on, records the queries, and fails for those in ``FAILING``."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str):
        if query in FAILING:
            raise ConnectionError("no luck")
        QUERIES.append(query)
        return {"documents": documents}


def write_pipeline(path, *, top_k=20, store=None, then=None):
    """Write a pipeline of BM25, and of a component ``then`` named "last", as YAML."""
    pipeline = Pipeline()
    retriever = InMemoryBM25Retriever(store or InMemoryDocumentStore(), top_k=top_k)
    pipeline.add_component("retriever", retriever)
    if then is not None:
        pipeline.add_component("last", then)
        pipeline.connect("retriever.documents", "last.documents")
    path.write_text(pipeline.dumps())
    return path


def words(length):
    """Return a splitter into chunks of so many words."""
    return DocumentSplitter(split_by="word", split_length=length, split_overlap=0)


def indexing(store, *parts, **settings):
    """Return an indexing pipeline of these components and a writer with these settings."""
    pipeline, before = Pipeline(), None
    for number, part in enumerate([*parts, DocumentWriter(store, **settings)]):
        pipeline.add_component(f"part{number}", part)
        if before is not None:
            pipeline.connect(before, f"part{number}.documents")
        before = f"part{number}.documents"
    return pipeline
