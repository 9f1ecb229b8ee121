"""docs/validate.md has an entry for every code, with the words of the table in the code."""

import re

import findings_text
import pytest

from beir_eval.inspection.finding import finding_texts

TEXTS = {code: texts for code, texts in finding_texts().items() if "meaning" in texts}
ENTRIES = dict(re.findall(r"(?ms)^`([\w-]+)` (.+?)(?=^`|\Z)", findings_text.reference()))


def test_the_page_has_the_codes_of_the_table_in_its_order():
    assert list(ENTRIES) == list(TEXTS)


@pytest.mark.parametrize("code", TEXTS)
def test_an_entry_has_level_meaning_consequence_and_remedy(code):
    words = TEXTS[code]
    assert ENTRIES[code].startswith(f"({words['level']})")
    for name in ("consequence", "remedy"):
        assert words[name] in ENTRIES[code]
    assert words["meaning"].lower() in ENTRIES[code].lower()


@pytest.mark.parametrize("code", TEXTS)
def test_a_code_is_words_in_lower_case_joined_by_hyphens(code):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", code)
