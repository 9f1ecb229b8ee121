"""Tests, intervals and verdicts for the differences of systems on one measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.records import Difference, SystemMean, Verdict
from beir_eval.errors import SettingError
from beir_eval.significance import (
    PAIRED_TESTS,
    bootstrap_intervals,
    correct,
    equivalence,
    max_t,
    max_t_pairs,
    minimum_detectable_difference,
    paired_t,
    queries_needed,
    randomised_tukey_hsd,
    sign_flip_many,
    sign_flip_pairs,
    standardised_effect,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.records import ComparisonSettings, Direction
    from beir_eval.core.arrays import Floats
    from beir_eval.significance import PairedTest

#: All pairs of more systems than this are too many to read and to test.
MOST_SYSTEMS_IN_PAIRS = 100
#: Permutations of randomised Tukey HSD, fewer than sign flips because its cost grows with the
#: number of systems.
TUKEY_DRAWS = 10_000


class Pair(NamedTuple):
    """Indices of two systems: ``system`` is compared with ``against``."""

    system: int
    against: int


@dataclass(frozen=True)
class Pairs:
    """The pairs of systems that are compared.

    Attributes:
        listed: the pairs. [D]
        are_all: whether they are all pairs of the systems; these have their own tests.
    """

    listed: Sequence[Pair]
    are_all: bool

    def differences(self, scores: Floats) -> Floats:
        """Return the differences of the scores of every pair: f8[S, Q] -> f8[D, Q]."""
        return np.stack([scores[pair.system] - scores[pair.against] for pair in self.listed])

    def values_in(self, matrix: Floats) -> Floats:
        """Return the matrix cell of every pair: f8[S, S] -> f8[D]."""
        return np.array([matrix[pair.system, pair.against] for pair in self.listed])


def pairs_to_compare(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Return the pairs of every other system and the baseline; without a baseline, all pairs.

    In each of all pairs, the later system is compared with the earlier one.

    Raises:
        SettingError: there is no baseline, and more than ``MOST_SYSTEMS_IN_PAIRS`` systems.
    """
    num_systems = len(systems)
    if baseline is not None:
        baseline_index = systems.index(baseline)
        return Pairs(
            [
                Pair(system, baseline_index)
                for system in range(num_systems)
                if system != baseline_index
            ],
            are_all=False,
        )
    if num_systems > MOST_SYSTEMS_IN_PAIRS:
        msg = (
            f"{num_systems} systems are {num_systems * (num_systems - 1) // 2} pairs; name a "
            f"baseline to compare with, or hand over at most {MOST_SYSTEMS_IN_PAIRS} systems"
        )
        raise SettingError(msg)
    return Pairs(
        [Pair(system, against) for system in range(num_systems) for against in range(system)],
        are_all=True,
    )


