"""The cases in ``conformance/``: each tool is as in its column, and ours by independent rules."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import textbook
from beir_eval import evaluate

FOLDER = Path(__file__).parents[2] / "conformance"
CASES = json.loads((FOLDER / "cases.json").read_text())
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TOOLS = {
    "trec_eval 10": "beir_eval",
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
    assert f"{len(CASES)} of {len(CASES)} cases" in done.stdout


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


def _by_the_textbook(case):
    """Return {query: {measure: score}} of a case, by code that shares nothing with the package."""
    judgements, scores = _nested(case["qrels"]), {}
    for query, judged in judgements.items():
        rows = [(doc, score) for of_query, doc, score in case["run"] if of_query == query]
        grades = textbook.grades_by_rank(textbook.rank_documents(rows, judged), judged)
        scores[query] = {
            "nDCG@5": textbook.ndcg(grades, judged, 5),
            "MAP": textbook.average_precision(grades, judged, None),
            "MRR": textbook.reciprocal_rank(grades, judged, None),
            "P@5": textbook.precision(grades, judged, 5),
            "Recall@5": textbook.recall(grades, judged, 5),
        }
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


@pytest.mark.parametrize("name", sorted(set(CASES) - REFUSED - {"fractional grades"}))
def test_pytrec_evals_column_is_ours_with_its_rules(name):
    case, expected = CASES[name], EXPECTED["pytrec_eval"][name]
    result = evaluate(
        _nested(case["qrels"]),
        _nested(case["run"]),
        case["measures"],
        ties="trec_eval9",
        missing="skip",
    )
    for measure in case["measures"]:
        scores = dict(zip(result.query_ids, result.scores(measure), strict=True))
        scores |= {"all": result[measure]} if scores else {}
        values = {query: by_measure[measure] for query, by_measure in expected.items()}
        assert scores == pytest.approx(values, abs=1e-12)
