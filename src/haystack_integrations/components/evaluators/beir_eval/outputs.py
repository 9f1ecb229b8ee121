"""What both components share: their outputs, made from a result, and ``run_async``."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np

from beir_eval.evaluation.result import EvaluationResult

Inputs = ParamSpec("Inputs")
Outputs: TypeAlias = dict[str, Any]

#: The outputs of a component, as its pipeline connects them.
OUTPUT_TYPES = {
    "score": float,
    "individual_scores": list[float],
    "metrics": dict[str, float],
    "results": dict[str, dict[str, Any]],
    "result": EvaluationResult,
}


def in_thread(
    run: Callable[Concatenate[Any, Inputs], Outputs],
) -> Callable[Concatenate[Any, Inputs], Coroutine[Any, Any, Outputs]]:
    """Return the method ``run_async`` of a component, with the inputs and outputs of its ``run``.

    Haystack demands that both have one signature and one set of outputs: ``wraps`` passes on both.
    """

    @wraps(run, assigned=["__module__", "__annotations__"])
    async def run_async(self: Any, /, *args: Inputs.args, **kwargs: Inputs.kwargs) -> Outputs:
        """Evaluate in a thread, so that others go on; otherwise as ``run``."""
        outputs: Outputs = await asyncio.to_thread(self.run, *args, **kwargs)
        return outputs

    return run_async


def outputs_of(
    result: EvaluationResult, query_ids: list[str], primary: str, *, plain_mean: bool = False
) -> Outputs:
    """Return the outputs of a component; scores in the order of ``query_ids``, NaN where unjudged.

    Args:
        result: the result, over some or all of these queries.
        query_ids: the queries handed in. [Q]
        primary: the measure of ``score``, by its canonical name.
        plain_mean: whether means are added up from left to right, as Haystack does, and not
            correctly rounded.
    """
    column_of = {query_id: column for column, query_id in enumerate(query_ids)}
    values = np.full((len(result.measures), len(query_ids)), np.nan)
    values[:, [column_of[query_id] for query_id in result.query_ids]] = result.values.array
    results: dict[str, dict[str, Any]] = {}
    for measure, scores in zip(result.measures, values.tolist(), strict=True):
        mean = sum(scores) / len(scores) if plain_mean else result[measure]
        results[measure] = {"score": mean, "individual_scores": scores}
    return {
        "score": results[primary]["score"],
        "individual_scores": list(results[primary]["individual_scores"]),
        "metrics": {measure: outputs["score"] for measure, outputs in results.items()},
        "results": results,
        "result": result,
    }
