"""The command line prints the numbers, and one clear line where it cannot."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beir_eval import __version__, evaluate, read_qrels, read_run
from beir_eval.cli.app import app
from beir_eval.datasets import demo
from beir_eval.evaluation import EvaluationResult

RUNNER = CliRunner()


@pytest.fixture
def files(tmp_path):
    """A folder with qrels, two runs and a data-set folder."""
    (tmp_path / "qrels.trec").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (tmp_path / "good.trec").write_text("q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\nq2 Q0 x 2 1 t\n")
    (tmp_path / "half.trec").write_text("q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\n")
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "set" / "qrels" / "dev.tsv").write_text("q1\ta\t1\nq2\tc\t2\n")
    return tmp_path


def run(*arguments):
    return RUNNER.invoke(app, [str(argument) for argument in arguments])


def said(result):
    """Return what was printed, white space folded."""
    return " ".join(result.output.split())


def test_the_means_are_printed_one_system_a_row(files):
    result = run("evaluate", files / "qrels.trec", files / "good.trec", "-m", "P@1", "-m", "AP")
    assert result.exit_code == 0
    assert "system Precision@1 MAP" in said(result)
    assert "good 1.0000 1.0000" in said(result)
    assert "2 judged queries, all of them in the run" in said(result)


def test_both_means_are_shown_and_labelled_when_queries_are_missing(files):
    for missing in ("zero", "skip"):
        arguments = ["evaluate", files / "qrels.trec", files / "half.trec", "-m", "RR"]
        result = run(*arguments, "--missing", missing)
        both = ["half (all 2 judged queries) 0.2500", "half (the 1 it has) 0.5000"]
        both = both if missing == "zero" else both[::-1]  # what was asked for comes first
        assert " ".join(both) in said(result)
        assert "1 of 2 judged queries missing from the run" in said(result)


def test_the_default_suite_is_printed_one_measure_a_row(files):
    result = run("evaluate", files / "qrels.trec", files / "good.trec", files / "half.trec")
    assert "nDCG@10 *" in said(result)
    assert "MRR@1000 *" in said(result)
    assert "the cutoff is beyond the deepest ranking" in said(result)


def test_every_option_reaches_the_evaluation(files):
    (files / "odd.trec").write_text(
        "q1 Q0 q1 1 9 t\nq1 Q0 b 2 5 t\nq1 Q0 a 3 5 t\nq1 Q0 a 4 4 t\n"
        "q2 Q0 x 1 3 t\nq2 Q0 c 2 2 t\n"
    )
    asked = ["evaluate", files / "qrels.trec", files / "odd.trec", "-m", "RR"]
    asked += ["--duplicates", "first"]
    (files / "upside.trec").write_text("q1 Q0 x 1 1 t\nq1 Q0 a 2 2 t\nq2 Q0 c 1 1 t\n")
    upside = ["evaluate", files / "qrels.trec", files / "upside.trec", "-m", "RR"]
    assert "1.0000" in run(*upside).output
    assert "0.7500" in run(*upside, "--order", "given").output
    assert "0.4167" in run(*asked).output  # (1/3 + 1/2) / 2: b above a in the tie
    assert "0.5000" in run(*asked, "--ties", "best").output  # (1/2 + 1/2) / 2
    assert "0.7500" in run(*asked, "--drop-identical-ids", "--ties", "best").output  # (1 + 1/2) / 2
    assert "0.7500" in run(*asked, "--judged-only").output  # (1/2 + 1) / 2
    named = run(*asked, "--names", "trec_eval")
    assert "recip_rank" in named.output


def test_a_data_set_folder_needs_its_split(files):
    missing = run("evaluate", files / "set", files / "good.trec", "-m", "P@1")
    assert missing.exit_code == 2
    assert "it has the splits dev" in said(missing)
    assert run("evaluate", files / "set", files / "good.trec", "--split", "dev").exit_code == 0


def test_queries_with_nothing_relevant_can_be_left_out(files):
    (files / "zero.trec").write_text("q1 0 a 1\nq2 0 c 0\n")
    asked = ["evaluate", files / "zero.trec", files / "good.trec", "-m", "RR"]
    assert "0.5000" in run(*asked).output
    assert "1.0000" in run(*asked, "--no-relevant", "skip").output


def test_per_query_scores_and_results_are_written(files):
    result = run(
        *("evaluate", files / "qrels.trec", files / "good.trec", files / "half.trec"),
        *("-m", "RR", "-m", "Judged@1", "--per-query", files / "q.csv", "--json", files / "r.json"),
    )
    assert result.exit_code == 0
    with (files / "q.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"system": "good", "query_id": "q1", "MRR": "1.0", "Judged@1": "1.0"}
    assert rows[-1] == {"system": "half", "query_id": "q2", "MRR": "0.0", "Judged@1": ""}
    saved = [
        EvaluationResult.model_validate(one) for one in json.loads((files / "r.json").read_text())
    ]
    qrels = read_qrels(files / "qrels.trec")
    assert saved[0] == evaluate(
        qrels, read_run(files / "good.trec"), ["RR", "Judged@1"], name="good"
    )
    assert [one.name for one in saved] == ["good", "half"]


def test_systems_with_one_file_name_are_told_apart_by_their_folder(files):
    for folder in ("A", "B"):
        (files / folder).mkdir()
        (files / folder / "bm25.trec.gz").write_text("q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\n")
    paths = [files / "A" / "bm25.trec.gz", files / "B" / "bm25.trec.gz"]
    result = run("evaluate", files / "qrels.trec", *paths, "-m", "RR")
    assert "A/bm25 1.0000" in said(result)
    assert "B/bm25 1.0000" in said(result)
    twice = run("evaluate", files / "qrels.trec", paths[0], paths[0])
    assert twice.exit_code == 2
    assert "two runs go by the name A/bm25" in said(twice)


BAD = {
    "an unknown measure": (["qrels.trec", "good.trec", "-m", "nDGC@10"], "did you mean nDCG"),
    "a cutoff of 0": (["qrels.trec", "good.trec", "-m", "nDCG@0"], "1 or more, not 0"),
    "an unknown tie rule": (
        ["qrels.trec", "good.trec", "--ties", "x"],
        "choose one of 'trec_eval'",
    ),
    "an unknown name set": (["qrels.trec", "good.trec", "--names", "x"], "choose one of 'beir'"),
    "a file that is not there": (["qrels.trec", "none.trec"], "none.trec: No such file"),
    "qrels that are not there": (["none.trec", "good.trec"], "none.trec: No such file"),
    "a folder without qrels": ([".", "good.trec"], "no qrels in this folder"),
    "a run as qrels": (["good.trec", "good.trec"], "line 1: 6 columns, expected 4"),
    "qrels as a run": (["qrels.trec", "qrels.trec"], "TREC qrels are read with read_qrels"),
    "five columns": (["qrels.trec", "five.trec"], "five.trec, line 17: 5 columns"),
    "no common query": (["qrels.trec", "other.trec"], "other.trec: the run has no query in common"),
    "a duplicate": (["qrels.trec", "twice.trec"], "query 'q1' repeats 'a'"),
    "a missing query": (["qrels.trec", "half.trec", "--missing", "error"], "missing from the run"),
    "a split for a file": (["qrels.trec", "good.trec", "--split", "dev"], "belongs to a data-set"),
    "no run": (["qrels.trec"], "Missing argument"),
    "a folder to write to that is not there": (
        ["qrels.trec", "good.trec", "--json", "none/r.json"],
        "No such file",
    ),
}


@pytest.mark.parametrize(("arguments", "problem"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_line_and_exit_code_2(files, monkeypatch, arguments, problem):
    monkeypatch.chdir(files)
    (files / "five.trec").write_text("q1 Q0 d 1 1 t\n" * 16 + "q1 Q0 d 1 1\n")
    (files / "other.trec").write_text("zz Q0 d 1 1 t\n")
    (files / "twice.trec").write_text("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n")
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert problem in said(result)
    if problem != "Missing argument":  # the argument parser's own words
        assert result.stderr.startswith("error: ")
        assert len(result.stderr.splitlines()) == 1
        assert result.stdout == "" or problem == "No such file"  # the table is not lost


def test_runs_named_as_trec_names_them_are_told_apart_by_their_whole_names(files):
    for name in ("run.bm25", "run.dense"):
        (files / name).write_text((files / "good.trec").read_text())
    paths = [files / "run.bm25", files / "run.dense"]
    assert "run.bm25 1.0000" in said(run("evaluate", files / "qrels.trec", *paths, "-m", "RR"))


def test_no_file_that_is_read_is_written_over(files):
    before = (files / "good.trec").read_text()
    asked = ["evaluate", files / "qrels.trec", files / "good.trec", "-m", "RR"]
    for more in (["--json", files / "good.trec"], ["--json", "x", "--per-query", "x"]):
        result = run(*asked, *more)
        assert result.exit_code == 2
        assert "is named twice on this command" in said(result)
    assert (files / "good.trec").read_text() == before


def test_links_are_followed_and_devices_written_to(files):
    (files / "target.json").write_text("old")
    (files / "link.json").symlink_to(files / "target.json")
    asked = ["evaluate", files / "qrels.trec", files / "good.trec", "-m", "RR"]
    assert run(*asked, "--json", files / "link.json", "--per-query", "/dev/null").exit_code == 0
    assert (files / "link.json").is_symlink()
    assert json.loads((files / "target.json").read_text())
    assert not Path("/dev/null").is_file()
    for bad in (".", "/"):
        result = run(*asked, "--json", bad)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_a_run_may_come_through_a_pipe(files):
    os.mkfifo(files / "pipe.trec")
    with subprocess.Popen(  # noqa: S602 - our own command
        f"gzip -c {files / 'good.trec'} > {files / 'pipe.trec'}", shell=True
    ):
        result = run("evaluate", files / "qrels.trec", files / "pipe.trec", "-m", "RR")
    assert "pipe 1.0000" in said(result)


def test_the_star_is_shown_when_any_ranking_is_too_short(files):
    asked = ["evaluate", files / "qrels.trec", files / "good.trec", files / "half.trec"]
    (files / "one.trec").write_text("q1 Q0 a 1 1 t\nq2 Q0 c 1 1 t\n")
    assert "Precision@2 *" in run(*asked, files / "one.trec", "-m", "P@2").output
    assert "Precision@2 *" not in run(*asked, "-m", "P@2").output


def test_runs_and_judgements_are_converted(files):
    out = files / "good.parquet"
    assert "2 queries" in run("convert", files / "good.trec", out).output
    assert run("convert", out, files / "back.trec.gz").exit_code == 0
    asked = ["evaluate", files / "qrels.trec", files / "back.trec.gz", "-m", "nDCG@10"]
    assert "back 1.0000" in said(run(*asked))
    judged = run("convert", "--qrels", files / "qrels.trec", files / "qrels.json")
    assert "3 judgements of 2 queries" in judged.output
    assert run("convert", files / "good.trec", files / "x.unknown").exit_code == 2
    assert run("convert", files / "good.trec", files / "x", "--to", "json").exit_code == 0
    assert run("convert", files / "x", files / "y", "--from", "trec", "--to", "json").exit_code == 2


def test_what_a_conversion_loses_is_said(files):
    (files / "r.json").write_text('{"q1": {"a": 1}, "q2": {}}')
    result = run("convert", files / "r.json", files / "r.trec")
    assert result.exit_code == 0
    assert "warning: empty rankings are lost, which trec cannot say: 'q2'" in result.stderr
    assert "r.trec: 1 queries" in said(result)


def test_two_runs_are_held_against_each_other(files):
    result = run("agree", files / "good.trec", files / "half.trec", "--per-query", files / "a.csv")
    assert result.exit_code == 0
    assert "kendall_distance 1.0000 1 0 the same order" in said(result)
    assert "queries that only good has, left out: 1" in said(result)
    assert (files / "a.csv").read_text().splitlines() == [
        "query_id,kendall_distance,spearman,rbo,rbo_lowest,rbo_residual,overlap",
        (files / "a.csv").read_text().splitlines()[1],
    ]
    assert (files / "a.csv").read_text().splitlines()[1].startswith("q1,1.0,,")
    for bad in (["-k", "0"], ["-p", "2"], ["--ties", "best"]):
        refused = run("agree", files / "good.trec", files / "half.trec", *bad)
        assert refused.exit_code == 2
        assert refused.stderr.startswith("error: ")


def test_nothing_is_written_when_something_is_wrong(files):
    bad = run("evaluate", files / "qrels.trec", files / "x.trec", "--json", files / "r.json")
    assert bad.exit_code == 2
    assert not (files / "r.json").exists()


def test_a_warning_is_one_line(files):
    (files / "half.qrels").write_text("q1 0 a 0.5\nq2 0 c 1\n")
    result = run("evaluate", files / "half.qrels", files / "good.trec", "-m", "P@1")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: the qrels hold fractional grades")
    assert len(result.stderr.splitlines()) == 1


def test_markup_in_names_is_text(files):
    nasty = files / "[bold]x[red].trec"
    nasty.write_text((files / "good.trec").read_text())
    assert "[bold]x[red]" in run("evaluate", files / "qrels.trec", nasty, "-m", "RR").output


def test_the_measures_are_listed_and_explained():
    listed = run("measures")
    for name in ("nDCG", "R_cap", "RBP_residual", "num_nonrel_judged_ret"):
        assert name in listed.output
    for name in ("ndcg_cut_10", "NDCG", "nDCG@5"):
        shown = run("measures", name)
        assert shown.exit_code == 0
        assert "Järvelin and Kekäläinen" in shown.output
    assert "no cutoff" in run("measures", "Rprec").output
    assert "parameters: recall, rel, rounding, judged_only" in run("measures", "iprec").output
    assert run("measures", "nope").exit_code == 2


def test_the_demo_evaluates_two_systems(tmp_path):
    result = run("demo", "--html", tmp_path / "demo.html")
    assert result.exit_code == 0
    assert "bm25 0.6665" in said(result)
    assert "bm25-plain 0.4887" in said(result)


def test_the_version_is_printed():
    assert run("--version").output == f"beir-eval {__version__}\n"


def in_a_process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "beir_eval", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_the_command_works_as_a_process_and_is_not_wrapped(files):
    result = in_a_process("evaluate", files / "qrels.trec", files / "half.trec", COLUMNS="20")
    assert result.returncode == 0
    assert "half (all 2 judged queries)" in result.stdout


def test_without_its_extra_the_command_says_what_to_install(files):
    (files / "typer.py").write_text("raise ImportError('no typer', name='typer')\n")
    result = in_a_process("demo", PYTHONPATH=str(files))
    assert result.returncode == 2
    assert "pip install 'beir-eval[cli]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_real_example_prints_the_known_numbers(realdata):
    result = run(
        *("evaluate", realdata / "qrels/trec-covid.trec", realdata / "runs/trec-covid/bm25.trec"),
        *("-m", "nDCG@10", "-m", "Recall@100"),
    )
    assert "bm25 0.5947 0.1091" in said(result)


def test_a_benchmark_of_run_files_is_a_table_and_files(tmp_path):
    sets, runs, out = tmp_path / "sets", tmp_path / "runs", tmp_path / "out"
    for name in ("one", "arguana"):
        sets.mkdir(exist_ok=True)
        (sets / f"{name}.tsv").write_bytes((demo.FOLDER / "qrels/test.tsv").read_bytes())
        for system, file in zip(("good", "plain"), demo.RUNS, strict=True):
            (runs / system).mkdir(parents=True, exist_ok=True)
            (runs / system / f"{name}.trec").write_bytes(file.read_bytes())
    written = {kind: tmp_path / f"table.{kind}" for kind in ("markdown", "latex", "csv", "json")}
    options = [text for kind, path in written.items() for text in (f"--{kind}", str(path))]
    done = run(
        "bench", sets, runs, "--out", out, "--baseline", "bm25", "--mteb", out / "m", *options
    )
    assert done.exit_code == 0, done.output
    assert "BM25 (Anserini)" in done.output
    assert "0.3970" in done.output
    assert "arguana: documents whose id is that of their query are left out" in done.output
    assert written["csv"].read_text().startswith("nDCG@10,good,plain,BM25 (Anserini)\narguana,")
    assert written["markdown"].read_text().startswith("| nDCG@10")
    assert r"\toprule" in written["latex"].read_text()
    assert set(json.loads(written["json"].read_text())["results"]) == {"good", "plain"}
    assert (out / "m/good/ArguAna.json").exists()
    assert (out / "arguana/plain/result.json").exists()
    assert "Anserini" in written["markdown"].read_text()
    # Hidden and stray files are not taken for data sets or runs.
    (sets / "README.txt").write_text("notes")
    for place in (sets, runs, runs / "good"):
        (place / ".DS_Store").write_bytes(b"\0")
    (runs / "good" / "one.log").write_text("notes")
    again = run("bench", sets, runs, "--out", out)
    assert again.exit_code == 0, again.output
    assert "plain" in again.output
    # What fails shows in the exit code.
    (runs / "plain" / "one.trec").unlink()
    failed = run("bench", sets, runs, "--out", out)
    assert failed.exit_code == 1
    assert "no run file for one" in failed.output
    # Run files alone, one data set, another measure.
    done = run("bench", demo.FOLDER, *demo.RUNS, "--out", out, "-m", "MRR@10")
    assert done.exit_code == 0, done.output
    assert "bm25-plain" in done.output
    assert "Anserini" not in done.output


def test_a_benchmark_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments, problem in (
        ((tmp_path / "empty", demo.RUNS[0]), "no data set and no qrels file in this folder"),
        ((demo.FOLDER, tmp_path / "nothing.trec"), "there is no run file or folder"),
        ((demo.FOLDER, demo.RUNS[0], demo.RUNS[0]), "two systems go by the name bm25"),
        ((demo.FOLDER, demo.RUNS[0], "--baseline", "tfidf"), "--baseline='tfidf' is not known"),
        ((demo.FOLDER, demo.RUNS[0], "-m", "nothing"), "there is no measure"),
        ((demo.FOLDER, demo.RUNS[0], "--csv", demo.RUNS[0]), "is named twice on this command"),
    ):
        done = run("bench", *arguments, "--out", tmp_path / "out")
        assert done.exit_code == 2, done.output
        assert problem in done.output


def test_the_data_sets_are_listed_and_explained():
    listed = run("datasets")
    assert listed.exit_code == 0
    assert "webis-touche2020" in listed.output
    assert "drop identical ids" in listed.output
    one = run("datasets", "msmarco")
    assert "split: dev" in one.output
    assert "TREC-DL 2019" in one.output
    unknown = run("datasets", "scifat")
    assert unknown.exit_code == 2
    assert "did you mean scifact" in unknown.output
