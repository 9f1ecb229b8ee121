"""The packages: the modules they contain, import and export."""

import ast
import importlib
import importlib.util
import pickle
import pkgutil
import subprocess
import sys
import tempfile
import typing
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import cloudpickle
import pytest

import beir_eval
from beir_eval.datasets import demo

SOURCE = Path(beir_eval.__file__).parent
MODULES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
#: Hosts, and the packages without which their modules cannot be imported.
HOSTS = {
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "sentence_transformers": "sentence_transformers",
    "spark": "pyspark",
}
#: Modules of the hosts that this environment does not have.
NOT_INSTALLED = tuple(
    f"beir_eval.integrations.{host}."
    for host, package in HOSTS.items()
    if importlib.util.find_spec(package) is None
)
PACKAGES = sorted(name for name, path in MODULES.items() if path.name == "__init__.py")

QRELS = {f"q{number}": {"a": 1} for number in range(6)}
GOOD = {query: {"a": 2.0, "x": 1.0} for query in QRELS}
POOR = {query: {"a": 1.0, "x": 2.0} for query in QRELS}


def test_the_top_folder_has_few_entries_and_two_private_modules():
    assert len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]) <= 18
    private = {path.name for path in MODULES.values() if path.name[0] == "_" != path.name[1]}
    assert private == {"_version.py", "_trec_eval_names.py"}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_docstring_of_a_package_names_its_modules_and_says_what_is_public(package):
    docstring = importlib.import_module(package).__doc__
    modules = {name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == package}
    unlisted = {"__main__", "_version"}
    assert {name for name in modules - unlisted if f"``{name}``" not in docstring} == set()
    assert "public" in docstring.lower()


