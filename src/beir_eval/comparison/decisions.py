"""What is decided from scores: means, differences and verdicts of systems on each measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from beir_eval.comparison.alignment import check_baseline
from beir_eval.comparison.coverage import retrieved_by_all
from beir_eval.comparison.differences import differences_of, means_of, pairs_to_compare
from beir_eval.comparison.records import Choice, CommonQueries
from beir_eval.comparison.sampling import check_deterministic
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.significance.selection_bias import PARTITIONS, held_out_bias
from beir_eval.significance.validation import FEWEST_QUERIES, generator, row_means

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.alignment import AlignedScores, MeasureScores
    from beir_eval.comparison.differences import Pairs
    from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean
    from beir_eval.measures.scales import ScoreScale


@dataclass(frozen=True)
class Decisions:
    """The fields of a ``Comparison`` that need no documents: scores are enough.

    The attributes are those of ``Comparison``.
    """

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: Mapping[str, ScoreMatrix]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]
    settings: ComparisonSettings
    custom_measures: Mapping[str, ScoreScale]
    on_common_queries: CommonQueries | None
    clusters: tuple[str, ...] | None
    choice: Choice | None

    @classmethod
    def of_scores(
        cls,
        aligned: AlignedScores,
        baseline: str | None,
        settings: ComparisonSettings,
        systems: tuple[str, ...],
    ) -> Self:
        """Test the differences of all pairs.

        Args:
            aligned: the scores of all systems, and of the candidates they were chosen from.
            baseline: the system that all others are compared with.
            settings: the settings.
            systems: those of which the comparison speaks.

        Raises:
            SettingError: the baseline is not a system, or a deterministic one has repeats.
        """
        check_baseline(baseline, systems)
        check_deterministic(aligned, settings.deterministic)
        pairs = pairs_to_compare(aligned.systems, baseline)
        defined = [measure_scores.where_defined() for measure_scores in aligned.by_measure]
        rows = [aligned.systems.index(system) for system in systems]
        is_whole = rows == list(range(len(aligned.systems)))
        return cls(
            systems=systems,
            baseline=baseline,
            measures=aligned.measures,
            query_ids=aligned.query_ids,
            scores={
                measure_scores.measure: ScoreMatrix.from_owned_array(
                    # Without other candidates these are all rows, and the comparison owns them.
                    measure_scores.scores if is_whole else measure_scores.scores[rows]
                )
                for measure_scores in aligned.by_measure
            },
            means=_of_systems(
                (mean for scores in defined for mean in means_of(scores, settings)), systems
            ),
            differences=_of_systems(differences_of(defined, pairs, settings), systems),
            settings=settings,
            custom_measures=aligned.custom_measures,
            on_common_queries=_on_common_queries(aligned, pairs, settings, systems),
            clusters=aligned.clusters,
            choice=_choice_of(defined, settings, baseline),
        )


def _of_systems(records: Iterable[Any], systems: Sequence[str]) -> tuple[Any, ...]:
    """Return the records on these systems: means, or differences of two of them."""
    return tuple(
        record
        for record in records
        if record.system in systems and getattr(record, "against", record.system) in systems
    )


def _choice_of(
    defined: Sequence[MeasureScores], settings: ComparisonSettings, baseline: str | None
) -> Choice | None:
    """Return what the choice from candidates did to the means; None if there was none."""
    if settings.chosen_from is None:
        return None
    optimism: dict[str, float] = {}
    best: dict[str, str] = {}
    for scores in defined:
        candidates = [index for index, system in enumerate(scores.systems) if system != baseline]
        if len(candidates) == settings.chosen_from:
            gains = scores.scale.gains(scores.units.rows[candidates])
            optimism[scores.measure] = held_out_bias(gains, PARTITIONS, generator(settings.rng))
            best[scores.measure] = scores.systems[candidates[int(row_means(gains).argmax())]]
    return Choice(num_candidates=settings.chosen_from, optimism=optimism, best=best)


def _on_common_queries(
    aligned: AlignedScores, pairs: Pairs, settings: ComparisonSettings, systems: tuple[str, ...]
) -> CommonQueries | None:
    """Return the comparison over the queries that all systems have; None if these are all."""
    is_common = retrieved_by_all(
        {system: aligned.results[system] for system in systems}, aligned.query_ids
    )
    if is_common.all():
        return None
    on_common = [measure_scores.select(is_common) for measure_scores in aligned.by_measure]
    differences: tuple[Difference, ...] = ()
    defined = [scores.select(scores.is_defined) for scores in on_common]
    if all(len(scores.keys) >= FEWEST_QUERIES and scores.num_clusters != 1 for scores in defined):
        differences = _of_systems(differences_of(defined, pairs, settings), systems)
    return CommonQueries(num_queries=int(is_common.sum()), differences=differences)
