"""The figures: a function takes rows and returns one, for notebooks and for the report alike.

Where the report fills in the rows itself, in the browser, they have the fields named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.display.chart_parts import (
    COLOURS,
    SHAPES,
    by_sign,
    diagonal_rows,
    quantitative,
    query_tips,
    row_names,
    tip,
    zero,
)
from beir_eval.display.figure import figure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.display.chart_parts import Row, Spec
    from beir_eval.display.figure import Figure

#: More rows than these stand closer together.
_FEW_ROWS = 12


def forest(rows: Sequence[Row], *, measure: str, margin: float, level: float) -> Figure:
    """Draw differences with their intervals, the margin as a band around 0.

    Args:
        rows: label, difference, low, high, verdict.
        measure: what differs.
        margin: the smallest difference that matters.
        level: the confidence of the intervals, for the title.
    """
    verdicts = [one for one in COLOURS if one in {row["verdict"] for row in rows}]
    colour, shape = (
        {
            "field": "verdict",
            "type": "nominal",
            "scale": {"domain": verdicts, "range": [looks[one] for one in verdicts]},
            "legend": {"orient": "bottom", "title": None},
        }
        for looks in (COLOURS, SHAPES)
    )
    label = row_names(
        "label", {"labelLimit": 260, "domain": False, "ticks": False, "labelPadding": 8}
    )
    tooltip = [tip(one) for one in ("label", "difference", "low", "high", "verdict")]
    title = f"difference of {measure}"
    margins = {"values": [{"low": -margin, "high": margin}]}
    row_height = 30 if len(rows) <= _FEW_ROWS else 20
    return figure_of(
        f"{title} with {level:.0%} intervals; the band is the margin, {margin:g}",
        rows,
        row_height * max(1, len(rows)),
        [
            {
                "data": margins,
                "mark": {"type": "rect", "color": COLOURS["equal"], "opacity": 0.15},
                "encoding": {"x": quantitative("low", title), "x2": {"field": "high"}},
            },
            zero("x"),
            {
                "mark": {"type": "rule", "strokeWidth": 2.5},
                "encoding": {
                    "y": label,
                    "x": quantitative("low", title),
                    "x2": {"field": "high"},
                    "color": colour,
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": {
                    "y": label,
                    "x": quantitative("difference", title),
                    "color": colour,
                    "shape": shape,
                    "tooltip": tooltip,
                },
            },
        ],
    )


def _bars(title: str, height: Spec, mark: Spec, **encoding: Any) -> Spec:
    """Return a layer with one bar a query, side by side from 0 to ``height``."""
    return {
        "mark": mark,
        "encoding": {
            "x": quantitative("begin", title, zero=True)
            | {"axis": {"grid": False, "tickMinStep": 1, "format": "d"}},
            "x2": {"field": "end"},
            "y": height,
            "y2": {"datum": 0},
            **encoding,
        },
    }


def query_differences(rows: Sequence[Row], *, measure: str, system: str, against: str) -> Figure:
    """Draw one bar a query, from the one that lost most to the one that gained most.

    Args:
        rows: those of ``difference_rows``.
        measure: what differs.
        system: whose gain points upwards.
        against: the system it is compared with.
    """
    return figure_of(
        f"{measure} by query: {system} − {against}",
        rows,
        280,
        [
            _bars(
                "queries, from most lost to most gained",
                quantitative("difference", f"difference of {measure}"),
                {"type": "rect"},
                color=by_sign(),
                tooltip=query_tips(),
            ),
            zero("y"),
        ],
    )


def scatter(
    rows: Sequence[Row],
    *,
    measure: str,
    system: str,
    against: str,
) -> Figure:
    """Draw one point a query: the score of one system over that of the other.

    Args:
        rows: those of ``difference_rows``.
        measure: what is compared.
        system: upwards.
        against: to the right.
    """
    across, upwards = f"{measure} of {against}", f"{measure} of {system}"
    diagonal = {
        "data": {"name": "diagonal"},
        "mark": {"type": "line", "strokeDash": [4, 4], "opacity": 0.6, "style": "ink"},
        "encoding": {
            "x": quantitative("place", across, zero=True),
            "y": quantitative("place", upwards, zero=True),
        },
    }
    figure = figure_of(
        f"{measure} by query: {system} over {against}",
        rows,
        280,
        [
            diagonal,
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 45,
                    "opacity": 0.65,
                },
                "encoding": {
                    "x": quantitative("against", across, zero=True),
                    "y": quantitative("score", upwards, zero=True),
                    "color": by_sign(),
                    "tooltip": query_tips(),
                },
            },
        ],
    )
    figure.spec["datasets"]["diagonal"] = diagonal_rows(rows)
    return figure


def query_scores(rows: Sequence[Row], *, measure: str, system: str) -> Figure:
    """Draw one bar a query, from the highest score to the lowest, and the mean as a line.

    Args:
        rows: those of ``score_rows``.
        measure: what is drawn.
        system: whose scores.
    """
    return figure_of(
        f"{measure} of {system} by query",
        rows,
        280,
        [
            _bars(
                "queries, from best to worst",
                quantitative("score", measure, zero=True),
                {"type": "rect", "color": COLOURS["better"]},
                tooltip=[tip("query"), tip("text"), tip("score")],
            ),
            {
                "mark": {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1.5, "style": "ink"},
                "encoding": {"y": {"aggregate": "mean", "field": "score", "type": "quantitative"}},
            },
        ],
    )


def curve(rows: Sequence[Row], *, measure: str, level: float) -> Figure:
    """Draw a system from step to step, with intervals; the best step and the last that helped.

    Args:
        rows: step, name, mean, low, high, mark (a word for what is special, mostly "").
        measure: what is drawn.
        level: the confidence of the intervals, for the title.
    """
    # Room for the words at the first and the last step.
    steps = [row["step"] for row in rows]
    ticks = {"values": steps} if len(steps) <= _FEW_ROWS else {}
    step = quantitative("step", "step") | {
        "axis": {"grid": False, **ticks},
        "scale": {"zero": False, "padding": 60, "nice": False},
    }
    title = f"{measure}, with {level:.0%} intervals"
    tooltip = [tip(one) for one in ("name", "step", "mean", "low", "high", "mark")]
    return figure_of(
        f"{measure} from checkpoint to checkpoint",
        rows,
        260,
        [
            {
                "mark": {"type": "area", "opacity": 0.18, "color": COLOURS["better"]},
                "encoding": {"x": step, "y": quantitative("low", title), "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "color": COLOURS["better"]},
                "encoding": {"x": step, "y": quantitative("mean", title)},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": {
                    "x": step,
                    "y": quantitative("mean", title),
                    "tooltip": tooltip,
                    "size": _if_marked(170, otherwise=50),
                    "shape": _if_marked("diamond", otherwise="circle"),
                    "color": _if_marked(COLOURS["worse"], otherwise=COLOURS["better"]),
                },
            },
            {
                "mark": {"type": "text", "dy": -14, "fontWeight": "bold", "style": "label"},
                "encoding": {
                    "x": step,
                    "y": quantitative("mean", title),
                    "text": {"field": "mark"},
                },
            },
        ],
    )


def _if_marked(value: Any, *, otherwise: Any) -> Spec:
    return {"condition": {"test": "datum.mark !== ''", "value": value}, "value": otherwise}


def datasets(rows: Sequence[Row], *, measure: str) -> Figure:
    """Draw one point a system on one line a data set.

    Args:
        rows: dataset, system, mean.
        measure: what is drawn.
    """
    # The names come from the rows: as a list of its own, Vega takes some for its own words.
    system = {
        "field": "system",
        "type": "nominal",
        "sort": None,
        "legend": {"orient": "bottom", "title": None, "columns": 3},
    }
    return figure_of(
        f"{measure} of every system on every data set",
        rows,
        26 * max(1, len({row["dataset"] for row in rows})),
        [
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.85},
                "encoding": {
                    "y": row_names("dataset", {"grid": True, "labelLimit": 220}),
                    "x": quantitative("mean", measure, zero=True),
                    "color": system,
                    "shape": system,
                    "tooltip": [tip("dataset"), tip("system"), tip("mean")],
                },
            }
        ],
    )
