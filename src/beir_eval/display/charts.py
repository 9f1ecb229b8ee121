"""The kinds of figures: each function takes rows and returns a ``Figure``; what they share.

Notebooks and the report use the same functions. The figures of queries in the report are made
without rows; its script fills in rows with the fields named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.display.figure import figure_from_layers, json_value
from beir_eval.display.tables import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.display.figure import Figure

    Row = Mapping[str, Any]
    Spec = dict[str, Any]

#: With more rows than this, rows are lower and the axis of steps chooses its own ticks.
_FEW_ROWS = 12
#: Vega's expression for the lines of a label of a pair.
_PAIR_IN_LINES = r"split(replace(datum.label, ' − ', '\n− '), '\n')"


def forest(
    rows: Sequence[Row],
    *,
    title: str,
    margin: float | None,
    intervals: str,
    of_pairs: bool = False,
) -> Figure:
    """Return a forest plot: differences with their intervals, and the margin as a band around 0.

    Args:
        rows: one per difference: label, difference, low, high (None where unbounded), verdict.
        title: what the axis shows, such as "difference of nDCG@10".
        margin: the smallest difference that you consider meaningful; None draws no band.
        intervals: the kind of the intervals, for the title, such as "95% intervals".
        of_pairs: whether labels are like "a − b"; each then takes two lines, so that names fit.
    """
    verdicts = [verdict for verdict in COLOURS if verdict in {row["verdict"] for row in rows}]
    colour, shape = (
        {
            "field": "verdict",
            "type": "nominal",
            "scale": {"domain": verdicts, "range": [value_of[verdict] for verdict in verdicts]},
            "legend": {"orient": "bottom", "title": None},
        }
        for value_of in (COLOURS, SHAPES)
    )
    lines = {"labelExpr": _PAIR_IN_LINES} if of_pairs else {}
    axis = {"labelLimit": 260, "domain": False, "ticks": False, "labelPadding": 8, **lines}
    # Stated, because rows without an interval would come last: the first layer does not draw them.
    labels = list(dict.fromkeys(json_value(row["label"]) for row in rows))
    label = name_channel("label", axis) | {"scale": {"domain": labels}}
    tooltip = tooltip_of("label", "difference", "low", "high", "verdict")
    band = [] if margin is None else [_margin_band(margin, title)]
    shared = {"color": colour, "tooltip": tooltip}
    ends = {"x": quantitative("low", title), "x2": {"field": "high"}}
    points = {"y": label, "x": quantitative("difference", title), "color": colour, "shape": shape}
    dots = {"type": "point", "filled": True, "size": 110, "opacity": 1}
    intervals_layer = _layer({"type": "rule", "strokeWidth": 2.5}, y=label, **ends, **shared)
    described_band = "" if margin is None else f"; band: below the margin, {margin:g}"
    row_height = 38 if of_pairs else 30 if len(rows) <= _FEW_ROWS else 20
    return figure_from_layers(
        f"{title} with {intervals}{described_band}",
        rows,
        row_height * max(1, len(rows)),
        [
            *band,
            zero_line("x"),
            *([intervals_layer] if _has_intervals(rows) else []),
            _layer(dots, **points, tooltip=tooltip),
        ],
    )


def _layer(mark: Spec, **encoding: Any) -> Spec:
    """Return a layer of a mark and its channels."""
    return {"mark": mark, "encoding": encoding}


def _has_intervals(rows: Sequence[Row]) -> bool:
    """Return whether any row has an interval. Of a layer without one, Vega warns."""
    return any(row["low"] is not None for row in rows)


def _margin_band(margin: float, title: str) -> Spec:
    """Return a layer with a band from −margin to margin."""
    mark = {"type": "rect", "color": COLOURS["equivalent"], "opacity": 0.15}
    layer = _layer(mark, x=quantitative("low", title), x2={"field": "high"})
    return {"data": {"values": [{"low": -margin, "high": margin}]}, **layer}


def _bar_layer(title: str, height: Spec, mark: Spec, **encoding: Any) -> Spec:
    """Return a layer with one bar per query, side by side, from 0 to the channel ``height``."""
    axis = {"axis": {"grid": False, "tickMinStep": 1, "format": "d"}}
    width = {"x": quantitative("begin", title, zero=True) | axis, "x2": {"field": "end"}}
    return _layer(mark, **width, y=height, y2={"datum": 0}, **encoding)


def query_differences(
    rows: Sequence[Row], *, measure: str, system: str, against: str, higher_is_better: bool = True
) -> Figure:
    """Return a bar chart of differences by query, from the greatest loss to the greatest gain.

    Args:
        rows: one per query, from ``difference_rows``.
        measure: the name of the measure.
        system: the name of the system; where its score is higher, the bar points upwards.
        against: the name of the system it is compared with.
        higher_is_better: whether bars that point upwards have the colour of a gain, or of a loss.
    """
    return figure_from_layers(
        f"{measure} by query: {system} − {against}",
        rows,
        280,
        [
            _bar_layer(
                "queries, from most lost to most gained",
                quantitative("difference", f"difference of {measure}"),
                {"type": "rect"},
                color=colour_by_sign(higher_is_better=higher_is_better),
                tooltip=tooltip_of("query", "text", "score", "against", "difference"),
            ),
            zero_line("y"),
        ],
    )


def scatter(
    rows: Sequence[Row],
    *,
    measure: str,
    system: str,
    against: str,
    higher_is_better: bool = True,
) -> Figure:
    """Return a scatter plot: one point per query, the score of one system over that of another.

    Args:
        rows: one per query, from ``difference_rows``.
        measure: the name of the measure.
        system: the name of the system on the vertical axis.
        against: the name of the system on the horizontal axis.
        higher_is_better: whether points above the diagonal have the colour of a gain, or of a loss.
    """
    x_title, y_title = f"{measure} of {against}", f"{measure} of {system}"
    line = {"type": "line", "strokeDash": [4, 4], "opacity": 0.6, "style": "ink"}
    height = quantitative("score", y_title, zero=True)
    diagonal = _layer(line, x=quantitative("score", x_title, zero=True), y=height)
    points = _layer(
        {"type": "point", "filled": True, "size": 50, "opacity": 1},
        x=quantitative("against", x_title, zero=True),
        y=height,
        color=colour_by_sign(higher_is_better=higher_is_better),
        tooltip=tooltip_of("query", "text", "score", "against", "difference"),
    )
    figure = figure_from_layers(
        f"{measure} by query: {system} over {against}",
        rows,
        280,
        [{"data": {"name": "diagonal"}, **diagonal}, points],
    )
    scores = [row[field] for row in rows for field in ("score", "against")]
    ends = [{"score": min([0.0, *scores])}, {"score": max([0.0, *scores])}]
    figure.spec["datasets"]["diagonal"] = ends
    return figure


def query_scores(rows: Sequence[Row], *, measure: str, system: str) -> Figure:
    """Return a bar chart of scores by query, the best first, with the mean as a line.

    Args:
        rows: one per query, from ``score_rows``.
        measure: the name of the measure.
        system: the name of the system.
    """
    return figure_from_layers(
        f"{measure} of {system} by query",
        rows,
        280,
        [
            _bar_layer(
                "queries, from best to worst",
                quantitative("score", measure, zero=True),
                {"type": "rect", "color": COLOURS["better"]},
                tooltip=tooltip_of("query", "text", "score"),
            ),
            _layer(
                {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1.5, "style": "ink"},
                y={"aggregate": "mean", "field": "score", "type": "quantitative"},
            ),
        ],
    )


def curve(rows: Sequence[Row], *, measure: str, level: float) -> Figure:
    """Return a line chart of a system's mean over training steps, with intervals.

    Args:
        rows: one per checkpoint: step, name, mean, low, high, and mark: the text above a
            highlighted point, "" for other points.
        measure: the name of the measure.
        level: the confidence level of the intervals, for the title.
    """
    # The padding leaves space for the marks at the first and the last step.
    steps = [row["step"] for row in rows]
    ticks = {"values": steps} if len(steps) <= _FEW_ROWS else {}
    step = quantitative("step", "step") | {
        "axis": {"grid": False, **ticks},
        "scale": {"zero": False, "padding": 60, "nice": False},
    }
    title = f"{measure}, with {100 * level:.4g}% intervals"
    mean = quantitative("mean", title)
    area = {"type": "area", "opacity": 0.18, "color": COLOURS["better"]}
    ends = {"y": quantitative("low", title), "y2": {"field": "high"}}
    return figure_from_layers(
        f"{measure} from checkpoint to checkpoint",
        rows,
        260,
        [
            *([_layer(area, x=step, **ends)] if _has_intervals(rows) else []),
            _layer({"type": "line", "color": COLOURS["better"]}, x=step, y=mean),
            _layer(
                {"type": "point", "filled": True, "opacity": 1},
                x=step,
                y=mean,
                tooltip=tooltip_of("name", "step", "mean", "low", "high", "mark"),
                size=_if_marked(170, otherwise=50),
                shape=_if_marked("diamond", otherwise="circle"),
                color=_if_marked(COLOURS["worse"], otherwise=COLOURS["better"]),
            ),
            _layer(
                {"type": "text", "dy": -14, "fontWeight": "bold", "style": "label"},
                x=step,
                y=mean,
                text={"field": "mark"},
            ),
        ],
    )


def _if_marked(value: Any, *, otherwise: Any) -> Spec:
    """Return a channel with ``value`` for points with a mark and ``otherwise`` for other points."""
    return {"condition": {"test": "datum.mark !== ''", "value": value}, "value": otherwise}


def stages(rows: Sequence[Row], *, measure: str) -> Figure:
    """Return a bar for each stage: its mean, inside what a perfect order would score.

    Args:
        rows: one per stage: stage, mean, ceiling.
        measure: the name of the measure.
    """
    stage = name_channel("stage", {"labelLimit": 220})
    bars = [("ceiling", 22, 0.3), ("mean", 12, 1.0)]
    return figure_from_layers(
        f"{measure} of every stage (dark), and of its documents in the best order (light)",
        rows,
        34 * max(1, len(rows)),
        [
            _layer(
                {"type": "bar", "height": height, "color": COLOURS["better"], "opacity": opacity},
                y=stage,
                x=quantitative(field, measure, zero=True),
                tooltip=tooltip_of("stage", "mean", "ceiling"),
            )
            for field, height, opacity in bars
        ],
    )


def datasets(rows: Sequence[Row], *, measure: str) -> Figure:
    """Return a dot plot of means: one line per data set, one point per system.

    Args:
        rows: one per data set and system: dataset, system, mean.
        measure: the name of the measure.
    """
    # Vega reads the names from the rows: in a list it would interpret some of them as keywords.
    system = {
        "field": "system",
        "type": "nominal",
        "sort": None,
        "legend": {"orient": "bottom", "title": None, "columns": 3},
    }
    return figure_from_layers(
        f"{measure} of every system on every data set",
        rows,
        26 * max(1, len({row["dataset"] for row in rows})),
        [
            _layer(
                {"type": "point", "filled": True, "size": 90, "opacity": 0.85},
                y=name_channel("dataset", {"grid": True, "labelLimit": 220}),
                x=quantitative("mean", measure, zero=True),
                color=system,
                shape=system,
                tooltip=tooltip_of("dataset", "system", "mean"),
            )
        ],
    )


COLOURS = {verdict: style.colour for verdict, style in VERDICTS.items()}
SHAPES = {verdict: style.shape for verdict, style in VERDICTS.items()}
_NUMBERS = ("difference", "low", "high", "score", "against", "mean")


# The rows


def difference_rows(
    query_ids: Sequence[str],
    system_scores: Iterable[float],
    against_scores: Iterable[float],
    texts: Mapping[str, str] | None = None,
    *,
    higher_is_better: bool = True,
) -> list[dict[str, Any]]:
    """Return one row per query with a score of both systems, the greatest loss first.

    Args:
        query_ids: the ids of the queries. [Q]
        system_scores: the scores of the system, NaN for none. [Q]
        against_scores: the scores of the system it is compared with, NaN for none. [Q]
        texts: {query_id: text}.
        higher_is_better: whether a difference above 0 is a gain, or a loss.

    Returns:
        Rows with query, text, score, against, difference, and the begin and end of the bar.
    """
    rows: list[dict[str, Any]] = [
        {
            "query": query_id,
            "text": (texts or {}).get(query_id, ""),
            "score": score,
            "against": against,
            "difference": score - against,
        }
        for query_id, score, against in zip(query_ids, system_scores, against_scores, strict=True)
        if score == score and against == against  # noqa: PLR0124 - not NaN
    ]
    rows.sort(key=lambda row: row["difference"], reverse=not higher_is_better)
    return _with_bar_ends(rows)


def score_rows(
    query_ids: Sequence[str], scores: Iterable[float], *, higher_is_better: bool
) -> list[dict[str, Any]]:
    """Return one row per query with a score, the best score first.

    Args:
        query_ids: the ids of the queries. [Q]
        scores: the scores of the system, NaN for none. [Q]
        higher_is_better: whether the highest score is the best, or the lowest.

    Returns:
        Rows with query, an empty text, score, and the begin and end of the bar.
    """
    rows: list[dict[str, Any]] = [
        {"query": query_id, "text": "", "score": score}
        for query_id, score in zip(query_ids, scores, strict=True)
        if score == score  # noqa: PLR0124 - not NaN
    ]
    rows.sort(key=lambda row: row["score"], reverse=higher_is_better)
    return _with_bar_ends(rows)


def _with_bar_ends(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the ends of their bars on the x axis, in the order of the rows."""
    return [row | {"begin": index, "end": index + 1} for index, row in enumerate(rows)]


