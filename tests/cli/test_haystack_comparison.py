"""``beir-eval haystack`` compares pipelines, with repeats and a gate."""

import json
import re

import pytest
from haystack.document_stores.in_memory import InMemoryDocumentStore

import pipeline_parts
from beir_eval import (
    Comparison,
    EvaluationResult,
    check_gate,
    compare_runs,
    evaluate,
    load_dataset,
    read_run,
)
from beir_eval.datasets import demo
from command_line import output_of, refusal, success
from command_line import run as run_command
from pipeline_parts import FAILING, QUERIES, Recorded, Varying, write_pipeline

DATASET = load_dataset(demo.FOLDER)
TEXTS = list(DATASET.queries.values())


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    """Run each test in an empty folder, with components that recorded nothing yet."""
    monkeypatch.chdir(tmp_path)
    QUERIES.clear()
    FAILING.clear()
    pipeline_parts.DRAWS.seed(0)


@pytest.fixture
def deep_and_shallow(tmp_path):
    return (
        write_pipeline(tmp_path / "deep.yaml"),
        write_pipeline(tmp_path / "shallow.yaml", top_k=3),
    )


@pytest.fixture
def recorded(tmp_path):
    """A pipeline that records its queries, and may fail."""
    return write_pipeline(tmp_path / "recorded.yaml", then=Recorded())


@pytest.fixture
def varying(tmp_path):
    return write_pipeline(tmp_path / "varying.yaml", then=Varying())


def run(*arguments):
    return run_command("haystack", *arguments, "--allow", "pipeline_parts")


def runs_in(folder, *names):
    return {name: read_run(folder / f"{name}.trec") for name in names}


# Two pipelines and more


def test_two_pipelines_are_compared_as_their_saved_runs_are(deep_and_shallow, tmp_path):
    options = ["--save-run", "runs", "-o", "r.json", "-o", "r.md", "-m", "nDCG@10"]
    result = run(*deep_and_shallow, demo.FOLDER, "--index", *options, "-m", "MRR@10")
    assert result.exit_code == 0, result.output
    runs = runs_in(tmp_path / "runs", "deep", "shallow")
    expected = compare_runs(DATASET, runs, ["nDCG@10", "MRR@10"])
    assert expected.differences[0].verdict == "worse"
    saved = Comparison.load(tmp_path / "r.compare.json")
    assert saved.differences == expected.differences
    assert "nDCG@10, 30 queries: shallow is worse than deep" in output_of(result)
    markdown = (tmp_path / "r.md").read_text()
    assert "| ms/query |" in markdown
    assert markdown.startswith("## Comparison\n\n")
    details = expected.to_markdown().partition("### The evidence")[2]
    assert details
    assert details in markdown
    assert "| deep    |" in markdown.partition("## Means on all measures")[2]
    first, second = json.loads((tmp_path / "r.json").read_text())
    for content, name in ((first, "deep"), (second, "shallow")):
        of_pipeline = EvaluationResult.model_validate(content)
        assert of_pipeline.name == name
        assert of_pipeline.values == evaluate(DATASET, runs[name], ["nDCG@10", "MRR@10"]).values
        assert of_pipeline.provenance.qrels_sha256 == DATASET.qrels.fingerprint()
        for measure in ("nDCG@10", "MRR@10"):
            assert f"{name} {of_pipeline[measure]:.4f}" in output_of(result)


def test_three_pipelines_are_compared_with_the_baseline_on_ndcg_at_10_by_default(
    deep_and_shallow, tmp_path
):
    best = write_pipeline(tmp_path / "best.yaml", top_k=1)
    options = ["--index", "--baseline", "shallow", "--margin", "0.2", "--alpha", "0.1", "--detail"]
    output = success(run(*deep_and_shallow, best, demo.FOLDER, *options, "-o", "r.json"))
    comparison = Comparison.load(tmp_path / "r.compare.json")
    assert comparison.measures == ("nDCG@10",)
    assert (comparison.settings.margin, comparison.settings.alpha) == (0.2, 0.1)
    assert comparison.baseline == "shallow"
    assert [pair.system for pair in comparison.differences] == ["deep", "best"]
    assert len(json.loads((tmp_path / "r.json").read_text())[0]["measures"]) == 36
    assert "deep: time per query: median" in output


