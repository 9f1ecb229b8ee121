"""``CheckpointCurve``, the result of ``checkpoint_curve``, and its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field

from beir_eval.comparison.compared import Index, check_names
from beir_eval.comparison.coverage import SystemCoverage, warnings_of, with_warning_column
from beir_eval.comparison.limits import queries_only_note
from beir_eval.comparison.records import ComparisonSettings, Difference
from beir_eval.comparison.step_names import Step
from beir_eval.comparison.tables import pairs_table
from beir_eval.comparison.verdict_sentences import (
    has_spread,
    left_out_notes,
    mean_interval_text,
    measure_text,
    one_digit,
    percent_text,
    source_notes,
    within,
)
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display import charts
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Table, record_rows, score_text
from beir_eval.errors import first_few
from beir_eval.measures.scales import ScoreScale, scale_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.display.figure import Figure
    from beir_eval.measures import MeasureLike

#: Columns of the table of changes from step to step.
_CHANGES = ("measure", "difference", "interval", "p", "corrected", "won/tied/lost", "verdict")

#: The power with which a later gain of the margin must be detected before a run is settled.
POWER = 0.8


class Checkpoint(BaseModel):
    """One checkpoint: its step and its name."""

    model_config = FROZEN

    step: Step
    name: str


class CurvePoint(BaseModel):
    """One checkpoint on one measure.

    Attributes:
        measure: the canonical name of the measure.
        step, name: the checkpoint.
        mean: the mean score over the queries compared.
        low, high: the t interval of the mean, at confidence 1 − alpha.
    """

    model_config = FROZEN

    measure: str
    step: Step
    name: str
    mean: float
    low: float
    high: float


class Outcome(BaseModel):
    """The best checkpoint on one measure, and whether improvement ended.

    Attributes:
        measure: the canonical name of the measure.
        best: the checkpoint with the best mean, the first of those that tie.
        score: the mean of ``best``.
        unbeaten: the first checkpoint that no later one beats significantly.
        p_unbeaten: the smallest corrected p of the tests whether a later checkpoint is better than
            ``unbeaten``; None if it is the last checkpoint.
        detectable: the smallest true gain over ``unbeaten`` that would be detected with a
            probability of 80% at whichever later checkpoint it is, in the unit of the measure; None
            if it is not known.
        settled: ``unbeaten`` if ``detectable`` is at most the margin and each later checkpoint is
            shown to gain less than the margin over it (one-sided t tests); None otherwise.
        why_not_settled: the reason why ``settled`` is None, as a clause; None if it is not None.
        num_queries: the number of queries on which every checkpoint has a score.
        higher_is_better: whether the best mean is the highest, or the lowest.
    """

    model_config = FROZEN

    measure: str
    best: Checkpoint
    score: float
    unbeaten: Checkpoint
    p_unbeaten: float | None
    detectable: float | None
    settled: Checkpoint | None
    why_not_settled: str | None
    num_queries: int
    higher_is_better: bool = True


#: The marks of a table.
_MARKS = "★ best mean; ○ the first step that no later one is shown to beat; ● settled there."


class CheckpointCurve(Shown, Saved):
    """Scores and verdicts of a training run over its steps; frozen, saved as JSON.

    Attributes:
        schema_version: the version of the saved format.
        checkpoints: in ascending order of their steps. [S]
        measures: canonical names. [M]
        points: the score of every checkpoint on every measure.
        changes: the difference between every checkpoint and the one before it, on every measure,
            with evidence and verdict.
        outcomes: for each measure the best step, and the first step that no later one beats
            significantly. [M]
        settings: how the verdicts were reached.
        left_out: {name: number of queries that this checkpoint has and others lack}; such queries
            are not compared.
        custom_measures: {name: its bounds, and whether higher scores are better} of the measures
            that are not measures of this package.
        computed_elsewhere: the checkpoints whose scores this package did not compute.
        coverage: the checkpoints with warnings, such as on judged queries that they miss; empty for
            none.
        without_step: the systems that were left out because their names have no step.
    """

    WHAT: ClassVar[str] = "curve of checkpoints"

    checkpoints: tuple[Checkpoint, ...]
    measures: tuple[str, ...]
    points: tuple[CurvePoint, ...]
    changes: tuple[Difference, ...]
    outcomes: tuple[Outcome, ...]
    settings: ComparisonSettings
    left_out: dict[str, int]
    custom_measures: dict[str, ScoreScale] = Field(default_factory=dict)
    computed_elsewhere: tuple[str, ...] = ()
    coverage: tuple[SystemCoverage, ...] = ()
    without_step: tuple[str, ...] = ()

    def _check_loaded(self) -> None:
        """Raise ValueError unless checkpoints and measures have possible names."""
        names = [checkpoint.name for checkpoint in self.checkpoints]
        check_names(names, None, self.measures, self.custom_measures)

    def curve(self, measure: MeasureLike) -> list[CurvePoint]:
        """Return the points of one measure, in ascending order of their steps.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self._index.measure(measure)
        return [point for point in self.points if point.measure == name]

    def outcome(self, measure: MeasureLike) -> Outcome:
        """Return the best step on one measure, and whether improvement ended.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self._index.measure(measure)
        return next(outcome for outcome in self.outcomes if outcome.measure == name)

    @property
    def _index(self) -> Index:
        return Index([checkpoint.name for checkpoint in self.checkpoints], self.measures)

    # Other shapes

    def to_table(self) -> Table:
        """Return a table of checkpoints × measures: each mean with its interval.

        ★ marks the best step, ● the step at which the run settled. ○ marks the first step that no
        later step is shown to beat, if a later gain of the margin cannot be ruled out.
        """
        points = {(point.measure, point.name): point for point in self.points}
        best = {(outcome.measure, outcome.best.name) for outcome in self.outcomes}
        settled = {
            (outcome.measure, outcome.unbeaten.name): "○" if outcome.settled is None else "●"
            for outcome in self.outcomes
            if outcome.p_unbeaten is not None
        }
        rows = []
        for checkpoint in self.checkpoints:
            cells = [str(checkpoint.step), checkpoint.name]
            for measure in self.measures:
                key = (measure, checkpoint.name)
                low, high = points[key].low, points[key].high
                interval = mean_interval_text(low, high, " … ", self._bounds(measure))
                marks = ("★" if key in best else "") + settled.get(key, "")
                cells.append(f"{score_text(points[key].mean)} ({interval}) {marks}".rstrip())
            rows.append(cells)
        return Table(("step", "checkpoint", *self.measures), rows)

    def _bounds(self, measure: str) -> tuple[float, float] | None:
        return scale_of(measure, self.custom_measures).bounds

    def document(self) -> Document:
        """Return whether improvement ended, the curve, what limits both, and the method."""
        return Document(
            heading="From checkpoint to checkpoint",
            warnings=warnings_of(self.coverage),
            sentences=[
                Sentence(_headline(outcome, self.settings.margin)) for outcome in self.outcomes
            ],
            tables=[self.to_table()],
            notes=[*self.limits(), _MARKS],
            details=lambda: [
                Document(
                    heading="Each checkpoint and the one before", tables=[self._changes_table()]
                ),
                Document(heading="Method", notes=list(self._notes())),
            ],
        )

    def _changes_table(self) -> Table:
        """Return a table of the differences between each checkpoint and the one before it."""
        step_of = {checkpoint.name: checkpoint.step for checkpoint in self.checkpoints}
        steps = [f"{step_of[pair.against]} to {step_of[pair.system]}" for pair in self.changes]
        table = pairs_table(self.changes, self.settings, len(self.checkpoints) - 1, _CHANGES)
        rows = [(of_pair, *row) for of_pair, row in zip(steps, table.rows, strict=True)]
        return Table(("steps", *_CHANGES), rows)

    def to_csv(self) -> str:
        """Return every point of every curve as CSV, one point per line.

        The last column, "warning", holds the warnings on the checkpoint; it is mostly empty.
        """
        systems = ((point.name,) for point in self.points)
        return with_warning_column(record_rows(self.points), self.coverage, systems)

    def limits(self) -> Iterator[str]:
        """Yield what is left out, what may be missed, and how good the best step is."""
        if names := self.without_step:
            are = "has no step in its name and is" if len(names) == 1 else "have no step and are"
            yield f"{first_few(names)} {are} left out of the curve"
        for outcome in self.outcomes:
            if not outcome.why_not_settled:
                continue
            of_measure = f" ({outcome.measure})" if len(self.outcomes) > 1 else ""
            step = outcome.unbeaten.step
            if outcome.detectable is not None and outcome.detectable > self.settings.margin:
                size = one_digit(outcome.detectable)
                yield f"Gains below {size} after step {step} can go unnoticed{of_measure}."
            else:
                yield f"Not known to end at step {step}{of_measure}: {outcome.why_not_settled}."
        side = "high" if self.outcomes[0].higher_is_better else "low"
        yield (
            f"The {side}est of {len(self.checkpoints)} means tends to be too {side}: beir-eval "
            "choose takes the choice into account."
        )

    def _notes(self) -> Iterator[str]:
        alpha, margin = self.settings.alpha, self.settings.margin
        yield (
            f"○: one-sided sign flips at {alpha:g}, corrected by Holm over the later steps; ●: "
            f"moreover, each later step is shown to gain less than {margin:g} (one-sided t tests), "
            f"and a true gain of {margin:g} would be detected in about {POWER:.0%} of cases or more"
        )
        yield (
            f"means have t intervals, {percent_text(1 - alpha)} each; each step against the one "
            "before: two-sided sign flips, corrected by max-T over the "
            f"{len(self.checkpoints) - 1} of a measure, with simultaneous intervals"
        )
        yield queries_only_note()
        yield from source_notes(self.computed_elsewhere, self.custom_measures)
        yield from left_out_notes(self.left_out)

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return a figure of the means of one measure over the steps, with their intervals.

        The best checkpoint is marked, and the first one that no later one beats significantly.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads; by default the
                first of the curve.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self.measures[0] if measure is None else self._index.measure(measure)
        outcome = self.outcome(name)
        marks = {outcome.best.name: "best"}
        if outcome.p_unbeaten is not None:
            gain_mark = "no later gain shown" if outcome.settled is None else "settled"
            is_best = outcome.unbeaten == outcome.best
            marks[outcome.unbeaten.name] = f"best, {gain_mark}" if is_best else gain_mark
        rows = []
        for point in self.curve(name):
            low, high = within(point.low, point.high, self._bounds(name))
            has_interval = has_spread(point.low, point.high)
            rows.append(
                {
                    **point.model_dump(include={"step", "name", "mean"}),
                    "low": low if has_interval else None,
                    "high": high if has_interval else None,
                    "mark": marks.get(point.name, ""),
                }
            )
        return charts.curve(rows, measure=name, level=1 - self.settings.alpha)


def _headline(outcome: Outcome, margin: float) -> str:
    """Return whether improvement on a measure ended."""
    measure = measure_text(outcome.measure, higher_is_better=outcome.higher_is_better)
    label, step = f"{measure}, {outcome.num_queries:,} queries", outcome.unbeaten.step
    if outcome.p_unbeaten is None:
        return f"{label}: each step before the last, {step}, is shown to be worse than a later one"
    if outcome.settled is not None:
        gain = f"each later step is shown to gain less than {margin:g}"
        return f"{label}: settled at step {step}: {gain}"
    return f"{label}: no step after {step} is shown to be better than step {step}"
