"""What ``_rank_eval`` of Elasticsearch and OpenSearch computes: the rows with ``rank-eval-``.

No server is started: ``theirs`` is the arithmetic of their class ``DiscountedCumulativeGain``.
"""

import math

import pytest

from beir_eval import Run
from one_number import ours


def dcg(ratings):
    """Return the sum of (2^rating - 1) / log2(rank + 1); None is a document without a rating."""
    return sum(
        (2**rating - 1) / math.log2(rank + 1)
        for rank, rating in enumerate(ratings, 1)
        if rating is not None
    )


def theirs(ratings, hits, k, *, unknown_doc_rating=None):
    """Return the metric dcg with normalize=true for one request."""
    retrieved = [ratings.get(doc, unknown_doc_rating) for doc in hits[:k]]
    ideal = dcg(sorted(ratings.values(), reverse=True)[: len(retrieved)])
    return dcg(retrieved) / ideal if ideal else 0.0


@pytest.mark.row("rank-eval-default")
def test_without_normalize_the_metric_is_dcg_with_exponential_gain():
    qrels, run = {"q": {"a": 1, "b": 3}}, Run.from_rankings({"q": ["a", "x", "b"]})
    expected = 1 + 7 / 2
    assert dcg([1, None, 3]) == expected
    assert ours(qrels, run, 'DCG(gain="exp")@10') == pytest.approx(expected, abs=1e-12)
    assert ours(qrels, run, "nDCG@10") < 1


@pytest.mark.row("rank-eval-gain")
def test_with_k_hits_the_normalized_metric_is_ndcg_with_exponential_gain():
    ratings, hits = {"a": 1, "b": 3, "c": 2, "d": 0}, ["a", "x", "b"]
    run = Run.from_rankings({"q": hits})
    expected = theirs(ratings, hits, 3)
    assert expected == pytest.approx((1 + 7 / 2) / (7 + 3 / math.log2(3) + 1 / 2), abs=1e-12)
    assert ours({"q": ratings}, run, 'nDCG(gain="exp")@3') == pytest.approx(expected, abs=1e-12)
    assert ours({"q": ratings}, run, "nDCG@3") != pytest.approx(expected, abs=1e-3)


@pytest.mark.row("rank-eval-ideal")
def test_the_ideal_ranking_has_no_more_documents_than_hits():
    ratings, run = {"a": 1, "b": 1}, Run.from_rankings({"q": ["a"]})
    assert theirs(ratings, ["a"], 10) == 1.0
    expected = 1 / (1 + 1 / math.log2(3))
    assert ours({"q": ratings}, run, 'nDCG(gain="exp")@10') == pytest.approx(expected, abs=1e-12)


@pytest.mark.row("rank-eval-unknown")
def test_an_unrated_document_gains_nothing_unless_unknown_doc_rating_is_set():
    ratings, hits = {"a": 1}, ["x", "a"]
    run = Run.from_rankings({"q": hits})
    expected = 1 / math.log2(3)
    assert theirs(ratings, hits, 2) == pytest.approx(expected, abs=1e-12)
    assert ours({"q": ratings}, run, 'nDCG(gain="exp")@2') == pytest.approx(expected, abs=1e-12)
    # The unknown rating is not in the ideal ranking, so that the score may exceed 1.
    assert theirs(ratings, hits, 2, unknown_doc_rating=1) == pytest.approx(1 + expected, abs=1e-12)


@pytest.mark.row("rank-eval-no-relevant")
def test_a_request_with_nothing_relevant_scores_zero_and_is_averaged():
    qrels, hits = {"q": {"a": 0}, "r": {"a": 1}}, ["a"]
    expected = (theirs(qrels["q"], hits, 10) + theirs(qrels["r"], hits, 10)) / 2
    run = Run.from_rankings(dict.fromkeys(qrels, hits))
    assert expected == 1 / 2
    assert ours(qrels, run, 'nDCG(gain="exp")@10', no_relevant="zero") == expected
