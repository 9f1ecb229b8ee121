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


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
@pytest.mark.usefixtures("realdata")
def test_on_halves_of_real_queries_the_verdicts_are_those_of_compare(replication):
    collection = replication.Collection.read("DL 2019")
    assert collection.scores.shape == (9, 43)
    order = np.random.default_rng((0, 7)).permutation(43)[:21]
    stated = replication.divide(collection, 0, 7).stated[-1]
    query_ids, scores = [collection.query_ids[query] for query in order], collection.scores
    for row, together in ((4, False), (6, True)):
        expected = verdicts_by_compare(query_ids, scores[:, order], together=together)
        assert stated[row].tolist() == expected


def test_halves_that_could_show_equality_are_refused(replication):
    scores = np.zeros((2, 299))  # .99^299 is below .05
    with pytest.raises(SystemExit, match="299 queries could show equality"):
        replication.verdicts_of(scores, hash_ids([f"q{n}" for n in range(299)]), together=False)


@pytest.mark.slow  # ranx compiles its functions
def test_the_letters_that_are_counted_are_those_that_ranx_prints(replication):
    ranx = import_module("ranx")
    rng = np.random.default_rng(0)
    letters = "ᵃᵇᶜᵈᵉ"
    counted = 0
    for _ in range(8):
        queries = [f"q{number}" for number in range(15)]
        qrels = {query: {"d": 1} for query in queries}
        ranks = rng.integers(1, 4, (5, 15)) * rng.choice([1, 2], (5, 1))
        runs = [
            ranx.Run(
                {
                    query: {"d": 1.0} | {f"x{n}": 2.0 for n in range(rank - 1)}
                    for query, rank in zip(queries, row.tolist(), strict=True)
                },
                name=f"{number}",
            )
            for number, row in enumerate(ranks)
        ]
        report = ranx.compare(ranx.Qrels(qrels), runs, ["mrr@10"])
        printed = [line for line in str(report).splitlines() if line[:1] in "abcde"]
        stated = replication.statements_on(1 / ranks, hash_ids(queries))[3]
        pairs = [(system, against) for system in range(5) for against in range(system)]
        for (system, against), sign in zip(pairs, stated.tolist(), strict=True):
            assert (letters[against] in printed[system]) == (sign > 0)
            assert (letters[system] in printed[against]) == (sign < 0)
            counted += sign != 0
    assert counted >= 10


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
