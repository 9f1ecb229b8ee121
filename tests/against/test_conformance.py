"""What the peers' own tests promise, as tables of inputs and values: the peer and we return them.

The situations are those of the tests of pytrec_eval, ir_measures, Haystack and ranx; the inputs and
the arithmetic are ours.
"""

import importlib
import json
import os
import subprocess
import sys
from math import log2

import ir_measures
import pytest
import pytrec_eval
from haystack import Document
from haystack.components import evaluators

import beir_eval.integrations.pytrec_eval as pytrec_eval_drop_in
from beir_eval import evaluate
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

# pytrec_eval

ONE_RELEVANT = {"q": {"x": 0, "rel": 1, "y": 0}, "r": {"rel": 1, "x": 1}}
FIRST, SECOND, THIRD = (
    {"q": {"rel": 2.0, "x": score_x, "y": score_y}, "r": {"z": 1.0}}
    for score_x, score_y in ((1.0, 1.5), (3.0, 1.0), (4.0, 3.0))
)


@pytest.mark.parametrize("module", [pytrec_eval, pytrec_eval_drop_in])
@pytest.mark.parametrize(
    ("measure", "run", "expected"),
    [
        ("ndcg", FIRST, {"ndcg": 1.0}),
        ("ndcg", SECOND, {"ndcg": 1 / log2(3)}),
        ("ndcg", THIRD, {"ndcg": 1 / log2(4)}),
        ("ndcg_cut.3", THIRD, {"ndcg_cut_3": 1 / log2(4)}),
        ("ndcg_cut.1", FIRST, {"ndcg_cut_1": 1.0}),
        (
            "ndcg_cut.1,2,3,1000",
            THIRD,
            {"ndcg_cut_1": 0, "ndcg_cut_2": 0, "ndcg_cut_3": 0.5, "ndcg_cut_1000": 0.5},
        ),
        ("map", SECOND, {"map": 1 / 2}),
        ("recip_rank", THIRD, {"recip_rank": 1 / 3}),
        ("P_2", SECOND, {"P_2": 1 / 2}),
    ],
)
def test_pytrec_eval_and_its_drop_in_return_the_scores_written_out(module, measure, run, expected):
    scores = module.RelevanceEvaluator(ONE_RELEVANT, {measure}).evaluate(run)
    assert scores["q"] == pytest.approx(expected, abs=1e-15)
    assert set(scores["r"].values()) == {0.0}
    without_r = module.RelevanceEvaluator(ONE_RELEVANT, {measure}).evaluate({"q": run["q"]})
    assert without_r == {"q": scores["q"]}


@pytest.mark.parametrize(
    ("measures", "count"), [({"all_trec"}, 95), ({"set"}, 11), ({"official"}, 30)]
)
def test_a_nickname_of_pytrec_eval_names_the_same_measures_in_the_drop_in(measures, count):
    names = [
        module.RelevanceEvaluator(ONE_RELEVANT, measures).evaluate(FIRST)["q"].keys()
        for module in (pytrec_eval, pytrec_eval_drop_in)
    ]
    assert names[0] == names[1]
    assert len(names[0]) == count


# ir_measures

GRADED = {"0": {"a": 0, "b": 1, "c": 1, "d": 2, "e": 0}, "1": {"a": 1, "d": 2, "f": 2}}
RANKED = {
    "0": {"a": 0.9, "c": 0.8, "d": 0.5, "b": 0.4, "e": 0.1},
    "1": {"b": 0.9, "d": 0.8, "c": 0.5, "e": 0.4},
}
SAMPLED = {"0": {"a": 1, "b": -1, "c": 0, "d": 2, "e": 0}, "1": {"a": 1, "d": 2, "f": 0}}


