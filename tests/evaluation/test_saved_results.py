"""A result is read from the file that it was saved in, or from its score table."""

import pytest

from beir_eval import (
    assert_no_regression,
    check_gate,
    compare,
    evaluate,
    evaluate_stream,
    write_run,
)
from beir_eval.errors import ResultError
from beir_eval.evaluation.saved_results import as_result, load_result

QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(30)}
GOOD = {query: {"b": 3.0, "a": 2.0, "x": 1.0} for query in QRELS}
POOR = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}


@pytest.fixture
def saved(tmp_path):
    """Write the results of two systems: streamed, as score tables, as JSON; return all forms."""
    forms = {}
    for name, run in (("good", GOOD), ("poor", POOR)):
        path = tmp_path / f"{name}.trec"
        write_run(run, path)
        table = tmp_path / f"{name}.parquet"
        streamed = evaluate_stream(QRELS, path, ["nDCG@10", "MRR"], table=table)
        result = evaluate(QRELS, path, ["nDCG@10", "MRR"], name=name)
        result.save(tmp_path / f"{name}.json")
        forms[name] = {
            "result": result,
            "streamed": streamed,
            "table": table,
            "path as text": str(table),
            "JSON": tmp_path / f"{name}.json",
        }
    return forms


@pytest.mark.parametrize("form", ["streamed", "table", "path as text", "JSON"])
def test_systems_are_compared_from_their_score_tables(saved, form):
    expected = compare({name: forms["result"] for name, forms in saved.items()}, "poor")
    assert compare({name: forms[form] for name, forms in saved.items()}, "poor") == expected
    assert compare([forms[form] for forms in saved.values()], "poor") == expected
    repeats = {name: [forms[form], forms["result"]] for name, forms in saved.items()}
    of_results = {name: [forms["result"]] * 2 for name, forms in saved.items()}
    assert compare(repeats, "poor") == compare(of_results, "poor")
    gate, expected_gate = (
        check_gate(made, ["nDCG@10"])
        for made in (compare([forms[form] for forms in saved.values()], "poor"), expected)
    )
    assert gate == expected_gate


def test_a_regression_is_seen_in_score_tables(saved):
    good, poor = (saved[name]["table"] for name in ("good", "poor"))
    assert_no_regression(good, poor)
    with pytest.raises(AssertionError):
        assert_no_regression(poor, good)


def test_a_file_of_another_kind_is_refused(saved, tmp_path):
    with pytest.raises(ResultError):
        load_result(tmp_path / "good.trec")
    with pytest.raises(ResultError, match="must be an EvaluationResult"):
        compare(["good", "poor"])
    assert as_result("good") == "good"
    assert as_result("\0") == "\0"
