"""All comparisons at once, with the family-wise error held: randomised Tukey HSD and max-T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.significance.sign_flip import AllPairs, mean_differences, systems_of
from beir_eval.significance.sign_vectors import SignVectors
from beir_eval.significance.validation import (
    TOLERANCE,
    as_scores,
    check_draws,
    generator,
    row_means,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from beir_eval.core.arrays import Floats

#: Randomisations unless told: the smallest p is then 1e-4, and .05 is known to ±.0044.
DRAWS = 10_000
#: Scores that are permuted together: few enough to stay in the processor's cache, unless so many
#: systems leave too few columns to be worth a call of numpy.
_PERMUTED_TOGETHER, _FEWEST_COLUMNS = 2**16, 2**12


@dataclass(frozen=True, eq=False)
class MaxT:
    """A family of paired comparisons tested together.

    Attributes:
        differences: mean differences, f8[D].
        statistics: t of each comparison, infinite where all its differences are equal, f8[D].
        p: two-sided, corrected for the whole family, f8[D].
        num_queries: Q.
        step_down: whether the step-down variant was used.
        draws: how many sign vectors were tried.
        exact: whether these are all 2^Q.
    """

    differences: Floats
    statistics: Floats
    p: Floats
    num_queries: int
    step_down: bool
    draws: int
    exact: bool


def randomised_tukey_hsd(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Test all pairs of systems against the largest gap that chance would produce among them all.

    In each draw the systems' labels are permuted within every query, uniformly and independently.

    Formula: range* = highest − lowest of the S permuted means; for a pair whose means are ``gap``
    apart count = ``#{range* >= |gap| − tolerance}`` and p = (1 + count) / (draws + 1). The
    tolerance is 1e-12 times the mean over queries of the largest centred score.

    Holds the family-wise error of exchangeable systems; one that stands far from the rest widens
    the range and costs the other pairs power. Equal means are not enough: where one system's noise
    was twice that of four others the error was .073 at .05 (``benchmarks/familywise.py``), that of
    ``max_t_pairs`` .050, which therefore is the one to prefer.

    Args:
        scores: f8[S, Q], one row a system.
        draws: permutations of all queries' labels. The cost is draws × S × Q.
        rng: a seed, or a numpy Generator.

    Source: Carterette, Multiple testing in statistical analysis of systems-based information
    retrieval experiments, ACM TOIS 30(1), 2012.

    Raises:
        InputError: not numbers, NaN, fewer than two queries or two systems.
        SettingError: draws below 1, no seed.

    >>> scores = [[0.9] * 12, [0.5] * 12, [0.5] * 12]
    >>> bool(randomised_tukey_hsd(scores, draws=999).p[0, 1] <= 0.01)
    True
    """
    values, centred = systems_of(scores, 2)
    check_draws(draws)
    num_queries = values.shape[1]
    spread = _permuted_ranges(centred, draws, generator(rng))
    totals = centred.sum(axis=1)
    gaps = np.abs(totals[:, None] - totals[None, :])
    tolerance = TOLERANCE * np.abs(centred).max(axis=0).sum()
    p = (1 + _num_at_least(spread, gaps - tolerance)) / (draws + 1)
    np.fill_diagonal(p, 1.0)
    return AllPairs(
        "randomised Tukey HSD", mean_differences(values), p, num_queries, int(draws), exact=False
    )


def max_t(differences: Any, *, draws: int = DRAWS, rng: Any = 0, step_down: bool = False) -> MaxT:
    """Test a family of comparisons against the largest t that chance would produce among them.

    The sign of a query is flipped in all comparisons together, so their correlation is kept, and
    the correction is as strong as they need and no stronger.

    Formula: with r = Σ d_q / √(Q·Σ d_q²), which orders sign flips as t does (t = r·√((Q − 1) / (1 −
    r²)), and Σ d² stays), count = ``#{max over the family of |r*| >= |r| − 1e-12}`` and p = (1 +
    count) / (draws + 1), or count / 2^Q over all sign vectors. With ``step_down`` the maximum is
    taken over the comparisons with no larger ``|r|`` only, and p never falls from larger to smaller
    ``|r|``: more power, the same family-wise error.

    Args:
        differences: f8[D, Q], one row a comparison.
        draws: sign vectors to try; all of them where 2^Q is not more.
        rng: a seed, or a numpy Generator.
        step_down: see above.

    Degenerate: all differences of a row 0: its p is 1.

    Source: Westfall and Young, Resampling-Based Multiple Testing, 1993; Boytsov, Belova and
    Westfall, Deciding on an adjustment for multiplicity in IR experiments, SIGIR 2013.

    Raises:
        InputError: not numbers, NaN, fewer than two queries.
        SettingError: draws below 1, no seed.

    >>> max_t([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]).p.tolist()
    [0.25, 1.0]
    """
    values = as_scores(differences, 2, "the differences")
    signs = SignVectors.choose(values.shape[1], draws, rng)
    ratios, unit = _ratios(values)
    size = np.abs(ratios)
    p = _stepped_down(unit, size, signs) if step_down else _single_step(unit, size, signs)
    return MaxT(
        row_means(values),
        _as_t(ratios, signs.num_queries),
        p,
        signs.num_queries,
        step_down,
        signs.draws,
        signs.exact,
    )


