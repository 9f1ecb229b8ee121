"""LangChain's retrievers get the numbers of ``evaluate``."""

import asyncio
import subprocess
import sys

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from beir_eval import Run, evaluate, load_dataset, read_run
from beir_eval.datasets import demo
from beir_eval.errors import InputError, RetrievalError, RunError, SettingError
from beir_eval.integrations.langchain import evaluate_retriever
from beir_eval.integrations.retrieval import run_queries

DATASET = load_dataset(demo.FOLDER)
CORPUS = {document.doc_id: document.text for document in DATASET.corpus}
MEASURES = ["nDCG@10", "MAP", "MRR@5"]


class BagOfWords(Embeddings):
    """Embeds a text as counts of hashed words, so that similar texts are near."""

    def embed_query(self, text):
        vector = [0.0] * 256
        for word in text.lower().split():
            vector[sum(word.encode()) * 7 % 256] += 1.0
        return vector

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def make_retriever(embedding, top_k=10):
    store = InMemoryVectorStore(embedding)
    store.add_documents(
        [
            Document(id=doc_id, page_content=text, metadata={"source": f"{doc_id}.md"})
            for doc_id, text in CORPUS.items()
        ]
    )
    return store.as_retriever(search_kwargs={"k": top_k})


@pytest.fixture(scope="module")
def retriever():
    return make_retriever(BagOfWords())


def scores_of(retriever, name_of):
    rankings = dict(
        zip(
            DATASET.queries,
            [
                [name_of(document) for document in documents]
                for documents in retriever.batch(list(DATASET.queries.values()))
            ],
            strict=True,
        )
    )
    return evaluate(DATASET.qrels, Run.from_rankings(rankings), MEASURES)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_vector_store_has_the_scores_of_its_own_rankings(retriever, concurrency):
    result = evaluate_retriever(DATASET, retriever, measures=MEASURES, concurrency=concurrency)
    expected = scores_of(retriever, lambda document: document.id)
    assert expected["nDCG@10"] > 0.05
    assert result.values == expected.values


def test_the_level_of_relevance_is_that_of_measures_that_state_none(retriever):
    result = evaluate_retriever(DATASET, retriever, measures=["MRR", "nDCG@10"], rel=1)
    assert result.measures == ("MRR(rel=1)", "nDCG@10")


def test_random_embeddings_have_the_scores_of_their_own_rankings():
    retriever = make_retriever(DeterministicFakeEmbedding(size=16), top_k=100)
    result = evaluate_retriever(DATASET, retriever, measures=MEASURES)
    assert result.values == scores_of(retriever, lambda document: document.id).values


def test_the_saved_run_has_the_order_of_the_documents(retriever, tmp_path):
    saved = tmp_path / "run.trec"
    evaluate_retriever(DATASET, retriever, measures="MRR", limit=1, save_run=saved)
    [(query_id, text), *_] = DATASET.queries.items()
    ids = [document.id for document in retriever.invoke(text)]
    assert read_run(saved).as_dict() == {
        query_id: {doc_id: 10.0 - rank for rank, doc_id in enumerate(ids)}
    }


def test_a_field_of_the_metadata_identifies_documents(retriever):
    by_source = retriever | RunnableLambda(
        lambda documents: [
            Document(page_content="", metadata={"source": {"id": document.id}})
            for document in documents
        ]
    )
    field = "meta.source.id"
    result = evaluate_retriever(
        DATASET, by_source, measures=MEASURES, document_comparison_field=field
    )
    assert result.values == scores_of(retriever, lambda document: document.id).values
    with pytest.warns(UserWarning, match="document_comparison_field="):
        evaluate_retriever(DATASET, by_source, measures="MRR")


def flaky(retriever, failing, times):
    attempts = []

    async def retrieve(text):
        attempts.append(text)
        if text in failing and attempts.count(text) <= times:
            raise ConnectionError("no route")
        return await retriever.ainvoke(text)

    return RunnableLambda(retrieve), attempts


def test_an_interrupted_run_is_resumed(retriever, tmp_path):
    broken, saved = list(DATASET.queries.values())[20], tmp_path / "run.trec"
    unreliable, attempts = flaky(retriever, [broken], 1)
    settings = {"measures": MEASURES, "save_run": saved}
    with pytest.raises(RetrievalError, match=r"the retriever failed for query .*ConnectionError"):
        evaluate_retriever(DATASET, unreliable, **settings)
    assert len(attempts) == 21
    result = evaluate_retriever(DATASET, unreliable, **settings)
    assert len(attempts) == 21 + 10 + 3  # three are run again
    assert result.values == scores_of(retriever, lambda document: document.id).values
    with pytest.raises(SettingError, match="answers of another retriever"):
        evaluate_retriever(DATASET, retriever, **settings)


def test_answers_of_another_top_k_are_refused_and_those_of_an_equal_retriever_used(tmp_path):
    settings = {"measures": "MRR", "save_run": tmp_path / "run.trec"}
    first = evaluate_retriever(DATASET, make_retriever(BagOfWords()), **settings)
    again = evaluate_retriever(DATASET, make_retriever(BagOfWords()), **settings)
    assert again.values == first.values
    assert [(part.answers, part.checked) for part in again.retrieval.reused] == [(30, 3)]
    with pytest.raises(SettingError, match="another retriever"):
        evaluate_retriever(DATASET, make_retriever(BagOfWords(), top_k=5), **settings)


def test_failures_are_counted_and_attempts_repeated(retriever, monkeypatch):
    monkeypatch.setattr(run_queries, "FIRST_WAIT_SECONDS", 0.01)
    failing = list(DATASET.queries.values())[:3]
    settings = {"measures": "MRR", "retries": 1, "concurrency": 5}
    unreliable, _ = flaky(retriever, failing, 10)
    result = evaluate_retriever(DATASET, unreliable, on_error="missing", **settings)
    assert list(result.retrieval.failures) == list(DATASET.queries)[:3]
    assert result.retrieval.retries == 3
    unreliable, _ = flaky(retriever, failing, 1)
    assert evaluate_retriever(DATASET, unreliable, **settings).retrieval.failures == {}


def test_a_time_limit_ends_a_slow_query():
    async def sleep(_text):
        await asyncio.sleep(60)

    with pytest.raises(RunError, match=r"TimeoutError: no answer within 0.05 seconds"):
        evaluate_retriever(
            DATASET, RunnableLambda(sleep), limit=2, timeout=0.05, on_error="missing"
        )


def test_an_answer_that_is_no_list_of_documents_is_refused_with_the_query():
    [query_id, *_] = DATASET.queries
    with pytest.raises(RetrievalError, match=f"{query_id}.*must be a list of Documents"):
        evaluate_retriever(DATASET, RunnableLambda(lambda _text: ["d1"]), retries=3)


def test_something_else_than_a_retriever_is_refused():
    with pytest.raises(SettingError, match="as_retriever"):
        evaluate_retriever(DATASET, InMemoryVectorStore(BagOfWords()))
    with pytest.raises((SettingError, InputError)):
        evaluate_retriever(3, RunnableLambda(lambda text: text))


def test_without_langchain_the_error_names_the_extra():
    code = """
import sys
sys.modules["langchain_core"] = None
from beir_eval.errors import MissingExtraError
try:
    from beir_eval.integrations.langchain import evaluate_retriever
except MissingExtraError as error:
    print(error)
"""
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "pip install 'beir-eval[langchain]'" in output
