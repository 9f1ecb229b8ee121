"""What torchmetrics' retrieval metrics compute: the rows that begin with ``torchmetrics-``.

They take, for each document that is passed, its score, its grade and the number of its query.
Everything is float32, hence the tolerance.
"""

import math

import pytest
import torch
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalRecall,
    RetrievalRPrecision,
)

from one_number import made_case, ours

pytestmark = pytest.mark.peers

BINARY = (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalPrecision,
    RetrievalRecall,
    RetrievalRPrecision,
)


def theirs(metric, *queries):
    """Return the metric of queries, each given as (scores, grades)."""
    scores = torch.tensor([score for query_scores, _ in queries for score in query_scores])
    grades = torch.tensor([grade for _, query_grades in queries for grade in query_grades])
    numbers = [number for number, (query_scores, _) in enumerate(queries) for _ in query_scores]
    return metric(scores, grades, indexes=torch.tensor(numbers)).item()


def near(value):
    return pytest.approx(value, abs=1e-6)


@pytest.mark.row("torchmetrics-ndcg-ideal")
def test_the_ideal_ranking_is_of_the_documents_passed():
    qrels = {"q": {"a": 1, "b": 2, "c": 3}}
    run = {"q": {"a": 0.9, "b": 0.8}}  # c was not retrieved
    dcg = 1 + 2 / math.log2(3)
    ideal_of_retrieved = 2 + 1 / math.log2(3)
    assert theirs(RetrievalNormalizedDCG(), ([0.9, 0.8], [1, 2])) == near(dcg / ideal_of_retrieved)
    ideal_of_all = 3 + 2 / math.log2(3) + 1 / 2
    assert ours(qrels, run, "nDCG") == near(dcg / ideal_of_all)
    assert ours({"q": {"a": 1, "b": 2}}, run, "nDCG") == near(dcg / ideal_of_retrieved)


@pytest.mark.row("torchmetrics-ndcg-ties")
def test_ndcg_is_the_mean_over_all_orders_of_tied_documents():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5}}
    mean = (1 + 1 / math.log2(3)) / 2
    assert theirs(RetrievalNormalizedDCG(), ([0.5, 0.5], [1, 0])) == near(mean)
    assert ours(qrels, run, "nDCG") == near(1 / math.log2(3))
    best = ours(qrels, run, "nDCG", ties="best")
    worst = ours(qrels, run, "nDCG", ties="worst")
    assert (best + worst) / 2 == near(mean)


@pytest.mark.row("torchmetrics-positive-scores")
def test_in_four_metrics_documents_with_a_score_of_zero_or_less_are_not_relevant():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": -0.1, "x": -0.2}}
    query = ([-0.1, -0.2], [1, 0])
    for metric in (RetrievalMAP, RetrievalMRR, RetrievalPrecision, RetrievalRecall):
        assert theirs(metric(top_k=1), query) == 0.0
        assert theirs(metric(top_k=1), ([0.0, -0.2], [1, 0])) == 0.0
        assert theirs(metric(top_k=1), ([0.9, 0.8], [1, 0])) == 1.0  # the same, plus a constant
    assert theirs(RetrievalNormalizedDCG(top_k=1), query) == 1.0
    assert theirs(RetrievalHitRate(top_k=1), query) == 1.0
    assert theirs(RetrievalRPrecision(), query) == 1.0
    for measure in ("MAP@1", "MRR@1", "Precision@1", "Recall@1", "nDCG@1"):
        assert ours(qrels, run, measure) == 1.0
    # Its values are those of qrels in which these documents are not relevant.
    assert ours({"q": {"a": 0}}, run, "MAP@1") == 0.0


