"""Rankings in flat columns, one after the other: a column of documents and one of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    are_consecutive,
    concatenate_ranges,
    split_rows,
    starts_from_lengths,
)
from beir_eval.core.run_sources.base import RankingBlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from beir_eval.core.qrels import Qrels

#: Documents per block: few enough that most arrays of a block stay in the processor's cache.
BLOCK_DOCS = 100_000


class LookUpResult(NamedTuple):
    """The judged, identical and repeated documents of R rankings, as ``look_up`` finds them.

    Attributes:
        hits: which of the W judged documents are retrieved (0..W-1), those of the first ranking
            first, i8[H].
        position: the position of each hit, the first one of a document that is listed more than
            once, i8[H].
        identical: the positions of documents whose id equals that of their query.
        copy_position: the positions of all entries whose document is listed more than once in
            its ranking, ranking after ranking, i8[D].
        copy_group: for each of them, a number that the entries of the same document share, i8[D].
    """

    hits: Ints
    position: Ints
    identical: Ints
    copy_group: Ints
    copy_position: Ints


@dataclass(frozen=True, eq=False)
class FlatRankings(ABC):
    """R rankings, one after the other, with N documents in all.

    Attributes:
        starts: where each ranking begins, and the end of the last, i8[R+1].
        documents: the documents [N], in a column of ids or an array of numbers; a subclass may keep
            them otherwise.
        scores: their scores, finite, f8[N] or f4[N], as an array or a column that converts to one;
            None if the order given is the ranking.
    """

    starts: Ints
    documents: Any
    scores: Any

    @abstractmethod
    def ids_at(self, positions: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""

    @abstractmethod
    def look_up(self, qrels: Qrels, rows: Ints, judgement: Ints, ranking: Ints) -> LookUpResult:
        """Return the positions of judged and repeated documents, and of those with a query's id.

        Args:
            qrels: the judged documents.
            rows: the query of each ranking, an index into the query ids of the qrels, i8[R].
            judgement: the judgements to look for, those of the first ranking first, i8[W].
            ranking: the ranking (0..R-1) of each, never decreasing, i8[W].
        """

    def select(self, rankings: Ints) -> Self:
        """Return some of the rankings.

        Args:
            rankings: ascending indices, each at most once.
        """
        first, last = self.starts[rankings], self.starts[rankings + 1]
        is_slice = are_consecutive(rankings)
        positions = (
            slice(int(first[0]), int(last[-1])) if is_slice else concatenate_ranges(first, last)
        )
        return replace(
            self,
            starts=starts_from_lengths(last - first),
            documents=self.documents[positions],
            scores=None if self.scores is None else self.scores[positions],
        )

    def block(self, rows: Ints, qrels: Qrels) -> RankingBlock:
        """Return the rankings as a block, with judged, repeated and identical documents found.

        Args:
            rows: the query of each ranking, an index into the query ids of the qrels, i8[R].
            qrels: the judged documents.
        """
        judgement, ranking = qrels.judgements_of(rows)
        result = self.look_up(qrels, rows, judgement, ranking)
        hits, position = result.hits, result.position
        scores = None if self.scores is None else np.asarray(self.scores)
        return RankingBlock(
            rows=rows,
            starts=self.starts,
            scores=scores,
            ids_at=self.ids_at,
            hit_ranking=ranking[hits],
            hit_judgement=judgement[hits],
            hit_score=None if scores is None else scores[position],
            hit_position=position,
            identical=result.identical,
            copy_group=result.copy_group,
            copy_position=result.copy_position,
        )


def split_judged_queries(
    query_ids: Sequence[str], lengths: Ints, qrels: Qrels, size: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the judged queries of a run in parts of about ``size`` documents.

    Args:
        query_ids: the queries of the run. [Q]
        lengths: the number of documents of each query, i8[Q].
        qrels: says which queries are judged.
        size: the number of documents of a part.

    Yields:
        Ascending indices into ``query_ids``, and for each the index of the query in the qrels.
    """
    row = qrels.find_rows(query_ids)
    judged = np.flatnonzero(row >= 0)
    for begin, end in split_rows(starts_from_lengths(lengths[judged]), size):
        part = judged[begin:end]
        yield part, row[part]


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """The source of a run whose rankings are in flat columns.

    Attributes:
        query_ids: the queries, distinct, as text. [Q]
        flat: the rankings of all queries, in this order.
    """

    checks_all_documents: ClassVar[bool] = True

    query_ids: Sequence[str]
    flat: FlatRankings

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given."""
        bounds = pairwise(self.flat.starts.tolist())
        for query_id, (begin, end) in zip(self.query_ids, bounds, strict=True):
            part = slice(begin, end)
            scores = None if self.flat.scores is None else np.asarray(self.flat.scores[part])
            yield query_id, self.flat.ids_at(part), scores

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, in blocks of about ``BLOCK_DOCS`` documents."""
        lengths = np.diff(self.flat.starts)
        for part, rows in split_judged_queries(self.query_ids, lengths, qrels, BLOCK_DOCS):
            yield self.flat.select(part).block(rows, qrels)
