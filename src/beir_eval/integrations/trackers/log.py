"""``log``: find the tracker, and log a result or a comparison to it.

- MLflow: metrics, parameters, tags, the table of queries and files.
- Weights & Biases: metrics, configuration, the table of queries and files.
- TensorBoard: scalars, and the tables as text, in event files.
- trackio: metrics, tables of queries and settings, and files.

Each tracker is imported when something is logged to it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, check_flag, first_few, needs_extra, shown
from beir_eval.integrations.trackers.entry import entry_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.trackers.entry import Entry

#: The most parameters or tags that MLflow takes at once; it takes more metrics.
_MOST_AT_ONCE = 100
_LONGEST_TAG = 5000
#: The metric that is the axis of the others.
STEP = "beir_eval/step"
#: The folder that ``to="tensorboard"`` writes to, the default of torch's ``SummaryWriter``.
FOLDER = "runs"


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
    settings = {name: str(value) for name, value in entry.settings.items()}
    _check_settings(settings, client.get_run(run_id).data.params)
    now, step = int(time.time() * 1000), entry.step or 0
    metrics = [Metric(name, value, now, step) for name, value in entry.metrics.items()]
    params = [Param(name, value) for name, value in settings.items()]
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


def log_to_wandb(entry: Entry, run: Any) -> None:
    """Log to a run of Weights & Biases.

    The step is a metric of its own, ``beir_eval/step``, and the axis of the others: Weights &
    Biases drops values whose step is below that of a value logged before, for example by the
    trainer.

    Args:
        entry: what is logged.
        run: a run; None for the active one.

    Raises:
        MissingExtraError: wandb is not installed.
        SettingError: no run is active, or its configuration has a setting with another value.
    """
    with needs_extra("wandb", "wandb", "logging to Weights & Biases"):
        import wandb  # noqa: PLC0415 - an extra
    run = wandb.run if run is None else run
    if run is None:
        msg = "no run of Weights & Biases is active; call wandb.init(project=…), or pass to=run"
        raise SettingError(msg)
    _check_settings(entry.settings, dict(run.config))
    run.config.update(entry.settings)
    values: dict[str, Any] = dict(entry.metrics)
    if entry.with_files:
        name = f"per_query/{entry.title}"
        values[name] = wandb.Table(columns=entry.columns, data=entry.rows)
    if entry.step is not None:
        run.define_metric(STEP, hidden=True)
        for name in entry.metrics:
            run.define_metric(name, step_metric=STEP)
        values[STEP] = entry.step
    run.log(values)
    run.summary.update(entry.texts)
    if entry.with_files:
        _log_artifact(entry, run, wandb.Artifact)


def log_to_tensorboard(entry: Entry, writer: Any) -> None:
    """Log to TensorBoard: metrics as scalars (single precision), and a text for each result.

    The text holds the warnings, the table of means or verdicts, the notes and the settings.
    TensorBoard has no files.

    Args:
        entry: what is logged; a step that is None is 0.
        writer: a ``SummaryWriter``, an ``EventFileWriter``, a folder, or None for ``runs``. A
            writer that was passed is flushed and stays open.

    Raises:
        MissingExtraError: tensorboard is not installed, unless a ``SummaryWriter`` was passed.
        OSError: the folder cannot be written to.
    """
    step, text_name = entry.step or 0, f"beir_eval/{entry.title}"
    if hasattr(writer, "add_scalar"):
        for name, value in entry.metrics.items():
            writer.add_scalar(name, value, step)
        if hasattr(writer, "add_text"):  # tensorboard.summary.Writer has scalars only
            writer.add_text(text_name, entry.markdown(), step)
        writer.flush()
        return
    with needs_extra("tensorboard", "tensorboard", "logging to TensorBoard"):
        from tensorboard.compat.proto.event_pb2 import Event  # noqa: PLC0415 - an extra
        from tensorboard.plugins.scalar.summary_v2 import scalar_pb  # noqa: PLC0415
        from tensorboard.plugins.text.summary_v2 import text_pb  # noqa: PLC0415
        from tensorboard.summary.writer.event_file_writer import (  # noqa: PLC0415
            EventFileWriter,
        )
    is_own = writer is None or isinstance(writer, Path)
    events = EventFileWriter(str(writer or FOLDER)) if is_own else writer
    try:
        summaries = [scalar_pb(name, value) for name, value in entry.metrics.items()]
        for summary in [*summaries, text_pb(text_name, entry.markdown())]:
            events.add_event(Event(wall_time=time.time(), step=step, summary=summary))
        events.flush()
    finally:
        if is_own:
            events.close()


def log_to_trackio(entry: Entry, run: Any) -> None:
    """Log to a run of trackio.

    trackio saves the configuration of a run with its first values only, so the settings, and the
    warnings and verdicts, are logged as a table too.

    Args:
        entry: what is logged.
        run: a run; None for the active one.

    Raises:
        MissingExtraError: trackio is not installed.
        SettingError: no run is active, or its configuration has a setting with another value.
    """
    with needs_extra("trackio", "trackio", "logging to trackio"):
        import trackio  # noqa: PLC0415 - an extra
        from trackio.context_vars import current_run  # noqa: PLC0415
    run = current_run.get() if run is None else run
    if run is None:
        msg = "no run of trackio is active; call trackio.init(project=…), or pass to=run"
        raise SettingError(msg)
    _check_settings(entry.settings, run.config)
    run.config.update(entry.settings)
    facts = [[name, str(value)] for name, value in {**entry.settings, **entry.texts}.items()]
    values: dict[str, Any] = dict(entry.metrics)
    values[f"settings/{entry.title}"] = trackio.Table(columns=["name", "value"], data=facts)
    if entry.with_files:
        table = trackio.Table(columns=entry.columns, data=entry.rows)
        values[f"per_query/{entry.title}"] = table
    run.log(values, step=entry.step)
    if entry.with_files:
        _log_artifact(entry, run, trackio.Artifact)


def _check_settings(settings: Mapping[str, Any], logged: Mapping[str, Any]) -> None:
    """Raise SettingError if a run has another value for a setting.

    Args:
        settings: {name: value} that are to be logged.
        logged: {name: value} that the run has.
    """
    differing = [
        f"{name}={logged[name]} there, {value} here"
        for name, value in settings.items()
        if name in logged and logged[name] != value
    ]
    if differing:
        msg = (
            f"the run has other settings: {first_few(differing)}; log to another run, or with a "
            "prefix, so that such numbers are not compared by mistake"
        )
        raise SettingError(msg)


def _log_artifact(entry: Entry, run: Any, artifact_class: Any) -> None:
    """Log the files of an entry to a run, as an artifact of its tracker."""
    artifact = artifact_class(
        name=f"{entry.title}-beir-eval", type="evaluation", metadata=dict(entry.settings)
    )
    with entry.files() as paths:
        for path in paths:
            artifact.add_file(str(path))
        run.log_artifact(artifact)


#: The functions that log an entry; their second argument is a run, a writer or None.
_TRACKERS = {
    "mlflow": log_to_mlflow,
    "wandb": log_to_wandb,
    "tensorboard": log_to_tensorboard,
    "trackio": log_to_trackio,
}


def log(
    what: EvaluationResult | Comparison,
    *,
    to: Any,
    step: int | None = None,
    prefix: str = "",
    files: bool = True,
) -> None:
    """Log a result or a comparison to an experiment tracker.

    Of a result, the means, the number of queries, of judged and of missing queries, and the
    settings are logged. Of a comparison: means, differences with interval and p, verdicts, and the
    settings of the tests. The scores of each query, the saved result and the report are logged as
    artifacts (TensorBoard: the table and the notes as text). Names are those of ``tracker_name``.

    Args:
        what: the result or the comparison.
        to: "mlflow", "wandb" or "trackio" for the active run; a run of one of them; for
            TensorBoard a folder as ``Path``, a ``SummaryWriter``, or an ``EventFileWriter`` of the
            package tensorboard; "tensorboard" is the folder "runs".
        step: the training step. By default the one in the name of a result, such as "step-500" or
            "checkpoint-500", if there is one.
        prefix: a name before each name, such as "scifact", if several data sets are logged to one
            run.
        files: whether to log the artifacts; False for frequent evaluations during training.

    Raises:
        SettingError: ``to`` is none of these, no run is active, ``step`` is not a whole number
            from 0, or the run has other settings under the same names.
        MissingExtraError: the package of the tracker is not installed, or jinja2 for the report.
        OSError: a file cannot be written.
    """
    check_flag("files", files)
    tracker = _tracker_of(to)
    log_entry = _TRACKERS[tracker]
    log_entry(
        entry_of(what, step=step, prefix=prefix, with_files=files),
        None if isinstance(to, str) else to,
    )


def _tracker_of(to: Any) -> str:
    """Return the name of the tracker that a name, a run, a writer or a folder belongs to."""
    if isinstance(to, str) and to in _TRACKERS:
        return to
    if isinstance(to, Path) or hasattr(to, "add_scalar") or hasattr(to, "add_event"):
        return "tensorboard"
    package = type(to).__module__.partition(".")[0]
    if package in ("mlflow", "wandb", "trackio") and (hasattr(to, "log") or hasattr(to, "info")):
        return package
    msg = (
        f"to={shown(to)}: expected one of {', '.join(map(repr, _TRACKERS))}, a run of MLflow, "
        "Weights & Biases or trackio, a SummaryWriter, or Path(folder) for TensorBoard"
    )
    raise SettingError(msg)
