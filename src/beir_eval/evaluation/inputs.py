"""Judgements, runs and results in every form in which callers pass them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from beir_eval.core.files import as_path
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import FileFormatError, SettingError, shown
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.qrels import QrelsMapping
    from beir_eval.core.run import RunMapping
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.records import Conventions

#: What functions take as judgements: also the path of a file or of a data-set folder.
QrelsLike: TypeAlias = "Qrels | QrelsMapping | Dataset | JudgedFolder | str | Path"
#: What functions take as documents to leave out of a query's ranking: also the path of a file.
ExcludeLike: TypeAlias = "Mapping[Any, Iterable[Any]] | str | Path"
#: What functions take as a run: also the path of a run file.
RunLike: TypeAlias = "Run | RunMapping | str | Path"


@dataclass(frozen=True, slots=True, eq=False)
class JudgedFolder:
    """Judgements that were read from a file or folder, with BEIR's conventions for it.

    The command line passes it, whose options state the split and the format. In Python a path does.

    Attributes:
        qrels: the judgements.
        conventions: those of a folder that is named as a data set of BEIR; None for all else.
    """

    qrels: Qrels
    conventions: Conventions | None

    @classmethod
    def read(
        cls,
        path: Path,
        split: str | None = None,
        format: str | None = None,  # noqa: A002 - as read_qrels names it
        columns: Mapping[str, str] | StatedColumns | None = None,
    ) -> JudgedFolder:
        """Return the judgements of a file or folder.

        Args:
            path: the file or folder.
            split: the split of a folder; None: the official one of a data set of BEIR, or "test".
            format: the name of the format; None detects it.
            columns: the names of columns, as for ``read_qrels``.

        Raises:
            QrelsError, FileFormatError, SettingError, OSError: see ``read_qrels``.
        """
        from beir_eval.adapters.exclusions import with_listed_exclusions  # noqa: PLC0415 - as below
        from beir_eval.adapters.readers import read_qrels  # noqa: PLC0415 - dicts need no reader

        file, conventions = find_judgements(path, split)
        qrels = read_qrels(file, format=format, columns=columns)
        return cls(qrels if file is path else with_listed_exclusions(qrels, path), conventions)


def find_judgements(path: Path, split: str | None = None) -> tuple[Path, Conventions | None]:
    """Return the qrels file at a path, and BEIR's conventions if it is the folder of its data set.

    Args:
        path: a file, or a data-set folder.
        split: the split of a folder; None: the official one of a data set of BEIR, or "test".

    Raises:
        FileFormatError: the folder lacks the split, or has its judgements in several files.
        SettingError: ``split`` for a file, or it is no name.
    """
    if not path.is_dir():
        if split is not None:
            msg = f"split={shown(split)} belongs to a data-set folder, but {path} is a file"
            raise SettingError(msg)
        return path, None
    from beir_eval.adapters.dataset_folder import dataset_name, find_qrels_file  # noqa: PLC0415
    from beir_eval.datasets.catalogue import split_or_default  # noqa: PLC0415

    conventions = _conventions_for(dataset_name(path), split)
    try:
        file = find_qrels_file(path, split_or_default(dataset_name(path), split))
    except FileFormatError as error:
        if conventions is None or conventions.split is None:
            raise
        problem = (
            f"{error.problem}. {conventions.split} is BEIR's official one for "
            f"{conventions.dataset}; --split or read_qrels(folder, split=...) chooses another"
        )
        raise FileFormatError(path, problem) from error
    return file, conventions


def _conventions_for(name: str, split: str | None) -> Conventions | None:
    """Return BEIR's conventions for the folder of a data set; None if it is not BEIR's.

    Args:
        name: the name of the folder.
        split: the split that was stated, if any.
    """
    from beir_eval.datasets.catalogue import find_info  # noqa: PLC0415 - few evaluate a folder
    from beir_eval.evaluation.records import Conventions  # noqa: PLC0415

    info = find_info(name)
    if info is None:
        return None
    is_said = split is None and info.split != "test"
    return Conventions(
        dataset=info.name,
        split=info.split if is_said else None,
        drops_identical_ids=info.drop_identical_ids,
    )


def conventions_of(qrels: object) -> Conventions | None:
    """Return BEIR's conventions for judgements; None without conventions of its own.

    Args:
        qrels: judgements as for ``as_qrels``; of a path only the name is looked at.
    """
    if isinstance(qrels, JudgedFolder):
        return qrels.conventions
    if isinstance(qrels, (str, Path)):
        from beir_eval.adapters.dataset_folder import dataset_name  # noqa: PLC0415

        path = as_path(qrels)
        return _conventions_for(dataset_name(path), None) if path.is_dir() else None
    dataset = _as_dataset(qrels)
    if dataset is None or dataset.info is None:
        return None
    return _conventions_for(dataset.info.name, dataset.split)


def followed(conventions: Conventions, stated: bool | None) -> Conventions | None:  # noqa: FBT001 - three values
    """Return the conventions that an evaluation follows; None if it follows none.

    Args:
        conventions: BEIR's conventions for the judgements.
        stated: the argument ``drop_identical_ids``; None: the convention decides.
    """
    drops = conventions.drops_identical_ids and stated is None
    if not drops and conventions.split is None:
        return None
    return conventions.model_copy(update={"drops_identical_ids": drops})


def as_qrels(qrels: Any) -> Qrels:
    """Return judgements as ``Qrels``.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, {query_id: [doc_id, …]} (each counts as
            grade 1), a dataframe, a ``Dataset``, or what ``read_qrels`` reads: the path of a file,
            or of a data-set folder for its split "test", or for the official one if it is named as
            a data set of BEIR.

    Raises:
        QrelsError: the judgements are not usable.
        FileFormatError, OSError: a file cannot be read; see ``read_qrels``.
    """
    if isinstance(qrels, JudgedFolder):
        return qrels.qrels
    if isinstance(qrels, (str, Path)):
        return JudgedFolder.read(as_path(qrels)).qrels
    dataset = _as_dataset(qrels)
    return Qrels.coerce(qrels) if dataset is None else dataset.qrels


def excluding(qrels: Qrels, exclude: ExcludeLike | None) -> Qrels:
    """Return judgements with the documents of an argument ``exclude``; None changes nothing.

    Raises:
        QrelsError: see ``Qrels.excluding``.
        FileFormatError, OSError: a file cannot be read; see ``read_exclusions``.
    """
    if exclude is None:
        return qrels
    if isinstance(exclude, (str, Path)):
        from beir_eval.adapters.exclusions import read_exclusions  # noqa: PLC0415 - few exclude

        exclude = read_exclusions(exclude)
    return qrels.excluding(exclude)


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


def as_result(value: Any) -> Any:
    """Return the result behind a path; any other value as it is.

    A text that is not a path is returned too: it may be the name of a system.

    Raises:
        ResultError, FileFormatError, OSError: as ``EvaluationResult.load``.
    """
    if isinstance(value, Path) or (isinstance(value, str) and _exists(value)):
        return EvaluationResult.load(value)
    return value


def _exists(text: str) -> bool:
    """Return whether a text is the path of something."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def drops_identical_ids(qrels: object) -> bool:
    """Return whether BEIR's convention for a ``Dataset`` or a folder drops identical ids."""
    conventions = conventions_of(qrels)
    return conventions is not None and conventions.drops_identical_ids


def _as_dataset(qrels: object) -> Dataset | None:
    """Return the qrels if they are a ``Dataset``; its module is not imported for anything else."""
    if type(qrels).__name__ != "Dataset":
        return None
    from beir_eval.datasets.dataset import Dataset  # noqa: PLC0415 - see above

    return qrels if isinstance(qrels, Dataset) else None
