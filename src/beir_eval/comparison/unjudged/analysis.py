"""What unjudged documents could change about each difference, and which are most worth judging."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.differences import pairs_to_compare, sign_vectors_for
from beir_eval.comparison.records import DocumentToJudge, UnjudgedEffect
from beir_eval.comparison.unjudged.bounds import Bounds, can_be_bounded, is_as_observed
from beir_eval.comparison.unjudged.pool import Pool
from beir_eval.comparison.unjudged.verdict_changes import VerdictTests, verdict_changes
from beir_eval.core.arrays import exact_sum
from beir_eval.core.ids import hash_ids
from beir_eval.measures import parse
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.decisions import Decisions
    from beir_eval.comparison.records import Difference, VerdictChange
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: Of rankings, so many documents are looked at for a measure without a cutoff; and for one with a
#: cutoff beyond it, all down to the cutoff if all rankings together are no longer than the second.
_DEPTH, _MOST_DOCUMENTS = 100, 3_000_000
#: The greatest number of documents to judge that a comparison keeps for each measure, and of their
#: changes of differences.
_MOST_CANDIDATES, _MOST_CHANGES = 1000, 200_000


def depth_of(measures: Sequence[Measure], num_rankings: int) -> int:
    """Return how many documents of each ranking are looked at.

    Args:
        measures: the measures that are compared.
        num_rankings: the number of rankings, over all queries and runs.
    """
    limit = max(_MOST_DOCUMENTS // max(num_rankings, 1), _DEPTH)
    return max(min(_cutoff_of(measure) or _DEPTH, limit) for measure in measures)


def _cutoff_of(measure: Measure) -> int | None:
    """Return the rank below which documents do not matter; None if there is none.

    Without unjudged documents, which ``judged_only`` leaves out, later ones move up.
    """
    return None if (JUDGED_ONLY, True) in measure.parameters else measure.cutoff


def judged_effects(
    decisions: Decisions, results: Mapping[str, Sequence[EvaluationResult]]
) -> tuple[UnjudgedEffect, ...] | None:
    """Return a record of every pair with the judged shares only, which results hold.

    Custom measures have no records, because judgements of documents need not matter to them.

    Args:
        decisions: the decisions of the comparison.
        results: the repeats of each system.

    Returns:
        One record for each difference, or None if no result counted documents because all scores
        were computed elsewhere.
    """
    if not any(result.counted for repeats in results.values() for result in repeats):
        return None
    effects: list[UnjudgedEffect] = []
    for name in decisions.measures:
        if name in decisions.custom_measures:
            continue
        depth = _cutoff_of(parse(name))
        shares = {
            system: _judged_share(results.get(system, ()), depth) for system in decisions.systems
        }
        effects += (
            UnjudgedEffect(
                measure=name,
                system=difference.system,
                against=difference.against,
                depth=depth,
                judged=shares[difference.system],
                judged_against=shares[difference.against],
            )
            for difference in decisions.differences
            if difference.measure == name
        )
    return tuple(effects)


def _judged_share(repeats: Sequence[EvaluationResult], depth: int | None) -> float | None:
    """Return the share of a system's documents that are judged; None if it is not known.

    Args:
        repeats: its results.
        depth: the rank down to which documents count; None for whole rankings.
    """
    judged = retrieved = 0
    for counted in (result.counted for result in repeats):
        if counted is None or (depth is not None and depth not in counted.judged_in_top):
            return None
        if depth is not None:
            count = counted.judged_in_top[depth]
        elif counted.documents_judged is None or counted.documents_retrieved is None:
            return None
        else:
            count = counted.documents_judged, counted.documents_retrieved
        judged, retrieved = judged + count[0], retrieved + count[1]
    return judged / retrieved if retrieved else None


class EvaluatedRuns(NamedTuple):
    """The runs of a comparison, and their results.

    Attributes:
        qrels: the judgements.
        runs: the repeats of each system.
        results: the result of each run, with its first ``depth`` documents.
        depth: as ``depth_of`` returns it.
        settings: how the runs were evaluated.
    """

    qrels: Qrels
    runs: Mapping[str, Sequence[Run]]
    results: Mapping[str, Sequence[EvaluationResult]]
    depth: int
    settings: EvaluationSettings


def unjudged_effects(
    decisions: Decisions, evaluated: EvaluatedRuns
) -> tuple[tuple[UnjudgedEffect, ...], tuple[DocumentToJudge, ...]]:
    """Return what unjudged documents could change, and the documents most worth judging.

    Args:
        decisions: the decisions of the comparison.
        evaluated: its runs.

    Returns:
        One record for each difference, and the documents by measure, greatest change first.
    """
    effects = judged_effects(decisions, evaluated.results) or ()
    measures = [parse(name) for name in decisions.measures]
    results = [evaluated.results[system] for system in decisions.systems]
    pool = Pool(evaluated.qrels, decisions.query_ids, results)
    # The ranks of ties="best" and "worst" depend on the grades, so a completion changes them.
    if evaluated.settings.ties in ("best", "worst"):
        return effects, ()
    if any((_cutoff_of(measure) or np.inf) > evaluated.depth for measure in measures):
        pool.rank_whole(
            [evaluated.runs[system] for system in decisions.systems], evaluated.settings
        )
    else:
        pool.rank_top(results)
    completed: list[UnjudgedEffect] = []
    documents: list[DocumentToJudge] = []
    for measure in measures:
        of_measure = [effect for effect in effects if effect.measure == str(measure)]
        if can_be_bounded(measure, pool.max_grade):
            analysis = _Analysis(decisions, pool, measure, evaluated)
            of_measure = [
                effect.model_copy(update=fields)
                for effect, fields in zip(of_measure, analysis.fields(), strict=True)
            ]
            documents += analysis.documents_to_judge()
        completed += of_measure
    return tuple(completed), tuple(documents)


class _Analysis:
    """What unjudged documents could change on one measure."""

    def __init__(
        self, decisions: Decisions, pool: Pool, measure: Measure, evaluated: EvaluatedRuns
    ) -> None:
        self._decisions, self._pool, self._measure = decisions, pool, measure
        self._scores: Floats = decisions.scores[str(measure)].array
        self._compared: Mask = np.logical_not(np.isnan(self._scores).any(axis=0))
        self._differences: list[Difference] = [
            difference for difference in decisions.differences if difference.measure == str(measure)
        ]
        self._pairs = pairs_to_compare(decisions.systems, decisions.baseline)
        self._bounds = Bounds(pool, measure, self._scores, self._compared)
        cutoff = _cutoff_of(measure)
        # A query that is left out now could have relevant documents, and then count.
        is_any_left_out = evaluated.settings.no_relevant == "skip" and not self._compared.all()
        self._has_bounds = (
            self._bounds.is_known
            and (pool.longest if cutoff is None else min(cutoff, pool.longest)) <= evaluated.depth
            and not is_any_left_out
        )

    def fields(self) -> Iterator[dict[str, float | VerdictChange]]:
        """Yield the fields that each pair's record lacks. [D]."""
        ends = None
        if self._has_bounds:
            low, high = self._bounds.of_pairs(self._pairs.listed)
            ends = low[:, self._compared], high[:, self._compared]
        changes = verdict_changes(
            self._tests(),
            ends,
            self._differences_at
            if is_as_observed(self._pool, self._measure, self._scores, self._compared)
            else None,
        )
        for index, change in enumerate(changes):
            fields: dict[str, float | VerdictChange] = {"verdict_change": change}
            if ends is not None:
                count = len(ends[0][index])
                fields["low"] = exact_sum(ends[0][index]) / count
                fields["high"] = exact_sum(ends[1][index]) / count
            yield fields

    def _tests(self) -> VerdictTests:
        decisions, margin = self._decisions, self._decisions.settings.margin
        defined = [~np.isnan(matrix.array).any(axis=0) for matrix in decisions.scores.values()]
        return VerdictTests(
            verdicts=np.array([difference.verdict for difference in self._differences]),
            keys=hash_ids(decisions.query_ids)[self._compared],
            settings=decisions.settings,
            may_be_equal=np.array(
                [
                    difference.smallest_margin is None or difference.smallest_margin <= margin
                    for difference in self._differences
                ]
            ),
            signs=sign_vectors_for(
                max(int(mask.sum()) for mask in defined),
                self._pairs,
                draws=decisions.settings.draws,
                rng=decisions.settings.rng,
            ),
            has_clusters=decisions.clusters is not None,
        )

    def _differences_at(self, pairs: Ints, end: str) -> Floats:
        """Return the differences of some pairs under the completion near one end, f8[C, Q]."""
        chosen = [self._pairs.listed[index] for index in pairs.tolist()]
        rows = []
        for pair, grades in zip(chosen, self._bounds.completions(chosen, end), strict=True):
            first, second = self._pool.scores(pair, self._measure, grades)[:, self._compared]
            rows.append(first - second)
        return np.stack(rows)

    def documents_to_judge(self) -> Iterator[DocumentToJudge]:
        """Yield the unjudged documents that could change the differences, greatest change first.

        Only measures of which a single document changes a score by a formula have them.
        """
        if not self._bounds.is_known:
            return
        pool, systems = self._pool, self._decisions.systems
        changes = self._bounds.changes() * self._compared[pool.row]
        total = np.zeros(len(pool.row))
        for system, against in self._pairs.listed:
            total += np.abs(changes[system] - changes[against])
        most = min(_MOST_CANDIDATES, _MOST_CHANGES // len(self._pairs.listed))
        chosen = np.argsort(-total, kind="stable")[:most]
        chosen = chosen[total[chosen] > 0]
        num_queries = int(self._compared.sum())
        of_pairs = [
            (
                systems[system],
                systems[against],
                ((changes[system, chosen] - changes[against, chosen]) / num_queries).tolist(),
            )
            for system, against in self._pairs.listed
        ]
        measure = str(self._measure)
        rows, totals = pool.row[chosen].tolist(), (total[chosen] / num_queries).tolist()
        ranks = {
            system: _best_rank(np.stack([run.unjudged[chosen] for run in repeats]))
            for system, repeats in zip(systems, pool.systems, strict=True)
        }
        for index, document in enumerate(chosen.tolist()):
            by_pair: dict[str, dict[str, float]] = {}
            for system_name, against_name, of_pair in of_pairs:
                if of_pair[index]:
                    by_pair.setdefault(system_name, {})[against_name] = of_pair[index]
            yield DocumentToJudge(
                measure=measure,
                query_id=pool.query_ids[rows[index]],
                doc_id=pool.doc_ids[document],
                ranks={system: own[index] for system, own in ranks.items() if own[index]},
                changes=by_pair,
                total=totals[index],
            )


def _best_rank(ranks: Ints) -> list[int]:
    """Return the best rank over repeats, 0 where none retrieves the document: i8[R, N] -> [N]."""
    not_retrieved = np.iinfo(ranks.dtype).max
    best = np.where(ranks > 0, ranks, not_retrieved).min(axis=0)
    return list(map(int, np.where(best < not_retrieved, best, 0)))
