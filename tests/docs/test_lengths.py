"""The documentation is short, fits a screen, and its pages answer in one order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
#: Pages that answer one of the questions of the start page with a verdict or a score.
ANSWERS = ("compare", "checkpoints", "stages", "chunks", "ci")
ORDER = ("What it means", "What to do", "What can go wrong")
#: Longer lines are cut beside the table of contents where a window is 1,280 pixels wide.
WIDTH = 100


def test_the_readme_is_one_page():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_the_changelog_of_the_first_release_is_one_screen():
    assert len((ROOT / "CHANGELOG.md").read_text().splitlines()) <= 40


def test_there_are_at_most_thirty_pages_and_30_000_words_with_their_code():
    assert len(PAGES) <= 30
    assert sum(len(page.read_text().split()) for page in PAGES) <= 30_000


#: The page on choices has longer lines still.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem != "choose"], ids=lambda page: page.stem
)
def test_no_line_of_a_page_is_longer_than_a_screen_shows(page):
    lines = page.read_text().splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > WIDTH] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_first_screen_of_a_page_shows_code_or_what_the_tool_prints(page):
    first = page.read_text().splitlines()[:45]
    assert any(line.startswith(("```", "|", "![")) for line in first)


def test_the_page_on_comparing_is_read_in_ten_minutes():
    assert len((DOCS / "compare.md").read_text().split()) <= 1_500


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_command_what_it_prints_what_it_means_what_to_do_and_what_can_go_wrong(name):
    text = (DOCS / f"{name}.md").read_text()
    headings = re.findall(r"^##+ (.+)$", text, flags=re.MULTILINE)
    positions = [
        next(index for index, heading in enumerate(headings) if heading.startswith(start))
        for start in ORDER
    ]
    assert positions == sorted(positions)
    assert "beir-eval" in text.partition(f"## {ORDER[0]}")[0]
