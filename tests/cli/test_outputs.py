"""``-o`` names the format by its ending, and every example of a help text runs."""

import gzip
import json
import shlex
import shutil
from pathlib import Path

import pytest

from beir_eval.cli.commands import EXAMPLES
from beir_eval.datasets import demo
from command_line import refusal, run, success

BM25, PLAIN = demo.RUNS[:2]
FIRST_BYTES = {
    "html": "<!doctype html>",
    "json": "[{",
    "md": "|",
    "tex": "",
    "csv": "system,query_id,MRR",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_ending_names_the_format_or_the_format_is_stated(folder):
    names = [*(f"a.{name}" for name in FIRST_BYTES), "b.JSON", "c.markdown", "d.csv.gz"]
    stated = [f"{name}=stated_{name}" for name in FIRST_BYTES]
    options = [part for value in (*names, *stated) for part in ("-o", value)]
    success(run("evaluate", demo.FOLDER, BM25, "-m", "MRR", *options))
    for name, first in FIRST_BYTES.items():
        texts = {(folder / file).read_text() for file in (f"a.{name}", f"stated_{name}")}
        assert len({text.partition("generated")[0] for text in texts}) == 1
        assert all(text.lower().startswith(first.lower()) for text in texts), name
    assert r"\toprule" in (folder / "a.tex").read_text()
    assert (folder / "b.JSON").read_text() == (folder / "a.json").read_text()
    assert (folder / "c.markdown").read_text() == (folder / "a.md").read_text()
    assert gzip.decompress((folder / "d.csv.gz").read_bytes()) == (folder / "a.csv").read_bytes()


def test_options_of_latex_tables_need_one(folder):
    for command in ("evaluate", "compare"):
        for options in (["--percent"], ["--percent", "-o", "a.md"]):
            output = refusal(run(command, demo.FOLDER, BM25, PLAIN, "-m", "MRR", *options))
            assert "--percent is for a LaTeX table; add -o table.tex" in output
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("command", "value", "words"),
    [
        ("evaluate", "a.txt", "the ending of a file names its format, here one of .html, .json"),
        ("evaluate", "a.xml", "as in -o html=a.xml"),
        ("evaluate", "queries=a.csv", ""),
        ("evaluate", "json=", "a file was expected behind ="),
        ("evaluate", "-", "- is not the name of an output"),
        ("compare", "a.parquet", "queries=FILE"),
        ("compare", "a.xml", "-o a.xml writes the checks of a gate; add --gate MEASURE"),
    ],
)
def test_a_file_of_no_format_of_the_command_is_refused_with_what_to_write(
    folder, command, value, words
):
    result = run(command, demo.FOLDER, BM25, PLAIN, "-m", "MRR", "-o", value)
    if not words:  # no format of this command, so a file of this name
        assert (folder / value).read_text().startswith("system,query_id")
        return
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert not list(folder.iterdir())


@pytest.mark.parametrize("option", ["--html", "--json", "--markdown", "--latex", "--per-query"])
def test_the_names_of_outputs_in_other_programs_lead_to_o(option):
    result = run("evaluate", demo.FOLDER, BM25, option, "x.json")
    assert result.exit_code == 2
    assert f"there is no option {option}; -o FILE writes a file" in result.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [("gate", "--gate MEASURE"), ("report", "-o r"), ("measures", "list measures")],
)
def test_what_is_no_command_leads_to_the_command_that_does_it(name, words):
    result = run(name, demo.FOLDER, BM25)
    assert result.exit_code == 2
    assert f"there is no command {name}; it is beir-eval " in result.stderr
    assert words in result.stderr


def _write_inputs(folder):
    """Write the files that the examples name."""
    shutil.copy(demo.FOLDER / "qrels" / "test.tsv", folder / "qrels.trec")
    for name, file in (("bm25", BM25), ("dense", PLAIN)):
        shutil.copy(file, folder / f"{name}.trec")
        for base in ("one", "two"):
            (folder / "RUNS" / name).mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / "RUNS" / name / f"{base}.trec")
    (folder / "DATASETS").mkdir()
    for base in ("one", "two"):
        shutil.copy(demo.FOLDER / "qrels" / "test.tsv", folder / "DATASETS" / f"{base}.tsv")
    shutil.copytree(demo.FOLDER, folder / "scifact")
    for name, file in (("bm25", BM25), ("step-100", PLAIN)):
        assert run("evaluate", "qrels.trec", file, "-o", f"{name}.json").exit_code == 0


#: That of this one runs in the tests of its command, with Haystack.
ELSEWHERE = {"haystack"}


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
def test_the_example_of_every_help_text_runs(folder):
    _write_inputs(folder)
    written = {
        "evaluate": "means.md",
        "compare": "c.html",
        "bench": "table.md",
        "demo": "demo.html",
    }
    for name in set(EXAMPLES) - ELSEWHERE:
        result = run(*shlex.split(EXAMPLES[name])[1:])
        assert result.exit_code == (1 if name == "validate" else 0), (name, result.output)
        if name in written:
            assert Path(written[name]).stat().st_size > 100
    assert json.loads(Path("bm25.json").read_text())
