"""The power stated where queries are won or lost is that of the sign-flip test."""

import numpy as np
import pytest
from scipy.stats import binom

from beir_eval import check_gate, compare_runs
from beir_eval.significance import sign_flip
from beir_eval.significance.power import (
    are_wins_and_losses,
    estimate_power,
    estimate_power_of_scores,
    estimate_win_power,
)


def wins_and_losses(num_differing, num_queries):
    """Return differences of which half are wins; the estimate does not depend on how many are."""
    values = np.zeros(num_queries)
    values[:num_differing] = 1
    values[: num_differing // 2] = -1
    return values


def true_power(difference, share, num_queries, alpha=0.05):
    """Return how often the exact sign-flip test detects this true difference."""
    differing = np.arange(num_queries + 1)
    fewest_wins = binom.isf(alpha / 2, differing, 0.5) + 1
    detected = binom.sf(fewest_wins - 1, differing, (1 + difference / share) / 2)
    return float((binom.pmf(differing, num_queries, share) * detected).sum())


def truly_detectable(share, num_queries, alpha=0.05):
    grid = np.linspace(0.01, 1, 1000) * share
    powers = [true_power(difference, share, num_queries, alpha) for difference in grid]
    return grid[np.searchsorted(np.maximum.accumulate(powers), 0.8)]


def test_the_oracle_counts_as_the_sign_flip_test_does():
    fewest_wins = int(binom.isf(0.025, 20, 0.5)) + 1
    for wins in (fewest_wins - 1, fewest_wins):
        p = sign_flip(np.repeat([1.0, -1.0, 0.0], [wins, 20 - wins, 30])).p
        assert (p <= 0.05) == (wins >= fewest_wins)


@pytest.mark.parametrize(
    ("num_queries", "share"), [(30, 0.4), (50, 0.3), (50, 0.5), (100, 0.15), (300, 0.06)]
)
def test_a_claimed_power_of_80_percent_is_true_and_its_range_holds(num_queries, share):
    truth = truly_detectable(share, num_queries)
    claimed = power = held = 0.0
    for num_differing in range(1, num_queries + 1):
        probability = binom.pmf(num_differing, num_queries, share)
        estimate = estimate_win_power(wins_and_losses(num_differing, num_queries))
        if estimate.detectable is None:
            assert estimate.note.endswith("too few to estimate power")
            continue
        assert estimate.detectable <= num_differing / num_queries
        claimed += probability
        power += probability * true_power(min(estimate.detectable, share), share, num_queries)
        held += probability * (estimate.detectable_low <= truth <= estimate.detectable_high)
    assert 0.74 <= power / claimed <= 0.9
    assert held / claimed >= 0.95


@pytest.mark.parametrize("delta", [0.02, 0.05, 0.1])
def test_so_many_queries_detect_the_difference(delta):
    estimate = estimate_win_power(wins_and_losses(60, 200), delta=delta)
    assert estimate.queries_low < estimate.queries_high
    for share in (0.26, 0.3, 0.34):
        assert true_power(delta, share, estimate.queries_low) < 0.8
        assert true_power(delta, share, estimate.queries_high) > 0.8


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_sided_tests_detect_as_two_sided_ones_at_twice_the_level(alternative):
    values = wins_and_losses(40, 100)
    one_sided = estimate_win_power(values, alternative=alternative)
    assert one_sided.detectable == estimate_win_power(values, alpha=0.1).detectable
    assert one_sided.detectable < estimate_win_power(values).detectable


def test_the_estimate_has_the_unit_of_the_scores():
    values = wins_and_losses(40, 100)
    percent = estimate_win_power(100 * values, size=100.0, delta=1.0)
    plain = estimate_win_power(values)
    assert percent.detectable == pytest.approx(100 * plain.detectable)
    assert (percent.queries_low, percent.queries_high) == (plain.queries_low, plain.queries_high)
    assert are_wins_and_losses(100 * values, 100.0)
    assert not are_wins_and_losses(100 * values, 1.0)
    assert not are_wins_and_losses(np.append(values, 0.5), 1.0)
    assert not are_wins_and_losses(np.zeros(9), 1.0)


def runs_of(wins, losses, num_queries):
    won, lost = {"a": 2.0, "x": 1.0}, {"x": 2.0, "a": 1.0}
    queries = [f"q{number:03}" for number in range(num_queries)]
    qrels = {query: {"a": 1} for query in queries}
    old = {query: lost if i < wins else won for i, query in enumerate(queries)}
    new = {q: lost if wins <= i < wins + losses else won for i, q in enumerate(queries)}
    return qrels, {"old": old, "new": new}


def test_a_comparison_of_0_1_scores_counts_wins_among_differing_queries():
    comparison = compare_runs(*runs_of(20, 12, 100), "Success@1", baseline="old")
    pair = comparison.differences[0]
    expected = estimate_win_power(wins_and_losses(32, 100))
    assert (pair.verdict, pair.detectable) == ("undecided", expected.detectable)
    assert pair.detectable != estimate_power(wins_and_losses(32, 100)).detectable
    assert f" {expected.detectable:.3g} (" in comparison.to_markdown()


def test_a_gate_claims_no_power_from_queries_that_were_all_won():
    [check] = check_gate(compare_runs(*runs_of(30, 0, 40), "Success@1", baseline="old"))
    assert 0.1 < check.detectable < 0.5
    few_differ = compare_runs(*runs_of(5, 5, 40), "Success@1", baseline="old", alpha=0.01)
    [few] = check_gate(few_differ)
    assert few.detectable is None
    assert "(10 queries differ: too few to estimate power): a loss of up to 0." in few.note


def test_a_power_that_no_difference_has_is_not_estimated():
    estimate = estimate_win_power(wins_and_losses(13, 30), power=0.999999)
    assert estimate.detectable is None
    assert "too few" in estimate.note
    assert estimate_win_power(wins_and_losses(13, 30)).detectable is not None


def test_only_wins_losses_and_ties_are_counted_as_such():
    values = wins_and_losses(40, 100)
    assert estimate_power_of_scores(values, 1.0) == estimate_win_power(values, size=1.0)
    values[0] = 0.5
    assert estimate_power_of_scores(values, 1.0) == estimate_power(values)
