"""Several results as a reader sees them: notes that hold for all, and means with their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.results import EvaluationResult


def shared_notes(results: Sequence[EvaluationResult]) -> list[str]:
    """Return the notes on several results; what holds for all of them is said once."""
    systems: dict[str, list[str]] = {}
    for result in results:
        for note in result.notes():
            systems.setdefault(note, []).append(result.name)
    return [
        note if len(names) == len(results) else f"{', '.join(names)}: {note}"
        for note, names in systems.items()
    ]


def labelled_means(result: EvaluationResult) -> list[tuple[str, dict[str, float]]]:
    """Return name and means; both means, labelled, where queries are missing."""
    counted = result.counted
    if not counted.queries_missing:
        return [(result.name, result.aggregate)]
    judged = f"{result.name} (all {counted.queries_judged} judged queries)"
    retrieved = f"{result.name} (the {counted.queries_retrieved} it has)"
    both = [(judged, result.mean_over("judged")), (retrieved, result.mean_over("retrieved"))]
    return both[::-1] if result.settings.missing == "skip" else both
