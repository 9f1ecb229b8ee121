"""Numbers, intervals and what is said of differences, as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.display.tables import NONE, UNKNOWN, score_text
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.records import ComparisonSettings, Difference
    from beir_eval.measures.scales import ScoreScale

_CLOSE_TO_0 = 0.0001
#: The digits of a p-value that is just above a level, and what no level in use reaches.
_MOST_DIGITS, _HIGHEST_LEVEL = 9, 0.2
#: Ends of an interval that differ by no more than this, relative to them, are equal.
_ROUNDING = 1e-12
#: What the marks behind numbers mean.
MARKS_NOTE = "▲ better than the baseline, ▼ worse, = identical, or equivalent within the margin"
RANKS_NOTE = "the ranks behind a mean name the systems that it is better than"
#: The kind of interval of systems with the same scores on all queries.
NO_INTERVAL = "no interval: identical scores"
#: How many names, and how many groups of systems, a sentence lists.
MOST_NAMED = 4


def evidence_notes(differences: Sequence[Difference], margin: float) -> Iterator[str]:
    """Yield the evidence for which the table of differences has no column.

    Args:
        differences: the pairs.
        margin: the smallest difference that matters, in the unit of the measures.
    """
    reasons = [pair.power_note for pair in differences if pair.verdict == "undecided"]
    is_for_all = len(reasons) > 1 == len(set(reasons))
    for pair in differences:
        about = f"{pair.measure}, {pair.system} vs {pair.against}"
        if pair.verdict == "equivalent":
            yield f"{about}: p of a difference of {margin:g} or more {p_text(pair.p_equal)}"
        if pair.p_queries is not None:
            over = f"over {unit_of(pair)} alone"
            yield f"{about}: p {p_text(pair.p_queries)} {over}, without repeats"
        if pair.power_note and pair.verdict == "undecided" and not is_for_all:
            yield f"{about}: {pair.power_note}"
    if is_for_all:
        yield from set(reasons) - {""}
    yield from too_small_margin_texts(differences, margin)


def too_small_margin_texts(differences: Iterable[Difference], margin: float) -> Iterator[str]:
    """Yield that so few queries cannot show that undecided pairs are equivalent, if they cannot."""
    smallest = (pair.smallest_margin for pair in differences if pair.verdict == "undecided")
    size = max((size for size in smallest if size is not None), default=0.0)
    if margin < size:
        yield (
            f"so few queries cannot show that systems are equivalent within {margin:g}: the test, "
            "which allows for rare large differences, needs a margin of at least "
            f"{rounded_up_text(size)}"
        )


def not_excluded_texts(difference: Difference) -> Iterator[str]:
    """Yield the loss that is not excluded although few queries differ, as a clause.

    For a system that is worse, it is the gain; there is none for systems that are equivalent.
    """
    loss, gain = difference.loss_not_excluded, difference.gain_not_excluded
    if loss is None or gain is None or difference.verdict == "equivalent":
        return
    if not difference.num_differing:
        largest = rounded_up_text(max(loss, gain))
        yield f"a loss or gain of up to {largest} on other queries is not excluded"
        return
    name, size = ("gain", gain) if difference.verdict == "worse" else ("loss", loss)
    # The test, which found one system better, assumes symmetric differences; the bound does not.
    unless = "" if difference.verdict == "undecided" else "unless differences are symmetric, "
    if size:
        yield f"{unless}a {name} of up to {rounded_up_text(size)} is not excluded"


def detectable_text(difference: Difference) -> str:
    """Return the difference that would be detected, with its interval; a dash for one detected."""
    if difference.detectable is None:
        return UNKNOWN if difference.power_note else NONE
    low, high = difference.detectable_low, difference.detectable_high
    around = "" if low is None or high is None else f" ({low:.3g} to {high:.3g})"
    return f"{difference.detectable:.3g}{around}"


def queries_text(difference: Difference, margin: float) -> str:
    """Return how many queries would detect a difference of the margin; as ``detectable_text``."""
    if difference.detectable is None:
        return UNKNOWN if difference.power_note else NONE
    queries = difference.num_clusters or difference.num_queries
    usual = queries * (difference.detectable / margin) ** 2
    return _queries_text(difference.queries_low, difference.queries_high, usual)


def _queries_text(low: int | None, high: int | None, usual: float) -> str:
    """Return how many queries usually are enough, and their range, as text with two digits.

    >>> _queries_text(1234, 6789, 2345), _queries_text(1234, None, 2345)
    ('roughly 2,300 (1,200 to 6,800)', 'more than 1,200')
    """
    if low is None:
        return "more than 10^15"
    if high is None:
        return f"more than {_two_digits(low)}"
    low_text, high_text = _two_digits(low), _two_digits(high)
    about = f"roughly {_two_digits(min(max(usual, low), high))}"
    return about if low_text == high_text else f"{about} ({low_text} to {high_text})"


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"


def measure_text(measure: str, *, higher_is_better: bool) -> str:
    """Return the name of a measure, with its direction if lower is better.

    >>> measure_text("seconds", higher_is_better=False)
    'seconds (lower is better)'
    """
    return measure if higher_is_better else f"{measure} (lower is better)"


def mean_interval_text(
    low: float, high: float, between: str, bounds: tuple[float, float] | None = None
) -> str:
    """Return the interval of a mean as text; that all scores are equal if they do not vary.

    Args:
        low: the low end.
        high: the high end.
        between: what to write between the ends.
        bounds: those of the measure, at which the text ends; None for none.

    >>> mean_interval_text(0.25, 0.5, " to "), mean_interval_text(1.0, 1.0, " to ")
    ('0.2500 to 0.5000', 'all scores equal')
    >>> mean_interval_text(0.875, 1.125, " to ", (0.0, 1.0))
    '0.8750 to 1.0000'
    """
    if not has_spread(low, high):
        return "all scores equal"
    return between.join(_ends_texts(*within(low, high, bounds), sign=""))


def within(low: float, high: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Return the ends of an interval of a mean, no further than the bounds of its measure."""
    return (low, high) if bounds is None else (max(low, bounds[0]), min(high, bounds[1]))


