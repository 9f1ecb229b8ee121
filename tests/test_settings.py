"""Settings are defined once: keywords, options and saved files agree with the definition."""

import inspect
import json
from dataclasses import asdict, fields

import numpy as np
import pytest

import beir_eval
from beir_eval import Evaluator, compare, evaluate
from beir_eval.benchmark import AcrossSettings
from beir_eval.comparison import ComparisonSettings
from beir_eval.core import EvaluationSettings
from beir_eval.core.saved import is_written_if_set
from beir_eval.errors import ResultError, SettingError
from beir_eval.significance import PAIRED_TESTS, PairedTest
from command_line import run as run_command

QRELS = {f"q{number}": {"a": 1} for number in range(6)}
RUN = {query: {"x": 2.0, "a": 1.0} for query in QRELS}


@pytest.mark.parametrize("function", [evaluate, Evaluator])
def test_every_setting_of_an_evaluation_is_a_keyword_with_its_default(function):
    keywords = inspect.signature(function).parameters
    for field in fields(EvaluationSettings):
        if is_written_if_set(field):  # the judgements and the run decide
            continue
        # None: the convention of a Dataset, if there is one.
        follows_data_set = field.name == "drop_identical_ids"
        assert keywords[field.name].default == (None if follows_data_set else field.default)


@pytest.mark.parametrize("name", ["compare", "compare_runs", "compare_slices", "checkpoint_curve"])
def test_a_keyword_of_a_comparison_has_the_default_of_the_setting(name):
    keywords = inspect.signature(getattr(beir_eval, name)).parameters
    defaults = {field.name: field.default for field in fields(ComparisonSettings)}
    shared = keywords.keys() & defaults.keys()
    assert {"alpha", "margin", "on", "draws", "rng"} <= shared
    if name in {"compare", "compare_runs"}:
        # None: the default depends on the test, and on the repeats of the systems.
        defaults["correction"] = defaults["repeats"] = None
    if name == "compare_slices":
        # Slices have different queries, so no sign flip serves all of them.
        defaults["correction"] = "holm"
    for setting in shared:
        assert keywords[setting].default == defaults[setting], setting


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_every_setting_of_an_evaluation_is_an_option_that_names_its_choices(command):
    help_text = " ".join(run_command(command, "--help").output.split())
    help_text = help_text.replace("\\[", "[")  # typer 0.20 escapes brackets
    for field in fields(EvaluationSettings):
        if is_written_if_set(field):  # the judgements and the run decide
            continue
        _, option, description = help_text.partition(f" --{field.name.replace('_', '-')} ")
        assert option, field.name
        if choices := EvaluationSettings.CHOICES.get(field.name):
            assert f"One of: {', '.join(choices)}. [default: {field.default}]" in description


@pytest.mark.parametrize("field", fields(EvaluationSettings), ids=lambda field: field.name)
def test_an_unknown_value_is_refused_with_the_name_of_the_setting(field):
    with pytest.raises(SettingError, match=field.name):
        EvaluationSettings(**{field.name: "nothing"})
    if not is_written_if_set(field):  # the judgements and the run decide
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
        ({"test": "none of them"}, "test="),
        ({"correction": "bonferoni"}, "correction="),
        ({"correction": "max-t", "test": "t"}, "permutation"),
    ],
)
def test_wrong_settings_of_a_comparison_are_refused(wrong, problem):
    with pytest.raises(SettingError, match=problem):
        ComparisonSettings(**wrong)


def test_wrong_settings_of_a_comparison_across_data_sets_are_refused():
    valid = {"hierarchical": False, "correction": "holm", "on": "error"}
    valid |= {"alpha": 0.05, "draws": 10, "rng": 0}
    assert asdict(AcrossSettings(**valid)) == valid
    for change in (
        {"alpha": 1},
        {"draws": 0},
        {"rng": -1},
        {"on": "union"},
        {"hierarchical": "no"},
        {"hierarchical": None},
    ):
        with pytest.raises(SettingError, match=next(iter(change))):
            AcrossSettings(**valid | change)


def test_numpy_numbers_in_settings_are_stored_as_plain_numbers(tmp_path):
    results = {name: evaluate(QRELS, RUN, "MRR", name=name) for name in "ab"}
    numbers = {"alpha": np.float32(0.25), "draws": np.int32(100), "rng": np.int64(3)}
    comparison = compare(results, margin=np.float32(0.0625), **numbers)
    across_settings = AcrossSettings(hierarchical=False, correction="holm", on="error", **numbers)
    for settings in (comparison.settings, across_settings):
        types = {type(value) for value in asdict(settings).values() if value not in (None, ())}
        assert types <= {str, float, int, bool}
    comparison.save(tmp_path / "c.json")
    assert beir_eval.Comparison.load(tmp_path / "c.json").settings == comparison.settings


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
    """Return one record of each class that is saved with its settings."""
    better_run = {query: {"a": 1.0} for query in QRELS}
    results = {
        name: evaluate(QRELS, run, "MRR", name=name)
        for name, run in {"step 1": RUN, "step 2": better_run}.items()
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
def test_a_file_loads_without_the_settings_that_have_their_default(tmp_path, record):
    path = tmp_path / "record.json"
    record.save(path)
    content = json.loads(path.read_text())
    for field in fields(record.settings):
        value = getattr(record.settings, field.name)
        assert (field.name in content["settings"]) is not is_written_if_set(field)
        if value == field.default:
            content["settings"].pop(field.name, None)
    (tmp_path / "changed.json").write_text(json.dumps(content))
    assert type(record).load(tmp_path / "changed.json") == record


@pytest.mark.parametrize("name", PAIRED_TESTS)
def test_every_listed_test_is_offered_by_compare_and_named_in_its_notes(name):
    results = {
        "a": evaluate(QRELS, RUN, "MRR", name="a"),
        "b": evaluate(QRELS, {query: {"a": 1.0} for query in QRELS}, "MRR", name="b"),
    }
    comparison = compare(results, baseline="a", test=name)
    method = PAIRED_TESTS[name]
    differences = comparison.scores["MRR"].array[1] - comparison.scores["MRR"].array[0]
    expected = method.test_differences(differences, draws=100_000, rng=0)
    assert isinstance(expected, PairedTest)
    assert comparison.difference("MRR", "b").p == expected.p
    assert any(f"; {method.label}" in note for note in comparison.notes())
    assert name in run_command("compare", "--help").output
