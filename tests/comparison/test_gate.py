"""The gate passes systems that are not significantly worse, and gives a reason for each failure."""

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


def run_with_ranks(ranks):
    return {
        f"q{query:02}": {f"x{position}": -position for position in range(1, rank)} | {"a": -rank}
        for query, rank in enumerate(ranks)
    }


RUNS = {
    "old": run_with_ranks(RANKS),
    "same": run_with_ranks(np.random.default_rng(1).permutation(RANKS).tolist()),
    "worse": run_with_ranks([rank + 3 for rank in RANKS]),
    "better": run_with_ranks([rank - 1 for rank in RANKS]),
    "nearly": run_with_ranks([*RANKS[:-1], RANKS[-1] + 1]),
}


def result(name):
    return evaluate(QRELS, RUNS[name], ["MRR", "nDCG@10"], name=name)


def checks(*names, **settings):
    non_inferior = settings.pop("non_inferior", False)
    comparison = compare([result(name) for name in names], names[0], **settings)
    return check_gate(comparison, "MRR", non_inferior=non_inferior)


def test_only_a_significantly_worse_system_fails():
    passed = {
        check.difference.system: check.passed for check in checks("old", "same", "worse", "better")
    }
    assert passed == {"same": True, "worse": False, "better": True}


def test_the_non_inferiority_gate_fails_a_system_that_may_lose_more_than_the_margin():
    outcomes = {
        check.difference.system: (check.passed, check.difference.low)
        for check in checks("old", "same", "better", "nearly", non_inferior=True, margin=0.02)
    }
    assert [passed for passed, _ in outcomes.values()] == [False, True, True]
    assert all(passed == (low > -0.02) for passed, low in outcomes.values())
    [check] = checks("old", "same", non_inferior=True, margin=0.02)
    assert "not above -0.02" in check.reason


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


def test_assert_no_regression_fails_on_a_regression_and_names_the_queries():
    assert_no_regression(result("better"), result("old"), "MRR")
    with pytest.raises(
        AssertionError, match=r"(?s)worse is worse than old.*lost most.*->"
    ) as caught:
        assert_no_regression(result("worse"), result("old"), "MRR")
    assert str(caught.value).count("->") == 5
    with pytest.raises(AssertionError, match="not above"):
        assert_no_regression(result("same"), result("old"), "MRR", non_inferior=True)


def test_assert_no_regression_takes_paths_of_saved_results(tmp_path):
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


def run_command(*arguments):
    return RUNNER.invoke(app, ["compare", *map(str, arguments)])


def printed_text(outcome):
    return " ".join(outcome.output.split())


def test_the_command_prints_means_differences_and_verdicts(files):
    outcome = run_command(
        files / "qrels.trec", *(files / f"{name}.trec" for name in ("old", "worse", "same")),
        "-m", "MRR", "--baseline", "old",
    )  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    assert "old (baseline)" in printed_text(outcome)
    assert "▼" in printed_text(outcome)
    assert "worse vs old: -0.1192 MRR (95% interval for 2 comparisons:" in printed_text(outcome)
    assert "): undecided, p 1.0000" in printed_text(outcome)
    assert "corrected by max-t over the 2 comparisons" in printed_text(outcome)


def test_the_gate_decides_the_exit_code(files):
    runs = {name: files / f"{name}.trec" for name in RUNS}
    qrels = files / "qrels.trec"
    assert run_command(qrels, runs["old"], runs["better"], "--gate", "MRR").exit_code == 0
    failed = run_command(qrels, runs["old"], runs["worse"], "--gate", "MRR")
    assert failed.exit_code == 1
    assert "gate failed: MRR: worse is worse than old" in printed_text(failed)
    arguments = [qrels, runs["old"], runs["same"], "--gate", "MRR"]
    assert run_command(*arguments).exit_code == 0
    assert run_command(*arguments, "--non-inferior").exit_code == 1
    assert run_command(*arguments, "--non-inferior", "--margin", "0.5").exit_code == 0
    swapped = [qrels, runs["worse"], runs["old"], "--gate", "MRR"]
    assert run_command(*swapped).exit_code == 0
    assert run_command(*swapped, "--baseline", "old").exit_code == 1


def test_everything_can_be_written_to_files(files):
    targets = {
        name: files / f"out.{name}" for name in ("markdown", "latex", "csv", "json", "junit")
    }
    options = [part for name, path in targets.items() for part in (f"--{name}", path)]
    arguments = [files / "qrels.trec", files / "old.trec", files / "worse.trec", "--gate", "MRR"]
    assert run_command(*arguments, *options).exit_code == 1
    assert "**Gate failed**" in targets["markdown"].read_text()
    assert r"\toprule" in targets["latex"].read_text()
    assert targets["csv"].read_text().count("\n") == 2
    assert Comparison.load(targets["json"]).baseline == "old"
    assert ET.parse(targets["junit"]).getroot().get("failures") == "1"  # noqa: S314 - ours


def test_saved_results_compare_without_qrels(files):
    for name in ("old", "worse"):
        result(name).save(files / f"{name}.json")
    outcome = run_command(files / "old.json", files / "worse.json", "--baseline", "old")
    assert outcome.exit_code == 0, outcome.output
    assert "nDCG@10: worse is worse than old" in printed_text(outcome)
    assert "MRR: worse is worse than old" in printed_text(outcome)
    both = files / "both.json"
    both.write_text(
        json.dumps([json.loads((files / f"{n}.json").read_text()) for n in ("old", "worse")])
    )
    assert "worse is worse than old" in printed_text(run_command(both, "--baseline", "old"))


def test_saved_results_need_only_the_measure_of_the_gate(files):
    for name in ("old", "worse"):
        evaluate(QRELS, RUNS[name], ["MRR"], name=name).save(files / f"{name}.json")
    outcome = run_command(files / "old.json", files / "worse.json", "--gate", "MRR")
    assert outcome.exit_code == 1, outcome.output
    assert "MRR: worse is worse than old" in printed_text(outcome)


def test_saved_results_of_the_same_name_are_named_after_their_files(files):
    for file, name in (("before", "old"), ("after", "worse")):
        evaluate(QRELS, RUNS[name], ["MRR"], name="bm25").save(files / f"{file}.json")
    outcome = run_command(files / "before.json", files / "after.json", "--gate", "MRR")
    assert outcome.exit_code == 1, outcome.output
    assert "MRR: after is worse than before" in printed_text(outcome)


def test_the_reason_states_how_few_queries_differ():
    [check] = checks("old", "nearly", non_inferior=True, margin=0.02)
    assert "only 1 of 40 queries differ" in check.reason


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
    outcome = run_command(*arguments)
    assert outcome.exit_code == 2
    assert message in printed_text(outcome)
