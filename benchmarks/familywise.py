"""Simulate errors, simultaneous coverage and power of corrections for 9 and 45 comparisons.

    BEIR_EVAL_REALDATA=folder python benchmarks/familywise.py [table …] [simulations]

9 comparisons: a baseline against nine systems. 45: all pairs of ten. A simulation draws queries
with replacement from the real runs on DL 2019. An error is a simulation in which a correction at
.05 calls one of two equal systems better, or the worse of two. Power is the share of different
pairs that are significant in the right direction. Simultaneous coverage is the share of simulations
in which all intervals of max-T contain their true differences. Numbers after ± are Monte Carlo
standard errors. The tables:

- ``errors``: all systems are equal and the differences symmetric. "exchangeable": the systems'
  scores are permuted within each query. "random signs": the residuals of the two-way ANOVA get one
  random sign per query, so that each system keeps its own spread.
- ``limits``: equal systems whose differences are not symmetric, and exchangeable systems one of
  which is shifted far from the others.
- ``power``: exchangeable systems, of which some get the best (or worst) score of the query with
  some probability, which is constant / √queries.
- ``agreement``: how often a verdict of ``compare`` and its printed interval disagree, for every
  correction, with ties, zeros and constant differences, from 3 queries on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_scores, share_text
from table_arguments import table_arguments

from beir_eval import EvaluationResult, compare
from beir_eval.significance.corrections import CorrectedTests, corrected_tests
from beir_eval.significance.multiple_comparisons import max_t_tests
from beir_eval.significance.randomisation import Family, FlippedFamily, randomise
from beir_eval.significance.sign_vectors import SignVectors, position_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask


SYSTEMS, ALPHA = 10, 0.05
QUERIES = (10, 25, 50, 300)
#: Sign vectors of a test; more for power, since Holm needs small p-values.
DRAWS, DRAWS_OF_POWER = 999, 4_999
#: The simulations that share their sign vectors, which differ from batch to batch.
BATCH = 25
#: {number of comparisons: the systems that are compared, and those they are compared with}
FAMILIES: dict[int, tuple[Ints, Ints]] = {
    9: (np.arange(1, SYSTEMS), np.zeros(SYSTEMS - 1, dtype=np.int64)),
    45: np.triu_indices(SYSTEMS, 1)[::-1],
}


class Case(NamedTuple):
    """Systems from which queries are drawn.

    Attributes:
        name: what the table calls it.
        draw: draws scores f8[S, n] on n queries, from a generator and n.
        means: the true means of the systems, up to a constant, f8[S].
    """

    name: str
    draw: Callable[[np.random.Generator, int], Floats]
    means: Floats


def pool(measure: str) -> Floats:
    """Return the scores of all runs, f8[S, Q]."""
    return real_scores("dl19")[measure][1]


def residuals(measure: str) -> Floats:
    """Return the residuals of the two-way ANOVA of ten systems and queries, f8[S, Q].

    Three repeats of one system are left out.
    """
    systems, scores = real_scores("dl19")[measure]
    chosen = scores[[not name.endswith(("repeat3", "repeat4", "repeat5")) for name in systems]]
    values: Floats = chosen - chosen.mean(axis=0) - chosen.mean(axis=1, keepdims=True)
    return np.asarray(values + chosen.mean())


def draw_exchangeable(scores: Floats, rng: np.random.Generator, num_queries: int) -> Floats:
    """Return scores f8[S, n] of ten systems, permuted within each query."""
    chosen = scores[:, rng.integers(0, scores.shape[1], num_queries)]
    return np.asarray(rng.permuted(chosen, axis=0)[:SYSTEMS])


def exchangeable(measure: str, shifts: Floats | None = None, zeros: float = 0.0) -> Case:
    """Return exchangeable systems.

    Args:
        measure: whose scores are drawn.
        shifts: what is added to the scores of each system, f8[S].
        zeros: the share of queries on which all systems have the same score.
    """
    added = np.zeros(SYSTEMS) if shifts is None else shifts

    def draw(rng: np.random.Generator, num_queries: int) -> Floats:
        scores = draw_exchangeable(pool(measure), rng, num_queries)
        scores[:, rng.random(num_queries) < zeros] = 0.0
        return scores + added[:, None]

    name = f"exchangeable {measure}"
    if zeros:
        name += f", {zeros:.0%} zeros"
    if shifts is not None:
        name += f", one shifted by {shifts.max():g}"
    return Case(name, draw, added)


def with_random_signs(measure: str, factors: Floats | None = None) -> Case:
    """Return equal systems with symmetric residuals, multiplied by factors f8[S]."""
    factor = np.ones(SYSTEMS) if factors is None else factors

    def draw(rng: np.random.Generator, num_queries: int) -> Floats:
        values = residuals(measure)
        chosen = values[:, rng.integers(0, values.shape[1], num_queries)]
        return np.asarray(factor[:, None] * chosen * rng.choice([-1.0, 1.0], num_queries))

    name = f"random signs {measure}"
    if factors is not None:
        name += f", one with {factors.max():g} times the spread"
    return Case(name, draw, np.zeros(SYSTEMS))


def as_they_are(measure: str) -> Case:
    """Return equal systems with the residuals as they are."""

    def draw(rng: np.random.Generator, num_queries: int) -> Floats:
        values = residuals(measure)
        return values[:, rng.integers(0, values.shape[1], num_queries)]

    return Case(f"residuals of {measure} as they are", draw, np.zeros(SYSTEMS))


def one_fails(measure: str, share: float) -> Case:
    """Return exchangeable systems; the first has 0 on some queries, and is better on the others."""
    mean = float(pool(measure).mean())

    def draw(rng: np.random.Generator, num_queries: int) -> Floats:
        scores = draw_exchangeable(pool(measure), rng, num_queries)
        scores[0, rng.random(num_queries) < share] = 0.0
        scores[0] += share * mean
        return scores

    return Case(f"{measure}, the first fails on {share:.0%}", draw, np.zeros(SYSTEMS))


def with_gains(name: str, measure: str, weights: Floats) -> Case:
    """Return systems that get the best score of a query with a probability of weight/√n.

    Args:
        name: of the case.
        measure: whose scores are drawn.
        weights: by system, f8[S]; below 0 for the worst score. True means have the same order.
    """

    def draw(rng: np.random.Generator, num_queries: int) -> Floats:
        scores = pool(measure)
        chosen = scores[:, rng.integers(0, scores.shape[1], num_queries)]
        is_changed = rng.random((SYSTEMS, num_queries)) < np.abs(weights)[:, None] / math.sqrt(
            num_queries
        )
        extreme = np.where(weights[:, None] > 0, chosen.max(axis=0), chosen.min(axis=0))
        return np.where(is_changed, extreme, rng.permuted(chosen, axis=0)[:SYSTEMS])

    return Case(name, draw, weights)


class Outcomes(NamedTuple):
    """What a correction says in each simulation.

    Attributes:
        errors: whether there is an error, bool[simulations].
        power: the share of different pairs that are significant, f8[simulations].
        covered: whether all intervals contain their true differences, bool[simulations].
        disagreements: how many verdicts disagree with their interval.
        comparisons: how many verdicts there are.
    """

    errors: Mask
    power: Floats
    covered: Mask
    disagreements: int
    comparisons: int


def outcomes_of(tests: Sequence[CorrectedTests], means: Floats, truth: Floats) -> Outcomes:
    """Return what a correction says.

    Args:
        tests: by simulation.
        means: the mean differences, f8[simulations, D].
        truth: the true differences, f8[D].
    """
    low, high = (np.array([getattr(test, end) for test in tests]) for end in ("low", "high"))
    directions = np.sign(means) * np.array([test.is_significant for test in tests])
    is_true = truth != 0
    wrong = (directions != 0) & (directions != np.sign(truth))
    right = (directions != 0) & (directions == np.sign(truth))
    shown = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    return Outcomes(
        wrong.any(axis=1),
        right[:, is_true].mean(axis=1) if is_true.any() else np.full(len(tests), np.nan),
        np.asarray(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).all(axis=1)),
        int((shown != directions).sum()),
        directions.size,
    )


def batches(
    case: Case, num_comparisons: int, num_queries: int, simulations: int
) -> Iterator[list[Family]]:
    """Yield the families of the simulations, batch by batch."""
    first, second = FAMILIES[num_comparisons]
    keys = position_keys(num_queries)
    for begin in range(0, simulations, BATCH):
        rngs = [
            np.random.default_rng((simulation, num_queries))
            for simulation in range(begin, min(begin + BATCH, simulations))
        ]
        yield [Family(case.draw(rng, num_queries), keys, first, second) for rng in rngs]


def simulate(
    case: Case,
    num_comparisons: int,
    num_queries: int,
    simulations: int,
    draws: int = DRAWS,
) -> dict[str, Outcomes]:
    """Return {correction: what it says}."""
    first, second = FAMILIES[num_comparisons]
    truth = case.means[first] - case.means[second]
    max_t: list[CorrectedTests] = []
    holm: list[CorrectedTests] = []
    randomised: list[FlippedFamily] = []
    for seed, families in enumerate(batches(case, num_comparisons, num_queries, simulations)):
        signs = SignVectors.choose(num_queries, draws, seed)
        flipped = randomise(families, signs, level=ALPHA, largest="family")
        randomised += flipped
        max_t += [max_t_tests(family, ALPHA) for family in flipped]
        holm += [
            corrected_tests(family.means, family.p(), family.intervals, "holm", ALPHA)
            for family in flipped
        ]
    means = np.array([family.means for family in randomised])
    return {
        "max-T": outcomes_of(max_t, means, truth),
        "Holm": outcomes_of(holm, means, truth),
    }


def print_rates(cases: Sequence[Case], simulations: int) -> None:
    """Print errors and simultaneous coverage."""
    print(
        "| systems | comparisons | queries | max-T | Holm | simultaneous coverage |\n"
        "|---|---|---|---|---|---|"
    )
    disagreements = comparisons = 0
    for case in cases:
        for num_comparisons in FAMILIES:
            for num_queries in QUERIES:
                outcomes = simulate(case, num_comparisons, num_queries, simulations)
                cells = [
                    share_text(int(outcome.errors.sum()), simulations)
                    for outcome in outcomes.values()
                ]
                cells.append(share_text(int(outcomes["max-T"].covered.sum()), simulations))
                row = f"| {case.name} | {num_comparisons} | {num_queries} | {' | '.join(cells)} |"
                print(row, flush=True)
                disagreements += sum(outcome.disagreements for outcome in outcomes.values())
                comparisons += sum(outcome.comparisons for outcome in outcomes.values())
    print(f"Verdict and interval disagree in {disagreements:,} of {comparisons:,} comparisons.")


def print_errors(simulations: int) -> None:
    """Print errors and simultaneous coverage where differences are symmetric."""
    one_noisier = np.ones(SYSTEMS)
    one_noisier[-1] = 4
    cases = [exchangeable(measure) for measure in ("nDCG@10", "MAP@1000", "Precision@10")]
    cases += [exchangeable("nDCG@10", zeros=0.9)]
    cases += [with_random_signs(measure) for measure in ("nDCG@10", "MAP@1000")]
    cases += [with_random_signs("nDCG@10", one_noisier)]
    print_rates(cases, simulations)


def print_limits(simulations: int) -> None:
    """Print errors and simultaneous coverage where systems differ or differences are skewed."""
    one_shifted = np.zeros(SYSTEMS)
    one_shifted[-1] = 0.5
    cases = [
        exchangeable("nDCG@10", one_shifted),
        exchangeable("nDCG@10", 20 * one_shifted),
        as_they_are("nDCG@10"),
        as_they_are("MAP@1000"),
        one_fails("nDCG@10", 0.1),
    ]
    print_rates(cases, simulations)


#: {number of comparisons: {what differs: weights of the best score}}
GAINS = {
    9: {
        "1 of 9": (0.0, 3.5, *[0.0] * 8),
        "3 of 9": (0.0, *[3.5] * 3, *[0.0] * 6),
        "9 of 9": (0.0, *[2.5] * 9),
        "9 of 9, by more": (0.0, *[3.5] * 9),
        "9 of 9, by most": (0.0, *[4.0] * 9),
    },
    45: {
        "9 of 45": (4.0, *[0.0] * 9),
        "16 of 45": (4.0, 4.0, *[0.0] * 8),
        "45 of 45": tuple(np.linspace(-5, 5, SYSTEMS).tolist()),
    },
}


def print_power(simulations: int) -> None:
    """Print the power of max-T beside Holm's."""
    print(
        "| systems | different | queries | max-T | Holm | max-T − Holm | errors of both |\n"
        "|---|---|---|---|---|---|---|"
    )
    for num_comparisons, gains in GAINS.items():
        for name, weights in gains.items():
            case = with_gains(name, "nDCG@10", np.array(weights))
            for num_queries in QUERIES[1:]:
                outcomes = simulate(case, num_comparisons, num_queries, simulations, DRAWS_OF_POWER)
                max_t, holm = (outcome.power for outcome in outcomes.values())
                columns = (max_t, holm, max_t - holm)
                cells = " | ".join(_mean_text(column) for column in columns)
                errors = ", ".join(
                    f"{100 * outcome.errors.mean():.1f}" for outcome in outcomes.values()
                )
                label = f"exchangeable nDCG@10 | {name} | {num_queries}"
                print(f"| {label} | {cells} | {errors} |", flush=True)


