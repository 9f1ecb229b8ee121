"""The outputs of the evaluator feed Haystack's ``EvaluationRunResult``, and ``compare``."""

import json
import math

import pytest
from haystack import Document, Pipeline
from haystack.evaluation import EvaluationRunResult

from beir_eval import compare, load_dataset
from beir_eval.datasets import demo
from beir_eval.integrations.haystack import evaluate_pipeline, index, to_evaluation_run_result
from capitals import retrieving
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

MEASURES = ["nDCG@10", "MRR@10"]
DATASET = load_dataset(demo.FOLDER)
QUERY_IDS, TEXTS = list(DATASET.queries), list(DATASET.queries.values())


@pytest.fixture(scope="module")
def store():
    documents = retrieving().get_component("retriever").document_store
    store = type(documents)()
    index(DATASET, store, progress=False)
    return store


@pytest.fixture(scope="module")
def rankings(store):
    """{top_k: the documents of each query}."""
    return {
        top_k: [
            retrieving(store, top_k=top_k).run({"retriever": {"query": text}})["retriever"][
                "documents"
            ]
            for text in TEXTS
        ]
        for top_k in (20, 3)
    }


@pytest.fixture(scope="module")
def outputs(rankings):
    """{top_k: the outputs of the evaluator in a pipeline}."""
    pipeline = Pipeline()
    evaluator = BEIREvaluator(MEASURES, qrels=DATASET.qrels.as_dict())
    pipeline.add_component("evaluator", evaluator)
    return {
        top_k: pipeline.run(
            {"evaluator": {"retrieved_documents": documents, "query_ids": QUERY_IDS}}
        )
        for top_k, documents in rankings.items()
    }


def reports_of(outputs):
    inputs = {"query_id": QUERY_IDS, "query": TEXTS}
    return {
        top_k: EvaluationRunResult(f"top{top_k}", inputs, by_component["evaluator"]["results"])
        for top_k, by_component in outputs.items()
    }


def test_a_report_has_the_means_and_the_score_of_every_query(outputs):
    report = reports_of(outputs)[20]
    metrics = outputs[20]["evaluator"]["metrics"]
    assert report.aggregated_report() == {"metrics": MEASURES, "score": list(metrics.values())}
    result = outputs[20]["evaluator"]["result"]
    detailed = report.detailed_report()
    assert list(detailed) == ["query_id", "query", *MEASURES]
    assert detailed["query"] == TEXTS
    for measure in MEASURES:
        assert dict(zip(QUERY_IDS, detailed[measure], strict=True)) == {
            query_id: scores[measure] for query_id, scores in result.per_query.items()
        }
    assert json.loads(json.dumps(detailed)) == detailed


def test_the_outputs_of_a_pipeline_are_a_report_as_they_are(outputs):
    report = EvaluationRunResult("top20", {"query": TEXTS}, outputs[20])
    score = outputs[20]["evaluator"]["score"]
    assert report.aggregated_report() == {"metrics": ["evaluator"], "score": [score]}
    expected = outputs[20]["evaluator"]["individual_scores"]
    assert report.detailed_report()["evaluator"] == expected


def test_reports_of_the_component_and_of_evaluate_pipeline_are_equal(outputs, store):
    result = evaluate_pipeline(
        DATASET, retrieving(store, top_k=20), measures=MEASURES, progress=False
    )
    ours = to_evaluation_run_result(result, queries=DATASET.queries)
    assert ours.aggregated_report() == reports_of(outputs)[20].aggregated_report()
    assert ours.detailed_report() == reports_of(outputs)[20].detailed_report()


def test_a_query_without_judgements_is_nan_in_the_reports():
    evaluator = BEIREvaluator("MRR", qrels={"q1": {"a": 1}}, unjudged="skip")
    documents = [[Document(id="a")], [Document(id="a")]]
    results = evaluator.run(retrieved_documents=documents, query_ids=["q1", "q2"])["results"]
    report = EvaluationRunResult("run", {"query_id": ["q1", "q2"]}, results)
    assert report.aggregated_report()["score"] == [1.0]
    first, second = report.detailed_report()["MRR"]
    assert first == 1.0
    assert math.isnan(second)


def test_results_of_ground_truth_documents_are_compared_by_position(rankings):
    truth = [
        [
            Document(id=doc_id, score=grade)
            for doc_id, grade in DATASET.qrels.as_dict()[query_id].items()
        ]
        for query_id in QUERY_IDS
    ]
    evaluator = BEIREvaluator(MEASURES, document_comparison_field="id")
    results = {
        f"top{top_k}": evaluator.run(truth, documents)["result"]
        for top_k, documents in rankings.items()
    }
    comparison = compare(results, baseline="top20")
    assert comparison.query_ids == tuple(sorted(map(str, range(30))))
    assert comparison.verdicts["nDCG@10", "top3", "top20"] == "worse"
