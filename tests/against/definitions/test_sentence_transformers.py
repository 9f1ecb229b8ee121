"""What sentence-transformers' InformationRetrievalEvaluator computes: the ``st-`` rows."""

import math

import pytest
import torch
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

from beir_eval import evaluate
from one_number import made_case, ours

pytestmark = pytest.mark.peers


class Model:
    """Embeds a query as a unit vector and a document as its scores for all queries."""

    def __init__(self, size):
        self.size = size

    def encode_query(self, numbers, **_):
        return torch.eye(self.size)[list(numbers)]

    def encode_document(self, vectors, **_):
        return torch.tensor(vectors)


def theirs(qrels, run, cutoff, queries=None):
    """Evaluate a model that gives the scores of the run; documents outside the run score -1."""
    queries = list(qrels) if queries is None else queries
    docs = list(dict.fromkeys(doc for scores in run.values() for doc in scores))
    evaluator = InformationRetrievalEvaluator(
        {query: number for number, query in enumerate(queries)},
        {doc: [run.get(query, {}).get(doc, -1.0) for query in queries] for doc in docs},
        qrels,
        mrr_at_k=[cutoff],
        ndcg_at_k=[cutoff],
        accuracy_at_k=[cutoff],
        precision_recall_at_k=[cutoff],
        map_at_k=[cutoff],
        score_functions={"dot": lambda first, second: first @ second.T},
    )
    metrics = evaluator.compute_all_metrics(Model(len(queries)))["dot"]
    return {name.removesuffix("@k"): values[cutoff] for name, values in metrics.items()}


@pytest.mark.row("st-map")
def test_map_divides_by_k_where_more_documents_are_relevant():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    assert theirs(qrels, run, 2)["map"] == pytest.approx((1 / 1) / min(2, 3), abs=1e-12)
    assert ours(qrels, run, "MAP@2") == pytest.approx((1 / 1) / 3, abs=1e-12)
    # Where at most k documents are relevant, both are the same.
    expected = (1 / 1 + 2 / 3) / 3
    assert theirs(qrels, run, 3)["map"] == pytest.approx(expected, abs=1e-12)
    assert ours(qrels, run, "MAP@3") == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("st-ndcg")
def test_ndcg_uses_relevance_and_ignores_grades():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    expected = (1 + 1 / 2) / (1 + 1 / math.log2(3))
    assert theirs(qrels, run, 10)["ndcg"] == pytest.approx(expected, abs=1e-12)
    graded = (1 + 2 / 2) / (2 + 1 / math.log2(3))
    assert ours(qrels, run, "nDCG@10") == pytest.approx(graded, abs=1e-12)
    ungraded = ours(qrels, run, "nDCG(gain={1: 1, 2: 1})@10")
    assert ungraded == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("st-zero-grades")
def test_every_document_in_the_qrels_is_relevant_whatever_its_grade():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    assert theirs(qrels, run, 1)["mrr"] == 1.0
    assert ours(qrels, run, "MRR@1") == 0.0
    assert ours({"q": {"a": 1, "b": 1}}, run, "MRR@1") == 1.0


@pytest.mark.row("st-no-relevant")
def test_queries_without_relevant_documents_are_left_out():
    run = {"q": {"a": 1.0}, "r": {"a": 1.0}}
    assert theirs({"q": {"a"}, "r": set()}, run, 1)["mrr"] == 1.0
    graded = {"q": {"a": 1}, "r": {"a": 0}}
    assert ours(graded, run, "MRR@1") == 1 / 2
    assert ours(graded, run, "MRR@1", no_relevant="skip") == 1.0


@pytest.mark.row("st-missing")
def test_judged_queries_that_are_not_among_the_queries_are_left_out():
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}
    assert theirs(qrels, run, 1, queries=["q"])["mrr"] == 1.0
    assert ours(qrels, run, "MRR@1") == 1 / 2
    assert ours(qrels, run, "MRR@1", missing="skip") == 1.0


@pytest.mark.row("st-ties")
def test_equal_scores_are_ordered_by_document_id_ascending():
    qrels, run = {"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0}}
    assert theirs(qrels, run, 10)["mrr"] == 1.0
    assert ours(qrels, run, "MRR@10") == 1 / 2
    ascending = {query: dict(sorted(scores.items())) for query, scores in run.items()}
    assert ours(qrels, ascending, "MRR@10", ties="input") == 1.0


@pytest.mark.row("st-identical-ids")
def test_documents_with_their_querys_id_are_kept():
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    assert theirs(qrels, run, 10)["mrr"] == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "MRR@10", drop_identical_ids=True) == 1.0


@pytest.mark.row("st-accuracy")
def test_accuracy_is_success_and_precision_divides_by_k():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"x": 3.0, "a": 2.0}}
    scores = theirs(qrels, run, 5)
    assert scores["accuracy"] == ours(qrels, run, "Success@5") == 1.0
    assert scores["precision"] == ours(qrels, run, "Precision@5") == 1 / 5
    assert scores["recall"] == ours(qrels, run, "Recall@5") == 1 / 3
    assert scores["mrr"] == ours(qrels, run, "MRR@5") == 1 / 2


@pytest.mark.parametrize("cutoff", [1, 3, 10])
def test_on_generated_runs_with_ties_the_settings_give_its_scores_and_map_by_rescaling(cutoff):
    qrels, run = made_case(grades=(1, 2), tied=True, complete=True)
    scores = theirs(qrels, run, cutoff)
    ascending = {query: dict(sorted(scores.items())) for query, scores in run.items()}
    pairs = {
        "ndcg": f"nDCG(gain={{1: 1, 2: 1}})@{cutoff}",
        "mrr": f"MRR@{cutoff}",
        "accuracy": f"Success@{cutoff}",
        "precision": f"Precision@{cutoff}",
        "recall": f"Recall@{cutoff}",
    }
    for name, measure in pairs.items():
        expected = pytest.approx(scores[name], abs=1e-12)
        assert ours(qrels, ascending, measure, ties="input") == expected
    result = evaluate(qrels, ascending, [f"MAP@{cutoff}"], ties="input")
    maps = dict(zip(result.query_ids, result.scores(f"MAP@{cutoff}").tolist(), strict=True))
    scaled = [
        maps[query] * len(judged) / min(cutoff, len(judged)) for query, judged in qrels.items()
    ]
    assert scores["map"] == pytest.approx(sum(scaled) / len(scaled), abs=1e-12)
