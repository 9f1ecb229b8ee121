"""What unjudged documents could change, as a table, a section of Markdown and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.headlines import join_names
from beir_eval.comparison.tables import shown_differences
from beir_eval.comparison.verdict_sentences import UNKNOWN, signed_range_text, signed_text
from beir_eval.display.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.records import UnjudgedEffect
    from beir_eval.comparison.result import Comparison

#: What the table shows.
UNJUDGED_TITLE = "What unjudged documents could change"
_COLUMNS = (
    "measure",
    "system",
    "against",
    "top",
    "judged",
    "against judged",
    "worst cases of the difference",
    "could the verdict change",
)
#: A verdict that could change is a caution if of both systems at least this share is judged.
_MOSTLY_JUDGED = 0.5


def unjudged_table(comparison: Comparison) -> Table:
    """Return a table of what unjudged documents could change, one row for each pair."""
    return Table(_COLUMNS, list(map(_cells, _shown_effects(comparison))))


def _shown_effects(comparison: Comparison) -> list[UnjudgedEffect]:
    """Return the records in the order of the differences shown, and for the same differences."""
    by_pair: dict[tuple[str, str, str], UnjudgedEffect] = {}
    for effect in comparison.unjudged or ():
        for oriented in (effect, effect.reversed()):
            by_pair[oriented.measure, oriented.system, oriented.against] = oriented
    keys = (
        (difference.measure, difference.system, difference.against)
        for difference in shown_differences(comparison)
    )
    return [by_pair[key] for key in keys if key in by_pair]


def unjudged_summary(comparison: Comparison) -> str:
    """Return how many verdicts unjudged documents could change; "" if nothing is known of them."""
    effects = comparison.unjudged or ()
    if not effects or comparison.to_judge is None:
        return ""
    if len(effects) == 1:
        return _sentence(effects[0], comparison.differences[0].verdict)
    changes = [effect.verdict_change for effect in effects]
    number, could, unknown = len(changes), changes.count("could"), changes.count("not known")
    if unknown == number:
        return "Whether unjudged documents could change these verdicts is not known."
    cannot = number - could - unknown
    rest = "one" if unknown == 1 else str(unknown)
    others = f"; whether they could change the other {rest} is not known" if unknown else ""
    if not could:
        which = f"{cannot} of {number}" if unknown else f"any of the {number}"
        return f"Unjudged documents cannot change {which} verdicts{others}."
    everything = "both" if number == 2 else f"all {number}"  # noqa: PLR2004 - a word
    which = everything if could == number else f"{could} of {number}"
    counts = {
        measure: sum(effect.verdict_change == "could" for effect in of_measure)
        for measure in comparison.measures
        if (of_measure := [effect for effect in effects if effect.measure == measure])
    }
    listed = ", ".join(f"{count} on {measure}" for measure, count in counts.items())
    by_measure = f" ({listed})" if len(set(counts.values())) > 1 else ""
    if cannot and unknown:
        others = f" and cannot change {cannot}{others}"
    return f"Unjudged documents could change {which} verdicts{by_measure}{others}."


def unjudged_notes(comparison: Comparison) -> Iterator[str]:
    """Yield how to read the table, or why it has judged shares only."""
    effects = comparison.unjudged or ()
    if not effects:
        return
    if comparison.to_judge is None:
        yield (
            "saved results have no judgements: for unjudged documents, ties and ranking similarity "
            "compare the runs: compare_runs(qrels, runs)"
        )
        return
    if any(effect.low is not None for effect in effects):
        yield (
            "worst cases: however any unjudged documents of the collection are judged, retrieved "
            "or not, with grades up to the highest of the qrels, the difference of the means lies "
            "between them"
        )
    unbounded = dict.fromkeys(effect.measure for effect in effects if effect.low is None)
    if unbounded:
        yield (
            f"{', '.join(unbounded)}: no worst cases are known; a verdict that could change is "
            "shown by judgements that change it"
        )


def unjudged_cautions(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on verdicts that could change although most of the top is judged.

    Where little is judged, as on qrels with one judged document a query, nearly every verdict
    could: that is no news.
    """
    effects = _shown_effects(comparison)
    could = [
        effect
        for effect in effects
        if effect.verdict_change == "could"
        and min(effect.judged or 0.0, effect.judged_against or 0.0) >= _MOSTLY_JUDGED
    ]
    if could and len(effects) == 1:
        yield _sentence(could[0], comparison.differences[0].verdict)
        return
    for measure in dict.fromkeys(effect.measure for effect in could):
        names = [
            f"{effect.system} vs {effect.against}" for effect in could if effect.measure == measure
        ]
        yield (
            f"{measure}: at least half of the top is judged, but unjudged documents could change "
            f"the {'verdict' if len(names) == 1 else 'verdicts'} on {join_names(names)}"
        )


def _sentence(effect: UnjudgedEffect, verdict: str) -> str:
    if effect.verdict_change == "cannot":
        return "Unjudged documents cannot change this verdict."
    if effect.verdict_change == "not known":
        return "Whether unjudged documents could change this verdict is not known."
    ends = ""
    if effect.low is not None and effect.high is not None:
        low, high = signed_text(effect.low), signed_text(effect.high)
        ends = f" (the difference could be {low} to {high})"
        if verdict in ("better", "worse") and effect.low * effect.high > 0:
            nearest = low if effect.low > 0 else high
            ends += f"; near {nearest} it might not be significant"
    return f"Unjudged documents could change this verdict{ends}."


def _cells(effect: UnjudgedEffect) -> tuple[str, ...]:
    is_bounded = effect.low is not None and effect.high is not None
    return (
        effect.measure,
        effect.system,
        effect.against,
        "all" if effect.depth is None else str(effect.depth),
        _percent(effect.judged),
        _percent(effect.judged_against),
        signed_range_text(effect.low or 0.0, effect.high or 0.0) if is_bounded else UNKNOWN,
        effect.verdict_change,
    )


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:.1%}"
