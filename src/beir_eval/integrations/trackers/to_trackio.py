"""Logging to trackio: metrics, tables of queries and settings, and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.errors import SettingError, needs_extra
from beir_eval.integrations.trackers.to_wandb import check_config

if TYPE_CHECKING:
    from beir_eval.integrations.trackers.entry import Entry


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
    check_config(entry, run.config)
    run.config.update(entry.settings)
    facts = [[name, str(value)] for name, value in {**entry.settings, **entry.texts}.items()]
    values: dict[str, Any] = dict(entry.metrics)
    values[f"settings/{entry.title}"] = trackio.Table(columns=["name", "value"], data=facts)
    if entry.with_files:
        table = trackio.Table(columns=entry.columns, data=entry.rows)
        values[f"per_query/{entry.title}"] = table
    run.log(values, step=entry.step)
    if not entry.with_files:
        return
    artifact = trackio.Artifact(
        name=f"{entry.title}-beir-eval", type="evaluation", metadata=dict(entry.settings)
    )
    with entry.files() as paths:
        for path in paths:
            artifact.add_file(str(path))
        run.log_artifact(artifact)
