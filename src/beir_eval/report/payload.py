"""The data inside the report: scores and rankings as JSON, trimmed to a size, never silently."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.report.json_text import size_of
from beir_eval.report.query_view import Rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.report.dataset_views import DatasetView
    from beir_eval.report.texts import Texts

#: The most that queries with their texts, and scores, may take, in bytes, in all views together.
MOST_QUERY_TEXTS = 800_000
MOST_SCORES = 2_000_000
#: More queries than this would make the table slow.
MOST_QUERIES = 20_000
#: Characters of a query's text, longest first.
_QUERY_TEXTS = (240, 120, 60, 0)
#: What a score takes as JSON.
_SCORE_BYTES = 19


def data_of(
    views: Sequence[tuple[DatasetView, Texts]], top: int, room: int, notices: list[str]
) -> list[dict[str, Any]]:
    """Return the views as JSON, in the order given.

    Args:
        views: systems on the queries of a data set, and what their documents say.
        top: how many documents of a ranking are shown.
        room: how many bytes all views may take.
        notices: what had to be left out is added here, in sentences.
    """
    held = [_Held.of(view, texts, len(views), notices) for view, texts in views]
    left = room - sum(size_of(one.data) for one in held)
    # The small ones first: what they leave over goes to the others.
    for place, one in enumerate(sorted(held, key=lambda one: len(one.places))):
        share = left // (len(held) - place)
        rankings, left_out = Rankings(one.view, one.places, top).within(share, one.texts)
        one.data.update(rankings)
        notices += [f"{one.where}{sentence}" for sentence in left_out]
        left -= size_of(rankings)
    return [one.data for one in held]


@dataclass(frozen=True, eq=False)
class _Held:
    """One view, the places of those of its queries that the file holds, and its data."""

    view: DatasetView
    texts: Texts
    places: list[int]
    data: dict[str, Any]

    @property
    def where(self) -> str:
        return f"{self.view.name}: " if self.view.name else ""

    @classmethod
    def of(cls, view: DatasetView, texts: Texts, share: int, notices: list[str]) -> _Held:
        places, queries = _queries_held(view, texts, share)
        scores = _scores_held(view, places, MOST_SCORES // share)
        data = {
            "name": view.name,
            "systems": view.systems,
            "repeats": view.repeats,
            "measures": list(scores),
            "pair": view.pair,
            "total": len(view.query_ids),
            "queries": queries,
            "scores": scores,
        }
        held = cls(view, texts, places, data)
        if len(places) < len(view.query_ids):
            notices.append(
                f"{held.where}the table and the charts hold {len(places):,} of "
                f"{len(view.query_ids):,} queries, those on which the systems differ most; means "
                "and verdicts are over all"
            )
        if len(scores) < len(view.measures):
            notices.append(
                f"{held.where}scores by query are held for {len(scores)} of {len(view.measures)} "
                f"measures: {', '.join(scores)}"
            )
        return held


def _queries_held(
    view: DatasetView, texts: Texts, share: int
) -> tuple[list[int], list[tuple[str, str]]]:
    """Return the places of the queries that fit, and (id, text): the text as long as there is room.

    Where not all fit they are those on which the systems differ most.
    """
    most = MOST_QUERY_TEXTS // share
    number = max(1, min(MOST_QUERIES, MOST_SCORES // (len(view.systems) * _SCORE_BYTES)) // share)
    order = np.argsort(-view.spread(), kind="stable").tolist()
    while True:
        places = sorted(order[:number])
        for length in _QUERY_TEXTS:
            query_ids = [view.query_ids[place] for place in places]
            listed = [(one, texts.query(one, length)) for one in query_ids]
            if size_of(listed) <= most or (length == 0 and len(places) == 1):
                return places, listed
        number = max(1, len(places) // 2)  # long ids


def _scores_held(
    view: DatasetView, places: list[int], most: int
) -> dict[str, list[list[float | None]]]:
    """Return the scores of the first measures that fit, one at least; to the last bit.

    Who wins a query must be the same here as in the counts of the comparison.
    """
    held: dict[str, list[list[float | None]]] = {}
    for name in view.measures:
        scores = [
            [None if math.isnan(one) else one for one in row]
            for row in view.scores[name][:, places].tolist()
        ]
        most -= size_of(scores)
        if held and most < 0:
            break
        held[name] = scores
    return held
