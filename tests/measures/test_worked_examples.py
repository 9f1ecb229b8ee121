"""Numbers from well-known tutorials, with the arithmetic written out.

Where a tutorial prints another number, docs/measures.md explains what it computed.
"""

from math import log2

import pytest

from beir_eval import (
    CG,
    DCG,
    F1,
    MAP,
    MRR,
    Precision,
    R_cap,
    Recall,
    Run,
    evaluate,
    nDCG,
)

approx = pytest.approx


def evaluate_list(grades, measures, judged=None):
    """Evaluate one ranking of these grades; ``judged`` are all judged grades, if more."""
    docs = {f"d{rank}": grade for rank, grade in enumerate(grades, start=1)}
    unseen = list(judged or [])
    for grade in grades:
        if grade in unseen:
            unseen.remove(grade)
    qrels = docs | {f"unseen{number}": grade for number, grade in enumerate(unseen)}
    return evaluate({"q": qrels}, Run.from_rankings({"q": list(docs)}), measures)


FOUR_DOCS = ["d1", "d2", "d3", "d4"]
FRACTIONS = {
    "q1": dict(zip(FOUR_DOCS, [1.0, 0.5, 0.3, 0.1], strict=True)),
    "q2": dict(zip(FOUR_DOCS, [0.7, 1.0, 0.2, 0.1], strict=True)),
    "q3": dict(zip(FOUR_DOCS, [0.4, 0.2, 1.0, 0.1], strict=True)),
}
SAME_RANKING_FOR_ALL = Run.from_rankings(dict.fromkeys(FRACTIONS, FOUR_DOCS))


def test_ndcg_at_2_with_fractional_grades():
    result = evaluate(FRACTIONS, SAME_RANKING_FOR_ALL, [nDCG @ 2])
    q1, q2, q3 = result.scores("nDCG@2").tolist()
    assert q1 == 1.0
    assert q2 == approx((0.7 + 1 / log2(3)) / (1 + 0.7 / log2(3)), rel=1e-15)
    assert q3 == approx((0.4 + 0.2 / log2(3)) / (1 + 0.4 / log2(3)), rel=1e-15)
    assert (round(q2, 3), round(q3, 3)) == (0.923, 0.420)


def test_binary_measures_with_a_threshold_on_fractional_grades():
    names = ["Precision(rel=0.5)@2", "Recall(rel=0.5)@2", "MAP(rel=0.5)@2"]
    result = evaluate(FRACTIONS, SAME_RANKING_FOR_ALL, [*names, MRR(rel=0.5) @ 3, MRR(rel=0.5) @ 2])
    assert result.scores(names[0]).tolist() == [1, 1, 0]
    assert result.scores(names[1]).tolist() == [1, 1, 0]
    assert result[names[2]] == 2 / 3
    assert result["MRR(rel=0.5)@3"] == approx((1 + 1 + 1 / 3) / 3, rel=1e-15)
    assert round(result["MRR(rel=0.5)@3"], 2) == 0.78
    assert result["MRR(rel=0.5)@2"] == 2 / 3


def test_capped_recall_of_three_hits_in_five_with_seven_relevant():
    result = evaluate_list([1, 0, 1, 0, 1], [Recall @ 5, R_cap @ 5], judged=[1] * 7)
    assert result["Recall@5"] == 3 / 7
    assert result["R_cap@5"] == 3 / 5


def test_precision_recall_and_f1_at_every_rank_of_a_binary_list():
    measures = [measure @ k for measure in (Precision, Recall, F1) for k in range(1, 6)]
    result = evaluate_list([1, 0, 1, 0, 1], measures)
    hits = [1, 1, 2, 2, 3]
    for k, num_hits in enumerate(hits, start=1):
        precision, recall = num_hits / k, num_hits / 3
        assert result[f"P@{k}"] == precision
        assert result[f"R@{k}"] == recall
        assert result[f"F1@{k}"] == approx(2 * precision * recall / (precision + recall), rel=1e-15)


def test_average_precision_of_a_binary_list():
    assert evaluate_list([1, 0, 1, 0, 1], [MAP])["MAP"] == (1 + 2 / 3 + 3 / 5) / 3


