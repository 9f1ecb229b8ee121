"""Judgements and runs in every form in which callers pass them, as ``Qrels`` and ``Run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run

if TYPE_CHECKING:
    from beir_eval.core.qrels import QrelsMapping
    from beir_eval.core.run import RunMapping
    from beir_eval.datasets.dataset import Dataset

#: What functions take as judgements: also the path of a file or of a data-set folder.
QrelsLike: TypeAlias = "Qrels | QrelsMapping | Dataset | str | Path"
#: What functions take as a run: also the path of a run file.
RunLike: TypeAlias = "Run | RunMapping | str | Path"


def as_qrels(qrels: Any) -> Qrels:
    """Return judgements as ``Qrels``.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, {query_id: [doc_id, …]} (each counts as
            grade 1), a dataframe, a ``Dataset``, or what ``read_qrels`` reads: the path of a file,
            or of a data-set folder for its split "test".

    Raises:
        QrelsError: the judgements are not usable.
        FileFormatError, OSError: a file cannot be read; see ``read_qrels``.
    """
    if isinstance(qrels, (str, Path)):
        from beir_eval.adapters.readers import read_qrels  # noqa: PLC0415 - dicts need no reader

        return read_qrels(qrels)
    dataset = _as_dataset(qrels)
    return Qrels.coerce(qrels) if dataset is None else dataset.qrels


def as_run(run: Any) -> Run:
    """Return a run as ``Run``.

    Args:
        run: ``Run``, {query_id: {doc_id: score}}, a dataframe, or the path of a run file.

    Raises:
        RunError: the run is not usable.
        FileFormatError, OSError: a file cannot be read; see ``read_run``.
    """
    if isinstance(run, (str, Path)):
        from beir_eval.adapters.readers import read_run  # noqa: PLC0415 - dicts need no reader

        return read_run(run)
    return Run.coerce(run)


def drops_identical_ids(qrels: object) -> bool:
    """Return whether the qrels are a ``Dataset`` whose convention drops identical ids."""
    dataset = _as_dataset(qrels)
    return dataset is not None and dataset.info is not None and dataset.info.drop_identical_ids


def _as_dataset(qrels: object) -> Dataset | None:
    """Return the qrels if they are a ``Dataset``; its module is not imported for anything else."""
    if type(qrels).__name__ != "Dataset":
        return None
    from beir_eval.datasets.dataset import Dataset  # noqa: PLC0415 - see above

    return qrels if isinstance(qrels, Dataset) else None
