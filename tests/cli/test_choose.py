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
    for name in ("bm25", "bm25-plain"):
        write_run(RUNS[name], tmp_path / "dev" / f"{name}.trec")
    done = run_command(*line, "--dev", tmp_path / "dev.trec", "--dev-runs", tmp_path / "dev")
    assert "results and dev need the same systems; only one of them has 'bm25-copy'" in done.stderr


def test_advice_names_the_run_and_nothing_that_the_command_lacks(tmp_path):
    again = tmp_path / "again.csv"
    rows = [f"q01,d{number},{score}" for number, score in ((1, 3), (1, 2))]
    again.write_text("\n".join(["query_id,doc_id,score", *rows]))
    line = ["choose", demo.FOLDER, *demo.RUNS, again, "--baseline", "bm25"]
    error = folded(run_command(*line).stderr)
    assert "error: again: documents are listed more than once" in error
    assert "--" not in error
    deep = tmp_path / "deep.trec"
    judged = [(query, doc) for query in range(30) for doc in range(60)]
    deep.write_text("".join(f"{query} 0 {doc} {doc % 4}\n" for query, doc in judged))
    runs = [tmp_path / f"{name}.trec" for name in "abc"]
    for run in runs:
        run.write_text("".join(f"{query} Q0 {doc} 1 {-doc} t\n" for query, doc in judged))
    done = run_command("choose", deep, *runs, "--baseline", "a", "-m", "Recall@100")
    assert "Count from grade 2 on (-m 'Recall(rel=2)@100')" in folded(done.stdout)


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
