"""The outputs of both components, and their method ``run_async``."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np

from beir_eval.evaluation.result import EvaluationResult

Inputs = ParamSpec("Inputs")
Outputs: TypeAlias = dict[str, Any]

#: The types of a component's outputs, for connections in a pipeline.
OUTPUT_TYPES = {
    "score": float,
    "individual_scores": list[float],
    "metrics": dict[str, float],
    "results": dict[str, dict[str, Any]],
    "result": EvaluationResult,
}


def make_run_async(
    run: Callable[Concatenate[Any, Inputs], Outputs],
) -> Callable[Concatenate[Any, Inputs], Coroutine[Any, Any, Outputs]]:
    """Return the method ``run_async`` of a component, with the inputs and outputs of its ``run``.

    Haystack requires that both methods have the same signature and the same outputs; ``wraps``
    copies both from ``run``.
    """

    @wraps(run, assigned=["__module__", "__annotations__"])
    async def run_async(self: Any, /, *args: Inputs.args, **kwargs: Inputs.kwargs) -> Outputs:
        """Evaluate in a thread, so that the event loop is not blocked.

        The arguments, the outputs and the errors are those of ``run``.
        """
        outputs: Outputs = await asyncio.to_thread(self.run, *args, **kwargs)
        return outputs

    return run_async


def component_outputs(
    result: EvaluationResult, query_ids: list[str], primary: str, *, plain_mean: bool = False
) -> Outputs:
    """Return the outputs of a component.

    Args:
        result: the result, over some or all of these queries.
        query_ids: the ids of the component's queries, in the order of the returned scores. [Q] The
            score of a query that is not in the result is NaN.
        primary: the canonical name of the measure of ``score`` and ``individual_scores``.
        plain_mean: whether means are sums from left to right divided by Q, as in Haystack, instead
            of correctly rounded.
    """
    column_of = {query_id: column for column, query_id in enumerate(query_ids)}
    values = np.full((len(result.measures), len(query_ids)), np.nan)
    values[:, [column_of[query_id] for query_id in result.query_ids]] = result.values.array
    means, results = result.aggregate, dict[str, dict[str, Any]]()
    for measure, scores in zip(result.measures, values.tolist(), strict=True):
        mean = sum(scores) / len(scores) if plain_mean else means[measure]
        results[measure] = {"score": mean, "individual_scores": scores}
    return {
        "score": results[primary]["score"],
        "individual_scores": list(results[primary]["individual_scores"]),
        "metrics": {measure: outputs["score"] for measure, outputs in results.items()},
        "results": results,
        "result": result,
    }
