"""Conversion of Haystack's documents to rankings and judgements.

From documents to a ``Run``, for the component: ``RetrievedNames`` holds the names of the documents
of all queries. ``judgements_from_documents`` converts ground-truth documents. The names themselves
are those of ``integrations.retrieval.documents``, which the pipeline runner uses too.

The code reads the attributes of documents (``id``, ``content``, ``meta``, ``score``) and changes
none. It does not import Haystack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.core.run import Run
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import InputError
from beir_eval.integrations.retrieval.documents import (
    NOT_DOCUMENTS,
    check_documents,
    documents_error,
    is_sequence,
)

if TYPE_CHECKING:
    from beir_eval.integrations.retrieval.documents import DocumentNames, ReadNames

_Name = TypeVar("_Name")
#: How a corpus is written to a store, in messages.
INDEX_CALL = "index(dataset, store)"
#: How it is written through a pipeline, with a splitter or an embedder.
INDEX_PIPELINE = "index(dataset, indexing_pipeline)"
#: What to do if no document was retrieved.
EMPTY_STORE_HINT = (
    f"is the document store empty? {INDEX_CALL} writes a corpus to it. Or does the query not reach "
    "the retriever?"
)
#: The judgements of a query that counts as judged, without relevant documents.
NO_RELEVANT_DOCUMENT = {f"{NOT_AN_ID}nothing": 0.0}
_UNNAMED_PREFIX = f"{NOT_AN_ID}unnamed "
_UNNAMED_TRUTH_PREFIX = f"{NOT_AN_ID}unnamed judgement "


class Names(Protocol):
    """The method of ``DocumentNames`` that ``RetrievedNames`` calls."""

    def read(self, documents: Sequence[Any]) -> ReadNames:
        """Return the name of each document, and which documents are chunks of others."""
        ...


class RetrievedNames(Sequence[Sequence[str]]):
    """The names of the documents retrieved for each query: all of them, in their order.

    The documents of a query are read when its names are asked for first: if they are read and
    looked up query by query, each is in the processor's cache for the second step (20.8 instead of
    25.0 ms for 1,000 queries of 100 documents).

    Attributes:
        unnamed: the number of documents without a name among those read so far. They get names that
            match nothing.
        chunks: the number of those that count as another document.
        without_parent: the number of those that lack the field ``DocumentNames.collapse``.
    """

    def __init__(
        self, query_ids: Sequence[str], retrieved: Sequence[Sequence[Any]], names: Names
    ) -> None:
        """Check that there is a list for each query; the documents are not read yet.

        Args:
            query_ids: the ids of the queries. [Q]
            retrieved: the documents of each query, best first. [Q]
            names: returns the name of each document.

        Raises:
            InputError: an entry of ``retrieved`` is not a list.
        """
        for query_id, documents in zip(query_ids, retrieved, strict=True):
            check_documents(query_id, documents, "retrieved")
        self._query_ids, self._retrieved, self._names = query_ids, retrieved, names
        self._doc_ids: list[list[str] | None] = [None] * len(query_ids)
        self.unnamed = self.chunks = self.without_parent = 0

    def __getitem__(self, index: int) -> list[str]:  # type: ignore[override]  # no slices
        """Return the names of the documents of the query with this index.

        Raises:
            InputError: an object is not a document.
        """
        doc_ids = self._doc_ids[index]
        if doc_ids is None:
            documents = self._retrieved[index]
            try:
                read = self._names.read(documents)
            except NOT_DOCUMENTS as error:
                query_id = self._query_ids[index]
                raise documents_error(query_id, documents, "retrieved", error) from error
            names = read.names
            self.chunks += sum(read.is_chunk)
            self.without_parent += read.without_parent
            if not all(names):
                unnamed = [rank for rank, name in enumerate(names) if not name]
                for rank in unnamed:
                    names[rank] = f"{_UNNAMED_PREFIX}{index} {rank}"
                self.unnamed += len(unnamed)
            doc_ids = self._doc_ids[index] = cast("list[str]", names)
        return doc_ids

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._doc_ids)

    def run(self, *, scored: bool) -> Run:
        """Return the run of these documents.

        Args:
            scored: whether documents are ranked by ``Document.score`` instead of their order.

        Raises:
            InputError: an object is not a document, or a score is not a finite number.
        """
        scores = None
        if scored:
            flat_scores: list[float] = []
            for query_id, documents in zip(self._query_ids, self._retrieved, strict=True):
                try:
                    flat_scores += _ranking_scores(query_id, documents)
                except NOT_DOCUMENTS as error:
                    raise documents_error(query_id, documents, "retrieved", error) from error
            scores = np.array(flat_scores, dtype=np.float64)
        lengths = map(len, self._retrieved)
        return Run.from_source(source_from_lists(self._query_ids, self, scores, lengths))


def _ranking_scores(query_id: str, documents: Sequence[Any]) -> list[float]:
    """Return the scores of documents that are ranked by score; each must be a finite number."""
    scores = [document.score for document in documents]
    index = _first_not_finite(scores)
    if index is not None:
        msg = (
            f"order='score' needs a number as the score of every document, but for query "
            f"{query_id!r} document {documents[index].id!r} has {scores[index]!r}; rank by the "
            "order of the lists with order='given'"
        )
        raise InputError(msg)
    return list(map(float, scores))


def _first_not_finite(scores: Sequence[Any]) -> int | None:
    """Return the index of the first score that is not a finite number; None if all are."""
    if set(map(type, scores)) <= {float} and all(map(math.isfinite, scores)):
        return None
    is_invalid = (isinstance(score, bool) or not is_finite_number(score) for score in scores)
    return next((index for index, invalid in enumerate(is_invalid) if invalid), None)


class Judgements(NamedTuple):
    """Ground-truth documents as {query_id: {name: grade}}, with the number of those without a name.

    Attributes:
        grades: {query_id: {name: grade}}. Unnamed documents have names that match nothing.
        unnamed: {query_id: the number of documents without a name}, of queries that have some.
    """

    grades: dict[str, dict[str, float]]
    unnamed: dict[str, int]


def judgements_from_documents(
    query_ids: Sequence[str], truth: Sequence[Sequence[Any]], names: DocumentNames
) -> Judgements:
    """Return lists of ground-truth documents as judgements.

    The grade is ``Document.score``, or 1 if a list has no scores. A document listed twice gets the
    highest of its grades. A document without a name matches nothing, and each counts.

    Args:
        query_ids: the ids of the queries. [Q]
        truth: the ground-truth documents of each query. [Q]
        names: the fields that identify a document.

    Raises:
        InputError: an object is not a document, a score is not a finite number, or only some
            documents of a list have a score.
    """
    for query_id, documents in zip(query_ids, truth, strict=True):
        check_documents(query_id, documents, "ground-truth")
    all_names, have_scores = _read_truth(query_ids, truth, names)
    grades_of_query: dict[str, dict[str, float]] = {}
    unnamed: dict[str, int] = {}
    begin = 0
    for query_id, documents in zip(query_ids, truth, strict=True):
        document_names = all_names[begin : begin + len(documents)]
        begin += len(documents)
        if not all(document_names):
            numbers = [number for number, name in enumerate(document_names) if not name]
            for number in numbers:
                document_names[number] = f"{_UNNAMED_TRUTH_PREFIX}{number}"
            unnamed[query_id] = len(numbers)
        known = cast("list[str]", document_names)
        grades_of_query[query_id] = (
            highest_grades(known, grades_of(query_id, documents))
            if have_scores
            else dict.fromkeys(known, 1.0)
        )
    return Judgements(grades_of_query, unnamed)


def _read_truth(
    query_ids: Sequence[str], truth: Sequence[Sequence[Any]], names: DocumentNames
) -> tuple[list[str | None], bool]:
    """Return the name of each ground-truth document, and whether some document has a score.

    All are read at once: a call for each query takes as long as reading its few documents.

    Raises:
        InputError: an object is not a document.
    """

    def read(documents: Sequence[Any]) -> tuple[list[str | None], bool]:
        return names.names_of(documents), any(doc.score is not None for doc in documents)

    try:
        return read(list(chain.from_iterable(truth)))
    except NOT_DOCUMENTS:
        for query_id, documents in zip(query_ids, truth, strict=True):
            try:
                read(documents)
            except NOT_DOCUMENTS as error:
                raise documents_error(query_id, documents, "ground-truth", error) from error
        raise


def highest_grades(names: Sequence[_Name], grades: Sequence[float]) -> dict[_Name, float]:
    """Return the highest grade of each name.

    Args:
        names: names, some of them perhaps more than once. [N]
        grades: the grade of each. [N]
    """
    grade_of = dict(zip(names, grades, strict=True))
    if len(grade_of) < len(names):
        grade_of = {}
        for name, grade in zip(names, grades, strict=True):
            if name not in grade_of or grade > grade_of[name]:
                grade_of[name] = grade
    return grade_of


def grades_of(query_id: str, documents: Sequence[Any]) -> list[float]:
    """Return the grade of each ground-truth document of one query.

    Raises:
        InputError: a score is not a finite number, or only some documents have a score.
    """
    scores = [document.score for document in documents]
    if scores.count(None) == len(scores):
        return [1.0] * len(scores)
    if None in scores:
        msg = (
            f"query {query_id!r}: either all or none of its ground-truth documents must have a "
            "score, which is their grade"
        )
        raise InputError(msg)
    index = _first_not_finite(scores)
    if index is not None:
        msg = (
            f"the score of ground-truth document {documents[index].id!r} for query {query_id!r} is "
            f"{scores[index]!r}; it is the grade, and must be a finite number"
        )
        raise InputError(msg)
    return list(map(float, scores))


def check_lists(label: str, lists: Any) -> None:
    """Check that ``lists`` is a list and not empty; ``label`` is its name in error messages.

    Raises:
        InputError: it is something else.
    """
    if not is_sequence(lists):
        msg = f"{label} must be a list of lists of Documents, not {type(lists).__name__}"
        raise InputError(msg)
    if not lists:
        msg = f"{label} is empty: there is no query to evaluate"
        raise InputError(msg)
    if hasattr(lists[0], "meta"):
        msg = (
            f"{label} must be a list of lists of Documents, one list for each query, but it is a "
            "list of Documents; for one query pass [documents]"
        )
        raise InputError(msg)
