"""Names among those of a result, the registry, and scores beyond what a float can hold."""

import numpy as np
import pytest

from beir_eval import Measure, Precision, evaluate, nDCG, parse
from beir_eval.errors import MeasureError, UnknownMeasureError
from beir_eval.evaluation import ScoreScale
from beir_eval.measures import DEFAULT_MEASURES, definition_of, parse_all, registry, with_rel
from beir_eval.measures.names import name_among, names_among, registered

LISTED = ["faithfulness", "nDCG@10"]


def test_a_name_is_that_of_a_custom_measure_or_of_a_registered_one():
    assert name_among(LISTED, "faithfulness") == "faithfulness"
    assert name_among(LISTED, nDCG @ 10) == name_among([], "ndcg_cut_10") == "nDCG@10"
    assert names_among(LISTED, "ndcg@10") == ("nDCG@10",)
    assert names_among(LISTED, nDCG @ 10) == ("nDCG@10",)
    assert names_among(LISTED, ["faithfulness", "NDCG@10", "nDCG@10"]) == tuple(LISTED)
    assert names_among(LISTED, "ndcg@10, MAP") == ("nDCG@10", "MAP")


def test_blanks_and_commas_in_the_name_of_a_custom_measure_do_not_separate_names():
    listed = ["latency (ms), median", "MAP"]
    assert names_among(listed, "latency (ms), median") == ("latency (ms), median",)
    assert names_among(listed, ["MAP, mrr", "latency (ms), median"]) == ("MAP", "MRR", listed[0])


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (5, MeasureError, "must be a list of names such as .*, not 5"),
        ([], MeasureError, "no measure"),
        ({"nDCG@10": 1}, MeasureError, "must be a list of names such as .*, not a mapping"),
        (["faithful"], UnknownMeasureError, "faithful"),
    ],
)
def test_names_that_no_measure_has_are_refused(names, error, text):
    with pytest.raises(error, match=text):
        names_among(LISTED, names)


def test_a_definition_is_looked_up_by_any_spelling():
    assert definition_of(" ndcg_cut_10 ").name == "nDCG"
    assert registered("map@5") == parse("MAP@5")
    assert registered("faithfulness") is None


def test_a_level_of_relevance_is_set_where_a_measure_takes_one_and_states_none():
    named = parse_all("MAP, P(rel=1)@5, nDCG@10, ERR@20, RBP(p=0.5)")
    at_level = parse_all("MAP(rel=2), P(rel=1)@5, nDCG@10, ERR@20, RBP(p=0.5, rel=2)")
    assert with_rel(named, 2) == with_rel(list(named), 2.0) == at_level
    assert with_rel(parse_all("MAP, MAP(rel=2)"), 2) == parse_all("MAP(rel=2)")


def test_without_a_level_of_relevance_measures_are_unchanged():
    assert with_rel(DEFAULT_MEASURES, None) == DEFAULT_MEASURES


@pytest.mark.parametrize("rel", [0, -1, float("nan"), float("inf"), "2", True, [2]])
def test_a_level_of_relevance_is_checked_even_if_no_measure_takes_one(rel):
    with pytest.raises(MeasureError, match="rel must be"):
        with_rel([nDCG], rel)


def test_a_measure_that_no_registry_has_cannot_be_made():
    with pytest.raises(UnknownMeasureError, match="nDGC"):
        Measure("nDGC")


@pytest.mark.parametrize(
    ("name", "scores", "aggregate"),
    [
        *[("num_q", [1, 1], 2), ("num_ret", [1, 1], 2), ("num_rel", [0, 1], 1)],
        *[("num_rel_ret", [0, 1], 1), ("num_nonrel_judged_ret", [1, 0], 1)],
        *[("utility", [-1, 1], 0), ("CG", [0, 1], 1 / 2), ("DCG", [0, 1], 1 / 2)],
        *[("Judged", [1, 1], 1), ("Hole", [0, 0], 0), ("RBP_residual", [0.8, 0.8], 0.8)],
        ("nDCG@10", [None, 1], 1),
    ],
)
def test_a_measure_that_is_defined_without_relevant_documents_counts_every_query(
    name, scores, aggregate
):
    qrels = {"q1": {"d1": 0}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}
    result = evaluate(qrels, run, [name], no_relevant="skip")
    np.testing.assert_allclose(result.scores(name), np.array(scores, dtype=float), rtol=1e-15)
    assert result[name] == pytest.approx(aggregate, rel=1e-15)


def test_a_grade_whose_power_of_two_is_too_large_is_refused():
    for name in ('nDCG(gain="exp")@10', "ERR"):
        with pytest.raises(MeasureError, match=r"2\^grade cannot be computed for grade 2000"):
            evaluate({"q": {"d": 2000}}, {"q": {"d": 1.0}}, [name])


def test_a_gain_table_of_something_else_is_refused():
    with pytest.raises(MeasureError, match="a table"):
        nDCG(gain=5)
    with pytest.raises(MeasureError, match="a gain"):
        nDCG(gain={1: "much"})
    with pytest.raises(MeasureError, match=r"a table .*, not \[\(1, 2, 3\)\]"):
        nDCG(gain=[(1, 2, 3)])


@pytest.mark.parametrize("value", [np.array([1, 2]), np.array("high"), [1, 2], "2"])
def test_a_grade_that_is_no_number_is_refused(value):
    with pytest.raises(MeasureError, match="rel must be a number, not"):
        Precision(rel=value)


def test_measures_definitions_and_scales_are_small_values_that_cannot_be_changed():
    for value in (parse("nDCG"), definition_of("nDCG"), ScoreScale()):
        field = "higher_is_better" if isinstance(value, ScoreScale) else "name"
        with pytest.raises(AttributeError):
            setattr(value, field, "MAP")
        assert not hasattr(value, "__dict__")


def test_an_alias_belongs_to_one_measure_and_every_parameter_is_checked(monkeypatch):
    for registered_names in ("_DEFINITIONS", "_ALIASES"):
        monkeypatch.setattr(registry, registered_names, dict(getattr(registry, registered_names)))

    def twice(matrix, cutoff=None):
        """Return nothing."""

    with pytest.raises(AssertionError, match="two measures have the name 'ndcg'"):
        registry.measure("made_up", aliases="ndcg")(twice)

    def unchecked(matrix, cutoff=None, colour="red"):
        """Return nothing."""

    with pytest.raises(AssertionError, match="no check of colour"):
        registry.measure("made_up2")(unchecked)


def test_ties_have_no_extremes_where_a_table_credits_documents_that_are_not_relevant():
    assert nDCG(gain={0: 0, 1: 1}).has_tie_extremes
    assert not nDCG(gain={0: 0.5, 1: 1}).has_tie_extremes
    assert not nDCG(gain={-1: 0.5, 1: 1}).has_tie_extremes


def test_the_number_of_set_f_is_the_square_of_beta():
    assert parse("set_F.4") == parse("F1(beta=2)")
    assert parse("set_F.1") == parse("F1")
    for text in ("set_F.0", "set_F.1e400"):
        with pytest.raises(MeasureError):
            parse(text)
