"""The provider of ir_measures against its provider pytrec_eval, and PyTerrier's experiments."""

import random

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import AP, IPrec, NumRet, P, SetP, nDCG

import beir_eval.integrations.ir_measures as ours
from beir_eval.errors import MissingExtraError, QrelsError, RunError
from processes import python

MEASURES = [
    *("P@5", "P(rel=2)@5", "P(judged_only=True)@5", "RR", "RR(rel=2)", "RR(judged_only=True)"),
    *("Rprec", "Rprec(rel=2)", "AP", "AP@10", "AP(rel=2)", "AP(rel=2,judged_only=True)@10"),
    *("nDCG", "nDCG@10", "nDCG(judged_only=True)@10", "nDCG(gains={0:0,1:1,2:5})@10"),
    *("nDCG(gains={1:0,2:7})", "nDCG(dcg='log2')@3", "R@10", "R(rel=2)@10"),
    *("R(judged_only=True)@5", "Bpref", "Bpref(rel=2)", "NumRet", "NumRet(rel=1)"),
    *("NumRet(rel=2)", "NumQ", "NumRel", "SetAP", "SetAP(rel=2)", "SetF", "SetF(beta=0.5)"),
    *("SetF(beta=2.0,rel=2)", "SetP", "SetP(relative=True)", "SetR", "SetR(rel=2)", "Success@5"),
    *("Success(rel=2)@1", "IPrec@0.1", "IPrec@0.5", "IPrec(rel=2)@0.333", "IPrec@1.0"),
    *("infAP", "infAP(rel=2)"),
]


@pytest.fixture
def installed():
    ours.install()
    yield
    ours.uninstall()


def judged_case(seed):
    """Return qrels with negative grades, and a run with ties as float32 and missing queries."""
    rng = random.Random(seed)
    docs = [f"d{number}" for number in range(40)]
    qrels = {
        f"q{query}": {doc: rng.randrange(-1, 3) for doc in rng.sample(docs, 20)} | {"d0": 2}
        for query in range(12)
    }
    run = {
        f"q{query}": {
            doc: rng.choice([rng.random(), 0.5, 0.5 + 1e-12]) for doc in rng.sample(docs, 30)
        }
        for query in [5, *range(2, 12), 99]
    }
    return qrels, run


def values(provider, measures, qrels, run):
    return {
        (metric.query_id, str(metric.measure)): metric.value
        for metric in provider.iter_calc(measures, qrels, run)
    }


# Made scores have many ties.
@pytest.mark.filterwarnings("ignore:.*the score of another one:beir_eval.BeirEvalWarning")
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_every_value_and_mean_is_that_of_the_provider_pytrec_eval(name, seed):
    measures = [ir_measures.parse_measure(name)]
    qrels, run = judged_case(seed)
    assert values(ours.provider, measures, qrels, run) == values(
        ir_measures.pytrec_eval, measures, qrels, run
    )
    assert ours.provider.calc_aggregate(
        measures, qrels, run
    ) == ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)


def test_a_query_without_relevant_documents_has_the_values_of_pytrec_eval():
    measures = [
        ir_measures.parse_measure(name)
        for name in MEASURES
        if "relative" not in name  # pytrec_eval divides by 0
    ]
    qrels, run = {"q": {"a": 0, "b": -1}, "r": {"a": 1}}, {"q": {"a": 1.0, "x": 0.5}}
    for measure in measures:
        assert values(ours.provider, [measure], qrels, run) == values(
            ir_measures.pytrec_eval, [measure], qrels, run
        ), measure


def test_both_providers_support_the_same_of_all_measures():
    parameters = [{}, {"cutoff": 10}, {"rel": 2}, {"judged_only": True}, {"dcg": "exp-log2"}]
    parameters += [{"recall": 0.1}, {"rel": 2, "cutoff": 3}, {"dcg": "exp-log2", "cutoff": 3}]
    compared = 0
    for measure in ir_measures.measures.registry.values():
        for changes in parameters:
            if set(changes) <= set(measure.SUPPORTED_PARAMS):
                changed = measure(**changes)
                try:
                    expected = ir_measures.pytrec_eval.supports(changed)
                except AssertionError:  # a required parameter is missing
                    continue
                assert ours.provider.supports(changed) == expected, changed
                compared += 1
    assert compared > 60


