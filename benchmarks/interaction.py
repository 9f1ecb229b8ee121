"""Simulate the test of whether a gain differs between slices: false alarms and power.

    BEIR_EVAL_REALDATA=folder python benchmarks/interaction.py [table …] [simulations]

A slice's differences are drawn with replacement from those of two real runs on DL 2019, centred and
scaled to the spread (standard deviation) of the slice, so that the true mean is the same in all
slices. A false alarm is p <= .05. Numbers after ± are Monte Carlo standard errors. "F" permutes the
labels too, but with the statistic Σ n (m − mean)², which ignores spreads. The tables:

- ``errors``: equal gains in slices of unequal sizes and spreads.
- ``limits``: differences skewed in opposite directions, gains that come from few queries, slices of
  ten queries.
- ``power``: one slice gains more than the others.
- ``single``: how often the verdicts of four slices with the same gain look like a difference
  between slices ("better" in some, not in all).

SIMULATIONS.md has the results.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_scores, share_text
from table_arguments import table_arguments

from beir_eval.significance import slice_interaction
from beir_eval.significance.corrections import correct
from beir_eval.significance.sign_flip import sign_flip_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.core.arrays import Floats, Ints

    #: Draws differences f8[S, n] of one slice, of mean 0, from a generator, S, n and its number.
    Draw = Callable[[np.random.Generator, int, int, int], Floats]

ALPHA, DRAWS, BATCH = 0.05, 999, 100


class Layout(NamedTuple):
    """The sizes and spreads of the slices."""

    sizes: tuple[int, ...]
    spreads: tuple[float, ...]

    def __str__(self) -> str:
        """Return sizes and spreads as text."""
        sizes = ", ".join(map(str, self.sizes))
        return f"{sizes} | {', '.join(f'{spread:g}' for spread in self.spreads)}"


RISING, FALLING = (0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1)
LAYOUTS = (
    Layout((75, 75, 75, 75), RISING),
    Layout((20, 60, 90, 120), RISING),
    Layout((20, 60, 90, 120), FALLING),
    Layout((20, 20, 20, 20, 120, 120), (0.1, 0.4, 0.1, 0.4, 0.1, 0.4)),
    Layout((20, 120), (0.1, 0.4)),
    Layout((20, 120), (0.4, 0.1)),
)


def standardised(measure: str, first: str, second: str) -> Floats:
    """Return differences of two real runs with mean 0 and spread 1, f8[Q]."""
    systems, scores = real_scores("dl19")[measure]
    values: Floats = scores[systems.index(first)] - scores[systems.index(second)]
    values = values - values.mean()
    return np.asarray(values / values.std())


def real(measure: str, first: str, second: str, *, alternating: bool = False) -> Draw:
    """Return draws of real differences; every second slice has the opposite sign if told so."""
    values = standardised(measure, first, second)

    def draw(rng: np.random.Generator, count: int, size: int, number: int) -> Floats:
        sign = -1 if alternating and number % 2 else 1
        return np.asarray(sign * rng.choice(values, (count, size)))

    return draw


def symmetric(share: float = 1.0) -> Draw:
    """Return draws with random signs; all but a share of the differences are 0."""
    values = standardised("nDCG@10", "ada2", "tas-b")

    def draw(rng: np.random.Generator, count: int, size: int, _: int) -> Floats:
        signs = rng.choice([-1.0, 1.0], (count, size)) * (rng.random((count, size)) < share)
        return np.asarray(rng.choice(values, (count, size)) * signs / math.sqrt(share))

    return draw


def gains_of_few(shares: Sequence[float], gain: float = 0.05) -> Draw:
    """Return draws of 0 but for a share of each slice's queries, with the same mean gain."""

    def draw(rng: np.random.Generator, count: int, size: int, number: int) -> Floats:
        share = shares[number]
        sizes = gain / share * (1 + 0.3 * rng.standard_normal((count, size)))
        return np.asarray(sizes * (rng.random((count, size)) < share) - gain)

    return draw


STEP_800 = "bm25+vicuna-7b-step800"
DRAWN: dict[str, Draw] = {}


def load_draws() -> None:
    """Fill ``DRAWN`` from the real runs."""
    DRAWN.update(
        {
            "nDCG@10, random signs": symmetric(),
            "nDCG@10, skewness -0.4": real("nDCG@10", "ada2", "tas-b"),
            "nDCG@10, skewness 0.7": real("nDCG@10", STEP_800, "bm25"),
            "MAP@1000, skewness 1.4": real("MAP@1000", "bm25+gpt35-repeat2", "bm25"),
            "MAP@1000, skewness 2.2": real("MAP@1000", STEP_800, "bm25"),
            "random signs, 70% zeros": symmetric(0.3),
            "random signs, 90% zeros": symmetric(0.1),
        }
    )


def p_of_f(values: Floats, slice_of: Ints, rng: np.random.Generator) -> Floats:
    """Return p of the plain statistic by permutation: f8[D, Q] -> f8[D]."""
    sizes = np.bincount(slice_of)[:, None]
    columns = values.T - values.mean(axis=1)

    def statistics(labels: Ints) -> Floats:
        totals = np.stack([(labels == k).astype(np.float64) @ columns for k in range(len(sizes))])
        return np.asarray((totals**2 / sizes[:, :, None]).sum(axis=0))

    permuted = rng.permuted(np.tile(slice_of, (DRAWS, 1)), axis=1)
    [actual] = statistics(slice_of[None])
    return np.asarray((1 + (statistics(permuted) >= actual * (1 - 1e-9)).sum(axis=0)) / (DRAWS + 1))


