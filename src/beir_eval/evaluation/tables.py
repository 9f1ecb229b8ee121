"""Results side by side: tables of their means as text and LaTeX, and shared notes.

Tables have measures by cutoffs, or systems by measures. Notes and measures are those that results
share; if systems differ in depth, some measures compare the depths, and a sentence says so.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.display.document import Document, Sentence, warnings_latex
from beir_eval.display.tables import (
    UNKNOWN,
    Cell,
    ScoreFormat,
    Table,
    first_that_fits,
    latex_table,
    score_text,
)
from beir_eval.errors import ResultError, number_of
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.depths import judged_depth, judged_text, unequal_depths_text
from beir_eval.evaluation.notes import notes_on, ranks_caption
from beir_eval.measures import parse
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures.scales import ScoreScale

#: A table of more measures than this is transposed: measures become rows.
MOST_COLUMNS = 8
#: The measures of several systems that are shown if none are named: those that BEIR reports most.
USUAL_MEASURES = ("nDCG@10", "MAP@100", "Recall@100", "MRR@10")


def means_table(
    results: Sequence[EvaluationResult],
    *,
    measures: Sequence[str] | None = None,
    scores: ScoreFormat | None = None,
) -> Table:
    """Return a table of means: systems as rows, or measures as rows if there are many.

    Args:
        results: the results of all systems.
        measures: the measures, which all results have; by default all that they share.
        scores: how scores are written; None for four decimals.
    """
    scores = scores or ScoreFormat()
    shown_measures = shared_measures(results) if measures is None else list(measures)
    rows = [row for result in results for row in labelled_means(result)]
    # Only means over the same queries are comparable.
    compared = [row.is_over_all_judged and len(results) > 1 for row in rows]
    columns = []
    for measure in shown_measures:
        scale = scale_of(measure, results[0].custom_measures)
        means = [row.means[measure] for row in rows]
        columns.append(score_cells(means, scale, scores, compared))
    return _table_of_columns([row.label for row in rows], columns, shown_measures, results)


def _table_of_columns(
    names: Sequence[str],
    columns: Sequence[Sequence[Cell]],
    measures: Sequence[str],
    results: Sequence[EvaluationResult],
) -> Table:
    """Return a table of a column for each measure, with a row for each if they are many."""
    labels = [starred_label(measure, results) for measure in measures]
    table = Table(("system", *labels), list(zip(names, *columns, strict=True)))
    return table if len(measures) <= MOST_COLUMNS else table.transposed("measure")


def score_cells(
    scores: Sequence[float],
    scale: ScoreScale,
    written: ScoreFormat,
    compared: Sequence[bool] | None = None,
) -> list[Cell]:
    """Return scores of several systems on one measure as cells; those that look best are marked.

    Args:
        scores: the scores; NaN where a system has none.
        scale: the bounds of the measure, and whether higher is better.
        written: how scores are written.
        compared: which of them are compared, so that the best of these are marked; None: all, if
            there are several.
    """
    marks = [len(scores) > 1] * len(scores) if compared is None else compared
    texts = [written.text(score, scale.bounds) for score in scores]
    known = [score for score, mark in zip(scores, marks, strict=True) if mark and score == score]  # noqa: PLR0124 - not NaN
    # Scores that look equal are equally good to a reader.
    best = written.text(scale.best(known), scale.bounds) if known else ""
    return [
        Cell(text, is_best=mark and text == best) for text, mark in zip(texts, marks, strict=True)
    ]


def repeats_table(
    systems: Mapping[str, Sequence[EvaluationResult]], measures: Sequence[str]
) -> Table:
    """Return a table of means over the repeats of systems, with the spread of the repeats' means.

    A cell of a system with two repeats or more is "0.4512 ± 0.0031": the mean over its repeats, and
    the standard deviation of their means (repeats − 1 in the denominator).

    Args:
        systems: {name: the results of its repeats}, on the same judgements.
        measures: the measures, which all results have.
    """
    results = [result for repeats in systems.values() for result in repeats]
    columns = []
    for measure in measures:
        means = [[result[measure] for result in repeats] for repeats in systems.values()]
        scale = scale_of(measure, results[0].custom_measures)
        cells = score_cells(list(map(statistics.fmean, means)), scale, ScoreFormat())
        spreads = [f" ± {score_text(statistics.stdev(each))}" if each[1:] else "" for each in means]
        columns.append(
            [
                replace(cell, text=f"{cell.text}{spread}")
                for cell, spread in zip(cells, spreads, strict=True)
            ]
        )
    return _table_of_columns(list(systems), columns, measures, results)


def _grids(result: EvaluationResult) -> tuple[list[Table], list[str]]:
    """Return tables of measures by cutoffs; none unless each measure has each cutoff.

    There is a table for each mean: two if judged queries are missing from the run.

    Returns:
        The tables, and the cutoffs that are left out because all rankings end before them.
    """
    cells = {name: name.rpartition("@") for name in result.measures}
    measures = list(dict.fromkeys(measure for measure, _, _ in cells.values()))
    cutoffs = list(dict.fromkeys(cutoff for _, _, cutoff in cells.values()))
    is_complete = all(measures) and len(cells) == len(measures) * len(cutoffs)
    if result.custom_measures or not is_complete or 1 in {len(measures), len(cutoffs)}:
        return [], []
    is_reached = {
        cutoff: not result.label(f"{measures[0]}@{cutoff}").endswith("*") for cutoff in cutoffs
    }
    kept = [cutoff for cutoff in cutoffs if is_reached[cutoff]] or cutoffs
    shares = [judged_text([result], int(cutoff)) for cutoff in kept]
    tables = [
        Table(
            (row.label, *(f"@{cutoff}" for cutoff in kept)),
            [
                (measure, *(score_text(row.means[f"{measure}@{cutoff}"]) for cutoff in kept))
                for measure in measures
            ]
            + ([] if UNKNOWN in shares else [("judged", *shares)]),
        )
        for row in labelled_means(result)
    ]
    return tables, [f"@{cutoff}" for cutoff in cutoffs if cutoff not in kept]


def usual_measures(results: Sequence[EvaluationResult]) -> list[str]:
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


def screen_of(
    results: Sequence[EvaluationResult], *, are_default_measures: bool = False
) -> Document:
    """Return what a reader sees first: a line with the answer, warnings, tables, further notes.

    Args:
        results: the results of all systems, on the same measures.
        are_default_measures: whether nobody chose the measures: then those of several systems are
            the usual ones.
    """
    shown, notes = list(results[0].measures), []
    tables, left_out = _grids(results[0]) if len(results) == 1 else ([], [])
    usual = usual_measures(results) if are_default_measures or tables else []
    first = (usual or shown)[0]
    scale = scale_of(first, results[0].custom_measures)
    # NaN comes last.
    ranked = sorted(
        results, key=lambda result: -np.nan_to_num(scale.gains(result[first]), nan=-math.inf)
    )
    if left_out and (counted := results[0].counted):
        which = f"{', '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out"
        depth = number_of(counted.deepest_ranking, "document")
        notes, shown = [f"{which}: the run has at most {depth} a query."], []
    elif not tables and (len(results) > 1 or not _is_in_line(results[0])):
        if usual:
            notes, shown = [f"{len(shown)} measures each: -o FILE."], usual
        tables = [_with_judged(means_table(ranked, measures=shown), ranked, shown)]
    return Document(
        sentences=[Sentence(_first_line(ranked, first))],
        warnings=shared_warnings(results),
        tables=tables,
        notes=[*notes_below(results, shown), *notes],
    )


def notes_below(results: Sequence[EvaluationResult], measures: Sequence[str]) -> list[str]:
    """Return the notes on results that a first line and a table of these measures do not say."""
    return [*depth_notes(results, measures), *shared_notes(results, measures)]


def _is_in_line(result: EvaluationResult) -> bool:
    """Return whether the first line says all of a result."""
    [first, *others] = result.measures
    return not others and len(labelled_means(result)) == 1 and not result.label(first).endswith("*")


def _first_line(ranked: Sequence[EvaluationResult], measure: str) -> str:
    """Return the score of one system, or which of several has the best, with what it rests on.

    Args:
        ranked: the results, the best first.
        measure: the first measure.
    """
    best = ranked[0]
    scored = [result.num_scored.get(measure, result.num_queries) for result in ranked]
    ends = sorted({min(scored), max(scored)})
    queries = "\u2013".join(f"{number:,}" for number in ends)
    queries += " query" if ends == [1] else " queries"
    if len(ranked) == 1:
        if best.counted is not None and (missing := best.counted.queries_missing):
            of = "more" if best.settings and best.settings.missing == "skip" else "of them"
            queries += f", {len(missing):,} {of} missing"
        depth = judged_depth(measure)
        share = UNKNOWN if measure in best.custom_measures else judged_text([best], depth)
        of = "all documents" if depth is None else f"the top {depth:,}"
        judged = "" if share == UNKNOWN else f", {share} of {of} judged"
        return f"{best.name}: {measure} {score_text(best[measure])}, {queries}{judged}"
    scores = {result.name: result[measure] for result in ranked}
    highest = best_text("", measure, scores, best.custom_measures)
    return f"{highest} ({len(ranked)} systems, {queries}; not tested: use compare)"


def best_text(
    average: str,
    measure: str,
    scores: Mapping[str, float],
    custom_measures: Mapping[str, ScoreScale] = MappingProxyType({}),
) -> str:
    """Return which system has the best score, or how many have it.

    Args:
        average: stands before the measure, such as "average "; "" for nothing.
        measure: the measure.
        scores: {system: score}, of which one is not NaN.
        custom_measures: {name: scale} of the measures that are not in the registry.
    """
    scale = scale_of(measure, custom_measures)
    best = score_text(scale.best(score for score in scores.values() if not math.isnan(score)))
    names = [name for name, score in scores.items() if score_text(score) == best]
    which = "Highest" if scale.higher_is_better else "Lowest"
    name = names[0] if len(names) == 1 else f"{len(names)} systems"
    return f"{which} {average}{measure}: {name}, {best}"


def _with_judged(
    table: Table, results: Sequence[EvaluationResult], measures: Sequence[str]
) -> Table:
    """Return a table of systems with the judged shares of their top documents, if it fits."""
    depths = [depth for depth in dict.fromkeys(map(judged_depth, measures)) if depth is not None]
    shares = [[judged_text([result], depth) for depth in depths] for result in results]
    if len(table.rows) != len(results) or all(UNKNOWN in of_system for of_system in shares):
        return table
    rows = [(*row, *of_system) for row, of_system in zip(table.rows, shares, strict=True)]
    wider = Table((*table.header, *(f"judged@{depth}" for depth in depths)), rows)
    return first_that_fits([[wider], [table]])[0]


def to_markdown(results: Sequence[EvaluationResult]) -> str:
    """Return the warnings, the means of all shared measures and the notes as Markdown."""
    tables, notes = [means_table(results)], [*depth_notes(results), *shared_notes(results)]
    return Document(warnings=shared_warnings(results), tables=tables, notes=notes).markdown()


def to_latex(
    results: Sequence[EvaluationResult],
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
    headings = [*table.header, *(str(row[0]) for row in table.rows)]
    if any(heading.endswith("*") for heading in headings):
        caption += " *: all rankings end before the cutoff (without one, before rank 100)."
    caption += ranks_caption(results[0])
    warnings = [*shared_warnings(results), *depth_notes(results, measures)]
    return warnings_latex(warnings) + latex_table(table, caption=caption, label="tab:means")


def shared_notes(
    results: Sequence[EvaluationResult], measures: Sequence[str] | None = None
) -> list[str]:
    """Return the notes on results, each once, with the systems unless it is on all of them.

    Args:
        results: the results.
        measures: those of the table above, to leave out what it and the first line say; None for
            all notes.
    """
    has_star = measures is None or any(starred_label(name, results) != name for name in measures)
    systems_by_note: dict[str, list[str]] = {}
    for result in results:
        for note in notes_on(result, is_below=measures is not None):
            if has_star or not note.startswith("*"):
                systems_by_note.setdefault(note, []).append(result.name)
    # The note that explains the asterisk in a table comes last, whichever systems it names.
    ordered = sorted(systems_by_note.items(), key=lambda item: item[0].startswith("*"))
    return [
        note if len(systems) == len(results) else f"{', '.join(dict.fromkeys(systems))}: {note}"
        for note, systems in ordered
    ]


def depth_notes(
    results: Sequence[EvaluationResult], measures: Sequence[str] | None = None
) -> list[str]:
    """Return that some measures compare the depths of the rankings; empty if none does.

    Args:
        results: the results.
        measures: the measures that are shown; None for all that the results share.
    """
    depths = {result.name: result.counted.deepest_ranking for result in results if result.counted}
    listed = shared_measures(results) if measures is None else measures
    return [text for text in [unequal_depths_text(listed, depths)] if text]


def shared_warnings(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the warnings on several results, each with its system, and each once."""
    warnings = (sentence for result in results for sentence in warnings_on(result, result.name))
    return list(dict.fromkeys(warnings))


