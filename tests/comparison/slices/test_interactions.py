"""Whether a gain differs between slices: one test over all slices, first in every output."""

import csv
import json
import math

import numpy as np
import pytest

from beir_eval import compare, compare_slices
from beir_eval.comparison.slices.result import ONLY_TEST
from beir_eval.significance import slice_interaction
from beir_eval.significance.corrections import correct
from made_results import MEASURE, made

RNG = np.random.default_rng(3)
BASE = RNG.random(120) * 0.4
#: s1 gains the same on all queries, s2 on the first 30 only.
SCORES = np.stack(
    [
        BASE,
        BASE + 0.06 + RNG.normal(0, 0.15, 120),
        BASE + np.where(np.arange(120) < 30, 0.3, 0.0) + RNG.normal(0, 0.1, 120),
    ]
)
QUERIES = [f"q{number:04}" for number in range(120)]
LENGTHS = {query: f"part {number // 30}" for number, query in enumerate(QUERIES)}
HALVES = {query: ("odd" if number % 2 else "even") for number, query in enumerate(QUERIES)}


def results(rows=(0, 1, 2), measures=(MEASURE,)):
    return {
        f"s{row}": made(np.stack([SCORES[row]] * len(measures)), f"s{row}", measures)
        for row in rows
    }


def sliced(columns=None, rows=(0, 1, 2), **settings):
    columns = {"length": LENGTHS} if columns is None else columns
    return compare_slices(results(rows), columns, baseline="s0", draws=2_000, **settings)


def test_the_tests_are_those_of_slice_interaction_corrected_over_all_columns_and_pairs():
    comparison = sliced({"length": LENGTHS, "half": HALVES})
    tests = comparison.interactions
    assert [(test.column, test.system, test.against) for test in tests] == [
        ("length", "s1", "s0"),
        ("length", "s2", "s0"),
        ("half", "s1", "s0"),
        ("half", "s2", "s0"),
    ]
    for test in tests:
        labels = list({"length": LENGTHS, "half": HALVES}[test.column].values())
        [p] = slice_interaction([SCORES[int(test.system[1])] - SCORES[0]], labels, draws=20_000).p
        # The permutations are of the queries in another order here.
        assert test.p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 2_000) + 0.001)
        assert (test.num_queries, test.draws) == (120, 2_000)
    assert [test.p_corrected for test in tests] == correct([test.p for test in tests]).tolist()
    assert [test.verdict for test in tests] == ["undecided", "differs", "undecided", "undecided"]


def test_p_does_not_depend_on_other_systems_columns_measures_or_the_order_of_queries():
    alone = sliced({"half": HALVES}, rows=(0, 1)).interactions[0]
    among = sliced({"length": LENGTHS, "half": HALVES}).interactions[2]
    measures = ("MRR", MEASURE)
    two = compare_slices(results((0, 1), measures), {"half": HALVES}, baseline="s0", draws=2_000)
    backwards = sliced({"half": dict(reversed(HALVES.items()))}, rows=(0, 1)).interactions[0]
    assert alone.p == among.p == two.interactions[0].p == two.interactions[1].p == backwards.p


def test_a_uniform_gain_is_no_evidence_of_a_difference_and_the_sentence_says_so():
    comparison = sliced(rows=(0, 1))
    [test] = comparison.interactions
    verdicts = {part.differences[0].verdict for part in comparison.slices}
    assert len(verdicts) > 1  # what a reader could take for a difference between slices
    depends = f"undecided whether the difference depends on it (p {test.p:.4f})"
    assert comparison.interaction_sentences() == [f"By length: {depends}"]
    assert ONLY_TEST in str(comparison)


def test_a_gain_in_one_slice_alone_is_said_to_differ():
    [differs, other] = sliced().interaction_sentences()
    assert differs.startswith("By length: the difference of s2 from s0 depends on it (adj. p 0.00")
    assert other.startswith("By length: undecided for 1 of 2 pairs")


def test_without_a_baseline_pairs_without_evidence_are_counted():
    comparison = compare_slices(results(), HALVES, draws=2_000)
    smallest = min(test.p_corrected for test in comparison.interactions)
    sentence = comparison.interaction_sentences()[0]
    for words in ("By slice: undecided for all 3 pairs", f"(smallest adj. p {smallest:.4f})"):
        assert words in sentence


