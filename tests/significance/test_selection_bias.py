"""The best of many, how much its mean is too high, and intervals of ranks."""

from itertools import combinations

import numpy as np
import pytest

from beir_eval.errors import SettingError
from beir_eval.significance.selection_bias import best_of_many, resampled_ranks


@pytest.mark.parametrize("num_queries", [2, 3, 5])
def test_of_few_queries_one_is_held_out_at_a_time(num_queries):
    scores = np.random.default_rng(num_queries).random((3, num_queries))
    relative = scores - scores.mean(axis=0)
    excesses = []
    for query in range(num_queries):
        here = np.delete(relative, query, axis=1).mean(axis=1)
        best = here.argmax()
        excesses.append(here[best] - relative[best, query])
    expected = np.mean(excesses) * np.sqrt((num_queries - 1) / num_queries)
    assert best_of_many(scores, draws=1).bias == pytest.approx(expected)


def test_parts_of_unequal_size_count_by_their_queries():
    scores = np.random.default_rng(0).random((3, 7))
    means = scores.mean(axis=1)
    losses = {}
    for num_held_out in (1, 2):
        of_parts = []
        for held_out in combinations(range(7), num_held_out):
            best = np.delete(scores, held_out, axis=1).mean(axis=1).argmax()
            of_parts.append(means[best] - scores[best, held_out].mean())
        losses[num_held_out] = np.mean(of_parts)
    divisor = 5 * np.sqrt(6 / 7) + 2 * np.sqrt(5 / 7)
    expected = (5 * losses[1] + 2 * losses[2]) / divisor
    biases = [best_of_many(scores, draws=1, rng=seed).bias for seed in range(40)]
    assert np.mean(biases) == pytest.approx(expected, abs=4 * np.std(biases) / np.sqrt(40))


def test_the_first_of_rows_that_tie_is_the_best_and_all_are_highest():
    row = [0.2, 0.4, 0.9]
    best = best_of_many([[0.1, 0.1, 0.1], row, row], draws=50)
    assert (best.best, best.bias) == (1, 0.0)
    assert best.score == pytest.approx(0.5)
    assert best.highest_in_resamples.tolist() == [0.0, 1.0, 1.0]


def test_one_row_has_no_bias():
    assert best_of_many([[0.2, 0.4, 0.9]], draws=10).bias == 0.0


def test_the_bias_is_that_of_equal_rows():
    rng = np.random.default_rng(1)
    truth = np.mean([rng.normal(0, 1, (5, 40)).mean(axis=1).max() for _ in range(4000)])
    biases = [best_of_many(rng.normal(0, 1, (5, 40)), draws=1).bias for _ in range(300)]
    assert np.mean(biases) == pytest.approx(truth, rel=0.1)


def test_the_bias_of_rows_that_differ_on_hardly_any_query_is_at_least_91_percent():
    rng = np.random.default_rng(2)

    def sample():
        return rng.choice([-1.0, 0.0, 1.0], (5, 12), p=[0.03, 0.94, 0.03])

    truth = np.mean([sample().mean(axis=1).max() for _ in range(20_000)])
    biases = [best_of_many(sample(), draws=1).bias for _ in range(1_500)]
    error = np.std(biases) / np.sqrt(len(biases))
    assert np.mean(biases) > np.sqrt(5 / 6) * truth - 4 * error
    assert np.mean(biases) < truth * 1.02 + 4 * error


def test_ranks_are_counted_from_the_higher_means_of_each_resample():
    rng = np.random.default_rng(2)
    resampled = rng.normal([[1.0], [0.5], [0.0], [0.0]], 0.4, (4, 2001))
    ranks = 1 + (resampled[None] > resampled[:, None]).sum(axis=1)
    computed = resampled_ranks(resampled, confidence=0.9)
    expected = np.quantile(ranks, [0.05, 0.95], axis=1, method="inverted_cdf")
    assert computed.low.tolist() == expected[0].tolist()
    assert computed.high.tolist() == expected[1].tolist()
    assert computed.first == pytest.approx((ranks == 1).mean(axis=1))


def test_a_confidence_that_is_no_share_is_refused():
    with pytest.raises(SettingError):
        resampled_ranks([[0.1, 0.2]], confidence=95)
