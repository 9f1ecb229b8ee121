"""Corpus, queries and qrels files of a data-set folder.

A folder has BEIR's layout, or that of a data set downloaded from Hugging Face.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS
from beir_eval.core.files import name_as_text, plain_name
from beir_eval.errors import FileFormatError, SettingError, shown

if TYPE_CHECKING:
    from pathlib import Path

_JSONL_ENDINGS = (".jsonl", ".jsonl.gz")
#: The ending of the journal beside a saved run: the answers so far, to resume from.
JOURNAL_ENDING = ".progress.jsonl"
#: Endings of qrels files in the order of preference: those of BEIR and Hugging Face come first.
_QRELS_ENDINGS = tuple(
    dict.fromkeys([".tsv", ".tsv.gz", *_JSONL_ENDINGS, ".parquet", *QRELS_FORMATS.endings, ".csv"])
)
#: The fields that may hold the id of a document or query; the first match is used.
ID_NAMES = ("_id", "id", "doc_id", "docid", "corpus-id", "query-id", "query_id")
#: Folders of qrels in a data set: BEIR's, then those of Hugging Face.
_QRELS_FOLDERS = ("qrels", "default", "data")


class DatasetFiles(NamedTuple):
    """The files of one split of a data set.

    Attributes:
        corpus, queries, qrels: the file, or the files of a table that is split into parts.
    """

    corpus: tuple[Path, ...]
    queries: tuple[Path, ...]
    qrels: tuple[Path, ...]


def is_dataset(folder: Path) -> bool:
    """Return whether a folder is a data set: whether it contains a corpus."""
    return bool(table_files(folder, "corpus"))


def missing_tables(folder: Path) -> list[str]:
    """Return which of "corpus" and "queries" a folder with judgements lacks."""
    return [name for name in ("corpus", "queries") if not table_files(folder, name)]


def find_dataset_files(folder: Path, split: str) -> DatasetFiles:
    """Return the files of one split of a data-set folder.

    Args:
        folder: the data set.
        split: the name of the split, such as "test".

    Raises:
        FileFormatError: the folder has no corpus, no queries or no such split; the message lists
            the splits it has.
        SettingError: ``split`` is not a name.
    """
    corpus, queries = table_files(folder, "corpus", split), table_files(folder, "queries", split)
    for name, files in (("corpus", corpus), ("queries", queries)):
        if not files:
            problem = (
                f"no {name} in this folder; expected {name}.jsonl, {name}.jsonl.gz or "
                f"{name}/*.parquet beside qrels/{split}.tsv"
            )
            raise FileFormatError(folder, problem)
    return DatasetFiles(corpus, queries, find_qrels_files(folder, split))


def find_qrels_file(folder: Path, split: str) -> Path:
    """Return the single qrels file of one split of a data-set folder.

    Args:
        folder: the data set.
        split: the name of the split, such as "test".

    Raises:
        FileFormatError: the folder has no qrels or no such split, or its qrels are split into
            several files.
        SettingError: ``split`` is not a name.
    """
    files = find_qrels_files(folder, split)
    if len(files) > 1:
        problem = f"the judgements are cut into {len(files)} files; read them with load_dataset"
        raise FileFormatError(folder, problem)
    return files[0]


def find_qrels_files(folder: Path, split: str) -> tuple[Path, ...]:
    """Return the qrels files of one split: in the folder, or in ``<folder>-qrels`` beside it.

    Args:
        folder: the data set.
        split: the name of the split, such as "test".

    Returns:
        One file, or the parts of a Parquet table.

    Raises:
        FileFormatError: the folder has no qrels or no such split; the message lists the splits it
            has.
        SettingError: ``split`` is not a name.
    """
    folders = _qrels_folders(folder)
    _check_split(split)
    for qrels_folder in folders:
        for ending in _QRELS_ENDINGS:
            candidate = qrels_folder / f"{split}{ending}"
            if candidate.is_file():
                return (candidate,)
        parts = [file for file in sorted(qrels_folder.glob("*.parquet")) if _is_part(file, split)]
        if parts:
            return tuple(parts)
    splits = split_names(folder)
    if splits:
        problem = f"no qrels/{split}.tsv in this folder; it has the splits {', '.join(splits)}"
    else:
        problem = (
            f"no qrels in this folder; a BEIR data set has qrels/{split}.tsv beside corpus.jsonl "
            "and queries.jsonl"
        )
    raise FileFormatError(folder, problem)


def split_names(folder: Path) -> list[str]:
    """Return the names of all splits of a data set, sorted."""
    return sorted({name for inside in _qrels_folders(folder) for name in _split_names(inside)})


def _qrels_folders(folder: Path) -> list[Path]:
    """Return the folders that may hold the qrels of a data set, the usual ones first."""
    sibling = folder.absolute().parent / f"{dataset_name(folder)}-qrels"
    return [*(folder / name for name in _QRELS_FOLDERS), sibling, sibling / "data"]


def _split_names(folder: Path) -> list[str]:
    """Return the split of each qrels file: its name up to the first dot, without "-00000-of-…"."""
    files = [file.name for file in folder.glob("*") if file.name.endswith(_QRELS_ENDINGS)]
    return [name.partition(".")[0].partition("-0")[0] for name in files]


def table_files(folder: Path, name: str, split: str | None = None) -> tuple[Path, ...]:
    """Return the files of the corpus or of the queries; none if there is no such file.

    Args:
        folder: the data set.
        name: "corpus" or "queries".
        split: prefer the Parquet files of this split, if there are any.
    """
    for ending in _JSONL_ENDINGS:
        candidate = folder / f"{name}{ending}"
        if candidate.is_file():
            return (candidate,)
    parts = sorted((folder / name).glob("*.parquet"))
    # In some data sets each split has its own corpus (NanoBEIR), in a file named after the split.
    split_parts = [part for part in parts if split and _is_part(part, split)]
    return tuple(split_parts or parts)


def dataset_name(folder: Path) -> str:
    """Return a folder's name as it was given: for a link its own name, not that of its target."""
    return name_as_text(folder.resolve().name if folder.name in ("", "..") else folder.name)


def is_run_file(file: Path) -> bool:
    """Return whether a file's name has an ending of run files, or no ending at all.

    The journal of a saved run is no run file.
    """
    name = plain_name(file)
    has_ending = name.endswith(RUN_FORMATS.endings) and not name.endswith(JOURNAL_ENDING)
    return has_ending or "." not in name


def is_qrels_file(file: Path) -> bool:
    """Return whether a file's name has an ending of qrels files."""
    return plain_name(file).endswith(QRELS_FORMATS.endings)


def _is_part(file: Path, split: str) -> bool:
    """Return whether a file belongs to a split: ``test.parquet``, ``test-00000-of-….parquet``."""
    return bool(re.fullmatch(rf"{re.escape(split)}(-\d+(-of-\d+)?)?\.parquet", file.name))


def _check_split(split: object) -> None:
    """Raise SettingError unless ``split`` can be the name of a file."""
    if not (isinstance(split, str) and re.fullmatch(r"\w[\w.-]*", split)):
        msg = f"a split is a name such as 'test', not {shown(split)}"
        raise SettingError(msg)
