"""Systems of different depths side by side: which measures compare these, and how it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.errors import number_of
from beir_eval.measures.names import registered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: A ranking with fewer documents than this part of another one's is shallower.
SHALLOW_PART = 0.95


def compares_depths(measure: str, depths: Mapping[str, int]) -> bool:
    """Return whether a measure compares the depths of systems and not their rankings only.

    That is so if it has no cutoff, or one beyond the shallowest system, and another system is
    deeper.

    Args:
        measure: the name of the measure; False for one that is not a measure of this package.
        depths: {system: the number of documents in its longest ranking}.
    """
    parsed = registered(measure)
    if parsed is None or len(depths) <= 1:
        return False
    counted = [
        depth if parsed.cutoff is None else min(depth, parsed.cutoff) for depth in depths.values()
    ]
    return min(counted) < SHALLOW_PART * max(counted)


def depths_text(depths: Mapping[str, int]) -> str:
    """Return that systems differ in depth, with the shallowest and the deepest.

    >>> depths_text({"bm25": 100, "top10": 10})
    'rankings have different depths: top10 at most 10 documents a query, bm25 at most 100'
    """
    (first, shallowest), *_, (last, deepest) = sorted(depths.items(), key=lambda item: item[1])
    return (
        f"rankings have different depths: {first} at most {number_of(shallowest, 'document')} a "
        f"query, {last} at most {deepest:,}"
    )


def unequal_depths_text(measures: Iterable[str], depths: Mapping[str, int]) -> str:
    """Return that some measures compare depths, and what to do; "" if none does.

    Args:
        measures: the names of the measures.
        depths: {system: the number of documents in its longest ranking}.
    """
    listed = [name for name in measures if compares_depths(name, depths)]
    if not listed:
        return ""
    return (
        f"{depths_text(depths)}. Differences in {', '.join(listed)} may come from that. Compare "
        f"rankings of equal depth, or at a cutoff of at most {min(depths.values()):,}"
    )
