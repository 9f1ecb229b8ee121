"""Tables of a comparison: means with marks, differences with their evidence, judged shares."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from beir_eval.comparison.records import OPPOSITE
from beir_eval.comparison.step_names import pattern_for
from beir_eval.comparison.verdict_sentences import (
    RANKS_NOTE,
    common_headlines,
    detectable_text,
    interval_cell_text,
    interval_heading,
    mean_interval_text,
    p_text,
    queries_sample_text,
    queries_text,
    signed_text,
    test_text,
)
from beir_eval.display.tables import (
    UNKNOWN,
    VERDICTS,
    Cell,
    ScoreFormat,
    Table,
    latex_table,
    score_text,
    table_of,
)
from beir_eval.evaluation.depths import judged_depth, judged_text
from beir_eval.evaluation.notes import ranks_caption
from beir_eval.evaluation.tables import score_cells
from beir_eval.measures.names import registered
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.rank_similarity import Likeness
    from beir_eval.comparison.records import (
        ComparisonSettings,
        Difference,
        PairDifference,
        SystemMean,
    )


def marked(cell: Cell, verdict: str) -> Cell:
    """Return a cell with the mark of its verdict against the baseline; "" for no verdict."""
    style = VERDICTS.get(verdict, VERDICTS["undecided"])
    return replace(cell, mark=style.mark, verdict=verdict if style.mark else "")


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

    Three checkpoints or more stay in their order: systems with a number after "step", "checkpoint"
    or "epoch" in their names come in the order of these numbers.
    """
    measure, systems = measure or comparison.measures[0], list(comparison.systems)
    others = [system for system in systems if system != comparison.baseline]
    if by_step and len(systems) > 2:  # noqa: PLR2004 - a pair
        pattern = pattern_for(others)
        steps = {name: float(step["step"]) for name in others if (step := re.search(pattern, name))}
        if len(steps) == len(others):
            return sorted(systems, key=lambda system: steps.get(system, -math.inf))
    is_higher_better = first_of(comparison, measure).higher_is_better
    means = {mean.system: mean.mean for mean in comparison.means if mean.measure == measure}
    return sorted(systems, key=means.__getitem__, reverse=is_higher_better)


def first_of(comparison: Compared, measure: str) -> Difference:
    """Return the first difference on a measure."""
    return next(pair for pair in comparison.differences if pair.measure == measure)


def is_ranked(comparison: Compared) -> bool:
    """Return whether all pairs of several systems are compared."""
    return comparison.baseline is None and len(comparison.systems) > 2  # noqa: PLR2004 - a pair


def shown_differences(comparison: Compared) -> list[Difference]:
    """Return the differences; of all pairs of several systems the higher mean minus the lower."""
    if not is_ranked(comparison):
        return list(comparison.differences)
    position = {system: index for index, system in enumerate(in_shown_order(comparison))}
    measures = {measure: index for index, measure in enumerate(comparison.measures)}
    return sorted(
        (pair if pair.gain >= 0 else pair.reversed() for pair in comparison.differences),
        key=lambda pair: (
            measures[pair.measure],
            *sorted((position[pair.system], position[pair.against])),
        ),
    )


def pair_label(comparison: Compared, system: str, against: str) -> str:
    """Return the ranks of a pair of systems, such as "1 vs 3"."""
    systems = in_shown_order(comparison)
    return f"{systems.index(system) + 1} vs {systems.index(against) + 1}"


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
    return f"{in_shown_order(comparison).index(system) + 1} {system}"


def to_table(
    comparison: Compared, *, intervals: bool = False, scores: ScoreFormat | None = None
) -> Table:
    """Return a table of means, a row for each system and a column for each measure.

    Args:
        comparison: the comparison.
        intervals: whether cells hold the intervals of the means too.
        scores: how scores are written; None for four decimals.
    """
    systems, columns = in_shown_order(comparison), []
    of_system = {(mean.measure, mean.system): mean for mean in comparison.means}
    for measure in comparison.measures:
        scale = scale_of(measure, comparison.custom_measures)
        means = [of_system[measure, system] for system in systems]
        cells = score_cells([mean.mean for mean in means], scale, scores or ScoreFormat())
        ends = [
            mean_interval_text(mean.low, mean.high, " to ", scale.bounds) if intervals else ""
            for mean in means
        ]
        columns.append(
            [
                replace(_marked_mean(comparison, mean, cell), interval=interval)
                for cell, interval, mean in zip(cells, ends, means, strict=True)
            ]
        )
    labels = [label_of(comparison, system) for system in systems]
    return Table(("system", *comparison.measures), list(zip(labels, *columns, strict=True)))


def _marked_mean(comparison: Compared, mean: SystemMean, cell: Cell) -> Cell:
    """Return the cell of a mean with the mark of its verdict against the baseline.

    Without a baseline, the mark is the ranks of the systems that this one is better than.
    """
    measure, system, baseline = mean.measure, mean.system, comparison.baseline
    if baseline is not None:
        return marked(cell, _verdict(comparison, measure, system, baseline))
    if not (worse := systems_text(comparison, measure, system, "better")):
        return cell
    return replace(cell, mark=f">{worse}", verdict="better")


