"""A small table, and how it is written: markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel


#: Marks that LaTeX writes as an arrow, or leaves out; other marks become superscripts.
_LATEX_MARKS = {"▲": r"\uparrow", "▼": r"\downarrow", "=": ""}
_UNDEFINED = "n/a"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table, with what a verdict adds to it; ``str()`` is the number and its mark.

    Attributes:
        text: the number as it is shown.
        mark: follows the number: "▲" (better), "▼" (worse), "=" (equal) or letters.
        verdict: "better", "worse", "equal", "undecided" or "": the colour.
        explanation: the meaning of the mark, a tooltip in HTML.
        interval: shown below the number, in HTML.
        is_best: whether the number is bold, in LaTeX and HTML.

    >>> str(Cell("0.5947", mark="▲"))
    '0.5947 ▲'
    """

    text: str
    mark: str = ""
    verdict: str = ""
    explanation: str = ""
    interval: str = ""
    is_best: bool = False

    def __str__(self) -> str:
        """Return the number and its mark."""
        return f"{self.text} {self.mark}".rstrip()


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under a header; the first column is a label, the others are mostly numbers.

    >>> print(Table(("measure", "bm25"), [("nDCG@10", "0.5947")]).markdown())
    | measure |   bm25 |
    |:--------|-------:|
    | nDCG@10 | 0.5947 |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]

    def turned(self, corner: str) -> Table:
        """Return the table with rows as columns; ``corner`` heads the new first column."""
        rows = [
            (name, *(row[column] for row in self.rows))
            for column, name in enumerate(self.header[1:], start=1)
        ]
        return Table((corner, *(str(row[0]) for row in self.rows)), rows)

    def markdown(self) -> str:
        """Return a GitHub-flavoured markdown table, columns aligned."""
        cells = [[markdown_text(str(cell)) for cell in row] for row in (self.header, *self.rows)]
        widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(cells[0]))]
        rule = [
            ":" + "-" * (width + 1) if column == 0 else "-" * (width + 1) + ":"
            for column, width in enumerate(widths)
        ]
        lines = [
            "| "
            + " | ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            + " |"
            for row in cells
        ]
        return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])

    def html(self, caption: str = "", *, kind: str = "") -> str:
        """Return an HTML table; all text is escaped. Words have the class "words".

        Args:
            caption: the caption of the table, if it is not empty.
            kind: the class of the table, if it is not empty.
        """
        first = self.rows[0] if self.rows else self.header
        head = "".join(
            f'<th scope="col"{_words(cell)}>{html.escape(text)}</th>'
            for text, cell in zip(self.header, first, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row">{_html_of(row[0])}</th>'
            + "".join(f"<td{_words(cell)}>{_html_of(cell)}</td>" for cell in row[1:])
            + "</tr>\n"
            for row in self.rows
        )
        begin = f'<table class="{html.escape(kind)}">' if kind else "<table>"
        title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
        return f"{begin}{title}<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.html()

    def latex(self) -> str:
        """Return a LaTeX tabular with booktabs rules; all text is escaped.

        The best numbers are bold, marks are superscripts.
        """
        rows = [" & ".join(map(_latex_of, row)) + r" \\" for row in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def csv(self) -> str:
        """Return lines of comma-separated values, the header first."""
        return csv_text([self.header, *([str(cell) for cell in row] for row in self.rows)])


def _words(cell: str | Cell) -> str:
    text = str(cell)
    return ' class="words"' if text[:1].isalpha() and text != _UNDEFINED else ""


def _html_of(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return html.escape(cell)
    shown = html.escape(cell.text)
    if cell.is_best:
        shown = f"<strong>{shown}</strong>"
    if cell.mark:
        says = f' title="{html.escape(cell.explanation)}"' if cell.explanation else ""
        kind = html.escape(f"mark {cell.verdict}".rstrip())
        shown += f' <span class="{kind}"{says}>{html.escape(cell.mark)}</span>'
    return f"{shown}<small>{html.escape(cell.interval)}</small>" if cell.interval else shown


def _latex_of(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    shown = latex_text(cell.text)
    if cell.is_best:
        shown = rf"\textbf{{{shown}}}"
    superscript = _LATEX_MARKS.get(cell.mark, latex_text(cell.mark).removeprefix("{}"))
    return f"{shown}$^{{{superscript}}}$" if superscript else shown


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as lines of comma-separated values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def records_csv(records: Sequence[BaseModel]) -> str:
    """Return records of one kind as lines of comma-separated values, a column a field."""
    fields = list(type(records[0]).model_fields)
    return csv_text([fields, *([getattr(one, field) for field in fields] for one in records)])


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {one: f"\\{one}" for one in "&%$#_{}"}
    flat = " ".join(text.split())
    # A bracket or star at the beginning of a row would belong to the end of the row before.
    start = "{}" if flat.startswith(("[", "*")) else ""
    return start + "".join(special.get(letter, letter) for letter in flat)


def markdown_text(text: str) -> str:
    """Return text that cannot end its column, line or table, nor begin an HTML tag."""
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def markdown_list(sentences: Iterable[str]) -> str:
    """Return sentences as a markdown list, an item a line."""
    return "".join(f"- {markdown_text(sentence)}\n" for sentence in sentences)


def printable(text: str) -> str:
    r"""Return text without control characters, which XML cannot hold and a terminal obeys.

    >>> printable("a\x1b[2J")
    'a?[2J'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def number(value: float, digits: int = 4) -> str:
    """Return a score for display, ``n/a`` where it is undefined.

    >>> number(0.59469), number(3.0), number(float("nan"))
    ('0.5947', '3.0000', 'n/a')
    """
    return _UNDEFINED if value != value else f"{value:.{digits}f}"  # noqa: PLR0124 - NaN
