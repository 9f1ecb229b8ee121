"""What ranx computes: the rows of docs/faq.md that begin with ``ranx-``.

Few measures on small data: ranx compiles each of them, which takes most of the time.
"""

import math

import pytest
import ranx

from beir_eval.errors import BeirEvalWarning
from one_number import made_case, ours

# Its functions are compiled when they are first called: 40 seconds.
pytestmark = [pytest.mark.peers, pytest.mark.slow]


def theirs(qrels, run, measure, **options):
    return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), measure, **options)


@pytest.mark.row("ranx-grades")
def test_fractional_grades_lose_their_fraction():
    qrels, run = {"q": {"a": 0.9, "b": 1}}, {"q": {"b": 2.0, "c": 1.0}}
    assert theirs(qrels, run, "recall@10") == 1 / 1
    with pytest.warns(BeirEvalWarning, match="rel"):
        assert ours(qrels, run, "Recall@10") == 1 / 2
    assert ours(qrels, run, "Recall(rel=1)@10") == 1 / 1
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert theirs(qrels, run, "ndcg@10") == pytest.approx((0 + 1 / math.log2(3)) / 1, abs=1e-12)
    expected = (0.9 + 1 / math.log2(3)) / (1 + 0.9 / math.log2(3))
    assert ours(qrels, run, "nDCG@10") == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("ranx-missing")
def test_the_run_must_answer_the_judged_queries_and_no_others():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q3": {"b": 1.0}}
    with pytest.raises(AssertionError, match="do not match"):
        theirs(qrels, run, "mrr")
    assert theirs(qrels, run, "mrr", make_comparable=True) == 1 / 2
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", missing="zero") == 1 / 2


@pytest.mark.row("ranx-make-comparable")
def test_make_comparable_changes_the_run_of_the_caller():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    ranx_run = ranx.Run({"q1": {"a": 1.0}, "q3": {"b": 1.0}})
    ranx.evaluate(ranx.Qrels(qrels), ranx_run, "mrr", make_comparable=True)
    assert set(ranx_run.keys()) == {"q1", "q2"}
    run = {"q1": {"a": 1.0}, "q3": {"b": 1.0}}
    assert ours(qrels, run, "MRR") == 1 / 2
    assert run == {"q1": {"a": 1.0}, "q3": {"b": 1.0}}


@pytest.mark.row("ranx-ties")
def test_up_to_fifteen_equal_scores_keep_their_order_in_a_run_and_are_reversed_in_a_dict():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert theirs(qrels, run, "mrr") == 1 / 1
    assert ranx.evaluate(qrels, run, "mrr") == 1 / 3
    assert ours(qrels, run, "MRR") == 1 / 3  # ids descending: c, b, a
    assert ours(qrels, run, "MRR", ties="input") == 1 / 1
    docs = "abcdefghijklmno"
    run = {"q": dict.fromkeys(docs, 1.0)}
    for position, doc in enumerate(docs):
        assert round(1 / theirs({"q": {doc: 1}}, run, "mrr")) == 1 + position
        assert round(1 / ranx.evaluate({"q": {doc: 1}}, run, "mrr")) == 15 - position


@pytest.mark.row("ranx-many-ties")
def test_sixteen_equal_scores_are_neither_in_the_order_given_nor_in_that_of_ids():
    docs = "abcdefghijklmnop"  # ranx compiles again for ids of another length
    run = {"q": dict.fromkeys(docs, 1.0)}
    ranks = {doc: round(1 / theirs({"q": {doc: 1}}, run, "mrr")) for doc in docs}
    assert sorted(ranks.values()) == list(range(1, 17))
    assert list(ranks.values()) not in (list(range(1, 17)), list(range(16, 0, -1)))
    for ties, expected in {"input": range(1, 17), "trec_eval9": range(16, 0, -1)}.items():
        our_ranks = [round(1 / ours({"q": {doc: 1}}, run, "MRR", ties=ties)) for doc in docs]
        assert our_ranks == list(expected)


