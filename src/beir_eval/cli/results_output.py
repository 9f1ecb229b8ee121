"""Evaluation results: print means and notes, write JSON and CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from rich.text import Text

from beir_eval.cli.console import console, print_table, print_warnings
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import file_stem
from beir_eval.display.tables import Table, csv_text, score_text
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import (
    labelled_means,
    shared_notes,
    shared_warnings,
    starred_label,
)
from beir_eval.measures import parse, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


#: A table of more measures than this is transposed: measures become rows.
MOST_COLUMNS = 8


def print_scores(results: Sequence[EvaluationResult], names: str | None) -> None:
    """Print the warnings and the means: systems as rows, or measures as rows if there are many.

    Args:
        results: the results of all systems, on the same measures.
        names: the tool whose names of the measures are printed; None for the canonical names.
    """
    print_warnings(
        f"{result.name}: {sentence}" for result in results for sentence in result.warnings()
    )
    measures = results[0].measures
    labels = [
        starred_label(measure, results, None if names is None else spelled(parse(measure), names))
        for measure in measures
    ]
    rows = [
        (row.label, *(score_text(row.means[measure]) for measure in measures))
        for result in results
        for row in labelled_means(result)
    ]
    table = Table(("system", *labels), rows)
    print_table(table if len(measures) <= MOST_COLUMNS else table.transposed("measure"))


def print_notes(results: Sequence[EvaluationResult]) -> None:
    """Print the notes of the results, without the warnings; a shared note is printed once."""
    for note in shared_notes(results)[len(shared_warnings(results)) :]:
        console.print(Text(note))


def write_results(
    results: Sequence[EvaluationResult], *, per_query: Path | None, json: Path | None
) -> None:
    """Write the scores of every query as CSV and the results as JSON; None: no such file."""
    if per_query is not None:
        _write_per_query(per_query, results)
    if json is not None:
        write_atomically(json, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))


def write_texts(texts: Mapping[Path | None, Callable[[], str]]) -> None:
    """Write texts to files.

    Args:
        texts: for each file a function that returns its text. The key None, for an option that is
            not used, is skipped.
    """
    for path, make_text in texts.items():
        if path is not None:
            write_atomically(path, f"{make_text().rstrip()}\n".encode())


def sibling(path: Path | None, extra: str) -> Path | None:
    """Return the file beside ``path`` for a further table; None for None.

    >>> from pathlib import Path
    >>> sibling(Path("out/c.json.gz"), "slices").name
    'c.slices.json.gz'
    """
    if path is None:
        return None
    stem = file_stem(path)
    return path.with_name(f"{stem}.{extra}{path.name.removeprefix(stem)}")


def _write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file with the columns system, query_id and one per measure."""
    rows = (
        (result.name, query_id, *scores)
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    write_csv(path, ["system", "query_id", *results[0].measures], rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[str | float]]) -> None:
    """Write a CSV file; NaN becomes an empty cell."""
    cells = (["" if cell != cell else cell for cell in row] for row in rows)  # noqa: PLR0124 - NaN
    write_atomically(path, csv_text([header, *cells]).encode())
