"""Every row of docs/drop-in.md is backed by a test in this folder, and every test by a row."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from pins import pins_of

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs/drop-in.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^- `([a-z0-9-]+)`: ((?:.+\n)(?:  .+\n)*)", PAGE, re.MULTILINE)
FILES = {
    "pytrec-eval": "test_pytrec_eval.py",
    "beir": "test_beir.py",
    "haystack": "test_haystack.py",
}


def rows_of_tests(path):
    """Return the rows with which the tests in a file are marked, and the number of its tests."""
    functions = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    rows = [
        decorator.args[0].value
        for function in functions
        for decorator in function.decorator_list
        if ast.unparse(decorator).startswith("pytest.mark.row(")
    ]
    return rows, len(functions)


@pytest.mark.parametrize("prefix", FILES)
def test_every_row_has_one_test_and_every_test_one_row(prefix):
    rows, num_tests = rows_of_tests(HERE / FILES[prefix])
    assert Counter(rows) == Counter(row for row, _ in ROWS if row.startswith(f"{prefix}-"))
    assert len(rows) == len(set(rows)) == num_tests


def test_every_row_names_case_tool_and_ours():
    cells = [re.split(r"\*\w+:\*", text) for _, text in ROWS]
    assert all(len(parts) == 3 and all(map(str.strip, parts)) for parts in cells)
    assert all(row.startswith(tuple(f"{prefix}-" for prefix in FILES)) for row, _ in ROWS)


def test_the_versions_on_the_page_are_those_installed_here():
    pins = pins_of("constraints.txt")
    haystack = pins["haystack-ai"].rpartition(".")[0]
    assert f"pytrec_eval-terrier {pins['pytrec-eval-terrier']}" in PAGE
    assert f"BEIR {pins['beir']} and Haystack {haystack}," in PAGE
