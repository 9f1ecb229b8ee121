"""Randomisation distributions of many paired comparisons, from one pass over the sign vectors.

``randomise`` takes families of comparisons (one for each measure, say). For each comparison it
returns what its test and its interval need, for each family the distribution of the largest
statistic. ``sign_flip`` and ``multiple_comparisons`` call it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from beir_eval.significance.sign_vectors import all_subsets
from beir_eval.significance.validation import LEVEL_TOLERANCE, TOLERANCE, row_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.sign_vectors import Keys, SignVectors

#: Over which comparisons the largest statistic of a draw is taken: none, or the whole family.
Largest = Literal["none", "family"]
#: Numbers of the comparisons that are computed together: 1 MiB.
_PART = 2**17


@dataclass(frozen=True, eq=False)
class Family:
    """Comparisons that are tested together, on the same N queries.

    Attributes:
        rows: scores by system, or differences, f8[R, N].
        keys: the key of each query, by which its random signs are drawn, u8[N].
        first: for each comparison the row of its system, i8[D].
        second: the row to subtract, i8[D]; None if the rows are differences.
        weights: how much a difference of 1 in the mean adds to the difference of each query, with
            a mean of 1, f8[N]; None for 1 everywhere.
    """

    rows: Floats
    keys: Keys
    first: Ints
    second: Ints | None = None
    weights: Floats | None = None

    def compare(self, rows: Floats, comparisons: Ints | slice) -> Floats:
        """Return the differences of some comparisons: f8[R, n] -> f8[C, n], a new array.

        Args:
            rows: numbers for each row of the family: its scores, or sums of them.
            comparisons: the indices of C comparisons.
        """
        differences: Floats = rows[self.first[comparisons]].copy()
        if self.second is not None:
            differences -= rows[self.second[comparisons]]
        return differences


@dataclass(frozen=True, eq=False)
class FlippedFamily:
    """The randomisation distributions of a family of D comparisons of N queries.

    A draw is a subset of the queries and stands for its complement too.

    Attributes:
        means: the mean differences, f8[D].
        deviations: the standard deviations of the differences, N − 1 in the denominator, f8[D].
        statistics: r = Σd / √(N·Σd²) of each comparison, from −1 to 1, f8[D].
        num_queries: N.
        draws: the number of draws behind each comparison, i8[D].
        num_distinct: the number of these whose signs of differing queries are not the same, if all
            such draws were tried, otherwise the number of draws, i8[D].
        exact: whether these are all subsets of the queries that differ, bool[D].
        at_most_0, at_least_0: how many subsets and complements have a sum <= 0, or >= 0, i8[D].
        lowest: the smallest means of subsets and complements, ascending; −infinity if empty. [D]
        highest: the largest means, descending; infinity if empty. [D]
        reached: the largest ``|r*|`` of the flipped differences, descending. [D]
        is_largest_exact: whether the draws behind ``p_largest`` are all subsets.
        p_largest: the share of draws whose largest statistic is at least that of the comparison,
            the larger share of two references (``multiple_comparisons.max_t_tests``), f8[D].
        critical: the ``|r|`` above which ``p_largest`` is at most the level, f8[D].
    """

    means: Floats
    deviations: Floats
    statistics: Floats
    num_queries: int
    draws: Ints
    num_distinct: Ints
    exact: Mask
    at_most_0: Ints
    at_least_0: Ints
    lowest: list[Floats]
    highest: list[Floats]
    reached: list[Floats]
    is_largest_exact: bool
    p_largest: Floats
    critical: Floats

    def p(self, alternative: str = "two-sided") -> Floats:
        """Return the p-values of all comparisons, above 0, not corrected for their number, f8[D].

        Args:
            alternative: "two-sided", "less" or "greater".
        """
        added = np.where(self.exact, 0, 1)
        if alternative != "two-sided":
            counts = self.at_most_0 if alternative == "greater" else self.at_least_0
            return np.asarray((added + counts) / (2 * (self.draws + added)))
        counts = np.where(self.statistics > 0, self.at_most_0, self.at_least_0)
        counts = np.where(self.statistics == 0, self.draws, counts)
        return np.asarray((added + counts) / (self.draws + added))

    def intervals(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return low and high ends of the intervals, f8[D] and f8[D].

        An interval excludes 0 exactly if the two-sided p is at most its level.

        Args:
            levels: 1 − the confidence of each interval, at most the level of ``randomise``, f8[D].
        """
        low, high = np.full(len(self.means), -np.inf), np.full(len(self.means), np.inf)
        for index, level in enumerate(levels.tolist()):
            rank = self.rank(index, level)
            if rank:
                low[index], high[index] = (
                    self.lowest[index][rank - 1],
                    self.highest[index][rank - 1],
                )
        return low, high

    def rank(self, index: int, level: float) -> int:
        """Return the rank of the draw that bounds a comparison at a level (``rank_at``)."""
        return rank_at(level, int(self.draws[index]), exact=bool(self.exact[index]))

    def levels_of(self, critical: Floats) -> Floats:
        """Return the level of the uncorrected test of each comparison at a critical value, f8[D].

        Args:
            critical: a critical ``|r|`` for each comparison, not below ``own_critical``, f8[D].
        """
        num_larger = [
            int(np.searchsorted(-reached, -value - TOLERANCE, side="left"))
            for reached, value in zip(self.reached, critical.tolist(), strict=True)
        ]
        return np.asarray((np.array(num_larger) + 1) / (self.draws + 1))

    def own_critical(self, level: float) -> Floats:
        """Return the ``|r|`` above which the uncorrected p is at most a level, f8[D]."""
        ranks = [self.rank(index, level) for index in range(len(self.means))]
        return np.array(
            [
                reached[rank - 1] if rank else math.inf
                for reached, rank in zip(self.reached, ranks, strict=True)
            ]
        )


