"""The public package: names that exist and are documented, few imports, and examples that run."""

import doctest
import inspect
import json
import re
from dataclasses import fields
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import beir_eval
from beir_eval.core import EvaluationSettings
from beir_eval.core.saved import is_written_if_set
from beir_eval.datasets import demo
from beir_eval.measures import definitions

SOURCE = Path(beir_eval.__file__).parent
#: Files as this and earlier releases saved them: what_layout.json.
LAYOUTS = Path(__file__).parent / "support" / "layouts"


def test_every_measure_is_exported_by_its_package_and_at_the_top():
    for name, definition in definitions().items():
        assert {name} <= {*beir_eval.__all__} & {*beir_eval.measures.__all__}
        assert getattr(beir_eval, name) is getattr(beir_eval.measures, name)
        assert getattr(beir_eval, name).definition is definition


def described(function):
    """Return {argument: its description} from the section Args of a docstring."""
    sections = re.split(r"(?m)^(\w+):$", inspect.getdoc(function))
    text = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Args", "")
    return dict(re.findall(r"(?ms)^    \*{0,2}(\w+): (.+?)(?=^    \S|\Z)", text))


CALLABLES = [
    name
    for name in beir_eval.__all__
    if inspect.isfunction(getattr(beir_eval, name)) or name in {"Benchmark", "Evaluator"}
]


CLASSES = [
    name
    for name in beir_eval.__all__
    if inspect.isclass(getattr(beir_eval, name)) and not name.startswith("BeirEval")
]


@pytest.mark.parametrize("name", CALLABLES)
def test_help_describes_every_argument_in_place(name):
    function = getattr(beir_eval, name)
    descriptions = described(function)
    assert list(descriptions) == list(inspect.signature(function).parameters)
    for argument, description in descriptions.items():
        assert len(description.split()) >= 2, argument
        assert not re.match(r"(as|see|like) ", description), argument


@pytest.mark.parametrize("name", CLASSES)
def test_help_of_a_class_describes_every_argument_of_its_methods(name):
    members = inspect.getmembers(getattr(beir_eval, name), inspect.isroutine)
    for method_name, method in members:
        if method_name[0] != "_" and method.__module__.startswith("beir_eval"):
            arguments = [name for name in inspect.signature(method).parameters if name != "self"]
            assert list(described(method)) == arguments, method_name


def test_help_of_compare_runs_names_every_setting_of_an_evaluation():
    policies = described(beir_eval.compare_runs)["policies"]
    for field in fields(EvaluationSettings):
        if is_written_if_set(field):  # the judgements and the run decide
            continue
        assert f"``{field.name}``" in policies
        for choice in EvaluationSettings.CHOICES.get(field.name, ()):
            assert f'"{choice}"' in policies


@pytest.mark.parametrize("name", list(definitions()))
def test_the_example_of_every_measure_runs(name):
    function = definitions()[name].function
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    assert test.examples
    failed, _ = doctest.DocTestRunner().run(test)
    assert failed == 0


def _modules_with_examples():
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>>" in path.read_text() and path.parent.name != "measures":
            yield ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    yield from ("beir_eval.measures.names", "beir_eval.measures.registry")


@pytest.mark.parametrize("name", list(_modules_with_examples()))
def test_the_examples_in_the_code_run(name):
    module = __import__(name, fromlist=["_"])
    failed, tried = doctest.testmod(module)
    assert tried
    assert failed == 0


def test_the_bundled_data_set_is_part_of_the_package():
    assert files("beir_eval.datasets.demo").joinpath("corpus.jsonl").is_file()
    qrels = beir_eval.read_qrels(demo.FOLDER)
    assert len(qrels) == 30
    corpus = (demo.FOLDER / "corpus.jsonl").read_text().splitlines()
    assert 140 <= len(corpus) <= 200
    for run in demo.RUNS:
        assert set(beir_eval.read_run(run).query_ids) == set(qrels.query_ids)


def test_the_package_contains_the_py_typed_marker():
    assert (SOURCE / "py.typed").exists()


def test_a_public_name_that_is_gone_is_reported_unless_the_changelog_names_it(monkeypatch):
    scripts = Path(__file__).parents[1] / "scripts"
    monkeypatch.syspath_prepend(str(scripts))
    public_names = import_module("public_names")
    now = list(public_names.public_names())
    # The arguments of a function that is gone are not reported too.
    gone = [
        "beir_eval.vanished_thing",
        "beir_eval.vanished_thing(row)",
        "beir_eval.compare(vanished)",
    ]
    assert public_names.unnamed([*now, *gone], now) == [gone[2], gone[0]]


def test_stable_names_are_public_and_at_most_sixty(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "scripts"))
    public_names = import_module("public_names")
    stable, now = public_names.stable_names(), set(public_names.public_names())
    assert 30 < len(stable) <= 60
    unknown = public_names.unknown_members(stable)
    assert set(stable) - now - unknown == set()
    # A stable name that is gone is reported even if the changelog names it; its arguments too.
    without = now - {"beir_eval.evaluate", "beir_eval.compare(measures)"}
    missing = public_names.missing_names(now, without)
    assert {"beir_eval.evaluate", "beir_eval.compare(measures)"} <= set(missing)


@pytest.mark.parametrize("path", sorted(LAYOUTS.iterdir()), ids=lambda path: path.name)
def test_a_file_of_every_released_layout_is_read(path):
    kind = path.name.partition("_")[0]
    saved = {"result": beir_eval.EvaluationResult, "comparison": beir_eval.Comparison}[kind]
    content = json.loads(path.read_text())
    loaded = saved.load(path)
    assert content["schema_version"] == loaded.schema_version
    if kind == "result":
        assert loaded["nDCG@10"] == content["means"]["nDCG@10"]["value"]
    else:
        assert loaded.difference("nDCG@10", "bm25-plain").verdict == "worse"
