"""What the curve of a training run holds: points, changes, the best step, the first that lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from beir_eval.comparison.records import ComparisonSettings, Difference
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import NotEvaluatedError
from beir_eval.measures import parse

if TYPE_CHECKING:
    from beir_eval.measures import MeasureLike

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


class Curve(Saved):
    """The fields of ``CheckpointCurve``, which documents them."""

    WHAT: ClassVar[str] = "curve of checkpoints"

    checkpoints: tuple[Checkpoint, ...]
    measures: tuple[str, ...]
    points: tuple[CurvePoint, ...]
    changes: tuple[Difference, ...]
    outcomes: tuple[Outcome, ...]
    settings: ComparisonSettings
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
