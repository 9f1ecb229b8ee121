"""How much of the top of each system is judged."""

import pytest

from beir_eval import compare, compare_runs, evaluate
from beir_eval.comparison.overview import document_of
from beir_eval.comparison.tables import JUDGED_TITLE, judged_table

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
        ("high", "50%", "50%", "50%"),
        ("low (baseline)", "0%", "50%", "50%"),
    ]
    for row in ("high", "low (baseline)"):
        assert row in comparison.to_markdown().partition(f"### {JUDGED_TITLE}")[2]


@pytest.mark.parametrize(
    ("measure", "shares"),
    [
        ("nDCG@2", ("50%", "100%")),
        ("MAP", ("67%", "75%")),
        ("nDCG(judged_only=True)@2", ("67%", "75%")),
    ],
)
def test_the_shares_of_a_measure_are_down_to_its_cutoff(measure, shares):
    runs = {"a": ranked("a", "x", "n"), "b": ranked("a", "n", "x", "n2")}
    qrels = {query: grades | {"n2": 0} for query, grades in QRELS.items()}
    comparison = compare_runs(qrels, runs, [measure, "P@1"])
    first, *_ = document_of(comparison).tables
    column = list(first.header).index("judged")
    assert {row[0]: row[column] for row in first.rows} == dict(zip("ab", shares, strict=True))


@pytest.mark.parametrize("baseline", [None, "s"])
def test_the_table_has_columns_of_the_depths_and_shares_if_they_fit(baseline):
    runs = {"s": ranked("a", "n"), "t": ranked("a", "n", "x"), "u": ranked("x", "a", "n")}
    text = str(compare_runs(QRELS, runs, "P@3", baseline=baseline))
    header, *rows = text.partition("\n\n")[2].splitlines()[:4]
    assert "judged" in header.split()
    first = ["Precision@3", "rank", "mean"] if baseline is None else ["Precision@3", "mean"]
    assert header.split()[: len(first) + 1] == [*first, "depth"]
    shares = {name: row for row in rows for name in runs if name in row.split()[:2]}
    assert ("100%" in shares["s"], "67%" in shares["t"], "67%" in shares["u"]) == (True,) * 3
    wide = {name * 60: run for name, run in runs.items()}
    comparison = compare_runs(QRELS, wide, "P@3", baseline=baseline and baseline * 60)
    assert "judged" not in str(comparison)
    assert JUDGED_TITLE in comparison.to_markdown()


def test_a_low_share_is_a_sentence_too():
    runs = {"a": ranked("x", "y"), "b": ranked("a", "n")}
    text = str(compare_runs(QRELS, runs, "nDCG@2"))
    assert "few documents in the top 2 are judged: 0% of a, but 100% of b" in text


def test_saved_results_have_the_shares_at_the_cutoffs_that_were_evaluated():
    runs = {"a": ranked("x", "a"), "b": ranked("a")}
    results = [evaluate(QRELS, run, ["MRR@2", "MAP"], name=name) for name, run in runs.items()]
    assert rows_of(compare(results, baseline="a")) == [
        ("b", "100%", "100%"),
        ("a (baseline)", "50%", "50%"),
    ]


def test_a_share_is_not_known_if_a_repeat_did_not_count_at_that_cutoff():
    narrow = evaluate(QRELS, ranked("a", "x"), ["MRR@2", "nDCG@1"])
    counted = narrow.counted.model_copy(
        update={"judged_in_top": {1: narrow.counted.judged_in_top[1]}}
    )
    wide = narrow.model_copy(update={"counted": counted})
    for repeats in ([narrow, wide], [wide, narrow]):
        comparison = compare({"a": repeats, "b": [narrow, narrow]}, measures=["MRR@2", "nDCG@1"])
        assert rows_of(comparison) == [("1 a", "?", "100%"), ("2 b", "50%", "100%")]
