"""Errors of Python workers as text: of an exception in a worker, Spark keeps only the text."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from beir_eval import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What surrounds the class and the message of an error, as a JSON list.
BEGIN, END = "BEIR_EVAL_ERROR:", ":BEIR_EVAL_END"

_ENCODED = re.compile(re.escape(BEGIN) + r"(\[\".*?\"\])" + re.escape(END), re.DOTALL)


def as_worker_error(error: errors.BeirEvalError) -> RuntimeError:
    """Return what a worker raises, so that ``decoded`` finds class and message in Spark's error."""
    content = json.dumps([type(error).__name__, str(error)], ensure_ascii=False)
    return RuntimeError(f"{BEGIN}{content}{END}")


def decoded(text: str) -> errors.BeirEvalError | None:
    """Return the error that a worker raised, from the text of Spark's error; None if there is none.

    >>> decoded(f"PythonException: {as_worker_error(errors.RunError('an id is null'))} SQLSTATE")
    RunError('an id is null')
    """
    match = _ENCODED.search(text)
    if match is None:
        return None
    try:
        name, message = json.loads(match[1])
    except ValueError:  # shortened on the way
        return None
    if name == "MissingExtraError":
        missing = errors.MissingExtraError("beir_eval", "spark", "a worker")
        missing.args, missing.msg = (message,), message
        return missing
    error_class = getattr(errors, name, None)
    if isinstance(error_class, type) and issubclass(error_class, errors.BeirEvalError):
        return error_class(message)
    return errors.InputError(message)


@contextmanager
def worker_errors_raised() -> Iterator[None]:
    """Raise the ``BeirEvalError`` of a worker in place of Spark's error in the ``with`` block.

    Raises:
        BeirEvalError: a worker raised it; Spark's error is its cause.
    """
    try:
        yield
    except Exception as spark_error:  # classic and Connect have a class each
        error = decoded(str(spark_error))
        if error is None:
            raise
        raise error from spark_error
