"""Small families of systems with few unjudged documents, whose every choice can be tried."""

from __future__ import annotations

from itertools import product

import numpy as np

from beir_eval.comparison.alignment import MeasureScores, without_rounding_noise
from beir_eval.comparison.differences import Pair, Pairs
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.robustness.bounds import AdditiveBounds, Holes
from beir_eval.comparison.robustness.flips import ObservedFamily, flips_of, verdicts_of
from beir_eval.measures.scales import ScoreScale
from beir_eval.significance.sign_vectors import SignVectors, position_keys

DRAWS = 20_000


class SmallFamily:
    """A family of three to five systems on 7 to 10 queries, with up to five unjudged documents.

    The score of a query is a sum over its documents, divided by a number of relevant ones.

    Args:
        rng: draws the case.
        correction: a correction of ``ComparisonSettings``.
    """

    def __init__(self, rng: np.random.Generator, correction: str) -> None:
        num_systems = int(rng.integers(3, 6))
        num_queries = int(rng.integers(7, 11))
        num_holes = int(rng.integers(1, 6))
        query = np.sort(rng.integers(0, num_queries, num_holes))
        quality = rng.choice([0, 0.05, 0.15, 0.3, 0.5]) * rng.random((num_systems, 1))
        noise = rng.choice([0.01, 0.05, 0.1, 0.2])
        scores = np.clip(0.3 + quality + noise * rng.normal(size=(num_systems, num_queries)), 0, 1)
        if rng.random() < 0.3:  # scores with ties
            scores = scores.round(1)
        starts = np.searchsorted(query, np.arange(num_queries + 1))
        is_in_top = rng.random((num_systems, num_holes)) < 0.6
        size = rng.choice([0.05, 0.2, 0.5])
        relevant = rng.integers(1, 6, num_queries)
        is_divided = rng.random() < 0.7
        first = relevant / (relevant + 1) if is_divided else np.ones(num_queries)
        position = np.arange(num_holes) - starts[query]
        self.bounds = object.__new__(AdditiveBounds)
        self.bounds.holes = Holes(np.arange(num_holes), query, list(is_in_top), starts)
        self.bounds._observed = scores
        self.bounds._base = scores * first
        weights = is_in_top * size * rng.choice([1.0, 0.63, 0.5], (num_systems, num_holes))
        self.bounds._weights = weights * first[query]
        number = relevant[query]
        self.bounds._factors = (
            (number + 1) / (number + 1 + position) if is_divided else np.ones(num_holes)
        )
        baseline_only = rng.random() < 0.3
        listed = [
            Pair(later, earlier)
            for later in range(num_systems)
            for earlier in range(later)
            if earlier == 0 or not baseline_only
        ]
        self.settings = ComparisonSettings(
            correction=correction, draws=DRAWS, margin=float(rng.choice([0.01, 0.35, 0.45]))
        )
        signs = SignVectors.choose(num_queries, DRAWS, 0)
        self.completions = [
            np.array(choice, dtype=np.bool_) for choice in product([False, True], repeat=num_holes)
        ]
        observed = MeasureScores(
            "made",
            tuple(f"s{number}" for number in range(num_systems)),
            (),
            without_rounding_noise(scores),
            position_keys(num_queries),
            ScoreScale(bounds=(0.0, 3.0)),
        )
        pairs = Pairs(listed)
        everything = [
            observed._replace(scores=without_rounding_noise(self.bounds.scores(completion)))
            for completion in self.completions
        ]
        self.verdicts = np.array(verdicts_of(everything, pairs, self.settings, signs))
        self.observed = ObservedFamily(
            observed,
            pairs,
            self.verdicts[0].tolist(),
            np.ones(num_queries, dtype=np.bool_),
            self.settings,
            signs,
        )

    @property
    def is_stable(self) -> np.ndarray:
        """Which verdicts no completion changes, bool[D]."""
        return (self.verdicts == self.verdicts[0]).all(axis=0)

    def flips(self) -> list[str]:
        """Return the answer for each pair."""
        pair_bounds = [self.bounds.pair_bounds(*pair) for pair in self.observed.pairs.listed]
        return flips_of(self.observed, self.bounds, pair_bounds, is_complete=True)
