"""The output of ``beir-eval compare``: tables, verdicts, trust, the gate, Markdown summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_table
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.robustness import tables as trust_tables
from beir_eval.comparison.verdict_sentences import difference_sentence
from beir_eval.display.tables import markdown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.gate import GateCheck
    from beir_eval.comparison.result import Comparison


def print_comparison(comparison: Comparison) -> None:
    """Print means, differences, verdicts, trust, similarity of the rankings, and notes."""
    print_table(comparison.to_table())
    margin = comparison.settings.margin
    print_table(comparison.differences_table())
    for difference in comparison.differences:
        sentence = difference_sentence(difference, margin)
        console.print(Text(sentence, style=VERDICT_COLOURS[difference.verdict]))
    if comparison.trust:
        console.print(Text("\nWhat unjudged documents and ties could change", style="bold"))
        print_table(trust_tables.trust_table(comparison))
        for sentence in trust_tables.robustness_sentences(comparison):
            console.print(Text(sentence, style="yellow"))
    if comparison.likeness:
        depth = comparison.likeness[0].k
        console.print(Text(f"\nHow alike the first {depth} documents are", style="bold"))
        print_table(likeness_table(comparison))
    console.print()
    for note in comparison.notes():
        console.print(Text(note, style="dim"))


def print_gate(checks: Sequence[GateCheck]) -> None:
    """Print whether each check of the gate passed."""
    for check in checks:
        word = (
            Text("passed", style="bold green") if check.passed else Text("failed", style="bold red")
        )
        console.print(Text.assemble("gate ", word, ": ", check.reason))


def markdown_summary(comparison: Comparison, checks: Sequence[GateCheck]) -> str:
    """Return the checks of the gate and the comparison as Markdown."""
    lines = ["## Comparison", ""]
    if checks:
        passed = all(check.passed for check in checks)
        lines += [f"**Gate {'passed' if passed else 'failed'}**", ""]
        lines += [
            f"- {'passed' if check.passed else '**failed**'}: {markdown_text(check.reason)}"
            for check in checks
        ]
        lines.append("")
    return "\n".join([*lines, comparison.to_markdown()])
