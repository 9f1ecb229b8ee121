"""What unjudged documents could change about each difference, and which are most worth judging.

Whether they can change the verdicts of the pairs on one measure: "cannot" follows from bounds of
the differences that hold under every completion; "could" from one completion whose scores were
computed. What neither decides is "not known".

Let u = Σx / ‖x‖ for the differences x of a pair. The sign-flip p is monotone in every difference,
so its values at the ends of the bounds bound it. t increases with u. Of the sign vectors, at most
the share D·2·tail(u) gives a family of D pairs a statistic that reaches u, whatever the differences
of the other pairs are, because Σ ±x / ‖x‖ is a Rademacher sum: tail(u) = exp(−u²/2) (Hoeffding,
Probability inequalities for sums of bounded random variables, JASA 58, 1963). That holds for
centred differences too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.differences import pairs_to_compare, sign_vectors_for
from beir_eval.comparison.records import DocumentToJudge, UnjudgedEffect
from beir_eval.comparison.unjudged.bounds import Bounds, can_be_bounded, is_as_observed
from beir_eval.comparison.unjudged.pool import Pool
from beir_eval.core.arrays import exact_sum
from beir_eval.core.ids import hash_ids
from beir_eval.measures import parse
from beir_eval.measures.registry import JUDGED_ONLY
from beir_eval.significance import correct
from beir_eval.significance.distributions import upper_tail
from beir_eval.significance.paired_tests import t_p_values
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from beir_eval.comparison.decisions import Decisions
    from beir_eval.comparison.records import ComparisonSettings, Difference, VerdictChange
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure
    from beir_eval.significance.sign_vectors import Keys, SignVectors

#: Of rankings, so many documents are looked at for a measure without a cutoff; and for one with a
#: cutoff beyond it, all down to the cutoff if all rankings together are no longer than the second.
_DEPTH, _MOST_DOCUMENTS = 100, 3_000_000
#: The greatest number of documents to judge that a comparison keeps for each measure, and of their
#: changes of differences.
_MOST_CANDIDATES, _MOST_CHANGES = 1000, 200_000
#: Sign vectors that are drawn, and the standard errors by which p must be on its side of the level.
_MOST_DRAWS, _STANDARD_ERRORS = 10_000, 4.0
#: Corrections of each p alone, never below p and at most D times p; and by the largest statistic.
_OF_P = ("none", "holm", "bonferroni")
_OF_LARGEST = ("max-t",)
#: For how many norms a lower bound of u is sought, and the steps of its bisection.
_NORMS, _STEPS = 16, 20
#: Numbers below this share of the largest are rounding errors.
_TINY = 1e-12
#: What a lower bound of u is lowered by, for rounding errors.
_MARGIN = 1e-9


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


@dataclass(frozen=True, eq=False)
class VerdictTests:
    """The verdicts of D pairs on Q queries, and how they were tested.

    Attributes:
        verdicts: as observed. [D]
        keys: of the queries, by which signs are drawn, u8[Q].
        settings: the test, the correction, the level and the margin.
        may_be_equal: whether so many queries can show equality, bool[D].
        signs: the sign vectors of the test.
        has_clusters: whether queries are related.
    """

    verdicts: np.ndarray
    keys: Keys
    settings: ComparisonSettings
    may_be_equal: Mask
    signs: SignVectors
    has_clusters: bool

    @property
    def can_be_decided(self) -> bool:
        """Whether anything is known of verdicts by this test and correction."""
        return (
            self.settings.test in ("sign_flip", "t")
            and not self.has_clusters
            and self.settings.has_flips_tested
            and self.correction in (*_OF_P, *_OF_LARGEST)
        )

    @property
    def correction(self) -> str:
        """The correction; "none" for a single pair."""
        return self.settings.correction if len(self.verdicts) > 1 else "none"

    def p_range(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return numbers between which the uncorrected p certainly is, f8[R] each.

        Args:
            rows: differences, f8[R, Q].
        """
        if self.settings.test == "t":
            deviations = np.where(np.ptp(rows, axis=1) > 0, rows.std(axis=1, ddof=1), 0.0)
            p = t_p_values(rows.mean(axis=1), deviations, rows.shape[1])
            return p, p
        signs = self.signs
        is_exact = signs.can_enumerate(rows.shape[1])
        if not is_exact:
            signs = replace(signs, draws=min(signs.draws, _MOST_DRAWS))
        [flipped] = randomise([Family(rows, self.keys, np.arange(len(rows)))], signs)
        p = flipped.p()
        if is_exact:
            return p, p
        slack = _STANDARD_ERRORS * (np.sqrt(p * (1 - p) / signs.draws) + 1 / signs.draws)
        return np.maximum(p - slack, 0.0), np.minimum(p + slack, 1.0)

    def is_significant(self, p: Floats, ratio: Floats) -> Mask:
        """Return which pairs are significant whatever the other pairs are, bool[R].

        Args:
            p: numbers that the uncorrected p does not exceed, f8[R].
            ratio: numbers that ``|u|`` is not below, f8[R].
        """
        count, alpha = len(self.verdicts), self.settings.alpha
        if self.correction in _OF_LARGEST:
            share = np.minimum(2 * count * np.exp(-(ratio**2) / 2), 1.0)
            draws = self.signs.draws
            share += _STANDARD_ERRORS * (np.sqrt(np.minimum(share, 0.5) / draws) + 1 / draws)
            return np.asarray((share <= alpha) & is_at_most(p, alpha))
        factor = 1 if self.correction == "none" else count
        return np.asarray(is_at_most(np.minimum(p * factor, 1.0), alpha))


