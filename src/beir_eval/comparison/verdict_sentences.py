"""What is said of differences: the verdicts in a sentence, the evidence, numbers as text."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.display.document import Sentence
from beir_eval.display.tables import NONE, UNKNOWN, score_text
from beir_eval.errors import number_of
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import ComparisonSettings, Difference, PairDifference
    from beir_eval.measures.scales import ScoreScale

_CLOSE_TO_0 = 0.0001
#: The digits of a p-value that is just above a level, and what no level in use reaches.
_MOST_DIGITS, _HIGHEST_LEVEL = 9, 0.2
#: Ends of an interval that differ by no more than this, relative to them, are equal.
_ROUNDING = 1e-12
#: What the marks behind numbers mean.
MARKS_NOTE = "▲ better than the baseline, ▼ worse, = identical, or equivalent within the margin"
RANKS_NOTE = "the ranks behind a mean name the systems that it is better than"
#: How many names, and how many groups of systems, a sentence lists.
MOST_NAMED = 4
#: The order of the verdicts in a sentence.
_ORDER = ("better", "worse", "equivalent", "identical", "undecided")
_TWO = 2


# The verdicts on a measure


def headline_of(
    label: str,
    differences: Sequence[PairDifference],
    baseline: str | None,
    *,
    margin: float = 0.0,
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, which begins with ``label``.

    Args:
        label: what was measured, such as "nDCG@10".
        differences: the difference of each pair.
        baseline: the system that the others are compared with; None if all pairs are compared.
        margin: the smallest difference that matters; 0 if the verdicts know no margin.
    """
    text, verdict = verdicts_of(differences, baseline, margin)
    return Sentence(f"{label}: {text}", verdict)


def headlines(
    comparison: Compared, differences: Sequence[Difference] | None = None, where: str = ""
) -> list[Sentence]:
    """Return the verdicts on all measures: a sentence for all measures with the same verdicts.

    Args:
        comparison: the comparison.
        differences: its differences on some measures, or those over some queries; None for all.
        where: follows the names of the measures in each sentence.
    """
    pairs_of: dict[str, list[Difference]] = {}
    for pair in comparison.differences if differences is None else differences:
        label = measure_text(pair.measure, higher_is_better=pair.higher_is_better)
        pairs_of.setdefault(label, []).append(pair)
    labels_of: dict[Sentence, list[str]] = {}
    for label, pairs in pairs_of.items():
        verdicts = verdicts_of(pairs, comparison.baseline, comparison.settings.margin)
        labels_of.setdefault(verdicts, []).append(label)
    return [
        Sentence(f"{', '.join(labels)}{where}: {text}", verdict)
        for (text, verdict), labels in labels_of.items()
    ]


def common_headlines(comparison: Compared, measures: Collection[str]) -> list[Sentence]:
    """Return the verdicts over the queries that all systems have; none if every system has all.

    There is a sentence for all of these measures with the same verdicts, or one that says why there
    are none.
    """
    on_common = comparison.on_common_queries
    if on_common is None:
        return []
    where = common_queries_text(on_common.num_queries, len(comparison.query_ids))
    if not on_common.differences:
        text = f"{', '.join(comparison.measures)}{where}: too few for a verdict"
        return [Sentence(text, "undecided")]
    pairs = [pair for pair in on_common.differences if pair.measure in measures]
    return headlines(comparison, pairs, where)


def common_queries_text(num_common: int, num_judged: int) -> str:
    """Return over which queries a verdict is, to follow the name of a measure.

    >>> common_queries_text(153, 300)
    ', over the 153 of 300 queries that all systems have'
    """
    return f", over the {num_common:,} of {num_judged:,} queries that all systems have"


