"""What a comparison over several data sets holds: averages, ranks, differences, data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import NotEvaluatedError, some

if TYPE_CHECKING:
    from typing import Self

#: Whether a difference was shown; that two systems are equal is not looked into.
AcrossVerdict = Literal["better", "worse", "undecided"]
_OPPOSITE: dict[AcrossVerdict, AcrossVerdict] = {"better": "worse", "worse": "better"}


class AcrossSettings(BaseModel):
    """How the verdicts were reached; the meaning of each is that of ``compare_benchmark``."""

    model_config = FROZEN

    hierarchical: bool
    correction: str
    alpha: float
    on: str
    draws: int
    rng: int


class DatasetScores(BaseModel):
    """One data set.

    Attributes:
        name: the data set.
        parts: what it is the mean of, {part: number of queries}: CQADupStack's forums, or just the
            data set itself.
        means: by system.
    """

    model_config = FROZEN

    name: str
    parts: dict[str, int]
    means: dict[str, float]

    @property
    def num_queries(self) -> int:
        """Queries on which all systems have a score."""
        return sum(self.parts.values())


class SystemAverage(BaseModel):
    """One system over all data sets.

    Attributes:
        system: its name.
        average: the unweighted mean of its means on the data sets.
        low, high: the bootstrap interval of the average, at confidence 1 − alpha.
        rank: 1 is the highest average; systems that tie share the better rank.
        rank_low, rank_high: the interval of the rank, from the same resamples.
        first: the share of resamples in which it is first.
        groups: letters of the groups of systems that cannot be told apart that it belongs to; ""
            where there is a baseline, since not all pairs are compared.
    """

    model_config = FROZEN

    system: str
    average: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    first: float
    groups: str = ""


class AverageDifference(BaseModel):
    """One system against another over all data sets; a difference is always system − against.

    Attributes:
        system, against: their names.
        difference: of the averages.
        low, high: its bootstrap interval, at confidence 1 − alpha.
        p: by flipping signs of queries within each data set, uncorrected, above 0.
        p_corrected: corrected for all differences.
        better, worse: on how many data sets the mean is higher, lower.
        significantly_better, significantly_worse: on how many of them that is significant,
            corrected by Holm over data sets and differences.
        verdict: "better" or "worse" where p_corrected <= alpha, else "undecided".
    """

    model_config = FROZEN

    system: str
    against: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    better: int
    worse: int
    significantly_better: int
    significantly_worse: int
    verdict: AcrossVerdict

    def reversed(self) -> Self:
        """Return the same pair as seen from the other system."""
        return self.model_copy(
            update={
                "system": self.against,
                "against": self.system,
                "difference": -self.difference,
                "low": -self.high,
                "high": -self.low,
                "better": self.worse,
                "worse": self.better,
                "significantly_better": self.significantly_worse,
                "significantly_worse": self.significantly_better,
                "verdict": _OPPOSITE.get(self.verdict, self.verdict),
            }
        )


class DatasetDifference(BaseModel):
    """One pair on one data set.

    Attributes:
        dataset, system, against: their names.
        difference: of the means.
        p: by sign flips, uncorrected, above 0.
        p_corrected: by Holm over data sets and pairs.
        verdict: from p_corrected.
    """

    model_config = FROZEN

    dataset: str
    system: str
    against: str
    difference: float
    p: float
    p_corrected: float
    verdict: AcrossVerdict


class Across(Saved):
    """The fields of ``AcrossDatasets``, which documents them."""

    WHAT: ClassVar[str] = "comparison over data sets"

    measure: str
    baseline: str | None
    datasets: tuple[DatasetScores, ...]
    averages: tuple[SystemAverage, ...]
    differences: tuple[AverageDifference, ...]
    by_dataset: tuple[DatasetDifference, ...]
    groups: tuple[tuple[str, ...], ...]
    settings: AcrossSettings
    left_out: dict[str, tuple[str, ...]]
    queries_left_out: dict[str, int]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, highest average first. [S]."""
        return tuple(one.system for one in self.averages)

    def average(self, system: str) -> SystemAverage:
        """Return one system over all data sets.

        Raises:
            NotEvaluatedError: there is no such system.
        """
        for one in self.averages:
            if one.system == system:
                return one
        msg = f"there is no system {system!r}; there are {some(self.systems)}"
        raise NotEvaluatedError(msg)

    def difference(self, system: str, against: str | None = None) -> AverageDifference:
        """Return one pair, by default against the baseline, as seen from ``system``.

        Raises:
            NotEvaluatedError: the pair was not compared.
        """
        other = self.baseline if against is None else against
        for one in self.differences:
            if (one.system, one.against) == (system, other):
                return one
            if (one.system, one.against) == (other, system):
                return one.reversed()
        compared = (
            "all pairs were" if self.baseline is None else f"{self.baseline!r} is the baseline"
        )
        msg = f"{system!r} was not compared with {other!r}; {compared}, of {some(self.systems)}"
        raise NotEvaluatedError(msg)
