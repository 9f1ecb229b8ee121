"""Count how often what is stated of two runs on some queries has the same sign on other queries.

    BEIR_EVAL_REALDATA=folder python benchmarks/replication.py [--seeds 0 1] [--figure FILE]

The queries of each collection of real runs are divided into two halves at random, 500 times. What
is stated of each pair of runs on one half, or on 10 or 40 of its queries, is held against the
mean difference on the other half. Printed are the share of pairs of which it is stated, and how
often the other half has the same sign.

± is one standard error over the divisions: another seed differs by about as much. The range is the
middle 95% of a bootstrap over runs, which the pairs share, and for all collections over these too.
Neither covers the queries of the collections, which are one sample: with others all shares change.
"""

from __future__ import annotations

import argparse
import math
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from real_differences import real_data

from beir_eval import Evaluator, read_qrels, read_run
from beir_eval.comparison.alignment import without_rounding_noise
from beir_eval.comparison.differences import pairs_to_compare, sign_vectors_for
from beir_eval.core.ids import hash_ids
from beir_eval.errors import BeirEvalWarning
from beir_eval.significance import smallest_margin
from beir_eval.significance.multiple_comparisons import max_t_p
from beir_eval.significance.paired_tests import t_p_values
from beir_eval.significance.randomisation import Family, randomise
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import is_at_most, row_means

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.significance.sign_vectors import Keys

MEASURE, HALVES, SIZES = "nDCG@10", 500, (10, 40)
#: The defaults of ``compare``, and the highest p for which ``ranx.compare`` prints a letter.
ALPHA, MARGIN, RANX_ALPHA = 0.05, 0.01, 0.01
#: Means that differ by less are near to each other.
NEAR = 0.05
#: {collection: (judgements, runs)} in the folder of real data.
COLLECTIONS = {
    "DL 2019": ("qrels/dl19-passage.trec", "runs/dl19"),
    "DL 2021": ("qrels/dl21-passage.trec.gz", "published/dl21"),
    "TREC-COVID": ("qrels/trec-covid.trec", "runs/trec-covid"),
    "SciFact": ("scifact", "runs/scifact"),
}
#: What is stated of two runs, in the order of ``statements_on``.
STATEMENTS = (
    "the higher mean is better",
    f"the higher mean is better, by less than {NEAR}",
    f"t test without correction, p ≤ {ALPHA}",
    f"`ranx.compare`: t test without correction, p ≤ {RANX_ALPHA}",
    "`compare` of two runs: better or worse",
    "`compare` of two runs: undecided, the higher mean",
    "`compare` of all runs: better or worse",
    "`compare` of all runs: better",
    "`compare` of all runs: worse",
    "`compare` of all runs: undecided, the higher mean",
)
#: Those of the figure.
DRAWN = (0, 3, 4, 2, 6)
_BOOTSTRAPS = 2_000


@dataclass(frozen=True, eq=False)
class Collection:
    """The scores of real runs on the judged queries that all of them have.

    Attributes:
        name: what the tables call it.
        systems: the runs. [S]
        query_ids: the queries. [Q]
        scores: f8[S, Q].
    """

    name: str
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: Floats

    @classmethod
    def read(cls, name: str) -> Collection:
        """Return a collection of ``COLLECTIONS``.

        Of several repeats of one system only the first is a run. A run without any judged query,
        as of another split, or without any relevant document at the cutoff is left out.
        """
        judgements, folder = COLLECTIONS[name]
        qrels = read_qrels(real_data() / judgements)
        evaluator = Evaluator(qrels, MEASURE, duplicates="first")
        shared, scores = set(qrels.query_ids), {}
        for path in sorted((real_data() / folder).glob("*.trec*")):
            run = read_run(path)
            retrieved = shared.intersection(run.query_ids)
            if retrieved and not re.search(r"repeat[2-9]", path.name):
                shared = retrieved
                result = evaluator.evaluate(run)
                by_query = zip(result.query_ids, result.scores(MEASURE).tolist(), strict=True)
                scores[path.name.partition(".trec")[0]] = dict(by_query)
        queries = tuple(sorted(shared))
        rows = {run: [of_run[query] for query in queries] for run, of_run in scores.items()}
        rows = {run: row for run, row in rows.items() if any(row)}
        return cls(name, tuple(rows), queries, without_rounding_noise(np.array([*rows.values()])))

    @property
    def pairs(self) -> Ints:
        """The pairs that ``compare`` tests: a run and the one it is compared with, i8[2, D]."""
        return np.array(pairs_to_compare(self.systems, None).listed).T

    @property
    def sizes(self) -> list[int]:
        """The numbers of queries on which something is stated; the last is half of them."""
        half = len(self.query_ids) // 2
        return [*(size for size in SIZES if size < half), half]

    @property
    def labels(self) -> list[str]:
        """What the tables call these sizes."""
        return [*map(str, self.sizes[:-1]), "half"]


