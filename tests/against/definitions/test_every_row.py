"""Every row of docs/faq.md is backed by a test in this folder, and every test by a row."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = (ROOT / "docs/faq.md").read_text(encoding="utf-8")
ROW = re.compile(r"^- `([a-z][a-z0-9-]*)`((?:.+\n)(?:  .+\n)*)", re.MULTILINE)
#: What the tool computes, and the setting that gives its number.
CELLS = {
    row: re.split("→|The same here", " ".join(text.split()), maxsplit=1)
    for row, text in ROW.findall(PAGE)
}


def marked_tests():
    """Yield (row, source of the test) for each test here that is marked with a row."""
    for path in sorted(HERE.glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            for decorator in getattr(node, "decorator_list", []):
                if ast.unparse(decorator).startswith("pytest.mark.row("):
                    yield decorator.args[0].value, ast.get_source_segment(text, node)


SOURCES = dict(marked_tests())


def test_every_row_of_the_page_is_backed_by_one_test_and_every_test_backs_a_row():
    rows = Counter(row for row, _ in ROW.findall(PAGE))
    tests = Counter(row for row, _ in marked_tests())
    assert rows == tests
    assert set(rows.values()) == {1}


def test_every_row_names_what_the_tool_computes_and_what_gives_its_number():
    assert all(len(cells) == 2 and all(cells) for cells in CELLS.values())


@pytest.mark.parametrize("row", CELLS)
def test_the_setting_that_a_row_names_is_the_one_that_its_test_uses(row):
    for code in re.findall(r"`([^`]+)`", CELLS[row][-1]):
        assert code in SOURCES[row], code


def test_the_versions_on_the_page_are_those_installed_here():
    pinned = [
        line
        for path in ROOT.glob("constraints*.txt")
        for line in path.read_text(encoding="utf-8").lower().splitlines()
    ]
    named = re.findall(r"`([a-z0-9_-]+==[0-9.]+)`", PAGE)
    assert len(named) == 11
    assert set(named) <= {line.partition(" ")[0] for line in pinned}
