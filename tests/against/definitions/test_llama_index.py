"""What LlamaIndex's retrieval metric ``NDCG`` computes: the rows that begin with ``llama-index-``.

It takes the ids retrieved in order and the ids that are relevant, of one query.
"""

import math

import pytest
from llama_index.core.evaluation.retrieval.metrics import NDCG

from beir_eval import Run
from one_number import made_case, ours

pytestmark = [pytest.mark.peers, pytest.mark.slow]


def theirs(retrieved, relevant, **settings):
    """Return the score of one query."""
    return NDCG(**settings).compute(expected_ids=relevant, retrieved_ids=retrieved).score


@pytest.mark.row("llama-index-ndcg-cutoff")
def test_there_is_no_cutoff_and_the_ideal_ranking_has_all_relevant_documents():
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert theirs(["a"], ["a", "b", "c"]) == pytest.approx(1 / ideal, abs=1e-12)
    run = Run.from_rankings({"q": ["a"]})
    assert ours(qrels, run, "nDCG") == pytest.approx(1 / ideal, abs=1e-12)
    assert ours(qrels, run, "nDCG@1") == 1.0


@pytest.mark.row("llama-index-ndcg-grades")
def test_every_relevant_document_gains_one_in_both_modes():
    expected = (1 + 1 / math.log2(3)) / (1 + 1 / math.log2(3))
    for mode in ("linear", "exponential"):
        assert theirs(["b", "a"], ["a", "b"], mode=mode) == pytest.approx(expected, abs=1e-12)
    qrels, run = {"q": {"a": 2, "b": 1}}, Run.from_rankings({"q": ["b", "a"]})
    assert ours(qrels, run, "nDCG(gain={1: 1, 2: 1})") == pytest.approx(expected, abs=1e-12)
    assert ours(qrels, run, "nDCG") < 1


@pytest.mark.row("llama-index-ndcg-duplicates")
def test_a_document_retrieved_twice_gains_twice_so_that_the_score_may_exceed_one():
    assert theirs(["a", "a"], ["a"]) == pytest.approx(1 + 1 / math.log2(3), abs=1e-12)
    run = Run.from_rankings({"q": ["a", "a"]})
    assert ours({"q": {"a": 1}}, run, "nDCG", duplicates="keep") == 1.0


@pytest.mark.row("llama-index-ndcg-expected-twice")
def test_a_relevant_document_listed_twice_counts_twice_in_the_ideal_ranking():
    assert theirs(["a"], ["a", "a"]) == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-12)
    assert ours({"q": {"a": 1}}, Run.from_rankings({"q": ["a"]}), "nDCG") == 1.0


@pytest.mark.row("llama-index-ndcg-empty")
def test_an_empty_list_of_retrieved_or_relevant_documents_is_an_error():
    for retrieved, relevant in ((["a"], []), ([], ["a"])):
        with pytest.raises(ValueError, match="must be provided"):
            theirs(retrieved, relevant)
    qrels, run = {"q": {"a": 1}, "r": {"a": 0}}, Run.from_rankings({"q": [], "r": ["a"]})
    assert ours(qrels, run, "nDCG") == 0.0


def test_on_generated_rankings_every_score_is_equal_to_ndcg_without_a_cutoff():
    qrels, scores = made_case()
    rankings = {query: sorted(row, key=row.get, reverse=True) for query, row in scores.items()}
    expected = [
        theirs(rankings[query], [doc for doc, grade in judged.items() if grade])
        for query, judged in qrels.items()
    ]
    mean = sum(expected) / len(expected)
    assert ours(qrels, Run.from_rankings(rankings), "nDCG") == pytest.approx(mean, abs=1e-12)
