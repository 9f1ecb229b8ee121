"""The output of ``beir-eval compare``: tables, verdicts, slices, the gate, Markdown summary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import console, print_document
from beir_eval.comparison.gate_output import gate_document
from beir_eval.comparison.overview import of_measures
from beir_eval.core.files import plain_name
from beir_eval.display.document import Document, joined, markdown_of, section_markdown
from beir_eval.display.tables import csv_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison


def print_comparison(
    comparison: Comparison,
    sliced: SlicedComparison | None = None,
    curve: CheckpointCurve | None = None,
    *,
    detail: bool,
    queries: Mapping[str, str] | None = None,
) -> None:
    """Print a comparison, and what else is known of it: each warning and note once.

    A gate decides by its own test: measures that it checks are printed with that one alone, unless
    all evidence follows.

    Args:
        comparison: the comparison, with the checks of its gate.
        sliced: its slices.
        curve: its checkpoints, of which only the detail has a table of their own.
        detail: whether all evidence follows.
        queries: {query_id: text}, where they are known.
    """
    checked = {check.measure for check in comparison.gate if check.against is not None}
    measures = [name for name in comparison.measures if detail or name not in checked]
    shown = of_measures(comparison, measures).document(queries) if measures else Document()
    further = [result.document() for result in (sliced, curve) if result is not None]
    first, *others = joined([shown, *further])
    if curve is not None and not detail:
        ended = others.pop().sentences
        notes = [*first.notes, *curve.limits()]
        first = replace(first, sentences=[*ended, *first.sentences], notes=notes)
    if comparison.gate:
        gate = gate_document(comparison.gate, comparison)
        print_document(replace(gate, heading="", warnings=comparison.warnings()))
        first = replace(first, warnings=[])
    if measures or curve is not None:
        if comparison.gate:
            console.print()
        print_document(replace(first, heading=""), detail=detail)
    for document in others:
        print_document(document, detail=detail)
    if not detail:
        console.print(Text("More: --detail", style="dim"))


def print_gate(checks: Sequence[GateCheck]) -> None:
    """Print the warnings, then the outcome of each check of the gate of one system."""
    warnings = list(dict.fromkeys(text for check in checks for text in check.warnings))
    print_document(replace(gate_document(checks), heading="", warnings=warnings))


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
    fields, systems = ("measure", "query_id", "doc_id", "total"), comparison.systems
    rows: list[Sequence[object]] = [(*fields, *(f"rank {name}" for name in systems))]
    for document in documents:
        ranks = (document.ranks.get(name, "") for name in systems)
        rows.append((*(getattr(document, field) for field in fields), *ranks))
    is_tsv = path is not None and plain_name(path).endswith(".tsv")
    return csv_text(rows, delimiter="\t" if is_tsv else ",")
