"""How far the order of equal scores decides the means of the systems of a comparison."""

import pytest

from beir_eval import Run, compare_runs

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")


def test_the_range_goes_from_the_worst_to_the_best_order():
    qrels = {"q1": {"r": 1, "n": 0}, "q2": {"r": 1}}
    tied = {"q1": {"r": 1.0, "x": 1.0, "n": 1.0}, "q2": {"r": 1.0}}
    plain = {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"plain": plain, "tied": tied}, ["MRR", "Judged@2"])
    [ties] = comparison.ties
    assert (ties.measure, ties.system) == ("MRR", "tied")
    assert (ties.low, ties.high) == ((1 / 3 + 1) / 2, 1)
    sentence = "Ties: tied scores 0.6667 to 1.0000 on MRR, depending on how ties are broken"
    assert f"{sentence}." in comparison.notes()


def test_rankings_without_scores_have_no_tie_interval():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    assert compare_runs(qrels, {"a": run, "b": run}, "MRR").ties == ()
