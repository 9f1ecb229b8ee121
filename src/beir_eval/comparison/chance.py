"""What the p-value of a comparison covers, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.comparison.differences import MOST_PAIRS
from beir_eval.comparison.likeness import MOST_RANKING_PAIRS, has_too_many_pairs
from beir_eval.comparison.verdict_sentences import (
    MARKS_NOTE,
    RANKS_NOTE,
    interval_notes,
    left_out_notes,
    source_notes,
    test_text,
)
from beir_eval.display.tables import Table, score_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import Difference

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


def _not_in_p(source: str, text: str, short: str = "") -> Chance:
    return Chance(source, in_p=False, text=text, short=short)


def chances_of(comparison: Compared) -> list[Chance]:
    """Return all sources of chance of a comparison, each with whether p covers it."""
    return [
        *_queries(comparison),
        _repeats(comparison),
        _comparisons(comparison),
        _measures(comparison),
        _not_in_p("judgements", "as they are: unjudged documents count as not relevant"),
        _not_in_p(
            "choice", "systems not chosen by these scores (else other queries)", CHOICE_OF_SYSTEMS
        ),
        _not_in_p("looks", "the first look at these queries", "repeated looks"),
    ]


def chance_table(comparison: Compared) -> Table:
    """Return a table with a row for each source of chance: whether p covers it, and how."""
    rows = [
        (chance.source, "yes" if chance.in_p else "no", chance.text)
        for chance in chances_of(comparison)
    ]
    return Table(("chance of", "in p", "what is assumed"), rows)


def sample_text(comparison: Compared) -> str:
    """Return what p is over, such as "43 queries and 3 repeats"."""
    chances = chances_of(comparison)
    return " and ".join(chance.short for chance in chances if chance.in_p and chance.short)


def chance_note(comparison: Compared) -> str:
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


def queries_sample_text(comparison: Compared) -> str:
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


def _queries(comparison: Compared) -> Iterator[Chance]:
    """Yield the chance of queries, and that of related ones."""
    num_queries = queries_sample_text(comparison)
    if comparison.clusters is None:
        yield Chance("queries", in_p=True, text=f"a sample of {num_queries}", short=num_queries)
        yield _not_in_p("related queries", "queries are unrelated (else clusters)")
        return
    clusters = f"{len(set(comparison.clusters)):,} clusters"
    yield Chance(
        "queries",
        in_p=True,
        text=f"a sample of {clusters}",
        short=f"{clusters} of {num_queries}",
    )
    yield Chance("related queries", in_p=True, text=f"{clusters} of {num_queries}")


def _repeats(comparison: Compared) -> Chance:
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
        return _not_in_p("repeats", text, "noise of repeats")
    return _not_in_p(
        "repeats", "the same runs, one of each system (else repeats)", "training noise"
    )


def _comparisons(comparison: Compared) -> Chance:
    """Return the chance of several comparisons on one measure."""
    number, correction = comparison.num_comparisons, comparison.settings.correction
    if number == 1:
        return Chance("comparisons", in_p=True, text="one comparison")
    if correction == "none":
        text = f"{number} comparisons, not corrected (else a correction)"
        return _not_in_p("comparisons", text, f"{number} comparisons")
    text = f"{number} comparisons of a measure ({correction})"
    # The line on the test states the correction.
    return Chance("comparisons", in_p=True, text=text)


def _measures(comparison: Compared) -> Chance:
    """Return the chance of several measures."""
    number = len(comparison.measures)
    if number == 1:
        return Chance("measures", in_p=True, text="one measure")
    text = f"{number} measures, not corrected: one of them decides"
    return _not_in_p("measures", text, f"looking at {number} measures")


def _noise_text(comparison: Compared) -> str:
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


def notes_of(comparison: Compared) -> Iterator[str]:
    """Yield notes on how to read the tables: tests, corrections, marks, what was left out."""
    settings = comparison.settings
    num_comparisons = comparison.num_comparisons
    correction_note = (
        f", corrected by {settings.correction} over the {num_comparisons} comparisons of a measure"
    )
    yield (
        f"{queries_sample_text(comparison)}; {test_text(settings)}"
        f"{_draws_text(comparison.differences)}"
        f"{correction_note if num_comparisons > 1 else ''}; better and worse at {settings.alpha:g}"
    )
    yield from interval_notes(settings, num_comparisons)
    yield chance_note(comparison)
    yield RANKS_NOTE if comparison.baseline is None else MARKS_NOTE
    yield from further_notes(comparison)


def further_notes(comparison: Compared) -> Iterator[str]:
    """Yield notes that only some comparisons have: sources, conventions, tests, repeats."""
    yield from source_notes(
        comparison.systems, comparison.computed_elsewhere, comparison.custom_measures
    )
    yield from comparison.conventions
    yield from left_out_notes(comparison.left_out)
    yield from {difference.note: None for difference in comparison.differences if difference.note}
    for mean in comparison.means:
        if mean.repeats > 1:
            yield (
                f"{mean.system}: the mean of {mean.repeats} repeats, whose {mean.measure} goes "
                f"from {score_text(mean.lowest)} to {score_text(mean.highest)}"
            )


def _draws_text(differences: Sequence[Difference]) -> str:
    """Return how many sign vectors were tried, as a clause; "" for a test that draws none."""
    random = {difference.draws for difference in differences if not difference.exact} - {0}
    if random:
        return f" with {max(random):,} random sign vectors"
    if any(difference.exact and difference.draws for difference in differences):
        unit = "queries" if differences[0].num_clusters is None else "clusters"
        return f" with all sign vectors of the {unit} that differ"
    return ""


def likeness_notes(comparison: Compared) -> Iterator[str]:
    """Yield notes: why likeness was left out, or that only the first repeat was compared."""
    has_top = all(repeats[0].top is not None for repeats in comparison.results.values())
    if (
        has_top
        and comparison.likeness is None
        and has_too_many_pairs(comparison.differences, len(comparison.query_ids))
    ):
        yield (
            f"ranking similarity is computed for at most {MOST_PAIRS} pairs, and "
            f"{MOST_RANKING_PAIRS} pairs times queries: name a baseline"
        )
    if comparison.likeness and any(mean.repeats > 1 for mean in comparison.means):
        yield "ranking similarity: of a system's repeats, the first is taken"
