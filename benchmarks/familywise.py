"""Simulate the family-wise error and the power of the tests of all pairs.

    python benchmarks/familywise.py [simulations]

Each simulation has five systems and 50 topics. Scores are rounded to tenths, so there are many
ties. Full null: all systems are equal. Partial nulls: one or two systems are better than the rest,
which are equal. An error is a simulation in which the test rejects at least one pair of equal
systems at .05; power is the share of different pairs that are rejected. In the last cases the noise
of one system is twice that of the others, so that scores with equal means are not exchangeable.
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
    """A case: the differences of the systems in quality, and the standard deviations of noise."""

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


def simulate_scores(case: Case, rng: np.random.Generator) -> Floats:
    """Return scores f8[S, Q] of the systems on all topics."""
    topics = rng.normal(0.5, 0.15, TOPICS)
    noise = rng.normal(0, 1, (SYSTEMS, TOPICS)) * np.array(case.noise)[:, None]
    return np.asarray(np.round(topics + np.array(case.quality)[:, None] + noise, 1))


def p_values(scores: Floats, seed: int) -> dict[str, Floats]:
    """Return {method: p-values f8[pairs]} of all pairs, for every correction."""
    upper = np.triu_indices(SYSTEMS, 1)
    differences = np.array([scores[first] - scores[second] for first, second in PAIRS])
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
    """Return {method: (family-wise error, power)}; without different pairs power is NaN."""
    equal = np.array([case.quality[first] == case.quality[second] for first, second in PAIRS])
    errors: dict[str, int] = {}
    detected: dict[str, int] = {}
    for seed in range(simulations):
        scores = simulate_scores(case, np.random.default_rng(seed))
        for method, p in p_values(scores, seed).items():
            rejected = p <= ALPHA
            errors[method] = errors.get(method, 0) + bool(rejected[equal].any())
            detected[method] = detected.get(method, 0) + int(rejected[~equal].sum())
    possible = simulations * int((~equal).sum())
    return {
        method: (
            errors[method] / simulations,
            detected[method] / possible if possible else math.nan,
        )
        for method in errors
    }


def main(simulations: int = SIMULATIONS) -> None:
    """Print the table of all cases and methods."""
    standard_error = math.sqrt(ALPHA * (1 - ALPHA) / simulations)
    print(
        f"{simulations:,} simulations each; standard error of a rate of .05: {standard_error:.4f}"
    )
    print("| systems | method | family-wise error | power |\n|---|---|---|---|")
    for case in CASES:
        for method, (error, power) in simulate(case, simulations).items():
            power_text = "" if math.isnan(power) else f"{power:.3f}"
            print(f"| {case.name} | {method} | {error:.4f} | {power_text} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
