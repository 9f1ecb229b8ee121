"""What a comparison shows first: a verdict, a table in the order of the means, six sentences."""

import csv
import io
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import EvaluationResult, check_gate, compare, compare_runs, read_qrels
from beir_eval.comparison.overview import document_of
from beir_eval.comparison.tables import shown_differences
from made_results import made

QUERIES = [f"q{number:02}" for number in range(30)]


def scores_of(*centres, spread=0.05, num_queries=30):
    """Return scores f8[S, Q] around these means, which vary from query to query."""
    rng = np.random.default_rng(3)
    common = rng.uniform(-0.1, 0.1, num_queries)
    noise = rng.normal(0, spread, (len(centres), num_queries))
    return np.clip(np.array(centres)[:, None] + common + noise, 0, 1)


def compared(names_and_means, **options):
    """Return a comparison of systems with about these means."""
    scores = scores_of(*names_and_means.values())
    results = [made(row, name) for name, row in zip(names_and_means, scores, strict=True)]
    return compare(results, draws=2000, **options)


def shown_systems(comparison):
    """Return the systems in the order of the rows, without letters and ranks."""
    return [str(row[0]).partition(" ")[2] for row in comparison.to_table().rows]


# The order of systems and pairs


def test_systems_are_shown_by_their_means_the_best_first():
    comparison = compared({"low": 0.2, "high": 0.8, "middle": 0.5})
    assert shown_systems(comparison) == ["high", "middle", "low"]


def test_with_a_baseline_it_stands_where_its_mean_belongs():
    comparison = compared({"base": 0.5, "high": 0.8, "low": 0.2}, baseline="base")
    [table] = document_of(comparison).tables
    assert [row[0] for row in table.rows] == ["high", "base", "low"]


@pytest.mark.parametrize("word", ["step-", "checkpoint-", "epoch="])
def test_checkpoints_are_shown_in_the_order_of_their_numbers(word):
    means = {f"{word}{number}": mean for number, mean in ((10, 0.3), (9, 0.8), (100, 0.5))}
    assert shown_systems(compared(means)) == [f"{word}{number}" for number in (9, 10, 100)]


def test_a_baseline_without_a_number_stands_before_the_checkpoints():
    comparison = compared({"step-10": 0.3, "bm25": 0.4, "step-9": 0.8}, baseline="bm25")
    [table] = document_of(comparison).tables
    assert [row[0] for row in table.rows] == ["bm25", "step-9", "step-10"]


@settings(deadline=None)
@given(st.permutations(["a", "b", "c", "d"]))
def test_of_all_pairs_the_higher_mean_stands_first_and_no_number_depends_on_the_order(names):
    means = dict(zip("abcd", (0.2, 0.4, 0.6, 0.8), strict=True))
    rows = dict(zip("abcd", scores_of(*means.values()), strict=True))
    comparison = compare([made(rows[name], name) for name in names], draws=500)
    pairs = shown_differences(comparison)
    assert [pair.system + pair.against for pair in pairs] == ["dc", "db", "da", "cb", "ca", "ba"]
    for pair in pairs:
        assert pair.difference >= 0
        original = comparison.difference(pair.measure, pair.system, pair.against)
        assert (pair.difference, pair.p) == (original.difference, original.p)


def test_above_ten_systems_the_marks_are_ranks():
    means = {f"system {index}": 0.9 if index < 6 else 0.1 for index in range(11)}
    comparison = compared(means)
    rows = comparison.to_table().rows
    assert [str(row[0]).split()[0] for row in rows] == [str(rank) for rank in range(1, 12)]
    assert {row[1].mark for row in rows[:6]} == {">7-11"}
    assert not rows[-1][1].mark
    # A note of the method, which the document leaves out where a column has these words.
    assert "The ranks behind a mean name the systems that it is better than." in (
        comparison.to_latex()
    )
    assert "letters" not in comparison.to_latex() + comparison.to_markdown()


