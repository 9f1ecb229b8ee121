"""LlamaIndex's retrievers and its RetrieverEvaluator get the numbers of ``evaluate``."""

import asyncio
import json
import subprocess
import sys
import threading
from collections import deque

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore, TextNode

from beir_eval import Run, evaluate, load_dataset, read_run
from beir_eval.datasets import demo
from beir_eval.errors import InputError, RetrievalError, RunError, SettingError
from beir_eval.integrations.llama_index import QrelsMetric, evaluate_retriever
from beir_eval.integrations.retrieval import run_queries
from time_limit import time_limit

DATASET = load_dataset(demo.FOLDER)
CORPUS = {document.doc_id: document.text for document in DATASET.corpus}
#: A judged document of each query, by the query's text.
IDS_OF = {
    text: [next(iter(DATASET.qrels.as_dict()[query_id]))]
    for query_id, text in DATASET.queries.items()
}
MEASURES = ["nDCG@10", "MAP", "MRR@5"]


class BagOfWords(MockEmbedding):
    """Embeds a text as counts of hashed words, so that similar texts are near."""

    def __init__(self):
        super().__init__(embed_dim=256)

    def _embed(self, text):
        vector = [0.0] * 256
        for word in text.lower().split():
            vector[sum(word.encode()) * 7 % 256] += 1.0
        return vector

    def _get_text_embedding(self, text):
        return self._embed(text)

    def _get_query_embedding(self, query):
        return self._embed(query)

    async def _aget_query_embedding(self, query):
        return self._embed(query)


class Listed(BaseRetriever):
    """Returns listed nodes after waiting; its first attempts for some queries fail."""

    def __init__(self, ids_of, failing=(), times=10**9, wait=lambda: None):
        self._ids_of, self._failing, self._times = ids_of, failing, times
        self._wait, self.calls = wait, deque()
        super().__init__()

    def _retrieve(self, query_bundle):
        text = query_bundle.query_str
        self.calls.append(text)
        if text in self._failing and self.calls.count(text) <= self._times:
            raise ConnectionError("no route")
        self._wait()
        return [
            NodeWithScore(node=TextNode(id_=doc_id, text="x"), score=None)
            for doc_id in self._ids_of[text]
        ]


@pytest.fixture(scope="module")
def retriever():
    nodes = [TextNode(id_=doc_id, text=text) for doc_id, text in CORPUS.items()]
    return VectorStoreIndex(nodes, embed_model=BagOfWords()).as_retriever(similarity_top_k=10)


@pytest.fixture(scope="module")
def expected(retriever):
    rankings = {
        query_id: [node.node.node_id for node in retriever.retrieve(text)]
        for query_id, text in DATASET.queries.items()
    }
    return evaluate(DATASET.qrels, Run.from_rankings(rankings), MEASURES)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(run_queries, "FIRST_WAIT_SECONDS", 0.01)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_vector_index_has_the_scores_of_its_own_rankings(retriever, expected, concurrency):
    result = evaluate_retriever(DATASET, retriever, measures=MEASURES, concurrency=concurrency)
    assert expected["nDCG@10"] > 0.05
    assert result.values == expected.values
    assert len(result.retrieval.seconds) == 30


def test_the_metric_gives_the_retriever_evaluator_the_score_of_each_query(retriever, expected):
    metrics = [QrelsMetric(name, DATASET.qrels, DATASET.queries) for name in MEASURES]
    evaluator = RetrieverEvaluator(metrics=metrics, retriever=retriever)
    for query_id, text in DATASET.queries.items():
        result = evaluator.evaluate(query=text, expected_ids=["not used"])
        for name in MEASURES:
            assert result.metric_vals_dict[name] == scores_by_query(expected, name)[query_id]
            assert result.metric_dict[name].metadata == {"query_id": query_id}


def test_the_metric_counts_grades():
    metric = QrelsMetric("nDCG@2", {"q": {"a": 1, "b": 2}}, {"q": "who?"})
    score = metric.compute(query="who?", expected_ids=["a"], retrieved_ids=["a", "b"]).score
    log3 = 1.584962500721156
    assert score == pytest.approx((1 + 2 / log3) / (2 + 1 / log3), rel=1e-12)
    assert metric.compute(query="who?", retrieved_ids=[]).score == 0


def test_two_queries_of_one_text_are_an_error_of_the_metric_and_not_of_evaluate_retriever(tmp_path):
    qrels, queries = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": "who?", "q2": "who?"}
    with pytest.raises(InputError, match="'q1' and 'q2' have the same text 'who\\?'"):
        QrelsMetric("MRR", qrels, queries)
    dataset = write_dataset(tmp_path, qrels, queries)
    result = evaluate_retriever(dataset, Listed({"who?": ["b", "a"]}), measures="MRR")
    assert scores_by_query(result, "MRR") == {"q1": 0.5, "q2": 1.0}
    at_level = evaluate_retriever(dataset, Listed({"who?": ["b", "a"]}), measures="MRR", rel=2)
    assert at_level.as_dict() == {"MRR(rel=2)": 0}


def test_a_query_that_the_metric_does_not_have_is_an_error():
    metric = QrelsMetric("MRR", {"q": {"a": 1}}, {"q": "who?"})
    with pytest.raises(InputError, match="no judged query has the text 'what\\?'"):
        metric.compute(query="what?", retrieved_ids=["a"])
    with pytest.raises(InputError, match="no query is judged"):
        QrelsMetric("MRR", {"q": {"a": 1}}, {"x": "who?"})


