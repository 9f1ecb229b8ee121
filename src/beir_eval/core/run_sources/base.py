"""How a run is read: a ``RunSource`` yields ``RankingBlock``s, flat arrays of several rankings.

In a block the judged documents are found already; ``ranking`` finds their ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.qrels import Qrels


#: Scores in the precision in which they were given.
Scores: TypeAlias = NDArray[np.float64] | NDArray[np.float32]


def _nothing() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingBlock:
    """The rankings of R judged queries, N documents in all, flat; H of them are judged ("hits").

    Attributes:
        rows: which query of the qrels each ranking answers, i8[R].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        scores: finite, f8[N] or f4[N]; None when the order given is the ranking.
        ids_at: returns the document ids at positions (0..N-1). They are looked up only where ranks
            depend on them.
        hit_ranking: the ranking (0..R-1) of each hit, never decreasing, i8[H]. Hits of one ranking
            are in any order, by which ties="best" and "worst" order equal grades.
        hit_judgement: which judgement of the qrels it is, i8[H].
        hit_score: its score, f8[H] or f4[H] as ``scores``; None where ``scores`` is None.
        hit_position: its position, the first of several, i8[H]; None where only the score is known.
        identical: positions of documents whose id is that of their query.
        copy_group, copy_position: every entry whose document is listed more than once in its
            ranking, ranking after ranking, and a number that such entries share.
    """

    rows: Ints
    starts: Ints
    scores: Scores | None
    ids_at: Callable[[Ints], list[str]]
    hit_ranking: Ints
    hit_judgement: Ints
    hit_score: Scores | None
    hit_position: Ints | None
    identical: Ints = field(default_factory=_nothing)
    copy_group: Ints = field(default_factory=_nothing)
    copy_position: Ints = field(default_factory=_nothing)

    @property
    def num_spare_copies(self) -> int:
        """How many entries repeat a document that their ranking has already."""
        return len(self.copy_group) - len(set(self.copy_group.tolist()))


class RunSource(Protocol):
    """What a run is read from: dicts, columns, top-k arrays."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, empty ones included, each once."""
        ...

    @property
    def checks_all_documents(self) -> bool:
        """Whether all documents are compared to find duplicates, or only judged ones."""
        ...

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the queries that the qrels judge, each query in one block."""
        ...

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield (query_id, doc_ids, scores) for every query, in the order given."""
        ...
