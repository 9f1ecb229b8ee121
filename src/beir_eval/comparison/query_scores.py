"""The scores of all pairs of systems query by query, as CSV."""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

from beir_eval.display.tables import csv_text
from beir_eval.measures.names import registered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

_HEADER = (
    "measure",
    "system",
    "against",
    "query_id",
    "text",
    "score",
    "score_against",
    "difference",
    "first_relevant",
    "first_relevant_against",
)


def query_scores_csv(comparison: Comparison, queries: Mapping[str, str] | None = None) -> str:
    """Return the scores of every pair on every measure and query as CSV, a line for each.

    The columns "first_relevant" and "first_relevant_against" are the ranks of the first relevant
    document among those that were kept of each ranking: ">10" if none of the first 10 is relevant
    and the ranking goes on, "none" if no retrieved document is. They are empty if the documents are
    not known, as for scores that were computed elsewhere. Of a system's repeats, the scores are
    averaged and the ranks are those of the first.

    Args:
        comparison: the comparison.
        queries: {query_id: text}, where they are known.
    """
    rows: list[Sequence[object]] = [_HEADER]
    index = {system: row for row, system in enumerate(comparison.systems)}
    texts = queries or {}
    for difference in comparison.differences:
        scores = comparison.scores[difference.measure].array
        pair = (difference.system, difference.against)
        rel = _lowest_relevant(difference.measure)
        results = [comparison.results[system][0] for system in pair]
        columns = zip(
            comparison.query_ids, *(scores[index[system]] for system in pair), strict=True
        )
        for query_id, score, against in columns:
            rows.append(
                (
                    difference.measure,
                    *pair,
                    query_id,
                    texts.get(query_id, ""),
                    *map(_number, (float(score), float(against), float(score - against))),
                    *(_first_relevant(result, query_id, rel) for result in results),
                )
            )
    return csv_text(rows)


def _number(value: float) -> object:
    return "" if math.isnan(value) else value


def _lowest_relevant(measure: str) -> float:
    """Return the lowest grade that a measure counts as relevant."""
    parsed = registered(measure)
    rel = None if parsed is None else dict(parsed.parameters).get("rel")
    return float(rel) if isinstance(rel, int | float) else math.nextafter(0.0, 1.0)


def _first_relevant(result: EvaluationResult, query_id: str, rel: float) -> str:
    """Return the rank of the first relevant document of a query as text."""
    top = (result.top or {}).get(query_id)
    if top is None:
        is_missing = result.counted is not None and query_id in result.counted.queries_missing
        return "none" if is_missing else ""
    for rank, grade in zip(count(1), top.grades, strict=False):
        if grade is not None and grade >= rel:
            return str(rank)
    longest = max(len(other.doc_ids) for other in (result.top or {}).values())
    return f">{len(top.doc_ids)}" if len(top.doc_ids) == longest else "none"
