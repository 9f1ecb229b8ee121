"""What ``mlflow.metrics.ndcg_at_k`` computes: the rows that begin with ``mlflow-``.

It takes, for each query, the ids retrieved in order and the ids that are relevant.
"""

import math

import pandas as pd
import pytest
from mlflow.metrics import ndcg_at_k

from beir_eval import Run
from one_number import made_case, ours

pytestmark = [
    pytest.mark.peers,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*ndcg_at_k.*:FutureWarning"),  # deprecated since 3.4
]


def theirs(retrieved, relevant, k):
    """Return the score of one query."""
    function = ndcg_at_k(k).eval_fn
    return function(pd.Series([retrieved]), pd.Series([relevant])).scores[0]


@pytest.mark.row("mlflow-ndcg-ideal")
def test_the_ideal_ranking_has_no_more_documents_than_were_retrieved():
    qrels, run = {"q": {"a": 1, "b": 1}}, Run.from_rankings({"q": ["a"]})
    assert theirs(["a"], ["a", "b"], 10) == 1.0
    assert ours(qrels, run, "nDCG@10") == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-12)
    assert ours(qrels, run, "nDCG@1") == 1.0
    # With k documents retrieved, documents that were missed count in both.
    run = Run.from_rankings({"q": ["a", "x"]})
    expected = 1 / (1 + 1 / math.log2(3))
    assert theirs(["a", "x"], ["a", "b"], 2) == pytest.approx(expected, abs=1e-12)
    assert ours(qrels, run, "nDCG@2") == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("mlflow-ndcg-grades")
def test_every_relevant_document_gains_one():
    qrels, run = {"q": {"a": 2, "b": 1}}, Run.from_rankings({"q": ["b", "a"]})
    assert theirs(["b", "a"], ["a", "b"], 2) == pytest.approx(1.0, abs=1e-12)
    assert ours(qrels, run, "nDCG(gain={1: 1, 2: 1})@2") == pytest.approx(1.0, abs=1e-12)
    assert ours(qrels, run, "nDCG@2") < 1


@pytest.mark.row("mlflow-ndcg-duplicates")
def test_a_relevant_document_retrieved_twice_gains_twice():
    ranking = ["x", "a", "a"]
    expected = (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))
    assert theirs(ranking, ["a"], 3) == pytest.approx(expected, abs=1e-12)
    run = Run.from_rankings({"q": ranking})
    once = ours({"q": {"a": 1}}, run, "nDCG@3", duplicates="keep")
    assert once == pytest.approx(1 / math.log2(3), abs=1e-12)


@pytest.mark.row("mlflow-ndcg-empty")
def test_a_query_without_relevant_and_without_retrieved_documents_scores_one():
    assert theirs([], [], 10) == 1
    assert theirs(["a"], [], 10) == 0
    assert theirs([], ["a"], 10) == 0
    qrels = {"q": {"a": 0}, "r": {"a": 1}}
    run = Run.from_rankings({"q": [], "r": ["a"]})
    assert ours(qrels, run, "nDCG@10") == (0 + 1) / 2
    assert ours(qrels, run, "nDCG@10", no_relevant="skip") == 1.0


def test_on_generated_rankings_of_k_documents_every_score_is_equal():
    qrels, scores = made_case(complete=True)
    rankings = {query: sorted(row, key=row.get, reverse=True) for query, row in scores.items()}
    run = Run.from_rankings(rankings)
    for k in (1, 5, 12):
        expected = [
            theirs(rankings[query], [doc for doc, grade in judged.items() if grade], k)
            for query, judged in qrels.items()
        ]
        mean = sum(expected) / len(expected)
        assert ours(qrels, run, f"nDCG@{k}") == pytest.approx(mean, abs=1e-9)
