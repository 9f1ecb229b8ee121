"""``evaluate`` and ``compare`` follow BEIR's conventions for a folder of its name, and say so."""

import json
import shutil

import pytest

from beir_eval import Run, write_run
from command_line import run as run_command
from command_line import success
from data_sets import write_dataset

DROPPED = "BEIR's conventions for arguana: documents with the id of their query are left out"
SPLIT = "BEIR's conventions for msmarco: the split is dev"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with two data sets and two runs."""
    monkeypatch.chdir(tmp_path)
    texts = dict.fromkeys(("q1", "q2", "d1", "d2"), "x")
    for name, judged in (("arguana", "d1"), ("msmarco", "d2")):
        qrels = {query: {judged: 1} for query in ("q1", "q2")}
        write_dataset(tmp_path / name, texts, texts, qrels)
    shutil.copy("arguana/qrels/test.tsv", "msmarco/qrels/dev.tsv")
    for name in ("a", "b"):
        rankings = {query: [query, "d1", "d2"] for query in ("q1", "q2")}
        write_run(Run.from_rankings(rankings), tmp_path / f"{name}.trec")
    return tmp_path


def run(*arguments):
    return success(run_command(*arguments))


@pytest.mark.parametrize("reading", [[], ["--parts"]])
def test_evaluate_leaves_identical_ids_out_and_every_output_says_so(folder, reading):
    written = ["-o", "t.md", "-o", "t.json"]
    output = run("evaluate", "arguana", "a.trec", "b.trec", "-m", "MRR", *reading, *written)
    assert "a 1.0000" in output
    assert output.count(DROPPED) == 1
    assert "--keep-identical-ids" in output
    assert DROPPED in (folder / "t.md").read_text()
    settings = json.loads((folder / "t.json").read_text())[0]["settings"]
    assert settings["drop_identical_ids"] is True


@pytest.mark.parametrize("reading", [[], ["--parts"]])
def test_each_of_the_two_options_overrides_the_convention(folder, reading):
    for option, score in (("--keep-identical-ids", "0.5000"), ("--drop-identical-ids", "1.0000")):
        output = run("evaluate", "arguana", "a.trec", "-m", "MRR", option, *reading)
        assert f"a {score}" in output
        assert "convention" not in output
    file = run("evaluate", "arguana/qrels/test.tsv", "a.trec", "-m", "MRR", *reading)
    assert "a 0.5000" in file
    assert "convention" not in file


@pytest.mark.parametrize("reading", [[], ["--parts"]])
def test_evaluate_takes_the_official_split_and_a_stated_one_is_not_commented(folder, reading):
    options = ["msmarco", "a.trec", "-m", "MRR", "--keep-identical-ids", *reading]
    output = run("evaluate", *options)
    assert "a 0.5000" in output
    assert SPLIT in output
    assert "--split" in output
    for split, score in (("dev", "0.5000"), ("test", "0.3333")):
        stated = run("evaluate", *options, "--split", split)
        assert f"a {score}" in stated
        assert "convention" not in stated


def test_power_is_that_of_the_official_split(folder):
    assert "2 " in run("power", "msmarco")
    (folder / "msmarco/qrels/test.tsv").unlink()
    run("power", "msmarco")


def test_excluded_documents_are_those_of_a_file_or_of_the_folder_and_every_output_says_so(folder):
    (folder / "excluded.txt").write_text("q1 q1\nq1 d1\nq2 q2\n")
    written = ["-o", "t.md", "-o", "t.json"]
    msmarco = [*("msmarco", "a.trec", "-m", "MRR"), *written]
    # d1 is relevant: excluded for q1, and first for q2 without q2
    output = run("evaluate", *msmarco, "--exclude", "excluded.txt")
    sentence = "3 excluded documents left out of 2 rankings"
    assert "a 0.5000" in output
    assert "1 relevant document is excluded for the query" in output
    assert sentence in output
    assert sentence in (folder / "t.md").read_text()
    listed = json.loads((folder / "t.json").read_text())[0]["provenance"]["excluded_sha256"]
    queries = [
        {"_id": "q1", "text": "x", "excluded_ids": ["q1", "d1"]},
        {"_id": "q2", "text": "x", "excluded_ids": ["q2"]},
    ]
    lines = "".join(f"{json.dumps(query)}\n" for query in queries)
    (folder / "msmarco" / "queries.jsonl").write_text(lines)
    assert sentence in run("evaluate", *msmarco)
    [saved] = json.loads((folder / "t.json").read_text())
    assert saved["provenance"]["excluded_sha256"] == listed
    output = run("compare", *msmarco[:1], "a.trec", "b.trec", "-m", "MRR", "--detail")
    assert "excluded for their query are left out (3 of a, 3 of b)" in " ".join(output.split())
