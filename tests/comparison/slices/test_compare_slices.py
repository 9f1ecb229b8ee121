"""Slices: how queries are cut into slices, and verdicts in each, corrected over all slices."""

import csv
import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import compare
from beir_eval.comparison.slices import (
    by_length,
    by_metadata,
    by_num_relevant,
    compare_slices,
    cut,
)
from beir_eval.errors import (
    FileFormatError,
    InputError,
    NotEvaluatedError,
    SettingError,
)
from beir_eval.significance import sign_flip
from beir_eval.significance.corrections import correct
from beir_eval.significance.equivalence import margin_tests
from made_results import MEASURE, made

RNG = np.random.default_rng(0)
#: Three systems on 40 queries: s1 gains on the first 20, s2 is noise.
BASE = RNG.random(40) * 0.5
SCORES = np.stack(
    [
        BASE,
        BASE + np.where(np.arange(40) < 20, 0.2, 0.0) + RNG.normal(0, 0.02, 40),
        BASE + RNG.normal(0, 0.1, 40),
    ]
)
TOPICS = {f"q{number:04}": ("one" if number < 20 else "two") for number in range(40)}


def results(scores=SCORES, measures=(MEASURE,)):
    return {f"s{row}": made(values, f"s{row}", measures) for row, values in enumerate(scores)}


# Numbers and verdicts


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_p_values_of_slices_are_corrected_over_all_slices_and_pairs(correction):
    comparison = compare_slices(
        results(), TOPICS, baseline="s0", correction=correction, draws=3_000
    )
    parts = [SCORES[:, :20], SCORES[:, 20:]]
    differences = [part[row] - part[0] for part in parts for row in (1, 2)]
    listed = [difference for part in comparison.slices for difference in part.differences]
    p = [difference.p for difference in listed]
    # The random signs are those of query ids here, of positions in sign_flip.
    assert p == pytest.approx(
        [sign_flip(values, draws=3_000).p for values in differences], abs=0.05
    )
    assert [difference.p_corrected for difference in listed] == correct(p, correction).tolist()
    for difference in listed:
        excludes_0 = difference.low > 0 or difference.high < 0
        assert excludes_0 == (difference.verdict in ("better", "worse"))
    p_equal = [margin_tests([values], delta=0.01).p_equal[0] for values in differences]
    assert [difference.p_equal for difference in listed] == correct(p_equal, "holm").tolist()
    assert [difference.difference for difference in listed] == pytest.approx(
        [values.mean() for values in differences]
    )


def test_a_slice_has_the_numbers_of_a_comparison_of_its_queries_except_the_correction():
    part = compare_slices(results(), TOPICS, baseline="s0", draws=3_000).slice("one")
    comparison = compare(results(SCORES[:, :20]), baseline="s0", correction="holm", draws=3_000)
    assert part.means == comparison.means
    corrected_fields = {
        *("p_corrected", "p_equal", "verdict", "confidence", "noise_to_undo"),
        *("detectable", "detectable_low", "detectable_high", "queries_low", "queries_high"),
        *("low", "high", "effect_low", "effect_high", "residual_effect_low"),
        *("residual_effect_high", "smallest_margin"),
    }
    for difference, expected in zip(part.differences, comparison.differences, strict=True):
        assert difference.model_dump(exclude=corrected_fields) == expected.model_dump(
            exclude=corrected_fields
        )
        assert difference.p_corrected >= expected.p_corrected


def test_several_columns_are_corrected_together():
    halves = {query_id: str(int(query_id[1:]) % 2) for query_id in TOPICS}
    comparison = compare_slices(
        results(), {"topic": TOPICS, "half": halves}, baseline="s0", draws=3_000
    )
    assert [(part.column, part.label) for part in comparison.slices] == [
        ("topic", "one"),
        ("topic", "two"),
        ("half", "0"),
        ("half", "1"),
    ]
    listed = [difference for part in comparison.slices for difference in part.differences]
    assert [difference.p_corrected for difference in listed] == correct(
        [difference.p for difference in listed]
    ).tolist()
    assert len(listed) == 8
    assert "topic: one" in comparison.to_markdown()


# Queries of a slice


