"""Settings stand in one place: keywords, options and saved files agree with it."""

import inspect
import json
from dataclasses import asdict, fields

import numpy as np
import pytest
from typer.testing import CliRunner

import beir_eval
from beir_eval import Evaluator, compare, evaluate
from beir_eval.benchmark import AcrossSettings
from beir_eval.cli.app import app
from beir_eval.comparison import ComparisonSettings
from beir_eval.core import EvaluationSettings
from beir_eval.errors import ResultError, SettingError
from beir_eval.significance import PAIRED_TESTS, PairedTest

QRELS = {f"q{number}": {"a": 1} for number in range(6)}
RUN = {query: {"x": 2.0, "a": 1.0} for query in QRELS}


@pytest.mark.parametrize("function", [evaluate, Evaluator])
def test_every_setting_of_an_evaluation_is_a_keyword_with_its_default(function):
    keywords = inspect.signature(function).parameters
    for field in fields(EvaluationSettings):
        assert keywords[field.name].default == field.default


@pytest.mark.parametrize("name", ["compare", "compare_runs", "compare_slices", "checkpoint_curve"])
def test_a_keyword_of_a_comparison_has_the_default_of_the_setting(name):
    keywords = inspect.signature(getattr(beir_eval, name)).parameters
    defaults = {field.name: field.default for field in fields(ComparisonSettings)}
    shared = keywords.keys() & defaults.keys()
    assert {"alpha", "margin", "on", "draws", "rng"} <= shared
    for setting in shared:
        # None: it depends on whether there is a baseline.
        assert keywords[setting].default in (defaults[setting], None)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_every_setting_of_an_evaluation_is_an_option_that_names_its_choices(command):
    shown = " ".join(CliRunner().invoke(app, [command, "--help"]).output.split())
    shown = shown.replace("\\[", "[")  # as typer 0.20 writes it
    for field in fields(EvaluationSettings):
        _, option, rest = shown.partition(f" --{field.name.replace('_', '-')} ")
        assert option, field.name
        if choices := EvaluationSettings.CHOICES.get(field.name):
            assert f"One of: {', '.join(choices)}. [default: {field.default}]" in rest


@pytest.mark.parametrize("field", fields(EvaluationSettings), ids=lambda field: field.name)
def test_a_value_that_does_not_exist_is_refused_and_names_the_setting(field):
    with pytest.raises(SettingError, match=field.name):
        EvaluationSettings(**{field.name: "nothing"})
    with pytest.raises(SettingError, match=field.name):
        evaluate(QRELS, RUN, **{field.name: "nothing"})


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"margin": -1}, "margin"),
        ({"draws": 0}, "draws"),
        ({"rng": None}, "rng"),
        ({"on": "union"}, "on="),
        ({"test": "z"}, "test="),
        ({"correction": "bonferoni"}, "correction="),
        ({"correction": "max-t", "test": "t"}, "permutation"),
        ({"correction": "tukey", "test": "t"}, "permutation"),
    ],
)
def test_wrong_settings_of_a_comparison_are_refused(wrong, problem):
    with pytest.raises(SettingError, match=problem):
        ComparisonSettings(**wrong)


def test_settings_of_a_comparison_over_data_sets_are_checked_alike():
    right = {"hierarchical": False, "correction": "holm", "on": "error"}
    right |= {"alpha": 0.05, "draws": 10, "rng": 0}
    assert asdict(AcrossSettings(**right)) == right
    for wrong in (
        {"alpha": 1},
        {"draws": 0},
        {"rng": -1},
        {"on": "union"},
        {"hierarchical": "no"},
        {"hierarchical": None},
    ):
        with pytest.raises(SettingError, match=next(iter(wrong))):
            AcrossSettings(**right | wrong)


def test_numbers_of_numpy_are_kept_as_plain_ones_that_a_file_takes(tmp_path):
    results = {name: evaluate(QRELS, RUN, "MRR", name=name) for name in "ab"}
    numbers = {"alpha": np.float32(0.25), "draws": np.int32(100), "rng": np.int64(3)}
    found = compare(results, margin=np.float32(0.5), **numbers)
    several = AcrossSettings(hierarchical=False, correction="holm", on="error", **numbers)
    for settings in (found.settings, several):
        kinds = {type(value) for value in asdict(settings).values()}
        assert kinds <= {str, float, int, bool}
    found.save(tmp_path / "c.json")
    assert beir_eval.Comparison.load(tmp_path / "c.json").settings == found.settings


@pytest.mark.parametrize("change", [{"ties": "random"}, {"novel": 1}, {"order": None}])
def test_a_saved_result_with_unknown_settings_is_refused(tmp_path, change):
    path = tmp_path / "result.json"
    evaluate(QRELS, RUN, "MRR").save(path)
    content = json.loads(path.read_text())
    content["settings"] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=f"settings.*{next(iter(change))}|{next(iter(change))}"):
        beir_eval.EvaluationResult.load(path)


def saved_records():
    """Return a record of each kind that states its settings."""
    better = {query: {"a": 1.0} for query in QRELS}
    results = {
        name: evaluate(QRELS, run, "MRR", name=name)
        for name, run in {"step 1": RUN, "step 2": better}.items()
    }
    by_dataset = {name: {"one": result, "two": result} for name, result in results.items()}
    return [
        results["step 1"],
        compare(results),
        beir_eval.compare_slices(results, dict.fromkeys(QRELS, "all")),
        beir_eval.checkpoint_curve(results),
        beir_eval.compare_benchmark(by_dataset, measure="MRR"),
    ]


@pytest.mark.parametrize("record", saved_records(), ids=lambda record: type(record).__name__)
def test_a_saved_file_that_lacks_a_setting_is_refused(tmp_path, record):
    path = tmp_path / "record.json"
    record.save(path)
    for field in fields(record.settings):
        content = json.loads(path.read_text())
        del content["settings"][field.name]
        (tmp_path / "changed.json").write_text(json.dumps(content))
        with pytest.raises(ResultError, match=field.name):
            type(record).load(tmp_path / "changed.json")
    assert type(record).load(path) == record


@pytest.mark.parametrize("name", PAIRED_TESTS)
def test_every_listed_test_is_offered_by_compare_and_named_in_its_notes(name):
    results = {
        "a": evaluate(QRELS, RUN, "MRR", name="a"),
        "b": evaluate(QRELS, {query: {"a": 1.0} for query in QRELS}, "MRR", name="b"),
    }
    found = compare(results, "a", test=name)
    method = PAIRED_TESTS[name]
    differences = found.scores["MRR"].array[1] - found.scores["MRR"].array[0]
    tested = method.test_differences(differences, draws=100_000, rng=0)
    assert isinstance(tested, PairedTest)
    assert found.difference("MRR", "b").p == tested.p
    assert f"; {method.label}; " in found.notes()[0]
    assert name in CliRunner().invoke(app, ["compare", "--help"]).output
