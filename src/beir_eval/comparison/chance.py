"""What the p-value of a comparison covers, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.display.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.result import Comparison

#: What p does not account for if systems may have been chosen on these queries.
CHOICE_OF_SYSTEMS = "the choice of the best system"


@dataclass(frozen=True)
class Chance:
    """A source of chance, and whether p covers it.

    Attributes:
        source: its name, such as "queries".
        in_p: whether p covers it.
        text: what p takes for granted, with the setting or the command that covers it.
        short: the source in the middle of a sentence; "" if it plays no part in this comparison.
    """

    source: str
    in_p: bool
    text: str
    short: str = ""


def chances_of(comparison: Comparison) -> list[Chance]:
    """Return all sources of chance of a comparison, each with whether p covers it."""
    return [
        *_queries(comparison),
        _repeats(comparison),
        _comparisons(comparison),
        _measures(comparison),
        Chance(
            "choice",
            in_p=False,
            text="systems not chosen by these scores (else other queries)",
            short=CHOICE_OF_SYSTEMS,
        ),
        Chance(
            "looks",
            in_p=False,
            text="the first look at these queries",
            short="repeated looks",
        ),
    ]


def chance_table(comparison: Comparison) -> Table:
    """Return a table with a row for each source of chance: whether p covers it, and how."""
    rows = [
        (chance.source, "yes" if chance.in_p else "no", chance.text)
        for chance in chances_of(comparison)
    ]
    return Table(("chance of", "in p", "what is assumed"), rows)


def sample_text(comparison: Comparison) -> str:
    """Return what p is over, such as "43 queries and 3 repeats"."""
    chances = chances_of(comparison)
    return " and ".join(chance.short for chance in chances if chance.in_p and chance.short)


def chance_note(comparison: Comparison) -> str:
    """Return what the p-value covers and what not, with the noise that would undo a verdict."""
    others = [chance.short for chance in chances_of(comparison) if chance.short and not chance.in_p]
    return chance_sentence(sample_text(comparison), others) + _noise_text(comparison)


def chance_sentence(covered: str, others: Sequence[str]) -> str:
    """Return what p accounts for, and what not.

    >>> chance_sentence("43 queries", ["training noise", "repeated looks"])
    'p accounts for the sampling of 43 queries, not for training noise or repeated looks'
    """
    *first, last = others
    listed = f"{', '.join(first)}{',' if len(first) > 1 else ''} or {last}" if first else last
    return f"p accounts for the sampling of {covered}, not for {listed}"


def queries_only_note(sample: str = "queries") -> str:
    """Return what p accounts for, and what not, where it is over queries or data sets alone.

    Args:
        sample: what is a sample, such as "data sets".
    """
    others = ("noise of training or repeats", CHOICE_OF_SYSTEMS, "repeated looks")
    return chance_sentence(sample, others)


def queries_sample_text(comparison: Comparison) -> str:
    """Return the number of queries behind means and p, by measure where it differs.

    A query without relevant documents is among those compared, and has no score if these are left
    out (no_relevant="skip").
    """
    num_queries = {
        difference.measure: difference.num_queries for difference in comparison.differences
    }
    total, counts = len(comparison.query_ids), set(num_queries.values())
    if counts <= {total}:
        return f"{total:,} queries"
    if len(counts) == 1:
        return f"{counts.pop():,} of {total:,} queries"
    by_measure = ", ".join(f"{measure} over {count:,}" for measure, count in num_queries.items())
    return f"the queries that a measure is defined for ({by_measure} of {total:,})"


def _queries(comparison: Comparison) -> Iterator[Chance]:
    """Yield the chance of queries, and that of related ones."""
    num_queries = queries_sample_text(comparison)
    if comparison.clusters is None:
        yield Chance("queries", in_p=True, text=f"a sample of {num_queries}", short=num_queries)
        yield Chance("related queries", in_p=False, text="queries are unrelated (else clusters)")
        return
    clusters = f"{len(set(comparison.clusters)):,} clusters"
    yield Chance(
        "queries",
        in_p=True,
        text=f"a sample of {clusters}",
        short=f"{clusters} of {num_queries}",
    )
    yield Chance("related queries", in_p=True, text=f"{clusters} of {num_queries}")


def _repeats(comparison: Comparison) -> Chance:
    """Return the chance of repeats, such as the seeds of a training."""
    settings = comparison.settings
    noisy = [name for name in comparison.systems if name not in settings.deterministic]
    if not noisy:
        text = "equal: all systems are deterministic"
        return Chance("repeats", in_p=True, text=text)
    counts = {mean.system: mean.repeats for mean in comparison.means if mean.system in noisy}
    if settings.has_random_repeats:
        low, high = min(counts.values()), max(counts.values())
        number = f"{low}" if low == high else f"{low} to {high}"
        kind = "pairs of repeats" if settings.repeats == "paired" else "repeats"
        other = " other" if len(noisy) < len(comparison.systems) else ""
        return Chance(
            "repeats",
            in_p=True,
            text=f"a sample of {number} {kind} of each{other} system",
            short=f"{number} {kind}",
        )
    if max(counts.values(), default=1) > 1:
        text = "the same repeats, averaged (else repeats)"
        return Chance("repeats", in_p=False, text=text, short="noise of repeats")
    return Chance(
        "repeats",
        in_p=False,
        text="the same runs, one of each system (else repeats)",
        short="training noise",
    )


def _comparisons(comparison: Comparison) -> Chance:
    """Return the chance of several comparisons on one measure."""
    number, correction = comparison.num_comparisons, comparison.settings.correction
    if number == 1:
        return Chance("comparisons", in_p=True, text="one comparison")
    if correction == "none":
        text = f"{number} comparisons, not corrected (else a correction)"
        return Chance("comparisons", in_p=False, text=text, short=f"{number} comparisons")
    text = f"{number} comparisons of a measure ({correction})"
    # The line on the test states the correction.
    return Chance("comparisons", in_p=True, text=text)


def _measures(comparison: Comparison) -> Chance:
    """Return the chance of several measures."""
    number = len(comparison.measures)
    if number == 1:
        return Chance("measures", in_p=True, text="one measure")
    text = f"{number} measures, not corrected: one of them decides"
    return Chance("measures", in_p=False, text=text, short=f"looking at {number} measures")


def _noise_text(comparison: Comparison) -> str:
    """Return how much noise of training would undo a verdict, as a sentence; "" for no verdict."""
    decided = [pair for pair in comparison.differences if pair.noise_to_undo is not None]
    if not decided:
        return ""
    weakest = min(decided, key=lambda pair: pair.noise_to_undo or 0.0)
    if comparison.baseline is None and weakest.verdict == "worse":
        weakest = weakest.reversed()
    which = "this verdict"
    if len(decided) > 1:
        measure = f" on {weakest.measure}" if len(comparison.measures) > 1 else ""
        against = f" vs {weakest.against}" if comparison.baseline is None else ""
        which = f"{weakest.system}{against}{measure}"
    noise = f"Training noise of SD {weakest.noise_to_undo:.2g} in each run"
    if not weakest.noise_to_undo:
        noise = "Any training noise"
    return f". {noise} would make {which} undecided"
