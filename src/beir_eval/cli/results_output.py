"""Evaluation results: print means and notes, write JSON and CSV files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from rich.text import Text

from beir_eval.cli.console import console, print_table, print_warnings
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.display.document import warnings_latex, warnings_markdown
from beir_eval.display.tables import csv_text
from beir_eval.evaluation.coverage import labelled_warnings
from beir_eval.evaluation.notes import judged_share_text
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.tables import (
    cutoff_tables,
    means_table,
    shared_notes,
    shared_warnings,
    to_latex,
    to_markdown,
    usual_measures,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from beir_eval.cli.outputs import Outputs
    from beir_eval.display.tables import ScoreFormat


def print_scores(
    results: Sequence[EvaluationResult], names: str | None, *, are_default_measures: bool = False
) -> Sequence[str]:
    """Print the warnings and the means: systems as rows, or measures as rows if there are many.

    Returns the canonical names of the measures printed, for ``print_notes``.

    Args:
        results: the results of all systems, on the same measures.
        names: the tool whose names of the measures are printed; None for the canonical names.
        are_default_measures: whether the measures were not chosen by the user: then those of one
            system are printed as measures by cutoffs, and of several systems the usual ones.
    """
    print_warnings(
        sentence for result in results for sentence in labelled_warnings(result, result.name)
    )
    if not are_default_measures:
        print_table(means_table(results, names))
        return results[0].measures
    by_cutoff = cutoff_tables(results[0]) if len(results) == 1 and names is None else None
    if by_cutoff is not None:
        for table in by_cutoff:
            print_table(table)
        return results[0].measures
    usual = usual_measures(results)
    print_table(means_table(results, names, measures=usual))
    console.print(
        Text(
            f"{len(usual)} of the {len(results[0].measures)} measures evaluated; -m chooses "
            "others, -o FILE writes all",
            style="dim",
        )
    )
    return usual


def print_notes(results: Sequence[EvaluationResult], measures: Sequence[str]) -> None:
    """Print the notes of the results, without the warnings; a shared note is printed once.

    The judged shares of more than two systems are printed as a range.

    Args:
        results: the results of all systems.
        measures: the measures printed, from ``print_scores``.
    """
    notes = shared_notes(results, measures)[len(shared_warnings(results)) :]
    shares = {
        result.name: result.counted.judged_share for result in results if result.counted is not None
    }
    if len(shares) == len(results) > 1:
        of_one = [judged_share_text({name: by_depth}) for name, by_depth in shares.items()]
        notes = [note for note in notes if not note.endswith(tuple(filter(None, of_one)))]
        if of_all := judged_share_text(shares):
            notes.append(of_all)
    for note in notes:
        console.print(Text(note))


def write_results(
    results: Sequence[EvaluationResult],
    outputs: Outputs,
    scores: ScoreFormat,
    not_evaluated: Sequence[str] = (),
) -> None:
    """Write the results: csv every query's scores, json everything, md and tex the means.

    Args:
        results: the results of all systems, on the same measures.
        outputs: the files.
        scores: how scores are written in LaTeX.
        not_evaluated: sentences on runs that have no result, for Markdown and LaTeX.
    """
    write_data(results, outputs)
    outputs.write(
        {
            "md": lambda: warnings_markdown(not_evaluated) + to_markdown(results),
            "tex": lambda: warnings_latex(not_evaluated) + to_latex(results, scores=scores),
        }
    )


def write_data(results: Sequence[EvaluationResult], outputs: Outputs) -> None:
    """Write the scores of every query as CSV, and everything as JSON."""
    for path in outputs["csv"]:
        _write_per_query(path, results)
    for path in outputs["json"]:
        write_atomically(path, TypeAdapter(list[EvaluationResult]).dump_json(list(results)))


def _write_per_query(path: Path, results: Sequence[EvaluationResult]) -> None:
    """Write a CSV file with the columns system, query_id and one per measure; NaN is empty."""
    rows = (
        (result.name, query_id, *("" if math.isnan(score) else score for score in scores))
        for result in results
        for query_id, scores in zip(result.query_ids, result.values.array.T.tolist(), strict=True)
    )
    header = ["system", "query_id", *results[0].measures]
    write_atomically(path, csv_text([header, *rows]).encode())
