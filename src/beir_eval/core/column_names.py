"""The usual names of columns and keys that dataframes, JSON files and votes are read by."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: All names are in lower case, with ``_`` instead of ``-`` and blanks (see ``matching_names``).
QUERY_NAMES = ("query_id", "qid", "queryid", "q_id", "topic_id")
DOC_NAMES = ("doc_id", "docno", "docid", "corpus_id", "document_id", "pid", "passage_id")
SCORE_NAMES = ("score", "sim", "similarity")
GRADE_NAMES = ("grade", "relevance", "label", "rel", "score")

#: {role: the names by which its column is recognised}.
USUAL_NAMES: Mapping[str, Sequence[str]] = {
    "query_id": QUERY_NAMES,
    "doc_id": DOC_NAMES,
    "score": SCORE_NAMES,
    "grade": GRADE_NAMES,
}
#: {role: names of its column in tables that have none of the usual names}. They are less specific,
#: or those of few tools, such as "query" of trectools and "_id" of Elasticsearch.
OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "query_id": ("query", "topic", "topicid", "query_no", "query_number", "topic_no", "qno"),
    "doc_id": (
        "doc",
        "document",
        "documentid",
        "doc_no",
        "passage",
        "passageid",
        "corpusid",
        "_id",
    ),
    "score": ("_score", "relevance_score", "similarity_score", "sim_score", "retrieval_score"),
    "grade": (
        "relevance_score",
        "relevance_label",
        "relevance_grade",
        "relevancy",
        "judgment",
        "judgement",
        "rating",
        "qrel",
    ),
}
#: What PyTerrier calls its columns of queries, row numbers of documents, and document ids.
_PYTERRIER_QUERY, _PYTERRIER_ROW, _PYTERRIER_DOC = "qid", "docid", "docno"


def matching_names(names: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return those ``names`` that are in ``usual``; case is ignored, ``-`` and blanks mean ``_``.

    >>> matching_names(["Query-ID", "text"], QUERY_NAMES)
    ['Query-ID']
    """
    return [name for name in names if _usual_form(name) in usual]


def columns_of_role(names: Iterable[str], role: str) -> list[str]:
    """Return those ``names`` of the columns of a table that may be the column of a role.

    These are the usual names of the role, or if there are none, the other names. In the tables of
    PyTerrier, which have the columns qid, docid and docno, docno is the document id, and docid a
    row number of the index.

    Args:
        names: the names of all columns.
        role: a key of ``USUAL_NAMES``.

    >>> columns_of_role(["qid", "docid", "docno", "score"], "doc_id")
    ['docno']
    >>> columns_of_role(["qid", "docid", "score"], "doc_id")
    ['docid']
    """
    available = list(names)
    matches = matching_names(available, USUAL_NAMES[role]) or matching_names(
        available, OTHER_NAMES[role]
    )
    forms = set(map(_usual_form, available))
    if {_PYTERRIER_QUERY, _PYTERRIER_ROW, _PYTERRIER_DOC} <= forms:
        return [name for name in matches if _usual_form(name) != _PYTERRIER_ROW]
    return matches


def _usual_form(name: str) -> str:
    """Return a name in the form in which the usual names are written."""
    return name.lower().replace("-", "_").replace(" ", "_")