@pytest.mark.row("ranx-query-order")
def test_plain_dicts_are_paired_by_the_order_of_their_queries():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q2": {"b": 1.0, "x": 0.5}, "q1": {"a": 1.0, "x": 0.5}}
    assert ranx.evaluate(qrels, run, "mrr") == 0.0
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr") == 1.0
    assert ours(qrels, run, "MRR") == 1.0


@pytest.mark.row("ranx-gain")
def test_ndcg_takes_the_grade_as_gain_and_ndcg_burges_a_power_of_two():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    linear = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert theirs(qrels, run, "ndcg@10") == pytest.approx(linear, abs=1e-12)
    assert ours(qrels, run, "nDCG@10") == pytest.approx(linear, abs=1e-12)
    exponential = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert theirs(qrels, run, "ndcg_burges@10") == pytest.approx(exponential, abs=1e-12)
    assert ours(qrels, run, 'nDCG(gain="exp")@10') == pytest.approx(exponential, abs=1e-12)


@pytest.mark.row("ranx-level")
def test_a_relevance_level_removes_the_gain_of_lower_grades_in_ndcg_too():
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    expected = (2 / math.log2(3)) / 2
    assert theirs(qrels, run, "ndcg@10-l2") == pytest.approx(expected, abs=1e-12)
    default = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert ours(qrels, run, "nDCG@10") == pytest.approx(default, abs=1e-12)
    score = ours(qrels, run, "nDCG(gain={1: 0, 2: 2})@10")
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("ranx-rbp")
def test_rbp_adds_up_grades_and_may_exceed_one():
    qrels, run = {"q": {"a": 3}}, {"q": {"a": 1.0}}
    assert theirs(qrels, run, "rbp.50") == (1 - 0.5) * 3
    assert ours(qrels, run, "RBP(p=0.5)") == (1 - 0.5) * 1
    binary = {"q": {"a": 1}}
    assert theirs(binary, run, "rbp.50") == ours(binary, run, "RBP(p=0.5)") == 0.5


@pytest.mark.row("ranx-bpref")
def test_bpref_is_nan_where_only_relevant_documents_are_judged():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}
    assert math.isnan(theirs(qrels, run, "bpref"))
    assert ours(qrels, run, "bpref") == 1 / 2
    judged = {"q": {"a": 1, "b": 1, "n": 0}}
    run = {"q": {"a": 3.0, "n": 2.0, "b": 1.0}}
    expected = (1 + (1 - 1 / 1)) / 2
    assert theirs(judged, run, "bpref") == ours(judged, run, "bpref") == expected


@pytest.mark.row("ranx-no-relevant")
def test_a_query_with_nothing_relevant_counts_as_zero():
    qrels, run = {"q": {"a": 0}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"b": 1.0}}
    assert theirs(qrels, run, "recall@10") == 1 / 2
    assert ours(qrels, run, "Recall@10") == 1 / 2
    assert ours(qrels, run, "Recall@10", no_relevant="zero") == 1 / 2


def test_on_generated_runs_of_up_to_fifteen_documents_the_settings_give_the_scores_of_ranx():
    qrels, run = made_case(grades=(0, 1, 2), tied=True)
    pairs = {
        "ndcg@10": "nDCG@10",
        "ndcg@3": "nDCG@3",
        "ndcg_burges@10": 'nDCG(gain="exp")@10',
        "ndcg@10-l2": "nDCG(gain={0: 0, 1: 0, 2: 2})@10",
        "recall@3": "Recall@3",
        "recall@3-l2": "Recall(rel=2)@3",
        "mrr@3": "MRR@3",
    }
    for name, measure in pairs.items():
        expected = theirs(qrels, run, name)
        assert ours(qrels, run, measure, ties="input") == pytest.approx(expected, abs=1e-12)
        assert ours(qrels, run, measure) != pytest.approx(expected, abs=1e-6)
