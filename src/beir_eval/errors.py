"""The errors and the warning class of this package, and the checks of settings.

The errors that this package defines derive from ``BeirEvalError``, so ``except BeirEvalError``
catches invalid input and settings. Each also derives from the builtin that fits, so ``except
ValueError`` works too. A file that cannot be opened or written raises OSError, which is not a
``BeirEvalError``::

    BeirEvalError
    ├── InputError (ValueError)            the input cannot be evaluated
    │   ├── QrelsError                     the judgements are not usable
    │   │   └── DisagreeingJudgementsError a document is judged twice, with different grades
    │   ├── RunError                       the run is not usable
    │   │   └── DuplicateDocumentError     a document is listed twice in one ranking
    │   ├── QueryMismatchError             qrels and run do not name the same queries
    │   └── FileFormatError                a file is damaged or in another format
    ├── SettingError (ValueError)          an invalid value of an option
    ├── MeasureError (ValueError)          a measure that is invalid or does not fit the grades
    │   └── UnknownMeasureError            no measure has this name
    ├── NotEvaluatedError (KeyError)       a result does not contain this measure, system, …
    ├── ResultError (ValueError)           results cannot be loaded or compared
    ├── RetrievalError (RuntimeError)      a pipeline failed on a query
    └── MissingExtraError (ImportError)    an optional package is not installed

A message names what was found; most also say what was expected and how to fix it.
"""

from __future__ import annotations

import operator
import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Any

#: The largest number of ids that a message lists.
MAX_IDS_SHOWN = 5
#: The largest number of characters of a value, and of any word, that a message shows.
MAX_VALUE_SHOWN, MAX_WORD_SHOWN = 80, 500
#: The largest number of characters of a message.
MAX_MESSAGE_LENGTH = 5_000

#: The characters that a terminal interprets, other than the line break: control characters, marks
#: that reverse the direction of text, separators of lines; and surrogates, which are not Unicode.
_NOT_SHOWN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD_SHOWN + 1},}}")


def escape_controls(text: str) -> str:
    r"""Return text with an escape such as ``\x1b`` for each character that a terminal interprets.

    These are control characters but the line break, marks of the direction of text, separators of
    lines, and surrogates. All other text is returned unchanged.

    >>> print(escape_controls("a\x1b[2J"))
    a\x1b[2J
    """
    if text.isprintable():
        return text
    return _NOT_SHOWN.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str) -> str:
    r"""Return text on one line: as ``escape_controls``, and with ``\n`` for each line break.

    A name with a line break could begin a line of the output with any words.

    >>> print(one_line("bm25\nverdict: better"))
    bm25\nverdict: better
    """
    return escape_controls(text).replace("\n", "\\n")


def shorten(text: str, length: int) -> str:
    """Return text of at most ``length`` characters: of longer text the beginning and the end.

    >>> shorten("0123456789", 8)
    '0123…789'
    """
    if len(text) <= length:
        return text
    end = (length - 1) // 2
    return f"{text[: length - 1 - end]}…{text[len(text) - end :]}"


def shown(value: object) -> str:
    """Return ``repr(value)`` for a message, shortened; never raise an error.

    >>> shown("q1"), len(shown("q" * 1000)), shown(10**5000)
    ("'q1'", 80, 'a whole number of 16610 bits')
    """
    if type(value) is str:
        return shorten(repr(shorten(value, 10 * MAX_VALUE_SHOWN)), MAX_VALUE_SHOWN)
    try:
        return shorten(repr(value), MAX_VALUE_SHOWN)
    except Exception:  # noqa: BLE001 - an object of another library's class
        if isinstance(value, int):
            return f"a whole number of {value.bit_length()} bits"
        return f"an object of type {type(value).__name__}"


def message_text(text: str) -> str:
    """Return the text of a message: control characters as escapes, long words and texts shortened.

    Args:
        text: the message, which may quote ids, names and errors of any length.
    """
    # Shortened first too: the escapes of megabytes would take seconds.
    return _shorten_parts(escape_controls(_shorten_parts(text)))


def _shorten_parts(text: str) -> str:
    """Return text with its long words, and then the whole, shortened."""
    if len(text) > MAX_WORD_SHOWN:
        text = _LONG_WORD.sub(lambda match: shorten(match[0], MAX_WORD_SHOWN), text)
    return shorten(text, MAX_MESSAGE_LENGTH)


class BeirEvalError(Exception):
    """The base class of every error of this package.

    Control characters in a message are shown as escapes, and long words are shortened.
    """

    def __init__(self, *args: object) -> None:
        """Keep the message, as ``message_text`` returns it."""
        super().__init__(*(message_text(arg) if isinstance(arg, str) else arg for arg in args))


