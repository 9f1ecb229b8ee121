"""The file of a ledger: lines of JSON that are only appended, each with a hash of all before it.

The records on its lines are the settings and the baseline (``LedgerHeader``), then the looks.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import PydanticSerializationError

from beir_eval.comparison.records import Direction, store_plain_numbers
from beir_eval.comparison.verdict_sentences import signed_text
from beir_eval.core.atomic_writes import create_atomically, lock, write_all, write_errors
from beir_eval.core.files import kind_of_json, kind_of_text
from beir_eval.core.saved import FROZEN, SCHEMA_VERSION, require_all_fields
from beir_eval.errors import FileFormatError, InputError, ResultError, SettingError, check_choice
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures.scales import ScoreScale, scale_of
from beir_eval.significance.spending import LOOK_ALTERNATIVES, Spending
from beir_eval.significance.validation import check_draws, check_positive, check_seed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The most decimals of t in a sentence: as many as tell it from the value that decides.
_MOST_DECIMALS = 6
#: The statistics of all sign vectors are kept in memory, 8 or 16 bytes each.
_MOST_DRAWS = 10_000_000
#: The beginning of each line, before and after its hash.
_BEFORE_HASH, _AFTER_HASH = b'{"sha256":"', b'",'
_HASH_LENGTH = 64
_PREFIX_LENGTH = len(_BEFORE_HASH) + _HASH_LENGTH + len(_AFTER_HASH)
#: How long to wait for another process where a lock cannot wait by itself (Windows), in seconds.
_LONGEST_WAIT, _PAUSE = 600.0, 0.05
_CAN_WAIT = os.name != "nt"
_Record = TypeVar("_Record", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """The settings of a ledger, fixed at its creation; checked when they are made.

    Attributes:
        looks: the planned number of looks; None if there is none.
        reserve: the share of alpha that is kept for looks after the planned ones.
        margin: the smallest difference that matters, above 0, in the unit of the measure.
        alpha: the level of all looks together, between 0 and 1.
        alternative: "two-sided", or "greater": only "better" is a verdict.
        draws: the number of sign vectors.
        rng: the random seed, a whole number from 0.

    Raises:
        SettingError: a value that does not exist, or values that do not go together.
    """

    looks: int | None = 50
    reserve: float = 0.0
    margin: float = 0.01
    alpha: float = 0.05
    alternative: str = "two-sided"
    draws: int = 100_000
    rng: int = 0

    def __post_init__(self) -> None:
        """Check every value, and convert numpy's numbers to Python's, which JSON needs."""
        spending = self.spending  # checks alpha, looks and reserve
        check_positive("margin", self.margin)
        check_choice("alternative", self.alternative, LOOK_ALTERNATIVES)
        check_draws(self.draws)
        if self.draws > _MOST_DRAWS:
            msg = f"draws must be at most {_MOST_DRAWS:,}, not {self.draws}"
            raise SettingError(msg)
        check_seed(self.rng)
        fewest = math.ceil(1 / spending.alpha) - 1
        if self.draws < fewest:
            msg = (
                f"draws={self.draws} are too few: with alpha={self.alpha:g} no look could have a "
                f"verdict with fewer than {fewest:,}; leave draws at its default"
            )
            raise SettingError(msg)
        store_plain_numbers(self, ("reserve", "margin", "alpha"), ("looks", "draws", "rng"))

    @property
    def spending(self) -> Spending:
        """How alpha is spent over the looks."""
        return Spending(self.alpha, self.looks, self.reserve)


class LedgerHeader(BaseModel):
    """The first line of a ledger's file.

    Attributes:
        schema_version: the version of the file's layout.
        measure: the name of the measure.
        settings: the settings.
        baseline: the result of the baseline, with this measure only.
    """

    model_config = FROZEN

    schema_version: Literal[2] = 2
    measure: str
    settings: Annotated[LedgerSettings, require_all_fields(LedgerSettings)]
    baseline: EvaluationResult

    @property
    def scale(self) -> ScoreScale:
        """The bounds of the measure's scores, and whether higher ones are better."""
        return scale_of(self.measure, self.baseline.custom_measures)


