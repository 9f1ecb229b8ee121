"""scripts/check_style.py reports a breach of each of its rules, with file and line."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_style.py"
PACKAGE = "src/beir_eval"
#: A folder without any problem.
FILES = {
    f"{PACKAGE}/__init__.py": "",
    f"{PACKAGE}/_version.py": "",
    f"{PACKAGE}/errors.py": "",
    f"{PACKAGE}/core/__init__.py": "",
    f"{PACKAGE}/core/run.py": "def rankings(): pass\n",
    "tests/core/test_run.py": "",
    "CONTRIBUTING.md": "# The layout\n\n    errors, _version   the lowest\n    core   arrays\n",
    "pyproject.toml": '[[tool.importlinter.contracts]]\nlayers = ["core", "errors | _version"]\n',
}
#: Every way to give a name.
VAGUE = """\
one = 1
ones: int = 1
first, *found = []
self.place = 1
(places := 1)
for asked in []: pass
[0 for said in []]
with file as told: pass
def f(thing): pass
def f(*one): pass
def f(*, one): pass
lambda one: 0
def one(): pass
async def one(): pass
class one: pass
import module as one
from module import name as one
try: pass
except Error as one: pass
match 1:
  case one: pass
  case [*one]: pass
  case {**one}: pass
  case {"key": _one_}: pass
"""


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that writes files beside those without a problem and checks the folder."""
    spec = importlib.util.spec_from_file_location("check_style", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def run(files):
        for name, text in (FILES | files).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        status = script.main([str(tmp_path)])
        lines = capsys.readouterr().out.splitlines()
        assert status == bool(lines)
        return lines

    return run


def test_a_folder_without_a_problem_passes(check):
    code = "one_query = {}\nprint(one, thing.found, place=1)\ndel told\n"
    assert check({"tests/core/test_other.py": code, f"{PACKAGE}/core/__init__.py": ""}) == []


def test_a_vague_name_is_reported_however_it_is_given(check):
    lines = check({"benchmarks/speed.py": VAGUE})
    assert {line.partition(": ")[0] for line in lines} == {
        f"benchmarks/speed.py:{number}"
        for number, text in enumerate(VAGUE.splitlines(), 1)
        if text not in {"try: pass", "match 1:"}
    }


@pytest.mark.parametrize(
    ("files", "line_and_words"),
    [
        pytest.param(
            {f"{PACKAGE}/core/run.py": f"class Run:\n  @{decorator}\n  def of(rows): pass\n"},
            (f"{PACKAGE}/core/run.py:3", "factory"),
            id=f"{decorator} of",
        )
        for decorator in ("classmethod", "staticmethod")
    ]
    + [
        pytest.param(
            {f"{PACKAGE}/core/run.py": code, f"{PACKAGE}/errors.py": "import beir_eval.core.run\n"},
            (f"{PACKAGE}/core/run.py:2", "cycle", "beir_eval.core.run imports beir_eval.errors"),
            id=f"cycle: {code}",
        )
        for code in (
            "\nfrom beir_eval.errors import RunError\n",
            "\nfrom ..errors import RunError\n",
            "def read():\n  import beir_eval.errors\n",
            'from importlib import import_module\nimport_module("beir_eval.errors")\n',
        )
    ]
    + [
        pytest.param(
            {f"{PACKAGE}/core/run.py": "def read():\n  from beir_eval import evaluate\n"},
            (f"{PACKAGE}/core/run.py:2", "evaluate", "its own module"),
            id="name from the top",
        ),
        pytest.param(
            {f"{PACKAGE}/core/__init__.py": 'lazy_exports(0, {"E": "beir_eval.errors"})\n'},
            (f"{PACKAGE}/core/__init__.py:1", "E is exported from beir_eval.errors"),
            id="export from elsewhere",
        ),
        pytest.param(
            {f"{PACKAGE}/core/_ranks.py": ""},
            (f"{PACKAGE}/core/_ranks.py:1", "underscore"),
            id="private module",
        ),
        pytest.param(
            {f"{PACKAGE}/core/sources/__init__.py": ""},
            (f"{PACKAGE}/core/sources/__init__.py:1", "no tests in tests/core/sources"),
            id="package without tests",
        ),
        pytest.param(
            {"tests/core/sources/test_dicts.py": ""},
            ("tests/core/sources/test_dicts.py:1", "no package", "core/sources"),
            id="tests without a package",
        ),
        *(
            pytest.param({"CONTRIBUTING.md": text}, (f"CONTRIBUTING.md:{line}", words), id=words)
            for text, line, words in (
                ("# The layout\n", 1, "missing"),
                ("\n\n    errors, _version  0\n", 3, "lacks the package core"),
                ("    errors, _version, core, extra  0\n", 1, "extra, which is no package"),
                ("    core   0\n    errors, _version  0\n", 1, "order of the layers"),
            )
        ),
    ],
)
def test_a_breach_of_any_other_rule_is_reported_with_its_file_and_line(
    check, files, line_and_words
):
    start, *words = line_and_words
    (line,) = check(files)
    assert line.startswith(f"{start}: ")
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("condition", "problems"), [("TYPE_CHECKING", 0), ("not TYPE_CHECKING", 1)]
)
def test_only_imports_that_run_form_a_cycle(check, condition, problems):
    code = f"if {condition}:\n  from beir_eval.errors import RunError\n"
    files = {f"{PACKAGE}/core/run.py": code, f"{PACKAGE}/errors.py": "import beir_eval.core.run\n"}
    assert len(check(files)) == problems
