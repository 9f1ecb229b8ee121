"""Several results as a reader sees them: notes that hold for all, and means with their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.evaluation.result import EvaluationResult


def shared_notes(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the notes on several results; what holds for all of them is said once."""
    systems: dict[str, list[str]] = {}
    for result in results:
        for note in result.notes():
            systems.setdefault(note, []).append(result.name)
    # What explains the asterisk in a table stands last, for whomever it holds.
    ordered = sorted(systems.items(), key=lambda one: one[0].startswith("*"))
    return [
        note if len(names) == len(results) else f"{', '.join(dict.fromkeys(names))}: {note}"
        for note, names in ordered
    ]


class LabelledMeans(NamedTuple):
    """The means of a result, their label, and whether they are over all judged queries."""

    label: str
    means: dict[str, float]
    over_all: bool


def labelled_means(result: EvaluationResult) -> list[LabelledMeans]:
    """Return name and means; both means, labelled, where queries are missing."""
    counted = result.counted
    if not counted.queries_missing:
        return [LabelledMeans(result.name, result.aggregate, over_all=True)]
    judged = LabelledMeans(
        f"{result.name} (all {counted.queries_judged} judged queries)",
        result.mean_over("judged"),
        over_all=True,
    )
    retrieved = LabelledMeans(
        f"{result.name} (the {counted.queries_retrieved} it has)",
        result.mean_over("retrieved"),
        over_all=False,
    )
    both = [judged, retrieved]
    return both[::-1] if result.settings.missing == "skip" else both


def shared_measures(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the measures that all results have, in the order of the first."""
    return [one for one in results[0].measures if all(one in other.measures for other in results)]


def starred(measure: str, results: Sequence[EvaluationResult], shown: str | None = None) -> str:
    """Return a measure's name, or what is shown for it, with a ``*`` where a cutoff is too deep.

    Too deep is a cutoff beyond the deepest ranking of some result.
    """
    beyond = any(one.label(measure).endswith("*") for one in results)
    name = measure if shown is None else shown
    return f"{name} *" if beyond else name