def verdict_changes(
    tests: VerdictTests,
    bounds: tuple[Floats, Floats] | None,
    differences_at: Callable[[Ints, str], Floats] | None,
) -> list[VerdictChange]:
    """Return for each pair whether unjudged documents can change its verdict. [D].

    Args:
        tests: the verdicts.
        bounds: the lowest and the highest differences, f8[D, Q] each; None if they are not known.
        differences_at: returns the differences of some pairs, i8[C], under the completion near
            their "lowest" or "highest" difference, f8[C, Q]; None if none can be computed.
    """
    can = np.zeros(len(tests.verdicts), dtype=np.bool_)
    cannot = can.copy()
    if tests.can_be_decided and bounds is not None:
        cannot = cannot_change(tests, *bounds)
    if tests.can_be_decided and differences_at is not None:
        # The end against the verdict first.
        for is_against in (True, False):
            for end, verdict in (("lowest", "better"), ("highest", "worse")):
                is_open = ~(can | cannot) & ((tests.verdicts == verdict) == is_against)
                pairs = np.flatnonzero(is_open)
                if len(pairs):
                    can[pairs] = _is_changed(tests, pairs, differences_at(pairs, end))
    changes: list[VerdictChange] = np.select(
        [can, cannot], ["could", "cannot"], default="not known"
    ).tolist()
    return changes


def cannot_change(tests: VerdictTests, low: Floats, high: Floats) -> Mask:
    """Return which verdicts are the same under every completion, bool[D].

    Args:
        tests: the verdicts.
        low: the lowest differences, f8[D, Q].
        high: the highest differences, f8[D, Q].
    """
    alpha, count = tests.settings.alpha, len(low)
    rounding = _TINY * np.maximum(np.abs(low), np.abs(high)).sum(axis=1)
    is_above, is_below = low.sum(axis=1) > rounding, high.sum(axis=1) < -rounding
    has_sign = is_above | is_below
    # The ends of |difference|, where the sum has one sign.
    least, most = np.where(is_below[:, None], (-high, -low), (low, high))
    ratio = np.where(has_sign, smallest_ratio(least, most), 0.0)
    if tests.settings.test == "t":
        p_most = np.where(has_sign, _t_p(ratio, low.shape[1]), 1.0)
        # Equal differences have the p of sign flips, which is above that of nearly equal ones.
        may_all_be_equal = low.max(axis=1) <= high.min(axis=1)
        p_of_equal = np.ldexp(1.0, 1 - low.shape[1])
        p_most = np.maximum(p_most, np.where(may_all_be_equal, p_of_equal, 0.0))
        p_least = _t_p(_largest_ratio(low, high), low.shape[1])
    else:
        from_p, to_p = tests.p_range(np.concatenate([low, high]))
        p_most = np.where(is_above, to_p[:count], np.where(is_below, to_p[count:], 1.0))
        p_least = np.minimum(from_p[:count], from_p[count:])
    if tests.correction in _OF_LARGEST:
        is_always = tests.is_significant(p_most, ratio)
        is_never = ~is_at_most(p_least, alpha)
    else:
        is_always = is_at_most(correct(p_most, tests.correction), alpha)
        is_never = ~is_at_most(correct(p_least, tests.correction), alpha)
    stays_undecided = is_never & ~tests.may_be_equal
    is_same: Mask = np.select(
        [tests.verdicts == "better", tests.verdicts == "worse", tests.verdicts == "undecided"],
        [is_always & is_above, is_always & is_below, stays_undecided],
        default=False,
    )
    return is_same


