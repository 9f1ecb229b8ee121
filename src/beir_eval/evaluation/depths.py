"""How deep rankings are, and how much of their documents is judged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from beir_eval.display.tables import UNKNOWN
from beir_eval.measures.names import registered
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: Rankings are mostly of so many documents or more where a measure without a cutoff is reported.
_USUAL_DEPTH = 100
#: A ranking with fewer documents than this part of another one's is shallower.
SHALLOW_PART = 0.95


def judged_depth(measure: str) -> int | None:
    """Return the rank below which documents do not matter to a measure; None if there is none.

    Without unjudged documents, which ``judged_only`` leaves out, later ones move up.
    """
    parsed = registered(measure)
    if parsed is None or (JUDGED_ONLY, True) in parsed.parameters:
        return None
    return parsed.cutoff


def judged_share(repeats: Sequence[EvaluationResult], depth: int | None) -> float:
    """Return the judged share of the first documents of a system; NaN if it is not known.

    Args:
        repeats: its results.
        depth: how many first documents; None for all.
    """
    judged = retrieved = 0
    for counted in (result.counted for result in repeats):
        if counted is None or counted.text is not None:
            return math.nan
        whole = counted.documents_judged, counted.documents_retrieved
        counts = whole if depth is None else counted.judged_in_top.get(depth)
        if counts is None:
            return math.nan
        judged, retrieved = judged + counts[0], retrieved + counts[1]
    return judged / retrieved if retrieved else math.nan


def judged_text(repeats: Sequence[EvaluationResult], depth: int | None) -> str:
    """Return a judged share in percent, as ``judged_share``; ``UNKNOWN`` if it is not known."""
    share = judged_share(repeats, depth)
    return UNKNOWN if math.isnan(share) else f"{share_text(share)}%"


def share_text(share: float) -> str:
    """Return a share in percent without the sign; what is neither all nor nothing shows as such.

    >>> share_text(0.52), share_text(1.0), share_text(0.9999), share_text(0.0001)
    ('52', '100', '>99', '<1')
    """
    if 0 < share < 0.01:  # noqa: PLR2004 - 1%
        return "<1"
    if 0.99 < share < 1:  # noqa: PLR2004 - 99%
        return ">99"
    return f"{100 * share:.0f}"


def is_cut_short(measure: Measure, deepest: int) -> bool:
    """Return whether a measure would see more documents of longer rankings.

    Without a cutoff, rankings of fewer than 100 documents are taken for short ones.

    Args:
        measure: the measure.
        deepest: the number of documents in the longest ranking.
    """
    if measure.cutoff is not None:
        return measure.cutoff > deepest
    sees_all = measure.definition.cutoff == "optional" and measure.definition.aggregate != "sum"
    return sees_all and deepest < _USUAL_DEPTH


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
    'documents below rank 10 are missing from top10 (bm25 has 100)'
    """
    (first, shallowest), *_, (last, deepest) = sorted(depths.items(), key=lambda item: item[1])
    return f"documents below rank {shallowest:,} are missing from {first} ({last} has {deepest:,})"


def unequal_depths_text(measures: Iterable[str], depths: Mapping[str, int]) -> str:
    """Return that some measures compare depths, and what to do; "" if none does.

    Args:
        measures: the names of the measures.
        depths: {system: the number of documents in its longest ranking}.
    """
    listed = [name for name in measures if compares_depths(name, depths)]
    if not listed:
        return ""
    lowest = min(depths.values())
    counted = f"which {', '.join(listed)} {'counts' if len(listed) == 1 else 'count'}"
    return f"{depths_text(depths)}, {counted}: choose a cutoff of at most {lowest:,}"
