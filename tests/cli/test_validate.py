"""``beir-eval validate`` prints what ``validate`` returns, and its exit code says how bad it is."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beir_eval import Validation, validate
from beir_eval.cli import console as console_module
from beir_eval.cli.app import app
from beir_eval.datasets import demo
from command_line import refusal

GOOD = "".join(
    f"q{n} Q0 {doc} {rank} {9 - rank} t\n" for n in (1, 2) for rank, doc in enumerate("abc")
)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels.trec").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n")
    Path("good.trec").write_text(GOOD)
    Path("half.trec").write_text(GOOD[: len(GOOD) // 2])
    Path("twice.trec").write_text(GOOD + "q1 Q0 a 9 1 t\n")
    Path("broken.trec").write_text("q1 Q0 a\n")


def run(*arguments, **options):
    return CliRunner().invoke(app, ["validate", *map(str, arguments)], **options)


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["qrels.trec"], 0),
        (["qrels.trec", "good.trec", "--strict"], 0),
        (["qrels.trec", "half.trec"], 0),
        (["qrels.trec", "half.trec", "--strict"], 1),
        (["qrels.trec", "good.trec", "twice.trec"], 1),
        (["qrels.trec", "broken.trec"], 2),
        (["good.trec", "qrels.trec"], 2),
        (["none.trec"], 2),
        (["qrels.trec", "good.trec", "-m", "nDGC"], 2),
    ],
)
def test_the_exit_code_is_1_for_errors_and_2_for_what_cannot_be_read(arguments, exit_code):
    assert run(*arguments).exit_code == exit_code


def test_the_error_for_a_run_in_place_of_the_qrels_says_where_it_belongs():
    output = " ".join(run("good.trec", "qrels.trec").output.split())
    assert "good.trec, line 1: 6 columns" in output
    assert "this looks like a run: the qrels come first, then the runs" in output


def test_the_output_and_the_json_file_are_what_validate_returns():
    result = run("qrels.trec", "half.trec", "twice.trec", "-m", "nDCG@5", "-o", "findings.json")
    runs = {"half": "half.trec", "twice": "twice.trec"}
    expected = validate("qrels.trec", runs, measures=["nDCG@5"])
    text = str(expected).replace("duplicates='first' or 'keep'", "--duplicates first or keep")
    assert result.output.splitlines() == text.splitlines()
    assert Validation.load("findings.json") == expected
    content = json.loads(Path("findings.json").read_text())
    assert {finding["code"] for finding in content["findings"]} >= {
        "judged-queries-missing",
        "repeated-documents",
    }
    assert run("qrels.trec", "half.trec", "-o", "json=half.trec").exit_code == 2


def test_a_data_set_is_checked_with_its_corpus_and_other_files_by_options():
    output = run(demo.FOLDER, *demo.RUNS, "--split", "test").output
    assert "174 documents" in output
    corpus, queries = demo.FOLDER / "corpus.jsonl", demo.FOLDER / "queries.jsonl"
    output = run("qrels.trec", "--corpus", corpus, "--queries", queries).output
    assert "none of 3 judged documents is in the corpus" in output
    assert "none of 2 judged queries has a text" in output


def test_judgements_and_runs_are_read_from_standard_input():
    expected = run("qrels.trec", "twice.trec").output
    result = run("-", "twice.trec", "-o", "findings.json", input=Path("qrels.trec").read_text())
    assert result.output == expected.replace("qrels.trec:", "standard input:")
    subjects = {finding.subject for finding in Validation.load("findings.json").findings}
    assert subjects == {"twice"}
    result = run("qrels.trec", "-", input=Path("twice.trec").read_text())
    assert result.output == expected.replace("twice:", "stdin:")
    assert run("-", "-").exit_code == 2


def test_every_run_file_of_a_folder_is_checked():
    Path("runs").mkdir()
    for name in ("half", "good"):
        Path(f"{name}.trec").rename(f"runs/{name}.trec")
    Path("runs/notes.md").write_text("notes")
    output = run("qrels.trec", "runs").output
    assert "good: 2 queries, 3 entries a query" in output
    assert "half: 1 query, 3 entries a query" in output
    assert run("qrels.trec", "runs", "-o", "json=runs/good.trec").exit_code == 2


def test_the_formats_of_files_can_be_stated():
    # The judgements of TREC's or BEIR's format: a document's id may contain a blank.
    Path("columns.txt").write_text("q1\t0 a\t1\n")
    assert "State it: --qrels-format trec or --qrels-format beir" in refusal(run("columns.txt"))
    assert run("columns.txt", "--qrels-format", "beir").exit_code == 0
    for option, expected in (("--qrels-format", "trec"), ("--format", "msmarco")):
        output = refusal(run("qrels.trec", "good.trec", option, "excel"))
        assert option in output
        assert expected in output
    assert run("qrels.trec", "good.trec", "--format", "msmarco").exit_code == 2


def test_on_a_terminal_of_80_columns_no_line_is_longer(monkeypatch):
    monkeypatch.setattr(console_module.console, "_width", 80)
    lines = run(demo.FOLDER, *demo.RUNS).stdout.splitlines()
    assert len(lines) > 10
    assert max(map(len, lines)) <= 80
