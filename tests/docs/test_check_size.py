"""scripts/check_size.py counts code and fails above the budget; only an edit by hand raises it."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_size.py"
CODE = '''\
"""A docstring
of two lines."""

import math  # 1


def area(radius):  # 2
    """Another docstring."""
    # a comment
    text = """3

    not a docstring, of three lines"""
    return (  # 6
        math.pi  # 7
        * radius**2  # 8
    )  # 9
'''
SETTINGS = """\
[project]
name = "example"

[tool.beir-eval.budget]
"code lines of beir_eval" = {}
"code lines of beir_eval.core" = 9
"code lines of beir_eval.spans" = 20
"files under src" = 3
"recorded lines" = 2
"options" = 100000
"names at the top" = 100000
"names" = 100000
"commands" = 100000

[tool.other]
"files under src" = 500
"""


@pytest.fixture
def check(tmp_path, capsys):
    """Return a function that writes a budget, checks a small project, and returns what it did."""
    spec = importlib.util.spec_from_file_location("check_size", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, text in {
        "src/beir_eval/__init__.py": "",
        "src/beir_eval/errors.py": "\n\nclass Error(Exception):\n    pass\n",
        "src/beir_eval/core/run.py": CODE,
        "tests/support/recorded/values.txt": "1\n2\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def run(budget, *options):
        path = tmp_path / "pyproject.toml"
        path.write_text(SETTINGS.format(budget), encoding="utf-8")
        status = script.main([*options, str(tmp_path)])
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
        return status, capsys.readouterr().out.splitlines(), settings["tool"]

    return run


def test_blank_lines_comments_and_docstrings_do_not_count(check):
    status, lines, _ = check(2)
    assert status == 0
    assert lines[0].startswith("11 code lines under src; ")
    assert "files under src 3" in lines[0]


def test_write_lowers_the_budget_to_the_sizes_and_never_raises_it(check):
    status, lines, settings = check(1, "--write")
    assert status == 1
    assert "code lines of beir_eval: 2, but the budget is 1: " in lines[1]
    budget = settings["beir-eval"]["budget"]
    assert budget["code lines of beir_eval"] == 1
    assert budget["code lines of beir_eval.core"] == 9
    assert "code lines of beir_eval.spans" not in budget
    assert 0 < budget["commands"] < budget["options"] < 1000
    assert 0 < budget["names at the top"] < budget["names"] < 1000
    assert settings["other"] == {"files under src": 500}
