"""A comparison as text: verdicts in sentences, tables in markdown, LaTeX and CSV."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from beir_eval.display.tables import Table, latex_text, markdown_text, number, records_csv
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.result import Comparison

#: Behind a mean, where there is a baseline.
MARKS = {"better": "▲", "worse": "▼", "equal": "=", "undecided": ""}
LATEX_MARKS = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$"}
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


def marks_of(comparison: Comparison, measure: str, system: str) -> str:
    """Return what stands behind a mean.

    With a baseline ▲ (better than it), ▼ (worse), = (equal within the margin) or nothing; for all
    pairs the letters of the systems that this one is better than.
    """
    if comparison.baseline is not None:
        if system == comparison.baseline:
            return ""
        return MARKS[_verdict(comparison, measure, system, comparison.baseline)]
    return "".join(
        letter_of(comparison, other)
        for other in comparison.systems
        if other != system and _verdict(comparison, measure, system, other) == "better"
    )


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
    opposite = {"better": "worse", "worse": "better"}
    verdicts = comparison.verdicts
    found = verdicts.get((measure, system, against))
    if found is not None:
        return found
    other = verdicts.get((measure, against, system), "undecided")
    return opposite.get(other, other)


def label_of(comparison: Comparison, system: str) -> str:
    """Return a system's name for a table: the baseline is named so, others have letters."""
    if comparison.baseline is not None:
        return f"{system} (baseline)" if system == comparison.baseline else system
    return f"{letter_of(comparison, system)} {system}"


def to_table(comparison: Comparison) -> Table:
    """Return systems × measures."""
    mean = {(one.measure, one.system): one.mean for one in comparison.means}
    rows = [
        [
            label_of(comparison, system),
            *(
                f"{number(mean[measure, system])} {marks_of(comparison, measure, system)}".strip()
                for measure in comparison.measures
            ),
        ]
        for system in comparison.systems
    ]
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


def difference_cells(one: Difference, margin: float) -> tuple[str, ...]:
    """Return one difference as cells of ``COLUMNS``."""
    return (
        one.measure,
        one.system,
        one.against,
        signed(one.difference),
        f"{signed(one.low)} … {signed(one.high)}",
        "infinite" if one.effect is None else f"{one.effect:+.2f}",
        p_text(one.p),
        p_text(one.p_corrected),
        f"{one.wins}/{one.ties}/{one.losses}",
        f"equal within {margin:g}" if one.verdict == "equal" else one.verdict,
    )


def differences_table(comparison: Comparison) -> Table:
    """Return every difference with its evidence."""
    margin = comparison.settings.margin
    return Table(COLUMNS, [difference_cells(one, margin) for one in comparison.differences])


def sentence(one: Difference, margin: float) -> str:
    """Return a verdict as a sentence."""
    shown = f"{signed(one.difference)} ({signed(one.low)} to {signed(one.high)})"
    evidence = f"corrected p {p_text(one.p_corrected)}, {one.num_queries} queries"
    if one.verdict in ("better", "worse"):
        within = f", less than {margin:g}" if abs(one.difference) < margin else ""
        return (
            f"{one.measure}: {one.system} is {one.verdict} than {one.against}, by "
            f"{shown}{within}; {evidence}"
        )
    if one.verdict == "equal":
        return (
            f"{one.measure}: {one.system} and {one.against} are equal within {margin:g}: {shown}, "
            f"{one.num_queries} queries"
        )
    return (
        f"{one.measure}: {one.system} and {one.against} cannot be told apart: {shown}; {evidence}. "
        f"So many queries show a true difference of {one.detectable:.4f} in 4 cases of 5; one of "
        f"{margin:g} takes about {one.queries_needed or 'more than 10^15'}"
    )


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
    for system, number_left in comparison.left_out.items():
        yield f"{system}: {number_left} queries left out that others do not have"
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
    verdicts = "".join(
        f"- {markdown_text(sentence(one, margin))}\n" for one in comparison.differences
    )
    tables = f"{to_table(comparison).markdown()}\n\n{differences_table(comparison).markdown()}"
    return f"{verdicts}\n{tables}\n"


def to_latex(comparison: Comparison) -> str:
    """Return the means: the best of a measure in bold, marks as superscripts."""
    mean = {(one.measure, one.system): one.mean for one in comparison.means}
    best = {
        measure: max(mean[measure, system] for system in comparison.systems)
        for measure in comparison.measures
    }
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(comparison.measures)}}}",
        r"\toprule",
        " & ".join(map(latex_text, ("system", *comparison.measures))) + r" \\",
        r"\midrule",
    ]
    for system in comparison.systems:
        cells = [latex_text(label_of(comparison, system))]
        for measure in comparison.measures:
            value = mean[measure, system]
            text = number(value)
            shown = rf"\textbf{{{text}}}" if value == best[measure] else text
            cells.append(shown + _latex_mark(comparison, measure, system))
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_mark(comparison: Comparison, measure: str, system: str) -> str:
    marks = marks_of(comparison, measure, system)
    if comparison.baseline is None:
        return f"$^{{{marks}}}$" if marks else ""
    verdict = next((name for name, mark in MARKS.items() if mark == marks and mark), "")
    return LATEX_MARKS.get(verdict, "")


def to_csv(comparison: Comparison) -> str:
    """Return every difference, one a line, with all its fields."""
    return records_csv(comparison.differences)
