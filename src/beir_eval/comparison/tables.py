"""A comparison as text: verdicts in sentences, tables of means and of differences."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.records import OPPOSITE
from beir_eval.display.tables import Cell, Table, markdown_list, number
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from beir_eval.comparison.records import Difference, PairDifference, SystemMean
    from beir_eval.comparison.result import Comparison

#: The mark of each verdict behind a mean, where there is a baseline, and what it says.
_MARKS = {
    "better": ("▲", "better than the baseline"),
    "worse": ("▼", "worse than the baseline"),
    "equal": ("=", "equal to the baseline within the margin"),
}
_LETTERS = string.ascii_lowercase
_CLOSE_TO_0 = 0.0001
#: In place of a value that is None.
UNKNOWN = "?"


def p_text(p: float) -> str:
    """Return a p-value as it is printed.

    >>> p_text(0.0312), p_text(2e-9)
    ('0.0312', '≤0.0001')
    """
    return f"≤{_CLOSE_TO_0}" if p < _CLOSE_TO_0 else f"{p:.4f}"


def signed(value: float) -> str:
    """Return a difference with its sign.

    >>> signed(0.03), signed(-0.03), signed(0.0)
    ('+0.0300', '-0.0300', '0.0000')
    """
    return f"{value:+.4f}" if value else number(0.0)


def value_or_unknown(value: float | None) -> str:
    """Return a value as it is printed."""
    return UNKNOWN if value is None else number(value)


def low_to_high(low: float | None, high: float | None) -> str:
    """Return a range as it is printed.

    >>> low_to_high(0.25, 0.5), low_to_high(0.25, 0.25), low_to_high(None, 0.5)
    ('0.2500 … 0.5000', '0.2500', '?')
    """
    if low is None or high is None:
        return UNKNOWN
    return number(low) if number(low) == number(high) else f"{number(low)} … {number(high)}"


def signed_range(low: float, high: float) -> str:
    """Return a range of differences as it is printed.

    >>> signed_range(-0.01, 0.03)
    '-0.0100 … +0.0300'
    """
    return f"{signed(low)} … {signed(high)}"


def marked_cell(text: str, verdict: str, **shown: Any) -> Cell:
    """Return a number as a cell, with the mark of a verdict against the baseline.

    Args:
        text: the number as it is shown.
        verdict: "" if there is no verdict.
        shown: further fields of the cell.
    """
    mark, explanation = _MARKS.get(verdict, ("", ""))
    return Cell(text, mark, verdict if mark else "", explanation, **shown)


def mean_cell(mean: float, verdict: str = "", **shown: Any) -> Cell:
    """Return a mean as a cell; the other arguments are those of ``marked_cell``."""
    return marked_cell(number(mean), verdict, **shown)


def _cell_of(comparison: Comparison, mean: SystemMean, **shown: Any) -> Cell:
    """Return a system's mean: with the mark against the baseline, or with letters.

    The letters are those of the systems that this one is better than.
    """
    measure, system = mean.measure, mean.system
    if comparison.baseline is not None:
        verdict = _verdict(comparison, measure, system, comparison.baseline)
        return mean_cell(mean.mean, verdict, **shown)
    letters = "".join(
        letter_of(comparison, other)
        for other in comparison.systems
        if other != system and _verdict(comparison, measure, system, other) == "better"
    )
    if not letters:
        return mean_cell(mean.mean, **shown)
    explanation = "better than the systems of these letters"
    return Cell(number(mean.mean), letters, "better", explanation, **shown)


def letter_of(comparison: Comparison, system: str) -> str:
    """Return the letter of a system."""
    return letter_at(comparison.systems.index(system))


def letter_at(index: int) -> str:
    """Return a letter for the index of a system or a group.

    >>> letter_at(0), letter_at(25), letter_at(26)
    ('a', 'z', '[27]')
    """
    return _LETTERS[index] if index < len(_LETTERS) else f"[{index + 1}]"


def _verdict(comparison: Comparison, measure: str, system: str, against: str) -> str:
    verdicts = comparison.verdicts
    if (measure, system, against) in verdicts:
        return verdicts[measure, system, against]
    reversed_verdict = verdicts.get((measure, against, system), "undecided")
    return OPPOSITE.get(reversed_verdict, reversed_verdict)


def label_of(comparison: Comparison, system: str) -> str:
    """Return a system's name for a table: the baseline is named so, others have letters."""
    if comparison.baseline is not None:
        return f"{system} (baseline)" if system == comparison.baseline else system
    return f"{letter_of(comparison, system)} {system}"


