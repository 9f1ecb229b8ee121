"""Terminal output of all commands: tables, errors, warnings. Also checks of output files."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beir_eval.core.atomic_writes import check_can_write
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.display import tables
from beir_eval.display.tables import VERDICTS
from beir_eval.errors import (
    BeirEvalError,
    BeirEvalWarning,
    InputError,
    escape_controls,
    message_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment

    from beir_eval.display.document import Document


#: The width of output that does not go to a terminal: too large for any line to wrap.
UNWRAPPED = 10_000
#: The smallest width to which labels are folded, and the width of the gap behind a column.
_NARROWEST_LABEL, _GAP = 16, 2
VERDICT_COLOURS = {verdict: style.terminal for verdict, style in VERDICTS.items()} | {"": ""}


#: {argument: option} of the arguments that messages name and whose option has the same name.
OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *EvaluationSettings.SUMMARIES,
        "on",
        "test",
        "correction",
        "interval",
        "split",
        "rel",
        "columns",
        "clusters",
        "deterministic",
        "sd",
    )
}


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

    def print(self, *objects: Any, **options: Any) -> None:
        """Print measures as they were typed, unless the reader closed the output (``| head``)."""
        try:
            super().print(*map(_as_typed, objects), **options)
        except BrokenPipeError:  # rich before 14
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Print nothing more; the command goes on, so that its exit code is the same."""
        self.quiet = True
        with suppress(OSError, ValueError):  # a stream without a file
            # Python writes what is left in the buffer when it ends, and would fail again.
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, self.file.fileno())
            os.close(devnull)


def _new_console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return _EscapingConsole(stderr=stderr, width=width, highlight=False)


console = _new_console(stderr=False)
error_console = _new_console(stderr=True)


def fail(message: str) -> NoReturn:
    """Print an error on one line of standard error and end with exit code 2."""
    print_error_lines([message])
    raise typer.Exit(2)


def print_error_lines(messages: Iterable[str], *, in_output: bool = False) -> None:
    """Print errors on standard error, each on one line, and go on.

    Args:
        messages: the errors.
        in_output: whether standard output gets them too, unless both are the same terminal or file.
    """
    targets = [console, error_console] if in_output and not _streams_are_one() else [error_console]
    for message in messages:
        for target in targets:
            target.print(Text.assemble(("error: ", "bold red"), one_line(message)))


#: {path or other text: the words that messages show in its place}.
_shown_words: dict[str, str] = {}


def show_in_messages(text: Path | str, words: str) -> None:
    """Show words in place of a path or another text, in the errors and warnings of this command."""
    _shown_words[str(text)] = words


#: {canonical name of a measure: the name that is printed in its place}.
_typed_names: dict[str, str] = {}


def print_as_typed(names: Mapping[str, str], systems: Collection[str] = ()) -> None:
    """Print measures under other names, in all tables and sentences of this command.

    The sentences of results are complete before they are printed, and files keep the canonical
    names; so the names are replaced where texts are printed.

    Args:
        names: {canonical name: the name that the user typed}, of ``names_as_typed``.
        systems: the names of the systems; a measure with the name of a system keeps its own.
    """
    _typed_names.update({name: typed for name, typed in names.items() if name not in systems})


def _as_typed(printed: Any) -> Any:
    """Return a text with measures under the names that were typed; other objects unchanged."""
    if not _typed_names or not isinstance(printed, (str, Text)):
        return printed
    longest_first = sorted(_typed_names, key=len, reverse=True)
    # MAP is no part of MAP@10, MAP(rel=2), gm_MAP, the system my-MAP or the file MAP.x.trec.
    listed = "|".join(map(re.escape, longest_first))
    matches = list(re.finditer(rf"(?<![\w@./-])(?:{listed})(?![\w@(/-]|\.\w)", str(printed)))
    if not matches:
        return printed
    text = printed if isinstance(printed, Text) else Text(printed)
    # The parts between the matches, and the matches, in turn.
    parts = text.divide([offset for match in matches for offset in match.span()])
    for part, match in zip(parts[1::2], matches, strict=True):
        part.plain = _typed_names[match[0]]
    joined = text.blank_copy("").join(parts)
    return joined if isinstance(printed, Text) else joined.plain


@contextmanager
def naming_options(**options: str) -> Iterator[None]:
    """Name options in place of arguments in the errors of the ``with`` block.

    Args:
        options: {argument: option}, such as ``format="--from"``, for arguments whose option has
            another name, or of which a command has several.
    """
    try:
        yield
    except BeirEvalError as error:
        error.args = tuple(
            with_options(text, options) if isinstance(text, str) else text for text in error.args
        )
        raise


