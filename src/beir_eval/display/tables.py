"""``Table``: cells under a header, as text, Markdown, HTML, LaTeX or CSV; escaping of texts."""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from beir_eval.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pydantic import BaseModel


RecordT = TypeVar("RecordT")


class VerdictStyle(NamedTuple):
    """How a verdict looks.

    Attributes:
        mark: behind a number in a table; "" for none.
        explanation: of the mark.
        terminal: the colour on a terminal.
        colour: in figures; visible on white and on black, distinct for the colour-blind.
        shape: of a point in a figure.
    """

    mark: str
    explanation: str
    terminal: str
    colour: str
    shape: str


VERDICTS = {
    "better": VerdictStyle("▲", "better than the baseline", "green", "#2f7de1", "triangle-right"),
    "worse": VerdictStyle("▼", "worse than the baseline", "red", "#d26a00", "triangle-left"),
    "equivalent": VerdictStyle(
        "=", "equivalent to the baseline within the margin", "cyan", "#8a63d2", "square"
    ),
    "identical": VerdictStyle(
        "=", "the same score as the baseline on every query", "blue", "#5b7fb5", "diamond"
    ),
    "undecided": VerdictStyle("", "", "default", "#808890", "circle"),
}


#: The characters beyond ASCII that tables use, in LaTeX.
_LATEX_SYMBOLS = {
    "▲": r"\ensuremath{\uparrow}",
    "▼": r"\ensuremath{\downarrow}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "…": r"\ldots{}",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
}
#: The letters from U+00A1 to U+017F that LaTeX cannot set in its default encoding of fonts.
_NOT_IN_LATEX = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ")
_LAST_LATIN_LETTER = "\u017f"
#: The texts for a score that is undefined, for a value that is not known, and for none.
_UNDEFINED, UNKNOWN, NONE = "n/a", "?", "\u2013"
_MOST_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table, with the mark of a verdict; ``str()`` is the number and the mark.

    Attributes:
        text: the number as text.
        mark: the mark after the number: "▲" (better), "▼" (worse), "=" (equal), letters, or "".
        verdict: a key of ``VERDICTS`` or ""; a CSS class of the mark in HTML, which sets its
            colour.
        interval: an interval as text, shown below the number in HTML.
        is_best: whether the number is bold in LaTeX and HTML.

    >>> str(Cell("0.5947", mark="▲"))
    '0.5947 ▲'
    """

    text: str
    mark: str = ""
    verdict: str = ""
    interval: str = ""
    is_best: bool = False

    def __str__(self) -> str:
        """Return the number and its mark."""
        return f"{self.text} {self.mark}".rstrip()


@dataclass(frozen=True, slots=True)
class ScoreFormat:
    """How the scores of a table are written.

    Attributes:
        digits: the number of decimals; None for 4, or 2 in percent.
        percent: whether scores of measures from 0 to 1 are in percent.

    >>> ScoreFormat(digits=1, percent=True).text(0.7213, (0, 1)), ScoreFormat().text(0.7213)
    ('72.1', '0.7213')
    """

    digits: int | None = None
    percent: bool = False

    def text(self, score: float, bounds: tuple[float, float] | None = None) -> str:
        """Return a score as text.

        Args:
            score: the score; "n/a" if it is NaN.
            bounds: the bounds of its measure; None if it has none.
        """
        in_percent = self.percent and bounds == (0, 1)
        digits = self.digits if self.digits is not None else 2 if in_percent else 4
        return score_text(100 * score if in_percent else score, digits)

    def difference_text(self, size: float) -> str:
        """Return a difference of scores from 0 to 1 as text."""
        if not self.percent:
            return f"{size:g}"
        points = f"{100 * size:g}"
        return f"{size:g} ({points} percentage {'point' if points == '1' else 'points'})"

    def remark(self) -> str:
        """Return what a caption says of the format; "" if there is nothing to say."""
        return " Measures from 0 to 1 are in percent." if self.percent else ""


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

    def with_columns(self, indices: Sequence[int]) -> Table:
        """Return the table with some of its columns, by their indices."""
        return Table(
            tuple(self.header[index] for index in indices),
            [tuple(row[index] for index in indices) for row in self.rows],
        )

    def text(self) -> str:
        """Return the table as plain text: a line for each row, columns two blanks apart.

        Control characters are shown as escapes.

        >>> print(Table(("measure", "bm25"), [("nDCG@10", "0.5947"), ("MRR", "0.7")]).text())
        measure    bm25
        nDCG@10  0.5947
        MRR         0.7
        """
        cells = [
            [escape_controls(" ".join(str(cell).split())) for cell in row]
            for row in (self.header, *self.rows)
        ]
        return "\n".join("  ".join(row).rstrip() for row in _aligned(cells))

    def markdown(self) -> str:
        """Return a table in GitHub-flavored Markdown, with aligned columns."""
        cells = [[markdown_text(str(cell)) for cell in row] for row in (self.header, *self.rows)]
        header, *rows = _aligned(cells, least=3)
        first, *others = ("-" * (len(name) + 1) for name in header)
        rule = "|".join([f":{first}", *(f"{dashes}:" for dashes in others)])
        lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
        return "\n".join([lines[0], f"|{rule}|", *lines[1:]])

    def html(self, caption: str = "", *, css_class: str = "") -> str:
        """Return an HTML table; all text is escaped.

        Cells that begin with a letter have the class "words", except in the first column and for
        "n/a". The name of a column has the class if the first cell below it begins with a letter.

        Args:
            caption: the caption of the table; "" for none.
            css_class: the CSS class of the table; "" for none.
        """
        labels = list(map(html.escape, self.header[1:]))  # for narrow screens
        first = self.rows[0] if self.rows else self.header
        head = "".join(
            f'<th scope="col"{_class_attribute(cell)}>{html.escape(text)}</th>'
            for text, cell in zip(self.header, first, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row">{_cell_html(row[0])}</th>'
            + "".join(
                f'<td data-label="{label}"{_class_attribute(cell)}>{_cell_html(cell)}</td>'
                for label, cell in zip(labels, row[1:], strict=True)
            )
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

        The best numbers are bold. Marks are superscripts: arrows for "▲" and "▼".
        """
        rows = [" & ".join(map(_cell_latex, row)) + r" \\" for row in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def csv(self) -> str:
        """Return lines of comma-separated values, the header first; marks follow their numbers."""
        return csv_text([self.header, *([str(cell) for cell in row] for row in self.rows)])


def table_of(
    records: Iterable[RecordT], columns: Mapping[str, Callable[[RecordT], str | Cell]]
) -> Table:
    """Return a table with a row for each record.

    Args:
        records: the records.
        columns: {heading: what makes the cell of a record}.

    >>> print(table_of([1.0, 2.0], {"x": str, "square": lambda x: f"{x * x:g}"}).text())
    x    square
    1.0       1
    2.0       4
    """
    rows = [tuple(cell(record) for cell in columns.values()) for record in records]
    return Table(tuple(columns), rows)


def first_that_fits(versions: Iterable[Sequence[Table]]) -> Sequence[Table]:
    """Return the first version of tables that 80 columns show whole; else the last."""
    for tables in versions:
        lines = [line for table in tables for line in table.text().splitlines()]
        if max(map(len, lines), default=0) <= _MOST_CHARACTERS:
            break
    return tables


def without_repeated_columns(
    tables: Sequence[Table], columns: Collection[str]
) -> tuple[list[Table], dict[str, str]]:
    """Return tables without the columns that have the same value in all rows of all tables.

    Args:
        tables: tables with the same names of columns, but for the first.
        columns: the names of the columns that may be left out. Empty cells are not looked at. With
            one row in all, only a column of "?" is left out.

    Returns:
        The tables, and {name of the column: its value} of those that were left out.

    >>> table = Table(("system", "p", "verdict"), [("a", "0.3", "?"), ("b", "0.4", "?")])
    >>> [narrower], left_out = without_repeated_columns([table], ["p", "verdict"])
    >>> narrower.header, left_out
    (('system', 'p'), {'verdict': '?'})
    """
    if not tables:
        return [], {}
    left_out: dict[str, str] = {}
    for index, name in enumerate(tables[0].header):
        cells = [str(row[index]) for table in tables for row in table.rows]
        values = {cell for cell in cells if cell}
        num_values = sum(map(bool, cells))
        if name in columns and len(values) == 1 and (num_values > 1 or values == {UNKNOWN}):
            left_out[name] = values.pop()
    kept = [index for index, name in enumerate(tables[0].header) if name not in left_out]
    return [table.with_columns(kept) for table in tables], left_out


def _aligned(rows: Sequence[Sequence[str]], least: int = 1) -> list[tuple[str, ...]]:
    """Return cells as wide as their columns: labels to the left, numbers to the right."""
    columns = []
    for index, column in enumerate(zip(*rows, strict=True)):
        width = max(least, *map(len, column))
        columns.append([cell.rjust(width) if index else cell.ljust(width) for cell in column])
    return list(zip(*columns, strict=True))


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
        style = VERDICTS.get(cell.verdict)
        tooltip = f' title="{style.explanation}"' if style and style.mark == cell.mark else ""
        classes = html.escape(f"mark {cell.verdict}".rstrip())
        content += f' <span class="{classes}"{tooltip}>{html.escape(cell.mark)}</span>'
    return f"{content}<small>{html.escape(cell.interval)}</small>" if cell.interval else content


def _cell_latex(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return latex_text(cell)
    content = latex_text(cell.text)
    if cell.is_best:
        content = rf"\textbf{{{content}}}"
    superscript = latex_text(cell.mark).removeprefix("{}")
    return f"{content}$^{{{superscript}}}$" if superscript else content


def csv_text(rows: Iterable[Iterable[object]], *, delimiter: str = ",") -> str:
    """Return rows as lines of values that a comma or another delimiter separates."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", delimiter=delimiter).writerows(rows)
    return text.getvalue()


def record_rows(records: Sequence[BaseModel]) -> list[list[object]]:
    """Return records of the same type, at least one, as rows for ``csv_text``, the fields first."""
    fields = list(type(records[0]).model_fields)
    return [fields, *([getattr(record, field) for field in fields] for record in records)]


def latex_table(table: Table, *, caption: str, label: str) -> str:
    r"""Return a table as a LaTeX float, which needs ``\usepackage{booktabs}``.

    Args:
        table: the table.
        caption: the caption as plain text; it is escaped.
        label: the name for ``\ref``.
    """
    named = rf"\caption{{{latex_text(caption)}}}", rf"\label{{{label}}}"
    begin = r"% needs \usepackage{booktabs}", r"\begin{table}", r"\centering"
    return "\n".join([*begin, *named, table.latex(), r"\end{table}"])


def latex_text(text: str) -> str:
    r"""Return text on one line that pdflatex can set, with LaTeX's special characters escaped.

    A character that pdflatex cannot set without further packages is written as its code point.

    >>> print(latex_text("50% ≤ naïve_文"))
    50\% \ensuremath{\leq} naïve\_[U+6587]
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "|": r"\ensuremath{|}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    flat = unicodedata.normalize("NFC", escape_controls(" ".join(text.split())))
    # LaTeX reads a bracket or star at the beginning of a row as an argument of the ``\\`` before.
    start = "{}" if flat.startswith(("[", "*")) else ""
    return start + "".join(
        special.get(character) or _latex_character(character) for character in flat
    )


def _latex_character(character: str) -> str:
    """Return a character, a command for it, or its code point if pdflatex cannot set it."""
    if character.isascii() or (
        character <= _LAST_LATIN_LETTER and character not in _NOT_IN_LATEX | {"\u00a0", "\u00ad"}
    ):
        return character
    return _LATEX_SYMBOLS.get(character, f"[U+{ord(character):04X}]")


#: What begins a tag, a link, the address of one, or a mention of somebody.
_ALIVE = re.compile(r"<(?!\d)|(?<=\])[(\[:]|:(?=//)|(?<=\bwww)\.|(?<!\w)@(?=\w)|@(?=[^\W\d])")
#: What stands for it where a backslash does not help: a mention is looked for in the text shown.
_INERT = {"<": "&lt;", "@": "@\u200b"}


def markdown_text(text: str) -> str:
    r"""Return text on one line, escaped: it stays in its cell and begins no tag, link or mention.

    Control characters are shown as escapes: Markdown is often printed on a terminal. A "<" before
    a digit begins no tag and stays; so does an "@" before a digit or within a word.

    >>> markdown_text("<1%, <b>, nDCG@10, [a](https://b)")
    '<1%, &lt;b>, nDCG@10, [a]\\(https\\://b)'
    """
    flat = escape_controls(" ".join(text.split())).replace("\\", "\\\\").replace("|", "\\|")
    return _ALIVE.sub(lambda match: _INERT.get(match[0], f"\\{match[0]}"), flat)


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
