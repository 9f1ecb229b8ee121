"""Robustness of a comparison: judged shares, bounds, verdicts that could flip, ties, and more.

``trust_from_runs`` fills every field of ``PairTrust``; ``trust_from_results`` only the judged
shares, the ones that results contain.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.alignment import MeasureScores
from beir_eval.comparison.differences import pairs_to_compare, sign_vectors_for
from beir_eval.comparison.records import DocumentToJudge, PairTrust
from beir_eval.comparison.robustness.bounds import (
    DEEPEST_TRIED,
    Holes,
    bounds_of,
    can_be_bounded,
    depth_within,
    mean_scores,
    own_depth,
)
from beir_eval.comparison.robustness.expected import expected_difference, expected_scores
from beir_eval.comparison.robustness.flips import ObservedFamily, flips_of
from beir_eval.comparison.robustness.pool import Choices, Pool, count_judged
from beir_eval.core.arrays import exact_sum
from beir_eval.core.ids import hash_ids
from beir_eval.measures import Measure, parse
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.records import Difference, VerdictFlip
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.robustness.bounds import MeasureBounds, PairBounds
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
#: Of each ranking, at least ``DEEPEST_TRIED`` documents are looked at, and more as long as all
#: rankings together are no longer than this.
_MOST_DOCUMENTS = 3_000_000


def can_be_analysed(num_systems: int, baseline: str | None) -> bool:
    """Return whether a comparison has few enough pairs to be analysed."""
    return baseline is not None or num_systems <= MOST_SYSTEMS


def has_few_enough_systems(comparison: Comparison) -> bool:
    """Return whether a comparison has few enough pairs to be analysed."""
    return can_be_analysed(len(comparison.systems), comparison.baseline)


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
    shares: dict[tuple[str, int | None], float | None] = {}
    for name, counted in counts_by_system.items():
        if len(counted) < len(results[name]):
            continue  # the share of a repeat is not known
        for cutoff in set.intersection(*(set(repeat.judged_in_top) for repeat in counted)):
            shares[name, cutoff] = _judged_share(
                [repeat.judged_in_top[cutoff] for repeat in counted]
            )
    depths = {
        measure: own_depth(parse(measure))
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


def look_up_depth(measures: Sequence[Measure], num_rankings: int) -> int:
    """Return how many documents of each ranking are needed to look for unjudged ones.

    Args:
        measures: the measures that are compared.
        num_rankings: the number of rankings, over all queries and runs.
    """
    limit = max(_MOST_DOCUMENTS // max(num_rankings, 1), DEEPEST_TRIED)
    return max(depth_within(measure, limit) for measure in measures)


class UnjudgedDocuments(NamedTuple):
    """The unjudged documents in the first ``depth`` of any run.

    Attributes:
        by_query: {query_id: documents}, in the order of the first ranking that has them.
        depth: how many documents of each ranking were looked at.
    """

    by_query: Mapping[str, Mapping[str, None]]
    depth: int

    @classmethod
    def of_results(cls, results: Iterable[EvaluationResult], depth: int) -> UnjudgedDocuments:
        """Return the unjudged documents of results with their first ``depth`` documents."""
        by_query: dict[str, dict[str, None]] = defaultdict(dict)
        for result in results:
            for query_id, top in (result.top or {}).items():
                documents = zip(top.doc_ids, top.grades, strict=True)
                by_query[query_id].update(
                    (doc_id, None) for doc_id, grade in documents if grade is None
                )
        return cls(by_query, depth)


def trust_from_runs(
    comparison: Comparison,
    qrels: Qrels,
    runs: Mapping[str, Sequence[Run]],
    settings: EvaluationSettings,
    unjudged: UnjudgedDocuments,
) -> tuple[tuple[PairTrust, ...], tuple[DocumentToJudge, ...]]:
    """Return what unjudged documents and ties could change, and the documents most worth judging.

    Args:
        comparison: the comparison, with scores and differences.
        qrels: the judgements on which the runs were evaluated.
        runs: the repeats of each system.
        settings: how the runs were evaluated.
        unjudged: the unjudged documents of the runs.

    Returns:
        One record for each difference, and the documents by measure, greatest change first.
    """
    analysis = _TrustAnalysis(comparison, qrels, runs, settings, unjudged)
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
        settings: EvaluationSettings,
        unjudged: UnjudgedDocuments,
    ) -> None:
        self._comparison = comparison
        self._settings, self._depth = settings, unjudged.depth
        measures = list(map(parse, comparison.measures))
        self._pool = Pool(qrels, comparison.query_ids, unjudged.by_query)
        self._ranks = self._rank_all(runs, settings)
        self._longest = max(
            int(ranks.num_retrieved.max(initial=0)) for repeats in self._ranks for ranks in repeats
        )
        self._pairs = pairs_to_compare(comparison.systems, comparison.baseline)
        defined = [~np.isnan(scores.array).any(axis=0) for scores in comparison.scores.values()]
        self._signs = sign_vectors_for(
            max(int(mask.sum()) for mask in defined),
            self._pairs,
            draws=comparison.settings.draws,
            rng=comparison.settings.rng,
        )
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
        depth = self._depth_of(measure)
        systems = [
            self._system_trust(index, measure, depth, defined) for index in range(len(self._ranks))
        ]
        fields: Sequence[dict[str, Any]] = [{}] * len(differences)
        documents: list[DocumentToJudge] = []
        if can_be_bounded(measure, self._pool.max_grade):
            holes = Holes.in_top_of(self._pool, self._ranks, depth, defined)
            bounds = bounds_of(self._pool, self._ranks, measure, holes, len(differences))
            fields = self._unjudged_fields(measure, depth, scores, differences, bounds)
            documents = list(
                self._documents_to_judge(measure, bounds, differences, int(defined.sum()))
            )
        trust = []
        for difference, pair, unjudged_fields in zip(
            differences, self._pairs.listed, fields, strict=True
        ):
            system, against = systems[pair.system], systems[pair.against]
            trust.append(
                PairTrust(
                    measure=difference.measure,
                    system=difference.system,
                    against=difference.against,
                    depth=depth,
                    judged=system.judged,
                    judged_against=against.judged,
                    condensed=system.condensed,
                    condensed_against=against.condensed,
                    condensed_difference=_subtract(system.condensed, against.condensed),
                    ties=system.ties,
                    ties_against=against.ties,
                    **unjudged_fields,
                )
            )
        return trust, documents

    def _depth_of(self, measure: Measure) -> int | None:
        """Return the rank down to which unjudged documents are looked at; None for all ranks."""
        depth = depth_within(measure, self._depth)
        return None if own_depth(measure) is None and depth >= self._longest else depth

    def _unjudged_fields(
        self,
        measure: Measure,
        depth: int | None,
        scores: Floats,
        differences: Sequence[Difference],
        bounds: MeasureBounds,
    ) -> list[dict[str, Any]]:
        """Return the fields of ``PairTrust`` on what unjudged documents could change. [D]."""
        compared: Mask = np.logical_not(np.isnan(scores).any(axis=0))
        settings, clusters = self._comparison.settings, self._comparison.clusters
        pair_bounds = [bounds.pair_bounds(*pair) for pair in self._pairs.listed]
        observed = ObservedFamily(
            MeasureScores(
                str(measure),
                self._comparison.systems,
                (),
                scores[:, compared],
                hash_ids(self._comparison.query_ids)[compared],
                scale_of(str(measure), {}),
                None if clusters is None else hash_ids(clusters)[compared],
            ),
            self._pairs,
            [difference.verdict for difference in differences],
            compared,
            settings,
            self._signs,
        )
        flips = flips_of(
            observed,
            bounds,
            pair_bounds,
            is_complete=self._is_complete(measure, depth, compared),
        )
        simulated = expected_scores(
            self._pool,
            self._ranks,
            measure,
            bounds.holes,
            settings.rng,
            None if clusters is None else hash_ids(clusters),
        )
        return [
            _bound_fields(pair, compared, flip)
            | (
                {}
                if simulated is None
                else expected_difference(simulated, *indices, compared, settings.alpha)._asdict()
            )
            for pair, flip, indices in zip(pair_bounds, flips, self._pairs.listed, strict=True)
        ]

    def _is_complete(self, measure: Measure, depth: int | None, compared: Mask) -> bool:
        """Return whether all unjudged documents that can change the verdicts are looked at.

        With no_relevant="skip" a relevant one adds its query to the comparison.
        """
        is_deep_enough = depth is None or depth == own_depth(measure) or depth >= self._longest
        may_add_queries = self._settings.no_relevant == "skip" and not compared.all()
        return is_deep_enough and not may_add_queries

    def _system_trust(
        self, index: int, measure: Measure, depth: int | None, defined: Mask
    ) -> _SystemTrust:
        repeats = self._ranks[index]
        counts = [count_judged(self._pool, ranks, depth) for ranks in repeats]
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
        holes = bounds.holes
        total = np.zeros(len(holes))
        for system, against in pairs:
            total += np.abs(bounds.changes(index(system), index(against)))
        chosen = np.argsort(-total, kind="stable")[:MOST_CANDIDATES]
        chosen = chosen[total[chosen] > 0]  # the others change no difference
        changes = [
            bounds.changes(index(system), index(against))[chosen] / num_queries
            for system, against in pairs
        ]
        for position, hole in enumerate(chosen.tolist()):
            document = int(holes.documents[hole])
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


def _judged_share(counts: Sequence[tuple[int, int]]) -> float | None:
    """Return the judged share over the repeats of a system from (judged, retrieved) counts."""
    judged, retrieved = map(sum, zip(*counts, strict=True))
    return judged / retrieved if retrieved else None


def _subtract(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _bound_fields(pair: PairBounds, compared: Mask, flip: VerdictFlip) -> dict[str, Any]:
    """Return the fields of ``PairTrust`` that follow from the bounds, by name."""
    low, high = pair.low[compared], pair.high[compared]
    return {
        "unjudged": pair.unjudged,
        "low": exact_sum(low) / len(low),
        "high": exact_sum(high) / len(high),
        "exact": pair.exact,
        "verdict_flip": flip,
    }
