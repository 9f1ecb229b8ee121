"""How much of the top of each system is judged."""

import pytest

from beir_eval import compare, compare_runs, evaluate
from beir_eval.comparison.judged import JUDGED_TITLE, judged_sentences, judged_table

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

QRELS = {f"q{number}": {"a": 1, "n": 0} for number in range(8)}


def ranked(*doc_ids):
    return {query: {doc: -float(rank) for rank, doc in enumerate(doc_ids)} for query in QRELS}


def rows_of(comparison):
    return [tuple(map(str, row)) for row in judged_table(comparison).rows]


def test_each_system_has_a_row_and_each_cutoff_a_column():
    runs = {"low": ranked("x", "y", "a", "n"), "high": ranked("a", "x")}
    comparison = compare_runs(QRELS, runs, ["nDCG@2", "MRR@2", "MAP", "P@4"], baseline="low")
    assert judged_table(comparison).header == ("system", "top 2", "all", "top 4")
    assert rows_of(comparison) == [
        ("high", "50.0%", "50.0%", "50.0%"),
        ("low (baseline)", "0.0%", "50.0%", "50.0%"),
    ]
    for row in ("high", "low (baseline)"):
        assert row in comparison.to_markdown().partition(f"### {JUDGED_TITLE}")[2]


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        ("nDCG@2", "Documents judged in the top 2: a 50%, b 100%"),
        ("MAP", "Judged of all retrieved documents: a 67%, b 75%"),
        ("nDCG(judged_only=True)@2", "Judged of all retrieved documents: a 67%, b 75%"),
    ],
)
def test_the_shares_of_the_first_measure_are_down_to_its_cutoff(measure, sentence):
    runs = {"a": ranked("a", "x", "n"), "b": ranked("a", "n", "x", "n2")}
    qrels = {query: grades | {"n2": 0} for query, grades in QRELS.items()}
    comparison = compare_runs(qrels, runs, [measure, "P@1"])
    assert judged_sentences(comparison) == [sentence]


def test_the_first_screen_has_the_shares_of_two_systems_and_the_range_of_more():
    runs = {name: ranked("a", "n", *extra) for name, extra in (("s", ()), ("t", "x"), ("u", "y"))}
    pair = str(compare_runs(QRELS, {name: runs[name] for name in "st"}, "P@3"))
    assert "Documents judged in the top 3: s 100%, t 67%." in pair
    several = str(compare_runs(QRELS, runs, ["P@3", "P@1"]))
    assert "Documents judged in the top 3: 67 to 100%." in several


@pytest.mark.parametrize("baseline", [None, "s"])
def test_the_table_of_several_systems_has_a_column_of_the_shares_if_it_fits(baseline):
    runs = {"s": ranked("a", "n"), "t": ranked("a", "n", "x"), "u": ranked("x", "a", "n")}
    text = str(compare_runs(QRELS, runs, "P@3", baseline=baseline))
    header, *rows = text.partition("\n\n")[2].splitlines()[:4]
    first = ["system", "Precision@3"] if baseline is None else ["Precision@3", "mean"]
    assert header.split()[:3] == [*first, "judged"]
    assert "Documents judged in" not in text
    shares = {name: row for row in rows for name in runs if name in row.split()[:2]}
    assert ("100.0%" in shares["s"], "66.7%" in shares["t"], "66.7%" in shares["u"]) == (True,) * 3
    wide = {name * 60: run for name, run in runs.items()}
    text = str(compare_runs(QRELS, wide, "P@3", baseline=baseline and baseline * 60))
    assert "Documents judged in the top 3: 67 to 100%." in text


def test_the_shares_are_not_said_twice():
    runs = {"a": ranked("x", "y"), "b": ranked("a", "n")}
    text = str(compare_runs(QRELS, runs, "nDCG@2"))
    assert "few documents in the top 2 are judged: 0% of a, but 100% of b" in text
    assert "Documents judged in" not in text


def test_saved_results_have_the_shares_at_the_cutoffs_that_were_evaluated():
    runs = {"a": ranked("x", "a"), "b": ranked("a")}
    results = [evaluate(QRELS, run, ["MRR@2", "MAP"], name=name) for name, run in runs.items()]
    assert rows_of(compare(results, baseline="a")) == [
        ("b", "100.0%", "100.0%"),
        ("a (baseline)", "50.0%", "50.0%"),
    ]


def test_a_share_is_not_known_if_a_repeat_did_not_count_at_that_cutoff():
    narrow = evaluate(QRELS, ranked("a", "x"), ["MRR@2", "nDCG@1"])
    counted = narrow.counted.model_copy(
        update={"judged_in_top": {1: narrow.counted.judged_in_top[1]}}
    )
    wide = narrow.model_copy(update={"counted": counted})
    for repeats in ([narrow, wide], [wide, narrow]):
        comparison = compare({"a": repeats, "b": [narrow, narrow]}, measures=["MRR@2", "nDCG@1"])
        assert rows_of(comparison) == [("a a", "?", "100.0%"), ("b b", "50.0%", "100.0%")]
