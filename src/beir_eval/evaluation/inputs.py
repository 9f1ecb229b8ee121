"""Judgements, runs and results in every form in which callers pass them, also in the wrong order.

They become ``Qrels`` and ``Run``. If they are swapped, grades look like scores and scores like
grades: the grades are examined once per qrels, and the scores are read only if the grades look like
scores, so that this costs next to nothing for usual qrels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from beir_eval.core.files import as_path
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import FileFormatError, RunError, SettingError, shown
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.suspicions.suspicion import Suspicion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.core.arrays import Floats
    from beir_eval.core.column_names import StatedColumns
    from beir_eval.core.qrels import QrelsMapping
    from beir_eval.core.run import RunMapping
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.records import Conventions

#: What functions take as judgements: also the path of a file or of a data-set folder.
QrelsLike: TypeAlias = "Qrels | QrelsMapping | Dataset | JudgedFolder | str | Path"
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
        from beir_eval.adapters.readers import read_qrels  # noqa: PLC0415 - dicts need no reader

        file, conventions = find_judgements(path, split)
        return cls(read_qrels(file, format=format, columns=columns), conventions)


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


def followed(conventions: Conventions | None, stated: bool | None) -> Conventions | None:  # noqa: FBT001 - three values
    """Return the conventions that an evaluation follows; None if it follows none.

    Args:
        conventions: BEIR's conventions for the judgements.
        stated: the argument ``drop_identical_ids``; None: the convention decides.
    """
    if conventions is None:
        return None
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


#: The usual range of grades: trec_eval's negative grades, and scales up to 10.
_LOWEST_GRADE, _HIGHEST_GRADE = -2, 10
_HIGHEST_PERCENTAGE = 100
#: Scales of fractional grades, such as means of votes, have at most this many different numbers.
_MOST_LEVELS = 25
#: A run whose scores have at most this many different numbers may be qrels.
_MOST_GRADES = 5
#: The share of a query's numbers that are different: scores rarely repeat, grades always do.
_DIFFERENT_SHARE = 0.9
#: Scores of at least so many documents per query show that, over a range wider than usual grades.
_LEAST_DOCUMENTS, _USUAL_RANGE = 4, 3
#: How many scores per query there are for each grade, at least: more if the grades do not repeat.
_TIMES_MORE, _TIMES_MORE_WITHOUT_TIES = 0.5, 2
#: Fewer queries show nothing.
_LEAST_QUERIES = 6
#: How many numbers, queries and rankings are examined.
_MOST_NUMBERS, _MOST_QUERIES, _MOST_RANKINGS = 10_000, 100, 1_000


def grades_look_like_scores(qrels: Qrels) -> bool:
    """Return whether the grades may be the scores of a run.

    They are if they are fractions, or beyond usual grades, with more than 25 different numbers; or
    if there are four or more per query, over a wider range than 0 to 3, that rarely repeat within a
    query, as ranks do. Whole numbers from 0 to 100 must also be listed in order, as most runs are:
    they may be percentages of a judge. Fewer than six queries show nothing.

    Args:
        qrels: the judgements.
    """
    if len(qrels) < _LEAST_QUERIES:
        return False
    if not (_are_many_levels(qrels) or _rarely_repeat(qrels)):
        return False
    return not _may_be_percentages(qrels.grades) or _are_in_order(qrels)


def _may_be_percentages(numbers: Floats) -> bool:
    """Return whether all numbers are whole and from 0 to 100."""
    is_within = numbers.min() >= 0 and numbers.max() <= _HIGHEST_PERCENTAGE
    return bool(is_within and (numbers == np.floor(numbers)).all())


def _are_in_order(qrels: Qrels) -> bool:
    """Return whether the numbers of most queries ascend or descend, in the order of the file."""
    starts = qrels.starts[: min(len(qrels), _MOST_QUERIES) + 1].tolist()
    steps = [np.diff(qrels.grades[slice(*ends)]) for ends in pairwise(starts)]
    num_in_order = sum(bool((step <= 0).all() or (step >= 0).all()) for step in steps)
    return num_in_order >= _DIFFERENT_SHARE * len(steps)


def _are_many_levels(qrels: Qrels) -> bool:
    """Return whether the numbers are no grades, with more different ones than a scale has."""
    return (
        _are_no_grades(qrels.grades) and len(np.unique(qrels.grades[:_MOST_NUMBERS])) > _MOST_LEVELS
    )


def _are_no_grades(numbers: Floats) -> bool:
    """Return whether a number is a fraction or beyond the usual grades."""
    is_beyond = numbers.min() < _LOWEST_GRADE or numbers.max() > _HIGHEST_GRADE
    return bool(is_beyond or (numbers != np.floor(numbers)).any())


def _rarely_repeat(qrels: Qrels) -> bool:
    """Return whether there are several numbers per query, of a wide range, that rarely repeat."""
    lowest = qrels.grades.min()
    is_wide = qrels.max_grade - lowest > _USUAL_RANGE
    # From -2 to -1 the lowest grade is that of spam.
    if lowest < 0 and not _are_no_grades(qrels.grades):
        return False
    if not is_wide or len(qrels.grades) < _LEAST_DOCUMENTS * len(qrels):
        return False
    num_queries = min(len(qrels), _MOST_QUERIES)
    starts = qrels.starts[: num_queries + 1].tolist()
    num_different = sum(len(np.unique(qrels.grades[slice(*ends)])) for ends in pairwise(starts))
    return bool(num_different >= _DIFFERENT_SHARE * starts[-1])


def scores_look_like_grades(run: Run, qrels: Qrels) -> bool:
    """Return whether the scores of a run are grades: few different, small, whole numbers.

    If those of the qrels may be grades too, these must also repeat within rankings, and have at
    most twice as many entries per query, or have at most half as many.

    Args:
        run: the run; at most 1,000 rankings are read.
        qrels: judgements whose grades look like scores.
    """
    try:
        rankings = [scores for _, _, scores in islice(run.rankings(), _MOST_RANKINGS)]
    except RunError:  # of a query that is not evaluated
        return False
    known = [scores for scores in rankings if scores is not None]
    if len(known) < len(rankings) or not known:
        return False
    scores = np.concatenate(known)
    if not len(scores) or _are_no_grades(scores) or len(np.unique(scores)) > _MOST_GRADES:
        return False
    num_different = sum(len(np.unique(ranking)) for ranking in known)
    do_repeat = num_different < _DIFFERENT_SHARE * len(scores)
    least = _TIMES_MORE if do_repeat else _TIMES_MORE_WITHOUT_TIES
    times_more = len(qrels.grades) / len(qrels) / (len(scores) / len(rankings))
    return _are_many_levels(qrels) or times_more >= least


def swapped_inputs(qrels: Qrels) -> Suspicion:
    """Return the suspicion that the arguments are swapped.

    Args:
        qrels: what was passed as the qrels.
    """
    lowest, highest = float(qrels.grades.min()), float(qrels.grades.max())
    return Suspicion(
        code="swapped-files",
        fact=(
            f"the qrels look like a run (grades from {lowest:.6g} to {highest:.6g}), and the run "
            "looks like qrels (few different scores, small whole numbers)"
        ),
        count=1,
    )
