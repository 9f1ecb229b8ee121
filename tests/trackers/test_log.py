"""``log`` against the trackers: a sqlite store, event files, offline runs, read back."""

import gzip
import json
import math
import os
import struct
import sys
import time
from pathlib import Path

import mlflow
import pytest
import trackio
import wandb
from hypothesis import example, given
from hypothesis import strategies as st
from mlflow.utils.validation import _validate_metric_name
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from trackio.sqlite_storage import SQLiteStorage
from wandb.proto.wandb_internal_pb2 import Record

from beir_eval import Comparison, EvaluationResult, compare, evaluate
from beir_eval.errors import InputError, MeasureError, MissingExtraError, SettingError
from beir_eval.integrations.trackers import log, measure_name, retrieval_scorer, tracker_name

MEASURES = ["nDCG@10", "Precision(rel=2)@5", "MRR"]
QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(8)}
#: One judged query is missing.
GOOD = {query: {"b": 3.0, "a": 2.0, "x": 1.0} for query in list(QRELS)[:-1]}
POOR = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in list(QRELS)[:-1]}
#: q7 is missing: Precision(rel=2)@5 is 1/5 for 7 of 8 queries.
PRECISION = 7 / 40


def result_of(run=GOOD, name="step-500", **settings):
    return evaluate(QRELS, run, MEASURES, name=name, **settings)


def comparison_of():
    return compare([result_of(POOR, "base"), result_of(GOOD, "bge small")], baseline="base")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Names


@given(st.text() | st.text(alphabet="_atxwihend0123456789@(=.- "))
@example("nDCG@10")
@example("nDCG_at_10")
@example("_x40_")
@example("__x")
@example("_at_x5f_")
@example("10th\u0664")
def test_a_name_is_legal_everywhere_and_maps_back_to_itself(name):
    legal = tracker_name(name)
    assert measure_name(legal) == name
    assert not name or (legal.isascii() and legal.isidentifier())
    if name:
        _validate_metric_name(legal)


def test_the_names_of_measures_stay_readable():
    assert [tracker_name(name) for name in MEASURES] == [
        "nDCG_at_10",
        "Precision_with_rel_is_2_end__at_5",
        "MRR",
    ]
    assert tracker_name("faithfulness_score") == "faithfulness_score"


def test_a_name_that_was_not_made_here_is_refused():
    with pytest.raises(SettingError, match=r"'nDCG@10' is not a name .* 'nDCG_at_10'"):
        measure_name("nDCG@10")


