"""The errors and the warning class of this package, and the checks of settings.

The errors that this package defines derive from ``BeirEvalError``, so ``except BeirEvalError``
catches invalid input and settings. Each also derives from the builtin that fits, so ``except
ValueError`` works too. A file that cannot be opened or written raises OSError, which is not a
``BeirEvalError``::

    BeirEvalError
    ├── InputError (ValueError)            the input cannot be evaluated
    │   ├── QrelsError                     the judgements are not usable
    │   ├── RunError                       the run is not usable
    │   │   └── DuplicateDocumentError     a document is listed twice in one ranking
    │   ├── QueryMismatchError             qrels and run do not name the same queries
    │   └── FileFormatError                a file is damaged or in another format
    ├── SettingError (ValueError)          an invalid value of an option
    ├── MeasureError (ValueError)          a measure that is invalid or does not fit the grades
    │   └── UnknownMeasureError            no measure has this name
    ├── NotEvaluatedError (KeyError)       a result does not contain this measure, system, …
    ├── ResultError (ValueError)           results cannot be loaded, merged or compared
    ├── RetrievalError (RuntimeError)      a pipeline failed on a query
    └── MissingExtraError (ImportError)    an optional package is not installed

A message names what was found; most also say what was expected and how to fix it.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

#: The largest number of ids that a message lists.
MAX_IDS_SHOWN = 5


class BeirEvalError(Exception):
    """The base class of every error of this package."""


class InputError(BeirEvalError, ValueError):
    """An input that cannot be evaluated: qrels, a run, a file, or other arguments."""


class QrelsError(InputError):
    """Judgements that are not usable: empty, contradictory, or with an invalid id or grade."""


class RunError(InputError):
    """A run that is not usable: of the wrong type or shape, or with an invalid id or score."""


class DuplicateDocumentError(RunError):
    """A document that is listed more than once in the ranking of one query."""


class QueryMismatchError(InputError):
    """Queries that do not match: of qrels and a run, or of results that are compared."""


class FileFormatError(InputError):
    """A file whose content is damaged or not of the expected format.

    Attributes:
        path: the file.
        line: the 1-based number of the line with the problem; None if it is not a single line.
        problem: the description of the problem, without path and line.
    """

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None) -> None:
        """Set the message: path and line, then the problem."""
        self.path = Path(path)
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments, so that the error survives a process pool."""
        return _rebuild_file_format_error, (self.path, self.problem, self.line)


def _rebuild_file_format_error(path: Path, problem: str, line: int | None) -> FileFormatError:
    return FileFormatError(path, problem, line=line)


class SettingError(BeirEvalError, ValueError):
    """An invalid value of an option, such as ``ties="random"``."""


class MeasureError(BeirEvalError, ValueError):
    """A measure with an invalid parameter or cutoff, one that does not fit the grades, or none."""


class UnknownMeasureError(MeasureError):
    """A name that no measure has."""


class NotEvaluatedError(BeirEvalError, KeyError):
    """A measure, system, data set or slice that a result does not contain."""

    def __str__(self) -> str:
        """Return the message itself; KeyError would print it in quotes."""
        return str(self.args[0]) if self.args else ""


class ResultError(BeirEvalError, ValueError):
    """Results that cannot be loaded from a file, merged, compared or shown together."""


class RetrievalError(BeirEvalError, RuntimeError):
    """A pipeline that failed on a query; the message names the query and the reason."""


class MissingExtraError(BeirEvalError, ImportError):
    """An optional package that is not installed; the message contains the install command.

    Attributes:
        package: the missing package.
        extra: the extra of beir-eval that installs it.
        purpose: what needs the package, as the message says it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        """Set the message: the purpose, the package, and the command that installs it."""
        self.package, self.extra, self.purpose = package, extra, purpose
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed. "
            f"Install it with: pip install 'beir-eval[{extra}]'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments, so that the error survives a process pool."""
        return MissingExtraError, (self.package, self.extra, self.purpose)


@contextmanager
def needs_extra(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Raise MissingExtraError with these arguments for an ImportError inside the ``with`` block.

    An ImportError that names a module of beir_eval itself is raised unchanged.

    Args:
        package: the package that the block imports.
        extra: the extra of beir-eval that installs it.
        purpose: what needs the package, for the message.

    Raises:
        MissingExtraError: an import of another package fails.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("beir_eval"):
            raise
        raise MissingExtraError(package, extra, purpose) from error


class BeirEvalWarning(UserWarning):
    """A warning that something changes the meaning of a score, such as ids that do not match."""


def warn_caller(message: str) -> None:
    """Emit a BeirEvalWarning that points at the line that called this package."""
    frame: FrameType | None = sys._getframe(0)  # noqa: SLF001 - as the warnings module does
    level = 1
    while frame and frame.f_globals.get("__name__", "").startswith("beir_eval."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, BeirEvalWarning, stacklevel=level)


def first_few(ids: Iterable[object]) -> str:
    """Return the first few ids as text for a message, and how many more there are.

    >>> first_few(["q1", "q2"])
    "'q1', 'q2'"
    >>> first_few(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    listed = list(ids)
    text = ", ".join(repr(item) for item in listed[:MAX_IDS_SHOWN])
    num_more = len(listed) - MAX_IDS_SHOWN
    return f"{text} and {num_more} more" if num_more > 0 else text


def check_choice(setting: str, value: object, choices: Iterable[str]) -> None:
    """Raise SettingError unless ``value`` is one of ``choices``."""
    allowed = list(choices)
    if value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        msg = f"{setting}={value!r} is not known; choose one of {listed}"
        raise SettingError(msg)


def check_count(setting: str, value: object, *, least: int = 1) -> None:
    """Raise SettingError unless ``value`` is a whole number of at least ``least`` (0 or 1)."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_whole or value.__index__() < least:  # type: ignore[attr-defined]
        expected = "a whole number above 0" if least else "a whole number, 0 or more"
        msg = f"{setting} must be {expected}, not {value!r}"
        raise SettingError(msg)
