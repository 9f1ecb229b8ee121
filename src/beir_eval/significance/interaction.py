"""The interaction test of slices: does the gain of one system over another differ between them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import is_iterable
from beir_eval.errors import InputError, shown
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import (
    all_equal,
    as_scores,
    generator,
    without_noise,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints

#: Slices with fewer queries have no part in the test: their spread is too uncertain. With four
#: slices of 5 queries beside one of 120 and a quarter of their spread, equal gains were called
#: different in 16% of simulations, with slices of 10 in 10%.
FEWEST_IN_SLICE = 10
#: The fewest slices that can differ.
FEWEST_SLICES = 2
#: How many queries the variance of all queries counts as, in the variance of each slice.
_COMMON_WEIGHT = 0.25
#: Statistics are equal if they differ by no more than this, relative to the larger of 1 and them.
_TOLERANCE = 1e-9
#: Numbers of a block of permutations: 32 MiB.
_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class SliceInteractions:
    """Tests of whether D mean differences are the same in all slices of the queries.

    Attributes:
        statistics: the statistic of each comparison, no unit, f8[D].
        p: p-values, not corrected for their number, f8[D].
        labels: the labels of the slices in the test, in the order in which they first occur. [K]
        too_small: the labels of the slices with fewer than 10 queries, which have no part in it.
        num_queries: the number of queries in the test.
        draws: the number of random permutations.
    """

    statistics: Floats
    p: Floats
    labels: tuple[Hashable, ...]
    too_small: tuple[Hashable, ...]
    num_queries: int
    draws: int


def slice_interaction(
    differences: Any,
    labels: Sequence[Hashable],
    *,
    draws: int | None = None,
    rng: Any = 0,
) -> SliceInteractions:
    """Test whether the mean differences of D comparisons are the same in all slices of the queries.

    Comparing each slice with 0 does not answer this: a gain that is the same everywhere is often
    significant in some slices and not in others. Here the labels are permuted among the queries. If
    the differences of all slices come from one distribution, the level is exact. If only their
    means are equal, it holds approximately, because the statistic divides by the spread of each
    slice; that of the F test does not, and its error is far from the level there.

    Formula: with n_k queries, mean m_k and variance v_k in slice k, and the variance v of all
    queries, ``s²_k = ((n_k − 1)·v_k + v/4) / (n_k − 3/4)`` and w_k = n_k / s²_k. The statistic is
    W = Σ w_k (m_k − m)², where m = Σ w_k m_k / Σ w_k. p = (1 + ``#{W* >= W}``) / (draws + 1) over
    permutations, with a relative tolerance of 1e-9. The v/4, a quarter of a query, keeps a slice in
    which nothing differs from an infinite weight.

    In simulations with two to six slices of 20 to 120 queries, equal gains and spreads of .1 to .4,
    the error at a level of .05 was 2.5% to 5.8% for differences of nDCG@10 and for 70% to 90%
    zeros, 2.6% to 7.9% for those of MAP with a skewness of 1.4, and 2.0% to 9.0% with one of 2.2.
    It is far higher (up to 38%) if a small slice cannot show its own spread: if its gain comes from
    so few queries that it may have none of them, or if it has ten skewed differences of a large
    spread. ``benchmarks/interaction.py`` makes the table in benchmarks/SIMULATIONS.md.

    Args:
        differences: first − second by query, one row per comparison, f8[D, Q].
        labels: the label of the slice of each query. [Q]
        draws: the number of random permutations, which all comparisons share; None means 100,000,
            or 20,000 for more than 1,000 queries, so that it takes seconds. The standard error of a
            p of .05 is then .0007, or .0015.
        rng: a seed (a whole number from 0) or a numpy Generator.

    Degenerate: if all differences of a row are equal, p = 1. Slices with fewer than 10 queries have
    no part in the test.

    Source: Welch, On the comparison of several mean values, Biometrika 38, 1951 (the statistic);
    Chung and Romano, Exact and asymptotically robust permutation tests, Annals of Statistics 41(2),
    2013 (its permutation). The v/4 is our construction.

    Raises:
        InputError: the differences are not finite numbers, are not two-dimensional, or cover fewer
            than two queries; the labels are not one for each query; or fewer than two slices have
            10 queries.
        SettingError: draws is below 1, or rng is neither a seed nor a Generator.

    >>> gains = [[0.1, 0.2] * 10 + [-0.1, 0.0] * 10, [0.1, 0.2] * 20]
    >>> slice_interaction(gains, ["long"] * 20 + ["short"] * 20, draws=999).p.tolist()
    [0.001, 1.0]
    """
    values = as_scores(differences, 2, "the differences")
    queries_by_label = _queries_by_label(labels, values.shape[1])
    random = generator(rng)
    large = {
        label: queries
        for label, queries in queries_by_label.items()
        if len(queries) >= FEWEST_IN_SLICE
    }
    if len(large) < FEWEST_SLICES:
        msg = (
            f"{FEWEST_SLICES} slices of {FEWEST_IN_SLICE} or more queries were expected, found "
            f"{len(large)}; join small slices"
        )
        raise InputError(msg)
    kept = np.sort(np.concatenate(list(large.values())))
    slice_of = np.zeros(values.shape[1], dtype=np.int64)
    for number, queries in enumerate(large.values()):
        slice_of[queries] = number
    draws = SignVectors.choose(len(kept), draws, 0).draws  # as many as sign flips
    statistics, p = _tests(values[:, kept], slice_of[kept], draws, random)
    return SliceInteractions(
        statistics,
        p,
        tuple(large),
        tuple(label for label in queries_by_label if label not in large),
        len(kept),
        draws,
    )


def _queries_by_label(labels: Any, num_queries: int) -> dict[Hashable, list[int]]:
    """Return {label: indices of its queries}.

    Raises:
        InputError: the labels are not one for each query, or one cannot be told from others.
    """
    listed = list(labels) if is_iterable(labels) else [labels]
    if isinstance(labels, str) or len(listed) != num_queries:
        msg = (
            f"labels must hold one label for each of the {num_queries} queries, not {shown(labels)}"
        )
        raise InputError(msg)
    queries_by_label: dict[Hashable, list[int]] = {}
    for index, label in enumerate(listed):
        try:
            queries_by_label.setdefault(label, []).append(index)
        except TypeError as error:
            msg = f"a label must be text or a number, not {shown(label)} at index {index}"
            raise InputError(msg) from error
    return queries_by_label


def _tests(
    values: Floats, slice_of: Ints, draws: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return statistics and p-values, f8[D] each.

    Args:
        values: differences by comparison and query, f8[D, Q]; not changed.
        slice_of: the number of the slice of each query, from 0 to K − 1, i8[Q].
        draws: the number of permutations.
        random: the generator of the permutations.
    """
    rows = np.stack([without_noise(row) for row in values])
    is_tested = ~all_equal(rows)
    statistics, p = np.zeros(len(rows)), np.ones(len(rows))
    if not is_tested.any():
        return statistics, p
    centred = rows[is_tested] - rows[is_tested].mean(axis=1, keepdims=True)
    # In units of their standard deviation, so that no square is too small or too large.
    centred /= np.abs(centred).max(axis=1, keepdims=True)
    centred /= np.sqrt((centred**2).sum(axis=1, keepdims=True) / (centred.shape[1] - 1))
    columns = np.concatenate([centred, centred**2]).T
    sizes = np.bincount(slice_of).astype(np.float64)
    [actual] = _statistics(columns, slice_of[None, :], sizes)
    least = actual - _TOLERANCE * np.maximum(actual, 1)
    count = np.zeros(len(actual), dtype=np.int64)
    # The product has 2·D columns for each slice and permutation.
    block = max(1, _BLOCK // max(len(slice_of), len(sizes) * columns.shape[1]))
    for permuted in _permutations(slice_of, draws, block, random):
        count += (_statistics(columns, permuted, sizes) >= least).sum(axis=0)
    statistics[is_tested], p[is_tested] = actual, (1 + count) / (draws + 1)
    return statistics, p


def _permutations(
    slice_of: Ints, draws: int, block: int, random: np.random.Generator
) -> Iterator[Ints]:
    """Yield random permutations of the slices of the queries, ``block`` at a time: i8[b, Q]."""
    for begin in range(0, draws, block):
        copies = np.tile(slice_of, (min(block, draws - begin), 1))
        yield random.permuted(copies, axis=1, out=copies)


def _statistics(columns: Floats, slices: Ints, sizes: Floats) -> Floats:
    """Return the statistic of every comparison for several assignments of queries to slices.

    Args:
        columns: by query the differences of D comparisons, whose mean is 0 and whose variance is 1,
            then their squares, f8[Q, 2·D].
        slices: the number of the slice of each query, i8[B, Q].
        sizes: the number of queries of each slice, which is the same in all assignments, f8[K].

    Returns:
        f8[B, D].
    """
    sums = np.empty((len(sizes), len(slices), columns.shape[1]))
    for number in range(len(sizes) - 1):
        sums[number] = (slices == number).astype(np.float64) @ columns
    # One product less: the last slice has the rest of the total.
    sums[-1] = columns.sum(axis=0) - sums[:-1].sum(axis=0)
    totals, squares = np.split(sums, 2, axis=2)
    queries = sizes[:, None, None]
    means = totals / queries
    deviations = np.maximum(squares - totals * means, 0.0)
    weights = queries * (queries - 1 + _COMMON_WEIGHT) / (deviations + _COMMON_WEIGHT)
    common_mean = (weights * means).sum(axis=0) / weights.sum(axis=0)
    return np.asarray((weights * (means - common_mean) ** 2).sum(axis=0))
