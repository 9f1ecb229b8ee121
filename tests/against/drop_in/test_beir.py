"""Where the drop-in differs from BEIR: the rows of docs/drop-in.md that begin with ``beir-``."""

import copy
import logging
import math
import sys

import numpy as np
import pytest

import beir_eval.integrations.beir as drop_in
from beir_eval.errors import MeasureError, QrelsError, QueryMismatchError, RunError
from beir_eval.integrations.beir import EvaluateRetrieval as Ours

beir_util = pytest.importorskip("beir.util", reason="the package beir is not installed")
Theirs = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval

QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"d": 1}}
RESULTS = {"r": {"x": 2.0, "d": 1.0}, "q": {"a": 1.0, "b": 2.0, "x": 3.0}}
OWN_IDS = {"a": {"b": 1}}
CUSTOM = ["mrr", "recall_cap", "accuracy"]


def own_results():
    return {"a": {"a": 2.0, "b": 1.0}}


@pytest.mark.row("beir-own-ids")
def test_documents_with_their_querys_id_stay_in_the_results():
    for implementation, remaining in ((Ours, {"a", "b"}), (Theirs, {"b"})):
        results = own_results()
        assert implementation.evaluate(OWN_IDS, results, [1])[0] == {"NDCG@1": 1.0}
        assert implementation.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 1.0}
        assert results["a"].keys() == remaining
        copied = copy.deepcopy(results)
        assert implementation.evaluate_custom(OWN_IDS, copied, [1], "mrr") == {"MRR@1": 1.0}


@pytest.mark.row("beir-own-ids-kept")
def test_custom_metrics_leave_out_documents_with_their_querys_id_in_every_call():
    for implementation, expected in ((Ours, 1.0), (Theirs, 0.0)):
        results = own_results()
        assert implementation.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": expected}
        implementation.evaluate(OWN_IDS, results, [1], ignore_identical_ids=False)
        assert implementation.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": expected}
        implementation.evaluate(OWN_IDS, results, [1])
        assert implementation.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 1.0}
        results["a"]["a"] = 9.0
        assert implementation.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": expected}


@pytest.mark.row("beir-own-ids-later")
def test_evaluate_with_identical_ids_after_evaluate_without_counts_them():
    for implementation, expected in ((Ours, 0.0), (Theirs, 1.0)):
        results = own_results()
        implementation.evaluate(OWN_IDS, results, [1])
        scores = implementation.evaluate(OWN_IDS, results, [1], ignore_identical_ids=False)
        assert scores[0] == {"NDCG@1": expected}


@pytest.mark.row("beir-extra-query")
def test_a_query_without_qrels_is_left_out_of_custom_metrics():
    results = RESULTS | {"other": {"a": 1.0}}
    for metric in CUSTOM:
        with pytest.raises(KeyError):
            Theirs.evaluate_custom(QRELS, results, [1, 3], metric)
        assert Ours.evaluate_custom(QRELS, results, [1, 3], metric) == (
            Theirs.evaluate_custom(QRELS, RESULTS, [1, 3], metric)
        )
    hole = [tool.evaluate_custom(QRELS, results, [1, 3], "hole") for tool in (Ours, Theirs)]
    assert hole[0] == hole[1]


@pytest.mark.row("beir-nothing-relevant")
def test_capped_recall_without_relevant_documents_is_0():
    for qrels in (QRELS | {"q": {"a": 0}}, QRELS | {"q": {}}):
        with pytest.raises(ZeroDivisionError):
            Theirs.evaluate_custom(qrels, RESULTS, [2], "r_cap")
        assert Ours.evaluate_custom(qrels, RESULTS, [2], "r_cap") == {"R_cap@2": (0 + 1) / 2}


@pytest.mark.row("beir-no-common-query")
def test_no_common_query_is_an_error_with_ids_of_both():
    for results, theirs_raises in (({"z": {"a": 1.0}}, KeyError), ({}, None)):
        with pytest.raises(ZeroDivisionError):
            Theirs.evaluate(QRELS, copy.deepcopy(results), [1])
        with pytest.raises(QueryMismatchError, match="'q', 'r'"):
            Ours.evaluate(QRELS, results, [1])
        if theirs_raises:
            with pytest.raises(theirs_raises):
                Theirs.evaluate_custom(QRELS, results, [1], "mrr")
            with pytest.raises(QueryMismatchError, match="'z'"):
                Ours.evaluate_custom(QRELS, results, [1], "mrr")
    hole = [
        tool.evaluate_custom(QRELS, {"z": {"a": 1.0, "y": 0.5}}, [2], "hole")
        for tool in (Ours, Theirs)
    ]
    assert hole[0] == hole[1] == {"Hole@2": 1 / 2 / 2}


@pytest.mark.row("beir-empty-qrels")
def test_empty_qrels_are_an_error():
    for call, arguments in (("evaluate", ()), ("evaluate_custom", ("hole",))):
        with pytest.raises(ZeroDivisionError):
            getattr(Theirs, call)({}, copy.deepcopy(RESULTS), [1], *arguments)
        with pytest.raises(QrelsError, match="empty"):
            getattr(Ours, call)({}, RESULTS, [1], *arguments)
    with pytest.raises(KeyError):
        Theirs.evaluate_custom({}, RESULTS, [1], "mrr")
    with pytest.raises(QrelsError, match="empty"):
        Ours.evaluate_custom({}, RESULTS, [1], "mrr")
    no_judgement = {"q": {}, "r": {}}
    assert Theirs.evaluate_custom(no_judgement, RESULTS, [1], "mrr") == {"MRR@1": 0.0}
    with pytest.raises(QrelsError):
        Ours.evaluate_custom(no_judgement, RESULTS, [1], "mrr")
    for tool in (Ours, Theirs):
        assert tool.evaluate_custom(no_judgement, RESULTS, [1], "hole") == {"Hole@1": 1.0}


