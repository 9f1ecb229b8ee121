"""A comparison as figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.display import charts as kinds
from beir_eval.display.chart_parts import difference_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.result import Comparison
    from beir_eval.display.figure import Figure

#: What ``Comparison.plot`` draws.
KINDS = ("forest", "queries", "scatter")


def forest_of(comparison: Comparison, measure: str, *, most: int | None = None) -> Figure:
    """Return the differences on a measure with their intervals, or only the ``most`` greatest."""
    differences = [one for one in comparison.differences if one.measure == measure]
    greatest = sorted(differences, key=lambda one: -abs(one.difference))[:most]
    rows = [
        {
            "label": f"{one.system} − {one.against}",
            **one.model_dump(include={"difference", "low", "high", "verdict"}),
        }
        for one in (differences if len(greatest) == len(differences) else greatest)
    ]
    settings = comparison.settings
    figure = kinds.forest(rows, measure=measure, margin=settings.margin, level=1 - settings.alpha)
    if len(rows) < len(differences):
        said = f"{figure.spec['description']}; the {len(rows)} greatest of {len(differences)}"
        figure.spec.update(description=said, title=said)
    return figure


def pair_of(  # noqa: PLR0913 - what is drawn, of whom
    comparison: Comparison,
    kind: str,
    measure: str,
    system: str,
    against: str,
    *,
    texts: Mapping[str, str] | None = None,
) -> Figure:
    """Return the queries of one pair, as sorted bars ("queries") or as points ("scatter")."""
    array = comparison.scores[measure].array
    ours, theirs = (array[comparison.systems.index(one)].tolist() for one in (system, against))
    rows = difference_rows(comparison.query_ids, ours, theirs, texts)
    draw = kinds.query_differences if kind == "queries" else kinds.scatter
    return draw(rows, measure=measure, system=system, against=against)
