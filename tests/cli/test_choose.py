"""The command ``choose``: it prints what ``choose`` returns; dev runs, fusions, refused input."""

import pytest

from beir_eval import choose, evaluate, fusion_grid, read_qrels, read_run, write_qrels, write_run
from beir_eval.benchmark import ChoiceResult
from beir_eval.datasets import demo
from command_line import run as run_command

RUNS = {path.stem: read_run(path) for path in demo.RUNS}
QRELS = read_qrels(demo.FOLDER / "qrels" / "test.tsv")


def folded(text):
    return " ".join(text.split())


def test_the_fusions_of_two_runs_are_chosen_from_and_both_must_be_beaten(tmp_path):
    target = tmp_path / "c.json"
    done = run_command("choose", demo.FOLDER, *demo.RUNS, "--fuse", "-o", target)
    assert done.exit_code == 0, done.output
    results = {
        name: evaluate(QRELS, run, ["nDCG@10"], name=name)
        for name, run in (fusion_grid(RUNS) | RUNS).items()
    }
    expected = choose(results, list(RUNS))
    first, *_, last = str(expected).splitlines()
    assert folded(done.stdout).startswith(first)
    assert folded(done.stdout).endswith(last)
    assert ChoiceResult.load(target) == expected


def test_dev_judgements_choose_and_others_compare(tmp_path):
    half = len(QRELS.query_ids) // 2
    for name, ids in (("dev", QRELS.query_ids[:half]), ("test", QRELS.query_ids[half:])):
        write_qrels(QRELS.select(ids), tmp_path / f"{name}.trec")
    third = tmp_path / "bm25-copy.trec"
    write_run(RUNS["bm25"], third)
    line = ["choose", tmp_path / "test.trec", *demo.RUNS, third, "--baseline", "bm25-plain"]
    done = run_command(*line, "--dev", tmp_path / "dev.trec")
    assert done.exit_code == 0, done.output
    assert "Chosen on 15 other queries: bm25, the best of 2 (" in folded(done.stdout)
    (tmp_path / "dev").mkdir()
    write_run(RUNS["bm25"], tmp_path / "dev" / "bm25.trec")
    done = run_command(*line, "--dev", tmp_path / "dev.trec", "--dev-runs", tmp_path / "dev")
    assert "no run 'bm25-plain', 'bm25-copy'; names must be the same" in folded(done.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "state the system to beat: --baseline NAME"),
        (["--baseline", "bm25"], "two candidates or more, not 'bm25-plain'"),
        (["--baseline", "x"], "there is no system 'x'"),
        (["--baseline", "bm25", "--dev-runs", "."], "which is missing"),
        (["--fuse", "-m", "nDCX"], "nDCX"),
    ],
)
def test_what_cannot_be_chosen_from_is_one_line(arguments, words):
    done = run_command("choose", demo.FOLDER, *demo.RUNS, *arguments)
    assert done.exit_code == 2
    assert words in folded(done.stderr)
    assert done.stderr.count("error: ") == 1
