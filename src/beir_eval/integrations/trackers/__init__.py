"""Logging of results and comparisons to MLflow, Weights & Biases, TensorBoard and trackio.

``log(result, to="mlflow")`` logs means, counts, settings, the scores of each query, the saved
result and a report.

Inside: ``log`` (finds the tracker, and logs to it), ``entry`` (what is logged, and at which step),
``names`` (names of measures that every tracker accepts), ``mlflow_scorer`` (a scorer for
``mlflow.genai.evaluate``).

Public: ``log``, ``retrieval_scorer``, ``tracker_name``, ``measure_name``. Each tracker needs the
extra of its name: mlflow, wandb, tensorboard, trackio (MissingExtraError without it).
"""

from typing import TYPE_CHECKING

from beir_eval.core.imports import lazy_exports

if TYPE_CHECKING:
    from beir_eval.integrations.trackers.log import log
    from beir_eval.integrations.trackers.mlflow_scorer import retrieval_scorer
    from beir_eval.integrations.trackers.names import measure_name, tracker_name

__all__ = ["log", "measure_name", "retrieval_scorer", "tracker_name"]

lazy_exports(
    __name__,
    {
        "log": "beir_eval.integrations.trackers.log",
        "measure_name": "beir_eval.integrations.trackers.names",
        "retrieval_scorer": "beir_eval.integrations.trackers.mlflow_scorer",
        "tracker_name": "beir_eval.integrations.trackers.names",
    },
)
