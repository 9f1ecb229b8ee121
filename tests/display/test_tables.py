"""A table as markdown, HTML, LaTeX and CSV, and on the terminal."""

import csv
import io
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from beir_eval.cli import console as terminal
from beir_eval.display import Cell, Table
from beir_eval.display.tables import latex_table, without_repeated_columns

BETTER = Cell("0.6", "▲", "better", "0.5 to 0.7", is_best=True)
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
    assert rows[5] == r"new & \textbf{0.6}$^{\ensuremath{\uparrow}}$ & better \\"
    marks = [Cell("1", mark) for mark in ("▼", "=", "ab", "[27]")]
    row = Table(("", *"wxyz"), [("s", *marks)]).latex().splitlines()[4]
    assert row == r"s & 1$^{\ensuremath{\downarrow}}$ & 1$^{=}$ & 1$^{ab}$ & 1$^{[27]}$ \\"


def test_latex_escapes_the_text_of_cells():
    latex = Table(("", "a"), [("s", Cell("5%", "> x_1 & y", is_best=True))]).latex()
    assert latex.splitlines()[4] == r"s & \textbf{5\%}$^{\ensuremath{>} x\_1 \& y}$ \\"


def test_html_shows_the_best_in_bold_the_meaning_of_a_mark_and_the_interval():
    html = TABLE.html("Means", css_class="means")
    assert html.startswith('<table class="means"><caption>Means</caption><thead>')
    assert (
        '<td data-label="nDCG@10"><strong>0.6</strong> '
        '<span class="mark better" title="better than the baseline">▲</span>'
        "<small>0.5 to 0.7</small></td>"
    ) in html
    assert TABLE._repr_html_() == TABLE.html()
    assert TABLE.html().startswith("<table><thead>")


def test_words_are_left_aligned_and_undefined_numbers_are_not():
    html = Table(("name", "mean", "verdict"), [("x", "n/a", "better")]).html()
    assert '<th scope="col" class="words">name' in html
    assert '<th scope="col">mean' in html
    assert '>n/a</td><td data-label="verdict" class="words">better</td>' in html


class Tags(HTMLParser):
    """The tags of a text in HTML, each with the names of its attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, [name for name, _ in attributes]))

    def handle_endtag(self, tag):
        self.tags.append(f"/{tag}")

    def handle_comment(self, data):
        self.tags.append("comment")

    handle_decl = handle_pi = unknown_decl = handle_comment


def tags_around(text):
    """Return the tags of a table in which every text is this text."""
    cell = Cell(text, text, text, text, is_best=True)
    table = Table((text, text, text), [(text, cell, text)])
    return Tags(table.html(text, css_class=text)).tags


@given(st.text())
@example("<b>")
@example('" onclick="')
@example("<!--")
def test_no_text_of_a_cell_becomes_a_tag(text):
    # Around the text: an attribute that is not quoted would end with the quote.
    assert tags_around(f"x{text}") == tags_around("x")
    assert tags_around(f"1{text}") == tags_around("1")


def test_a_turned_table_swaps_rows_and_columns_and_keeps_its_cells():
    turned = TABLE.transposed("measure")
    assert turned.header == ("measure", "base", "new")
    assert turned.rows[0] == ("nDCG@10", Cell("0.5"), BETTER)
    turned_back = turned.transposed("system")
    assert (turned_back.header, turned_back.rows) == (TABLE.header, TABLE.rows)


def printed_lines(monkeypatch, table, width):
    """Return the lines that a terminal of this width shows, blank ones left out."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, color_system=None)
    monkeypatch.setattr(terminal, "console", console)
    terminal.print_table(table)
    return [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]


def test_a_label_that_is_too_long_is_printed_beside_its_numbers_and_none_is_broken(monkeypatch):
    wide = Table(("system", "a rather long heading", "MRR"), [("word " * 12, "0.1234", "0.5678")])
    assert len(printed_lines(monkeypatch, wide, 120)) == 3
    just_fits = Table(("system", "a", "b", "c"), [("label", "0.1234", "0.5678", "0.9012")])
    assert len(printed_lines(monkeypatch, just_fits, 30)) == 3
    lines = printed_lines(monkeypatch, wide, 44)
    assert all(len(line) <= 44 for line in lines)
    assert "a rather long heading 0.1234, MRR 0.5678" in " ".join(lines)


