"""Texts of a comparison: numbers, verdicts as sentences, notes, tables of means and differences."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.records import OPPOSITE
from beir_eval.display.tables import Cell, Table, markdown_list, score_text
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from beir_eval.comparison.records import Difference, PairDifference, SystemMean
    from beir_eval.comparison.result import Comparison

#: By verdict against the baseline: the mark behind a mean, and its explanation.
_MARKS = {
    "better": ("▲", "better than the baseline"),
    "worse": ("▼", "worse than the baseline"),
    "equal": ("=", "equal to the baseline within the margin"),
}
_LETTERS = string.ascii_lowercase
_CLOSE_TO_0 = 0.0001
#: The text for a value that is None.
UNKNOWN = "?"


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


def marked_cell(text: str, verdict: str, **cell_fields: Any) -> Cell:
    """Return a number as a cell, with the mark of its verdict against the baseline.

    Args:
        text: the number as text.
        verdict: "" if there is no verdict.
        cell_fields: further fields of ``Cell``, by keyword.
    """
    mark, explanation = _MARKS.get(verdict, ("", ""))
    return Cell(text, mark, verdict if mark else "", explanation, **cell_fields)


def mean_cell(mean: float, verdict: str = "", **cell_fields: Any) -> Cell:
    """Return a mean as a cell, with the mark of its verdict against the baseline.

    Args:
        mean: the mean.
        verdict: "" if there is no verdict.
        cell_fields: further fields of ``Cell``, by keyword.
    """
    return marked_cell(score_text(mean), verdict, **cell_fields)


def _marked_mean_cell(comparison: Comparison, mean: SystemMean, **cell_fields: Any) -> Cell:
    """Return a system's mean as a cell, with the mark of its verdict against the baseline.

    Without a baseline, the mark is the letters of the systems that this one is better than.
    """
    measure, system = mean.measure, mean.system
    if comparison.baseline is not None:
        verdict = _verdict(comparison, measure, system, comparison.baseline)
        return mean_cell(mean.mean, verdict, **cell_fields)
    letters = "".join(
        letter_of(comparison, against)
        for against in comparison.systems
        if against != system and _verdict(comparison, measure, system, against) == "better"
    )
    if not letters:
        return mean_cell(mean.mean, **cell_fields)
    explanation = "better than the systems of these letters"
    return Cell(score_text(mean.mean), letters, "better", explanation, **cell_fields)


def letter_of(comparison: Comparison, system: str) -> str:
    """Return the letter of a system, by its position in the comparison."""
    return letter_at(comparison.systems.index(system))


def letter_at(index: int) -> str:
    """Return the letter for the index of a system or a group; a number in brackets after z.

    >>> letter_at(0), letter_at(25), letter_at(26)
    ('a', 'z', '[27]')
    """
    return _LETTERS[index] if index < len(_LETTERS) else f"[{index + 1}]"


def _verdict(comparison: Comparison, measure: str, system: str, against: str) -> str:
    """Return the verdict on a pair, in whichever order it was compared."""
    verdicts = comparison.verdicts
    if (measure, system, against) in verdicts:
        return verdicts[measure, system, against]
    reversed_verdict = verdicts.get((measure, against, system), "undecided")
    return OPPOSITE.get(reversed_verdict, reversed_verdict)


def label_of(comparison: Comparison, system: str) -> str:
    """Return a system's name for a table, with "(baseline)", or with its letter for all pairs."""
    if comparison.baseline is not None:
        return f"{system} (baseline)" if system == comparison.baseline else system
    return f"{letter_of(comparison, system)} {system}"


def to_table(comparison: Comparison, *, intervals: bool = False) -> Table:
    """Return a table of means, a row for each system and a column for each measure.

    Args:
        comparison: the comparison.
        intervals: whether cells hold the intervals of the means too.
    """
    means = {(mean.measure, mean.system): mean for mean in comparison.means}
    best = {
        measure: max(means[measure, system].mean for system in comparison.systems)
        for measure in comparison.measures
    }
    rows: list[list[str | Cell]] = []
    for system in comparison.systems:
        row: list[str | Cell] = [label_of(comparison, system)]
        for measure in comparison.measures:
            mean = means[measure, system]
            interval = f"{score_text(mean.low)} to {score_text(mean.high)}" if intervals else ""
            is_best = mean.mean == best[measure]
            row.append(_marked_mean_cell(comparison, mean, interval=interval, is_best=is_best))
        rows.append(row)
    return Table(("system", *comparison.measures), rows)


#: The columns of the table of differences.
DIFFERENCE_COLUMNS = (
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
    """Return {column: cell} of one difference, for the columns of ``COLUMNS``."""
    verdict = difference.verdict
    cells = (
        difference.measure,
        difference.system,
        difference.against,
        signed_text(difference.difference),
        signed_range_text(difference.low, difference.high),
        "infinite" if difference.effect is None else f"{difference.effect:+.2f}",
        p_text(difference.p),
        p_text(difference.p_corrected),
        f"{difference.wins}/{difference.ties}/{difference.losses}",
        Cell(f"equal within {margin:g}" if verdict == "equal" else verdict, verdict=verdict),
    )
    return dict(zip(DIFFERENCE_COLUMNS, cells, strict=True))


def differences_table(comparison: Comparison) -> Table:
    """Return a table of the differences with their evidence, a row for each."""
    margin = comparison.settings.margin
    rows = [
        list(difference_cells(difference, margin).values()) for difference in comparison.differences
    ]
    return Table(DIFFERENCE_COLUMNS, rows)


def difference_sentence(difference: Difference, margin: float) -> str:
    """Return the verdict on a difference as a sentence.

    Args:
        difference: one pair on one measure.
        margin: the smallest difference that matters, in the unit of the measure.
    """
    if difference.verdict == "equal":
        return (
            f"{difference.measure}: {difference.system} and {difference.against} are equal within "
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
        difference.measure,
        difference,
        evidence,
        comment=f", less than {margin:g}" if is_small else "",
    )


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
    yield from left_out_notes(comparison.left_out)
    yield from {difference.note: None for difference in comparison.differences if difference.note}
    for mean in comparison.means:
        if mean.repeats > 1:
            yield (
                f"{mean.system}: the mean of {mean.repeats} repeats, whose {mean.measure} goes "
                f"from {score_text(mean.lowest)} to {score_text(mean.highest)}"
            )


def to_markdown(comparison: Comparison) -> str:
    """Return the verdicts as a list and the tables of means and differences, as Markdown."""
    margin = comparison.settings.margin
    verdicts = markdown_list(
        difference_sentence(difference, margin) for difference in comparison.differences
    )
    tables = f"{to_table(comparison).markdown()}\n\n{differences_table(comparison).markdown()}"
    return f"{verdicts}\n{tables}\n"
