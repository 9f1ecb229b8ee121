"""What BEIR's EvaluateRetrieval computes: the rows of docs/faq.md that begin with ``beir-``."""

import copy
import math

import pytest
from beir.retrieval.evaluation import EvaluateRetrieval

from beir_eval import evaluate
from beir_eval.integrations import beir as drop_in
from one_number import ours

pytestmark = pytest.mark.peers

#: The system answers q1 and leaves q2 out.
HALF_QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
HALF_RUN = {"q1": {"a": 1.0}}


def ndcg(qrels, run, **options):
    return EvaluateRetrieval.evaluate(qrels, run, [10], **options)[0]["NDCG@10"]


def custom(qrels, run, metric, cutoff=10):
    (score,) = EvaluateRetrieval.evaluate_custom(qrels, run, [cutoff], metric).values()
    return score


@pytest.mark.row("beir-missing")
def test_evaluate_averages_over_the_queries_of_the_run():
    assert ndcg(HALF_QRELS, HALF_RUN) == 1.0
    assert ours(HALF_QRELS, HALF_RUN, "nDCG@10") == 1 / 2
    assert ours(HALF_QRELS, HALF_RUN, "nDCG@10", missing="skip") == 1.0


@pytest.mark.row("beir-custom-missing")
def test_evaluate_custom_averages_over_the_queries_of_the_qrels():
    assert custom(HALF_QRELS, HALF_RUN, "mrr") == 1 / 2
    assert ours(HALF_QRELS, HALF_RUN, "MRR@10") == 1 / 2
    assert ours(HALF_QRELS, HALF_RUN, "MRR@10", missing="zero") == 1 / 2


@pytest.mark.row("beir-custom-empty-qrels")
def test_evaluate_custom_counts_a_query_without_judgements():
    qrels, run = {"q1": {"a": 1}, "q2": {}}, {"q1": {"a": 1.0}}
    assert custom(qrels, run, "mrr") == 1 / 2
    for missing in ("zero", "skip"):
        assert ours(qrels, run, "MRR@10", missing=missing) == 1.0


@pytest.mark.row("beir-rounding")
def test_means_are_rounded_to_five_digits():
    qrels, run = {"q": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    precision = EvaluateRetrieval.evaluate(qrels, run, [3])[3]["P@3"]
    assert precision == 0.33333
    assert ours(qrels, run, "Precision@3") == 1 / 3
    assert round(ours(qrels, run, "Precision@3"), 5) == precision


@pytest.mark.row("beir-identical-ids")
def test_evaluate_removes_documents_with_their_querys_id_from_the_results_of_the_caller():
    qrels = {"q": {"a": 1}}
    run = {"q": {"q": 2.0, "a": 1.0}}
    run_copy = copy.deepcopy(run)
    assert ndcg(qrels, run_copy) == 1.0
    assert run_copy == {"q": {"a": 1.0}}
    assert ours(qrels, run, "nDCG@10") == 1 / math.log2(3)
    assert ours(qrels, run, "nDCG@10", drop_identical_ids=True) == 1.0
    assert run == {"q": {"q": 2.0, "a": 1.0}}


@pytest.mark.row("beir-custom-identical-ids")
def test_evaluate_custom_keeps_documents_with_their_querys_id():
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    assert custom(qrels, run, "mrr") == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "MRR@10", drop_identical_ids=False) == 1 / 2
    EvaluateRetrieval.evaluate(qrels, run, [10])  # it removes them from the run
    assert custom(qrels, run, "mrr") == 1.0


@pytest.mark.row("beir-ties")
def test_evaluate_ties_scores_that_are_equal_as_float32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    assert ndcg(qrels, run) == round(1 / math.log2(3), 5)
    assert ours(qrels, run, "nDCG@10") == 1 / math.log2(3)
    assert ours(qrels, run, "nDCG@10", ties="trec_eval9") == 1 / math.log2(3)


@pytest.mark.row("beir-custom-ties")
def test_evaluate_custom_ranks_equal_scores_as_they_were_inserted():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    assert custom(qrels, run, "mrr") == 1.0
    assert ndcg(qrels, run) == round(1 / math.log2(3), 5)
    assert ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "MRR@10", ties="input") == 1.0
    close_run = {"q": {"b": 0.1234567890, "a": 0.1234567891}}  # equal as float32
    assert custom(qrels, close_run, "mrr") == 1.0
    assert ours(qrels, close_run, "MRR@10", ties="input") == 1.0


@pytest.mark.row("beir-r-cap")
def test_capped_recall_of_a_query_without_relevant_documents_divides_by_zero():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 0}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    with pytest.raises(ZeroDivisionError):
        custom(qrels, run, "r_cap")
    assert ours(qrels, run, "R_cap@10") == 1 / 2
    assert ours(qrels, run, "R_cap@10", no_relevant="skip") == 1.0


@pytest.mark.row("beir-hole")
def test_hole_counts_documents_that_no_query_judges_and_divides_by_k():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": {"b": 2.0, "x": 1.0}, "q2": {"b": 1.0}}
    theirs = custom(qrels, run, "hole", 4)
    assert theirs == (1 / 4 + 0 / 4) / 2
    assert ours(qrels, run, "Hole@4") == (2 / 2 + 0 / 1) / 2
    assert drop_in.EvaluateRetrieval.evaluate_custom(qrels, run, [4], "hole") == {"Hole@4": theirs}


@pytest.mark.row("beir-accuracy")
def test_accuracy_at_k_is_whether_the_top_k_hold_a_relevant_document():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    assert custom(qrels, run, "accuracy", 2) == 1.0
    assert ours(qrels, run, "Accuracy@2") == 1.0
    assert evaluate(qrels, run, ["Accuracy@2"]).as_dict() == {"Success@2": 1.0}


@pytest.mark.row("beir-cutoff-twice")
def test_a_repeated_cutoff_doubles_its_value():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    assert EvaluateRetrieval.evaluate(qrels, run, [1, 1])[2] == {"Recall@1": 2.0}
    assert evaluate(qrels, run, ["Recall@1", "Recall@1"]).as_dict() == {"Recall@1": 1.0}


@pytest.mark.row("beir-custom-unjudged-query")
def test_evaluate_custom_raises_for_a_query_of_the_run_without_qrels():
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    with pytest.raises(KeyError):
        custom(qrels, run, "mrr")
    assert ndcg(qrels, run) == 1.0
    assert ours(qrels, run, "MRR@10") == 1.0