@pytest.mark.row("torchmetrics-map")
def test_map_divides_by_the_relevant_documents_in_the_top_k():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    query = ([0.9, 0.8, 0.7], [1, 0, 1])
    assert theirs(RetrievalMAP(top_k=2), query) == near((1 / 1) / 1)
    assert ours(qrels, run, "MAP@2") == near((1 / 1) / 2)
    assert ours({"q": {"a": 1}}, run, "MAP@2") == near((1 / 1) / 1)
    # Without a cutoff, and with all relevant documents passed, both are the same.
    full_map = (1 / 1 + 2 / 3) / 2
    assert theirs(RetrievalMAP(), query) == near(full_map)
    assert ours(qrels, run, "MAP") == near(full_map)


@pytest.mark.row("torchmetrics-recall")
def test_recall_divides_by_the_relevant_among_the_documents_passed():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    assert theirs(RetrievalRecall(top_k=2), ([0.9, 0.8, 0.7], [1, 0, 1])) == near(1 / 2)
    assert ours(qrels, run, "Recall@2") == near(1 / 3)
    assert ours({"q": {"a": 1, "b": 1}}, run, "Recall@2") == near(1 / 2)


@pytest.mark.row("torchmetrics-rprec")
def test_r_precision_takes_r_from_the_documents_passed():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    assert theirs(RetrievalRPrecision(), ([0.9, 0.8], [1, 0])) == near(1 / 1)
    assert ours(qrels, run, "Rprec") == near(1 / 2)
    assert ours({"q": {"a": 1}}, run, "Rprec") == near(1 / 1)


@pytest.mark.row("torchmetrics-precision")
def test_precision_divides_by_k_even_where_fewer_documents_are_passed():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.9, "x": 0.8}}
    query = ([0.9, 0.8], [1, 0])
    assert theirs(RetrievalPrecision(top_k=5), query) == near(1 / 5)
    assert ours(qrels, run, "Precision@5") == near(1 / 5)


@pytest.mark.row("torchmetrics-adaptive-k")
def test_precision_with_adaptive_k_divides_short_lists_by_their_length():
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    run = {"q": {"a": 0.9, "x": 0.8}, "r": {"a": 0.9, "x": 0.8, "y": 0.7, "z": 0.6}}
    short, long = ([0.9, 0.8], [1, 0]), ([0.9, 0.8, 0.7, 0.6], [1, 0, 0, 0])
    adaptive = theirs(RetrievalPrecision(top_k=3, adaptive_k=True), short, long)
    assert adaptive == near((1 / 2 + 1 / 3) / 2)
    assert ours(qrels, run, "Precision@3") == near((1 / 3 + 1 / 3) / 2)
    assert ours(qrels, run, "Precision") == near((1 / 2 + 1 / 4) / 2)
    # Where every list is shorter than k, it equals precision without a cutoff.
    short_precision = theirs(RetrievalPrecision(top_k=3, adaptive_k=True), short)
    assert ours({"q": {"a": 1}}, run, "Precision") == near(short_precision)


@pytest.mark.row("torchmetrics-hit-rate")
def test_the_hit_rate_is_success():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 0.9, "a": 0.8, "b": 0.7}}
    query = ([0.9, 0.8, 0.7], [0, 1, 1])
    assert [theirs(RetrievalHitRate(top_k=k), query) for k in (1, 2, 3)] == [0.0, 1.0, 1.0]
    assert [ours(qrels, run, f"Success@{k}") for k in (1, 2, 3)] == [0.0, 1.0, 1.0]


@pytest.mark.row("torchmetrics-empty")
def test_a_query_without_relevant_documents_counts_as_empty_target_action_says():
    qrels, run = {"q": {"a": 1}, "r": {"b": 0}}, {"q": {"a": 0.9}, "r": {"b": 0.9}}
    queries = ([0.9], [1]), ([0.9], [0])
    for metric in (*BINARY, RetrievalNormalizedDCG):
        assert theirs(metric(), *queries) == 1 / 2
        assert theirs(metric(empty_target_action="neg"), *queries) == 1 / 2
        assert theirs(metric(empty_target_action="skip"), *queries) == 1.0
        assert theirs(metric(empty_target_action="pos"), *queries) == (1 + 1) / 2
        with pytest.raises(ValueError, match="no positive target"):
            theirs(metric(empty_target_action="error"), *queries)
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", no_relevant="zero") == 1 / 2
    assert ours(qrels, run, "MRR", no_relevant="skip") == 1.0