@pytest.mark.parametrize("num_systems", [2, 3, 9, 11])
def test_what_p_accounts_for_is_said_once(num_systems):
    means = {f"system {index}": 0.3 + 0.05 * index for index in range(num_systems)}
    assert compared(means).to_markdown().count(" a sample of 30 queries |") == 1


# The verdict and the sentences


def test_a_rank_is_that_of_the_mean_and_rows_of_steps_are_numbered():
    ranked = document_of(compared({"low": 0.2, "high": 0.8, "middle": 0.5})).tables[0]
    assert [row[:2] for row in ranked.rows] == [("high", "1"), ("middle", "2"), ("low", "3")]
    assert ranked.header[1] == "rank"
    steps = document_of(compared({"step-1": 0.2, "step-2": 0.8, "step-3": 0.5})).tables[0]
    assert steps.header[1] == "no."


def test_equal_means_of_different_scores_are_not_called_identical():
    scores = scores_of(0.5)[0]
    moved = scores + np.tile([0.1, -0.1], 15)
    assert "identical" not in str(compare([made(scores, "a"), made(moved, "b")]))
    repeats = [made(scores, "a"), made(moved, "a")]
    of_repeats = compare({"a": repeats, "b": repeats}, baseline="a")
    assert "identical" not in f"{of_repeats}{check_gate(of_repeats)}"


def test_the_queries_that_lost_and_gained_most_are_named_with_their_texts():
    base = np.full(30, 0.5)
    changed = base.copy()
    changed[[2, 5, 7]] = 0.1, 0.9, 0.3
    comparison = compare([made(base, "a"), made(changed, "b")])
    names = "b loses most on q0002 (-0.40), gains most on q0005 (+0.40)."
    assert names in document_of(comparison).notes
    [sentence] = [
        text
        for text in document_of(comparison, {"q0002": "what is\na cat " * 9}).notes
        if text.startswith("b loses")
    ]
    assert 'b loses most on q0002 "what is a cat what is a cat what is a c…" (-0.40)' in sentence


@pytest.mark.parametrize(
    ("margin", "num_queries", "sentence"),
    [
        (
            0.01,
            60,
            "queries can usually show a difference of about 0.02; showing one of 0.01 takes ",
        ),
        (
            0.02,
            60,
            "60 queries are too few to show that systems are equivalent within 0.02: the test, ",
        ),
        (0.06, 50, "For this pair, 50 queries can usually show a difference of about 0.02."),
    ],
)
def test_an_undecided_pair_has_a_sentence_on_what_so_few_queries_can_show(
    margin, num_queries, sentence
):
    scores = np.tile([0.4, 0.6], num_queries // 2)
    moved = scores + 0.06 * np.random.default_rng(1).standard_normal(num_queries)
    comparison = compare([made(scores, "old"), made(moved, "new")], margin=margin)
    assert comparison.differences[0].verdict == "undecided"
    assert sentence in str(comparison)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "95% simultaneous intervals"),
        ({"correction": "holm"}, "intervals of at least 95% each"),
        ({"correction": "none"}, "intervals of 95% each"),
        ({"interval": "t"}, "95% t intervals"),
    ],
)
def test_a_figure_says_what_its_intervals_are(options, words):
    comparison = compared({"a": 0.5, "b": 0.51, "c": 0.6}, baseline="a", **options)
    assert f"with {words}" in str(comparison.plot())


def test_what_queries_could_miss_counts_those_of_the_measure():
    rng = np.random.default_rng(5)
    scores = {
        name: {
            "wide": {f"q{number}": rng.uniform() for number in range(40)},
            "narrow": {f"q{number}": rng.uniform() for number in range(20)},
        }
        for name in "abc"
    }
    options = {"bounds": (0, 1), "higher_is_better": True}
    results = [EvaluationResult.from_scores(name, of, **options) for name, of in scores.items()]
    text = str(compare(results, baseline="a"))
    assert "wide: where undecided, 40 queries can miss true differences" in text
    assert "narrow: where undecided, 20 queries can miss true differences" in text


