"""Family-wise error and power of the tests of all pairs, by simulation.

    python benchmarks/familywise.py [simulations]

Five systems on 50 topics, with many ties: scores are rounded to tenths. Full null: all five are
equal. Partial nulls: two systems, or one, stand above the rest, which are equal. An error is a
simulation in which any pair of equal systems is called different at .05; power is the share of
different pairs that are found. In the last cases the noise of one system is twice that of the
others, so that equal means are not exchangeable scores.
"""

from __future__ import annotations

import math
import sys
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.significance import correct, max_t, max_t_pairs, randomised_tukey_hsd, sign_flip_many

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

SIMULATIONS, SYSTEMS, TOPICS, DRAWS, ALPHA = 5_000, 5, 50, 999, 0.05
PAIRS = list(combinations(range(SYSTEMS), 2))


class Case(NamedTuple):
    """How good the systems are, and how much noise each has."""

    name: str
    quality: tuple[float, ...]
    noise: tuple[float, ...] = (0.1, 0.1, 0.1, 0.1, 0.1)


ONE_NOISIER = (0.1, 0.1, 0.1, 0.1, 0.2)
CASES = (
    Case("full null", (0.0, 0.0, 0.0, 0.0, 0.0)),
    Case("two above", (0.05, 0.05, 0.0, 0.0, 0.0)),
    Case("one far above", (0.3, 0.0, 0.0, 0.0, 0.0)),
    Case("full null, one noisier", (0.0, 0.0, 0.0, 0.0, 0.0), ONE_NOISIER),
    Case("two above, one noisier", (0.05, 0.05, 0.0, 0.0, 0.0), ONE_NOISIER),
)


def simulated(case: Case, rng: np.random.Generator) -> Floats:
    """Return scores f8[S, Q]."""
    topics = rng.normal(0.5, 0.15, TOPICS)
    noise = rng.normal(0, 1, (SYSTEMS, TOPICS)) * np.array(case.noise)[:, None]
    return np.asarray(np.round(topics + np.array(case.quality)[:, None] + noise, 1))


def p_of_pairs(scores: Floats, seed: int) -> dict[str, Floats]:
    """Return the p-values of all pairs, corrected in every way."""
    upper = np.triu_indices(SYSTEMS, 1)
    differences = np.array([scores[one] - scores[other] for one, other in PAIRS])
    raw = sign_flip_many(differences, draws=DRAWS, rng=seed).p
    return {
        "randomised Tukey HSD": randomised_tukey_hsd(scores, draws=DRAWS, rng=seed).p[upper],
        "max-T": max_t_pairs(scores, draws=DRAWS, rng=seed).p[upper],
        "max-T, step-down": max_t(differences, draws=DRAWS, rng=seed, step_down=True).p,
        "Holm": correct(raw, "holm"),
        "Bonferroni": correct(raw, "bonferroni"),
        "not corrected": raw,
    }


def simulate(case: Case, simulations: int) -> dict[str, tuple[float, float]]:
    """Return family-wise error and power by method."""
    equal = np.array([case.quality[one] == case.quality[other] for one, other in PAIRS])
    alarms: dict[str, int] = {}
    found: dict[str, int] = {}
    for seed in range(simulations):
        scores = simulated(case, np.random.default_rng(seed))
        for method, p in p_of_pairs(scores, seed).items():
            called = p <= ALPHA
            alarms[method] = alarms.get(method, 0) + bool(called[equal].any())
            found[method] = found.get(method, 0) + int(called[~equal].sum())
    possible = simulations * int((~equal).sum())
    return {
        method: (alarms[method] / simulations, found[method] / possible if possible else math.nan)
        for method in alarms
    }


def main(simulations: int = SIMULATIONS) -> None:
    """Print the table."""
    uncertain = math.sqrt(ALPHA * (1 - ALPHA) / simulations)
    print(f"{simulations:,} simulations each; standard error of a rate of .05: {uncertain:.4f}")
    print("| systems | method | family-wise error | power |\n|---|---|---|---|")
    for case in CASES:
        for method, (error, power) in simulate(case, simulations).items():
            shown = "" if math.isnan(power) else f"{power:.3f}"
            print(f"| {case.name} | {method} | {error:.4f} | {shown} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
