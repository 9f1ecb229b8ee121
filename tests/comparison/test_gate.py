"""The gate lets pass what is not worse, and says why it stops the rest."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

from beir_eval import Comparison, compare, evaluate, write_qrels, write_run
from beir_eval.cli.app import app
from beir_eval.comparison import assert_no_regression, check_gate, to_junit
from beir_eval.errors import SettingError

RUNNER = CliRunner()
RANKS = np.random.default_rng(0).integers(2, 9, 40).tolist()
QRELS = {f"q{query:02}": {"a": 1} for query in range(40)}


def run_of(ranks):
    return {
        f"q{query:02}": {f"x{place}": -place for place in range(1, rank)} | {"a": -rank}
        for query, rank in enumerate(ranks)
    }


RUNS = {
    "old": run_of(RANKS),
    "same": run_of(np.random.default_rng(1).permutation(RANKS).tolist()),
    "worse": run_of([rank + 3 for rank in RANKS]),
    "better": run_of([rank - 1 for rank in RANKS]),
    "nearly": run_of([*RANKS[:-1], RANKS[-1] + 1]),
}


def result(name):
    return evaluate(QRELS, RUNS[name], ["MRR", "nDCG@10"], name=name)


def checks(*names, **settings):
    non_inferior = settings.pop("non_inferior", False)
    found = compare([result(name) for name in names], names[0], **settings)
    return check_gate(found, "MRR", non_inferior=non_inferior)


def test_only_a_significantly_worse_system_fails():
    outcome = {
        one.difference.system: one.passed for one in checks("old", "same", "worse", "better")
    }
    assert outcome == {"same": True, "worse": False, "better": True}


def test_a_non_inferior_one_must_have_shown_it():
    outcome = {
        one.difference.system: (one.passed, one.difference.low)
        for one in checks("old", "same", "better", "nearly", non_inferior=True, margin=0.02)
    }
    assert [passed for passed, _ in outcome.values()] == [False, True, True]
    assert all(passed == (low > -0.02) for passed, low in outcome.values())
    [one] = checks("old", "same", non_inferior=True, margin=0.02)
    assert "not above -0.02" in one.reason


def test_a_gate_needs_a_baseline():
    with pytest.raises(SettingError, match="needs a baseline"):
        check_gate(compare([result("old"), result("same")]))


def test_junit_has_a_case_for_every_check_and_holds_any_name():
    results = {"old": result("old"), 'a<b>&"\x00': result("worse"), "fine": result("better")}
    suite = ET.fromstring(to_junit(check_gate(compare(results, "old"))))  # noqa: S314 - ours
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")
    names = [case.get("name") for case in suite]
    assert 'a<b>&"? against old' in names
    failed = [case for case in suite if case.find("failure") is not None]
    assert "is worse than old" in failed[0].find("failure").get("message")


def test_a_test_fails_on_a_regression_and_names_the_queries():
    assert_no_regression(result("better"), result("old"), "MRR")
    with pytest.raises(
        AssertionError, match=r"(?s)worse is worse than old.*lost most.*->"
    ) as caught:
        assert_no_regression(result("worse"), result("old"), "MRR")
    assert str(caught.value).count("->") == 5
    with pytest.raises(AssertionError, match="not above"):
        assert_no_regression(result("same"), result("old"), "MRR", non_inferior=True)


def test_a_test_may_name_saved_results(tmp_path):
    result("old").save(tmp_path / "old.json")
    result("worse").save(tmp_path / "worse.json.gz")
    with pytest.raises(AssertionError, match="worse than"):
        assert_no_regression(tmp_path / "worse.json.gz", str(tmp_path / "old.json"), "MRR")


# The command


@pytest.fixture
def files(tmp_path):
    write_qrels(QRELS, tmp_path / "qrels.trec")
    for name, run in RUNS.items():
        write_run(run, tmp_path / f"{name}.trec")
    return tmp_path


def command(*arguments):
    return RUNNER.invoke(app, ["compare", *map(str, arguments)])


def said(outcome):
    return " ".join(outcome.output.split())


def test_the_command_prints_means_differences_and_verdicts(files):
    outcome = command(
        files / "qrels.trec", *(files / f"{name}.trec" for name in ("old", "worse", "same")),
        "-m", "MRR", "--baseline", "old",
    )  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    assert "old (baseline)" in said(outcome)
    assert "▼" in said(outcome)
    assert "MRR: worse is worse than old" in said(outcome)
    assert "cannot be told apart" in said(outcome)
    assert "corrected by holm over the 2 comparisons" in said(outcome)


def test_the_gate_decides_the_exit_code(files):
    runs = {name: files / f"{name}.trec" for name in RUNS}
    judged = files / "qrels.trec"
    assert command(judged, runs["old"], runs["better"], "--gate", "MRR").exit_code == 0
    failed = command(judged, runs["old"], runs["worse"], "--gate", "MRR")
    assert failed.exit_code == 1
    assert "gate failed: MRR: worse is worse than old" in said(failed)
    asked = [judged, runs["old"], runs["same"], "--gate", "MRR"]
    assert command(*asked).exit_code == 0
    assert command(*asked, "--non-inferior").exit_code == 1
    assert command(*asked, "--non-inferior", "--margin", "0.5").exit_code == 0
    turned = [judged, runs["worse"], runs["old"], "--gate", "MRR"]
    assert command(*turned).exit_code == 0
    assert command(*turned, "--baseline", "old").exit_code == 1


def test_everything_can_be_written_to_files(files):
    targets = {
        name: files / f"out.{name}" for name in ("markdown", "latex", "csv", "json", "junit")
    }
    options = [part for name, path in targets.items() for part in (f"--{name}", path)]
    asked = [files / "qrels.trec", files / "old.trec", files / "worse.trec", "--gate", "MRR"]
    assert command(*asked, *options).exit_code == 1
    assert "**Gate failed**" in targets["markdown"].read_text()
    assert r"\toprule" in targets["latex"].read_text()
    assert targets["csv"].read_text().count("\n") == 2
    assert Comparison.load(targets["json"]).baseline == "old"
    assert ET.parse(targets["junit"]).getroot().get("failures") == "1"  # noqa: S314 - ours


def test_saved_results_compare_without_qrels(files):
    for name in ("old", "worse"):
        result(name).save(files / f"{name}.json")
    outcome = command(files / "old.json", files / "worse.json", "--baseline", "old")
    assert outcome.exit_code == 0, outcome.output
    assert "nDCG@10: worse is worse than old" in said(outcome)
    assert "MRR: worse is worse than old" in said(outcome)
    both = files / "both.json"
    both.write_text(
        json.dumps([json.loads((files / f"{n}.json").read_text()) for n in ("old", "worse")])
    )
    assert "worse is worse than old" in said(command(both, "--baseline", "old"))


def test_the_gates_measure_is_all_that_saved_results_must_hold(files):
    for name in ("old", "worse"):
        evaluate(QRELS, RUNS[name], ["MRR"], name=name).save(files / f"{name}.json")
    outcome = command(files / "old.json", files / "worse.json", "--gate", "MRR")
    assert outcome.exit_code == 1, outcome.output
    assert "MRR: worse is worse than old" in said(outcome)


def test_results_of_one_name_go_by_their_files(files):
    for file, name in (("before", "old"), ("after", "worse")):
        evaluate(QRELS, RUNS[name], ["MRR"], name="bm25").save(files / f"{file}.json")
    outcome = command(files / "before.json", files / "after.json", "--gate", "MRR")
    assert outcome.exit_code == 1, outcome.output
    assert "MRR: after is worse than before" in said(outcome)


def test_few_differing_queries_are_said_to_be_few():
    [one] = checks("old", "nearly", non_inferior=True, margin=0.02)
    assert "only 1 of 40 queries differ" in one.reason


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.trec", "old.trec", "same.trec", "--junit", "out.xml"], "add --gate"),
        (["old.json", "--ties", "worst"], "saved results were evaluated already"),
        (["qrels.trec", "old.trec"], "two systems or more"),
        (["qrels.trec", "old.trec", "same.trec", "--baseline", "x"], "no system 'x'"),
        (["qrels.trec", "old.trec", "same.trec", "--test", "x"], "test='x'"),
        (["qrels.trec", "old.trec", "same.trec", "--gate", "x"], "no measure 'x'"),
        (["qrels.trec", "old.trec", "same.trec", "--csv", "old.trec"], "named twice"),
        (["qrels.trec", "old.trec", "no.trec"], "no.trec"),
        (["old.json", "old.trec"], "saved results were expected in every file"),
        (["bad.json", "old.json"], "not a saved result"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(files, monkeypatch, arguments, message):
    monkeypatch.chdir(files)
    result("old").save(files / "old.json")
    bad = json.loads((files / "old.json").read_text()) | {"values": [[1]]}
    (files / "bad.json").write_text(json.dumps(bad))
    outcome = command(*arguments)
    assert outcome.exit_code == 2
    assert message in said(outcome)
