"""A result is read from the file that it was saved in."""

import pytest

from beir_eval import assert_no_regression, check_gate, compare, evaluate
from beir_eval.errors import ResultError

QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(30)}
GOOD = {query: {"b": 3.0, "a": 2.0, "x": 1.0} for query in QRELS}
POOR = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}


@pytest.fixture
def saved(tmp_path):
    """Return {name: the result of a system, and where it is saved}."""
    forms = {}
    for name, run in (("good", GOOD), ("poor", POOR)):
        result = evaluate(QRELS, run, ["nDCG@10", "MRR"], name=name)
        path = tmp_path / f"{name}.json"
        result.save(path)
        forms[name] = {"result": result, "path": path, "text": str(path)}
    return forms


@pytest.mark.parametrize("form", ["path", "text"])
def test_systems_are_compared_from_their_files(saved, form):
    expected = compare({name: forms["result"] for name, forms in saved.items()}, baseline="poor")
    files = {name: forms[form] for name, forms in saved.items()}
    assert compare(files, baseline="poor") == expected
    assert compare(list(files.values()), baseline="poor") == expected
    repeats = {name: [forms[form], forms["result"]] for name, forms in saved.items()}
    of_results = {name: [forms["result"]] * 2 for name, forms in saved.items()}
    assert compare(repeats, baseline="poor") == compare(of_results, baseline="poor")
    gate = check_gate(compare(list(files.values()), baseline="poor"), ["nDCG@10"])
    assert gate == check_gate(expected, ["nDCG@10"])


def test_a_regression_is_seen_in_files(saved):
    good, poor = (saved[name]["path"] for name in ("good", "poor"))
    assert_no_regression(good, poor)
    with pytest.raises(AssertionError):
        assert_no_regression(poor, good)


def test_a_file_of_another_kind_is_refused(saved, tmp_path):
    (tmp_path / "good.trec").write_text("q1 Q0 a 1 0.5 t\n")
    for path in (tmp_path / "good.trec", tmp_path):
        with pytest.raises(ResultError, match=r"good.trec|a folder"):
            compare([path, saved["poor"]["path"]])
    for name in ("good", "\0"):
        with pytest.raises(ResultError, match="must be an EvaluationResult"):
            compare([name, "poor"])
