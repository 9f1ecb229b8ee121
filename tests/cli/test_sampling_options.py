"""``beir-eval compare``: repeats of a system, clusters of queries, systems that were chosen."""

import json
from pathlib import Path

import numpy as np
import pytest

from beir_eval import compare_runs, read_qrels, read_run, write_qrels, write_run
from command_line import output_of, refusal, run, success

QUERIES = [f"q{number:02}" for number in range(24)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with judgements and five runs of two systems, which is the current one."""
    monkeypatch.chdir(tmp_path)
    judged = {f"d{number}": number % 2 for number in range(6)}
    write_qrels(dict.fromkeys(QUERIES, judged), tmp_path / "qrels.trec")
    for seed, name in enumerate(("base_1", "base_2", "dense_s1", "dense_s2", "dense_s3")):
        rng = np.random.default_rng(seed)
        gain = 0.6 if name.startswith("dense") else 0.0
        rankings = {
            query: {f"d{number}": rng.random() + gain * (number % 2) for number in range(6)}
            for query in QUERIES
        }
        write_run(rankings, tmp_path / f"{name}.trec")
    return tmp_path


def runs_of(folder, *names):
    return [read_run(folder / f"{name}.trec") for name in names]


def compared(*arguments):
    """Return the comparison that the command saves."""
    result = success(run("compare", "qrels.trec", *arguments, "-o", "out.json"))
    return json.loads(Path("out.json").read_text()), result


def test_repeats_are_a_list_of_files_or_a_pattern(folder):
    repeats = ["--repeats", "base=base_1.trec,base_2.trec", "--repeats", "dense_s*.trec"]
    saved, printed = compared(*repeats, "--baseline", "base")
    assert saved["systems"] == ["base", "dense_s"]
    expected = compare_runs(
        read_qrels(folder / "qrels.trec"),
        {
            "base": runs_of(folder, "base_1", "base_2"),
            "dense_s": runs_of(folder, "dense_s1", "dense_s2", "dense_s3"),
        },
        baseline="base",
    )
    [difference] = saved["differences"]
    assert difference["p"] == expected.differences[0].p
    assert saved["settings"]["repeats"] == "random"
    assert "nDCG@10, 24 queries and 2 to 3 repeats: dense_s is better than base" in printed


def test_files_that_are_listed_as_repeats_are_no_systems_of_their_own(folder):
    saved, _ = compared(
        "base_1.trec", "dense_s1.trec", "--repeats", "dense=dense_s1.trec,dense_s2.trec",
        "--deterministic", "base_1",
    )  # fmt: skip
    assert saved["systems"] == ["base_1", "dense"]
    assert saved["settings"]["repeats"] == "random"
    assert saved["settings"]["deterministic"] == ["base_1"]
    saved, _ = compared("base_1.trec", "--repeats", "dense_s?.trec", "--repeats-are", "averaged")
    assert saved["settings"]["repeats"] == "averaged"


def test_saved_results_may_all_be_repeats(folder):
    for name in ("base_1", "base_2", "dense_s1", "dense_s2"):
        success(run("evaluate", "qrels.trec", f"{name}.trec", "-o", f"{name}.json"))
    options = ["--repeats", "base=base_1.json,base_2.json", "--repeats", "dense_s*.json"]
    success(run("compare", *options, "-m", "nDCG@10", "-o", "out.json"))
    saved = json.loads(Path("out.json").read_text())
    assert saved["systems"] == ["base", "dense_s"]
    assert saved["settings"]["repeats"] == "random"


def test_runs_as_repeats_need_judgements(folder):
    options = ["--repeats", "base=base_1.trec,base_2.trec", "--repeats", "dense_s*.trec"]
    assert "the judgements were expected as the argument" in refusal(run("compare", *options))
    assert "judgements, then run files or folders" in output_of(run("compare"))


def test_clusters_come_from_a_file_of_labels(folder):
    lines = ["query_id,topic", *(f"{query},{index // 3}" for index, query in enumerate(QUERIES))]
    (folder / "topics.csv").write_text("\n".join(lines) + "\n")
    saved, printed = compared("base_1.trec", "dense_s1.trec", "--clusters", "topics.csv")
    assert saved["differences"][0]["num_clusters"] == 8
    assert saved["clusters"][:4] == ["0", "0", "0", "1"]
    assert "8 clusters of 24 queries" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repeats", "dense=nothing*.trec"], "no file matches nothing*.trec"),
        (["--repeats", "dense=base_1.trec"], "two files or more were expected"),
        (["--repeats", "*.trec"], "name the system, as in NAME=*.trec"),
        (
            ["--repeats", "a=base_1.trec,base_2.trec", "--repeats", "b=base_2.trec,dense_s1.trec"],
            "base_2.trec is listed twice",
        ),
        (["base_1.trec", "base_2.trec", "--clusters", "none.csv"], "there is no such file"),
        (["base_1.trec", "base_2.trec", "--clusters", "metadata.topic"], "give its folder"),
        (["base_1.trec", "base_2.trec", "--repeats-are", "random"], "one run shows nothing"),
    ],
)
def test_values_that_name_nothing_are_refused(folder, arguments, message):
    assert message in refusal(run("compare", "qrels.trec", *arguments))