# The parts of a specification


def quantitative(field: str, title: str, *, zero: bool = False) -> Spec:
    """Return a channel for numbers with a title; ``zero`` makes its axis include 0."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": zero},
        "axis": {"tickCount": {"expr": "ceil(width / 70)"}},
    }


def name_channel(field: str, axis: Spec) -> Spec:
    """Return a channel with one row of the figure per name, in the order of the data."""
    return {"field": field, "type": "nominal", "sort": None, "title": None, "axis": axis}


def tooltip_of(*fields: str) -> list[Spec]:
    """Return a tooltip with a line for each field."""
    number = {"format": ".4f", "type": "quantitative"}
    return [
        {"field": field} | (number if field in _NUMBERS else {"type": "nominal"})
        for field in fields
    ]


def colour_by_sign(*, higher_is_better: bool = True) -> Spec:
    """Return a colour channel that shows whether the difference is a gain or a loss."""
    above, below = ("better", "worse") if higher_is_better else ("worse", "better")
    return {
        "condition": [
            {"test": "datum.difference > 0", "value": COLOURS[above]},
            {"test": "datum.difference < 0", "value": COLOURS[below]},
        ],
        "value": COLOURS["undecided"],
    }


def zero_line(axis: str) -> Spec:
    """Return a layer with a line at 0 of an axis, "x" or "y"."""
    return _layer({"type": "rule", "opacity": 0.7, "style": "ink"}, **{axis: {"datum": 0}})
