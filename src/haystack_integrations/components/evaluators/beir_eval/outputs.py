"""The outputs of a component, made from a result."""

import math
from typing import Any

from beir_eval.evaluation.result import EvaluationResult


def outputs_of(
    result: EvaluationResult, query_ids: list[str], primary: str, *, plain_mean: bool = False
) -> dict[str, Any]:
    """Return the outputs of a component; scores in the order of ``query_ids``, NaN where unjudged.

    Args:
        result: the result, over some or all of these queries.
        query_ids: the queries handed in. [Q]
        primary: the measure of ``score``, by its canonical name.
        plain_mean: whether means are added up from left to right, as Haystack does, and not
            correctly rounded.
    """
    column_of = {query_id: column for column, query_id in enumerate(result.query_ids)}
    columns = [column_of.get(query_id) for query_id in query_ids]
    in_order = [column for column in columns if column is not None] == list(range(len(column_of)))
    complete = in_order and len(column_of) == len(columns)
    results: dict[str, dict[str, Any]] = {}
    for measure, scores in zip(result.measures, result.values.array.tolist(), strict=True):
        individual = (
            scores
            if complete
            else [math.nan if column is None else scores[column] for column in columns]
        )
        score = sum(scores) / len(scores) if plain_mean else result[measure]
        results[measure] = {"score": score, "individual_scores": individual}
    return {
        "score": results[primary]["score"],
        "individual_scores": list(results[primary]["individual_scores"]),
        "metrics": {measure: one["score"] for measure, one in results.items()},
        "results": results,
        "result": result,
    }
