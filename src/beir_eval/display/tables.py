"""``Table``: cells under a header, written as Markdown, HTML, LaTeX or CSV; escaping of texts."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel


#: The LaTeX superscripts of marks; "" omits the mark. Other marks are written as they are.
_LATEX_MARKS = {"▲": r"\uparrow", "▼": r"\downarrow", "=": ""}
_UNDEFINED = "n/a"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table, with the mark of a verdict; ``str()`` is the number and the mark.

    Attributes:
        text: the number as text.
        mark: the mark after the number: "▲" (better), "▼" (worse), "=" (equal), letters, or "".
        verdict: "better", "worse", "equal", "undecided" or ""; a CSS class of the mark in HTML,
            which sets its colour.
        explanation: the meaning of the mark, shown as a tooltip in HTML.
        interval: an interval as text, shown below the number in HTML.
        is_best: whether the number is bold in LaTeX and HTML.

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
    """A table with a header; the first column holds labels, the others mostly numbers.

    Attributes:
        header: the names of the C columns. [C]
        rows: the rows, each with C cells; a cell is a text or a ``Cell``. [R][C]

    >>> print(Table(("measure", "bm25"), [("nDCG@10", "0.5947")]).markdown())
    | measure |   bm25 |
    |:--------|-------:|
    | nDCG@10 | 0.5947 |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]

    def transposed(self, corner: str) -> Table:
        """Return the transposed table: rows become columns.

        Args:
            corner: the name of the new first column.
        """
        rows = [
            (name, *(row[column] for row in self.rows))
            for column, name in enumerate(self.header[1:], start=1)
        ]
        return Table((corner, *(str(row[0]) for row in self.rows)), rows)

    def markdown(self) -> str:
        """Return a table in GitHub-flavored Markdown, with aligned columns."""
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

    def html(self, caption: str = "", *, css_class: str = "") -> str:
        """Return an HTML table; all text is escaped.

        Cells that begin with a letter have the class "words", except in the first column and for
        "n/a". The name of a column has the class if the first cell below it begins with a letter.

        Args:
            caption: the caption of the table; "" for none.
            css_class: the CSS class of the table; "" for none.
        """
        first = self.rows[0] if self.rows else self.header
        head = "".join(
            f'<th scope="col"{_class_attribute(cell)}>{html.escape(text)}</th>'
            for text, cell in zip(self.header, first, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row">{_cell_html(row[0])}</th>'
            + "".join(f"<td{_class_attribute(cell)}>{_cell_html(cell)}</td>" for cell in row[1:])
            + "</tr>\n"
            for row in self.rows
        )
        begin = f'<table class="{html.escape(css_class)}">' if css_class else "<table>"
        title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
        return f"{begin}{title}<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.html()

    def latex(self) -> str:
        """Return a LaTeX tabular with booktabs rules; all text is escaped.

        The best numbers are bold. Marks are superscripts: arrows for "▲" and "▼", nothing for "=".
        """
        rows = [" & ".join(map(_cell_latex, row)) + r" \\" for row in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def csv(self) -> str:
        """Return lines of comma-separated values, the header first; marks follow their numbers."""
        return csv_text([self.header, *([str(cell) for cell in row] for row in self.rows)])


def _class_attribute(cell: str | Cell) -> str:
    """Return the class "words" as an HTML attribute if the cell holds words, else ""."""
    text = str(cell)
    return ' class="words"' if text[:1].isalpha() and text != _UNDEFINED else ""


def _cell_html(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return html.escape(cell)
    content = html.escape(cell.text)
    if cell.is_best:
        content = f"<strong>{content}</strong>"
    if cell.mark:
        tooltip = f' title="{html.escape(cell.explanation)}"' if cell.explanation else ""
        classes = html.escape(f"mark {cell.verdict}".rstrip())
        content += f' <span class="{classes}"{tooltip}>{html.escape(cell.mark)}</span>'
    return f"{content}<small>{html.escape(cell.interval)}</small>" if cell.interval else content


def _cell_latex(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    content = latex_text(cell.text)
    if cell.is_best:
        content = rf"\textbf{{{content}}}"
    superscript = _LATEX_MARKS.get(cell.mark, latex_text(cell.mark).removeprefix("{}"))
    return f"{content}$^{{{superscript}}}$" if superscript else content


def csv_text(rows: Iterable[Iterable[object]], *, delimiter: str = ",") -> str:
    """Return rows as lines of values that a comma or another delimiter separates."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", delimiter=delimiter).writerows(rows)
    return text.getvalue()


def records_csv(records: Sequence[BaseModel]) -> str:
    """Return records of the same type, at least one, as CSV: a column for each field."""
    fields = list(type(records[0]).model_fields)
    return csv_text([fields, *([getattr(record, field) for field in fields] for record in records)])


def latex_text(text: str) -> str:
    """Return text on one line, with LaTeX's special characters escaped."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    flat = escape_controls(" ".join(text.split()))
    # LaTeX reads a bracket or star at the beginning of a row as an argument of the ``\\`` before.
    start = "{}" if flat.startswith(("[", "*")) else ""
    return start + "".join(special.get(character, character) for character in flat)


def markdown_text(text: str) -> str:
    """Return text on one line, escaped so that it stays in its cell and begins no HTML tag.

    Control characters are shown as escapes: Markdown is often printed on a terminal.
    """
    flat = escape_controls(" ".join(text.split()))
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def markdown_list(sentences: Iterable[str]) -> str:
    """Return sentences as a Markdown list, one item per line."""
    return "".join(f"- {markdown_text(sentence)}\n" for sentence in sentences)


def printable_text(text: str) -> str:
    r"""Return text with "?" for each character that is not printable, such as control characters.

    XML cannot hold control characters, and a terminal would interpret them.

    >>> printable_text("a\x1b[2J")
    'a?[2J'
    """
    return "".join(character if character.isprintable() else "?" for character in text)


def score_text(value: float, digits: int = 4) -> str:
    """Return a score with ``digits`` decimals, or "n/a" if it is NaN.

    >>> score_text(0.59469), score_text(3.0), score_text(float("nan"))
    ('0.5947', '3.0000', 'n/a')
    """
    return _UNDEFINED if value != value else f"{value:.{digits}f}"  # noqa: PLR0124 - NaN