GRADED = {"0": {"a": 0, "b": 1, "c": 1, "d": 2, "e": 0}, "1": {"a": 1, "d": 2, "f": 2}}
RANKED = {
    "0": {"a": 0.9, "c": 0.8, "d": 0.5, "b": 0.4, "e": 0.1},
    "1": {"b": 0.9, "d": 0.8, "c": 0.5, "e": 0.4},
}


def tuples_of(make, content):
    return [
        make(query, doc, number) for query, docs in content.items() for doc, number in docs.items()
    ]


@pytest.mark.parametrize("as_form", [list, pd.DataFrame], ids=["tuples", "frames"])
def test_tuples_and_frames_have_the_values_and_means_of_dicts(as_form):
    qrels = as_form(tuples_of(ir_measures.Qrel, GRADED))
    run = as_form(tuples_of(ir_measures.ScoredDoc, RANKED))
    measures = [P(rel=2) @ 5, AP, NumRet]
    expected = values(ours.provider, measures, GRADED, RANKED)
    assert (expected["1", "P(rel=2)@5"], expected["1", "AP"]) == (1 / 5, 1 / 6)
    assert values(ours.provider, measures, qrels, run) == expected
    means = ours.provider.calc_aggregate(measures, qrels, run)
    assert means == ours.provider.calc_aggregate(measures, GRADED, RANKED)


def test_a_query_that_the_run_lacks_has_the_default_and_others_are_ignored():
    run = {"0": RANKED["0"], "unjudged": {"a": 1.0}}
    assert values(ours.provider, [P @ 2], GRADED, run) == {("0", "P@2"): 0.5, ("1", "P@2"): 0.0}
    for nothing in ({}, {"unjudged": {"a": 1.0}}):
        assert set(values(ours.provider, [P @ 2], GRADED, nothing).values()) == {0.0}
    assert values(ours.provider, [P @ 2], {}, RANKED) == {}
    assert values(ours.provider, [P @ 2], {"q": {}}, {"q": {"a": 1.0}}) == {("q", "P@2"): 0.0}


def test_integer_ids_are_returned_as_they_are_in_the_qrels():
    assert values(ours.provider, [P @ 1], {7: {1: 1}, 8: {1: 1}}, {7: {1: 0.5}}) == {
        (7, "P@1"): 1.0,
        (8, "P@1"): 0.0,
    }


def test_documented_differences_from_the_provider_pytrec_eval():
    run = {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}
    both = [P(judged_only=True) @ 5, NumRet]
    assert values(ours.provider, both, {"q": {"a": 1}}, run)["q", "NumRet"] == 3
    assert values(ir_measures.pytrec_eval, both, {"q": {"a": 1}}, run)["q", "NumRet"] == 1
    levels = [IPrec @ 0.101, IPrec @ 0.1]
    assert set(values(ours.provider, levels, {"q": {"a": 1}}, run).values()) == {1.0}
    theirs = values(ir_measures.pytrec_eval, levels, {"q": {"a": 1}}, run)
    assert (theirs["q", "IPrec@0.101"], theirs["q", "IPrec@0.1"]) == (0.0, 1.0)
    relative = values(ours.provider, [SetP(relative=True)], {"q": {"a": 0}}, run)
    assert list(relative.values()) == [0.0]


def test_input_is_not_changed_and_errors_say_what_is_wrong():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    measure = nDCG(gains={1: 5}) @ 10
    ours.provider.calc_aggregate([measure], qrels, run)
    assert (qrels, run, measure["gains"]) == ({"q": {"a": 1}}, {"q": {"a": 1.0}}, {1: 5})
    with pytest.raises(ValueError, match=r"does not compute ERR@10"):
        ours.provider.calc_aggregate([ir_measures.ERR @ 10], qrels, run)
    with pytest.raises(ValueError, match="0"):
        ours.provider.calc_aggregate([P @ 0], qrels, run)
    with pytest.raises(RunError, match="q"):
        ours.provider.calc_aggregate([AP], qrels, {"q": {"a": float("nan")}})
    with pytest.raises(QrelsError, match="q"):
        ours.provider.calc_aggregate([AP], {"q": {"a": "x"}}, run)


def generators():
    return iter(tuples_of(ir_measures.Qrel, GRADED)), iter(tuples_of(ir_measures.ScoredDoc, RANKED))


