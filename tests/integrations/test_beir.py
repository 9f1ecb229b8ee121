"""The drop-in has BEIR's interface and scores, without changing inputs or crashing as BEIR does."""

import copy
import inspect
import json
import logging
import math
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import beir_eval.integrations.beir as drop_in
from beir_eval import Qrels
from beir_eval.datasets import demo
from beir_eval.errors import RunError, SettingError
from beir_eval.integrations.beir import EvaluateRetrieval, evaluate_full
from processes import python
from strategies import qrels_and_run
from time_limit import time_limit

beir_util = pytest.importorskip("beir.util", reason="the package beir is not installed")
Theirs = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval

K_VALUES = [1, 3, 5, 10, 100, 1000]
METRICS = ["mrr", "recall_cap", "hole", "accuracy"]
QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"d": 1}}
RESULTS = {"r": {"x": 2.0, "d": 1.0}, "q": {"a": 1.0, "b": 2.0, "x": 3.0}}


def assert_same_scores(
    qrels, results, k_values=None, *, metrics=METRICS, ignore_identical_ids=True
):
    """Assert that both return equal dicts: ``evaluate``, then custom metrics.

    BEIR's custom metrics have no documents with their query's id only after its ``evaluate``. Our
    calls must not change their inputs.
    """
    k_values = k_values or K_VALUES
    mine, theirs, before = (copy.deepcopy((qrels, results)) for _ in range(3))
    calls = [("evaluate", ignore_identical_ids)]
    if not ignore_identical_ids:
        calls.append(("evaluate", True))
    for method, argument in calls + [("evaluate_custom", metric) for metric in metrics]:
        scores = getattr(EvaluateRetrieval, method)(*mine, k_values, argument)
        assert scores == getattr(Theirs, method)(*theirs, k_values, argument)
        assert isinstance(scores, tuple if method == "evaluate" else dict)
    assert mine == before
    for ranking, ranking_before in zip(mine[1].values(), before[1].values(), strict=True):
        assert list(ranking) == list(ranking_before)


@given(qrels_and_run(grade=st.integers(0, 3), min_size=1), st.booleans())
@settings(max_examples=2 * settings.default.max_examples)
def test_scores_of_generated_runs_equal_those_of_beir(case, ignore):
    qrels, results = case
    results = {
        query: {doc: float(score) for doc, score in ranking.items()}
        for query, ranking in results.items()
        if query in qrels
    }
    assume(all(any(grade > 0 for grade in judged.values()) for judged in qrels.values()))
    assert_same_scores(qrels, results, [1, 2, 5, 20], ignore_identical_ids=ignore)


def test_the_signatures_are_those_of_beir():
    for name in ("__init__", "retrieve", "encode_and_retrieve", "evaluate", "evaluate_custom"):
        mine, theirs = (
            inspect.signature(getattr(implementation, name)).parameters
            for implementation in (EvaluateRetrieval, Theirs)
        )
        assert [
            (parameter.name, parameter.default, parameter.kind) for parameter in mine.values()
        ] == [(parameter.name, parameter.default, parameter.kind) for parameter in theirs.values()]
    for name in ("save_runfile", "load_runfile"):
        mine, theirs = (inspect.signature(getattr(module, name)) for module in (drop_in, beir_util))
        assert list(mine.parameters) == list(theirs.parameters)
    public = {name for name in vars(Theirs) if not name.startswith("_")}
    assert public <= set(vars(EvaluateRetrieval))


class Retriever:
    """Answers like a BEIR retriever, and records the calls that it receives."""

    def __init__(self):
        self.calls = []

    def search(self, corpus, queries, top_k, score_function, **kwargs):
        self.calls.append((corpus, queries, top_k, score_function, kwargs))
        return {"q": {"a": 1.0}}

    def encode(self, *args, **kwargs):
        self.calls.append(("encode", args, kwargs))

    def search_from_files(self, **kwargs):
        self.calls.append(("files", kwargs))
        return {"q": {"a": 1.0}}


def test_a_retriever_receives_the_same_calls_as_from_beir(tmp_path):
    (tmp_path / "corpus.0.pkl").touch()
    corpus, queries = {"a": {"title": "", "text": "t"}}, {"q": "text"}
    calls_and_settings = []
    for implementation in (EvaluateRetrieval, Theirs):
        retriever = Retriever()
        evaluator = implementation(retriever, k_values=[1, 7], score_function="dot")
        assert evaluator.retrieve(corpus, queries, batch=3) == {"q": {"a": 1.0}}
        results = evaluator.encode_and_retrieve(
            corpus, queries, encode_output_path=str(tmp_path), extra=1
        )
        assert results == {"q": {"a": 1.0}}
        calls_and_settings.append(
            (retriever.calls, evaluator.k_values, evaluator.top_k, evaluator.score_function)
        )
    assert calls_and_settings[0] == calls_and_settings[1]
    for call in (EvaluateRetrieval().retrieve, EvaluateRetrieval().encode_and_retrieve):
        with pytest.raises(SettingError, match="no retriever"):
            call(corpus, queries)


