"""What the report says: the verdict in a sentence, tables, what was counted, provenance."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval._comparison_tables import label_of, marks_of, sentence
from beir_eval._side_by_side import labelled_means
from beir_eval._version import __version__
from beir_eval.tables import Table, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.comparison_result import Comparison
    from beir_eval.results import EvaluationResult

_MOST_TO_JUDGE = 10
_MOST_NAMED = 4
#: What each mark behind a mean says, for who does not know it.
_SAYS = {
    "▲": ("better", "better than the baseline"),
    "▼": ("worse", "worse than the baseline"),
    "=": ("equal", "equal to the baseline within the margin"),
}


@dataclass(frozen=True)
class Said:
    """A sentence and the verdict it tells, which colours it."""

    text: str
    verdict: str


@dataclass(frozen=True)
class Cell:
    """A mean as it is shown: with its interval, and a mark with what the mark says."""

    text: str
    interval: str = ""
    mark: str = ""
    verdict: str = ""
    says: str = ""
    best: bool = False


@dataclass(frozen=True)
class MeansRow:
    """One system."""

    label: str
    cells: list[Cell]


@dataclass(frozen=True)
class Means:
    """Systems × measures."""

    heading: str
    caption: str
    header: tuple[str, ...]
    rows: list[MeansRow]
    notes: tuple[str, ...] = ()


# The verdict


def headline(found: Comparison) -> Said:
    """Return the verdicts on the first measure in one sentence."""
    measure, margin = found.measures[0], found.settings.margin
    differences = [one for one in found.differences if one.measure == measure]
    if found.baseline is None and len(differences) > 1:
        decided = [one for one in differences if one.verdict in ("better", "worse")]
        pairs = [one if one.verdict == "better" else one.reversed() for one in decided]
        named = [f"{one.system} is better than {one.against}" for one in pairs[:_MOST_NAMED]]
        more = len(pairs) - len(named)
        rest = [f"{more} more pairs differ"] if more > 1 else ["1 more pair differs"] * more
        left = len(differences) - len(decided)
        text = f"{measure}: {_joined([*named, *rest])}" if pairs else f"{measure}: no pair differs"
        if left:
            text += f"; of {len(differences)} pairs {left} cannot be told apart or are equal"
        return Said(text, "better" if pairs else "undecided")
    against = differences[0].against
    ways = {
        "better": f"better than {against}",
        "worse": f"worse than {against}",
        "equal": f"equal to {against} within {margin:g}",
    }
    parts = []
    for verdict, way in ways.items():
        names = [one.system for one in differences if one.verdict == verdict]
        if names:
            parts.append(f"{_joined(names)} {'is' if len(names) == 1 else 'are'} {way}")
    undecided = [one.system for one in differences if one.verdict == "undecided"]
    if undecided:
        parts.append(f"{_joined(undecided)} cannot be told apart from {against}")
    verdicts = {one.verdict for one in differences}
    # Several verdicts have no one colour.
    shown = verdicts.pop() if len(verdicts) == 1 else "undecided"
    return Said(f"{measure}: {'; '.join(parts)}", shown)


def evidence(found: Comparison) -> list[Said]:
    """Return every verdict as a sentence."""
    margin = found.settings.margin
    return [Said(sentence(one, margin), one.verdict) for one in found.differences]


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


# The table of means


def means_of_comparison(found: Comparison) -> Means:
    """Return the means with intervals and marks, the best of a measure told."""
    held = {(one.measure, one.system): one for one in found.means}
    best = {
        measure: max(held[measure, system].mean for system in found.systems)
        for measure in found.measures
    }
    rows = []
    for system in found.systems:
        cells = []
        for measure in found.measures:
            one = held[measure, system]
            mark = marks_of(found, measure, system)
            verdict, says = _SAYS.get(mark, ("", ""))
            if mark and not says:
                verdict, says = "better", "better than the systems of these letters"
            cells.append(
                Cell(
                    number(one.mean),
                    f"{number(one.low)} to {number(one.high)}",
                    mark,
                    verdict,
                    says,
                    best=one.mean == best[measure],
                )
            )
        rows.append(MeansRow(label_of(found, system), cells))
    level = 1 - found.settings.alpha
    caption = f"Means over {len(found.query_ids):,} queries with {level:.0%} intervals, best bold"
    return Means("Means", caption, ("system", *found.measures), rows)


def means_of_results(results: Sequence[EvaluationResult]) -> Means:
    """Return the means; where queries are missing, over all judged ones and over those it has."""
    measures = [
        one for one in results[0].measures if all(one in other.measures for other in results)
    ]
    rows = [row for result in results for row in labelled_means(result)]
    several = len(rows) > 1
    best = {
        one: max((means[one] for _, means in rows if means[one] == means[one]), default=None)
        for one in measures
    }
    labels = [
        f"{one} *" if any(result.label(one).endswith("*") for result in results) else one
        for one in measures
    ]
    return Means(
        "Means",
        "Means over queries" + (", best bold" if several else ""),
        ("system", *labels),
        [
            MeansRow(
                label,
                [
                    Cell(number(means[one]), best=several and means[one] == best[one])
                    for one in measures
                ],
            )
            for label, means in rows
        ],
    )


def means_of_table(table: Table, caption: str, notes: Iterable[str]) -> Means:
    """Return a table whose cells are means already."""
    return Means(
        "Means",
        caption,
        ("data set", *table.header[1:]),
        [MeansRow(row[0], [Cell(cell) for cell in row[1:]]) for row in table.rows],
        tuple(notes),
    )


def to_judge_of(found: Comparison) -> Table | None:
    """Return the documents to judge first; None where none is known."""
    if not found.to_judge:
        return None
    rows = [
        (
            one.query_id,
            one.doc_id,
            ", ".join(f"{system}: {rank}" for system, rank in one.ranks.items()),
            number(one.total),
        )
        for one in found.documents_to_judge(_MOST_TO_JUDGE)
    ]
    if not rows:
        return None
    return Table(("query", "document", "ranks", f"change of {found.measures[0]}"), rows)


# What was counted, and where it comes from


def provenance_of(
    results: Sequence[EvaluationResult], found: Comparison | None
) -> list[tuple[str, str]]:
    """Return what a reader needs to make the same numbers again."""
    now = dt.datetime.now(dt.UTC)
    listed = [("written", f"{now:%Y-%m-%d %H:%M} UTC by beir-eval {__version__}")]
    for name, of in (
        ("qrels, SHA-256", "qrels_sha256"),
        ("package of the results", "package_version"),
    ):
        known = dict.fromkeys(getattr(one.provenance, of) for one in results)
        listed += [(name, ", ".join(one for one in known if one))] if any(known) else []
    listed += [
        (f"run {one.name}, SHA-256", one.provenance.run_sha256)
        for one in results
        if one.provenance.run_sha256
    ]
    for settings in dict.fromkeys(
        ", ".join(f"{name}={value}" for name, value in one.settings) for one in results
    ):
        listed.append(("evaluation", settings))
    if found is not None:
        chosen = ", ".join(f"{name}={value}" for name, value in found.settings)
        listed.append(("comparison", f"baseline={found.baseline}, {chosen}"))
    return listed
