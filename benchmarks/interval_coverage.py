"""Simulate how often intervals contain the true value: of one difference, and of its effect sizes.

    BEIR_EVAL_REALDATA=folder python benchmarks/interval_coverage.py [table …] [simulations]

The queries of a simulation are drawn with replacement from the differences of real runs, so the
mean of these differences is the true difference. "symmetric": the differences from their mean with
random signs. "skewed": the differences of the pairs whose skewness is largest in size but 10%;
"most skewed": those of the pairs with the largest skewness; "the single most skewed": those of one
pair. "ties": those of pairs whose scores are equal on such a share of the queries. "90% zeros":
skewed differences on 10% of the queries, minus their mean, and 0 on the rest; for "another mean"
without subtracting it.
"small losses, few gains": 4% of the queries gain .48, the others lose .01 to .03. Each row pools
several pairs of runs. Numbers after ± are Monte Carlo standard errors. The tables:

- ``differences``: coverage of the mean difference; "hull" is from the lower of both low ends to the
  higher of both high ends, which the package does not offer. The width is the median over the
  simulations, relative to the t interval.
- ``effects``: coverage of the effect size, mean difference / standard deviation of the differences,
  by ``effect_of``. Symmetric differences are shifted to the true effect sizes 0, .5 and 1.
- ``residuals``: coverage of the effect size with the standard deviation of the residuals of the
  two-way ANOVA, for all pairs of eight systems on DL 2019; "symmetric": each query's residuals have
  a random sign.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from real_differences import distinct_scores, real_differences, share_text, skewness
from scipy import stats

from beir_eval.significance.effect_sizes import Spread, effect_of
from beir_eval.significance.sign_flip import sign_flip_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats

SIMULATIONS, DRAWS, BATCH = 10_000, 10_000, 500
QUERIES = (10, 25, 50, 300)
CONFIDENCE = 0.95
#: How many pairs of runs a row pools.
PAIRS = 5
#: The shares of queries with equal scores, of the rows by ties.
TIES = ((0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.95))
MEASURES = ("nDCG@10", "MAP@1000")
TRUE_EFFECTS = (0.0, 0.5, 1.0)


def populations() -> dict[str, list[Floats]]:
    """Return {name: the differences from which queries are drawn, for several pairs of runs}."""
    varied = {
        label: values
        for label, values in real_differences().items()
        if "repeat" not in label and (values != 0).mean() > 0.5
    }
    by_skewness = {
        measure: sorted(
            (values for label, values in varied.items() if f" {measure} " in label),
            key=lambda values: abs(skewness(values)),
        )
        for measure in MEASURES
    }
    result: dict[str, list[Floats]] = {}
    for measure, ordered in by_skewness.items():
        centred = [values - values.mean() for values in ordered[:PAIRS]]
        result[f"symmetric {measure}"] = [np.concatenate([part, -part]) for part in centred]
    for measure, ordered in by_skewness.items():
        end = round(0.9 * len(ordered))
        result[f"skewed {measure}"] = ordered[end - PAIRS : end]
    for measure, ordered in by_skewness.items():
        result[f"most skewed {measure}"] = ordered[-PAIRS:]
    for measure, ordered in by_skewness.items():
        result[f"the single most skewed {measure}"] = ordered[-1:]
    # Of any measure: nDCG and MAP hardly tie.
    shares = {
        label: (values == 0).mean()
        for label, values in real_differences().items()
        if "repeat" not in label
    }
    for low, high in TIES:
        of_range = [label for label, share in shares.items() if low <= share < high]
        spread = np.linspace(0, len(of_range) - 1, PAIRS).round().astype(int)
        parts = [real_differences()[of_range[index]] for index in spread]
        result[f"{low:.0%} to {high:.0%} ties"] = parts
    skewed = result["skewed MAP@1000"]
    result["90% zeros, mean 0"] = [_with_zeros(part - part.mean()) for part in skewed]
    result["90% zeros, another mean"] = [_with_zeros(part) for part in skewed]
    result["small losses, few gains"] = [np.append(np.linspace(-0.03, -0.01, 96), [0.48] * 4)]
    return result


def _with_zeros(values: Floats) -> Floats:
    """Return values with nine zeros for each."""
    return np.concatenate([values, np.zeros(9 * len(values))])


def intervals(values: Floats, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Return {method: low and high ends} of samples f8[simulations, queries]."""
    num_queries = values.shape[1]
    flip = sign_flip_intervals(values, confidence=CONFIDENCE, draws=DRAWS, rng=seed)
    half = values.std(axis=1, ddof=1) / math.sqrt(num_queries)
    half *= stats.t.isf((1 - CONFIDENCE) / 2, num_queries - 1)
    means = values.mean(axis=1)
    return {
        "sign flip": (flip.low, flip.high),
        "t": (means - half, means + half),
        "hull": (np.minimum(flip.low, means - half), np.maximum(flip.high, means + half)),
    }


def print_differences(simulations: int) -> None:
    """Print coverage and width of the intervals of the mean difference."""
    print("| differences | queries | sign flip | t | hull | width / t |\n|---|---|---|---|---|---|")
    for name, parts in populations().items():
        for num_queries in QUERIES:
            covered = dict.fromkeys(("sign flip", "t", "hull"), 0)
            widths: dict[str, list[Floats]] = {method: [] for method in covered}
            for batch in range(simulations // BATCH):
                part = parts[batch % len(parts)]
                sample = np.random.default_rng((batch, num_queries)).choice(
                    part, size=(BATCH, num_queries)
                )
                truth = float(part.mean())
                for method, (low, high) in intervals(sample, batch).items():
                    covered[method] += int(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).sum())
                    widths[method].append(high - low)
            total = simulations // BATCH * BATCH
            width = {method: np.median(np.concatenate(parts)) for method, parts in widths.items()}
            shares = " | ".join(share_text(count, total) for count in covered.values())
            ratio = width["sign flip"] / width["t"] if width["t"] else math.nan
            print(f"| {name} | {num_queries} | {shares} | {ratio:.2f} |", flush=True)


