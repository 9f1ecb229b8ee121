"""What the report says: the verdict in a sentence, tables of words, provenance."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from beir_eval._version import __version__
from beir_eval.comparison.tables import sentence
from beir_eval.display.tables import Table, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.records import ComparisonSettings, Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.result import EvaluationResult

_MOST_TO_JUDGE = 10
_MOST_NAMED = 4
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
    evaluated = dict.fromkeys(_listed(one.settings) for one in results)
    listed += [("evaluation", settings) for settings in evaluated]
    if found is not None:
        compared = f"baseline={found.baseline}, {_listed(found.settings)}"
        listed.append(("comparison", compared))
    return listed


def _listed(settings: EvaluationSettings | ComparisonSettings) -> str:
    return ", ".join(f"{name}={value}" for name, value in asdict(settings).items())