def rank_at(level: float, draws: int, *, exact: bool) -> int:
    """Return the rank of the extreme draw that bounds an interval at a level; 0: unbounded.

    With k draws as extreme as the data, p = (1 + k) / (draws + 1), or k / draws if all are tried.
    So p <= level exactly if the draw of this rank is less extreme than the data.

    Args:
        level: the level of the two-sided test.
        draws: the number of draws.
        exact: whether these are all subsets, up to complement.
    """
    if exact:
        return math.floor(level * draws * (1 + LEVEL_TOLERANCE)) + 1
    return math.floor(level * (draws + 1) * (1 + LEVEL_TOLERANCE))


def randomise(
    families: Sequence[Family],
    signs: SignVectors,
    *,
    level: float | None = None,
    largest: Largest = "none",
) -> list[FlippedFamily]:
    """Return the randomisation distributions of families of comparisons.

    All families share the random subsets of queries. Queries on which no system differs leave the
    product: only their number in a subset matters, which is binomial. A comparison with few enough
    differing queries has all their subsets enumerated, and so has a family.

    Args:
        families: the comparisons.
        signs: the random subsets.
        level: the largest level for which intervals and critical values will be needed; None if
            only p-values are.
        largest: over which comparisons the largest statistic is taken.
    """
    tests = [_FamilyTest(family, signs, level, largest) for family in families]
    drawn = [test for test in tests if test.needs_draws]
    if drawn:
        keys = np.unique(np.concatenate([test.active_keys for test in drawn]))
        parts = [test.product_rows(keys) for test in drawn]
        ends = np.cumsum([len(part) for part in parts])
        rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
        del parts  # a copy
        begin = 0
        for sums in signs.products(rows, keys):
            for test, products in zip(drawn, np.split(sums, ends[:-1]), strict=True):
                test.add_draws(products, begin)
            begin += sums.shape[1]
    return [test.result() for test in tests]


class _Largest:
    """The largest of many numbers, collected part by part.

    Args:
        size: how many to keep.
    """

    def __init__(self, size: int) -> None:
        self._size, self._limit = size, -math.inf
        self._values = np.empty(0)

    def add(self, values: Floats) -> None:
        """Add numbers, f8[b]."""
        if not self._size:
            return
        if self._limit > -math.inf:
            values = values[values > self._limit]
        self._values = np.concatenate([self._values, values])
        excess = len(self._values) - self._size
        if excess > self._size:
            self._values = np.partition(self._values, excess)[excess:]
            self._limit = float(self._values[0])

    def descending(self) -> Floats:
        """Return the numbers kept, largest first."""
        return np.sort(self._values)[::-1][: self._size]


