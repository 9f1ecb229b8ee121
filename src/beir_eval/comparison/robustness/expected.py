"""The differences to expect if unjudged documents are relevant as often as judged ones.

This is the expected case beside the worst case of ``bounds``. Unjudged documents are usually
relevant less often than judged ones at the same rank, because judges took the best-ranked ones
first: so it mostly overestimates the change.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.robustness.pool import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.robustness.bounds import Holes
    from beir_eval.comparison.robustness.pool import Pool, RunRanks
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.measures import Measure
    from beir_eval.significance.sign_vectors import Keys

#: The first rank of each band but the first: ranks 1, 2, 3-5, 6-10, 11-20, …
_BANDS = (2, 3, 6, 11, 21, 51, 101, 201, 501, 1001)
#: Simulated judgements: as many as keep the cells of their matrices below ``_WORK``.
_MOST_SIMULATIONS, _FEWEST_SIMULATIONS, _WORK = 200, 20, 10_000_000


class ExpectedDifference(NamedTuple):
    """The mean difference if the holes were judged: expected, and its interval."""

    expected: float
    expected_low: float
    expected_high: float


def expected_scores(  # noqa: PLR0913, PLR0917 - one argument a part
    pool: Pool,
    systems: Sequence[Sequence[RunRanks]],
    measure: Measure,
    holes: Holes,
    rng: int,
    clusters: Keys | None = None,
) -> Floats | None:
    """Return the scores of all systems for M simulated judgements of the holes, f8[M, S, Q].

    Each hole gets the grade of a random judged document of the same band of ranks (1, 2, 3-5, 6-10,
    11-20, 21-50, …), over all systems and queries. A hole's rank is its best in any system. For
    each simulation the queries are drawn anew with replacement, so that the scores also vary as the
    rates of relevance do.

    Args:
        pool: the judged documents and the holes.
        systems: the ranks in each run of each system. [S][repeats]
        measure: the measure to compute.
        holes: the holes in the top of any system.
        rng: the random seed.
        clusters: the key of the cluster of each query, u8[Q]; None if queries are not related.

    Returns:
        None if no document retrieved is judged; or if there are holes, and none of the judged
        documents retrieved has grade 0: such qrels list relevant documents only, so they do not
        show how often a judged document is relevant.
    """
    grades, counts = _judged_by_band(pool, systems)
    if not counts.any() or (len(holes) and not counts[..., grades == 0].any()):
        return None
    bands = np.searchsorted(_BANDS, _best_ranks(systems, holes.documents), side="right")
    random = np.random.default_rng(rng)
    num_runs = sum(map(len, systems))
    cells = num_runs * (len(pool.is_hole) - int(pool.is_hole.sum()) + len(holes))
    count = max(min(_MOST_SIMULATIONS, _WORK // max(cells, 1)), _FEWEST_SIMULATIONS)
    if not len(holes):
        count = 1
    query = np.arange(pool.num_queries, dtype=np.int64)
    # Clusters are drawn as a whole.
    unit = query if clusters is None else np.unique(clusters, return_inverse=True)[1]
    num_units = int(unit.max()) + 1
    size = np.diff(holes.starts)
    choices = Choices(query, size, holes.documents)
    scores = np.empty((count, len(systems), pool.num_queries))
    for simulation in range(count):
        drawn = random.choice(num_units, size=num_units)
        weights = np.bincount(drawn, minlength=num_units)[unit]
        shares = np.cumsum(_shares(np.tensordot(weights, counts, axes=1), counts), axis=1)
        index = (random.random(len(bands))[:, None] >= shares[bands]).sum(axis=1)
        hole_grades = grades[np.minimum(index, len(grades) - 1)]
        for system, repeats in enumerate(systems):
            by_repeat = [
                measure.scores(pool.matrix_with_grades(ranks, choices, hole_grades))
                for ranks in repeats
            ]
            scores[simulation, system] = np.mean(by_repeat, axis=0)
    return scores


def expected_difference(
    scores: Floats, system: int, against: int, compared: Mask, alpha: float
) -> ExpectedDifference:
    """Return the expected difference of the means of two systems, with its interval.

    The interval is normal, from the standard deviation over the simulations.

    Args:
        scores: what ``expected_scores`` returned, f8[M, S, Q].
        system: the index of the system.
        against: the index of the one it is compared with.
        compared: the queries that are compared, bool[Q].
        alpha: 1 − the confidence of the interval.
    """
    differences = (scores[:, system] - scores[:, against])[:, compared].mean(axis=1)
    mean = float(differences.mean())
    deviation = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    half_width = NormalDist().inv_cdf(1 - alpha / 2) * deviation
    return ExpectedDifference(mean, mean - half_width, mean + half_width)


def _judged_by_band(pool: Pool, systems: Sequence[Sequence[RunRanks]]) -> tuple[Floats, Ints]:
    """Return the grades, ascending, f8[G], and how often each is at each band, i8[Q, B, G].

    Documents count once for each run that retrieves them; negative grades are not judged.
    """
    is_judged = ~pool.is_hole & (pool.qrels.grades >= 0)
    grades, index = np.unique(pool.qrels.grades[is_judged], return_inverse=True)
    grade_index = np.zeros(len(is_judged), dtype=np.int64)
    grade_index[is_judged] = index
    shape = (pool.num_queries, len(_BANDS) + 1, max(len(grades), 1))
    counts = np.zeros(shape, dtype=np.int64)
    for repeats in systems:
        for ranks in repeats:
            retrieved = np.flatnonzero(is_judged & (ranks.rank > 0))
            bands = np.searchsorted(_BANDS, ranks.rank[retrieved], side="right")
            cell = np.ravel_multi_index(
                (pool.qrels.row[retrieved], bands, grade_index[retrieved]), shape
            )
            counts += np.bincount(cell, minlength=counts.size).reshape(shape)
    return grades, counts


def _best_ranks(systems: Sequence[Sequence[RunRanks]], documents: Ints) -> Ints:
    """Return the best rank of each document in any run, i8[N]."""
    best = np.full(len(documents), np.iinfo(np.int64).max)
    for repeats in systems:
        for ranks in repeats:
            rank = ranks.rank[documents]
            best = np.where(rank > 0, np.minimum(best, rank), best)
    return best


def _shares(drawn: Ints, counts: Ints) -> Floats:
    """Return the share of each grade at each band, f8[B, G].

    A band without judged documents in the queries drawn takes those of all queries; one without any
    takes the shares of the next band above, or of the first band with judged documents.
    """
    totals = counts.sum(axis=0)
    used = np.where(drawn.sum(axis=1, keepdims=True) > 0, drawn, totals)
    known = np.flatnonzero(totals.sum(axis=1))
    bands = np.arange(len(used))
    source = known[np.maximum(np.searchsorted(known, bands, side="right") - 1, 0)]
    used = used[source]
    return np.asarray(used / used.sum(axis=1, keepdims=True))