@pytest.mark.row("torchmetrics-empty-missed")
def test_a_query_whose_relevant_documents_were_all_missed_counts_as_having_none():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 0.9}, "r": {"x": 0.9}}
    queries = ([0.9], [1]), ([0.9], [0])
    assert theirs(RetrievalMRR(empty_target_action="skip"), *queries) == 1.0
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", no_relevant="skip") == 1 / 2


@pytest.mark.row("torchmetrics-missing")
def test_a_query_without_documents_is_not_in_the_mean():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 0.9}}
    assert theirs(RetrievalMRR(), ([0.9], [1])) == 1.0
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", missing="skip") == 1.0


@pytest.mark.row("torchmetrics-binary")
def test_grades_are_refused_except_for_ndcg():
    query = ([0.9, 0.8], [2, 1])
    for metric in BINARY:
        with pytest.raises(ValueError, match="binary"):
            theirs(metric(), query)
    assert theirs(RetrievalNormalizedDCG(), query) == 1.0
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": {"a": 0.9, "c": 0.8, "b": 0.7}}
    above_zero, of_two = ([0.9, 0.8, 0.7], [1, 0, 1]), ([0.9, 0.8, 0.7], [0, 0, 1])
    assert ours(qrels, run, "MAP") == near((1 / 1 + 2 / 3) / 2)
    assert theirs(RetrievalMAP(), above_zero) == near((1 / 1 + 2 / 3) / 2)
    assert ours(qrels, run, "MAP(rel=2)") == near(1 / 3)
    assert theirs(RetrievalMAP(), of_two) == near(1 / 3)


@pytest.mark.row("torchmetrics-float32")
def test_numbers_are_float32():
    theirs_third = theirs(RetrievalMRR(), ([0.9, 0.8, 0.7], [0, 0, 1]))
    third = ours({"q": {"c": 1}}, {"q": {"a": 0.9, "b": 0.8, "c": 0.7}}, "MRR")
    assert theirs_third != 1 / 3
    assert theirs_third == torch.tensor(1 / 3).item()
    assert third == 1 / 3


METRICS = {
    "nDCG@5": RetrievalNormalizedDCG(top_k=5),
    "nDCG": RetrievalNormalizedDCG(),
    "MAP": RetrievalMAP(),
    "MRR@2": RetrievalMRR(top_k=2),
    "Precision@5": RetrievalPrecision(top_k=5),
    "Recall@5": RetrievalRecall(top_k=5),
    "Success@2": RetrievalHitRate(top_k=2),
    "Rprec": RetrievalRPrecision(),
}


@pytest.mark.parametrize("measure", METRICS)
def test_on_generated_runs_without_ties_qrels_of_the_retrieved_give_its_scores(measure):
    qrels, run = made_case()
    cut = {
        query: {doc: judged.get(doc, 0) for doc in run[query]} for query, judged in qrels.items()
    }
    queries = [(list(run[query].values()), list(judged.values())) for query, judged in cut.items()]
    assert ours(cut, run, measure) == near(theirs(METRICS[measure], *queries))


# So they are made of the run.
@pytest.mark.filterwarnings("ignore:.*judgements seem to be made from this run")
@pytest.mark.parametrize("cutoff", [1, 3, 8])
def test_on_generated_runs_without_ties_qrels_of_the_top_k_give_its_map_at_k(cutoff):
    qrels, run = made_case()
    queries, cut = [], {}
    for query, ranked in run.items():
        top = sorted(ranked, key=ranked.get, reverse=True)[:cutoff]
        cut[query] = {doc: qrels[query].get(doc, 0) for doc in top}
        queries.append((list(ranked.values()), [qrels[query].get(doc, 0) for doc in ranked]))
    expected = theirs(RetrievalMAP(top_k=cutoff), *queries)
    assert ours(cut, run, f"MAP@{cutoff}") == near(expected)
