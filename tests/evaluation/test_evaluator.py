"""What an evaluation counts, and how its settings change the scores."""

import inspect
import math
import pickle
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given

import beir_eval
from beir_eval import (
    CG,
    DEFAULT_MEASURES,
    MAP,
    BeirEvalWarning,
    Evaluator,
    Qrels,
    Run,
    evaluate,
    nDCG,
)
from beir_eval.core import EvaluationSettings
from beir_eval.errors import MeasureError, NotEvaluatedError, QueryMismatchError, SettingError
from strategies import qrels_and_run

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 0}, "q4": {"f": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 3.0, "c": 2.0}, "q3": {}, "other": {"a": 1.0}}


def test_the_default_measures_are_those_of_beir_and_r_cap():
    result = evaluate(QRELS, RUN)
    expected = [
        f"{name}@{k}"
        for name in ("nDCG", "MAP", "Recall", "R_cap", "Precision", "MRR")
        for k in (1, 3, 5, 10, 100, 1000)
    ]
    assert list(result.measures) == expected == [str(measure) for measure in DEFAULT_MEASURES]


def test_missing_empty_and_unjudged_queries_are_counted():
    counted = evaluate(QRELS, RUN, ["P@1", "P@10"]).counted
    assert counted.queries_judged == 4
    assert counted.queries_missing == ("q4",)
    assert counted.queries_retrieved == 3
    assert counted.queries_empty == ("q3",)
    assert counted.queries_without_relevant == ("q3",)
    assert counted.queries_not_judged == 1
    assert counted.deepest_ranking == 2
    assert counted.judged_in_top == {1: (1, 2), 10: (2, 4)}
    assert counted.judged_share == {1: 0.5, 10: 0.5}


def test_missing_queries_count_as_zero_or_are_skipped_or_refused():
    zero = evaluate(QRELS, RUN, ["P@1"])
    assert zero.query_ids == ("q1", "q2", "q3", "q4")
    assert zero["P@1"] == 1 / 4
    skip = evaluate(QRELS, RUN, ["P@1"], missing="skip")
    assert skip.query_ids == ("q1", "q2", "q3")
    assert skip["P@1"] == 1 / 3
    with pytest.raises(QueryMismatchError, match=r"1 of 4 judged queries are missing .* 'q4'"):
        evaluate(QRELS, RUN, missing="error")
    complete = RUN | {"q4": {}}
    assert evaluate(QRELS, complete, ["P@1"], missing="error")["P@1"] == 1 / 4


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_both_means_are_available_under_each_policy_for_missing_queries(missing):
    result = evaluate(QRELS, RUN, ["P@1", "num_rel", "RBP_residual"], missing=missing)
    assert result.mean_over("judged")["Precision@1"] == 1 / 4
    assert result.mean_over("retrieved")["Precision@1"] == 1 / 3
    assert result.mean_over("judged")["num_rel"] == 4
    assert result.mean_over("retrieved")["num_rel"] == 3
    with pytest.raises(SettingError, match="queries='all'"):
        result.mean_over("all")


def test_queries_without_relevant_documents_score_zero_or_are_left_out():
    names = ["P@1", "nDCG@10", "num_ret", "Judged@10"]
    zero = evaluate(QRELS, RUN, names)
    assert zero.num_scored == {"Precision@1": 4, "nDCG@10": 4, "num_ret": 4, "Judged@10": 2}
    skip = evaluate(QRELS, RUN, names, no_relevant="skip")
    assert skip["P@1"] == 1 / 3
    assert math.isnan(skip.scores("P@1")[2])
    assert skip.num_scored == {"Precision@1": 3, "nDCG@10": 3, "num_ret": 4, "Judged@10": 2}


def test_measures_that_need_no_relevant_document_score_queries_without_any():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 0}}, {"q1": {"a": 1.0}, "q2": {"b": 2.0, "x": 1.0}}
    names = ["utility", "CG", "DCG", "num_rel_ret"]
    result = evaluate(qrels, run, names, no_relevant="skip")
    assert result.num_scored == dict.fromkeys(names, 2)
    assert result.scores("utility").tolist() == [1, -2]
    assert result["utility"] == (1 - 2) / 2


