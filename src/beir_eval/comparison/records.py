"""What a comparison holds: settings, means, differences with their evidence, trust."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN
from beir_eval.errors import SettingError, check_choice
from beir_eval.significance import PAIRED_TESTS
from beir_eval.significance.validation import check_draws, check_positive, check_seed, check_share

CORRECTIONS = ("holm", "bonferroni", "benjamini-hochberg", "max-t", "tukey", "none")
#: What happens to systems with different queries.
ON = ("error", "intersection")

#: Whether a difference was shown; over several data sets, equality is not looked into.
Direction = Literal["better", "worse", "undecided"]
Verdict = Literal["better", "worse", "equal", "undecided"]
#: What a verdict is from the side of the other system; the others are the same from both sides.
OPPOSITE: dict[str, Verdict] = {"better": "worse", "worse": "better"}


class PairDifference(Protocol):
    """One system against another: what every record of a difference has."""

    system: str
    against: str
    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """What the difference shows."""


def mirrored(pair: PairDifference) -> dict[str, Any]:
    """Return the fields of a pair as seen from the other system."""
    return {
        "system": pair.against,
        "against": pair.system,
        "difference": -pair.difference,
        "low": -pair.high,
        "high": -pair.low,
        "verdict": OPPOSITE.get(pair.verdict, pair.verdict),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """How verdicts are reached: checked once, then passed on whole.

    The meaning of each is that of ``compare``'s argument.

    Raises:
        SettingError: a value that does not exist, or values that do not go together.
    """

    test: str = "sign_flip"
    correction: str = "holm"
    alpha: float = 0.05
    margin: float = 0.01
    on: str = "error"
    draws: int = 100_000
    rng: int = 0

    def __post_init__(self) -> None:
        """Check every value, and keep numpy's numbers as plain ones, which JSON takes."""
        check_share("alpha", self.alpha)
        check_positive("margin", self.margin)
        check_seed(self.rng)
        check_draws(self.draws)
        check_choice("test", self.test, PAIRED_TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        if self.correction in ("max-t", "tukey") and self.test != "sign_flip":
            msg = (
                f"correction={self.correction!r} is a permutation test itself and goes with "
                f"test='sign_flip'; with test={self.test!r} choose 'holm'"
            )
            raise SettingError(msg)
        check_choice("on", self.on, ON)
        for name, plain in (
            ("alpha", float),
            ("margin", float),
            ("draws", operator.index),
            ("rng", operator.index),
        ):
            object.__setattr__(self, name, plain(getattr(self, name)))


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
        effect = None if self.effect is None else -self.effect
        changes = {"wins": self.losses, "losses": self.wins, "effect": effect}
        return self.model_copy(update=mirrored(self) | changes)


class QueryDifference(BaseModel):
    """One query: the score of a system, that of the one it is compared with, their difference."""

    model_config = FROZEN

    query_id: str
    score: float
    against: float
    difference: float


class PairTrust(BaseModel):
    """What documents that nobody judged, and ties, could change about one difference.

    The documents are those unjudged in the first ``depth`` of either system. Each is taken to be
    relevant, with the highest grade of the qrels, or left as it is, alike in both systems; the
    number of relevant documents and the ideal ranking follow. The ranking stays as it is, and a
    negative grade, "pooled but unjudged", stays what it is. What cannot be known is None: results
    without their runs know the judged shares only.

    Attributes:
        measure, system, against: their names; a difference is always system − against.
        depth: the measure's cutoff, 10 where it has none, at most 100.
        judged, judged_against: the share of the documents in the first ``depth`` that is judged, as
            the measure Judged counts it, over all queries.
        unjudged: how many documents are unjudged, over all queries.
        low, high: the least and the greatest difference of the means that they allow; None too for
            measures that look at what is judged (Judged, Hole, RBP_residual, infAP).
        exact: whether no choice of these documents reaches further than low and high. It is so for
            sums over documents divided by what depends on the number of relevant ones: nDCG, DCG,
            CG, Precision, Recall, RBP, and R_cap and F1 with a cutoff. For others low and high are
            the extremes of the choices that were tried: each document alone, and those best for one
            system, more and more of them.
        could_flip: whether the verdict is another one at either bound, where the test is done
            again: "better" or "worse" lost or turned, "undecided" decided, "equal" beyond the
            margin.
        condensed, condensed_against, condensed_difference: the means, and their difference, when
            unjudged documents are left out of the rankings (``judged_only=True``).
        ties, ties_against: the means with relevant documents last and first among equal scores;
            None without scores, for measures that have no such extremes, and for
            ties="trec_eval9", which compares scores in another precision.
    """

    model_config = FROZEN

    measure: str
    system: str
    against: str
    depth: int
    judged: float | None
    judged_against: float | None
    unjudged: int | None = None
    low: float | None = None
    high: float | None = None
    exact: bool | None = None
    could_flip: bool | None = None
    condensed: float | None = None
    condensed_against: float | None = None
    condensed_difference: float | None = None
    ties: tuple[float, float] | None = None
    ties_against: tuple[float, float] | None = None


class DocumentToJudge(BaseModel):
    """An unjudged document, and what its judgement could change.

    Attributes:
        measure: the measure that is meant.
        query_id, doc_id: the document, retrieved for this query.
        ranks: {system: rank} where it is retrieved; of a system's repeats the best rank.
        changes: {system: {against: change}}: by how much the difference of the means changes if it
            is relevant; pairs whose difference stays are left out.
        total: the sum of the absolute changes over all pairs.
    """

    model_config = FROZEN

    measure: str
    query_id: str
    doc_id: str
    ranks: dict[str, int]
    changes: dict[str, dict[str, float]]
    total: float
