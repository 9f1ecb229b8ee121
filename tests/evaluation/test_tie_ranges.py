"""The range of a mean over the orders of documents with equal scores."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from beir_eval import Evaluator, compare_runs, evaluate
from beir_eval.errors import QueryMismatchError
from beir_eval.measures import registry

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

QRELS = {"q1": {"r": 1, "n": 0}, "q2": {"r": 2, "s": 1}}
#: Different as double, equal as float32.
NEAR = {"q1": {"r": 0.1234567890, "x": 0.1234567891}, "q2": {"r": 1.0, "x": 0.5}}


@pytest.mark.parametrize(("ties", "high"), [("trec_eval9", 1.0), ("trec_eval10", 0.75)])
def test_scores_that_are_equal_as_float32_are_ties_under_the_rule_that_compares_float32(ties, high):
    assert Evaluator(QRELS, "MRR", ties=ties).tie_ranges(NEAR) == {"MRR": (0.75, high)}


@pytest.mark.parametrize("measure", ["nDCG@2", "MAP", "MRR", "Recall@2", "gm_map", "num_rel_ret@2"])
def test_the_range_is_that_over_all_orders_given(measure):
    runs = {"q1": {"r": 2.0, "x": 1.0, "n": 1.0}, "q2": {"y": 1.0, "r": 1.0, "s": 1.0}}
    orders = [
        [
            dict(sorted(order, key=lambda entry: -entry[1]))
            for order in permutations(runs[query].items())
        ]
        for query in QRELS
    ]
    means = [
        evaluate(QRELS, dict(zip(QRELS, chosen, strict=True)), measure, ties="input")[measure]
        for chosen in product(*orders)
    ]
    [(low, high)] = Evaluator(QRELS, measure, ties="input").tie_ranges(runs).values()
    assert (low, high) == pytest.approx((min(means), max(means)), abs=1e-15)


def test_without_ties_both_ends_are_the_mean_and_measures_without_such_extremes_have_none():
    run = {"q1": {"x": 2.0, "r": 1.0}, "q2": {"r": 1.0}}
    ranges = Evaluator(QRELS, ["MRR", "Judged@2"]).tie_ranges(run)
    assert ranges == {"MRR": (0.75, 0.75)}


def test_where_lower_is_better_the_best_order_of_ties_gives_the_lowest_score(monkeypatch):
    for registered_names in ("_DEFINITIONS", "_ALIASES"):
        monkeypatch.setattr(registry, registered_names, dict(getattr(registry, registered_names)))

    def not_relevant_upto(matrix, *, cutoff=None):
        """Return the number of judged documents among the first k that are not relevant."""
        cells = matrix.cells.upto(cutoff)
        return matrix.count(cells.row[cells.grade == 0])

    measure = registry.measure("not_relevant", bounds=None, higher_is_better=False)
    measure = measure(not_relevant_upto) @ 1
    tied = {"q1": {"r": 1.0, "n": 1.0}, "q2": {"r": 1.0}}
    mean_of = {ties: evaluate(QRELS, tied, measure, ties=ties) for ties in ("best", "worst")}
    assert [mean_of[ties][measure] for ties in ("best", "worst")] == [0, 0.5]
    runs = {"a": tied, "b": {"q1": {"x": 1.0}, "q2": {"r": 1.0}}}
    [tie_range] = compare_runs(QRELS, runs, measure, on="any-judgements").ties
    assert (tie_range.low, tie_range.high) == (0, 0.5)


def test_the_queries_are_those_of_the_mean():
    qrels = QRELS | {"q3": {"n": 0}}
    tied = {"q1": {"r": 1.0, "x": 1.0}, "q3": {"n": 1.0, "x": 1.0}}
    skipping = Evaluator(qrels, "MRR", missing="skip", no_relevant="skip")
    assert skipping.tie_ranges(tied) == {"MRR": (0.5, 1.0)}
    assert Evaluator(qrels, "MRR").tie_ranges(tied) == {"MRR": (0.5 / 3, 1 / 3)}
    with pytest.raises(QueryMismatchError):
        Evaluator(qrels, "MRR", missing="error").tie_ranges(tied)


def test_a_comparison_has_the_ranges_of_an_evaluation():
    rng = np.random.default_rng(3)
    qrels = {f"q{n}": {f"d{m}": int(rng.integers(3)) for m in range(4)} for n in range(12)}
    runs = {
        name: {
            query: {f"d{m}": 0.1 + 1e-9 * float(rng.integers(9)) for m in range(7)}
            for query in qrels
        }
        for name in "ab"
    }
    comparison = compare_runs(qrels, runs, ["nDCG@3", "MAP"], draws=100)
    evaluator = Evaluator(qrels, ["nDCG@3", "MAP"])
    for system, run in runs.items():
        compared = {ties.measure: ties for ties in comparison.ties if ties.system == system}
        for measure, ends in evaluator.tie_ranges(run).items():
            assert math.isclose(compared[measure].low, ends[0], abs_tol=1e-15)
            assert math.isclose(compared[measure].high, ends[1], abs_tol=1e-15)
