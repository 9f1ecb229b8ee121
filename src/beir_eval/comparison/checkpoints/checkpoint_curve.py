"""``checkpoint_curve``: scores over training steps, the best step, and where the run settled.

It settled at the step that no later step beats, unless a gain may have gone unnoticed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.alignment import align_scores, repeats_by_system
from beir_eval.comparison.checkpoints.result import (
    POWER,
    Checkpoint,
    CheckpointCurve,
    CurvePoint,
    Outcome,
)
from beir_eval.comparison.differences import Pair, Pairs, differences_of, means_of
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.step_names import LAST_NUMBER, steps_of
from beir_eval.comparison.verdict_sentences import p_text
from beir_eval.display.tables import score_text
from beir_eval.significance import paired_t
from beir_eval.significance.corrections import holm
from beir_eval.significance.power import minimum_detectable_difference
from beir_eval.significance.sign_flip import sign_flip_many
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import TOLERANCE, check_draws_suffice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.step_names import Step
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: With fewer queries that differ, the spread of the differences is not known well enough.
_FEWEST_DIFFERING = 10
#: The power of a one-sided test is that of the two-sided test at twice the level, up to this level.
_HIGHEST_LEVEL = 0.5


def checkpoint_curve(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    steps: str | Mapping[str, Step] | Sequence[str] = LAST_NUMBER,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int | None = None,
    rng: int = 0,
) -> CheckpointCurve:
    r"""Return the scores of a training run over its steps, the best step, and where it settled.

    Each checkpoint is compared with the one before it: two-sided sign flips, corrected by max-T
    over these pairs. In addition, the result names for each measure the best step, and the first
    step that no later step beats significantly. The best of many is best partly by chance: compare
    it with another system on queries that did not choose it.

    Each later step is tested against that one by one-sided sign flips, corrected by Holm over the
    later steps. Steps are tested from the first to the last until one is not beaten. The order is
    fixed before the tests, so stopping there needs no further correction: the chance to pass over a
    step after which nothing truly improves is at most alpha.

    That no later step is shown to be better does not show that none is: with few queries, the tests
    miss gains. So the run counts as settled at that step only if a true gain of ``margin`` at any
    later step would have been detected with a probability of 80% or more, for differences that vary
    as much as these, and if each later step is shown to gain less than ``margin`` (one-sided t
    tests). Otherwise ``settled`` is None, with the reason (``Outcome.why_not_settled``).

    A query on which a measure is undefined for some checkpoint is left out for that measure.

    Source: Westfall and Krishen, Optimally weighted, fixed sequence and gatekeeper multiple testing
    procedures, J. Statistical Planning and Inference 99(1), 2001.

    Args:
        results: {name: result}, or results with different names. A checkpoint may be a list of
            results, its repeats; their scores are averaged for each query.
        steps: how to find the step of each name: a regular expression with a group named ``step``
            or exactly one group (by default the last number in the name); or {name: step}; or a
            list of all names in the order of their steps, which are then 1, 2, ….
        measures: the measures to compare; by default all that every result contains and that are
            means over queries for which more is better.
        alpha: the level of the verdicts and of the tests above; the intervals of the differences
            have the confidence 1 − alpha all together, the t intervals of the means each.
        margin: the smallest difference between two steps that you consider meaningful, in the unit
            of the measures.
        on: checkpoints evaluated on different queries or judgements are an "error", or are compared
            on the "intersection" of their queries, with "any-judgements" also if these were judged
            otherwise.
        draws: the number of random sign vectors; None: 100,000, or 20,000 for more than 1,000
            queries. If a pair has no more than this, up to their opposites, all of them are used.
        rng: the seed of sign vectors, a whole number from 0.

    Raises:
        SettingError: a name without a step, two names with the same step, ``steps`` that lack a
            name or contain an unknown one, an invalid expression, or an invalid setting.
        ResultError: fewer than two checkpoints, two of the same name, or results that were
            evaluated with different settings or on different judgements.
        QueryMismatchError: different queries with ``on="error"``, or no query in common.
        NotEvaluatedError: a measure that a result lacks.
        MeasureError: an unknown measure, one that cannot be compared, or none in common.
        InputError: fewer than two queries on which every checkpoint has a score.
        MissingExtraError: scipy is not installed.

    Warns:
        BeirEvalWarning: the document ids of a checkpoint do not match those of the qrels.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> def run_of(model):
    ...     return {query: {"a": model, "x": 3.0, "y": 2.5} for query in qrels}
    >>> runs = {"step-200": run_of(2.2), "step-100": run_of(1.0), "step-300": run_of(4.0)}
    >>> results = {name: evaluate(qrels, run, ["MRR"], name=name) for name, run in runs.items()}
    >>> curve = checkpoint_curve(results, r"step-(?P<step>\d+)")
    >>> [(point.step, round(point.mean, 2)) for point in curve.curve("MRR")]
    [(100, 0.33), (200, 0.33), (300, 1.0)]
    >>> curve.outcome("MRR").best.step, curve.outcome("MRR").unbeaten.step
    (300, 300)
    >>> curve.outcome("MRR").why_not_settled
    'every earlier step is beaten by a later one, and no step follows the last'
    """
    settings = ComparisonSettings(alpha=alpha, margin=margin, on=on, draws=draws, rng=rng)
    joined = align_scores(repeats_by_system(results), measures, on)
    system_steps = steps_of(joined.systems, steps)
    order = sorted(range(len(system_steps)), key=system_steps.__getitem__)
    checkpoints = [
        Checkpoint(step=system_steps[index], name=joined.systems[index]) for index in order
    ]
    # Each checkpoint is compared with the one before it.
    pairs = Pairs([Pair(later, later - 1) for later in range(1, len(order))])
    points: list[CurvePoint] = []
    changes: list[Difference] = []
    outcomes: list[Outcome] = []
    for measure_scores in joined.by_measure:
        of_systems = measure_scores.scores[order]
        scores = measure_scores._replace(
            systems=tuple(checkpoint.name for checkpoint in checkpoints),
            repeats=list(of_systems[:, None]),  # averaged
            scores=of_systems,
        ).where_defined()
        means = means_of(scores, settings)
        points += [
            CurvePoint(
                measure=mean.measure,
                step=checkpoint.step,
                name=checkpoint.name,
                mean=mean.mean,
                low=mean.low,
                high=mean.high,
            )
            for checkpoint, mean in zip(checkpoints, means, strict=True)
        ]
        changes += differences_of([scores], pairs, settings)
        gains = scores.scale.gains(np.array([mean.mean for mean in means]))
        best = int(np.argmax(gains))
        settling = find_settling(scores.scale.gains(scores.scores), settings)
        unbeaten = checkpoints[settling.unbeaten]
        outcomes.append(
            Outcome(
                measure=scores.measure,
                best=checkpoints[best],
                score=means[best].mean,
                unbeaten=unbeaten,
                p_unbeaten=settling.p,
                detectable=settling.detectable,
                settled=unbeaten if settling.settled else None,
                why_not_settled=settling.why_not_settled,
                num_queries=scores.scores.shape[1],
                higher_is_better=scores.scale.higher_is_better,
            )
        )
    return CheckpointCurve(
        checkpoints=tuple(checkpoints),
        points=tuple(points),
        changes=tuple(changes),
        outcomes=tuple(outcomes),
        settings=settings,
        **joined.stated(),
    )


@dataclass(frozen=True)
class Settling:
    """The first row that no later row beats significantly, and what the tests could have missed.

    Attributes:
        unbeaten: the index of this row.
        p: the smallest corrected p of the tests whether a later row is better; None for the last
            row.
        detectable: the smallest true gain that would be detected with a probability of ``POWER``
            at whichever later row it is, in the unit of the scores; None if it is not known.
        why_not_settled: a clause that says why a later gain of the margin cannot be ruled out; None
            if the run has settled.
    """

    unbeaten: int
    p: float | None
    detectable: float | None
    why_not_settled: str | None

    @property
    def settled(self) -> bool:
        """Whether a gain of the margin at a later row is ruled out, as ``find_settling`` says."""
        return self.why_not_settled is None


def find_settling(scores: Floats, settings: ComparisonSettings) -> Settling:
    """Return the first row that no later row beats significantly, and whether it has settled.

    A row is unbeaten if no later row is better by one-sided sign flips, corrected by Holm over the
    L later rows.

    Formula: ``detectable`` is the minimum detectable difference of a one-sided paired t test at
    level alpha / L, at which Holm tests the smallest p, for the later row whose differences vary
    most. The run has settled if it is at most the margin, and one-sided paired t tests at level
    alpha show for each later row that it gains less than the margin. These need no correction,
    since all of them must reject.

    In simulations of the hardest case, a level curve whose last step gains the margin, the first
    condition alone calls the run settled too early in up to 15% of cases with one later step, and
    in up to 30% with seven, since each level step is another occasion to miss the gain. Both
    together do so in about 5% and 10% (``benchmarks/checkpoints.py``).

    Degenerate: ``detectable`` is None for the last row, if a later row differs on fewer than 10
    queries or on fewer than a significant result takes, and if no later row's differences vary.

    Args:
        scores: in the order of the steps, without NaN, f8[S, Q].
        settings: level, margin, draws and seed.

    Raises:
        InputError: fewer than two queries.
        MissingExtraError: scipy is not installed.
    """
    last, num_queries = len(scores) - 1, scores.shape[1]
    draws = SignVectors.choose(num_queries, settings.draws, settings.rng).draws
    check_draws_suffice(draws, 2 * settings.alpha / max(last, 1))  # one-sided, corrected by Holm
    for row in range(last):
        gains = scores[row + 1 :] - scores[row]
        p = holm(
            sign_flip_many(gains, alternative="greater", draws=settings.draws, rng=settings.rng).p
        )
        if p.min() > settings.alpha:
            noise = TOLERANCE * float(np.abs(scores).max())
            detectable, reason = _sensitivity(gains, noise, settings)
            return Settling(row, float(p.min()), detectable, reason)
    reason = "every earlier step is beaten by a later one, and no step follows the last"
    return Settling(last, None, None, reason)


def _sensitivity(
    gains: Floats, noise: float, settings: ComparisonSettings
) -> tuple[float | None, str | None]:
    """Return ``detectable`` and ``why_not_settled`` of an unbeaten row.

    Args:
        gains: the scores of the L later rows minus those of the row, f8[L, Q].
        noise: the largest difference that is a rounding error.
        settings: level, margin and draws.
    """
    num_later, num_queries = gains.shape
    level = settings.alpha / num_later
    num_differing = int(np.count_nonzero(np.abs(gains) > noise, axis=1).min())
    fewest = max(_FEWEST_DIFFERING, math.ceil(-math.log2(level)))
    if num_differing < fewest:
        return None, (
            f"a later step differs from it on {num_differing} of {num_queries:,} queries; with "
            f"fewer than {fewest} it is not known how small a gain would be detected"
        )
    spread = float(gains.std(axis=1, ddof=1).max())
    if spread <= noise:
        return None, (
            "the differences of later steps are the same on every query, so it is not known how "
            "small a gain would be detected"
        )
    detectable = minimum_detectable_difference(
        spread, num_queries, alpha=min(2 * level, _HIGHEST_LEVEL), power=POWER
    )
    if detectable > settings.margin:
        return detectable, (
            f"a true gain below {score_text(detectable)} would be missed in more than "
            f"{1 - POWER:.0%} of cases"
        )
    p_below = max(paired_t(row - settings.margin, alternative="less").p for row in gains)
    if p_below > settings.alpha:
        return detectable, (
            f"not every later step is shown to gain less than {settings.margin:g} (one-sided t "
            f"tests, largest p {p_text(p_below)})"
        )
    return detectable, None