def test_the_tests_of_a_package_are_in_the_folder_of_the_same_name():
    tests = Path(__file__).parent
    packages = {path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py")}
    packages -= {Path(), Path("datasets/demo")}  # the second holds data only
    packages -= {Path("integrations/langchain"), Path("integrations/llama_index")}  # tests/hosts
    packages -= {Path("integrations/trackers")}  # tests/trackers
    untested = {
        package
        for package in packages
        if not any((tests / package).glob("test_*.py"))
        and not (tests / package).with_name(f"test_{package.name}.py").exists()
        and not (tests / "hosts" / f"test_{package.name}.py").exists()
    }
    assert untested == set()
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    no_package = {"against", "docs", "fuzz", "haystack_integrations", "hosts", "spark", "trackers"}
    others = {folder for folder in folders if not {*folder.parts[:1]} & no_package}
    assert others <= packages | {Path()}


def imports_of(module):
    """Yield (module, name or None) for each import, be it immediate, in a function or lazy."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.Import):
                yield from ((alias.name, None) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                origin = importlib.util.resolve_name(
                    "." * child.level + (child.module or ""), package
                )
                yield from ((origin, alias.name) for alias in child.names)
            elif isinstance(child, ast.Call) and ast.unparse(child.func) in IMPORTERS:
                texts = [
                    constant.value
                    for constant in ast.walk(child)
                    if isinstance(constant, ast.Constant)
                ]
                yield from ((text, None) for text in texts if text in MODULES)
            yield from walk(child)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")))


#: Functions that import the modules named in their arguments.
IMPORTERS = ("lazy_exports", "import_module", "importlib.import_module", "__import__")


def test_no_imports_form_a_cycle():
    graph = {}
    for module in MODULES:
        targets = {
            f"{origin}.{name}" if f"{origin}.{name}" in MODULES else origin
            for origin, name in imports_of(module)
        }
        graph[module] = targets & MODULES.keys()
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


def test_no_class_has_exactly_one_subclass():
    """A base class with a single subclass is merged into it; error classes are exempt."""
    classes = [
        node
        for path in MODULES.values()
        if path.name != "errors.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    subclasses = {node.name: [] for node in classes}
    for node in classes:
        for base in node.bases:
            name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
            subclasses.get(name, []).append(node.name)
    assert {
        name: subclass_names
        for name, subclass_names in subclasses.items()
        if len(subclass_names) == 1
    } == {}


def test_modules_import_only_modules_from_the_top_package():
    imports = [
        (module, name)
        for module in MODULES
        for origin, name in imports_of(module)
        if origin == "beir_eval" and f"beir_eval.{name}" not in MODULES
    ]
    assert imports == []


def test_a_package_exports_lazily_from_its_own_modules_only():
    for package in PACKAGES[1:]:
        tree = ast.parse(MODULES[package].read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "lazy_exports":
                origins = ast.literal_eval(call.args[1])
                assert all(origin.startswith(f"{package}.") for origin in origins.values())


@pytest.fixture(scope="module")
def every_module():
    """Import all modules of the package: none may replace an exported name."""
    return [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages([str(SOURCE)], "beir_eval.")
        if not module.name.endswith("__main__") and not module.name.startswith(NOT_INSTALLED)
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_an_exported_name_is_no_module_even_at_the_second_access(package, every_module):
    assert every_module
    exporter = importlib.import_module(package)
    if f"{package}.".startswith(NOT_INSTALLED):
        return
    for name in getattr(exporter, "__all__", ()):
        first, second = getattr(exporter, name), getattr(exporter, name)
        assert first is second
        assert not isinstance(first, ModuleType), f"{package}.{name}"
        assert name in dir(exporter)


def score_table():
    """Return the path of a new score table."""
    path = Path(tempfile.mkdtemp()) / "scores.parquet"
    beir_eval.evaluate_stream(demo.FOLDER, demo.RUNS[0], "MRR", table=path)
    return path


def calls_by_name():
    """Return {name of a public function: a function that calls it with valid arguments}."""
    results = {name: beir_eval.evaluate(QRELS, run, ["MRR"], name=name) for name, run in RUNS}
    comparison = beir_eval.compare(results, "step 1", draws=100)
    answers = {"who?": ["she"]}
    return {
        "agree": lambda f: f(GOOD, POOR),
        "assert_no_regression": lambda f: f(results["step 2"], results["step 1"], "MRR"),
        "audit_claim": lambda f: f(10, "1.00", "0.70"),
        "check_gate": lambda f: f(comparison, ["MRR"]),
        "checkpoint_curve": lambda f: f(results, draws=100),
        "compare": lambda f: f(results, draws=100),
        "compare_benchmark": lambda f: f(
            {name: {"one": result, "two": result} for name, result in results.items()},
            measure="MRR",
            draws=100,
        ),
        "compare_runs": lambda f: f(QRELS, dict(RUNS), ["MRR"], draws=100),
        "compare_slices": lambda f: f(results, dict.fromkeys(QRELS, "all"), "step 1", draws=100),
        "evaluate": lambda f: f(QRELS, GOOD),
        "evaluate_answers": lambda f: f(answers, answers),
        "evaluate_stream": lambda f: f(demo.FOLDER, demo.RUNS[0], "MRR"),
        "experiment_power": lambda f: f(QRELS),
        "judge_until": lambda f: f(QRELS, lambda _query: 0.1),
        "load_dataset": lambda f: f(demo.FOLDER),
        "parse": lambda f: f("nDCG@10"),
        "qrels_from_votes": lambda f: f([("q", "a", 1)]),
        "rank_eval_request": lambda f: f(
            QRELS, {query: {} for query in QRELS}, index="i", metric={}
        ),
        "read_qrels": lambda f: f(demo.FOLDER),
        "read_run": lambda f: f(demo.RUNS[0]),
        "read_score_table": lambda f: f(score_table()),
        "run_from_responses": lambda f: f({"q1": [("a", 1.0)]}),
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
    return set(
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def haystack_files(modules):
    """Return the names of these modules within ``integrations.haystack``, others left out."""
    package = "beir_eval.integrations.haystack."
    return {name.removeprefix(package) for name in modules if name.startswith(package)}


def test_reading_haystack_documents_loads_neither_haystack_nor_the_pipeline_runner():
    package = "beir_eval.integrations.haystack"
    loaded = loaded_by(f"import {package}.documents, {package}.haystack_rules")
    assert "haystack" not in loaded
    assert haystack_files(loaded) == {"documents", "haystack_rules"}


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
result = Benchmark({{"demo": demo.FOLDER}}, systems, {str(tmp_path)!r}, measures="MRR").run()
assert not result.failures, result.failures
"""
    assert haystack_files(loaded_by(code)) == set()


def test_functions_that_use_a_package_can_be_sent_to_other_processes():
    assert pickle.loads(pickle.dumps(beir_eval)) is beir_eval  # noqa: S301 - made here
    assert pickle.loads(pickle.dumps(beir_eval.comparison)) is beir_eval.comparison  # noqa: S301
    scope = {"beir_eval": beir_eval}
    exec("def score(run): return beir_eval.evaluate(QRELS, run, 'MRR')['MRR']", scope)  # noqa: S102
    scope["QRELS"] = QRELS
    code = f"import pickle; print(pickle.loads({cloudpickle.dumps(scope['score'])!r})({POOR!r}))"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "0.5\n"


def test_the_type_hints_of_a_package_with_lazy_exports_can_be_resolved():
    assert typing.get_type_hints(beir_eval) == {}


def test_tqdm_is_not_loaded_unless_a_bar_is_drawn():
    code = "from beir_eval.display.progress import progress_bar\nwith progress_bar(total=1): pass"
    assert "tqdm" not in loaded_by(f"import beir_eval.display, beir_eval.cli.app\n{code}")
