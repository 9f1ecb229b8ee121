"""Errors of Python workers as text: of an exception in a worker, Spark keeps only the text."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from beir_eval import errors

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What surrounds the class and the message of an error, as a JSON list.
BEGIN, END = "BEIR_EVAL_ERROR:", ":BEIR_EVAL_END"

_DECODER = json.JSONDecoder()


def as_worker_error(error: errors.BeirEvalError) -> RuntimeError:
    """Return what a worker raises, so that ``decoded`` finds class and message in Spark's error."""
    content = json.dumps([type(error).__name__, str(error)], ensure_ascii=False)
    return RuntimeError(f"{BEGIN}{content}{END}")


def decoded(text: str) -> errors.BeirEvalError | None:
    """Return the error that a worker raised, from the text of Spark's error; None if there is none.

    >>> decoded(f"PythonException: {as_worker_error(errors.RunError('an id is null'))} SQLSTATE")
    RunError('an id is null')
    """
    position = text.find(BEGIN)
    while position >= 0:
        try:
            # JSON knows where it ends: ids in the message may contain BEGIN or END.
            (name, message), _ = _DECODER.raw_decode(text, position + len(BEGIN))
        except (TypeError, ValueError):  # shortened on the way, or not ours
            position = text.find(BEGIN, position + 1)
        else:
            return _error_of(name, message)
    return None


def _error_of(name: str, message: str) -> errors.BeirEvalError:
    """Return an error with this message.

    Args:
        name: the name of its class.
        message: its text.
    """
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