@pytest.mark.parametrize("measures", [[AP], [AP, ir_measures.RR @ 5]], ids=["one", "fallback"])
def test_a_generator_that_was_read_before_is_an_error_with_the_remedy(installed, measures):
    expected = ir_measures.calc_aggregate(measures, GRADED, RANKED)
    qrels, run = generators()
    assert ir_measures.calc_aggregate(measures, qrels, run) == expected
    with pytest.raises(QrelsError, match=r"was read before.*qrels = list\(qrels\)"):
        ir_measures.calc_aggregate(measures, qrels, run)
    with pytest.raises(RunError, match=r"was read before.*run = list\(run\)"):
        ir_measures.calc_aggregate(measures, GRADED, run)
    listed_qrels, listed_run = map(list, generators())
    for _ in range(2):
        assert ir_measures.calc_aggregate(measures, listed_qrels, listed_run) == expected


def test_a_run_of_a_system_that_retrieved_nothing_scores_0(installed):
    for nothing in ({}, []):
        assert ir_measures.calc_aggregate([AP], GRADED, nothing) == {AP: 0.0}


def computed_with(monkeypatch):
    """Return the list to which each evaluation by our provider adds its measures."""
    calls = []
    original = ours.BeirEvalProvider._evaluator

    def recorded(self, measures, qrels):
        measures = list(measures)
        calls.append(sorted(map(str, measures)))
        return original(self, measures, qrels)

    monkeypatch.setattr(ours.BeirEvalProvider, "_evaluator", recorded)
    return calls


# Made scores have many ties.
@pytest.mark.filterwarnings("ignore:.*the score of another one:beir_eval.BeirEvalWarning")
def test_after_install_ir_measures_computes_with_our_engine(installed, monkeypatch):
    calls = computed_with(monkeypatch)
    qrels, run = judged_case(1)
    measures = [nDCG @ 10, AP, ir_measures.RR @ 5, ir_measures.Judged @ 5]
    mine = ir_measures.calc_aggregate(measures, qrels, run)
    assert calls == [["AP", "nDCG@10"]]
    ours.uninstall()
    assert ir_measures.calc_aggregate(measures, qrels, run) == mine
    assert len(calls) == 1


def test_install_twice_and_uninstall_leave_one_and_no_provider(installed):
    ours.install()
    assert ir_measures.DefaultPipeline.providers.count(ours.provider) == 1
    assert ir_measures.DefaultPipeline.providers[0] is ours.provider
    assert ir_measures.providers.registry["beir_eval"] is ours.provider
    ours.uninstall()
    assert ours.provider not in ir_measures.DefaultPipeline.providers
    assert "beir_eval" not in ir_measures.providers.registry
    ours.uninstall()


def test_a_measure_that_the_user_defined_is_computed_by_its_own_function(installed):
    measure = ir_measures.define_byquery(lambda *_: 42.0, name="AP")
    assert ir_measures.calc_aggregate([measure], GRADED, RANKED) == {measure: 42.0}


TOPICS = pd.DataFrame([["0", "first"], ["1", "second"]], columns=["qid", "query"])


def frame_of(content, number):
    return pd.DataFrame(tuples_of(lambda *row: row, content), columns=["qid", "docno", number])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_an_experiment_of_pyterrier_runs_on_our_engine(installed, monkeypatch):
    calls = computed_with(monkeypatch)
    better = {query: {**docs, "d": 9.0} for query, docs in RANKED.items()}
    systems = [pt.Transformer.from_df(frame_of(run, "score")) for run in (RANKED, better)]
    measures, qrels = [P @ 1, P @ 2, AP, nDCG @ 10], frame_of(GRADED, "label")

    def experiment(**options):
        return pt.Experiment(systems, TOPICS, qrels, measures, names=["a", "b"], **options)

    mine = experiment(), experiment(perquery=True), experiment(baseline=0)
    assert calls[0] == ["AP", "P@1", "P@2", "nDCG@10"]
    assert mine[0]["P@1"].tolist() == [0.0, 1.0]  # b ranks d first, which is relevant
    number = len(calls)
    ours.uninstall()
    theirs = experiment(), experiment(perquery=True), experiment(baseline=0)
    assert len(calls) == number
    for left, right in zip(mine, theirs, strict=True):
        pd.testing.assert_frame_equal(left, right[left.columns], check_exact=True)
        assert len(left.columns) == len(right.columns)


def test_without_ir_measures_the_error_names_the_extra():
    code = """
import sys
sys.modules["ir_measures"] = None
import beir_eval.integrations.ir_measures
"""
    run = python("-c", code, check=False)
    assert MissingExtraError.__name__ in run.stderr
    assert "pip install 'beir-eval[ir-measures]'" in run.stderr
