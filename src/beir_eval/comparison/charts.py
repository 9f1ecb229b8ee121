"""Figures of a comparison: all differences (forest), or the queries of one pair."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from beir_eval.comparison.verdict_sentences import intervals_text
from beir_eval.display import charts as display_charts
from beir_eval.display.chart_parts import difference_rows
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.result import Comparison
    from beir_eval.display.figure import Figure

#: The kinds of figures that ``Comparison.plot`` draws.
PLOT_KINDS = ("forest", "queries", "scatter")


def forest_figure(comparison: Comparison, measure: str, *, most: int | None = None) -> Figure:
    """Return a forest plot: the differences on a measure with their intervals.

    Args:
        comparison: the comparison.
        measure: the canonical name of one of its measures.
        most: how many differences to draw at most, the largest in absolute value; None draws all.
    """
    differences = [
        difference for difference in comparison.differences if difference.measure == measure
    ]
    greatest = sorted(differences, key=lambda difference: -abs(difference.difference))[:most]
    rows = [
        {
            "label": f"{difference.system} − {difference.against}",
            "difference": difference.difference,
            "low": difference.low if isfinite(difference.low) else None,
            "high": difference.high if isfinite(difference.high) else None,
            "verdict": difference.verdict,
        }
        for difference in (differences if len(greatest) == len(differences) else greatest)
    ]
    settings = comparison.settings
    figure = display_charts.forest(
        rows,
        measure=measure,
        margin=settings.margin,
        intervals=intervals_text(settings, len(differences)),
    )
    if len(rows) < len(differences):
        description = (
            f"{figure.spec['description']}; the {len(rows)} greatest of {len(differences)}"
        )
        figure.spec.update(description=description, title=description)
    return figure


def pair_figure(  # noqa: PLR0913 - what to draw, and for which systems
    comparison: Comparison,
    kind: str,
    measure: str,
    system: str,
    against: str,
    *,
    texts: Mapping[str, str] | None = None,
) -> Figure:
    """Return a figure of the queries of one pair.

    Args:
        comparison: the comparison.
        kind: "queries" (sorted bars of the differences) or "scatter" (points of both scores).
        measure: the name of one of its measures.
        system: the system from whose scores those of the other are subtracted.
        against: the system it is compared with.
        texts: {query_id: text} for the pointer to show.
    """
    array = comparison.scores[measure].array
    ours, theirs = (array[comparison.systems.index(name)].tolist() for name in (system, against))
    higher_is_better = scale_of(measure, comparison.custom_measures).higher_is_better
    rows = difference_rows(
        comparison.query_ids, ours, theirs, texts, higher_is_better=higher_is_better
    )
    draw = display_charts.query_differences if kind == "queries" else display_charts.scatter
    return draw(
        rows, measure=measure, system=system, against=against, higher_is_better=higher_is_better
    )
