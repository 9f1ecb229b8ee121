"""Simulate errors and power of the tests over queries and repeats (seeds).

    BEIR_EVAL_REALDATA=folder python benchmarks/repeats.py [table …] [simulations]

Two configurations with k seeds each. On a query, a seed's score is the configuration's score, plus
the seed's own mean effect (normal, with the standard deviation "seed sd"), plus what is left. The
configurations' differences are drawn, with replacement, from those of two real runs, minus their
mean, so that the true difference is 0, and scaled to a standard deviation of .15 (but in
``sources``). What is left is drawn from the repeats of one re-ranker on DL 2019 (queries × repeats,
minus the means of both). Numbers after ± are Monte Carlo standard errors, in percent. The tables:

- ``errors``: how often two equal configurations differ at .05. "verdict" is what ``compare`` says:
  both the test over queries and repeats and the sign-flip test must be significant. "queries only"
  is the sign-flip test of the means over the seeds, without the noise of the seeds.
- ``sources``: the same for other measures and runs, with few queries.
- ``unequal``: one configuration's seeds vary more than the other's, or their numbers differ.
- ``paired``: the same seeds in both configurations, whose effects are correlated.
- ``power``: how often a true difference of .01 is found.
- ``averages``: the unweighted average of several data sets, from ``balanced`` scores. A seed's
  effect is one on all data sets ("shared"), or one on each ("apart"). "better" and "worse" are
  those of the verdict, 2.5 each by the level; "queries only" counts both.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_scores, share_text, skewness
from table_arguments import table_arguments

from beir_eval.significance.repeats import crossed_tests
from beir_eval.significance.sign_vectors import SignVectors, position_keys
from beir_eval.significance.stratified import balanced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from beir_eval.core.arrays import Floats

ALPHA, DRAWS = 0.05, 999
#: The standard deviation to which the differences of the first source are scaled.
DEVIATION = 0.15
#: {name: data set, measure, the two runs}
SOURCES = {
    "nDCG": ("scifact", "nDCG@10", "kirl_rerank_tabs", "kl_hybrid"),
    "MAP": ("dl19", "MAP@1000", "tas-b", "ada2"),
    "MRR": ("scifact", "MRR@10", "kirl_rerank_tabs", "kl_hybrid"),
    "Recall": ("dl19", "Recall@100", "splade-pp", "tas-b"),
}
#: {name: (data set, measure, the two runs, number of queries, true difference) of each}
AVERAGES = {
    "usual": [
        ("dl19", "nDCG@10", "tas-b", "ada2", 43, 0.0),
        ("trec-covid", "nDCG@10", "splade-pp", "bm25", 50, 0.0),
        ("scifact", "nDCG@10", "kirl_rerank_tabs", "kl_hybrid", 300, 0.0),
    ],
    "unlike": [
        ("dl19", "nDCG@10", "tas-b", "ada2", 43, 0.1),
        ("trec-covid", "nDCG@10", "splade-pp", "bm25", 50, 0.0),
        ("scifact", "nDCG@10", "kirl_rerank_tabs", "kl_hybrid", 300, -0.1),
    ],
    "skewed": [
        ("dl19", "MRR@10", "rep-llama_ties", "bm25", 43, 0.0),
        ("trec-covid", "MRR@10", "splade-pp", "bm25", 50, 0.0),
        ("scifact", "MRR@10", "kirl_rerank_tabs", "kl_hybrid", 300, 0.0),
    ],
    "zeros": [
        ("dl19", "MRR@10", "tas-b", "splade-pp", 43, 0.0),
        ("trec-covid", "MRR@10", "splade-pp", "bm25", 50, 0.0),
        ("dl19", "MRR@10", "rep-llama_ties", "bm25+vicuna-7b-v2", 43, 0.0),
    ],
    "ties": [
        ("dl19", "Precision@10", "tas-b", "ada2", 43, 0.0),
        ("trec-covid", "Precision@10", "splade-pp", "bm25", 50, 0.0),
        ("scifact", "Precision@10", "kirl_rerank_tabs", "kl_hybrid", 300, 0.0),
    ],
    "few": [
        ("dl19", "nDCG@10", "tas-b", "ada2", 20, 0.0),
        ("trec-covid", "nDCG@10", "splade-pp", "bm25", 20, 0.0),
        ("dl19", "nDCG@10", "splade-pp", "bm25+vicuna-7b-v2", 20, 0.0),
        ("dl19", "nDCG@10", "rep-llama_ties", "tas-b", 20, 0.0),
        ("scifact", "nDCG@10", "kirl_rerank_tabs", "kl_hybrid", 20, 0.0),
    ],
}


class Seeds(NamedTuple):
    """The seeds of two configurations.

    Attributes:
        counts: how many each has.
        deviations: the standard deviations of their mean effects.
        correlation: that of the effects of the same seed in both.
    """

    counts: tuple[int, int]
    deviations: tuple[float, float]
    correlation: float = 0.0


class Outcome(NamedTuple):
    """How many of the simulations were significant.

    Attributes:
        crossed: by the test over queries and repeats.
        verdict: by this test and the sign-flip test.
        queries: by the sign-flip test of the means over the seeds.
        simulations: how many there were.
    """

    crossed: int
    verdict: int
    queries: int
    simulations: int

    def text(self) -> str:
        """Return the three shares."""
        return "  ".join(
            f"{share_text(count, self.simulations):>12}"
            for count in (self.verdict, self.crossed, self.queries)
        )


def differences_of(source: str) -> Floats:
    """Return the differences of two real runs, minus their mean, f8[Q]."""
    dataset, measure, first, second = SOURCES[source]
    systems, scores = real_scores(dataset)[measure]
    values = scores[systems.index(first)] - scores[systems.index(second)]
    values = values[np.isfinite(values)]
    return np.asarray(values - values.mean())


def residuals_of(measure: str) -> Floats:
    """Return what queries and repeats leave unexplained of the repeats on DL 2019, f8[k, Q]."""
    systems, scores = real_scores("dl19")[measure]
    repeats = scores[[index for index, name in enumerate(systems) if "repeat" in name]]
    centred = repeats - repeats.mean(axis=0)
    return np.asarray(centred - centred.mean(axis=1, keepdims=True))


def simulate(  # noqa: PLR0913 - one keyword a part of the model
    source: str,
    seeds: Seeds,
    num_queries: int,
    simulations: int,
    *,
    shift: float = 0.0,
    deviation: float | None = DEVIATION,
    paired: bool = False,
) -> Outcome:
    """Return how often two configurations differ.

    Args:
        source: the name in ``SOURCES`` of their differences.
        seeds: their seeds.
        num_queries: how many queries are drawn.
        simulations: how often.
        shift: the true difference.
        deviation: the standard deviation of the differences; None for that of the runs.
        paired: whether the test takes the seeds as paired.
    """
    rng = np.random.default_rng(seed_of(source, seeds, num_queries, shift))
    pool = differences_of(source)
    if deviation is not None:
        pool = pool * deviation / pool.std()
    noise = residuals_of(SOURCES[source][1])
    flat = noise.ravel()
    signs = SignVectors(DRAWS, 1)
    [subsets] = [
        np.concatenate([block.copy() for block in signs.blocks(position_keys(num_queries))], axis=1)
    ]
    flips = (2 * subsets - 1).T
    crossed = verdict = queries = 0
    for _ in range(simulations):
        base = rng.choice(pool, num_queries) + shift
        effects = correlated(rng, seeds)
        repeats = [
            effect[:, None] + rng.choice(flat, (len(effect), num_queries)) for effect in effects
        ]
        repeats[0] += base
        tests = crossed_tests(repeats, [(0, 1)], paired=paired)
        low, high = tests.intervals(np.array([ALPHA]))
        is_crossed = bool(low[0] > 0 or high[0] < 0)
        values = repeats[0].mean(axis=0) - repeats[1].mean(axis=0)
        reached = np.abs(flips @ values) >= abs(values.sum()) * (1 - 1e-12)
        is_flipped = (1 + int(reached.sum())) / (DRAWS + 1) <= ALPHA
        crossed += is_crossed
        queries += is_flipped
        verdict += is_crossed and is_flipped
    return Outcome(crossed, verdict, queries, simulations)


def correlated(rng: np.random.Generator, seeds: Seeds) -> list[Floats]:
    """Return the mean effects of the seeds of both configurations."""
    first = rng.normal(size=seeds.counts[0])
    second = rng.normal(size=seeds.counts[1])
    if seeds.correlation:
        second = seeds.correlation * first + np.sqrt(1 - seeds.correlation**2) * second
    return [first * seeds.deviations[0], second * seeds.deviations[1]]


def seed_of(*values: object) -> int:
    """Return a seed of the values, the same in each process."""
    return zlib.crc32(repr(values).encode())


def both(count: int, deviation: float) -> Seeds:
    """Return equally many seeds with equal noise."""
    return Seeds((count, count), (deviation, deviation))


def errors(simulations: int) -> Iterator[str]:
    """Yield the rows of ``errors``."""
    yield "seed sd  queries  seeds       verdict       crossed  queries only"
    for deviation in (0.0, 0.003, 0.005, 0.01):
        for num_queries in (50, 300, 2000):
            for count in (2, 3, 5, 10):
                outcome = simulate("nDCG", both(count, deviation), num_queries, simulations)
                yield f"{deviation:7g}  {num_queries:7}  {count:5}  {outcome.text()}"


def sources(simulations: int) -> Iterator[str]:
    """Yield the rows of ``sources``."""
    yield "source  zeros  skewness  queries  seeds  seed sd       verdict       crossed  queries"
    for source in SOURCES:
        values = differences_of(source)
        zeros = float((np.abs(values + 0) == np.abs(np.median(values))).mean())
        for num_queries in (20, 50, 300):
            for count, deviation in ((2, 0.005), (5, 0.005)):
                seeds = both(count, deviation)
                outcome = simulate(source, seeds, num_queries, simulations, deviation=None)
                yield (
                    f"{source:6}  {zeros:5.2f}  {skewness(values):8.1f}  {num_queries:7}  "
                    f"{count:5}  {deviation:7g}  {outcome.text()}"
                )


def unequal(simulations: int) -> Iterator[str]:
    """Yield the rows of ``unequal``."""
    yield "seeds   seed sds       queries       verdict       crossed  queries only"
    for counts in ((2, 2), (5, 5), (2, 10), (10, 2)):
        for deviations in ((0.01, 0.01), (0.01, 0.002), (0.01, 0.0)):
            for num_queries in (300, 2000):
                outcome = simulate("nDCG", Seeds(counts, deviations), num_queries, simulations)
                yield f"{counts!s:7}  {deviations!s:13}  {num_queries:6}  {outcome.text()}"


def paired(simulations: int) -> Iterator[str]:
    """Yield the rows of ``paired``."""
    yield "seeds  correlation  taken as      verdict       crossed  queries only"
    for count in (2, 3, 5, 10):
        for correlation in (0.0, 0.8):
            seeds = Seeds((count, count), (0.005, 0.005), correlation)
            for is_paired in (True, False):
                outcome = simulate("nDCG", seeds, 2000, simulations, paired=is_paired)
                label = "paired" if is_paired else "random"
                yield f"{count:5}  {correlation:11g}  {label:8}  {outcome.text()}"


def power(simulations: int) -> Iterator[str]:
    """Yield the rows of ``power``."""
    yield "seed sd  queries  seeds       verdict       crossed  queries only"
    for count in (2, 3, 5, 10):
        outcome = simulate("nDCG", both(count, 0.003), 2000, simulations, shift=0.01)
        yield f"{0.003:7g}  {2000:7}  {count:5}  {outcome.text()}"


def averages(simulations: int) -> Iterator[str]:
    """Yield the rows of ``averages``."""
    yield "data sets  seeds    seed sds        effects        better         worse  queries only"
    for name in AVERAGES:
        for seeds, is_shared in (
            (Seeds((1, 1), (0.0, 0.0)), False),
            *(
                (Seeds(counts, (deviation, deviation)), is_shared)
                for counts in ((2, 2), (3, 3), (5, 5), (2, 1), (3, 1), (5, 1))
                for deviation, is_shared in (
                    (0.0, False),
                    (0.005, True),
                    (0.02, True),
                    (0.02, False),
                )
            ),
            *((Seeds((count, count), (0.02, 0.0)), True) for count in (2, 3, 5)),
        ):
            outcome = simulate_average(name, seeds, simulations, is_shared=is_shared)
            shares = "  ".join(f"{share_text(count, simulations):>12}" for count in outcome)
            effects = "shared" if is_shared else "apart"
            yield f"{name:9}  {seeds.counts!s:7}  {seeds.deviations!s:14}  {effects:7}  {shares}"


def simulate_average(
    name: str, seeds: Seeds, simulations: int, *, is_shared: bool
) -> tuple[int, int, int]:
    """Return how often equal averages were better and worse, and differed over queries only.

    A system with one seed is deterministic.

    Args:
        name: the data sets, in ``AVERAGES``.
        seeds: those of both systems.
        simulations: how often.
        is_shared: whether a seed has one effect on all data sets.
    """
    rng = np.random.default_rng(seed_of(name, seeds, is_shared))
    pools, noises, sizes, shifts = [], [], [], []
    for dataset, measure, first, second, size, shift in AVERAGES[name]:
        systems, scores = real_scores(dataset)[measure]
        pool = scores[systems.index(first)] - scores[systems.index(second)]
        pools.append(pool - pool.mean())
        noises.append(residuals_of(measure).ravel())
        sizes.append(size)
        shifts.append(shift)
    weights = balanced([np.ones((1, size)) for size in sizes])[0]
    [subsets] = [
        np.concatenate(
            [block.copy() for block in SignVectors(DRAWS, 1).blocks(position_keys(sum(sizes)))],
            axis=1,
        )
    ]
    flips = (2 * subsets - 1).T
    better = worse = queries = 0
    for _ in range(simulations):
        common = correlated(rng, seeds)
        repeats: list[list[Floats]] = [[], []]
        for pool, noise, size, shift in zip(pools, noises, sizes, shifts, strict=True):
            own = common if is_shared else correlated(rng, seeds)
            for side, (count, effects) in enumerate(zip(seeds.counts, own, strict=True)):
                scores = np.zeros((count, size))
                if count > 1:
                    scores += effects[:, None] + rng.choice(noise, (count, size))
                if not side:
                    scores += rng.choice(pool, size) + shift
                repeats[side].append(scores)
        rows = [balanced(of_side) for of_side in repeats]
        single = [side for side, count in enumerate(seeds.counts) if count == 1]
        tests = crossed_tests(rows, [(0, 1)], deterministic=single, weights=weights)
        low, high = tests.intervals(np.array([ALPHA]))
        values = rows[0].mean(axis=0) - rows[1].mean(axis=0)
        reached = np.abs(flips @ values) >= abs(values.sum()) * (1 - 1e-12)
        is_flipped = (1 + int(reached.sum())) / (DRAWS + 1) <= ALPHA
        queries += is_flipped
        better += is_flipped and bool(low[0] > 0)
        worse += is_flipped and bool(high[0] < 0)
    return better, worse, queries


TABLES: dict[str, Callable[[int], Iterator[str]]] = {
    "errors": errors,
    "sources": sources,
    "unequal": unequal,
    "paired": paired,
    "power": power,
    "averages": averages,
}


def main() -> None:
    """Print the tables named on the command line, or all."""
    names, number = table_arguments(TABLES)
    for name in names:
        simulations = number or 2000
        print(f"{name}, {simulations:,} simulations", flush=True)
        for row in TABLES[name](simulations):
            print(row, flush=True)


if __name__ == "__main__":
    main()
