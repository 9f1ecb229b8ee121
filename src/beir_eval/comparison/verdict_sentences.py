"""Verdicts as sentences, notes on a comparison, and numbers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.display.tables import score_text
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from beir_eval.comparison.records import Difference, PairDifference
    from beir_eval.comparison.result import Comparison
    from beir_eval.measures.scales import ScoreScale

_CLOSE_TO_0 = 0.0001
#: The text for a value that is None.
UNKNOWN = "?"


def difference_sentence(difference: Difference, margin: float) -> str:
    """Return the verdict on a difference as a sentence.

    Args:
        difference: one pair on one measure.
        margin: the smallest difference that matters, in the unit of the measure.
    """
    measure = measure_text(difference.measure, higher_is_better=difference.higher_is_better)
    if difference.verdict == "equal":
        return (
            f"{measure}: {difference.system} and {difference.against} are equal within "
            f"{margin:g}: {_size_with_interval(difference)}, {difference.num_queries} queries"
        )
    evidence = f"corrected p {p_text(difference.p_corrected)}, {difference.num_queries} queries"
    if difference.verdict == "undecided":
        evidence += (
            f". So many queries show a true difference of {difference.detectable:.4f} in 4 cases "
            f"of 5; one of {margin:g} takes about {difference.queries_needed or 'more than 10^15'}"
        )
    is_small = difference.verdict != "undecided" and abs(difference.difference) < margin
    return verdict_sentence(
        measure,
        difference,
        evidence,
        comment=f", less than {margin:g}" if is_small else "",
    )


def measure_text(measure: str, *, higher_is_better: bool) -> str:
    """Return the name of a measure, with its direction if lower is better.

    >>> measure_text("seconds", higher_is_better=False)
    'seconds (lower is better)'
    """
    return measure if higher_is_better else f"{measure} (lower is better)"


def verdict_sentence(
    measure: str, pair: PairDifference, evidence: str, *, comment: str = ""
) -> str:
    """Return a sentence with the verdict on a pair, the size of the difference and the evidence.

    Args:
        measure: the name of the measure.
        pair: two systems, their difference and the verdict, which is not "equal".
        evidence: the end of the sentence.
        comment: text between the size of the difference and the evidence.
    """
    size_and_evidence = f"{_size_with_interval(pair)}{comment}; {evidence}"
    if pair.verdict == "undecided":
        return (
            f"{measure}: {pair.system} and {pair.against} cannot be told apart: {size_and_evidence}"
        )
    return f"{measure}: {pair.system} is {pair.verdict} than {pair.against}, by {size_and_evidence}"


def _size_with_interval(pair: PairDifference) -> str:
    """Return the difference as text, with its interval in parentheses."""
    return f"{signed_text(pair.difference)} ({signed_text(pair.low)} to {signed_text(pair.high)})"


def left_out_notes(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield a note for each system on how many of its queries were left out."""
    for system, count in left_out.items():
        yield f"{system}: {count} queries left out that others do not have"


def source_notes(
    systems: Collection[str],
    computed_elsewhere: Collection[str],
    custom_measures: Mapping[str, ScoreScale],
) -> Iterator[str]:
    """Yield notes on scores that were computed elsewhere, and on custom measures.

    Args:
        systems: the systems that are compared.
        computed_elsewhere: those with scores that this package did not compute.
        custom_measures: {name: scale} of the measures compared that are not in the registry.
    """
    if computed_elsewhere:
        are_all = len(computed_elsewhere) == len(systems)
        which = "the same judgements and settings"
        if not are_all:
            which = "the judgements and settings of the other systems"
        yield (
            f"the scores of {', '.join(computed_elsewhere)} were computed elsewhere: whether with "
            f"{which} is not known"
        )
    for measure, scale in custom_measures.items():
        loss = "" if scale.higher_is_better else "; a difference above 0 is a loss"
        yield f"{measure}: a custom measure, {scale}{loss}"


def notes_of(comparison: Comparison) -> Iterator[str]:
    """Yield notes on how to read the tables: tests, corrections, marks, what was left out."""
    settings = comparison.settings
    num_comparisons = len(comparison.differences) // len(comparison.measures)
    correction_note = (
        f", corrected by {settings.correction} over the {num_comparisons} comparisons of a measure"
    )
    yield (
        f"{len(comparison.query_ids)} queries; {PAIRED_TESTS[settings.test].label}"
        f"{correction_note if num_comparisons > 1 else ''}; better and worse at "
        f"{settings.alpha:g}; intervals are BCa bootstrap intervals of the mean difference at "
        f"{1 - settings.alpha:.0%}"
    )
    if num_comparisons > 1:
        yield (
            "intervals, and the queries it takes, are for one comparison by itself: an interval "
            "may leave out 0 where the corrected p does not decide"
        )
    if len(comparison.measures) > 1:
        yield (
            f"p is not corrected for looking at {len(comparison.measures)} measures: choose the "
            "one that decides beforehand"
        )
    if comparison.baseline is None:
        yield "the letters behind a mean name the systems that it is better than"
    else:
        yield "▲ better than the baseline, ▼ worse, = equal within the margin"
    yield from source_notes(
        comparison.systems, comparison.computed_elsewhere, comparison.custom_measures
    )
    yield from left_out_notes(comparison.left_out)
    yield from {difference.note: None for difference in comparison.differences if difference.note}
    for mean in comparison.means:
        if mean.repeats > 1:
            yield (
                f"{mean.system}: the mean of {mean.repeats} repeats, whose {mean.measure} goes "
                f"from {score_text(mean.lowest)} to {score_text(mean.highest)}"
            )


def p_text(p: float) -> str:
    """Return a p-value as text.

    >>> p_text(0.0312), p_text(2e-9)
    ('0.0312', '≤0.0001')
    """
    return f"≤{_CLOSE_TO_0}" if p < _CLOSE_TO_0 else f"{p:.4f}"


def signed_text(value: float) -> str:
    """Return a difference as text, with its sign.

    >>> signed_text(0.03), signed_text(-0.03), signed_text(0.0)
    ('+0.0300', '-0.0300', '0.0000')
    """
    return f"{value:+.4f}" if value else score_text(0.0)


def value_or_unknown(value: float | None) -> str:
    """Return a value as text, ``UNKNOWN`` for None."""
    return UNKNOWN if value is None else score_text(value)


def range_text(low: float | None, high: float | None) -> str:
    """Return a range as text; one number if both ends look the same, ``UNKNOWN`` for None.

    >>> range_text(0.25, 0.5), range_text(0.25, 0.25), range_text(None, 0.5)
    ('0.2500 … 0.5000', '0.2500', '?')
    """
    if low is None or high is None:
        return UNKNOWN
    return (
        score_text(low)
        if score_text(low) == score_text(high)
        else f"{score_text(low)} … {score_text(high)}"
    )


def signed_range_text(low: float, high: float) -> str:
    """Return a range of differences as text, with signs.

    >>> signed_range_text(-0.01, 0.03)
    '-0.0100 … +0.0300'
    """
    return f"{signed_text(low)} … {signed_text(high)}"
