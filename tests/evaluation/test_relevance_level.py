"""``rel=`` sets the lowest relevant grade of every measure that takes one and states none."""

import pytest

from beir_eval import (
    BeirEvalWarning,
    Evaluator,
    assert_no_regression,
    compare,
    compare_runs,
    evaluate,
)
from beir_eval.benchmark import Benchmark
from beir_eval.errors import NotEvaluatedError

QRELS = {f"q{number}": {"a": 2, "b": 1} for number in range(8)}
RUN = {query: {"b": 3.0, "x": 2.0, "a": 1.0} for query in QRELS}
BEST = {query: {"a": 3.0, "x": 2.0, "b": 1.0} for query in QRELS}
NAMES = ["MRR", "P(rel=1)@1", "nDCG@10"]
AT_LEVEL_2 = ("MRR(rel=2)", "Precision(rel=1)@1", "nDCG@10")


def test_the_level_of_an_evaluation_is_that_of_measures_that_state_none():
    result = evaluate(QRELS, RUN, NAMES, rel=2)
    assert result.measures == AT_LEVEL_2
    assert (
        result == evaluate(QRELS, RUN, AT_LEVEL_2) == Evaluator(QRELS, NAMES, rel=2).evaluate(RUN)
    )
    assert (result["MRR(rel=2)"], result["P(rel=1)@1"]) == (1 / 3, 1)


def test_a_measure_at_a_level_is_found_by_the_name_that_was_asked_for():
    result = evaluate(QRELS, RUN, ["map", "P_1", "nDCG@10"], rel=2)
    assert (result["map"], result["P_1"]) == (1 / 3, 0)
    assert (result.scores("AP")[0], result.per_query["q0"]["P_1"]) == (1 / 3, 0)
    assert "MAP" in result
    both = evaluate(QRELS, RUN, ["MAP", "MAP(rel=2)"])
    assert (both["map"], both["MAP(rel=2)"]) == ((1 + 2 / 3) / 2, 1 / 3)
    two_levels = evaluate(QRELS, RUN, ["MAP(rel=1)", "MAP(rel=2)"])
    with pytest.raises(
        NotEvaluatedError, match=r"MAP was not evaluated for 'run'; it holds MAP\(rel"
    ):
        two_levels["MAP"]
    results = [
        evaluate(QRELS, run, "MAP", rel=2, name=name) for run, name in ((RUN, "a"), (BEST, "b"))
    ]
    assert compare(results, "map").measures == ("MAP(rel=2)",)
    with pytest.raises(NotEvaluatedError, match=r"MAP\(rel=3\) was not evaluated"):
        compare(results, "map", rel=3)


def test_the_default_measures_have_the_level_too():
    result = evaluate(QRELS, RUN, rel=2)
    assert {"nDCG@10", "MAP(rel=2)@100", "Recall(rel=2)@5"} <= set(result.measures)
    assert "MAP@100" not in result.measures


def test_runs_are_compared_at_the_level():
    runs = {"bm25": RUN, "best": BEST}
    comparison = compare_runs(QRELS, runs, NAMES, rel=2)
    assert comparison.measures == AT_LEVEL_2
    assert comparison.difference("MRR(rel=2)", "best").difference == 1 - 1 / 3


def test_a_level_selects_among_the_measures_of_results():
    names = [*NAMES, "MRR(rel=2)"]
    results = [evaluate(QRELS, run, names, name=name) for run, name in ((RUN, "a"), (BEST, "b"))]
    assert compare(results, measures="MRR", rel=2).measures == ("MRR(rel=2)",)
    assert set(compare(results, rel=2).measures) == set(AT_LEVEL_2)


def test_a_level_that_was_not_evaluated_is_an_error_that_says_what_to_do():
    results = [evaluate(QRELS, RUN, NAMES, name=name) for name in "ab"]
    problem = r"MRR\(rel=2\) was not evaluated for 'a'; it holds MRR, .*with the same rel= first"
    for measures in ("MRR", None):
        with pytest.raises(NotEvaluatedError, match=problem):
            compare(results, measures=measures, rel=2)


def test_a_benchmark_is_evaluated_at_the_level(tmp_path):
    (tmp_path / "one.trec").write_text(
        "".join(f"{query} 0 a 2\n{query} 0 b 1\n" for query in QRELS)
    )
    run = tmp_path / "run.trec"
    run.write_text("".join(f"{query} Q0 b 1 2 t\n{query} Q0 a 2 1 t\n" for query in QRELS))
    benchmark = Benchmark(
        tmp_path / "one.trec", {"s": run}, folder=tmp_path / "out", measures=NAMES, rel=2
    )
    assert tuple(map(str, benchmark.measures)) == AT_LEVEL_2
    assert benchmark.run().score("s", "one", "MRR(rel=2)") == 1 / 2


def test_a_level_above_every_grade_is_warned_of_once_for_all_runs():
    with pytest.warns(BeirEvalWarning, match="no document has a grade of 3 or more") as caught:
        result = evaluate(QRELS, RUN, ["Recall@10", "nDCG@10"], rel=3)
    assert len(caught) == 1
    [warning] = result.warnings()
    for words in ("relevant in Recall(rel=3)@10:", "the highest grade is 2", "a lower rel"):
        assert words in warning
    with pytest.warns(BeirEvalWarning):
        comparison = compare_runs(QRELS, {"a": RUN, "b": BEST}, ["MRR"], rel=3)
    assert comparison.warnings() == [warning.replace("Recall(rel=3)@10", "MRR(rel=3)")]
    assert evaluate(QRELS, RUN, ["Recall@10", "nDCG@10"], rel=2).warnings() == []


def test_a_measure_is_not_compared_with_itself_at_another_level():
    binary, graded = (
        evaluate(QRELS, RUN, ["MAP"], rel=rel, name=f"rel={rel}") for rel in (None, 2)
    )
    for call in (
        lambda: compare([binary, graded], measures=["MAP"]),
        lambda: assert_no_regression(graded, binary, "MAP"),
    ):
        with pytest.raises(NotEvaluatedError, match="MAP was not evaluated for"):
            call()
