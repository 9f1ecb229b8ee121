"""Measures that compare the depths of systems: a sentence, and a gate that does not decide."""

import pytest

from beir_eval import (
    Comparison,
    EvaluationResult,
    assert_no_regression,
    check_gate,
    compare,
    compare_runs,
    evaluate,
)
from beir_eval.errors import InputError

QRELS = {f"q{query}": {f"q{query}-{number}": 1 for number in (1, 2, 20, 30)} for query in range(12)}
DEEP = {query: {f"{query}-{rank}": -rank for rank in range(40)} for query in QRELS}
TOP = {query: dict(list(ranking.items())[:10]) for query, ranking in DEEP.items()}
SENTENCE = "documents below rank 10 are missing from top (deep has 40)"


@pytest.mark.parametrize(
    ("measure", "compares_depths"),
    [("MAP", True), ("Recall@20", True), ("nDCG@10", False), ("Precision@5", False), ("MRR", True)],
)
def test_a_cutoff_within_both_rankings_compares_no_depths(measure, compares_depths):
    comparison = compare_runs(QRELS, {"top": TOP, "deep": DEEP}, [measure], baseline="deep")
    assert any(SENTENCE in note for note in comparison.notes()) is compares_depths
    [check] = check_gate(comparison)
    assert (check.outcome == "undecided") is compares_depths
    if compares_depths:
        remedy = f"{SENTENCE}. Check a cutoff of at most 10, or all the same with allow_unequal_"
        assert check.reason.startswith(f"top vs deep, {measure}: {remedy}")
        [allowed] = check_gate(comparison, allow_unequal_depth=True)
        assert allowed.outcome != "undecided"


@pytest.mark.parametrize("baseline", ["top", "deep"])
def test_the_verdict_names_the_shallower_system_and_each_output_says_it_once(baseline):
    comparison = compare_runs(QRELS, {"top": TOP, "deep": DEEP}, ["MAP"], baseline=baseline)
    assert ", with only 10 documents of top\n" in str(comparison)
    assert comparison.to_latex().count(SENTENCE) == str(comparison).count(SENTENCE) == 1
    lacking = {"top": {query: TOP[query] for query in list(TOP)[1:]}, "deep": DEEP}
    first = str(compare_runs(QRELS, lacking, ["MAP"], baseline=baseline)).splitlines()[0]
    assert first.endswith(", with 1 query missing and only 10 documents of top")


def test_saved_results_and_saved_comparisons_know_the_depths(tmp_path):
    for name, run in (("top", TOP), ("deep", DEEP)):
        evaluate(QRELS, run, ["MAP"], name=name).save(tmp_path / f"{name}.json")
    results = [EvaluationResult.load(tmp_path / f"{name}.json") for name in ("top", "deep")]
    comparison = compare(results, baseline="deep", measures="MAP")
    comparison.save(tmp_path / "comparison.json")
    for known in (comparison, Comparison.load(tmp_path / "comparison.json")):
        assert any(SENTENCE in note for note in known.notes())
        assert check_gate(known)[0].outcome == "undecided"
    paths = tmp_path / "top.json", tmp_path / "deep.json"
    with pytest.raises(InputError, match="allow_unequal_depth=True"):
        assert_no_regression(*paths, "MAP")
    with pytest.raises(AssertionError, match="worse"):
        assert_no_regression(*paths, "MAP", allow_unequal_depth=True)


def test_rankings_that_are_sometimes_shorter_are_of_equal_depth():
    """A retriever may find fewer documents for some queries: only the longest ranking counts."""
    shorter = {**DEEP, "q1": TOP["q1"], "q2": TOP["q2"]}
    comparison = compare_runs(QRELS, {"a": shorter, "deep": DEEP}, ["MAP"], baseline="deep")
    assert check_gate(comparison)[0].outcome != "undecided"


def test_of_many_systems_the_shallowest_and_the_deepest_are_named():
    runs = {
        f"s{depth}": {query: dict(list(ranking.items())[:depth]) for query, ranking in DEEP.items()}
        for depth in (5, 10, 15, 20, 25, 40)
    }
    notes = compare_runs(QRELS, runs, ["MAP"], baseline="s40").notes()
    named = "below rank 5 are missing from s5 (s40 has 40)"
    assert sum(named in note for note in notes) == 1