def with_options(message: str, options: Mapping[str, str]) -> str:
    """Return a message with options in place of arguments.

    Args:
        message: the message.
        options: {argument: option}. In place of the dict of ``where`` stands its first pair.

    >>> with_options("choose missing='zero' or 'skip'", {"missing": "--missing"})
    'choose --missing zero or skip'
    >>> with_options("state the level (rel=), or one (rel=2)", {"rel": "--rel"})
    'state the level (--rel), or one (--rel 2)'
    >>> with_options("name it with deterministic=.", {"deterministic": "--deterministic"})
    'name it with --deterministic.'
    >>> with_options("choose one with where={'tag': 'bm25'}, or", {"where": "--where"})
    'choose one with --where tag=bm25, or'
    """
    if option := options.get("where"):
        pairs = re.findall(r"\bwhere=\{'([^'\\]*)': '([^'\\]*)'\}", message)
        for name, value in pairs:
            choice = f"where={{{name!r}: {value!r}}}"
            message = message.replace(choice, f"{option} {shlex.quote(f'{name}={value}')}")
    for argument, option in options.items():
        # Not within a word: in an address, ``&rel=`` is a part of it.
        values = rf"(?<![^\s(]){argument}=('[\w.-]+'(?: or '[\w.-]+')*)"
        for listed in re.findall(values, message):
            unquoted = listed.replace("'", "")
            message = message.replace(f"{argument}={listed}", f"{option} {unquoted}")
        message = re.sub(rf"(?<=\s\(){argument}=(\d+)(?=\))", rf"{option} \1", message)
        message = re.sub(rf"(?<![^\s(]){argument}=(?=[\s),.;:]|$)", option, message)
    return message


def one_line(message: str) -> str:
    """Return a message on one line, with control characters as escapes, of limited length."""
    for text, words in _shown_words.items():
        message = message.replace(text, words)
    return " ".join(message_text(with_options(message, OPTIONS)).split())


def warn(message: str) -> None:
    """Print a warning on one line of standard error."""
    error_console.print(Text.assemble(("warning: ", "bold yellow"), one_line(message)))


#: The warnings that ``print_warnings`` printed since the last ``print_errors`` began.
_printed_warnings: set[str] = set()


def print_warnings(sentences: Iterable[str]) -> None:
    """Print warnings that belong to the output, before it, and to standard error; each once.

    If standard output and standard error are the same terminal or file, they are printed there
    once.
    """
    consoles = [console] if _streams_are_one() else [console, error_console]
    for sentence in sentences:
        if sentence not in _printed_warnings:
            _printed_warnings.add(sentence)
            for target in consoles:
                target.print(Text.assemble(("warning: ", "bold yellow"), one_line(sentence)))


def _streams_are_one() -> bool:
    """Return whether standard output and standard error are both terminals, or the same file."""
    streams = (console.file, error_console.file)
    try:
        return all(stream.isatty() for stream in streams) or os.path.samestat(
            *(os.fstat(stream.fileno()) for stream in streams)
        )
    except (OSError, ValueError):  # a stream without a file, or a closed one
        return False


def check_targets(read: Sequence[Path], written: Sequence[Path | None]) -> None:
    """Check that every output file can be written, and that no file is named twice.

    Commands check this before they compute anything.

    Args:
        read: the input files.
        written: the output files; None for an option that is not used.

    Raises:
        InputError: an output file is also an input file or another output file, is a folder or
            "-", or its folder does not exist.
        MissingExtraError: an output file ends in .zst and the package zstandard is not installed.
        OSError: an output file cannot be written.
    """
    taken = {path.resolve() for path in read}
    for path in filter(None, written):
        if str(path) == "-":
            msg = "- is not the name of an output; name a file, and print it with cat"
            raise InputError(msg)
        if path.resolve() in taken:
            msg = f"{path} is named twice on this command; write to another file"
            raise InputError(msg)
        taken.add(path.resolve())
        if path.is_dir():
            msg = f"{path} is a folder; name a file in it"
            raise InputError(msg)
        if not path.resolve().parent.is_dir():
            msg = f"{path}: there is no folder {path.parent}; make it first"
            raise InputError(msg)
        check_can_write(path)


def check_folder(folder: Path | None) -> None:
    """Check that files can be written into a folder, which need not exist; None: no such option.

    Raises:
        InputError: it, or a part of its path, is a file.
        OSError: the folder cannot be made or written to.
    """
    if folder is None:
        return
    existing = folder.absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        msg = f"{folder}: a folder was expected, but {existing} is a file; name another folder"
        raise InputError(msg)
    check_can_write(existing / "file")


@contextmanager
def print_errors() -> Iterator[None]:
    """Print errors and warnings of the package without a traceback, one line each.

    An error ends the command with exit code 2.
    """
    _printed_warnings.clear()
    _shown_words.clear()
    _typed_names.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BeirEvalWarning)
        try:
            yield
        except BeirEvalError as error:
            fail(str(error))
        except OSError as error:
            fail(_file_message(error))
        finally:
            texts = [
                str(warning.message)
                for warning in caught
                if issubclass(warning.category, BeirEvalWarning)
            ]
            for text in dict.fromkeys(texts):
                if text not in _printed_warnings:
                    warn(text)


