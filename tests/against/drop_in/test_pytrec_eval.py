"""Where the drop-in differs from pytrec_eval: the rows of docs/drop-in.md of ``pytrec-eval-``."""

import json
import math

import numpy as np
import pytest
import pytrec_eval

import beir_eval.integrations.pytrec_eval as ours
from beir_eval.errors import BeirEvalWarning, MeasureError, QrelsError, RunError
from processes import python

QRELS = {"q": {"a": 1, "b": 0, "c": 2}}
RUN = {"q": {"a": 1.0, "b": 2.0, "x": 3.0}}


def mine(qrels, run, *measures, **settings):
    return ours.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)


def theirs(qrels, run, *measures, **settings):
    return pytrec_eval.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)


def theirs_in_a_process(qrels, run, *measures):
    """Return what pytrec_eval returns in a process of its own; None if it ends that by a signal."""
    script = (
        "import json, resource, sys, pytrec_eval\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "qrels, run, measures = json.load(sys.stdin)\n"
        "scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)\n"
        "print(json.dumps(scores))\n"
    )
    process = python("-c", script, input=json.dumps([qrels, run, measures]), check=False)
    return None if process.returncode < 0 else json.loads(process.stdout)


def ends_the_interpreter(qrels, run, *measures):
    return theirs_in_a_process(qrels, run, *measures) is None


@pytest.mark.row("pytrec-eval-nan")
def test_nan_scores_are_refused():
    run = {"q": {"a": math.nan, "b": 1.0}}
    assert theirs(QRELS, run, "map").keys() == {"q"}
    with pytest.raises(RunError, match="'a' for query 'q' is nan"):
        mine(QRELS, run, "map")


@pytest.mark.row("pytrec-eval-types")
def test_wrong_types_are_value_errors():
    for score in ("1", None, [1.0]):
        with pytest.raises(TypeError):
            theirs(QRELS, {"q": {"a": score}}, "map")
        with pytest.raises(RunError):
            mine(QRELS, {"q": {"a": score}}, "map")
    for grade in ("1", None):
        with pytest.raises(TypeError):
            theirs({"q": {"a": grade}}, RUN, "map")
        with pytest.raises(QrelsError):
            mine({"q": {"a": grade}}, RUN, "map")
    with pytest.raises(SystemError):
        theirs(QRELS, {"q": {"a": 10**400}}, "map")
    with pytest.raises(RunError):
        mine(QRELS, {"q": {"a": 10**400}}, "map")
    with pytest.raises(TypeError):
        theirs(QRELS, [("q", {"a": 1.0})], "map")
    with pytest.raises(RunError):
        mine(QRELS, [("q", {"a": 1.0})], "map")


@pytest.mark.row("pytrec-eval-more-types")
def test_more_types_are_taken():
    for qrels, run in (
        ({1: {2: 1}}, {1: {2: 1.0}}),
        ({"1": {"2": 1.0}}, {"1": {"2": 1.0}}),
        ({"1": {"2": np.int64(1)}}, {"1": {"2": 1.0}}),
        ({"1": {"2": 1}}, {"1": {"2": np.float32(1)}}),
        ({"1": {"2": 1}}, {"1": {"2": 1.0}, "not judged": None}),
    ):
        with pytest.raises(TypeError):
            theirs(qrels, run, "map")
        assert mine(qrels, run, "map") == {"1": {"map": 1.0}}


@pytest.mark.row("pytrec-eval-nul")
def test_an_id_does_not_end_at_nul():
    qrels, run = {"q": {"a\0b": 1}}, {"q": {"a\0c": 1.0}}
    assert theirs(qrels, run, "map") == {"q": {"map": 1.0}}
    assert mine(qrels, run, "map") == {"q": {"map": 0.0}}


@pytest.mark.row("pytrec-eval-surrogates")
def test_halves_of_surrogate_pairs_are_taken():
    qrels, run = {"q": {"\ud800": 1}}, {"q": {"\ud800": 1.0}}
    assert ends_the_interpreter(qrels, run, "map")
    assert mine(qrels, run, "map") == {"q": {"map": 1.0}}


@pytest.mark.row("pytrec-eval-high-grades")
def test_high_grades_follow_the_formula():
    qrels, run = {"q": {"a": 2**31}}, {"q": {"a": 1.0}}
    assert theirs_in_a_process(qrels, run, "ndcg") in (None, {"q": {"ndcg": 0.0}})
    assert mine(qrels, run, "ndcg") == {"q": {"ndcg": 1.0}}


@pytest.mark.row("pytrec-eval-negative-grades")
def test_a_query_with_negative_grades_only_scores_0():
    qrels, run = {"q": {"a": -1}}, {"q": {"a": 1.0}}
    assert ends_the_interpreter(qrels, run, *sorted(ours.supported_measures))
    assert set(mine(qrels, run, "map", "ndcg", "P_1", "bpref")["q"].values()) == {0.0}


