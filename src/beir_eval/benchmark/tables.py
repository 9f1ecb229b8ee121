"""A comparison over several data sets as text: markdown, LaTeX, CSV."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from beir_eval.comparison.tables import MARKS, p_text, signed
from beir_eval.display.tables import Table, latex_text, markdown_text, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.benchmark.records import Across, AverageDifference, SystemAverage

_LETTERS = string.ascii_lowercase
_LATEX_MARKS = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$"}


def letter_of(place: int) -> str:
    """Return the letter of a group: a, b, …, z, then numbers in brackets."""
    return _LETTERS[place] if place < len(_LETTERS) else f"[{place + 1}]"


def to_table(across: Across) -> Table:
    """Return systems × what is known of their averages."""
    last = "groups" if across.baseline is None else f"against {across.baseline}"
    header = (
        "system",
        f"average {across.measure}",
        "interval",
        "rank",
        "ranks",
        "first",
        last,
    )
    return Table(header, [_row(across, one) for one in across.averages])


def _row(across: Across, one: SystemAverage) -> tuple[str, ...]:
    return (
        one.system,
        number(one.average),
        f"{number(one.low)} … {number(one.high)}",
        str(one.rank),
        f"{one.rank_low} … {one.rank_high}",
        f"{one.first:.0%}",
        one.groups if across.baseline is None else _against_baseline(across, one.system),
    )


def _against_baseline(across: Across, system: str) -> str:
    if system == across.baseline:
        return "baseline"
    one = across.difference(system)
    return f"{signed(one.difference)} {MARKS[one.verdict]}".strip()


def differences_table(across: Across) -> Table:
    """Return every difference of the averages with its evidence."""
    header = (
        "system",
        "against",
        "difference",
        "interval",
        "p",
        "corrected",
        "data sets better/worse",
        "significantly",
        "verdict",
    )
    return Table(header, [_cells(one) for one in across.differences])


def _cells(one: AverageDifference) -> tuple[str, ...]:
    return (
        one.system,
        one.against,
        signed(one.difference),
        f"{signed(one.low)} … {signed(one.high)}",
        p_text(one.p),
        p_text(one.p_corrected),
        f"{one.better}/{one.worse}",
        f"{one.significantly_better}/{one.significantly_worse}",
        one.verdict,
    )


def datasets_table(across: Across) -> Table:
    """Return data sets × systems: means, with a mark against the baseline where it is shown."""
    verdicts = {(one.dataset, one.system): one.verdict for one in across.by_dataset}
    rows = [
        [
            one.name,
            str(one.num_queries),
            *(
                number(one.means[system])
                + (
                    f" {MARKS[verdicts.get((one.name, system), 'undecided')]}".rstrip()
                    if across.baseline is not None
                    else ""
                )
                for system in across.systems
            ),
        ]
        for one in across.datasets
    ]
    averages = [number(one.average) for one in across.averages]
    return Table((across.measure, "queries", *across.systems), [*rows, ["average", "", *averages]])


def sentence(one: AverageDifference, measure: str, num_datasets: int) -> str:
    """Return a verdict as a sentence."""
    shown = f"{signed(one.difference)} ({signed(one.low)} to {signed(one.high)})"
    evidence = (
        f"corrected p {p_text(one.p_corrected)}; better on {one.better} of {num_datasets} data "
        f"sets ({one.significantly_better} significantly), worse on {one.worse} "
        f"({one.significantly_worse})"
    )
    if one.verdict == "undecided":
        return (
            f"average {measure}: {one.system} and {one.against} cannot be told apart: {shown}; "
            f"{evidence}"
        )
    return (
        f"average {measure}: {one.system} is {one.verdict} than {one.against}, by {shown}; "
        f"{evidence}"
    )


def notes_of(across: Across) -> Iterator[str]:
    """Yield what a reader of the tables must know."""
    settings = across.settings
    queries = sum(one.num_queries for one in across.datasets)
    yield (
        f"{len(across.datasets)} data {'sets' if len(across.datasets) > 1 else 'set'}, "
        f"{queries} queries; the average is the unweighted mean "
        "of the data sets' means, queries are never pooled"
    )
    drawn = "data sets, and queries within each" if settings.hierarchical else "queries within each"
    kind = "percentile" if settings.hierarchical else "BCa"
    yield (
        f"intervals and ranks, not corrected: {kind} bootstrap at {1 - settings.alpha:.0%}, "
        f"resampling {drawn}"
        + ("" if settings.hierarchical else " data set; they hold for these data sets")
    )
    if settings.hierarchical:
        yield (
            "p and verdicts hold for these data sets; the intervals, which are wider, speak of "
            "data sets that there might have been"
        )
    correction = "Holm" if settings.correction == "holm" else "max-T"
    yield (
        "p: sign flips of queries within each data set, statistic the average of the mean "
        f"differences; corrected by {correction} over {len(across.differences)} comparisons, on "
        f"single data sets by Holm over {len(across.by_dataset)}; better and worse at "
        f"{settings.alpha:g}"
    )
    if across.baseline is None:
        yield (
            "groups: systems that share a letter cannot be told apart; runs in the order of the "
            "averages in which no two differ significantly"
        )
    else:
        yield "▲ better than the baseline, ▼ worse"
    for one in across.datasets:
        if list(one.parts) != [one.name]:
            yield f"{one.name}: the mean of {len(one.parts)} parts, which count as one data set"
    for name, systems in across.left_out.items():
        yield f"{name}: left out, no result of {', '.join(systems)}"
    for name, count in across.queries_left_out.items():
        yield f"{name}: {count} queries left out that not all systems have a score for"


def to_markdown(across: Across) -> str:
    """Return verdicts, averages, differences, data sets and notes."""
    verdicts = "".join(
        f"- {markdown_text(sentence(one, across.measure, len(across.datasets)))}\n"
        for one in across.differences
    )
    tables = "\n\n".join(
        one.markdown()
        for one in (to_table(across), differences_table(across), datasets_table(across))
    )
    notes = "".join(f"- {markdown_text(note)}\n" for note in notes_of(across))
    return f"{verdicts}\n{tables}\n\n{notes}"


def to_latex(across: Across) -> str:
    """Return systems × data sets and the average: best bold, groups or verdicts superscript."""
    columns = [one.means for one in across.datasets]
    columns.append({one.system: one.average for one in across.averages})
    names = [*(one.name for one in across.datasets), "average"]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(map(latex_text, (across.measure, *names))) + r" \\",
        r"\midrule",
    ]
    verdicts = {(one.dataset, one.system): one.verdict for one in across.by_dataset}
    for one in across.averages:
        cells = [latex_text(one.system)]
        for name, means in zip(names, columns, strict=True):
            value = means[one.system]
            text = number(value)
            cells.append(rf"\textbf{{{text}}}" if value == max(means.values()) else text)
            if across.baseline is not None and name != "average":
                cells[-1] += _LATEX_MARKS.get(verdicts.get((name, one.system), ""), "")
        cells[-1] += _latex_mark(across, one)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_mark(across: Across, one: SystemAverage) -> str:
    if across.baseline is None:
        return f"$^{{{one.groups}}}$" if one.groups else ""
    if one.system == across.baseline:
        return ""
    return _LATEX_MARKS.get(across.difference(one.system).verdict, "")
