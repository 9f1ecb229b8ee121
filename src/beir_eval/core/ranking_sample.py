"""``RankingSample``: a few rankings as they were given; and the ranks that a file states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from beir_eval.core.arrays import concatenate_ranges, starts_from_lengths
from beir_eval.core.ids import pick_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.base import RankingBlock, Scores

#: How many queries are sampled, evenly spread over the qrels, and how many documents of each.
_MOST_QUERIES, _MOST_DOCUMENTS = 60, 100
#: A first look takes two of five of these queries, which are neighbours, and so many documents.
_LOOK_STEP, _LOOK_PAIR, _LOOK_DOCUMENTS = 5, 2, 10
_NO_INTS: Ints = np.zeros(0, dtype=np.int64)

#: Query, ranks and scores, f8[N] each, as the N lines of a query in a file state them.
StatedRanking: TypeAlias = "tuple[str, Floats, Floats]"


@dataclass(frozen=True, eq=False)
class RankingSample:
    """S rankings with N documents in all, in the order in which the run lists them.

    Attributes:
        rows: the query of each ranking, an index into the query ids of the qrels, -1 if it is not
            judged; i8[S].
        starts: where each ranking begins, and the end of the last, i8[S+1].
        doc_ids: the documents. [N]
        scores: their scores, f8[N]; None if a ranking has none.
    """

    rows: Ints
    starts: Ints
    doc_ids: Sequence[str]
    scores: Floats | None

    @classmethod
    def of_run(cls, run: Run, qrels: Qrels) -> RankingSample:
        """Return all rankings of a run, whole.

        Args:
            run: the run.
            qrels: the judgements.

        Raises:
            RunError: a ranking is not valid.
        """
        rankings = list(run.rankings())
        scores = [values for *_, values in rankings if values is not None]
        has_scores = len(scores) == len(rankings) > 0
        return cls(
            qrels.find_rows(run.query_ids),
            starts_from_lengths(np.array([len(docs) for _, docs, _ in rankings], dtype=np.int64)),
            [doc_id for _, docs, _ in rankings for doc_id in docs],
            np.concatenate(scores).astype(np.float64) if has_scores else None,
        )

    def slices(self) -> Iterator[slice]:
        """Yield the S slices of the documents of the rankings."""
        return (slice(*bounds) for bounds in pairwise(self.starts.tolist()))

    def judged_rankings(self, most: int) -> list[tuple[int, slice]]:
        """Return (query, documents) of judged queries with documents, evenly spread.

        Args:
            most: how many to return at most.
        """
        lengths = np.diff(self.starts)
        rankings = np.flatnonzero((self.rows >= 0) & (lengths > 0))
        spread = np.linspace(0, len(rankings) - 1, min(len(rankings), most)).astype(np.int64)
        return [
            (int(self.rows[ranking]), slice(*self.starts[ranking : ranking + 2].tolist()))
            for ranking in rankings[spread].tolist()
        ]

    def best_ids(self, documents: slice, k: int) -> list[str]:
        """Return the best documents of a ranking, best first, each once.

        Args:
            documents: the documents of the ranking, one of ``slices``.
            k: how many to return at most.
        """
        positions: Iterable[int] = range(documents.start, documents.stop)
        if self.scores is not None:
            order = np.argsort(-self.scores[documents], kind="stable")
            positions = (order + documents.start).tolist()
        return list(dict.fromkeys(map(self.doc_ids.__getitem__, positions)))[:k]


@lru_cache(maxsize=2)
def _chosen_queries(num_queries: int) -> tuple[Mask, Mask]:
    """Return which queries are sampled, and which of these a first look is at, bool[Q] each."""
    rows = np.linspace(0, num_queries - 1, min(num_queries, _MOST_QUERIES)).astype(np.int64)
    is_chosen: Mask = np.zeros(num_queries, dtype=np.bool_)
    is_chosen[rows] = True
    is_looked_at = np.zeros_like(is_chosen)
    is_looked_at[rows[np.arange(len(rows)) % _LOOK_STEP < _LOOK_PAIR]] = True
    return is_chosen, is_looked_at


class _Unread(NamedTuple):
    """Chosen rankings of a block, of which scores and ids were not read yet.

    Attributes:
        scores: the scores of all documents of the block.
        ids_at: a function that returns the ids at positions.
        first: the position of the first document of each of R rankings that is kept, i8[R].
    """

    scores: Scores | None
    ids_at: Callable[[Ints], list[str]]
    first: Ints

    def documents(self, first: Ints, lengths: Ints) -> tuple[Floats | None, list[str]]:
        """Return scores, f8[N], and ids of so many documents from the first ones, i8[R] each."""
        positions = concatenate_ranges(first, first + lengths)
        scores = None if self.scores is None else self.scores[positions].astype(np.float64)
        return scores, self.ids_at(positions)


class Sampler:
    """Collects a sample of the rankings of a run while its blocks are read.

    Of each of at most 60 queries, evenly spread over the qrels, the first 100 documents are kept,
    or the last 100 if the last one has a higher score than the first. The ids of the last block
    are read when they are asked for: most small runs are never asked for all.
    """

    def __init__(self, num_queries: int, *, reads_later: bool = True) -> None:
        """Choose the queries.

        Args:
            num_queries: the number of judged queries.
            reads_later: whether ids of the last block can be read when the run has been read.
        """
        self._reads_later = reads_later
        self._is_chosen, self._is_looked_at = _chosen_queries(num_queries)
        self.clear()

    def clear(self) -> None:
        """Forget the blocks that were added."""
        self._rows: list[Ints] = []
        self._lengths: list[Ints] = []
        self._scores: list[Floats] | None = []
        self._doc_ids: list[str] = []
        self._unread: _Unread | None = None

    def add(self, block: RankingBlock) -> None:
        """Keep documents of the chosen queries of a block."""
        rankings = np.flatnonzero(self._is_chosen[block.rows])
        if not len(rankings):
            return
        first, last = block.starts[rankings], block.starts[rankings + 1]
        lengths = np.minimum(last - first, _MOST_DOCUMENTS)
        if block.scores is not None and len(block.scores):
            ends = np.minimum(last, len(block.scores)) - 1
            begins = np.minimum(first, len(block.scores) - 1)
            does_ascend = (last > first) & (block.scores[ends] > block.scores[begins])
            first = np.where(does_ascend, last - lengths, first)
        if self._unread is not None:
            self._read(self._unread)
        self._rows.append(block.rows[rankings])
        self._lengths.append(lengths)
        self._unread = _Unread(block.scores, block.ids_at, first)
        if not self._reads_later:
            self._read(self._unread)

    def _read(self, unread: _Unread) -> None:
        """Keep the scores and ids of the last block."""
        scores, doc_ids = unread.documents(unread.first, self._lengths[-1])
        self._unread = None
        self._doc_ids += doc_ids
        if scores is None or self._scores is None:
            self._scores = None
        else:
            self._scores.append(scores)

    def sample(self, *, is_first_look: bool = False) -> RankingSample:
        """Return what was kept, in the order of the qrels, whatever the order of the blocks.

        Args:
            is_first_look: whether the first ten documents of two of five queries, which are
                neighbours, are enough.
        """
        if self._unread is not None and len(self._rows) > 1:
            self._read(self._unread)
        rows = np.concatenate([_NO_INTS, *self._rows])
        lengths = np.concatenate([_NO_INTS, *self._lengths])
        order = np.argsort(rows)
        first = starts_from_lengths(lengths) if self._unread is None else self._unread.first
        if is_first_look:
            order = order[self._is_looked_at[rows[order]]]
            lengths = np.minimum(lengths, _LOOK_DOCUMENTS)
        first, lengths = first[order], lengths[order]
        doc_ids: Sequence[str]
        if self._unread is None:
            documents = concatenate_ranges(first, first + lengths)
            doc_ids = pick_ids(self._doc_ids, documents)
            kept = self._scores
            scores = None if kept is None else np.concatenate([np.zeros(0), *kept])[documents]
        else:
            scores, doc_ids = self._unread.documents(first, lengths)
        return RankingSample(rows[order], starts_from_lengths(lengths), doc_ids, scores)


def stated_rankings(lines: Iterable[tuple[str, str, float]]) -> list[StatedRanking]:
    """Return the ranks and scores of each query, in the order of the lines.

    There are none if a rank is not a finite number.

    Args:
        lines: the query, the text in the column of ranks, and the score of each line of a run file
            that lists ranks beside scores, which trec_eval and we ignore.
    """
    columns = list(lines)
    try:
        ranks = np.array([float(rank) for _, rank, _ in columns])
    except ValueError:
        return []
    if not np.isfinite(ranks).all():
        return []
    scores = np.array([score for *_, score in columns])
    lines_of: dict[str, list[int]] = {}
    for line, (query_id, *_) in enumerate(columns):
        lines_of.setdefault(query_id, []).append(line)
    return [(query_id, ranks[of], scores[of]) for query_id, of in lines_of.items()]
