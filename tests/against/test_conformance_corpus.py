"""The cases in ``docs/conformance``: each tool is as in its column, ours by independent rules."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import textbook

FOLDER = Path(__file__).parents[2] / "docs" / "conformance"
CASES = json.loads((FOLDER / "cases.json").read_text())
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TOOLS = {
    "trec_eval 10": "beir_eval",
    "trec_eval 9, fused multiply-add": "fused_multiply_add",
    "pytrec_eval": "pytrec_eval",
    "ranx": "ranx",
    "ir_measures": "ir_measures",
}
#: The cases that the rules refuse.
REFUSED = {"listed twice", "judged twice", "empty run"}


#: All cases in one process: prints [the outcome of each case].
ALL_CASES = """
import contextlib, io, json, runpy, sys
sys.path.insert(0, sys.argv[1])
import run
main = runpy.run_path(sys.argv[2])["main"]
class Done:
    def __init__(self, returncode, stdout=""):
        self.returncode, self.stdout = returncode, stdout
def in_this_process(command, **options):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            main(*map(str, command[1:]))
    except BaseException:
        return Done(1)
    return Done(0, printed.getvalue())
run.subprocess.run = in_this_process
sys.exit(run.main(sys.argv[3], sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize("column", TOOLS)
def test_each_tool_is_as_in_its_own_column(column):
    tool = FOLDER / "tools" / f"{TOOLS[column]}_tool.py"
    command = [sys.executable, "-c", ALL_CASES, FOLDER, tool, column]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(EXPECTED[column])} of {len(EXPECTED[column])} cases" in done.stdout


def _run(column, tool):
    command = [sys.executable, FOLDER / "run.py", column, sys.executable, tool]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_tool_that_differs_is_told_where(tmp_path):
    tool = tmp_path / "tool.py"
    tool.write_text("import sys\nprint('q1 MAP 0.25')\n")
    done = _run("trec_eval 10", tool)
    assert done.returncode == 1
    assert "graded: all MAP: None instead of" in done.stdout
    assert "q1 MAP: 0.25 instead of" in done.stdout
    assert "empty run: scores instead of error" in done.stdout


def _nested(rows):
    nested = {}
    for query, doc, value in rows:
        nested.setdefault(query, {})[doc] = value
    return nested


#: {measure: its textbook formula, of the grades by rank and the judgements of a query}
TEXTBOOK = {
    "nDCG@5": lambda grades, judged: textbook.ndcg(grades, judged, 5),
    "MAP": lambda grades, judged: textbook.average_precision(grades, judged, None),
    "MRR": lambda grades, judged: textbook.reciprocal_rank(grades, judged, None),
    "P@5": lambda grades, judged: textbook.precision(grades, judged, 5),
    "Recall@5": lambda grades, judged: textbook.recall(grades, judged, 5),
    "IPrec@0.3": lambda grades, judged: _interpolated_precision(grades, judged, 0.3),
    "IPrec@0.7": lambda grades, judged: _interpolated_precision(grades, judged, 0.7),
}


def _interpolated_precision(grades, judged, recall):
    # No case has a recall level half way between two numbers of documents.
    return textbook.interpolated_precision(grades, judged, None, recall, round)


def _by_the_textbook(case):
    """Return {query: {measure: score}} of a case, by code that shares nothing with the package."""
    judgements, scores = _nested(case["qrels"]), {}
    for query, judged in judgements.items():
        rows = [(doc, score) for of_query, doc, score in case["run"] if of_query == query]
        ranked = textbook.rank_documents(rows, judged, ties="trec_eval10")
        grades = textbook.grades_by_rank(ranked, judged)
        scores[query] = {measure: TEXTBOOK[measure](grades, judged) for measure in case["measures"]}
    means = {
        measure: sum(of_query[measure] for of_query in scores.values()) / len(scores)
        for measure in case["measures"]
    }
    return scores | {"all": means}


@pytest.mark.parametrize("name", CASES)
def test_the_column_of_trec_eval_follows_the_rules_of_an_independent_implementation(name):
    expected = EXPECTED["trec_eval 10"][name]
    if name in REFUSED:
        assert expected == "error"
        return
    scores = _by_the_textbook(CASES[name])
    assert scores.keys() == expected.keys()
    for query, by_measure in expected.items():
        assert by_measure == pytest.approx(scores[query], abs=1e-12)


def test_the_column_of_the_fused_multiply_add_needs_one_relevant_document_more():
    expected = EXPECTED["trec_eval 9, fused multiply-add"]
    assert expected == {
        "fused multiply-add": {
            "q1": {"IPrec@0.7": 3 / 4},
            "q2": {"IPrec@0.7": 1 / 1},
            "all": {"IPrec@0.7": (3 / 4 + 1) / 2},
        },
        "fused multiply-add, 57 relevant": {
            "q1": {"IPrec@0.3": 18 / 19},
            "all": {"IPrec@0.3": 18 / 19},
        },
    }
    for name in expected:
        ours = EXPECTED["trec_eval 10"][name]["q1"]
        assert set(ours.values()) == {1.0}  # 2/2 and 17/17