class InputError(BeirEvalError, ValueError):
    """An input that cannot be evaluated: qrels, a run, a file, or other arguments."""


class QrelsError(InputError):
    """Judgements that are not usable: empty, contradictory, or with an invalid id or grade."""


class DisagreeingJudgementsError(QrelsError):
    """A document that is judged twice for a query, with different grades.

    Attributes:
        columns: the query ids, document ids and grades of all rows, so that ``validate`` can list
            every disagreement.
        iterations: the different texts in the second column of TREC qrels, if that tells all
            judgements apart; else empty.
    """

    def __init__(
        self,
        *args: object,
        columns: Sequence[Sequence[Any]] = ((), (), ()),
        iterations: Sequence[str] = (),
    ) -> None:
        """Set the message and keep the rows."""
        self.columns, self.iterations = columns, iterations
        super().__init__(*args)


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
    """Results that cannot be loaded from a file, compared or shown together."""


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


@contextmanager
def about_system(name: str) -> Iterator[None]:
    """Begin the message of an InputError inside the ``with`` block with the name of a system."""
    try:
        yield
    except InputError as error:
        error.args = (f"{name}: {error}",)
        raise


class BeirEvalWarning(UserWarning):
    """A warning that something changes the meaning of a score, such as ids that do not match."""


#: How modules between the user's line and a warning begin: ours, and a pipeline around ours.
_NOT_THE_USERS = (
    "beir_eval.",
    "haystack_integrations.components.evaluators.beir_eval",
    "haystack.",
)


def warn_caller(message: str) -> None:
    """Emit a BeirEvalWarning that points at the line that called this package, or a pipeline."""
    frame: FrameType | None = sys._getframe(0)  # noqa: SLF001 - as the warnings module does
    level = 1
    while frame and frame.f_globals.get("__name__", "").startswith(_NOT_THE_USERS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message_text(message), BeirEvalWarning, stacklevel=level)


def first_few(ids: Iterable[object]) -> str:
    """Return the first few ids as text for a message, and how many more there are.

    >>> first_few(["q1", "q2"])
    "'q1', 'q2'"
    >>> first_few(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    listed = list(ids)
    text = ", ".join(map(shown, listed[:MAX_IDS_SHOWN]))
    num_more = len(listed) - MAX_IDS_SHOWN
    return f"{text} and {num_more} more" if num_more > 0 else text


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun, which is in the plural unless the number is 1.

    >>> number_of(1, "query"), number_of(2, "query"), number_of(2000, "id")
    ('1 query', '2 queries', '2,000 ids')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


#: What is meant by choices whose names do not say it.
_MEANINGS = {
    "trec_eval9": " (trec_eval 9, pytrec_eval, ir_measures, BEIR: scores as float32)",
    "trec_eval10": " (trec_eval 10: scores in double precision)",
}


def check_choice(
    setting: str, value: object, choices: Iterable[str], error: type[Exception] = SettingError
) -> None:
    """Raise SettingError, or ``error``, unless ``value`` is one of ``choices``, which are texts."""
    allowed = list(choices)
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(f"{choice!r}{_MEANINGS.get(choice, '')}" for choice in allowed)
        msg = f"{setting}={shown(value)} is not known; choose one of {listed}"
        raise error(msg)


def check_count(setting: str, value: object, *, least: int = 1) -> None:
    """Raise SettingError unless ``value`` is a whole number of at least ``least`` (0 or 1)."""
    try:
        is_valid = not isinstance(value, bool) and operator.index(value) >= least  # type: ignore[arg-type]
    except TypeError:  # not a whole number, or an array of several
        is_valid = False
    if not is_valid:
        expected = "a whole number above 0" if least else "a whole number, 0 or more"
        msg = f"{setting} must be {expected}, not {shown(value)}"
        raise SettingError(msg)


def check_name(setting: str, value: object) -> None:
    """Raise SettingError unless ``value`` is text that a file can contain (valid Unicode)."""
    try:
        is_valid = isinstance(value, str) and bool(value.encode() or not value)
    except UnicodeEncodeError:
        is_valid = False
    if not is_valid:
        expected = "Unicode text" if isinstance(value, str) else "text"
        msg = f"{setting} must be {expected}, not {shown(value)}"
        raise SettingError(msg)


def check_flag(setting: str, value: object) -> None:
    """Raise SettingError unless ``value`` is True or False."""
    if not isinstance(value, bool):
        msg = f"{setting} must be True or False, not {shown(value)}"
        raise SettingError(msg)
