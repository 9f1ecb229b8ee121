"""Where the files of a data set are: BEIR's folders, and Hugging Face's as they lie on a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_GRADE_HEADERS = frozenset({"score", "grade", "label", "rel", "relevance", "relevance_score"})
_LINES = (".jsonl", ".jsonl.gz")
_JUDGEMENTS = (".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".trec", ".qrels")
#: Folders in which Hugging Face's data sets keep judgements.
_QRELS_FOLDERS = ("qrels", "default", "data")


class Layout(NamedTuple):
    """The files of a data set; several where a table is cut into parts."""

    corpus: tuple[Path, ...]
    queries: tuple[Path, ...]
    qrels: tuple[Path, ...]


def is_dataset(folder: Path) -> bool:
    """Return whether a folder holds a corpus, so that it is one data set and not several."""
    return bool(_tables(folder, "corpus", None))


def find_layout(folder: Path, split: str) -> Layout:
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
    return Layout(corpus, queries, find_judgements(folder, split))


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
    whole = folder.resolve()  # "." has no name
    beside = whole.parent / f"{whole.name}-qrels"
    folders = [*(folder / name for name in _QRELS_FOLDERS), beside, beside / "data"]
    for place in folders:
        for ending in _JUDGEMENTS:
            candidate = place / f"{split}{ending}"
            if candidate.is_file():
                return (candidate,)
        parts = sorted(place.glob(f"{split}-*.parquet"))
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
    own = [part for part in parts if split and part.name.startswith((f"{split}-", f"{split}."))]
    return tuple(own or parts)


def header_of_qrels(fields: Sequence[str]) -> bool:
    """Return whether the first row of a BEIR qrels file names its columns.

    Some files have no such row, and skipping it blindly loses a judgement.
    """
    return fields[-1].strip().lower() in _GRADE_HEADERS