def test_a_slice_of_one_query_is_listed_as_too_small():
    labels = TOPICS | {"q0039": "lonely"}
    result = compare_slices(results(), labels, baseline="s0")
    lonely = result.slice("lonely")
    assert (lonely.num_queries, lonely.too_small, lonely.differences) == (1, (MEASURE,), ())
    assert result.too_small == [lonely]
    assert "fewer than 2 queries with a score, not compared: lonely (1 query)" in result.notes()
    assert [row["slice"] for row in csv.DictReader(result.to_csv().splitlines())][-1] == "lonely"
    single_queries = compare_slices(
        results(), {query_id: query_id for query_id in TOPICS}, baseline="s0"
    )
    assert len(single_queries.too_small) == 40
    assert "q0003 (1 query) and others" in single_queries.to_markdown()


def test_queries_without_a_label_are_a_slice_of_their_own():
    labels = dict.fromkeys(list(TOPICS)[:30], "some") | {"unheard of": "other"}
    labels["q0000"] = None
    comparison = compare_slices(results(), labels, baseline="s0")
    assert [(part.label, part.num_queries) for part in comparison.slices] == [
        ("some", 29),
        ("(none)", 11),
    ]


def test_a_slice_of_two_queries_is_compared():
    topics = TOPICS | dict.fromkeys(list(TOPICS)[:2], "pair")
    pair = compare_slices(results(), topics, baseline="s0").slice("pair")
    assert (pair.num_queries, pair.too_small) == (2, ())
    assert [difference.difference for difference in pair.differences] == [
        pytest.approx((SCORES[row, :2] - SCORES[0, :2]).sum() / 2) for row in (1, 2)
    ]


def test_a_slice_may_be_too_small_for_one_measure_only():
    scores = np.stack([SCORES, SCORES], axis=1)
    scores[1, 1, :19] = math.nan
    comparison = compare_slices(results(scores, ("MRR", MEASURE)), TOPICS, baseline="s0")
    first = comparison.slice("one")
    assert first.too_small == (MEASURE,)
    assert {difference.measure for difference in first.differences} == {"MRR"}
    assert [part.too_small for part in comparison.slices] == [(MEASURE,), ()]
    note = f"fewer than 2 queries with a score on {MEASURE}, not compared: one (20 queries)"
    assert note in comparison.notes()
    assert len(comparison.to_table().rows) == 3 + len(comparison.measures)


@pytest.mark.parametrize(
    ("slices", "error", "message"),
    [
        (["q0000"], InputError, "slices must be"),
        ({"x": TOPICS, "y": "label"}, InputError, "not labels and columns mixed"),
        ({"x": {"other": "label"}}, InputError, "x: no query has a label"),
        ({"q0000": "a", "q0001": 3}, InputError, "'q0001' has 3"),
        ({"q0000": ["a"]}, InputError, r"has \['a'\]"),
    ],
)
def test_slices_without_labels_by_query_are_refused(slices, error, message):
    with pytest.raises(error, match=message):
        compare_slices(results(), slices)


# Columns of numbers


@pytest.mark.parametrize(
    ("values", "settings", "labels"),
    [
        ([1, 5, 9], {"edges": (4, 8)}, ["below 4", "4 to 7", "8 or more"]),
        ([4, 8, 8], {"edges": (4, 8)}, ["4 to 7", "8 or more", "8 or more"]),
        ([0, 1, 2], {"edges": (1, 2)}, ["0", "1", "2 or more"]),
        ([-3, 1, 2], {"edges": (1, 2)}, ["below 1", "1", "2 or more"]),
        ([0.1, 0.5, 0.9], {"edges": (0.3, 0.6)}, ["below 0.3", "0.3 to below 0.6", "0.6 or more"]),
        ([1.5, 5, 9], {"edges": (4, 8)}, ["below 4", "4 to below 8", "8 or more"]),
        ([1, 2, 3, 4], {"parts": 2}, ["below 3", "below 3", "3 or more", "3 or more"]),
        ([1, 1, 1, 9], {}, ["below 9", "below 9", "below 9", "9 or more"]),
        ([7, 7, 7], {}, ["all", "all", "all"]),
        ([1, 9], {"edges": (5,), "unit": "words"}, ["below 5 words", "5 or more words"]),
    ],
)
def test_numbers_are_cut_at_edges_or_into_equal_parts(values, settings, labels):
    column = {f"q{position}": value for position, value in enumerate(values)}
    label_of = cut(column, **settings)
    assert [label_of[query_id] for query_id in column] == labels


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40), st.integers(2, 6))
def test_a_cut_keeps_all_queries_and_their_order_and_groups_equal_numbers(numbers, parts):
    column = {f"q{position}": number for position, number in enumerate(numbers)}
    labels = cut(column, parts=parts)
    assert set(labels) == set(column)
    label_of = {}
    for query_id, number in column.items():
        assert label_of.setdefault(number, labels[query_id]) == labels[query_id]
    listed = [label_of[number] for number in sorted(label_of)]
    distinct = list(dict.fromkeys(listed))
    assert len(distinct) <= parts
    assert list(dict.fromkeys(labels.values())) == distinct
    assert listed == sorted(listed, key=distinct.index)


