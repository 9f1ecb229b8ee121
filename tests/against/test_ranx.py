"""What the tests of ranx promise, as a table of inputs and values: ranx and we return them.

The situations are those of its tests; the inputs and the arithmetic are ours.
"""

import json
import os
from math import log2

import pytest

from beir_eval import evaluate
from processes import python

RANX_QRELS = {"q1": {"a": 1, "d": 1, "e": 1, "f": 1}, "q2": {"a": 1, "d": 1, "f": 1}}
RANX_RUN = {
    "q1": dict(zip("abcdeg", (6.0, 5.0, 4.0, 3.0, 2.0, 1.0), strict=True)),
    "q2": dict(zip("bcaegh", (6.0, 5.0, 4.0, 3.0, 2.0, 1.0), strict=True)),
}
RANX_GRADED = {"q1": {"b": 5, "d": 4, "e": 3, "x": 2}, "q2": {"z": 5}}


def ideal(*gains):
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


RANX_CASES = [
    ("hits@5", RANX_QRELS, (3, 1)),
    ("hits", RANX_QRELS, (3, 1)),
    ("hit_rate@2", RANX_QRELS, (1, 0)),
    ("precision@5", RANX_QRELS, (3 / 5, 1 / 5)),
    ("recall@5", RANX_QRELS, (3 / 4, 1 / 3)),
    ("f1@5", RANX_QRELS, (2 * 3 / (5 + 4), 2 * 1 / (5 + 3))),
    ("r-precision", RANX_QRELS, (2 / 4, 1 / 3)),
    ("mrr@5", RANX_QRELS, (1, 1 / 3)),
    ("map@5", RANX_QRELS, ((1 + 2 / 4 + 3 / 5) / 4, (1 / 3) / 3)),
    ("ndcg@5", RANX_GRADED, (ideal(0, 5, 0, 4, 3) / ideal(5, 4, 3, 2), 0)),
    ("ndcg_burges@5", RANX_GRADED, (ideal(0, 31, 0, 15, 7) / ideal(31, 15, 7, 3), 0)),
    ("rbp.80", RANX_QRELS, (0.2 * (1 + 0.8**3 + 0.8**4), 0.2 * 0.8**2)),
]


@pytest.fixture(scope="module")
def scores_of_ranx():
    """Return ranx's scores of each case, from a process in which it is not compiled."""
    code = """
import json, sys, ranx
cases, run = json.load(sys.stdin)
json.dump([
    ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name, return_mean=False).tolist()
    for name, qrels, _ in cases
], sys.stdout)
"""
    process = python(
        "-c",
        code,
        input=json.dumps([RANX_CASES, RANX_RUN]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout)


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize("row", range(len(RANX_CASES)), ids=[name for name, *_ in RANX_CASES])
def test_ranx_and_this_package_give_the_scores_worked_out_for_ranx(row, scores_of_ranx):
    name, qrels, scores = RANX_CASES[row]
    assert scores_of_ranx[row] == pytest.approx(scores, abs=1e-12)
    ours = evaluate(qrels, RANX_RUN, [name])
    assert ours.scores(ours.measures[0]).tolist() == pytest.approx(scores, abs=1e-12)
    assert ours[ours.measures[0]] == pytest.approx(sum(scores) / 2, abs=1e-12)
