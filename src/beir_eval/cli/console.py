"""Terminal output of all commands: tables, errors, warnings. Also checks of output files."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from beir_eval.core.atomic_writes import check_can_write
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.display import tables
from beir_eval.display.document import warning_text
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
#: Between two columns.
_GAP = "  "
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
        "allow_missing",
        "allow_unequal_depth",
        "non_inferior",
    )
}
#: The parameters of the command that runs: messages name no option that it lacks. Else empty.
parameters_of_command: set[str] = set()


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
    >>> with_options("check it with allow_missing=True", {"allow_missing": "--allow-missing"})
    'check it with --allow-missing'
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
        message = re.sub(rf"(?<![^\s(]){argument}=(?:True)?(?=[\s),.;:]|$)", option, message)
    return message


def one_line(message: str) -> str:
    """Return a message on one line, with control characters as escapes, of limited length."""
    for text, words in _shown_words.items():
        message = message.replace(text, words)
    known = parameters_of_command or OPTIONS.keys()
    options = {name: option for name, option in OPTIONS.items() if name in known}
    return " ".join(message_text(with_options(message, options)).split())


def warn(message: str) -> None:
    """Print a warning on one line of standard error."""
    error_console.print(_warning_line(message))


def _warning_line(sentence: str) -> Text:
    """Return a warning on one line, its first words in colour."""
    word, _, text = warning_text(one_line(sentence)).partition(": ")
    return Text.assemble((f"{word}: ", "bold yellow"), text)


#: The warnings that ``print_warnings`` printed since the last ``print_errors`` began.
_printed_warnings: set[str] = set()


def print_warnings(sentences: Iterable[str]) -> None:
    """Print warnings that belong to the output, there and to standard error; each once.

    If standard output and standard error are the same terminal or file, they are printed there
    once.
    """
    consoles = [console] if _streams_are_one() else [console, error_console]
    for sentence in sentences:
        if sentence not in _printed_warnings:
            _printed_warnings.add(sentence)
            for target in consoles:
                target.print(_warning_line(sentence))


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


def print_document(document: Document, *, detail: bool = False) -> None:
    """Print what a result shows: warnings, conclusions in colour, tables and notes.

    Args:
        document: what it shows.
        detail: whether its details follow.
    """
    first, others = document.split_warnings()
    print_warnings(first)
    if document.heading:
        console.print(Text(f"\n{document.heading}", style="bold"))
    for text, verdict in document.sentences:
        style = VERDICT_COLOURS[verdict]
        console.print(Text(one_line(text), style=f"bold {style}" if style else ""))
    print_warnings(others)
    for table in document.tables:
        console.print()
        print_table(table)
    if document.notes:
        console.print()
    for note in document.notes:
        console.print(Text(one_line(note)))
    for part in document.details() if detail else ():
        print_document(part, detail=True)


def print_table(table: tables.Table) -> None:
    """Print a table, with verdicts in colour; no number is ever broken.

    If the terminal is too narrow, the columns are printed as several tables with the same labels;
    if not even one column fits, each row is printed as ``heading value, …``.
    """
    lines = [[_coloured(_as_typed(cell)) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
    parts = _parts_that_fit(widths, console.width)
    if not parts:
        header, *rows = lines
        for row in rows:
            pairs = zip(header, row, strict=True)
            console.print(Text(", ").join(Text.assemble(name, " ", cell) for name, cell in pairs))
    for index, columns in enumerate(parts):
        if index:
            console.print()
        for number, line in enumerate(lines):
            cells = [line[column].copy() for column in columns]
            for column, cell in zip(columns, cells, strict=True):
                cell.align("right" if column else "left", widths[column])
            text = Text(_GAP).join(cells)
            text.rstrip()
            console.print(text)
            if number == 0:
                console.print("─" * _width([widths[column] for column in columns]))


def _parts_that_fit(widths: Sequence[int], most: int) -> list[list[int]]:
    """Return the columns of several tables, each with the first one; none if one is too wide.

    Args:
        widths: those of the columns, in characters.
        most: that of the terminal.
    """
    parts: list[list[int]] = []
    for column in range(1, len(widths)) or [0]:
        fits_before = parts and _width([widths[at] for at in [*parts[-1], column]]) <= most
        if fits_before:
            parts[-1].append(column)
        else:
            parts.append(sorted({0, column}))
    are_narrow = all(_width([widths[at] for at in part]) <= most for part in parts)
    return parts if are_narrow else []


def _width(widths: Sequence[int]) -> int:
    """Return the width of a line of cells."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _coloured(cell: str | tables.Cell) -> Text:
    """Return the text of a cell, in the colour of its verdict if it has one."""
    return Text(
        escape_controls(str(cell)), style=VERDICT_COLOURS.get(getattr(cell, "verdict", ""), "")
    )