def has_spread(low: float, high: float) -> bool:
    """Return whether the ends of an interval of a mean differ by more than rounding errors."""
    return high - low > _ROUNDING * max(abs(low), abs(high))


def interval_cell_text(difference: Difference) -> str:
    """Return the interval of a difference for a table; that scores are identical if they are."""
    if difference.verdict == "identical":
        return "identical"
    return signed_range_text(difference.low, difference.high)


def percent_text(share: float) -> str:
    """Return a share as text, with at most one decimal.

    >>> percent_text(0.95), percent_text(1 - 0.05 / 3), percent_text(0.99999)
    ('95%', '98.3%', '>99.9%')
    """
    rounded = f"{100 * share:.1f}"
    return ">99.9%" if rounded == "100.0" else f"{rounded.removesuffix('.0')}%"


def are_simultaneous(settings: ComparisonSettings, num_comparisons: int) -> bool:
    """Return whether all intervals of a measure contain their true differences at 1 − alpha."""
    return num_comparisons > 1 and settings.interval == "test" and settings.correction == "max-t"


def interval_label(settings: ComparisonSettings, num_comparisons: int, confidence: float) -> str:
    """Return the kind of an interval in words, for a sentence.

    Args:
        settings: test, correction and interval.
        num_comparisons: the number of comparisons that are corrected together.
        confidence: the confidence of this interval, or of all if they hold simultaneously.
    """
    percent = percent_text(confidence)
    if settings.interval != "test":
        return f"{percent} {settings.interval} interval, not of the test"
    is_for_all = are_simultaneous(settings, num_comparisons)
    return f"{percent} interval{f' for {num_comparisons} comparisons' if is_for_all else ''}"


class IntervalWords(NamedTuple):
    """What the intervals of a measure are, as the heading of a column, in a title and as a note."""

    heading: str
    title: str
    note: str


