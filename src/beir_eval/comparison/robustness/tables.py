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

    from beir_eval.comparison.records import Difference, PairTrust
    from beir_eval.comparison.result import Comparison

_TRUST_COLUMNS = (
    "measure",
    "system",
    "against",
    "top",
    "judged",
    "against judged",
    "bounds of the difference",
    "verdict flip",
    "expected difference",
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
    """Yield how the analysis was done, or why it was not done."""
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
        yield from _bound_notes(comparison)


def _bound_notes(comparison: Comparison) -> Iterator[str]:
    trust = comparison.trust or ()
    yield (
        "bounds: of the difference of the means if each unjudged document in the top of any "
        "system were relevant, with the highest grade, or stayed as it is, alike in all systems"
    )
    limited_depths = {pair.measure: pair.depth for pair in trust if not is_deep_enough(pair)}
    for measure, depth in limited_depths.items():
        yield (
            f"{measure}: unjudged documents are looked at down to rank {depth}, what those below "
            "could change is not known"
        )
    unproven = dict.fromkeys(pair.measure for pair in trust if pair.exact is False)
    if unproven:
        yield (
            f"bounds of {', '.join(unproven)}: the extremes of the choices that were tried, others "
            "may reach further"
        )
    if any(pair.verdict_flip == "not known" for pair in trust):
        yield from _unknown_notes(comparison)
    if any(pair.expected is not None for pair in trust):
        yield (
            "expected difference: if unjudged documents were relevant as often as judged ones at "
            "the same rank, which usually overestimates the change; in brackets its interval at "
            f"{1 - comparison.settings.alpha:.0%}"
        )
    if any(pair.expected is None and pair.unjudged for pair in trust):
        yield (
            "expected difference: not known (?) where none of the judged documents retrieved is "
            "judged not relevant: such judgements do not show how often documents are relevant"
        )
    if any(map(_is_condensed_outside, trust)):
        yield (
            "condensed difference: without unjudged documents others move up, so it may lie "
            "outside the bounds"
        )


#: Why no verdict flip is known in some comparisons.
_NOT_TESTED = "verdicts over repeats and on chosen systems are not tested with other judgements"


def _unknown_notes(comparison: Comparison) -> Iterator[str]:
    """Yield why it is not known for some verdicts whether unjudged documents could change them."""
    settings = comparison.settings
    text = "not known: no choice of relevant documents that was tried changes the verdict, but "
    if not settings.has_flips_tested:
        yield f"whether such documents could change a verdict is not known: {_NOT_TESTED}"
        return
    if settings.test != "sign_flip":
        yield f"{text}with test={settings.test!r} none can be ruled out"
    elif settings.correction in ("max-t-step-down", "tukey") and len(comparison.systems) > 2:  # noqa: PLR2004 - more than one pair
        yield (
            f"{text}with correction={settings.correction!r} none can be ruled out for better and "
            "worse"
        )
    else:
        yield f"{text}not all choices can be ruled out"


def is_deep_enough(pair: PairTrust) -> bool:
    """Return whether unjudged documents are looked at down to the measure's cutoff."""
    return pair.depth is None or pair.depth == parse(pair.measure).cutoff


def _is_condensed_outside(pair: PairTrust) -> bool:
    if pair.low is None or pair.high is None or pair.condensed_difference is None:
        return False
    return not pair.low <= pair.condensed_difference <= pair.high


def robustness_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield which verdicts unjudged documents could change, could not change, and which are open.

    There is a sentence for each verdict that they could change, and one each for how many they
    could not change and how many are not known. Without bounds there is no sentence.
    """
    differences = {
        (difference.measure, difference.system, difference.against): difference
        for difference in comparison.differences
    }
    bounded_pairs = [pair for pair in comparison.trust or () if pair.low is not None]
    for pair in bounded_pairs:
        if pair.verdict_flip == "could":
            yield _flip_sentence(
                pair,
                differences[pair.measure, pair.system, pair.against],
                1 - comparison.settings.alpha,
            )
    num_verdicts = len(bounded_pairs)
    num_certain = sum(pair.verdict_flip == "could not" for pair in bounded_pairs)
    num_unknown = sum(pair.verdict_flip == "not known" for pair in bounded_pairs)
    if num_certain:
        yield (
            f"unjudged documents could not change {_count_text(num_certain, num_verdicts)}, "
            "whichever of them are relevant (with the highest grade)"
        )
    if num_unknown:
        reason = "no choice of relevant documents that was tried does"
        if not comparison.settings.has_flips_tested:
            reason = _NOT_TESTED
        yield (
            f"it is not known whether unjudged documents could change "
            f"{_count_text(num_unknown, num_verdicts)}: {reason}"
        )


def _flip_sentence(pair: PairTrust, observed: Difference, confidence: float) -> str:
    """Return the sentence on a verdict that unjudged documents could change.

    Args:
        pair: what these documents could change.
        observed: the difference as observed.
        confidence: that of the interval of the expected difference.
    """
    assert pair.low is not None, "the pair has bounds"  # noqa: S101
    assert pair.high is not None, "the pair has bounds"  # noqa: S101
    bounds = (
        f"the difference of {signed_text(observed.difference)} could lie from "
        f"{signed_text(pair.low)} to {signed_text(pair.high)}"
    )
    if pair.expected is not None:
        label = f"{confidence:.0%} interval for the unknown judgements, not for other queries: "
        bounds += f", expected {_expected_text(pair, label)}"
    if observed.verdict in ("better", "worse"):
        return (
            f"{pair.measure}: {pair.system} is {observed.verdict} than {pair.against}, but "
            f"unjudged documents could reverse or undo this: {bounds}"
        )
    return (
        f"{pair.measure}: {pair.system} and {pair.against} are {observed.verdict}, but "
        f"unjudged documents could change this: {bounds}"
    )


def _count_text(count: int, num_verdicts: int) -> str:
    if count == num_verdicts:
        return "any verdict" if num_verdicts > 1 else "the verdict"
    return f"{count} of {num_verdicts} verdicts"


def _expected_text(pair: PairTrust, label: str = "") -> str:
    """Return the expected difference with its interval, and a label before its ends."""
    assert pair.expected is not None, "the pair has an expected difference"  # noqa: S101
    low, high = pair.expected_low or 0.0, pair.expected_high or 0.0
    return f"{signed_text(pair.expected)} ({label}{signed_text(low)} to {signed_text(high)})"


def _depth_text(depth: int | None) -> str:
    return "all" if depth is None else str(depth)


def _pair_cells(pair: PairTrust) -> tuple[str, ...]:
    return (
        pair.measure,
        pair.system,
        pair.against,
        _depth_text(pair.depth),
        _percent(pair.judged),
        _percent(pair.judged_against),
        UNKNOWN
        if pair.low is None or pair.high is None
        else signed_range_text(pair.low, pair.high),
        pair.verdict_flip,
        UNKNOWN if pair.expected is None else _expected_text(pair),
        UNKNOWN if pair.condensed_difference is None else signed_text(pair.condensed_difference),
        range_text(*(pair.ties or (None, None))),
        range_text(*(pair.ties_against or (None, None))),
    )


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1%}"
