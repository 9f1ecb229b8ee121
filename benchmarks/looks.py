"""Simulate the looks of a ledger: how often a verdict is wrong, and how soon a gain is seen.

    BEIR_EVAL_REALDATA=folder python benchmarks/looks.py [table …] [simulations]

A training run is 50 checkpoints, each compared with the same baseline on the same queries. The
deviations of the checkpoints and of the baseline on a query are drawn with replacement from the
differences of two real runs, centred; the differences of a checkpoint and the baseline have a
standard deviation of .15. From one checkpoint to the next, a query keeps its deviation with a
probability of 0, .9 or .99 and draws a new one otherwise, so that neighbouring checkpoints have
this correlation. (Their differences from the baseline have a higher one, as they share it.) Numbers
after ± are Monte Carlo standard errors. The tables:

- ``errors``: no checkpoint differs from the baseline in truth. An error is any verdict at any of
  50 looks. "symmetric": each deviation drawn gets a random sign; "as it is": it does not. The
  column "each look by itself" spends .05 at every look.
- ``skewed``: no checkpoint differs from the baseline on average, but the differences are not
  symmetric: the baseline has no deviation of its own, and the checkpoints draw theirs from the pair
  of runs with the most skewed differences in MAP@1000, of those that differ on 40% of the queries.
  "Large gains" are few large gains and many small losses; "large losses" are the same mirrored. 20
  planned looks; correlation .9. The last columns are a test of the first look by itself.
- ``partial``: looks 11 to 20 are better by .05, the others equal; an error is a verdict at one of
  the others.
- ``power``: checkpoints gain .02 from look 20 on. "At once" is the verdict "better" at look 20, "by
  look 50" is one at look 20 to 50. "Bonferroni" tests each look at .05/50. 20,000 sign vectors.
- ``draws``: the same with 100,000 sign vectors, the number that a ledger has.
- ``reacting``: training that reacts to the printed differences, which a ledger does not allow for:
  each checkpoint is a random change (of standard deviation .075, with a true mean of 0) of the one
  that had the highest printed difference so far.
- ``chain``: the ledgers of ``NoGainStoppingCallback``. A checkpoint that is "better" becomes the
  baseline of the next ledger, which gets the looks and the level that are left. One-sided, 50
  planned looks, no stopping, so that there are as many looks as possible; symmetric deviations. An
  error is a checkpoint called "better" that is not better in truth than the baseline of its ledger.
  Checkpoints gain nothing; or .05 from look 11 on; or .05 from each of the looks 11, 21 and 31 on.
  The last columns are the share of runs with at least one right "better", and the mean number of
  ledgers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_differences, real_scores, share_text, skewness
from table_arguments import table_arguments

from beir_eval.significance.sign_vectors import SignVectors, position_keys
from beir_eval.significance.spending import Flips, Spending, flip_looks, spend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.core.arrays import Floats, Mask

ALPHA, LOOKS, SD = 0.05, 50, 0.15
#: Sign vectors of a simulation. Any number is exact, but few have less power: a ledger has 100,000.
#: A batch of simulations shares them: as many as have this number of sign vectors together.
DRAWS, DRAWS_OF_POWER, MANY_DRAWS, DRAWS_OF_BATCH = 1_999, 20_000, 100_000, 100_000
#: {name: (data set, measure, first run, second run)}
SOURCES = {
    "DL 2019 nDCG@10": ("dl19", "nDCG@10", "bm25", "splade-pp"),
    "TREC-COVID MAP@1000": ("trec-covid", "MAP@1000", "bm25", "splade-pp"),
    "SciFact nDCG@10": ("scifact", "nDCG@10", "kl_hybrid", "kirl_rerank_tabs"),
    "SciFact MRR@10": ("scifact", "MRR@10", "kl_hybrid", "kirl_rerank_tabs"),
}
CORRELATIONS = (0.0, 0.9, 0.99)
#: Whether the differences are symmetric, the source, the number of queries and the correlation.
ERROR_CASES = [
    *((True, "DL 2019 nDCG@10", 300, correlation) for correlation in CORRELATIONS),
    *((True, "SciFact MRR@10", 300, correlation) for correlation in CORRELATIONS),
    *((True, source, 50, 0.9) for source in SOURCES),
    *((False, "DL 2019 nDCG@10", queries, 0.9) for queries in (50, 300)),
    *((False, "TREC-COVID MAP@1000", queries, 0.9) for queries in (50, 300)),
]
#: The sources and correlations of the power: all correlations for the first source.
POWER_CASES = [
    *((source, 0.9) for source in SOURCES),
    *(("DL 2019 nDCG@10", correlation) for correlation in (0.0, 0.99)),
]
#: {name: how the level is spent}
PLANS = {"50 planned": Spending(ALPHA, LOOKS), "open-ended": Spending(ALPHA, None)}
ALTERNATIVES = ("two-sided", "greater")


NO_GAINS = np.zeros(LOOKS)


class Verdicts(NamedTuple):
    """The verdicts at all looks of all simulations, bool[simulations, looks] each."""

    better: Mask
    worse: Mask


def pool_of(source: str) -> Floats:
    """Return the differences of a pair of real runs, centred and scaled, f8[Q]."""
    dataset, measure, first, second = SOURCES[source]
    systems, scores = real_scores(dataset)[measure]
    differences = scores[systems.index(first)] - scores[systems.index(second)]
    centred = differences - differences.mean()
    return np.asarray(centred * (SD / centred.std()))


class TrainingRuns(NamedTuple):
    """Training runs whose checkpoints are compared with one baseline.

    Attributes:
        pool: the deviations that are drawn from, f8[Q].
        num_queries: n, the number of queries.
        correlation: that of neighbouring checkpoints.
        is_symmetric: whether each deviation gets a random sign.
        gains: the true differences of the checkpoints from the baseline, f8[LOOKS].
    """

    pool: Floats
    num_queries: int
    correlation: float
    is_symmetric: bool
    gains: Floats

    def draw(self, rng: np.random.Generator, *, has_baseline: bool = True) -> Floats:
        """Return the differences of the checkpoints of a run from the baseline, f8[LOOKS, n].

        Args:
            rng: the source of randomness.
            has_baseline: whether the baseline has deviations of its own.
        """
        shape = (LOOKS + 1, self.num_queries)
        drawn = self.pool[rng.integers(0, len(self.pool), shape)] / np.sqrt(2)
        if self.is_symmetric:
            drawn *= rng.choice([-1.0, 1.0], shape)
        checkpoints, baseline = drawn[1:], drawn[0]
        is_new = rng.random(checkpoints.shape) >= self.correlation
        is_new[0] = True
        last_new = np.maximum.accumulate(np.where(is_new, np.arange(LOOKS)[:, None], 0), axis=0)
        noise = np.take_along_axis(checkpoints, last_new, axis=0) - baseline * has_baseline
        return np.asarray(noise + self.gains[:, None])


def climb(runs: TrainingRuns, rng: np.random.Generator) -> Floats:
    """Return a run that goes on from the checkpoint with the highest printed difference.

    Each checkpoint is the one kept so far plus a random change, whose true mean is 0.
    """
    run = runs.draw(rng)
    changes = 0.5 * runs.pool[rng.integers(0, len(runs.pool), run.shape)]
    changes *= rng.choice([-1.0, 1.0], run.shape)
    kept = run[0]
    for look in range(1, LOOKS):
        run[look] = kept + changes[look]
        if run[look].mean() > kept.mean():
            kept = run[look]
    return run


def flips_of(runs: Floats, seed: int, draws: int) -> dict[str, list[Flips]]:
    """Return {alternative: the flips of each run}, f8[runs, LOOKS, n] -> [runs]."""
    count, _, num_queries = runs.shape
    signs = SignVectors.choose(num_queries, draws, seed)
    flat = runs.reshape(-1, num_queries)
    flips = flip_looks(flat, position_keys(num_queries), signs, "greater")
    both = {
        "greater": flips,
        "two-sided": Flips(np.abs(flips.observed), np.abs(flips.drawn[:, :draws]), flips.largest),
    }
    return {
        name: [
            Flips(*(values[run * LOOKS : (run + 1) * LOOKS] for values in vars(whole).values()))
            for run in range(count)
        ]
        for name, whole in both.items()
    }


def verdicts_of(flips: Flips, levels: Sequence[float]) -> Mask:
    """Return at which looks the bound is crossed, bool[looks], with these levels up to each."""
    is_alive = np.ones(flips.drawn.shape[1], dtype=bool)
    count, crossed = 0, np.zeros(len(levels), dtype=bool)
    for look, level in enumerate(levels):
        crossing = spend(
            float(flips.observed[look]),
            flips.drawn[look],
            float(flips.largest[look]),
            np.flatnonzero(is_alive),
            count=count,
            level=level,
            has_crossed=bool(crossed.any()),
        )
        is_alive[crossing.spent] = False
        count, crossed[look] = crossing.count, crossing.crosses
    return crossed


def separately(flips: Flips, level: float) -> Mask:
    """Return at which looks a test at this level is significant, each by itself, bool[LOOKS]."""
    tolerance = 1e-9
    as_high = (flips.drawn >= flips.observed[:, None] - tolerance).sum(axis=1)
    return np.asarray(1 + as_high <= level * (flips.drawn.shape[1] + 1))


def simulate(
    draw: Callable[[np.random.Generator], Floats], simulations: int, draws: int
) -> dict[tuple[str, str], Verdicts]:
    """Return {(plan, alternative): verdicts}; the plans include two that test looks separately.

    Args:
        draw: draws the differences of a training run, f8[LOOKS, n].
        simulations: the number of training runs.
        draws: the number of sign vectors.
    """
    crossed: dict[tuple[str, str], list[Mask]] = {}
    is_positive = []
    batch = DRAWS_OF_BATCH // draws
    for begin in range(0, simulations, batch):
        rngs = [
            np.random.default_rng(simulation)
            for simulation in range(begin, min(begin + batch, simulations))
        ]
        runs = np.stack([draw(rng) for rng in rngs])
        is_positive.append(runs.mean(axis=2) > 0)
        for alternative, flips in flips_of(runs, begin, draws).items():
            for name, plan in PLANS.items():
                levels = [plan.up_to(look) for look in range(1, LOOKS + 1)]
                crossed.setdefault((name, alternative), []).extend(
                    verdicts_of(run_flips, levels) for run_flips in flips
                )
            for name, level in (("each look by itself", ALPHA), ("Bonferroni", ALPHA / LOOKS)):
                crossed.setdefault((name, alternative), []).extend(
                    separately(run_flips, level) for run_flips in flips
                )
    positive = np.concatenate(is_positive)
    return {
        key: Verdicts(np.array(masks) & positive, np.array(masks) & ~positive)
        for key, masks in crossed.items()
    }


def print_errors(simulations: int) -> None:
    """Print how often any look of 50 has a verdict where nothing differs."""
    columns = [(plan, side) for plan in PLANS for side in ALTERNATIVES]
    columns.append(("each look by itself", "two-sided"))
    print("| differences | queries | correlation |", " | ".join(map(", ".join, columns)), "|")
    print("|---|--:|--:|" + "--:|" * len(columns))
    for is_symmetric, source, num_queries, correlation in ERROR_CASES:
        runs = TrainingRuns(pool_of(source), num_queries, correlation, is_symmetric, NO_GAINS)
        outcomes = simulate(runs.draw, simulations, DRAWS)
        cells = [
            share_text(
                int((outcomes[key].better | outcomes[key].worse).any(axis=1).sum()), simulations
            )
            for key in columns
        ]
        kind = "symmetric" if is_symmetric else "as it is"
        row = (f"{source}, {kind}", str(num_queries), f"{correlation:g}", *cells)
        print(f"| {' | '.join(row)} |", flush=True)


def print_skewed(simulations: int) -> None:
    """Print how often a look has a verdict where differences are very skewed and 0 on average."""
    looks, fewest = 20, 0.4
    pairs = {
        label: differences
        for label, differences in real_differences().items()
        if "MAP@1000" in label and np.mean(differences != 0) > fewest
    }
    label = max(pairs, key=lambda name: abs(skewness(pairs[name])))
    centred = pairs[label] - pairs[label].mean()
    centred *= np.sign(skewness(centred)) * SD / centred.std()
    plan = Spending(ALPHA, looks)
    levels = [plan.up_to(look) for look in range(1, looks + 1)]
    print(
        f"differences of {label}, skewness {skewness(centred):.1f}\n| tail | queries | two-sided | "
        "greater | one look, two-sided | one look, greater |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for tail, pool in (("large gains", centred), ("large losses", -centred)):
        for num_queries in (50, 300):
            runs = TrainingRuns(pool * np.sqrt(2), num_queries, 0.9, False, NO_GAINS)  # noqa: FBT003 - a record
            counts = {(side, alone): 0 for alone in (False, True) for side in ALTERNATIVES}
            batch = DRAWS_OF_BATCH // DRAWS
            for begin in range(0, simulations, batch):
                drawn = np.stack(
                    [
                        runs.draw(np.random.default_rng(simulation), has_baseline=False)
                        for simulation in range(begin, min(begin + batch, simulations))
                    ]
                )
                for side, flips in flips_of(drawn, begin, DRAWS).items():
                    for flip in flips:
                        counts[side, False] += bool(verdicts_of(flip, levels).any())
                        counts[side, True] += bool(separately(flip, ALPHA)[0])
            cells = " | ".join(share_text(count, simulations) for count in counts.values())
            print(f"| {tail} | {num_queries} | {cells} |", flush=True)


def print_partial(simulations: int) -> None:
    """Print how often an equal checkpoint has a verdict where others are better."""
    columns = [(plan, side) for plan in PLANS for side in ALTERNATIVES]
    print("| differences | queries | correlation |", " | ".join(map(", ".join, columns)), "|")
    print("|---|--:|--:|" + "--:|" * len(columns))
    is_better = (np.arange(LOOKS) >= 10) & (np.arange(LOOKS) < 20)
    gains = np.where(is_better, 0.05, 0.0)
    for source, correlation in POWER_CASES:
        runs = TrainingRuns(pool_of(source), 300, correlation, True, gains)  # noqa: FBT003 - a record
        outcomes = simulate(runs.draw, simulations, DRAWS)
        cells = [
            share_text(
                int((outcomes[key].better | outcomes[key].worse)[:, ~is_better].any(1).sum()),
                simulations,
            )
            for key in columns
        ]
        print(f"| {source} | 300 | {correlation:g} | {' | '.join(cells)} |", flush=True)


def print_power(
    simulations: int,
    *,
    draws: int = DRAWS_OF_POWER,
    cases: Sequence[tuple[str, float]] = POWER_CASES,
) -> None:
    """Print how often a gain of .02 from look 20 on is seen at once, and by look 50."""
    columns = [(plan, side) for plan in (*PLANS, "Bonferroni") for side in ALTERNATIVES]
    print("| differences | correlation | seen |", " | ".join(map(", ".join, columns)), "|")
    print("|---|--:|---|" + "--:|" * len(columns))
    first = 19
    gains = np.where(np.arange(LOOKS) >= first, 0.02, 0.0)
    for source, correlation in cases:
        runs = TrainingRuns(pool_of(source), 300, correlation, False, gains)  # noqa: FBT003 - a record
        outcomes = simulate(runs.draw, simulations, draws)
        for seen, end in (("at once", first + 1), ("by look 50", LOOKS)):
            cells = [
                share_text(int(outcomes[key].better[:, first:end].any(axis=1).sum()), simulations)
                for key in columns
            ]
            print(f"| {source} | {correlation:g} | {seen} | {' | '.join(cells)} |", flush=True)


def print_reacting(simulations: int) -> None:
    """Print how often training that reacts to printed signs is called better than it is."""
    print("| differences | queries | 50 planned, two-sided |\n|---|--:|--:|")
    for source in SOURCES:
        runs = TrainingRuns(pool_of(source), 300, 0.0, True, NO_GAINS)  # noqa: FBT003 - a record
        outcomes = simulate(partial(climb, runs), simulations, DRAWS)
        verdicts = outcomes["50 planned", "two-sided"]
        cell = share_text(int(verdicts.better.any(axis=1).sum()), simulations)
        print(f"| {source} | 300 | {cell} |", flush=True)


#: {name: the true differences of the checkpoints from the first baseline, f8[LOOKS]}
CHAINS: dict[str, Floats] = {
    "no gain": NO_GAINS,
    ".05 from look 11 on": np.where(np.arange(LOOKS) >= 10, 0.05, 0.0),
    ".05 from looks 11, 21, 31 on": np.array([0.05 * min(look // 10, 3) for look in range(LOOKS)]),
}


def chain(run: Floats, gains: Floats, signs: SignVectors) -> list[tuple[int, int]]:
    """Return (baseline, checkpoint called "better") of each ledger but the last; 0: the start.

    Args:
        run: the differences of the checkpoints from the start, f8[LOOKS, n].
        gains: their true differences, f8[LOOKS].
        signs: the sign vectors.
    """
    values = np.concatenate([np.zeros((1, run.shape[1])), run])
    keys = position_keys(run.shape[1])
    moves: list[tuple[int, int]] = []
    baseline, alpha = 0, ALPHA
    while baseline < len(gains):
        differences = values[baseline + 1 :] - values[baseline]
        plan = Spending(alpha, len(differences))
        levels = [plan.up_to(look) for look in range(1, len(differences) + 1)]
        flips = flip_looks(differences, keys, signs, "greater")
        is_better = verdicts_of(flips, levels) & (differences.mean(axis=1) > 0)
        if not is_better.any():
            break
        look = int(is_better.argmax())
        moves.append((baseline, baseline + 1 + look))
        baseline, alpha = baseline + 1 + look, alpha - levels[look]
        if alpha <= 0:
            break
    return moves


def print_chain(simulations: int) -> None:
    """Print how often a chain of ledgers calls a checkpoint better that is not."""
    print("| differences | correlation | gains | wrong | right | ledgers |")
    print("|---|--:|---|--:|--:|--:|")
    for source in ("DL 2019 nDCG@10", "SciFact MRR@10"):
        for correlation in CORRELATIONS:
            for name, gains in CHAINS.items():
                runs = TrainingRuns(pool_of(source), 300, correlation, True, gains)  # noqa: FBT003 - a record
                truth = np.concatenate([[0.0], gains])
                wrong = right = ledgers = 0
                for simulation in range(simulations):
                    signs = SignVectors.choose(runs.num_queries, DRAWS, simulation)
                    run = runs.draw(np.random.default_rng(simulation))
                    moves = chain(run, gains, signs)
                    is_right = [truth[step] > truth[baseline] for baseline, step in moves]
                    wrong += not all(is_right)
                    right += any(is_right)
                    ledgers += 1 + len(moves)
                cells = [share_text(count, simulations) for count in (wrong, right)]
                row = (source, f"{correlation:g}", name, *cells, f"{ledgers / simulations:.2f}")
                print(f"| {' | '.join(row)} |", flush=True)


TABLES: dict[str, tuple[Callable[[int], None], int]] = {
    "errors": (print_errors, 1_000),
    "skewed": (print_skewed, 1_000),
    "partial": (print_partial, 500),
    "power": (print_power, 400),
    "draws": (partial(print_power, draws=MANY_DRAWS, cases=POWER_CASES[:2]), 200),
    "reacting": (print_reacting, 300),
    "chain": (print_chain, 1_000),
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
