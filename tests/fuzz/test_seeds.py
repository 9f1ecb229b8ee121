"""What the fuzzing found before stays fixed, and valid files are read as what they contain."""

import random
import warnings

import fuzz
import fuzz_targets
import pytest

from beir_eval.errors import BeirEvalError
from time_limit import time_limit


@pytest.fixture(autouse=True)
def _without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_every_target_has_seeds():
    assert {folder.name for folder in fuzz.SEEDS.iterdir()} == set(fuzz_targets.TARGETS)


@pytest.mark.parametrize("name", fuzz_targets.TARGETS)
def test_a_seed_is_refused_or_read_as_what_it_contains(tmp_path, name):
    path = tmp_path / "input"
    with time_limit(60):
        for seed in sorted((fuzz.SEEDS / name).iterdir()):
            path.write_bytes(seed.read_bytes())
            try:
                fuzz_targets.TARGETS[name].check(path)
            except BeirEvalError:
                continue


@pytest.mark.parametrize("name", fuzz_targets.TARGETS)
def test_a_valid_file_is_accepted_and_read_as_what_it_contains(tmp_path, name):
    for seed in range(40):
        fuzz_targets.check_valid(name, random.Random(seed), tmp_path / "input")


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda _: fuzz_targets.expect({"q": [1, 2]}, {"q": [1, 3]}), "read as ['q'] [1] 2"),
        (lambda _: sum(range(10**7)), "processor time"),
    ],
    ids=["another exception", "wrong content", "slow"],
)
def test_a_finding_is_written_once_with_the_command_that_repeats_it(
    tmp_path, monkeypatch, behaviour, finding
):
    monkeypatch.setattr(fuzz, "FINDINGS", tmp_path / "findings")
    monkeypatch.setattr(fuzz, "SLOWEST", 0.02)
    target = fuzz_targets.Target(behaviour, fuzz_targets.TARGETS["run"].example)
    monkeypatch.setitem(fuzz_targets.TARGETS, "run", target)
    finder = fuzz.Finder("run", tmp_path)
    finder.run("input", b"first")
    finder.run("input", b"second")
    data, text = sorted((tmp_path / "findings" / "run").iterdir())
    assert data.read_bytes() == b"first"
    assert finding in text.read_text()
    assert f"--target run --repeat {data}" in text.read_text()
