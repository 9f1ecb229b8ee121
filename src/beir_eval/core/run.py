"""Run: one ranking per query, as a retriever returned it.

A run wraps a ``RunSource`` (see ``run_sources``), which reads one kind of object and finds the
judged documents in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import SCORE
from beir_eval.core.ids import is_dataframe, repeated_ids, rows_remedy
from beir_eval.core.run_sources.chunks import source_of_documents
from beir_eval.core.run_sources.lists import source_from_columns, source_from_rankings
from beir_eval.core.run_sources.mapping import MappingSource
from beir_eval.core.run_sources.topk_arrays import source_from_arrays
from beir_eval.errors import DuplicateDocumentError, RunError, first_few, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    import polars as pl

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import StatedRanking
    from beir_eval.core.run_sources.base import RankingBlock, RunSource
    from beir_eval.core.run_sources.chunks import ChunkIds, TextCounts

    #: {query_id: {doc_id: score}}, the form of BEIR and pytrec_eval, which ``Run`` takes.
    RunMapping = Mapping[Any, Mapping[Any, Any]]


class Run:
    """The rankings that a retriever returned, one per query.

    ``Run({"q1": {"d1": 0.9, "d2": 0.4}})`` takes BEIR's dict of dicts. It is neither copied nor
    changed, and it is read at evaluation; until then its queries must stay the same.
    ``Run.from_columns`` takes three columns, ``Run.from_rankings`` lists of ids whose order is the
    ranking, ``read_run`` a file. Ids are text, and an integer id means its decimal string. Scores
    are finite numbers; higher is better.

    Args:
        mapping: {query_id: {doc_id: score}}.
        collapse: if the ids are those of chunks, the separator after the id of their document, such
            as "#", or a regular expression with one group, that id. The best chunk of each document
            counts. An id of another form counts as a document. All rankings are read now.

    Attributes:
        chunk_counts: how many entries are chunks, with ``collapse``: fields of ``Counted``.
        is_slow_to_read: whether to read rankings takes longer than to look for mistakes in them, as
            of a file, or of a mapping that may load each.
        stated_ranks: the ranks in the first lines of the file that was read, by query.
        text_counts: how chunks were found in judged text, if text is judged and not documents; else
            None.
        text_settings: the ``EvaluationSettings`` that the run decides: by which rules retrieved
            text became ranks; mostly none.

    Raises:
        SettingError: ``collapse`` is neither a separator nor a pattern with one group.
        RunError: ``mapping`` is not a mapping, or a query id is empty, neither text nor an integer,
            or listed both as an integer and as text. At evaluation: a ranking of a judged query is
            not a mapping, a document id is not valid, a score is not a finite number, or the
            queries have changed.

    >>> Run({"q1": {"d1": 0.9, "d2": 0.4}})
    Run(1 query)
    """

    _source: RunSource
    chunk_counts: Mapping[str, int] = MappingProxyType({})
    is_slow_to_read: bool = False
    stated_ranks: Sequence[StatedRanking] = ()
    text_counts: TextCounts | None = None
    text_settings: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, mapping: RunMapping, *, collapse: ChunkIds | None = None) -> None:
        """Check the query ids and keep the mapping."""
        if not isinstance(mapping, Mapping):
            remedy = rows_remedy(mapping) or "read_run(path) reads a file"
            msg = (
                f"a run must be {{query_id: {{doc_id: score}}}} or a Run, not "
                f"{type(mapping).__name__}; {remedy}"
            )
            raise RunError(msg)
        self.is_slow_to_read = not isinstance(mapping, dict)
        self._set_source(MappingSource(mapping), collapse)

    def _set_source(self, source: RunSource, collapse: ChunkIds | None) -> None:
        if collapse is None:
            self._source = source
        else:
            self._source, self.chunk_counts = source_of_documents(source, collapse)

    @classmethod
    def from_source(cls, source: RunSource, *, collapse: ChunkIds | None = None) -> Self:
        """Return a run that reads from ``source``; adapters use this.

        Args:
            source: an object with the interface of ``RunSource``.
            collapse: as of the constructor.
        """
        run = cls.__new__(cls)
        run._set_source(source, collapse)  # noqa: SLF001 - an instance of this class
        return run

    @classmethod
    def from_columns(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        scores: Iterable[Any],
        *,
        collapse: ChunkIds | None = None,
    ) -> Self:
        """Return a run from three columns of the same length, with one row per retrieved document.

        The queries may be in any order. Duplicate rows are kept; ``evaluate(duplicates=…)`` decides
        about them.

        Args:
            query_ids: the query of each row.
            doc_ids: the retrieved document.
            scores: its score; higher is better.
            collapse: as of the constructor.

        Raises:
            RunError: a column is not iterable, the columns have different lengths, an id is empty
                or neither text nor an integer, or a score is not a finite number.

        >>> Run.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [0.9, 0.4, 0.7])
        Run(2 queries)
        """
        return cls.from_source(source_from_columns(query_ids, doc_ids, scores), collapse=collapse)

    @classmethod
    def from_rankings(
        cls, rankings: Mapping[Any, Iterable[Any]], *, collapse: ChunkIds | None = None
    ) -> Self:
        """Return a run from rankings without scores, {query_id: [doc_id, …]}, best first.

        The order given is the ranking; the settings ``order`` and ``ties`` have no effect.

        Args:
            rankings: the document ids of each query, in a list or another ordered iterable.
            collapse: as of the constructor.

        Raises:
            RunError: a ranking is not an ordered iterable of ids, an
                id is empty or neither text nor an integer, or an integer and a text id name the
                same query.

        >>> Run.from_rankings({"q1": ["d1", "d2"], "q2": []})
        Run(2 queries)
        """
        return cls.from_source(source_from_rankings(rankings), collapse=collapse)

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        query_id: str | None = None,
        doc_id: str | None = None,
        score: str | None = None,
        collapse: ChunkIds | None = None,
    ) -> Self:
        """Return a run from a dataframe with one row per retrieved document, queries in any order.

        Columns that are not named are recognised by their usual names, such as query_id, qid or
        query-id; doc_id, docno, docid or corpus-id; score or sim; or, if there are none of these,
        by other names, such as query, document and _score. Of the columns qid, docid and docno,
        docno is the document, as in PyTerrier. Needs polars.

        Args:
            frame: anything with the Arrow PyCapsule interface: a polars or pandas dataframe (pandas
                needs pyarrow), a pyarrow table, or a relation of DuckDB as ``relation.pl()``. It is
                not changed.
            query_id: the name of the column of query ids.
            doc_id: the name of the column of document ids.
            score: the name of the column of scores.
            collapse: as of the constructor.

        Raises:
            RunError: the frame cannot be read, a column is missing, not recognised or one of
                several that match, an id is null, empty or neither text nor an integer, or a score
                is not a finite number.
            MissingExtraError: polars is not installed, or pyarrow for pandas.
        """
        from beir_eval.core.dataframes import to_columns  # noqa: PLC0415 - an extra
        from beir_eval.core.run_sources.dataframe import source_from_frames  # noqa: PLC0415

        names = {"query_id": query_id, "doc_id": doc_id, "score": score}
        columns = to_columns(
            frame, number_role=SCORE, names=names, error_class=RunError, label="the run"
        )
        return cls.from_source(source_from_frames([columns]), collapse=collapse)

    @classmethod
    def from_arrays(  # noqa: PLR0913 - one keyword a fact
        cls,
        ids: Any,
        scores: Any | None,
        *,
        query_ids: Iterable[Any],
        doc_ids: Sequence[Any] | Mapping[int, Any] | None = None,
        check_duplicates: bool = False,
        collapse: ChunkIds | None = None,
    ) -> Self:
        """Return a run from the best k documents of Q queries, as a vector index returns them.

        Numpy arrays without masks are not copied: they are checked now, and read when the run is
        evaluated, so do not change them until then.

        Args:
            ids: integers or texts [Q, k]: document ids, or integers that are row numbers of
                ``doc_ids``. A numpy array, or what numpy can read on the CPU through
                ``__array__``, such as the indices of ``torch.topk``; for texts, also lists of
                equal length. -1 and masked values are padding; among texts, "" and None are.
            scores: numbers [Q, k] in any order, higher is better (negate the distances of a
                Euclidean index); or None, then the order given is the ranking. Scores at padding
                are ignored.
            query_ids: the query of each row. [Q] The ``query_ids`` of a ``Qrels`` are not checked
                again, which saves a fifth of the time of a million short rankings.
            doc_ids: the document id of each row number, as a sequence or a mapping; by default the
                number is the id. None for texts.
            check_duplicates: whether to look for duplicates among all documents. By default only
                judged documents are checked, which is faster; an index returns no duplicates. If
                ``doc_ids`` lists an id twice, all documents are checked in any case.
            collapse: as of the constructor.

        Raises:
            RunError: an array has the wrong shape or type, an id is not valid, a query is listed
                twice, or a number is below -1, above 2^63 - 1 or not in ``doc_ids``. At
                evaluation: a score of a judged query is not finite.

        >>> import numpy as np
        >>> Run.from_arrays(np.array([[3, 1], [2, -1]]), None, query_ids=["q1", "q2"])
        Run(2 queries)
        """
        return cls.from_source(
            source_from_arrays(ids, scores, query_ids, doc_ids, check_duplicates),
            collapse=collapse,
        )

    @classmethod
    def coerce(cls, run: Any) -> Run:
        """Return ``run`` as a ``Run``: itself, or made from a mapping or a dataframe.

        Args:
            run: a ``Run``, {query_id: {doc_id: score}}, or a dataframe with usual column names.

        Raises:
            RunError: as the constructor or ``from_dataframe``.
        """
        if isinstance(run, Run):
            return run
        return cls.from_dataframe(run) if is_dataframe(run) else cls(run)

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, including empty rankings."""
        return self._source.query_ids

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Return a new {query_id: {doc_id: score}} of all rankings, in the order given.

        The n documents of a ranking without scores get the scores n, n−1, …, 1.

        Raises:
            DuplicateDocumentError: a ranking lists a document twice, which a dict cannot hold.
            RunError: a ranking is not valid; see the constructor.

        >>> Run.from_rankings({"q1": ["d1", "d2"]}).as_dict()
        {'q1': {'d1': 2.0, 'd2': 1.0}}
        """
        rankings: dict[str, dict[str, float]] = {}
        for query_id, doc_ids, scores in self._scored_rankings():
            rankings[query_id] = dict(zip(doc_ids, scores, strict=True))
            if len(rankings[query_id]) < len(doc_ids):
                msg = (
                    f"the ranking of query {shown(query_id)} lists "
                    f"{first_few(repeated_ids(doc_ids))} more than once, which a dict cannot hold; "
                    "use to_dataframe()"
                )
                raise DuplicateDocumentError(msg)
        return rankings

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each retrieved document, in the order given.

        The columns are ``query_id``, ``doc_id`` and ``score`` (f8). The n documents of a ranking
        without scores get the scores n, n−1, …, 1. Empty rankings have no row.

        Raises:
            MissingExtraError: polars is not installed.
            InputError: an id is not valid Unicode.
            RunError: a ranking is not valid; see the constructor.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            from beir_eval.core.dataframes import frame_of_rows  # noqa: PLC0415 - an extra
        rows = [
            (query_id, doc_id, score)
            for query_id, doc_ids, scores in self._scored_rankings()
            for doc_id, score in zip(doc_ids, scores, strict=True)
        ]
        return frame_of_rows(rows, "score", "the run")

    def _scored_rankings(self) -> Iterator[tuple[str, Sequence[str], list[float]]]:
        """Yield (query_id, doc_ids, scores) for every query, as ``as_dict`` describes."""
        for query_id, doc_ids, scores in self.rankings():
            descending = range(len(doc_ids), 0, -1)
            yield query_id, doc_ids, list(map(float, descending if scores is None else scores))

    @property
    def ranks(self) -> str:
        """What has a rank: "documents", or "chunks" or "characters" (see ``Spans.view``)."""
        return getattr(self._source, "ranks", "documents")

    @property
    def is_in_parts(self) -> bool:
        """Whether the rankings are read from a file in parts, each time that they are needed."""
        return getattr(self._source, "is_in_parts", False)

    @property
    def checks_all_documents(self) -> bool:
        """Whether all documents are checked for duplicates, or only judged ones."""
        return self._source.checks_all_documents

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, each in one block (see ``RankingBlock``).

        Args:
            qrels: the judged documents.
        """
        blocks = self._source.blocks(qrels)
        return (block.with_excluded(qrels) for block in blocks) if qrels.excluded else blocks

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield (query_id, doc_ids, scores or None) for every query, in the order given."""
        return self._source.rankings()

    def collapsed(self, collapse: ChunkIds) -> Run:
        """Return the run of the documents that this run's chunks are parts of.

        Args:
            collapse: as of the constructor.
        """
        return Run.from_source(self._source, collapse=collapse)

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the run; the order of the queries does not matter.

        The order of a query's documents does matter: with ``order="given"`` it is the ranking.
        Hashed are the sorted hashes of the rankings, which need not be in memory together.
        """
        from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, and is rarely needed

        digests = []
        for query_id, doc_ids, scores in self.rankings():
            digest = sha256(f"{query_id}\0\n".encode(errors="surrogatepass"))
            score_texts = [""] * len(doc_ids) if scores is None else map(float.hex, scores.tolist())
            for doc_id, score in zip(doc_ids, score_texts, strict=True):
                digest.update(f"{query_id}\0{doc_id}\0{score}\n".encode(errors="surrogatepass"))
            digests.append(digest.digest())
        return sha256(b"".join(sorted(digests))).hexdigest()

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        """Return the object itself: no method changes a run, and Haystack copies its inputs."""
        return self

    def _to_trace_dict(self) -> dict[str, int]:
        """Return the size, which Haystack's tracing shows instead of the content."""
        return {"queries": len(self)}

    def __len__(self) -> int:
        """Return the number of queries that have a ranking."""
        return len(self.query_ids)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"Run({len(self)} {'query' if len(self) == 1 else 'queries'})"