class Look(BaseModel):
    """One look: one checkpoint against the baseline of the ledger.

    Attributes:
        number: 1 for the first look of the ledger.
        planned: the planned number of looks; None if there is none.
        step: the name of the checkpoint.
        difference: the mean difference, checkpoint − baseline, over the queries compared.
        statistic: Σd/√Σd² of the gains d by query, or its absolute value if the ledger is
            two-sided; t is computed from it.
        bound: the look is decided if the statistic is above this; None if no signs of these
            differences could decide it, so that no verdict was possible.
        verdict: "better", "worse" or "undecided".
        level: the share of sign vectors that may be spent up to this look.
        alpha_spent: the share that is spent up to this look; at most ``level``.
        num_spent: the number of sign vectors, the observed signs included, that are spent up to
            this look.
        spent: the indices of the sign vectors that are spent at this look.
        wins, ties, losses: the number of queries on which the checkpoint is better, as good, worse.
        num_queries: the number of queries compared: those on which both have a score.
        margin: the smallest difference that matters.
        scores_sha256: the SHA-256 of the checkpoint's scores, by which a step that is recorded
            again is recognised.
        warnings: what a reader must know of the checkpoint: missing queries, ids that do not match.
    """

    model_config = FROZEN

    number: int
    planned: int | None
    step: str
    difference: float
    statistic: float
    bound: float | None
    verdict: Direction
    level: float
    alpha_spent: float
    num_spent: int
    spent: Annotated[tuple[int, ...], Field(repr=False)]
    wins: int
    ties: int
    losses: int
    num_queries: int
    margin: float
    scores_sha256: Annotated[str, Field(repr=False)]
    warnings: tuple[str, ...] = ()

    @property
    def t(self) -> float:
        """The t statistic of the mean difference; infinite if all differences are equal."""
        t = _t_of(abs(self.statistic), self.num_queries)
        return math.copysign(t, self.difference) if t else 0.0

    @property
    def critical_t(self) -> float | None:
        """The absolute t that the look had to exceed; None if no verdict was possible."""
        return None if self.bound is None else _t_of(self.bound, self.num_queries)

    @property
    def verdict_text(self) -> str:
        """The verdict, and whether the estimate of the difference is below the margin."""
        is_small = self.verdict != "undecided" and abs(self.difference) < self.margin
        smaller = f" by less than {self.margin:g} (estimated)" if is_small else ""
        return f"{self.verdict}{smaller}"

    @property
    def t_text(self) -> str:
        """The t statistic, with as many decimals as tell it from ``critical_t``."""
        return self._texts()[0]

    @property
    def critical_text(self) -> str:
        """``critical_t`` as text; "none" if no verdict was possible."""
        return self._texts()[1]

    def _texts(self) -> tuple[str, str]:
        t, critical = self.t, self.critical_t
        if critical is None:
            return f"{t:.1f}", "none"
        for decimals in range(1, _MOST_DECIMALS + 1):
            texts = f"{t:.{decimals}f}", f"{critical:.{decimals}f}"
            if texts[0].lstrip("-") != texts[1]:
                break
        return texts

    def __str__(self) -> str:
        """Return the look in a sentence.

        >>> look = Look(
        ...     number=7, planned=50, step="step-700", difference=0.012, statistic=2.086,
        ...     bound=2.87, verdict="undecided", level=0.007, alpha_spent=0.007, num_spent=700,
        ...     spent=(), wins=9, ties=280, losses=11, num_queries=300, margin=0.01,
        ...     scores_sha256="",
        ... )
        >>> str(look)
        'look 7 of 50: +0.0120, t = 2.1, undecided (2.9 decides)'
        """
        label = f"look {self.number:,}"
        if self.planned is not None:
            is_planned = self.number <= self.planned
            label += f" of {self.planned:,}" if is_planned else f" ({self.planned:,} planned)"
        decides = "no verdict was possible"
        if self.bound is not None:
            decides = f"{self.critical_text} decides"
        return (
            f"{label}: {signed_text(self.difference)}, t = {self.t_text}, {self.verdict_text} "
            f"({decides})"
        )


