"""What commands write and print of results: the files of ``-o``, means, notes, JSON and CSV.

Each file of ``-o`` has the format that its ending names.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from pydantic import TypeAdapter

from beir_eval.cli.option_sets import COMMON, LatexOptions
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import file_stem, plain_name
from beir_eval.display.document import warnings_latex, warnings_markdown
from beir_eval.display.tables import csv_text
from beir_eval.errors import InputError, shown
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.tables import to_latex, to_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from beir_eval.display.tables import ScoreFormat

#: {ending: format}; .gz and .zst may follow it.
_ENDINGS = {
    ".html": "html",
    ".json": "json",
    ".md": "md",
    ".markdown": "md",
    ".tex": "tex",
    ".csv": "csv",
    ".xml": "xml",
    ".pdf": "pdf",
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

    def files(self, values: Sequence[str] | None, latex: LatexOptions | None = None) -> Outputs:
        """Return the files that the values of ``-o`` name.

        Raises:
            InputError: the ending of a file names no format, or none of the command; or options of
                LaTeX are stated, and no file is LaTeX.
        """
        by_format: dict[str, list[Path]] = {name: [] for name in self._contents}
        for value in values or ():
            name, file = self._format_and_file(value)
            by_format[name].append(file)
        if latex is not None and latex.percent and not by_format["tex"]:
            msg = "--percent is for a LaTeX table; add -o table.tex"
            raise InputError(msg)
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


def write_results(
    results: Sequence[EvaluationResult],
    outputs: Outputs,
    scores: ScoreFormat,
    not_evaluated: Sequence[str] = (),
) -> None:
    """Write the results: csv every query's scores, json everything, md and tex the means.

    Args:
        results: the results of all systems, on the same measures.
        outputs: the files.
        scores: how scores are written in LaTeX.
        not_evaluated: sentences on runs that have no result, for Markdown and LaTeX.
    """
    write_data(results, outputs)
    outputs.write(
        {
            "md": lambda: warnings_markdown(not_evaluated) + to_markdown(results),
            "tex": lambda: warnings_latex(not_evaluated) + to_latex(results, scores=scores),
        }
    )


def write_data(results: Sequence[EvaluationResult], outputs: Outputs) -> None:
    """Write the scores of every query as CSV, and everything as JSON."""
    for path in outputs["csv"]:
        _write_per_query(path, results)
    for path in outputs["json"]:
        write_atomically(path, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))


def _write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file with the columns system, query_id and one per measure; NaN is empty."""
    rows = (
        (result.name, query_id, *("" if math.isnan(score) else score for score in scores))
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    header = ["system", "query_id", *results[0].measures]
    write_atomically(path, csv_text([header, *rows]).encode())
