"""Logging to Weights & Biases: metrics, configuration, the table of queries and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, first_few, needs_extra

if TYPE_CHECKING:
    from beir_eval.integrations.trackers.entry import Entry

#: The metric that is the axis of the others.
STEP = "beir_eval/step"


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
    check_config(entry, dict(run.config))
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
    if not entry.with_files:
        return
    artifact = wandb.Artifact(
        name=f"{entry.title}-beir-eval", type="evaluation", metadata=dict(entry.settings)
    )
    with entry.files() as paths:
        for path in paths:
            artifact.add_file(str(path))
        run.log_artifact(artifact)


def check_config(entry: Entry, config: dict[str, Any]) -> None:
    """Raise SettingError if the configuration of a run has another value for a setting."""
    differing = [
        f"{name}={config[name]} there, {value} here"
        for name, value in entry.settings.items()
        if name in config and config[name] != value
    ]
    if differing:
        msg = (
            f"the run has other settings: {first_few(differing)}; log to another run, or with a "
            "prefix, so that such numbers are not compared by mistake"
        )
        raise SettingError(msg)