def test_a_column_of_numbers_is_cut_into_four():
    numbers = {query_id: int(query_id[1:]) for query_id in TOPICS} | {"q0000": math.nan}
    comparison = compare_slices(results(), numbers, baseline="s0")
    assert [(part.label, part.num_queries) for part in comparison.slices] == [
        ("below 11", 10),
        ("11 to 19", 9),
        ("20 to 29", 10),
        ("30 or more", 10),
        ("(none)", 1),
    ]


@pytest.mark.parametrize(
    ("values", "settings", "error"),
    [
        ({"q": "long"}, {}, InputError),
        ({"q": math.nan}, {}, InputError),
        ({"q": 1}, {"parts": 1}, SettingError),
        ({"q": 1}, {"edges": (2, 1)}, SettingError),
    ],
)
def test_invalid_numbers_and_cuts_are_refused(values, settings, error):
    with pytest.raises(error):
        cut(values, **settings)


def test_queries_are_cut_by_their_number_of_words():
    queries = {"a": " one  two\tthree ", 7: "w " * 40, "c": "one two three four"}
    assert by_length(queries) == {
        "a": "below 4 words",
        "c": "4 to 7 words",
        "7": "32 or more words",
    }
    assert by_length(queries, edges=None, parts=2)["a"] == "below 4 words"


def test_queries_are_cut_by_their_number_of_documents_above_grade_0():
    qrels = {
        "none": {"a": 0, "b": -1},
        "two": {"a": 1, "b": 2, "c": 0},
        "many": {f"d{number}": 1 for number in range(60)},
    }
    assert by_num_relevant(qrels) == {
        "none": "0 relevant",
        "two": "2 to 4 relevant",
        "many": "50 or more relevant",
    }


# Metadata


def write_queries(path, metadata, *, compressed=False):
    lines = "".join(
        json.dumps(
            {"_id": f"q{number:04}", "text": "t"} | ({} if value is None else {"metadata": value})
        )
        + "\n"
        for number, value in enumerate(metadata)
    )
    path.write_bytes(gzip.compress(lines.encode()) if compressed else lines.encode())


def test_metadata_gives_labels_and_numbers_stay_numbers(tmp_path):
    write_queries(
        tmp_path / "queries.jsonl",
        [{"topic": "x", "hops": 2, "easy": True}, {"topic": 3, "hops": None}, None, {"hops": 1.5}],
    )
    assert by_metadata(tmp_path, "topic") == {"q0000": "x", "q0001": "3"}
    assert by_metadata(tmp_path / "queries.jsonl", "hops") == {"q0000": 2, "q0003": 1.5}
    assert by_metadata(str(tmp_path), "easy") == {"q0000": "true"}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ([{"other": 1, "more": 2}], "no query has metadata 'topic'; there are 'other', 'more'"),
        ([None], "there are none"),
        ([{"topic": ["x"]}], r"query 'q0000' is no label but \['x'\]"),
        ([{"topic": "x"}, ["x"]], "line 2: metadata must be an object"),
    ],
)
def test_metadata_that_gives_no_labels_is_refused(tmp_path, metadata, message):
    write_queries(tmp_path / "queries.jsonl", metadata)
    with pytest.raises(FileFormatError, match=message):
        by_metadata(tmp_path, "topic")


# Files, tables and text


def test_an_unknown_or_ambiguous_slice_is_named_in_the_error():
    columns = {"topic": TOPICS, "copy": TOPICS}
    comparison = compare_slices(results(), columns, baseline="s0")
    assert comparison.slice("one", "copy").column == "copy"
    with pytest.raises(NotEvaluatedError, match="several columns have a slice 'one'"):
        comparison.slice("one")
    with pytest.raises(NotEvaluatedError, match="no slice 'three'; there are 'one', 'two'"):
        comparison.slice("three", "topic")


def test_edges_that_round_to_the_same_number_get_different_labels():
    labels = cut({f"q{number}": 1.7e9 + number * 1000 + 0.5 for number in range(8)})
    assert len(set(labels.values())) == 4