def test_reciprocal_rank_of_a_list_that_is_relevant_only_at_5():
    assert evaluate_list([0, 0, 0, 0, 1], [MRR])["MRR"] == 1 / 5 == 0.2


def test_cg_dcg_and_ndcg_of_a_graded_list_at_every_cutoff():
    grades = [3, 2, 3, 0, 1]
    ideal = [3, 3, 2, 1, 0]
    measures = [
        measure @ k
        for measure in (CG, DCG, DCG(gain="exp"), nDCG, nDCG(gain="exp"))
        for k in range(1, 6)
    ]
    result = evaluate_list(grades, measures)
    assert result["CG@2"] == 3 + 2
    for k in range(1, 6):
        linear = sum(grade / log2(rank + 1) for rank, grade in enumerate(grades[:k], start=1))
        best = sum(grade / log2(rank + 1) for rank, grade in enumerate(ideal[:k], start=1))
        exp = sum((2**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades[:k], start=1))
        exp_best = sum(
            (2**grade - 1) / log2(rank + 1) for rank, grade in enumerate(ideal[:k], start=1)
        )
        assert result[f"CG@{k}"] == sum(grades[:k])
        assert result[f"DCG@{k}"] == approx(linear, rel=1e-15)
        assert result[f'DCG(gain="exp")@{k}'] == approx(exp, rel=1e-15)
        assert result[f"nDCG@{k}"] == approx(linear / best, rel=1e-15)
        assert result[f'nDCG(gain="exp")@{k}'] == approx(exp / exp_best, rel=1e-15)


def test_dcg_of_the_lists_of_a_well_known_tutorial():
    first = evaluate_list([5, 2, 4, 0, 1], [DCG @ 5, nDCG @ 5])
    assert first["DCG@5"] == approx(5 / 1 + 2 / log2(3) + 4 / 2 + 0 + 1 / log2(6), rel=1e-15)
    assert round(first["DCG@5"], 2) == 8.65
    second = evaluate_list([2, 0, 5, 1, 4], [DCG @ 5])
    assert second["DCG@5"] == approx(2 + 0 + 5 / 2 + 1 / log2(5) + 4 / log2(6), rel=1e-15)
    assert round(second["DCG@5"], 2) == 6.48


def test_ndcg_of_the_lists_of_a_well_known_tutorial():
    dcg_of_three = 5 + 2 / log2(3) + 4 / 2
    ndcg_of_three = evaluate_list([5, 2, 4], [nDCG @ 3])["nDCG@3"]
    assert ndcg_of_three == approx(dcg_of_three / (5 + 4 / log2(3) + 2 / 2), rel=1e-15)
    assert round(ndcg_of_three, 4) == 0.9693  # the tutorial prints .9694
    ndcg_of_five = evaluate_list([5, 2, 4, 0, 1], [nDCG @ 5])["nDCG@5"]
    ideal_of_five = 5 + 4 / log2(3) + 2 / 2 + 1 / log2(5)
    assert ndcg_of_five == approx((dcg_of_three + 1 / log2(6)) / ideal_of_five, rel=1e-15)
    assert round(ndcg_of_five, 4) == 0.9659  # the tutorial prints .9664


def test_the_ideal_covers_all_judgements_not_the_returned_ones():
    result = evaluate_list([5, 2, 4], [nDCG @ 5], judged=[5, 2, 4, 0, 1])
    ideal = 5 + 4 / log2(3) + 2 / 2 + 1 / log2(5)
    assert result["nDCG@5"] == approx((5 + 2 / log2(3) + 4 / 2) / ideal, rel=1e-15)
    assert round(result["nDCG@5"], 3) == 0.923


