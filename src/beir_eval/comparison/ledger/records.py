"""Records of a ledger: its settings, its first line, and its looks."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from beir_eval.comparison.records import Direction
from beir_eval.comparison.verdict_sentences import signed_text
from beir_eval.core.saved import FROZEN, require_all_fields
from beir_eval.errors import SettingError, check_choice
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures.scales import ScoreScale, scale_of
from beir_eval.significance.spending import LOOK_ALTERNATIVES, Spending
from beir_eval.significance.validation import check_draws, check_positive, check_seed

#: The most decimals of t in a sentence: as many as tell it from the value that decides.
_MOST_DECIMALS = 6
#: The statistics of all sign vectors are kept in memory, 8 or 16 bytes each.
_MOST_DRAWS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """The settings of a ledger, fixed at its creation; checked when they are made.

    Attributes:
        looks: the planned number of looks; None if there is none.
        reserve: the share of alpha that is kept for looks after the planned ones.
        margin: the smallest difference that matters, above 0, in the unit of the measure.
        alpha: the level of all looks together, between 0 and 1.
        alternative: "two-sided", or "greater": only "better" is a verdict.
        draws: the number of sign vectors.
        rng: the random seed, a whole number from 0.

    Raises:
        SettingError: a value that does not exist, or values that do not go together.
    """

    looks: int | None = 50
    reserve: float = 0.0
    margin: float = 0.01
    alpha: float = 0.05
    alternative: str = "two-sided"
    draws: int = 100_000
    rng: int = 0

    def __post_init__(self) -> None:
        """Check every value, and convert numpy's numbers to Python's, which JSON needs."""
        spending = self.spending  # checks alpha, looks and reserve
        check_positive("margin", self.margin)
        check_choice("alternative", self.alternative, LOOK_ALTERNATIVES)
        check_draws(self.draws)
        if self.draws > _MOST_DRAWS:
            msg = f"draws must be at most {_MOST_DRAWS:,}, not {self.draws}"
            raise SettingError(msg)
        check_seed(self.rng)
        fewest = math.ceil(1 / spending.alpha) - 1
        if self.draws < fewest:
            msg = (
                f"draws={self.draws} are too few: with alpha={self.alpha:g} no look could have a "
                f"verdict with fewer than {fewest:,}; leave draws at its default"
            )
            raise SettingError(msg)
        for name, plain in (
            ("looks", operator.index),
            ("reserve", float),
            ("margin", float),
            ("alpha", float),
            ("draws", operator.index),
            ("rng", operator.index),
        ):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else plain(value))

    @property
    def spending(self) -> Spending:
        """How alpha is spent over the looks."""
        return Spending(self.alpha, self.looks, self.reserve)


class LedgerHeader(BaseModel):
    """The first line of a ledger's file.

    Attributes:
        schema_version: the version of the file's layout.
        measure: the name of the measure.
        settings: the settings.
        baseline: the result of the baseline, with this measure only.
    """

    model_config = FROZEN

    schema_version: Literal[1] = 1
    measure: str
    settings: Annotated[LedgerSettings, require_all_fields(LedgerSettings)]
    baseline: EvaluationResult

    @property
    def scale(self) -> ScoreScale:
        """The bounds of the measure's scores, and whether higher ones are better."""
        return scale_of(self.measure, self.baseline.custom_measures)


