"""Where a pipeline loses relevant documents: places, ceilings, the account, verdicts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Qrels, Run, evaluate
from beir_eval.comparison.stages import StagedResult, evaluate_stages
from beir_eval.comparison.stages.account import StageGraph, mean_and_interval, places_of
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import InputError, MeasureError, QueryMismatchError

DOCUMENTS = [f"d{number}" for number in range(7)]
QUERIES = [f"q{number}" for number in range(4)]


def inputs_of(draw, names):
    return {
        name: draw(st.lists(st.sampled_from(names[:index]), unique=True, max_size=2))
        for index, name in enumerate(names)
        if index
    }


MEASURES = ["nDCG@3", "Recall@2", "MAP", "MRR", "Precision@2", "ERR@3"]


#: Documents of which two have the id of a query.
WITH_QUERIES = [*DOCUMENTS[:5], *QUERIES[:2]]


@st.composite
def graphs_with_policies(draw):
    """Return qrels, runs by stage with ties, copies and missing queries, inputs, and policies."""
    grades = st.dictionaries(st.sampled_from(WITH_QUERIES), st.integers(-1, 3), min_size=1)
    queries = QUERIES[: draw(st.integers(1, 4))]
    qrels = {query: draw(grades) for query in queries}
    policies = {
        name: draw(st.sampled_from(values))
        for name, values in EvaluationSettings.CHOICES.items()
        if name not in ("ranks", "copies", "repeated", "duplicates")
    }
    policies["drop_identical_ids"] = draw(st.booleans())
    policies["duplicates"] = draw(st.sampled_from(["first", "keep"]))
    entries = st.lists(st.tuples(st.sampled_from(WITH_QUERIES), st.integers(0, 3)), max_size=9)
    names = [f"s{number}" for number in range(draw(st.integers(2, 5)))]
    runs = {}
    for name in names:
        rows = [
            (query, document, float(score))
            for query in queries
            if draw(st.integers(0, 3))
            for document, score in draw(entries)
        ]
        runs[name] = Run.from_columns(*zip(*(rows or [(queries[0], "d0", 1.0)]), strict=True))
    return qrels, runs, inputs_of(draw, names), policies


@settings(deadline=None)
@given(graphs_with_policies())
def test_under_every_policy_the_account_adds_up_to_the_result_of_evaluate(case):
    qrels, runs, inputs, policies = case
    have = [{*run.query_ids} for run in runs.values()]
    compared = [query for query in qrels if all(query in queries for queries in have)]
    is_skipped = policies["missing"] == "skip"
    least = {"zero": 0, "skip": 1, "error": len(qrels)}[policies["missing"]]
    if len(compared) < least:
        with pytest.raises(QueryMismatchError):
            evaluate_stages(qrels, runs, MEASURES, inputs=inputs, **policies)
        return
    staged = evaluate_stages(qrels, runs, MEASURES, inputs=inputs, **policies)
    judged = Qrels(qrels).select(compared) if is_skipped else qrels
    assert [*staged.left_out] == [query for query in qrels if is_skipped and query not in compared]
    for name, run in runs.items():
        alone = evaluate(judged, run, MEASURES, name=name, **policies)
        assert name != staged.last or staged.result == alone
        for measure in staged.measures:
            stage = staged.stage(name)
            assert stage.means[measure] == pytest.approx(alone[measure], abs=1e-9, nan_ok=True)
            assert not stage.means[measure] > stage.ceilings[measure] + 1e-9
    for measure in staged.measures:
        losses = [loss for loss in staged.losses if loss.measure == measure]
        total = math.fsum(loss.loss for loss in losses)
        assert staged.result[measure] + total == pytest.approx(
            staged.best[measure], abs=1e-9, nan_ok=True
        )
        assert not staged.best[measure] > 1 + 1e-9
        assert not any(loss.loss < 0 or loss.high < loss.loss for loss in losses)
        assert not any(loss.low < 0 or loss.low > loss.loss + 1e-12 for loss in losses)
        assert staged.kept[measure] + sum(loss.documents for loss in losses) == staged.num_relevant
    loaded = StagedResult.model_validate_json(staged.model_dump_json())
    assert loaded.to_markdown() == staged.to_markdown()


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


def test_relevant_documents_at_the_cutoff_are_kept_and_those_below_it_in_the_wrong_order():
    qrels = {"q0": {"a": 2, "b": 1, "c": 1, "d": 1, "n": 0}, "q1": {"a": 1}}
    rankings = {
        "first": {"q0": ["x", "a", "n", "b", "c"], "q1": ["a"]},
        "last": {"q0": ["x", "a", "b"], "q1": ["a"]},
    }
    runs = {name: Run.from_rankings(ranked) for name, ranked in rankings.items()}
    staged = evaluate_stages(qrels, runs, "Recall@2")
    assert (staged.num_relevant, staged.kept["Recall@2"]) == (5, 2)
    documents = {loss.reason: loss.documents for loss in staged.losses}
    assert documents == {"order": 1, "dropped": 1, "never": 1}  # b, c and d
    assert [stage.documents for stage in staged.stages] == [(5 + 1) / 2, (3 + 1) / 2]


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
    first, second, _, header, _, _, *rows = text.splitlines()
    assert first == "MRR, 20 queries: ranker is better than bm25 (its input)"
    assert second == "MRR, 20 queries: ranker is better than dense (its input)"
    assert header.split()[:5] == ["stage", "from", "mean", "perfect", "ms/query"]
    assert rows[0].split()[:5] == ["ranker", "bm25", "1.0000", "1.0000", "10.6"]
    assert rows[1].split()[:2] == ["dense", "+0.5000"]
    assert (
        "In these queries 0.0000 of 1.0000 is lost: wrong order 0, dropped at ranker 0, never "
        in text
    )
    chain = evaluate_stages(qrels, {name: runs[name] for name in ("bm25", "ranker")}, "MRR")
    assert str(chain).startswith("MRR, 20 queries: ranker is better than bm25 (its input)\n\n")


def test_a_query_that_a_stage_did_not_answer_is_an_empty_ranking():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    routed = {query: ranking for query, ranking in ranked_at(1).items() if int(query[1:]) < 12}
    inputs = {"routed": "bm25", "last": ["routed", "bm25"]}
    runs = {"bm25": ranked_at(2), "routed": routed, "last": ranked_at(1)}
    staged = evaluate_stages(qrels, runs, "MRR", inputs=inputs)
    stage = staged.stage("routed")
    assert (stage.num_queries, stage.means["MRR"], stage.ceilings["MRR"]) == (12, 12 / 20, 12 / 20)
    pair = staged.differences[0]
    assert (pair.system, pair.against, pair.num_queries) == ("routed", "bm25", 20)
    assert pair.difference == pytest.approx(12 / 20 - 1 / 2, abs=1e-12)
    [warning] = staged.warnings()
    assert "of 20 queries, those without a ranking count as empty ones" in warning
    assert "routed 8" in warning


def test_what_the_last_stage_did_not_answer_was_dropped_there():
    qrels = {f"q{number}": {"a": 1} for number in range(8)}
    last = {f"q{number}": {"a": 1.0} for number in range(5)}
    runs = {"first": ranked_at(2, 8), "last": last}
    staged = evaluate_stages(qrels, runs, "MRR")
    losses = {loss.reason: loss.loss for loss in staged.losses}
    assert (staged.result["MRR"], losses) == (5 / 8, {"order": 0, "dropped": 3 / 8, "never": 0})
    skipped = evaluate_stages(qrels, runs, "MRR", missing="skip")
    assert (skipped.result["MRR"], skipped.stage("first").means["MRR"]) == (1.0, 0.5)
    assert skipped.left_out == ("q5", "q6", "q7")
    assert "3 of 8 judged queries are left out" in skipped.warnings()[0]
    for qrels in ({"q1": {"a": 1}}, {"q9": {"a": 0}, "q1": {"a": 1}}):
        staged = evaluate_stages(qrels, runs, "MRR", missing="skip", no_relevant="skip")
        assert "MRR: no verdict on last" in str(staged).splitlines()[:2]
    other = {"first": {"q1": {"a": 1.0}}, "last": {"q2": {"a": 1.0}}}
    with pytest.raises(QueryMismatchError, match="no judged query is in all stages"):
        evaluate_stages({"q1": {"a": 1}, "q2": {"a": 1}}, other, "MRR", missing="skip")
    with pytest.raises(QueryMismatchError, match=r"^first: .*q2"):
        evaluate_stages({"q1": {"a": 1}, "q2": {"a": 1}}, other, "MRR", missing="error")


def test_documents_that_are_their_query_are_dropped_everywhere():
    qrels = {f"q{number}": {f"q{number}": 1, "a": 1} for number in range(3)}
    run = {query: {query: 3.0, "x": 2.0, "a": 1.0} for query in qrels}
    staged = evaluate_stages(
        qrels, {"first": run, "last": run}, "Recall@2", drop_identical_ids=True
    )
    assert (staged.num_relevant, staged.kept["Recall@2"]) == (3, 3)
    assert staged.stage("last").documents == 2
    assert staged.ranks == {query: {"a": (2, 2)} for query in qrels}
    # A document that no ranking may keep is still judged: the best possible is half of the recall.
    assert staged.best["Recall@2"] == staged.stage("first").ceilings["Recall@2"] == 1 / 2
    assert {loss.loss for loss in staged.losses} == {0}


def test_ranks_are_those_of_the_policies_whatever_the_order_of_the_file():
    qrels = {f"q{number}": {"a": 1} for number in range(3)}
    run = {query: {"x": 1.0, "a": 2.0} for query in qrels}
    by_score = evaluate_stages(qrels, {"first": run, "last": run}, "MRR")
    as_given = evaluate_stages(qrels, {"first": run, "last": run}, "MRR", order="given")
    assert (by_score.ranks["q0"]["a"], as_given.ranks["q0"]["a"]) == ((1, 1), (2, 2))
    assert (as_given.result["MRR"], as_given.stage("last").ceilings["MRR"]) == (0.5, 1.0)


def test_a_loss_of_0_has_what_so_few_queries_do_not_exclude():
    mean, low, high = mean_and_interval(np.zeros(150), 0.05, 1.0)
    # A share x of all queries that lose everything is in none of 150 with probability (1 - x)^150.
    assert (mean, low, high) == (0.0, 0.0, pytest.approx(1 - 0.025 ** (1 / 150), rel=1e-9))
    assert mean_and_interval(np.zeros(150), 0.05, math.inf)[2] == math.inf
    assert mean_and_interval(np.full(1, 0.5), 0.05, 1.0) == (0.5, 0.0, 1.0)
    assert mean_and_interval(np.array([1.0] + [0.0] * 29), 0.05, 1.0)[2] > 0.05 + 1 / 30
    qrels = {f"q{number}": {"a": 1} for number in range(150)}
    same = {"first": ranked_at(1, 150), "last": ranked_at(1, 150)}
    text = str(evaluate_stages(qrels, same, "MRR"))
    for reason in ("wrong order", "dropped at last", "never retrieved"):
        assert f"{reason} 0" in text
    assert evaluate_stages(qrels, same, "MRR").to_markdown().count("at most 0.0243") == 3
    assert "at most" not in evaluate_stages(qrels, same, "DCG@10").to_markdown()


def paired(first, last, **options):
    """Return the stages of runs that have these reciprocal ranks, and the last line."""
    qrels = {f"q{number}": {"a": 1} for number in range(len(first))}
    runs = {
        name: {
            query: {"a": 1.0} | {f"x{number}": 2.0 for number in range(round(1 / score) - 1)}
            for query, score in zip(qrels, scores, strict=True)
        }
        for name, scores in {"first": first, "last": last}.items()
    }
    staged = evaluate_stages(qrels, runs, "MRR", **options)
    return staged, str(staged).splitlines()[-1]


def test_a_stage_can_go_if_it_is_worse_or_shown_to_gain_less_than_the_margin():
    staged, end = paired([1.0] * 40, [0.5] * 20 + [1.0] * 20)
    assert staged.differences[0].verdict == "worse"
    assert end.startswith("last can be removed: ")
    # .99^400 is .018: no share of .01 or more of all queries gains everything.
    staged, end = paired([1.0] * 400, [1.0] * 400)
    assert staged.p_gains[0] == pytest.approx(0.99**400, rel=0.01)
    assert "last and first (its input) score the same on every query" in str(staged)
    assert end.startswith(
        "last can be removed: no gain of 0.01 or more over first (one-sided p 0.01"
    )
    # Of ten queries two lose: nothing is shown.
    staged, end = paired([1.0] * 10, [0.5] * 2 + [1.0] * 8, alpha=0.005)
    assert str(staged).count("99.5%") == 1
    assert staged.to_markdown().count("99.5% interval") == 4  # one in each table
    assert staged.differences[0].verdict == "undecided"
    assert "can be removed" not in str(staged)
    assert end == '"Undecided" is no reason to remove a stage.'


def test_that_a_stage_is_not_needed_is_tested_on_one_side():
    # The first run cannot be improved: a loss of five queries shows that nothing is gained.
    staged, end = paired([1.0] * 400, [0.5] * 5 + [1.0] * 395)
    assert staged.differences[0].verdict == "undecided"
    assert staged.differences[0].p_equal > 0.05 > staged.p_gains[0]
    assert end.startswith(
        "last can be removed: no gain of 0.01 or more over first (one-sided p 0.0"
    )


def test_a_stage_before_the_last_is_never_said_to_go():
    qrels = {f"q{number}": {"a": 1} for number in range(40)}
    runs = {"bm25": ranked_at(1, 40), "joiner": ranked_at(3, 40), "ranker": ranked_at(2, 40)}
    text = str(evaluate_stages(qrels, runs, "MRR"))
    assert "can be removed" not in text
    assert text.splitlines()[-1].startswith("bm25 alone is enough: ")


def test_the_pair_in_question_is_tested_alone():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    runs = {"bm25": ranked_at(4), "dense": ranked_at(2), "ranker": ranked_at(1)}
    runs["ranker"] = {**runs["ranker"], **{f"q{n}": runs["bm25"]["q0"] for n in range(5)}}
    inputs = {"ranker": ["bm25", "dense"]}
    family = evaluate_stages(qrels, runs, "MRR", inputs=inputs)
    alone = evaluate_stages(qrels, runs, "MRR", inputs=inputs, pair=("ranker", "dense"))
    [pair] = alone.differences
    [among] = [pair for pair in family.differences if pair.against == "dense"]
    assert (pair.system, pair.against, pair.p) == ("ranker", "dense", among.p)
    assert pair.p_corrected == pair.p
    assert family.losses == alone.losses


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": {"last": "absent"}}, "there is no stage 'absent'"),
        ({"inputs": {"first": "last"}}, "'last' is the last stage, but an input of 'first'"),
        ({"inputs": {"first": "middle", "middle": "first"}}, "stages in a circle"),
        ({"seconds": {"absent": 1.0}}, "seconds: there is no stage 'absent'"),
        ({"pair": ("last", "last")}, "pair: two different stages were expected"),
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


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("Judged@5", "depends on judged documents that are not relevant"),
        ("infAP", "depends on judged documents that are not relevant"),
        ("gm_map", "is no mean over queries"),
    ],
)
def test_a_measure_without_an_account_is_refused(measure, reason):
    runs = {"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}}
    with pytest.raises(MeasureError, match=reason):
        evaluate_stages({"q": {"d": 1}}, runs, measure)


def test_a_pair_in_question_has_the_verdict_whatever_lies_between():
    qrels = {f"q{number}": {"a": 1} for number in range(20)}
    runs = {"bm25": ranked_at(4), "mid": ranked_at(2), "ranker": ranked_at(1)}
    text = str(evaluate_stages(qrels, runs, "MRR", pair=("ranker", "bm25")))
    assert text.startswith("MRR, 20 queries: ranker is better than bm25\n")
    assert "+0.7500" in text