def test_whether_a_query_has_relevant_documents_depends_on_the_measures_threshold():
    result = evaluate(QRELS, RUN, ["P@1", "P(rel=2)@1"], no_relevant="skip")
    assert result.num_scored == {"Precision@1": 3, "Precision(rel=2)@1": 1}


@pytest.mark.parametrize("run", [{}, {"x": {"a": 1.0}}])
@pytest.mark.parametrize("missing", ["zero", "skip", "error"])
def test_no_query_in_common_is_an_error_that_names_queries_of_both_inputs(run, missing):
    run_queries = "'x'" if run else "no query at all"
    with pytest.raises(QueryMismatchError, match=rf"judge 'q1', 'q2'.*the run has {run_queries}"):
        evaluate(QRELS, run, missing=missing)


def test_cutoffs_beyond_the_deepest_ranking_are_marked():
    result = evaluate(QRELS, RUN, ["P@2", "P@3"])
    assert [result.label(name) for name in result.measures] == ["Precision@2", "Precision@3 *"]
    assert any("at most 2 documents per query" in note for note in result.notes())
    assert "Precision@3 *" in result.to_markdown()


def test_negative_grades_are_counted_and_gain_nothing():
    result = evaluate({"q": {"a": -1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, ["nDCG@10", "P@1"])
    assert result.counted.negative_judgements == 1
    assert result["P@1"] == 0
    assert result["nDCG@10"] == 1 / math.log2(3)


def test_fractional_grades_are_warned_about_unless_a_threshold_is_set():
    qrels, run = {"q": {"a": 0.5}}, {"q": {"a": 1.0}}
    fact = "every grade above 0 counts as relevant for 'Precision@1', 'MAP'"
    with pytest.warns(BeirEvalWarning, match=f"the qrels hold fractional grades, and {fact}"):
        evaluate(qrels, run, ["P@1", "MAP", "nDCG@10"])
    evaluate(qrels, run, ["P(rel=0.5)@1", "nDCG@10", "ERR(max_grade=1)"])


def test_the_warning_points_at_the_callers_line():
    with pytest.warns(BeirEvalWarning) as caught:
        evaluate({"q": {"a": 0.5}}, {"q": {"a": 1.0}}, ["P@1"])
    assert caught[0].filename == __file__
    with pytest.warns(BeirEvalWarning) as caught:
        Evaluator({"q": {"a": 0.5}}, ["P@1"]).evaluate({"q": {"a": 1.0}})
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "name",
    [
        *("infAP", "Judged@10", "Hole@10", "RBP_residual", "num_nonrel_judged_ret@1"),
        "nDCG(gain={0: 1, 1: 2})@2",
    ],
)
def test_best_and_worst_ties_are_refused_for_measures_that_do_not_follow_grade_order(name):
    for ties in ("best", "worst"):
        with pytest.raises(SettingError, match="not offered"):
            evaluate(QRELS, RUN, [name], ties=ties)


@pytest.mark.parametrize("number", [-1, 1.5, True])
def test_a_number_of_documents_to_keep_that_cannot_be_is_refused(number):
    with pytest.raises(SettingError, match="keep_top"):
        evaluate(QRELS, RUN, keep_top=number)


def test_an_unknown_measure_is_refused_before_the_run_is_read():
    with pytest.raises(MeasureError, match="did you mean nDCG"):
        evaluate(QRELS, "no run at all", ["nDGC@10"])
    with pytest.raises(MeasureError, match=r"must be a list of names .* not 5"):
        evaluate(QRELS, RUN, 5)


@given(qrels_and_run())
def test_scores_do_not_depend_on_how_many_queries_are_computed_at_once(qrels_run):
    qrels, run = qrels_run
    measures = ["IPrec(recall=0.5)", "Rprec_mult(multiple=2)", "nDCG@2", "MAP@2"]
    for name, definition in beir_eval.measures.definitions().items():
        if inspect.Parameter.empty not in definition.defaults.values():
            measures.append(name)
    for no_relevant in ("zero", "skip"):
        whole = evaluate(qrels, run, measures, no_relevant=no_relevant)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("beir_eval.evaluation.query_scores._QUERIES_AT_ONCE", 1)
            assert evaluate(qrels, run, measures, no_relevant=no_relevant).values == whole.values


def test_an_evaluator_can_evaluate_several_runs():
    evaluator = Evaluator(Qrels(QRELS), [nDCG @ 10, "AP@100"])
    for run in (RUN, {"q1": {"b": 1.0}}):
        expected = evaluate(QRELS, run, ["nDCG@10", MAP @ 100], name="x")
        assert evaluator.evaluate(Run(run), name="x") == expected
        assert evaluator.evaluate(run, name="x") == expected


def test_the_settings_and_the_version_are_in_the_result():
    result = evaluate(QRELS, RUN, ties="input", missing="skip", drop_identical_ids=True)
    changed = {"ties": "input", "missing": "skip", "drop_identical_ids": True}
    assert asdict(result.settings) == asdict(EvaluationSettings()) | changed
    assert result.provenance.package_version == beir_eval.__version__


def test_a_result_has_the_hash_of_its_judgements_whatever_the_run_and_the_order():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"a": 1}}
    hashes = {
        evaluate(judged, run, missing=missing).provenance.qrels_hash
        for judged in (qrels, dict(reversed(qrels.items())))
        for run in ({"q1": {"a": 1.0}}, {"q1": {"b": 1.0}, "q3": {"a": 2.0}})
        for missing in ("zero", "skip")
    }
    assert hashes == {f"{int(Qrels(qrels).query_hashes.sum()):016x}"}


