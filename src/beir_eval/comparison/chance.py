"""What the p-value of a comparison covers, and what it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from beir_eval.comparison.differences import MOST_PAIRS
from beir_eval.comparison.likeness import MOST_RANKING_PAIRS, has_too_many_pairs
from beir_eval.comparison.verdict_sentences import (
    MARKS_NOTE,
    RANKS_NOTE,
    interval_words,
    left_out_notes,
    source_notes,
    test_text,
    unit_of,
)
from beir_eval.display.tables import Table, score_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import Difference

#: What p does not account for if systems may have been chosen on these queries.
CHOICE_OF_SYSTEMS = "the choice of the best system"


class Chance(NamedTuple):
    """A source of chance, and whether p covers it.

    Attributes:
        source: its name, such as "queries".
        text: what p takes for granted, with the setting or the command that covers it.
        short: the source in the middle of a sentence; "" if it plays no part in this comparison.
        in_p: whether p covers it.
    """

    source: str
    text: str
    short: str = ""
    in_p: bool = False


def chances_of(comparison: Compared) -> list[Chance]:
    """Return all sources of chance of a comparison, each with whether p covers it."""
    number, correction = comparison.num_comparisons, comparison.settings.correction
    comparisons = Chance("comparisons", "one comparison", in_p=True)
    if number > 1 and correction == "none":
        text = f"{number} comparisons, not corrected (else a correction)"
        comparisons = Chance("comparisons", text, f"{number} comparisons")
    elif number > 1:  # the line on the test states the correction
        text = f"{number} comparisons of a measure ({correction})"
        comparisons = Chance("comparisons", text, in_p=True)
    measures, number = Chance("measures", "one measure", in_p=True), len(comparison.measures)
    if number > 1:
        text = f"{number} measures, not corrected: one of them decides"
        measures = Chance("measures", text, f"looking at {number} measures")
    judged = "as they are: unjudged documents count as not relevant"
    chosen = "systems not chosen by these scores (else other queries)"
    return [
        *_queries(comparison),
        _repeats(comparison),
        comparisons,
        measures,
        Chance("judgements", judged),
        Chance("choice", chosen, CHOICE_OF_SYSTEMS),
        Chance("looks", "the first look at these queries", "repeated looks"),
    ]


def chance_table(comparison: Compared) -> Table:
    """Return a table with a row for each source of chance: whether p covers it, and how."""
    rows = [
        (chance.source, "yes" if chance.in_p else "no", chance.text)
        for chance in chances_of(comparison)
    ]
    return Table(("chance of", "in p", "what is assumed"), rows)


def sample_text(comparison: Compared, measure: str | None = None) -> str:
    """Return what p is over, such as "43 queries and 3 repeats", on one measure or on all."""
    queries, _ = _queries(comparison, measure)
    in_p = (chance.short for chance in (queries, _repeats(comparison)) if chance.in_p)
    return " and ".join(filter(None, in_p))


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


def queries_sample_text(comparison: Compared, measure: str | None = None) -> str:
    """Return the number of queries behind means and p, by measure where it differs.

    A query without relevant documents is among those compared, and has no score if these are left
    out (no_relevant="skip").

    Args:
        comparison: the comparison.
        measure: the canonical name of one of its measures; None for all.
    """
    num_queries = {
        difference.measure: difference.num_queries
        for difference in comparison.differences
        if measure in (None, difference.measure)
    }
    counts = set(num_queries.values())
    judged = (known.queries_judged for known in comparison.coverage)
    total = max(len(comparison.query_ids), *judged, 0)
    if counts <= {total}:
        return f"{total:,} queries"
    if len(counts) == 1:
        return f"{counts.pop():,} of {total:,} queries"
    by_measure = ", ".join(f"{name} over {count:,}" for name, count in num_queries.items())
    return f"the queries that a measure is defined for ({by_measure} of {total:,})"


def _queries(comparison: Compared, measure: str | None = None) -> tuple[Chance, Chance]:
    """Return the chance of queries, and that of related ones."""
    queries = queries_sample_text(comparison, measure)
    if comparison.clusters is None:
        related = Chance("related queries", "queries are unrelated (else clusters)")
        return Chance("queries", f"a sample of {queries}", queries, in_p=True), related
    clusters = f"{len(set(comparison.clusters)):,} clusters"
    sample = f"{clusters} of {queries}"
    related = Chance("related queries", sample, in_p=True)
    return Chance("queries", f"a sample of {clusters}", sample, in_p=True), related


def _repeats(comparison: Compared) -> Chance:
    """Return the chance of repeats, such as the seeds of a training."""
    settings = comparison.settings
    noisy = [name for name in comparison.systems if name not in settings.deterministic]
    if not noisy:
        return Chance("repeats", "equal: all systems are deterministic", in_p=True)
    counts = {mean.system: mean.repeats for mean in comparison.means if mean.system in noisy}
    low, high = min(counts.values(), default=1), max(counts.values(), default=1)
    if high == 1:
        text = "the same runs, one of each system (else repeats)"
        return Chance("repeats", text, "training noise")
    if not settings.has_random_repeats:
        text = "the same repeats, averaged (else repeats)"
        return Chance("repeats", text, "noise of repeats")
    kind = "pairs of repeats" if settings.repeats == "paired" else "repeats"
    number = f"{low} {kind}" if low == high else f"{low} to {high} {kind}"
    other = " other" if len(noisy) < len(comparison.systems) else ""
    return Chance("repeats", f"a sample of {number} of each{other} system", number, in_p=True)


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
    settings, number = comparison.settings, comparison.num_comparisons
    correction = f", corrected by {settings.correction} over the {number} comparisons of a measure"
    yield (
        f"{queries_sample_text(comparison)}; {test_text(settings)}"
        f"{_draws_text(comparison.differences)}{correction if number > 1 else ''}; better and "
        f"worse at {settings.alpha:g}"
    )
    yield interval_words(settings, number).note
    others = [chance.short for chance in chances_of(comparison) if chance.short and not chance.in_p]
    yield chance_sentence(sample_text(comparison), others) + _noise_text(comparison)
    yield RANKS_NOTE if comparison.baseline is None else MARKS_NOTE
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
        return f" with all sign vectors of the {unit_of(differences[0])} that differ"
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
