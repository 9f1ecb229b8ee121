"""A name of ranx means the same here: both give the same scores."""

import json
import os

import pytest

from beir_eval import evaluate
from one_number import made_case
from processes import python

NAMES = ("hits", "hits@5", "hit_rate@2", "precision@5", "recall@5", "f1@5", "r-precision", "mrr@5")
NAMES += ("map@5", "ndcg@5", "ndcg_burges@5")
#: In a process in which ranx is not compiled.
CODE = """
import json, sys, ranx
names, qrels, run = json.load(sys.stdin)
qrels, run = ranx.Qrels(qrels), ranx.Run(run)
json.dump({name: ranx.evaluate(qrels, run, name, return_mean=False).tolist() for name in names},
          sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.peers
def test_a_name_of_ranx_means_the_same_here():
    qrels, run = made_case(grades=(0, 1, 3), queries=10)
    binary = {
        query: {doc: min(grade, 1) for doc, grade in of.items()} for query, of in qrels.items()
    }
    for judged, names in ((qrels, NAMES), (binary, ("rbp.80",))):
        arguments = json.dumps([names, judged, run])
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        theirs = json.loads(python("-c", CODE, input=arguments, env=environment).stdout)
        result = evaluate(judged, run, names)
        assert result.query_ids == tuple(judged)
        for name, scores in theirs.items():
            assert result.scores(name).tolist() == pytest.approx(scores, abs=1e-12), name