#: The title of the table of judged shares.
JUDGED_TITLE = "Judged documents"
#: {heading: what makes the cell of a difference, with the margin} of tables of differences.
_CELLS: Mapping[str, Callable[[Difference, float], str | Cell]] = {
    "measure": lambda pair, _: pair.measure,
    "system": lambda pair, _: pair.system,
    "against": lambda pair, _: pair.against,
    "difference": lambda pair, _: signed_text(pair.difference),
    "in %": lambda pair, _: "n/a" if pair.relative is None else f"{100 * pair.relative:+.1f}%",
    "interval": lambda pair, _: interval_cell_text(pair),
    "effect": lambda pair, _: "infinite" if pair.effect is None else f"{pair.effect:+.2f}",
    "p": lambda pair, _: p_text(pair.p),
    "corrected": lambda pair, _: p_text(pair.p_corrected),
    "won/tied/lost": lambda pair, _: f"{pair.wins}/{pair.ties}/{pair.losses}",
    "verdict": lambda pair, margin: Cell(
        f"equivalent within {margin:g}" if pair.verdict == "equivalent" else pair.verdict,
        verdict=pair.verdict,
    ),
    "detectable": lambda pair, _: detectable_text(pair),
    "queries": queries_text,
}
#: The columns of a table of differences; the others are of power.
DIFFERENCE_COLUMNS = list(_CELLS)[:-2]
#: Those of the evidence on one measure, with power.
EVIDENCE_COLUMNS = list(_CELLS)[1:]


def pairs_table(
    pairs: Iterable[Difference],
    settings: ComparisonSettings,
    num_comparisons: int,
    columns: Sequence[str] = DIFFERENCE_COLUMNS,
) -> Table:
    """Return a table of differences with their evidence, a row for each.

    Args:
        pairs: the differences.
        settings: those of the comparison.
        num_comparisons: the number of comparisons that are corrected together.
        columns: those of ``DIFFERENCE_COLUMNS`` to show; and "detectable" and "queries": the true
            difference that would be detected 80% of the time, and how many queries would detect a
            difference of the margin.
    """
    margin = settings.margin
    headings = {
        "interval": interval_heading(settings, num_comparisons),
        "queries": f"queries for {margin:g}",
    }
    return Table(
        tuple(headings.get(name, name) for name in columns),
        [tuple(_CELLS[name](pair, margin) for name in columns) for pair in pairs],
    )


def evidence_cells(difference: PairDifference) -> tuple[str | Cell, ...]:
    """Return a difference, its interval, its p and its verdict."""
    return (
        signed_text(difference.difference),
        interval_cell_text(difference),
        p_text(difference.p_corrected),
        Cell(difference.verdict, verdict=difference.verdict),
    )


def judged_texts(comparison: Compared, measure: str, systems: Iterable[str]) -> list[str]:
    """Return the judged shares of systems in percent; an empty list if none is known."""
    if registered(measure) is None:
        return []
    depth, results = judged_depth(measure), comparison.results
    texts = [judged_text(results.get(system, ()), depth) for system in systems]
    return texts if {*texts} != {UNKNOWN} else []


def judged_table(comparison: Compared) -> Table | None:
    """Return a table of the judged shares, a row for each system; None if none is known."""
    systems = in_shown_order(comparison)
    columns = {
        "all" if (depth := judged_depth(measure)) is None else f"top {depth}": texts
        for measure in comparison.measures
        if (texts := judged_texts(comparison, measure, systems))
    }
    if not columns:
        return None
    labels = [label_of(comparison, system) for system in systems]
    return Table(("system", *columns), list(zip(labels, *columns.values(), strict=True)))


def _known_text(value: float | None) -> str:
    return UNKNOWN if value is None else score_text(value)


def likeness_table(pairs: Iterable[Likeness]) -> Table:
    """Return the likeness of pairs as a table, one row for each pair."""
    return table_of(
        pairs,
        {
            "system": lambda pair: pair.system,
            "against": lambda pair: pair.against,
            "RBO": lambda pair: _known_text(pair.rbo),
            "overlap": lambda pair: _known_text(pair.overlap),
            "Kendall distance": lambda pair: _known_text(pair.kendall_distance),
        },
    )


def to_latex(comparison: Compared, scores: ScoreFormat) -> str:
    """Return the table of means as a LaTeX float whose caption explains the marks.

    Args:
        comparison: the comparison.
        scores: how scores are written.
    """
    settings, baseline = comparison.settings, comparison.baseline
    correction = f", correction {settings.correction}" if comparison.num_comparisons > 1 else ""
    marks = f"{RANKS_NOTE.capitalize()}."
    if baseline is not None:
        margin = scores.difference_text(settings.margin)
        marks = (
            f"▲ better, ▼ worse than {baseline}, = identical, or equivalent within {margin}; no "
            "mark: undecided."
        )
    clusters = ""
    if comparison.clusters is not None:
        clusters = f" in {len(set(comparison.clusters)):,} clusters"
    test = test_text(settings)
    sentences = [
        f"Means over {queries_sample_text(comparison)}{clusters}, best in bold.",
        f"{marks} {test[:1].upper()}{test[1:]}{correction}, level {settings.alpha:g}.",
    ]
    if (number := len(comparison.measures)) > 1:
        sentences.append(f"Not corrected for looking at {number} measures.")
    repeats = {mean.system: mean.repeats for mean in comparison.means}
    sentences += [f"{name}: mean of {num} repeats." for name, num in repeats.items() if num > 1]
    sentences += [f"{text}." for text, _ in common_headlines(comparison, comparison.measures)]
    ranks = ranks_caption(comparison.results[comparison.systems[0]][0])
    caption = f"{' '.join(sentences)}{ranks}{scores.remark()}"
    return latex_table(to_table(comparison, scores=scores), caption=caption, label="tab:comparison")
