"""Simulate how often the intervals of one comparison contain the true difference.

    python benchmarks/coverage.py [simulations]

The queries of a simulation are drawn with replacement from the differences of real runs, so the
mean of these differences is the true difference. "symmetric": the differences from their mean with
random signs. "skewed": the differences of the pairs whose skewness is largest in size but 10%.
"90% zeros": such skewed differences on 10% of the queries, minus their mean, and 0 on the rest; for
"another mean" without subtracting it. Each row pools several pairs of runs. The width is the median
over the simulations, relative to the t interval.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from real_differences import real_differences, skewness
from scipy import stats

from beir_eval.significance import bootstrap_intervals
from beir_eval.significance.sign_flip import sign_flip_intervals

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats

SIMULATIONS, DRAWS, BATCH = 10_000, 10_000, 500
QUERIES = (10, 25, 50, 300)
CONFIDENCE = 0.95
#: How many pairs of runs a row pools.
PAIRS = 5


def populations() -> dict[str, list[Floats]]:
    """Return {name: the differences from which queries are drawn, for several pairs of runs}."""
    varied = {
        label: values
        for label, values in real_differences().items()
        if "repeat" not in label and (values != 0).mean() > 0.5
    }

    def by_skewness(measure: str) -> list[Floats]:
        chosen = [values for label, values in varied.items() if f" {measure} " in label]
        return sorted(chosen, key=lambda values: abs(skewness(values)))

    result: dict[str, list[Floats]] = {}
    for measure in ("nDCG@10", "MAP@1000"):
        flat = by_skewness(measure)[:PAIRS]
        centred = [values - values.mean() for values in flat]
        result[f"symmetric {measure}"] = [np.concatenate([part, -part]) for part in centred]
    for measure in ("nDCG@10", "MAP@1000"):
        ordered = by_skewness(measure)
        end = round(0.9 * len(ordered))
        result[f"skewed {measure}"] = ordered[end - PAIRS : end]
    skewed = result["skewed MAP@1000"]
    result["90% zeros, mean 0"] = [_with_zeros(part - part.mean()) for part in skewed]
    result["90% zeros, another mean"] = [_with_zeros(part) for part in skewed]
    return result


def _with_zeros(values: Floats) -> Floats:
    """Return values with nine zeros for each."""
    return np.concatenate([values, np.zeros(9 * len(values))])


def intervals(values: Floats, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Return {method: low and high ends} of samples f8[simulations, queries]."""
    num_queries = values.shape[1]
    flip = sign_flip_intervals(values, confidence=CONFIDENCE, draws=DRAWS, rng=seed)
    bca = bootstrap_intervals(values, confidence=CONFIDENCE, draws=2000, rng=seed)
    half = values.std(axis=1, ddof=1) / math.sqrt(num_queries)
    half *= stats.t.isf((1 - CONFIDENCE) / 2, num_queries - 1)
    means = values.mean(axis=1)
    return {
        "sign flip": (flip.low, flip.high),
        "t": (means - half, means + half),
        "BCa": (bca.low, bca.high),
    }


def main(simulations: int = SIMULATIONS) -> None:
    """Print a table of coverage and width by population and number of queries."""
    print(f"{simulations:,} simulations for each row and number of queries; confidence .95")
    print("| differences | queries | sign flip | t | BCa | width / t |\n|---|---|---|---|---|---|")
    for name, parts in populations().items():
        for num_queries in QUERIES:
            covered = dict.fromkeys(("sign flip", "t", "BCa"), 0)
            widths: dict[str, list[Floats]] = {method: [] for method in covered}
            for batch in range(simulations // BATCH):
                rng = np.random.default_rng((batch, num_queries))
                part = parts[batch % len(parts)]
                sample = rng.choice(part, size=(BATCH, num_queries))
                truth = float(part.mean())
                for method, (low, high) in intervals(sample, batch).items():
                    covered[method] += int(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).sum())
                    widths[method].append(high - low)
            total = simulations // BATCH * BATCH
            width = {method: np.median(np.concatenate(parts)) for method, parts in widths.items()}
            shares = " | ".join(_share_text(count, total) for count in covered.values())
            ratio = width["sign flip"] / width["t"] if width["t"] else math.nan
            print(f"| {name} | {num_queries} | {shares} | {ratio:.2f} |", flush=True)


def _share_text(count: int, total: int) -> str:
    """Return a share in percent with its standard error."""
    share = count / total
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / total):.1f}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
