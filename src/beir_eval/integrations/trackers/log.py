"""``log``: find the tracker, and log a result or a comparison to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.core.imports import import_name
from beir_eval.errors import SettingError, check_flag, shown
from beir_eval.integrations.trackers.entry import entry_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.trackers.entry import Entry

_PACKAGE = "beir_eval.integrations.trackers"
#: The functions that log an entry; their second argument is a run, a writer or None.
_TRACKERS = {
    "mlflow": f"{_PACKAGE}.to_mlflow:log_to_mlflow",
    "wandb": f"{_PACKAGE}.to_wandb:log_to_wandb",
    "tensorboard": f"{_PACKAGE}.to_tensorboard:log_to_tensorboard",
    "trackio": f"{_PACKAGE}.to_trackio:log_to_trackio",
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
    log_entry: Callable[[Entry, Any], None] = import_name(_TRACKERS[tracker])
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
