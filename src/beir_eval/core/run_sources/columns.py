"""Rankings in flat columns, one after the other: documents, and scores beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from beir_eval.core.arrays import (
    Floats,
    Ints,
    follow_each_other,
    ranges,
    starts_of,
    stretches,
)
from beir_eval.core.ids import pick_ids
from beir_eval.core.run_sources.base import RankingBlock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from beir_eval.core.qrels import Qrels

#: Documents looked at together: few enough that most of what is made of them stays in the cache.
BLOCK_DOCS = 100_000


class Retrieved(NamedTuple):
    """What was looked for in R rankings, and where it is.

    Attributes:
        hits: which of the judged documents are retrieved, rankings in order, i8[H].
        position: where each of them is, the first of several, i8[H].
        identical: positions of documents whose id is that of their query.
        copy_group, copy_position: every entry whose document is listed more than once in its
            ranking, ranking after ranking, and a number that such entries share.
    """

    hits: Ints
    position: Ints
    identical: Ints
    copy_group: Ints
    copy_position: Ints


@dataclass(frozen=True, eq=False)
class FlatRankings(ABC):
    """R rankings, one after the other, N documents in all.

    Attributes:
        starts: where each ranking begins, and the end of the last, i8[R+1].
        documents: their ids, in a list or a column, or numbers. [N]
        scores: finite, f8[N] or f4[N], an array or a column that turns into one; None when the
            order is the ranking.
    """

    starts: Ints
    documents: Any
    scores: Any

    @abstractmethod
    def ids_at(self, chosen: slice | Ints) -> list[str]:
        """Return the document ids at these positions."""

    @abstractmethod
    def look_up(self, judged: Sequence[str], ranking: Ints, own_ids: Sequence[str]) -> Retrieved:
        """Find the judged documents of each ranking, its copies, and the id of its query.

        Args:
            judged: the judged documents, those of the first ranking first. [W]
            ranking: the ranking in which each is looked for, never decreasing, i8[W].
            own_ids: the query of each ranking. [R]
        """

    def take(self, chosen: slice | Ints) -> Any:
        """Return the documents at these positions in what holds them."""
        return self.documents[chosen]

    def select(self, rankings: Ints) -> Self:
        """Return some of the rankings (ascending indices, each once)."""
        first, last = self.starts[rankings], self.starts[rankings + 1]
        together = follow_each_other(rankings)
        chosen = slice(int(first[0]), int(last[-1])) if together else ranges(first, last)
        return replace(
            self,
            starts=starts_of(last - first),
            documents=self.take(chosen),
            scores=None if self.scores is None else self.scores[chosen],
        )

    def block(self, rows: Ints, qrels: Qrels) -> RankingBlock:
        """Return the rankings with their judged, repeated and identical documents found.

        Args:
            rows: the query of the qrels that each ranking answers, i8[R].
            qrels: what is judged.
        """
        judgement, ranking, judged = qrels.judgements_of(rows)
        retrieved = self.look_up(judged, ranking, pick_ids(qrels.query_ids, rows))
        hits, position = retrieved.hits, retrieved.position
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
            identical=retrieved.identical,
            copy_group=retrieved.copy_group,
            copy_position=retrieved.copy_position,
        )


def judged_parts(
    query_ids: Sequence[str], lengths: Ints, qrels: Qrels, size: int
) -> Iterator[tuple[Ints, Ints]]:
    """Split the judged queries of a run into parts of about ``size`` documents.

    Args:
        query_ids: the queries of the run. [Q]
        lengths: how many documents each has, i8[Q].
        qrels: which queries are judged.
        size: of a part.

    Yields:
        Indices into ``query_ids``, ascending, and for each the query of the qrels.
    """
    row = qrels.find_rows(query_ids)
    judged = np.flatnonzero(row >= 0)
    for begin, end in stretches(starts_of(lengths[judged]), size):
        part = judged[begin:end]
        yield part, row[part]


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """Rankings that are in columns already.

    Attributes:
        query_ids: distinct, as text. [Q]
        flat: the rankings of all queries, in this order. [Q]
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
        """Yield the judged rankings in their order, ``BLOCK_DOCS`` documents at a time."""
        lengths = np.diff(self.flat.starts)
        for part, rows in judged_parts(self.query_ids, lengths, qrels, BLOCK_DOCS):
            yield self.flat.select(part).block(rows, qrels)
