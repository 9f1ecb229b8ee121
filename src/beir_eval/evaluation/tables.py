"""Tables of the means of results: measures by cutoffs, systems by measures; as text and LaTeX."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from beir_eval.display.document import Document
from beir_eval.display.tables import Cell, ScoreFormat, Table, latex_table, score_text
from beir_eval.display.warning_texts import warnings_latex
from beir_eval.evaluation.notes import ranks_caption, ranks_sentence
from beir_eval.evaluation.side_by_side import (
    depth_notes,
    labelled_means,
    shared_measures,
    shared_notes,
    shared_warnings,
    starred_label,
)
from beir_eval.measures import parse, spelled
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.evaluation.summary import Summary
    from beir_eval.measures.scales import ScoreScale

#: A table of more measures than this is transposed: measures become rows.
MOST_COLUMNS = 8
#: The measures of several systems that are shown if none are named: those that BEIR reports most.
USUAL_MEASURES = ("nDCG@10", "MAP@100", "Recall@100", "Precision@10", "MRR@10")


def means_table(
    results: Sequence[Summary],
    names: str | None = None,
    *,
    measures: Sequence[str] | None = None,
    scores: ScoreFormat | None = None,
) -> Table:
    """Return a table of means: systems as rows, or measures as rows if there are many.

    Args:
        results: the results of all systems.
        names: the tool whose names of the measures are shown; None for the canonical names.
        measures: the measures, which all results have; by default all that they share.
        scores: how scores are written; None for four decimals.
    """
    scores = scores or ScoreFormat()
    shown_measures = shared_measures(results) if measures is None else list(measures)
    labels = [
        starred_label(measure, results, _spelled(measure, results, names))
        for measure in shown_measures
    ]
    means = [row for result in results for row in labelled_means(result)]
    rows: list[list[str | Cell]] = [[row.label] for row in means]
    for measure in shown_measures:
        of_measure = [row.means[measure] for row in means]
        scale = scale_of(measure, results[0].custom_measures)
        cells = score_cells(of_measure, scale, scores, marks_best=len(results) > 1)
        for row, cell in zip(rows, cells, strict=True):
            row.append(cell)
    table = Table(("system", *labels), rows)
    return table if len(shown_measures) <= MOST_COLUMNS else table.transposed("measure")


def score_cells(
    scores: Sequence[float], scale: ScoreScale, written: ScoreFormat, *, marks_best: bool
) -> list[Cell]:
    """Return scores of several systems on one measure as cells; those that look best are marked.

    Args:
        scores: the scores; NaN where a system has none.
        scale: the bounds of the measure, and whether higher is better.
        written: how scores are written.
        marks_best: whether the best ones are marked.
    """
    known = [score for score in scores if not math.isnan(score)] if marks_best else []
    best = written.text(scale.best(known), scale.bounds) if known else ""
    texts = (written.text(score, scale.bounds) for score in scores)
    return [Cell(text, is_best=text == best) for text in texts]


def repeats_table(systems: Mapping[str, Sequence[Summary]], measures: Sequence[str]) -> Table:
    """Return a table of means over the repeats of systems, with the spread of the repeats' means.

    A cell of a system with two repeats or more is "0.4512 ± 0.0031": the mean over its repeats, and
    the standard deviation of their means (repeats − 1 in the denominator).

    Args:
        systems: {name: the results of its repeats}, on the same judgements.
        measures: the measures, which all results have.
    """
    results = [result for repeats in systems.values() for result in repeats]
    labels = [starred_label(measure, results) for measure in measures]
    rows: list[list[str | Cell]] = [[name] for name in systems]
    for measure in measures:
        means = [[result[measure] for result in repeats] for repeats in systems.values()]
        centres = [statistics.fmean(of_system) for of_system in means]
        best = scale_of(measure, results[0].custom_measures).best(centres)
        for row, of_system, centre in zip(rows, means, centres, strict=True):
            text = score_text(centre)
            is_best = len(systems) > 1 and not math.isnan(centre) and text == score_text(best)
            if len(of_system) > 1:
                text += f" ± {score_text(statistics.stdev(of_system))}"
            row.append(Cell(text, is_best=is_best))
    table = Table(("system", *labels), rows)
    return table if len(measures) <= MOST_COLUMNS else table.transposed("measure")


def _spelled(measure: str, results: Sequence[Summary], names: str | None) -> str | None:
    """Return the name of a measure in another tool; None for the canonical name."""
    if names is None or measure in results[0].custom_measures:
        return None
    return spelled(parse(measure), names)


def cutoff_tables(result: Summary) -> list[Table] | None:
    """Return tables of measures by cutoffs; None unless each measure has each cutoff.

    There is a table for each mean: two if judged queries are missing from the run.
    """
    cells = {name: name.rpartition("@") for name in result.measures}
    measures = list(dict.fromkeys(measure for measure, _, _ in cells.values()))
    cutoffs = list(dict.fromkeys(cutoff for _, _, cutoff in cells.values()))
    is_complete = len(cells) == len(measures) * len(cutoffs)
    if not (is_complete and all(measures) and len(measures) > 1 and len(cutoffs) > 1):
        return None
    if result.custom_measures:
        return None
    headings = [
        starred_label(f"{measures[0]}@{cutoff}", [result], f"@{cutoff}") for cutoff in cutoffs
    ]
    return [
        Table(
            (row.label, *headings),
            [
                (
                    measure,
                    *(score_text(row.means[f"{measure}@{cutoff}"]) for cutoff in cutoffs),
                )
                for measure in measures
            ],
        )
        for row in labelled_means(result)
    ]


def usual_measures(results: Sequence[Summary]) -> list[str]:
    """Return the measures that are shown of several systems if none are named.

    These are ``USUAL_MEASURES``, with the parameters that the evaluated ones have.
    """
    usual = [(measure.name, measure.cutoff) for measure in map(parse, USUAL_MEASURES)]
    by_name = {
        (measure.name, measure.cutoff): name
        for name in shared_measures(results)
        for measure in [parse(name)]
    }
    return [by_name[key] for key in usual if key in by_name]


def result_text(result: Summary) -> str:
    """Return the warnings, the means and what has ranks (unless documents) as plain text."""
    tables = cutoff_tables(result) or [_one_result_table(result)]
    warnings = [f"warning: {sentence}" for sentence in result.warnings()]
    text = "\n".join([*warnings, "\n\n".join(table.text() for table in tables)])
    return "\n".join(filter(None, [text, ranks_sentence(result)]))


def _one_result_table(result: Summary) -> Table:
    """Return a table with a row for each measure and a column for each of its means."""
    means = labelled_means(result)
    rows = [
        (starred_label(measure, [result]), *(score_text(row.means[measure]) for row in means))
        for measure in result.measures
    ]
    return Table(("measure", *(row.label for row in means)), rows)


def to_markdown(results: Sequence[Summary]) -> str:
    """Return the warnings, the means of all shared measures and the notes as Markdown."""
    warnings = shared_warnings(results)
    notes = shared_notes(results)[len(warnings) :]
    return Document(
        warnings=warnings, tables=[lambda: means_table(results)], notes=notes
    ).markdown()


def to_latex(
    results: Sequence[Summary],
    measures: Sequence[str] | None = None,
    scores: ScoreFormat | None = None,
) -> str:
    """Return the warnings as comments, and the means as a LaTeX table with caption and label.

    Args:
        results: the results of all systems.
        measures: the measures, which all results have; by default all that they share.
        scores: how scores are written; None for four decimals.
    """
    scores = scores or ScoreFormat()
    num_queries = {result.num_queries for result in results}
    queries = f"{max(num_queries):,} queries" if len(num_queries) == 1 else "the judged queries"
    caption = f"Means over {queries}."
    if len(results) > 1:
        caption += " Best in bold."
    table = means_table(results, measures=measures, scores=scores)
    caption += scores.remark()
    if any(heading.endswith("*") for heading in _headings(table)):
        caption += " *: the run has fewer documents per query than the cutoff."
    caption += ranks_caption(results[0])
    warnings = [*shared_warnings(results), *depth_notes(results, measures)]
    return warnings_latex(warnings) + latex_table(table, caption=caption, label="tab:means")


def _headings(table: Table) -> list[str]:
    """Return the headings of the columns and of the rows."""
    return [*table.header, *(str(row[0]) for row in table.rows)]