def _t_of(statistic: float, num_queries: int) -> float:
    """Return the t statistic of Σd/√Σd² over n queries: u·√((n − 1)/(n − u²)), u >= 0."""
    rest = num_queries - statistic**2
    # Of equal differences the rest is 0 but for rounding.
    if rest <= num_queries * 1e-12:
        return math.inf
    return statistic * math.sqrt((num_queries - 1) / rest)


class LedgerContent(NamedTuple):
    """What the file of a ledger holds.

    Attributes:
        header: the first line.
        looks: the further lines.
        last_hash: the hash of the last line.
        size: the bytes of all complete lines. A last line without its end was never acknowledged.
    """

    header: LedgerHeader
    looks: tuple[Look, ...]
    last_hash: bytes
    size: int


class LockedLedger:
    """The file of a ledger, locked for other processes.

    Args:
        path: the file.
        file: the file, open for reading and writing without a buffer.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.content = read_content(path, file.read())

    def append(self, look: Look) -> None:
        """Append a look, and wait until it is on the disk.

        Raises:
            ResultError: a text in it is not Unicode.
            OSError: the file cannot be written; it has no part of the look then.
        """
        content = self.content
        line, _ = _line_of(look, content.last_hash)
        with write_errors(self._path):
            try:
                self._file.truncate(content.size)  # a line that an interruption has cut off
                self._file.seek(content.size)
                write_all(self._file, line)
                os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):
                    self._file.truncate(content.size)
                raise


def create_ledger_file(path: Path, header: LedgerHeader) -> None:
    """Create the file of a ledger without looks.

    Raises:
        FileExistsError: the file exists.
        InputError: there is no such folder, or its file system cannot lock files.
        ResultError: a text in the header is not Unicode.
        OSError: the file cannot be written.
    """
    line, _ = _line_of(header, b"")
    if not path.absolute().parent.is_dir():
        msg = f"{path}: there is no folder {path.absolute().parent}; make it first"
        raise InputError(msg)
    with write_errors(path), tempfile.TemporaryFile(dir=path.absolute().parent) as probe:
        if not lock(probe):
            raise _no_locks_error(path)
    create_atomically(path, line)


def read_ledger_file(path: Path) -> LedgerContent:
    """Return the content of the file; a last line that is being written is not part of it.

    Raises:
        FileFormatError: the file is not a ledger, is of another version, or a line of it was
            changed or damaged; the message names the line.
        OSError: the file cannot be read.
    """
    return read_content(path, path.read_bytes())


@contextmanager
def locked_ledger(path: Path) -> Iterator[LockedLedger]:
    """Lock the file, as soon as no other process has it locked, and read it.

    Raises:
        InputError: the file system cannot lock files, or the file was deleted meanwhile.
        FileFormatError: as ``read_ledger_file``.
        OSError: the file cannot be opened.
    """
    with path.open("r+b", buffering=0) as file:
        deadline = time.monotonic() + _LONGEST_WAIT
        while not lock(file):
            if _CAN_WAIT or time.monotonic() > deadline:
                raise _no_locks_error(path)
            time.sleep(_PAUSE)
        if not os.fstat(file.fileno()).st_nlink:
            msg = f"{path}: the ledger was deleted while another process recorded a look"
            raise InputError(msg)
        yield LockedLedger(path, file)


def _no_locks_error(path: Path) -> InputError:
    msg = (
        f"{path}: the file cannot be locked, so that two processes could record at once; nothing "
        "was written. Keep the ledger on a file system with locks, such as a local disk"
    )
    return InputError(msg)


def _line_of(record: BaseModel, previous_hash: bytes) -> tuple[bytes, bytes]:
    """Return the line of a record, and its hash.

    Raises:
        ResultError: a text is not Unicode.
    """
    try:
        content = record.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        msg = f"not recorded, a name or an id is not Unicode: {error}"
        raise ResultError(msg) from error
    line_hash = _hash_of(content, previous_hash)
    return _BEFORE_HASH + line_hash + _AFTER_HASH + content[1:] + b"\n", line_hash


def _hash_of(content: bytes, previous_hash: bytes) -> bytes:
    """Return the SHA-256 of a line's content and the hash before it, in hexadecimal digits."""
    return hashlib.sha256(previous_hash + content).hexdigest().encode()


