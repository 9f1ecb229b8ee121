"""How a run hands out its rankings: flat arrays over several queries at once.

``RunSource`` is what a run can be made of; it yields ``Block``s, in which the judged documents are
already found; ``ranking`` turns a block into ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.core.qrels import Qrels


#: Scores in the precision in which they were given.
Scores: TypeAlias = NDArray[np.float64] | NDArray[np.float32]


class RankedIds(Protocol):
    """The document ids of a block, looked up only where ranks depend on them."""

    def at(self, positions: Ints) -> list[str]:
        """Return the ids at these positions of the block, in this order."""
        ...


def _nothing() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The rankings of R judged queries, N documents in all, flat; H of them are judged.

    Attributes:
        rows: which query of the qrels each ranking answers, i8[R].
        starts: where each ranking begins, and the end of the last, i8[R+1].
        scores: finite, f8[N] or f4[N]; None when the order given is the ranking.
        ids: the document ids, by position (0..N-1).
        hit_row: the ranking (0..R-1) of each judged document found, never decreasing, i8[H].
        hit_judgement: which judgement of the qrels it is, i8[H].
        hit_score: its score, f8[H] or f4[H] as ``scores``; None where ``scores`` is None.
        hit_position: its position, the first of several, i8[H]; None where only the score is known.
        identical: positions of documents whose id is that of their query.
        copy_group, copy_position: every entry whose document stands more than once in its
            ranking, and a number that such entries share.
        all_checked: whether all documents were looked at for copies, or only judged ones.
    """

    rows: Ints
    starts: Ints
    scores: Scores | None
    ids: RankedIds
    hit_row: Ints
    hit_judgement: Ints
    hit_score: Scores | None
    hit_position: Ints | None
    identical: Ints = field(default_factory=_nothing)
    copy_group: Ints = field(default_factory=_nothing)
    copy_position: Ints = field(default_factory=_nothing)
    all_checked: bool = True


class RunSource(Protocol):
    """Where the rankings come from: a mapping, columns, a file."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking, empty ones included, each once."""
        ...

    def blocks(self, qrels: Qrels) -> Iterator[Block]:
        """Yield the rankings of the queries that the qrels judge, each query in one block."""
        ...

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield (query_id, doc_ids, scores) for every query, in the order given."""
        ...
