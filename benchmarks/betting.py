"""Simulate ``judge_until``: how often its verdict is wrong, and how many queries it takes.

    BEIR_EVAL_REALDATA=folder python benchmarks/betting.py [table …] [simulations]

Differences are drawn with replacement from those of two real runs, centred, scaled to a standard
deviation, shifted to a true mean, and cut off at −1 and 1; the shift makes up for the cut. Numbers
after ± are Monte Carlo standard errors. The tables:

- ``errors``: how often the verdict is wrong: "better" or "worse" where the true difference is 0, or
  "equal" where it is the margin, with up to 2,000 queries.
- ``queries``: how many queries a verdict takes.
- ``pool``: the same errors where the queries are a shuffled pool of 300 whose mean is exactly 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from looks import SOURCES, pool_of
from real_differences import share_text
from table_arguments import table_arguments

from beir_eval.significance.bounded_mean import log_wealth

if TYPE_CHECKING:
    from beir_eval.core.arrays import Floats, Ints

ALPHA, QUERIES, BATCH, NEVER = 0.05, 2_000, 100, 10**9


def population(source: str, mean: float, sd: float) -> Floats:
    """Return differences with this mean, about this standard deviation, from −1 to 1, f8[Q]."""
    pool = pool_of(source)
    shift, scaled = mean, pool * (sd / pool.std())
    for _ in range(100):
        values = np.clip(scaled + shift, -1, 1)
        shift += mean - float(values.mean())
    return np.asarray(np.clip(scaled + shift, -1, 1))


def first_crossing(values: Floats, mean: float) -> Ints:
    """Return after how many values the bets against ``mean`` decide, i8[S]; NEVER if they do not.

    Args:
        values: by simulation, f8[S, T].
        mean: bets are against "the true mean is at most this".
    """
    crosses = log_wealth(values, mean, lowest=-1.0) >= np.log(2 / ALPHA)
    return np.where(crosses.any(axis=1), crosses.argmax(axis=1) + 1, NEVER)


def decided(values: Floats, margin: float) -> dict[str, Ints]:
    """Return {verdict: after how many queries it is reached}, i8[S] each; the first is the verdict.

    Args:
        values: by simulation, f8[S, T].
        margin: that of "equal".
    """
    equal = np.maximum(first_crossing(values, -margin), first_crossing(-values, -margin))
    return {
        "better": first_crossing(values, 0.0),
        "worse": first_crossing(-values, 0.0),
        "equal": equal,
    }


def simulate(
    differences: Floats, margin: float, simulations: int, *, with_replacement: bool = True
) -> tuple[list[str], Ints]:
    """Return the verdict of each simulation and the number of queries that it took, i8[S]."""
    verdicts: list[str] = []
    counts = []
    for begin in range(0, simulations, BATCH):
        rng = np.random.default_rng((begin, 1))
        size = min(BATCH, simulations - begin)
        if with_replacement:
            values = differences[rng.integers(0, len(differences), (size, QUERIES))]
        else:
            values = rng.permuted(np.tile(differences, (size, 1)), axis=1)
        stops = decided(values, margin)
        table = np.array(list(stops.values()))
        names = [*stops, "undecided"]
        first = np.where(table.min(axis=0) < NEVER, table.argmin(axis=0), len(stops))
        verdicts += [names[index] for index in first]
        counts.append(np.minimum(table.min(axis=0), values.shape[1]))
    return verdicts, np.concatenate(counts)


def print_errors(simulations: int) -> None:
    """Print how often the verdict is wrong."""
    print("| differences | sd | truth | margin | better or worse | equal | wrong |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for source in SOURCES:
        for sd, mean, margin in (
            (0.2, 0.0, 0.01),
            (0.05, 0.0, 0.01),
            (0.05, 0.01, 0.01),
            (0.2, 0.05, 0.05),
        ):
            verdicts, _ = simulate(population(source, mean, sd), margin, simulations)
            directed = verdicts.count("better") + verdicts.count("worse")
            equal = verdicts.count("equal")
            wrong = directed if mean == 0 else equal + verdicts.count("worse")
            cells = [share_text(count, simulations) for count in (directed, equal, wrong)]
            print(f"| {source} | {sd} | {mean} | {margin} | {' | '.join(cells)} |", flush=True)


def print_queries(simulations: int) -> None:
    """Print how many queries a verdict takes."""
    print("| differences | sd | truth | margin | right verdict | median | 90% of cases |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for source in SOURCES:
        for sd, mean, margin, right in (
            (0.2, 0.1, 0.01, "better"),
            (0.2, 0.05, 0.01, "better"),
            (0.2, 0.02, 0.01, "better"),
            (0.2, 0.0, 0.05, "equal"),
            (0.05, 0.0, 0.01, "equal"),
        ):
            verdicts, counts = simulate(population(source, mean, sd), margin, simulations)
            is_right = np.array(verdicts) == right
            reached = np.where(is_right, counts, NEVER)
            cells = [
                f"{value:,.0f}" if value < NEVER else f"more than {QUERIES:,}"
                for value in np.quantile(reached, [0.5, 0.9], method="higher")
            ]
            share = share_text(int(is_right.sum()), simulations)
            print(
                f"| {source} | {sd} | {mean} | {margin} | {right}: {share} | {' | '.join(cells)} |",
                flush=True,
            )


def print_pool(simulations: int) -> None:
    """Print how often a shuffled pool whose mean is 0 has a direction."""
    print("| differences | queries | sd | better or worse |\n|---|--:|--:|--:|")
    for source in SOURCES:
        whole = population(source, 0.0, 0.2)
        pool = whole[np.random.default_rng(0).integers(0, len(whole), 300)]
        pool = np.clip(pool - pool.mean(), -1, 1)
        pool -= pool.mean()
        verdicts, _ = simulate(pool, 0.01, simulations, with_replacement=False)
        directed = verdicts.count("better") + verdicts.count("worse")
        print(f"| {source} | 300 | 0.2 | {share_text(directed, simulations)} |", flush=True)


TABLES = {
    "errors": (print_errors, 1_000),
    "queries": (print_queries, 300),
    "pool": (print_pool, 1_000),
}


def main() -> None:
    """Print the tables named on the command line, or all."""
    names, number = table_arguments(TABLES)
    for name in names:
        function, simulations = TABLES[name]
        count = number or simulations
        print(f"\n{name}: {count:,} simulations each\n")
        function(count)


if __name__ == "__main__":
    main()
