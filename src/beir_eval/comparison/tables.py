"""Tables of a comparison: means with marks, differences with their evidence."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.chance import queries_sample_text
from beir_eval.comparison.headlines import common_headlines
from beir_eval.comparison.records import OPPOSITE
from beir_eval.comparison.step_names import pattern_for
from beir_eval.comparison.verdict_sentences import (
    RANKS_NOTE,
    detectable_text,
    interval_cell_text,
    interval_heading,
    mean_interval_text,
    p_text,
    queries_text,
    signed_text,
    test_text,
)
from beir_eval.display.tables import VERDICTS, Cell, ScoreFormat, Table, latex_table, score_text
from beir_eval.evaluation.notes import ranks_caption
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean


def marked_cell(text: str, verdict: str, **cell_fields: Any) -> Cell:
    """Return a number as a cell, with the mark of its verdict against the baseline.

    Args:
        text: the number as text.
        verdict: "" if there is no verdict.
        cell_fields: further fields of ``Cell``, by keyword.
    """
    style = VERDICTS.get(verdict, VERDICTS["undecided"])
    return Cell(text, style.mark, verdict if style.mark else "", style.explanation, **cell_fields)


def mean_cell(mean: float, verdict: str = "", **cell_fields: Any) -> Cell:
    """Return a mean as a cell, with the mark of its verdict against the baseline.

    Args:
        mean: the mean.
        verdict: "" if there is no verdict.
        cell_fields: further fields of ``Cell``, by keyword.
    """
    return marked_cell(score_text(mean), verdict, **cell_fields)


def _marked_mean_cell(
    comparison: Compared, mean: SystemMean, text: str, **cell_fields: Any
) -> Cell:
    """Return a system's mean, as text, in a cell with the mark of its verdict.

    Without a baseline, the mark is the ranks of the systems that this one is better than.
    """
    if comparison.baseline is not None:
        verdict = _verdict(comparison, mean.measure, mean.system, comparison.baseline)
        return marked_cell(text, verdict, **cell_fields)
    worse = systems_text(comparison, mean.measure, mean.system, "better")
    if not worse:
        return marked_cell(text, "", **cell_fields)
    return Cell(text, f">{worse}", "better", "better than these systems", **cell_fields)


def systems_text(comparison: Compared, measure: str, system: str, verdict: str) -> str:
    """Return the ranks of the systems that a system has a verdict against.

    Args:
        comparison: the comparison.
        measure: the measure.
        system: the system.
        verdict: "better" or "worse".

    Returns:
        Such as "2,4-6"; "" for none.
    """
    others = [
        index
        for index, against in enumerate(in_shown_order(comparison))
        if against != system and _verdict(comparison, measure, system, against) == verdict
    ]
    return _ranges_text([index + 1 for index in others])


def in_shown_order(
    comparison: Compared, measure: str | None = None, *, by_step: bool = True
) -> list[str]:
    """Return the systems by their means on a measure, the first by default, the best first.

    Checkpoints stay in their order: systems with a number after "step", "checkpoint" or "epoch" in
    their names come in the order of these numbers.
    """
    measure, systems = measure or comparison.measures[0], list(comparison.systems)
    others = [system for system in systems if system != comparison.baseline]
    steps = [re.search(pattern_for(others), system) for system in others]
    if by_step and len(others) > 1 and all(steps):
        numbers = {
            system: float(step["step"]) for system, step in zip(others, steps, strict=True) if step
        }
        return sorted(systems, key=lambda system: numbers.get(system, -math.inf))
    scale = scale_of(measure, comparison.custom_measures)
    means = {mean.system: mean.mean for mean in comparison.means if mean.measure == measure}
    return sorted(systems, key=lambda system: -float(scale.gains(means[system])))


def shown_differences(comparison: Compared) -> list[Difference]:
    """Return the differences; of all pairs of several systems the higher mean minus the lower."""
    if comparison.baseline is not None or len(comparison.systems) <= 2:  # noqa: PLR2004 - a pair
        return list(comparison.differences)
    position = {system: index for index, system in enumerate(in_shown_order(comparison))}
    oriented = [
        difference if difference.gain >= 0 else difference.reversed()
        for difference in comparison.differences
    ]
    measures = {measure: index for index, measure in enumerate(comparison.measures)}
    return sorted(
        oriented,
        key=lambda pair: (
            measures[pair.measure],
            *sorted((position[pair.system], position[pair.against])),
        ),
    )


def _rank_of(comparison: Compared, system: str) -> int:
    return 1 + in_shown_order(comparison).index(system)


def pair_label(comparison: Compared, system: str, against: str) -> str:
    """Return the ranks of a pair of systems, such as "1 vs 3"."""
    return f"{_rank_of(comparison, system)} vs {_rank_of(comparison, against)}"


def _ranges_text(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, neighbours as ranges.

    >>> _ranges_text([2, 4, 5, 6])
    '2,4-6'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def _verdict(comparison: Compared, measure: str, system: str, against: str) -> str:
    """Return the verdict on a pair, in whichever order it was compared."""
    verdicts = comparison.verdicts
    if (measure, system, against) in verdicts:
        return verdicts[measure, system, against]
    reversed_verdict = verdicts.get((measure, against, system), "undecided")
    return OPPOSITE.get(reversed_verdict, reversed_verdict)


def label_of(comparison: Compared, system: str) -> str:
    """Return a system's name for a table, with "(baseline)", or with its rank for all pairs."""
    if comparison.baseline is not None:
        return f"{system} (baseline)" if system == comparison.baseline else system
    return f"{_rank_of(comparison, system)} {system}"