# MLflow


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.create_experiment("beir", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("beir")
    return mlflow.MlflowClient()


def artifact(store, run_id, path, tmp_path):
    return Path(store.download_artifacts(run_id, path, str(tmp_path)))


def test_mlflow_holds_means_counts_settings_and_the_step_of_the_name(store, tmp_path):
    result = result_of()
    with mlflow.start_run() as run:
        log(result, to="mlflow")
    data = store.get_run(run.info.run_id).data
    assert data.metrics == {
        "nDCG_at_10": 7 / 8,
        "Precision_with_rel_is_2_end__at_5": pytest.approx(PRECISION, rel=1e-15),
        "MRR": 7 / 8,
        "counts/queries": 8,
        "counts/queries_judged": 8,
        "counts/queries_missing": 1,
    }
    assert {
        measure_name(name): value for name, value in data.metrics.items() if "/" not in name
    } == (result.aggregate)
    assert (data.params["settings/missing"], data.params["settings/ties"]) == ("zero", "trec_eval9")
    assert "1 of 8 judged queries are missing" in data.tags["warnings"]
    [metric] = store.get_metric_history(run.info.run_id, "MRR")
    assert metric.step == 500


def test_mlflow_holds_the_table_the_saved_result_and_the_report(store, tmp_path):
    result = result_of()
    with mlflow.start_run() as run:
        log(result, to=run)
        log(result, to=run)  # log_table alone would append
    table = mlflow.load_table("beir_eval/step-500/per_query.json", run_ids=[run.info.run_id])
    assert table["query_id"].tolist() == list(QRELS)
    assert table["Precision(rel=2)@5"].tolist() == [0.2] * 7 + [0.0]
    saved = artifact(store, run.info.run_id, "beir_eval/step-500/result.json.gz", tmp_path)
    assert EvaluationResult.load(saved) == result
    report = artifact(store, run.info.run_id, "beir_eval/step-500/report.html", tmp_path)
    assert "step-500" in report.read_text(encoding="utf-8")


def test_mlflow_holds_verdicts_intervals_and_p_of_a_comparison(store, tmp_path):
    comparison = comparison_of()
    with mlflow.start_run() as run:
        log(comparison, to="mlflow", step=3, prefix="toy")
    data = store.get_run(run.info.run_id).data
    pair = comparison.difference("MRR", "bge small")
    name = "MRR/bge_blank_small/base"
    logged = {
        key: data.metrics[f"toy/comparison/differences/{name}/{key}"]
        for key in ("difference", "low", "high", "p", "p_corrected", "queries")
    }
    assert logged == {
        "difference": pair.difference,
        "low": pair.low,
        "high": pair.high,
        "p": pair.p,
        "p_corrected": pair.p_corrected,
        "queries": 8,
    }
    assert data.metrics["toy/comparison/means/MRR/base"] == 7 / 16
    assert data.tags[f"toy/comparison/verdicts/{name}"] == pair.verdict
    assert data.tags[f"toy/comparison/intervals/{name}"] == pair.interval
    assert data.params["toy/comparison/settings/baseline"] == "base"
    [folder] = store.list_artifacts(run.info.run_id, "beir_eval")
    saved = artifact(store, run.info.run_id, f"{folder.path}/comparison.json.gz", tmp_path)
    assert Comparison.load(saved) == comparison
    table = mlflow.load_table(f"{folder.path}/per_query.json", run_ids=[run.info.run_id])
    assert table["MRR bge small"].tolist() == [1.0] * 7 + [0.0]


def test_an_unbounded_interval_is_not_logged_as_a_number(store):
    comparison = compare(
        [
            evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, ["MRR"], name=name)
            for name, run in {
                "x": {"q": {"a": 1.0}, "r": {"a": 1.0}},
                "y": {"q": {"b": 2.0, "a": 1.0}, "r": {"b": 2.0, "a": 1.0}},
            }.items()
        ],
    )
    assert math.isinf(comparison.differences[0].low)
    with mlflow.start_run() as run:
        log(comparison, to="mlflow", files=False)
    metrics = store.get_run(run.info.run_id).data.metrics
    assert not [name for name in metrics if name.endswith(("/low", "/high"))]
    assert store.list_artifacts(run.info.run_id, "beir_eval") == []


def test_mlflow_keeps_a_mean_that_is_nan(store):
    result = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, ["MRR"], no_relevant="skip")
    with mlflow.start_run() as run:
        log(result, to="mlflow", files=False)
    metrics = store.get_run(run.info.run_id).data.metrics
    assert math.isnan(metrics["MRR"])
    assert (metrics["counts/queries"], metrics["counts/queries_scored/MRR"]) == (1, 0)


def test_results_with_other_settings_are_refused_in_one_run_of_mlflow(store):
    with mlflow.start_run():
        log(result_of(), to="mlflow", files=False)
        with pytest.raises(SettingError, match="settings/missing=zero there, skip here"):
            log(result_of(missing="skip"), to="mlflow", files=False)
        log(result_of(missing="skip"), to="mlflow", files=False, prefix="skip")


def test_many_measures_are_logged_in_parts(store):
    measures = [f"Recall@{cutoff}" for cutoff in range(1, 251)]
    with mlflow.start_run() as run:
        log(evaluate(QRELS, GOOD, measures), to="mlflow", files=False)
    metrics = store.get_run(run.info.run_id).data.metrics
    assert len([name for name in metrics if name.startswith("Recall_at_")]) == 250


