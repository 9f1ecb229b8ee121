"""Evaluation results on the terminal and in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from rich.text import Text

from beir_eval.cli.console import console, print_table
from beir_eval.core.files import write_atomically
from beir_eval.display.tables import Table, csv_text, number
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import labelled_means, shared_notes, starred
from beir_eval.measures import parse, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
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
    rows = [
        (row.label, *(number(row.means[measure]) for measure in measures))
        for result in results
        for row in labelled_means(result)
    ]
    table = Table(("system", *labels), rows)
    print_table(table if len(measures) <= MOST_COLUMNS else table.turned("measure"))


def print_notes(results: Sequence[EvaluationResult]) -> None:
    """Print what was counted; what holds for all systems is said once."""
    for note in shared_notes(results):
        console.print(Text(note))


def write_results(
    results: Sequence[EvaluationResult], *, per_query: Path | None, json: Path | None
) -> None:
    """Write the files that were requested."""
    if per_query is not None:
        _write_per_query(per_query, results)
    if json is not None:
        write_atomically(json, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))


def write_texts(texts: Mapping[Path | None, Callable[[], str]]) -> None:
    """Write each text to its file; a file that was not requested is None."""
    for path, text in texts.items():
        if path is not None:
            write_atomically(path, f"{text().rstrip()}\n".encode())


def _write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file: system, query_id and one column a measure."""
    rows = (
        (result.name, query_id, *scores)
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    write_csv(path, ["system", "query_id", *results[0].measures], rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[str | float]]) -> None:
    """Write a CSV file; a cell that is not a number is empty."""
    shown = (["" if cell != cell else cell for cell in row] for row in rows)  # noqa: PLR0124 - NaN
    write_atomically(path, csv_text([header, *shown]).encode())
