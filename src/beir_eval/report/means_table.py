"""The table of means, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.comparison.tables import mean_cell, to_table
from beir_eval.display.tables import Table
from beir_eval.evaluation.side_by_side import labelled_means, shared_measures, starred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

_MOST_COLUMNS = 9


@dataclass(frozen=True)
class Means:
    """Systems × measures; measures × systems where that would be wider than a page."""

    caption: str
    table: Table

    @classmethod
    def readable(cls, caption: str, table: Table) -> Means:
        """Return the table, turned where it is too wide."""
        is_wide = len(table.header) > _MOST_COLUMNS
        return cls(caption, table.turned("measure") if is_wide else table)


def means_of_comparison(found: Comparison, results: Sequence[EvaluationResult]) -> Means:
    """Return the means with intervals and marks, the best of a measure told.

    ``results`` are those that the comparison holds.
    """
    table = to_table(found, intervals=True)
    header = ("system", *(starred(one, results) for one in found.measures))
    level = 1 - found.settings.alpha
    caption = f"Means over {_queries_of(found)} with {level:.0%} intervals, best bold"
    return Means.readable(caption, Table(header, table.rows))


def _queries_of(found: Comparison) -> str:
    """Return over how many queries the means are, for each measure where that differs."""
    scored = {one.measure: one.num_queries for one in found.differences}
    if set(scored.values()) == {len(found.query_ids)}:
        return f"{len(found.query_ids):,} queries"
    each = ", ".join(f"{measure} over {queries:,}" for measure, queries in scored.items())
    return f"the queries that a measure is defined for ({each} of {len(found.query_ids):,})"


def means_of_results(results: Sequence[EvaluationResult]) -> Means:
    """Return the means; where queries are missing, over all judged ones and over those it has."""
    measures = shared_measures(results)
    rows = [row for result in results for row in labelled_means(result)]
    # Only means over the same queries can be held against each other.
    rivals = [row.means for row in rows if row.over_all]
    best = {
        one: max((means[one] for means in rivals if means[one] == means[one]), default=None)
        for one in measures
    }
    several = len(rivals) > 1
    return Means.readable(
        "Means over queries" + (", best bold" if several else ""),
        Table(
            ("system", *(starred(one, results) for one in measures)),
            [
                (
                    row.label,
                    *(
                        mean_cell(
                            row.means[one],
                            is_best=several and row.over_all and row.means[one] == best[one],
                        )
                        for one in measures
                    ),
                )
                for row in rows
            ],
        ),
    )


def means_of_table(table: Table, caption: str) -> Means:
    """Return a table whose cells are means already."""
    return Means(caption, Table(("data set", *table.header[1:]), table.rows))
