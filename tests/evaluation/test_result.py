"""Results can be saved, loaded, merged, compared and displayed."""

import copy
import gzip
import json
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from beir_eval import (
    EvaluationResult,
    check_gate,
    compare,
    evaluate,
    nDCG,
    write_report,
)
from beir_eval.errors import (
    InputError,
    QueryMismatchError,
    ResultError,
    UnknownMeasureError,
)
from beir_eval.evaluation import TopDocuments
from beir_eval.evaluation.tables import means_table, repeats_table
from strategies import qrels_and_run

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 0}, "q3": {"d": 0}}
RUN = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
MEASURES = ["nDCG@10", "P@1", "Judged@10", "gm_map", "num_ret", "RBP(p=0.5)"]


def example_result(**settings):
    return evaluate(QRELS, RUN, MEASURES, **settings)


@given(qrels_and_run(), st.sampled_from(["zero", "skip"]), st.sampled_from(["r.json", "r.json.gz"]))
def test_a_saved_result_is_the_same_when_loaded(tmp_path_factory, case, missing, name):
    path = tmp_path_factory.mktemp("saved") / name
    result = evaluate(*case, missing=missing, no_relevant=missing, keep_top=3, fingerprint=True)
    result.save(path)
    loaded = EvaluationResult.load(path)
    assert loaded == result
    assert loaded.model_dump_json() == result.model_dump_json()
    np.testing.assert_array_equal(loaded.values.array, result.values.array)


def test_a_gz_file_is_compressed_and_two_saves_are_the_same_bytes(tmp_path):
    example_result().save(tmp_path / "one.json.gz")
    example_result().save(tmp_path / "two.json.gz")
    content = (tmp_path / "one.json.gz").read_bytes()
    assert json.loads(gzip.decompress(content))["schema_version"] == 2
    assert content == (tmp_path / "two.json.gz").read_bytes()


def test_undefined_scores_are_null_in_json(tmp_path):
    example_result().save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["values"][2] == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"values": {"a": 1}}, "lists"),
        ({"values": [["1.0"]]}, "not a number"),
        ({"values": [[True]]}, "not a number"),
        ({"values": [[10**400]]}, "too large"),
        ({"measures": ["nDGC@10"]}, "did you mean"),
        ({"measures": ["P@1"]}, "canonical"),
        ({"skipped_values": [[1.0, 2.0]]}, "skipped_values"),
    ],
)
def test_a_saved_result_with_wrong_content_is_refused(tmp_path, change, problem):
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["Precision@1"])
    (tmp_path / "r.json").write_text(json.dumps(json.loads(result.model_dump_json()) | change))
    with pytest.raises(ResultError, match=problem):
        EvaluationResult.load(tmp_path / "r.json")


def test_a_copied_result_is_read_only():
    for copied in (copy.deepcopy(example_result()), pickle.loads(pickle.dumps(example_result()))):  # noqa: S301
        assert copied == example_result()
        with pytest.raises(ValueError, match="read-only"):
            copied.values.array[0, 0] = 1


def test_a_measure_is_in_the_result_in_any_spelling():
    assert "ndcg_cut_10" in example_result()
    assert "nDCG@5" not in example_result()


def test_a_result_is_frozen():
    with pytest.raises(ValidationError):
        example_result().name = "other"
    with pytest.raises(ValueError, match="read-only"):
        example_result().values.array[0, 0] = 1


def test_results_compare_by_content():
    assert example_result() == example_result()
    assert example_result() != example_result(missing="skip")
    assert example_result() != evaluate(QRELS, RUN | {"q3": {"x": 1.0}}, MEASURES)
    assert example_result().values != 1
    first, second = example_result(), example_result()
    assert first.aggregate  # a cached mean does not affect equality
    assert first == second


