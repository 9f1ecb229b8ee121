"""The verdicts that ``benchmarks/replication.py`` counts are those of ``compare`` and of ranx."""

import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from beir_eval import EvaluationResult, compare
from beir_eval.core.ids import hash_ids

SIGNS = {"better": 1, "worse": -1, "undecided": 0, "identical": 0}


@pytest.fixture
def replication(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return import_module("replication")


def results_of(query_ids, scores):
    return [
        EvaluationResult.from_scores(
            f"{number}", {"nDCG@10": dict(zip(query_ids, row.tolist(), strict=True))}
        )
        for number, row in enumerate(scores)
    ]


def made_up(seed):
    """Return query ids and scores of systems of which some are better, with ties and zeros."""
    rng = np.random.default_rng(seed)
    systems, queries = int(rng.integers(2, 5)), int(rng.choice([6, 10, 17, 21, 76]))
    gains = rng.choice([0.0, 0.1, 0.3], (systems, 1))
    scores = (rng.random(queries) + gains + rng.normal(0, 0.2, (systems, queries))).clip(0, 1)
    scores[:, rng.random(queries) < rng.choice([0.0, 0.5])] = 0.0
    return [f"q{number}" for number in range(queries)], scores.round(rng.choice([1, 4]))


def verdicts_by_compare(query_ids, scores, *, together):
    results = results_of(query_ids, scores)
    if together:
        differences = compare(results).differences
    else:
        differences = [
            compare([results[against], results[system]]).differences[0]
            for system in range(len(results))
            for against in range(system)
        ]
    return [SIGNS[difference.verdict] for difference in differences]


@pytest.mark.parametrize("together", [False, True])
def test_the_verdicts_that_are_counted_are_those_of_compare(replication, together):
    counted = {-1: 0, 0: 0, 1: 0}
    for seed in range(16):
        query_ids, scores = made_up(seed)
        verdicts = replication.verdicts_of(scores, hash_ids(query_ids), together=together).tolist()
        assert verdicts == verdicts_by_compare(query_ids, scores, together=together)
        for verdict in verdicts:
            counted[verdict] += 1
    assert min(counted.values()) >= 5


def test_shares_and_their_errors_are_arithmetic(replication):
    share = replication.share_of(np.array([2.0, 1.0]), np.array([2.0, 2.0]))
    assert share == (75, 100 * math.sqrt(0.5**2 + 0.5**2) / 4)
    assert str(share) == "75.0 ± 17.7"
    # Two divisions of three pairs of three runs: of four statements three hold.
    stated = np.array([[[1.0, 1.0, 0.0]], [[1.0, 1.0, 0.0]]])
    holds = np.array([[[1.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]]])
    counts = replication.Counts(stated, holds, np.array([[1, 2, 2], [0, 0, 1]]), 3)
    outcome = replication.outcome_of([counts], 0)
    assert (outcome.stated.value, outcome.holds) == (pytest.approx(200 / 3), share)
    assert (outcome.low, outcome.high) == (50, 100)  # samples of two runs have one of the pairs
    assert str(outcome) == "66.7 ± 0.0: 75.0 ± 17.7 (50.0 to 100.0)"
