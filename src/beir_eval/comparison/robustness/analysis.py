"""How far a comparison can be trusted: judged shares, holes, condensed lists, ties."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.alignment import ROUNDING
from beir_eval.comparison.differences import direction_of, paired_test_of
from beir_eval.comparison.records import DocumentToJudge, PairTrust
from beir_eval.comparison.robustness.bounds import (
    MeasureBounds,
    can_be_bounded,
    depth_of,
    mean_scores,
)
from beir_eval.comparison.robustness.pool import Choices, Pool, judged_share
from beir_eval.core.arrays import exact_sum
from beir_eval.measures import Measure, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.records import ComparisonSettings, Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.robustness.bounds import PairBounds
    from beir_eval.comparison.robustness.pool import Ranked
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult

#: All pairs of more systems are not looked at; with a baseline there is no limit.
MOST_SYSTEMS = 10
#: Documents that a comparison keeps for each measure.
MOST_CANDIDATES = 1000


def is_looked_at(comparison: Comparison) -> bool:
    """Return whether there are few enough pairs."""
    return comparison.baseline is not None or len(comparison.systems) <= MOST_SYSTEMS


def trust_without_runs(
    comparison: Comparison, results: Mapping[str, Sequence[EvaluationResult]]
) -> tuple[PairTrust, ...] | None:
    """Return what results know by themselves: the judged shares at the cutoffs evaluated."""
    if not is_looked_at(comparison):
        return None
    shares: dict[tuple[str, int], float | None] = {}
    for name, repeats in results.items():
        for cutoff in repeats[0].counted.judged_in_top:
            counts = [one.counted.judged_in_top.get(cutoff, (0, 0)) for one in repeats]
            shares[name, cutoff] = _share(counts)
    depths = {measure: depth_of(parse(measure)) for measure in comparison.measures}
    return tuple(
        PairTrust(
            measure=one.measure,
            system=one.system,
            against=one.against,
            depth=depths[one.measure],
            judged=shares.get((one.system, depths[one.measure])),
            judged_against=shares.get((one.against, depths[one.measure])),
        )
        for one in comparison.differences
    )


def trust_with_runs(
    comparison: Comparison,
    qrels: Qrels,
    runs: Mapping[str, Sequence[Run]],
    results: Mapping[str, Sequence[EvaluationResult]],
) -> tuple[tuple[PairTrust, ...], tuple[DocumentToJudge, ...]]:
    """Return what the holes and ties could change, and the documents that would change most.

    Args:
        comparison: systems, scores and differences.
        qrels: what the runs were evaluated on.
        runs: the repeats of each system.
        results: their results, with the top lists.
    """
    looked = _Looked(comparison, qrels, runs, results)
    trust: list[PairTrust] = []
    documents: list[DocumentToJudge] = []
    for name in comparison.measures:
        differences = [one for one in comparison.differences if one.measure == name]
        pairs, wanted = looked.at(parse(name), comparison.scores[name].array, differences)
        trust += pairs
        documents += wanted
    return tuple(trust), tuple(documents)


class _SystemTrust(NamedTuple):
    """What one measure says about a system; None where it says nothing."""

    judged: float | None
    condensed: float | None
    ties: tuple[float, float] | None


class _Looked:
    """All runs, with the rank of every judged and every unjudged document that counts."""

    def __init__(
        self,
        comparison: Comparison,
        qrels: Qrels,
        runs: Mapping[str, Sequence[Run]],
        results: Mapping[str, Sequence[EvaluationResult]],
    ) -> None:
        self._comparison = comparison
        measures = list(map(parse, comparison.measures))
        depth = max(map(depth_of, measures))
        holes = _holes_of([one for repeats in results.values() for one in repeats], depth)
        self._pool = Pool(qrels, comparison.query_ids, holes)
        settings = results[comparison.systems[0]][0].settings
        self._ranked = self._all_ranked(runs, settings)
        can_tie = settings.ties != "trec_eval9" and any(one.has_tie_extremes for one in measures)
        self._worst_best = (
            [
                self._all_ranked(runs, replace(settings, ties=ties), self._ranked)
                for ties in ("worst", "best")
            ]
            if can_tie
            else []
        )

    def _all_ranked(
        self,
        runs: Mapping[str, Sequence[Run]],
        settings: EvaluationSettings,
        known: Sequence[Sequence[Ranked]] | None = None,
    ) -> list[list[Ranked]]:
        """Rank every run; where nothing is tied, every tie rule ranks as the one known."""
        return [
            [
                known[place][repeat]
                if known and not known[place][repeat].has_ties
                else self._pool.rank(run, settings)
                for repeat, run in enumerate(runs[name])
            ]
            for place, name in enumerate(self._comparison.systems)
        ]

    def at(
        self, measure: Measure, scores: Floats, differences: Sequence[Difference]
    ) -> tuple[list[PairTrust], list[DocumentToJudge]]:
        """Return every pair on one measure, and the documents that would change it most."""
        defined: Mask = np.logical_not(np.isnan(scores).any(axis=0))
        systems = [self._of_system(index, measure, defined) for index in range(len(self._ranked))]
        bounds = None
        if can_be_bounded(measure, self._pool.max_grade):
            bounds = MeasureBounds(self._pool, self._ranked, measure, defined, len(differences))
        trust = []
        for one in differences:
            system, against = map(self._comparison.systems.index, (one.system, one.against))
            ours, theirs = systems[system], systems[against]
            found: dict[str, Any] = {}
            if bounds is not None:
                pair = bounds.of_pair(system, against)
                found = _of_bounds(pair, measure, one, defined, self._comparison.settings)
            trust.append(
                PairTrust(
                    measure=one.measure,
                    system=one.system,
                    against=one.against,
                    depth=depth_of(measure),
                    judged=ours.judged,
                    judged_against=theirs.judged,
                    condensed=ours.condensed,
                    condensed_against=theirs.condensed,
                    condensed_difference=_less(ours.condensed, theirs.condensed),
                    ties=ours.ties,
                    ties_against=theirs.ties,
                    **found,
                )
            )
        if bounds is None:
            return trust, []
        return trust, list(self._documents(measure, bounds, differences, int(defined.sum())))

    def _of_system(self, index: int, measure: Measure, defined: Mask) -> _SystemTrust:
        ranked = self._ranked[index]
        counts = [judged_share(self._pool, one, depth_of(measure)) for one in ranked]
        condensed = ties = None
        if can_be_bounded(measure, self._pool.max_grade):
            condensed = self._mean(ranked, measure(judged_only=True), defined)
        if self._worst_best and measure.has_tie_extremes and all(one.has_scores for one in ranked):
            worst, best = (self._mean(tied[index], measure, defined) for tied in self._worst_best)
            ties = worst, best
        return _SystemTrust(_share(counts), condensed, ties)

    def _mean(self, ranked: Sequence[Ranked], measure: Measure, defined: Mask) -> float:
        nothing = Choices.none(self._pool.num_queries)
        scores = mean_scores(self._pool, ranked, measure, nothing)[defined]
        return exact_sum(scores) / len(scores)

    def _documents(
        self,
        measure: Measure,
        bounds: MeasureBounds,
        differences: Sequence[Difference],
        num_queries: int,
    ) -> Iterator[DocumentToJudge]:
        index = self._comparison.systems.index
        pairs = [(one.system, one.against) for one in differences]
        total = np.zeros(len(bounds.holes))
        for system, against in pairs:
            total += np.abs(bounds.changes(index(system), index(against), slice(None)))
        chosen = np.argsort(-total, kind="stable")[:MOST_CANDIDATES]
        chosen = chosen[total[chosen] > 0]  # the others settle nothing
        changes = [
            bounds.changes(index(system), index(against), chosen) / num_queries
            for system, against in pairs
        ]
        for place, hole in enumerate(chosen.tolist()):
            document = int(bounds.holes[hole])
            by_pair: dict[str, dict[str, float]] = defaultdict(dict)
            for (system, against), change in zip(pairs, changes, strict=True):
                if change[place]:
                    by_pair[system][against] = float(change[place])
            ranks = {
                name: [int(one.rank[document]) for one in ranked if one.rank[document]]
                for name, ranked in zip(self._comparison.systems, self._ranked, strict=True)
            }
            yield DocumentToJudge(
                measure=str(measure),
                query_id=self._pool.qrels.query_ids[int(self._pool.qrels.row[document])],
                doc_id=self._pool.qrels.doc_ids[document],
                ranks={name: min(listed) for name, listed in ranks.items() if listed},
                changes=dict(by_pair),
                total=float(total[hole]) / num_queries,
            )


def _holes_of(results: Sequence[EvaluationResult], depth: int) -> dict[str, set[str]]:
    """Return the unjudged documents in the first ``depth`` of any result, by query."""
    holes: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for query_id, top in (result.top or {}).items():
            shown = zip(top.doc_ids[:depth], top.grades[:depth], strict=True)
            holes[query_id].update(doc_id for doc_id, grade in shown if grade is None)
    return holes


def _share(counts: Sequence[tuple[int, int]]) -> float | None:
    judged, retrieved = map(sum, zip(*counts, strict=True))
    return judged / retrieved if retrieved else None


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _of_bounds(
    pair: PairBounds,
    measure: Measure,
    one: Difference,
    defined: Mask,
    settings: ComparisonSettings,
) -> dict[str, Any]:
    low, high = pair.low[defined], pair.high[defined]
    return {
        "unjudged": pair.unjudged,
        "low": exact_sum(low) / len(low),
        "high": exact_sum(high) / len(high),
        "exact": measure.is_additive and pair.all_tried,
        "could_flip": _could_flip(one, low, high, settings),
    }


def _could_flip(one: Difference, low: Floats, high: Floats, settings: ComparisonSettings) -> bool:
    """Return whether the verdict is another one at either extreme.

    The test is done again there, its p corrected by the factor that the observed one was.
    """
    if one.verdict == "equal":
        return bool(low.mean() < -settings.margin or high.mean() > settings.margin)
    factor = max(1.0, one.p_corrected / one.p)
    for extreme in (low, high):
        values = np.where(np.abs(extreme) <= ROUNDING, 0.0, extreme)
        p = paired_test_of(values, settings).p * factor
        if direction_of(float(values.mean()), p, settings.alpha) != one.verdict:
            return True
    return False
