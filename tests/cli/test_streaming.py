"""``beir-eval evaluate --stream`` and ``-o s.parquet``, and ``compare`` on score tables."""

import pytest
from typer.testing import CliRunner

from beir_eval import read_score_table
from beir_eval.cli.app import app
from beir_eval.datasets import demo
from beir_eval.evaluation.streaming import size
from spark_folders import write_spark_folder

FILES = [str(demo.FOLDER), *map(str, demo.RUNS)]


def run(*arguments, expected=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == expected, result.output
    return result.output


@pytest.mark.parametrize("options", [[], ["-m", "nDCG@10,MAP"], ["--names", "trec_eval"]])
@pytest.mark.parametrize("files", [FILES, FILES[:2]])
def test_streamed_runs_print_what_runs_in_memory_print(files, options):
    streamed = run("evaluate", *files, *options, "--stream").splitlines()
    lines = [line for line in streamed if "read in parts" not in line]
    assert len(streamed) - len(lines) == len(files) - 1
    assert lines == run("evaluate", *files, *options, "--no-stream").splitlines()


def test_a_large_file_is_read_in_parts_by_itself_and_the_output_says_so(monkeypatch, tmp_path):
    assert "read in parts" not in run("evaluate", *FILES)
    monkeypatch.setattr(size, "free_memory", lambda: 1000)
    output = run("evaluate", *FILES)
    assert "it would take more than half of the free memory" in output
    assert "read in parts" not in run("evaluate", *FILES, "--no-stream")
    assert "read in parts" not in run("evaluate", *FILES, "-o", tmp_path / "all.json")
    monkeypatch.setattr(size, "free_memory", lambda: None)
    assert "read in parts" not in run("evaluate", *FILES)


def test_markdown_and_latex_of_streamed_runs_are_those_of_runs_in_memory(tmp_path):
    texts = []
    for option in ("--stream", "--no-stream"):
        files = tmp_path / "m.md", tmp_path / "t.tex"
        run("evaluate", *FILES, option, "-o", files[0], "-o", files[1])
        texts.append([file.read_text() for file in files])
    assert texts[0] == texts[1]


def test_systems_are_compared_from_their_tables_as_from_their_runs(tmp_path):
    tables = []
    for path in demo.RUNS:
        table = tmp_path / f"{path.stem}.parquet"
        output = run("evaluate", demo.FOLDER, path, "-m", "nDCG@10", "-o", table)
        assert str(table) in output.replace("\n", "")
        tables.append(table)
    assert read_score_table(tables[0]).name == "bm25"
    verdict = run("compare", *tables[::-1], "--gate", "nDCG@10").splitlines()[0]
    assert verdict == run("compare", FILES[0], *FILES[:0:-1], "-m", "nDCG@10").splitlines()[0]
    assert run("compare", tmp_path).splitlines()[0].startswith("nDCG@10")
    folders = [tmp_path / "of_spark" / table.stem for table in tables]
    folders[0].parent.mkdir()
    for table, folder in zip(tables, folders, strict=True):
        write_spark_folder(table, folder)
    assert run("compare", *folders[::-1], "--gate", "nDCG@10").splitlines()[0] == verdict
    part = min(folders[0].glob("part-*"))
    assert "name the folder" in run("compare", folders[1], part, expected=2).replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stream", "-o", "all.json"], "-o all.json needs the scores of all queries in memory"),
        (["--stream", "-o", "a.csv", "-o", "b.html"], "-o a.csv and -o b.html need"),
        (["--no-stream", "-o", "a.parquet"], "not with --no-stream"),
        (["-o", "a.parquet"], "not with 2 runs"),
        (["--stream", "--format", "csv"], "not read in parts"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in run("evaluate", *FILES, *options, expected=2)
