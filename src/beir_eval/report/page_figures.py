"""Vega-Lite figures for the HTML page: as wide as their container, in the page's text colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.display import charts
from beir_eval.display.figure import text_styles

if TYPE_CHECKING:
    from beir_eval.display.figure import Figure


def query_figures(*, higher_is_better: bool = True) -> dict[str, Any]:
    """Return the figures that show queries, without rows and with placeholders for names.

    The browser fills in the rows and the names once the reader has chosen a pair of systems.

    Args:
        higher_is_better: whether a difference above 0 has the colour of a gain, or of a loss.
    """
    names = {"measure": "@measure@", "system": "@system@"}
    against = "@against@"
    figures = {
        "differences": charts.query_differences(
            [], **names, against=against, higher_is_better=higher_is_better
        ),
        "scatter": charts.scatter([], **names, against=against, higher_is_better=higher_is_better),
        "scores": charts.query_scores([], **names),
    }
    return {key: page_specification(figure) for key, figure in figures.items()}


def page_specification(figure: Figure) -> dict[str, Any]:
    """Return a figure's Vega-Lite specification, adapted to the page.

    The figure takes the width of its container and the page's text colour, in the light and the
    dark style. It has no title: the page shows the description as a caption below the figure.
    """
    text_colour = "currentColor"
    config = figure.spec["config"]
    axis = {
        "labelColor": text_colour,
        "titleColor": text_colour,
        "domainColor": text_colour,
        "tickColor": text_colour,
        "gridColor": text_colour,
        "gridOpacity": 0.15,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    }
    untitled = {key: value for key, value in figure.spec.items() if key != "title"}
    return untitled | {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "config": config
        | {
            "axis": config["axis"] | axis,
            "legend": config["legend"] | {"labelColor": text_colour, "titleColor": text_colour},
            "style": text_styles(text_colour),
        },
    }
