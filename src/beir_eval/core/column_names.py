"""The usual names of columns and keys, the same ones in dataframes, JSON and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Lower case, with ``_`` for ``-`` and blanks.
QUERY_NAMES = ("query_id", "qid", "queryid", "q_id", "topic_id")
DOC_NAMES = ("doc_id", "docno", "docid", "corpus_id", "document_id", "pid", "passage_id")
SCORE_NAMES = ("score", "sim", "similarity")
GRADE_NAMES = ("grade", "relevance", "label", "rel", "score")


def matching(names: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return those of ``names`` that are usual ones, in any case.

    >>> matching(["Query-ID", "text"], QUERY_NAMES)
    ['Query-ID']
    """
    return [name for name in names if name.lower().replace("-", "_").replace(" ", "_") in usual]
