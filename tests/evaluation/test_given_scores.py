"""Scores that were computed elsewhere become results that can be read, saved and shown."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import EvaluationResult, evaluate
from beir_eval.errors import (
    InputError,
    MeasureError,
    NotEvaluatedError,
    ResultError,
    SettingError,
    UnknownMeasureError,
)
from beir_eval.evaluation import ScoreScale
from beir_eval.evaluation.tables import labelled_means, shared_notes
from beir_eval.measures import definitions, parse
from beir_eval.measures.scales import scale_of
from strategies import QUERY_IDS, qrels_and_run

SCORES = {"faithfulness": {"q1": 0.5, "q2": 1.0}, "seconds": {"q2": 3.0, "q3": 1.0}}
BOUNDS = {"faithfulness": (0, 1)}
DIRECTIONS = {"faithfulness": True, "seconds": False}


def judged(scores=None, **settings):
    stated = {"bounds": BOUNDS, "higher_is_better": DIRECTIONS} | settings
    return EvaluationResult.from_scores("A", SCORES if scores is None else scores, **stated)


def test_a_query_that_a_measure_lacks_has_no_score_on_it_and_is_left_out_of_its_mean():
    result = judged()
    assert result.query_ids == ("q1", "q2", "q3")
    assert result.aggregate == {"faithfulness": 1.5 / 2, "seconds": 4.0 / 2}
    assert result.num_scored == {"faithfulness": 2, "seconds": 2}
    np.testing.assert_array_equal(result.scores("seconds"), [np.nan, 3, 1])
    assert "seconds" in result
    assert "nDCG@10" not in result


@pytest.mark.parametrize("absent", [None, math.nan, np.float32("nan")])
def test_none_and_nan_are_no_score(absent):
    scores = {"faithfulness": {"q1": 0.5, "q2": absent}}
    result = judged(scores, bounds=(0, 1), higher_is_better=True)
    assert result["faithfulness"] == 0.5
    assert result.notes()[-1] == (
        "no score for some of the 2 queries, which the mean leaves out: faithfulness over 1"
    )


def test_nothing_is_invented_about_what_was_counted():
    result = judged()
    assert result.counted is None
    assert result.settings is None
    assert result.provenance.qrels_sha256 is None
    first, *others, last = result.notes()
    assert first.startswith("scores of 3 queries, computed elsewhere: what was counted")
    faithfulness, seconds = others
    assert faithfulness == "faithfulness: a custom measure, from 0 to 1, higher is better"
    assert seconds == "seconds: a custom measure, without bounds, lower is better"
    assert last.endswith("which the mean leaves out: faithfulness over 2, seconds over 2")
    with pytest.raises(NotEvaluatedError, match="which queries are judged"):
        result.mean_over("judged")
    assert json.loads(result.model_dump_json())["counted"] is None


def test_known_measures_get_their_canonical_name_and_keep_bounds_and_direction():
    scores = {"ndcg_cut_10": {"q": 0.5}, "seconds": {"q": 9}}
    result = judged(scores, bounds=None, higher_is_better=False)
    assert result.measures == ("nDCG@10", "seconds")
    assert result["NDCG@10"] == 0.5
    assert result.as_dict("trec_eval") == {"ndcg_cut_10": 0.5, "seconds": 9.0}
    assert result.custom_measures == {"seconds": ScoreScale(None, higher_is_better=False)}


@given(qrels_and_run(), st.sampled_from(["nDCG@10", "MAP", "Judged@5", "num_ret", "gm_map", "DCG"]))
def test_scores_of_evaluate_given_back_have_the_same_means(case, measure):
    ours = evaluate(*case, [measure])
    scores = dict(zip(ours.query_ids, ours.scores(measure).tolist(), strict=True))
    given_back = EvaluationResult.from_scores("again", {measure: scores})
    np.testing.assert_array_equal(given_back.values.array, ours.values.array)
    np.testing.assert_equal(given_back.aggregate, ours.aggregate)


score = st.one_of(st.none(), st.just(math.nan), st.floats(0, 1))


@given(
    st.dictionaries(
        st.sampled_from(["faithfulness", "a, b", "nDCG@10", 'x"y', "<b>", "a|b"]),
        st.dictionaries(st.sampled_from(QUERY_IDS), score, min_size=1),
        min_size=1,
    )
)
def test_a_result_is_the_same_when_saved_and_loaded(tmp_path_factory, scores):
    path = tmp_path_factory.mktemp("saved") / "result.json"
    custom = [name for name in scores if name != "nDCG@10"]
    result = EvaluationResult.from_scores(
        "A",
        scores,
        bounds=dict.fromkeys(custom, (0, 1)),
        higher_is_better={name: len(name) > 3 for name in custom},
    )
    result.save(path)
    assert EvaluationResult.load(path) == result


@pytest.mark.parametrize("value", [1.0000001, 1 + 2**-52, -1e-9])
def test_a_score_that_exceeds_a_bound_by_rounding_is_set_to_it(value):
    result = EvaluationResult.from_scores("A", {"nDCG@10": {"q": value}})
    assert result["nDCG@10"] == round(value)


@pytest.mark.parametrize(
    ("scores", "settings", "error", "message"),
    [
        ({"nDCG@10": {"q7": 45.0}}, {}, InputError, "nDCG@10: .*'q7' is 45, .*0 to 1 .*100"),
        ({"seconds": {"q1": math.inf}}, {}, InputError, "seconds: .*'q1' is inf"),
        ({"seconds": {"q1": "fast"}}, {}, InputError, "'q1' is 'fast'"),
        ({"faithfulness": {"q1": 1.2}}, {"bounds": (0, 1)}, InputError, "'q1' is 1.2, .*other bou"),
        ({"faithfulness": {}}, {}, InputError, "no query"),
        ({"seconds": {1: 0.5, "1": 0.6}}, {}, InputError, "scores of seconds: .*same query"),
        ({"seconds": {"": 0.5}}, {}, InputError, "an id is empty"),
        ({}, {}, InputError, "no measure"),
        ({"nDGC@10": {"q": 1}}, {}, UnknownMeasureError, "did you mean nDCG.*state higher_is_bet"),
        ({"nDCG@0": {"q": 1}}, {}, MeasureError, "1 or more"),
        ({"nDCG@10": {"q": 1}, "ndcg@10": {"q": 1}}, {}, MeasureError, "are both nDCG@10"),
        ({"query_id": {"q": 1}}, {"higher_is_better": True}, MeasureError, "cannot be the name"),
        ({"MRR": {"q": 1}}, {"bounds": (0, 1)}, SettingError, "bounds is stated for 'MRR'"),
        ({"MRR": {"q": 1}}, {"higher_is_better": {"b": True}}, SettingError, "hold 'MRR'"),
        (
            {"accuracy": {"q": 1}},
            {"higher_is_better": {"accuracy": True}},
            SettingError,
            "'accuracy' is Success, .*another name",
        ),
        ({"seconds": {"q": 1}}, {"bounds": (0, math.inf)}, SettingError, "leave bounds out"),
    ],
)
def test_scores_that_cannot_be_taken_over_are_refused_with_the_reason(
    scores, settings, error, message
):
    stated = {"higher_is_better": False} if "seconds" in scores else {}
    if "faithfulness" in scores:
        stated = {"higher_is_better": True}
    with pytest.raises(error, match=f"(?s){message}"):
        EvaluationResult.from_scores("A", scores, **(stated | settings))


def changed(**fields):
    return json.loads(judged().model_dump_json()) | fields


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(counted=evaluate({"q": {"a": 1}}, {"q": {}}).counted.model_dump()), "both null"),
        (changed(custom_measures={}), "no measure 'faithfulness'"),
    ],
)
def test_a_file_that_was_changed_into_something_impossible_is_refused(content, message):
    with pytest.raises(ResultError, match=message):
        EvaluationResult.from_content(content, "result.json")


def test_the_bars_of_a_figure_begin_with_the_best_query():
    rows = judged().plot("seconds").spec["datasets"]["rows"]
    assert [row["score"] for row in rows] == [1.0, 3.0]


def test_results_shown_together_say_which_were_computed_elsewhere():
    ours = evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["MRR"], name="ours")
    theirs = EvaluationResult.from_scores("theirs", {"MRR": {"q": 1}})
    notes = shared_notes([ours, theirs])
    assert any(note.startswith("theirs: scores of 1 query, computed elsewhere") for note in notes)
    assert labelled_means(theirs)[0].label == "theirs"


@pytest.mark.parametrize("name", list(definitions()))
def test_the_scale_of_a_registered_measure_is_that_of_its_definition(name):
    required = {"IPrec": "IPrec(recall=0.3)", "Rprec_mult": "Rprec_mult(multiple=2)"}
    measure = parse(required.get(name, name))
    scale = scale_of(str(measure), {})
    assert scale.bounds == measure.bounds
    assert scale.higher_is_better == measure.definition.higher_is_better
