"""RBP, ERR and Judged against ir_measures (cwl-eval, gdeval), and names against its parser."""

import random
import shutil

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import ERR, RBP, Judged, evaluate, parse
from beir_eval.errors import MeasureError
from strategies import qrels_and_run

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")


def untied(run):
    """Return the run with scores that differ: ir_measures breaks ties by id ascending."""
    return {
        query: {doc: float(score) for score, doc in enumerate(ranked)}
        for query, ranked in run.items()
    }


MEASURES = [
    *("nDCG@10", "AP", "AP@100", "P(rel=2)@5", "R@100", "RR", "RR@10", "Rprec", "Success@5"),
    *("Success(rel=3)@2", "SetP", "SetR(rel=2)", "IPrec(rel=2)@0.75", "NumQ"),
]


@given(qrels_and_run(grade=st.integers(0, 3), min_size=1, complete=True), st.floats(0.05, 0.95))
@settings(max_examples=settings.default.max_examples // 2)
def test_rbp_equals_that_of_cwl_eval(case, p):
    qrels, run = case[0], untied(case[1])
    theirs = ir_measures.RBP(p=p, rel=1)
    oracle = {
        metric.query_id: metric.value
        for metric in ir_measures.cwl_eval.iter_calc([theirs], qrels, run)
    }
    ours = evaluate(qrels, run, [RBP(p=p)]).per_query
    for query, scores in ours.items():
        assert scores[str(RBP(p=p))] == pytest.approx(oracle[query], abs=1e-12)


@pytest.mark.parametrize("gains", [{0: 0, 1: 1, 2: 3, 3: 3}, {3: 7}, {1: 0, 2: 0}, {1: 2, 3: 4}])
@given(case=qrels_and_run(grade=st.integers(0, 3), min_size=1, complete=True))
@settings(max_examples=settings.default.max_examples // 2)
def test_gains_of_ir_measures_are_read_with_the_same_scores_or_refused(gains, case):
    qrels, run = case[0], untied(case[1])
    theirs = ir_measures.nDCG(gains=gains) @ 3
    oracle = {
        metric.query_id: metric.value
        for metric in ir_measures.pytrec_eval.iter_calc([theirs], qrels, run)
    }
    try:
        ours = evaluate(qrels, run, str(theirs)).per_query
    except MeasureError:
        # A grade above those in the name is its own gain there; which grades, ours must know.
        listed = dict(parse(str(theirs)).parameters)["gain"]
        assert max(grade for judged in qrels.values() for grade in judged.values()) > listed[-1][0]
        return
    assert {query: list(scores.values()) for query, scores in ours.items()} == {
        query: [oracle[query]] for query in ours
    }


@pytest.mark.skipif(not shutil.which("perl"), reason="gdeval is a Perl script; perl is missing")
@pytest.mark.parametrize("cutoff", [1, 5, 20])
def test_err_equals_that_of_gdeval_to_its_five_digits(cutoff):
    rng = random.Random(cutoff)
    docs = [f"d{number}" for number in range(40)]
    # gdeval needs numeric query ids, and assumes that 4 is the highest grade.
    qrels = {
        str(query): {doc: rng.randrange(5) for doc in rng.sample(docs, 20)} for query in range(30)
    }
    qrels["0"][docs[0]] = 4
    run = {query: {doc: rng.random() for doc in rng.sample(docs, 30)} for query in qrels}
    theirs = ir_measures.ERR @ cutoff
    oracle = {
        metric.query_id: metric.value
        for metric in ir_measures.gdeval.iter_calc([theirs], qrels, run)
    }
    ours = evaluate(qrels, run, [ERR @ cutoff]).per_query
    assert set(ours) == set(oracle)
    for query, scores in ours.items():
        assert scores[f"ERR@{cutoff}"] == pytest.approx(oracle[query], abs=5e-6 + 1e-12)


@given(qrels_and_run(grade=st.integers(0, 3), min_size=1, complete=True))
@settings(max_examples=settings.default.max_examples // 2)
def test_the_judged_share_equals_that_of_ir_measures(case):
    qrels, run = case[0], untied(case[1])
    for cutoff in (1, 3, 10):
        theirs = ir_measures.Judged @ cutoff
        oracle = {
            metric.query_id: metric.value
            for metric in ir_measures.judged.iter_calc([theirs], qrels, run)
        }
        ours = evaluate(qrels, run, [Judged @ cutoff])
        assert dict(zip(ours.query_ids, ours.scores(Judged @ cutoff).tolist(), strict=True)) == {
            query: oracle[query] for query in ours.query_ids
        }


@pytest.mark.parametrize("name", MEASURES)
def test_a_name_of_ir_measures_means_the_same_here(name):
    rng = random.Random(7)
    docs = [f"d{number}" for number in range(40)]
    qrels = {
        f"q{query}": {doc: rng.randrange(3) for doc in rng.sample(docs, 20)} for query in range(9)
    }
    run = {query: {doc: rng.random() for doc in rng.sample(docs, 30)} for query in qrels}
    theirs = ir_measures.pytrec_eval.calc_aggregate([ir_measures.parse_measure(name)], qrels, run)
    ours = evaluate(qrels, run, [name])
    assert ours[name] == pytest.approx(next(iter(theirs.values())), abs=1e-12)
    assert list(ours.as_dict(names="ir_measures")) == [str(ir_measures.parse_measure(name))]


def test_ir_measures_reads_the_names_that_we_write_for_it():
    names = ("nDCG@10", "MAP@100", "Recall(rel=2)@5", "RBP(p=0.5)", "ERR@20", "bpref", "IPrec@.1")
    for name in names:
        result = evaluate({"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0}}, [name])
        (key,) = result.as_dict(names="ir_measures")
        assert parse(key).name == parse(name).name
        ir_measures.parse_measure(key)