def test_of_several_pairs_that_are_identical_no_query_is_said_to_differ():
    scores = scores_of(0.5)[:1]
    same = {name: made(scores[0], name) for name in "abc"}
    text = str(compare(same, baseline="a"))
    assert "Where no query differs, true differences of up to" in text


def test_a_system_that_lost_on_no_query_is_said_to():
    base = np.full(30, 0.5)
    changed = base.copy()
    changed[4] = 0.75
    text = str(compare([made(base, "a"), made(changed, "b")]))
    assert "b loses on no query, gains most on q0004 (+0.25)." in text


def test_two_systems_fill_at_most_fifteen_lines_of_eighty_columns(realdata):
    qrels = read_qrels(realdata / "qrels" / "dl19-passage.trec")
    folder = realdata / "runs" / "dl19"
    for names in (("bm25", "tas-b"), ("tas-b", "rep-llama_ties"), ("ada2", "splade-pp")):
        runs = {name: folder / f"{name}.trec" for name in names}
        text = str(compare_runs(qrels, runs, "nDCG@10"))
        lines = [
            wrapped for line in text.splitlines() for wrapped in textwrap.wrap(line, 80) or [""]
        ]
        assert len(lines) <= 14  # and the line that names --detail


def test_at_most_six_sentences_follow_and_those_that_change_the_meaning_stay():
    qrels = {query: {"a": 1, "x": 0} for query in QUERIES}
    whole = {query: {"a": 1.0, "x": 1.0, "y": 0.5} for query in QUERIES}
    partial = {query: {"a": 1.0} for query in QUERIES[:20]}
    runs = {"whole": whole, "partial": partial, "third": {q: {"x": 2.0, "a": 1.0} for q in QUERIES}}
    comparison = compare_runs(
        qrels, runs, ["nDCG@10", "MRR", "Recall@5", "MAP"], baseline="whole", interval="t"
    )
    sentences = document_of(comparison).notes
    assert len(sentences) <= 6
    assert any("Ties: " in sentence for sentence in sentences)
    assert any("4 measures, 4 chances of error" in sentence for sentence in sentences)


# Every query


def test_the_csv_of_queries_has_texts_scores_differences_and_first_relevant_ranks():
    qrels = {"q1": {"a": 1, "x": 0}, "q2": {"a": 1}, "q3": {"a": 1}}
    deep = [f"x{number}" for number in range(12)]
    first = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    second = {
        "q1": {"x": 2.0},
        "q2": {document: -float(rank) for rank, document in enumerate(deep)},
        "q3": {"a": 1.0},
    }
    comparison = compare_runs(qrels, {"first": first, "second": second}, "MRR")
    rows = list(csv.DictReader(io.StringIO(comparison.to_query_csv({"q1": '=what, "so"'}))))
    first_text, *other_texts = (row["text"] for row in rows)
    assert 'what, "so"' in first_text
    assert other_texts == ["", ""]
    fields = ("query_id", "score", "score_against", "difference")
    fields += ("first_relevant", "first_relevant_against")
    assert [tuple(row[field] for field in fields) for row in rows] == [
        ("q1", "0.0", "1.0", "-1.0", "none", "1"),
        ("q2", "0.0", "0.5", "-0.5", ">10", "2"),
        ("q3", "1.0", "0.0", "1.0", "1", "none"),
    ]


def test_the_csv_of_queries_counts_documents_of_the_measures_relevance_level():
    qrels = {query: {"a": 1, "b": 2} for query in ("q1", "q2")}
    first, second = {"a": 2.0, "b": 1.0}, {"b": 2.0, "a": 1.0}
    runs = {"first": dict.fromkeys(qrels, first), "second": dict.fromkeys(qrels, second)}
    comparison = compare_runs(qrels, runs, ["MRR", "MRR(rel=2)"])
    rows = list(csv.DictReader(io.StringIO(comparison.to_query_csv())))
    ranks = [(row["first_relevant_against"], row["first_relevant"]) for row in rows]
    assert ranks == [("1", "1")] * 2 + [("2", "1")] * 2