def test_the_scores_of_a_query_have_every_name_that_means_have():
    scores = example_result().per_query["q1"]
    for name in ("nDCG@10", "ndcg_cut_10", nDCG @ 10):
        assert scores[name] == 1
    assert scores == dict(scores)
    assert json.loads(json.dumps(scores)) == scores
    with pytest.raises(KeyError, match="MAP"):
        scores["MAP"]
    with pytest.raises(UnknownMeasureError):
        scores["no measure"]
    custom = EvaluationResult.from_scores("a", {"EM": {"q": 1}}, higher_is_better=True)
    assert custom.per_query["q"]["EM"] == 1


def test_the_dataframe_has_one_row_per_query_and_one_column_per_measure():
    frame = example_result().to_dataframe()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["query_id", *example_result().measures]
    assert frame["query_id"].to_list() == ["q1", "q2", "q3"]
    assert frame["Precision@1"].to_list() == [1.0, 0.0, 0.0]


def test_changing_a_returned_dict_does_not_change_the_result():
    result = example_result()
    result.per_query["q1"]["nDCG@10"] = 9
    assert result.per_query["q1"]["nDCG@10"] == 1
    for by_measure in (result.as_dict(), result.aggregate, result.num_scored):
        by_measure["nDCG@10"] = 9
    assert result["nDCG@10"] != 9
    assert result.num_scored["nDCG@10"] != 9


def test_print_shows_the_means_measures_by_cutoffs_if_every_measure_has_every_cutoff():
    text = str(evaluate({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, name="bm25"))
    assert text.splitlines()[0] == "bm25: nDCG@10 0.6309, 1 query, 50% of the top 10 judged"
    lines = str(
        evaluate({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, ["MRR@1", "MRR@2", "P@1", "P@2"])
    )
    header, *rows = [line.split() for line in lines.splitlines()[2:]]
    assert header == ["run", "@1", "@2"]
    assert rows == [
        ["MRR", "0.0000", "0.5000"],
        ["Precision", "0.0000", "0.5000"],
        ["judged", "0%", "50%"],
    ]
    lines = str(evaluate(QRELS, RUN, ["MRR", "P@1"], name="bm25", missing="skip")).splitlines()
    assert lines[1].startswith("warning: bm25: 1 of 3 judged queries are missing")
    assert lines[0].startswith("bm25: MRR 0.7500, 2 queries, 1 more missing, ")
    assert lines[3].split()[:3] == ["system", "MRR", "*"]
    assert "bm25 (the 2 it has)          0.7500" in lines[4]
    assert "bm25 (all 3 judged queries)  0.5000" in lines[5]


def test_the_first_line_has_the_queries_of_the_mean():
    qrels = QRELS | {"none": {"a": 0}}
    run = {query: {"a": 1.0} for query in qrels}
    result = evaluate(qrels, run, "MRR", no_relevant="skip")
    num_scored = result.num_scored["MRR"]
    assert num_scored < result.num_queries
    assert f"MRR {result['MRR']:.4f}, {num_scored} queries, " in str(result)


def test_top_documents_are_frozen_comparable_and_checked_when_loaded(tmp_path):
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}}, "MRR", keep_top=2)
    (top,) = result.top.values()
    assert top == TopDocuments(("a", "x"), (2.0, 1.0), (1.0, None))
    for copied in (pickle.loads(pickle.dumps(top)), copy.deepcopy(top)):  # noqa: S301 - made here
        assert copied == top
    with pytest.raises(AttributeError):
        top.scores = None
    content = json.loads(result.model_dump_json())
    assert content["top"] == {"q": {"doc_ids": ["a", "x"], "scores": [2, 1], "grades": [1, None]}}
    assert EvaluationResult.model_validate(content).top == result.top
    content["top"]["q"]["more"] = 1
    (tmp_path / "more.json").write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"top\.q\.more"):
        EvaluationResult.load(tmp_path / "more.json")


