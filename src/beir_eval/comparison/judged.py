"""How much of the top of each system's rankings is judged: columns, a table and a caution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.tables import in_shown_order, label_of
from beir_eval.comparison.verdict_sentences import some_of
from beir_eval.display.tables import UNKNOWN, Table
from beir_eval.evaluation.notes import judged_depth, share_text
from beir_eval.measures.names import registered
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.evaluation.result import EvaluationResult

#: What the table shows.
JUDGED_TITLE = "Judged documents"
#: A share is low if it is below this part of the highest, and this much lower.
_LOW_PART, _LEAST_GAP = 0.75, 0.1
#: Measures in which unjudged documents do not count as not relevant.
_WITHOUT_UNJUDGED = ("Judged", "Hole", "bpref", "gm_bpref", "infAP", "num_nonrel_judged_ret")


def judged_shares(comparison: Compared, measure: str) -> dict[str, float]:
    """Return {system: the share of its documents down to a measure's cutoff that are judged}.

    Systems whose documents were not counted are left out, and all for a custom measure.
    """
    if registered(measure) is None:
        return {}
    shares = {
        system: _share(comparison.results.get(system, ()), judged_depth(measure))
        for system in comparison.systems
    }
    return {system: share for system, share in shares.items() if share is not None}


def judged_texts(comparison: Compared, measure: str) -> dict[str, str]:
    """Return {system: its judged share in percent} of the systems for which it is known."""
    shares = judged_shares(comparison, measure)
    return {system: f"{share_text(share)}%" for system, share in shares.items()}


def _share(repeats: Sequence[EvaluationResult], depth: int | None) -> float | None:
    """Return the judged share of a system's documents; None if it is not known.

    Args:
        repeats: its results.
        depth: the rank down to which documents count; None for whole rankings.
    """
    judged = retrieved = 0
    for counted in (result.counted for result in repeats):
        if counted is None or counted.text is not None:
            return None
        count = (
            (counted.documents_judged, counted.documents_retrieved)
            if depth is None
            else counted.judged_in_top.get(depth, (None, None))
        )
        if count[0] is None or count[1] is None:
            return None
        judged, retrieved = judged + count[0], retrieved + count[1]
    return judged / retrieved if retrieved else None


def judged_table(comparison: Compared) -> Table | None:
    """Return a table of the judged shares, a row for each system; None if none is known."""
    columns = {
        "all" if (depth := judged_depth(measure)) is None else f"top {depth}": shares
        for measure in comparison.measures
        if (shares := judged_texts(comparison, measure))
    }
    if not columns:
        return None
    rows = [
        (
            label_of(comparison, system),
            *(shares.get(system, UNKNOWN) for shares in columns.values()),
        )
        for system in in_shown_order(comparison)
    ]
    return Table(("system", *columns), rows)


def judged_cautions(comparison: Compared) -> list[str]:
    """Return a sentence on systems of which far fewer documents are judged than of another.

    It is about the first measure: the documents down to its cutoff. Below 75% of the highest share,
    and 10 points below it, a share is low. Without such a system the list is empty.
    """
    measure = comparison.measures[0]
    shares = judged_shares(comparison, measure)
    if not shares or not counts_unjudged(measure):
        return []
    best = max(shares, key=shares.__getitem__)
    limit = min(_LOW_PART * shares[best], shares[best] - _LEAST_GAP)
    low = [f"{share:.0%} of {system}" for system, share in shares.items() if share < limit]
    if not low:
        return []
    depth = judged_depth(measure)
    where = "retrieved documents" if depth is None else f"documents in the top {depth}"
    sentence = (
        f"few {where} are judged: {some_of(low)}, but {shares[best]:.0%} of {best}. Unjudged "
        "documents count as not relevant, so scores may be too low where few are judged; or the "
        "ranking has a fault, which beir-eval validate may find"
    )
    return [sentence]


def counts_unjudged(measure: str) -> bool:
    """Return whether a measure of this package counts unjudged documents as not relevant."""
    parsed = registered(measure)
    return (
        parsed is not None
        and parsed.name not in _WITHOUT_UNJUDGED
        and (JUDGED_ONLY, True) not in parsed.parameters
    )