def test_a_scorer_has_the_score_of_each_row_in_mlflow_genai(store):
    rows = [
        {"inputs": {"q": "1"}, "outputs": ["x", "a"], "expectations": {"relevant": ["a"]}},
        {"inputs": {"q": "2"}, "outputs": {"x": 1, "a": 2}, "expectations": {"relevant": {"a": 2}}},
        {"inputs": {"q": "3"}, "outputs": [], "expectations": {"relevant": {"a": 1}}},
    ]
    scorers = [retrieval_scorer("MRR"), retrieval_scorer("nDCG@10")]
    metrics = mlflow.genai.evaluate(data=rows, scorers=scorers).metrics
    assert metrics["MRR/mean"] == (1 / 2 + 1 + 0) / 3
    assert metrics["nDCG_at_10/mean"] == pytest.approx((1 / math.log2(3) + 1) / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("outputs", "expectations", "message"),
    [
        (["a"], {"other": ["a"]}, "must have the key 'relevant'"),
        (["a", "a"], {"relevant": ["a"]}, "listed twice"),
        ("a b", {"relevant": ["a"]}, "document ids in a list"),
    ],
)
def test_a_row_of_another_form_is_an_error(outputs, expectations, message):
    with pytest.raises(InputError, match=message):
        retrieval_scorer("MRR")(outputs=outputs, expectations=expectations)


@pytest.mark.parametrize("measure", ["num_ret", "ERR@10"])
def test_a_measure_that_is_no_mean_of_rows_has_no_scorer(measure):
    with pytest.raises(SettingError, match=r"no mean over queries|highest grade"):
        retrieval_scorer(measure)


def test_an_unknown_measure_has_no_scorer():
    with pytest.raises(MeasureError):
        retrieval_scorer("nDGC@ten")


# TensorBoard


def events(folder):
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return {
        tag: [
            (
                event.step,
                list(event.tensor_proto.float_val) or event.tensor_proto.string_val[0].decode(),
            )
            for event in accumulator.Tensors(tag)
        ]
        for tag in accumulator.Tags()["tensors"]
    }


def test_event_files_hold_a_curve_over_the_steps_and_the_tables(tmp_path):
    for run, step in ((POOR, 500), (GOOD, 1000)):
        log(result_of(run, f"step-{step}"), to=tmp_path / "events")
    logged = events(tmp_path / "events")
    assert logged["MRR"] == [(500, [7 / 16]), (1000, [7 / 8])]
    assert logged["counts/queries_missing"] == [(500, [1.0]), (1000, [1.0])]
    [(step, text)] = logged["beir_eval/step-1000"]
    assert step == 1000
    assert "| nDCG@10" in text
    assert "| settings/missing | zero |" in text


def test_a_comparison_is_logged_to_an_event_file_with_its_verdicts(tmp_path):
    writer = EventFileWriter(str(tmp_path / "events"))
    log(comparison_of(), to=writer, step=7)
    writer.close()
    logged = events(tmp_path / "events")
    assert logged["comparison/differences/MRR/bge_blank_small/base/difference"] == [(7, [7 / 16])]
    [text] = [value for name, value in logged.items() if name.startswith("beir_eval/")]
    assert "bge small" in text[0][1]


class SummaryWriter:
    """Has the methods of torch's SummaryWriter that are called."""

    def __init__(self):
        self.scalars, self.texts = {}, {}

    def add_scalar(self, tag, value, global_step=None):
        self.scalars[tag] = (value, global_step)

    def add_text(self, tag, text, global_step=None):
        self.texts[tag] = (text, global_step)

    def flush(self):
        pass


def test_a_summary_writer_gets_scalars_and_text():
    writer = SummaryWriter()
    log(result_of(), to=writer)
    assert writer.scalars["nDCG_at_10"] == (7 / 8, 500)
    assert list(writer.texts) == ["beir_eval/step-500"]


# Weights & Biases


def offline_records(folder):
    """Return the records of an offline run, which another process may still be writing."""
    [path] = Path(folder).rglob("*.wandb")
    last_moment = time.monotonic() + 60
    while True:
        records = records_in(path.read_bytes())
        if any(record.HasField("exit") for record in records) or time.monotonic() > last_moment:
            return records
        time.sleep(0.1)


