"""Every error this package raises on purpose, and its warnings.

All errors share one ancestor, so ``except BeirEvalError`` catches whatever is wrong with the
input; each also derives from the builtin that fits, so ``except ValueError`` works too::

    BeirEvalError
    ├── InputError (ValueError)            what was handed over cannot be evaluated
    │   ├── QrelsError                     the judgements
    │   ├── RunError                       the ranking
    │   │   └── DuplicateDocumentError     a document stands twice in one ranking
    │   ├── QueryMismatchError             qrels and run do not name the same queries
    │   └── FileFormatError                a file is not what it should be (``path``, ``line``)
    ├── SettingError (ValueError)          an option has no such value
    ├── MeasureError (ValueError)          a measure's parameter or cutoff is impossible
    │   └── UnknownMeasureError            no measure of that name
    ├── NotEvaluatedError (KeyError)       a result does not hold this measure
    ├── ResultError (ValueError)           results that cannot be loaded or merged
    ├── RetrievalError (RuntimeError)      a pipeline that was run for a query failed
    └── MissingExtraError (ImportError)    an optional package is not installed

A message says what was found, what was expected and what to do about it.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: How many ids a message names at most.
MOST_IDS_NAMED = 5


class BeirEvalError(Exception):
    """The ancestor of every error of this package."""


class InputError(BeirEvalError, ValueError):
    """What was handed over cannot be evaluated."""


class QrelsError(InputError):
    """The judgements are not usable: empty, contradictory, or a grade is not a number."""


class RunError(InputError):
    """The ranking is not usable: a score is not a finite number, an id is not an id."""


class DuplicateDocumentError(RunError):
    """A document stands more than once in the ranking of one query."""


class QueryMismatchError(InputError):
    """Qrels and run do not name the same queries."""


class FileFormatError(InputError):
    """A file is not what it should be.

    Attributes:
        path: the file.
        line: the 1-based line at fault, or None where no single line is.
    """

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None) -> None:
        """Say where, then what."""
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
    """An option was given a value that it does not have."""


class MeasureError(BeirEvalError, ValueError):
    """A measure's parameter or cutoff is impossible."""


class UnknownMeasureError(MeasureError):
    """There is no measure of that name."""


class NotEvaluatedError(BeirEvalError, KeyError):
    """A result does not hold the measure that was asked of it."""

    def __str__(self) -> str:
        """Return the message itself; KeyError would print it in quotes."""
        return str(self.args[0]) if self.args else ""


class ResultError(BeirEvalError, ValueError):
    """Saved results that cannot be loaded, or results that cannot be merged."""


class RetrievalError(BeirEvalError, RuntimeError):
    """A pipeline that was run for a query failed; the message names the query and the reason."""


class MissingExtraError(BeirEvalError, ImportError):
    """An optional package is not installed; the message holds the install line."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        """Name the package, what it is needed for, and the command that brings it."""
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
    """Raise MissingExtraError, with these arguments, if an import of other packages fails."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("beir_eval"):
            raise
        raise MissingExtraError(package, extra, purpose) from error


class BeirEvalWarning(UserWarning):
    """Something that changes what a number means and that nobody asked for."""


def some(ids: Iterable[object]) -> str:
    """Return the first few ids for a message, and how many more there are.

    >>> some(["q1", "q2"])
    "'q1', 'q2'"
    >>> some(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    listed = list(ids)
    shown = ", ".join(repr(one) for one in listed[:MOST_IDS_NAMED])
    rest = len(listed) - MOST_IDS_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown


def check_choice(setting: str, value: object, choices: Iterable[str]) -> None:
    """Raise SettingError unless ``value`` is one of ``choices``."""
    allowed = list(choices)
    if value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        msg = f"{setting}={value!r} is not known; choose one of {listed}"
        raise SettingError(msg)


def check_count(setting: str, value: object, *, least: int = 1) -> None:
    """Raise SettingError unless ``value`` is a whole number of at least 1, or at least 0."""
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_whole or value.__index__() < least:  # type: ignore[attr-defined]
        wanted = "a whole number above 0" if least else "a whole number, 0 or more"
        msg = f"{setting} must be {wanted}, not {value!r}"
        raise SettingError(msg)
