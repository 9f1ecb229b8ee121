"""What became of a system over its training steps: ``CheckpointCurve``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BaseModel

from beir_eval.comparison.records import ComparisonSettings, Difference
from beir_eval.comparison.tables import difference_cells, left_out_notes, p_text
from beir_eval.core.saved import FROZEN, Saved, stated_in_full
from beir_eval.display import charts as kinds
from beir_eval.display.tables import Table, markdown_list, number, records_csv
from beir_eval.errors import NotEvaluatedError
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.display.figure import Figure
    from beir_eval.measures import MeasureLike

#: Columns of the table of changes from step to step.
_CHANGES = ("measure", "difference", "interval", "p", "corrected", "won/tied/lost", "verdict")

#: A step: whole where it can be.
Step = int | float


class Checkpoint(BaseModel):
    """One checkpoint: its step and its name."""

    model_config = FROZEN

    step: Step
    name: str


class CurvePoint(BaseModel):
    """One checkpoint on one measure.

    Attributes:
        measure, step, name: what it is.
        mean: over the queries compared.
        low, high: the bootstrap (BCa) interval of the mean, at confidence 1 − alpha.
        best_in: the share of resamples of the queries in which it is the best checkpoint.
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
    """What one measure says about a training run.

    Attributes:
        measure: its name.
        best: the checkpoint with the highest mean, the first of those that tie.
        score: its mean.
        bias: by how much at least the mean of the best of so many is too high, by the bootstrap
            (``best_of_many``).
        settled: the first checkpoint after which nothing improved significantly.
        p_settled: the smallest corrected p of a later checkpoint being better than it; None where
            it is the last.
        num_queries: queries on which every checkpoint has a score.
    """

    model_config = FROZEN

    measure: str
    best: Checkpoint
    score: float
    bias: float
    settled: Checkpoint
    p_settled: float | None
    num_queries: int


class CheckpointCurve(Saved):
    """What became of a system from step to step; frozen, saved as JSON.

    Attributes:
        schema_version: the version of this layout.
        checkpoints: by step, the first one first.
        measures: canonical names. [M]
        points: every checkpoint on every measure.
        changes: every checkpoint against the one before it, on every measure, with evidence and
            verdict.
        outcomes: by measure the best step, its bias, the first after which nothing improved.
        settings: how the verdicts were reached.
        left_out: queries that a checkpoint has and others have not, by name.
    """

    WHAT: ClassVar[str] = "curve of checkpoints"

    checkpoints: tuple[Checkpoint, ...]
    measures: tuple[str, ...]
    points: tuple[CurvePoint, ...]
    changes: tuple[Difference, ...]
    outcomes: tuple[Outcome, ...]
    settings: Annotated[ComparisonSettings, stated_in_full(ComparisonSettings)]
    left_out: dict[str, int]

    def curve(self, measure: MeasureLike) -> list[CurvePoint]:
        """Return the points of one measure, by step.

        Raises:
            NotEvaluatedError: the curve does not hold it.
        """
        name = self._measure(measure)
        return [one for one in self.points if one.measure == name]

    def outcome(self, measure: MeasureLike) -> Outcome:
        """Return what one measure says.

        Raises:
            NotEvaluatedError: the curve does not hold it.
        """
        name = self._measure(measure)
        return next(one for one in self.outcomes if one.measure == name)

    def _measure(self, measure: MeasureLike) -> str:
        name = str(parse(measure))
        if name not in self.measures:
            msg = f"{name} is not in the curve; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg)
        return name

    # Other shapes

    def to_table(self) -> Table:
        """Return checkpoints × measures: the mean with its interval, the best step marked."""
        points = {(one.measure, one.name): one for one in self.points}
        best = {(one.measure, one.best.name) for one in self.outcomes}
        settled = {(one.measure, one.settled.name) for one in self.outcomes}
        rows = []
        for checkpoint in self.checkpoints:
            cells = [str(checkpoint.step), checkpoint.name]
            for measure in self.measures:
                place = (measure, checkpoint.name)
                point = points[place]
                marks = ("★" if place in best else "") + ("●" if place in settled else "")
                shown = f"{number(point.mean)} ({number(point.low)} … {number(point.high)})"
                cells.append(f"{shown} {marks}".rstrip())
            rows.append(cells)
        return Table(("step", "checkpoint", *self.measures), rows)

    def to_markdown(self) -> str:
        """Return what was found, the curve, the changes from step to step and notes as markdown."""
        tables = f"{self.to_table().markdown()}\n\n{self._changes_table().markdown()}"
        return f"{markdown_list(self._sentences())}\n{tables}\n\n{markdown_list(self._notes())}"

    def _changes_table(self) -> Table:
        """Return every checkpoint against the one before it."""
        step = {one.name: one.step for one in self.checkpoints}
        rows = []
        for one in self.changes:
            cells = difference_cells(one, self.settings.margin)
            steps = f"{step[one.against]} to {step[one.system]}"
            rows.append((steps, *(cells[column] for column in _CHANGES)))
        return Table(("steps", *_CHANGES), rows)

    def to_csv(self) -> str:
        """Return every point of every curve, one a line."""
        return records_csv(self.points)

    def notes(self) -> list[str]:
        """Return what was found in sentences, and what a reader of the tables must know."""
        return [*self._sentences(), *self._notes()]

    def _sentences(self) -> Iterator[str]:
        """Yield what each measure says about the best step, and after which nothing improved."""
        for one in self.outcomes:
            yield self._on_best(one)
            yield _on_settled(one)

    def _on_best(self, one: Outcome) -> str:
        count = len(self.checkpoints)
        share = next(
            each.best_in
            for each in self.points
            if (each.measure, each.name) == (one.measure, one.best.name)
        )
        return (
            f"{one.measure}: step {_named(one.best)} is best with {number(one.score)}, in "
            f"{share:.0%} of the resamples too. The best of {count} is biased upward, here by "
            f"about {number(one.bias)} or more: report it on other queries than those it was "
            "chosen on"
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
        yield from left_out_notes(self.left_out)

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """Return one measure (by default the first) from step to step, as a figure.

        The best checkpoint and the first after which nothing improved are marked.

        Raises:
            NotEvaluatedError: the curve does not hold it.
        """
        name = self.measures[0] if measure is None else self._measure(measure)
        outcome = self.outcome(name)
        marks = {outcome.settled.name: "no later gain shown", outcome.best.name: "best"}
        if outcome.settled == outcome.best:
            marks = {outcome.best.name: "best, no later gain shown"}
        rows = [
            {
                **one.model_dump(include={"step", "name", "mean", "low", "high"}),
                "mark": marks.get(one.name, ""),
            }
            for one in self.curve(name)
        ]
        return kinds.curve(rows, measure=name, level=1 - self.settings.alpha)

    def _repr_html_(self) -> str:
        return self.to_table().html()

    def __repr__(self) -> str:
        """Return what it is, not the content."""
        return f"CheckpointCurve({len(self.to_table().rows)} rows)"


def _on_settled(one: Outcome) -> str:
    settled = _named(one.settled)
    if one.p_settled is None:
        return (
            f"{one.measure}: after every step something improved significantly, up to the last, "
            f"step {settled}: more training may improve it further"
        )
    return (
        f"{one.measure}: after step {settled} nothing improved significantly (smallest corrected "
        f"p {p_text(one.p_settled)}, {one.num_queries} queries); that a later step is no better is "
        "not shown by that"
    )


def _named(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.step} ({checkpoint.name})"
