"""What the command line prints and writes."""

from __future__ import annotations

import csv
import io
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer
from pydantic import TypeAdapter
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from beir_eval.core.files import write_atomically
from beir_eval.display.tables import number
from beir_eval.errors import BeirEvalError, BeirEvalWarning, InputError
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import labelled_means, shared_notes, starred
from beir_eval.measures import definitions, parse, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from beir_eval.comparison.agreement import Agreement

#: A wider table than this many measures is turned: measures become rows.
MOST_COLUMNS = 8
#: A progress bar appears once the work has taken this long.
PATIENCE_SECONDS = 1.0
#: Output that is not read on a screen is never wrapped.
UNWRAPPED = 10_000


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNWRAPPED
    return Console(stderr=stderr, width=width, highlight=False)


console = _console(stderr=False)
errors = _console(stderr=True)


def fail(message: str) -> NoReturn:
    """Print one line and end with exit code 2."""
    errors.print(Text.assemble(("error: ", "bold red"), " ".join(message.split())))
    raise typer.Exit(2)


def warn(message: str) -> None:
    """Print one line."""
    errors.print(Text.assemble(("warning: ", "bold yellow"), " ".join(message.split())))


def check_targets(read: Sequence[Path], written: Sequence[Path | None]) -> None:
    """Raise InputError where a file would be written over one that is read or written too."""
    taken = {path.resolve() for path in read}
    for path in written:
        if path is not None and path.resolve() in taken:
            msg = f"{path} is named twice on this command; write to another file"
            raise InputError(msg)
        if path is not None:
            taken.add(path.resolve())


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn bad input into one line and exit code 2, and warnings into one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BeirEvalWarning)
        try:
            yield
        except BeirEvalError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        finally:
            for one in caught:
                if issubclass(one.category, BeirEvalWarning):
                    warn(str(one.message))


@contextmanager
def slow_progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Give a function that notes a step done; a bar appears when it takes over a second."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    progress = Progress(*columns, console=errors, transient=True)
    task = progress.add_task("reading", total=steps)
    timer = threading.Timer(PATIENCE_SECONDS, progress.start)
    timer.daemon = True
    if errors.is_terminal:
        timer.start()
    try:
        yield lambda description: progress.update(task, advance=1, description=description)
    finally:
        timer.cancel()
        if progress.live.is_started:
            progress.stop()


def new_table() -> Table:
    """Return an empty table as all commands show them."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


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


#: What ``beir-eval agree`` shows, in this order, with a word on the scale.
AGREEMENT_SCALES = {
    "kendall_distance": "0 the same order, 1 reversed",
    "spearman": "1 the same order, -1 reversed",
    "rbo": "1 the same, 0 nothing shared; extrapolated",
    "rbo_lowest": "if nothing further down is shared",
    "rbo_residual": "what the rest could add to that",
    "overlap": "share of documents in both",
}


def print_agreement(result: Agreement) -> None:
    """Print the means, and what was counted."""
    table = new_table()
    table.add_column(f"top {result.k}", no_wrap=True)
    table.add_column("mean", justify="right")
    table.add_column("queries", justify="right")
    table.add_column("scale")
    for name, scale in AGREEMENT_SCALES.items():
        table.add_row(name, number(result.mean[name]), str(result.num_defined[name]), scale)
    console.print(Text(f"{result.first} and {result.second}"))
    console.print(table)
    for name, extra in ((result.first, result.only_first), (result.second, result.only_second)):
        if extra:
            console.print(Text(f"queries that only {name} has, left out: {extra}"))


def write_agreement(path: Path, result: Agreement) -> None:
    """Write a CSV file: query_id and one column a measure; empty where undefined."""
    rows = zip(result.query_ids, *result.per_query.values(), strict=True)
    _write_csv(path, ["query_id", *result.per_query], rows)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[str | float]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow("" if cell != cell else cell for cell in row)  # noqa: PLR0124 - NaN
    write_atomically(path, text.getvalue().encode())


def measures_table() -> Table:
    """Return all measures with the first line of their definitions."""
    table = new_table()
    table.add_column("measure", no_wrap=True)
    table.add_column("what it is")
    table.add_column("also known as", overflow="fold")
    for definition in definitions().values():
        aliases = [alias for alias in definition.aliases if alias != definition.name.lower()]
        table.add_row(definition.name, definition.summary, ", ".join(aliases))
    return table


def write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file: system, query_id and one column a measure."""
    rows = (
        (result.name, query_id, *scores)
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    _write_csv(path, ["system", "query_id", *results[0].measures], rows)


def write_json(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write all results as one JSON list."""
    write_atomically(path, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))
