"""Evaluation results on the terminal and in files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from rich.text import Text

from beir_eval.cli.console import console, new_table
from beir_eval.core.files import write_atomically
from beir_eval.display.tables import number
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import labelled_means, shared_notes, starred
from beir_eval.measures import parse, spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


#: A wider table than this many measures is turned: measures become rows.
MOST_COLUMNS = 8


def print_scores(results: Sequence[EvaluationResult], names: str | None) -> None:
    """Print the means: systems as rows, or measures as rows where there are many."""
    measures = results[0].measures
    labels = [
        starred(one, results, None if names is None else spelled(parse(one), names))
        for one in measures
    ]
    rows = [row for result in results for row in labelled_means(result)]
    table = new_table()
    if len(measures) <= MOST_COLUMNS:
        table.add_column("system", overflow="fold")
        for label in labels:
            table.add_column(Text(label), justify="right", no_wrap=True)
        for name, means, _ in rows:
            table.add_row(Text(name), *(number(means[measure]) for measure in measures))
    else:
        table.add_column("measure", no_wrap=True)
        for name, _, _ in rows:
            table.add_column(Text(name), justify="right", overflow="fold")
        for label, measure in zip(labels, measures, strict=True):
            table.add_row(Text(label), *(number(means[measure]) for _, means, _ in rows))
    console.print(table)


def print_notes(results: Sequence[EvaluationResult]) -> None:
    """Print what was counted; what holds for all systems is said once."""
    for note in shared_notes(results):
        console.print(Text(note))


def write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file: system, query_id and one column a measure."""
    rows = (
        (result.name, query_id, *scores)
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    write_csv(path, ["system", "query_id", *results[0].measures], rows)


def write_json(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write all results as one JSON list."""
    write_atomically(path, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[str | float]]) -> None:
    """Write a CSV file; a cell that is not a number is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow("" if cell != cell else cell for cell in row)  # noqa: PLR0124 - NaN
    write_atomically(path, text.getvalue().encode())
