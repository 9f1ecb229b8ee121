"""What trec_eval, pytrec_eval and ir_measures compute: the rows that begin with their names."""

import math
import shutil
from fractions import Fraction

import ir_measures
import pytest
import pytrec_eval

from beir_eval import Run, evaluate
from beir_eval.integrations.pytrec_eval import RelevanceEvaluator
from one_number import ours

pytestmark = pytest.mark.peers

HALF_QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
HALF_RUN = {"q1": {"a": 1.0}}
TIED = {"q": {"a": 1.0, "b": 1.0}}
#: Recall .4 of three relevant documents is 1.2 documents, which round to 1 or 2.
THREE_RELEVANT = {"q": {"a": 1, "b": 1, "c": 1}}
RELEVANT_AT_1_3_4 = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}}
needs_perl = pytest.mark.skipif(not shutil.which("perl"), reason="gdeval is a Perl script")


def by_pytrec_eval(qrels, run, name, key=None):
    scores = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
    return {query: values[key or name.replace(".", "_")] for query, values in scores.items()}


def by_ir_measures(qrels, run, name):
    (value,) = ir_measures.calc_aggregate([ir_measures.parse_measure(name)], qrels, run).values()
    return value


@pytest.mark.row("pytrec-eval-missing")
def test_pytrec_eval_has_no_entry_for_a_query_that_the_run_lacks():
    assert by_pytrec_eval(HALF_QRELS, HALF_RUN, "map") == {"q1": 1.0}
    assert ours(HALF_QRELS, HALF_RUN, "MAP") == 1 / 2
    assert ours(HALF_QRELS, HALF_RUN, "MAP", missing="skip") == 1.0


@pytest.mark.row("pytrec-eval-ties")
def test_pytrec_eval_keeps_scores_as_float32():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.1234567891, "b": 0.1234567890}}
    assert by_pytrec_eval(qrels, run, "recip_rank") == {"q": 1 / 2}
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", ties="trec_eval9") == 1 / 2


@pytest.mark.row("pytrec-eval-grades")
def test_pytrec_eval_refuses_fractional_grades():
    qrels, run = {"q": {"a": 0.5, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(TypeError):
        by_pytrec_eval(qrels, run, "ndcg")
    expected = (0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3))
    assert ours(qrels, run, "nDCG") == pytest.approx(expected, abs=1e-15)


@pytest.mark.row("pytrec-eval-recip-rank")
def test_recip_rank_has_no_cutoff():
    qrels = {"q": {"a": 1}}
    run = {"q": {doc: -float(position) for position, doc in enumerate("bcdefghijka")}}
    assert by_pytrec_eval(qrels, run, "recip_rank") == {"q": 1 / 11}
    assert ours(qrels, run, "MRR@10") == 0.0
    assert ours(qrels, run, "MRR") == 1 / 11


@pytest.mark.row("pytrec-eval-iprec")
def test_pytrec_eval_rounds_a_recall_level_up_to_more_documents():
    theirs = by_pytrec_eval(
        THREE_RELEVANT, RELEVANT_AT_1_3_4, "iprec_at_recall.0.4", "iprec_at_recall_0.40"
    )
    assert theirs == {"q": 3 / 4}
    assert ours(THREE_RELEVANT, RELEVANT_AT_1_3_4, "IPrec(recall=0.4)") == 3 / 4
    # Precision is 1 up to recall .3 in trec_eval 9, then 3/4.
    eleven_points = by_pytrec_eval(THREE_RELEVANT, RELEVANT_AT_1_3_4, "11pt_avg")["q"]
    assert eleven_points == pytest.approx((4 * 1 + 7 * 3 / 4) / 11, abs=1e-15)
    assert ours(THREE_RELEVANT, RELEVANT_AT_1_3_4, "AP_11pt") == eleven_points


@pytest.mark.row("pytrec-eval-gm-map")
@pytest.mark.parametrize("name", ["gm_map", "gm_bpref"])
def test_the_geometric_means_of_pytrec_eval_are_logarithms_by_query(name):
    qrels = {"q1": {"a": 1, "b": 1, "n": 0}, "q2": {"c": 1}}
    run = {"q1": {"a": 3.0, "n": 2.0}, "q2": {"x": 1.0}}
    logarithms = by_pytrec_eval(qrels, run, name)
    assert logarithms == {"q1": math.log(1 / 2), "q2": math.log(0.00001)}
    mean = pytrec_eval.compute_aggregated_measure(name, list(logarithms.values()))
    result = evaluate(qrels, run, [name])
    assert result.scores(name).tolist() == [1 / 2, 0.00001]
    assert result[name] == pytest.approx(mean, rel=1e-15)
    drop_in = RelevanceEvaluator(qrels, {name}).evaluate(run)
    assert {query: values[name] for query, values in drop_in.items()} == logarithms


@pytest.mark.row("ir-measures-missing")
def test_ir_measures_counts_a_query_that_the_run_lacks_as_zero():
    for name in ("nDCG@10", "AP", "R@10", "P@1", "RR", "RR@10"):
        assert by_ir_measures(HALF_QRELS, HALF_RUN, name) == 1 / 2
        assert ours(HALF_QRELS, HALF_RUN, name) == 1 / 2
    assert ours(HALF_QRELS, HALF_RUN, "nDCG@10", missing="zero") == 1 / 2


@pytest.mark.row("ir-measures-rr-ties")
def test_rr_with_a_cutoff_breaks_ties_in_the_opposite_order_of_rr_without():
    qrels = {"q": {"a": 1}}
    assert by_ir_measures(qrels, TIED, "RR") == 1 / 2
    assert by_ir_measures(qrels, TIED, "RR@10") == 1.0
    assert ours(qrels, TIED, "RR") == ours(qrels, TIED, "RR@10") == 1 / 2
    ascending = {"q": dict(sorted(TIED["q"].items()))}
    assert ours(qrels, ascending, "RR@10", ties="input") == 1.0


@pytest.mark.row("ir-measures-accuracy")
def test_accuracy_of_ir_measures_is_a_share_of_pairs_of_documents():
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert by_ir_measures(qrels, run, "Accuracy") == 1 - 1 / 2  # one of two others is above b
    assert ours(qrels, run, "Accuracy") == 1.0
    assert list(evaluate(qrels, run, ["Accuracy"]).as_dict()) == ["Success"]


@needs_perl
@pytest.mark.row("ir-measures-err")
def test_err_of_ir_measures_assumes_a_highest_grade_of_four_and_rounds():
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 2.0, "b": 1.0}}
    theirs = by_ir_measures(qrels, run, "ERR@10")
    assert theirs == (2**1 - 1) / 2**4
    assert ours(qrels, run, "ERR@10") == (2**1 - 1) / 2**1
    assert ours(qrels, run, "ERR(max_grade=4)@10") == theirs
    second_relevant = {"1": {"b": 1}}
    assert by_ir_measures(second_relevant, run, "ERR@10") == round(1 / 2 / 16, 5)
    assert ours(second_relevant, run, "ERR(max_grade=4)@10") == 1 / 2 / 16


