"""``RankingSample``: a few rankings as they were given, for checks of their content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.arrays import concatenate_ranges, starts_from_lengths
from beir_eval.core.ids import pick_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.base import RankingBlock

#: How many queries are sampled, evenly spread over the qrels, and how many documents of each.
_MOST_QUERIES, _MOST_DOCUMENTS = 60, 100
#: A first look takes two of five of these queries, which are neighbours, and so many documents.
_LOOK_STEP, _LOOK_PAIR, _LOOK_DOCUMENTS = 5, 2, 10


@dataclass(frozen=True, eq=False)
class RankingSample:
    """S rankings with N documents in all, in the order in which the run lists them.

    Attributes:
        rows: the query of each ranking, an index into the query ids of the qrels, -1 if it is not
            judged; i8[S].
        starts: where each ranking begins, and the end of the last, i8[S+1].
        doc_ids: the documents. [N]
        scores: their scores, f8[N]; None if a ranking has none.
        stated_ranks: the ranks that lines of the run's file state; None if there are none.
    """

    rows: Ints
    starts: Ints
    doc_ids: Sequence[str]
    scores: Floats | None
    stated_ranks: StatedRanks | None = None

    @classmethod
    def of_run(
        cls, run: Run, qrels: Qrels, stated_ranks: StatedRanks | None = None
    ) -> RankingSample:
        """Return all rankings of a run, whole.

        Args:
            run: the run.
            qrels: the judgements.
            stated_ranks: the ranks that its file states.

        Raises:
            RunError: a ranking is not valid.
        """
        doc_ids: list[str] = []
        scores: list[Floats] = []
        lengths: list[int] = []
        for _, documents, values in run.rankings():
            doc_ids += documents
            lengths.append(len(documents))
            if values is not None:
                scores.append(values)
        has_scores = len(scores) == len(lengths) > 0
        return cls(
            qrels.find_rows(run.query_ids),
            starts_from_lengths(np.array(lengths, dtype=np.int64)),
            doc_ids,
            np.concatenate(scores).astype(np.float64) if has_scores else None,
            stated_ranks,
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

    def best_positions(self, documents: slice, k: int) -> list[int]:
        """Return the positions of the best documents of a ranking, best first.

        Args:
            documents: the documents of the ranking, one of ``slices``.
            k: how many to return at most.
        """
        if self.scores is None:
            return list(range(documents.start, min(documents.start + k, documents.stop)))
        order = np.argsort(-self.scores[documents], kind="stable")[:k]
        return (order + documents.start).tolist()  # type: ignore[no-any-return]

    def best_ids(self, documents: slice, k: int) -> list[str]:
        """Return the best documents of a ranking, best first, each once.

        Args:
            documents: the documents of the ranking, one of ``slices``.
            k: how many to return at most.
        """
        best = [self.doc_ids[position] for position in self.best_positions(documents, k)]
        if len(set(best)) == len(best):
            return best
        positions = self.best_positions(documents, documents.stop - documents.start)
        return list(dict.fromkeys(self.doc_ids[position] for position in positions))[:k]


def read_sample(run: Run, qrels: Qrels) -> RankingSample:
    """Return what a ``Sampler`` keeps of a run, which is read again for these queries.

    Raises:
        RunError: the run was changed.
    """
    rows = _spread_rows(len(qrels))
    judged = qrels.select([qrels.query_ids[row] for row in rows.tolist()])
    sampler = Sampler(len(judged))
    for block in run.blocks(judged):
        sampler.add(block)
    sample = sampler.sample(run.stated_ranks)
    return replace(sample, rows=rows[sample.rows])


def _spread_rows(num_queries: int) -> Ints:
    return np.linspace(0, num_queries - 1, min(num_queries, _MOST_QUERIES)).astype(np.int64)


class Sampler:
    """Collects a sample of the rankings of a run while its blocks are read.

    Of each of at most 60 queries, evenly spread over the qrels, the first 100 documents are kept,
    or the last 100 if the last one has a higher score than the first. A first look keeps the first
    ten of two of five of these queries.
    """

    def __init__(self, num_queries: int, *, is_first_look: bool = False) -> None:
        """Choose the queries.

        Args:
            num_queries: the number of judged queries.
            is_first_look: whether only a few rankings are looked at.
        """
        self.is_first_look = is_first_look
        rows = _spread_rows(num_queries)
        if is_first_look:
            rows = rows[np.arange(len(rows)) % _LOOK_STEP < _LOOK_PAIR]
        self._is_chosen: Mask = np.zeros(num_queries, dtype=np.bool_)
        self._is_chosen[rows] = True
        self.clear()

    def clear(self) -> None:
        """Forget the blocks that were added."""
        self._rows: list[Ints] = []
        self._lengths: list[Ints] = []
        self._doc_ids: list[str] = []
        self._scores: list[Floats] = []
        self._all_have_scores = True

    def add(self, block: RankingBlock) -> None:
        """Keep documents of the chosen queries of a block."""
        rankings = np.flatnonzero(self._is_chosen[block.rows])
        if not len(rankings):
            return
        first, last = block.starts[rankings], block.starts[rankings + 1]
        lengths = np.minimum(
            last - first, _LOOK_DOCUMENTS if self.is_first_look else _MOST_DOCUMENTS
        )
        if not self.is_first_look and block.scores is not None and len(block.scores):
            ends = np.minimum(last - 1, len(block.scores) - 1)
            begins = np.minimum(first, len(block.scores) - 1)
            does_ascend = (last > first) & (block.scores[ends] > block.scores[begins])
            first = np.where(does_ascend, last - lengths, first)
        positions = concatenate_ranges(first, first + lengths)
        self._rows.append(block.rows[rankings])
        self._lengths.append(lengths)
        self._doc_ids += block.ids_at(positions)
        if block.scores is None:
            self._all_have_scores = False
        else:
            self._scores.append(block.scores[positions].astype(np.float64))

    def sample(self, stated_ranks: StatedRanks | None = None) -> RankingSample:
        """Return what was kept, in the order of the qrels, whatever the order of the blocks.

        Args:
            stated_ranks: the ranks that the first lines of the run's file state.
        """
        empty = np.zeros(0, dtype=np.int64)
        rows = np.concatenate([empty, *self._rows])
        lengths = np.concatenate([empty, *self._lengths])
        order, starts = np.argsort(rows), starts_from_lengths(lengths)
        documents = concatenate_ranges(starts[order], starts[order + 1])
        scores = np.concatenate([np.zeros(0), *self._scores])
        return RankingSample(
            rows[order],
            starts_from_lengths(lengths[order]),
            pick_ids(self._doc_ids, documents),
            scores[documents] if self._all_have_scores else None,
            stated_ranks,
        )


@dataclass(frozen=True, eq=False)
class StatedRanks:
    """Lines of a run file that lists ranks beside scores, which trec_eval and we ignore.

    Attributes:
        query_ids: the query of each line. [N]
        ranks: the number in the column of ranks, f8[N].
        scores: the number in the column of scores, f8[N].
    """

    query_ids: Sequence[str]
    ranks: Floats
    scores: Floats

    @classmethod
    def of_lines(cls, lines: Iterable[tuple[str, str, float]]) -> StatedRanks | None:
        """Return the ranks of lines; None without a line, or if a rank is not a finite number.

        Args:
            lines: the query, the text in the column of ranks, and the score of each line.
        """
        query_ids: list[str] = []
        ranks: list[float] = []
        scores: list[float] = []
        for query_id, rank, score in lines:
            try:
                ranks.append(float(rank))
            except ValueError:
                return None
            query_ids.append(query_id)
            scores.append(score)
        numbers = np.array(ranks)
        if not query_ids or not np.isfinite(numbers).all():
            return None
        return cls(query_ids, numbers, np.array(scores))

    def rankings(self) -> Iterator[tuple[str, Floats, Floats]]:
        """Yield (query, ranks, scores) of each query, in the order of the lines."""
        lines_of: dict[str, list[int]] = {}
        for line, query_id in enumerate(self.query_ids):
            lines_of.setdefault(query_id, []).append(line)
        for query_id, lines in lines_of.items():
            yield query_id, self.ranks[lines], self.scores[lines]
