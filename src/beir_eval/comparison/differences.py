"""From scores to verdicts: every difference of one measure, with its evidence."""

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

#: All pairs of more systems are too many to read, and to test.
MOST_SYSTEMS_IN_PAIRS = 100
#: Draws of randomised Tukey HSD, whose cost grows with the systems.
TUKEY_DRAWS = 10_000


class Pair(NamedTuple):
    """Indices of two systems: ``system`` is compared with ``against``."""

    system: int
    against: int


@dataclass(frozen=True)
class Pairs:
    """Which systems are compared.

    Attributes:
        listed: the pairs.
        are_all: whether they are all pairs of the systems, and tested as such.
    """

    listed: Sequence[Pair]
    are_all: bool

    def differences(self, scores: Floats) -> Floats:
        """Return the differences of every pair: f8[S, Q] -> f8[pairs, Q]."""
        return np.stack([scores[pair.system] - scores[pair.against] for pair in self.listed])

    def values_in(self, matrix: Floats) -> Floats:
        """Return the value of every pair: f8[S, S] -> f8[pairs]."""
        return np.array([matrix[pair.system, pair.against] for pair in self.listed])


def pairs_of(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Return every system with the baseline, or every later system with every earlier one.

    Raises:
        SettingError: all pairs of too many systems.
    """
    count = len(systems)
    if baseline is not None:
        base = systems.index(baseline)
        return Pairs([Pair(one, base) for one in range(count) if one != base], are_all=False)
    if count > MOST_SYSTEMS_IN_PAIRS:
        msg = (
            f"{count} systems are {count * (count - 1) // 2} pairs; name a baseline to compare "
            f"with, or hand over at most {MOST_SYSTEMS_IN_PAIRS} systems"
        )
        raise SettingError(msg)
    return Pairs([Pair(one, other) for one in range(count) for other in range(one)], are_all=True)


def differences_of(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences of one measure with their verdicts, in the order of the pairs.

    Args:
        scores: without NaN.
        pairs: which systems are compared.
        settings: tests, corrections, levels.
    """
    evidence = evidence_of(scores, pairs, settings)
    p = np.array([difference.p for difference in evidence])
    return with_verdicts(evidence, _corrected(p, scores.scores, pairs, settings), settings)


def evidence_of(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences as ``differences_of``, not corrected and all of them undecided."""
    values = pairs.differences(scores.scores)
    raw, notes = _raw(values, scores.scores, pairs, settings)
    intervals = bootstrap_intervals(values, confidence=1 - settings.alpha, rng=settings.rng)
    found = []
    for index, (pair, row) in enumerate(zip(pairs.listed, values, strict=True)):
        deviation = float(row.std(ddof=1))
        effect = standardised_effect(row)
        found.append(
            Difference(
                measure=scores.measure,
                system=scores.systems[pair.system],
                against=scores.systems[pair.against],
                difference=float(intervals.differences[index]),
                low=float(intervals.low[index]),
                high=float(intervals.high[index]),
                effect=effect if math.isfinite(effect) else None,
                p=float(raw[index]),
                p_t=paired_t(row).p,
                p_corrected=float(raw[index]),
                p_equal=equivalence(row, delta=settings.margin, alpha=settings.alpha).p,
                wins=int((row > 0).sum()),
                ties=int((row == 0).sum()),
                losses=int((row < 0).sum()),
                num_queries=len(row),
                detectable=deviation * _detectable_in_deviations(len(row), settings.alpha),
                queries_needed=_needed(deviation, settings),
                verdict="undecided",
                note=notes[index],
            )
        )
    return found


def with_verdicts(
    evidence: Sequence[Difference], p_corrected: Floats, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences with their verdicts.

    Args:
        evidence: what ``evidence_of`` returns: all differences that are corrected together.
        p_corrected: their p, corrected, f8[D]; p of equality is corrected here, by Holm.
        settings: the level of the verdicts.
    """
    p_equal = correct([difference.p_equal for difference in evidence], "holm")
    return [
        difference.model_copy(
            update={
                "p_corrected": p,
                "p_equal": equal,
                "verdict": verdict_of(difference.difference, p, equal, settings.alpha),
            }
        )
        for difference, p, equal in zip(
            evidence, p_corrected.tolist(), p_equal.tolist(), strict=True
        )
    ]


def _raw(
    values: Floats, scores: Floats, pairs: Pairs, settings: ComparisonSettings
) -> tuple[Floats, Sequence[str]]:
    if settings.test != "sign_flip":
        tests = [paired_test_of(row, settings) for row in values]
        return np.array([test.p for test in tests]), [test.note for test in tests]
    p = sign_flip_p(scores, pairs, draws=settings.draws, rng=settings.rng)
    return p, [""] * len(p)


def sign_flip_p(scores: Floats, pairs: Pairs, *, draws: int, rng: int) -> Floats:
    """Return p of every pair by sign flips, uncorrected: f8[S, Q] -> f8[pairs]."""
    if pairs.are_all:
        return pairs.values_in(sign_flip_pairs(scores, draws=draws, rng=rng).p)
    return sign_flip_many(pairs.differences(scores), draws=draws, rng=rng).p


def paired_test_of(differences: Floats, settings: ComparisonSettings) -> PairedTest:
    """Return the test of the settings on one vector of differences, f8[Q]; p is uncorrected."""
    method = PAIRED_TESTS[settings.test]
    return method.of_differences(differences, draws=settings.draws, rng=settings.rng)


def _corrected(p: Floats, scores: Floats, pairs: Pairs, settings: ComparisonSettings) -> Floats:
    draws, rng = settings.draws, settings.rng
    if len(p) == 1:
        return p
    if settings.correction == "tukey":
        drawn = pairs.values_in(randomised_tukey_hsd(scores, draws=TUKEY_DRAWS, rng=rng).p)
    elif settings.correction != "max-t":
        return correct(p, settings.correction)
    elif pairs.are_all:
        drawn = pairs.values_in(max_t_pairs(scores, draws=draws, rng=rng).p)
    else:
        drawn = max_t(pairs.differences(scores), draws=draws, rng=rng).p
    return np.maximum(p, drawn)


@lru_cache
def _detectable_in_deviations(num_queries: int, alpha: float) -> float:
    return minimum_detectable_difference(1.0, num_queries, alpha=alpha)


def _needed(deviation: float, settings: ComparisonSettings) -> int | None:
    if not deviation:
        return 2
    try:
        return queries_needed(settings.margin, deviation, alpha=settings.alpha)
    except SettingError:  # more than can be counted
        return None


def verdict_of(difference: float, p_corrected: float, p_equal: float, alpha: float) -> Verdict:
    """Return what two corrected p-values say; the difference says in which direction."""
    direction = direction_of(difference, p_corrected, alpha)
    return "equal" if direction == "undecided" and p_equal <= alpha else direction


def direction_of(difference: float, p_corrected: float, alpha: float) -> Direction:
    """Return in which direction a difference was shown, if it was."""
    if p_corrected <= alpha and difference:
        return "better" if difference > 0 else "worse"
    return "undecided"


def means_of(scores: MeasureScores, settings: ComparisonSettings) -> list[SystemMean]:
    """Return mean, interval and spread of every system.

    Args:
        scores: without NaN.
        settings: the confidence is 1 − alpha.
    """
    means = np.stack([of_system.mean(axis=0) for of_system in scores.repeats])
    intervals = bootstrap_intervals(means, confidence=1 - settings.alpha, rng=settings.rng)
    found = []
    for place, (system, of_system) in enumerate(zip(scores.systems, scores.repeats, strict=True)):
        each = of_system.mean(axis=1)
        single = len(each) == 1
        mean = float(intervals.differences[place])
        found.append(
            SystemMean(
                measure=scores.measure,
                system=system,
                mean=mean,
                low=float(intervals.low[place]),
                high=float(intervals.high[place]),
                repeats=len(each),
                spread=None if single else float(each.std(ddof=1)),
                lowest=mean if single else float(each.min()),
                highest=mean if single else float(each.max()),
            )
        )
    return found