class _Extremes:
    """The most extreme subsets of one comparison, collected part by part.

    Args:
        size: how many to keep at each side.
    """

    def __init__(self, size: int) -> None:
        self._lowest, self._highest, self._reached = (_Largest(size) for _ in range(3))

    def add(self, means: Sequence[Floats], reached: Floats) -> None:
        """Add subsets.

        Args:
            means: the means of subsets, and of their complements, NaN if empty, f8[b] each.
            reached: ``|r*|``, f8[b].
        """
        for values in means:
            is_empty = np.isnan(values)
            self._highest.add(np.where(is_empty, math.inf, values))
            self._lowest.add(np.where(is_empty, math.inf, -values))
        self._reached.add(reached)

    def sorted(self) -> tuple[Floats, Floats, Floats]:
        """Return the lowest means, ascending, the highest and ``|r*|``, descending."""
        lowest = -self._lowest.descending()
        return lowest, self._highest.descending(), self._reached.descending()


class _LargestTest:
    """The largest statistic of a family while subsets are drawn.

    Args:
        statistics: ``|r|`` of each comparison, f8[D].
        rank: the rank of the critical value (``rank_at``); 0 if none is needed.
    """

    def __init__(self, statistics: Floats, rank: int) -> None:
        self._limits, self._rank = statistics - TOLERANCE, rank
        self._counts = np.zeros((2, len(statistics)), dtype=np.int64)
        self._extremes = [_Largest(rank), _Largest(rank)]

    def end_of_family(self, reference: int, largest: Floats) -> None:
        """Count the draws by the largest statistic of the whole family, f8[b]."""
        ascending = np.sort(largest)
        self._counts[reference] += len(ascending) - np.searchsorted(ascending, self._limits)
        self._extremes[reference].add(largest)

    def result(self, draws: int, *, exact: bool) -> tuple[Floats, Floats]:
        """Return the share of draws that reach each comparison, and the critical values, f8[D]."""
        added = 0 if exact else 1
        p = (added + self._counts.max(axis=0)) / (draws + added)
        critical = np.full(len(p), math.inf)
        if self._rank:
            critical[:] = max(extremes.descending()[self._rank - 1] for extremes in self._extremes)
        return p, critical