def test_dcg_and_ndcg_discount_the_grades_of_gold_answers_by_rank():
    qrels = {"q": {"Mjolnir": 3, "Stormbreaker": 2, "Jarnbjorn": 1}}
    run = Run.from_rankings({"q": ["Infinity Gauntlet", "Mjolnir", "Stormbreaker"]})
    result = evaluate(qrels, run, [DCG @ 3, nDCG @ 3])
    dcg, ideal = 3 / log2(3) + 2 / 2, 3 + 2 / log2(3) + 1 / 2
    assert result["DCG@3"] == approx(dcg, rel=1e-15)
    assert result["nDCG@3"] == approx(dcg / ideal, rel=1e-15)
    assert (round(dcg, 2), round(ideal, 2), round(result["nDCG@3"], 2)) == (2.89, 4.76, 0.61)


def test_infap_takes_a_negative_grade_as_pooled_but_not_judged():
    # At rank 2, the document above is pooled, and whether it is relevant is a guess of 1/2.
    qrels, run = {"q": {"pooled": -1, "relevant": 1}}, {"q": {"pooled": 2.0, "relevant": 1.0}}
    assert evaluate(qrels, run, ["infAP"])["infAP"] == approx(1 / 2 + 1 / 2 * 1 / 2, rel=1e-15)
    # If it is not even pooled, it counts as not relevant.
    unpooled = {"q": {"relevant": 1}}
    assert evaluate(unpooled, run, ["infAP@2"])["infAP@2"] == 1 / 2
    assert evaluate(unpooled, run, ["infAP@1"])["infAP@1"] == 0


def test_utility_weighs_the_documents_that_were_found_the_others_and_those_missed():
    # Of 5 relevant documents 2 were found, with 3 others.
    names = ["utility(relevant=3, other=-2, missed=-0.5)", "utility", "hits", "hits@2"]
    result = evaluate_list([1, 0, 0, 1, 0], names, judged=[1] * 5 + [0] * 3)
    assert [result[name] for name in names] == [3 * 2 - 2 * 3 - 0.5 * 3, 2 - 3, 2, 1]


def test_precision_at_a_multiple_of_r_is_taken_at_the_next_whole_rank():
    # R = 3, so the depth is 1.5 · 3 = 4.5, rounded up to 5; the last relevant document is there.
    result = evaluate_list([1, 1, 0, 0, 1], ["Rprec_mult(multiple=1.5)"])
    assert result["Rprec_mult(multiple=1.5)"] == 3 / 5


def test_eleven_point_average_precision_of_a_list_with_another_precision_at_every_point():
    # The i-th of 20 relevant documents is at rank 1 + 2 + … + i, with precision 2/(i + 1) there.
    ranks = {i * (i + 1) // 2 for i in range(1, 21)}
    grades = [int(rank in ranks) for rank in range(1, 211)]
    expected = (1 + sum(2 / (i + 1) for i in range(2, 21, 2))) / 11  # recall 0, 0.1, 0.2, …, 1
    assert evaluate_list(grades, ["AP_11pt"])["AP_11pt"] == approx(expected, rel=1e-15)


def test_normalized_gain_is_at_most_1_where_sums_of_gains_are_rounded():
    # 2^53 + 1 + 1 is rounded to 2^53 in the ideal order, but 1 + 1 + 2^53 is exact.
    result = evaluate_list([1, 1, 2**53], ["G"])
    assert result["G"] == 1


def test_ndcg_where_the_ideal_falls_of_one_query():
    name = "Rndcg"
    ideal_at_2 = 2 + 1 / log2(3)
    assert evaluate_list([2, 1], [name])[name] == 1
    # Depths 1 and 2 of the ideal ranking; the first relevant document is at rank 2.
    assert evaluate_list([0, 2], [name], judged=[2, 1])[name] == approx(
        2 / log2(3) / ideal_at_2 / 2
    )
    # The whole ranking counts too if it is two documents longer than the ideal one.
    with_tail = evaluate_list([0, 0, 1, 2], [name])[name]
    assert with_tail == approx((1 / 2 + 2 / log2(5)) / ideal_at_2 / 3)
    assert evaluate_list([0, 0, 0], [name])[name] == 0


def test_ndcg_where_the_ideal_falls_is_0_where_no_document_is_relevant():
    for name, grade in (("Rndcg(gain={0: 1})", 0), ("Rndcg(rel=3)", 2)):
        assert evaluate_list([grade, grade], [name])[name] == 0
