"""Terminal output of all commands: tables, errors, warnings. Also checks of output files."""

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

from beir_eval.errors import (
    BeirEvalError,
    BeirEvalWarning,
    InputError,
    escape_controls,
    message_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment

    from beir_eval.display import tables

#: The width of output that does not go to a terminal: too large for any line to wrap.
UNWRAPPED = 10_000
#: The smallest width to which labels are folded, and the width of the gap behind a column.
_NARROWEST_LABEL, _GAP = 16, 2
VERDICT_COLOURS = {"better": "green", "worse": "red", "equal": "cyan", "undecided": "default"}


class _EscapingConsole(Console):
    r"""A console that prints control characters of texts as escapes, such as ``\x1b``.

    Names and messages come from files and other programs; a terminal would interpret them.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield the segments of an object, with escapes in all that are not rich's own codes."""
        for segment in super().render(renderable, options):
            yield (
                segment if segment.control else segment._replace(text=escape_controls(segment.text))
            )


def _new_console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return _EscapingConsole(stderr=stderr, width=width, highlight=False)


console = _new_console(stderr=False)
error_console = _new_console(stderr=True)


def fail(message: str) -> NoReturn:
    """Print an error on one line of standard error and end with exit code 2."""
    error_console.print(Text.assemble(("error: ", "bold red"), _one_line(message)))
    raise typer.Exit(2)


def _one_line(message: str) -> str:
    """Return a message on one line, with control characters as escapes, of limited length."""
    return " ".join(message_text(message).split())


def warn(message: str) -> None:
    """Print a warning on one line of standard error."""
    error_console.print(Text.assemble(("warning: ", "bold yellow"), _one_line(message)))


#: The warnings that ``print_warnings`` printed since the last ``print_errors`` began.
_printed_warnings: set[str] = set()


def print_warnings(sentences: Iterable[str]) -> None:
    """Print warnings that belong to the output, before it; standard error does not repeat them."""
    for sentence in sentences:
        _printed_warnings.add(sentence)
        console.print(Text.assemble(("warning: ", "bold yellow"), escape_controls(sentence)))


def check_targets(read: Sequence[Path], written: Sequence[Path | None]) -> None:
    """Check that no output file is also an input file, and that no two are the same file.

    Args:
        read: the input files.
        written: the output files; None for an option that is not used.

    Raises:
        InputError: a file is named twice.
    """
    taken = {path.resolve() for path in read}
    for path in filter(None, written):
        if path.resolve() in taken:
            msg = f"{path} is named twice on this command; write to another file"
            raise InputError(msg)
        taken.add(path.resolve())


@contextmanager
def print_errors() -> Iterator[None]:
    """Print errors and warnings of the package without a traceback, one line each.

    An error ends the command with exit code 2.
    """
    _printed_warnings.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BeirEvalWarning)
        try:
            yield
        except BeirEvalError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        finally:
            texts = [
                str(warning.message)
                for warning in caught
                if issubclass(warning.category, BeirEvalWarning)
            ]
            for text in texts:
                if text not in _printed_warnings:
                    warn(text)


def new_table() -> Table:
    """Return an empty table in the style of all commands."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def print_table(table: tables.Table) -> None:
    """Print a table, with verdicts in colour.

    If the terminal is too narrow, labels and headings are folded. If it is too narrow even for the
    numbers, each row is printed as ``heading value, …``. Numbers are never folded: a part of a
    number on a line of its own would be read as another number.
    """
    output, widths = new_table(), _column_widths(table)
    if widths is None:
        for row in table.rows:
            pairs = zip(table.header, map(_coloured, row), strict=True)
            console.print(Text(", ").join(Text(f"{name} ").append(cell) for name, cell in pairs))
        console.print()
        return
    for column, (text, width) in enumerate(zip(table.header, widths, strict=True)):
        justify: Literal["left", "right"] = "right" if column else "left"
        output.add_column(
            _folded(Text(escape_controls(text)), width), justify=justify, no_wrap=True
        )
    for row in table.rows:
        output.add_row(*map(_folded, map(_coloured, row), widths))
    console.print(output)


def _column_widths(table: tables.Table) -> list[int] | None:
    """Return the width of every column; None if the terminal is too narrow for the numbers."""
    columns = [
        [escape_controls(str(cell)) for cell in column]
        for column in zip(table.header, *table.rows, strict=True)
    ]
    full = [max(map(cell_len, column)) for column in columns]
    numbers = [max(map(cell_len, column[1:]), default=0) for column in columns]
    widths = [min(full[0], _NARROWEST_LABEL), *numbers[1:]]
    spare = console.width - sum(widths) - _GAP * len(widths)
    if spare < 0:
        return None
    # Widen each column by one character in turn, so that short headings fit first.
    while spare and widths != full:
        narrow = [column for column, width in enumerate(widths) if width < full[column]][:spare]
        for column in narrow:
            widths[column] += 1
        spare -= len(narrow)
    return widths


def _folded(text: Text, width: int) -> Text:
    """Return the text, folded into lines of at most ``width`` characters.

    Columns of a fixed width would be simpler, but rich 13.7 makes them too narrow for a number.
    """
    return Text("\n").join(text.wrap(console, width, overflow="fold"))


def _coloured(cell: str | tables.Cell) -> Text:
    """Return the text of a cell, in the colour of its verdict if it has one."""
    return Text(
        escape_controls(str(cell)), style=VERDICT_COLOURS.get(getattr(cell, "verdict", ""), "")
    )
