"""The test that chooses again: a slow loop, one row, orders, ties, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from beir_eval.errors import SettingError
from beir_eval.significance.chosen_again import PARTS, _parts_of, chosen_again
from beir_eval.significance.sign_vectors import SignVectors

KEYS = np.random.default_rng(1).integers(0, 2**63, 40).astype(np.uint64)


def made_rows(num_rows=4, seed=0, gap=0.05):
    rows = np.random.default_rng(seed).normal(gap, 0.2, (num_rows, len(KEYS)))
    return np.vstack([rows, np.zeros(len(KEYS))])


def slow(rows, keys, strata, *, draws, alpha=0.05):
    """Return held-out mean, p and interval by loops over draws, parts and queries."""
    num_queries = rows.shape[1]
    subsets = np.hstack([block.copy() for block in SignVectors(draws, seed=_seed()).blocks(keys)])
    signs = [np.ones(num_queries), *(2 * subsets - 1).T]
    statistics, first = [], None
    for sign in signs:
        flipped = rows * sign
        numbers = np.zeros(num_queries)
        parts = _parts_of(keys, strata)
        for part in parts:
            sums = np.delete(flipped, part, axis=1).sum(axis=1)
            best = int(np.flatnonzero(sums >= sums.max() - 1e-9)[0])
            numbers[part] += flipped[best][part] / (len(parts) / PARTS)
        first = numbers if first is None else first
        size = math.sqrt(math.fsum(numbers**2))
        statistics.append(math.fsum(numbers) / size if size else 0.0)
    own, *others = statistics
    p = (1 + sum(other >= own - 1e-9 for other in others)) / (len(others) + 1)
    rank, ordered = int(alpha / 2 * (draws + 1)), sorted(others)
    error = first.std(ddof=1) / math.sqrt(num_queries)
    ends = [
        first.mean() - error * u * math.sqrt((num_queries - 1) / (num_queries - u * u))
        for u in (ordered[-rank], ordered[rank - 1])
    ]
    return first.mean(), p, ends


def _seed():
    return SignVectors.choose(1, 1, 0).seed


@pytest.mark.parametrize("strata", [None, np.repeat([0, 1], [25, 15])])
def test_p_and_interval_are_those_of_a_slow_loop_that_chooses_in_every_draw(strata):
    rows = made_rows()
    quick = chosen_again(rows, KEYS, strata=strata, draws=79)
    whole = np.zeros(len(KEYS)) if strata is None else strata
    held_out, p, (low, high) = slow(rows, KEYS, whole, draws=79)
    assert quick.held_out == pytest.approx(held_out)
    assert quick.p == p
    assert (quick.low, quick.high) == pytest.approx((low, high))
    assert quick.chosen.sum() == PARTS * 100


def test_one_row_is_the_one_sided_sign_flip():
    row = made_rows(1)[:1]
    result = chosen_again(row, KEYS, draws=20_000)
    sums = np.concatenate(
        [(row @ (2 * block - 1))[0].copy() for block in SignVectors(20_000, _seed()).blocks(KEYS)]
    )
    assert result.p == (1 + int((sums >= row.sum() - 1e-9).sum())) / 20_001
    assert result.held_out == pytest.approx(row.mean())
    # Its interval is near that of the t test.
    t = stats.ttest_1samp(row[0], 0).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((t.low, t.high), abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_neither_the_order_of_rows_nor_that_of_queries_changes_the_result(seed):
    rng, rows = np.random.default_rng(seed), made_rows(5, seed)
    result = chosen_again(rows, KEYS, draws=999)
    by_row, by_query = rng.permutation(len(rows)), rng.permutation(len(KEYS))
    other = chosen_again(rows[by_row][:, by_query], KEYS[by_query], draws=999)
    assert (other.p, by_row[other.best]) == (result.p, result.best)
    assert other.differences == pytest.approx(result.differences[by_query])
    assert other.chosen.tolist() == result.chosen[by_row].tolist()


def test_the_interval_is_above_0_exactly_if_p_decides():
    for seed in range(15):
        result = chosen_again(made_rows(4, seed, gap=0.06), KEYS, draws=399)
        assert (result.low > 0) == (result.p <= 0.025), seed


def test_equal_rows_and_kept_baselines_have_no_gain():
    zeros = chosen_again(np.zeros((3, len(KEYS))), KEYS, draws=99)
    assert (zeros.held_out, zeros.p, zeros.best, zeros.chosen.tolist()) == (0, 1, 0, [500, 0, 0])
    worse = chosen_again(made_rows(3, gap=-1.0), KEYS, draws=99)
    assert (worse.held_out, worse.best) == (0, 3)
    assert math.isnan(worse.low)
    assert worse.p > 0.3
    mostly = chosen_again(made_rows(2, gap=-0.08), KEYS, draws=99)
    assert mostly.chosen.tolist() == [0, 54, 446]
    assert mostly.low < 0 < mostly.high  # a candidate that differs on all queries was chosen too


def test_of_nine_units_that_differ_there_is_no_interval():
    row = np.zeros(len(KEYS))
    row[:9] = 0.1
    for other in (np.zeros(len(KEYS)), made_rows(1)[0] - 0.05):
        result = chosen_again(np.vstack([row, other]), KEYS, draws=99)
        assert result.chosen[0] > result.chosen[1]
        assert math.isnan(result.low)
    row[9] = 0.1
    assert not math.isnan(chosen_again(row[None], KEYS, draws=99).low)


def test_parts_are_fifths_of_each_stratum():
    parts = _parts_of(KEYS, np.repeat([0, 1], [25, 15]))
    assert [((part < 25).sum(), (part >= 25).sum()) for part in parts] == [(5, 3)] * PARTS * 100
    assert sorted(np.concatenate(parts[:PARTS])) == list(range(len(KEYS)))
    assert len({tuple(sorted(part)) for part in parts}) == len(parts)


def test_draws_that_cannot_decide_are_refused():
    with pytest.raises(SettingError, match=r"a p of 0\.025, .* it takes 39 draws or more"):
        chosen_again(made_rows(), KEYS, draws=29)
    with pytest.raises(SettingError, match="alpha"):
        chosen_again(made_rows(), KEYS, alpha=0.5)


@pytest.mark.parametrize(("num_queries", "cuts"), [(300, 100), (500, 60), (5_000, 10)])
def test_many_queries_are_cut_fewer_times_so_that_the_test_takes_no_longer(num_queries, cuts):
    keys = np.arange(num_queries, dtype=np.uint64)
    assert len(_parts_of(keys, np.zeros(num_queries))) == PARTS * cuts


def test_an_interval_is_unbounded_where_a_draw_at_its_end_flips_all_units_alike():
    rows = 0.1 + 1e-7 * np.random.default_rng(0).random((1, 10))
    result = chosen_again(rows, KEYS[:10], draws=4_000, alpha=0.0005)
    assert (result.low, result.high) == (-math.inf, math.inf)
