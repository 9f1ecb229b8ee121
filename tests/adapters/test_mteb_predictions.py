"""MTEB's predictions are read as runs, and its results, which hold means only, are refused."""

import gzip
import json

import pytest

from beir_eval import Qrels, read_run
from beir_eval.adapters import read_mteb_predictions
from beir_eval.benchmark import Benchmark
from beir_eval.errors import FileFormatError
from command_line import run

META = {"model_name": "m", "revision": "1"}
RUN = {"q1": {"d1": 0.5, "d2": 0.25}, "q2": {"d1": -1.0}}
OTHER = {"q1": {"d9": 3.0}}


def write_predictions(path, **subsets):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mteb_model_meta": META, **subsets}))
    return path


def test_predictions_of_one_split_are_a_run(tmp_path):
    path = write_predictions(tmp_path / "T_predictions.json", default={"test": RUN})
    assert read_run(path).as_dict() == RUN
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_run(packed).as_dict() == RUN


def test_predictions_of_several_splits_are_several_runs(tmp_path):
    path = write_predictions(
        tmp_path / "T_predictions.json", eng={"test": RUN, "dev": OTHER}, deu={"test": OTHER}
    )
    runs = read_mteb_predictions(path)
    assert {name: run.as_dict() for name, run in runs.items()} == {
        "eng/test": RUN,
        "eng/dev": OTHER,
        "deu/test": OTHER,
    }
    with pytest.raises(FileFormatError, match=r"3 splits .*read_mteb_predictions\(path\)\['eng/te"):
        read_run(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"q1": {"d1": 1}}, "no predictions of MTEB: there is no 'mteb_model_meta'"),
        ([1], "no predictions of MTEB"),
        ({"mteb_model_meta": META}, "without a split"),
        ({"mteb_model_meta": META, "default": [1]}, "of 'default' must be .*, not a list"),
        ({"mteb_model_meta": META, "default": {"test": 3}}, "expected .*, found a number"),
        ({"mteb_model_meta": META, "default": {"test": {"q": {"d": "x"}}}}, "a finite number"),
    ],
)
def test_other_content_is_refused_with_the_file_and_what_is_wrong(tmp_path, content, problem):
    path = tmp_path / "T_predictions.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=problem) as raised:
        read_mteb_predictions(path)
    assert str(path) in str(raised.value)


def test_a_result_of_mteb_is_refused_as_a_run_and_the_remedy_is_named(tmp_path):
    path = tmp_path / "T.json"
    scores = {"test": [{"ndcg_at_10": 0.5, "hf_subset": "default"}]}
    content = {"task_name": "T", "mteb_version": "2.26.24", "scores": scores}
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=r"means without the scores .*prediction_folder="):
        read_run(path)


def test_a_benchmark_finds_the_predictions_of_the_task_of_its_data_set(tmp_path):
    for model in ("m1", "m2"):
        write_predictions(tmp_path / model / "FiQA2018_predictions.json", default={"test": RUN})
    write_predictions(tmp_path / "m1" / "tickets_predictions.json", default={"test": OTHER})
    result = Benchmark(
        {"fiqa": Qrels({"q1": {"d1": 1}}), "tickets": Qrels({"q1": {"d9": 1}})},
        {name: tmp_path / name for name in ("m1", "m2")},
        folder=tmp_path / "out",
        measures=["MRR"],
    ).run()
    assert result.score("m1", "fiqa", "MRR") == result.score("m2", "fiqa", "MRR") == 1
    assert result.score("m1", "tickets", "MRR") == 1
    assert "no run file for tickets" in result.failures["m2"]["tickets"]


def test_systems_of_a_comparison_have_the_names_of_the_models(tmp_path):
    qrels = tmp_path / "qrels.trec"
    qrels.write_text("q1 0 d1 1\nq2 0 d1 1\n")
    paths = [
        write_predictions(tmp_path / model / "T_predictions.json", default={"test": run})
        for model, run in (("e5", RUN), ("bge", OTHER | {"q2": {"d1": 1.0}}))
    ]
    printed = run("compare", qrels, *paths, "-m", "MRR")
    assert printed.exit_code == 0
    assert "e5" in printed.stdout
    assert "bge" in printed.stdout
    assert "T_predictions" not in printed.stdout
