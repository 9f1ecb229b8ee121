"""The output of ``beir-eval compare``: tables, verdicts, slices, the gate, Markdown summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_table, print_warnings
from beir_eval.comparison.gate_output import OUTCOME_WORDS
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.robustness import tables as trust_tables
from beir_eval.comparison.verdict_sentences import difference_sentence
from beir_eval.core.files import plain_name
from beir_eval.display.tables import csv_text
from beir_eval.display.warning_texts import warnings_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison

_OUTCOME_COLOURS = {"passed": "green", "failed": "red", "undecidable": "yellow"}


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


def print_slices(sliced: SlicedComparison) -> None:
    """Print the means of every slice, the verdicts of better and worse, and notes."""
    warnings = sliced.warnings()
    print_warnings(warnings)
    console.print(Text("\nWithin slices of the queries", style="bold"))
    print_table(sliced.to_table())
    for sentence, verdict in sliced.verdict_sentences():
        console.print(Text(sentence, style=VERDICT_COLOURS[verdict]))
    for note in sliced.notes()[len(warnings) :]:
        console.print(Text(note, style="dim"))


def print_curve(curve: CheckpointCurve) -> None:
    """Print the curve of checkpoints, its conclusions and notes."""
    warnings = curve.warnings()
    print_warnings(warnings)
    console.print(Text("\nFrom checkpoint to checkpoint", style="bold"))
    print_table(curve.to_table())
    for note in curve.notes()[len(warnings) :]:
        console.print(Text(note))


def print_gate(checks: Sequence[GateCheck]) -> None:
    """Print the warnings, then the outcome of each check of the gate."""
    print_warnings(dict.fromkeys(warning for check in checks for warning in check.warnings))
    for check in checks:
        word = Text(OUTCOME_WORDS[check.outcome], style=f"bold {_OUTCOME_COLOURS[check.outcome]}")
        console.print(Text.assemble("gate ", word, ": ", check.reason))


def markdown_summary(
    comparison: Comparison, sliced: SlicedComparison | None, curve: CheckpointCurve | None
) -> str:
    """Return the warnings, the gate, the comparison, its slices and checkpoints as Markdown."""
    parts = [f"## Comparison\n\n{comparison.to_markdown()}"]
    if sliced is not None:
        parts.append(f"## Within slices of the queries\n\n{_without_warnings(sliced)}")
    if curve is not None:
        parts.append(f"## From checkpoint to checkpoint\n\n{_without_warnings(curve)}")
    return "\n".join(parts)


def _without_warnings(result: SlicedComparison | CheckpointCurve) -> str:
    """Return the Markdown of a result without its warnings, which stand above."""
    return result.to_markdown().removeprefix(warnings_markdown(result.warnings()))


def documents_text(
    comparison: Comparison, documents: Sequence[DocumentToJudge], path: Path | None
) -> str:
    """Return documents to judge as CSV, or as TSV if the name of the file ends so.

    The columns are measure, query_id, doc_id, total, and the rank in each system.
    """
    rows: list[Sequence[object]] = [
        ("measure", "query_id", "doc_id", "total", *(f"rank {name}" for name in comparison.systems))
    ]
    rows += [
        (
            document.measure,
            document.query_id,
            document.doc_id,
            document.total,
            *(document.ranks.get(name, "") for name in comparison.systems),
        )
        for document in documents
    ]
    is_tsv = path is not None and plain_name(path).endswith(".tsv")
    return csv_text(rows, delimiter="\t" if is_tsv else ",")
