"""The drop-in has BEIR's interface and BEIR's numbers, and none of its surprises."""

import copy
import inspect
import json
import logging
import math
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import beir_eval.integrations.beir as drop_in
from beir_eval import Qrels, read_qrels
from beir_eval.errors import (
    FileFormatError,
    MeasureError,
    QrelsError,
    QueryMismatchError,
    RunError,
    SettingError,
)
from beir_eval.integrations.beir import EvaluateRetrieval, evaluate_full
from strategies import qrels_and_run
from time_limit import time_limit

beir_util = pytest.importorskip("beir.util", reason="the package beir is not installed")
Theirs = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval

K_VALUES = [1, 3, 5, 10, 100, 1000]
METRICS = ["mrr", "recall_cap", "hole", "accuracy"]
QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"d": 1}}
RESULTS = {"r": {"x": 2.0, "d": 1.0}, "q": {"a": 1.0, "b": 2.0, "x": 3.0}}
DATA = os.environ.get("BEIR_EVAL_REALDATA")
REAL = {
    "scifact": ("scifact/qrels/test.tsv", "runs/scifact"),
    "dl19": ("qrels/dl19-passage.trec", "runs/dl19"),
    "trec-covid": ("qrels/trec-covid.trec", "runs/trec-covid"),
}


def assert_same(qrels, results, k_values=None, *, metrics=METRICS, ignore=True):
    """Hold both against each other, dict by dict, in the usual order of calls and in the other.

    Neither of our inputs may have changed.
    """
    k_values = k_values or K_VALUES
    custom = [("evaluate_custom", metric) for metric in metrics]
    for calls in ([("evaluate", ignore), *custom], [*custom, ("evaluate", ignore)]):
        mine, theirs, before = (copy.deepcopy((qrels, results)) for _ in range(3))
        for method, argument in calls:
            scores = getattr(EvaluateRetrieval, method)(*mine, k_values, argument)
            assert scores == getattr(Theirs, method)(*theirs, k_values, argument)
            assert isinstance(scores, tuple if method == "evaluate" else dict)
        assert mine == before
        for ranking, ranking_before in zip(mine[1].values(), before[1].values(), strict=True):
            assert list(ranking) == list(ranking_before)


def as_results(path):
    """A run file as a dict of dicts, whatever its last column holds; later lines win."""
    results = {}
    for line in path.read_text().splitlines():
        query, _, doc, _, score, *_ = line.split()
        results.setdefault(query, {})[doc] = float(score)
    return results


def real_pairs():
    for name, (qrels, folder) in REAL.items():
        for run in sorted(Path(DATA, folder).iterdir()) if DATA else []:
            yield pytest.param(Path(DATA, qrels), run, id=f"{name}-{run.name}")


@pytest.mark.parametrize(("qrels_file", "run_file"), list(real_pairs()) or [("", "")])
def test_real_runs_have_their_numbers(qrels_file, run_file):
    if not DATA:
        pytest.skip("BEIR_EVAL_REALDATA does not name the folder of real data")
    qrels = {
        query: {doc: int(grade) for doc, grade in judged.items()}
        for query, judged in read_qrels(qrels_file).as_dict().items()
    }
    results = as_results(run_file)
    if not set(results) & set(qrels):
        with pytest.raises(QueryMismatchError):
            EvaluateRetrieval.evaluate(qrels, results, K_VALUES)
        return
    judged = {query: ranking for query, ranking in results.items() if query in qrels}
    assert_same(qrels, judged)
    assert_same(qrels, results, metrics=["hole"])  # the others stop at queries without qrels


@given(qrels_and_run(grade=st.integers(0, 3), min_size=1), st.booleans())
@settings(max_examples=200)
def test_made_up_runs_have_their_numbers(case, ignore):
    qrels, results = case
    results = {
        query: {doc: float(score) for doc, score in ranking.items()}
        for query, ranking in results.items()
        if query in qrels
    }
    assume(all(any(grade > 0 for grade in judged.values()) for judged in qrels.values()))
    assert_same(qrels, results, [1, 2, 5, 20], ignore=ignore)


