"""``CheckpointCurve``, the result of ``checkpoint_curve``, and its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BaseModel, Field

from beir_eval.comparison.records import ComparisonSettings, Difference
from beir_eval.comparison.tables import difference_cells
from beir_eval.comparison.verdict_sentences import (
    left_out_notes,
    measure_text,
    p_text,
    source_notes,
)
from beir_eval.core.saved import FROZEN, Saved, require_all_fields
from beir_eval.display import charts
from beir_eval.display.tables import Table, markdown_list, records_csv, score_text
from beir_eval.errors import NotEvaluatedError
from beir_eval.measures.names import name_among
from beir_eval.measures.scales import ScoreScale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.display.figure import Figure
    from beir_eval.measures import MeasureLike

#: Columns of the table of changes from step to step.
_CHANGES = ("measure", "difference", "interval", "p", "corrected", "won/tied/lost", "verdict")

#: A training step; one that is read from a name is an int if it is whole.
Step = int | float


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
        low, high: the bootstrap (BCa) interval of the mean, at confidence 1 − alpha.
        best_in: the share of bootstrap resamples of the queries in which it is the best checkpoint,
            or ties with the best.
    """

    model_config = FROZEN

    measure: str
    step: Step
    name: str
    mean: float
    low: float
    high: float
    best_in: float


class Outcome(BaseModel):
    """The best checkpoint on one measure, and the one after which nothing improved.

    Attributes:
        measure: the canonical name of the measure.
        best: the checkpoint with the best mean, the first of those that tie.
        score: the mean of ``best``.
        bias: the amount by which ``score`` is too good because ``best`` was chosen among many, as
            estimated by the bootstrap (``best_of_many``). The estimate is mostly too low.
        settled: the first checkpoint after which nothing improved significantly.
        p_settled: the smallest corrected p of the tests whether a later checkpoint is better than
            ``settled``; None if ``settled`` is the last checkpoint.
        num_queries: the number of queries on which every checkpoint has a score.
        higher_is_better: whether the best mean is the highest, or the lowest.
    """

    model_config = FROZEN

    measure: str
    best: Checkpoint
    score: float
    bias: float
    settled: Checkpoint
    p_settled: float | None
    num_queries: int
    higher_is_better: bool = True


