"""Looks in a ledger, which ``ledger add`` and ``haystack`` record: settings, creation, output."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_warnings
from beir_eval.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.ledger import Ledger, Look
    from beir_eval.evaluation.result import EvaluationResult

#: The value of ``--looks`` for no planned number.
OPEN_ENDED = "open"
LOOKS = typer.Option(
    help="The planned number of looks of a new ledger, or open for no planned number."
    "  [default: 50]"
)


def number_of_looks(text: str) -> int | None:
    """Return the value of ``--looks``: a number, or None for "open"."""
    if text == OPEN_ENDED:
        return None
    try:
        return int(text)
    except ValueError as error:
        msg = f"--looks must be a whole number above 0 or {OPEN_ENDED}, not {shown(text)}"
        raise InputError(msg) from error


def open_or_create(
    path: Path,
    baseline: EvaluationResult | None,
    measure: str | None,
    stated: Mapping[str, Any],
    remedy: str,
) -> Ledger:
    """Return the ledger, created if its file does not exist.

    Args:
        path: the file.
        baseline: the result of the baseline; None: that of an existing ledger.
        measure: the measure; None: that of an existing ledger.
        stated: the settings on the command line, by their names in Python.
        remedy: what creates a ledger, for the message.

    Raises:
        InputError: there is no such ledger, and baseline or measure are not stated.
        SettingError, ResultError: what is stated is not what an existing ledger has.
    """
    from beir_eval.comparison.ledger import Ledger  # noqa: PLC0415

    if path.exists():
        existing = Ledger.open(path)
        settings = {**asdict(existing.settings), **stated}
        return Ledger(path, baseline or existing.baseline, measure or existing.measure, **settings)
    if baseline is None or measure is None:
        msg = f"{path}: there is no such ledger; {remedy}"
        raise InputError(msg)
    return Ledger(path, baseline, measure, **stated)


def print_looks(looks: Sequence[Look]) -> None:
    """Print a line for each look, after its warnings."""
    for look in looks:
        print_warnings(look.warnings)
        style = f"bold {VERDICT_COLOURS[look.verdict]}"
        console.print(Text(f"{look.step}: {look}", style=style))