def test_documents_that_are_their_own_query_are_left_out_and_stay_where_they_are():
    qrels = {"a": {"b": 1}, "b": {"a": 1, "c": 1}}
    results = {"a": {"a": 3.0, "b": 2.0}, "b": {"x": 1.0, "b": 0.5, "a": 0.25}}
    assert_same(qrels, results)
    assert_same(qrels, results, ignore=False)
    assert EvaluateRetrieval.evaluate(qrels, results, [1])[0] == {"NDCG@1": 0.5}
    assert "a" in results["a"]


OWN_IDS = {"a": {"b": 1}, "b": {"a": 1, "c": 1}}
OWN_RESULTS = {"a": {"a": 3.0, "b": 2.0}, "b": {"x": 1.0, "b": 0.5, "a": 0.25}}


def test_after_evaluate_the_same_results_are_evaluated_without_these_documents():
    results = copy.deepcopy(OWN_RESULTS)
    custom = EvaluateRetrieval.evaluate_custom
    assert custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 0.0}
    EvaluateRetrieval.evaluate(OWN_IDS, results, [1], ignore_identical_ids=False)
    assert custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 0.0}
    EvaluateRetrieval.evaluate(OWN_IDS, results, [1])
    assert custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 0.5}
    again = EvaluateRetrieval.evaluate(OWN_IDS, results, [1], ignore_identical_ids=False)
    assert again[0] == {"NDCG@1": 0.5}
    assert results == OWN_RESULTS


def test_results_that_are_equal_but_others_are_evaluated_whole():
    for _ in range(20):  # where one dict was freed, the next may have its address
        results = {"a": {"a": 3.0, "b": 2.0}}
        assert EvaluateRetrieval.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 0.0}
        EvaluateRetrieval.evaluate(OWN_IDS, results, [1])
        assert EvaluateRetrieval.evaluate_custom(OWN_IDS, results, [1], "mrr") == {"MRR@1": 0.5}
        del results


def test_what_is_made_of_the_results_after_evaluate_holds_these_documents_and_theirs_does_not(
    tmp_path,
):
    copies, saved = [], []
    for side, save in ((EvaluateRetrieval, drop_in.save_runfile), (Theirs, beir_util.save_runfile)):
        results = copy.deepcopy(OWN_RESULTS)
        side.evaluate(OWN_IDS, results, [1])
        copies.append(side.evaluate_custom(OWN_IDS, copy.deepcopy(results), [1], "mrr"))
        save(str(tmp_path / "run"), results)
        saved.append(drop_in.load_runfile(tmp_path / "run"))
    assert copies == [{"MRR@1": 0.0}, {"MRR@1": 0.5}]
    assert saved == [OWN_RESULTS, {"a": {"b": 2.0}, "b": {"x": 1.0, "a": 0.25}}]


def test_a_document_put_back_into_its_ranking_is_still_ignored_and_counts_there():
    scores = []
    for side in (EvaluateRetrieval, Theirs):
        results = copy.deepcopy(OWN_RESULTS)
        side.evaluate(OWN_IDS, results, [1])
        results["a"]["a"] = 9.0
        scores.append(side.evaluate_custom(OWN_IDS, results, [1], "mrr"))
        results["a"] = {"a": 9.0, "b": 2.0}  # a new dict is evaluated whole
        scores.append(side.evaluate_custom(OWN_IDS, results, [1], "mrr"))
    assert scores == [{"MRR@1": 0.5}, {"MRR@1": 0.0}, {"MRR@1": 0.0}, {"MRR@1": 0.0}]


def test_a_ranking_that_queries_share_is_evaluated_without_the_ids_of_all_of_them():
    for side in (EvaluateRetrieval, Theirs):
        shared = {"a": 3.0, "b": 2.0, "c": 1.0}
        results = {"a": shared, "b": shared}
        recall = side.evaluate({"a": {"b": 1}, "b": {"c": 1}}, results, [1])[2]
        assert recall == {"Recall@1": 0.5}  # only c is left: right for b, not for a


