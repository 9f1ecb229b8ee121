"""Calls that a newcomer gets wrong raise an error that names what was passed and the right call."""

import re
from pathlib import Path

import pytest

import beir_eval
from beir_eval import (
    Comparison,
    EvaluationResult,
    Run,
    check_gate,
    compare,
    compare_runs,
    evaluate,
    load_dataset,
    read_run,
    write_qrels,
    write_run,
)
from beir_eval.core.files import SAVED_RECORDS, kind_of_json
from beir_eval.core.saved import Saved
from beir_eval.datasets import demo
from beir_eval.errors import BeirEvalError
from command_line import output_of, run

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
RUN = {"q1": {"a": 1.0, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}}
OTHER = {"q1": {"a": 0.1, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}}
RESULTS = [
    evaluate(QRELS, run, ["nDCG@10"], name=name) for name, run in {"A": RUN, "B": OTHER}.items()
]
ROWS, SCORES = [[0, 1], [1, 0]], [[1.0, 0.5], [0.3, 0.2]]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder of files of several kinds, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("run.trec", "run.json", "runs/a.trec", "runs/b.trec"):
        write_run(RUN if "b" not in name else OTHER, name)
    write_qrels(QRELS, "qrels.trec")
    RESULTS[0].save("result.json")
    compare(RESULTS).save("comparison.json")
    Path("results.json").write_text(f"[{','.join(result.model_dump_json() for result in RESULTS)}]")
    Path("report.html").write_text("<!doctype html>\n<html></html>\n")
    Path("other.csv").write_text("question,passage,value\nq1,a,1.0\n")
    Path("both.tsv").write_text("q1 0\td1\t1\n")
    Path("half.json").write_text(Path("result.json").read_text()[:-300])
    Path("list.json").write_text("[]")
    Path("empty.json").write_text("")
    Path("cut.trec").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2")
    return tmp_path


def from_arrays(**changed):
    return Run.from_arrays(**({"ids": ROWS, "scores": SCORES, "query_ids": ["q1", "q2"]} | changed))


#: (call, words of its message)
CALLS = [
    # Names of measures
    (lambda: evaluate(QRELS, RUN, "nDCG10"), "no measure 'nDCG10'; did you mean nDCG@10?"),
    (lambda: evaluate(QRELS, RUN, {"nDCG": 10}), "names such as ['nDCG@10', 'MAP@100'], not a map"),
    # Objects of another kind, or in another order
    (lambda: evaluate({"A": RUN}, QRELS), "the qrels are the first argument"),
    (lambda: evaluate(QRELS, ["nDCG@10"], RUN), "measures must be a list of names"),
    (lambda: evaluate(QRELS, {"q1": [("a", 1.0)]}), "for a list of pairs dict(pairs)"),
    # Arrays of an index
    (lambda: from_arrays(ids=SCORES, scores=ROWS), "the first argument is the ids, the second the"),
    (lambda: Run.from_rankings("run.trec"), "read_run(path) reads a file"),
    # Comparisons
    (lambda: compare(RESULTS, "A"), "'A' is a system, not a measure"),
    (lambda: compare(*RESULTS), "one argument, a list: compare([a, b])"),
    (
        lambda: compare(RESULTS, baseline=RESULTS[1]),
        "the name of a system, such as 'B', not its result",
    ),
    (
        lambda: compare([RUN, OTHER]),
        "results[0] must be an EvaluationResult, not dict; compare_runs",
    ),
    (lambda: compare(["missing.json"]), "EvaluationResult.load(path) reads a saved result"),
    (lambda: compare_runs(QRELS, [RUN, OTHER]), "{name: run}, such as {'bm25': 'bm25.trec'"),
    (lambda: compare_runs({"A": RUN, "B": OTHER}, QRELS), "the qrels are the first argument"),
    (lambda: compare(RESULTS).difference("B", "MRR"), "is the first argument, as in ('MRR', 'B')"),
    (lambda: compare(RESULTS).mean("A", "MRR"), "'A' is a system: the measure is the first argum"),
    (lambda: check_gate(RESULTS[0]), "a gate checks a Comparison, not EvaluationResult"),
    # Files of another kind
    (lambda: read_run("report.html"), "this looks like an HTML page"),
    (lambda: read_run("other.csv"), "names the columns, such as query_id,doc_id,score"),
    (lambda: EvaluationResult.load("comparison.json"), "read it with Comparison.load(path)"),
    (lambda: EvaluationResult.load("results.json"), "EvaluationResult.from_content(entry, path)"),
    (lambda: Comparison.load("result.json"), "read it with EvaluationResult.load(path)"),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words for _, words in CALLS])
def test_a_wrong_call_is_answered_in_one_sentence_with_the_right_one(call, words):
    with pytest.raises(BeirEvalError, match=re.escape(words)) as caught:
        call()
    assert len(str(caught.value)) < 350
    assert "long long" not in str(caught.value)


