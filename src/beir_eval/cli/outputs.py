"""The option ``-o``: files to write, each in the format that its ending names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from beir_eval.cli.option_sets import COMMON
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import file_stem, plain_name
from beir_eval.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

#: {ending: format}; .gz and .zst may follow it.
_ENDINGS = {
    ".html": "html",
    ".json": "json",
    ".md": "md",
    ".markdown": "md",
    ".tex": "tex",
    ".csv": "csv",
    ".xml": "xml",
    ".parquet": "parquet",
}


class OutputFormats:
    """The formats that a command writes.

    Args:
        contents: {format: what a file of it holds}, such as ``md="the verdicts"``. A format that is
            no ending is always stated, as in ``-o queries=q.csv``.
    """

    def __init__(self, **contents: str) -> None:
        self._contents = contents

    def option(self) -> Any:
        """Return the option ``-o`` of the command."""
        listed = [f"{self._name(name)} {what}" for name, what in self._contents.items()]
        return typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=f"Write a file: {', '.join(listed)}. Repeat it.",
            rich_help_panel=COMMON,
        )

    def files(self, values: Sequence[str] | None) -> Outputs:
        """Return the files that the values of ``-o`` name.

        Raises:
            InputError: the ending of a file names no format, or none of the command.
        """
        by_format: dict[str, list[Path]] = {name: [] for name in self._contents}
        for value in values or ():
            name, file = self._format_and_file(value)
            by_format[name].append(file)
        return Outputs(by_format)

    def _format_and_file(self, value: str) -> tuple[str, Path]:
        """Return the format and the file of a value: FILE, or FORMAT=FILE."""
        name, equals, file = value.partition("=")
        if equals and name in self._contents:
            if not file:
                msg = f"-o {value}: a file was expected behind ="
                raise InputError(msg)
            return name, Path(file)
        path = Path(value)
        if value == "-":
            msg = "- is not the name of an output; name a file, and print it with cat"
            raise InputError(msg)
        by_ending = _ENDINGS.get(Path(plain_name(path)).suffix.lower(), "")
        if by_ending in self._contents:
            return by_ending, path
        first = next(iter(self._contents))
        msg = (
            f"-o {shown(value)}: the ending of a file names its format, here one of "
            f"{', '.join(self._name(name) for name in self._contents)}; for another name state "
            f"the format, as in -o {first}={value}"
        )
        raise InputError(msg)

    @staticmethod
    def _name(name: str) -> str:
        """Return the ending of a format, or how it is stated if it has none."""
        return f".{name}" if f".{name}" in _ENDINGS else f"{name}=FILE"


class Outputs:
    """The files that a command writes, by format."""

    def __init__(self, by_format: Mapping[str, Sequence[Path]]) -> None:
        self._by_format = by_format

    def __getitem__(self, name: str) -> Sequence[Path]:
        """The files of a format."""
        return self._by_format.get(name, ())

    def __iter__(self) -> Iterator[Path]:
        """Yield all files."""
        for files in self._by_format.values():
            yield from files

    def stated(self, *formats: str) -> dict[str, Path | None]:
        """Return {the option as it was written: its file} of these formats, for messages."""
        return {f"-o {file}": file for name in formats for file in self[name]}

    def beside(self, extra: str, *formats: str) -> list[Path]:
        """Return the files beside those of these formats: c.slices.csv beside c.csv."""
        return [sibling(file, extra) for name in formats for file in self[name]]

    def write(self, texts: Mapping[str, Callable[[], str]], beside: str = "") -> None:
        """Write texts to the files of each format.

        Args:
            texts: {format: a function that returns the text}.
            beside: the word of the files beside those, as in ``beside``; "" for those.
        """
        for name, make_text in texts.items():
            for file in self.beside(beside, name) if beside else self[name]:
                write_atomically(file, f"{make_text().rstrip()}\n".encode())


def sibling(path: Path, extra: str) -> Path:
    """Return the file beside ``path`` for a further table.

    >>> sibling(Path("out/c.json.gz"), "slices").name
    'c.slices.json.gz'
    """
    stem = file_stem(path)
    return path.with_name(f"{stem}.{extra}{path.name.removeprefix(stem)}")