def test_a_full_result_depends_on_its_own_setting_only():
    results = copy.deepcopy(OWN_RESULTS)
    EvaluateRetrieval.evaluate(OWN_IDS, results, [1])
    assert evaluate_full(OWN_IDS, results, [1], ignore_identical_ids=False)["MRR@1"] == 0.0
    fresh = copy.deepcopy(OWN_RESULTS)
    evaluate_full(OWN_IDS, fresh, [1])
    assert EvaluateRetrieval.evaluate_custom(OWN_IDS, fresh, [1], "mrr") == {"MRR@1": 0.0}


def test_rankings_that_the_caller_has_dropped_are_not_kept():
    class Ranking(dict):
        """A dict that can be watched."""

    ranking = Ranking(OWN_RESULTS["a"])
    watched = weakref.ref(ranking)
    results = {"a": ranking}
    EvaluateRetrieval.evaluate(OWN_IDS, results, [1])
    del ranking, results
    EvaluateRetrieval.evaluate(QRELS, RESULTS, [1])
    assert watched() is None


def test_many_rankings_in_use_are_neither_forgotten_nor_looked_through_in_each_call(monkeypatch):
    looks = []
    references = drop_in._Ignored.references
    monkeypatch.setattr(
        drop_in._Ignored, "references", lambda self: looks.append(0) or references(self)
    )
    results = {query: {query: 3.0, "a": 2.0} for query in map(str, range(500))}
    qrels = {query: {"a": 1} for query in results}
    for query, ranking in results.items():
        EvaluateRetrieval.evaluate(qrels, {query: ranking}, [1])
    assert len(looks) < 100 * len(results)
    for query, ranking in results.items():
        scores = EvaluateRetrieval.evaluate_custom({query: {"a": 1}}, {query: ranking}, [1], "mrr")
        assert scores == {"MRR@1": 1.0}


IDS = "abcde"


@st.composite
def calls_on_results_with_own_ids(draw):
    """Qrels, results and calls: (method, argument, which copy of the results, which part of it).

    A part gives each query one of the rankings, its own or that of another query.
    """
    doc_ids = st.sampled_from(IDS + "xy")
    qrels = {
        query: draw(st.dictionaries(doc_ids, st.integers(0, 2), max_size=5))
        | {draw(doc_ids): draw(st.integers(1, 2))}
        for query in IDS
    }
    scores = st.sampled_from([0.5, 1.0, 2.0, 3.5])
    results = {  # the "z" leaves no ranking empty: what BEIR makes of these is undefined
        query: draw(st.dictionaries(doc_ids, scores, max_size=6)) | {"z": draw(scores)}
        for query in draw(st.permutations(IDS))
    }
    call = st.one_of(
        st.tuples(st.just("evaluate"), st.booleans()),
        st.tuples(st.just("evaluate_custom"), st.sampled_from(METRICS)),
    )
    own = st.just({query: query for query in IDS})
    any_of_them = st.dictionaries(st.sampled_from(IDS), st.sampled_from(IDS), min_size=1)
    calls = st.lists(
        st.tuples(call, st.booleans(), st.one_of(own, any_of_them)), min_size=2, max_size=6
    )
    return qrels, results, draw(calls)


@given(calls_on_results_with_own_ids())
@settings(max_examples=300)
def test_any_order_of_calls_has_their_numbers_on_results_that_hold_their_queries_ids(case):
    qrels, results, calls = case
    mine, theirs = ([copy.deepcopy(results) for _ in range(2)] for _ in range(2))
    for (method, argument), which, part in calls:
        my_part, their_part = (
            {query: side[which][ranking] for query, ranking in part.items()}
            for side in (mine, theirs)
        )
        assert getattr(EvaluateRetrieval, method)(qrels, my_part, [1, 2, 5], argument) == getattr(
            Theirs, method
        )(qrels, their_part, [1, 2, 5], argument)
    assert mine == [results] * 2


def test_the_signatures_are_theirs():
    for name in ("__init__", "retrieve", "encode_and_retrieve", "evaluate", "evaluate_custom"):
        mine, theirs = (
            inspect.signature(getattr(one, name)).parameters for one in (EvaluateRetrieval, Theirs)
        )
        assert [(one.name, one.default, one.kind) for one in mine.values()] == [
            (one.name, one.default, one.kind) for one in theirs.values()
        ]
    for name in ("save_runfile", "load_runfile"):
        mine, theirs = (inspect.signature(getattr(one, name)) for one in (drop_in, beir_util))
        assert list(mine.parameters) == list(theirs.parameters)
    public = {name for name in vars(Theirs) if not name.startswith("_")}
    assert public <= set(vars(EvaluateRetrieval))


