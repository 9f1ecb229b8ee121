"""What scikit-learn's ranking scores compute: the rows that begin with ``sklearn-``.

They take arrays: for each query the grades and the scores of the documents that are passed.
"""

import math

import pytest
from sklearn.metrics import (
    average_precision_score,
    dcg_score,
    label_ranking_average_precision_score,
    ndcg_score,
)

from one_number import made_case, ours

pytestmark = pytest.mark.peers


@pytest.mark.row("sklearn-gain")
def test_dcg_takes_the_grade_as_gain_and_discounts_by_the_binary_logarithm():
    qrels, run = {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}
    expected = 1 + 3 / math.log2(3)
    assert dcg_score([[1, 3]], [[2.0, 1.0]]) == pytest.approx(expected, abs=1e-12)
    assert ours(qrels, run, "DCG") == pytest.approx(expected, abs=1e-12)
    ideal = 3 + 1 / math.log2(3)
    assert ndcg_score([[1, 3]], [[2.0, 1.0]]) == pytest.approx(expected / ideal, abs=1e-12)
    assert ours(qrels, run, "nDCG") == pytest.approx(expected / ideal, abs=1e-12)


@pytest.mark.row("sklearn-log-base")
def test_dcg_with_another_base_is_dcg_times_a_constant():
    qrels, run = {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}
    theirs = dcg_score([[1, 3]], [[2.0, 1.0]], log_base=math.e)
    assert theirs == pytest.approx(1 / math.log(2) + 3 / math.log(3), abs=1e-12)
    assert theirs == pytest.approx(ours(qrels, run, "DCG") * math.log2(math.e), abs=1e-12)


@pytest.mark.row("sklearn-ndcg-ideal")
def test_the_ideal_ranking_is_of_the_documents_passed():
    # Judged 5, 2, 4, 0, 1; retrieved are the first three, in this order.
    qrels = {"q": {"a": 5, "b": 2, "c": 4, "d": 0, "e": 1}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    dcg = 5 + 2 / math.log2(3) + 4 / 2
    ideal_of_retrieved = 5 + 4 / math.log2(3) + 2 / 2
    theirs = ndcg_score([[5, 2, 4]], [[3.0, 2.0, 1.0]], k=5)
    assert theirs == pytest.approx(dcg / ideal_of_retrieved, abs=1e-12)
    ideal_of_all = ideal_of_retrieved + 1 / math.log2(5)
    assert ours(qrels, run, "nDCG@5") == pytest.approx(dcg / ideal_of_all, abs=1e-12)
    retrieved = {"q": {doc: grade for doc, grade in qrels["q"].items() if doc in run["q"]}}
    assert ours(retrieved, run, "nDCG@5") == pytest.approx(theirs, abs=1e-12)


@pytest.mark.row("sklearn-unretrieved")
def test_documents_that_were_not_retrieved_gain_if_they_are_passed_with_a_score():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}
    # a was retrieved; b and two others were not, and have a score of 0 in the array.
    theirs = ndcg_score([[1, 1, 0, 0]], [[1.0, 0.0, 0.0, 0.0]])
    ideal = 1 + 1 / math.log2(3)
    mean_gain_of_ties = (1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)) / 3
    assert theirs == pytest.approx((1 + mean_gain_of_ties) / ideal, abs=1e-12)
    assert ours(qrels, run, "nDCG") == pytest.approx(1 / ideal, abs=1e-12)
    full_run = {"q": {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}}
    best = ours(qrels, full_run, "nDCG", ties="best")
    worst = ours(qrels, full_run, "nDCG", ties="worst")
    assert worst < theirs < best


@pytest.mark.row("sklearn-ties")
def test_ndcg_is_the_mean_over_all_orders_of_tied_documents():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    theirs = ndcg_score([[1, 0]], [[1.0, 1.0]])
    assert theirs == pytest.approx((1 + 1 / math.log2(3)) / 2, abs=1e-12)
    assert ours(qrels, run, "nDCG") == pytest.approx(1 / math.log2(3), abs=1e-12)
    # Of two tied documents the mean of both extremes is the mean over all orders.
    best = ours(qrels, run, "nDCG", ties="best")
    worst = ours(qrels, run, "nDCG", ties="worst")
    assert (best + worst) / 2 == pytest.approx(theirs, abs=1e-12)