def _is_changed(tests: VerdictTests, pairs: Ints, rows: Floats) -> Mask:
    """Return which verdicts differ under a completion, whatever the other pairs are, bool[C].

    Args:
        tests: the verdicts.
        pairs: the pairs, i8[C].
        rows: the differences of each under the completion, f8[C, Q].
    """
    observed, means = tests.verdicts[pairs], rows.mean(axis=1)
    p_least, p_most = tests.p_range(rows)
    # No correction lowers p.
    is_lost = ~is_at_most(p_least, tests.settings.alpha)
    is_gained = tests.is_significant(p_most, np.abs(ratio_of(rows))) & (np.abs(means) > _TINY)
    is_other: Mask = np.select(
        [observed == "better", observed == "worse", observed == "equal"],
        [(means <= 0) | is_lost, (means >= 0) | is_lost, np.abs(means) > tests.settings.margin],
        default=is_gained,
    )
    return is_other


def ratio_of(rows: Floats) -> Floats:
    """Return u = Σx / ‖x‖ of differences, 0 if all are 0: f8[R, Q] -> f8[R]."""
    norm = np.linalg.norm(rows, axis=1)
    ratio: Floats = np.divide(rows.sum(axis=1), norm, out=np.zeros(len(rows)), where=norm > 0)
    return ratio


def _largest_ratio(low: Floats, high: Floats) -> Floats:
    """Return an upper bound of ``|u|`` over boxes, f8[D]."""
    sums = np.maximum(high.sum(axis=1), -low.sum(axis=1))
    norms = np.linalg.norm(np.clip(0.0, low, high), axis=1)
    largest = np.full(len(low), np.sqrt(low.shape[1]))
    ratio: Floats = np.divide(sums, norms, out=largest.copy(), where=norms > 0)
    return np.asarray(np.minimum(ratio, largest))


def smallest_ratio(low: Floats, high: Floats) -> Floats:
    """Return lower bounds of u = Σx / ‖x‖ over boxes in which Σx > 0, f8[D].

    For every norm t > 0, ‖x‖ ≤ (‖x‖² / t + t) / 2, so u ≥ r if Σ min(x − r·x² / 2t) ≥ r·t / 2,
    where each minimum is at an end. r is found by bisection for several t, and the best counts.

    Args:
        low: the lowest differences, f8[D, Q].
        high: the highest differences, f8[D, Q].
    """
    squares_low, squares_high = low**2, high**2
    least = np.square(np.clip(0.0, low, high)).sum(axis=1)
    most = np.maximum(squares_low, squares_high).sum(axis=1)
    best = np.divide(low.sum(axis=1), np.sqrt(most), out=np.zeros(len(low)), where=most > 0)
    for share in np.linspace(0, 1, _NORMS):
        norm = np.sqrt(least + share * (most - least))
        norm = np.where(norm > 0, norm, 1.0)
        begin, end = np.maximum(best, 0.0), np.full(len(low), np.sqrt(low.shape[1]))
        for _ in range(_STEPS):
            middle = (begin + end) / 2
            factor = (middle / (2 * norm))[:, None]
            sums = np.minimum(low - factor * squares_low, high - factor * squares_high).sum(axis=1)
            holds = sums >= middle * norm / 2
            begin, end = np.where(holds, middle, begin), np.where(holds, end, middle)
        best = np.maximum(best, begin)
    return np.asarray(best - _MARGIN)


def _t_p(ratio: Floats, num_queries: int) -> Floats:
    """Return the two-sided p of the t test with a ratio u, f8[R]."""
    freedom = num_queries - 1
    with np.errstate(divide="ignore"):
        t = np.abs(ratio) * np.sqrt(freedom / np.maximum(num_queries - ratio**2, 0.0))
    return np.asarray(2 * upper_tail(t, freedom))
