"""What the sources of a run share: the interface, the blocks that it yields, the checks of scores.

A ``RankingBlock`` is several rankings as flat arrays, with the judged documents found.
``core.ranking`` computes their ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Ints,
    concatenate_ranges,
    read_finite_floats,
    starts_from_lengths,
)
from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import TopDocuments

#: An array of scores, in the precision in which they were given.
Scores: TypeAlias = NDArray[np.float64] | NDArray[np.float32]


_NO_POSITIONS: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingBlock:
    """The rankings of R judged queries as flat arrays: N documents, of which H are judged ("hits").

    A *position* is an index into these N documents (0..N-1).

    Attributes:
        rows: the query of each ranking, an index into the query ids of the qrels, i8[R].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        scores: the score of each document, finite, f8[N] or f4[N]; None if the order given is the
            ranking.
        ids_at: a function that returns the document ids at positions. It is called only if ids are
            needed: for tied documents, for hits without a position, for top lists, for messages.
        hit_ranking: the ranking (0..R-1) of each hit, never decreasing, i8[H]. The hits of one
            ranking are in any order; ties="best" and "worst" keep this order for equal grades.
        hit_judgement: the judgement of each hit, an index into the judgements of the qrels, i8[H].
        hit_score: the score of each hit, f8[H] or f4[H] as ``scores``; None if ``scores`` is None.
        hit_position: the position of each hit, the first one of a document that is listed more than
            once, i8[H]; None if only the scores are known.
        identical: the positions of documents whose id equals that of their query.
        excluded: the positions of documents that the qrels exclude for their query.
        copy_position: the positions of all entries whose document is listed more than once in
            its ranking, ranking after ranking, i8[D].
        copy_group: for each of them, a number that the entries of the same document share, i8[D].
        top_of: a function that returns the first k entries of a ranking (0..R-1) if what is shown
            of a ranking are not its documents; else None.
    """

    rows: Ints
    starts: Ints
    scores: Scores | None
    ids_at: Callable[[Ints], list[str]]
    hit_ranking: Ints
    hit_judgement: Ints
    hit_score: Scores | None
    hit_position: Ints | None
    identical: Ints = field(default_factory=_NO_POSITIONS.copy)
    excluded: Ints = field(default_factory=_NO_POSITIONS.copy)
    copy_group: Ints = field(default_factory=_NO_POSITIONS.copy)
    copy_position: Ints = field(default_factory=_NO_POSITIONS.copy)
    top_of: Callable[[int, int], TopDocuments] | None = None

    def select(self, rankings: Ints) -> RankingBlock:
        """Return the block of some rankings, without their copies, identical and excluded ids.

        Args:
            rankings: ascending indices into ``rows``, i8.
        """
        first, last = self.starts[rankings], self.starts[rankings + 1]
        positions, starts = concatenate_ranges(first, last), starts_from_lengths(last - first)
        new_ranking = np.full(len(self.rows), -1, dtype=np.int64)
        new_ranking[rankings] = np.arange(len(rankings))
        hits = np.flatnonzero(new_ranking[self.hit_ranking] >= 0)
        ranking, position = new_ranking[self.hit_ranking[hits]], self.hit_position
        if position is not None:
            position = position[hits] - first[ranking] + starts[ranking]
        return replace(
            self,
            rows=self.rows[rankings],
            starts=starts,
            scores=None if self.scores is None else self.scores[positions],
            ids_at=lambda selected: self.ids_at(positions[selected]),
            hit_ranking=ranking,
            hit_judgement=self.hit_judgement[hits],
            hit_score=None if self.hit_score is None else self.hit_score[hits],
            hit_position=position,
            identical=_NO_POSITIONS,
            excluded=_NO_POSITIONS,
            copy_group=_NO_POSITIONS,
            copy_position=_NO_POSITIONS,
        )

    def with_excluded(self, qrels: Qrels) -> RankingBlock:
        """Return the block with the positions of the documents that the qrels exclude."""
        positions: list[int] = []
        for ranking, row in enumerate(self.rows.tolist()):
            if excluded := qrels.excluded.get(qrels.query_ids[row]):
                of_ranking = np.arange(self.starts[ranking], self.starts[ranking + 1])
                doc_ids = self.ids_at(of_ranking)
                positions += compress(of_ranking.tolist(), map(excluded.__contains__, doc_ids))
        return replace(self, excluded=np.array(positions, dtype=np.int64))

    def spare_copies(self) -> Ints:
        """Return how many entries of each ranking are copies beyond one per document, i8[R]."""
        _, first = np.unique(self.copy_group, return_index=True)
        return self.count_by_ranking(self.copy_position) - self.count_by_ranking(
            self.copy_position[first]
        )

    def count_by_ranking(self, positions: Ints) -> Ints:
        """Return how many of these positions are in each ranking, i8[R].

        Args:
            positions: indices of documents (0..N-1).
        """
        ranking = np.searchsorted(self.starts, positions, side="right") - 1
        return np.bincount(ranking, minlength=len(self.rows))


class StartAgainError(Exception):
    """The rankings must be read in another way: blocks that were yielded before do not count."""


class RunSource(Protocol):
    """The interface of what a run is read from, such as dicts, columns or top-k arrays."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, including empty rankings; each query once."""
        ...

    @property
    def checks_all_documents(self) -> bool:
        """Whether all documents are checked for duplicates, or only judged ones."""
        ...

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, each query in exactly one block.

        Raises:
            StartAgainError: by a run that is read in parts: ask for its blocks again.
        """
        ...

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield (query_id, doc_ids, scores or None) for every query, in the order given."""
        ...


def is_finite_number(value: object) -> bool:
    """Return whether ``value`` is a finite number of any type."""
    try:
        read_finite_floats([value], 1)
    except NOT_NUMBERS:
        return False
    return True


def raise_score_error(query_id: str, doc_id: object, score: object) -> NoReturn:
    """Raise RunError about one invalid score."""
    msg = (
        f"the score of document {shown(doc_id)} for query {shown(query_id)} is {shown(score)}; a "
        "score must be a finite number"
    )
    raise RunError(msg)


def raise_first_score_error(entries: Iterable[tuple[str, object, object]]) -> NoReturn:
    """Raise RunError about the first score that is not a finite number.

    Args:
        entries: (query id, document id, score) of each retrieved document.
    """
    raise_score_error(*next(entry for entry in entries if not is_finite_number(entry[2])))