def max_t_pairs(scores: Any, *, draws: int = DRAWS, rng: Any = 0) -> AllPairs:
    """Return the single-step ``max_t`` of all pairs of systems, without forming their differences.

    Two systems whose scores differ by rounding noise only have p = 1.

    Args:
        scores: f8[S, Q], one row a system.
        draws: as ``max_t``.
        rng: as ``max_t``.

    Raises:
        InputError: as ``max_t``, or fewer than two systems.
        SettingError: as ``max_t``.

    >>> max_t_pairs([[0.5, 0.4, 0.9], [0.4, 0.2, 0.6], [0.4, 0.2, 0.6]]).p[0].tolist()
    [1.0, 0.25, 0.25]
    """
    values, centred = systems_of(scores, 2)
    signs = SignVectors.choose(values.shape[1], draws, rng)
    scale = _scale_of_pairs(centred)

    def largest(products: Floats) -> Floats:
        peaks = np.zeros(products.shape[1])
        for row in range(len(products) - 1):
            gaps = products[row] - products[row + 1 :]
            np.abs(gaps, out=gaps)
            gaps /= scale[row, row + 1 :, None]
            np.maximum(peaks, gaps.max(axis=0), out=peaks)
        return peaks

    totals = centred.sum(axis=1)
    size = np.abs(totals[:, None] - totals[None, :]) / scale
    peaks = _peaks(centred, signs, largest)
    p = signs.p_values(_num_at_least(peaks, size - TOLERANCE))
    return AllPairs(
        "max-T", mean_differences(values), p, signs.num_queries, signs.draws, signs.exact
    )


def _permuted_ranges(centred: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return the range of the permuted systems' totals, draw by draw: f8[S, Q] -> f8[draws]."""
    num_systems, num_queries = centred.shape
    columns = max(_PERMUTED_TOGETHER // num_systems, _FEWEST_COLUMNS)
    together = min(draws, max(1, columns // num_queries))
    spread = np.empty(draws)
    for begin in range(0, draws, together):
        count = min(together, draws - begin)
        totals = np.empty((num_systems, count))
        for last, one in _shuffled(np.tile(centred, count), rng):
            totals[last] = one.reshape(count, num_queries).sum(axis=1)
        spread[begin : begin + count] = totals.max(axis=0) - totals.min(axis=0)
    return spread


def _shuffled(columns: Floats, rng: np.random.Generator) -> Iterator[tuple[int, Floats]]:
    """Permute each column of f8[S, N] in place; yield the rows as they become final, last first.

    Fisher and Yates' shuffle of all columns at once: five times as fast here as numpy's own, which
    goes from column to column.
    """
    num_rows, num_columns = columns.shape
    flat, place = columns.reshape(-1), np.arange(num_columns)
    narrow = np.min_scalar_type(num_rows)
    for last in range(num_rows - 1, 0, -1):
        chosen = rng.integers(0, last + 1, size=num_columns, dtype=narrow).astype(np.int64)
        chosen *= num_columns
        chosen += place
        taken = flat.take(chosen)
        flat[chosen] = columns[last]
        yield last, taken
    yield 0, columns[0]


def _ratios(values: Floats) -> tuple[Floats, Floats]:
    """Return r of each row, and the rows scaled so that their sum is r: f8[D], f8[D, Q]."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    scaled = values / np.where(largest, largest, 1.0)
    norm = np.sqrt(values.shape[1] * np.square(scaled).sum(axis=1, keepdims=True))
    unit = scaled / np.where(norm, norm, 1.0)
    return unit.sum(axis=1), unit


def _as_t(ratios: Floats, num_queries: int) -> Floats:
    left = 1.0 - np.square(ratios)
    flat = left <= TOLERANCE
    t = ratios * np.sqrt((num_queries - 1) / np.where(flat, 1.0, left))
    return np.where(flat, np.copysign(np.inf, ratios), t)


def _scale_of_pairs(centred: Floats) -> Floats:
    """Return √(Q·Σ(a − b)²) of all pairs f8[S, S]; infinity for pairs equal but for noise."""
    num_systems, num_queries = centred.shape
    noise = TOLERANCE * np.abs(centred).max()
    scale = np.full((num_systems, num_systems), np.inf)
    for row in range(num_systems):
        gaps = centred[row] - centred
        norm = np.sqrt(num_queries * np.square(gaps).sum(axis=1))
        scale[row] = np.where(np.abs(gaps).max(axis=1) > noise, norm, np.inf)
    return scale


def _peaks(rows: Floats, signs: SignVectors, largest: Callable[[Floats], Floats]) -> Floats:
    """Return the largest statistic for every sign vector, f8[draws]."""
    return np.concatenate([largest(rows @ block.T) for block in signs.blocks(len(rows))])


def _single_step(unit: Floats, size: Floats, signs: SignVectors) -> Floats:
    peaks = _peaks(unit, signs, lambda flipped: np.asarray(np.abs(flipped).max(axis=0)))
    return signs.p_values(_num_at_least(peaks, size - TOLERANCE))


def _stepped_down(unit: Floats, size: Floats, signs: SignVectors) -> Floats:
    ascending = np.argsort(size, kind="stable")
    limit = size[ascending, None] - TOLERANCE
    counts = np.zeros(len(size), dtype=np.int64)
    for block in signs.blocks(len(unit)):
        flipped = np.abs(unit[ascending] @ block.T)
        counts += np.count_nonzero(np.maximum.accumulate(flipped, axis=0) >= limit, axis=1)
    p = np.empty(len(size))
    # From the largest |r| down, p may only grow.
    p[ascending] = np.maximum.accumulate(signs.p_values(counts)[::-1])[::-1]
    return p


def _num_at_least(drawn: Floats, limits: Floats) -> Any:
    """Return how many drawn values reach each limit, an array of the limits' shape."""
    return len(drawn) - np.searchsorted(np.sort(drawn), limits, side="left")