class Retriever:
    """Answers as a BEIR retriever, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def search(self, corpus, queries, top_k, score_function, **kwargs):
        self.asked.append((corpus, queries, top_k, score_function, kwargs))
        return {"q": {"a": 1.0}}

    def encode(self, *args, **kwargs):
        self.asked.append(("encode", args, kwargs))

    def search_from_files(self, **kwargs):
        self.asked.append(("files", kwargs))
        return {"q": {"a": 1.0}}


def test_a_retriever_is_asked_as_they_ask_it(tmp_path):
    (tmp_path / "corpus.0.pkl").touch()
    corpus, queries = {"a": {"title": "", "text": "t"}}, {"q": "text"}
    asked = []
    for make in (EvaluateRetrieval, Theirs):
        retriever = Retriever()
        both = make(retriever, k_values=[1, 7], score_function="dot")
        assert both.retrieve(corpus, queries, batch=3) == {"q": {"a": 1.0}}
        found = both.encode_and_retrieve(corpus, queries, encode_output_path=str(tmp_path), extra=1)
        assert found == {"q": {"a": 1.0}}
        asked.append((retriever.asked, both.k_values, both.top_k, both.score_function))
    assert asked[0] == asked[1]
    for call in (EvaluateRetrieval().retrieve, EvaluateRetrieval().encode_and_retrieve):
        with pytest.raises(SettingError, match="no retriever"):
            call(corpus, queries)


def test_where_they_crash_or_mislead_there_is_a_value_or_an_error():
    evaluate, custom = EvaluateRetrieval.evaluate, EvaluateRetrieval.evaluate_custom
    # A query of the run that nobody judged: not counted, as in their evaluate.
    more = RESULTS | {"other": {"a": 1.0}}
    for metric in ("mrr", "recall_cap", "accuracy"):
        assert custom(QRELS, more, [1, 3], metric) == custom(QRELS, RESULTS, [1, 3], metric)
        with pytest.raises(KeyError):
            Theirs.evaluate_custom(QRELS, more, [1, 3], metric)
    # Nothing relevant: 0, not a division by zero.
    zeros = {"q": {"a": 0}, "r": {"d": 1}}
    assert custom(zeros, RESULTS, [2], "r_cap") == {"R_cap@2": 0.5}
    # Nothing in common.
    for call in (lambda: evaluate(QRELS, {"x": {"a": 1.0}}, [1]), lambda: evaluate(QRELS, {}, [1])):
        with pytest.raises(QueryMismatchError, match="no query in common"):
            call()
    # An empty ranking, and a query without judgements.
    empty = RESULTS | {"q": {}}
    assert evaluate(QRELS, empty, [10])[2] == {"Recall@10": 0.5}
    assert evaluate(QRELS | {"s": {}}, RESULTS | {"s": {"a": 1.0}}, [10]) == evaluate(
        QRELS, RESULTS, [10]
    )
    # A cutoff that is named twice counts once; 0 and others are refused.
    assert evaluate(QRELS, RESULTS, [3, 3]) == evaluate(QRELS, RESULTS, [3])
    assert custom(QRELS, RESULTS, [3, 3], "mrr") == custom(QRELS, RESULTS, [3], "mrr")
    for k_values in ([0], [-1], [2.5], [True], []):
        with pytest.raises(MeasureError):
            evaluate(QRELS, RESULTS, k_values)
        with pytest.raises(MeasureError):
            custom(QRELS, RESULTS, k_values, "hole")
    with pytest.raises(MeasureError, match="no metric 'ndcg'"):
        custom(QRELS, RESULTS, [1], "ndcg")
    with pytest.raises(RunError, match="finite"):
        evaluate(QRELS, {"q": {"a": math.nan}}, [1])
    with pytest.raises(QrelsError):
        custom({}, RESULTS, [1], "hole")
    # Integer ids, fractional grades.
    assert evaluate({1: {2: 1}}, {1: {"2": 1}}, [1])[0] == {"NDCG@1": 1.0}


def test_judgements_may_be_those_of_a_data_set():
    assert EvaluateRetrieval.evaluate(Qrels(QRELS), RESULTS, [1, 3]) == EvaluateRetrieval.evaluate(
        QRELS, RESULTS, [1, 3]
    )
    for metric in METRICS:
        found = EvaluateRetrieval.evaluate_custom(Qrels(QRELS), RESULTS, [1, 3], metric)
        assert found == EvaluateRetrieval.evaluate_custom(QRELS, RESULTS, [1, 3], metric)


def test_the_full_result_counts_what_evaluate_hides():
    result = evaluate_full(QRELS, {"q": RESULTS["q"]}, [3])
    assert result.counted.queries_missing == ("r",)
    assert (
        round(result["NDCG@3"], 5)
        == EvaluateRetrieval.evaluate(QRELS, {"q": RESULTS["q"]}, [3])[0]["NDCG@3"]
    )
    assert (
        EvaluateRetrieval.evaluate_full(QRELS, RESULTS, measures=["bpref"])["bpref"]
        == (evaluate_full(QRELS, RESULTS, measures=["bpref"])["bpref"])
    )


def test_run_files_have_right_ranks_and_are_read_back(tmp_path):
    path = tmp_path / "run"
    drop_in.save_runfile(str(path), RESULTS, run_name="mine", top_k=2)
    assert path.read_text().splitlines()[-1] == "q Q0 b 2 2.0 mine"
    expected = {"r": {"x": 2.0, "d": 1.0}, "q": {"x": 3.0, "b": 2.0}}
    assert drop_in.load_runfile(path) == beir_util.load_runfile(path) == expected
    beir_util.save_runfile(str(path), RESULTS)
    assert drop_in.load_runfile(path) == RESULTS
    path.write_text(path.read_text() + "q Q0 a 4 0.5 tag\n")
    with pytest.raises(RunError, match="'a' stands twice"):
        drop_in.load_runfile(path)
    path.write_text("q a 1\nq b 2\n")
    with pytest.raises(RunError, match="no scores"):
        drop_in.load_runfile(path)
    path.write_text("nothing\n")
    with pytest.raises(FileFormatError):
        drop_in.load_runfile(path)


def test_a_repeated_document_is_named_without_comparing_each_with_all_others(tmp_path):
    number = 200_000  # a second or less; 20,000,000,000 comparisons take minutes
    lines = "".join(f"q Q0 d{doc} 1 1 tag\n" for doc in range(number))
    (tmp_path / "run").write_text(f"{lines}q Q0 d{number - 1} 1 1 tag\n")
    with time_limit(60), pytest.raises(RunError, match=f"'d{number - 1}' stands twice"):
        drop_in.load_runfile(tmp_path / "run")


def test_scores_are_logged_as_they_log_them(caplog):
    with caplog.at_level(logging.INFO, logger="beir_eval"):
        EvaluateRetrieval.evaluate(QRELS, RESULTS, [1])
        EvaluateRetrieval.evaluate_custom(QRELS, RESULTS, [1], "mrr")
    assert "Recall@1: 0.0000" in caplog.messages
    assert "MRR@1: 0.0000" in caplog.messages


@pytest.mark.skipif(not DATA, reason="BEIR_EVAL_REALDATA does not name the folder of real data")
def test_a_script_runs_with_nothing_changed_but_its_import_line(tmp_path):
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    theirs = Path(__file__).with_name("beir_script.py")
    ours = tmp_path / "script.py"
    line = "from beir.retrieval.evaluation import EvaluateRetrieval"
    assert theirs.read_text().count(line) == 1
    changed = line.replace("beir.retrieval.evaluation", "beir_eval.integrations.beir")
    ours.write_text(theirs.read_text().replace(line, changed))
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, str(script), str(Path(DATA, "scifact"))],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for script in (ours, theirs)
    ]
    assert found[0] == found[1]
    assert 0.64 <= found[0][0]["NDCG@10"] <= 0.69
