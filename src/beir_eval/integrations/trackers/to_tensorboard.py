"""Logging to event files of TensorBoard: scalars, and the tables as text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.errors import needs_extra

if TYPE_CHECKING:
    from beir_eval.integrations.trackers.entry import Entry

#: The folder that ``to="tensorboard"`` writes to, the default of torch's ``SummaryWriter``.
FOLDER = "runs"


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
