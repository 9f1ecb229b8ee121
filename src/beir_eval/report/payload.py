"""The data that the report's scripts read: scores and rankings as JSON, trimmed to a size in bytes.

Each function that leaves out queries, rankings, scores or texts of documents says so in a notice.
Texts of queries are cut without a notice; " …" marks the cut.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.report.page import size_of
from beir_eval.report.rankings import Rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.report.dataset_views import DatasetView, Texts

#: The most bytes that the ids and texts of queries, and the scores, take in all views together.
MOST_QUERY_BYTES = 800_000
MOST_SCORE_BYTES = 2_000_000
#: More queries than this would make the table slow.
MOST_QUERIES = 20_000
#: Characters of a query's text, longest first.
_QUERY_LENGTHS = (240, 120, 60, 0)
#: The bytes that a score takes as JSON.
_SCORE_BYTES = 19


def data_of_views(
    views: Sequence[tuple[DatasetView, Texts]], top: int, max_bytes: int, notices: list[str]
) -> list[dict[str, Any]]:
    """Return the data of each view, in the order of ``views``.

    Args:
        views: each view with the texts of its queries and documents.
        top: how many documents of a ranking are shown.
        max_bytes: the most bytes that all rankings, scores and texts should take together. The ids
            of a query and the scores on one measure are kept even if they take more.
        notices: a list; a sentence is appended for everything that is left out, except for the ends
            of long query texts.
    """
    held: list[tuple[DatasetView, Texts, list[int]]] = []
    parts: list[dict[str, Any]] = []
    for view, texts in views:
        indices, queries = _select_queries(view, texts, len(views))
        scores = _select_scores(view, indices, MOST_SCORE_BYTES // len(views))
        held.append((view, texts, indices))
        parts.append(
            {
                "name": view.name,
                "systems": view.systems,
                "repeats": view.repeats,
                "measures": list(scores),
                "lower_is_better": view.lower_is_better,
                "pair": view.pair,
                "total": len(view.query_ids),
                "queries": queries,
                "scores": scores,
            }
        )
        if len(indices) < len(view.query_ids):
            notices.append(
                f"{_prefix(view)}the table and the charts hold {len(indices):,} of "
                f"{len(view.query_ids):,} queries, those on which the systems differ most; means "
                "and verdicts are over all"
            )
        if len(scores) < len(view.measures):
            notices.append(
                f"{_prefix(view)}scores by query are held for {len(scores)} of "
                f"{len(view.measures)} measures: {', '.join(scores)}"
            )
    bytes_left = max_bytes - sum(map(size_of, parts))
    # Small views come first: the bytes that they do not need go to the larger ones.
    order = sorted(range(len(held)), key=lambda index: len(held[index][2]))
    for position, index in enumerate(order):
        view, texts, indices = held[index]
        share = bytes_left // (len(held) - position)
        rankings, sentences = Rankings(view, indices, top).data_within(share, texts)
        parts[index].update(rankings)
        notices += [f"{_prefix(view)}{sentence}" for sentence in sentences]
        bytes_left -= size_of(rankings)
    return parts


def _prefix(view: DatasetView) -> str:
    """Return the beginning of a notice: the name of the data set, if it has one."""
    return f"{view.name}: " if view.name else ""


def _select_queries(
    view: DatasetView, texts: Texts, num_views: int
) -> tuple[list[int], list[tuple[str, str]]]:
    """Return the indices of the queries that fit, and their (id, text).

    If not all fit, those on which the systems differ most are selected. Texts are cut to the
    greatest length that fits.
    """
    max_bytes = MOST_QUERY_BYTES // num_views
    count = max(
        1, min(MOST_QUERIES, MOST_SCORE_BYTES // (len(view.systems) * _SCORE_BYTES)) // num_views
    )
    order = np.argsort(-view.spread(), kind="stable").tolist()
    while True:
        indices = sorted(order[:count])
        for length in _QUERY_LENGTHS:
            query_ids = [view.query_ids[index] for index in indices]
            queries = [(query_id, texts.query(query_id, length)) for query_id in query_ids]
            if size_of(queries) <= max_bytes or (length == 0 and len(indices) == 1):
                return indices, queries
        count = max(1, len(indices) // 2)  # the ids alone are too long


def _select_scores(
    view: DatasetView, indices: list[int], max_bytes: int
) -> dict[str, list[list[float | None]]]:
    """Return {measure: [system][query] score} of the first measures that fit, at least one.

    Scores are not rounded, so that the counts of better and worse queries on the page equal those
    of the comparison.
    """
    selected: dict[str, list[list[float | None]]] = {}
    for measure in view.measures:
        scores = [
            [None if math.isnan(score) else score for score in row]
            for row in view.scores[measure][:, indices].tolist()
        ]
        max_bytes -= size_of(scores)
        if selected and max_bytes < 0:
            break
        selected[measure] = scores
    return selected