def test_the_folder_of_the_runs_can_be_compared_again(deep_and_shallow, tmp_path):
    saving = run(*deep_and_shallow, demo.FOLDER, "--index", "--save-run", "runs")
    again = success(run_command("compare", demo.FOLDER, "runs"))
    assert (tmp_path / "runs" / "deep.trec.progress.jsonl").exists()
    first, _, sentences = again.partition("nDCG@10 mean")
    printed = output_of(saving)
    assert first in printed
    assert sentences.partition("shallow loses")[2] in printed


def test_the_gate_has_the_exit_codes_and_checks_of_compare(deep_and_shallow, tmp_path):
    deep, shallow = deep_and_shallow
    gate = ["--index", "--gate", "nDCG@10", "--allow-unequal-depth"]
    result = run(deep, shallow, demo.FOLDER, *gate, "-o", "gate.xml", "--save-run", "runs")
    assert result.exit_code == 1
    runs = runs_in(tmp_path / "runs", "deep", "shallow")
    comparison = compare_runs(DATASET, runs, "nDCG@10", baseline="deep")
    [check] = check_gate(comparison, allow_unequal_depth=True)
    assert check.outcome == "failed"
    assert "gate failed: shallow is worse than deep (nDCG@10, 30 queries)" in output_of(result)
    assert 'failures="1"' in (tmp_path / "gate.xml").read_text()
    assert run(shallow, deep, demo.FOLDER, *gate).exit_code == 0
    assert run(deep, shallow, demo.FOLDER, *gate, "--baseline", "shallow").exit_code == 0
    assert run(deep, demo.FOLDER, "--index", "--floor", "nDCG@10=0.9").exit_code == 1
    assert run(deep, demo.FOLDER, "--index", "--floor", "nDCG@10=0.1").exit_code == 0


def test_the_level_of_relevance_reaches_means_verdicts_and_gate(deep_and_shallow, tmp_path):
    names = ["-m", "MRR@10", "--gate", "MAP", "--allow-unequal-depth", "-o", "r.json"]
    result = run(*deep_and_shallow, demo.FOLDER, "--index", *names, "--rel", "1")
    measures = ["MRR(rel=1)@10", "MAP(rel=1)"]
    assert json.loads((tmp_path / "r.json").read_text())[0]["measures"] == measures
    saved = json.loads((tmp_path / "r.compare.json").read_text())
    assert (saved["measures"], saved["gate"][0]["measure"]) == (measures, measures[1])
    assert result.exit_code in {0, 1}


def test_a_pipeline_that_fails_at_a_query_is_named_or_makes_the_gate_undecidable(
    deep_and_shallow, recorded
):
    FAILING.add(TEXTS[1])
    output = refusal(run(deep_and_shallow[0], recorded, demo.FOLDER, "--index"))
    assert "error: recorded: the pipeline failed for query 'q02'" in output
    gate = ["--index", "--on-error", "missing", "--gate", "MRR@10"]
    output = refusal(run(deep_and_shallow[0], recorded, demo.FOLDER, *gate))
    assert "gate undecided: recorded vs deep" in output
    assert "warning: recorded: 1 of 30 judged queries" in output
    success(run(deep_and_shallow[0], recorded, demo.FOLDER, *gate, "--allow-missing"))


