"""Arguments that look right and are not: paths, texts in place of lists, ids beyond Unicode."""

import warnings

import pytest

import beir_eval
from beir_eval import evaluate
from beir_eval.core.files import as_path
from beir_eval.errors import InputError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
RUNS = {
    "A": {"q1": {"a": 1.0, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}},
    "B": {"q1": {"a": 0.1, "c": 0.5}, "q2": {"a": 0.1, "b": 0.2}},
}
RESULTS = [evaluate(QRELS, run, ["nDCG@10"], name=name, keep_top=3) for name, run in RUNS.items()]
RESULT = RESULTS[0]


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


def test_grades_from_2_to_the_53_are_no_error_of_arithmetic():
    qrels = {"q": {"a": 2**53, "b": 1, "c": 3, "d": 2**60}}
    run = {"q": {"d": 4.0, "x": 3.0, "a": 2.0, "c": 1.0, "b": 0.5}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < evaluate(qrels, run, ["G"])["G"] <= 1
