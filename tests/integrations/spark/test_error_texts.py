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
#: Its message is made of its arguments.
MISSING = errors.MissingExtraError("polars", "spark", "a worker")


@pytest.mark.parametrize("error_class", CLASSES)
def test_class_and_message_arrive(error_class):
    message = """the id "a\\b" of 'q1' is null:\n]:END ["x"] — remedy"""
    error = decoded(f"Traceback\n  RuntimeError: {as_worker_error(error_class(message))}\nSQLSTATE")
    assert type(error) is error_class
    assert str(error) == message
    assert str(pickle.loads(pickle.dumps(error))) == message  # noqa: S301 - made here


def sent(message):
    return str(as_worker_error(errors.RunError(message)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{sent('first')} Caused by: {sent('second')}", "first"),
        (f"{BEGIN} {sent('x' * 99)[:60]}… {sent('x' * 99)}", "x" * 99),  # shortened, then complete
        (f"Spark: {sent(f'query {END} {BEGIN} is odd')} SQLSTATE", f"query {END} {BEGIN} is odd"),
        (str(as_worker_error(MISSING)), str(MISSING)),
    ],
)
def test_the_first_complete_error_counts_whatever_its_text_has(text, message):
    assert str(decoded(text)) == message


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