@pytest.mark.row("pytrec-eval-empty")
def test_an_empty_ranking_scores_0():
    for run, settings in (({"q": {}}, {}), ({"q": {"x": 1.0}}, {"judged_docs_only_flag": True})):
        assert mine(QRELS, run, "11pt_avg", **settings) == {"q": {"11pt_avg": 0.0}}
        # NaN or what was left in memory
        assert theirs(QRELS, run, "11pt_avg", **settings).keys() == {"q"}


@pytest.mark.row("pytrec-eval-relative-p")
def test_relative_precision_without_relevant_documents_is_0():
    run = {"q": {"b": 1.0}}
    assert theirs({"q": {"b": 0}}, run, "relative_P_5")["q"]["relative_P_5"] in (0.0, math.nan)
    assert mine({"q": {"b": 0}}, run, "relative_P_5") == {"q": {"relative_P_5": 0.0}}


@pytest.mark.row("pytrec-eval-runid")
def test_text_measures_are_0():
    assert theirs(QRELS, RUN, "runid").keys() == {"q"}
    assert mine(QRELS, RUN, "runid", "relstring") == {"q": {"relstring": 0.0, "runid": 0.0}}


@pytest.mark.row("pytrec-eval-cutoffs")
def test_a_cutoff_of_0_is_an_error_and_a_repeated_one_counts_once():
    assert ends_the_interpreter(QRELS, RUN, "P_0")
    with pytest.raises(MeasureError, match="1 or more"):
        mine(QRELS, RUN, "P_0")
    assert ends_the_interpreter(QRELS, RUN, "P_5,5.0")
    assert mine(QRELS, RUN, "P_5,5.0") == {"q": {"P_5": 1 / 5}}


@pytest.mark.row("pytrec-eval-gains")
def test_measures_with_gains_take_no_number():
    assert ends_the_interpreter(QRELS, RUN, "ndcg_5")
    for name in ("ndcg_5", "ndcg_rel.5", "Rndcg_1", "G.1"):
        with pytest.raises(MeasureError, match="ndcg_cut"):
            mine(QRELS, RUN, name)


@pytest.mark.row("pytrec-eval-beginning")
def test_a_name_read_by_its_beginning_gives_a_warning():
    for name in ("P_5_10", "map.5"):
        with pytest.warns(BeirEvalWarning, match="as pytrec_eval reads it"):
            scores = mine(QRELS, RUN, name)
        assert scores == theirs(QRELS, RUN, name)


@pytest.mark.row("pytrec-eval-utility")
def test_utility_needs_four_weights():
    assert theirs(QRELS, RUN, "utility.1,2,3") == {"q": {"utility": 0.0}}
    with pytest.raises(MeasureError, match="four weights, not 3"):
        mine(QRELS, RUN, "utility.1,2,3")


@pytest.mark.row("pytrec-eval-levels")
def test_levels_outside_their_range_are_errors():
    for name in ("Rprec_mult_0", "iprec_at_recall_1.5", "11pt_avg_3"):
        assert set(theirs(QRELS, RUN, name)["q"].values()) == {0.0}
        with pytest.raises(MeasureError, match="must be"):
            mine(QRELS, RUN, name)


@pytest.mark.row("pytrec-eval-relevance-level")
def test_a_relevance_level_is_above_0_and_may_be_a_fraction():
    assert theirs(QRELS, RUN, "P_1", relevance_level=-1) == {"q": {"P_1": 0.0}}
    for level in (0, 1.5):
        with pytest.raises(TypeError):
            theirs(QRELS, RUN, "P_1", relevance_level=level)
    for level in (0, -1):
        with pytest.raises(MeasureError, match="above 0"):
            mine(QRELS, RUN, "P_1", relevance_level=level)
    assert mine(QRELS, {"q": {"c": 1.0}}, "P_1", relevance_level=1.5) == {"q": {"P_1": 1.0}}


@pytest.mark.row("pytrec-eval-nicknames")
def test_nicknames_of_unsupported_measures_are_not_listed():
    missing = pytrec_eval.supported_nicknames.keys() - ours.supported_nicknames.keys()
    assert missing == {"prefs", "all_prefs", "qrels_jg"}
    for nickname in missing:
        for module in (pytrec_eval, ours):
            with pytest.raises(ValueError, match="unsupported measure"):
                module.RelevanceEvaluator(QRELS, {nickname})


@pytest.mark.row("pytrec-eval-order")
def test_the_values_of_a_query_are_sorted_by_name():
    names = ["recall_5", "P_5", "ndcg", "map", "P_10"]
    assert list(mine(QRELS, RUN, *names)["q"]) == ["P_10", "P_5", "map", "ndcg", "recall_5"]
    assert sorted(theirs(QRELS, RUN, *names)["q"]) == sorted(names)


@pytest.mark.row("pytrec-eval-ids-warning")
def test_ids_that_match_nothing_give_a_warning():
    qrels = {query: {"x": 1} for query in "abcdef"}
    run = {"a": {"b": 1.0}}  # a query of the qrels, not a document
    with pytest.warns(BeirEvalWarning, match="document ids do not match"):
        scores = mine(qrels, run, "map")
    assert scores == theirs(qrels, run, "map")
