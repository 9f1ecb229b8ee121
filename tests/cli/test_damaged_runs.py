"""One damaged run does not stop the others, is named at the end, and decides nothing."""

import json
import shutil

import pytest

from beir_eval.evaluation import EvaluationResult
from command_line import refusal, run
from data_sets import write_benchmark

GOOD = "q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\n"
DAMAGED = {
    "a line with other columns": ("nonsense\n", "b.run, line 1: 1 columns"),
    "an invalid score": ("q1 Q0 a 1 high t\n", "b.run, line 1: the score 'high'"),
    "no query in common": ("z Q0 a 1 2 t\n", "b.run: the run has no query in common"),
    "a document listed twice": ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", "set --duplicates first"),
    "an empty file": ("", "b.run: "),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with qrels and a folder of three runs, of which ``b.run`` can be replaced."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "q.trec").write_text("q1 0 a 1\nq2 0 c 2\n")
    for name in ("a", "b", "c"):
        (tmp_path / "runs" / f"{name}.run").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("reading", [[], ["--parts"]])
@pytest.mark.parametrize(("content", "problem"), DAMAGED.values(), ids=DAMAGED)
def test_the_others_are_evaluated_and_the_damaged_run_is_named_last(
    folder, content, problem, reading
):
    (folder / "runs/b.run").write_text(content)
    for runs in (["runs"], ["runs/a.run", "runs/b.run", "runs/c.run"]):
        result = run("evaluate", "q.trec", *runs, "-m", "MRR", *reading)
        assert result.exit_code == 2
        rows = [line.split()[:2] for line in result.stdout.splitlines()]
        assert ["a", "1.0000"] in rows
        assert ["c", "1.0000"] in rows
        last = result.stderr.splitlines()[-1]
        assert last.startswith("error: 1 of 3 runs was not evaluated: runs/b.run")
        assert problem in last
        # Standard output alone does not look complete either.
        assert result.stdout.splitlines()[-1] == last


def test_the_error_follows_the_warnings(folder):
    (folder / "q.trec").write_text("q1 0 a 0.5\nq2 0 c 2\n")
    (folder / "runs/b.run").write_text("nonsense\n")
    lines = run("evaluate", "q.trec", "runs", "-m", "MRR").stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["warning", "error"]


def test_outputs_hold_the_others_and_texts_name_the_damaged_run(folder):
    (folder / "runs/b.run").write_text("nonsense\n")
    written = {kind: f"out.{kind}" for kind in ("json", "md", "tex", "csv")}
    options = [text for kind, path in written.items() for text in ("-o", path)]
    refusal(run("evaluate", "q.trec", "runs", "-m", "MRR", *options))
    assert [row["name"] for row in json.loads((folder / "out.json").read_text())] == ["a", "c"]
    assert "b,q1" not in (folder / "out.csv").read_text()
    for kind in ("md", "tex"):
        text = (folder / written[kind]).read_text()
        assert "1 of 3 runs was not evaluated: runs/b.run, line 1" in text
    assert all(
        line.startswith("%")
        for line in (folder / "out.tex").read_text().splitlines()
        if "not evaluated" in line
    )


def test_several_damaged_runs_have_a_line_each(folder):
    for name in ("b", "c"):
        (folder / f"runs/{name}.run").write_text("nonsense\n")
    lines = run("evaluate", "q.trec", "runs", "-m", "MRR").stderr.splitlines()
    assert lines[0] == "error: 2 of 3 runs were not evaluated"
    assert [line.split(",")[0] for line in lines[1:]] == ["error: runs/b.run", "error: runs/c.run"]


def test_nothing_is_written_or_printed_if_no_run_can_be_evaluated(folder):
    for name in ("a", "b", "c"):
        (folder / f"runs/{name}.run").write_text("nonsense\n")
    result = run("evaluate", "q.trec", "runs", "-o", "out.json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(
        "error: 3 of 3 runs were not evaluated\nerror: runs/a.run, line"
    )
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    "options", [["--ties", "x"], ["-m", "nDGC"], ["--format", "x"], ["--qrels-format", "json"]]
)
def test_errors_of_settings_and_judgements_stop_everything(folder, options):
    (folder / "runs/b.run").write_text("nonsense\n")
    result = run("evaluate", "q.trec", "runs", *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "not evaluated" not in result.stderr


@pytest.mark.parametrize("content", ["nonsense\n", "z Q0 a 1 2 t\n"])
def test_a_comparison_refuses_a_damaged_run_and_names_it(folder, content):
    (folder / "runs/b.run").write_text(content)
    for options in ([], ["--gate", "MRR"], ["--floor", "MRR=0.1"]):
        result = run("compare", "q.trec", "runs", "-m", "MRR", *options)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "b.run" in result.stderr or "'b'" in result.stderr or "b:" in result.stderr


# Benchmarks


@pytest.fixture
def benchmark(tmp_path):
    """Return the folders of two data sets and of the runs of two systems on them."""
    return write_benchmark(tmp_path, ("one", "two"))


@pytest.mark.parametrize("content", ["nonsense\n", "z Q0 a 1 2 t\n"])
def test_a_benchmark_evaluates_the_others_and_names_the_damaged_file_last(
    benchmark, tmp_path, content
):
    file = benchmark[1] / "plain" / "two.trec"
    file.write_text(content)
    written = {kind: tmp_path / f"t.{kind}" for kind in ("json", "md", "tex", "csv")}
    options = [text for kind, path in written.items() for text in ("-o", path)]
    result = run("bench", *benchmark, "--keep", tmp_path / "out", *options)
    assert result.exit_code == 2, result.output
    assert "n/a" in result.stdout
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"error: 1 of 4 runs was not evaluated: {file}")
    assert set(json.loads(written["json"].read_text())["failures"]) == {"plain"}
    for path in written.values():
        assert "plain" in path.read_text()
        assert str(file) in path.read_text().replace("\\_", "_")
    # The saved state of the others is reused; nothing is saved of the damaged file.
    assert not (tmp_path / "out/two/plain/result.json").exists()
    assert EvaluationResult.load(tmp_path / "out/two/good/result.json").name == "good"
    # Once the file is repaired, the same command completes.
    shutil.copy(benchmark[1] / "plain" / "one.trec", file)
    assert run("bench", *benchmark, "--keep", tmp_path / "out").exit_code == 0


def test_a_data_set_without_a_run_file_is_no_damaged_file(benchmark, tmp_path):
    (benchmark[1] / "plain" / "two.trec").unlink()
    result = run("bench", *benchmark, "--keep", tmp_path / "out")
    assert result.exit_code == 1
    assert "not evaluated" not in result.stderr
