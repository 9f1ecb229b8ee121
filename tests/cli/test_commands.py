"""The command line prints scores, and one clear line if there is an error."""

import csv
import json
import os

import pytest

from beir_eval import __version__, evaluate, read_qrels, read_run
from beir_eval.datasets import demo
from beir_eval.evaluation import EvaluationResult
from command_line import output_of, refusal, run, success
from data_sets import write_benchmark
from processes import python


@pytest.fixture
def files(tmp_path):
    """Return a folder with qrels, two runs and the folder of a data set."""
    (tmp_path / "qrels.trec").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (tmp_path / "good.trec").write_text("q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\nq2 Q0 x 2 1 t\n")
    (tmp_path / "half.trec").write_text("q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\n")
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "set" / "qrels" / "dev.tsv").write_text("q1\ta\t1\nq2\tc\t2\n")
    return tmp_path


def test_without_a_measure_one_run_is_a_table_of_measures_by_cutoffs(files):
    result = run("evaluate", files / "qrels.trec", files / "good.trec")
    first, _, header, _, *rows, _, last = result.output.splitlines()
    assert first == "good: nDCG@10 1.0000, 2 queries, 67% of the top 10 judged"
    assert header.split() == ["good", "@1"]
    names = ["nDCG", "MAP", "Recall", "R_cap", "Precision", "MRR", "judged"]
    assert [row.split()[0] for row in rows] == names
    assert rows[-1].split()[1] == "100%"
    others = "@3, @5, @10, @100, @1000 are left out"
    assert last == f"{others}: the run has at most 2 documents a query."


def test_without_a_measure_several_runs_are_a_narrow_table_and_the_files_have_every_measure(files):
    targets = {kind: files / f"means.{kind}" for kind in ("json", "md", "tex")}
    options = [text for kind, path in targets.items() for text in ("-o", str(path))]
    result = run(
        "evaluate", files / "qrels.trec", files / "good.trec", files / "half.trec", *options
    )
    assert "system nDCG@10 * MAP@100 * Recall@100 * MRR@10 *" in output_of(result)
    first = "Highest nDCG@10: good, 1.0000 (2 systems, 2 queries; not tested: use compare)"
    assert first in result.output.splitlines()
    assert "36 measures each: -o FILE." in output_of(result)
    assert len(json.loads(targets["json"].read_text())[0]["measures"]) == 36
    for kind in ("md", "tex"):
        assert targets[kind].read_text().count("@1000 *") == 6


def test_every_option_reaches_the_evaluation(files):
    (files / "odd.trec").write_text(
        "q1 Q0 q1 1 9 t\nq1 Q0 b 2 5 t\nq1 Q0 a 3 5 t\nq1 Q0 a 4 4 t\n"
        "q2 Q0 x 1 3 t\nq2 Q0 c 2 2 t\n"
    )
    command = ["evaluate", files / "qrels.trec", files / "odd.trec", "-m", "RR"]
    command += ["--duplicates", "first"]
    (files / "upside.trec").write_text("q1 Q0 x 1 1 t\nq1 Q0 a 2 2 t\nq2 Q0 c 1 1 t\n")
    command_for_unsorted = ["evaluate", files / "qrels.trec", files / "upside.trec", "-m", "RR"]
    assert "1.0000" in run(*command_for_unsorted).output
    assert "0.7500" in run(*command_for_unsorted, "--order", "given").output
    assert "0.4167" in run(*command).output  # (1/3 + 1/2) / 2: b is ranked above a in the tie
    assert "0.5000" in run(*command, "--ties", "best").output  # (1/2 + 1/2) / 2
    # The mean of 1 and 1/2.
    assert "0.7500" in run(*command, "--drop-identical-ids", "--ties", "best").output


def test_a_data_set_folder_needs_its_split(files):
    output = refusal(run("evaluate", files / "set", files / "good.trec", "-m", "P@1"))
    assert "it has the splits dev" in output
    assert run("evaluate", files / "set", files / "good.trec", "--split", "dev").exit_code == 0


