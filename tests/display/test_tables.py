"""A table looks alike wherever it is written: markdown, HTML, LaTeX, CSV, the terminal."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from beir_eval.cli import console as terminal
from beir_eval.display import Cell, Table

BETTER = Cell("0.6", "▲", "better", "better than the baseline", "0.5 to 0.7", is_best=True)
TABLE = Table(
    ("system", "nDCG@10", "verdict"),
    [("base", Cell("0.5"), ""), ("new", BETTER, Cell("better", verdict="better"))],
)


def test_markdown_and_csv_show_the_number_and_its_mark():
    assert TABLE.markdown().splitlines()[-1] == "| new    |   0.6 ▲ |  better |"
    assert TABLE.csv() == "system,nDCG@10,verdict\nbase,0.5,\nnew,0.6 ▲,better\n"


def test_latex_shows_the_best_bold_and_marks_as_superscripts():
    rows = TABLE.latex().splitlines()
    assert rows[4] == r"base & 0.5 &  \\"
    assert rows[5] == r"new & \textbf{0.6}$^{\uparrow}$ & better \\"
    marks = [Cell("1", mark) for mark in ("▼", "=", "ab", "[27]")]
    shown = Table(("", *"wxyz"), [("s", *marks)]).latex().splitlines()[4]
    assert shown == r"s & 1$^{\downarrow}$ & 1 & 1$^{ab}$ & 1$^{[27]}$ \\"


def test_no_text_of_a_cell_is_a_command_of_latex():
    shown = Table(("", "a"), [("s", Cell("5%", "> x_1 & y", is_best=True))]).latex()
    assert shown.splitlines()[4] == r"s & \textbf{5\%}$^{> x\_1 \& y}$ \\"


def test_html_shows_the_best_bold_what_a_mark_says_and_the_interval():
    html = TABLE.html("Means", css_class="means")
    assert html.startswith('<table class="means"><caption>Means</caption><thead>')
    assert (
        "<td><strong>0.6</strong> "
        '<span class="mark better" title="better than the baseline">▲</span>'
        "<small>0.5 to 0.7</small></td>"
    ) in html
    assert TABLE._repr_html_() == TABLE.html()
    assert TABLE.html().startswith("<table><thead>")


def test_words_stand_on_the_left_and_undefined_numbers_do_not():
    html = Table(("name", "mean", "verdict"), [("x", "n/a", "better")]).html()
    assert '<th scope="col" class="words">name' in html
    assert '<th scope="col">mean' in html
    assert '<td>n/a</td><td class="words">better</td>' in html


@given(st.text())
def test_no_text_of_a_cell_becomes_a_tag(text):
    cell = Cell(text, text, text, text, text)
    html = Table((text, text), [(text, cell)]).html(text, css_class=text)
    # Tags of ours only: what the text adds is escaped.
    known = ("table", "caption", "thead", "tbody", "tr", "th", "td", "span", "small")
    for part in html.split("<")[1:]:
        assert part.lstrip("/").startswith(known)
        assert part.count(">") == 1
        # A quote would end an attribute: each value stands between two of ours.
        assert part.partition(">")[0].count('"') % 2 == 0
    quoted = Cell("1", "x", explanation='a "b" onclick=')
    assert 'title="a &quot;b&quot; onclick="' in Table(("s", "n"), [("s", quoted)]).html()


def test_a_turned_table_has_rows_as_columns_and_keeps_its_cells():
    turned = TABLE.transposed("measure")
    assert turned.header == ("measure", "base", "new")
    assert turned.rows[0] == ("nDCG@10", Cell("0.5"), BETTER)
    again = turned.transposed("system")
    assert (again.header, again.rows) == (TABLE.header, TABLE.rows)


def printed(monkeypatch, table, width):
    """Return what a terminal of this width shows, by line."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, color_system=None)
    monkeypatch.setattr(terminal, "console", console)
    terminal.print_table(table)
    return [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]


def test_a_narrow_terminal_folds_labels_and_headings_but_no_number(monkeypatch):
    wide = Table(("system", "a rather long heading", "MRR"), [("word " * 12, "0.1234", "0.5678")])
    assert len(printed(monkeypatch, wide, 120)) == 3
    just_fits = Table(("system", "a", "b", "c"), [("label", "0.1234", "0.5678", "0.9012")])
    assert len(printed(monkeypatch, just_fits, 32)) == 3
    lines = printed(monkeypatch, wide, 44)
    assert len(lines) > 3
    assert all(len(line) <= 44 for line in lines)
    assert any("0.1234" in line and "0.5678" in line for line in lines)


def test_a_narrow_terminal_counts_the_columns_that_wide_letters_take(monkeypatch):
    wide = Table(("system", "MRR"), [("検索検索検索検索検索検索", "0.1234")])
    for width in range(30, 45):
        assert all(cell_len(line) <= width for line in printed(monkeypatch, wide, width))


def test_names_are_no_markup_of_the_terminal(monkeypatch):
    lines = printed(monkeypatch, Table(("[b]system[/b]", "[i]n[/i]"), [("[red]x", "1")]), 80)
    assert lines[0].split() == ["[b]system[/b]", "[i]n[/i]"]
    assert lines[-1].split() == ["[red]x", "1"]


@pytest.mark.parametrize("width", [10, 25, 31])
def test_where_numbers_do_not_fit_a_row_is_a_line_of_pairs(monkeypatch, width):
    rows = [("label", "0.1234", "0.5678", "0.9012")]
    lines = printed(monkeypatch, Table(("system", "a", "b", "c"), rows), width)
    assert " ".join(lines) == "system label, a 0.1234, b 0.5678, c 0.9012"
    assert sum(line.count("0.") for line in lines) == 3


def test_what_is_written_as_csv_is_read_back():
    cells = ['say "x"', "a,b", "line\nbreak", "▲"]
    [_, row] = csv.reader(io.StringIO(Table(("s", "a", "b", "c"), [cells]).csv()))
    assert row == cells
