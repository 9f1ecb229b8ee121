"""The output of ``beir-eval compare``: tables, verdicts, slices, the gate, Markdown summary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import console, print_document, print_warnings
from beir_eval.comparison.gate_output import gate_reason, lost_most_lines
from beir_eval.core.files import plain_name
from beir_eval.display.document import joined, markdown_of, section_markdown
from beir_eval.display.tables import csv_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import Difference, DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison

_OUTCOME_COLOURS = {"passed": "green", "failed": "red", "undecided": "yellow"}


def print_comparison(
    comparison: Comparison,
    *further: SlicedComparison | CheckpointCurve,
    detail: bool,
    queries: Mapping[str, str] | None = None,
) -> None:
    """Print a comparison, and what else is known of it: each warning and note once.

    Args:
        comparison: the comparison.
        further: its slices and checkpoints.
        detail: whether all evidence follows.
        queries: {query_id: text}, where they are known.
    """
    first, *others = joined(
        [comparison.document(queries), *(result.document() for result in further)]
    )
    print_document(replace(first, heading=""), detail=detail)
    if not detail:
        console.print(Text("More: --detail", style="dim"))
    for document in others:
        print_document(document, detail=detail)


def print_gate(checks: Sequence[GateCheck], differences: Sequence[Difference] = ()) -> None:
    """Print the warnings, then the outcome of each check of the gate.

    Args:
        checks: the checks.
        differences: the differences of the comparison, whose verdicts can be others.
    """
    print_warnings(dict.fromkeys(warning for check in checks for warning in check.warnings))
    for check in checks:
        word = Text(check.outcome, style=f"bold {_OUTCOME_COLOURS[check.outcome]}")
        console.print(Text.assemble("gate ", word, ": ", gate_reason(check, differences)))
        for line in lost_most_lines(check):
            console.print(Text(line))


def markdown_summary(comparison: Comparison, *further: SlicedComparison | CheckpointCurve) -> str:
    """Return the gate, the comparison, its slices and checkpoints as Markdown."""
    _, *others = joined(result.document() for result in (comparison, *further))
    return f"{section_markdown('Comparison', comparison.to_markdown())}\n{markdown_of(others)}"


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
