"""The output of ``beir-eval compare``: tables, verdicts, trust, the gate, Markdown summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_table, print_warnings
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.robustness import tables as trust_tables
from beir_eval.comparison.verdict_sentences import difference_sentence
from beir_eval.display.tables import markdown_text
from beir_eval.display.warning_texts import warnings_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.gate import GateCheck
    from beir_eval.comparison.result import Comparison


def print_comparison(comparison: Comparison) -> None:
    """Print warnings, means, differences, verdicts, trust, similarity of rankings, and notes."""
    warnings = comparison.warnings()
    print_warnings(warnings)
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
    for note in comparison.notes()[len(warnings) :]:
        console.print(Text(note, style="dim"))


def print_gate(checks: Sequence[GateCheck]) -> None:
    """Print the warnings, then whether each check of the gate passed."""
    print_warnings(dict.fromkeys(warning for check in checks for warning in check.warnings))
    for check in checks:
        word = (
            Text("passed", style="bold green") if check.passed else Text("failed", style="bold red")
        )
        console.print(Text.assemble("gate ", word, ": ", check.reason))


def markdown_summary(comparison: Comparison, checks: Sequence[GateCheck]) -> str:
    """Return the warnings, the checks of the gate and the comparison as Markdown."""
    lines = ["## Comparison", ""]
    warnings = warnings_markdown(comparison.warnings())
    if checks:
        passed = all(check.passed for check in checks)
        lines += [f"**Gate {'passed' if passed else 'failed'}**", ""]
        lines += [
            f"- {'passed' if check.passed else '**failed**'}: {markdown_text(check.reason)}"
            for check in checks
        ]
        lines.append("")
    if warnings:
        lines.insert(2, warnings.removesuffix("\n"))
    return "\n".join([*lines, comparison.to_markdown().removeprefix(warnings)])
