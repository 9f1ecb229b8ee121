"""Qrels and run in the wrong order are a warning, and no other input is."""

import random
import warnings

import pytest

from beir_eval import BeirEvalWarning, compare_runs, evaluate, read_qrels, read_run
from beir_eval.datasets import demo

WORDS = "Pass the qrels first, then the run"


def made(score_of, *, depth=20, queries=30):
    """Return a run: ``score_of(number)`` gives the score of each of its documents."""
    return {
        f"q{query}": {f"d{rank}": score_of(depth * query + rank) for rank in range(depth)}
        for query in range(queries)
    }


QRELS = {query: {"d1": 1, "d2": 2} for query in made(float)}
RANDOM = random.Random(0)
RUNS = {
    "fractions": made(lambda _: RANDOM.random()),
    "negative fractions": made(lambda _: -RANDOM.random()),
    "negative whole numbers": made(lambda number: -number),
    "large whole numbers": made(lambda number: 1000 + number),
    "ranks up to 10": made(lambda number: 10 - number % 10, depth=10),
    "ranks up to 20": made(lambda number: 1 + number % 20),
    "five whole numbers": made(lambda number: 5 - number % 5, depth=5),
    "whole numbers of few queries": made(lambda number: 70 - 3 * number, depth=4, queries=6),
    "many ties": made(lambda number: round(number / 7) / 3),
}


def warnings_of(qrels, run):
    """Return the warnings of swapped inputs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(qrels, run, ["nDCG@10"])
    return [str(warning.message) for warning in caught if WORDS in str(warning.message)]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_passed_as_more_judgements_than_it_has_is_one_too(name):
    qrels = {query: {f"d{rank}": rank % 3 for rank in range(6)} for query in RUNS[name]}
    assert len(warnings_of(RUNS[name], qrels)) == 1
    assert warnings_of(qrels, RUNS[name]) == []


@pytest.mark.parametrize("name", RUNS)
def test_a_run_passed_as_qrels_is_a_warning_with_its_numbers(name):
    [warning] = warnings_of(RUNS[name], QRELS)
    scores = [score for ranking in RUNS[name].values() for score in ranking.values()]
    assert f"grades from {min(scores):.6g} to {max(scores):.6g}" in warning
    assert warnings_of(QRELS, RUNS[name]) == []


GRADES = {
    "votes as fractions": {query: {"d1": 0.25, "d2": 0.5, "d3": 1.0} for query in QRELS},
    "negative grades": {query: {"d1": -2, "d2": -1, "d3": 3} for query in QRELS},
    "percentages of one judge": {
        f"q{query}": {f"d{rank}": 5 * ((query + rank) % 20) for rank in range(9)}
        for query in range(30)
    },
    "percentages of a careful judge": {
        f"q{query}": {f"d{rank}": (37 * query + 41 * rank) % 101 for rank in range(12)}
        for query in range(30)
    },
    "many judged documents": {
        query: {f"d{rank}": rank % 4 for rank in range(200)} for query in QRELS
    },
}


@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("score_of", [float, lambda _: 1, lambda number: number % 3])
def test_unusual_grades_and_whole_scores_in_the_right_order_are_not(grades, score_of):
    assert warnings_of(GRADES[grades], made(score_of)) == []


@pytest.mark.parametrize(("num_queries", "num_warnings"), [(5, 0), (6, 1)])
def test_fewer_than_six_queries_show_nothing(num_queries, num_warnings):
    queries = list(QRELS)[:num_queries]
    swapped = {query: RUNS["fractions"][query] for query in queries}
    assert len(warnings_of(swapped, {query: QRELS[query] for query in queries})) == num_warnings


def test_the_bundled_runs_passed_as_qrels_are_a_warning_at_the_line_of_the_call():
    qrels = read_qrels(demo.FOLDER).as_dict()
    for path in demo.RUNS:
        run = {
            query: dict(zip(docs, scores.tolist(), strict=True))
            for query, docs, scores in read_run(path).rankings()
        }
        with pytest.warns(BeirEvalWarning, match=WORDS) as caught:
            evaluate(run, qrels, ["nDCG(gain='exp')@10"])
        assert {warning.filename for warning in caught} == {__file__}
        assert warnings_of(qrels, run) == []


def test_a_comparison_warns_too():
    with pytest.warns(BeirEvalWarning, match=WORDS):
        compare_runs(RUNS["fractions"], {"a": QRELS, "b": QRELS}, ["Judged@10"], draws=100)


@pytest.mark.parametrize(
    ("qrels", "folder"), [("dl19-passage", "dl19"), ("trec-covid", "trec-covid")]
)
def test_a_real_run_and_its_qrels_are_distinguished(realdata, qrels, folder):
    judged = read_qrels(realdata / "qrels" / f"{qrels}.trec").as_dict()
    for path in sorted((realdata / "runs" / folder).iterdir()):
        run = {
            query: dict(zip(docs, scores.tolist(), strict=True))
            for query, docs, scores in read_run(path).rankings()
        }
        assert warnings_of(judged, run) == []
        assert len(warnings_of(run, judged)) == 1
