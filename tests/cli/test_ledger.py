"""``beir-eval ledger add`` and ``show`` do in a script what ``Ledger`` does in Python."""

import json

import pytest
from typer.testing import CliRunner

from beir_eval import Ledger
from beir_eval.cli.app import app
from ledger_results import BASELINE, checkpoint, with_hash
from made_results import MEASURE

DRAWS = ("--draws", "1999")


def run(*arguments):
    return CliRunner().invoke(app, ["ledger", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    """Return {name: file of a saved result} for the baseline and five checkpoints."""
    results = [with_hash(BASELINE, "start"), *map(checkpoint, (0, 5, 9, 10, 11))]
    paths = {result.name: tmp_path / f"{result.name}.json" for result in results}
    for result in results:
        result.save(paths[result.name])
    return paths


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "run.jsonl"


def create(ledger, files, *names, **options):
    stated = {"looks": 10, "draws": 1_999} | options
    return run(
        "add", ledger, *(files[name] for name in names), "--baseline", files["start"],
        "-m", "ndcg_cut_10", *(part for name, value in stated.items()
        for part in (f"--{name}", value)),
    )  # fmt: skip


def test_checkpoints_are_recorded_and_each_look_is_printed(ledger, files, tmp_path):
    first = create(ledger, files, "step-0", "step-5")
    assert first.exit_code == 0, first.output
    second = run("add", ledger, files["step-11"])
    assert second.exit_code == 0, second.output
    expected = Ledger(tmp_path / "b", with_hash(BASELINE, "start"), MEASURE, looks=10, draws=1_999)
    looks = [expected.record(checkpoint(number)) for number in (0, 5, 11)]
    printed = (first.stdout + second.stdout).splitlines()
    assert printed == [f"{look.step}: {look}" for look in looks]
    assert Ledger.open(ledger).looks == tuple(looks)
    assert "look 3 of 10: " in second.stdout
    assert "better" in second.stdout


def test_a_checkpoint_that_is_recorded_already_is_printed_and_not_counted(ledger, files):
    create(ledger, files, "step-0")
    again = run("add", ledger, files["step-0"])
    assert again.exit_code == 0
    assert "look 1 of 10: " in again.stdout
    assert len(Ledger.open(ledger).looks) == 1
    named = run("add", ledger, files["step-5"], "--step", "900")
    assert named.stdout.startswith("900: look 2 of 10: ")


def test_show_prints_and_writes_all_looks(ledger, files, tmp_path):
    create(ledger, files, "step-0", "step-11", alternative="greater", looks="open")
    target, table = tmp_path / "looks.json", tmp_path / "looks.md"
    shown = run("show", ledger, "-o", target, "-o", table)
    assert shown.exit_code == 0, shown.output
    opened = Ledger.open(ledger)
    for row in opened.to_table().rows:
        for cell in row:
            assert str(cell) in shown.stdout
    for note in opened.notes():
        assert note in shown.stdout
    assert table.read_text() == opened.to_markdown()
    content = json.loads(target.read_text())
    assert content["settings"]["looks"] is None
    assert [look["step"] for look in content["looks"]] == ["step-0", "step-11"]
    assert content["looks"][1]["t"] == opened.looks[1].t
    assert content["looks"][1]["verdict"] == "better"


def test_options_that_are_stated_later_must_agree(ledger, files):
    create(ledger, files, "step-0", margin=0.02)
    same = create(ledger, files, "step-5", margin=0.02)
    assert same.exit_code == 0, same.output
    for options, message in (
        (("--looks", "11"), "the ledger has looks=10, not 11"),
        (("--looks", "open"), "the ledger has looks=10, not None"),
        (("--margin", "0.03"), "the ledger has margin=0.02, not 0.03"),
        (("--alpha", "0.1"), "the ledger has alpha=0.05, not 0.1"),
        (("--alternative", "greater"), "not 'greater'"),
        (("--seed", "4"), "the ledger has rng=0, not 4"),
        (("-m", "MRR"), "MRR was not evaluated for 'start'"),
        (("--baseline", files["step-9"]), "the baseline of the ledger is 'start', not 'step-9'"),
    ):
        refused = run("add", ledger, files["step-9"], *options)
        assert refused.exit_code == 2
        assert message in refused.stderr
        assert refused.stderr.startswith("error: ")
        assert refused.stderr.count("\n") == 1
    assert len(Ledger.open(ledger).looks) == 2


def test_wrong_input_is_one_line_and_exit_code_2(ledger, files, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hello")
    both = tmp_path / "both.json"
    both.write_text(f"[{files['step-0'].read_text()},{files['step-5'].read_text()}]")
    for arguments, message in (
        (("add", ledger, files["step-0"]), "there is no such ledger; --baseline RESULT and"),
        (("add", ledger, other, "--baseline", files["start"], "-m", MEASURE), "not a saved result"),
        (("add", ledger, files["step-0"], "--looks", "many"), "--looks must be a whole number"),
        (("add", ledger, files["step-0"], "--baseline", both, "-m", MEASURE), "one result was exp"),
        (("add", ledger, both, "--step", "5"), "--step names one checkpoint, not 2"),
        (("add", ledger, files["step-0"], "--baseline", files["start"], "-m", MEASURE, "--looks",
          "0"), "looks must be a whole number above 0"),
        (("add", other, files["step-0"]), "not a ledger"),
        (("show", ledger), "run.jsonl: No such file or directory"),
        (("show", other), "not a ledger"),
    ):  # fmt: skip
        result = run(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not ledger.exists()


def test_what_was_recorded_before_an_error_stays_recorded(ledger, files, tmp_path):
    create(ledger, files, "step-0")
    with_hash(BASELINE, "elsewhere", "f" * 64).save(tmp_path / "elsewhere.json")
    result = run("add", ledger, files["step-5"], tmp_path / "elsewhere.json", files["step-9"])
    assert result.exit_code == 2
    assert "is of another test set" in result.stderr
    assert result.stdout.startswith("step-5: look 2 of 10")
    assert len(Ledger.open(ledger).looks) == 2


def test_control_characters_of_names_are_shown_as_escapes(ledger, files):
    create(ledger, files, "step-0")
    odd = with_hash(BASELINE, "a\x1b[2Jb")
    odd.save(files["step-5"])
    for result in (run("add", ledger, files["step-5"]), run("show", ledger)):
        assert result.exit_code == 0, result.output
        assert "\x1b[2J" not in result.output
        assert r"a\x1b[2Jb" in result.output
