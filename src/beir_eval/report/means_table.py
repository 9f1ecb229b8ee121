"""The means that the report shows, those of a comparison beside their drawn differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.comparison.overview import DIFFERENCE, systems_columns
from beir_eval.comparison.tables import is_ranked, to_table
from beir_eval.comparison.verdict_sentences import (
    MARKS_NOTE,
    RANKS_NOTE,
    intervals_text,
    percent_text,
    queries_sample_text,
)
from beir_eval.display.tables import Table
from beir_eval.evaluation.tables import MOST_COLUMNS, means_table, starred_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

#: The part of a drawing, in percent, that is left free on each side.
_FREE = 6
#: The classes of columns by their headings.
_CLASSES = {
    "mean": "mean",
    "judged": "judged",
    DIFFERENCE: "difference",
    "p": "p",
    "adj. p": "p",
    "verdict": "outcome",
}


class Means(NamedTuple):
    """A table of means and its caption."""

    caption: str
    table: Table


class Drawn(NamedTuple):
    """A difference and its interval in percent of the width; an open end is at the edge."""

    middle: float
    low: float
    high: float


class ComparedSystem(NamedTuple):
    """A row: (class, heading, text) of its cells, its verdict and drawing; none of the baseline."""

    cells: Sequence[tuple[str, str, str]]
    verdict: str = ""
    drawn: Drawn | None = None


class ComparedSystems(NamedTuple):
    """The systems on a measure beside the same other one, each with its difference drawn.

    Attributes:
        caption: what is drawn.
        header: (class, heading) of the columns.
        rows: a row for each system.
        ticks: (position, label, anchor) of numbers on the axis, in percent of its width.
        margin: where the differences that do not matter begin, and how wide they are.
    """

    caption: str
    header: Sequence[tuple[str, str]]
    rows: Sequence[ComparedSystem]
    ticks: Sequence[tuple[float, str, str]]
    margin: tuple[float, float]


def _compared_on(comparison: Comparison, measure: str) -> ComparedSystems:
    """Return the systems of a comparison with the same other system."""
    pairs = {pair.system: pair for pair in comparison.differences if pair.measure == measure}
    margin = comparison.settings.margin
    numbers = [-margin, margin]
    for pair in pairs.values():
        numbers += filter(math.isfinite, (pair.low, pair.high, pair.difference))
    low, high = min(numbers), max(numbers)

    def position(number: float) -> float:
        if math.isinf(number):
            return 0.0 if number < 0 else 100.0
        share = (min(max(number, low), high) - low) / (high - low)
        return round(_FREE + (100 - 2 * _FREE) * share, 2)

    columns = systems_columns(comparison, measure)
    header = [(_class_of(heading, index), heading) for index, heading in enumerate(columns)]
    rows = []
    for texts in zip(*columns.values(), strict=True):
        cells = [(*named, str(text)) for named, text in zip(header, texts, strict=True)]
        of_row = pairs.get(str(texts[0]))
        if of_row is None:
            rows.append(ComparedSystem(cells))
        else:
            drawn = Drawn(*map(position, (of_row.difference, of_row.low, of_row.high)))
            rows.append(ComparedSystem(cells, of_row.verdict, drawn))
    against = next(iter(pairs.values())).against
    kind = intervals_text(comparison.settings, comparison.num_comparisons)
    # Numbers beside 0 would be written over it.
    ends = [end for end in (low, high) if abs(position(end) - position(0)) > 2 * _FREE]
    return ComparedSystems(
        f"{measure}: differences from {against} with {kind}; band: below the margin, {margin:g}",
        header,
        rows,
        [
            (position(0), "0", "middle"),
            *((position(end), f"{end:+.2g}", "end" if end > 0 else "start") for end in ends),
        ],
        (position(-margin), round(position(margin) - position(-margin), 2)),
    )


def _class_of(heading: str, index: int) -> str:
    """Return the class of a column, for the places of its cells on a narrow screen."""
    if index == 0:
        return "name"
    if "%" in heading:
        return "interval"
    return _CLASSES.get(heading, "other")


def compared_systems(comparison: Comparison) -> list[ComparedSystems]:
    """Return the systems on each measure; nothing where all pairs of several are compared."""
    if is_ranked(comparison):
        return []
    return [_compared_on(comparison, measure) for measure in comparison.measures]


def means_of_comparison(comparison: Comparison, results: Sequence[EvaluationResult]) -> Means:
    """Return the means of a comparison with intervals and verdict marks, the best in bold.

    ``results`` are the results that the comparison holds, for the asterisks in the header.
    """
    table = to_table(comparison, intervals=True)
    header = ("system", *(starred_label(measure, results) for measure in comparison.measures))
    level = percent_text(1 - comparison.settings.alpha)
    marks = RANKS_NOTE if comparison.baseline is None else MARKS_NOTE
    sample = queries_sample_text(comparison)
    caption = f"Means over {sample} with {level} t intervals, best bold; {marks}"
    wide = Table(header, table.rows)
    is_too_wide = len(comparison.measures) > MOST_COLUMNS
    return Means(caption, wide.transposed("measure") if is_too_wide else wide)


def means_of_results(results: Sequence[EvaluationResult]) -> Means:
    """Return the means of results on their shared measures; of several means the best is bold.

    A result with missing queries has two rows: the means over all judged queries, and the means
    over the queries that it retrieved.
    """
    caption = f"Means over queries{', best bold' if len(results) > 1 else ''}"
    return Means(caption, means_table(results))


def means_of_benchmark(benchmark: BenchmarkResult, measure: str) -> Means:
    """Return the means of a benchmark, data sets × systems, with the published BM25 if known."""
    with_bm25 = benchmark.to_table(measure)
    is_known = any(str(row[-1]) != "n/a" for row in with_bm25.rows)
    table = with_bm25 if is_known else benchmark.to_table(measure, baseline=False)
    return Means(f"{measure} by data set", Table(("data set", *table.header[1:]), table.rows))
