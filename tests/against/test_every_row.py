"""Every row of docs/faq.md and docs/drop-in.md is backed by a test, and every test by a row."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from pins import normalised, pins_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: {page: (the folder with its tests, what separates the parts of a row, how many parts it has)}
PAGES = {
    "docs/faq.md": ("definitions", "→|The same here", 2),
    "docs/drop-in.md": ("drop_in", r"\*\w+:\*", 3),
}
ROW = re.compile(r"^- `([a-z][a-z0-9-]*)`((?:.+\n)(?:  .+\n)*)", re.MULTILINE)


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def marked_tests(page):
    """Yield (row, source of the test) for each test of a page that is marked with a row."""
    for path in sorted((HERE / PAGES[page][0]).glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            for decorator in getattr(node, "decorator_list", []):
                if ast.unparse(decorator).startswith("pytest.mark.row("):
                    yield decorator.args[0].value, ast.get_source_segment(text, node)


@pytest.mark.parametrize("page", PAGES)
def test_every_row_is_backed_by_one_test_and_every_test_backs_a_row(page):
    rows = Counter(row for row, _ in ROW.findall(text_of(page)))
    assert rows == Counter(row for row, _ in marked_tests(page))
    assert set(rows.values()) == {1}


@pytest.mark.parametrize("page", PAGES)
def test_every_row_has_all_its_parts(page):
    _, separator, number = PAGES[page]
    for row, text in ROW.findall(text_of(page)):
        parts = re.split(separator, " ".join(text.split()), maxsplit=number - 1)
        assert len(parts) == number, row
        assert all(part.strip() for part in parts), row


def test_the_setting_that_a_row_names_is_the_one_that_its_test_uses():
    page = "docs/faq.md"
    source_of = dict(marked_tests(page))
    for row, text in ROW.findall(text_of(page)):
        setting = re.split(PAGES[page][1], " ".join(text.split()), maxsplit=1)[-1]
        for code in re.findall(r"`([^`]+)`", setting):
            assert code in source_of[row], (row, code)


def test_the_versions_on_the_pages_are_those_installed_here():
    pins = pins_of("constraints.txt")
    named = re.findall(r"`([a-z0-9_-]+)==([0-9.]+)`", text_of("docs/faq.md"))
    assert len(named) == 11
    assert {pins.get(normalised(name)) == version for name, version in named} == {True}
    haystack = pins["haystack-ai"].rpartition(".")[0]
    page = text_of("docs/drop-in.md")
    assert f"pytrec_eval-terrier {pins['pytrec-eval-terrier']}" in page
    assert f"BEIR {pins['beir']} and Haystack {haystack}," in page
