"""A small table, and how it is written: markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Table:
    """Text cells under a header; the first column is a label, the others are numbers.

    >>> print(Table(("measure", "bm25"), [("nDCG@10", "0.5947")]).markdown())
    | measure |   bm25 |
    |:--------|-------:|
    | nDCG@10 | 0.5947 |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return a GitHub-flavoured markdown table, columns aligned."""
        cells = [[markdown_text(cell) for cell in row] for row in (self.header, *self.rows)]
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

    def html(self) -> str:
        """Return an HTML table; every cell is escaped."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.header)
        body = "".join(
            "<tr>"
            + "".join(
                f"<th>{html.escape(cell)}</th>" if column == 0 else f"<td>{html.escape(cell)}</td>"
                for column, cell in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    _repr_html_ = html  # what a notebook shows

    def latex(self) -> str:
        """Return a LaTeX tabular with booktabs rules; every cell is escaped."""
        rows = [" & ".join(map(latex_text, row)) + r" \\" for row in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def csv(self) -> str:
        """Return lines of comma-separated values, the header first."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()


def records_csv(records: Sequence[BaseModel]) -> str:
    """Return records of one kind as lines of comma-separated values, a column a field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = list(type(records[0]).model_fields)
    writer.writerow(fields)
    for record in records:
        writer.writerow(getattr(record, field) for field in fields)
    return text.getvalue()


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


def number(value: float, digits: int = 4) -> str:
    """Return a score for display, ``n/a`` where it is undefined.

    >>> number(0.59469), number(3.0), number(float("nan"))
    ('0.5947', '3.0000', 'n/a')
    """
    return "n/a" if value != value else f"{value:.{digits}f}"  # noqa: PLR0124 - NaN
