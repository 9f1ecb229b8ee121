"""BEIR's data-set folders: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_GRADE_HEADERS = frozenset({"score", "grade", "label", "rel", "relevance", "relevance_score"})


def find_qrels(folder: Path, split: str) -> Path:
    """Return the qrels file of one split of a data-set folder.

    Raises:
        FileFormatError: the folder has no such split, or no qrels; the message lists its splits.
    """
    for ending in (".tsv", ".tsv.gz"):
        candidate = folder / "qrels" / f"{split}{ending}"
        if candidate.is_file():
            return candidate
    found = sorted(file.name.partition(".tsv")[0] for file in (folder / "qrels").glob("*.tsv*"))
    if found:
        problem = f"no qrels/{split}.tsv in this folder; it has the splits {', '.join(found)}"
    else:
        problem = (
            f"no qrels in this folder; a BEIR data set has qrels/{split}.tsv beside corpus.jsonl "
            "and queries.jsonl"
        )
    raise FileFormatError(folder, problem)


def header_of_qrels(fields: Sequence[str]) -> bool:
    """Return whether the first row of a BEIR qrels file names its columns.

    Some files have no such row, and skipping it blindly loses a judgement.
    """
    return fields[-1].strip().lower() in _GRADE_HEADERS
