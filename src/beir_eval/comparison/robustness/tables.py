"""What unjudged documents and ties could change, as text: a table, sentences, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.robustness.analysis import MOST_SYSTEMS, is_looked_at
from beir_eval.comparison.tables import UNKNOWN, low_to_high, signed, signed_range
from beir_eval.display.tables import Table, markdown_list
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.records import PairTrust
    from beir_eval.comparison.result import Comparison

_TRUST_COLUMNS = (
    "measure",
    "system",
    "against",
    "top",
    "judged",
    "against judged",
    "bounds of the difference",
    "could flip",
    "condensed difference",
    "ties",
    "against ties",
)


def trust_table(comparison: Comparison) -> Table:
    """Return what holes and ties could change about every difference."""
    return Table(_TRUST_COLUMNS, [_trust_cells(one) for one in comparison.trust or ()])


def trust_section(comparison: Comparison) -> str:
    """Return what holes and ties could change, as markdown without the notes; "" if unknown."""
    if not comparison.trust:
        return ""
    listed = markdown_list(sentences(comparison))
    gap = "\n" if listed else ""
    return (
        "\n### What unjudged documents and ties could change\n\n"
        f"{listed}{gap}{trust_table(comparison).markdown()}\n"
    )


def trust_notes(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader must know of how trust was found, or why not."""
    if comparison.trust is None and not is_looked_at(comparison):
        yield (
            f"what unjudged documents and ties could change is looked at with a baseline, or for "
            f"all pairs of at most {MOST_SYSTEMS} systems: name a baseline"
        )
    if comparison.trust and comparison.to_judge is None:
        yield (
            "results hold no judgements: beyond the judged shares, what unjudged documents and "
            "ties could change is known to compare_runs(qrels, runs), and how alike the systems "
            "rank to it or with keep_top; keep the runs"
        )
    if comparison.trust and comparison.to_judge is not None:
        yield from _on_bounds(comparison.trust)


def _on_bounds(trust: tuple[PairTrust, ...]) -> Iterator[str]:
    yield (
        "bounds: of the difference of the means if each unjudged document in the top of either "
        "system were relevant, with the highest grade, or stayed as it is, alike in both"
    )
    partly = {one.measure: one.depth for one in trust if parse(one.measure).cutoff != one.depth}
    for measure, depth in partly.items():
        yield f"{measure}: unjudged documents are looked at down to rank {depth}, no deeper"
    unproven = dict.fromkeys(one.measure for one in trust if one.exact is False)
    if unproven:
        yield (
            f"bounds of {', '.join(unproven)}: the extremes of the choices that were tried, others "
            "may reach further"
        )


def sentences(comparison: Comparison) -> Iterator[str]:
    """Yield which verdicts unjudged documents could change, or that they can change none."""
    verdicts = {(one.measure, one.system, one.against): one for one in comparison.differences}
    known = [one for one in comparison.trust or () if one.could_flip is not None]
    for one in known:
        if not one.could_flip or one.low is None or one.high is None:
            continue
        found = verdicts[one.measure, one.system, one.against]
        bounds = f"the difference of {signed(found.difference)} could lie from {signed(one.low)}"
        bounds += f" to {signed(one.high)}"
        if found.verdict in ("better", "worse"):
            yield (
                f"{one.measure}: {one.system} is {found.verdict} than {one.against}, but unjudged "
                f"documents could turn that: {bounds}"
            )
        else:
            yield (
                f"{one.measure}: {one.system} and {one.against} are {found.verdict}, but unjudged "
                f"documents could change that: {bounds}"
            )
    if known and not any(one.could_flip for one in known):
        proven = all(one.exact and parse(one.measure).cutoff == one.depth for one in known)
        yield (
            "unjudged documents could not turn any verdict"
            if proven
            else "no choice of relevant documents that was tried turns a verdict"
        )


def _trust_cells(one: PairTrust) -> tuple[str, ...]:
    return (
        one.measure,
        one.system,
        one.against,
        str(one.depth),
        _share(one.judged),
        _share(one.judged_against),
        UNKNOWN if one.low is None or one.high is None else signed_range(one.low, one.high),
        {None: UNKNOWN, True: "yes", False: "no"}[one.could_flip],
        UNKNOWN if one.condensed_difference is None else signed(one.condensed_difference),
        low_to_high(*(one.ties or (None, None))),
        low_to_high(*(one.ties_against or (None, None))),
    )


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1%}"