def differences_of(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences of one measure with their verdicts, in the order of the pairs.

    Args:
        scores: the scores of all systems, without NaN.
        pairs: the systems to compare.
        settings: test, correction, levels, margin and seed.
    """
    uncorrected = uncorrected_differences(scores, pairs, settings)
    p = np.array([difference.p for difference in uncorrected])
    return with_verdicts(uncorrected, _corrected_p(p, scores.scores, pairs, settings), settings)


def uncorrected_differences(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences of one measure, in the order of the pairs, before the correction.

    ``p_corrected`` is the uncorrected p, ``p_equal`` is uncorrected, and every verdict is
    "undecided"; ``with_verdicts`` sets these three. The arguments are those of ``differences_of``.
    """
    values = pairs.differences(scores.scores)
    p, notes = _uncorrected_p(values, scores.scores, pairs, settings)
    intervals = bootstrap_intervals(values, confidence=1 - settings.alpha, rng=settings.rng)
    evidence = []
    for index, (pair, row) in enumerate(zip(pairs.listed, values, strict=True)):
        deviation = float(row.std(ddof=1))
        effect = standardised_effect(row)
        evidence.append(
            Difference(
                measure=scores.measure,
                system=scores.systems[pair.system],
                against=scores.systems[pair.against],
                difference=float(intervals.differences[index]),
                low=float(intervals.low[index]),
                high=float(intervals.high[index]),
                effect=effect if math.isfinite(effect) else None,
                p=float(p[index]),
                p_t=paired_t(row).p,
                p_corrected=float(p[index]),
                p_equal=equivalence(row, delta=settings.margin, alpha=settings.alpha).p,
                wins=int((row > 0).sum()),
                ties=int((row == 0).sum()),
                losses=int((row < 0).sum()),
                num_queries=len(row),
                detectable=deviation * _detectable_effect(len(row), settings.alpha),
                queries_needed=_queries_for_margin(deviation, settings),
                verdict="undecided",
                note=notes[index],
            )
        )
    return evidence


def with_verdicts(
    evidence: Sequence[Difference], p_corrected: Floats, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences with corrected p-values and verdicts.

    Args:
        evidence: the differences that ``uncorrected_differences`` returns, all that are corrected
            together. [D]
        p_corrected: their corrected p-values, f8[D]. The p-values of equality are corrected here,
            by Holm.
        settings: alpha is the level of the verdicts.
    """
    p_equal = correct([difference.p_equal for difference in evidence], "holm")
    return [
        difference.model_copy(
            update={
                "p_corrected": p,
                "p_equal": equality_p,
                "verdict": verdict_of(difference.difference, p, equality_p, settings.alpha),
            }
        )
        for difference, p, equality_p in zip(
            evidence, p_corrected.tolist(), p_equal.tolist(), strict=True
        )
    ]


def _uncorrected_p(
    values: Floats, scores: Floats, pairs: Pairs, settings: ComparisonSettings
) -> tuple[Floats, Sequence[str]]:
    """Return the uncorrected p of every pair, f8[D], and the note of its test.

    Args:
        values: the differences of every pair, f8[D, Q].
        scores: the scores of every system, f8[S, Q].
        pairs: the systems to compare.
        settings: test, draws and seed.
    """
    if settings.test != "sign_flip":
        tests = [paired_test_of(row, settings) for row in values]
        return np.array([test.p for test in tests]), [test.note for test in tests]
    p = sign_flip_p(scores, pairs, draws=settings.draws, rng=settings.rng)
    return p, [""] * len(p)


def sign_flip_p(scores: Floats, pairs: Pairs, *, draws: int, rng: int) -> Floats:
    """Return the uncorrected p of the sign-flip test of every pair: f8[S, Q] -> f8[D]."""
    if pairs.are_all:
        return pairs.values_in(sign_flip_pairs(scores, draws=draws, rng=rng).p)
    return sign_flip_many(pairs.differences(scores), draws=draws, rng=rng).p


def paired_test_of(differences: Floats, settings: ComparisonSettings) -> PairedTest:
    """Return the result of the settings' test on differences, f8[Q]; p is uncorrected."""
    method = PAIRED_TESTS[settings.test]
    return method.test_differences(differences, draws=settings.draws, rng=settings.rng)


def _corrected_p(p: Floats, scores: Floats, pairs: Pairs, settings: ComparisonSettings) -> Floats:
    """Return the p-values of every pair, f8[D], corrected for all of them.

    A p-value of max-t or Tukey's test is never below the uncorrected one.
    """
    draws, rng = settings.draws, settings.rng
    if len(p) == 1:
        return p
    if settings.correction == "tukey":
        permutation_p = pairs.values_in(randomised_tukey_hsd(scores, draws=TUKEY_DRAWS, rng=rng).p)
    elif settings.correction != "max-t":
        return correct(p, settings.correction)
    elif pairs.are_all:
        permutation_p = pairs.values_in(max_t_pairs(scores, draws=draws, rng=rng).p)
    else:
        permutation_p = max_t(pairs.differences(scores), draws=draws, rng=rng).p
    return np.maximum(p, permutation_p)


@lru_cache
def _detectable_effect(num_queries: int, alpha: float) -> float:
    """Return the minimum detectable difference, in standard deviations of the differences."""
    return minimum_detectable_difference(1.0, num_queries, alpha=alpha)


def _queries_for_margin(deviation: float, settings: ComparisonSettings) -> int | None:
    """Return how many queries detect a difference of the margin; None for more than 10^15."""
    if not deviation:
        return 2
    try:
        return queries_needed(settings.margin, deviation, alpha=settings.alpha)
    except SettingError:  # more queries than ``queries_needed`` searches
        return None


def verdict_of(difference: float, p_corrected: float, p_equal: float, alpha: float) -> Verdict:
    """Return the verdict.

    Args:
        difference: the mean difference.
        p_corrected: the corrected p of the difference.
        p_equal: the corrected p of equality within the margin.
        alpha: the level of the verdict.
    """
    direction = direction_of(difference, p_corrected, alpha)
    return "equal" if direction == "undecided" and p_equal <= alpha else direction


def direction_of(difference: float, p_corrected: float, alpha: float) -> Direction:
    """Return "better" or "worse" if the difference is significant, otherwise "undecided"."""
    if p_corrected <= alpha and difference:
        return "better" if difference > 0 else "worse"
    return "undecided"


def means_of(scores: MeasureScores, settings: ComparisonSettings) -> list[SystemMean]:
    """Return mean, interval and spread of every system.

    Args:
        scores: the scores of all systems, without NaN.
        settings: the intervals have confidence 1 − alpha; ``rng`` is the seed of their bootstrap.
    """
    query_means = np.stack([repeats.mean(axis=0) for repeats in scores.repeats])
    intervals = bootstrap_intervals(query_means, confidence=1 - settings.alpha, rng=settings.rng)
    system_means = []
    for index, (system, repeats) in enumerate(zip(scores.systems, scores.repeats, strict=True)):
        repeat_means = repeats.mean(axis=1)
        is_single = len(repeat_means) == 1
        mean = float(intervals.differences[index])
        system_means.append(
            SystemMean(
                measure=scores.measure,
                system=system,
                mean=mean,
                low=float(intervals.low[index]),
                high=float(intervals.high[index]),
                repeats=len(repeat_means),
                spread=None if is_single else float(repeat_means.std(ddof=1)),
                lowest=mean if is_single else float(repeat_means.min()),
                highest=mean if is_single else float(repeat_means.max()),
            )
        )
    return system_means