def _mean_text(values: Floats) -> str:
    """Return the mean of the simulations in percent with its standard error."""
    return f"{100 * values.mean():.1f} ± {100 * values.std() / math.sqrt(len(values)):.1f}"


def odd_scores(rng: np.random.Generator) -> Floats:
    """Return scores f8[S, n] with ties, zeros or constant differences, from 3 queries on."""
    num_systems = int(rng.integers(2, 8))
    num_queries = int(rng.choice([3, 4, 5, 6, 7, 8, 10, 12, 20, 40]))
    scores = pool("nDCG@10")[:num_systems, rng.integers(0, 43, num_queries)]
    kind = rng.integers(6)
    if kind == 0:  # ties
        scores = scores.round(1)
    elif kind == 1:  # binary scores
        scores = (scores > 0.7).astype(np.float64)
    elif kind == 2:  # most queries have no difference
        scores = np.where(rng.random(num_queries) < 0.8, 0.0, scores)
    elif kind == 3:  # constant differences
        scores = scores[:1] + rng.choice([0.0, 0.1, 0.3], num_systems)[:, None]
    elif kind == 4:  # constant differences but for one query
        scores = scores[:1] + rng.choice([0.0, 0.1, 0.3], num_systems)[:, None]
        scores[:, 0] = rng.choice([0.0, 0.3, 1.0], num_systems)
    return np.asarray(scores + rng.choice([0.0, 0.1, 0.5]) * (np.arange(num_systems) > 0)[:, None])


