"""Where the files of a data set are: BEIR's folders, and Hugging Face's as they lie on a disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS
from beir_eval.core.files import plain_name
from beir_eval.errors import FileFormatError, SettingError

if TYPE_CHECKING:
    from pathlib import Path

_LINES = (".jsonl", ".jsonl.gz")
#: Judgements of a split, in the order of preference: what BEIR and Hugging Face publish, then any.
_JUDGEMENTS = tuple(dict.fromkeys([".tsv", ".tsv.gz", *_LINES, ".parquet", *QRELS_FORMATS.endings]))
#: Folders in which Hugging Face's data sets keep judgements.
_QRELS_FOLDERS = ("qrels", "default", "data")


class DatasetFiles(NamedTuple):
    """The files of a data set; several where a table is cut into parts."""

    corpus: tuple[Path, ...]
    queries: tuple[Path, ...]
    qrels: tuple[Path, ...]


def is_dataset(folder: Path) -> bool:
    """Return whether a folder holds a corpus, so that it is one data set and not several."""
    return bool(_tables(folder, "corpus", None))


def missing_texts(folder: Path) -> list[str]:
    """Return what a folder with judgements lacks of a whole data set: corpus, queries."""
    return [name for name in ("corpus", "queries") if not _tables(folder, name, None)]


def find_dataset_files(folder: Path, split: str) -> DatasetFiles:
    """Return the files of one split of a data-set folder.

    Raises:
        FileFormatError: no corpus, no queries, or no such split; the message lists its splits.
    """
    corpus, queries = _tables(folder, "corpus", split), _tables(folder, "queries", split)
    for name, found in (("corpus", corpus), ("queries", queries)):
        if not found:
            problem = (
                f"no {name} in this folder; expected {name}.jsonl, {name}.jsonl.gz or "
                f"{name}/*.parquet beside qrels/{split}.tsv"
            )
            raise FileFormatError(folder, problem)
    return DatasetFiles(corpus, queries, find_judgements(folder, split))


def find_qrels(folder: Path, split: str) -> Path:
    """Return the one qrels file of a split of a data-set folder.

    Raises:
        FileFormatError: as ``find_judgements``; also where the judgements are cut into parts.
    """
    found = find_judgements(folder, split)
    if len(found) > 1:
        problem = f"the judgements are cut into {len(found)} files; read them with load_dataset"
        raise FileFormatError(folder, problem)
    return found[0]


def find_judgements(folder: Path, split: str) -> tuple[Path, ...]:
    """Return the qrels files of one split: in the folder, or in ``<folder>-qrels`` beside it.

    Raises:
        FileFormatError: the folder has no such split, or no qrels; the message lists its splits.
    """
    beside = folder.absolute().parent / f"{name_of(folder)}-qrels"
    folders = [*(folder / name for name in _QRELS_FOLDERS), beside, beside / "data"]
    _check_split(split)
    for place in folders:
        for ending in _JUDGEMENTS:
            candidate = place / f"{split}{ending}"
            if candidate.is_file():
                return (candidate,)
        parts = [file for file in sorted(place.glob("*.parquet")) if _is_part(file, split)]
        if parts:
            return tuple(parts)
    splits = sorted({name for place in folders for name in _splits(place)})
    if splits:
        problem = f"no qrels/{split}.tsv in this folder; it has the splits {', '.join(splits)}"
    else:
        problem = (
            f"no qrels in this folder; a BEIR data set has qrels/{split}.tsv beside corpus.jsonl "
            "and queries.jsonl"
        )
    raise FileFormatError(folder, problem)


def _splits(folder: Path) -> list[str]:
    files = [file.name for file in folder.glob("*") if file.name.endswith(_JUDGEMENTS)]
    return [name.partition(".")[0].partition("-0")[0] for name in files]


def _tables(folder: Path, name: str, split: str | None) -> tuple[Path, ...]:
    """Return the file of the corpus or of the queries, or the parts of its table."""
    for ending in _LINES:
        candidate = folder / f"{name}{ending}"
        if candidate.is_file():
            return (candidate,)
    parts = sorted((folder / name).glob("*.parquet"))
    # Data sets whose splits are whole data sets (NanoBEIR) name a table after the split.
    own = [part for part in parts if split and _is_part(part, split)]
    return tuple(own or parts)


def name_of(folder: Path) -> str:
    """Return the name by which a folder was reached: that of a link, not of what it leads to."""
    return folder.resolve().name if folder.name in ("", "..") else folder.name


def is_run_file(file: Path) -> bool:
    """Return whether a file's name ends as those of runs do."""
    name = plain_name(file)
    return name.endswith(RUN_FORMATS.endings) or "." not in name


def is_qrels_file(file: Path) -> bool:
    """Return whether a file's name ends as those of judgements do."""
    return plain_name(file).endswith(QRELS_FORMATS.endings)


def _is_part(file: Path, split: str) -> bool:
    """Return whether a table's file belongs to a split: ``test.parquet``, ``test-00000-of-…``."""
    return bool(re.fullmatch(rf"{re.escape(split)}(-\d+(-of-\d+)?)?\.parquet", file.name))


def _check_split(split: str) -> None:
    if not re.fullmatch(r"\w[\w.-]*", str(split)):
        msg = f"a split is a name such as 'test', not {split!r}"
        raise SettingError(msg)