@pytest.mark.parametrize("depth", [3, 99, 100])
def test_measures_without_a_cutoff_are_marked_on_rankings_below_100_documents(depth):
    run = {"q": {f"d{rank}": -float(rank) for rank in range(depth)}}
    whole, others = ["MAP", "MRR", "Recall", "bpref"], ["nDCG@3", "Rprec", "num_ret"]
    result = evaluate({"q": {"d0": 1}}, run, [*whole, *others])
    marked = [f"{name} *" if depth < 100 else name for name in whole]
    assert [*map(result.label, [*whole, *others])] == [*marked, *others]
    note = f"* the run has at most {depth} documents per query"
    assert (note in result.notes()) == (depth < 100)


def test_a_note_says_that_rankings_are_shorter_than_a_cutoff_that_one_of_them_reaches():
    qrels = {f"q{number}": {"d": 1} for number in range(4)}
    short, deep = {"d": 2.0, "x": 1.0}, {f"x{rank}": float(-rank) for rank in range(5)}
    run = dict.fromkeys(qrels, short) | {"q0": deep}
    notes = evaluate(qrels, run, ["Recall@2", "Recall@5"]).notes()
    [note] = [note for note in notes if "fewer documents" in note]
    assert "on average 2.8 of 5" in note
    notes = evaluate(qrels, dict.fromkeys(qrels, deep), ["Recall@5", "MRR"]).notes()
    assert "fewer documents" not in "\n".join(notes)
    assert "fewer documents" not in "\n".join(evaluate(qrels, run, ["Recall@2"]).notes())


def test_a_table_of_repeats_has_means_over_repeats_and_their_standard_deviation():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    good, bad = {"a": 2.0, "x": 1.0}, {"a": 1.0, "x": 2.0}
    runs = [{"q1": good, "q2": good}, {"q1": good, "q2": bad}, {"q1": bad, "q2": bad}]
    results = [evaluate(qrels, run, ["MRR", "Success@1"]) for run in runs]
    systems = {"noisy": results, "fixed": results[:1]}
    noisy, fixed = repeats_table(systems, ["MRR", "Success@1"]).rows
    assert [str(cell) for cell in noisy] == ["noisy", "0.7500 ± 0.2500", "0.5000 ± 0.5000"]
    assert [str(cell) for cell in fixed] == ["fixed", "1.0000", "1.0000"]
    assert [cell.is_best for cell in (*noisy[1:], *fixed[1:])] == [False, False, True, True]
    assert [row[0] for row in repeats_table(systems, ["MRR"] * 9).rows] == ["MRR *"] * 9


def test_undefined_means_are_not_bold():
    unjudged = {"q1": {"d": 0}, "q2": {"d": 0}}
    run = {"q1": {"d": 1.0}, "q2": {"d": 1.0}}
    results = [
        evaluate(unjudged, run, ["nDCG@5", "Judged@1"], no_relevant="skip", name=name)
        for name in "ab"
    ]
    undefined, judged = ([row[column] for row in means_table(results).rows] for column in (1, 2))
    assert [(cell.text, cell.is_best) for cell in undefined] == [("n/a", False)] * 2
    assert [(cell.text, cell.is_best) for cell in judged] == [("1.0000", True)] * 2


# Measures beside those of the documents


def answers_of(result, **scores):
    named = {name.replace("_", " "): by_query for name, by_query in scores.items()}
    return EvaluationResult.from_scores(result.name, named, bounds=(0, 1), higher_is_better=True)


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_measures_beside_those_of_documents_keep_both_and_everything_counted(missing, tmp_path):
    qrels = {f"q{number}": {"a": 1, "b": 2} for number in range(9)}
    run = {f"q{number}": {"b": 2.0, "x": 1.0, "a": 0.5} for number in range(1, 9)}
    documents = evaluate(qrels, run, ["nDCG@10", "MRR"], missing=missing, keep_top=2)
    both = documents.beside(answers_of(documents, EM={"q0": 1, "q1": 1, "q2": 0.0}))
    assert both.measures == ("nDCG@10", "MRR", "EM")
    assert both["nDCG@10"] == documents["nDCG@10"]
    assert both.counted == documents.counted
    assert both["EM"] == pytest.approx(2 / 3 if missing == "zero" else 1 / 2)
    both.save(tmp_path / "both.json")
    assert EvaluationResult.load(tmp_path / "both.json") == both
    text = " ".join(str(both).split())
    assert "EM" in text
    over = "3 queries" if missing == "zero" else "2 queries"  # the run lacks q0
    scale = "from 0 to 1, higher is better"
    assert f"EM: a custom measure, {scale}, computed elsewhere over {over}" in both.notes()
    comparison = compare({"A": both, "B": both.model_copy(update={"name": "B"})}, baseline="A")
    assert {difference.measure for difference in comparison.differences} == {
        "nDCG@10",
        "MRR",
        "EM",
    }
    write_report(tmp_path / "r.html", comparison)
    write_report(tmp_path / "one.html", both)
    checks = check_gate(comparison, ["EM"])
    assert [check.measure for check in checks] == ["EM"]


