"""The rows of figures, and the parts of Vega-Lite specifications that figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.display.words import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = Mapping[str, Any]
    Spec = dict[str, Any]

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
    query_ids: Sequence[str],
    scores: Iterable[float],
    texts: Mapping[str, str] | None = None,
    *,
    higher_is_better: bool = True,
) -> list[dict[str, Any]]:
    """Return one row per query with a score, the best score first.

    Args:
        query_ids: the ids of the queries. [Q]
        scores: the scores of the system, NaN for none. [Q]
        texts: {query_id: text}.
        higher_is_better: whether the highest score is the best, or the lowest.

    Returns:
        Rows with query, text, score, and the begin and end of the bar.
    """
    rows: list[dict[str, Any]] = [
        {"query": query_id, "text": (texts or {}).get(query_id, ""), "score": score}
        for query_id, score in zip(query_ids, scores, strict=True)
        if score == score  # noqa: PLR0124 - not NaN
    ]
    rows.sort(key=lambda row: row["score"], reverse=higher_is_better)
    return _with_bar_ends(rows)


def diagonal_rows(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Return the two ends of the diagonal, on which both scores are equal."""
    scores = [row[field] for row in rows for field in ("score", "against")]
    return [{"score": min([0.0, *scores])}, {"score": max([0.0, *scores])}]


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
        "axis": {"tickCount": 8},
    }


def name_channel(field: str, axis: Spec) -> Spec:
    """Return a channel with one row of the figure per name, in the order of the data."""
    return {"field": field, "type": "nominal", "sort": None, "title": None, "axis": axis}


def tooltip_line(field: str) -> Spec:
    """Return the line of a tooltip that shows a field."""
    if field in _NUMBERS:
        return {"field": field, "format": ".4f", "type": "quantitative"}
    return {"field": field, "type": "nominal"}


def query_tooltip() -> list[Spec]:
    """Return the tooltip of a query: its id, text, scores and difference."""
    return [tooltip_line(field) for field in ("query", "text", "score", "against", "difference")]


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
    return {
        "mark": {"type": "rule", "opacity": 0.7, "style": "ink"},
        "encoding": {axis: {"datum": 0}},
    }
