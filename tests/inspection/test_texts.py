"""The texts of findings: one for each code, in one file that is read when a text is needed."""

import subprocess
import sys
from typing import get_args

from beir_eval.adapters.formats.text_qrels import BY_ITERATION_REMEDY
from beir_eval.evaluation.suspicions.suspicion import SuspicionCode
from beir_eval.inspection.texts import _rows, finding_codes, remedy_of

EVALUATE = """
from beir_eval import evaluate
from beir_eval.inspection import texts
qrels = {f"q{n}": {f"d{n}": 1} for n in range(20)}
run = {query: {**judged, "e": 0.5} for query, judged in qrels.items()}
assert evaluate(qrels, run, "MRR").warnings() == []
assert texts._rows.cache_info().currsize == 0
constant = {query: dict.fromkeys(ranking, 1.0) for query, ranking in run.items()}
[warning] = evaluate(qrels, constant, "MRR").warnings()
assert warning.endswith(texts.remedy_of("constant-scores").removesuffix("."))
"""


def test_the_file_has_the_codes_of_evaluations_and_of_validate_and_no_other():
    assert set(_rows()) == {*get_args(SuspicionCode), *finding_codes()}


def test_every_remedy_is_a_sentence():
    for code in {*get_args(SuspicionCode), *finding_codes()}:
        assert remedy_of(code)[0].isupper()
        assert remedy_of(code).endswith(".")


def test_judgements_by_subtopic_have_the_remedy_of_the_reader():
    assert remedy_of("judgements-by-subtopic") == f"{BY_ITERATION_REMEDY}."


def test_an_evaluation_without_a_finding_does_not_read_the_file():
    subprocess.run([sys.executable, "-W", "ignore", "-c", EVALUATE], check=True)