def records_in(data):
    """Return the complete records of a file: blocks of 32 KiB, each chunk with a header."""
    position, chunks, records = 7, b"", []
    while position + 7 <= len(data):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + 7])
        if position + 7 + length > len(data):
            break
        chunks += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # a whole record, or its last part
            record = Record()
            record.ParseFromString(chunks)
            records.append(record)
            chunks = b""
    return records


def history(folder):
    rows = [
        {
            item.key or item.nested_key[0]: json.loads(item.value_json)
            for item in record.history.item
        }
        for record in offline_records(folder)
        if record.HasField("history")
    ]
    return [row for row in rows if "counts/queries" in row or "comparison/counts/queries" in row]


@pytest.fixture
def offline(tmp_path):
    with wandb.init(
        project="beir", mode="offline", dir=tmp_path, settings=wandb.Settings(silent=True)
    ) as run:
        yield run


def test_an_offline_run_holds_every_step_even_below_that_of_the_trainer(offline, tmp_path):
    offline.log({"loss": 1.0}, step=5000)
    for run, step in ((POOR, 500), (GOOD, 1000)):
        log(result_of(run, f"step-{step}"), to="wandb")
    assert dict(offline.config)["settings/missing"] == "zero"
    assert offline.summary["warnings"].startswith("1 of 8 judged queries are missing")
    offline.finish()
    rows = history(tmp_path)
    assert [(row["beir_eval/step"], row["MRR"]) for row in rows] == [(500, 7 / 16), (1000, 7 / 8)]
    axes = {
        record.metric.name: record.metric.step_metric
        for record in offline_records(tmp_path)
        if record.HasField("metric")
    }
    assert axes["MRR"] == "beir_eval/step"
    tables = [path for path in tmp_path.rglob("*.table.json") if "step-500" in path.name]
    assert json.loads(tables[0].read_text())["data"][7] == ["q7", 0.0, 0.0, 0.0]


def test_an_offline_run_holds_an_artifact_with_the_saved_result(offline, tmp_path):
    log(result_of(), to=offline)
    offline.finish()
    artifacts = [
        record.request.log_artifact.artifact
        for record in offline_records(tmp_path)
        if record.HasField("request")
    ] + [record.artifact for record in offline_records(tmp_path) if record.HasField("artifact")]
    contents = {
        entry.path: entry.local_path
        for artifact in artifacts
        if artifact.name == "step-500-beir-eval"
        for entry in artifact.manifest.contents
    }
    assert set(contents) == {"result.json.gz", "report.html"}
    saved = gzip.decompress(Path(contents["result.json.gz"]).read_bytes())
    assert EvaluationResult.from_content(json.loads(saved), "artifact") == result_of()


def test_an_offline_run_holds_the_verdicts_of_a_comparison(offline, tmp_path):
    comparison = comparison_of()
    log(comparison, to=offline, files=False)
    pair = comparison.difference("MRR", "bge small")
    name = "MRR/bge_blank_small/base"
    assert offline.summary[f"comparison/verdicts/{name}"] == pair.verdict
    offline.finish()
    [row] = history(tmp_path)
    assert row[f"comparison/differences/{name}/p_corrected"] == pair.p_corrected


def test_results_with_other_settings_are_refused_in_one_run_of_wandb(offline):
    log(result_of(), to=offline, files=False)
    with pytest.raises(SettingError, match="settings/missing=zero there, skip here"):
        log(result_of(missing="skip"), to=offline, files=False)


# trackio


@pytest.fixture
def trackio_run(tmp_path):
    # TRACKIO_DIR is read at import; tests/trackers/conftest.py sets it.
    name = tmp_path.name
    run = trackio.init(project=name, name="run", auto_log_gpu=False, auto_log_cpu=False)
    yield run, name
    if trackio.context_vars.current_run.get() is run:
        trackio.finish()


