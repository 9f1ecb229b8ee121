"""scripts/check_style.py reports a breach of each of its rules, with file and line."""

import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_style.py"
PACKAGE = "src/beir_eval"
GUIDE = ".github/CONTRIBUTING.md"
#: A folder without any problem.
FILES = {
    f"{PACKAGE}/__init__.py": "",
    f"{PACKAGE}/_version.py": "",
    f"{PACKAGE}/errors.py": "",
    f"{PACKAGE}/core/__init__.py": "",
    f"{PACKAGE}/core/run.py": "def rankings(): pass\n",
    "tests/core/test_run.py": "",
    GUIDE: "# The layout\n\n    errors, _version   the lowest\n    core   arrays\n",
    "pyproject.toml": '[[tool.importlinter.contracts]]\nlayers = ["core", "errors | _version"]\n',
}
#: Ways to give a name.
VAGUE = """\
first, *found = []
self.place = 1
(places := 1)
for asked in []: pass
[0 for said in []]
with file as told: pass
def f(*, thing): pass
class one: pass
from module import name as one
try: pass
except Error as one: pass
match 1:
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


RUN, INIT = f"{PACKAGE}/core/run.py", f"{PACKAGE}/core/__init__.py"
FROM_ERRORS = (
    "\nfrom ..errors import RunError\n",
    "def read():\n  import beir_eval.errors\n",
    'from importlib import import_module\nimport_module("beir_eval.errors")\n',
)
#: (a file, its text, the line of the breach, words of its message)
BREACHES = [
    (RUN, "class Run:\n  @classmethod\n  def of(rows): pass\n", 3, "factory"),
    (RUN, "class Run:\n  @staticmethod\n  def of(rows): pass\n", 3, "factory"),
    (RUN, "def read():\n  from beir_eval import evaluate\n", 2, "evaluate.*its own module"),
    (INIT, 'lazy_exports(0, {"beir_eval.errors": "E"})\n', 1, "exported from beir_eval.errors"),
    (f"{PACKAGE}/core/_ranks.py", "", 1, "underscore"),
    (f"{PACKAGE}/core/sources/__init__.py", "", 1, "no tests in tests/core/sources"),
    ("tests/core/sources/test_dicts.py", "", 1, "no package.*core/sources"),
    (GUIDE, "# The layout\n", 1, "missing"),
    (GUIDE, "\n\n    errors, _version  0\n", 3, "lacks the package core"),
    (GUIDE, "    errors, _version, core, extra  0\n", 1, "extra, which is no package"),
    (GUIDE, "    core   0\n    errors, _version  0\n", 1, "order of the layers"),
]


@pytest.mark.parametrize(("file", "text", "line", "words"), BREACHES)
def test_a_breach_of_any_other_rule_is_reported_with_its_file_and_line(
    check, file, text, line, words
):
    [printed] = check({file: text})
    assert printed.startswith(f"{file}:{line}: ")
    assert re.search(words, printed)


@pytest.mark.parametrize("code", FROM_ERRORS)
def test_a_cycle_is_reported_however_a_module_is_imported(check, code):
    [printed] = check({RUN: code, f"{PACKAGE}/errors.py": "import beir_eval.core.run\n"})
    assert printed.startswith(f"{RUN}:2: ")
    assert re.search("cycle.*beir_eval.core.run imports beir_eval.errors", printed)
