"""Several results in one output: their shared notes and measures, and labelled means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from beir_eval.errors import ResultError
from beir_eval.evaluation.depths import unequal_depths_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.evaluation.summary import Summary
    from beir_eval.measures.scales import ScoreScale


def shared_notes(results: Sequence[Summary], measures: Sequence[str] | None = None) -> list[str]:
    """Return the notes on several results; a note that is not on all of them names its systems.

    The warnings come first, as ``shared_warnings`` returns them.

    Args:
        results: the results.
        measures: the measures that are shown; the note that explains the asterisk is left out if
            none of them has one. None for all measures.
    """
    is_starred = measures is None or any(
        starred_label(measure, results) != measure for measure in measures
    )
    others = [
        [
            note
            for note in result.notes()[len(result.warnings()) :]
            if is_starred or not note.startswith("*")
        ]
        for result in results
    ]
    return [
        *shared_warnings(results),
        *depth_notes(results, measures),
        *_shared(results, others),
    ]


def depth_notes(results: Sequence[Summary], measures: Sequence[str] | None = None) -> list[str]:
    """Return that some measures compare the depths of the rankings; empty if none does.

    Args:
        results: the results.
        measures: the measures that are shown; None for all that the results share.
    """
    depths = {result.name: result.counted.deepest_ranking for result in results if result.counted}
    listed = shared_measures(results) if measures is None else measures
    return [text for text in [unequal_depths_text(listed, depths)] if text]


def shared_warnings(results: Sequence[Summary]) -> list[str]:
    """Return the warnings on several results; one that is not on all of them names its systems."""
    return _shared(results, [result.warnings() for result in results])


def _shared(results: Sequence[Summary], sentences: Sequence[Sequence[str]]) -> list[str]:
    """Return the sentences on each result, each once, with the systems unless it is on all."""
    systems_by_note: dict[str, list[str]] = {}
    for result, notes in zip(results, sentences, strict=True):
        for note in notes:
            systems_by_note.setdefault(note, []).append(result.name)
    # The note that explains the asterisk in a table comes last, whichever systems it names.
    ordered = sorted(systems_by_note.items(), key=lambda item: item[0].startswith("*"))
    return [
        note if len(systems) == len(results) else f"{', '.join(dict.fromkeys(systems))}: {note}"
        for note, systems in ordered
    ]


class LabelledMeans(NamedTuple):
    """The means of one result.

    Attributes:
        label: the name of the system, with the queries that the means are over if some are missing.
        means: {measure: mean}.
        is_over_all_judged: whether the means are over all judged queries.
    """

    label: str
    means: dict[str, float]
    is_over_all_judged: bool


def labelled_means(result: Summary) -> list[LabelledMeans]:
    """Return the means of a result, or two means if judged queries are missing from the run.

    The two are the means over all judged queries and over those that the run has; the ones that the
    result itself holds (see ``missing``) come first. Of scores computed elsewhere, the judged
    queries are not known: their means are taken to be over all of them.
    """
    counted = result.counted
    if counted is None or result.settings is None or not counted.queries_missing:
        return [LabelledMeans(result.name, result.aggregate, is_over_all_judged=True)]
    judged = LabelledMeans(
        f"{result.name} (all {counted.queries_judged} judged queries)",
        result.mean_over("judged"),
        is_over_all_judged=True,
    )
    retrieved = LabelledMeans(
        f"{result.name} (the {counted.queries_retrieved} it has)",
        result.mean_over("retrieved"),
        is_over_all_judged=False,
    )
    both = [judged, retrieved]
    return both[::-1] if result.settings.missing == "skip" else both


def shared_measures(results: Sequence[Summary]) -> list[str]:
    """Return the measures that all results have, in the order of the first result."""
    return [
        measure
        for measure in results[0].measures
        if all(measure in result.measures for result in results)
    ]


def shared_custom_measures(results: Sequence[Summary]) -> dict[str, ScoreScale]:
    """Return {name: scale} of the custom measures that all results have.

    Raises:
        ResultError: two results state different scales of one of them.
    """
    scales = {}
    for measure in shared_measures(results):
        if measure not in results[0].custom_measures:
            continue
        scale = scales[measure] = results[0].custom_measures[measure]
        for result in results[1:]:
            check_same_scale(
                measure, (results[0].name, scale), (result.name, result.custom_measures[measure])
            )
    return scales


def check_same_scale(
    measure: str, first: tuple[str, ScoreScale], second: tuple[str, ScoreScale]
) -> None:
    """Raise ResultError if two systems, (name, scale) each, have different scales of a measure."""
    if first[1] != second[1]:
        msg = (
            f"{first[0]!r} and {second[0]!r} state different scales of {measure}: {first[1]}; and "
            f"{second[1]}. State the same bounds and the same higher_is_better in from_scores"
        )
        raise ResultError(msg)


def starred_label(measure: str, results: Sequence[Summary], label: str | None = None) -> str:
    """Return a measure's label, with a ``*`` if a result has no ranking as deep as its cutoff.

    Args:
        measure: the name of the measure.
        results: the results that are shown together.
        label: the name that is shown for the measure; by default ``measure``.
    """
    is_beyond = any(result.label(measure).endswith("*") for result in results)
    name = measure if label is None else label
    return f"{name} *" if is_beyond else name
