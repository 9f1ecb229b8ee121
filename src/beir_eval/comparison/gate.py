"""Gates for continuous integration and tests: is a system worse than the baseline?

What decides is the verdict on the difference of the two, on the queries that they share.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from beir_eval.comparison.alignment import align_checked
from beir_eval.comparison.compare import compare
from beir_eval.comparison.coverage import (
    coverage_of,
    deepest_rankings_of,
    missing_note,
    warnings_of,
)
from beir_eval.comparison.differences import (
    Pair,
    Pairs,
    bound_fields,
    crossed_tests_of,
    equality_p_of,
    means_of,
    tests_of,
    too_few_clusters,
    with_verdicts,
)
from beir_eval.comparison.gate_output import full_reason, lost_most_lines, missed_text
from beir_eval.comparison.records import ComparisonSettings, GateCheck
from beir_eval.comparison.verdict_sentences import (
    has_spread,
    mean_interval_text,
    measure_text,
    p_text,
    percent_text,
    rounded_up_text,
    signed_text,
)
from beir_eval.core.ids import hash_ids
from beir_eval.display.tables import score_text
from beir_eval.errors import InputError, SettingError, one_line
from beir_eval.evaluation.depths import compares_depths, depths_text
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.inspection.unmatched_ids import UNMATCHED
from beir_eval.measures import Measure
from beir_eval.measures.names import name_among, names_among
from beir_eval.measures.scales import scale_of
from beir_eval.significance import paired_t, smallest_margin
from beir_eval.significance.equivalence import NonInferiority, non_inferiority
from beir_eval.significance.power import FEWEST_DIFFERING, smallest_p
from beir_eval.significance.validation import FEWEST_QUERIES, is_at_most, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.coverage import SystemCoverage
    from beir_eval.comparison.differences import Tests
    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.arrays import Floats
    from beir_eval.measures import MeasureLike
    from beir_eval.measures.scales import ScoreScale

#: {measure: the lowest mean that passes}. Keys of a dict type are invariant, hence the three.
Floors: TypeAlias = "Mapping[str, float] | Mapping[Measure, float] | Mapping[MeasureLike, float]"
#: A system and the baseline, in this order.
_PAIR = Pairs([Pair(0, 1)])
#: How many of the queries that lost most a failed check lists.
_WORST_QUERIES = 5


def check_gate(  # noqa: PLR0913 - one keyword a setting
    comparison: Comparison,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    non_inferior: bool = False,
    floors: Floors | None = None,
    floor_interval: bool = False,
    allow_missing: bool = False,
    allow_unequal_depth: bool = False,
) -> list[GateCheck]:
    """Return a check of every system against the baseline, and against a floor of its mean.

    Each system is tested against the baseline separately, on the queries that both have. So its
    check is the same alone and among others, in any order, and is not corrected for their number:
    to test more systems does not make the gate more lenient. With n systems that are as good as the
    baseline, the chance that at least one fails is up to n·alpha.

    - By default, a system fails if it is shown to be worse: if that is the verdict at 2·alpha. So
      the one-sided p of a loss is at most the comparison's alpha, and the two-sided interval at
      confidence 1 − 2·alpha leaves out 0 on the side of a loss. A system that passes is not shown
      to be as good; the reason states the loss that could have been missed.
    - With ``non_inferior``, a system passes only if it is shown to lose less than the margin of the
      comparison: by ``equivalence.non_inferiority`` at its alpha. This takes enough queries. With
      so few that a system with the scores of the baseline would not pass either, a system that
      does not pass is undecided, unless it is shown to be worse: then it fails.
    - With ``floors``, a system fails if its mean is below the floor of the measure, or with
      ``floor_interval`` if the lower end of its interval is. Equal scores on all queries have no
      interval: with ``floor_interval`` a mean above the floor is then undecided.

    The level holds if the differences are symmetric about their mean. If most queries lose a little
    and few gain much (a skewness of 1.6 to 3.0), a system that is as good failed in 8% to 16% of
    simulations at alpha .05. The loss that is stated to go unnoticed 20% of the time did so in 27%
    to 31% with 10 queries and in 21% to 26% with 100 (``benchmarks/gate.py``).

    A check is undecided if scores are no basis for it: judged queries are missing from one of the
    two runs (unless ``allow_missing``), one run is shallower than the other and the measure has no
    cutoff or one beyond it (unless ``allow_unequal_depth``), a run retrieves nothing, document ids
    do not match those of the qrels, or there are so few queries that no loss could be significant,
    or that the margin of ``non_inferior`` is too small for them.

    Args:
        comparison: a comparison, with a baseline unless there are only ``floors``. Its test, alpha,
            margin, draws and rng are used; its correction and kind of interval are not.
        measures: the measures compared with the baseline, one or several, as names in any spelling
            or ``Measure`` values. None takes all measures of the comparison, or no measure if there
            are ``floors`` and no baseline.
        non_inferior: whether systems must be shown not to lose the margin (True), or must only not
            be shown to be worse (False).
        floors: {measure: the lowest mean that passes}; if lower is better, the highest. Every
            system but the baseline is checked.
        floor_interval: whether the floor is for the lower end of the t interval of the mean at
            confidence 1 − alpha (if lower is better, for the upper end), not for the mean.
        allow_missing: whether runs are checked that lack judged queries. With missing="zero" these
            count as empty rankings.
        allow_unequal_depth: whether systems of different depths are checked on measures that
            compare these: without a cutoff, or with one beyond the shallower.

    Returns:
        The checks against the baseline, by measure, and for each measure in the order of the
        systems; then the checks of floors in the same order.

    Raises:
        MeasureError: a measure does not exist (UnknownMeasureError), or its parameter or cutoff is
            impossible.
        SettingError: the comparison has no baseline; ``measures`` is empty and there is no floor,
            so that nothing would be checked; a floor is not a finite number or lies outside the
            bounds of its measure, or a measure has two; or ``floor_interval`` without ``floors``.
        NotEvaluatedError: a measure was not compared.

    >>> from beir_eval import compare_runs
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> runs = {"old": {query: {"a": 2, "x": 1} for query in qrels}}
    >>> runs["new"] = {query: {"a": 1, "x": 2} for query in qrels}
    >>> [check] = check_gate(compare_runs(qrels, runs, "MRR", baseline="old"))
    >>> check.outcome, check.p  # one of 2^8 flips
    ('failed', 0.00390625)
    """
    chosen = _chosen_measures(comparison, measures, floors)
    if floor_interval and not floors:
        raise SettingError("floor_interval is about floors: give floors={measure: lowest score}")
    limits = _checked_floors(
        [(_name_in(comparison, measure), limit) for measure, limit in (floors or {}).items()],
        comparison.custom_measures,
    )
    if not chosen and not limits:
        raise SettingError("a gate without measures checks nothing: give one measure or more")
    rules = _Rules(
        comparison.settings,
        comparison.coverage,
        comparison.deepest_rankings,
        non_inferior,
        floor_interval,
        allow_missing,
        allow_unequal_depth,
    )
    systems = [system for system in comparison.systems if system != comparison.baseline]
    return [
        *(
            rules.check_pair(comparison, measure, system)
            for measure in chosen
            for system in systems
        ),
        *(
            rules.check_floor(_scores_of(comparison, measure, system)[0], limit)
            for measure, limit in limits.items()
            for system in systems
        ),
    ]


def check_floors(
    result: EvaluationResult,
    floors: Floors,
    *,
    floor_interval: bool = False,
    allow_missing: bool = False,
    alpha: float = 0.05,
) -> list[GateCheck]:
    """Return a check of one result against floors of its means, as ``check_gate`` makes it.

    Args:
        result: the result; no other result is needed.
        floors: {measure: the lowest mean that passes}; if lower is better, the highest.
        floor_interval: whether the floor is for the end of the mean's interval, not for the mean.
        allow_missing: whether a run is checked that lacks judged queries.
        alpha: the interval of the mean has confidence 1 − alpha.

    Raises:
        SettingError: a floor is not a finite number or lies outside the bounds of its measure, a
            measure has two floors, or ``alpha`` is out of range.
        NotEvaluatedError: the result does not hold a measure.
        MeasureError: a measure does not exist (UnknownMeasureError), or its parameter or cutoff is
            impossible.
    """
    limits = _checked_floors(
        [(name_among(result.measures, measure), limit) for measure, limit in floors.items()],
        result.custom_measures,
    )
    results = {result.name: (result,)}
    aligned = align_checked(results, tuple(limits), "error")
    rules = _Rules(
        ComparisonSettings(alpha=alpha),
        coverage_of(results, tuple(limits)),
        deepest_rankings_of(results),
        floor_interval=floor_interval,
        allow_missing=allow_missing,
    )
    return [rules.check_floor(scores, limits[scores.measure]) for scores in aligned.by_measure]


def _chosen_measures(
    comparison: Comparison,
    measures: Iterable[MeasureLike] | MeasureLike | None,
    floors: Floors | None,
) -> list[str]:
    """Return the names of the measures to compare with the baseline, each once.

    Raises:
        SettingError: there are such measures, but no baseline.
        NotEvaluatedError: a measure was not compared.
    """
    if not hasattr(comparison, "baseline"):
        msg = (
            f"a gate checks a Comparison, not {type(comparison).__name__}; "
            "compare(results, baseline=…) returns one"
        )
        raise SettingError(msg)
    if measures is None:
        measures = () if floors and comparison.baseline is None else comparison.measures
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if listed and comparison.baseline is None:
        raise SettingError("a gate needs a baseline: compare(results, baseline=…), or --baseline")
    names = names_among(comparison.measures, listed) if listed else ()
    return [_name_in(comparison, name) for name in names]


def _checked_floors(
    floors: Iterable[tuple[str, Any]], custom_measures: Mapping[str, ScoreScale]
) -> dict[str, float]:
    """Return {name of a measure: floor}.

    Args:
        floors: the name by which a measure is listed, and its floor.
        custom_measures: {name: scale} of the measures that are not in the registry.

    Raises:
        SettingError: a floor is not a finite number or lies outside the bounds of its measure, or a
            measure has two floors.
    """
    limits: dict[str, float] = {}
    for name, limit in floors:
        if not is_number(limit) or not math.isfinite(limit):
            msg = f"the floor of {name} must be a finite number, not {limit!r}"
            raise SettingError(msg)
        scale = scale_of(name, custom_measures)
        if scale.bounds is not None and scale.is_outside(limit):
            low, high = scale.bounds
            msg = f"the floor of {name} must be between {low:g} and {high:g}, not {limit:g}"
            raise SettingError(msg)
        if name in limits:
            msg = f"{name} has two floors, {limits[name]:g} and {limit:g}; leave one out"
            raise SettingError(msg)
        limits[name] = float(limit)
    return limits


def _name_in(comparison: Comparison, measure: MeasureLike) -> str:
    """Return the name of a measure in the comparison, or raise NotEvaluatedError."""
    return comparison.mean(measure, comparison.systems[0]).measure


class _Rules(NamedTuple):
    """The rules of a gate.

    Attributes:
        settings: test, alpha, margin, draws and rng are used.
        coverage: what is known of each system's run.
        deepest_rankings: {system: number of documents of its longest ranking}.
        non_inferior, floor_interval, allow_missing, allow_unequal_depth: as for ``check_gate``.
    """

    settings: ComparisonSettings
    coverage: Sequence[SystemCoverage]
    deepest_rankings: Mapping[str, int]
    non_inferior: bool = False
    floor_interval: bool = False
    allow_missing: bool = False
    allow_unequal_depth: bool = False

    def _check(self, scale: ScoreScale, systems: tuple[str, ...], **fields: Any) -> GateCheck:
        """Return a check of a system, or of one and the baseline, with what all checks have."""
        return GateCheck(
            system=systems[0],
            against=systems[1] if systems[1:] else None,
            alpha=self.settings.alpha,
            higher_is_better=scale.higher_is_better,
            warnings=tuple(warnings_of(self.coverage, systems)),
            **fields,
        )

    # Against the baseline

    def check_pair(self, comparison: Comparison, measure: str, system: str) -> GateCheck:
        """Return the check of a system against the baseline on one measure."""
        baseline = comparison.baseline or ""
        scale = scale_of(measure, comparison.custom_measures)
        obstacle = self._obstacle(system, baseline) or self._obstacle_of_depths(
            measure, system, baseline
        )
        if not obstacle:
            pair, query_ids = _scores_of(comparison, measure, system, baseline)
            scores = pair.where_defined()
            obstacle = too_few_clusters(scores)
        named = {"measure": measure, "rule": "non-inferior" if self.non_inferior else "not worse"}
        if obstacle:
            label = measure_text(measure, higher_is_better=scale.higher_is_better)
            reason = f"{system} vs {baseline}, {label}: {obstacle}"
            return self._check(
                scale, (system, baseline), **named, outcome="undecided", reason=reason
            )
        rule = self._check_non_inferior if self.non_inferior else self._check_not_worse
        fields, words = rule(scores)
        num_queries = scores.scores.shape[1]
        lower = "" if scale.higher_is_better else ", lower is better"
        repeats = " and the repeats of the systems" if self.settings.has_random_repeats else ""
        sample = f"{num_queries:,} queries{_clusters_text(scores)}{repeats}"
        if fields["outcome"] == "failed":
            fields["lost_most"] = _lost_most(pair, query_ids, comparison.results)
        return self._check(
            scale,
            (system, baseline),
            **named,
            **fields,
            reason=f"{words} ({measure}{lower}, {sample})",
            num_queries=num_queries,
            num_differing=int(np.count_nonzero(scores.scores[0] - scores.scores[1])),
        )

    def _check_not_worse(self, scores: MeasureScores) -> tuple[dict[str, Any], str]:
        """Return the fields of a check that fails a system that is worse, and the outcome."""
        system, baseline = scores.systems
        tests, difference = self._test(scores)
        is_worse = difference.verdict == "worse"
        taken = ("low", "high", "confidence", "detectable", "detectable_low", "detectable_high")
        fields: dict[str, Any] = {
            "outcome": "failed" if is_worse else "passed",
            "value": difference.difference,
            "p": _one_sided_p(tests, difference),
            **{name: getattr(difference, name) for name in taken},
        }
        num_units = tests.flipped.num_queries
        least = self._least_p(num_units)
        if not is_at_most(np.array(least), self.settings.alpha):
            words = (
                f"no loss of {system} could be significant at {self.settings.alpha:g}: with "
                f"{_counted(scores, num_units)} no p is below {least:.4g}"
            )
            return fields | {"outcome": "undecided"}, words
        if not is_worse:
            fields["note"] = self._missed(tests, difference)
        if difference.verdict == "identical":
            return fields, f"{system} and {baseline} score the same on every query"
        return fields, f"{system} is {'' if is_worse else 'not shown to be '}worse than {baseline}"

    def _test(self, scores: MeasureScores) -> tuple[Tests, Difference]:
        """Return the tests of a pair, and its difference at a level of alpha on each side."""
        settings = replace(
            self.settings, alpha=2 * self.settings.alpha, correction="none", interval="test"
        )
        [tests] = tests_of([scores], _PAIR, settings)
        [difference] = with_verdicts(
            tests,
            tests.corrected(),
            equality_p_of(tests),
            num_comparisons=1,
            alternative=_loss_side(scores),
        )
        return tests, difference

    def _missed(self, tests: Tests, difference: Difference) -> str:
        """Return the loss that could have been missed, as a clause."""
        units = tests.pairs.differences(tests.scores.units.rows)[0]
        num_differing, counted = int(np.count_nonzero(units)), _counted(tests.scores, len(units))
        if not num_differing:
            reason = f"no difference on {counted}"
        elif num_differing < FEWEST_DIFFERING:
            differ = "differs" if num_differing == 1 else "differ"
            reason = f"only {num_differing} of {counted} {differ}"
            if not is_at_most(np.array(self._least_p(num_differing)), self.settings.alpha):
                reason += f", too few for a significant loss at {self.settings.alpha:g}"
        elif difference.detectable is None:
            reason = f"which loss fails this gate is not known ({difference.power_note})"
        else:
            return missed_text(difference.detectable, self.settings.margin)
        loss = difference.loss_not_excluded
        if num_differing >= FEWEST_DIFFERING:
            ends = difference.low, difference.high
            loss = bound_fields(tests, ends, units, 1).get("loss_not_excluded")
        if loss is None:
            return f"{reason}: which loss is not excluded is not known: the measure has no bounds"
        if not loss:
            return f"{reason}: a loss is excluded at {self.settings.alpha:g}"
        return f"{reason}: a loss of up to {rounded_up_text(loss)} is not excluded"

    def _least_p(self, num_queries: int) -> float:
        """Return the smallest one-sided p that the test can reach if so many queries differ."""
        return 0.0 if self.settings.test == "t" else smallest_p(num_queries, alternative="less")

    def _check_non_inferior(self, scores: MeasureScores) -> tuple[dict[str, Any], str]:
        """Return the fields of a check that passes what loses less than the margin, and its words.

        If not even equal scores would pass with so few queries, it fails only if the system is
        shown to be worse.
        """
        margin = self.settings.margin
        scale, score_range = scores.scale, scores.scale.range
        test = self._non_inferiority(scores)
        low, high = test.low, math.inf
        if not scale.higher_is_better:
            low, high = -high, -low
        system, baseline = scores.systems
        outcome, note, least = "passed" if test.non_inferior else "failed", "", None
        if score_range is None:
            note = (
                "by the t test alone, which overlooks rare large losses: the measure has no bounds"
            )
        else:
            least = smallest_margin(
                test.num_queries,
                alpha=self.settings.alpha,
                score_range=score_range,
                weights=scores.units.weights,
            )
            if not test.non_inferior and margin < least:
                _, difference = self._test(scores)
                if difference.verdict == "worse":
                    note = f"by a one-sided test it is worse (p {p_text(difference.p / 2)})"
                else:
                    outcome = "undecided"
                    counted = _counted(scores, test.num_queries)
                    remedy = ": add clusters"
                    if scores.units.weights is None:
                        needed = math.log(self.settings.alpha) / math.log1p(-margin / score_range)
                        remedy = f"; for {margin:g} even that takes {math.ceil(needed):,} queries"
                    note = (
                        f"even if the scores were equal on {counted}, this test, which allows for "
                        "rare large losses, would rule out only losses of "
                        f"{rounded_up_text(least)} or more{remedy}"
                    )
        fields = {
            "outcome": outcome,
            "value": float(scale.gains(test.difference)),
            "low": low,
            "high": high,
            "confidence": 1 - self.settings.alpha,
            "p": test.p,
            "limit": margin,
            "smallest_margin": least,
            "note": note,
        }
        words = {
            "passed": f"{system} loses less than {margin:g} against {baseline}",
            "failed": f"{system} is not shown to lose less than {margin:g} against {baseline}",
            "undecided": f"a loss of {margin:g} or more is not ruled out for {system}",
        }
        return fields, words[outcome]

    def _non_inferiority(self, scores: MeasureScores) -> NonInferiority:
        """Return the test that a system loses less than the margin."""
        settings, units = self.settings, scores.units
        test = non_inferiority(
            scores.scale.gains(units.rows[0] - units.rows[1]),
            delta=settings.margin,
            alpha=self.settings.alpha,
            score_range=scores.scale.range,
            weights=units.weights,
        )
        p, low = test.p, test.low
        crossed = crossed_tests_of(scores, _PAIR, settings)
        if crossed is not None:
            gains = crossed if scores.scale.higher_is_better else crossed.opposite()
            p = max(p, float(gains.p_below(-settings.margin)[0]))
            low = min(low, float(gains.intervals(np.array([2 * test.alpha]))[0][0]))
        return replace(test, p=p, low=low, non_inferior=p <= self.settings.alpha)

    # Against a floor

    def check_floor(self, own_scores: MeasureScores, limit: float) -> GateCheck:
        """Return the check of a system against a floor of one measure, by its scores."""
        measure, scale, systems = own_scores.measure, own_scores.scale, own_scores.systems
        [system] = systems
        label = measure_text(measure, higher_is_better=scale.higher_is_better)
        named: dict[str, Any] = {"measure": measure, "rule": "floor", "limit": limit}
        scores = own_scores.select(own_scores.is_defined)
        num_queries = scores.scores.shape[1]
        obstacle = self._obstacle(system)
        if not obstacle and num_queries < FEWEST_QUERIES:
            obstacle = f"it has a score on {num_queries} query"
        if self.floor_interval:
            obstacle = obstacle or too_few_clusters(scores)
        if obstacle:
            reason = f"{system}, {label}: {obstacle}"
            return self._check(scale, systems, **named, outcome="undecided", reason=reason)
        [of_system] = means_of(scores, self.settings)
        mean, low, high = of_system.mean, of_system.low, of_system.high
        end = (low if scale.higher_is_better else high) if self.floor_interval else mean
        is_below = scale.gains(end - limit) < 0
        of_mean = f"{system}: mean {label} {score_text(mean)}"
        named["value"] = mean
        if self.floor_interval and not has_spread(low, high) and not is_below:
            reason = (
                f"{of_mean}, the same score on all {num_queries:,} queries: so there is no "
                "interval of the mean. Check the floor of the mean itself: leave out "
                "--floor-interval (floor_interval=True)"
            )
            return self._check(scale, systems, **named, outcome="undecided", reason=reason)
        lower, below, floor = "lower", "below", "floor"
        if not scale.higher_is_better:
            lower, below, floor = "upper", "above", "ceiling"
        what = f"the {lower} end of the interval" if self.floor_interval else "the mean"
        verdict = f"{what} is {'' if is_below else 'not '}{below} the {floor} {limit:g}"
        repeats = ", not over repeats" if self.settings.has_random_repeats else ""
        sample = f"{num_queries:,} queries{_clusters_text(scores)}{repeats}"
        confidence = 1 - self.settings.alpha
        interval = f"the same score on all {sample}"
        if has_spread(low, high):
            ends = mean_interval_text(low, high, " to ")
            interval = f"{percent_text(confidence)} t interval: {ends}, {sample}"
        else:
            low, high = -math.inf, math.inf
        return self._check(
            scale,
            systems,
            **named,
            outcome="failed" if is_below else "passed",
            reason=f"{of_mean} ({interval}): {verdict}",
            low=low,
            high=high,
            confidence=confidence,
            num_queries=num_queries,
        )

    def _obstacle_of_depths(self, measure: str, system: str, baseline: str) -> str:
        """Return why depths are no basis for a decision; "" if they are."""
        known = self.deepest_rankings
        depths = {name: known[name] for name in (baseline, system) if name in known}
        if self.allow_unequal_depth or not compares_depths(measure, depths):
            return ""
        return (
            f"{depths_text(depths)}. Check a cutoff of at most {min(depths.values()):,}, or all "
            "the same with allow_unequal_depth=True"
        )

    def _obstacle(self, *systems: str) -> str:
        """Return why the scores of these systems are no basis for a decision; "" if they are."""
        for system in systems:
            covered = [entry for entry in self.coverage if entry.system == system]
            if any(finding.code == UNMATCHED for entry in covered for finding in entry.findings):
                return f"the document ids of {system} do not match those of the qrels"
            obstacle = next((entry.obstacle for entry in covered if entry.obstacle), None)
            is_doubt = obstacle is not None and obstacle.code == "store-not-asked"
            if obstacle is not None and not (is_doubt and self.allow_missing):
                remedy = ". Check it all the same with allow_missing=True"
                return f"{system}: {obstacle.sentence}{remedy if is_doubt else ''}"
            if self.deepest_rankings.get(system) == 0:
                return f"the run of {system} has no document for any judged query"
            worst = max(covered, key=lambda entry: entry.queries_missing, default=None)
            if worst and worst.queries_missing and not self.allow_missing:
                lacks = f"{worst.queries_missing:,} of {worst.queries_judged:,} judged queries"
                remedy = "Complete the run, or accept that with allow_missing=True"
                return f"{system} lacks {lacks}. {remedy}"
        return ""


def _lost_most(
    scores: MeasureScores,
    query_ids: Sequence[str],
    results: Mapping[str, Sequence[EvaluationResult]],
) -> tuple[str, ...]:
    """Return the queries on which the system lost most with both scores, worst first.

    Args:
        scores: the scores of the system and the baseline, NaN where undefined. [2, Q]
        query_ids: the queries. [Q]
        results: {system: its repeats}.
    """
    gains = scores.scale.gains(scores.scores[0] - scores.scores[1])
    lines = []
    for index in np.argsort(gains, kind="stable")[:_WORST_QUERIES].tolist():
        if not gains[index] < 0:  # NaN is last
            break
        query, (new, old) = query_ids[index], scores.scores[:, index].tolist()
        note = missing_note(query, scores.systems, results)
        lines.append(f"{one_line(query)}: {old:.4f} -> {new:.4f} ({signed_text(new - old)}{note})")
    return tuple(lines)


def _one_sided_p(tests: Tests, difference: Difference) -> float:
    """Return the one-sided p of a loss: that over queries and repeats if it is larger."""

    def of_loss(two_sided: Floats) -> float:
        half = float(two_sided[0]) / 2
        return half if difference.gain < 0 else 1 - half

    side, units = _loss_side(tests.scores), tests.scores.units
    if tests.settings.test == "sign_flip":
        p = float(tests.flipped.p(side)[0])
    elif units.weights is None:
        p = paired_t(*units.rows, alternative=side).p
    else:
        p = of_loss(tests.p_over_queries)
    return p if tests.crossed is None else max(p, of_loss(tests.crossed.p()))


def _loss_side(scores: MeasureScores) -> str:
    """Return the side of 0 on which a difference is a loss, as the alternative of a test."""
    return "less" if scores.scale.higher_is_better else "greater"


def _clusters_text(scores: MeasureScores) -> str:
    """Return in how many clusters the queries are, as a clause; "" if they are not related."""
    return "" if scores.clusters is None else f" in {scores.num_clusters:,} clusters"


def _counted(scores: MeasureScores, count: int) -> str:
    """Return a number of units as text, such as "300 queries"."""
    return f"{count:,} {'queries' if scores.clusters is None else 'clusters'}"


def _scores_of(
    comparison: Comparison, measure: str, *systems: str
) -> tuple[MeasureScores, Sequence[str]]:
    """Return the scores of some systems, NaN where they are undefined, and their queries.

    They do not depend on other systems, but with clusters: only queries that all have are in one.
    """
    results = {system: comparison.results[system] for system in systems}
    aligned = align_checked(results, [measure], "any-judgements")
    [scores], query_ids = aligned.by_measure, aligned.query_ids
    if comparison.clusters is None:
        return scores, query_ids
    scores = scores.select(np.isin(query_ids, comparison.query_ids))
    return scores._replace(clusters=hash_ids(comparison.clusters)), comparison.query_ids


def assert_no_regression(  # noqa: PLR0913 - one keyword a setting
    result: EvaluationResult | str | Path,
    baseline: EvaluationResult | str | Path,
    measure: MeasureLike = "nDCG@10",
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    non_inferior: bool = False,
    on: str = "error",
    allow_missing: bool = False,
    allow_unequal_depth: bool = False,
) -> None:
    """Raise AssertionError if a system is worse than the baseline, for use in tests.

    The systems are compared on the same queries, with the sign-flip test, by ``check_gate``.

    Args:
        result: the new result, or the path of the file that it was saved in.
        baseline: the result to compare with, or the path of its file.
        measure: the measure, as a name in any spelling or a ``Measure``.
        margin: the smallest difference you consider meaningful, above 0, in the unit of the
            measure. It decides only with ``non_inferior``.
        alpha: the level of the one-sided test, above 0 and below 0.5.
        non_inferior: False fails only if the result is shown to be worse than the baseline. True
            passes only if the result is shown to lose less than the margin; this takes enough
            queries.
        on: what to do if the results have different queries or judgements, as for ``compare``.
        allow_missing: whether results are compared that lack judged queries.
        allow_unequal_depth: whether results of different depths are compared on a measure that
            compares these: without a cutoff, or with one beyond the shallower.

    Raises:
        AssertionError: the result fails. The message has the warnings, the evidence, and up to five
            queries that lost most.
        ResultError: a file does not hold a saved result, or the results have different settings or
            different judgements.
        FileFormatError, OSError: a file is damaged, or cannot be read.
        QueryMismatchError: the results have different queries.
        NotEvaluatedError: a result does not hold the measure.
        MeasureError: the measure does not exist, is not a mean over queries, or measures what is
            unjudged (Hole, RBP_residual).
        InputError: the results are no basis for a decision: judged queries are missing (unless
            ``allow_missing``), depths differ (unless ``allow_unequal_depth``) under a measure that
            compares them, a run is empty, document ids do not match, there are too few queries
            for any loss to be significant or for the margin of ``non_inferior``, or both results
            have a score on fewer than two.
        SettingError: ``margin`` or ``alpha`` is out of range; see ``compare``.
        MissingExtraError: scipy is not installed, and repeats are compared.

    Warns:
        BeirEvalWarning: the document ids of a system do not match those of the qrels.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> old = evaluate(qrels, {query: {"a": 2, "x": 1} for query in qrels}, "MRR", name="old")
    >>> assert_no_regression(old, old, "MRR")
    """
    new, old = (
        source if isinstance(source, EvaluationResult) else EvaluationResult.load(source)
        for source in (result, baseline)
    )
    names = (new.name, old.name) if new.name != old.name else ("result", "baseline")
    comparison = compare(
        dict(zip(names, (new, old), strict=True)),
        baseline=names[1],
        measures=measure,
        margin=margin,
        alpha=alpha,
        on=on,
    )
    [check] = check_gate(
        comparison,
        non_inferior=non_inferior,
        allow_missing=allow_missing,
        allow_unequal_depth=allow_unequal_depth,
    )
    if check.passed:
        return
    warnings = [f"Warning: {warning}" for warning in check.warnings]
    message = "\n".join([*warnings, full_reason(check), *lost_most_lines(check)])
    if check.outcome == "undecided":
        raise InputError(message)
    raise AssertionError(message)
