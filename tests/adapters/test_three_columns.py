"""Three columns are query, document and a rank or a score, by the numbers; or refused."""

import re

import pytest

from beir_eval import read_run
from beir_eval.errors import FileFormatError


def write(tmp_path, rows, separator="\t"):
    path = tmp_path / "run.tsv"
    path.write_text("".join(separator.join(row.split()) + "\n" for row in rows), encoding="utf-8")
    return path


RANKS = {
    "from 1 in order": ["q1 a 1", "q1 b 2", "q1 c 3", "q2 a 1"],
    "in another order": ["q1 c 3", "q2 a 1", "q1 a 1", "q1 b 2"],
    "descending to 1": ["q1 c 3", "q1 b 2", "q1 a 1", "q2 a 1"],
    "with gaps": ["q1 a 1", "q1 b 5", "q1 c 9", "q2 a 1"],
}


@pytest.mark.parametrize("rows", RANKS.values(), ids=RANKS)
@pytest.mark.parametrize("separator", ["\t", " ", "  "])
def test_different_whole_numbers_from_0_or_1_on_are_ranks(tmp_path, rows, separator):
    rankings = read_run(write(tmp_path, rows, separator)).rankings()
    assert {query: (list(docs), scores) for query, docs, scores in rankings} == {
        "q1": (["a", "b", "c"], None),
        "q2": (["a"], None),
    }


SCORES = {
    "fractions": ["q1 a 0.9", "q1 b 0.75", "q2 a 0.5"],
    "a fraction in each query that rises": ["q1 a 7", "q1 b 8.5", "q2 a 9", "q2 b 9"],
    "whole numbers that descend": ["q1 a 30", "q1 b 20", "q1 c 20", "q2 a 7"],
    "negative numbers": ["q1 a -1", "q1 b -20", "q2 a -3"],
    "queries that alternate": ["q1 a 30", "q2 a 50", "q1 b 20", "q2 b 40"],
    "whole numbers written as fractions": ["q1 a 12.0", "q1 b 11.0"],
}


@pytest.mark.parametrize("rows", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("separator", ["\t", " ", "  "])
def test_fractions_and_numbers_that_descend_are_scores(tmp_path, rows, separator):
    expected = {}
    for row in rows:
        query, doc, score = row.split()
        expected.setdefault(query, {})[doc] = float(score)
    run = read_run(write(tmp_path, rows, separator))
    assert run.as_dict() == expected
    assert all(scores is not None for _, _, scores in run.rankings())


REFUSED = {
    "whole numbers that rise": (["q1 a 2", "q1 b 5"], "rise from 2 to 5 at document 'b'"),
    "ranks written as fractions": (["q1 a 1.0", "q1 b 2.0"], "rise from 1 to 2"),
    "one query that rises": (["q1 a 0.5", "q2 a 7", "q2 b 9"], "query 'q2' rise from 7 to 9"),
    "a rank that repeats": (["q1 a 1", "q1 b 1", "q1 c 2"], "have the rank 1 for query 'q1'"),
    "one document a query": (["q1 a 5", "q2 a 7"], "begin at 5, .*no number is a fraction"),
    "judgements of one grade": (["q1 a 1", "q1 b 1", "q2 a 1"], "no number is a fraction"),
    "judgements, best first": (["q1 a 2", "q1 b 1", "q1 c 1", "q1 d 0"], "may be grades"),
    "no number": (["q1 a 1", "q1 b high"], "line 2: .*'high' is not a finite number"),
    "a sign": (["q1 a +1", "q1 b 2"], r"line 1: .*the rank '\+1' is not a whole number"),
}


@pytest.mark.parametrize(("rows", "problem"), REFUSED.values(), ids=REFUSED)
def test_numbers_that_are_neither_ranks_nor_scores_are_refused(tmp_path, rows, problem):
    with pytest.raises(FileFormatError, match=problem) as error:
        read_run(write(tmp_path, rows))
    assert re.search(
        "neither ranks .* nor scores .* qrels are read with read_qrels", str(error.value)
    )


def test_a_later_line_of_scores_that_is_malformed_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="line 2: 4 columns, expected 3"):
        read_run(write(tmp_path, ["q1 a 0.5", "q1 b 1 0.25"]))
    with pytest.raises(FileFormatError, match="line 2: the score 'high' is not a finite number"):
        read_run(write(tmp_path, ["q1 a 0.5", "q1 b high"]))