def test_a_narrow_terminal_counts_the_columns_that_wide_letters_take(monkeypatch):
    wide = Table(("system", "MRR"), [("検索検索検索検索検索検索", "0.1234")])
    for width in range(30, 45):
        assert all(cell_len(line) <= width for line in printed_lines(monkeypatch, wide, width))


def test_markup_in_names_is_printed_as_text(monkeypatch):
    lines = printed_lines(monkeypatch, Table(("[b]system[/b]", "[i]n[/i]"), [("[red]x", "1")]), 80)
    assert lines[0].split() == ["[b]system[/b]", "[i]n[/i]"]
    assert lines[-1].split() == ["[red]x", "1"]


@pytest.mark.parametrize("width", [22, 29])
def test_columns_that_do_not_fit_are_printed_as_a_further_table(monkeypatch, width):
    rows = [("label", "0.1234", "0.5678", "0.9012")]
    lines = printed_lines(monkeypatch, Table(("system", "a", "b", "c"), rows), width)
    words = [line.split() for line in lines if "─" not in line]
    assert words == [
        ["system", "a", "b"],
        ["label", "0.1234", "0.5678"],
        ["system", "c"],
        ["label", "0.9012"],
    ]


@pytest.mark.parametrize("width", [10, 13])
def test_if_numbers_do_not_fit_a_row_is_printed_as_pairs(monkeypatch, width):
    rows = [("label", "0.1234", "0.5678", "0.9012")]
    lines = printed_lines(monkeypatch, Table(("system", "a", "b", "c"), rows), width)
    assert " ".join(lines) == "system label, a 0.1234, b 0.5678, c 0.9012"
    assert sum(line.count("0.") for line in lines) == 3


def test_a_table_written_as_csv_can_be_read_back():
    cells = ['say "x"', "a,b", "line\nbreak", "▲"]
    [_, row] = csv.reader(io.StringIO(Table(("s", "a", "b", "c"), [cells]).csv()))
    assert row == cells


def test_text_aligns_columns_and_escapes_control_characters():
    table = Table(("system", "MRR"), [("a\x1b[2J", "0.5"), ("longer name", "1.25")])
    assert table.text().splitlines() == [
        "system        MRR",
        "a\\x1b[2J      0.5",
        "longer name  1.25",
    ]


def test_columns_with_one_value_are_left_out_of_all_tables_or_of_none():
    header = ("system", "p", "verdict", "bounds")
    first = Table(header, [("a", "0.3", "better", "?"), ("b", "", "", "")])
    second = Table(header, [("a", "0.3", "worse", "?")])
    tables, left_out = without_repeated_columns([first, second], header[1:])
    assert left_out == {"p": "0.3", "bounds": "?"}
    assert [table.header for table in tables] == [("system", "verdict")] * 2
    [alone], left_out = without_repeated_columns([second], header[1:])
    assert (alone.header, left_out) == (("system", "p", "verdict"), {"bounds": "?"})


def test_a_latex_table_has_caption_label_and_rules_and_only_characters_that_pdflatex_sets():
    name = "100%_ä ▲▼≤≥…\u2013—“x” 文字 ą\u00a0"
    table = Table((name, "MRR"), [(name, Cell("0.5", "▲")), ("b", Cell("0.4", "="))])
    text = latex_table(table, caption=f"▲ better than {name}", label="tab:means")
    for part in (
        r"\begin{table}",
        r"\caption{\ensuremath{\uparrow} better than 100\%\_ä",
        r"\label{tab:means}",
        r"\toprule",
        r"\end{table}",
        "[U+6587]",
        "[U+0105]",
        "0.5$^{",
        "0.4$^{=}$",
    ):
        assert part in text
    assert {character for character in text if not character.isascii()} == {"ä"}
