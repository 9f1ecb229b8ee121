"""What ``beir-eval compare`` prints: tables, verdicts, trust, the gate; and its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_table
from beir_eval.comparison import tables as texts
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.robustness import tables as trust
from beir_eval.display.tables import markdown_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.gate import GateCheck
    from beir_eval.comparison.result import Comparison


def print_comparison(found: Comparison) -> None:
    """Print means, differences, verdicts, trust and notes."""
    print_table(found.to_table())
    margin = found.settings.margin
    print_table(found.differences_table())
    for one in found.differences:
        console.print(Text(texts.sentence(one, margin), style=VERDICT_COLOURS[one.verdict]))
    if found.trust:
        console.print(Text("\nWhat unjudged documents and ties could change", style="bold"))
        print_table(trust.trust_table(found))
        for sentence in trust.sentences(found):
            console.print(Text(sentence, style="yellow"))
    if found.likeness:
        depth = found.likeness[0].k
        console.print(Text(f"\nHow alike the first {depth} documents are", style="bold"))
        print_table(likeness_table(found))
    console.print()
    for note in found.notes():
        console.print(Text(note, style="dim"))


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