def test_chunks_count_as_their_document_by_ref_doc_id(recwarn):
    documents = [Document(id_=doc_id, text=text) for doc_id, text in CORPUS.items()]
    nodes = SentenceSplitter(chunk_size=12, chunk_overlap=0).get_nodes_from_documents(documents)
    assert len(nodes) > len(documents)
    index = VectorStoreIndex(nodes, embed_model=BagOfWords())
    retriever = index.as_retriever(similarity_top_k=10)
    result = evaluate_retriever(
        DATASET, retriever, measures=MEASURES, document_comparison_field="ref_doc_id"
    )
    rankings = {
        query_id: list(dict.fromkeys(node.node.ref_doc_id for node in retriever.retrieve(text)))
        for query_id, text in DATASET.queries.items()
    }
    assert result.values == evaluate(DATASET.qrels, Run.from_rankings(rankings), MEASURES).values
    assert result.retrieval.left_out == 300 - sum(map(len, rankings.values())) > 0
    assert not recwarn


def test_ids_of_chunks_that_match_nothing_are_a_warning_with_the_remedy():
    documents = [Document(id_=doc_id, text=text) for doc_id, text in CORPUS.items()]
    nodes = SentenceSplitter().get_nodes_from_documents(documents)
    retriever = VectorStoreIndex(nodes, embed_model=BagOfWords()).as_retriever()
    with pytest.warns(UserWarning, match="document_comparison_field='ref_doc_id'"):
        evaluate_retriever(DATASET, retriever, measures="MRR")


def test_an_interrupted_run_is_resumed_and_answers_of_other_settings_are_refused(tmp_path):
    broken = list(DATASET.queries.values())[20]
    saved = tmp_path / "run.trec"
    with pytest.raises(RetrievalError, match=r"the retriever failed for query .*ConnectionError"):
        evaluate_retriever(DATASET, Listed(IDS_OF, [broken], 1), measures="MRR", save_run=saved)
    retriever = Listed(IDS_OF, [broken], 0)
    with pytest.raises(SettingError, match="answers of another retriever"):
        evaluate_retriever(DATASET, retriever, measures="MRR", save_run=saved)
    resumed = Listed(IDS_OF, [broken], 1)
    resumed.calls.append(broken)  # its first attempt is over
    evaluate_retriever(DATASET, resumed, measures="MRR", save_run=saved)
    assert len(resumed.calls) == 1 + 10 + 3  # three are run again
    assert len(read_run(saved)) == 30


def test_failures_are_counted_and_attempts_repeated():
    failing = list(DATASET.queries.values())[:3]
    result = evaluate_retriever(
        DATASET, Listed(IDS_OF, failing), measures="MRR", retries=2, on_error="missing"
    )
    assert set(result.retrieval.failures) == set(list(DATASET.queries)[:3])
    assert result.retrieval.retries == 6
    assert "3 missing queries failed" in result.to_markdown()
    repeated = evaluate_retriever(DATASET, Listed(IDS_OF, failing, 2), measures="MRR", retries=2)
    assert repeated.retrieval.failures == {}
    assert repeated.retrieval.retries == 6


def test_a_time_limit_ends_a_slow_query_of_a_retriever_without_async():
    may_end = threading.Event()
    retriever = Listed(IDS_OF, wait=may_end.wait)
    try:
        with time_limit(60), pytest.raises(RunError, match=r"no answer within 0.05 seconds"):
            evaluate_retriever(DATASET, retriever, limit=3, timeout=0.05, on_error="missing")
    finally:
        may_end.set()


def test_queries_of_a_retriever_without_async_run_at_the_same_time():
    # None of 15 queries ends before all of them have begun; then come the other 15.
    barrier = threading.Barrier(15, timeout=60)
    retriever = Listed(IDS_OF, wait=barrier.wait)
    result = evaluate_retriever(DATASET, retriever, measures="MRR", concurrency=15)
    assert len(result.retrieval.seconds) == 2 * 15


def test_it_works_in_a_running_event_loop(retriever, expected):
    async def main():
        return evaluate_retriever(DATASET, retriever, measures=MEASURES, concurrency=2)

    assert asyncio.run(main()).values == expected.values


def test_something_else_than_a_retriever_is_refused():
    with pytest.raises(SettingError, match=r"index.as_retriever"):
        evaluate_retriever(DATASET, object())
    with pytest.raises(SettingError, match="timeout must be"):
        evaluate_retriever(DATASET, Listed({}), timeout=0)


def test_without_llama_index_the_error_names_the_extra():
    code = """
import sys
sys.modules["llama_index"] = None
from beir_eval.errors import MissingExtraError
from beir_eval.integrations import llama_index
for name in llama_index.__all__:
    try:
        getattr(llama_index, name)
    except MissingExtraError as error:
        print(error)
"""
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.count("pip install 'beir-eval[llama-index]'") == 2


def write_dataset(folder, qrels, queries):
    (folder / "qrels").mkdir()
    lines = [json.dumps({"_id": name, "text": text}) for name, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines))
    (folder / "corpus.jsonl").write_text(json.dumps({"_id": "a", "title": "", "text": "a"}))
    rows = [f"{q}\t{d}\t{grade}" for q, judged in qrels.items() for d, grade in judged.items()]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]))
    return folder


def scores_by_query(result, name):
    return dict(zip(result.query_ids, result.scores(name).tolist(), strict=True))