def test_trackio_holds_means_counts_and_settings_by_step(trackio_run):
    _, project = trackio_run
    for run, step in ((POOR, 500), (GOOD, 1000)):
        log(result_of(run, f"step-{step}"), to="trackio")
    trackio.finish()
    first, second = SQLiteStorage.get_logs(project, "run")
    assert [(entry["step"], entry["MRR"]) for entry in (first, second)] == [
        (500, 7 / 16),
        (1000, 7 / 8),
    ]
    assert second["counts/queries_missing"] == 1
    assert second["per_query/step-1000"]["_value"][7] == {
        "query_id": "q7",
        **dict.fromkeys(MEASURES, 0.0),
    }
    facts = {row["name"]: row["value"] for row in second["settings/step-1000"]["_value"]}
    assert facts["settings/missing"] == "zero"
    assert SQLiteStorage.get_run_config(project, "run")["settings/ties"] == "trec_eval9"
    names = {artifact["name"] for artifact in SQLiteStorage.get_artifacts(project)}
    assert names == {"step-500-beir-eval", "step-1000-beir-eval"}


def test_trackio_holds_the_verdicts_of_a_comparison(trackio_run):
    run, project = trackio_run
    comparison = comparison_of()
    log(comparison, to=run, files=False)
    trackio.finish()
    [entry] = SQLiteStorage.get_logs(project, "run")
    [table] = [value for name, value in entry.items() if name.startswith("settings/")]
    facts = {row["name"]: row["value"] for row in table["_value"]}
    pair = comparison.difference("MRR", "bge small")
    assert facts["comparison/verdicts/MRR/bge_blank_small/base"] == pair.verdict
    assert entry["comparison/differences/MRR/bge_blank_small/base/p"] == pair.p


# Every tracker


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step-500", 500),
        ("run/checkpoint-20", 20),
        ("bm25", 0),
        ("epoch-0.5", 0),
        ("step-0.5", 0),
        ("footstep-3", 0),
    ],
)
def test_only_a_step_in_the_name_is_taken_for_a_step(name, step, tmp_path):
    log(result_of(name=name), to=tmp_path / "events")
    assert events(tmp_path / "events")["MRR"][0][0] == step


@pytest.mark.parametrize("step", [-1, 0.5, True, "5", 2**63])
def test_a_step_that_is_no_whole_number_is_refused(step, tmp_path):
    with pytest.raises(SettingError, match="step must be a whole number from 0"):
        log(result_of(), to=tmp_path, step=step)


@pytest.mark.parametrize("tracker", ["mlflow", "wandb", "trackio"])
def test_logging_without_an_active_run_says_how_to_start_it(tracker):
    with pytest.raises(SettingError, match=r"no run of .* is active; .*(start_run|init)\("):
        log(result_of(), to=tracker)


@pytest.mark.parametrize("to", ["mlfow", "logs/events", None, 3, mlflow])
def test_an_unknown_tracker_is_refused(to):
    with pytest.raises(SettingError, match="expected one of 'mlflow', 'wandb'"):
        log(result_of(), to=to)
    assert os.listdir() == []  # noqa: PTH208 - no folder was made


def test_scores_from_elsewhere_are_logged_with_that_fact(tmp_path):
    result = EvaluationResult.from_scores(
        "judge", {"faithful?": {"q": 0.5, "r": None}}, bounds=(0, 1), higher_is_better=True
    )
    log(result, to=tmp_path)
    logged = events(tmp_path)
    assert logged["faithful_x3f_"] == [(0, [0.5])]
    assert logged["counts/queries_scored/faithful_x3f_"] == [(0, [1.0])]
    assert "| settings/computed_elsewhere | True |" in logged["beir_eval/judge"][0][1]


@pytest.mark.parametrize("tracker", ["mlflow", "wandb", "trackio", "tensorboard"])
def test_a_missing_tracker_is_named_with_its_extra(tracker, monkeypatch):
    for module in list(sys.modules):
        if module.partition(".")[0] == tracker:
            monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'beir-eval\[{tracker}\]'"):
        log(result_of(), to=tracker)


def test_a_scorer_without_mlflow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.entities", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[mlflow\]'"):
        retrieval_scorer("MRR")
