"""The usual names of columns and keys that dataframes, JSON files and votes are read by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The names of columns in our own tables.
QUERY, DOC, SCORE, GRADE = "query_id", "doc_id", "score", "grade"
#: All names are in lower case, with ``_`` instead of ``-`` and blanks (see ``matching_names``).
QUERY_NAMES = ("query_id", "qid", "queryid", "q_id", "topic_id")
DOC_NAMES = ("doc_id", "docno", "docid", "corpus_id", "document_id", "pid", "passage_id")
SCORE_NAMES = ("score", "sim", "similarity")
GRADE_NAMES = ("grade", "relevance", "label", "rel", "score")


def matching_names(names: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return those ``names`` that are in ``usual``; case is ignored, ``-`` and blanks mean ``_``.

    >>> matching_names(["Query-ID", "text"], QUERY_NAMES)
    ['Query-ID']
    """
    return [name for name in names if name.lower().replace("-", "_").replace(" ", "_") in usual]