def test_measures_of_this_package_and_of_other_queries_are_not_put_beside():
    documents = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["nDCG@10"])
    with pytest.raises(ResultError, match="both results hold 'nDCG@10'"):
        documents.beside(documents)
    with pytest.raises(ResultError, match="'MRR' of 'run' are measures of this package"):
        documents.beside(evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["MRR"]))
    with pytest.raises(QueryMismatchError, match="'run' has queries that 'run' lacks: 'other'"):
        documents.beside(answers_of(documents, EM={"q": 1, "other": 0}))


def test_the_outputs_of_haystacks_evaluators_are_results():
    outputs = {
        "faithfulness": {"score": 0.5, "individual_scores": [1.0, float("nan"), 0.0]},
        "context relevance": {"individual_scores": [1, 0, 1]},
    }
    result = EvaluationResult.from_haystack("rag", outputs, query_ids=["q1", "q2", "q3"])
    assert result.num_scored == {"faithfulness": 2, "context relevance": 3}
    assert result["faithfulness"] == 0.5
    sas = {"sas": {"individual_scores": [-0.1, 0.4]}}
    with pytest.raises(InputError, match="outside the bounds 0 to 1"):
        EvaluationResult.from_haystack("rag", sas, query_ids=["q1", "q2"])
    assert EvaluationResult.from_haystack("rag", sas, query_ids=["a", "b"], bounds=(-1, 1))["sas"]
    with pytest.raises(InputError, match="3 individual_scores for 2 query_ids"):
        EvaluationResult.from_haystack("rag", outputs, query_ids=["q1", "q2"])


def test_metrics_for_trackers_are_means_and_counts():
    metrics = evaluate(QRELS, RUN, ["nDCG(gain={1: 1, 2: 3})@10", *MEASURES]).as_metrics()
    assert list(metrics) == [
        "nDCG_gain_1_1_2_3_at_10",
        "nDCG_at_10",
        "Precision_at_1",
        "Judged_at_10",
        "gm_map",
        "num_ret",
        "RBP_p_0_5",
        "counts/queries",
        "counts/queries_missing",
        "counts/queries_scored/Judged_at_10",
    ]
    assert metrics["Precision_at_1"] == 1 / 3
    assert list(metrics.values())[-3:] == [3, 1, 2]
    left_out = evaluate(QRELS, RUN, "MRR", missing="skip").as_metrics()
    assert left_out == {"MRR": 0.75, "counts/queries": 2, "counts/queries_missing": 1}
    result = EvaluationResult.from_scores("a", {"EM (strict)": {"q": 1}}, higher_is_better=True)
    assert result.as_metrics() == {"EM_strict": 1.0, "counts/queries": 1}


@pytest.mark.parametrize("names", [("a-b", "a b"), ("%", "?!")])
def test_measures_whose_metrics_would_have_the_same_name_or_none_are_refused(names):
    scores = {name: {"q": 1.0} for name in names}
    result = EvaluationResult.from_scores("a", scores, higher_is_better=True)
    with pytest.raises(ResultError, match="differ by special characters only, or have no others"):
        result.as_metrics()
