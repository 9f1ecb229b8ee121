"""docs/validate.md has a row for every code, with the words of the table in the code."""

import re
from pathlib import Path

import pytest

from beir_eval.inspection.finding import finding_texts

TEXTS = {code: texts for code, texts in finding_texts().items() if "meaning" in texts}
PAGE = (Path(__file__).parents[2] / "docs" / "validate.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("`"): cells[1:]
    for line in PAGE.partition("\n## Findings\n")[2].splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split(" | ")])[0].startswith("`")
    and len(cells) == 5
}


def test_the_page_has_the_codes_of_the_table_in_its_order():
    assert list(ROWS) == list(TEXTS)


@pytest.mark.parametrize("code", TEXTS)
def test_a_row_has_level_meaning_consequence_and_remedy(code):
    names = ("level", "meaning", "consequence", "remedy")
    assert ROWS[code] == [TEXTS[code][name] for name in names]


@pytest.mark.parametrize("code", TEXTS)
def test_a_code_is_words_in_lower_case_joined_by_hyphens(code):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", code)
