"""What MTEB computes from qrels and a run: the rows of docs/faq.md that begin with ``mteb-``."""

import math

import pytest
from mteb._evaluators.retrieval_evaluator import RetrievalEvaluator
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

from one_number import made_case, ours

pytestmark = pytest.mark.peers

K_VALUES = [1, 3, 10]


def as_reported(scores):
    """Return the scores under the keys of MTEB's result files."""
    return make_score_dict(
        ndcg=scores.ndcg,
        _map=scores.map,
        recall=scores.recall,
        precision=scores.precision,
        mrr=scores.mrr,
        naucs=scores.naucs,
        naucs_mrr=scores.naucs_mrr,
        hit_rate=scores.hit_rate,
        task_scores={},
    )


def theirs(qrels, run, **options):
    return as_reported(calculate_retrieval_scores(run, qrels, K_VALUES, **options))


@pytest.mark.row("mteb-missing")
def test_means_are_over_the_queries_of_the_run():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}
    scores = theirs(qrels, run)
    for measure in ("ndcg", "map", "recall", "mrr", "hit_rate"):
        assert scores[f"{measure}_at_10"] == 1.0
    assert scores["precision_at_1"] == 1.0
    assert ours(qrels, run, "nDCG@10") == ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "nDCG@10", missing="skip") == 1.0
    assert ours(qrels, run, "MRR@10", missing="skip") == 1.0


@pytest.mark.row("mteb-rounding")
def test_means_are_rounded_to_five_digits_except_for_mrr():
    qrels, run = {"q": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    scores = theirs(qrels, run)
    assert scores["precision_at_3"] == 0.33333
    assert scores["mrr_at_3"] == 1 / 3
    assert ours(qrels, run, "Precision@3") == ours(qrels, run, "MRR@3") == 1 / 3
    assert round(ours(qrels, run, "Precision@3"), 5) == 0.33333


@pytest.mark.row("mteb-ties")
def test_ndcg_ties_scores_that_are_equal_as_float32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    scores = theirs(qrels, run)
    assert scores["ndcg_at_10"] == round(1 / math.log2(3), 5)
    assert [
        scores[f"{measure}_at_1"] for measure in ("map", "recall", "precision", "hit_rate")
    ] == [0.0] * 4
    assert ours(qrels, run, "nDCG@10") == 1 / math.log2(3)
    assert ours(qrels, run, "nDCG@10", ties="trec_eval9") == 1 / math.log2(3)


@pytest.mark.row("mteb-mrr-ties")
def test_mrr_orders_equal_scores_by_id_descending_in_double_precision():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    close_run = {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    assert theirs(qrels, run)["mrr_at_10"] == 1 / 2
    assert theirs(qrels, close_run)["mrr_at_10"] == 1.0
    for ranking, expected in ((run, 1 / 2), (close_run, 1.0)):
        assert ours(qrels, ranking, "MRR@10", ties="trec_eval10") == expected
    assert ours(qrels, close_run, "MRR@10") == 1 / 2


@pytest.mark.row("mteb-accuracy")
def test_accuracy_is_recall_at_one():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    assert theirs(qrels, run)["accuracy"] == 1 / 2
    assert ours(qrels, run, "Accuracy@1") == 1.0  # another name of Success
    assert ours(qrels, run, "Recall@1") == 1 / 2


@pytest.mark.row("mteb-hit-rate")
def test_the_hit_rate_is_success():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    scores = theirs(qrels, run)
    assert [scores["hit_rate_at_1"], scores["hit_rate_at_3"]] == [0.0, 1.0]
    assert [ours(qrels, run, "Success@1"), ours(qrels, run, "Success@3")] == [0.0, 1.0]


@pytest.mark.row("mteb-identical-ids")
def test_documents_with_their_querys_id_are_kept_unless_the_task_ignores_them():
    evaluate = RetrievalEvaluator.evaluate
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    assert as_reported(evaluate(None, qrels, run, K_VALUES))["mrr_at_10"] == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "MRR@10", drop_identical_ids=True) == 1.0
    dropped = evaluate(None, qrels, run, K_VALUES, ignore_identical_ids=True)
    assert as_reported(dropped)["mrr_at_10"] == 1.0
    assert run == {"q": {"a": 1.0}}  # removed from the caller's run


@pytest.mark.row("mteb-first-result")
def test_some_tasks_drop_the_first_result_whatever_it_is():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.5, "b": 1.0}}
    assert theirs(qrels, run, skip_first_result=True)["mrr_at_10"] == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1.0
    without_first_result = {"q": {"x": 1.5, "b": 1.0}}
    assert ours(qrels, without_first_result, "MRR@10") == 1 / 2


@pytest.mark.row("mteb-unjudged-query")
def test_a_query_of_the_run_without_qrels_raises_an_error():
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    with pytest.raises(KeyError):
        theirs(qrels, run)
    assert ours(qrels, run, "MRR@10") == 1.0


@pytest.mark.row("mteb-nauc")
def test_nauc_depends_on_confidence_and_not_only_on_the_ranking():
    qrels = {f"q{number}": {"a": 1} for number in range(4)}
    good, bad = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    run = {"q0": good, "q1": bad, "q2": good, "q3": bad}
    scaled = {
        query: {doc: (1 + position) * score for doc, score in scores.items()}
        for position, (query, scores) in enumerate(run.items())
    }
    first, second = theirs(qrels, run), theirs(qrels, scaled)
    assert first["ndcg_at_10"] == second["ndcg_at_10"]
    assert first["nauc_ndcg_at_10_max"] != second["nauc_ndcg_at_10_max"]
    assert ours(qrels, run, "nDCG@10") == ours(qrels, scaled, "nDCG@10")


def test_on_generated_runs_with_ties_the_settings_give_the_scores_of_mteb():
    qrels, run = made_case(grades=(0, 1, 2), tied=True)
    run = dict(list(run.items())[:30])
    scores = theirs(qrels, run)
    names = "ndcg:nDCG map:MAP recall:Recall precision:Precision hit_rate:Success mrr:MRR"
    for pair in names.split():
        name, _, measure = pair.partition(":")
        for cutoff in K_VALUES:
            expected = scores[f"{name}_at_{cutoff}"]
            score = ours(qrels, run, f"{measure}@{cutoff}", missing="skip", ties="trec_eval9")
            assert expected == pytest.approx(score, abs=1e-12 if name == "mrr" else 5.1e-6)
