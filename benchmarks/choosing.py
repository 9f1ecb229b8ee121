"""Simulate how often the best of several candidates is falsely called better than a baseline.

    BEIR_EVAL_REALDATA=folder python benchmarks/choosing.py [samples] [tests|intervals]

Rows are differences to a baseline by query. Each is centred, so that no candidate is better, and
queries are drawn with replacement. Of the samples, the share of "better" at 2.5% on one side: of
the best candidate tested on the same queries (t), of max-T over all (sign flips), of a
cross-validation of 100 x 5 parts with plain sign flips, of choosing on one half and testing on the
other, and of ``choose``, which chooses again in every draw. Then the same without centring: power.

Last its 95% interval, without centring: how often it holds the true gain of the candidate that has
the highest mean of the sample, on which side it misses, and the mean error of the gain on the
queries that chose and of the gain on those that did not.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from real_differences import real_data
from scipy import stats

from beir_eval import Evaluator, fusion_grid, read_qrels, read_run
from beir_eval.core.ids import hash_ids
from beir_eval.significance.chosen_again import chosen_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from beir_eval.core.arrays import Floats

    #: A function of a generator that returns rows, f8[C, n].
    Population = Callable[[np.random.Generator], Floats]

SAMPLES, DRAWS, LEVEL = 1_000, 399, 0.025
#: The share of queries that a step of an optimiser changes, and by how much.
_CHANGED, _STEP_SD = 0.5, 0.1


def scores_of(judgements: str, files: list[str], measure: str = "nDCG@10") -> Floats:
    """Return the scores of runs, f8[S, Q]."""
    evaluator = Evaluator(read_qrels(real_data() / judgements), measure, duplicates="first")
    runs = [read_run(real_data() / file) for file in files]
    return np.array([evaluator.evaluate(run).scores(measure) for run in runs])


def fused_scores(judgements: str, first: str, second: str) -> Floats:
    """Return the scores of 27 fusions of two runs, and of the second run, f8[28, Q]."""
    runs = {name: read_run(real_data() / name) for name in (first, second)}
    evaluator = Evaluator(read_qrels(real_data() / judgements), "nDCG@10", duplicates="first")
    rows = [*fusion_grid(runs).values(), runs[second]]
    return np.array([evaluator.evaluate(run).scores("nDCG@10") for run in rows])


def drawn(rows: Floats, size: int, *, centred: bool = True) -> Population:
    """Return samples of queries of real differences, f8[C, Q]."""
    kept = rows - rows.mean(axis=1, keepdims=True) if centred else rows
    return lambda rng: kept[:, rng.integers(kept.shape[1], size=size)]


def exchanged(scores: Floats, size: int) -> Population:
    """Return samples in which the systems of a query are exchanged at random, f8[C, Q]."""

    def sample(rng: np.random.Generator) -> Floats:
        queries = scores[:, rng.integers(scores.shape[1], size=size)]
        mixed = rng.permuted(queries, axis=0)
        return np.asarray(mixed[1:] - mixed[0])

    return sample


def optimised(size: int, steps: int) -> Population:
    """Return the history of a search that changes the best candidate and keeps what scores higher.

    No change has an effect: on the queries that it changes, the score rises or falls at random.
    """

    def sample(rng: np.random.Generator) -> Floats:
        rows = [rng.normal(0, _STEP_SD, size)]
        for _ in range(steps - 1):
            best = max(rows, key=np.sum)
            rows.append(best + rng.normal(0, _STEP_SD, size) * (rng.random(size) < _CHANGED))
        return np.array(rows)

    return sample


def rare_losses(size: int, candidates: int) -> Population:
    """Return candidates that gain a little on nearly every query and rarely lose much, mean 0."""
    share = 0.02

    def sample(rng: np.random.Generator) -> Floats:
        loses = rng.random((candidates, size)) < share
        return np.where(loses, -0.98, 0.02) + rng.normal(0, 0.001, loses.shape)

    return sample


def few_differ(size: int, candidates: int, differing: int) -> Population:
    """Return candidates that differ on a few queries by 1 or -1."""

    def sample(rng: np.random.Generator) -> Floats:
        rows = np.zeros((candidates, size))
        for row in rows:
            row[rng.choice(size, differing, replace=False)] = rng.choice((-1.0, 1.0), differing)
        return rows

    return sample


def dl21_scores(measure: str = "nDCG@10") -> Floats:
    """Return the scores of the 42 runs of DL 2021, f8[42, Q]."""
    files = sorted(real_data().glob("published/dl21/*.trec.gz"))
    names = [str(path.relative_to(real_data())) for path in files]
    return scores_of("qrels/dl21-passage.trec.gz", names, measure)


def gains_over(scores: Floats, baseline: int) -> Floats:
    """Return the differences of all other rows from one of them, f8[S-1, Q]."""
    return np.asarray(np.delete(scores, baseline, axis=0) - scores[baseline])


def near_rank_10(dl21: Floats) -> Floats:
    """Return the gains of eleven runs over the eleventh of 42, f8[11, Q]."""
    return gains_over(dl21[np.argsort(-dl21.mean(axis=1))[4:16]], 6)


def dl19_gains() -> Floats:
    """Return the gains of twelve runs of DL 2019 over the first by name, f8[12, Q]."""
    files = sorted(real_data().glob("runs/dl19/*.trec"))
    names = [str(path.relative_to(real_data())) for path in files]
    return gains_over(scores_of("qrels/dl19-passage.trec", names), 0)


def fused_gains() -> Iterator[tuple[str, int, Floats]]:
    """Yield (track, number of queries, gains of 27 fusions over the better run)."""
    for track, size, judgements, first, second in (
        ("2019", 43, "qrels/dl19-passage.trec", "runs/dl19/bm25.trec", "runs/dl19/tas-b.trec"),
        (
            "2021",
            53,
            "qrels/dl21-passage.trec.gz",
            "published/dl21/p_bm25.trec.gz",
            "runs/dl21/TUW_TAS-B_768.trec.gz",
        ),
    ):
        yield track, size, gains_over(fused_scores(judgements, first, second), 27)


def nulls() -> Iterator[tuple[str, Population]]:
    """Yield (name, population) of candidates of which none is better."""
    dl21 = dl21_scores()
    others = gains_over(dl21, int(np.argsort(dl21.mean(axis=1))[len(dl21) // 2]))
    for size in (30, 53, 100):
        yield f"DL 2021, {len(others)} runs, {size} queries", drawn(others, size)
    dl19 = dl19_gains()
    yield f"DL 2019, {len(dl19)} runs, 43 queries", drawn(dl19, 43)
    for track, size, fused in fused_gains():
        yield f"DL {track}, 27 fusions, {size} queries", drawn(fused, size)
    yield "20 copies of one candidate, 53 queries", drawn(np.repeat(others[:1], 20, axis=0), 53)
    first = dl21_scores("Precision@1")
    yield "Precision@1 of DL 2021, systems exchanged, 53 queries", exchanged(first, 53)
    yield "20 candidates, 4 of 300 queries differ by 1", few_differ(300, 20, 4)
    yield "200 unrelated, normal, 50 queries", lambda rng: rng.normal(size=(200, 50))
    yield "rare large losses, 20 unrelated, 50 queries: not valid", rare_losses(50, 20)
    yield "an optimiser, 10 steps, 53 queries: not valid", optimised(53, 10)
    yield "an optimiser, 20 steps, 53 queries: not valid", optimised(53, 20)


def powers() -> Iterator[tuple[str, Population]]:
    """Yield (name, population) of candidates of which some are better."""
    near = near_rank_10(dl21_scores())
    for size in (30, 53, 100):
        name = f"DL 2021, 11 runs near rank 10, {size} queries"
        yield name, drawn(near, size, centred=False)
    _, (_, size, fused) = fused_gains()
    name = f"DL 2021, 27 fusions against the better run, {size} queries"
    yield name, drawn(fused, size, centred=False)


def gains() -> Iterator[tuple[str, Floats, Population]]:
    """Yield (name, true gain of each candidate, population) to look at the interval."""
    dl21 = dl21_scores()
    middle = int(np.argsort(-dl21.mean(axis=1))[20])
    real = [
        (f"DL 2021, {what}", size, rows)
        for what, rows in (
            ("41 runs", gains_over(dl21, middle)),
            ("11 runs near rank 10", near_rank_10(dl21)),
        )
        for size in (30, 53, 100, 300)
    ]
    real.append(("DL 2019, 12 runs", 43, dl19_gains()))
    real += [(f"DL {track}: 27 fusions", size, rows) for track, size, rows in fused_gains()]
    for name, size, rows in real:
        yield f"{name}, {size} queries", rows.mean(axis=1), drawn(rows, size, centred=False)
    for shared in (0.0, 0.8):
        name = f"20 normal, correlation {shared:g}, no gain, 50 queries"
        yield name, np.zeros(20), correlated(20, 50, shared)
    name = "rare large losses, 20 unrelated, 50 queries: not valid"
    yield name, np.zeros(20), rare_losses(50, 20)


def correlated(candidates: int, size: int, shared: float) -> Population:
    """Return candidates with normal differences of mean 0 and this correlation."""

    def sample(rng: np.random.Generator) -> Floats:
        common = rng.normal(size=(1, size))
        own = rng.normal(size=(candidates, size))
        return np.asarray(math.sqrt(shared) * common + math.sqrt(1 - shared) * own)

    return sample


def outcomes(rows: Floats, rng: np.random.Generator) -> list[bool]:
    """Return whether each method calls the best candidate better."""
    size = rows.shape[1]
    best = rows[int(np.argmax(rows.mean(axis=1)))]
    signs = rng.choice((-1.0, 1.0), (size, DRAWS))
    spread = np.sqrt((rows**2).sum(axis=1, keepdims=True))  # flips do not change it
    usable = rows[spread[:, 0] > 0] / spread[spread[:, 0] > 0]
    flipped, own = (usable @ signs).max(axis=0), usable.sum(axis=1).max(initial=-math.inf)
    keys = hash_ids([f"{rng.random()}" for _ in range(size)])
    with_zeros = np.vstack([rows, np.zeros(size)])
    again = chosen_again(with_zeros, keys, draws=DRAWS, rng=int(rng.integers(2**31)))
    held_out = again.differences
    half = rng.permutation(size)
    first, second = half[: size // 2], half[size // 2 :]
    other = rows[int(np.argmax(rows[:, first].mean(axis=1)))][second]
    return [
        _t_better(best),
        bool(len(usable) and (1 + np.count_nonzero(flipped >= own - 1e-9)) / (DRAWS + 1) <= LEVEL),
        _flips_better(held_out, signs),
        _flips_better(other, signs[: len(other)]),
        again.p <= LEVEL,
    ]


def _t_better(row: Floats) -> bool:
    spread = row.std(ddof=1)
    if not spread:
        return bool(row.mean() > 0)
    return bool(stats.t.sf(row.mean() / spread * math.sqrt(len(row)), len(row) - 1) <= LEVEL)


def _flips_better(row: Floats, signs: Floats) -> bool:
    count = np.count_nonzero(row @ signs >= row.sum() - 1e-9)
    return bool((1 + count) / (DRAWS + 1) <= LEVEL)


def print_table(rows: Iterator[tuple[str, Population]], samples: int) -> None:
    """Print a row for each population."""
    print(
        "| candidates | best, same queries | max-T | cross-validation, plain flips | half, half |"
        " **chosen again** |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for number, (name, population) in enumerate(rows):
        rng = np.random.default_rng(number)
        shares = np.mean([outcomes(population(rng), rng) for _ in range(samples)], axis=0)
        print(f"| {name} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |", flush=True)


def print_intervals(samples: int) -> None:
    """Print a row for each population: how often the interval holds the true gain."""
    print(
        "| candidates | holds the gain | too high | too low | none shown | error, same queries |"
        " error, other queries |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for number, (name, means, population) in enumerate(gains()):
        rng = np.random.default_rng(number)
        too_high = too_low = shown = 0
        errors = np.zeros((samples, 2))
        for index in range(samples):
            rows = population(rng)
            with_zeros = np.vstack([rows, np.zeros(rows.shape[1])])
            keys = hash_ids([f"{rng.random()}" for _ in range(rows.shape[1])])
            again = chosen_again(with_zeros, keys, draws=DRAWS, rng=int(rng.integers(2**31)))
            gain = float(np.append(means, 0.0)[again.best])
            errors[index] = again.in_sample - gain, again.held_out - gain
            if not math.isnan(again.low):
                shown += 1
                too_high += again.low > gain
                too_low += again.high < gain
        shares = (100 * (shown - too_high - too_low), 100 * too_high, 100 * too_low)
        print(
            f"| {name} | {' | '.join(f'{share / max(shown, 1):.1f}' for share in shares)} |"
            f" {100 * (samples - shown) / samples:.0f} |"
            f" {' | '.join(f'{error:+.4f}' for error in errors.mean(axis=0))} |",
            flush=True,
        )


def main(samples: int = SAMPLES, part: str = "") -> None:
    """Print the false "better", the power and the coverage of the intervals, or one part."""
    if part != "intervals":
        print_tests(samples)
    if part != "tests":
        error = 100 * math.sqrt(0.05 * 0.95 / samples)
        print(
            f"\n{samples} samples, in %; the standard error of 95 is {error:.1f}. 95% intervals:\n"
        )
        print_intervals(samples)


def print_tests(samples: int) -> None:
    """Print the false "better" and the power."""
    error = 100 * math.sqrt(LEVEL * (1 - LEVEL) / samples)
    print(f"{samples} samples, in %; the standard error of 2.5 is {error:.1f}. No one is better:\n")
    print_table(nulls(), samples)
    print("\nSome are better (power):\n")
    print_table(powers(), samples)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else SAMPLES, *sys.argv[2:3])