@pytest.mark.row("sklearn-negative")
def test_negative_grades_are_refused_and_so_is_a_query_of_one_document():
    with pytest.raises(ValueError, match="negative"):
        ndcg_score([[1, -1]], [[2.0, 1.0]])
    with pytest.raises(ValueError, match="more than 1 document"):
        ndcg_score([[1]], [[2.0]])
    assert ours({"q": {"a": 1, "b": -1}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG") == 1.0
    assert ours({"q": {"a": 1}}, {"q": {"a": 2.0}}, "nDCG") == 1.0


@pytest.mark.row("sklearn-no-relevant")
def test_a_query_with_nothing_relevant_has_an_ndcg_of_zero():
    assert ndcg_score([[0, 0], [1, 0]], [[2.0, 1.0], [2.0, 1.0]]) == 1 / 2
    qrels = {"q": {"a": 0, "b": 0}, "r": {"a": 1, "b": 0}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    assert ours(qrels, run, "nDCG") == 1 / 2
    assert ours(qrels, run, "nDCG", no_relevant="zero") == 1 / 2


@pytest.mark.row("sklearn-ap-found")
def test_average_precision_divides_by_the_relevant_among_the_documents_passed():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    theirs = average_precision_score([0, 1], [2.0, 1.0])
    assert theirs == pytest.approx((1 / 2) / 1, abs=1e-12)
    assert ours(qrels, run, "MAP") == pytest.approx((1 / 2) / 2, abs=1e-12)
    assert ours({"q": {"a": 1}}, run, "MAP") == pytest.approx(theirs, abs=1e-12)


@pytest.mark.row("sklearn-ap-ties")
def test_average_precision_counts_tied_documents_as_one_step():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    assert average_precision_score([1, 0], [1.0, 1.0]) == pytest.approx(1 / 2, abs=1e-12)
    assert ours(qrels, run, "MAP") == 1 / 2  # b is ranked first, by id
    swapped = {"q": {"b": 1, "a": 0}}
    assert average_precision_score([0, 1], [1.0, 1.0]) == pytest.approx(1 / 2, abs=1e-12)
    assert ours(swapped, run, "MAP") == 1 / 1
    assert ours(swapped, run, "MAP", ties="worst") == 1 / 2
    # With two relevant documents tied the step equals no order: 2/3 for each.
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": dict.fromkeys("abc", 1.0)}
    assert average_precision_score([1, 1, 0], [1.0] * 3) == pytest.approx(2 / 3, abs=1e-12)
    assert ours(qrels, run, "MAP", ties="worst") == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12)


@pytest.mark.row("sklearn-ap-pooled")
def test_average_precision_of_several_queries_in_one_array_ranks_them_together():
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    run = {"q": {"a": 9.0, "x": 8.0}, "r": {"b": 2.0, "x": 1.0}}
    pooled = average_precision_score([1, 0, 1, 0], [9.0, 8.0, 2.0, 1.0])
    assert pooled == pytest.approx((1 / 1 + 2 / 3) / 2, abs=1e-12)
    assert ours(qrels, run, "MAP") == 1.0


@pytest.mark.row("sklearn-lrap")
def test_label_ranking_average_precision_is_map_of_the_documents_passed():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    theirs = label_ranking_average_precision_score([[1, 0, 1]], [[3.0, 2.0, 1.0]])
    assert theirs == pytest.approx((1 / 1 + 2 / 3) / 2, abs=1e-12)
    assert ours(qrels, run, "MAP") == pytest.approx(theirs, abs=1e-12)
    assert label_ranking_average_precision_score([[0, 1]], [[1.0, 1.0]]) == 1 / 2
    assert ours({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "MAP") == 1 / 1
    retrieved = {"q": {"a": 3.0, "x": 2.0}}  # b was not retrieved and is not passed
    theirs = label_ranking_average_precision_score([[1, 0]], [[3.0, 2.0]])
    assert theirs == 1 / 1
    assert ours(qrels, retrieved, "MAP") == (1 / 1) / 2


@pytest.mark.row("sklearn-lrap-no-relevant")
def test_label_ranking_average_precision_of_a_query_with_nothing_relevant_is_one():
    grades, scores = [[0, 0], [0, 1]], [[2.0, 1.0], [2.0, 1.0]]
    assert label_ranking_average_precision_score(grades, scores) == (1 + 1 / 2) / 2
    qrels = {"q": {"a": 0, "b": 0}, "r": {"a": 0, "b": 1}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    assert ours(qrels, run, "MAP") == (0 + 1 / 2) / 2
    assert ours(qrels, run, "MAP", no_relevant="skip") == 1 / 2


def test_on_generated_runs_without_ties_and_with_all_documents_passed_every_score_is_equal():
    qrels, run = made_case(grades=(0, 1, 2), complete=True)
    docs = next(iter(run.values()))
    grades = [[judged.get(doc, 0) for doc in docs] for judged in qrels.values()]
    relevant = [[int(grade > 0) for grade in row] for row in grades]
    scores = [[ranked[doc] for doc in docs] for ranked in run.values()]
    for cutoff in (1, 5, 12):
        expected = ndcg_score(grades, scores, k=cutoff)
        assert ours(qrels, run, f"nDCG@{cutoff}") == pytest.approx(expected, abs=1e-12)
        expected = dcg_score(grades, scores, k=cutoff)
        assert ours(qrels, run, f"DCG@{cutoff}") == pytest.approx(expected, abs=1e-12)
    pairs = list(zip(relevant, scores, strict=True))
    mean_average_precision = sum(average_precision_score(*pair) for pair in pairs) / len(pairs)
    our_map = ours(qrels, run, "MAP")
    assert our_map == pytest.approx(mean_average_precision, abs=1e-12)
    assert all(min(row) == 0 for row in relevant)  # no query has only relevant documents
    label_ranking = label_ranking_average_precision_score(relevant, scores)
    assert our_map == pytest.approx(label_ranking, abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_on_generated_runs_qrels_of_the_retrieved_give_its_ndcg_within_the_range_of_ties(tied):
    qrels, run = made_case(grades=(0, 1, 2), tied=tied)
    cut = {
        query: {doc: grade for doc, grade in judged.items() if doc in run[query]}
        for query, judged in qrels.items()
        if len(run[query]) > 1  # it refuses one document
    }
    cut = {query: judged for query, judged in cut.items() if judged}
    expected = 0.0
    for query, judged in cut.items():
        grades = [judged.get(doc, 0) for doc in run[query]]
        expected += ndcg_score([grades], [list(run[query].values())]) / len(cut)
    worst, best = (ours(cut, run, "nDCG", ties=ties) for ties in ("worst", "best"))
    assert worst - 1e-12 <= expected <= best + 1e-12
    assert (best - worst < 1e-12) == (not tied)
