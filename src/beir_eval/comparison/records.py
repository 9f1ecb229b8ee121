"""Records of a comparison: settings, means, differences, documents to judge, gate checks."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import BaseModel, BeforeValidator, PlainSerializer

from beir_eval.core.saved import FROZEN
from beir_eval.errors import SettingError, check_choice, warn_caller
from beir_eval.significance import PAIRED_TESTS
from beir_eval.significance.validation import check_draws, check_positive, check_seed, check_share

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The values of ``ComparisonSettings.correction``.
CORRECTIONS = ("max-t", "holm", "bonferroni", "none")
#: The corrections that are permutation tests themselves.
PERMUTATION_CORRECTIONS = ("max-t",)
#: The values of ``ComparisonSettings.interval``.
INTERVALS = ("test", "t")
#: The values of ``ComparisonSettings.repeats``: what the repeats of systems are.
REPEATS = ("averaged", "random", "paired")
#: Margins from and above these shares of the range of a measure are refused and warned of.
_REFUSED_MARGIN, _LARGE_MARGIN = 0.5, 0.1
#: Fewer clusters than this do not decide anything.
FEWEST_CLUSTERS = 6
#: The values of ``ComparisonSettings.on``: what to do with systems that have different queries or
#: judgements.
ON_CHOICES = ("error", "intersection", "any-judgements")

#: The verdict of a test of the difference alone; ``Verdict`` adds the test of equality.
Direction = Literal["better", "worse", "undecided"]
Verdict = Literal["better", "worse", "equivalent", "undecided", "identical"]
#: The verdict on a pair with its systems swapped; verdicts not listed here stay the same.
OPPOSITE: dict[str, Verdict] = {"better": "worse", "worse": "better"}
#: The outcome of a check of the gate.
Outcome = Literal["passed", "failed", "undecided"]


#: The ends of an interval: infinite where it is unbounded, which JSON stores as null.
LowEnd = Annotated[float, BeforeValidator(lambda value: -inf if value is None else value)]
HighEnd = Annotated[float, BeforeValidator(lambda value: inf if value is None else value)]
#: A number that may be NaN, which JSON writes as null.
FloatOrNaN = Annotated[
    float,
    BeforeValidator(lambda value: nan if value is None else value),
    PlainSerializer(lambda value: None if isnan(value) else value, when_used="json"),
]


class PairDifference(Protocol):
    """The fields that every record of a difference between two systems has."""

    system: str
    against: str
    difference: float
    low: float
    high: float
    p_corrected: float

    @property
    def verdict(self) -> str:
        """The verdict on the difference, such as "better"."""

    def reversed(self) -> Self:
        """Return the same difference with the two systems exchanged."""


def reversed_fields(pair: PairDifference) -> dict[str, Any]:
    """Return the fields of a pair with its systems swapped: values with the opposite sign."""
    return {
        "system": pair.against,
        "against": pair.system,
        "difference": -pair.difference,
        "low": -pair.high,
        "high": -pair.low,
        "verdict": OPPOSITE.get(pair.verdict, pair.verdict),
    }


def check_margin(margin: float, score_range: float | None) -> None:
    """Raise SettingError for a margin within which nearly all systems are; warn of a large one.

    Args:
        margin: the smallest difference that matters, in the unit of the measure.
        score_range: the highest possible score minus the lowest; None if there is no such.

    Raises:
        SettingError: the margin is half of the range or more.

    Warns:
        BeirEvalWarning: it is above a tenth of the range.
    """
    if score_range is None or margin <= _LARGE_MARGIN * score_range:
        return
    sentence = (
        f"a margin of {margin:g} is {margin / score_range:.0%} of the range of the measure, and "
        f"smaller differences count as none: did you mean {max(margin, score_range) / 100:g}?"
    )
    if margin >= _REFUSED_MARGIN * score_range:
        raise SettingError(sentence)
    warn_caller(sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSettings:
    """The settings of a comparison, checked when they are created.

    Attributes:
        test: the significance test: "sign_flip" or "t".
        correction: the correction of p for all differences of one measure: "max-t" (only with
            test="sign_flip"), "holm", "bonferroni" or "none".
        interval: "test" (the interval that belongs to the test and its correction), or "t", which
            is not corrected.
        alpha: the level of the verdicts, between 0 and 1. A comparison also needs it to be below
            0.5, which its test of equality checks.
        margin: the smallest difference that matters, above 0, in the unit of the measures.
        on: what to do with systems that have different queries or judgements: "error",
            "intersection" to compare the queries that all have, or "any-judgements" to compare
            these also if they were judged otherwise.
        draws: how many sign vectors the sign-flip and max-t tests draw at most; None: 100,000, or
            20,000 for more than 1,000 queries or 500 pairs.
        rng: the random seed, a whole number from 0.
        repeats: what the repeats of systems are: "averaged" (their scores are averaged for each
            query, and p holds for these repeats), "random" (a sample of all repeats: p is over
            queries and repeats) or "paired" (the same, and repeat i of one system belongs to
            repeat i of the other).
        deterministic: the systems whose repeats would all be equal.

    Raises:
        SettingError: a value that does not exist, or values that do not go together.
    """

    #: The valid values of the settings that are text.
    CHOICES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "test": tuple(PAIRED_TESTS),
        "correction": CORRECTIONS,
        "interval": INTERVALS,
        "on": ON_CHOICES,
        "repeats": REPEATS,
    }
    #: Settings in a few words, for the help of the command line.
    SUMMARIES: ClassVar[Mapping[str, str]] = {
        "test": "The test.",
        "correction": "For several comparisons.",
        "interval": "The intervals of the differences.",
        "alpha": "The level of the verdicts.",
        "margin": "The smallest difference that matters.",
        "on": "If systems have different queries or judgements.",
        "draws": "How many sign vectors the test draws.",
        "rng": "The seed of the random draws.",
        "repeats": "Whether repeats are a sample of trainings or fixed.",
    }
    #: The defaults that depend on systems and test, in words; the keyword is then None.
    DEPENDENT_DEFAULTS: ClassVar[Mapping[str, str]] = {
        "correction": "max-t with the sign-flip test, otherwise holm",
        "draws": "100000, or 20000 for more than 1000 queries or 500 pairs of systems",
        "repeats": "random if possible",
    }

    test: str = "sign_flip"
    correction: str = "max-t"
    interval: str = "test"
    alpha: float = 0.05
    margin: float = 0.01
    on: str = "error"
    draws: int | None = None
    rng: int = 0
    repeats: str = "averaged"
    deterministic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every value, and convert numpy's numbers to Python's, which JSON needs."""
        check_share("alpha", self.alpha)
        check_positive("margin", self.margin)
        check_seed(self.rng)
        if self.draws is not None:
            check_draws(self.draws)
        for name, choices in self.CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if self.correction in PERMUTATION_CORRECTIONS and self.test != "sign_flip":
            msg = (
                f"correction={self.correction!r} is a permutation test itself and goes with "
                f"test='sign_flip'; with test={self.test!r} choose 'holm'"
            )
            raise SettingError(msg)
        if self.correction in PERMUTATION_CORRECTIONS and self.has_random_repeats:
            msg = (
                f"correction={self.correction!r} flips the signs of queries only; with "
                f"repeats={self.repeats!r} choose 'holm', or average the repeats with "
                "repeats='averaged'"
            )
            raise SettingError(msg)
        plain = {
            "alpha": float(self.alpha),
            "margin": float(self.margin),
            "draws": None if self.draws is None else operator.index(self.draws),
            "rng": operator.index(self.rng),
            "deterministic": tuple(self.deterministic),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def has_random_repeats(self) -> bool:
        """Whether p is over queries and repeats."""
        return self.repeats != "averaged"


class SystemMean(BaseModel):
    """The mean score of one system on one measure.

    Attributes:
        measure: the canonical name of the measure.
        system: the name of the system.
        mean: the mean over the queries on which all systems have a score.
        low, high: the t interval of the mean, at confidence 1 − alpha.
        repeats: how many runs of the system were averaged for each query.
        spread: the standard deviation of the means of the repeats (repeats − 1 in the denominator);
            None for a single run.
        lowest, highest: the lowest and the highest mean of a repeat; the mean itself for a single
            run.
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
    """The difference of two systems on one measure, always system − against.

    Attributes:
        measure: the canonical name of the measure.
        system, against: the names of the systems.
        difference: the difference of the means.
        mean, mean_against: the means of the two systems; None in files of earlier versions.
        low, high: the interval of the mean difference; −infinity and infinity where too few queries
            differ to bound it. With interval="test" it excludes 0 exactly if the verdict is
            "better" or "worse".
        confidence: the nominal confidence of the interval: that of the whole family if all
            intervals hold simultaneously (correction "max-t"), otherwise of this interval. Systems
            with the same score on every query have none: ``low`` and ``high`` are 0 or unbounded.
        effect: the mean difference in standard deviations of the differences (Cohen's d_z), no
            unit; None if all differences are equal and not 0, because it is infinite then.
        effect_low, effect_high: its interval; None if the effect is.
        residual_effect: the mean difference in standard deviations of the residuals of the two-way
            ANOVA of all systems and queries (Sakai 2014), no unit; None if there are no residuals.
        residual_effect_low, residual_effect_high: its interval; None if the effect is.
        p: the uncorrected p of the chosen test, above 0.
        p_t: the uncorrected p of the paired t test.
        p_corrected: p corrected for all differences of this measure.
        p_equal: the p of a difference of the margin or more, corrected by Holm: of one-sided t
            tests and, for measures with bounds, of Gaffke's bound (``significance.equivalence``).
        smallest_margin: the smallest margin within which so many queries could show that any pair
            of this measure is equal, whatever the scores are: it grows with the number of
            comparisons that are corrected together. None for measures without bounds.
        wins, ties, losses: the number of queries on which the system is better, as good, worse.
        num_queries: the number of queries on which all compared systems have a score.
        detectable: the true difference that would be detected 80% of the time, at the level at
            which this difference was tested; None if it is not known (``power_note``), or if this
            difference is significant.
        detectable_low, detectable_high: the same for the ends of the interval of the standard
            deviation; None if it is not known.
        queries_low, queries_high: how many queries would detect a true difference of the margin 80%
            of the time, for the ends of that interval; None if it is not known, or above 10^15.
        power_note: why these values are not known; mostly empty.
        draws: the number of sign vectors behind p; 0 for another test.
        exact: whether these are all sign vectors of the queries that differ.
        verdict: "identical" if the score of every query is the same; else "better" or "worse" if
            p_corrected <= alpha; else "equivalent" (within the margin) if p_equal <= alpha and the
            interval lies inside the margin; else "undecided".
        note: the note of the test to its readers; mostly empty.
        higher_is_better: whether a higher score is better. If not, the better system has a
            difference below 0.
        num_clusters: the number of clusters of related queries, which the test takes as its units;
            ``detectable``, ``queries_low`` and ``queries_high`` then count clusters. None if
            queries are not related.
        p_queries: p over queries alone, corrected for all differences of this measure, if p is over
            queries and repeats; else None.
        repeat_deviation: the standard deviation of the mean score of a repeat, estimated for other
            repeats on the same queries; None unless p is over queries and repeats.
        repeat_variance: the variance of ``difference`` from the repeats; None likewise.
        repeat_freedom: the degrees of freedom of these estimates; None likewise, and if both
            systems are deterministic.
        loss_not_excluded, gain_not_excluded: if fewer than 10 queries differ, the largest true loss
            and gain of the system that so many queries do not exclude, from 0, in the unit of the
            measure: by ``significance.equivalence.lower_bound``, each at alpha / 2 divided by the
            number of comparisons, not inside the interval and not beyond the range of the measure.
            None if more queries differ, and for measures without bounds.
        noise_to_undo: the smallest standard deviation of the mean score of a repeat with which a
            "better" or "worse" would not be significant; None for other verdicts, if p is over
            queries and repeats, and if both systems are deterministic.
    """

    model_config = FROZEN

    measure: str
    system: str
    against: str
    difference: float
    low: LowEnd
    high: HighEnd
    confidence: float
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    residual_effect: float | None
    residual_effect_low: float | None
    residual_effect_high: float | None
    p: float
    p_t: float
    p_corrected: float
    p_equal: float
    smallest_margin: float | None
    wins: int
    ties: int
    losses: int
    num_queries: int
    detectable: float | None
    detectable_low: float | None
    detectable_high: float | None
    queries_low: int | None
    queries_high: int | None
    power_note: str
    draws: int
    exact: bool
    verdict: Verdict
    note: str = ""
    higher_is_better: bool = True
    num_clusters: int | None = None
    p_queries: float | None = None
    repeat_deviation: float | None = None
    repeat_variance: float | None = None
    repeat_freedom: float | None = None
    noise_to_undo: float | None = None
    loss_not_excluded: float | None = None
    gain_not_excluded: float | None = None
    mean: float | None = None
    mean_against: float | None = None

    @property
    def relative(self) -> float | None:
        """The change from the mean of ``against``, as a share of it; None if that is 0 or below."""
        if self.mean is None or self.mean_against is None or self.mean_against <= 0:
            return None
        return (self.mean - self.mean_against) / self.mean_against

    @property
    def num_differing(self) -> int:
        """The number of queries on which the systems differ."""
        return self.wins + self.losses

    @property
    def gain(self) -> float:
        """The difference, or its opposite if lower is better: above 0 for the better system."""
        return self.difference if self.higher_is_better else -self.difference

    def reversed(self) -> Difference:
        """Return the difference against − system: the same evidence with the systems swapped."""
        changes = {
            "wins": self.losses,
            "losses": self.wins,
            "mean": self.mean_against,
            "mean_against": self.mean,
            "loss_not_excluded": self.gain_not_excluded,
            "gain_not_excluded": self.loss_not_excluded,
            "effect": _negative(self.effect),
            "effect_low": _negative(self.effect_high),
            "effect_high": _negative(self.effect_low),
            "residual_effect": _negative(self.residual_effect),
            "residual_effect_low": _negative(self.residual_effect_high),
            "residual_effect_high": _negative(self.residual_effect_low),
        }
        return self.model_copy(update=reversed_fields(self) | changes)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


class QueryDifference(BaseModel):
    """The scores of two systems on one query.

    Attributes:
        query_id: the query.
        score: the score of the system.
        against: the score of the system it is compared with.
        difference: score − against.
    """

    model_config = FROZEN

    query_id: str
    score: float
    against: float
    difference: float


class TieRange(BaseModel):
    """The lowest and the highest mean of a system over the orders of documents with equal scores.

    Attributes:
        measure: the canonical name of the measure.
        system: the system.
        low, high: its mean with relevant documents last, and first, among equal scores, over the
            compared queries.
    """

    model_config = FROZEN

    measure: str
    system: str
    low: float
    high: float


class CommonQueries(BaseModel):
    """The comparison over the queries that every system has, beside that over all judged queries.

    A judged query that a run lacks counts as an empty ranking (missing="zero"), so a verdict may be
    about what is missing rather than about the rankings.

    Attributes:
        num_queries: the number of judged queries that the runs of all systems have.
        differences: the difference of every pair on every measure over these queries, with the same
            settings; empty if a measure has a score on fewer than two of them.
    """

    model_config = FROZEN

    num_queries: int
    differences: tuple[Difference, ...]


class DocumentToJudge(BaseModel):
    """An unjudged document, and how its judgement could change the differences of a measure.

    Attributes:
        measure: the canonical name of the measure.
        query_id: the query.
        doc_id: the document, which a system retrieved for this query.
        ranks: {system: rank} of the systems that retrieve it; the best rank of a system's repeats.
        changes: {system: {against: change}}: how much the difference of the means changes if only
            this document is relevant; pairs without a change are left out.
        total: the sum of the absolute changes over all pairs.
    """

    model_config = FROZEN

    measure: str
    query_id: str
    doc_id: str
    ranks: dict[str, int]
    changes: dict[str, dict[str, float]]
    total: float


class GateCheck(BaseModel):
    """The check of one system on one measure, against the baseline or a floor.

    A value that was not computed is None: all numbers of an undecided check that was not tested,
    and the values that its rule does not use.

    Attributes:
        measure: the canonical name of the measure.
        system: the system that is checked.
        against: the baseline; None for a floor.
        rule: "not worse" (fails if shown to be worse than the baseline), "non-inferior" (passes
            only if shown to lose less than the margin) or "floor" (fails below a score).
        outcome: "passed", "failed" or "undecided": the scores do not allow a decision.
        reason: the outcome in words, with the measure and the queries; of a check that was not
            tested, and of a floor, a sentence or two.
        value: the difference of the means, system − against; for a floor, the mean of the system.
        low, high: the interval of ``value``; −infinity and infinity where it is unbounded or not
            known. By rule: the two-sided interval of the test at confidence 1 − 2·alpha, which
            excludes 0 on the side of a loss exactly if the system fails (if the test has an
            interval); the one-sided t bound at confidence 1 − alpha on the side of a loss; the
            two-sided t interval of the mean at confidence 1 − alpha, if scores vary.
        confidence: the nominal confidence of the interval.
        p: the one-sided p, not corrected: of a loss, by the test of the comparison; of
            "non-inferior", that a loss of the margin or more is rejected.
        alpha: the level of the check.
        num_queries: the number of queries that the two systems have a score for; for a floor, those
            that the system has a score for.
        num_differing: the number of these on which the two systems differ.
        limit: the margin of "non-inferior", or the floor, in the unit of the measure.
        detectable: the true loss that would go unnoticed 20% of the time, in the same unit; only of
            "not worse" that passed.
        detectable_low, detectable_high: the same for the ends of the interval of the standard
            deviation of the differences.
        smallest_margin: the smallest margin with which a system that has the scores of the
            baseline on all queries would pass; "non-inferior" on measures with bounds only.
        note: what the check could miss, or why it is not decided, as a clause; mostly empty.
        higher_is_better: whether a higher score is better.
        lost_most: up to five queries on which the system lost most against the baseline, worst
            first, each with the two scores; only of a check that failed.
        warnings: the warnings of the comparison on these systems; mostly none.
    """

    model_config = FROZEN

    measure: str
    system: str
    against: str | None
    rule: Literal["not worse", "non-inferior", "floor"]
    outcome: Outcome
    reason: str
    alpha: float
    value: float | None = None
    low: LowEnd = -inf
    high: HighEnd = inf
    confidence: float | None = None
    p: float | None = None
    num_queries: int | None = None
    num_differing: int | None = None
    limit: float | None = None
    detectable: float | None = None
    detectable_low: float | None = None
    detectable_high: float | None = None
    smallest_margin: float | None = None
    note: str = ""
    higher_is_better: bool = True
    lost_most: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the system passes."""
        return self.outcome == "passed"