def test_an_empty_ranking_scores_0_and_a_query_without_judgements_does_not_count():
    evaluate = EvaluateRetrieval.evaluate
    assert evaluate(QRELS, RESULTS | {"q": {}}, [10])[2] == {"Recall@10": 0.5}
    with_unjudged = evaluate(QRELS | {"s": {}}, RESULTS | {"s": {"a": 1.0}}, [10])
    assert with_unjudged == evaluate(QRELS, RESULTS, [10])


def test_judgements_may_be_a_qrels_object():
    evaluate, evaluate_custom = EvaluateRetrieval.evaluate, EvaluateRetrieval.evaluate_custom
    assert evaluate(Qrels(QRELS), RESULTS, [1, 3]) == evaluate(QRELS, RESULTS, [1, 3])
    for metric in METRICS:
        scores = evaluate_custom(Qrels(QRELS), RESULTS, [1, 3], metric)
        assert scores == evaluate_custom(QRELS, RESULTS, [1, 3], metric)


def test_the_full_result_counts_what_evaluate_hides():
    result = evaluate_full(QRELS, {"q": RESULTS["q"]}, [3])
    assert result.counted.queries_missing == ("r",)
    rounded = EvaluateRetrieval.evaluate(QRELS, {"q": RESULTS["q"]}, [3])[0]["NDCG@3"]
    assert round(result["NDCG@3"], 5) == rounded
    assert EvaluateRetrieval.evaluate_full is evaluate_full


def test_run_files_have_right_ranks_and_are_read_back(tmp_path):
    path = tmp_path / "run"
    drop_in.save_runfile(str(path), RESULTS, run_name="mine", top_k=2)
    assert path.read_text().splitlines()[-1] == "q Q0 b 2 2.0 mine"
    expected = {"r": {"x": 2.0, "d": 1.0}, "q": {"x": 3.0, "b": 2.0}}
    assert drop_in.load_runfile(path) == beir_util.load_runfile(path) == expected
    beir_util.save_runfile(str(path), RESULTS)
    assert drop_in.load_runfile(path) == RESULTS
    path.write_text("q a 1\nq b 2\n")
    with pytest.raises(RunError, match="no scores"):
        drop_in.load_runfile(path)


def test_a_repeated_document_is_reported_without_comparing_all_pairs(tmp_path):
    number = 200_000  # a second or less; 20,000,000,000 comparisons take minutes
    lines = "".join(f"q Q0 d{doc} 1 1 tag\n" for doc in range(number))
    (tmp_path / "run").write_text(f"{lines}q Q0 d{number - 1} 1 1 tag\n")
    with time_limit(60), pytest.raises(RunError, match=f"'d{number - 1}' is listed twice"):
        drop_in.load_runfile(tmp_path / "run")


def test_scores_are_logged_by_the_loggers_and_in_the_lines_of_beir(caplog):
    records = []
    for implementation in (EvaluateRetrieval, Theirs):
        caplog.clear()
        with caplog.at_level(logging.INFO):
            implementation.evaluate(QRELS, copy.deepcopy(RESULTS), [1, 3])
            for metric in METRICS:
                implementation.evaluate_custom(QRELS, RESULTS, [1, 3], metric)
        records.append(
            [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
        )
    mine, theirs = records
    assert mine[0][:2] == theirs[0][:2]  # the sentence about identical ids has our own words
    assert mine[1:] == theirs[1:]
    assert ("beir.retrieval.evaluation", "INFO", "Recall@1: 0.0000") in mine
    assert ("root", "INFO", "MRR@1: 0.0000") in mine


def test_infinite_scores_and_empty_ids_count_as_in_beir():
    scores = [math.inf, 1.0, -math.inf, 3.5e38, math.inf]
    qrels = {"": {"": 1, "b": 2}, "q": {"a": 1, "": 2}}
    results = {
        "q": dict(zip(["a", "b", "", "x", "y"], scores, strict=True)),
        "": {"": 2.0, "b": math.inf, "a": 3.0},
    }
    assert_same_scores(qrels, results, [1, 2, 3, 5])
    assert_same_scores(qrels, results, [1, 2, 3, 5], ignore_identical_ids=False)


@pytest.mark.slow
def test_a_beir_script_gives_the_same_scores_when_only_its_import_line_changes(tmp_path):
    theirs = Path(__file__).with_name("beir_script.py")
    ours = tmp_path / "script.py"
    import_line = "from beir.retrieval.evaluation import EvaluateRetrieval"
    assert theirs.read_text().count(import_line) == 1
    new_import_line = import_line.replace(
        "beir.retrieval.evaluation", "beir_eval.integrations.beir"
    )
    ours.write_text(theirs.read_text().replace(import_line, new_import_line))
    scores = [
        json.loads(python(script, demo.FOLDER, demo.RUNS[0]).stdout) for script in (ours, theirs)
    ]
    assert scores[0] == scores[1]
    assert scores[0][0]["NDCG@10"] == 0.66648
