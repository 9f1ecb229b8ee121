"""What Haystack's document evaluators compute: the rows that begin with ``haystack-``."""

import math

import pytest
from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)

from beir_eval import Run
from beir_eval.errors import BeirEvalError
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
from one_number import ours

pytestmark = pytest.mark.peers


def texts(contents, **fields):
    return [Document(content=content, **fields) for content in contents]


def score(evaluator, truth, retrieved):
    lists = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    return evaluator.run(**lists)["score"]


def beir_eval(measure, truth, retrieved, **settings):
    lists = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    return BEIREvaluator([measure], **settings).run(**lists)["metrics"][measure]


@pytest.mark.row("haystack-cutoff")
def test_no_evaluator_has_a_cutoff():
    truth = [texts("a")]
    retrieved = [texts([*"bcdefghijk", "a"])]  # a is at rank 11
    assert score(DocumentNDCGEvaluator(), truth, retrieved) == 1 / math.log2(12)
    assert score(DocumentMRREvaluator(), truth, retrieved) == 1 / 11
    assert beir_eval("nDCG@10", truth, retrieved) == 0.0
    assert beir_eval("nDCG", truth, retrieved) == 1 / math.log2(12)
    assert beir_eval("MRR", truth, retrieved) == 1 / 11


@pytest.mark.row("haystack-gain")
def test_ndcg_takes_ground_truth_scores_as_gains_and_all_of_them_for_the_ideal():
    truth = [[*texts("a", score=3.0), *texts("b", score=1.0), *texts("c", score=2.0)]]
    retrieved = [texts("ba")]
    expected = (1 + 3 / math.log2(3)) / (3 + 2 / math.log2(3) + 1 / 2)
    assert score(DocumentNDCGEvaluator(), truth, retrieved) == pytest.approx(expected, abs=1e-15)
    assert beir_eval("nDCG@10", truth, retrieved) == pytest.approx(expected, abs=1e-15)
    exponential = beir_eval('nDCG(gain="exp")', truth, retrieved)
    assert exponential == pytest.approx(
        (1 + 7 / math.log2(3)) / (7 + 3 / math.log2(3) + 1 / 2), abs=1e-15
    )


@pytest.mark.row("haystack-match")
def test_documents_match_by_content_whatever_their_ids():
    truth = [[Document(id="1", content="Paris")]]
    retrieved = [[Document(id="2", content="Paris")]]
    assert score(DocumentMRREvaluator(), truth, retrieved) == 1.0
    assert beir_eval("MRR", truth, retrieved) == 1.0
    by_id = {"document_comparison_field": "id"}
    assert score(DocumentMRREvaluator(**by_id), truth, retrieved) == 0.0
    assert beir_eval("MRR", truth, retrieved, **by_id) == 0.0


@pytest.mark.row("haystack-order")
def test_the_order_of_the_list_ranks_and_not_the_scores():
    truth = [texts("a")]
    retrieved = [[*texts("a", score=1.0), *texts("b", score=2.0)]]
    assert score(DocumentMRREvaluator(), truth, retrieved) == 1.0
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}
    assert ours(qrels, run, "MRR") == 1 / 2
    assert ours(qrels, run, "MRR", order="given") == 1.0


@pytest.mark.row("haystack-duplicates")
def test_a_duplicate_takes_up_a_rank_and_gains_nothing():
    qrels, ranked = {"q": {"a": 1, "b": 1}}, Run.from_rankings({"q": ["a", "a", "b"]})
    truth, retrieved = [texts("ab")], [texts("aab")]
    expected_map = (1 + 2 / 3) / 2
    assert score(DocumentMAPEvaluator(), truth, retrieved) == expected_map
    expected_ndcg = (1 + 1 / 2) / (1 + 1 / math.log2(3))
    assert score(DocumentNDCGEvaluator(), truth, retrieved) == pytest.approx(
        expected_ndcg, abs=1e-15
    )
    ndcg = beir_eval("nDCG", truth, retrieved, duplicates="keep")
    assert ndcg == pytest.approx(expected_ndcg, abs=1e-15)
    with pytest.raises(BeirEvalError, match="more than once"):
        ours(qrels, ranked, "MAP")
    assert beir_eval("MAP", truth, retrieved) == 1.0
    assert beir_eval("MAP", truth, retrieved, duplicates="keep") == expected_map
    assert ours(qrels, ranked, "MAP", duplicates="keep") == expected_map


