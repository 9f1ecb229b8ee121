"""The packages: what they export, load and pass to other processes."""

import importlib
import importlib.util
import pkgutil
import typing
from pathlib import Path
from types import ModuleType

import cloudpickle
import pytest

import beir_eval
from beir_eval import Run, write_qrels, write_run
from beir_eval.datasets import demo
from processes import python

SOURCE = Path(beir_eval.__file__).parent
#: Hosts, and the packages without which their modules cannot be imported.
HOSTS = {
    "sentence_transformers": "sentence_transformers",
    "spark": "pyspark",
}
#: Modules of the hosts that this environment does not have.
NOT_INSTALLED = tuple(
    f"beir_eval.integrations.{host}."
    for host, package in HOSTS.items()
    if importlib.util.find_spec(package) is None
)
#: The packages with exports that can be imported here.
EXPORTERS = sorted(
    name
    for path in SOURCE.rglob("__init__.py")
    for name in [".".join(path.parent.relative_to(SOURCE.parent).parts)]
    if "\n__all__ = " in path.read_text(encoding="utf-8")
    and not f"{name}.".startswith(NOT_INSTALLED)
)

QRELS = {f"q{number}": {"a": 1} for number in range(6)}
GOOD = {query: {"a": 2.0, "x": 1.0} for query in QRELS}
POOR = {query: {"a": 1.0, "x": 2.0} for query in QRELS}


@pytest.fixture(scope="module")
def every_module():
    """Import all modules of the package: none may replace an exported name."""
    return [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages([str(SOURCE)], "beir_eval.")
        if not module.name.endswith("__main__") and not module.name.startswith(NOT_INSTALLED)
    ]


@pytest.mark.parametrize("package", EXPORTERS)
def test_an_exported_name_is_listed_once_and_no_module_even_at_the_second_access(
    package, every_module
):
    assert every_module
    exporter = importlib.import_module(package)
    assert len(set(exporter.__all__)) == len(exporter.__all__)
    for name in exporter.__all__:
        first, second = getattr(exporter, name), getattr(exporter, name)
        assert first is second
        assert not isinstance(first, ModuleType), f"{package}.{name}"
        assert name in dir(exporter)


def calls_by_name():
    """Return {name of a public function: a function that calls it with valid arguments}."""
    results = {name: beir_eval.evaluate(QRELS, run, ["MRR"], name=name) for name, run in RUNS}
    comparison = beir_eval.compare(results, baseline="step 1", draws=100)
    queries = [f"q{number}" for number in range(30)]
    candidates = {
        name: beir_eval.evaluate(
            {query: ["a"] for query in queries},
            {query: {"a": 1.0} for query in queries},
            "MRR",
            name=name,
        )
        for name in ("base", "x", "y")
    }
    return {
        "assert_no_regression": lambda f: f(results["step 2"], results["step 1"], "MRR"),
        "check_gate": lambda f: f(comparison, ["MRR"]),
        "checkpoint_curve": lambda f: f(results, draws=100),
        "choose": lambda f: f(candidates, "base", "MRR", draws=100),
        "compare": lambda f: f(results, draws=100),
        "compare_benchmark": lambda f: f(
            {name: {"one": result, "two": result} for name, result in results.items()},
            measure="MRR",
            draws=100,
        ),
        "compare_runs": lambda f: f(QRELS, dict(RUNS), ["MRR"], draws=100),
        "compare_slices": lambda f: f(
            results, dict.fromkeys(QRELS, "all"), baseline="step 1", draws=100
        ),
        "evaluate": lambda f: f(QRELS, GOOD),
        "evaluate_stages": lambda f: f(QRELS, dict(RUNS), "MRR", draws=100),
        "fuse": lambda f: f(dict(RUNS)),
        "fusion_grid": lambda f: f(dict(RUNS)),
        "load_dataset": lambda f: f(demo.FOLDER),
        "parse": lambda f: f("nDCG@10"),
        "read_qrels": lambda f: f(demo.FOLDER),
        "read_run": lambda f: f(demo.RUNS[0]),
        "validate": lambda f: f(QRELS, GOOD),
        "write_qrels": lambda f: f(beir_eval.Qrels(QRELS), "qrels.trec"),
        "write_report": lambda f: f("report.html", results["step 1"]),
        "write_run": lambda f: f(GOOD, "run.trec"),
    }