def to_table(
    comparison: Compared, *, intervals: bool = False, scores: ScoreFormat | None = None
) -> Table:
    """Return a table of means, a row for each system and a column for each measure.

    Args:
        comparison: the comparison.
        intervals: whether cells hold the intervals of the means too.
        scores: how scores are written; None for four decimals.
    """
    scores = scores or ScoreFormat()
    means = {(mean.measure, mean.system): mean for mean in comparison.means}
    scales = {
        measure: scale_of(measure, comparison.custom_measures) for measure in comparison.measures
    }
    # Means that look equal are equally good to a reader.
    best = {
        measure: scores.text(
            scales[measure].best(means[measure, system].mean for system in comparison.systems),
            scales[measure].bounds,
        )
        for measure in comparison.measures
    }
    rows: list[list[str | Cell]] = []
    for system in in_shown_order(comparison):
        row: list[str | Cell] = [label_of(comparison, system)]
        for measure in comparison.measures:
            mean = means[measure, system]
            interval = ""
            if intervals:
                interval = mean_interval_text(mean.low, mean.high, " to ", scales[measure].bounds)
            text = scores.text(mean.mean, scales[measure].bounds)
            is_best = text == best[measure]
            row.append(
                _marked_mean_cell(comparison, mean, text, interval=interval, is_best=is_best)
            )
        rows.append(row)
    return Table(("system", *comparison.measures), rows)


#: The columns of the table of differences.
DIFFERENCE_COLUMNS = (
    "measure",
    "system",
    "against",
    "difference",
    "in %",
    "interval",
    "effect",
    "p",
    "corrected",
    "won/tied/lost",
    "verdict",
)


def difference_cells(difference: Difference, margin: float) -> dict[str, str | Cell]:
    """Return {column: cell} of one difference, for each of ``DIFFERENCE_COLUMNS``."""
    verdict = difference.verdict
    cells = (
        difference.measure,
        difference.system,
        difference.against,
        signed_text(difference.difference),
        "n/a" if difference.relative is None else f"{100 * difference.relative:+.1f}%",
        interval_cell_text(difference),
        "infinite" if difference.effect is None else f"{difference.effect:+.2f}",
        p_text(difference.p),
        p_text(difference.p_corrected),
        f"{difference.wins}/{difference.ties}/{difference.losses}",
        Cell(
            f"equivalent within {margin:g}" if verdict == "equivalent" else verdict, verdict=verdict
        ),
    )
    return dict(zip(DIFFERENCE_COLUMNS, cells, strict=True))


def differences_table(comparison: Compared) -> Table:
    """Return a table of the differences with their evidence, a row for each."""
    margin = comparison.settings.margin
    rows = [
        list(difference_cells(difference, margin).values())
        for difference in shown_differences(comparison)
    ]
    num_comparisons = comparison.num_comparisons
    return Table(difference_headings(comparison.settings, num_comparisons), rows)


def evidence_table(comparison: Compared, *, has_differences: bool) -> Table:
    """Return a table of the evidence and the power behind the differences, a row for each.

    Its last columns are the true difference that would be detected 80% of the time, and how many
    queries would detect a difference of the margin.

    Args:
        comparison: the comparison.
        has_differences: whether the differences, intervals and verdicts are columns.
    """
    settings = comparison.settings
    hidden = () if has_differences else ("difference", "interval", "verdict")
    headings = dict(
        zip(
            DIFFERENCE_COLUMNS,
            difference_headings(settings, comparison.num_comparisons),
            strict=True,
        )
    )
    header = [heading for name, heading in headings.items() if name not in hidden]
    rows = [
        (
            *(
                cell
                for name, cell in difference_cells(difference, settings.margin).items()
                if name not in hidden
            ),
            detectable_text(difference),
            queries_text(difference, settings.margin),
        )
        for difference in shown_differences(comparison)
    ]
    return Table((*header, "detectable", f"queries for {settings.margin:g}"), rows)


def difference_headings(settings: ComparisonSettings, num_comparisons: int) -> tuple[str, ...]:
    """Return ``DIFFERENCE_COLUMNS`` with the kind of the intervals.

    Args:
        settings: the settings of the comparison.
        num_comparisons: the number of comparisons that are corrected together.
    """
    heading = interval_heading(settings, num_comparisons)
    return tuple(heading if name == "interval" else name for name in DIFFERENCE_COLUMNS)


def to_latex(comparison: Compared, scores: ScoreFormat) -> str:
    """Return the table of means as a LaTeX float whose caption explains the marks.

    Args:
        comparison: the comparison.
        scores: how scores are written.
    """
    settings = comparison.settings
    num_comparisons = comparison.num_comparisons
    correction = "" if num_comparisons == 1 else f", correction {settings.correction}"
    marks = (
        f"{RANKS_NOTE.capitalize()}."
        if comparison.baseline is None
        else f"▲ better, ▼ worse than {comparison.baseline}, = identical, or "
        f"equivalent within {scores.difference_text(settings.margin)}; no mark: undecided."
    )
    clusters = ""
    if comparison.clusters is not None:
        clusters = f" in {len(set(comparison.clusters)):,} clusters"
    test = test_text(settings)
    caption = (
        f"Means over {queries_sample_text(comparison)}{clusters}, best in bold. {marks} "
        f"{test[:1].upper()}{test[1:]}{correction}, level {settings.alpha:g}."
    )
    if len(comparison.measures) > 1:
        caption += f" Not corrected for looking at {len(comparison.measures)} measures."
    for system, repeats in {mean.system: mean.repeats for mean in comparison.means}.items():
        caption += f" {system}: mean of {repeats} repeats." if repeats > 1 else ""
    for sentence in common_headlines(comparison):
        caption += f" {sentence.text}."
    caption += ranks_caption(comparison.results[comparison.systems[0]][0]) + scores.remark()
    return latex_table(to_table(comparison, scores=scores), caption=caption, label="tab:comparison")
