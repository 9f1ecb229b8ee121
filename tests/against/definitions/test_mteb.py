"""What MTEB computes from qrels and a run: the rows of docs/faq.md that begin with ``mteb-``."""

import math

import pytest
from mteb._evaluators.retrieval_evaluator import RetrievalEvaluator
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

from one_number import made_case, ours

pytestmark = pytest.mark.peers

K_VALUES = [1, 3, 10]


def as_reported(found):
    """The keys of MTEB's result files."""
    return make_score_dict(
        ndcg=found.ndcg,
        _map=found.map,
        recall=found.recall,
        precision=found.precision,
        mrr=found.mrr,
        naucs=found.naucs,
        naucs_mrr=found.naucs_mrr,
        hit_rate=found.hit_rate,
        task_scores={},
    )


def theirs(qrels, run, **options):
    return as_reported(calculate_retrieval_scores(run, qrels, K_VALUES, **options))


@pytest.mark.row("mteb-missing")
def test_means_are_over_the_queries_of_the_run():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}
    found = theirs(qrels, run)
    for measure in ("ndcg", "map", "recall", "mrr", "hit_rate"):
        assert found[f"{measure}_at_10"] == 1.0
    assert found["precision_at_1"] == 1.0
    assert ours(qrels, run, "nDCG@10") == ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "nDCG@10", missing="skip") == 1.0
    assert ours(qrels, run, "MRR@10", missing="skip") == 1.0


@pytest.mark.row("mteb-rounding")
def test_means_are_rounded_to_five_digits_but_for_mrr():
    qrels, run = {"q": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = theirs(qrels, run)
    assert found["precision_at_3"] == 0.33333
    assert found["mrr_at_3"] == 1 / 3
    assert ours(qrels, run, "Precision@3") == ours(qrels, run, "MRR@3") == 1 / 3
    assert round(ours(qrels, run, "Precision@3"), 5) == 0.33333


@pytest.mark.row("mteb-ties")
def test_ndcg_ties_scores_that_are_equal_as_float32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    found = theirs(qrels, run)
    assert found["ndcg_at_10"] == round(1 / math.log2(3), 5)
    assert [found[f"{one}_at_1"] for one in ("map", "recall", "precision", "hit_rate")] == [0.0] * 4
    assert ours(qrels, run, "nDCG@10") == 1.0
    assert ours(qrels, run, "nDCG@10", ties="trec_eval9") == 1 / math.log2(3)


@pytest.mark.row("mteb-mrr-ties")
def test_mrr_orders_equal_scores_by_id_descending_in_double_precision():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    close = {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    assert theirs(qrels, run)["mrr_at_10"] == 1 / 2
    assert theirs(qrels, close)["mrr_at_10"] == 1.0
    for ranking, expected in ((run, 1 / 2), (close, 1.0)):
        assert ours(qrels, ranking, "MRR@10") == expected
        assert ours(qrels, ranking, "MRR@10", ties="trec_eval") == expected


@pytest.mark.row("mteb-accuracy")
def test_accuracy_is_recall_at_one():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    assert theirs(qrels, run)["accuracy"] == 1 / 2
    assert ours(qrels, run, "Accuracy@1") == 1.0  # another name of Success
    assert ours(qrels, run, "Recall@1") == 1 / 2


@pytest.mark.row("mteb-hit-rate")
def test_the_hit_rate_is_success():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    found = theirs(qrels, run)
    assert [found["hit_rate_at_1"], found["hit_rate_at_3"]] == [0.0, 1.0]
    assert [ours(qrels, run, "Success@1"), ours(qrels, run, "Success@3")] == [0.0, 1.0]


@pytest.mark.row("mteb-identical-ids")
def test_documents_with_their_querys_id_stay_unless_the_task_says_otherwise():
    evaluate = RetrievalEvaluator.evaluate
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    assert as_reported(evaluate(None, qrels, run, K_VALUES))["mrr_at_10"] == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1 / 2
    assert ours(qrels, run, "MRR@10", drop_identical_ids=True) == 1.0
    dropped = evaluate(None, qrels, run, K_VALUES, ignore_identical_ids=True)
    assert as_reported(dropped)["mrr_at_10"] == 1.0
    assert run == {"q": {"a": 1.0}}  # removed from what it was handed


@pytest.mark.row("mteb-first-result")
def test_some_tasks_drop_the_first_result_whatever_it_is():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.5, "b": 1.0}}
    assert theirs(qrels, run, skip_first_result=True)["mrr_at_10"] == 1 / 2
    assert ours(qrels, run, "MRR@10") == 1.0
    without = {"q": {"x": 1.5, "b": 1.0}}
    assert ours(qrels, without, "MRR@10") == 1 / 2


@pytest.mark.row("mteb-unjudged-query")
def test_a_query_of_the_run_that_has_no_qrels_stops_it():
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    with pytest.raises(KeyError):
        theirs(qrels, run)
    assert ours(qrels, run, "MRR@10") == 1.0


@pytest.mark.row("mteb-nauc")
def test_nauc_is_about_confidence_and_not_a_measure_of_a_ranking():
    qrels = {f"q{number}": {"a": 1} for number in range(4)}
    good, bad = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    run = {"q0": good, "q1": bad, "q2": good, "q3": bad}
    scaled = {
        query: {doc: (1 + place) * score for doc, score in scores.items()}
        for place, (query, scores) in enumerate(run.items())
    }
    first, second = theirs(qrels, run), theirs(qrels, scaled)
    assert first["ndcg_at_10"] == second["ndcg_at_10"]
    assert first["nauc_ndcg_at_10_max"] != second["nauc_ndcg_at_10_max"]
    assert ours(qrels, run, "nDCG@10") == ours(qrels, scaled, "nDCG@10")


def test_on_made_runs_with_ties_the_settings_give_every_number():
    qrels, run = made_case(grades=(0, 1, 2), tied=True)
    run = dict(list(run.items())[:30])
    found = theirs(qrels, run)
    names = "ndcg:nDCG map:MAP recall:Recall precision:Precision hit_rate:Success mrr:MRR"
    for pair in names.split():
        name, _, measure = pair.partition(":")
        for cutoff in K_VALUES:
            expected = found[f"{name}_at_{cutoff}"]
            number = ours(qrels, run, f"{measure}@{cutoff}", missing="skip", ties="trec_eval9")
            assert expected == pytest.approx(number, abs=1e-12 if name == "mrr" else 5.1e-6)