class Look(BaseModel):
    """One look: one checkpoint against the baseline of the ledger.

    Attributes:
        number: 1 for the first look of the ledger.
        planned: the planned number of looks; None if there is none.
        step: the name of the checkpoint.
        difference: the mean difference, checkpoint − baseline, over the queries compared.
        statistic: Σd/√Σd² of the gains d by query, or its absolute value if the ledger is
            two-sided; t is computed from it.
        bound: the look is decided if the statistic is above this; None if no signs of these
            differences could decide it, so that no verdict was possible.
        verdict: "better", "worse" or "undecided".
        level: the share of sign vectors that may be spent up to this look.
        alpha_spent: the share that is spent up to this look; at most ``level``.
        num_spent: the number of sign vectors, the observed signs included, that are spent up to
            this look.
        spent: the indices of the sign vectors that are spent at this look.
        wins, ties, losses: the number of queries on which the checkpoint is better, as good, worse.
        num_queries: the number of queries compared: those on which both have a score.
        margin: the smallest difference that matters.
        scores_sha256: the SHA-256 of the checkpoint's scores, by which a step that is recorded
            again is recognised.
        warnings: what a reader must know of the checkpoint: missing queries, ids that do not match.
    """

    model_config = FROZEN

    number: int
    planned: int | None
    step: str
    difference: float
    statistic: float
    bound: float | None
    verdict: Direction
    level: float
    alpha_spent: float
    num_spent: int
    spent: Annotated[tuple[int, ...], Field(repr=False)]
    wins: int
    ties: int
    losses: int
    num_queries: int
    margin: float
    scores_sha256: Annotated[str, Field(repr=False)]
    warnings: tuple[str, ...] = ()

    @property
    def t(self) -> float:
        """The t statistic of the mean difference; infinite if all differences are equal."""
        t = _t_of(abs(self.statistic), self.num_queries)
        return math.copysign(t, self.difference) if t else 0.0

    @property
    def critical_t(self) -> float | None:
        """The absolute t that the look had to exceed; None if no verdict was possible."""
        return None if self.bound is None else _t_of(self.bound, self.num_queries)

    @property
    def verdict_text(self) -> str:
        """The verdict, and whether the difference is below the margin."""
        is_small = self.verdict != "undecided" and abs(self.difference) < self.margin
        return f"{self.verdict} by less than {self.margin:g}" if is_small else self.verdict

    @property
    def t_text(self) -> str:
        """The t statistic, with as many decimals as tell it from ``critical_t``."""
        return self._texts()[0]

    @property
    def critical_text(self) -> str:
        """``critical_t`` as text; "none" if no verdict was possible."""
        return self._texts()[1]

    def _texts(self) -> tuple[str, str]:
        t, critical = self.t, self.critical_t
        if critical is None:
            return f"{t:.1f}", "none"
        for decimals in range(1, _MOST_DECIMALS + 1):
            texts = f"{t:.{decimals}f}", f"{critical:.{decimals}f}"
            if texts[0].lstrip("-") != texts[1]:
                break
        return texts

    def __str__(self) -> str:
        """Return the look in a sentence.

        >>> look = Look(
        ...     number=7, planned=50, step="step-700", difference=0.012, statistic=2.086,
        ...     bound=2.87, verdict="undecided", level=0.007, alpha_spent=0.007, num_spent=700,
        ...     spent=(), wins=9, ties=280, losses=11, num_queries=300, margin=0.01,
        ...     scores_sha256="",
        ... )
        >>> str(look)
        'look 7 of 50: +0.0120, t = 2.1, undecided (2.9 decides)'
        """
        label = f"look {self.number:,}"
        if self.planned is not None:
            is_planned = self.number <= self.planned
            label += f" of {self.planned:,}" if is_planned else f" ({self.planned:,} planned)"
        decides = "no verdict was possible"
        if self.bound is not None:
            decides = f"{self.critical_text} decides"
        return (
            f"{label}: {signed_text(self.difference)}, t = {self.t_text}, {self.verdict_text} "
            f"({decides})"
        )


def _t_of(statistic: float, num_queries: int) -> float:
    """Return the t statistic of Σd/√Σd² over n queries: u·√((n − 1)/(n − u²)), u >= 0."""
    rest = num_queries - statistic**2
    # Of equal differences the rest is 0 but for rounding.
    if rest <= num_queries * 1e-12:
        return math.inf
    return statistic * math.sqrt((num_queries - 1) / rest)
