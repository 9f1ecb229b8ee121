"""An error of a worker arrives with its class and its message, whatever Spark puts around it."""

import pickle

import pytest

from beir_eval import errors
from beir_eval.integrations.spark.worker import (
    BEGIN,
    END,
    as_worker_error,
    decoded,
    worker_errors_raised,
)

CLASSES = [
    error_class
    for error_class in vars(errors).values()
    if isinstance(error_class, type)
    and issubclass(error_class, errors.BeirEvalError)
    and error_class not in {errors.FileFormatError, errors.MissingExtraError}
]


@pytest.mark.parametrize("error_class", CLASSES)
def test_class_and_message_arrive(error_class):
    message = """the id "a\\b" of 'q1' is null:\n]:END ["x"] — remedy"""
    error = decoded(f"Traceback\n  RuntimeError: {as_worker_error(error_class(message))}\nSQLSTATE")
    assert type(error) is error_class
    assert str(error) == message
    assert str(pickle.loads(pickle.dumps(error))) == message  # noqa: S301 - made here


def test_a_missing_package_arrives_with_its_message():
    original = errors.MissingExtraError("polars", "spark", "a worker")
    error = decoded(str(as_worker_error(original)))
    assert type(error) is errors.MissingExtraError
    assert str(error) == str(original)


def test_the_first_of_several_errors_counts():
    texts = [str(as_worker_error(errors.RunError(name))) for name in ("first", "second")]
    assert str(decoded(" Caused by: ".join(texts))) == "first"


@pytest.mark.parametrize(
    "text", ["", "JVM error", str(as_worker_error(errors.RunError("x" * 99)))[:60]]
)
def test_other_errors_are_none_of_ours(text):
    assert decoded(text) is None


def test_spark_s_own_errors_pass_unchanged():
    with pytest.raises(ZeroDivisionError), worker_errors_raised():
        raise ZeroDivisionError
    with pytest.raises(errors.RunError, match="null") as caught, worker_errors_raised():
        raise as_worker_error(errors.RunError("an id is null"))
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("text", [f'"]{END}', f'{BEGIN}["', f'"]{END} {BEGIN}["RunError", "'])
def test_ids_that_look_like_the_marks_change_nothing(text):
    error = decoded(f"Spark: {as_worker_error(errors.RunError(f'query {text!r} is odd'))} SQLSTATE")
    assert type(error) is errors.RunError
    assert str(error) == f"query {text!r} is odd"


def test_the_complete_text_counts_after_a_shortened_one():
    text = str(as_worker_error(errors.RunError("x" * 99)))
    assert str(decoded(f"{BEGIN} {text[:60]}… {text}")) == "x" * 99