@pytest.mark.row("beir-repeated-cutoff")
def test_a_repeated_cutoff_counts_once():
    qrels = {str(query): {"a": 1} for query in range(4)}
    results = {str(query): {"a": 1.0} for query in range(4)}
    assert Theirs.evaluate(qrels, results, [3, 3])[2] == {"Recall@3": 2 * 4 / 4 / 4}
    assert Ours.evaluate(qrels, results, [3, 3]) == Theirs.evaluate(qrels, results, [3])
    custom = Ours.evaluate_custom(QRELS, RESULTS, [3, 3], "mrr")
    assert custom == Theirs.evaluate_custom(QRELS, RESULTS, [3], "mrr")


@pytest.mark.row("beir-cutoffs")
def test_cutoffs_that_are_no_whole_numbers_above_0_are_errors():
    for k_values, error in (([2.5], KeyError), (["01"], KeyError), ([], ValueError)):
        with pytest.raises(error):
            Theirs.evaluate(QRELS, RESULTS, k_values)
    for k_values in ([2.5], ["01"], [], [0], ["0"], [-1], [True]):  # BEIR ends at 0
        with pytest.raises(MeasureError):
            Ours.evaluate(QRELS, RESULTS, k_values)


@pytest.mark.row("beir-text-cutoffs")
def test_cutoffs_as_text_are_taken_everywhere():
    assert Ours.evaluate(QRELS, RESULTS, ["1", "10"]) == (
        Theirs.evaluate(QRELS, RESULTS, ["1", "10"])
    )
    with pytest.raises(TypeError):
        Theirs.evaluate_custom(QRELS, RESULTS, ["1"], "mrr")
    assert Ours.evaluate_custom(QRELS, RESULTS, ["1"], "mrr") == {"MRR@1": 0.0}
    assert Theirs(k_values=["1", "10", "5"]).top_k == "5"
    assert Ours(k_values=["1", "10", "5"]).top_k == 10


@pytest.mark.row("beir-text-of-cutoffs")
def test_one_text_is_no_list_of_cutoffs():
    assert Theirs.evaluate(QRELS, RESULTS, "13") == Theirs.evaluate(QRELS, RESULTS, [1, 3])
    with pytest.raises(MeasureError, match="'13'"):
        Ours.evaluate(QRELS, RESULTS, "13")


@pytest.mark.row("beir-nan")
def test_nan_is_refused():
    results = {"q": {"a": math.nan, "x": 1.0}}
    assert Theirs.evaluate(QRELS, copy.deepcopy(results), [1])[0].keys() == {"NDCG@1"}
    with pytest.raises(RunError, match="'a' for query 'q' is nan"):
        Ours.evaluate(QRELS, results, [1])
    with pytest.raises(RunError, match="'a' for query 'q' is nan"):
        Ours.evaluate_custom(QRELS, results, [1], "mrr")
    assert Ours.evaluate_custom(QRELS, results, [1], "hole").keys() == {"Hole@1"}


@pytest.mark.row("beir-types")
def test_integer_ids_fractional_grades_and_numpy_numbers_are_taken():
    for qrels, results in (
        ({1: {2: 1}}, {1: {2: 1.0}}),
        ({"1": {"2": 1.0}}, {"1": {"2": 1.0}}),
        ({"1": {"2": 1}}, {"1": {"2": np.float32(1)}}),
    ):
        with pytest.raises(TypeError):
            Theirs.evaluate(qrels, copy.deepcopy(results), [1])
        assert Ours.evaluate(qrels, results, [1])[0] == {"NDCG@1": 1.0}


@pytest.mark.row("beir-largest-double")
def test_the_largest_double_ties_with_infinity_in_custom_metrics():
    qrels, results = {"q": {"a": 1}}, {"q": {"x": sys.float_info.max, "a": math.inf}}
    assert Theirs.evaluate_custom(qrels, results, [1], "mrr") == {"MRR@1": 1.0}
    assert Ours.evaluate_custom(qrels, results, [1], "mrr") == {"MRR@1": 0.0}
    assert Ours.evaluate(qrels, results, [1]) == Theirs.evaluate(qrels, results, [1])


@pytest.mark.row("beir-unknown-metric")
def test_an_unknown_metric_is_an_error():
    assert Theirs.evaluate_custom(QRELS, RESULTS, [1], "ndcg") is None
    with pytest.raises(MeasureError, match="known are acc, "):
        Ours.evaluate_custom(QRELS, RESULTS, [1], "ndcg")


@pytest.mark.row("beir-runfile")
def test_saved_runs_have_ranks(tmp_path):
    results = {"q": {"a": 2.0, "b": 1.0}}
    ranks = []
    for module in (drop_in, beir_util):
        module.save_runfile(str(tmp_path / "run"), results)
        lines = (tmp_path / "run").read_text().splitlines()
        ranks.append([line.split()[3] for line in lines])
    assert ranks == [["1", "2"], ["0", "0"]]


@pytest.mark.row("beir-log")
def test_the_line_about_ignored_documents_has_our_words(caplog):
    messages = []
    with caplog.at_level(logging.INFO, logger="beir.retrieval.evaluation"):
        for implementation in (Ours, Theirs):
            caplog.clear()
            implementation.evaluate(QRELS, copy.deepcopy(RESULTS), [1])
            messages.append(caplog.messages)
    assert messages[0][0] != messages[1][0]
    assert messages[0][1:] == messages[1][1:]