@needs_perl
@pytest.mark.row("ir-measures-ndcg-exp")
def test_ndcg_with_the_exponential_gain_rounds_to_five_digits():
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert by_ir_measures(qrels, run, "nDCG(dcg='exp-log2')@10") == round(expected, 5)
    assert ours(qrels, run, "nDCG@10") == pytest.approx(
        (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)), abs=1e-15
    )
    assert ours(qrels, run, 'nDCG(gain="exp")@10') == pytest.approx(expected, abs=1e-15)


@pytest.mark.row("ir-measures-iprec")
def test_ir_measures_rounds_a_recall_level_up_to_more_documents():
    assert by_ir_measures(THREE_RELEVANT, RELEVANT_AT_1_3_4, "IPrec@0.4") == 3 / 4
    assert ours(THREE_RELEVANT, RELEVANT_AT_1_3_4, "IPrec(recall=0.4)") == 3 / 4


@pytest.mark.row("ir-measures-judged")
def test_judged_divides_by_the_number_retrieved_and_orders_ties_ascending():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}}
    assert by_ir_measures(qrels, run, "Judged@10") == 1 / 2
    assert ours(qrels, run, "Judged@10") == 1 / 2
    assert by_ir_measures(qrels, TIED, "Judged@1") == 1.0
    assert ours(qrels, TIED, "Judged@1") == 0.0
    ranked = Run.from_rankings({"q": sorted(TIED["q"])})
    assert ours(qrels, ranked, "Judged@1") == 1.0


@pytest.mark.row("trec-eval-fused")
def test_a_fused_multiply_add_needs_one_relevant_document_more_for_a_recall_level():
    rounded_twice, rounded_once = 0.7 * 3 + 0.9, float(Fraction(0.7) * 3 + Fraction(0.9))
    assert (int(rounded_twice), int(rounded_once)) == (2, 3)
    run = {"q": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}}
    assert ours(THREE_RELEVANT, run, "IPrec(recall=0.7)") == 2 / 2
    assert ours(THREE_RELEVANT, run, "IPrec(recall=0.71)") == 3 / 4
    theirs = by_pytrec_eval(THREE_RELEVANT, run, "iprec_at_recall.0.7", "iprec_at_recall_0.70")
    assert theirs in ({"q": 2 / 2}, {"q": 3 / 4})  # as its wheel was compiled; on x86-64 2/2
