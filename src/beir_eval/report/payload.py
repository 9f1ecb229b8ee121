"""The data that the report's scripts read: scores and rankings as JSON, trimmed to a size in bytes.

Each function that leaves out queries, rankings, scores or texts of documents says so in a notice.
Texts of queries are cut without a notice; " …" marks the cut.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.report.dataset_views import excerpt
from beir_eval.report.page import size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from beir_eval.report.dataset_views import DatasetView, Texts

#: The most bytes that the ids and texts of queries, and the scores, take in all views together.
MOST_QUERY_BYTES = 800_000
MOST_SCORE_BYTES = 2_000_000
#: More queries than this would make the table slow.
MOST_QUERIES = 20_000
#: Characters of a query's text, longest first.
_QUERY_LENGTHS = (240, 120, 60, 0)
#: The bytes that a score takes as JSON.
_SCORE_BYTES = 19


def data_of_views(
    views: Sequence[tuple[DatasetView, Texts]], top: int, max_bytes: int, notices: list[str]
) -> list[dict[str, Any]]:
    """Return the data of each view, in the order of ``views``.

    Args:
        views: each view with the texts of its queries and documents.
        top: how many documents of a ranking are shown.
        max_bytes: the most bytes that all rankings, scores and texts should take together. The ids
            of a query and the scores on one measure are kept even if they take more.
        notices: a list; a sentence is appended for everything that is left out, except for the ends
            of long query texts.
    """
    held: list[tuple[DatasetView, Texts, list[int]]] = []
    parts: list[dict[str, Any]] = []
    for view, texts in views:
        indices, queries = _select_queries(view, texts, len(views))
        scores = _select_scores(view, indices, MOST_SCORE_BYTES // len(views))
        held.append((view, texts, indices))
        parts.append(
            {
                "name": view.name,
                "systems": view.systems,
                "repeats": view.repeats,
                "measures": list(scores),
                "lower_is_better": view.lower_is_better,
                "pair": view.pair,
                "total": len(view.query_ids),
                "queries": queries,
                "scores": scores,
            }
        )
        if len(indices) < len(view.query_ids):
            notices.append(
                f"{_prefix(view)}the table and the charts hold {len(indices):,} of "
                f"{len(view.query_ids):,} queries, those on which the systems differ most; means "
                "and verdicts are over all"
            )
        if len(scores) < len(view.measures):
            notices.append(
                f"{_prefix(view)}scores by query are held for {len(scores)} of "
                f"{len(view.measures)} measures: {', '.join(scores)}"
            )
    bytes_left = max_bytes - sum(map(size_of, parts))
    # Small views come first: the bytes that they do not need go to the larger ones.
    order = sorted(range(len(held)), key=lambda index: len(held[index][2]))
    for position, index in enumerate(order):
        view, texts, indices = held[index]
        share = bytes_left // (len(held) - position)
        rankings, sentences = _Rankings(view, indices, top).data_within(share, texts)
        parts[index].update(rankings)
        notices += [f"{_prefix(view)}{sentence}" for sentence in sentences]
        bytes_left -= size_of(rankings)
    return parts


def _prefix(view: DatasetView) -> str:
    """Return the beginning of a notice: the name of the data set, if it has one."""
    return f"{view.name}: " if view.name else ""


def _select_queries(
    view: DatasetView, texts: Texts, num_views: int
) -> tuple[list[int], list[tuple[str, str]]]:
    """Return the indices of the queries that fit, and their (id, text).

    If not all fit, those on which the systems differ most are selected. Texts are cut to the
    greatest length that fits.
    """
    max_bytes = MOST_QUERY_BYTES // num_views
    count = max(
        1, min(MOST_QUERIES, MOST_SCORE_BYTES // (len(view.systems) * _SCORE_BYTES)) // num_views
    )
    order = np.argsort(-view.spread(), kind="stable").tolist()
    while True:
        indices = sorted(order[:count])
        for length in _QUERY_LENGTHS:
            query_ids = [view.query_ids[index] for index in indices]
            queries = [(query_id, texts.query(query_id, length)) for query_id in query_ids]
            if size_of(queries) <= max_bytes or (length == 0 and len(indices) == 1):
                return indices, queries
        count = max(1, len(indices) // 2)  # the ids alone are too long


def _select_scores(
    view: DatasetView, indices: list[int], max_bytes: int
) -> dict[str, list[list[float | None]]]:
    """Return {measure: [system][query] score} of the first measures that fit, at least one.

    Scores are not rounded, so that the counts of better and worse queries on the page equal those
    of the comparison.
    """
    selected: dict[str, list[list[float | None]]] = {}
    for measure in view.measures:
        scores = [
            [None if math.isnan(score) else score for score in row]
            for row in view.scores[measure][:, indices].tolist()
        ]
        max_bytes -= size_of(scores)
        if selected and max_bytes < 0:
            break
        selected[measure] = scores
    return selected


# Rankings: as many queries and texts as fit


class _Length(NamedTuple):
    """The number of characters that titles and texts are cut to."""

    title: int
    text: int


_NO_TEXTS = _Length(0, 0)
#: Longest first. If the texts of all queries do not fit even with the last length, only the queries
#: on which the systems differ most have texts, of that length.
_LENGTHS = (_Length(160, 400), _Length(160, 200), _Length(120, 100))


class _Rankings:
    """The top lists of some queries of a view, those on which the systems differ most first.

    Documents are numbered in the order in which the queries first show them. So each query only
    adds to the data of the queries before it, and one pass finds how many queries fit.
    """

    def __init__(self, view: DatasetView, indices: Sequence[int], top: int) -> None:
        """Store the view, the indices of the queries that the report holds, and the depth shown."""
        self._view, self._indices, self._top = view, indices, top
        self._top_lists = [
            getattr(view.results.get(system), "top", None) or {} for system in view.systems
        ]
        self._number_of: dict[str, int] = {}
        spread = view.spread()
        self._order = sorted(
            range(len(indices)), key=lambda position: -float(spread[indices[position]])
        )

    def data_within(self, max_bytes: int, texts: Texts) -> tuple[dict[str, Any], list[str]]:
        """Return the data of as many rankings as fit, and sentences on what was left out."""
        empty = self._data([], {}, _NO_TEXTS)
        if not any(self._top_lists):
            return empty, []

        def size(query: _QueryRankings) -> int:
            without_texts = _documents(query.new_ids, {}, _NO_TEXTS)
            return size_of([query[2:], without_texts]) + _KEYS_BYTES

        queries, bytes_left = _fit_queries(
            map(self._query_rankings, self._order), max_bytes - size_of(empty), size
        )
        document_texts = texts.documents({doc_id for query in queries for doc_id in query.new_ids})
        with_texts, length = _fit_texts(queries, document_texts, bytes_left)
        documents = {
            doc_id: document_texts[doc_id]
            for query in with_texts
            for doc_id in query.new_ids
            if doc_id in document_texts
        }
        notices = []
        if len(queries) < len(self._order):
            notices.append(
                f"rankings are held for {len(queries):,} of {len(self._order):,} queries, those on "
                "which the systems differ most"
            )
        if document_texts and len(with_texts) < len(queries):
            notices.append(
                f"titles and texts of documents are held for {len(with_texts):,} queries, those on "
                "which the systems differ most"
            )
        are_cut = any(len(text) > length.text for _, text in document_texts.values())
        if length != _LENGTHS[0] and are_cut:
            notices.append(f"texts of documents are cut after {length.text} characters")
        return self._data(queries, documents, length), notices

    def _query_rankings(self, position: int) -> _QueryRankings:
        query_id = self._view.query_ids[self._indices[position]]
        lists = [by_query.get(query_id) for by_query in self._top_lists]
        shown_ids = dict.fromkeys(
            doc_id
            for top_list in lists
            if top_list is not None
            for doc_id in top_list.doc_ids[: self._top]
        )
        new_ids = [doc_id for doc_id in shown_ids if doc_id not in self._number_of]
        for doc_id in new_ids:
            self._number_of[doc_id] = len(self._number_of)
        rankings = _QueryRankings(position, new_ids, [], [], {}, [])
        for top_list in lists:
            doc_ids = () if top_list is None else top_list.doc_ids
            numbers = [self._number_of[doc_id] for doc_id in doc_ids[: self._top]]
            deeper = enumerate(doc_ids[self._top :], start=self._top + 1)
            rankings.deeper_ranks.append(
                {self._number_of[doc_id]: rank for rank, doc_id in deeper if doc_id in shown_ids}
            )
            rankings.ranked.append(None if top_list is None else numbers)
            rankings.depths.append(None if top_list is None else len(doc_ids))
            for number, grade in zip(
                numbers, () if top_list is None else top_list.grades, strict=False
            ):
                if grade is not None:
                    rankings.grades[number] = int(grade) if float(grade).is_integer() else grade
        return rankings

    def _data(
        self,
        queries: Sequence[_QueryRankings],
        document_texts: Mapping[str, tuple[str, str]],
        length: _Length,
    ) -> dict[str, Any]:
        counts = [result.counted for result in self._view.results.values()]
        grades = [counted.max_grade for counted in counts if counted is not None]
        return {
            "has_rankings": any(self._top_lists),
            "has_texts": bool(document_texts),
            "max_grade": max(grades, default=1),
            "documents": [
                document
                for query in queries
                for document in _documents(query.new_ids, document_texts, length)
            ],
            "rankings": {query.position: query.ranked for query in queries},
            "elsewhere": {
                query.position: query.deeper_ranks for query in queries if any(query.deeper_ranks)
            },
            "grades": {query.position: query.grades for query in queries},
            "depths": {query.position: query.depths for query in queries},
        }


class _QueryRankings(NamedTuple):
    """The rankings of one query, with documents as numbers.

    Attributes:
        position: the position of the query in the report.
        new_ids: the ids of the documents that no query before this one shows.
        ranked: the documents shown, best first; None if the system has no ranking. [S]
        deeper_ranks: {document: rank} of the documents that another system shows and this one
            ranks below the depth shown. [S]
        grades: {document: grade} of the documents shown that have a grade in the qrels.
        depths: how many documents of the ranking are known; None if there is no ranking. [S]
    """

    position: int
    new_ids: list[str]
    ranked: list[list[int] | None]
    deeper_ranks: list[dict[int, int]]
    grades: dict[int, float]
    depths: list[int | None]


#: The bytes of the four keys of a query, with quotes, colons and commas.
_KEYS_BYTES = 40


def _documents(
    doc_ids: Sequence[str], document_texts: Mapping[str, tuple[str, str]], length: _Length
) -> list[tuple[str, str, str]]:
    """Return (id, title, text) of documents, cut to a length; "" for unknown titles and texts."""
    documents = [(doc_id, *document_texts.get(doc_id, ("", ""))) for doc_id in doc_ids]
    return [
        (doc_id, excerpt(title, length.title), excerpt(text, length.text))
        for doc_id, title, text in documents
    ]


def _fit_queries(
    queries: Iterable[_QueryRankings], max_bytes: int, size: Callable[[_QueryRankings], int]
) -> tuple[list[_QueryRankings], int]:
    """Return the first queries whose sizes fit into ``max_bytes``, and the bytes left over."""
    fitting: list[_QueryRankings] = []
    for query in queries:
        query_bytes = size(query)
        if query_bytes > max_bytes:
            break
        max_bytes -= query_bytes
        fitting.append(query)
    return fitting, max_bytes


def _fit_texts(
    queries: list[_QueryRankings], document_texts: Mapping[str, tuple[str, str]], max_bytes: int
) -> tuple[list[_QueryRankings], _Length]:
    """Return the queries whose texts fit, and the length of the texts.

    It is the greatest length with which the texts of all queries fit, else the smallest one.
    """
    for length in _LENGTHS:

        def size(query: _QueryRankings, length: _Length = length) -> int:
            documents = _documents(query.new_ids, document_texts, length)
            return size_of([document[1:] for document in documents])

        with_texts, _ = _fit_queries(queries, max_bytes, size)
        if len(with_texts) == len(queries):
            break
    return with_texts, length