#: (arguments of the command line, words of its message)
COMMANDS = [
    ("evaluate both.tsv run.trec", "State it: --qrels-format trec or --qrels-format beir"),
    ("evaluate qrels.trec run.trec --format none", "--format none is not known"),
    ("evaluate qrels.trec run.trec --ties none", "--ties none is not known; choose one of"),
    ("convert run.trec run.doc", "or state --to one of trec, json, csv, parquet"),
    ("convert both.tsv x.json --qrels", "--from trec or --from beir"),
    ("evaluate qrels.trec . -m nDCG10", "did you mean nDCG@10?"),
    ("evaluate qrels.trec run.trec -m MAP@10 rel=2", "-m 'MAP(rel=2)@10'"),
    ("evaluate qrels.trec run.trec --metrics MAP@10", "did you mean --measure (-m)?"),
    ("evaluate qrels.trec run.trec -o -", "- is not the name of an output; name a file"),
    ("evaluate qrels.trec cut.trec", "the last line and has no end: the file may be cut off"),
    ("convert run.trec ./run.trec", "run.trec is named twice on this command"),
    ("compare qrels.trec run.trec ./run.trec", "run.trec: the same file is given twice"),
    ("compare result.json result.json", "result.json: the same file is given twice"),
    ("compare qrels.trec runs --gate nDCG@10=0.02", "--floor nDCG@10=0.02 sets the lowest mean"),
    ("compare result.json run.trec", "a TREC run, not a saved result; evaluate the run first"),
    ("compare result.json runs/../qrels.trec", "Compare saved results, such as result.json, or"),
    ("compare result.json comparison.json", "a saved comparison, not a saved result; name the"),
    ("compare result.json half.json", "half.json: the JSON is damaged or cut off ("),
    ("compare result.json list.json", "list.json: there is no result in the file; write it again"),
    ("compare empty.json result.json", "empty.json: the file is empty; write it again"),
]
#: (arguments of the command line with an empty one, words of its message)
EMPTY = [
    (["compare", "", "run.trec"], "an argument is an empty path"),
    (["evaluate", "qrels.trec", "run.trec", "--output", ""], "--output has an empty value"),
    (["evaluate", "qrels.trec", "run.trec", "-m", ""], "-m has an empty value"),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("arguments", "words"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_a_wrong_command_is_answered_with_the_names_of_options(arguments, words):
    result = run(*arguments.split())
    assert result.exit_code == 2
    assert words in output_of(result)
    assert "format=" not in result.output


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("arguments", "words"), EMPTY)
def test_an_empty_argument_is_no_folder_and_no_measure(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.output.startswith(f"error: {words}")
    assert "variable of the shell" in result.output
    assert result.output.count("\n") == 1


# What the same users now get


@pytest.mark.usefixtures("files")
def test_paths_and_a_data_set_are_evaluated_like_the_objects_they_hold():
    expected = evaluate(QRELS, RUN, ["nDCG@10"])
    assert evaluate("qrels.trec", "run.trec", "nDCG@10") == expected
    assert evaluate(Path("qrels.trec"), Path("run.json"), "nDCG@10") == expected
    runs = {"A": "runs/a.trec", "B": "runs/b.trec"}
    assert compare_runs("qrels.trec", runs) == compare_runs(QRELS, {"A": RUN, "B": OTHER})
    dataset, run = load_dataset(demo.FOLDER), demo.RUNS[0]
    in_memory = evaluate(dataset.qrels, read_run(run), "nDCG@10")
    assert evaluate(dataset, run, "nDCG@10") == evaluate(demo.FOLDER, run, "nDCG@10") == in_memory


@pytest.mark.usefixtures("files")
def test_a_folder_of_runs_is_every_run_in_it_on_the_command_line():
    folder, listed = (
        run("evaluate", "qrels.trec", *runs, "-m", "nDCG@10,MRR MAP").stdout
        for runs in (["runs"], ["runs/a.trec", "runs/b.trec"])
    )
    assert folder == listed
    assert "nDCG@10" in folder
    assert run("compare", "qrels.trec", "runs", "-m", "MRR").exit_code == 0
    Path("empty").mkdir()
    output = run("evaluate", "qrels.trec", "empty").output
    assert "empty: no run file in this folder" in output


def test_every_kind_of_saved_record_is_recognised_by_its_fields():
    for module in (
        "benchmark",
        "comparison.experiments",
        "comparison.stages",
        "integrations.spark.score_table",
        "validation",
    ):
        __import__(f"beir_eval.{module}")
    assert beir_eval.compare_slices
    assert beir_eval.checkpoint_curve
    records = {
        (record.WHAT, record.__name__): record
        for base in Saved.__subclasses__()
        for record in base.__subclasses__() or [base]
        if record.__module__.startswith("beir_eval.")  # not those of other tests
    }
    assert set(records) == {(kind, name) for kind, name, _ in SAVED_RECORDS}
    for kind, name, own_fields in SAVED_RECORDS:
        assert own_fields <= set(records[kind, name].model_fields)
        content = dict.fromkeys(records[kind, name].model_fields)
        assert kind_of_json(content) == (f"a saved {kind}", f"{name}.load(path)")