RUNS = (("step 1", POOR), ("step 2", GOOD))
FUNCTIONS = [
    name
    for name in beir_eval.__all__
    if callable(getattr(beir_eval, name))
    and not isinstance(getattr(beir_eval, name), type | beir_eval.Measure)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_can_be_called_twice(name, every_module, tmp_path, monkeypatch):
    assert every_module
    monkeypatch.chdir(tmp_path)
    call = calls_by_name()[name]
    for _ in range(2):
        call(getattr(beir_eval, name))


def loaded_by(code):
    """Return the names of the modules that a new process has loaded after running this code."""
    script = f"{code}\nimport sys\nprint(*(name for name, module in sys.modules.items() if module))"
    return set(python("-c", script).stdout.split())


def test_importing_loads_no_other_package():
    assert not {"numpy", "pydantic"} & loaded_by("import beir_eval")


def test_an_evaluation_loads_numpy_and_pydantic_only():
    loaded = loaded_by("import beir_eval; beir_eval.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}})")
    assert {"numpy", "pydantic"} <= loaded
    not_wanted = {"polars", "pandas", "scipy", "typer", "rich", "tqdm", "torch", "haystack", "beir"}
    assert not not_wanted & loaded


#: What a comparison of two run files does not use, and what takes long to import.
NOT_OF_A_COMPARISON = {
    "beir_eval.benchmark",
    "beir_eval.integrations",
    "beir_eval.report",
    "beir_eval.spans",
    "datasets",
    "duckdb",
    "haystack",
    "httpx",
    "jinja2",
    "pandas",
    "pyarrow",
    "pyspark",
    "scipy.optimize",
    "scipy.stats",
    "torch",
    "tqdm",
    "xml.etree",
}
COMMAND = """
import io, runpy, sys
sys.argv = ["beir-eval", *{arguments!r}]
printed, sys.stdout = sys.stdout, io.StringIO()
try:
    runpy.run_module("beir_eval", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
text, sys.stdout = sys.stdout.getvalue(), printed
assert {verdict!r} in text, text
"""


def files_of_runs_that_are_alike(folder):
    """Return the paths of judgements and of two runs whose scores vary much and differ little."""
    files = [folder / name for name in ("qrels.trec", "even.trec", "odd.trec")]
    write_qrels({f"q{number}": ["a"] for number in range(61)}, files[0])
    for first, path in enumerate(files[1:]):
        rankings = {f"q{n}": [*("ax" if n % 2 == first else "xa")] for n in range(61)}
        write_run(Run.from_rankings(rankings), path)
    return files


@pytest.mark.parametrize("verdict", ["worse", "undecided"])
def test_the_command_compare_loads_only_what_it_uses(verdict, tmp_path):
    files = [demo.FOLDER, *demo.RUNS]
    if verdict == "undecided":
        files = files_of_runs_that_are_alike(tmp_path)
    arguments = ["compare", *map(str, files), "-m", "nDCG@10"]
    loaded = loaded_by(COMMAND.format(arguments=arguments, verdict=verdict))
    assert (NOT_OF_A_COMPARISON | {"scipy"}) & loaded == set()


def haystack_files(modules):
    """Return the names of these modules within ``integrations.haystack``, others left out."""
    package = "beir_eval.integrations.haystack."
    return {name.removeprefix(package) for name in modules if name.startswith(package)}


@pytest.mark.slow
def test_the_component_does_not_load_the_pipeline_runner():
    loaded = loaded_by("import haystack_integrations.components.evaluators.beir_eval")
    assert "haystack" in loaded
    assert haystack_files(loaded) == {"documents", "haystack_rules"}


def test_a_benchmark_runs_where_haystack_is_not_installed(tmp_path):
    code = f"""
import sys
sys.modules["haystack"] = None
from beir_eval import Benchmark
from beir_eval.datasets import demo
systems = {{"file": demo.RUNS[0], "empty": lambda queries, corpus: {{q: {{}} for q in queries}}}}
result = Benchmark({{"demo": demo.FOLDER}}, systems, "MRR", folder={str(tmp_path)!r}).run()
assert not result.failures, result.failures
"""
    assert haystack_files(loaded_by(code)) == set()


def test_functions_that_use_a_package_can_be_sent_to_other_processes():
    scope = {"beir_eval": beir_eval}
    exec("def score(run): return beir_eval.evaluate(QRELS, run, 'MRR')['MRR']", scope)  # noqa: S102
    scope["QRELS"] = QRELS
    code = f"import pickle; print(pickle.loads({cloudpickle.dumps(scope['score'])!r})({POOR!r}))"
    process = python("-c", code)
    assert process.stdout == "0.5\n"


def test_the_type_hints_of_a_package_with_lazy_exports_can_be_resolved():
    assert typing.get_type_hints(beir_eval) == {}


def test_tqdm_is_not_loaded_unless_a_bar_is_drawn():
    code = "from beir_eval.core.progress import progress_bar\nwith progress_bar(total=1): pass"
    assert "tqdm" not in loaded_by(f"import beir_eval.display, beir_eval.cli.app\n{code}")
