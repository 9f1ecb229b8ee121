"""The command ``fuse``: it writes what ``fuse`` returns, and an error writes nothing."""

import pytest

from beir_eval import fuse, read_run
from beir_eval.datasets import demo
from command_line import run as run_command

RUNS = {path.stem: read_run(path) for path in demo.RUNS}


def test_the_written_run_is_that_of_the_function(tmp_path):
    target = tmp_path / "fused.json"
    options = ["--method", "sum", "--normalise", "min-max", "--weights", ".7,.3"]
    done = run_command("fuse", *demo.RUNS, "-o", target, *options)
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == [f"{target}:", "30", "queries,", "2", "runs", "fused"]
    expected = fuse(RUNS, "sum", normalise="min-max", weights=[0.7, 0.3])
    assert read_run(target).as_dict() == expected.as_dict()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--weights", "a,b"], "--weights a,b: numbers with commas"),
        (["--weights", "1"], "weights must have a finite number from 0 for each of"),
        (["--method", "borda"], "choose one of 'rrf', 'sum', 'max'"),
        (["--normalise", "dbsf"], "which uses ranks alone"),
    ],
)
def test_what_cannot_be_fused_is_one_line_and_no_file(arguments, words, tmp_path):
    target = tmp_path / "fused.trec"
    done = run_command("fuse", *demo.RUNS, "-o", target, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not target.exists()