def test_many_pairs_that_differ_are_counted_after_the_first_four():
    scores = np.stack([BASE, *(SCORES[2] + RNG.normal(0, 0.01, 120) for _ in range(6))])
    many = {f"s{row}": made(values, f"s{row}") for row, values in enumerate(scores)}
    sentences = compare_slices(many, LENGTHS, baseline="s0", draws=2_000).interaction_sentences()
    assert sentences[4:] == ["By slice: 2 more of 6 differences depend on it"]


def test_small_slices_are_listed_and_have_no_part_in_the_test():
    labels = LENGTHS | dict.fromkeys(QUERIES[:9], "tiny") | {QUERIES[9]: "lonely"}
    comparison = sliced({"length": labels}, rows=(0, 1))
    [test] = comparison.interactions
    assert (test.num_slices, test.num_queries, test.too_small) == (4, 110, ("tiny", "lonely"))
    assert [part.label for part in comparison.slices][:2] == ["tiny", "lonely"]
    assert comparison.slice("tiny").differences
    [note] = [note for note in comparison.notes() if note.endswith(": tiny, lonely")]
    for words in ("length: ", "not in the test", "fewer than 10 queries"):
        assert words in note


def test_a_slice_of_exactly_ten_queries_has_a_part_in_the_test():
    labels = LENGTHS | dict.fromkeys(QUERIES[:10], "ten")
    [test] = sliced({"length": labels}, rows=(0, 1)).interactions
    assert (test.num_slices, test.num_queries, test.too_small) == (5, 120, ())


def test_slices_that_are_all_small_are_not_tested_and_this_is_said():
    comparison = sliced({"query": {query: query for query in QUERIES}}, rows=(0, 1))
    [test] = comparison.interactions
    assert (test.p, test.p_corrected, test.verdict, test.draws) == (None, None, "not tested", 0)
    sentence = comparison.interaction_sentences()[0]
    for words in ("By query: ", "not tested", "fewer than 2 slices"):
        assert words in sentence
    [large] = sliced({"all": dict.fromkeys(QUERIES, "x")}, rows=(0, 1)).interactions
    assert (large.num_slices, large.num_queries, large.verdict) == (1, 120, "not tested")


def test_each_measure_is_tested_on_the_queries_on_which_it_is_defined():
    values = np.stack([SCORES, SCORES], axis=1)
    values[1, 1, :25] = math.nan
    two = {f"s{row}": made(values[row], f"s{row}", ("MRR", MEASURE)) for row in (0, 1)}
    first, second = compare_slices(two, LENGTHS, baseline="s0", draws=500).interactions
    assert (first.measure, first.num_slices, first.num_queries) == ("MRR", 4, 120)
    assert (second.num_slices, second.num_queries, second.too_small) == (3, 90, ("part 0",))
    notes = compare_slices(two, LENGTHS, baseline="s0", draws=500).notes()
    [note] = [note for note in notes if note.endswith(": part 0")]
    for words in ("not in the test", MEASURE, "fewer than 10 queries"):
        assert words in note


def test_a_pair_has_a_table_of_means_and_differences_that_ends_with_all_queries():
    comparison = sliced(rows=(0, 1))
    header, *rows = str(comparison).partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert header.split() == ["length", "queries", "s0", "s1", "diff.", "adj.", "p", "verdict"]
    whole = compare(results((0, 1)), baseline="s0", draws=2_000).differences[0]
    assert rows[-1].split()[:2] == ["all", "120"]
    assert f"{whole.difference:+.4f}" in rows[-1]
    assert comparison.whole.differences[0].p == whole.p
    assert len(rows) == 5


def test_every_output_says_first_whether_gains_differ():
    comparison = sliced()
    sentence = comparison.interaction_sentences()[0]
    for text in (str(comparison), comparison.to_markdown()):
        assert text.index(sentence) < text.index("part 0") < text.index(ONLY_TEST)
    page = comparison._repr_html_()
    assert page.startswith(f"<p>{sentence.replace('>', '&gt;')}")
    assert "| length    | nDCG@10 |     s2 |" in comparison.interactions_table().markdown()
    fields = list(json.loads(comparison.model_dump_json()))
    assert fields.index("interactions") < fields.index("slices")
    p_of = {test.system: test.p_corrected for test in comparison.interactions}
    for row in csv.DictReader(comparison.to_csv().splitlines()):
        assert float(row["interaction_p_corrected"]) == p_of[row["system"]]
