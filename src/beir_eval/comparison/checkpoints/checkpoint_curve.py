"""When did training stop helping: ``checkpoint_curve``, over checkpoints in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.alignment import MeasureScores, join
from beir_eval.comparison.checkpoints.result import (
    Checkpoint,
    CheckpointCurve,
    CurvePoint,
    Outcome,
)
from beir_eval.comparison.checkpoints.steps import LAST_NUMBER, steps_of
from beir_eval.comparison.differences import Pair, Pairs, differences_of, means_of
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.significance import best_of_many, holm, sign_flip_many

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.comparison.checkpoints.result import Step
    from beir_eval.comparison.records import Difference
    from beir_eval.core.arrays import Floats
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike
    from beir_eval.significance import BestOfMany


def checkpoint_curve(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    steps: str | Mapping[str, Step] | Sequence[str] = LAST_NUMBER,
    *,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int = 100_000,
    rng: int = 0,
) -> CheckpointCurve:
    r"""Follow a system from checkpoint to checkpoint.

    The first step after which nothing improved significantly is the first whose every later step
    fails to be better: one-sided sign flips of each later step against it, corrected by Holm over
    the later steps. The steps are tried from the first on until one holds. Testing in an order that
    was fixed before, and stopping there, needs no further correction: the chance to go past a step
    after which nothing truly improves is at most alpha.

    Source: Westfall and Krishen, Optimally weighted, fixed sequence and gatekeeper multiple testing
    procedures, J. Statistical Planning and Inference 99(1), 2001.

    Args:
        results: as ``compare``; a checkpoint may be a list of results, its repeats.
        steps: where the step stands in a name, as a regular expression with the group ``step`` or
            one group (by default the last whole number); or {name: step}; or the names in order,
            whose steps are then 1, 2, ….
        measures: as ``compare``.
        alpha: the level; intervals have the confidence 1 − alpha.
        margin: as ``compare``, for each step against the one before.
        on: as ``compare``.
        draws: as ``compare``.
        rng: the seed.

    Raises:
        SettingError: names without a step, two of one step, a list that leaves out or adds names,
            and as ``compare``.
        BeirEvalError: as ``compare``.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> def stands_at(rank):
    ...     return {query: {"a": 1.0, "x": 3.0 - rank, "y": 2.5 - rank} for query in qrels}
    >>> runs = {"step-200": stands_at(1.2), "step-100": stands_at(0), "step-300": stands_at(3)}
    >>> results = {name: evaluate(qrels, run, ["MRR"], name=name) for name, run in runs.items()}
    >>> found = checkpoint_curve(results, r"step-(?P<step>\d+)")
    >>> [(one.step, round(one.mean, 2)) for one in found.curve("MRR")]
    [(100, 0.33), (200, 0.33), (300, 1.0)]
    >>> found.outcome("MRR").best.step, found.outcome("MRR").settled.step
    (300, 300)
    """
    settings = ComparisonSettings(alpha=alpha, margin=margin, on=on, draws=draws, rng=rng)
    joined = join(results, measures, on)
    numbers = steps_of(joined.systems, steps)
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    checkpoints = [Checkpoint(step=numbers[one], name=joined.systems[one]) for one in order]
    # Each with the one before.
    pairs = Pairs([Pair(later, later - 1) for later in range(1, len(order))], are_all=False)
    points: list[CurvePoint] = []
    changes: list[Difference] = []
    outcomes: list[Outcome] = []
    for of_systems in joined.by_measure:
        scores = _by_step(of_systems, order).where_defined()
        best = best_of_many(scores.scores, rng=rng)
        points += _points(checkpoints, scores, best, settings)
        changes += differences_of(scores, pairs, settings)
        outcomes.append(_outcome(checkpoints, scores, best, settings))
    return CheckpointCurve(
        checkpoints=tuple(checkpoints),
        measures=joined.measures,
        points=tuple(points),
        changes=tuple(changes),
        outcomes=tuple(outcomes),
        settings=settings,
        left_out=joined.left_out,
    )


def _by_step(scores: MeasureScores, order: Sequence[int]) -> MeasureScores:
    """Return the systems in this order, the mean of each one's repeats as a single one."""
    means = scores.scores[order]
    systems = tuple(scores.systems[index] for index in order)
    return MeasureScores(scores.measure, systems, list(means[:, None]), means)


def _points(
    checkpoints: Sequence[Checkpoint],
    scores: MeasureScores,
    best: BestOfMany,
    settings: ComparisonSettings,
) -> list[CurvePoint]:
    means = means_of(scores, settings)
    return [
        CurvePoint(
            measure=mean.measure,
            step=checkpoint.step,
            name=checkpoint.name,
            mean=mean.mean,
            low=mean.low,
            high=mean.high,
            best_in=share,
        )
        for checkpoint, mean, share in zip(checkpoints, means, best.chosen.tolist(), strict=True)
    ]


def _outcome(
    checkpoints: Sequence[Checkpoint],
    scores: MeasureScores,
    best: BestOfMany,
    settings: ComparisonSettings,
) -> Outcome:
    settled, p_settled = _settled(scores.scores, settings)
    return Outcome(
        measure=scores.measure,
        best=checkpoints[best.best],
        score=best.score,
        bias=best.bias,
        settled=checkpoints[settled],
        p_settled=p_settled,
        num_queries=scores.scores.shape[1],
    )


def _settled(scores: Floats, settings: ComparisonSettings) -> tuple[int, float | None]:
    """Return the first row that no later one is better than, and the smallest corrected p."""
    last = len(scores) - 1
    for row in range(last):
        p = holm(
            sign_flip_many(
                scores[row + 1 :] - scores[row],
                alternative="greater",
                draws=settings.draws,
                rng=settings.rng,
            ).p
        )
        if p.min() > settings.alpha:
            return row, float(p.min())
    return last, None
