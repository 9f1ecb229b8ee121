"""From scores to verdicts: every difference of one measure, with its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.records import Difference, SystemMean, Verdict
from beir_eval.errors import InputError, SettingError
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

    from beir_eval.comparison.records import ComparisonSettings
    from beir_eval.core.arrays import Floats
    from beir_eval.significance import PairedTest

#: All pairs of more systems are too many to read, and to test.
MOST_SYSTEMS_IN_PAIRS = 100
#: Draws of randomised Tukey HSD, whose cost grows with the systems.
TUKEY_DRAWS = 10_000


@dataclass(frozen=True)
class Pair:
    """Indices of two systems: ``system`` is compared with ``against``."""

    system: int
    against: int


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[Pair]:
    """Return every system with the baseline, or every later system with every earlier one.

    Raises:
        SettingError: all pairs of too many systems.
    """
    count = len(systems)
    if baseline is not None:
        base = systems.index(baseline)
        return [Pair(one, base) for one in range(count) if one != base]
    if count > MOST_SYSTEMS_IN_PAIRS:
        msg = (
            f"{count} systems are {count * (count - 1) // 2} pairs; name a baseline to compare "
            f"with, or hand over at most {MOST_SYSTEMS_IN_PAIRS} systems"
        )
        raise SettingError(msg)
    return [Pair(one, other) for one in range(count) for other in range(one)]


def differences_of(  # noqa: PLR0913, PLR0917 - what one measure's verdicts come from
    measure: str,
    systems: Sequence[str],
    scores: Floats,
    pairs: Sequence[Pair],
    baseline: str | None,
    settings: ComparisonSettings,
) -> list[Difference]:
    """Return the differences of one measure, in the order of the pairs.

    Args:
        measure: its name.
        systems: names. [S]
        scores: f8[S, Q], without NaN.
        pairs: which systems are compared.
        baseline: the baseline, if there is one.
        settings: tests, corrections, levels.

    Raises:
        InputError: fewer than two queries.
    """
    check_enough(measure, scores.shape[1])
    values = np.stack([scores[one.system] - scores[one.against] for one in pairs])
    raw, notes = _raw(values, scores, pairs, baseline, settings)
    corrected = _corrected(values, scores, pairs, raw, settings)
    intervals = bootstrap_intervals(values, confidence=1 - settings.alpha, rng=settings.rng)
    equal = correct(
        [equivalence(row, delta=settings.margin, alpha=settings.alpha).p for row in values], "holm"
    )
    found = []
    for place, (pair, row) in enumerate(zip(pairs, values, strict=True)):
        deviation = float(row.std(ddof=1))
        effect = standardised_effect(row)
        difference = float(intervals.differences[place])
        found.append(
            Difference(
                measure=measure,
                system=systems[pair.system],
                against=systems[pair.against],
                difference=difference,
                low=float(intervals.low[place]),
                high=float(intervals.high[place]),
                effect=effect if math.isfinite(effect) else None,
                p=float(raw[place]),
                p_t=paired_t(row).p,
                p_corrected=float(corrected[place]),
                p_equal=float(equal[place]),
                wins=int((row > 0).sum()),
                ties=int((row == 0).sum()),
                losses=int((row < 0).sum()),
                num_queries=len(row),
                detectable=_detectable(deviation, len(row), settings.alpha),
                queries_needed=_needed(deviation, settings),
                verdict=verdict_of(difference, corrected[place], equal[place], settings.alpha),
                note=notes[place],
            )
        )
    return found


def check_enough(measure: str, num_queries: int) -> None:
    """Raise InputError where there are too few queries to compare anything."""
    if num_queries < 2:  # noqa: PLR2004 - a variance
        msg = (
            f"{measure}: {num_queries} query on which all systems have a score; a comparison needs "
            "two or more"
        )
        raise InputError(msg)


def _raw(
    values: Floats,
    scores: Floats,
    pairs: Sequence[Pair],
    baseline: str | None,
    settings: ComparisonSettings,
) -> tuple[Floats, list[str]]:
    if settings.test != "sign_flip":
        tests = [_test_of(row, settings) for row in values]
        return np.array([test.p for test in tests]), [test.note for test in tests]
    if baseline is None:
        every = sign_flip_pairs(scores, draws=settings.draws, rng=settings.rng).p
        return _of_pairs(every, pairs), [""] * len(pairs)
    return sign_flip_many(values, draws=settings.draws, rng=settings.rng).p, [""] * len(pairs)


def raw_p(differences: Floats, settings: ComparisonSettings) -> float:
    """Return the uncorrected p of one vector of differences, f8[Q], by the test of the settings."""
    return _test_of(differences, settings).p


def _test_of(differences: Floats, settings: ComparisonSettings) -> PairedTest:
    method = PAIRED_TESTS[settings.test]
    return method.of_differences(differences, draws=settings.draws, rng=settings.rng)


def _corrected(
    values: Floats,
    scores: Floats,
    pairs: Sequence[Pair],
    raw: Floats,
    settings: ComparisonSettings,
) -> Floats:
    if len(pairs) == 1:
        return raw
    if settings.correction == "tukey":
        drawn = randomised_tukey_hsd(scores, draws=TUKEY_DRAWS, rng=settings.rng).p
        return np.maximum(raw, _of_pairs(drawn, pairs))
    if settings.correction != "max-t":
        return correct(raw, settings.correction)
    if len(pairs) == len(scores) * (len(scores) - 1) // 2:
        drawn = _of_pairs(max_t_pairs(scores, draws=settings.draws, rng=settings.rng).p, pairs)
    else:
        drawn = max_t(values, draws=settings.draws, rng=settings.rng).p
    return np.maximum(raw, drawn)


def _of_pairs(matrix: Floats, pairs: Sequence[Pair]) -> Floats:
    return np.array([matrix[one.system, one.against] for one in pairs])


def _detectable(deviation: float, num_queries: int, alpha: float) -> float:
    return deviation * _detectable_in_deviations(num_queries, alpha)


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
    if p_corrected <= alpha and difference:
        return "better" if difference > 0 else "worse"
    return "equal" if p_equal <= alpha else "undecided"


def means_of(
    measure: str, systems: Sequence[str], repeats: Sequence[Floats], settings: ComparisonSettings
) -> list[SystemMean]:
    """Return mean, interval and spread of every system.

    Args:
        measure: its name.
        systems: names. [S]
        repeats: by system, f8[R, Q] without NaN.
        settings: the confidence is 1 − alpha.
    """
    scores = np.stack([of_system.mean(axis=0) for of_system in repeats])
    intervals = bootstrap_intervals(scores, confidence=1 - settings.alpha, rng=settings.rng)
    found = []
    for place, (system, of_system) in enumerate(zip(systems, repeats, strict=True)):
        each = of_system.mean(axis=1)
        single = len(each) == 1
        mean = float(intervals.differences[place])
        found.append(
            SystemMean(
                measure=measure,
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
