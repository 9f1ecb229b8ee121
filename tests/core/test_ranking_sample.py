"""A sample has whole rankings as they were given, and the ranks that a file states."""

import numpy as np
import pytest

from beir_eval import Qrels, Run
from beir_eval.core.ranking_sample import RankingSample, Sampler, stated_rankings

QRELS = Qrels({"q1": {"a": 1}, "q2": {"b": 1}})


def test_all_rankings_of_a_run_are_taken_those_of_queries_without_judgements_too():
    run = Run({"q2": {"b": 2.0, "c": 1.0}, "other": {"x": 3.0}})
    sample = RankingSample.of_run(run, QRELS)
    assert (sample.rows.tolist(), sample.starts.tolist()) == ([1, -1], [0, 2, 3])
    assert (list(sample.doc_ids), sample.scores.tolist()) == (["b", "c", "x"], [2, 1, 3])


def test_rankings_without_scores_have_none():
    ranked = Run.from_rankings({"q1": ["a", "b"]})
    assert RankingSample.of_run(ranked, QRELS).scores is None
    assert RankingSample.of_run(Run({}), QRELS).scores is None


def sampled(run, qrels=QRELS):
    sampler = Sampler(len(qrels))
    for block in run.blocks(qrels):
        sampler.add(block)
    return sampler.sample()


def test_a_sampler_keeps_the_scores_or_the_order_of_judged_queries():
    sample = sampled(Run({"q1": {"a": 2.0, "b": 1.0}, "other": {"x": 3.0}}))
    assert (list(sample.doc_ids), sample.scores.tolist()) == (["a", "b"], [2, 1])
    ordered = sampled(Run.from_rankings({"q2": ["c", "b"]}))
    assert (list(ordered.doc_ids), ordered.scores) == (["c", "b"], None)


def test_of_many_queries_some_are_kept():
    qrels = Qrels({f"q{number:03}": {"a": 1} for number in range(200)})
    run = Run({query: {"a": 1.0} for query in qrels.query_ids})
    rows = sampled(run, qrels).rows.tolist()
    assert (len(rows), rows[0]) == (60, 0)
    left_out = next(row for row in range(200) if row not in rows)
    assert not len(sampled(Run({f"q{left_out:03}": {"a": 1.0}}), qrels).rows)


def test_of_a_long_ranking_the_documents_with_the_highest_scores_are_kept():
    documents = [f"d{number}" for number in range(150)]
    for scores, kept in ((range(150), documents[50:]), (range(150, 0, -1), documents[:100])):
        run = Run({"q1": dict(zip(documents, scores, strict=True))})
        assert list(sampled(run).doc_ids) == kept


@pytest.mark.parametrize("lines", [[], [("q", "first", 1.0)], [("q", "nan", 1.0)]])
def test_without_lines_or_numbers_no_ranks_are_stated(lines):
    assert stated_rankings(lines) == []


def test_stated_ranks_are_those_of_each_query_in_the_order_of_the_lines():
    lines = [("q1", "1", 9.0), ("q2", "1", 5.0), ("q1", "2", 8.0)]
    rankings = stated_rankings(lines)
    assert [(query, ranks.tolist(), scores.tolist()) for query, ranks, scores in rankings] == [
        ("q1", [1, 2], [9, 8]),
        ("q2", [1], [5]),
    ]
    assert rankings[0][2].dtype == np.float64