def test_queries_without_relevant_documents_can_be_left_out(files):
    (files / "zero.trec").write_text("q1 0 a 1\nq2 0 c 0\n")
    command = ["evaluate", files / "zero.trec", files / "good.trec", "-m", "RR"]
    assert "0.5000" in run(*command).output
    assert "1.0000" in run(*command, "--no-relevant", "skip").output


def test_per_query_scores_and_results_are_written(files):
    success(
        run(
            *("evaluate", files / "qrels.trec", files / "good.trec", files / "half.trec"),
            *("-m", "RR", "-m", "Judged@1", "-o", files / "q.csv", "-o", files / "r.json"),
        )
    )
    with (files / "q.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"system": "good", "query_id": "q1", "MRR": "1.0", "Judged@1": "1.0"}
    assert rows[-1] == {"system": "half", "query_id": "q2", "MRR": "0.0", "Judged@1": ""}
    saved_results = [
        EvaluationResult.model_validate(content)
        for content in json.loads((files / "r.json").read_text())
    ]
    qrels = read_qrels(files / "qrels.trec")
    expected = evaluate(qrels, read_run(files / "good.trec"), ["RR", "Judged@1"], name="good")
    assert saved_results[0].provenance.qrels_sha256 == qrels.fingerprint()
    provenance = {"provenance": expected.provenance}
    assert saved_results[0].model_copy(update=provenance) == expected
    assert [saved_result.name for saved_result in saved_results] == ["good", "half"]


def test_saved_scores_from_elsewhere_are_compared_and_gated_by_the_name_of_their_measure(tmp_path):
    for name, seconds in (("slow", 2.0), ("fast", 1.0)):
        scores = {f"q{number}": seconds + number / 100 for number in range(9)}
        EvaluationResult.from_scores(
            name, {"seconds per query": scores}, higher_is_better=False
        ).save(tmp_path / f"{name}.json")
    slow, fast = tmp_path / "slow.json", tmp_path / "fast.json"
    # A level of relevance is for the measures that have one.
    passed = success(run("compare", slow, fast, "--gate", "seconds per query", "-l", "2"))
    where = "(seconds per query, lower is better, 9 queries)"
    assert passed.startswith(f"gate passed: fast is not shown to be worse than slow {where}")
    failed = run("compare", fast, slow, "-m", "seconds per query", "--gate", "seconds per query")
    assert failed.exit_code == 1
    assert f"gate failed: slow is worse than fast {where}" in output_of(failed)
    assert "there is no measure 'minutes'" in refusal(run("compare", slow, fast, "-m", "minutes"))


def test_systems_of_files_with_several_each_are_named_after_file_and_system(files):
    for name, rankings in (("main", "good half"), ("change", "half good")):
        runs = [str(files / f"{run_name}.trec") for run_name in rankings.split()]
        success(
            run("evaluate", str(files / "qrels.trec"), *runs, "-o", str(files / f"{name}.json"))
        )
    compared = success(run("compare", files / "main.json", files / "change.json", "-m", "MRR@10"))
    for system in ("main/good", "main/half", "change/good", "change/half"):
        assert system in compared


def test_one_measure_of_the_gate_in_two_spellings_is_one_check(files):
    command = ["compare", files / "qrels.trec", files / "good.trec", files / "half.trec"]
    result = run(*command, "--gate", "RR@10", "--gate", "MRR@10", "-o", files / "j.xml")
    assert result.exit_code == 2  # half of the queries are missing
    assert 'tests="1"' in (files / "j.xml").read_text()


def test_systems_with_the_same_file_name_are_named_with_their_folder(files):
    for folder in ("A", "B"):
        (files / folder).mkdir()
        (files / folder / "bm25.trec.gz").write_text("q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\n")
    paths = [files / "A" / "bm25.trec.gz", files / "B" / "bm25.trec.gz"]
    result = run("evaluate", files / "qrels.trec", *paths, "-m", "RR")
    assert "A/bm25 1.0000" in output_of(result)
    assert "B/bm25 1.0000" in output_of(result)
    copied = files / "X" / "A" / "bm25.trec.gz"
    copied.parent.mkdir(parents=True)
    copied.write_text(paths[0].read_text())
    output = refusal(run("evaluate", files / "qrels.trec", paths[0], copied))
    assert "two runs have the name A/bm25" in output


BAD = {
    "a cutoff of 0": (["qrels.trec", "good.trec", "-m", "nDCG@0"], "1 or more, not 0"),
    "an unknown tie rule": (
        ["qrels.trec", "good.trec", "--ties", "x"],
        "choose one of 'trec_eval9' (trec_eval 9, pytrec_eval",
    ),
    "a file that is not there": (["qrels.trec", "none.trec"], "none.trec: No such file"),
    "a folder without qrels": ([".", "good.trec"], "no qrels in this folder"),
    "qrels as a run": (["qrels.trec", "qrels.trec"], "TREC qrels are read with read_qrels"),
    "a missing query": (["qrels.trec", "half.trec", "--missing", "error"], "missing from the run"),
    "a split for a file": (["qrels.trec", "good.trec", "--split", "dev"], "belongs to a data-set"),
    "no run": (["qrels.trec"], "Missing argument"),
    "a folder to write to that is not there": (
        ["qrels.trec", "good.trec", "-o", "none/r.json"],
        "none/r.json: there is no folder none; make it first",
    ),
}


@pytest.mark.parametrize(("arguments", "problem"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_line_and_exit_code_2(files, monkeypatch, arguments, problem):
    monkeypatch.chdir(files)
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert problem in output_of(result)
    if problem != "Missing argument":  # a message of the argument parser
        assert result.stderr.startswith("error: ")
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""


def test_a_file_that_a_command_names_twice_is_not_overwritten(files):
    before = (files / "good.trec").read_text()
    listed = ["--exclude", files / "list.csv", "-o", files / "list.csv"]
    for name in ("evaluate", "compare"):
        command = [name, files / "qrels.trec", files / "good.trec", "-m", "RR"]
        for options in (
            ["-o", f"json={files / 'good.trec'}"],
            ["-o", "json=x", "-o", "csv=x"],
            listed,
        ):
            assert "is named twice on this command" in refusal(run(*command, *options))
    assert (files / "good.trec").read_text() == before


def test_runs_and_judgements_are_converted(files):
    out = files / "good.parquet"
    assert "2 queries" in run("convert", files / "good.trec", out).output
    assert run("convert", out, files / "back.trec.gz").exit_code == 0
    command = ["evaluate", files / "qrels.trec", files / "back.trec.gz", "-m", "nDCG@10"]
    assert "back 1.0000" in output_of(run(*command))
    result = run("convert", "--qrels", files / "qrels.trec", files / "qrels.json")
    assert "3 judgements of 2 queries" in result.output
    assert run("convert", files / "good.trec", files / "x.unknown").exit_code == 2
    assert run("convert", files / "good.trec", files / "x", "--to", "json").exit_code == 0
    assert run("convert", files / "x", files / "y", "--from", "trec", "--to", "json").exit_code == 2


def test_a_conversion_warns_about_what_it_loses(files):
    (files / "r.json").write_text('{"q1": {"a": 1}, "q2": {}}')
    result = run("convert", files / "r.json", files / "r.trec")
    assert result.exit_code == 0
    for words in ("warning: empty rankings", "trec cannot", ": 'q2'"):
        assert words in result.stderr
    assert "r.trec: 1 queries" in output_of(result)


def test_a_remedy_names_only_options_that_the_command_has():
    assert "did you mean --measure" in run("evaluate", "a", "b", "--metric", "MRR").stderr
    assert "--measure" not in run("convert", "a", "b", "--metric", "MRR").output


def test_a_measure_is_explained_in_any_spelling():
    for name in ("ndcg_cut_10", "NDCG", "nDCG@5"):
        assert "Järvelin and Kekäläinen" in success(run("list", "measures", name))
    assert run("list", "measures", "nope").exit_code == 2


def test_the_version_is_printed():
    assert run("--version").output == f"beir-eval {__version__}\n"


def run_in_a_process(*arguments, **environment):
    return python("-m", "beir_eval", *arguments, check=False, env=os.environ | environment)


@pytest.mark.parametrize(
    "arguments", [("evaluate", "--help"), ("evaluate",), ("list", "--nonsense")]
)
def test_the_module_explains_its_commands_as_the_script_does(arguments):
    result = run_in_a_process(*arguments)
    assert result.returncode == (0 if "--help" in arguments else 2)
    command = " ".join(argument for argument in arguments if argument[0] != "-")
    assert f"Usage: python -m beir_eval {command} " in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_the_output_of_a_process_is_not_wrapped(files):
    result = run_in_a_process("evaluate", files / "qrels.trec", files / "half.trec", COLUMNS="20")
    assert result.returncode == 0
    assert "half (all 2 judged queries)" in result.stdout


def test_without_its_extra_the_command_says_what_to_install(files):
    (files / "typer.py").write_text("raise ImportError('no typer', name='typer')\n")
    result = run_in_a_process("demo", PYTHONPATH=str(files))
    assert result.returncode == 2
    assert "pip install 'beir-eval[cli]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_hidden_and_unrelated_files_are_no_data_sets_and_no_runs(tmp_path):
    sets, runs = write_benchmark(tmp_path, ("one", "two"))
    (sets / "README.txt").write_text("notes")
    for folder in (sets, runs, runs / "good"):
        (folder / ".DS_Store").write_bytes(b"\0")
    (runs / "good" / "one.log").write_text("notes")
    written = tmp_path / "t.json"
    success(run("bench", sets, runs, "--keep", tmp_path / "out", "-o", written))
    results = json.loads(written.read_text())["results"]
    assert {name: set(by_set) for name, by_set in results.items()} == {
        "good": {"one", "two"},
        "plain": {"one", "two"},
    }


def test_bad_input_of_a_benchmark_is_named_and_gives_exit_code_2(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder, files in (("sets", ("one", "two")), ("runs/one", ("bm25",)), ("runs/two", ())):
        (tmp_path / folder).mkdir(parents=True)
        for name in files:
            content = (demo.FOLDER / "qrels/test.tsv").read_bytes()
            (tmp_path / folder / f"{name}.tsv").write_bytes(content)
    (tmp_path / "twice").mkdir()
    for ending in ("trec", "tsv"):
        (tmp_path / "twice" / f"set.{ending}").write_text("q1\ta\t1\n")
    for arguments, problem in (
        ((tmp_path / "sets", tmp_path / "runs"), "SYSTEM/DATASET.trec, such as bm25/one.trec"),
        ((tmp_path / "empty", demo.RUNS[0]), "no data set and no qrels file in this folder"),
        ((demo.FOLDER, tmp_path / "nothing.trec"), "there is no run file or folder"),
        ((demo.FOLDER, demo.RUNS[0], demo.RUNS[0]), "two systems have the name bm25"),
        ((demo.FOLDER, demo.RUNS[0], "-m", "nothing"), "there is no measure"),
        ((tmp_path / "twice", demo.RUNS[0]), "two data sets have the name set"),
    ):
        assert problem in refusal(run("bench", *arguments, "--keep", tmp_path / "out"))


def test_a_comparison_that_lacks_a_result_says_why_the_system_failed(tmp_path):
    other = tmp_path / "other.trec"
    other.write_text("z Q0 d1 1 1.0 t\n")
    output = refusal(
        run("bench", demo.FOLDER, demo.RUNS[0], other, "--compare", "--keep", tmp_path / "out")
    )
    assert "Without a result are other: 'demo'" in output
    assert "other, demo: failed with QueryMismatchError" in output


def test_an_unknown_data_set_is_answered_with_one_that_there_is():
    assert "did you mean scifact" in refusal(run("list", "datasets", "scifat"))
