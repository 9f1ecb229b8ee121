"""``evaluate --stages``: the account of a pipeline from its run files."""

import json
from pathlib import Path

import pytest

from beir_eval import Run, evaluate_stages, write_qrels, write_run
from beir_eval.comparison.stages import StagedResult
from command_line import run as run_command
from command_line import success

QUERIES = [f"q{number:02}" for number in range(20)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write qrels and three runs; the joiner drops b, and the ranker puts a first."""
    monkeypatch.chdir(tmp_path)
    stages = {
        "bm25": ["x", "a", "b"],
        "dense": ["y", "a"],
        "joined": ["x", "y", "a"],
        "ranked": ["a", "x", "y"],
    }
    write_qrels({query: [*"abc"] for query in QUERIES}, "qrels.trec")
    for name, documents in stages.items():
        rankings = dict.fromkeys(QUERIES, documents)
        write_run(Run.from_rankings(rankings), f"{name}.trec")
    return [f"{name}.trec" for name in ("qrels", *stages)]


def run(*arguments):
    return run_command("evaluate", *arguments)


#: Inputs that are given twice for a stage add up.
INPUTS = ("joined=bm25", "joined=dense,bm25", "ranked=joined")
GRAPH = ("--stages", *(part for value in INPUTS for part in ("--inputs", value)))


def test_the_command_says_which_stage_lost_which_documents(files):
    result = run(*files, *GRAPH, "-m", "Recall@10", "-o", "s.json", "-o", "s.md")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "In these queries 0.6667 of 1.0000 is lost: " in text
    assert "dropped at joined 0.3333" in text
    assert "never retrieved 0.3333" in text
    staged = StagedResult.load("s.json")
    runs = {name.removesuffix(".trec"): name for name in files[1:]}
    inputs = {"joined": ["bm25", "dense"], "ranked": ["joined"]}
    assert staged == evaluate_stages(files[0], runs, "Recall@10", inputs=inputs)
    assert Path("s.md").read_text(encoding="utf-8") == staged.to_markdown()


def test_without_inputs_the_stages_are_a_chain(files):
    success(run(files[0], files[1], files[4], "--stages", "-o", "s.json"))
    stages = json.loads(Path("s.json").read_text(encoding="utf-8"))["stages"]
    assert [stage["inputs"] for stage in stages] == [[], ["bm25"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--inputs", "joined"), "--inputs 'joined': expected STAGE=INPUT,INPUT"),
        (("--inputs", "joined=bm26"), "there is no stage 'bm26'"),
        (("--stages", "-o", "r.tex"), "--stages goes with"),
        (("--stages", "-o", "q.csv"), "leave out -o q.csv"),
    ],
)
def test_options_that_do_not_go_with_stages_and_unknown_ones_are_refused(files, options, words):
    result = run(*files, *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