def smallest_number_for_equality() -> int:
    """Return with how many queries two runs can be called equivalent within the margin."""
    return next(n for n in count(2) if smallest_margin(n, alpha=ALPHA) <= MARGIN)


def verdicts_of(scores: Floats, keys: Keys, *, together: bool) -> Ints:
    """Return 1 where ``compare`` says better, −1 where it says worse, otherwise 0, i8[D].

    Intervals are not computed: so few queries can show no equality within the default margin.

    Args:
        scores: by run, f8[S, Q].
        keys: those of the queries, u8[Q].
        together: whether all runs are compared at once, or two at a time.
    """
    num_systems, num_queries = scores.shape
    if num_queries >= smallest_number_for_equality():
        msg = f"{num_queries} queries could show equality, which is not counted here"
        raise SystemExit(msg)
    pairs = pairs_to_compare(["run"] * num_systems, None)
    is_family = together and len(pairs.listed) > 1
    signs = SignVectors.choose(num_queries, None, 0)
    if together:
        signs = sign_vectors_for(num_queries, pairs, draws=None, rng=0)
    family = Family(scores, keys, *np.array(pairs.listed).T)
    [flipped] = randomise([family], signs, largest="family" if is_family else "none")
    p = max_t_p(flipped) if is_family else flipped.p()
    return np.where(is_at_most(p, ALPHA), np.sign(flipped.means), 0).astype(np.int8)


def statements_on(scores: Floats, keys: Keys) -> Ints:
    """Return what is stated of each pair, 1, −1 or 0 for nothing, i1[len(STATEMENTS), D]."""
    system, against = np.array(pairs_to_compare(["run"] * len(scores), None).listed).T
    differences = scores[system] - scores[against]
    means = row_means(differences)
    higher = np.sign(means)
    p = t_p_values(means, differences.std(axis=1, ddof=1), scores.shape[1])
    of_two, of_all = (verdicts_of(scores, keys, together=together) for together in (False, True))
    stated = [
        higher,
        higher * (np.abs(means) < NEAR),
        higher * (p <= ALPHA),
        higher * (p <= RANX_ALPHA),
        of_two,
        higher * (of_two == 0),
        of_all,
        of_all * (of_all > 0),
        of_all * (of_all < 0),
        higher * (of_all == 0),
    ]
    return np.array(stated, dtype=np.int8)


class Division(NamedTuple):
    """What is stated on the first queries of a random order, and the truth on its second half.

    Attributes:
        stated: by size, statement and pair, i1[sizes, len(STATEMENTS), D].
        answers: the signs of the mean differences on the other half, i1[D].
    """

    stated: Ints
    answers: Ints


