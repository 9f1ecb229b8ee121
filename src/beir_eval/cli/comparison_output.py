"""The output of ``beir-eval compare``: tables, verdicts, slices, the gate, Markdown summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_table, print_warnings
from beir_eval.comparison.gate_output import OUTCOME_WORDS, gate_reason, lost_most_lines
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.overview import Overview, ended, overview_of
from beir_eval.comparison.tables import evidence_table, pair_label
from beir_eval.comparison.ties import TIES_TITLE, ties_table
from beir_eval.comparison.unjudged.tables import UNJUDGED_TITLE, unjudged_table
from beir_eval.core.files import plain_name
from beir_eval.display.tables import Cell, Table, csv_text, without_repeated_columns
from beir_eval.display.warning_texts import warnings_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import Difference, DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison

_OUTCOME_COLOURS = {"passed": "green", "failed": "red", "undecidable": "yellow"}


def print_comparison(
    comparison: Comparison, *, detail: bool, queries: Mapping[str, str] | None = None
) -> None:
    """Print the warnings, the verdicts, a compact table for each measure, and a few sentences.

    Args:
        comparison: the comparison.
        detail: whether all evidence follows: every difference, what unjudged documents and ties
            could change, how alike the systems rank, and all notes.
        queries: {query_id: text}, where they are known.
    """
    warnings = comparison.warnings()
    print_warnings(warnings)
    overview = overview_of(comparison, queries)
    for verdict in overview.verdicts:
        console.print(Text(verdict.text, style=f"bold {VERDICT_COLOURS[verdict.verdict]}"))
    for table in overview.tables:
        console.print()
        print_table(table, edge=False)
    console.print()
    for sentence in overview.sentences:
        console.print(Text(sentence))
    if not detail:
        hidden = "" if overview.has_all_pairs else "the intervals and p of all pairs, "
        console.print(
            Text(f"--detail shows {hidden}effects, power, unjudged documents, method", style="dim")
        )
        return
    _print_detail(comparison, overview)


def _print_detail(comparison: Comparison, overview: Overview) -> None:
    """Print the evidence on every difference, unjudged documents, ties, likeness, and all notes.

    Args:
        comparison: the comparison.
        overview: what is printed above.
    """
    console.print(Text("\nThe evidence", style="bold"))
    table = evidence_table(comparison, has_differences=not overview.has_all_pairs)
    _print_by_measure(comparison, table)
    if comparison.unjudged:
        console.print(Text(f"\n{UNJUDGED_TITLE}", style="bold"))
        _print_by_measure(comparison, unjudged_table(comparison))
    if comparison.ties:
        console.print(Text(f"\n{TIES_TITLE}\n", style="bold"))
        print_table(ties_table(comparison), edge=False)
    if comparison.likeness:
        depth = comparison.likeness[0].k
        console.print(Text(f"\nHow alike the first {depth} documents are", style="bold"))
        _print_compactly([_with_pairs(comparison, likeness_table(comparison))])
    console.print(Text("\nWhich chance is in p\n", style="bold"))
    print_table(comparison.chance_table(), edge=False)
    console.print(Text("\nMethod\n", style="bold"))
    printed = {*comparison.warnings(), *overview.sentences}
    for note in comparison.notes():
        if note not in printed and ended(note) not in printed:
            console.print(Text(note))


def _print_by_measure(comparison: Comparison, table: Table) -> None:
    """Print a table with the first columns measure, system and against: a table a measure."""
    rows_by_measure: dict[str, list[Sequence[str | Cell]]] = {}
    for row in table.rows:
        rows_by_measure.setdefault(str(row[0]), []).append(row[1:])
    _print_compactly(
        [
            _with_pairs(comparison, Table((measure, *table.header[2:]), rows))
            for measure, rows in rows_by_measure.items()
        ]
    )


def _with_pairs(comparison: Comparison, table: Table) -> Table:
    """Return a table with the first columns system and against, for all pairs with one of both.

    The pairs are named by the letters of the systems: a table that is split would show rows with
    the same system.
    """
    if comparison.baseline is not None or len(comparison.systems) == 2:  # noqa: PLR2004 - a pair
        return table
    rows = [
        (pair_label(comparison, str(system), str(against)), *cells)
        for system, against, *cells in table.rows
    ]
    return Table((table.header[0], *table.header[2:]), rows)


def _print_compactly(parts: Sequence[Table]) -> None:
    """Print tables without the columns that have one value in all rows, which are named below."""
    shown, left_out = without_repeated_columns(parts, parts[0].header[1:])
    for table in shown:
        console.print()
        print_table(table, edge=False)
    known = {name: value for name, value in left_out.items() if value != "?"}
    if known:
        values = ", ".join(f"{name} {value}" for name, value in known.items())
        console.print(Text(f"in every row: {values}", style="dim"))


def print_slices(sliced: SlicedComparison) -> None:
    """Print whether gains differ between slices, the means and verdicts of slices, and notes."""
    warnings = sliced.warnings()
    print_warnings(warnings)
    console.print(Text("\nWithin slices of the queries", style="bold"))
    for sentence in sliced.interaction_sentences():
        console.print(Text(sentence))
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


def print_gate(checks: Sequence[GateCheck], differences: Sequence[Difference] = ()) -> None:
    """Print the warnings, then the outcome of each check of the gate.

    Args:
        checks: the checks.
        differences: the differences of the comparison, whose verdicts can be others.
    """
    print_warnings(dict.fromkeys(warning for check in checks for warning in check.warnings))
    for check in checks:
        word = Text(OUTCOME_WORDS[check.outcome], style=f"bold {_OUTCOME_COLOURS[check.outcome]}")
        console.print(Text.assemble("gate ", word, ": ", gate_reason(check, differences)))
        for line in lost_most_lines(check):
            console.print(Text(line))


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
    """Return the Markdown of a result without its warnings, which are printed above."""
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
