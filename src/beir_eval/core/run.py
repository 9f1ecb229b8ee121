"""Run: one ranking per query, from whatever a retriever returned.

A run wraps a source (of ``run_sources``, or an adapter's), which finds the judged documents in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beir_eval.core.ids import is_dataframe
from beir_eval.core.run_sources.lists import source_from_columns, source_from_rankings
from beir_eval.core.run_sources.mapping import MappingSource
from beir_eval.core.run_sources.topk_arrays import ArraySource
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock, RunSource

    #: What ``Run`` is made from: {query_id: {doc_id: score}}, as BEIR and pytrec_eval have it.
    RunMapping = Mapping[Any, Mapping[Any, Any]]


class Run:
    """What a retriever returned: one ranking per query.

    ``Run({"q1": {"d1": 0.9, "d2": 0.4}})`` takes BEIR's dict of dicts and leaves it as it is:
    neither copied nor changed, read when it is evaluated; its queries must be the same then.
    ``Run.from_columns`` takes three columns, ``Run.from_rankings`` lists of ids whose order is the
    ranking, ``read_run`` a file. Ids are text, and an integer id means its decimal string; the ids
    of one ranking are all text or all integers. Scores are finite numbers, higher is better.

    Raises:
        RunError: here, where the shape is wrong; at evaluation, where a score of a judged query
            is not a finite number.

    >>> Run({"q1": {"d1": 0.9, "d2": 0.4}})
    Run(1 query)
    """

    _source: RunSource

    def __init__(self, mapping: RunMapping) -> None:
        """Take {query_id: {doc_id: score}}."""
        if not isinstance(mapping, Mapping):
            msg = (
                f"a run must be {{query_id: {{doc_id: score}}}} or a Run, not "
                f"{type(mapping).__name__}; read a file with read_run(path)"
            )
            raise RunError(msg)
        self._source = MappingSource(mapping)

    @classmethod
    def from_source(cls, source: RunSource) -> Self:
        """Wrap anything with the interface of ``RunSource``; adapters use this."""
        run = cls.__new__(cls)
        run._source = source  # noqa: SLF001 - its own class
        return run

    @classmethod
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], scores: Iterable[Any]
    ) -> Self:
        """Read three columns of one length, one row a retrieved document, queries in any order.

        Duplicate rows are kept; ``evaluate(duplicates=…)`` decides about them.

        Raises:
            RunError: columns of different lengths, an id that is none, a score that is not a
                finite number.

        >>> Run.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [0.9, 0.4, 0.7])
        Run(2 queries)
        """
        return cls.from_source(source_from_columns(query_ids, doc_ids, scores))

    @classmethod
    def from_rankings(cls, rankings: Mapping[Any, Iterable[Any]]) -> Self:
        """Read {query_id: [doc_id, …]}, best first: rankings without scores.

        The order is the ranking, whatever ``order`` and ``ties`` say.

        Raises:
            RunError: a ranking is not a list of ids.

        >>> Run.from_rankings({"q1": ["d1", "d2"], "q2": []})
        Run(2 queries)
        """
        return cls.from_source(source_from_rankings(rankings))

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        query_id: str | None = None,
        doc_id: str | None = None,
        score: str | None = None,
    ) -> Self:
        """Read a dataframe with a row for each retrieved document, queries in any order.

        Anything with the Arrow PyCapsule interface: polars, pyarrow, a DuckDB relation, pandas
        (with pyarrow). Columns are recognised by their usual names (query_id, qid, query-id;
        doc_id, docno, docid, corpus-id; score, sim) unless stated. Needs polars.

        Args:
            frame: the dataframe; it is not changed.
            query_id: the name of the column of query ids.
            doc_id: that of document ids.
            score: that of scores.

        Raises:
            RunError: a column is not recognisable, an id is null, a score is not a finite number.
            MissingExtraError: polars is not installed, or pyarrow for pandas.
        """
        from beir_eval.core.dataframes import SCORE, to_columns  # noqa: PLC0415 - an extra
        from beir_eval.core.run_sources.dataframe import source_from_frame  # noqa: PLC0415

        names = {"query_id": query_id, "doc_id": doc_id, "score": score}
        columns = to_columns(frame, number=SCORE, names=names, error=RunError, what="the run")
        return cls.from_source(source_from_frame(columns))

    @classmethod
    def from_arrays(
        cls,
        ids: Any,
        scores: Any | None,
        *,
        query_ids: Iterable[Any],
        doc_ids: Sequence[Any] | Mapping[int, Any] | None = None,
        check_duplicates: bool = False,
    ) -> Self:
        """Read the best k documents of Q queries, as a vector index or ``torch.topk`` gives them.

        Args:
            ids: integers [Q, k] of a numpy array or anything that turns into one (``__array__`` or
                DLPack, on the CPU): document ids, or row numbers of ``doc_ids``. -1 is padding.
            scores: numbers [Q, k], in any order, higher is better (negate distances, such as those
                of a Euclidean index), or None: then the order is the ranking. What stands at
                padding is not looked at.
            query_ids: the id of each row. [Q]
            doc_ids: the document id of each row number, as a sequence or a mapping; by default the
                number is the id.
            check_duplicates: look for repeated documents among all of them. Otherwise only judged
                documents are looked at, which is what an index never repeats anyway (where
                ``doc_ids`` names a document twice, all are looked at in any case).

        The arrays are not copied: they are read when the run is evaluated.

        Raises:
            RunError: another shape, ids that are no integers, a score that is not finite, a row
                number outside ``doc_ids``.

        >>> import numpy as np
        >>> Run.from_arrays(np.array([[3, 1], [2, -1]]), None, query_ids=["q1", "q2"])
        Run(2 queries)
        """
        return cls.from_source(
            ArraySource.from_arrays(ids, scores, query_ids, doc_ids, check_duplicates)
        )

    @classmethod
    def coerce(cls, run: Any) -> Run:
        """Return ``run`` itself when it is one; else take it as a mapping or a dataframe."""
        if isinstance(run, Run):
            return run
        return cls.from_dataframe(run) if is_dataframe(run) else cls(run)

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, empty ones included."""
        return self._source.query_ids

    @property
    def checks_all_documents(self) -> bool:
        """Whether all documents are compared to find duplicates, or only judged ones."""
        return self._source.checks_all_documents

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the queries that the qrels judge (see ``RankingBlock``)."""
        return self._source.blocks(qrels)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield (query_id, doc_ids, scores or None) for every query, in the order given."""
        return self._source.rankings()

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the run, whatever order its queries were given in.

        The order of the documents of a query counts: with ``order="given"`` it is the ranking.
        """
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and few ask for it

        digest = hashlib.sha256()
        for query_id, doc_ids, scores in sorted(self.rankings(), key=lambda ranking: ranking[0]):
            digest.update(f"{query_id}\0\n".encode(errors="surrogatepass"))
            listed = [""] * len(doc_ids) if scores is None else map(float.hex, scores.tolist())
            for doc_id, score in zip(doc_ids, listed, strict=True):
                digest.update(f"{query_id}\0{doc_id}\0{score}\n".encode(errors="surrogatepass"))
        return digest.hexdigest()

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        """Return itself: a run is never changed, and hosts copy what they hand on."""
        return self

    def _to_trace_dict(self) -> dict[str, int]:
        """Return the size: what Haystack's tracing shows instead of the content."""
        return {"queries": len(self)}

    def __len__(self) -> int:
        """Return the number of queries that have a ranking."""
        return len(self.query_ids)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"Run({len(self)} {'query' if len(self) == 1 else 'queries'})"
