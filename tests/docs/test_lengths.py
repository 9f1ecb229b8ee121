"""The documentation is short and fits a screen."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
#: Longer lines are cut beside the table of contents where a window is 1,280 pixels wide.
WIDTH = 100


@pytest.mark.parametrize(("name", "lines"), [("README.md", 110), ("CHANGELOG.md", 40)])
def test_the_readme_and_the_changelog_are_one_page(name, lines):
    assert len((ROOT / name).read_text().splitlines()) <= lines


def test_there_are_at_most_thirty_pages_and_30_000_words_with_their_code():
    assert len(PAGES) <= 30
    words = sum(len(page.read_text().split()) for page in PAGES)
    assert words <= 30_000, "take as many words from another page as a new one needs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_fits_a_screen_and_its_first_one_shows_what_the_tool_does(page):
    lines = page.read_text().splitlines()
    assert any(line.startswith(("```", "|", "![")) for line in lines[:45])
    if page.stem in {"choose", "published", "replication"}:  # whose tables are wider
        lines = [line for line in lines if not line.startswith(("|", "!["))]
    assert [line for line in lines if len(line) > WIDTH] == []


def test_the_page_on_comparing_is_read_in_ten_minutes():
    assert len((DOCS / "compare.md").read_text().split()) <= 1_500
