"""What unjudged documents and ties could change, as a table, a section of markdown and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.robustness.pair_trust import MOST_SYSTEMS, has_few_enough_systems
from beir_eval.comparison.verdict_sentences import (
    UNKNOWN,
    range_text,
    signed_range_text,
    signed_text,
)
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
    """Return a table of what unjudged documents and ties could change, one row for each pair."""
    return Table(_TRUST_COLUMNS, [_pair_cells(pair) for pair in comparison.trust or ()])


def trust_section(comparison: Comparison) -> str:
    """Return what unjudged documents and ties could change as a section of markdown.

    The section has no notes (``trust_notes``); it is "" if the comparison has no such analysis.
    """
    if not comparison.trust:
        return ""
    verdict_list = markdown_list(robustness_sentences(comparison))
    gap = "\n" if verdict_list else ""
    return (
        "\n### What unjudged documents and ties could change\n\n"
        f"{verdict_list}{gap}{trust_table(comparison).markdown()}\n"
    )


def trust_notes(comparison: Comparison) -> Iterator[str]:
    """Yield how the analysis was done, or why there is none."""
    if comparison.trust is None and not has_few_enough_systems(comparison):
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
        yield from _bound_notes(comparison.trust)


def _bound_notes(trust: tuple[PairTrust, ...]) -> Iterator[str]:
    yield (
        "bounds: of the difference of the means if each unjudged document in the top of either "
        "system were relevant, with the highest grade, or stayed as it is, alike in both"
    )
    limited_depths = {
        pair.measure: pair.depth for pair in trust if parse(pair.measure).cutoff != pair.depth
    }
    for measure, depth in limited_depths.items():
        yield f"{measure}: unjudged documents are looked at down to rank {depth}, no deeper"
    unproven = dict.fromkeys(pair.measure for pair in trust if pair.exact is False)
    if unproven:
        yield (
            f"bounds of {', '.join(unproven)}: the extremes of the choices that were tried, others "
            "may reach further"
        )


def robustness_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence for each verdict that unjudged documents could change.

    If there is no such verdict, one sentence says so; without bounds there is no sentence.
    """
    differences = {
        (difference.measure, difference.system, difference.against): difference
        for difference in comparison.differences
    }
    bounded_pairs = [pair for pair in comparison.trust or () if pair.could_flip is not None]
    for pair in bounded_pairs:
        if not pair.could_flip or pair.low is None or pair.high is None:
            continue
        observed = differences[pair.measure, pair.system, pair.against]
        bounds = (
            f"the difference of {signed_text(observed.difference)} could lie from "
            f"{signed_text(pair.low)} to {signed_text(pair.high)}"
        )
        if observed.verdict in ("better", "worse"):
            yield (
                f"{pair.measure}: {pair.system} is {observed.verdict} than {pair.against}, but "
                f"unjudged documents could turn that: {bounds}"
            )
        else:
            yield (
                f"{pair.measure}: {pair.system} and {pair.against} are {observed.verdict}, but "
                f"unjudged documents could change that: {bounds}"
            )
    if bounded_pairs and not any(pair.could_flip for pair in bounded_pairs):
        proven = all(
            pair.exact and parse(pair.measure).cutoff == pair.depth for pair in bounded_pairs
        )
        yield (
            "unjudged documents could not turn any verdict"
            if proven
            else "no choice of relevant documents that was tried turns a verdict"
        )


def _pair_cells(pair: PairTrust) -> tuple[str, ...]:
    return (
        pair.measure,
        pair.system,
        pair.against,
        str(pair.depth),
        _percent(pair.judged),
        _percent(pair.judged_against),
        UNKNOWN
        if pair.low is None or pair.high is None
        else signed_range_text(pair.low, pair.high),
        {None: UNKNOWN, True: "yes", False: "no"}[pair.could_flip],
        UNKNOWN if pair.condensed_difference is None else signed_text(pair.condensed_difference),
        range_text(*(pair.ties or (None, None))),
        range_text(*(pair.ties_against or (None, None))),
    )


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1%}"
