"""What figures are made of: their rows, and the parts of Vega-Lite specifications they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = Mapping[str, Any]
    Spec = dict[str, Any]

#: One colour a verdict: readable on white and on black, and told apart without red and green.
COLOURS = {"better": "#2f7de1", "worse": "#d26a00", "equal": "#8a63d2", "undecided": "#808890"}
SHAPES = {
    "better": "triangle-right",
    "worse": "triangle-left",
    "equal": "square",
    "undecided": "circle",
}
_NUMBERS = ("difference", "low", "high", "score", "against", "mean")


# The rows


def difference_rows(
    query_ids: Sequence[str],
    ours: Iterable[float],
    theirs: Iterable[float],
    texts: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return one row a query that both systems have a score for, the greatest loss first.

    Args:
        query_ids: [Q].
        ours: the scores of the system, [Q].
        theirs: those of the one it is compared with, [Q].
        texts: {query_id: text}.
    """
    rows: list[dict[str, Any]] = [
        {
            "query": query_id,
            "text": (texts or {}).get(query_id, ""),
            "score": score,
            "against": against,
            "difference": score - against,
        }
        for query_id, score, against in zip(query_ids, ours, theirs, strict=True)
        if score == score and against == against  # noqa: PLR0124 - not NaN
    ]
    rows.sort(key=lambda row: row["difference"])
    return _placed(rows)


def score_rows(
    query_ids: Sequence[str], scores: Iterable[float], texts: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Return one row a query that has a score, the highest first; arguments as above."""
    rows: list[dict[str, Any]] = [
        {"query": query_id, "text": (texts or {}).get(query_id, ""), "score": score}
        for query_id, score in zip(query_ids, scores, strict=True)
        if score == score  # noqa: PLR0124 - not NaN
    ]
    rows.sort(key=lambda row: -row["score"])
    return _placed(rows)


def diagonal_rows(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Return the two ends of the line on which both scores are equal."""
    scores = [row[one] for row in rows for one in ("score", "against")]
    return [{"place": min([0.0, *scores])}, {"place": max([0.0, *scores])}]


def _placed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"begin": place, "end": place + 1} for place, row in enumerate(rows)]


# The parts of a specification


def quantitative(field: str, title: str, *, zero: bool = False) -> Spec:
    """Return a channel for numbers, with its title."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": zero},
        "axis": {"tickCount": 8},
    }


def row_names(field: str, axis: Spec) -> Spec:
    """Return a channel that gives each name a row, in the order of the data."""
    return {"field": field, "type": "nominal", "sort": None, "title": None, "axis": axis}


def tip(field: str) -> Spec:
    """Return the line of a tooltip for one field."""
    if field in _NUMBERS:
        return {"field": field, "format": ".4f", "type": "quantitative"}
    return {"field": field, "type": "nominal"}


def query_tips() -> list[Spec]:
    """Return the tooltip of a query: its id, text, scores and difference."""
    return [tip(one) for one in ("query", "text", "score", "against", "difference")]


def by_sign() -> Spec:
    """Return the colour of a difference by its sign."""
    return {
        "condition": [
            {"test": "datum.difference > 0", "value": COLOURS["better"]},
            {"test": "datum.difference < 0", "value": COLOURS["worse"]},
        ],
        "value": COLOURS["undecided"],
    }


def zero(axis: str) -> Spec:
    """Return the line at 0 of an axis."""
    return {
        "mark": {"type": "rule", "opacity": 0.7, "style": "ink"},
        "encoding": {axis: {"datum": 0}},
    }
