"""Every host computes what ``evaluate`` computes, from a run that is not empty."""

import pkgutil
from types import SimpleNamespace

import ir_measures
import numpy as np
import pytest
import torch
from haystack import Document

from beir_eval import evaluate, integrations
from beir_eval.integrations import ir_measures as ours_in_ir_measures
from beir_eval.integrations import pytrec_eval, sentence_transformers
from beir_eval.integrations.beir import EvaluateRetrieval
from beir_eval.integrations.retrieval import evaluate_retriever
from data_sets import write_dataset
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"b": 1}}
#: The dot products of ``VECTORS`` of queries and documents.
RUN = {"q1": {"c": 3.0, "a": 2.0, "b": 1.0}, "q2": {"a": 0.0, "b": 2.0, "c": 0.0}}
TEXTS = {"a": "text a", "b": "text b", "c": "text c"}
QUERIES = {"q1": "query 1", "q2": "query 2"}
VECTORS = {
    "query 1": [1.0, 0.0],
    "query 2": [0.0, 1.0],
    "text a": [2.0, 0.0],
    "text b": [1.0, 2.0],
    "text c": [3.0, 0.0],
}


def of_beir(_folder):
    return EvaluateRetrieval.evaluate(QRELS, RUN, [10])[0]["NDCG@10"]


def of_pytrec_eval(_folder):
    scores = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut.10"}).evaluate(RUN)
    return float(np.mean([of_query["ndcg_cut_10"] for of_query in scores.values()]))


def of_ir_measures(_folder):
    provider = ours_in_ir_measures.BeirEvalProvider()
    return provider.calc_aggregate([ir_measures.nDCG @ 10], QRELS, RUN)[ir_measures.nDCG @ 10]


def of_retrieval(folder):
    write_dataset(folder, TEXTS, QUERIES, QRELS)
    answers = {text: [*RUN[query_id].items()] for query_id, text in QUERIES.items()}
    search = {text: sorted(pairs, key=lambda pair: -pair[1]) for text, pairs in answers.items()}
    return evaluate_retriever(folder, search.__getitem__, "nDCG@10")["nDCG@10"]


def of_haystack(_folder):
    ranked = [sorted(ranking, key=ranking.get, reverse=True) for ranking in RUN.values()]
    documents = [[Document(id=doc_id) for doc_id in ranking] for ranking in ranked]
    component = BEIREvaluator("nDCG@10", qrels=QRELS)
    return component.run(retrieved_documents=documents, query_ids=[*RUN])["score"]


def of_sentence_transformers(_folder):
    def encode(texts, **_):
        return torch.tensor([VECTORS[text] for text in texts])

    model = SimpleNamespace(
        similarity_fn_name="dot",
        similarity=lambda queries, documents: queries @ documents.T,
        encode=encode,
        encode_query=encode,
        encode_document=encode,
        model_card_data=SimpleNamespace(set_evaluation_metrics=lambda *_, **__: None),
    )
    evaluator = sentence_transformers.InformationRetrievalEvaluator(
        QUERIES, TEXTS, QRELS, measures=["nDCG@10"], write_csv=False
    )
    evaluator(model)
    return evaluator.main_result["nDCG@10"]


#: A new host joins with a function that passes QRELS and RUN through it.
HOSTS = {
    "beir": of_beir,
    "haystack": of_haystack,
    "ir_measures": of_ir_measures,
    "pytrec_eval": of_pytrec_eval,
    "retrieval": of_retrieval,
    "sentence_transformers": of_sentence_transformers,
}
#: tests/spark compares it with ``evaluate``, in an environment with Java.
OF_ANOTHER_ENVIRONMENT = {"spark"}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_prints_what_evaluate_prints(host, tmp_path):
    expected = evaluate(QRELS, RUN, "nDCG@10")["nDCG@10"]
    assert 0 < expected < 1
    assert HOSTS[host](tmp_path / "data") == pytest.approx(expected, abs=5e-6)


def test_every_host_is_listed():
    modules = {module.name for module in pkgutil.iter_modules(integrations.__path__)}
    hosts = {name for name in modules if not name.startswith("_")}
    assert hosts == HOSTS.keys() | OF_ANOTHER_ENVIRONMENT, "a host joins HOSTS with a function"