def test_judgements_are_hashed_when_the_hash_is_first_read():
    qrels = Qrels(QRELS)
    provenance = evaluate(qrels, RUN).provenance
    assert "query_hashes" not in vars(qrels)
    copied = pickle.loads(pickle.dumps(provenance))  # noqa: S301 - our own
    assert "query_hashes" in vars(qrels)
    assert copied == provenance == type(provenance)(**dict(provenance))
    assert provenance.model_dump()["qrels_hash"] == copied.qrels_hash == str(copied.qrels_hash)
    assert b"Qrels" not in pickle.dumps(copied).replace(b"QrelsHash", b"")


def test_fingerprints_are_computed_only_on_request():
    assert evaluate(QRELS, RUN).provenance.qrels_sha256 is None
    provenance = evaluate(QRELS, RUN, fingerprint=True).provenance
    assert provenance.qrels_sha256 == Qrels(QRELS).fingerprint()
    assert provenance.run_sha256 == Run(RUN).fingerprint()


def test_keep_top_keeps_ids_scores_and_grades():
    top = evaluate(QRELS, RUN, keep_top=1).top
    assert list(top) == ["q1", "q2", "q3"]
    assert (top["q1"].doc_ids, top["q1"].scores, top["q1"].grades) == (("a",), (2.0,), (1.0,))
    assert (top["q2"].doc_ids, top["q2"].grades) == (("x",), (None,))
    assert top["q3"].doc_ids == ()
    assert evaluate(QRELS, RUN).top is None
    in_order = evaluate(QRELS, Run.from_rankings({"q1": ["x", "a"]}), keep_top=5).top["q1"]
    assert (in_order.doc_ids, in_order.scores) == (("x", "a"), None)


def test_looking_up_a_measure_that_was_not_evaluated_is_an_error():
    result = evaluate(QRELS, RUN, ["P@1"])
    with pytest.raises(NotEvaluatedError, match="nDCG@10 was not evaluated for 'run'; it holds P"):
        result["nDCG@10"]
    with pytest.raises(KeyError):
        result.scores("ndcg_cut_10")


@given(qrels_and_run())
def test_the_mean_is_the_correctly_rounded_sum_divided_by_the_number_of_queries(case):
    result = evaluate(*case)
    for name in result.measures:
        scores = result.scores(name).tolist()
        assert result[name] == math.fsum(scores) / len(scores)
        assert not result.scores(name).flags.writeable


def test_the_scores_are_aligned_with_the_query_ids_in_the_order_of_the_qrels():
    result = evaluate(QRELS, dict(reversed(RUN.items())), ["P@1"])
    assert result.query_ids == tuple(QRELS)
    np.testing.assert_array_equal(result.scores("P@1"), [1, 0, 0, 0])


def test_a_score_that_no_float_can_hold_is_refused():
    huge = CG(gain={1: 1e308})
    with pytest.raises(MeasureError, match="beyond what a float can hold"):
        evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, [huge])