def effect_populations() -> dict[str, list[Floats]]:
    """Return {name: the differences from which queries are drawn} for the effect sizes."""
    result: dict[str, list[Floats]] = {}
    for name, parts in populations().items():
        if name.startswith("symmetric"):
            for effect in TRUE_EFFECTS:
                label = f"{name}, effect {effect}"
                result[label] = [part + effect * part.std() for part in parts]
        elif "skewed" in name:
            result[name] = parts
    return result


def print_effects(simulations: int) -> None:
    """Print the coverage of the effect sizes of the differences."""
    level = 1 - CONFIDENCE
    print("| differences | queries | effect size | mean difference |\n|---|---|---|---|")
    for name, parts in effect_populations().items():
        for num_queries in QUERIES:
            covered = covered_means = 0
            for batch in range(simulations // BATCH):
                part = parts[batch % len(parts)]
                mean, truth = float(part.mean()), float(part.mean() / part.std())
                sample = np.random.default_rng((batch, num_queries)).choice(
                    part, size=(BATCH, num_queries)
                )
                flip = sign_flip_intervals(
                    sample, confidence=CONFIDENCE, draws=DRAWS // 5, rng=batch
                )
                is_covered = (flip.low <= mean + 1e-12) & (mean - 1e-12 <= flip.high)
                covered_means += int(is_covered.sum())
                ends = np.stack([flip.differences, flip.low, flip.high], axis=1).tolist()
                for row, (difference, low, high) in zip(sample, ends, strict=True):
                    spread = Spread.from_differences(row)
                    effect = effect_of(difference, low, high, spread, level)
                    covered += effect.low <= truth + 1e-12 and truth - 1e-12 <= effect.high
            total = simulations // BATCH * BATCH
            shares = f"{share_text(covered, total)} | {share_text(covered_means, total)}"
            print(f"| {name} | {num_queries} | {shares} |", flush=True)


def residuals_of(scores: Floats) -> Floats:
    """Return the residuals of the two-way ANOVA of scores f8[S, Q], f8[S, Q]."""
    residuals: Floats = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True)
    residuals += scores.mean()
    return residuals


def print_residuals(simulations: int) -> None:
    """Print the coverage of the effect sizes by residuals, for all pairs of systems."""
    level = 1 - CONFIDENCE
    print("| scores | queries | effect size | mean difference |\n|---|---|---|---|")
    for measure in MEASURES:
        scores = distinct_scores("dl19", measure)
        first, second = np.triu_indices(len(scores), 1)
        residuals, means = residuals_of(scores), scores.mean(axis=1, keepdims=True)
        symmetric = np.concatenate([means + residuals, means - residuals], axis=1)
        for name, drawn_from in (("symmetric", symmetric), ("as they are", scores)):
            differences = drawn_from[first].mean(axis=1) - drawn_from[second].mean(axis=1)
            squares = float(np.square(residuals_of(drawn_from)).sum())
            freedom = (len(scores) - 1) * drawn_from.shape[1]
            truths = differences / math.sqrt(squares / freedom)
            for num_queries in QUERIES:
                covered, covered_means = np.empty((2, simulations))
                for simulation in range(simulations):
                    rng = np.random.default_rng((simulation, num_queries))
                    sample = drawn_from[:, rng.integers(0, drawn_from.shape[1], num_queries)]
                    flip = sign_flip_intervals(
                        sample[first] - sample[second],
                        confidence=CONFIDENCE,
                        draws=DRAWS // 5,
                        rng=simulation,
                    )
                    spread = Spread.from_scores(sample)
                    ends = np.stack([flip.differences, flip.low, flip.high], axis=1).tolist()
                    effects = [
                        effect_of(difference, low_end, high_end, spread, level)
                        for difference, low_end, high_end in ends
                    ]
                    low, high = np.array([(effect.low, effect.high) for effect in effects]).T
                    is_covered = (low <= truths + 1e-12) & (truths - 1e-12 <= high)
                    covered[simulation] = is_covered.mean()
                    is_covered = (flip.low <= differences + 1e-12) & (
                        differences - 1e-12 <= flip.high
                    )
                    covered_means[simulation] = is_covered.mean()
                cells = " | ".join(map(_mean_text, (covered, covered_means)))
                print(f"| {measure}, {name} | {num_queries} | {cells} |", flush=True)


def _mean_text(shares: Floats) -> str:
    """Return the mean of the shares of simulations in percent with its standard error."""
    error = shares.std() / math.sqrt(len(shares))
    return f"{100 * shares.mean():.1f} ± {100 * error:.1f}"


#: {table: (its function, the share of the simulations that it runs)}
TABLES = {
    "differences": (print_differences, 1.0),
    "effects": (print_effects, 1.0),
    "residuals": (print_residuals, 0.2),
}


def main(names: Sequence[str], simulations: int) -> None:
    """Print the tables with these names."""
    for name in names:
        print_table, share = TABLES[name]
        count = round(simulations * share)
        print(f"\n{name}: {count:,} simulations a row; confidence .95; percent")
        print_table(count)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    main([name for name in arguments if name in TABLES] or list(TABLES), *(numbers or [10_000]))