def _file_message(error: OSError) -> str:
    """Return the message of a file that cannot be read or written."""
    if not error.filename:
        return str(error)
    message = f"{error.filename}: {error.strerror}"
    if isinstance(error, FileNotFoundError) and re.fullmatch(r"[a-z_]+=[^/]+", str(error.filename)):
        example = f"'MAP({error.filename})@10'"
        message += f"; a parameter of a measure is written in brackets and quotes: -m {example}"
    return message


def new_table() -> Table:
    """Return an empty table in the style of all commands."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def print_document(document: Document, *, detail: bool = False) -> None:
    """Print what a result shows: warnings, conclusions in colour, tables and notes.

    Args:
        document: what it shows.
        detail: whether its details follow.
    """
    print_warnings(document.warnings)
    if document.heading:
        console.print(Text(f"\n{document.heading}", style="bold"))
    for text, verdict in document.sentences:
        style = VERDICT_COLOURS[verdict]
        console.print(Text(one_line(text), style=f"bold {style}" if style else ""))
    for table in document.tables:
        console.print()
        print_table(table, edge=False)
    if document.notes:
        console.print()
    for note in document.notes:
        console.print(Text(one_line(note)))
    for part in document.details() if detail else ():
        print_document(part, detail=True)


def print_table(table: tables.Table, *, edge: bool = True) -> None:
    """Print a table, with verdicts in colour.

    If the terminal is too narrow, headings are folded, then labels. If it is too narrow even for
    the numbers, the columns are printed as several tables with the same labels; if not even one
    column fits, each row is printed as ``heading value, …``. Numbers are never folded: a part of a
    number on a line of its own would be read as another number.

    Args:
        table: the table.
        edge: whether there are empty lines above and below it, and a blank left and right of it.
    """
    table = tables.Table(
        tuple(map(_as_typed, table.header)),
        [tuple(map(_as_typed, row)) for row in table.rows],
    )
    width = console.width + (0 if edge else _GAP)
    parts = _parts_that_fit(table, width)
    if parts is None:
        for row in table.rows:
            pairs = zip(table.header, map(_coloured, row), strict=True)
            console.print(Text(", ").join(Text(f"{name} ").append(cell) for name, cell in pairs))
        console.print()
        return
    for index, (part, widths) in enumerate(parts):
        output = new_table()
        output.show_edge = edge
        for column, (text, column_width) in enumerate(zip(part.header, widths, strict=True)):
            justify: Literal["left", "right"] = "right" if column else "left"
            heading = _folded(Text(escape_controls(text)), column_width)
            output.add_column(heading, justify=justify, no_wrap=True)
        for row in part.rows:
            output.add_row(*map(_folded, map(_coloured, row), widths))
        if index and not edge:
            console.print()
        console.print(output)


def _parts_that_fit(table: tables.Table, width: int) -> list[tuple[tables.Table, list[int]]] | None:
    """Return the table as parts that fit into the width, each with the widths of its columns.

    Each part has the column of labels. Words are broken only if a column does not fit otherwise.
    None if a column does not fit even then.
    """
    last = len(table.header)
    if last == 1:
        widths = _column_widths(table, width, whole_words=False)
        return None if widths is None else [(table, widths)]
    parts: list[tuple[tables.Table, list[int]]] = []
    first = 1
    while first < last:
        candidates = [(end, True) for end in range(last, first, -1)]
        candidates += [(end, False) for end in range(last, first, -1)]
        for end, whole_words in candidates:
            part = table.with_columns([0, *range(first, end)])
            widths = _column_widths(part, width, whole_words=whole_words)
            if widths is not None:
                break
        else:
            return None
        parts.append((part, widths))
        first = end
    return parts


def _column_widths(table: tables.Table, width: int, *, whole_words: bool) -> list[int] | None:
    """Return the width of every column; None if they do not fit.

    Numbers are never broken.

    Args:
        table: the table.
        width: the width of all columns and the gaps between them.
        whole_words: whether labels and the words of headings must not be broken either.
    """
    columns = [
        [escape_controls(str(cell)) for cell in column]
        for column in zip(table.header, *table.rows, strict=True)
    ]
    full = [max(map(cell_len, column)) for column in columns]
    widths = [max(map(cell_len, column[1:]), default=0) for column in columns]
    if whole_words:
        words = [max(map(cell_len, column[0].split()), default=0) for column in columns]
        widths = list(map(max, widths, words))
    else:
        widths[0] = min(full[0], _NARROWEST_LABEL)
    spare = width - sum(widths) - _GAP * len(widths)
    if spare < 0:
        return None
    # The labels first: a folded heading costs one line, a folded label one in every row.
    widths[0] += min(spare, full[0] - widths[0])
    spare = width - sum(widths) - _GAP * len(widths)
    # Widen each column by one character in turn, so that short headings fit first.
    while spare and widths != full:
        narrow = [column for column, size in enumerate(widths) if size < full[column]][:spare]
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