def interval_words(settings: ComparisonSettings, num_comparisons: int) -> IntervalWords:
    """Return what the intervals of so many comparisons, which are corrected together, are."""
    percent = percent_text(1 - settings.alpha)
    if settings.interval != "test":
        kind = f"{percent} {settings.interval}"
        return IntervalWords(
            f"{kind}, not of the test",
            f"{kind} intervals, not of the test",
            f"intervals: {settings.interval} intervals, {percent} each; they do not belong to the "
            "test, so an interval may exclude 0 where the verdict is undecided, and contain it "
            "where it is not",
        )
    match = "0 lies outside if and only if the difference is significant"
    if are_simultaneous(settings, num_comparisons):
        return IntervalWords(
            f"{percent} simultaneous",
            f"simultaneous {percent} intervals",
            f"simultaneous intervals that match the test: with {percent} confidence all "
            f"{num_comparisons} intervals of a measure contain their true differences; {match}",
        )
    if num_comparisons == 1 or settings.correction == "none":
        return IntervalWords(
            f"{percent} {'interval' if num_comparisons == 1 else 'each'}",
            f"{percent} intervals",
            f"intervals match the test, {percent} each: {match}",
        )
    return IntervalWords(
        f"at least {percent} each",
        f"intervals of {percent} or more each",
        "intervals match the test, each at the level at which its difference was tested, "
        f"{percent} or more: {match}",
    )


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
            f"the scores of {some_of([*computed_elsewhere])} were computed elsewhere: whether with "
            f"{which} is not known"
        )
    for measure, scale in custom_measures.items():
        loss = "" if scale.higher_is_better else "; a difference above 0 is a loss"
        yield f"{measure}: a custom measure, {scale}{loss}"


def test_text(settings: ComparisonSettings) -> str:
    """Return the test in words; with random repeats both tests, of which the larger p counts."""
    label = PAIRED_TESTS[settings.test].label
    return f"{label} and test over queries and repeats" if settings.has_random_repeats else label


def p_text(p: float) -> str:
    """Return a p-value as text, with more digits where four would put it at a level it is above.

    >>> p_text(0.0312), p_text(2e-9), p_text(0.05), p_text(0.05004), p_text(0.99004)
    ('0.0312', '≤0.0001', '0.0500', '0.05004', '0.9900')
    """
    if p < _CLOSE_TO_0:
        return f"≤{_CLOSE_TO_0}"
    text, digits = f"{p:.4f}", 4
    while float(text) < p < _HIGHEST_LEVEL and float(text) == round(p, 2) and digits < _MOST_DIGITS:
        digits += 1
        text = f"{p:.{digits}f}"
    return text


def rounded_up_text(value: float) -> str:
    """Return a value above 0 as text with three digits, never below the value itself.

    >>> rounded_up_text(0.05815), rounded_up_text(1.0)
    ('0.0582', '1')
    """
    digits = 2 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:.3g}"


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


def signed_range_text(low: float, high: float, between: str = " … ") -> str:
    """Return a range of differences as text, with signs.

    >>> signed_range_text(-0.01, 0.03), signed_range_text(0.0, 0.00002, " to ")
    ('-0.0100 … +0.0300', '0.0000 to +2e-05')
    >>> signed_range_text(-math.inf, math.inf), signed_range_text(-math.inf, 0.03)
    ('unbounded', 'up to +0.0300')
    """
    if math.isinf(low):
        return "unbounded" if math.isinf(high) else f"up to {signed_text(high)}"
    if math.isinf(high):
        return f"from {signed_text(low)}"
    return between.join(_ends_texts(low, high))


def _ends_texts(*ends: float, sign: str = "+") -> list[str]:
    """Return the ends of an interval; with another number of digits where both would look like 0.

    Args:
        ends: the ends.
        sign: "+" for a sign before ends above 0; "" for none.
    """
    digits = ".4f" if any(round(end, 4) for end in ends) else ".1g"
    return [f"{end:{sign}{digits}}" if end else score_text(0.0) for end in ends]


def some_of(parts: Sequence[str]) -> str:
    """Return the first parts as a list in a sentence, with "and others" if there are more."""
    return f"{', '.join(parts[:MOST_NAMED])}{' and others' if parts[MOST_NAMED:] else ''}"


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration with "and"; the first few and a count if there are many."""
    more = len(names) - MOST_NAMED
    *others, last = [*names[:MOST_NAMED], f"{more} more"] if more > 0 else names
    return f"{', '.join(others)} and {last}" if others else last


def one_digit(size: float) -> str:
    """Return a number with one digit that is not 0; with two if one is a tenth less or more.

    >>> one_digit(0.0521), one_digit(0.126)
    ('0.05', '0.13')
    """
    digit = float(f"{size:.1g}")
    return f"{digit:g}" if abs(digit - size) <= size / 10 else f"{size:.2g}"


def unit_of(difference: Difference) -> str:
    """Return what the test takes as its units: "queries", or "clusters" of them."""
    return "queries" if difference.num_clusters is None else "clusters"