class _FamilyTest:
    """One family while subsets of queries are drawn."""

    def __init__(
        self, family: Family, signs: SignVectors, level: float | None, largest: Largest
    ) -> None:
        """Describe every comparison, and enumerate what has few subsets."""
        self._family, self._signs, self._level = family, signs, level
        # This changes no difference, and sets queries on which all systems agree to 0.
        self._rows = family.rows if family.second is None else family.rows - family.rows[:1]
        self._is_active: Mask = (self._rows != 0).any(axis=0)
        self._weights: Floats = np.broadcast_to(1.0, len(family.keys))  # one number in memory
        if family.weights is not None:
            self._weights = family.weights
            self._is_active[:] = True
        self._whole = float(self._weights.sum())
        self._describe()
        num = self._num_comparisons
        self._counts = np.zeros((2, num), dtype=np.int64)
        self._draws = np.full(num, signs.draws)
        self._exact = np.array(
            [signs.can_enumerate(count) for count in self._num_differing.tolist()]
        )
        self._extremes = [_Extremes(0) for _ in range(num if level is not None else 0)]
        self._enumerate_comparisons()
        self._drawn: Ints = np.flatnonzero(~self._exact)
        self._largest: _LargestTest | None = None
        self._num_largest, self._is_largest_exact = signs.draws, False
        if largest != "none":
            self._start_largest()

    def _describe(self) -> None:
        """Compute what each comparison is, a few of them at a time."""
        family, rows = self._family, self._rows
        self._num_comparisons = num = len(family.first)
        row_scales = np.abs(rows).sum(axis=1)
        self._tolerances = TOLERANCE * row_scales[family.first]
        noise = 0.0
        if family.second is not None:
            self._tolerances += TOLERANCE * row_scales[family.second]
            noise = TOLERANCE * float(np.abs(family.rows).max())
        self._means, self._deviations, self._totals, self._norms, self._centred_norms = (
            np.empty(num) for _ in range(5)
        )
        self._num_differing = np.empty(num, dtype=np.int64)
        root = math.sqrt(rows.shape[1])
        for part in _parts(num, rows.shape[1]):
            values = family.compare(family.rows, part)
            largest = np.abs(values).max(axis=1)
            values[largest <= noise] = 0.0
            self._means[part] = row_means(values)
            self._totals[part] = values.sum(axis=1)
            # Squares of scaled differences stay in the range of a float.
            scale = np.where(largest > noise, largest, 1.0)[:, None]
            self._deviations[part] = largest * (values / scale).std(axis=1, ddof=1)
            self._norms[part] = root * largest * np.linalg.norm(values / scale, axis=1)
            num_differing = np.count_nonzero(values, axis=1)
            if family.weights is not None:
                num_differing[num_differing > 0] = rows.shape[1]
            self._num_differing[part] = num_differing
            values -= self._means[part, None] * self._weights
            norms = root * largest * np.linalg.norm(values / scale, axis=1)
            is_constant = np.abs(values).max(axis=1) <= TOLERANCE * largest
            self._centred_norms[part] = np.where(is_constant, 0.0, norms)
        self._totals[np.abs(self._totals) <= self._tolerances] = 0.0
        self._norms[self._norms == 0] = math.inf
        self._centred_norms[self._centred_norms == 0] = math.inf
        self._statistics = self._totals / self._norms

    def _enumerate_comparisons(self) -> None:
        """Count all subsets of the comparisons with few differing queries."""
        family, level = self._family, self._level
        for index in np.flatnonzero(self._exact).tolist():
            row = family.compare(self._rows, np.array([index]))
            is_active = row[0] != 0 if family.weights is None else self._is_active
            if not self._norms[index] < math.inf:
                is_active = np.zeros_like(is_active)
            sums, sizes = self._all_subsets(row, is_active)
            self._draws[index] = len(sizes)
            if level is not None:
                self._extremes[index] = _Extremes(rank_at(level, len(sizes), exact=True))
            self._count(np.array([index]), sums, sizes)
        if level is not None:
            for index in np.flatnonzero(~self._exact).tolist():
                self._extremes[index] = _Extremes(rank_at(level, self._signs.draws, exact=False))

    def _start_largest(self) -> None:
        """Prepare the distribution of the largest statistic; enumerate it if it is small."""
        sizes = None
        if self._signs.can_enumerate(int(self._is_active.sum())):
            row_sums, sizes = self._all_subsets(self._rows, self._is_active)
            self._num_largest, self._is_largest_exact = len(sizes), True
        rank = 0
        if self._level is not None:
            rank = rank_at(self._level, self._num_largest, exact=self._is_largest_exact)
        self._largest = _LargestTest(np.abs(self._statistics), rank)
        if sizes is not None:
            self._add_largest(self._largest, row_sums, sizes)

    def _all_subsets(self, rows: Floats, is_active: Mask) -> tuple[Floats, Floats]:
        """Return the sums of rows over all subsets, and the weights of the subsets.

        The other queries only count in the weights. If there are any, each subset is repeated with
        random numbers of them, so that there are at least as many as draws.

        Args:
            rows: f8[R, N].
            is_active: the queries whose subsets are enumerated, bool[N].
        """
        subsets = all_subsets(int(is_active.sum()))
        sums = rows[:, is_active] @ subsets
        sizes = self._weights[is_active] @ subsets
        num_other = int((~is_active).sum())
        if num_other:
            repeats = -(-self._signs.draws // len(sizes))
            sums, sizes = np.tile(sums, repeats), np.tile(sizes, repeats)
            sizes += np.resize(self._signs.kept_of(num_other), len(sizes))
        return sums, sizes

    @property
    def needs_draws(self) -> bool:
        """Whether some comparison, or the largest statistic, needs random subsets."""
        return bool(len(self._drawn)) or (self._largest is not None and not self._is_largest_exact)

    @property
    def active_keys(self) -> Keys:
        """The keys of the queries on which systems differ, u8[A]."""
        return self._family.keys[self._is_active]

    def product_rows(self, keys: Keys) -> Floats:
        """Return the rows and the weights at these queries, which contain all active ones.

        Args:
            keys: ascending keys, u8[A].

        Returns:
            f8[R+1, A]
        """
        rows = np.zeros((len(self._rows) + 1, len(keys)))
        columns = np.searchsorted(keys, self.active_keys)
        rows[:-1, columns] = self._rows[:, self._is_active]
        rows[-1, columns] = self._weights[self._is_active]
        num_other = int((~self._is_active).sum())
        self._kept_of_others = self._signs.kept_of(num_other)
        return rows

    def add_draws(self, products: Floats, begin: int) -> None:
        """Add subsets.

        Args:
            products: sums of the product rows over subsets, f8[R+1, b].
            begin: the number of the first draw.
        """
        row_sums = products[:-1]
        sizes = products[-1] + self._kept_of_others[begin : begin + products.shape[1]]
        for part in _parts(len(self._drawn), len(sizes)):
            comparisons = self._drawn[part]
            self._count(comparisons, self._family.compare(row_sums, comparisons), sizes)
        if self._largest is not None and not self._is_largest_exact:
            self._add_largest(self._largest, row_sums, sizes)

    def _count(self, comparisons: Ints, sums: Floats, sizes: Floats) -> None:
        """Count subsets and complements with a sum below and above 0, and keep the extreme ones.

        Args:
            comparisons: indices of C comparisons, i8[C].
            sums: the sums of their differences over subsets, f8[C, b].
            sizes: the weights of the subsets, f8[b].
        """
        totals, tolerances = self._totals[comparisons, None], self._tolerances[comparisons, None]
        sides = []
        for side in (sums, totals - sums):
            clean = np.where(np.abs(side) <= tolerances, 0.0, side)
            self._counts[0, comparisons] += np.count_nonzero(clean <= 0, axis=1)
            self._counts[1, comparisons] += np.count_nonzero(clean >= 0, axis=1)
            sides.append(clean)
        if self._level is None:
            return
        reached = self._flipped(comparisons, sums)
        weights = [
            np.where(weight <= TOLERANCE * self._whole, math.nan, weight)
            for weight in (sizes, self._whole - sizes)
        ]
        for row, index in enumerate(comparisons.tolist()):
            means = [side[row] / weight for side, weight in zip(sides, weights, strict=True)]
            self._extremes[index].add(means, reached[row])

    def _flipped(self, comparisons: Ints, sums: Floats) -> Floats:
        """Return ``|r*|`` of the flipped differences from their sums over subsets, f8[C, b]."""
        flipped = np.abs(2 * sums - self._totals[comparisons, None])
        flipped /= self._norms[comparisons, None]
        return flipped

    def _flipped_centred(self, comparisons: Ints, sums: Floats, sizes: Floats) -> Floats:
        """Return ``|r*|`` of the flipped differences from their mean; 0 if all are equal."""
        flipped = 2 * sums - self._totals[comparisons, None]
        flipped -= self._means[comparisons, None] * (2 * sizes - self._whole)
        np.abs(flipped, out=flipped)
        flipped /= self._centred_norms[comparisons, None]
        return flipped

    def _add_largest(self, test: _LargestTest, row_sums: Floats, sizes: Floats) -> None:
        """Add the largest statistic of subsets: f8[R, b], f8[b]."""
        largest = np.zeros((2, len(sizes)))
        every: Ints = np.arange(self._num_comparisons)
        for part in _parts(len(every), len(sizes)):
            comparisons = every[part]
            sums = self._family.compare(row_sums, comparisons)
            statistics = (
                self._flipped(comparisons, sums),
                self._flipped_centred(comparisons, sums, sizes),
            )
            for reference, values in enumerate(statistics):
                np.maximum(largest[reference], values.max(axis=0), out=largest[reference])
        for reference, family_values in enumerate(largest):
            test.end_of_family(reference, family_values)

    def result(self) -> FlippedFamily:
        """Return the distributions."""
        p_largest, critical = np.empty(0), np.empty(0)
        if self._largest is not None:
            p_largest, critical = self._largest.result(
                self._num_largest, exact=self._is_largest_exact
            )
        extremes = [extremes.sorted() for extremes in self._extremes]
        lowest, highest, reached = (
            (list(column) for column in zip(*extremes, strict=True)) if extremes else ([], [], [])
        )
        return FlippedFamily(
            means=self._means,
            deviations=self._deviations,
            statistics=self._statistics,
            num_queries=self._rows.shape[1],
            draws=self._draws,
            num_distinct=np.where(
                self._exact, np.exp2(np.clip(self._num_differing - 1, 0, 62)), self._draws
            ).astype(np.int64),
            exact=self._exact,
            at_most_0=self._counts[0],
            at_least_0=self._counts[1],
            lowest=lowest,
            highest=highest,
            reached=reached,
            is_largest_exact=self._is_largest_exact,
            p_largest=p_largest,
            critical=critical,
        )


def _parts(count: int, width: int) -> Iterator[slice]:
    """Yield slices of so many comparisons that their numbers fit in the processor's cache."""
    size = max(1, _PART // max(width, 1))
    for begin in range(0, count, size):
        yield slice(begin, min(begin + size, count))