def read_content(path: Path, data: bytes) -> LedgerContent:
    """Return the content of the bytes of a file.

    Args:
        path: the file, for messages.
        data: all its bytes.

    Raises:
        FileFormatError: as ``read_ledger_file``.
    """
    *lines, cut_off = data.split(b"\n")
    if not lines:
        _refuse_other_file(path, cut_off)
    _check_version(path, lines[0])
    header, last_hash = _read_line(path, 1, lines[0], b"", LedgerHeader)
    looks: list[Look] = []
    for number, line in enumerate(lines[1:], start=2):
        look, last_hash = _read_line(path, number, line, last_hash, Look)
        looks.append(look)
    return LedgerContent(header, tuple(looks), last_hash, len(data) - len(cut_off))


def _read_line(
    path: Path, number: int, line: bytes, previous_hash: bytes, kind: type[_Record]
) -> tuple[_Record, bytes]:
    """Return the record of a line, and its hash.

    Raises:
        FileFormatError: the line was changed or damaged.
    """
    line_hash = line[len(_BEFORE_HASH) : len(_BEFORE_HASH) + _HASH_LENGTH]
    content = b"{" + line[_PREFIX_LENGTH:]
    if line[:_PREFIX_LENGTH] != _BEFORE_HASH + _hash_of(content, previous_hash) + _AFTER_HASH:
        problem = (
            "the line was changed or is damaged: its SHA-256 does not fit the line and those "
            "before it. What the ledger says no longer holds; restore the file from a copy"
        )
        raise FileFormatError(path, problem, line=number)
    try:
        return kind.model_validate(json.loads(content)), line_hash
    except (ValidationError, ValueError, RecursionError) as error:
        problem = f"not a line of a ledger of layout {SCHEMA_VERSION}: {error}"
        raise FileFormatError(path, problem, line=number) from error


def _check_version(path: Path, line: bytes) -> None:
    """Raise FileFormatError unless a line is the first of a ledger of this version."""
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        first = None
    if not isinstance(first, dict) or not {"sha256", "schema_version"} <= first.keys():
        _refuse_other_file(path, line)
    elif first["schema_version"] != SCHEMA_VERSION:
        problem = (
            f"a ledger of layout {SCHEMA_VERSION} was expected, found schema_version "
            f"{first['schema_version']!r}; use the version of beir-eval that wrote it, or begin "
            "another ledger"
        )
        raise FileFormatError(path, problem, line=1)


def _refuse_other_file(path: Path, line: bytes) -> None:
    """Raise FileFormatError for a file that does not begin as a ledger does."""
    text = line.decode("utf-8", "replace")
    try:
        kind, _ = kind_of_json(json.loads(text))
    except (ValueError, RecursionError):
        kind, _ = kind_of_text(text)
    actual = f"this is {kind}, " if kind else "the file is empty, " if not line else ""
    problem = f"{actual}not a ledger; name a new file to begin a ledger"
    raise FileFormatError(path, problem, line=1)
