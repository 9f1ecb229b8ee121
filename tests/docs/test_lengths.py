"""The documentation is short, and its pages answer in one order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts]
#: Pages that answer one of the questions of the start page with a verdict or a score.
ANSWERS = ("compare", "checkpoints", "stages", "chunks", "ci")
ORDER = ("What it means", "What to do", "What can go wrong")


def words(path):
    """Return the number of words that are read: those in code and its output are left out."""
    text = re.sub(r"^\s*```.*?^\s*```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return sum(re.search("[A-Za-z]", word) is not None for word in text.split())


def test_the_readme_is_one_page():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_all_pages_together_have_at_most_35_000_words():
    # The page of simulations includes what programs in benchmarks/ printed.
    assert sum(map(words, PAGES)) <= 35_000


def test_the_page_on_comparing_is_read_in_ten_minutes():
    assert words(DOCS / "compare.md") <= 1_500


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
