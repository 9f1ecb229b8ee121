"""Objects of any type as arguments raise errors of this package only."""

import inspect
import warnings

import numpy as np
import polars as pl
import pytest

import beir_eval
from beir_eval import Qrels, Run, compare, evaluate
from beir_eval.comparison.slices import by_length, by_num_relevant, cut
from beir_eval.core.paths import as_path, name_as_text
from beir_eval.errors import BeirEvalError, InputError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
RUNS = {
    "A": {"q1": {"a": 1.0, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}},
    "B": {"q1": {"a": 0.1, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}},
}
RESULTS = [evaluate(QRELS, run, ["nDCG@10"], name=name, keep_top=3) for name, run in RUNS.items()]
RESULT = RESULTS[0]
COMPARISON = compare(RESULTS)
ODD_OBJECTS = [
    None, 3, -1, True, 0.5, float("nan"), 10**5000, "", "x", "a\0b", "\ud800", b"x", object(),
    [], [3], [None], [[]], {}, {"a": 3}, {1: 2}, {"q1": None}, np.array([1, 2]), np.array("x"),
]  # fmt: skip
#: {function: valid arguments}; each argument in turn is replaced by each odd object.
CALLS = {
    "evaluate": (evaluate, {"qrels": QRELS, "run": RUNS["A"]}),
    "compare": (compare, {"results": RESULTS}),
    "compare_runs": (beir_eval.compare_runs, {"qrels": QRELS, "runs": RUNS}),
    "compare_slices": (
        beir_eval.compare_slices, {"results": RESULTS, "slices": {"q1": "x", "q2": "y"}},
    ),
    "compare_benchmark": (
        beir_eval.compare_benchmark, {"results": {r.name: {"d": r} for r in RESULTS}},
    ),
    "checkpoint_curve": (beir_eval.checkpoint_curve, {"results": RESULTS, "steps": ["A", "B"]}),
    "judge_until": (
        beir_eval.judge_until, {"query_ids": ["q1", "q2"], "difference": lambda _query: 0.1},
    ),
    "agree": (beir_eval.agree, {"first": RUNS["A"], "second": RUNS["B"]}),
    "qrels_from_votes": (beir_eval.qrels_from_votes, {"rows": [("q", "a", 1)]}),
    "run_from_responses": (beir_eval.run_from_responses, {"responses": {"q": [("a", 1.0)]}}),
    "rank_eval_request": (
        beir_eval.rank_eval_request,
        {"qrels": QRELS, "requests": {query: {} for query in QRELS}, "index": "i", "metric": {}},
    ),
    "cut": (cut, {"values": {"q1": 1, "q2": 2}}),
    "by_length": (by_length, {"queries": {"q1": "one two", "q2": "one"}}),
    "by_num_relevant": (by_num_relevant, {"qrels": QRELS}),
    "Run": (Run, {"mapping": RUNS["A"]}),
    "Qrels": (Qrels, {"mapping": QRELS}),
    "Run.from_columns": (Run.from_columns, {"query_ids": ["q"], "doc_ids": ["a"], "scores": [1.0]}),
    "Qrels.from_columns": (
        Qrels.from_columns, {"query_ids": ["q"], "doc_ids": ["a"], "grades": [1.0]},
    ),
    "Run.from_rankings": (Run.from_rankings, {"rankings": {"q": ["a"]}}),
    "Run.from_arrays": (
        Run.from_arrays, {"ids": [[0]], "scores": [[1.0]], "query_ids": ["q"], "doc_ids": ["a"]},
    ),
    "Run.from_dataframe": (
        Run.from_dataframe,
        {"frame": pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})},
    ),
    "Qrels.select": (Qrels(QRELS).select, {"query_ids": ["q1"]}),
    "result.label": (RESULT.label, {"name": "nDCG@10"}),
    "result.scores": (RESULT.scores, {"measure": "nDCG@10"}),
    "comparison.mean": (COMPARISON.mean, {"measure": "nDCG@10", "system": "A"}),
    "comparison.difference": (COMPARISON.difference, {"measure": "nDCG@10", "system": "B"}),
    "comparison.likeness_per_query": (COMPARISON.likeness_per_query, {}),
    "read_run": (beir_eval.read_run, {"path": "no such file"}),
    "read_qrels": (beir_eval.read_qrels, {"path": "no such file"}),
    "load_dataset": (beir_eval.load_dataset, {"path": "no such folder"}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_an_odd_argument_raises_an_error_of_this_package_with_a_short_message(name):
    function, arguments = CALLS[name]
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind != parameter.VAR_KEYWORD]
    for parameter in names:
        for odd in ODD_OBJECTS:
            error = error_of(function, arguments | {parameter: odd})
            assert isinstance(error, (BeirEvalError, OSError, type(None))), (parameter, type(odd))
            assert len(str(error)) < 1_000, (parameter, type(odd))


def error_of(function, arguments):
    """Return the error that a call raises, or None."""
    try:
        function(**arguments)
    except Exception as error:  # noqa: BLE001 - the test looks at its type
        return error
    return None


@pytest.mark.parametrize("path", [3, None, b"x", ["x"], "a\0b"])
def test_a_path_is_text_or_a_path_without_zero_bytes(path, tmp_path):
    for call in (
        as_path,
        beir_eval.read_run,
        beir_eval.load_dataset,
        RESULT.save,
        type(RESULT).load,
        lambda path: beir_eval.write_run(RUNS["A"], path, format="json"),
        lambda path: beir_eval.write_report(path, RESULT),
    ):
        with pytest.raises(InputError, match="the path"):
            call(path)


def test_the_name_of_a_file_is_text_that_every_file_can_contain():
    assert name_as_text("bm25 日本") == "bm25 日本"
    assert name_as_text("a\udcff") == r"a\xff"


class ChangingDict(dict):
    """A dict that another thread changes while it is read."""

    def values(self):
        for value in list(super().values()):
            self[f"new {len(self)}"] = value
            yield value
            raise RuntimeError("dictionary changed size during iteration")


def test_a_dict_that_changes_while_it_is_read_is_an_error_of_the_input():
    with pytest.raises(InputError, match="changed while it was read"):
        Qrels({"q": ChangingDict(a=1)})
    with pytest.raises(InputError, match="changed while it was read"):
        evaluate(QRELS, {"q1": ChangingDict(a=1.0, b=2.0)}, ["nDCG@10"])


def test_a_sparse_mapping_of_row_numbers_is_refused_before_it_fills_the_memory():
    with pytest.raises(InputError, match="number the rows from 0"):
        Run.from_arrays([[10**12]], [[1.0]], query_ids=["q"], doc_ids={10**12: "a"})


def test_text_is_no_column():
    for make in (Run.from_columns, Qrels.from_columns):
        with pytest.raises(InputError, match="a column must be a list, not 'ab'"):
            make("ab", "cd", [1, 2])


def test_grades_from_2_to_the_53_are_no_error_of_arithmetic():
    qrels = {"q": {"a": 2**53, "b": 1, "c": 3, "d": 2**60}}
    run = {"q": {"d": 4.0, "x": 3.0, "a": 2.0, "c": 1.0, "b": 0.5}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < evaluate(qrels, run, ["G"])["G"] <= 1


def test_a_result_with_an_id_that_is_not_unicode_makes_no_dataframe():
    result = evaluate({"\ud800": {"a": 1}}, {"\ud800": {"a": 1.0}}, ["nDCG@10"])
    with pytest.raises(InputError, match="text that is not Unicode"):
        result.to_dataframe()