@pytest.mark.parametrize(
    ("name", "qrels", "scores", "aggregate"),
    [
        ("NumQ", GRADED, (1, 1), 2),
        ("Success@2", GRADED, (1, 1), 1),
        ("Success(rel=3)@2", GRADED, (0, 0), 0),
        ("SetP(rel=1)", GRADED, (3 / 5, 1 / 4), (3 / 5 + 1 / 4) / 2),
        ("SetR(rel=2)", GRADED, (1 / 1, 1 / 2), 3 / 4),
        ("IPrec(rel=2)@0.75", GRADED, (1 / 3, 0), 1 / 6),
        ("AP", SAMPLED, ((1 / 1 + 2 / 3) / 2, (1 / 2) / 2), (5 / 6 + 1 / 4) / 2),
        ("RR", GRADED, (1 / 2, 1 / 2), 1 / 2),
    ],
)
def test_ir_measures_and_evaluate_return_the_scores_written_out(name, qrels, scores, aggregate):
    measure = ir_measures.parse_measure(name)
    provider = ir_measures.pytrec_eval
    oracle = {
        metric.query_id: metric.value for metric in provider.iter_calc([measure], qrels, RANKED)
    }
    assert (oracle["0"], oracle["1"]) == pytest.approx(scores, abs=1e-15)
    assert provider.calc_aggregate([measure], qrels, RANKED)[measure] == pytest.approx(aggregate)
    ours = evaluate(qrels, RANKED, [name])
    assert ours.scores(name).tolist() == pytest.approx(scores, abs=1e-15)
    assert ours[name] == pytest.approx(aggregate, abs=1e-15)


# Haystack


def documents(*contents):
    return [Document(content=content) for content in contents]


def scored(**scores):
    return [Document(content=content, score=score) for content, score in scores.items()]


def with_file(*files):
    return [Document(content=f"{n}", meta={"file": name}) for n, name in enumerate(files)]


def with_ids(*ids):
    return [Document(id=doc_id, content=f"{n}") for n, doc_id in enumerate(ids)]


HAYSTACK = {
    "nDCG": evaluators.DocumentNDCGEvaluator,
    "MAP": evaluators.DocumentMAPEvaluator,
    "MRR": evaluators.DocumentMRREvaluator,
    "Success": evaluators.DocumentRecallEvaluator,
    "Recall": evaluators.DocumentRecallEvaluator,
}
IDEAL_OF_TWO = 1 + 1 / log2(3)
#: (measure, field, ground truth, retrieved, score of each query)
HAYSTACK_CASES = [
    ("MAP", "content", [documents("a"), documents("b")], [documents("a"), documents("b")], [1, 1]),
    ("MAP", "content", [documents("a", "b")], [documents("x", "b", "a")], [(1 / 2 + 2 / 3) / 2]),
    ("MAP", "id", [with_ids("1")], [with_ids("2", "1")], [1 / 2]),
    ("MAP", "meta.file", [with_file("a"), with_file("b")], [with_file("a"), []], [1, 0]),
    ("MRR", "meta.file", [with_file("a")], [with_file(None, None, "a")], [1 / 3]),
    (
        "Success",
        "content",
        [documents("a", "b"), documents("c")],
        [documents("b"), documents("x")],
        [1, 0],
    ),
    ("Recall", "content", [documents("a", "a", "b")], [documents("a")], [1 / 2]),
    ("Recall", "meta.file", [with_file("a", "b", None)], [with_file("b", "b")], [1 / 2]),
    (
        "nDCG",
        "content",
        [scored(a=2.0, b=1.0)],
        [documents("b", "a")],
        [(1 + 2 / log2(3)) / (2 + 1 / log2(3))],
    ),
    ("nDCG", "id", [with_ids("1", "2")], [with_ids("2")], [1 / IDEAL_OF_TWO]),
]


@pytest.mark.parametrize(("name", "field", "truth", "retrieved", "scores"), HAYSTACK_CASES)
def test_haystacks_evaluator_and_ours_return_the_scores_written_out(
    name, field, truth, retrieved, scores
):
    version = importlib.import_module("haystack.version").__version__
    ours = BEIREvaluator.haystack_compatible(primary=name, document_comparison_field=field)
    components = [ours]
    if int(version.partition(".")[0]) >= 3:
        mode = {"Success": {"mode": "single_hit"}, "Recall": {"mode": "multi_hit"}}.get(name, {})
        components.append(HAYSTACK[name](document_comparison_field=field, **mode))
    for component in components:
        outputs = component.run(truth, retrieved)
        assert outputs["individual_scores"] == pytest.approx(scores, abs=1e-15)
        assert outputs["score"] == pytest.approx(sum(scores) / len(scores), abs=1e-15)


# ranx

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
    process = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([RANX_CASES, RANX_RUN]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=False,
        capture_output=True,
        text=True,
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
