"""Figures as the page draws them: as wide as their place, in its ink, some without their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.display import charts as kinds
from beir_eval.display.figure import ink_styles

if TYPE_CHECKING:
    from beir_eval.display.figure import Figure


def query_figures() -> dict[str, Any]:
    """Return the figures of a pair; the browser fills in which, and the rows."""
    names = {"measure": "@measure@", "system": "@system@"}
    pair = names | {"against": "@against@"}
    figures = {
        "differences": kinds.query_differences([], **pair),
        "scatter": kinds.scatter([], **pair),
        "scores": kinds.query_scores([], **names),
    }
    return {key: on_page(figure) for key, figure in figures.items()}


def on_page(figure: Figure) -> dict[str, Any]:
    """Return a figure as wide as its place, in the ink of the page, light or dark.

    What its title says stands below it, as a caption.
    """
    ink = "currentColor"
    config = figure.spec["config"]
    axis = {
        "labelColor": ink,
        "titleColor": ink,
        "domainColor": ink,
        "tickColor": ink,
        "gridColor": ink,
        "gridOpacity": 0.15,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
    }
    untitled = {key: value for key, value in figure.spec.items() if key != "title"}
    return untitled | {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "config": config
        | {
            "axis": config["axis"] | axis,
            "legend": config["legend"] | {"labelColor": ink, "titleColor": ink},
            "style": ink_styles(ink),
        },
    }