def print_agreement(simulations: int) -> None:
    """Print how often verdict and printed interval disagree."""
    print(
        "| correction | test | comparisons | significant | disagreements |\n|---|---|---|---|---|"
    )
    settings = [("sign_flip", correction) for correction in ("max-t", "holm", "bonferroni", "none")]
    settings += [("t", correction) for correction in ("holm", "none")]
    for test, correction in settings:
        counts = np.zeros(3, dtype=np.int64)
        for seed in range(simulations):
            scores = odd_scores(np.random.default_rng(seed))
            results = [
                EvaluationResult.from_scores(
                    f"system {number}",
                    {"quality": {f"q{query}": score for query, score in enumerate(row.tolist())}},
                    bounds=(-1, 3),
                    higher_is_better=bool(seed % 2),
                )
                for number, row in enumerate(scores)
            ]
            baseline = "system 0" if seed % 4 > 1 else None
            comparison = compare(
                results, baseline=baseline, test=test, correction=correction, draws=199, rng=seed
            )
            for difference in comparison.differences:
                is_above, is_below = difference.low > 0, difference.high < 0
                shown = {(True, False): "better", (False, True): "worse"}.get((is_above, is_below))
                if seed % 2 == 0 and shown:  # lower is better
                    shown = {"better": "worse", "worse": "better"}[shown]
                decided = difference.verdict if difference.verdict in ("better", "worse") else None
                counts += (1, decided is not None, shown != decided)
        cells = " | ".join(f"{count:,}" for count in counts.tolist())
        print(f"| {correction} | {test} | {cells} |", flush=True)


TABLES = {
    "errors": print_errors,
    "limits": print_limits,
    "power": print_power,
    "agreement": print_agreement,
}


def main(names: Sequence[str], simulations: int) -> None:
    """Print the tables with these names."""
    for name in names:
        print(f"\n{name}: {simulations:,} simulations a row; level .05; percent")
        TABLES[name](simulations)


if __name__ == "__main__":
    tables, number = table_arguments(TABLES)
    main(tables, number or 2_000)
