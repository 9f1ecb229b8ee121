"""The table of means that the report shows: of a comparison, of results or of a benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.comparison.chance import queries_sample_text
from beir_eval.comparison.tables import mean_cell, to_table
from beir_eval.display.tables import Table, score_text
from beir_eval.evaluation.tables import (
    labelled_means,
    shared_custom_measures,
    shared_measures,
    starred_label,
)
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

_MOST_COLUMNS = 9


@dataclass(frozen=True)
class Means:
    """A table of means and its caption."""

    caption: str
    table: Table

    @classmethod
    def from_table(cls, caption: str, table: Table) -> Means:
        """Return a table of systems × measures, transposed if it is wider than the page."""
        is_wide = len(table.header) > _MOST_COLUMNS
        return cls(caption, table.transposed("measure") if is_wide else table)


def means_of_comparison(comparison: Comparison, results: Sequence[EvaluationResult]) -> Means:
    """Return the means of a comparison with intervals and verdict marks, the best in bold.

    ``results`` are the results that the comparison holds, for the asterisks in the header.
    """
    table = to_table(comparison, intervals=True)
    header = ("system", *(starred_label(measure, results) for measure in comparison.measures))
    level = 1 - comparison.settings.alpha
    caption = (
        f"Means over {queries_sample_text(comparison)} with {level:.0%} t intervals, best bold"
    )
    return Means.from_table(caption, Table(header, table.rows))


def means_of_results(results: Sequence[EvaluationResult]) -> Means:
    """Return the means of results on their shared measures; of several means the best is bold.

    A result with missing queries has two rows: the means over all judged queries, and the means
    over the queries that it retrieved.
    """
    measures, custom_measures = shared_measures(results), shared_custom_measures(results)
    rows = [row for result in results for row in labelled_means(result)]
    # Only means over the same queries are comparable.
    comparable = [row.means for row in rows if row.is_over_all_judged]
    best = {
        measure: score_text(
            scale_of(measure, custom_measures).best(
                means[measure] for means in comparable if means[measure] == means[measure]
            )
        )
        for measure in measures
    }
    several = len(comparable) > 1
    return Means.from_table(
        "Means over queries" + (", best bold" if several else ""),
        Table(
            ("system", *(starred_label(measure, results) for measure in measures)),
            [
                (
                    row.label,
                    *(
                        mean_cell(
                            row.means[measure],
                            is_best=several
                            and row.is_over_all_judged
                            and not math.isnan(row.means[measure])
                            and score_text(row.means[measure]) == best[measure],
                        )
                        for measure in measures
                    ),
                )
                for row in rows
            ],
        ),
    )


def means_of_benchmark(benchmark: BenchmarkResult, measure: str) -> Means:
    """Return the means of a benchmark, data sets × systems, with the published BM25 if known."""
    with_bm25 = benchmark.to_table(measure)
    is_known = any(str(row[-1]) != "n/a" for row in with_bm25.rows)
    table = with_bm25 if is_known else benchmark.to_table(measure, baseline=False)
    return Means(f"{measure} by data set", Table(("data set", *table.header[1:]), table.rows))
