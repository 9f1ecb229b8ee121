"""The operations on grouped arrays agree with the loops that they stand for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.core.arrays import (
    are_consecutive,
    concatenate_ranges,
    exact_sum,
    split_rows,
    starts_from_lengths,
)
from beir_eval.core.ids import pick_ids
from beir_eval.core.run_sources.search import (
    find_occurrences,
    find_repeated,
    first_occurrences,
    repeated_occurrences,
)

rankings = st.lists(st.lists(st.integers(0, 40), max_size=60), min_size=1, max_size=6)
floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def flat(rows):
    numbers = np.array([number for row in rows for number in row], dtype=np.int64)
    return numbers, starts_from_lengths(np.array([len(row) for row in rows], dtype=np.int64))


@given(rankings, st.integers(0, 30))
def test_every_wanted_number_is_found_wherever_it_stands(rows, how_many):
    numbers, starts = flat(rows)
    wanted = [(row, number) for row in range(len(rows)) for number in range(how_many)]
    row, number = (np.array([pair[i] for pair in wanted], dtype=np.int64) for i in (0, 1))
    index, position = find_occurrences(numbers, starts, row, number)
    found = sorted(
        (*wanted[one], at) for one, at in zip(index.tolist(), position.tolist(), strict=True)
    )
    assert found == [
        (row, number, int(starts[row]) + place)
        for row, number in wanted
        for place, other in enumerate(rows[row])
        if other == number
    ]


@given(rankings)
def test_every_repeated_number_is_found_and_no_other(rows):
    numbers, starts = flat(rows)
    group, position = find_repeated(numbers, starts)
    found = {}
    for one, at in zip(group.tolist(), position.tolist(), strict=True):
        found.setdefault(one, []).append(at)
    expected = [
        [int(starts[row]) + place for place, other in enumerate(ranking) if other == number]
        for row, ranking in enumerate(rows)
        for number in sorted(set(ranking))
        if ranking.count(number) > 1
    ]
    assert sorted(map(sorted, found.values())) == sorted(expected)


def test_repeated_numbers_are_found_among_very_many_and_across_the_whole_range():
    rng = np.random.default_rng(0)
    numbers = rng.integers(-(2**63), 2**63 - 1, size=100_000)
    numbers[[10, 24_990]] = 5  # in one ranking, far apart
    numbers[[30_000, 60_000]] = 7  # in two
    starts = np.array([0, 25_000, 50_000, 50_000, 100_000])
    assert [part.tolist() for part in find_repeated(numbers, starts)] == [[0, 0], [10, 24_990]]


@given(st.lists(floats, max_size=40), st.integers(1, 60))
def test_a_sum_is_correctly_rounded_and_does_not_depend_on_the_order(values, times):
    array = np.array(values * times, dtype=np.float64)
    assert exact_sum(array) == math.fsum(array.tolist())
    assert exact_sum(array[::-1]) == math.fsum(array.tolist())


@pytest.mark.parametrize("count", [0, 1, 499, 500, 32_768, 100_001])
def test_a_long_sum_is_correctly_rounded(count):
    values = np.random.default_rng(count).random(count) / 3
    assert exact_sum(values) == math.fsum(values.tolist())


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_ranges_are_the_numbers_of_each_stretch_in_turn(stretches_of):
    begin = np.array([first for first, _ in stretches_of], dtype=np.int64)
    length = np.array([count for _, count in stretches_of], dtype=np.int64)
    expected = [n for first, count in stretches_of for n in range(first, first + count)]
    found = concatenate_ranges(begin, begin + length)
    assert (found.tolist(), found.dtype) == (expected, np.int64)


@given(st.lists(st.integers(0, 6), max_size=6))
def test_indices_that_follow_each_other_make_up_a_slice(indices):
    is_slice = bool(indices) and indices == list(range(indices[0], indices[0] + len(indices)))
    assert are_consecutive(np.array(indices, dtype=np.int64)) == is_slice
    ids = list("abcdefg")
    assert list(pick_ids(ids, np.array(indices, dtype=np.int64))) == [ids[n] for n in indices]


@given(st.lists(st.integers(0, 5), max_size=20), st.randoms())
def test_of_what_is_found_several_times_the_first_position_counts(index, random):
    position = random.sample(range(100), len(index))
    pairs = sorted(zip(position, index, strict=True))
    first = {item: place for place, item in reversed(pairs)}
    found = first_occurrences(np.array(index, dtype=np.int64), np.array(position, dtype=np.int64))
    expected = sorted(first.items())
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == expected
    copies = repeated_occurrences(
        np.array(index, dtype=np.int64), np.array(position, dtype=np.int64)
    )
    expected = [(item, place) for place, item in pairs if index.count(item) > 1]
    assert list(zip(*map(np.ndarray.tolist, copies), strict=True)) == expected


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_stretches_cover_all_rows_once_in_their_order(lengths, size):
    found = list(split_rows(starts_from_lengths(np.array(lengths, dtype=np.int64)), size))
    assert [row for begin, end in found for row in range(begin, end)] == list(range(len(lengths)))