class LabelledMeans(NamedTuple):
    """The means of one result.

    Attributes:
        label: the name of the system, with the queries that the means are over if some are missing.
        means: {measure: mean}.
        is_over_all_judged: whether the means are over all judged queries.
    """

    label: str
    means: dict[str, float]
    is_over_all_judged: bool


def labelled_means(result: EvaluationResult) -> list[LabelledMeans]:
    """Return the means of a result, or two means if judged queries are missing from the run.

    The two are the means over all judged queries and over those that the run has; the ones that the
    result itself holds (see ``missing``) come first. Of scores computed elsewhere, the judged
    queries are not known: their means are taken to be over all of them.
    """
    counted = result.counted
    if counted is None or result.settings is None or not counted.queries_missing:
        return [LabelledMeans(result.name, result.aggregate, is_over_all_judged=True)]
    judged = LabelledMeans(
        f"{result.name} (all {counted.queries_judged} judged queries)",
        result.mean_over("judged"),
        is_over_all_judged=True,
    )
    retrieved = LabelledMeans(
        f"{result.name} (the {counted.queries_retrieved} it has)",
        result.mean_over("retrieved"),
        is_over_all_judged=False,
    )
    both = [judged, retrieved]
    return both[::-1] if result.settings.missing == "skip" else both


def shared_measures(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the measures that all results have, in the order of the first result."""
    return [
        measure
        for measure in results[0].measures
        if all(measure in result.measures for result in results)
    ]


def check_same_scale(
    measure: str, first: tuple[str, ScoreScale], second: tuple[str, ScoreScale]
) -> None:
    """Raise ResultError if two systems, (name, scale) each, have different scales of a measure."""
    if first[1] != second[1]:
        msg = (
            f"{first[0]!r} and {second[0]!r} state different scales of {measure}: {first[1]}; and "
            f"{second[1]}. State the same bounds and the same higher_is_better in from_scores"
        )
        raise ResultError(msg)


def starred_label(measure: str, results: Sequence[EvaluationResult]) -> str:
    """Return a measure, with a ``*`` if a result has no ranking as deep as its cutoff."""
    is_beyond = any(result.label(measure).endswith("*") for result in results)
    return f"{measure} *" if is_beyond else measure