def divide(collection: Collection, seed: int, number: int) -> Division:
    """Return one random division of the queries of a collection."""
    order = np.random.default_rng((seed, number)).permutation(len(collection.query_ids))
    keys = hash_ids(collection.query_ids)
    system, against = collection.pairs
    stated = [
        statements_on(np.asfortranarray(collection.scores[:, chosen]), keys[chosen])
        for chosen in (order[:size] for size in collection.sizes)
    ]
    others = collection.scores[:, order[collection.sizes[-1] :]]
    answers: Ints = np.sign(row_means(others[system] - others[against])).astype(np.int8)
    return Division(np.array(stated), answers)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often something is stated of each pair of a collection, and has the same sign.

    Attributes:
        stated, holds: by division, statement and pair, bool[H, len(STATEMENTS), D].
        pairs: the runs of each pair, i8[2, D].
        num_systems: S.
    """

    stated: Floats
    holds: Floats
    pairs: Ints
    num_systems: int

    def drawn_weights(self, rng: np.random.Generator) -> Floats:
        """Return how often each pair is in samples of as many runs, f8[B, D]."""
        shares = np.full(self.num_systems, 1 / self.num_systems)
        times = rng.multinomial(self.num_systems, shares, _BOOTSTRAPS)
        first, second = self.pairs
        return np.asarray(times[:, first] * times[:, second], dtype=np.float64)


class Share(NamedTuple):
    """A share in percent with its standard error over the divisions."""

    value: float
    error: float

    def __str__(self) -> str:
        """Return both, with one decimal."""
        return "none" if math.isnan(self.value) else f"{self.value:.1f} ± {self.error:.1f}"


class Outcome(NamedTuple):
    """Of how many pairs something is stated, how often the sign holds, and the range of this."""

    stated: Share
    holds: Share
    low: float
    high: float

    def __str__(self) -> str:
        """Return the cell of a table."""
        if not self.stated.value:
            return "0"
        between = "" if math.isnan(self.low) else f" ({self.low:.1f} to {self.high:.1f})"
        return f"{self.stated}: {self.holds}{between}"


def share_of(counts: Floats, totals: Floats) -> Share:
    """Return the share of counts in totals by division, f8[H] each."""
    total = totals.sum()
    if not total:
        return Share(math.nan, math.nan)
    share = counts.sum() / total
    return Share(100 * share, 100 * math.sqrt(((counts - share * totals) ** 2).sum()) / total)


def outcome_of(parts: Sequence[Counts], statement: int) -> Outcome:
    """Return how a statement holds in some collections together."""
    rng = np.random.default_rng(0)
    sampled = rng.multinomial(len(parts), [1 / len(parts)] * len(parts), _BOOTSTRAPS)
    by_division, sums = np.zeros((3, len(parts[0].stated))), np.zeros((2, _BOOTSTRAPS))
    for part, times in zip(parts, sampled.T, strict=True):
        weights = part.drawn_weights(rng) * times[:, None]
        counts = np.array([part.holds[:, statement], part.stated[:, statement]])
        by_division[:2] += counts.sum(axis=2)
        by_division[2] += part.pairs.shape[1]
        sums += counts.sum(axis=1) @ weights.T
    holds, stated, pairs = by_division
    low = high = math.nan
    known = sums[1] > 0
    if known.any() and max(part.num_systems for part in parts) > 2:
        low, high = 100 * np.percentile(sums[0][known] / sums[1][known], [2.5, 97.5])
    return Outcome(share_of(stated, pairs), share_of(holds, stated), float(low), float(high))


#: {(collection or "all", number of queries or "half"): outcomes by statement}
Outcomes = dict[tuple[str, str], list[Outcome]]


def measure(collections: Sequence[Collection], seed: int, halves: int) -> Outcomes:
    """Return the outcomes of each collection and of all together, where all have the size."""
    counts: dict[tuple[str, str], Counts] = {}
    for collection in collections:
        with ProcessPoolExecutor() as pool:
            numbers = range(halves)
            divisions = list(pool.map(partial(divide, collection, seed), numbers, chunksize=5))
        stated = np.array([division.stated for division in divisions])
        answers = np.array([division.answers for division in divisions])[:, None]
        for index, size in enumerate(collection.labels):
            of_size = stated[:, index]
            counts[collection.name, size] = Counts(
                (of_size != 0).astype(np.float64),
                ((of_size != 0) & (of_size == answers)).astype(np.float64),
                collection.pairs,
                len(collection.systems),
            )
    groups = {key: [part] for key, part in counts.items()}
    for size in (*map(str, SIZES), "half"):
        parts = [counts[key] for key in counts if key[1] == size]
        if len(parts) == len(collections):
            groups["all", size] = parts
    return {
        key: [outcome_of(parts, statement) for statement in range(len(STATEMENTS))]
        for key, parts in groups.items()
    }


def print_tables(outcomes: Outcomes) -> None:
    """Print a table for each collection, and for all of them."""
    for name in dict.fromkeys(name for name, _ in reversed(outcomes)):
        columns = {size: cells for (group, size), cells in outcomes.items() if group == name}
        print(f"\n{name}\n\n| stated on | {' | '.join(map(str, columns))} |")
        print("|---|" + "---|" * len(columns))
        for label, *cells in zip(STATEMENTS, *columns.values(), strict=True):
            print(f"| {label} | {' | '.join(map(str, cells))} |")


def print_agreement(first: Outcomes, second: Outcomes) -> None:
    """Print by how many standard errors the shares of two seeds differ."""
    distances = []
    for key, outcomes in first.items():
        for outcome, other in zip(outcomes, second[key], strict=True):
            for one_seed, other_seed in zip(outcome[:2], other[:2], strict=True):
                error = math.hypot(one_seed.error, other_seed.error)
                if error > 0:
                    distances.append(abs(one_seed.value - other_seed.value) / error)
    above = sum(distance > 2 for distance in distances)
    print(
        f"\n{len(distances)} shares of two seeds differ by at most {max(distances):.1f} standard "
        f"errors of their difference; {above} by more than 2"
    )


def draw(collections: Sequence[Collection], outcomes: Outcomes, path: Path | str) -> None:
    """Save the figure: signs that do not hold, and of how many pairs something is stated."""
    import matplotlib as mpl  # noqa: PLC0415 - only for the picture

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    drawn = [collection for collection in collections if len(collection.systems) > 2]
    figure, panels = plt.subplots(
        2, len(drawn), figsize=(10, 6), sharex="col", sharey="row", layout="constrained"
    )
    for column, collection in zip(panels.T, drawn, strict=True):
        sizes = collection.sizes
        cells = [outcomes[collection.name, label] for label in collection.labels]
        for statement in DRAWN:
            holds = [100 - outcome[statement].holds.value for outcome in cells]
            stated = [outcome[statement].stated.value for outcome in cells]
            label = STATEMENTS[statement].replace("`", "")
            style = "--" if label.startswith("t test") else "-"  # else hidden below another line
            for panel, values in zip(column, (holds, stated), strict=True):
                panel.plot(sizes, values, style, marker="o", markersize=4, label=label, zorder=3)
        column[0].set_title(f"{collection.name}: {len(collection.systems)} runs")
        column[1].set(xlabel="queries on which it is stated", xlim=(0, None))
    panels[0, 0].set(ylabel="other sign on the other half, %", ylim=(0, None))
    panels[1, 0].set(ylabel="pairs of which it is stated, %", ylim=(0, 105))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    figure.savefig(path, dpi=90)


def main() -> None:
    """Print the tables of each seed, and how far the others are from the first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--halves", type=int, default=HALVES)
    parser.add_argument("--figure")
    options = parser.parse_args()
    warnings.simplefilter("ignore", BeirEvalWarning)
    collections = [Collection.read(name) for name in COLLECTIONS]
    for collection in collections:
        means = row_means(collection.scores)
        print(
            f"{collection.name}: {len(collection.systems)} runs, {collection.pairs.shape[1]} pairs,"
            f" {len(collection.query_ids)} queries, half is {collection.sizes[-1]}; mean {MEASURE} "
            f"{means.min():.3f} to {means.max():.3f}"
        )
    needed = smallest_number_for_equality()
    print(f"equivalent: of no pair, since a margin of {MARGIN} needs {needed} queries or more")
    outcomes = measure(collections, options.seeds[0], options.halves)
    print(f"seed {options.seeds[0]}, {options.halves} divisions; % of the pairs: % with this sign")
    print_tables(outcomes)
    if options.figure:
        draw(collections, outcomes, options.figure)
    for seed in options.seeds[1:]:
        others = measure(collections, seed, options.halves)
        print(f"\nseed {seed}")
        print_tables(others)
        print_agreement(outcomes, others)


if __name__ == "__main__":
    main()