@pytest.mark.row("haystack-map")
def test_map_divides_by_the_number_of_distinct_ground_truth_documents():
    truth, retrieved = [texts("abcc")], [texts("axb")]
    expected = (1 / 1 + 2 / 3) / 3
    assert score(DocumentMAPEvaluator(), truth, retrieved) == pytest.approx(expected, abs=1e-15)
    assert beir_eval("MAP", truth, retrieved) == pytest.approx(expected, abs=1e-15)


@pytest.mark.row("haystack-recall-single")
def test_recall_in_its_default_mode_is_whether_anything_relevant_was_retrieved():
    truth, retrieved = [texts("abc")], [texts("ax")]
    assert score(DocumentRecallEvaluator(), truth, retrieved) == 1.0
    assert beir_eval("Recall", truth, retrieved) == 1 / 3
    assert beir_eval("Success", truth, retrieved) == 1.0


@pytest.mark.row("haystack-recall-multi")
def test_recall_of_mode_multi_hit_is_recall_of_the_whole_list():
    truth, retrieved = [texts("ab")], [texts([*"cdefghijkl", "a"])]
    theirs = score(DocumentRecallEvaluator(mode="multi_hit"), truth, retrieved)
    assert theirs == 1 / 2
    assert beir_eval("Recall@10", truth, retrieved) == 0.0
    assert beir_eval("Recall", truth, retrieved) == 1 / 2


@pytest.mark.row("haystack-grade-zero")
def test_a_ground_truth_document_of_score_zero_is_relevant_except_for_ndcg():
    truth, retrieved = [[*texts("a", score=0.0), *texts("b", score=1.0)]], [texts("ab")]
    assert score(DocumentMAPEvaluator(), truth, retrieved) == 1.0
    assert beir_eval("MAP", truth, retrieved) == 1 / 2
    assert score(BEIREvaluator.haystack_compatible(primary="MAP"), truth, retrieved) == 1.0
    assert score(DocumentMRREvaluator(), truth, retrieved) == 1.0
    assert beir_eval("MRR", truth, retrieved) == 1 / 2
    for mode in ("single_hit", "multi_hit"):
        arguments = DocumentRecallEvaluator(mode=mode), truth, [texts("a")]
        assert score(*arguments) == {"single_hit": 1.0, "multi_hit": 1 / 2}[mode]
    assert beir_eval("Recall", truth, [texts("a")]) == 0.0
    assert score(DocumentNDCGEvaluator(), truth, retrieved) == 1 / math.log2(3)


@pytest.mark.row("haystack-no-truth")
def test_a_query_without_ground_truth_is_averaged_as_zero():
    truth, retrieved = [texts("a"), []], [texts("a"), texts("b")]
    for evaluator in (
        DocumentMAPEvaluator(),
        DocumentMRREvaluator(),
        DocumentNDCGEvaluator(),
        DocumentRecallEvaluator(mode="single_hit"),
        DocumentRecallEvaluator(mode="multi_hit"),
    ):
        assert score(evaluator, truth, retrieved) == 1 / 2
    with pytest.raises(BeirEvalError):
        beir_eval("MRR", truth, retrieved)
    assert beir_eval("MRR", truth, retrieved, unjudged="skip") == 1.0
    assert beir_eval("MRR", truth, retrieved, unjudged="zero") == 1 / 2


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
@pytest.mark.row("haystack-empty")
def test_documents_whose_content_is_empty_match_each_other():
    truth, retrieved = [texts(["", "a"])], [texts(["", "a"])]
    assert score(DocumentMAPEvaluator(), truth, retrieved) == 1.0
    ours_by_default = beir_eval("MAP", truth, retrieved)
    assert ours_by_default == (1 / 2) / 2  # "" counts as never found, and "a" is at rank 2
    assert score(BEIREvaluator.haystack_compatible(primary="MAP"), truth, retrieved) == 1.0
