"""Where a pipeline loses relevant documents: places, ceilings, the account, verdicts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import evaluate
from beir_eval.comparison.stages import StagedResult, evaluate_stages
from beir_eval.comparison.stages.account import places_of
from beir_eval.comparison.stages.graph import StageGraph
from beir_eval.errors import InputError, MeasureError

DOCUMENTS = [f"d{number}" for number in range(7)]
QUERIES = [f"q{number}" for number in range(4)]


@st.composite
def pipelines(draw):
    """Return qrels, runs by stage, and the inputs of each stage."""
    grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1)
    qrels = {query: draw(grades) for query in QUERIES}
    names = [f"s{number}" for number in range(draw(st.integers(2, 5)))]
    ranking = st.lists(st.sampled_from(DOCUMENTS), unique=True)
    runs = {}
    for name in names:
        rankings = {query: draw(ranking) for query in QUERIES if draw(st.booleans())}
        runs[name] = {
            query: {document: -float(rank) for rank, document in enumerate(documents)}
            for query, documents in (rankings or {QUERIES[0]: ["d0"]}).items()
        }
    inputs = {
        name: draw(st.lists(st.sampled_from(names[:index]), unique=True, max_size=2))
        for index, name in enumerate(names)
        if index
    }
    return qrels, runs, inputs


def made(pipeline, measures, **options):
    qrels, runs, inputs = pipeline
    return evaluate_stages(qrels, runs, measures, inputs=inputs, draws=50, **options)


MEASURES = ["nDCG@3", "Recall@2", "MAP", "MRR", "Precision@2", "ERR@3"]


@settings(deadline=None)
@given(pipelines())
def test_the_account_adds_up_exactly_and_no_loss_is_below_zero(pipeline):
    staged = made(pipeline, MEASURES)
    for measure in staged.measures:
        losses = [loss for loss in staged.losses if loss.measure == measure]
        total = math.fsum(loss.loss for loss in losses)
        mean = staged.result[measure]
        assert mean + total == pytest.approx(staged.best[measure], abs=1e-12)
        for loss in losses:
            assert loss.loss >= -1e-12
            assert loss.low <= loss.loss + 1e-12
            assert loss.low >= 0
        if measure != "Precision@2" and staged.num_relevant and measure != "ERR@3":
            assert staged.best[measure] <= 1 + 1e-12


@settings(deadline=None)
@given(pipelines())
def test_every_relevant_document_is_in_one_place(pipeline):
    qrels, runs, _ = pipeline
    staged = made(pipeline, ["Recall@2"])
    missing = sum(loss.documents for loss in staged.losses)
    assert staged.kept["Recall@2"] + missing == staged.num_relevant
    never = [
        document
        for query, grades in qrels.items()
        for document, grade in grades.items()
        if grade > 0 and not any(document in run.get(query, {}) for run in runs.values())
    ]
    [loss] = [loss for loss in staged.losses if loss.reason == "never"]
    assert loss.documents == len(never)


@settings(deadline=None)
@given(pipelines())
def test_the_last_stage_has_the_result_of_evaluate(pipeline):
    qrels, runs, _ = pipeline
    staged = made(pipeline, MEASURES)
    last = list(runs)[-1]
    assert staged.last == last
    alone = evaluate(qrels, runs[last], MEASURES, name=last)
    assert staged.result == alone
    for name, run in runs.items():
        skipped = evaluate(qrels, run, MEASURES, missing="skip")
        for measure in staged.measures:
            assert staged.stage(name).means[measure] == pytest.approx(
                skipped[measure], abs=1e-12, nan_ok=True
            )


@pytest.mark.slow
@settings(deadline=None, max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
    st.sampled_from(["nDCG@3", "MAP", "MRR", "Precision@2", "Recall@2", "ERR@3", "RBP", "bpref"]),
)
def test_no_order_of_a_stages_documents_is_better_than_its_ceiling(grades, measure):
    documents = DOCUMENTS[:5]
    qrels = {query: dict(zip(documents, grades, strict=True)) for query in ("q0", "q1")}
    run = {query: dict.fromkeys(documents, 1.0) for query in qrels}
    staged = evaluate_stages(qrels, {"first": run, "last": run}, measure, draws=20)
    ceiling = staged.stage("last").ceilings[staged.measures[0]]
    for order in itertools.permutations(documents):
        ranked = {query: {d: -float(rank) for rank, d in enumerate(order)} for query in qrels}
        score = evaluate(qrels, ranked, measure)[staged.measures[0]]
        assert not score > ceiling + 1e-12


def test_a_stage_that_only_permutes_loses_nothing():
    rng = np.random.default_rng(0)
    qrels = {query: {"d0": 2, "d3": 1} for query in QUERIES}
    first = {query: dict(zip(DOCUMENTS, rng.random(7).tolist(), strict=True)) for query in QUERIES}
    last = {query: dict(zip(DOCUMENTS, rng.random(7).tolist(), strict=True)) for query in QUERIES}
    staged = evaluate_stages(qrels, {"retriever": first, "ranker": last}, "nDCG@3")
    by_reason = {loss.reason: loss for loss in staged.losses}
    assert by_reason["dropped"].documents == by_reason["never"].documents == 0
    assert by_reason["dropped"].loss == by_reason["never"].loss == 0
    assert by_reason["order"].loss == pytest.approx(1 - staged.result["nDCG@3"], abs=1e-12)


def test_a_document_is_dropped_at_the_last_stage_that_had_it_in_reach():
    graph = StageGraph.from_inputs(
        ["bm25", "dense", "side", "joiner", "ranker"],
        {"joiner": ["bm25", "dense"], "ranker": "joiner"},
    )
    held = {
        "bm25": ["kept", "at joiner", "at ranker"],
        "dense": ["at ranker", "at joiner too"],
        "side": ["branch"],
        "joiner": ["kept", "at ranker"],
        "ranker": ["kept"],
    }
    names = ["kept", "at joiner", "at joiner too", "at ranker", "branch", "never"]
    lost_from = places_of(
        {"q": dict.fromkeys(names, 1.0)}, {name: {"q": ids} for name, ids in held.items()}, graph
    )
    lost = {tuple(kind): documents["q"] for kind, documents in lost_from.items() if documents}
    assert lost == {
        ("dropped", "ranker"): ["at ranker"],
        ("dropped", "joiner"): ["at joiner", "at joiner too"],
        ("branch", ""): ["branch"],
        ("never", ""): ["never"],
    }
    assert graph.pairs == [
        ("joiner", "bm25"),
        ("joiner", "dense"),
        ("ranker", "joiner"),
        ("ranker", "bm25"),
        ("ranker", "dense"),
    ]


def ranked_at(rank, num_queries=20):
    """Return a run that finds the relevant document at this rank for every query."""
    documents = [f"x{number}" for number in range(5)]
    documents.insert(rank - 1, "a")
    ranking = {document: -float(position) for position, document in enumerate(documents)}
    return {f"q{number}": ranking for number in range(num_queries)}


def test_verdicts_and_seconds_say_which_stage_is_worth_it():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    runs = {"bm25": ranked_at(4), "dense": ranked_at(2), "ranker": ranked_at(1)}
    staged = evaluate_stages(
        qrels, runs, "MRR", inputs={"ranker": ["bm25", "dense"]}, seconds={"ranker": 0.0106}
    )
    assert [(pair.system, pair.against, pair.verdict) for pair in staged.differences] == [
        ("ranker", "bm25", "better"),
        ("ranker", "dense", "better"),
    ]
    text = str(staged)
    assert "MRR of ranker is 1.0000 of 1.0000; missing are 0.0000" in text
    # The time of the other input comes on top.
    assert text.count("it takes 10.6 ms a query itself, without its inputs") == 2
    assert "MRR at best" in text
    chain = evaluate_stages(
        qrels, {name: runs[name] for name in ("bm25", "ranker")}, "MRR", seconds={"ranker": 0.0106}
    )
    assert str(chain).count("it adds 10.6 ms a query") == 1


def test_a_stage_that_did_not_run_for_a_query_is_not_an_empty_ranking():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    routed = {query: ranking for query, ranking in ranked_at(1).items() if int(query[1:]) < 12}
    inputs = {"routed": "bm25", "last": ["routed", "bm25"]}
    runs = {"bm25": ranked_at(2), "routed": routed, "last": ranked_at(1)}
    staged = evaluate_stages(qrels, runs, "MRR", inputs=inputs)
    stage = staged.stage("routed")
    assert (stage.num_queries, stage.means["MRR"]) == (12, 1.0)
    [pair] = [
        pair for pair in staged.differences if (pair.system, pair.against) == ("routed", "bm25")
    ]
    assert (pair.num_queries, pair.difference) == (12, 0.5)
    assert "over the 12 queries for which both ran" in str(staged)


def test_saved_stages_are_loaded_as_they_were(tmp_path):
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    staged = evaluate_stages(qrels, {"bm25": ranked_at(3), "ranker": ranked_at(2)}, ["MRR", "MAP"])
    staged.save(tmp_path / "stages.json")
    loaded = StagedResult.load(tmp_path / "stages.json")
    assert loaded == staged
    assert (str(loaded), loaded.to_markdown()) == (str(staged), staged.to_markdown())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": {"last": "absent"}}, "there is no stage 'absent'"),
        ({"inputs": {"first": "last"}}, "'last' is the last stage, but an input of 'first'"),
        ({"inputs": {"first": "middle", "middle": "first"}}, "stages in a circle"),
        ({"seconds": {"absent": 1.0}}, "seconds: there is no stage 'absent'"),
    ],
)
def test_names_that_are_no_stage_and_circles_are_refused(options, words):
    qrels = {"q0": {"a": 1}, "q1": {"a": 1}}
    runs = dict.fromkeys(["first", "middle", "last"], ranked_at(1, 2))
    with pytest.raises(InputError, match=words):
        evaluate_stages(qrels, runs, "MRR", **options)
    with pytest.raises(InputError, match="two or more"):
        evaluate_stages(qrels, {"one": ranked_at(1, 2)}, "MRR")


def test_on_deep_learning_runs_the_account_is_that_of_the_notes(realdata):
    folder = realdata / "runs" / "dl19"
    runs = {name: folder / f"{name}.trec" for name in ("bm25", "bm25+vicuna-7b-v2")}
    staged = evaluate_stages(realdata / "qrels" / "dl19-passage.trec", runs, "nDCG@10")
    assert (staged.num_relevant, staged.kept["nDCG@10"]) == (4102, 329)
    documents = {loss.reason: loss.documents for loss in staged.losses}
    assert (documents["order"], documents["dropped"], documents["never"]) == (1043, 0, 2730)
    losses = {loss.reason: round(loss.loss, 4) for loss in staged.losses}
    assert (losses["order"], losses["never"]) == (0.2247, 0.1078)


@pytest.mark.parametrize("measure", ["Judged@5", "Hole@5", "infAP"])
def test_a_measure_of_judged_documents_that_are_not_relevant_is_refused(measure):
    runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}}
    with pytest.raises(MeasureError, match="depends on judged documents that are not relevant"):
        evaluate_stages({"q": {"d": 1}}, runs, measure)
