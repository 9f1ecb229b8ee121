"""The texts of findings: one for each code, in one file that is read when a text is needed."""

import re
from pathlib import Path

import pytest

import beir_eval
from beir_eval.inspection.finding import LEVELS, finding_texts
from processes import python

EVALUATE = """
from beir_eval import evaluate
from beir_eval.inspection import finding as texts
qrels = {f"q{n}": {f"d{n}": 1} for n in range(20)}
run = {query: {**judged, "e": 0.5} for query, judged in qrels.items()}
assert evaluate(qrels, run, "MRR").warnings() == []
assert texts.finding_texts.cache_info().currsize == 0
constant = {query: dict.fromkeys(ranking, 1.0) for query, ranking in run.items()}
[warning] = evaluate(qrels, constant, "MRR").warnings()
assert warning.endswith(texts.finding_texts()["constant-scores"]["remedy"].removesuffix("."))
"""


def test_the_file_has_the_codes_of_the_package_and_no_other():
    source = "".join(path.read_text() for path in Path(beir_eval.__file__).parents[1].rglob("*.py"))
    assert set(finding_texts()) == set(re.findall(r'(?:from_code|of_ids)\(\s*"([a-z-]+)"', source))


@pytest.mark.parametrize("code", finding_texts())
def test_every_finding_has_a_level_and_a_sentence_as_remedy(code):
    texts = finding_texts()[code]
    assert texts["level"] in LEVELS
    assert texts["remedy"][0].isupper()
    assert texts["remedy"].endswith(".")


def test_an_evaluation_without_a_finding_does_not_read_the_file():
    python("-W", "ignore", "-c", EVALUATE)
