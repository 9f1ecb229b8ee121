"""What is decided from scores: means, differences and verdicts of systems on each measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from beir_eval.comparison.alignment import check_baseline
from beir_eval.comparison.coverage import retrieved_by_all
from beir_eval.comparison.differences import differences_of, means_of, pairs_to_compare
from beir_eval.comparison.records import CommonQueries
from beir_eval.comparison.sampling import check_deterministic
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.alignment import AlignedScores
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

    @classmethod
    def of_scores(
        cls,
        aligned: AlignedScores,
        baseline: str | None,
        settings: ComparisonSettings,
    ) -> Self:
        """Test the differences of all pairs.

        Args:
            aligned: the scores of all systems.
            baseline: the system that all others are compared with.
            settings: the settings.

        Raises:
            SettingError: the baseline is not a system, or a deterministic one has repeats.
        """
        check_baseline(baseline, aligned.systems)
        check_deterministic(aligned, settings.deterministic)
        pairs = pairs_to_compare(aligned.systems, baseline)
        defined = [measure_scores.where_defined() for measure_scores in aligned.by_measure]
        return cls(
            systems=aligned.systems,
            baseline=baseline,
            measures=aligned.measures,
            query_ids=aligned.query_ids,
            scores={
                measure_scores.measure: ScoreMatrix.from_owned_array(measure_scores.scores)
                for measure_scores in aligned.by_measure
            },
            means=tuple(mean for scores in defined for mean in means_of(scores, settings)),
            differences=tuple(differences_of(defined, pairs, settings)),
            settings=settings,
            custom_measures=aligned.custom_measures,
            on_common_queries=_on_common_queries(aligned, pairs, settings),
            clusters=aligned.clusters,
        )


def _on_common_queries(
    aligned: AlignedScores, pairs: Pairs, settings: ComparisonSettings
) -> CommonQueries | None:
    """Return the comparison over the queries that all systems have; None if these are all."""
    is_common = retrieved_by_all(aligned.results, aligned.query_ids)
    if is_common.all():
        return None
    on_common = [measure_scores.select(is_common) for measure_scores in aligned.by_measure]
    differences: tuple[Difference, ...] = ()
    defined = [scores.select(scores.is_defined) for scores in on_common]
    if all(len(scores.keys) >= FEWEST_QUERIES and scores.num_clusters != 1 for scores in defined):
        differences = tuple(differences_of(defined, pairs, settings))
    return CommonQueries(num_queries=int(is_common.sum()), differences=differences)
