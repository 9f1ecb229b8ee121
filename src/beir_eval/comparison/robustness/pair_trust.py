"""Robustness of a comparison: judged shares, bounds, condensed lists, ties, documents to judge.

``trust_from_runs`` fills every field of ``PairTrust``; ``trust_from_results`` only the judged
shares, the ones that results contain.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.alignment import ROUNDING_TOLERANCE
from beir_eval.comparison.differences import direction_of, paired_test_of
from beir_eval.comparison.records import DocumentToJudge, PairTrust
from beir_eval.comparison.robustness.bounds import (
    MeasureBounds,
    can_be_bounded,
    hole_depth,
    mean_scores,
)
from beir_eval.comparison.robustness.pool import Choices, Pool, count_judged
from beir_eval.core.arrays import exact_sum
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.records import ComparisonSettings, Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.robustness.bounds import PairBounds
    from beir_eval.comparison.robustness.pool import RunRanks
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult

#: All pairs are analysed for at most so many systems; with a baseline there is no limit.
MOST_SYSTEMS = 10
#: The greatest number of documents to judge that a comparison keeps for each measure.
MOST_CANDIDATES = 1000


def has_few_enough_systems(comparison: Comparison) -> bool:
    """Return whether a comparison has few enough pairs to be analysed."""
    return comparison.baseline is not None or len(comparison.systems) <= MOST_SYSTEMS


def trust_from_results(
    comparison: Comparison, results: Mapping[str, Sequence[EvaluationResult]]
) -> tuple[PairTrust, ...] | None:
    """Return a record of every pair with the judged shares only, which need no runs.

    A share is known if the results counted judged documents at that depth; otherwise it is None.
    Custom measures have no records, because judgements of documents need not matter to them.

    Args:
        comparison: the comparison, with its differences.
        results: the repeats of each system.

    Returns:
        One record for each difference, or None if there are too many pairs, or if no result counted
        documents because all scores were computed elsewhere.
    """
    counts_by_system = {
        name: [result.counted for result in repeats if result.counted is not None]
        for name, repeats in results.items()
    }
    if not has_few_enough_systems(comparison) or not any(counts_by_system.values()):
        return None
    shares: dict[tuple[str, int], float | None] = {}
    for name, counted in counts_by_system.items():
        if len(counted) < len(results[name]):
            continue  # the share of a repeat is not known
        for cutoff in counted[0].judged_in_top:
            counts = [repeat.judged_in_top.get(cutoff, (0, 0)) for repeat in counted]
            shares[name, cutoff] = _judged_share(counts)
    depths = {
        measure: hole_depth(parse(measure))
        for measure in comparison.measures
        if measure not in comparison.custom_measures
    }
    return tuple(
        PairTrust(
            measure=difference.measure,
            system=difference.system,
            against=difference.against,
            depth=depths[difference.measure],
            judged=shares.get((difference.system, depths[difference.measure])),
            judged_against=shares.get((difference.against, depths[difference.measure])),
        )
        for difference in comparison.differences
        if difference.measure in depths
    )


def trust_from_runs(
    comparison: Comparison,
    qrels: Qrels,
    runs: Mapping[str, Sequence[Run]],
    results: Mapping[str, Sequence[EvaluationResult]],
) -> tuple[tuple[PairTrust, ...], tuple[DocumentToJudge, ...]]:
    """Return what unjudged documents and ties could change, and the documents most worth judging.

    Args:
        comparison: the comparison, with scores and differences.
        qrels: the judgements on which the runs were evaluated.
        runs: the repeats of each system.
        results: the result of each run, with its top documents (``keep_top``).

    Returns:
        One record for each difference, and the documents by measure, greatest change first.
    """
    analysis = _TrustAnalysis(comparison, qrels, runs, results)
    trust: list[PairTrust] = []
    documents: list[DocumentToJudge] = []
    for name in comparison.measures:
        differences = [
            difference for difference in comparison.differences if difference.measure == name
        ]
        pairs, measure_documents = analysis.analyse(
            parse(name), comparison.scores[name].array, differences
        )
        trust += pairs
        documents += measure_documents
    return tuple(trust), tuple(documents)


class _SystemTrust(NamedTuple):
    """The robustness of one system on one measure.

    Attributes:
        judged: the judged share of the top; None if nothing was retrieved.
        condensed: the mean score without unjudged documents; None if the measure has no bounds.
        ties: the mean scores with relevant documents last and first among equal scores; None
            without scores, or if ties have no such extremes.
    """

    judged: float | None
    condensed: float | None
    ties: tuple[float, float] | None


class _TrustAnalysis:
    """The ranks of all judged and unjudged documents in every run, analysed measure by measure."""

    def __init__(
        self,
        comparison: Comparison,
        qrels: Qrels,
        runs: Mapping[str, Sequence[Run]],
        results: Mapping[str, Sequence[EvaluationResult]],
    ) -> None:
        self._comparison = comparison
        measures = list(map(parse, comparison.measures))
        depth = max(map(hole_depth, measures))
        holes = _holes_by_query(
            [result for repeats in results.values() for result in repeats], depth
        )
        self._pool = Pool(qrels, comparison.query_ids, holes)
        settings = results[comparison.systems[0]][0].settings
        assert settings is not None, "the runs were evaluated"  # noqa: S101
        self._ranks = self._rank_all(runs, settings)
        can_tie = settings.ties != "trec_eval9" and any(
            measure.has_tie_extremes for measure in measures
        )
        self._tie_extremes = (
            [
                self._rank_all(runs, replace(settings, ties=ties), self._ranks)
                for ties in ("worst", "best")
            ]
            if can_tie
            else []
        )

    def _rank_all(
        self,
        runs: Mapping[str, Sequence[Run]],
        settings: EvaluationSettings,
        reference: Sequence[Sequence[RunRanks]] | None = None,
    ) -> list[list[RunRanks]]:
        """Return the ranks in every run, by system and repeat.

        Args:
            runs: the repeats of each system.
            settings: how runs are ranked.
            reference: the ranks under another tie rule. They are reused for runs without ties, for
                which all tie rules give the same ranks.
        """
        return [
            [
                reference[index][repeat]
                if reference and not reference[index][repeat].has_ties
                else self._pool.rank(run, settings)
                for repeat, run in enumerate(runs[name])
            ]
            for index, name in enumerate(self._comparison.systems)
        ]

    def analyse(
        self, measure: Measure, scores: Floats, differences: Sequence[Difference]
    ) -> tuple[list[PairTrust], list[DocumentToJudge]]:
        """Return the record of every pair on one measure, and the documents most worth judging.

        Args:
            measure: the measure.
            scores: NaN where undefined, f8[S, Q].
            differences: the differences on this measure.
        """
        defined: Mask = np.logical_not(np.isnan(scores).any(axis=0))
        systems = [self._system_trust(index, measure, defined) for index in range(len(self._ranks))]
        bounds = None
        if can_be_bounded(measure, self._pool.max_grade):
            bounds = MeasureBounds(self._pool, self._ranks, measure, defined, len(differences))
        trust = []
        for difference in differences:
            system, against = map(
                self._comparison.systems.index, (difference.system, difference.against)
            )
            system_trust, against_trust = systems[system], systems[against]
            bound_fields: dict[str, Any] = {}
            if bounds is not None:
                pair_bounds = bounds.pair_bounds(system, against)
                bound_fields = _bound_fields(
                    pair_bounds, measure, difference, defined, self._comparison.settings
                )
            trust.append(
                PairTrust(
                    measure=difference.measure,
                    system=difference.system,
                    against=difference.against,
                    depth=hole_depth(measure),
                    judged=system_trust.judged,
                    judged_against=against_trust.judged,
                    condensed=system_trust.condensed,
                    condensed_against=against_trust.condensed,
                    condensed_difference=_subtract(system_trust.condensed, against_trust.condensed),
                    ties=system_trust.ties,
                    ties_against=against_trust.ties,
                    **bound_fields,
                )
            )
        if bounds is None:
            return trust, []
        return trust, list(
            self._documents_to_judge(measure, bounds, differences, int(defined.sum()))
        )

    def _system_trust(self, index: int, measure: Measure, defined: Mask) -> _SystemTrust:
        repeats = self._ranks[index]
        counts = [count_judged(self._pool, ranks, hole_depth(measure)) for ranks in repeats]
        condensed = ties = None
        if can_be_bounded(measure, self._pool.max_grade):
            condensed = self._mean_score(repeats, measure(judged_only=True), defined)
        if (
            self._tie_extremes
            and measure.has_tie_extremes
            and all(ranks.has_scores for ranks in repeats)
        ):
            worst, best = (
                self._mean_score(ranks_by_system[index], measure, defined)
                for ranks_by_system in self._tie_extremes
            )
            ties = worst, best
        return _SystemTrust(_judged_share(counts), condensed, ties)

    def _mean_score(self, repeats: Sequence[RunRanks], measure: Measure, defined: Mask) -> float:
        no_holes = Choices.empty(self._pool.num_queries)
        scores = mean_scores(self._pool, repeats, measure, no_holes)[defined]
        return exact_sum(scores) / len(scores)

    def _documents_to_judge(
        self,
        measure: Measure,
        bounds: MeasureBounds,
        differences: Sequence[Difference],
        num_queries: int,
    ) -> Iterator[DocumentToJudge]:
        """Yield the unjudged documents that could change the differences, greatest change first."""
        index = self._comparison.systems.index
        pairs = [(difference.system, difference.against) for difference in differences]
        total = np.zeros(len(bounds.holes))
        for system, against in pairs:
            total += np.abs(bounds.changes(index(system), index(against), slice(None)))
        chosen = np.argsort(-total, kind="stable")[:MOST_CANDIDATES]
        chosen = chosen[total[chosen] > 0]  # the others change no difference
        changes = [
            bounds.changes(index(system), index(against), chosen) / num_queries
            for system, against in pairs
        ]
        for position, hole in enumerate(chosen.tolist()):
            document = int(bounds.holes[hole])
            by_pair: dict[str, dict[str, float]] = defaultdict(dict)
            for (system, against), change in zip(pairs, changes, strict=True):
                if change[position]:
                    by_pair[system][against] = float(change[position])
            ranks = {
                name: [
                    int(run_ranks.rank[document])
                    for run_ranks in repeats
                    if run_ranks.rank[document]
                ]
                for name, repeats in zip(self._comparison.systems, self._ranks, strict=True)
            }
            yield DocumentToJudge(
                measure=str(measure),
                query_id=self._pool.qrels.query_ids[int(self._pool.qrels.row[document])],
                doc_id=self._pool.qrels.doc_ids[document],
                ranks={
                    name: min(system_ranks) for name, system_ranks in ranks.items() if system_ranks
                },
                changes=dict(by_pair),
                total=float(total[hole]) / num_queries,
            )


def _holes_by_query(results: Sequence[EvaluationResult], depth: int) -> dict[str, set[str]]:
    """Return {query_id: unjudged documents in the first ``depth`` of any result}."""
    holes: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for query_id, top in (result.top or {}).items():
            documents = zip(top.doc_ids[:depth], top.grades[:depth], strict=True)
            holes[query_id].update(doc_id for doc_id, grade in documents if grade is None)
    return holes


def _judged_share(counts: Sequence[tuple[int, int]]) -> float | None:
    """Return the judged share over the repeats of a system from (judged, retrieved) counts."""
    judged, retrieved = map(sum, zip(*counts, strict=True))
    return judged / retrieved if retrieved else None


def _subtract(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _bound_fields(
    pair: PairBounds,
    measure: Measure,
    difference: Difference,
    defined: Mask,
    settings: ComparisonSettings,
) -> dict[str, Any]:
    """Return the fields of ``PairTrust`` that follow from the bounds, by name."""
    low, high = pair.low[defined], pair.high[defined]
    return {
        "unjudged": pair.unjudged,
        "low": exact_sum(low) / len(low),
        "high": exact_sum(high) / len(high),
        "exact": measure.is_additive and pair.all_tried,
        "could_flip": _could_flip(difference, low, high, settings),
    }


def _could_flip(
    difference: Difference, low: Floats, high: Floats, settings: ComparisonSettings
) -> bool:
    """Return whether the verdict changes at either bound.

    The test is repeated on the differences at the bound. Its p is multiplied by the ratio of the
    observed corrected p to the observed p. "equal" changes if a bound lies beyond the margin.
    Choices of documents between the bounds are not tested: with a t test, their p may be lower.

    Args:
        difference: the observed difference.
        low: the least difference of each query compared, f8[Q].
        high: the greatest, f8[Q].
        settings: test, level and margin.
    """
    if difference.verdict == "equal":
        return bool(low.mean() < -settings.margin or high.mean() > settings.margin)
    factor = max(1.0, difference.p_corrected / difference.p)
    for bound in (low, high):
        values = np.where(np.abs(bound) <= ROUNDING_TOLERANCE, 0.0, bound)
        p = paired_test_of(values, settings).p * factor
        if direction_of(float(values.mean()), p, settings.alpha) != difference.verdict:
            return True
    return False