class CheckpointCurve(Saved):
    """Scores and verdicts of a training run over its steps; frozen, saved as JSON.

    Attributes:
        schema_version: the version of the saved format.
        checkpoints: in ascending order of their steps. [S]
        measures: canonical names. [M]
        points: the score of every checkpoint on every measure.
        changes: the difference between every checkpoint and the one before it, on every measure,
            with evidence and verdict.
        outcomes: for each measure the best step, its bias, and the first step after which nothing
            improved. [M]
        settings: how the verdicts were reached.
        left_out: {name: number of queries that this checkpoint has and others lack}; such queries
            are not compared.
        custom_measures: {name: its bounds, and whether higher scores are better} of the measures
            that are not measures of this package.
        computed_elsewhere: the checkpoints whose scores this package did not compute.
    """

    WHAT: ClassVar[str] = "curve of checkpoints"

    checkpoints: tuple[Checkpoint, ...]
    measures: tuple[str, ...]
    points: tuple[CurvePoint, ...]
    changes: tuple[Difference, ...]
    outcomes: tuple[Outcome, ...]
    settings: Annotated[ComparisonSettings, require_all_fields(ComparisonSettings)]
    left_out: dict[str, int]
    custom_measures: dict[str, Annotated[ScoreScale, require_all_fields(ScoreScale)]] = Field(
        default_factory=dict
    )
    computed_elsewhere: tuple[str, ...] = ()

    def curve(self, measure: MeasureLike) -> list[CurvePoint]:
        """Return the points of one measure, in ascending order of their steps.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self._measure_name(measure)
        return [point for point in self.points if point.measure == name]

    def outcome(self, measure: MeasureLike) -> Outcome:
        """Return the best step on one measure, and the step after which nothing improved.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self._measure_name(measure)
        return next(outcome for outcome in self.outcomes if outcome.measure == name)

    def _measure_name(self, measure: MeasureLike) -> str:
        name = name_among(self.measures, measure)
        if name not in self.measures:
            msg = f"{name} is not in the curve; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg)
        return name

    # Other shapes

    def to_table(self) -> Table:
        """Return a table of checkpoints × measures: each mean with its interval.

        ★ marks the best step, ● the first one after which nothing improved significantly.
        """
        points = {(point.measure, point.name): point for point in self.points}
        best = {(outcome.measure, outcome.best.name) for outcome in self.outcomes}
        settled = {(outcome.measure, outcome.settled.name) for outcome in self.outcomes}
        rows = []
        for checkpoint in self.checkpoints:
            cells = [str(checkpoint.step), checkpoint.name]
            for measure in self.measures:
                key = (measure, checkpoint.name)
                point = points[key]
                marks = ("★" if key in best else "") + ("●" if key in settled else "")
                text = (
                    f"{score_text(point.mean)} ({score_text(point.low)} … {score_text(point.high)})"
                )
                cells.append(f"{text} {marks}".rstrip())
            rows.append(cells)
        return Table(("step", "checkpoint", *self.measures), rows)

    def to_markdown(self) -> str:
        """Return conclusions, the curve, the changes from step to step and notes as markdown."""
        tables = f"{self.to_table().markdown()}\n\n{self._changes_table().markdown()}"
        return f"{markdown_list(self._sentences())}\n{tables}\n\n{markdown_list(self._notes())}"

    def _changes_table(self) -> Table:
        """Return a table of the differences between each checkpoint and the one before it."""
        step_of = {checkpoint.name: checkpoint.step for checkpoint in self.checkpoints}
        rows = []
        for change in self.changes:
            cells = difference_cells(change, self.settings.margin)
            steps = f"{step_of[change.against]} to {step_of[change.system]}"
            rows.append((steps, *(cells[column] for column in _CHANGES)))
        return Table(("steps", *_CHANGES), rows)

    def to_csv(self) -> str:
        """Return every point of every curve as CSV, one point per line."""
        return records_csv(self.points)

    def notes(self) -> list[str]:
        """Return the conclusions as sentences, then the notes needed to read the tables."""
        return [*self._sentences(), *self._notes()]

    def _sentences(self) -> Iterator[str]:
        """Yield two sentences for each measure: the best step, and where improvement ended."""
        for outcome in self.outcomes:
            yield self._best_sentence(outcome)
            yield _settled_sentence(outcome)

    def _best_sentence(self, outcome: Outcome) -> str:
        count = len(self.checkpoints)
        share = next(
            point.best_in
            for point in self.points
            if (point.measure, point.name) == (outcome.measure, outcome.best.name)
        )
        measure = measure_text(outcome.measure, higher_is_better=outcome.higher_is_better)
        direction = "upward" if outcome.higher_is_better else "downward"
        return (
            f"{measure}: step {_step_and_name(outcome.best)} is best with "
            f"{score_text(outcome.score)}, in {share:.0%} of the resamples too. The best of "
            f"{count} is biased {direction}, here by about {score_text(outcome.bias)} or more: "
            "report it on other queries than those it was chosen on"
        )

    def _notes(self) -> Iterator[str]:
        settings = self.settings
        yield (
            f"★ the best step, ● the first after which nothing improved significantly: no later "
            f"step is better at {settings.alpha:g}, one-sided sign flips, corrected by Holm over "
            "the later steps"
        )
        count = len(self.checkpoints) - 1
        yield (
            f"intervals are BCa bootstrap intervals at {1 - settings.alpha:.0%}; each step against "
            f"the one before: two-sided sign flips, corrected by Holm over the {count} of a measure"
        )
        yield from source_notes(
            [checkpoint.name for checkpoint in self.checkpoints],
            self.computed_elsewhere,
            self.custom_measures,
        )
        yield from left_out_notes(self.left_out)

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return a figure of the means of one measure over the steps, with their intervals.

        The best checkpoint and the first one after which nothing improved are marked.

        Args:
            measure: a measure or its name, in any spelling that ``parse`` reads; by default the
                first of the curve.

        Raises:
            NotEvaluatedError: the curve does not contain the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self.measures[0] if measure is None else self._measure_name(measure)
        outcome = self.outcome(name)
        marks = {outcome.settled.name: "no later gain shown", outcome.best.name: "best"}
        if outcome.settled == outcome.best:
            marks = {outcome.best.name: "best, no later gain shown"}
        rows = [
            {
                **point.model_dump(include={"step", "name", "mean", "low", "high"}),
                "mark": marks.get(point.name, ""),
            }
            for point in self.curve(name)
        ]
        return charts.curve(rows, measure=name, level=1 - self.settings.alpha)

    def _repr_html_(self) -> str:
        return self.to_table().html()

    def __repr__(self) -> str:
        """Return the class and the number of rows of the table, not the content."""
        return f"CheckpointCurve({len(self.to_table().rows)} rows)"


def _settled_sentence(outcome: Outcome) -> str:
    settled = _step_and_name(outcome.settled)
    if outcome.p_settled is None:
        return (
            f"{outcome.measure}: after every step something improved significantly, up to the "
            f"last, step {settled}: more training may improve it further"
        )
    return (
        f"{outcome.measure}: after step {settled} nothing improved significantly (smallest "
        f"corrected p {p_text(outcome.p_settled)}, {outcome.num_queries} queries); that a "
        "later step is no better is not shown by that"
    )


def _step_and_name(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.step} ({checkpoint.name})"
