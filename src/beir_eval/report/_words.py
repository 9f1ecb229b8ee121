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
    from collections.abc import Sequence

    from beir_eval.comparison_records import Difference
    from beir_eval.comparison_result import Comparison
    from beir_eval.results import EvaluationResult

_MOST_TO_JUDGE = 10
_MOST_NAMED = 4
_MOST_COLUMNS = 9
#: What each mark behind a mean says, for who does not know it.
_SAYS = {
    "▲": ("better", "better than the baseline"),
    "▼": ("worse", "worse than the baseline"),
    "=": ("equal", "equal to the baseline within the margin"),
}


#: What words of the tables mean.
DIFFERENCES_SAY = (
    "margin: the smallest difference that matters, as it was asked for",
    "effect: the mean difference in standard deviations of the differences by query",
)
TRUST_SAYS = (
    "top: how deep unjudged documents are looked at",
    "bounds: of the difference, whatever these documents would be judged",
    "condensed: the difference without unjudged documents",
    "ties: the mean with relevant documents last and first among equal scores",
)


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
    """A row of the table of means."""

    label: str
    cells: list[Cell]


@dataclass(frozen=True)
class Means:
    """Systems × measures; measures × systems where there are many measures."""

    caption: str
    header: tuple[str, ...]
    rows: list[MeansRow]

    def readable(self) -> Means:
        """Return it turned where it would be wider than a page."""
        if len(self.header) <= _MOST_COLUMNS:
            return self
        rows = [
            MeansRow(label, [row.cells[place] for row in self.rows])
            for place, label in enumerate(self.header[1:])
        ]
        return Means(self.caption, ("measure", *(row.label for row in self.rows)), rows)


# The verdict


def headline(found: Comparison) -> Said:
    """Return the verdicts on the first measure in one sentence."""
    measure, margin = found.measures[0], found.settings.margin
    differences = [one for one in found.differences if one.measure == measure]
    if found.baseline is None and len(differences) > 1:
        return _headline_of_pairs(measure, differences)
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


def _headline_of_pairs(measure: str, differences: Sequence[Difference]) -> Said:
    decided = [one for one in differences if one.verdict in ("better", "worse")]
    if not decided:
        return Said(f"{measure}: none of {len(differences)} pairs differs", "undecided")
    better_than: dict[str, list[str]] = {}
    for one in decided:
        pair = one if one.verdict == "better" else one.reversed()
        better_than.setdefault(pair.against, []).append(pair.system)
    groups = [
        f"{_joined(names)} {'is' if len(names) == 1 else 'are'} better than {against}"
        for against, names in better_than.items()
    ]
    rest = f"; and so on, {len(decided)} pairs in all" if len(groups) > _MOST_NAMED else ""
    text = f"{measure}: {'; '.join(groups[:_MOST_NAMED])}{rest}"
    left = len(differences) - len(decided)
    if left:
        text += f"; of {len(differences)} pairs {left} cannot be told apart or are equal"
    return Said(text, "better")


@dataclass(frozen=True)
class Evidence:
    """What stands behind the verdict: on the first measure, to be seen, and the rest, folded."""

    first: list[Said]
    first_cautions: list[str]
    rest: list[Said]
    rest_cautions: list[str]


def evidence(found: Comparison, cautions: list[str]) -> Evidence:
    """Return every verdict as a sentence, and what could change it."""
    margin, measure = found.settings.margin, found.measures[0]
    said = [(one.measure, Said(sentence(one, margin), one.verdict)) for one in found.differences]
    first = [text for name, text in said if name == measure]
    if len(first) > _MOST_NAMED:
        return Evidence([], [], [text for _, text in said], cautions)
    others = tuple(f"{one}: " for one in found.measures if one != measure)
    about_first = [one for one in cautions if not one.startswith(others)]
    return Evidence(
        first,
        about_first,
        [text for name, text in said if name != measure],
        [one for one in cautions if one not in about_first],
    )


def _joined(names: Sequence[str]) -> str:
    """Return names as a person lists them, a few of many."""
    more = len(names) - _MOST_NAMED
    listed = [*names[:_MOST_NAMED], f"{more} more"] if more > 0 else names
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


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
    caption = f"Means over {_queries_of(found)} with {level:.0%} intervals, best bold"
    header = [_starred(one, _all_results(found)) for one in found.measures]
    return Means(caption, ("system", *header), rows).readable()


def _all_results(found: Comparison) -> list[EvaluationResult]:
    return [one for repeats in (found.results or {}).values() for one in repeats]


def _starred(measure: str, results: Sequence[EvaluationResult]) -> str:
    """Return a measure's name, with a ``*`` where its cutoff is deeper than some system goes."""
    beyond = any(one.label(measure).endswith("*") for one in results)
    return f"{measure} *" if beyond else measure


def _queries_of(found: Comparison) -> str:
    """Return over how many queries the means are, for each measure where that differs."""
    scored = {one.measure: one.num_queries for one in found.differences}
    if set(scored.values()) == {len(found.query_ids)}:
        return f"{len(found.query_ids):,} queries"
    each = ", ".join(f"{measure} over {number:,}" for measure, number in scored.items())
    return f"the queries that a measure is defined for ({each} of {len(found.query_ids):,})"


def means_of_results(results: Sequence[EvaluationResult]) -> Means:
    """Return the means; where queries are missing, over all judged ones and over those it has."""
    measures = [
        one for one in results[0].measures if all(one in other.measures for other in results)
    ]
    rows = [row for result in results for row in labelled_means(result)]
    # Only means over the same queries can be held against each other.
    rivals = [row.means for row in rows if row.over_all]
    best = {
        one: max((means[one] for means in rivals if means[one] == means[one]), default=None)
        for one in measures
    }
    several = len(rivals) > 1
    return Means(
        "Means over queries" + (", best bold" if several else ""),
        ("system", *(_starred(one, results) for one in measures)),
        [
            MeansRow(
                row.label,
                [
                    Cell(
                        number(row.means[one]),
                        best=several and row.over_all and row.means[one] == best[one],
                    )
                    for one in measures
                ],
            )
            for row in rows
        ],
    ).readable()


def means_of_table(table: Table, caption: str) -> Means:
    """Return a table whose cells are means already."""
    rows = [MeansRow(row[0], [Cell(cell) for cell in row[1:]]) for row in table.rows]
    return Means(caption, ("data set", *table.header[1:]), rows)


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
    return Table(("query", "document", "ranks", f"moves {found.measures[0]} by"), rows)


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
