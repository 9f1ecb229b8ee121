"""How alike the top documents of two systems are, as a part of a comparison."""

import numpy as np
import pytest

from beir_eval import Run, compare, compare_runs, evaluate
from beir_eval.comparison import rank_similarity, tables
from beir_eval.errors import SettingError

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")


def everywhere(ranking):
    return Run.from_rankings({f"q{n:02}": ranking for n in range(12)})


def test_likeness_is_known_from_results_that_keep_their_rankings():
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    runs = {"a": everywhere(["r", "x"]), "b": everywhere(["x", "r"])}
    with_rankings, without = (
        [evaluate(qrels, run, "MRR", name=name, keep_top=kept) for name, run in runs.items()]
        for kept in (10, 0)
    )
    [pair] = compare(with_rankings).likeness
    assert (pair.system, pair.against, pair.overlap, pair.kendall_distance) == ("b", "a", 1, 1)
    assert [pair] == list(compare_runs(qrels, runs, "MRR").likeness)
    assert compare(without).likeness is None


@pytest.mark.parametrize(("limit", "most"), [("MOST_PAIRS", 3), ("MOST_RANKING_PAIRS", 3 * 2)])
def test_likeness_is_left_out_beyond_a_number_of_pairs_and_rankings(monkeypatch, limit, most):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {name: {query: {"a": 1.0, name: 2.0} for query in qrels} for name in "xyz"}
    monkeypatch.setattr(rank_similarity, limit, most)
    assert len(compare_runs(qrels, runs, "MRR").likeness) == 3
    monkeypatch.setattr(rank_similarity, limit, most - 1)
    assert compare_runs(qrels, runs, "MRR").likeness is None


def test_likeness_compares_the_first_documents_of_each_query():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}, "q3": {"r": 1}}
    a = {"q1": {"r": 3.0, "x": 2.0}, "q2": {"r": 3.0, "x": 2.0}, "q3": {}}
    b = {"q1": {"r": 3.0, "x": 2.0}, "q2": {"x": 3.0, "r": 2.0, "z": 1.0}}
    comparison = compare_runs(qrels, {"a": a, "b": b}, "MRR", likeness_k=2)
    [pair] = comparison.likeness
    assert (pair.system, pair.against, pair.k) == ("b", "a", 2)
    assert (pair.overlap, pair.kendall_distance) == (1, 1 / 2)
    assert pair.rbo_lowest <= pair.rbo <= pair.rbo_highest
    by_query = pair.values.array.T
    assert by_query[1] == pytest.approx([0.9, 1, 1])
    assert np.isnan(by_query[2]).all()


def test_systems_without_a_query_in_common_have_no_likeness():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    runs = {"a": {"q1": {"r": 1.0}}, "b": {"q2": {"r": 1.0}}}
    comparison = compare_runs(qrels, runs, "MRR")
    assert (comparison.likeness[0].rbo, comparison.likeness[0].overlap) == (None, None)
    assert "| b      |       a |   ? |" in tables.likeness_table(comparison.likeness).markdown()


@pytest.mark.parametrize("depth", [0, -1, 1.5, True])
def test_an_invalid_depth_of_likeness_is_refused(depth):
    with pytest.raises(SettingError, match="likeness_k must be a whole number above 0"):
        compare_runs({"q": {"r": 1}}, {}, likeness_k=depth)


def test_likeness_states_how_many_documents_the_results_have_kept():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 9.0} | {f"x{n}": 8.0 - n for n in range(8)} for query in qrels}
    kept = [evaluate(qrels, run, "MRR", name=name, keep_top=k) for name, k in (("a", 5), ("b", 3))]
    [pair] = compare(kept).likeness
    assert (pair.k, pair.overlap) == (3, 1)
    whole = [evaluate(qrels, run, "MRR", name=name, keep_top=20) for name in "ab"]
    assert compare(whole).likeness[0].k == 10


def test_likeness_is_left_out_on_request_though_the_results_keep_their_rankings():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 2.0, "x": 1.0} for query in qrels}
    comparison = compare_runs(qrels, {"a": run, "b": run}, "MRR", likeness_k=None, keep_top=5)
    assert comparison.likeness is None
    assert len(comparison.results["a"][0].top["q0"].doc_ids) == 2
