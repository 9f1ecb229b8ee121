"""What a comparison holds: means, differences with their evidence, settings."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from beir_eval.comparison.robustness.records import DocumentToJudge, Likeness, PairTrust
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.evaluation.score_matrix import ScoreMatrix

TESTS = ("sign_flip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "bonferroni", "benjamini-hochberg", "max-t", "tukey", "none")
#: What happens to systems with different queries.
ON = ("error", "intersection")

Verdict = Literal["better", "worse", "equal", "undecided"]


class ComparisonSettings(BaseModel):
    """How the verdicts were reached; the meaning of each is that of ``compare``'s argument."""

    model_config = FROZEN

    test: str
    correction: str
    alpha: float
    margin: float
    on: str
    draws: int
    rng: int


class SystemMean(BaseModel):
    """One system on one measure.

    Attributes:
        measure, system: their names.
        mean: over the queries compared.
        low, high: the bootstrap (BCa) interval of the mean, at confidence 1 − alpha.
        repeats: how many runs of the system were averaged for each query.
        spread: the standard deviation of the means of the repeats (repeats − 1 in the denominator);
            None for a single run.
        lowest, highest: the extremes of the means of the repeats; the mean itself for one run.
    """

    model_config = FROZEN

    measure: str
    system: str
    mean: float
    low: float
    high: float
    repeats: int
    spread: float | None
    lowest: float
    highest: float


class Difference(BaseModel):
    """One system against another on one measure; a difference is always system − against.

    Attributes:
        measure, system, against: their names.
        difference: of the means.
        low, high: the bootstrap (BCa) interval of the mean difference, at confidence 1 − alpha.
        effect: the mean difference in standard deviations of the differences, no unit; None where
            all differences are the same and not 0: it is infinite then.
        p: of the test that was asked for, uncorrected, above 0.
        p_t: of the paired t test, uncorrected.
        p_corrected: p corrected for all differences of this measure.
        p_equal: of the two one-sided t tests for equality within the margin, corrected by Holm.
        wins, ties, losses: queries on which the system is better, as good, worse.
        num_queries: queries on which both have a score.
        detectable: the difference that this many queries would show with 80 % power.
        queries_needed: about how many queries would show a difference of the margin with 80 %
            power; None where it is more than can be counted.
        verdict: "better" or "worse" where p_corrected <= alpha; else "equal" (within the margin)
            where p_equal <= alpha; else "undecided".
        note: what the test says about itself; mostly empty.
    """

    model_config = FROZEN

    measure: str
    system: str
    against: str
    difference: float
    low: float
    high: float
    effect: float | None
    p: float
    p_t: float
    p_corrected: float
    p_equal: float
    wins: int
    ties: int
    losses: int
    num_queries: int
    detectable: float
    queries_needed: int | None
    verdict: Verdict
    note: str = ""

    def reversed(self) -> Difference:
        """Return the same pair as seen from the other system; every test is two-sided."""
        opposite: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}
        return self.model_copy(
            update={
                "system": self.against,
                "against": self.system,
                "difference": -self.difference,
                "low": -self.high,
                "high": -self.low,
                "effect": None if self.effect is None else -self.effect,
                "wins": self.losses,
                "losses": self.wins,
                "verdict": opposite.get(self.verdict, self.verdict),
            }
        )


class QueryDifference(BaseModel):
    """One query: the score of a system, that of the one it is compared with, their difference."""

    model_config = FROZEN

    query_id: str
    score: float
    against: float
    difference: float


class Compared(Saved):
    """The fields of a ``Comparison``, which documents them."""

    model_config = ConfigDict(**FROZEN, ignored_types=(cached_property,))

    WHAT = "comparison"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: dict[str, ScoreMatrix]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]
    settings: ComparisonSettings
    left_out: dict[str, int] = Field(default_factory=dict)
    trust: tuple[PairTrust, ...] | None = None
    to_judge: tuple[DocumentToJudge, ...] | None = None
    likeness: tuple[Likeness, ...] | None = None

    @cached_property
    def verdicts(self) -> dict[tuple[str, str, str], Verdict]:
        """{(measure, system, against): verdict}."""
        return {(one.measure, one.system, one.against): one.verdict for one in self.differences}

    @model_validator(mode="after")
    def _check_shapes(self) -> Compared:
        expected = (len(self.systems), len(self.query_ids))
        if set(self.scores) != set(self.measures) or any(
            one.array.shape != expected for one in self.scores.values()
        ):
            msg = f"scores must hold [systems, queries] = {expected} for every measure"
            raise ValueError(msg)
        return self
