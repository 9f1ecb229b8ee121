"""``Rankings``: the rankings of queries, with as many queries and texts as fit into a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.report.dataset_views import excerpt
from beir_eval.report.page import size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from beir_eval.report.dataset_views import DatasetView, Texts


class _Length(NamedTuple):
    """The number of characters that titles and texts are cut to."""

    title: int
    text: int


_NO_TEXTS = _Length(0, 0)
#: Longest first. If the texts of all queries do not fit even with the last length, only the queries
#: on which the systems differ most have texts, of that length.
_LENGTHS = (_Length(160, 400), _Length(160, 200), _Length(120, 100))


class Rankings:
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
        notices = self._notices(len(queries), len(with_texts), document_texts, length)
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

    def _notices(
        self,
        num_rankings: int,
        num_with_texts: int,
        document_texts: Mapping[str, tuple[str, str]],
        length: _Length,
    ) -> list[str]:
        notices = []
        if num_rankings < len(self._order):
            notices.append(
                f"rankings are held for {num_rankings:,} of {len(self._order):,} queries, those on "
                "which the systems differ most"
            )
        if document_texts and num_with_texts < num_rankings:
            notices.append(
                f"titles and texts of documents are held for {num_with_texts:,} queries, those on "
                "which the systems differ most"
            )
        if length != _LENGTHS[0] and any(
            len(text) > length.text for _, text in document_texts.values()
        ):
            notices.append(f"texts of documents are cut after {length.text} characters")
        return notices

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
