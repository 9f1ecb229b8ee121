"""What ``beir-eval compare`` prints: tables, verdicts, trust, the gate; and its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import UNWRAPPED, console, new_table
from beir_eval.comparison import tables as texts
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.robustness import tables as trust
from beir_eval.display.tables import markdown_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.comparison.gate import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.display import tables

_COLOURS = {"better": "green", "worse": "red", "equal": "cyan", "undecided": "default"}


def print_comparison(found: Comparison) -> None:
    """Print means, differences, verdicts, trust and notes."""
    _print_table(found.to_table(), _coloured_mean)
    margin = found.settings.margin
    _print_table(texts.differences_table(found), _coloured_verdict)
    for one in found.differences:
        console.print(Text(texts.sentence(one, margin), style=_COLOURS[one.verdict]))
    if found.trust:
        console.print(Text("\nWhat unjudged documents and ties could change", style="bold"))
        _print_table(trust.trust_table(found), Text)
        for sentence in trust.sentences(found):
            console.print(Text(sentence, style="yellow"))
    if found.likeness:
        depth = found.likeness[0].k
        console.print(Text(f"\nHow alike the first {depth} documents are", style="bold"))
        _print_table(likeness_table(found), Text)
    console.print()
    for note in found.notes():
        console.print(Text(note, style="dim"))


def _print_table(table: tables.Table, cell: Callable[[str], Text]) -> None:
    shown = new_table()
    for place, text in enumerate(table.header):
        shown.add_column(Text(text), justify="right" if place else "left", no_wrap=True)
    for row in table.rows:
        shown.add_row(*map(cell, row))
    unwrapped = console.options.update(max_width=UNWRAPPED)
    if console.measure(shown, options=unwrapped).maximum <= console.width:
        console.print(shown)
        return
    # A number that is broken over two lines reads as another number.
    for row in table.rows:
        pairs = zip(table.header, row, strict=True)
        console.print(Text(", ").join(Text(f"{name} ").append(cell(text)) for name, text in pairs))
    console.print()


def _coloured_verdict(cell: str) -> Text:
    return Text(cell, style=_COLOURS.get(cell, ""))


def _coloured_mean(cell: str) -> Text:
    style = {"▲": "green", "▼": "red"}.get(cell[-1:], "")
    return Text(cell, style=style)


def print_gate(checks: Sequence[GateCheck]) -> None:
    """Print whether each check of the gate passed."""
    for one in checks:
        word = (
            Text("passed", style="bold green") if one.passed else Text("failed", style="bold red")
        )
        console.print(Text.assemble("gate ", word, ": ", one.reason))


def summary_of(found: Comparison, checks: Sequence[GateCheck]) -> str:
    """Return the gate and the comparison as markdown."""
    lines = ["## Comparison", ""]
    if checks:
        passed = all(one.passed for one in checks)
        lines += [f"**Gate {'passed' if passed else 'failed'}**", ""]
        lines += [
            f"- {'passed' if one.passed else '**failed**'}: {markdown_text(one.reason)}"
            for one in checks
        ]
        lines.append("")
    return "\n".join([*lines, found.to_markdown()])
