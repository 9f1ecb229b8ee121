"""Logging to MLflow: metrics, parameters, tags, the table of queries and files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, first_few, needs_extra

if TYPE_CHECKING:
    from beir_eval.integrations.trackers.entry import Entry

#: The most parameters or tags that MLflow takes at once; it takes more metrics.
_MOST_AT_ONCE = 100
_LONGEST_TAG = 5000


def log_to_mlflow(entry: Entry, run: Any) -> None:
    """Log to a run of MLflow; a step that is None is 0, as everywhere in MLflow.

    Metrics are the means and counts, parameters the settings, tags the verdicts and warnings.
    The artifacts are in ``beir_eval/<title>``.

    Args:
        entry: what is logged.
        run: a run; None for the active one.

    Raises:
        MissingExtraError: MLflow is not installed.
        SettingError: no run is active, or the run has a parameter with another value.
    """
    with needs_extra("mlflow", "mlflow", "logging to MLflow"):
        import mlflow  # noqa: PLC0415 - an extra
        from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415
    run = mlflow.active_run() if run is None else run
    if run is None:
        msg = "no run of MLflow is active; log inside `with mlflow.start_run():`, or pass to=run"
        raise SettingError(msg)
    client, run_id = mlflow.MlflowClient(), run.info.run_id
    _check_params(entry, client.get_run(run_id).data.params)
    now, step = int(time.time() * 1000), entry.step or 0
    metrics = [Metric(name, value, now, step) for name, value in entry.metrics.items()]
    params = [Param(name, str(value)) for name, value in entry.settings.items()]
    tags = [RunTag(name, text[:_LONGEST_TAG]) for name, text in entry.texts.items()]
    longest = max(len(metrics), len(params), len(tags))
    for start in range(0, longest, _MOST_AT_ONCE):
        part = slice(start, start + _MOST_AT_ONCE)
        client.log_batch(run_id, metrics[part], params[part], tags[part])
    if entry.with_files:
        folder = f"beir_eval/{entry.title}"
        _log_table(client, run_id, entry, folder)
        with entry.files() as paths:
            for path in paths:
                client.log_artifact(run_id, str(path), folder)


def _check_params(entry: Entry, logged: dict[str, str]) -> None:
    """Raise SettingError if the run has another value for a setting."""
    differing = [
        f"{name}={logged[name]} there, {value} here"
        for name, value in entry.settings.items()
        if name in logged and logged[name] != str(value)
    ]
    if differing:
        msg = (
            f"the run has other settings: {first_few(differing)}; log to another run, or with a "
            "prefix, so that such numbers are not compared by mistake"
        )
        raise SettingError(msg)


def _log_table(client: Any, run_id: str, entry: Entry, folder: str) -> None:
    """Log the scores of each query as a table of MLflow's evaluation views.

    ``log_table`` appends to a table; one that was logged before is replaced.
    """
    path = f"{folder}/per_query.json"
    if any(file.path == path for file in client.list_artifacts(run_id, folder)):
        client.log_dict(run_id, {"columns": entry.columns, "data": entry.rows}, path)
        return
    with needs_extra("pandas", "mlflow", "logging a table to MLflow"):
        import pandas as pd  # noqa: PLC0415 - an extra
    client.log_table(run_id, pd.DataFrame(entry.rows, columns=entry.columns), path)