def to_table(comparison: Comparison, *, intervals: bool = False) -> Table:
    """Return systems × measures; ``intervals`` are those of the means."""
    means = {(one.measure, one.system): one for one in comparison.means}
    best = {
        measure: max(means[measure, system].mean for system in comparison.systems)
        for measure in comparison.measures
    }
    rows: list[list[str | Cell]] = []
    for system in comparison.systems:
        row: list[str | Cell] = [label_of(comparison, system)]
        for measure in comparison.measures:
            mean = means[measure, system]
            interval = f"{number(mean.low)} to {number(mean.high)}" if intervals else ""
            is_best = mean.mean == best[measure]
            row.append(_cell_of(comparison, mean, interval=interval, is_best=is_best))
        rows.append(row)
    return Table(("system", *comparison.measures), rows)


#: The columns of the table of differences.
COLUMNS = (
    "measure",
    "system",
    "against",
    "difference",
    "interval",
    "effect",
    "p",
    "corrected",
    "won/tied/lost",
    "verdict",
)


def difference_cells(difference: Difference, margin: float) -> dict[str, str | Cell]:
    """Return one difference as cells by column, those of ``COLUMNS``."""
    verdict = difference.verdict
    cells = (
        difference.measure,
        difference.system,
        difference.against,
        signed(difference.difference),
        signed_range(difference.low, difference.high),
        "infinite" if difference.effect is None else f"{difference.effect:+.2f}",
        p_text(difference.p),
        p_text(difference.p_corrected),
        f"{difference.wins}/{difference.ties}/{difference.losses}",
        Cell(f"equal within {margin:g}" if verdict == "equal" else verdict, verdict=verdict),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def differences_table(comparison: Comparison) -> Table:
    """Return every difference with its evidence."""
    margin = comparison.settings.margin
    rows = [list(difference_cells(one, margin).values()) for one in comparison.differences]
    return Table(COLUMNS, rows)


def sentence(one: Difference, margin: float) -> str:
    """Return a verdict as a sentence."""
    if one.verdict == "equal":
        return (
            f"{one.measure}: {one.system} and {one.against} are equal within {margin:g}: "
            f"{_size(one)}, {one.num_queries} queries"
        )
    evidence = f"corrected p {p_text(one.p_corrected)}, {one.num_queries} queries"
    if one.verdict == "undecided":
        evidence += (
            f". So many queries show a true difference of {one.detectable:.4f} in 4 cases of 5; "
            f"one of {margin:g} takes about {one.queries_needed or 'more than 10^15'}"
        )
    is_small = one.verdict != "undecided" and abs(one.difference) < margin
    return verdict_sentence(
        one.measure, one, evidence, comment=f", less than {margin:g}" if is_small else ""
    )


def verdict_sentence(
    measure: str, pair: PairDifference, evidence: str, *, comment: str = ""
) -> str:
    """Return what was shown of a difference, or that nothing was, with the evidence.

    Args:
        measure: what differs.
        pair: two systems, their difference and the verdict, which is not "equal".
        evidence: ends the sentence.
        comment: follows the difference.
    """
    shown = f"{_size(pair)}{comment}; {evidence}"
    if pair.verdict == "undecided":
        return f"{measure}: {pair.system} and {pair.against} cannot be told apart: {shown}"
    return f"{measure}: {pair.system} is {pair.verdict} than {pair.against}, by {shown}"


def _size(pair: PairDifference) -> str:
    return f"{signed(pair.difference)} ({signed(pair.low)} to {signed(pair.high)})"


def left_out_notes(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield how many queries of each system were left out."""
    for system, count in left_out.items():
        yield f"{system}: {count} queries left out that others do not have"


def notes_of(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader of the tables must know."""
    settings = comparison.settings
    several = len(comparison.differences) // len(comparison.measures)
    corrected = f", corrected by {settings.correction} over the {several} comparisons of a measure"
    yield (
        f"{len(comparison.query_ids)} queries; {PAIRED_TESTS[settings.test].label}"
        f"{corrected if several > 1 else ''}; better and worse at {settings.alpha:g}; intervals "
        f"are BCa bootstrap intervals of the mean difference at {1 - settings.alpha:.0%}"
    )
    if several > 1:
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
    yield from left_out_notes(comparison.left_out)
    yield from {one.note: None for one in comparison.differences if one.note}
    for mean in comparison.means:
        if mean.repeats > 1:
            yield (
                f"{mean.system}: the mean of {mean.repeats} repeats, whose {mean.measure} goes "
                f"from {number(mean.lowest)} to {number(mean.highest)}"
            )


def to_markdown(comparison: Comparison) -> str:
    """Return verdicts, means and differences."""
    margin = comparison.settings.margin
    verdicts = markdown_list(sentence(one, margin) for one in comparison.differences)
    tables = f"{to_table(comparison).markdown()}\n\n{differences_table(comparison).markdown()}"
    return f"{verdicts}\n{tables}\n"
