"""Where a training run settled: the step that no later step beats, and what may go unnoticed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.verdict_sentences import p_text
from beir_eval.display.tables import score_text
from beir_eval.significance import (
    holm,
    minimum_detectable_difference,
    paired_t,
    sign_flip_many,
)
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import TOLERANCE

if TYPE_CHECKING:
    from beir_eval.comparison.records import ComparisonSettings
    from beir_eval.core.arrays import Floats

#: The power with which a later gain of the margin must be detected before a run is settled.
POWER = 0.8
#: With fewer queries that differ, the spread of the differences is not known well enough.
_FEWEST_DIFFERING = 10
#: The power of a one-sided test is that of the two-sided test at twice the level, up to this level.
_HIGHEST_LEVEL = 0.5


@dataclass(frozen=True)
class Settling:
    """The first row that no later row beats significantly, and what the tests could have missed.

    Attributes:
        unbeaten: the index of this row.
        p: the smallest corrected p of the tests whether a later row is better; None for the last
            row.
        detectable: the smallest true gain that would be detected with a probability of ``POWER``
            at whichever later row it is, in the unit of the scores; None if it is not known.
        why_not_settled: a clause that says why a later gain of the margin cannot be ruled out; None
            if the run has settled.
    """

    unbeaten: int
    p: float | None
    detectable: float | None
    why_not_settled: str | None

    @property
    def settled(self) -> bool:
        """Whether a gain of the margin at a later row is ruled out, as ``find_settling`` says."""
        return self.why_not_settled is None


def find_settling(scores: Floats, settings: ComparisonSettings) -> Settling:
    """Return the first row that no later row beats significantly, and whether it has settled.

    A row is unbeaten if no later row is better by one-sided sign flips, corrected by Holm over the
    L later rows.

    Formula: ``detectable`` is the minimum detectable difference of a one-sided paired t test at
    level alpha / L, at which Holm tests the smallest p, for the later row whose differences vary
    most. The run has settled if it is at most the margin, and one-sided paired t tests at level
    alpha show for each later row that it gains less than the margin. These need no correction,
    since all of them must reject.

    In simulations of the hardest case, a level curve whose last step gains the margin, the first
    condition alone calls the run settled too early in up to 15% of cases with one later step, and
    in up to 30% with seven, since each level step is another occasion to miss the gain. Both
    together do so in about 5% and 10% (``benchmarks/checkpoints.py``).

    Degenerate: ``detectable`` is None for the last row, if the draws are too few for a corrected p
    of alpha, if a later row differs on fewer than 10 queries or on fewer than a significant result
    takes, and if no later row's differences vary.

    Args:
        scores: in the order of the steps, without NaN, f8[S, Q].
        settings: level, margin, draws and seed.

    Raises:
        InputError: fewer than two queries.
        MissingExtraError: scipy is not installed.
    """
    last = len(scores) - 1
    for row in range(last):
        gains = scores[row + 1 :] - scores[row]
        p = holm(
            sign_flip_many(gains, alternative="greater", draws=settings.draws, rng=settings.rng).p
        )
        if p.min() > settings.alpha:
            noise = TOLERANCE * float(np.abs(scores).max())
            detectable, reason = _sensitivity(gains, noise, settings)
            return Settling(row, float(p.min()), detectable, reason)
    reason = "every earlier step is beaten by a later one, and no step follows the last"
    return Settling(last, None, None, reason)


def _sensitivity(
    gains: Floats, noise: float, settings: ComparisonSettings
) -> tuple[float | None, str | None]:
    """Return ``detectable`` and ``why_not_settled`` of an unbeaten row.

    Args:
        gains: the scores of the L later rows minus those of the row, f8[L, Q].
        noise: the largest difference that is a rounding error.
        settings: level, margin and draws.
    """
    num_later, num_queries = gains.shape
    level = settings.alpha / num_later
    draws = SignVectors.choose(num_queries, settings.draws, settings.rng).draws
    if (draws + 1) * level < 1:
        return None, (
            f"with {draws:,} sign vectors no p is low enough for {num_later:,} later "
            f"steps: it takes {math.ceil(1 / level):,} draws"
        )
    num_differing = int(np.count_nonzero(np.abs(gains) > noise, axis=1).min())
    fewest = max(_FEWEST_DIFFERING, math.ceil(-math.log2(level)))
    if num_differing < fewest:
        return None, (
            f"a later step differs from it on {num_differing} of {num_queries:,} queries; with "
            f"fewer than {fewest} it is not known how small a gain would be detected"
        )
    spread = float(gains.std(axis=1, ddof=1).max())
    if spread <= noise:
        return None, (
            "the differences of later steps are the same on every query, so it is not known how "
            "small a gain would be detected"
        )
    detectable = minimum_detectable_difference(
        spread, num_queries, alpha=min(2 * level, _HIGHEST_LEVEL), power=POWER
    )
    if detectable > settings.margin:
        return detectable, (
            f"with {num_queries:,} queries a true gain below {score_text(detectable)} would go "
            f"unnoticed in more than {1 - POWER:.0%} of cases"
        )
    p_below = max(paired_t(row - settings.margin, alternative="less").p for row in gains)
    if p_below > settings.alpha:
        return detectable, (
            f"not every later step is shown to gain less than {settings.margin:g} (one-sided t "
            f"tests, largest p {p_text(p_below)})"
        )
    return detectable, None