def verdicts_of(
    differences: Sequence[PairDifference], baseline: str | None, margin: float
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, without the name of the measure.

    Args:
        differences: as of ``headline_of``.
        baseline: likewise.
        margin: likewise.
    """
    if len(differences) == 1:
        return Sentence(_pair_phrase(differences[0], margin), differences[0].verdict)
    if baseline is None:
        return _verdict_on_the_best(differences, margin)
    counts = Counter(pair.verdict for pair in differences)
    number = len(differences)
    parts: list[str] = []
    for verdict in sorted(counts, key=_ORDER.index):
        count = counts[verdict]
        who, than = (str(count), "") if parts else (f"{count} of {number}", baseline)
        if number == _TWO:
            who = " and ".join(pair.system for pair in differences if pair.verdict == verdict)
            than = baseline if verdict in ("equivalent", "identical") else than  # "it" is either
        elif count == number:
            who = f"all {number}"
        parts.append(f"{who} {_phrase(verdict, count, than, margin)}")
    return Sentence(", ".join(parts), common_verdict(differences))


def common_verdict(differences: Sequence[PairDifference]) -> str:
    """Return the verdict on all pairs; "undecided" if there are several."""
    verdicts = {difference.verdict for difference in differences}
    return verdicts.pop() if len(verdicts) == 1 else "undecided"


def _pair_phrase(pair: PairDifference, margin: float) -> str:
    """Return the verdict on two systems, and whether a difference is below the margin."""
    if pair.verdict == "undecided":
        return f"undecided whether {pair.system} or {pair.against} is better"
    if pair.verdict == "identical":
        return f"{pair.system} and {pair.against} score the same on every query"
    if pair.verdict == "equivalent":
        return f"{pair.system} and {pair.against} differ by less than {margin:g}"
    phrase = f"{pair.system} is {pair.verdict} than {pair.against}"
    if abs(pair.difference) >= margin:
        return phrase
    is_shown = max(abs(pair.low), abs(pair.high)) < margin
    return f"{phrase} by less than {margin:g}{'' if is_shown else ' (estimated)'}"


def _phrase(verdict: str, count: int, baseline: str, margin: float) -> str:
    """Return how some systems stand to the baseline, which is named unless it was before.

    Args:
        verdict: the verdict on each of them.
        count: how many they are.
        baseline: the name of the baseline; "" if the sentence has it.
        margin: the smallest difference that matters.
    """
    are, ending = ("is", "s") if count == 1 else ("are", "")
    if verdict == "identical":
        return f"score{ending} the same as {baseline or 'it'} on every query"
    if verdict == "equivalent":
        return f"differ{ending} from {baseline or 'it'} by less than {margin:g}"
    than = "against" if verdict == "undecided" else "than"
    return f"{are} {verdict} {than} {baseline}" if baseline else f"{are} {verdict}"


def _verdict_on_the_best(differences: Sequence[PairDifference], margin: float) -> Sentence:
    """Return which of several systems may be the best: those that no other one is better than."""
    wins = {
        (pair.system, pair.against) if pair.verdict == "better" else (pair.against, pair.system)
        for pair in differences
        if pair.verdict in ("better", "worse")
    }
    systems = dict.fromkeys(name for pair in differences for name in (pair.system, pair.against))
    behind = {worse for _, worse in wins}
    # All, if each is worse than another one, as it may be by chance.
    first = [name for name in systems if name not in behind] or list(systems)
    if len(first) == 1:
        return Sentence(f"{first[0]} is the best of {len(systems)}", "better")
    others = [name for name in systems if name not in first]
    among_first = {
        pair.verdict for pair in differences if {pair.system, pair.against}.isdisjoint(others)
    }
    who, all_first = " and ".join(first), "both"
    if len(first) > _TWO:
        who, all_first = f"{len(first)}" if others else f"all {len(first)}", f"all {len(first)}"
    if among_first == {"identical"}:
        text = f"{who} score the same on every query"
    elif among_first <= {"identical", "equivalent"}:
        text = f"{who} differ by less than {margin:g}"
    else:
        which = f"whether {' or '.join(first)}" if len(first) == _TWO else f"which of {len(first)}"
        text = f"undecided {which} is best"
    are, rest = "are", f"the other {len(others)}"
    if len(others) == 1:
        are, rest = "is", others[0]
    if others and all((name, other) in wins for name in first for other in others):
        text += f"; {all_first} are better than {rest}"
    elif others:
        text += f"; {rest} {are} not best"
    return Sentence(text, common_verdict(differences))


# The evidence, and numbers


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


def evidence_notes(differences: Iterable[Difference], margin: float) -> Iterator[str]:
    """Yield why power is not known of undecided pairs, and that so few queries show no equality.

    Args:
        differences: the pairs.
        margin: the smallest difference that matters, in the unit of the measures.
    """
    undecided = [pair for pair in differences if pair.verdict == "undecided"]
    notes = {pair.power_note for pair in undecided}
    if len(notes) == 1:
        yield from notes - {""}
    for pair in undecided if len(notes) > 1 else ():
        if pair.power_note:
            yield f"{pair.measure}, {pair.system} vs {pair.against}: {pair.power_note}"
    yield from too_small_margin_texts(undecided, margin)


def too_small_margin_texts(undecided: Sequence[Difference], margin: float) -> Iterator[str]:
    """Yield that so few queries cannot show that undecided pairs are equivalent, if they cannot."""
    largest = max(undecided, key=lambda pair: pair.smallest_margin or 0.0, default=None)
    size = 0.0 if largest is None else largest.smallest_margin or 0.0
    if largest is not None and margin < size:
        counted = f"{largest.num_clusters or largest.num_queries:,} {unit_of(largest)}"
        yield (
            f"{counted} are too few to show that systems are equivalent within {margin:g}: the "
            "test, which allows for rare large differences, needs a margin of at least "
            f"{rounded_up_text(size)}"
        )


def not_excluded_text(difference: Difference) -> str:
    """Return the loss that is not excluded although few queries differ, as a clause; "" for none.

    For a system that is worse, it is the gain; there is none for systems that are equivalent.
    """
    loss, gain = difference.loss_not_excluded, difference.gain_not_excluded
    if loss is None or gain is None or difference.verdict == "equivalent":
        return ""
    if not difference.num_differing:
        largest = rounded_up_text(max(loss, gain))
        return f"a loss or gain of up to {largest} on other queries is not excluded"
    name, size = ("gain", gain) if difference.verdict == "worse" else ("loss", loss)
    # The test, which found one system better, assumes symmetric differences; the bound does not.
    unless = "" if difference.verdict == "undecided" else "unless differences are symmetric, "
    return f"{unless}a {name} of up to {rounded_up_text(size)} is not excluded" if size else ""


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


def interval_cell_text(difference: PairDifference) -> str:
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


def interval_heading(settings: ComparisonSettings, num_comparisons: int) -> str:
    """Return the heading of a column of intervals of differences."""
    percent = percent_text(1 - settings.alpha)
    if settings.interval != "test":
        return f"{percent} {settings.interval} interval"
    if num_comparisons == 1:
        return f"{percent} interval"
    return f"{percent} each" if settings.correction == "none" else f"adj. {percent} interval"


def intervals_text(settings: ComparisonSettings, num_comparisons: int) -> str:
    """Return what the intervals of so many comparisons are, for a caption."""
    heading = interval_heading(settings, num_comparisons)
    if settings.interval != "test" or num_comparisons == 1:
        return f"{heading}s"
    percent = percent_text(1 - settings.alpha)
    kinds = {"max-t": f"{percent} simultaneous intervals", "none": f"intervals of {percent} each"}
    return kinds.get(settings.correction, f"intervals of at least {percent} each")


def left_out_notes(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield a note for each system on how many of its queries were left out."""
    for system, count in left_out.items():
        yield f"{system}: {number_of(count, 'query')} left out that others do not have"


def source_notes(
    computed_elsewhere: Sequence[str], custom_measures: Mapping[str, ScoreScale]
) -> Iterator[str]:
    """Yield notes on scores that were computed elsewhere, and on custom measures.

    Args:
        computed_elsewhere: the systems with scores that this package did not compute.
        custom_measures: {name: scale} of the measures compared that are not in the registry.
    """
    if computed_elsewhere:
        yield (
            f"the scores of {some_of(computed_elsewhere)} were computed elsewhere: whether with "
            "the same judgements and settings is not known"
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
