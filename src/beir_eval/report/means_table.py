"""The table of means, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.comparison.tables import label_of, marks_of
from beir_eval.display.tables import Table, number
from beir_eval.evaluation.side_by_side import labelled_means, shared_measures, starred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

_MOST_COLUMNS = 9
#: What each mark behind a mean says, for who does not know it.
_SAYS = {
    "▲": ("better", "better than the baseline"),
    "▼": ("worse", "worse than the baseline"),
    "=": ("equal", "equal to the baseline within the margin"),
}


@dataclass(frozen=True)
class Cell:
    """A mean as it is shown: with its interval, and a mark with what the mark says."""

    text: str
    interval: str = ""
    mark: str = ""
    verdict: str = ""
    says: str = ""
    best: bool = False


@dataclass(frozen=True)
class MeansRow:
    """A row of the table of means."""

    label: str
    cells: list[Cell]


@dataclass(frozen=True)
class Means:
    """Systems × measures; measures × systems where there are many measures."""

    caption: str
    header: tuple[str, ...]
    rows: list[MeansRow]

    def readable(self) -> Means:
        """Return it turned where it would be wider than a page."""
        if len(self.header) <= _MOST_COLUMNS:
            return self
        rows = [
            MeansRow(label, [row.cells[place] for row in self.rows])
            for place, label in enumerate(self.header[1:])
        ]
        return Means(self.caption, ("measure", *(row.label for row in self.rows)), rows)


def means_of_comparison(found: Comparison) -> Means:
    """Return the means with intervals and marks, the best of a measure told."""
    held = {(one.measure, one.system): one for one in found.means}
    best = {
        measure: max(held[measure, system].mean for system in found.systems)
        for measure in found.measures
    }
    rows = []
    for system in found.systems:
        cells = []
        for measure in found.measures:
            one = held[measure, system]
            mark = marks_of(found, measure, system)
            verdict, says = _SAYS.get(mark, ("", ""))
            if mark and not says:
                verdict, says = "better", "better than the systems of these letters"
            cells.append(
                Cell(
                    number(one.mean),
                    f"{number(one.low)} to {number(one.high)}",
                    mark,
                    verdict,
                    says,
                    best=one.mean == best[measure],
                )
            )
        rows.append(MeansRow(label_of(found, system), cells))
    level = 1 - found.settings.alpha
    caption = f"Means over {_queries_of(found)} with {level:.0%} intervals, best bold"
    results = [one for repeats in (found.results or {}).values() for one in repeats]
    header = [starred(one, results) for one in found.measures]
    return Means(caption, ("system", *header), rows).readable()


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
    return Means(
        "Means over queries" + (", best bold" if several else ""),
        ("system", *(starred(one, results) for one in measures)),
        [
            MeansRow(
                row.label,
                [
                    Cell(
                        number(row.means[one]),
                        best=several and row.over_all and row.means[one] == best[one],
                    )
                    for one in measures
                ],
            )
            for row in rows
        ],
    ).readable()


def means_of_table(table: Table, caption: str) -> Means:
    """Return a table whose cells are means already."""
    rows = [MeansRow(row[0], [Cell(cell) for cell in row[1:]]) for row in table.rows]
    return Means(caption, ("data set", *table.header[1:]), rows)