def test_a_value_with_a_name_is_for_the_pipeline_of_this_name(varying, tmp_path):
    store = InMemoryDocumentStore(index="two-outputs")
    both = write_pipeline(tmp_path / "both.yaml", store=store, then=Varying())
    outputs = ["--documents-from", "last.documents", "--documents-from"]
    options = ["--index", "-o", "r.json", "-m", "MRR"]
    # The retriever's output is used by another component, but the journal says what was chosen.
    result = run(
        both, varying, demo.FOLDER, *outputs, "both=retriever.documents", *options,
        "--save-run", "runs",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    chosen = [
        json.loads((tmp_path / f"runs/{name}.trec.progress.jsonl").read_text().splitlines()[0])
        for name in ("both", "varying")
    ]
    assert [origin["made_by"]["documents_from"] for origin in chosen] == [
        "retriever.documents",
        "last.documents",
    ]
    output = refusal(run(both, varying, demo.FOLDER, *outputs, "retriever.documents", *options))
    assert "--documents-from is stated 2 times" in output


def test_a_store_that_pipelines_share_is_written_once(tmp_path):
    store = InMemoryDocumentStore(index="shared-by-pipelines")
    files = [
        write_pipeline(tmp_path / f"{name}.yaml", store=store, top_k=top_k)
        for name, top_k in (("a", 20), ("b", 3))
    ]
    alone = write_pipeline(tmp_path / "c.yaml")
    result = run(*files, alone, demo.FOLDER, "--index", "-m", "MRR")
    assert result.exit_code == 0, result.output
    assert re.findall(r"174 documents written to (.*)", result.output) == [
        "the store of a, b",
        "the store of c",
    ]


def test_a_warning_names_the_pipeline(deep_and_shallow):
    result = run(*deep_and_shallow, demo.FOLDER, "-m", "MRR")
    for name in ("deep", "shallow"):
        assert f"warning: {name}: no document was retrieved for any judged query" in output_of(
            result
        )


def test_pipelines_of_one_file_name_are_named_by_folder(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_pipeline(tmp_path / folder / "bm25.yaml")
    files = (tmp_path / "a" / "bm25.yaml", tmp_path / "b" / "bm25.yaml")
    result = run(*files, demo.FOLDER, "--index", "-m", "MRR", "--save-run", "runs")
    assert "b/bm25 and a/bm25 score the same on every query" in output_of(result)
    assert {path.name for path in (tmp_path / "runs").glob("*.trec")} == {
        "a_bm25.trec",
        "b_bm25.trec",
    }


def test_the_report_has_the_comparison(deep_and_shallow, tmp_path):
    pytest.importorskip("jinja2")
    success(run(*deep_and_shallow, demo.FOLDER, "--index", "-o", "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "shallow is worse than deep" in page
    assert "deep: time per query: median" in page
    assert TEXTS[0] in page


# Repeats


def test_repeats_are_a_sample_of_the_runs_of_a_pipeline(deep_and_shallow, varying, tmp_path):
    options = ["--repeats", "3", "--deterministic", "deep", "-m", "nDCG@10"]
    saving = ["--save-run", "runs", "-o", "r.json"]
    result = success(run(deep_and_shallow[0], varying, demo.FOLDER, "--index", *options, *saving))
    names = ["varying_1", "varying_2", "varying_3"]
    runs = runs_in(tmp_path / "runs", "deep", *names)
    expected = compare_runs(
        DATASET,
        {"deep": runs["deep"], "varying": [runs[name] for name in names]},
        "nDCG@10",
        repeats="random",
        deterministic=["deep"],
    )
    assert Comparison.load(tmp_path / "r.compare.json").differences == expected.differences
    assert expected.differences[0].p_queries is not None
    [mean] = [mean for mean in expected.means if mean.system == "varying"]
    assert mean.spread > 0
    assert f"varying {mean.mean:.4f} ± {mean.spread:.4f}" in result
    assert f"deep {expected.mean('nDCG@10', 'deep').mean:.4f} ±" not in result
    assert "±: the standard deviation of the means of 3 repeats" in result
    assert "nDCG@10, 30 queries and 3 repeats: " in result
    saved = [content["name"] for content in json.loads((tmp_path / "r.json").read_text())]
    assert saved == ["deep", *names]


def test_repeats_that_are_equal_are_said_to_be(deep_and_shallow):
    result = success(run(*deep_and_shallow, demo.FOLDER, "--index", "--repeats", "2", "-m", "MRR"))
    assert "all repeats of deep, shallow have the same scores on every query" in result
    assert re.search(r"deep 0\.\d{4} ± 0\.0000", result)


def test_one_pipeline_with_repeats_shows_means_and_spread_and_compares_nothing(varying, tmp_path):
    options = ["--index", "--repeats", "2", "--save-run", "runs", "-o", "r.json"]
    result = success(run(varying, demo.FOLDER, *options, "-m", "MRR"))
    means = [
        evaluate(DATASET, of_repeat, "MRR")["MRR"]
        for of_repeat in runs_in(tmp_path / "runs", "varying_1", "varying_2").values()
    ]
    spread = abs(means[0] - means[1]) / 2**0.5
    assert f"varying {sum(means) / 2:.4f} ± {spread:.4f}" in result
    assert "it does not cover the chance of the queries" in result
    assert "comparison" not in result
    assert not (tmp_path / "r.compare.json").exists()


# Wrong input

WRONG = {
    "one repeat": (["--repeats", "1"], "--repeats 1: two or more were expected"),
    "nothing to repeat": (
        ["--repeats", "2", "--deterministic", "recorded", "--deterministic", "deep"],
        "--deterministic names every pipeline",
    ),
    "an unknown deterministic pipeline": (["--deterministic", "x"], "deterministic names 'x'"),
    "an unknown baseline": (["--baseline", "x"], "there is no system 'x' to be the baseline"),
    "a measure that cannot be compared": (["-m", "Hole@10"], "how much is unjudged"),
    "a floor that nothing reaches": (["--floor", "MRR=2"], "the floor of MRR must be between"),
    "a report of nothing": (["-o", "j.xml"], "add --gate MEASURE"),
    "one query": (["--limit", "1"], "a comparison needs two or more"),
    "a file for several runs": (["--save-run", "r.trec"], "2 runs are made, so a folder"),
    "runs into the data set": (["--save-run", demo.FOLDER], "is a data set; name another"),
    "a folder that is a file": (["--save-run", "deep.yaml/x"], "a folder was expected"),
    "an output that is not there": (["--documents-from", "deep=x.documents"], "deep: "),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_clear_line_before_a_pipeline_runs(
    deep_and_shallow, recorded, options, message
):
    result = run(recorded, deep_and_shallow[0], demo.FOLDER, *options)
    assert result.exit_code == 2
    assert message in output_of(result)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert QUERIES == []


def test_repeats_do_not_take_the_name_of_another_pipeline(tmp_path):
    files = [write_pipeline(tmp_path / f"{name}.yaml") for name in ("a", "a_1")]
    result = refusal(run(*files, demo.FOLDER, "--repeats", "2", "--deterministic", "a_1"))
    for words in ("two runs have the name 'a_1'", "rename a pipeline's file"):
        assert words in result


def test_the_same_file_twice_a_folder_and_a_missing_data_set_are_refused(deep_and_shallow):
    deep, shallow = deep_and_shallow
    for arguments, message in (
        ((deep, deep, demo.FOLDER), "deep.yaml: the same file is given twice"),
        ((deep, demo.FOLDER, demo.FOLDER), "the files of pipelines were expected before"),
        ((deep, shallow), "shallow.yaml is a file; the folder of the data set was expected"),
        ((demo.FOLDER, deep, shallow), f"deep.yaml {shallow} {demo.FOLDER}"),
        ((deep,), "Missing argument"),
    ):
        assert message in refusal(run(*arguments))


@pytest.mark.parametrize(
    "options",
    ["--gate MRR", "--non-inferior", "--baseline deep", "--margin 0.1", "--deterministic deep"],
)
def test_options_of_a_comparison_are_refused_for_one_pipeline(deep_and_shallow, options):
    name, *value = options.split()
    output = refusal(run(deep_and_shallow[0], demo.FOLDER, name, *value))
    assert f"{name} needs two pipelines or more" in output


def test_one_pipeline_has_no_floor_with_repeats(deep_and_shallow):
    deep, _ = deep_and_shallow
    result = run(deep, demo.FOLDER, "--floor", "MRR=0.1", "--repeats", "2")
    assert "--floor checks one run of a single pipeline, not --repeats" in output_of(result)
