"""The terminal, as all commands use it: tables, errors; checks of files to write."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NoReturn

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beir_eval.errors import BeirEvalError, BeirEvalWarning, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from beir_eval.display import tables

#: Output that is not read on a screen is never wrapped.
UNWRAPPED = 10_000
#: Labels are folded to no fewer characters than these; the blanks that a column takes.
_NARROWEST_LABEL, _GAP = 16, 2
VERDICT_COLOURS = {"better": "green", "worse": "red", "equal": "cyan", "undecided": "default"}


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return Console(stderr=stderr, width=width, highlight=False)


console = _console(stderr=False)
stderr = _console(stderr=True)


def fail(message: str) -> NoReturn:
    """Print one line and end with exit code 2."""
    stderr.print(Text.assemble(("error: ", "bold red"), " ".join(message.split())))
    raise typer.Exit(2)


def warn(message: str) -> None:
    """Print one line."""
    stderr.print(Text.assemble(("warning: ", "bold yellow"), " ".join(message.split())))


def check_targets(read: Sequence[Path], written: Sequence[Path | None]) -> None:
    """Raise InputError where a file would be written over one that is read or written too."""
    taken = {path.resolve() for path in read}
    for path in filter(None, written):
        if path.resolve() in taken:
            msg = f"{path} is named twice on this command; write to another file"
            raise InputError(msg)
        taken.add(path.resolve())


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn bad input into one line and exit code 2, and warnings into one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BeirEvalWarning)
        try:
            yield
        except BeirEvalError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        finally:
            for one in caught:
                if issubclass(one.category, BeirEvalWarning):
                    warn(str(one.message))


def new_table() -> Table:
    """Return an empty table as all commands show them."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def print_table(table: tables.Table) -> None:
    """Print a table, verdicts in their colours.

    Where the terminal is too narrow, labels and headings are folded, and if that does not help, a
    row becomes a line of its own: a number broken over two lines reads as another number.
    """
    shown, widths = new_table(), _widths(table)
    if widths is None:
        for row in table.rows:
            pairs = zip(table.header, map(_coloured, row), strict=True)
            console.print(Text(", ").join(Text(f"{name} ").append(cell) for name, cell in pairs))
        console.print()
        return
    for column, (text, width) in enumerate(zip(table.header, widths, strict=True)):
        justify: Literal["left", "right"] = "right" if column else "left"
        shown.add_column(_folded(Text(text), width), justify=justify, no_wrap=True)
    for row in table.rows:
        shown.add_row(*map(_folded, map(_coloured, row), widths))
    console.print(shown)


def _widths(table: tables.Table) -> list[int] | None:
    """Return the width of every column, None if the terminal is too narrow for the numbers."""
    columns = list(zip(table.header, *table.rows, strict=True))
    full = [max(cell_len(str(cell)) for cell in column) for column in columns]
    numbers = [max((cell_len(str(cell)) for cell in column[1:]), default=0) for column in columns]
    widths = [min(full[0], _NARROWEST_LABEL), *numbers[1:]]
    spare = console.width - sum(widths) - _GAP * len(widths)
    if spare < 0:
        return None
    # One character each in turn, so that short headings are whole first.
    while spare and widths != full:
        narrow = [column for column, width in enumerate(widths) if width < full[column]][:spare]
        for column in narrow:
            widths[column] += 1
        spare -= len(narrow)
    return widths


def _folded(text: Text, width: int) -> Text:
    """Return the text in lines of this width.

    Columns of a fixed width would be simpler, but rich 13.7 makes them too narrow for a number.
    """
    return Text("\n").join(text.wrap(console, width, overflow="fold"))


def _coloured(cell: str | tables.Cell) -> Text:
    return Text(str(cell), style=VERDICT_COLOURS.get(getattr(cell, "verdict", ""), ""))