def rejections(
    layout: Layout, draw: Draw, simulations: int, gains: Sequence[float] | None = None
) -> tuple[int, int]:
    """Return how often the test, and the plain F, find a difference between slices."""
    slice_of = np.repeat(np.arange(len(layout.sizes)), layout.sizes)
    counts = np.zeros(2, dtype=np.int64)
    for batch in range(simulations // BATCH):
        rng = np.random.default_rng((batch, len(slice_of)))
        parts = [
            spread * draw(rng, BATCH, size, number) + (gains[number] if gains else 0.0)
            for number, (size, spread) in enumerate(zip(*layout, strict=True))
        ]
        values = np.concatenate(parts, axis=1)
        test = slice_interaction(values, slice_of.tolist(), draws=DRAWS, rng=rng)
        counts += ((test.p <= ALPHA).sum(), (p_of_f(values, slice_of, rng) <= ALPHA).sum())
    return int(counts[0]), int(counts[1])


def print_row(
    name: str,
    layout: Layout,
    draw: Draw,
    simulations: int,
    gains: Sequence[float] | None = None,
) -> None:
    """Print a row of a table."""
    welch, plain = rejections(layout, draw, simulations, gains)
    shares = f"{share_text(welch, simulations)} | {share_text(plain, simulations)}"
    print(f"| {name} | {layout} | {shares} |", flush=True)


def print_header(what: str) -> None:
    """Print the first two lines of a table."""
    print(f"| {what} | sizes | spreads | test | F |\n|---|---|---|--:|--:|")


def print_errors(simulations: int) -> None:
    """Print false alarms under equal gains."""
    print_header("differences")
    for name, draw in DRAWN.items():
        for layout in LAYOUTS:
            print_row(name, layout, draw, simulations)


def print_limits(simulations: int) -> None:
    """Print false alarms where they are more frequent."""
    print_header("differences")
    alternating = real("MAP@1000", STEP_800, "bm25", alternating=True)
    for layout in LAYOUTS[1:]:
        print_row("skewness ±2.2, alternating", layout, alternating, simulations)
    rare = real("MRR@10", STEP_800, "tas-b")
    for layout in LAYOUTS[1:]:
        print_row("MRR@10, 91% equal, skewness 2.5", layout, rare, simulations)
    flat = Layout((20, 60, 90, 120), (1, 1, 1, 1))
    for shares in ((0.5, 0.4, 0.3, 0.2), (0.2, 0.3, 0.4, 0.5), (0.05, 0.1, 0.2, 0.5)):
        text = ", ".join(f"{share:.0%}" for share in shares)
        print_row(f"gains on {text} of the queries", flat, gains_of_few(shares), simulations)
    sizes = (10, 10, 10, 10, 120)  # 10: the smallest slices in the test
    for spreads in ((0.1, 0.1, 0.1, 0.1, 0.4), (0.4, 0.4, 0.4, 0.4, 0.1)):
        for name in ("nDCG@10, random signs", "MAP@1000, skewness 2.2"):
            print_row(name, Layout(sizes, spreads), DRAWN[name], simulations)


def print_power(simulations: int) -> None:
    """Print how often the larger gain of one slice is found."""
    print_header("differences; the gain of one slice above the others")
    for name in ("nDCG@10, random signs", "nDCG@10, skewness 0.7", "random signs, 90% zeros"):
        for layout, which in (
            (Layout((75,) * 4, (0.2,) * 4), 0),
            (Layout((25,) * 4, (0.2,) * 4), 0),
            (Layout((20, 60, 90, 120), RISING), 1),
            (Layout((20, 60, 90, 120), FALLING), 1),
        ):
            for gain in (0.05, 0.1, 0.15):
                gains = [gain * (number == which) for number in range(4)]
                print_row(f"{name}; {gain:g}", layout, DRAWN[name], simulations, gains)


def print_single(simulations: int) -> None:
    """Print what the verdicts of single slices look like under the same gain everywhere."""
    print("| differences | gain | better in all | in some | in none | test: differs |")
    print("|---|--:|--:|--:|--:|--:|")
    labels = np.repeat(np.arange(4), 75).tolist()
    for name in ("nDCG@10, random signs", "nDCG@10, skewness 0.7"):
        for gain in (0.03, 0.05, 0.08):
            better, differs = [], 0
            for batch in range(simulations // BATCH):
                rng = np.random.default_rng((batch, 4))
                values = 0.2 * DRAWN[name](rng, BATCH, 300, 0) + gain
                tests = slice_interaction(values, labels, draws=DRAWS, rng=rng)
                differs += int((tests.p <= ALPHA).sum())
                p = [
                    sign_flip_many(part, draws=DRAWS, rng=rng).p
                    for part in np.split(values, 4, axis=1)
                ]
                corrected = np.array([correct(row, "holm") for row in np.array(p).T])
                better += (corrected <= ALPHA).sum(axis=1).tolist()
            num = np.array(better)
            cells = [(num == 4).sum(), ((num > 0) & (num < 4)).sum(), (num == 0).sum(), differs]
            shares = " | ".join(share_text(int(cell), len(num)) for cell in cells)
            print(f"| {name} | {gain:g} | {shares} |", flush=True)


TABLES = {
    "errors": print_errors,
    "limits": print_limits,
    "power": print_power,
    "single": print_single,
}


def main(names: Sequence[str], simulations: int) -> None:
    """Print the tables with these names."""
    load_draws()
    for name in names:
        print(f"\n{name}: {simulations:,} simulations a row; level .05; percent")
        TABLES[name](simulations)


if __name__ == "__main__":
    tables, number = table_arguments(TABLES)
    main(tables, number or 4_000)
