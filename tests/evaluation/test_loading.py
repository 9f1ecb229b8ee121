"""A saved result is checked when it is loaded, and the error names the field that is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import (
    EvaluationResult,
    checkpoint_curve,
    compare,
    compare_benchmark,
    compare_runs,
    compare_slices,
    evaluate,
)
from beir_eval.errors import ResultError
from beir_eval.measures.registry import definitions
from strategies import qrels_and_run

QRELS = {f"q{number}": {"a": 1, "b": 0} for number in range(8)} | {"none": {"a": 0}}
RUN = {query: {"x": 3.0, "a": 2.0, "b": 2.0} for query in list(QRELS)[1:]}
BETTER = {query: {"a": 3.0, "x": 2.0} for query in list(QRELS)[1:]}


def changed(content, path, value):
    """Change a value of parsed JSON, or remove it, in place."""
    *parents, last = path
    for name in parents:
        content = content[name]
    if value is REMOVED:
        del content[last]
    else:
        content[last] = value


REMOVED = object()
SCALE = {"bounds": None, "higher_is_better": True}
#: The parameters that have no default.
REQUIRED = {"Rprec_mult": "(multiple=0.5)", "IPrec": "(recall=0.5)"}
#: Each measure, with and without a cutoff.
EVERY_MEASURE = [
    f"{name}{REQUIRED.get(name, '')}{cutoff}"
    for name, definition in definitions().items()
    for cutoff in ("", "@2")
    if not cutoff or (definition.cutoff == "optional" and definition.number_sets == "cutoff")
]


def loading_error(record, tmp_path, path, value):
    """Return the message of loading a record that was saved and changed."""
    file = tmp_path / "record.json"
    record.save(file)
    assert type(record).load(file) == record
    content = json.loads(file.read_text())
    changed(content, path, value)
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError) as caught:
        type(record).load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: not a saved {record.WHAT}: ")
    assert "pydantic" not in message
    return message.partition(": not a saved ")[2]


def example(**settings):
    return evaluate(QRELS, RUN, ["nDCG@10", "Judged@2", "DCG@5"], keep_top=2, **settings)


@pytest.mark.parametrize(
    ("settings", "path", "value", "problem"),
    [
        ({}, ("measures", 1), "nDCG@10", "measures: listed more than once: 'nDCG@10'"),
        ({}, ("measures", 1), "P@2", "measures: 'P@2' is not the canonical name of a measure"),
        ({}, ("custom_measures", "x"), SCALE, "custom_measures: 'x' is not among the measures"),
        ({}, ("counted", "queries_judged"), "nine", "counted.queries_judged: Input should be"),
        ({}, ("counted", "queries_judged"), REMOVED, "counted.queries_judged: Field required"),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(tmp_path, settings, path, value, problem):
    assert problem in loading_error(example(**settings), tmp_path, path, value)


@given(
    qrels_and_run(),
    st.sampled_from(["zero", "skip"]),
    st.sampled_from(["zero", "skip"]),
    st.booleans(),
)
def test_every_result_of_every_measure_loads(
    tmp_path_factory, case, missing, no_relevant, drop_identical_ids
):
    path = tmp_path_factory.mktemp("saved") / "r.json"
    result = evaluate(
        *case,
        EVERY_MEASURE,
        missing=missing,
        no_relevant=no_relevant,
        duplicates="keep",
        drop_identical_ids=drop_identical_ids,
        keep_top=2,
    )
    result.save(path)
    assert EvaluationResult.load(path) == result


def test_a_list_with_one_result_loads_and_one_with_several_names_them(tmp_path):
    path = tmp_path / "results.json"
    saved = [
        evaluate(QRELS, RUN, ["MRR"], name=name).model_dump(mode="json") for name in ("A", "B")
    ]
    path.write_text(json.dumps(saved[:1]))
    assert EvaluationResult.load(path) == evaluate(QRELS, RUN, ["MRR"], name="A")
    path.write_text(json.dumps(saved))
    with pytest.raises(ResultError, match="the file has 2: 'A', 'B'"):
        EvaluationResult.load(path)


def comparisons():
    """Return a comparison of each class."""
    results = {
        name: evaluate(QRELS, run, ["MRR", "nDCG@10"], name=name)
        for name, run in {"step 1": RUN, "step 2": BETTER}.items()
    }
    third = results | {"step 3": results["step 1"].model_copy(update={"name": "step 3"})}
    by_dataset = {name: {"one": result, "two": result} for name, result in third.items()}
    return {
        "compare": compare(third, baseline="step 1"),
        "pairs": compare(third),
        "runs": compare_runs(QRELS, {"A": RUN, "B": BETTER}, ["MRR"]),
        "slices": compare_slices(results, {q: str(i % 3) for i, q in enumerate(QRELS)}),
        "curve": checkpoint_curve(third),
        "benchmark": compare_benchmark(by_dataset, measure="MRR"),
    }


COMPARISONS = comparisons()


@pytest.mark.parametrize(
    ("kind", "path", "value", "problem"),
    [
        ("compare", ("means", 0, "mean"), None, "means.0.mean: Input should be"),
        ("compare", ("baseline",), "other", "baseline: 'other' is not among the systems"),
        ("compare", ("settings", "alpha"), 2, "settings: "),
        ("pairs", ("query_ids", 0), "q1", "query_ids: listed more than once: 'q1'"),
        ("runs", ("query_ids",), ["q0"], "scores must hold"),
        ("slices", ("measures", 0), "RR", "measures: 'RR' is not the canonical name of a measure"),
        ("slices", ("custom_measures", "MRR"), SCALE, "custom_measures: 'MRR' is not among the"),
    ],
)
def test_a_comparison_that_contradicts_itself_is_refused(tmp_path, kind, path, value, problem):
    assert problem in loading_error(COMPARISONS[kind], tmp_path, path, value)
