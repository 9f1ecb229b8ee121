"""Fusion: the formulas by hand, what changes nothing, and what is refused or warned of."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import BeirEvalWarning, Run, evaluate, fuse, fusion_grid
from beir_eval.errors import DuplicateDocumentError, InputError, RunError, SettingError

FIRST = {"q": {"a": 9.0, "b": 5.0, "c": 1.0}}
SECOND = {"q": {"b": 0.9, "d": 0.7}}


def fused(*arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        return fuse(*arguments, **settings).as_dict()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "c": 1 / 63}),
        ({"k": 0, "weights": [1, 3]}, {"b": 1 / 2 + 3, "a": 1, "d": 3 / 2, "c": 1 / 3}),
        ({"depth": 1}, {"a": 1 / 61, "b": 1 / 61}),
        ({"method": "sum"}, {"a": 9, "b": 5.9, "c": 1, "d": 0.7}),
        ({"method": "max"}, {"a": 9, "b": 5, "c": 1, "d": 0.7}),
        ({"method": "max", "weights": [0, 1]}, {"b": 0.9, "d": 0.7, "a": 0, "c": 0}),
        ({"method": "sum", "normalise": "min-max"}, {"a": 1, "b": 1.5, "c": 0, "d": 0}),
        (
            {"method": "sum", "normalise": "z-score"},
            {"a": 4 / math.sqrt(32 / 3), "b": 1, "c": -4 / math.sqrt(32 / 3), "d": -1},
        ),
        (
            {"method": "max", "normalise": "dbsf"},
            {
                "a": 0.5 + 4 / math.sqrt(32 / 3) / 6,
                "b": 2 / 3,
                "c": 0.5 - 4 / math.sqrt(32 / 3) / 6,
                "d": 1 / 3,
            },
        ),
    ],
)
def test_every_score_is_that_of_its_formula_and_the_best_documents_come_first(settings, expected):
    [scores] = fused([FIRST, SECOND], **settings).values()
    assert scores == pytest.approx(expected)
    assert list(scores) == sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def test_equal_scores_get_what_the_documentation_says():
    equal = [{"q": {"a": 3.0, "b": 3.0}}, {"q": {"c": 7.0}}]
    for normalise, value in (("min-max", 0.0), ("z-score", 0.0), ("dbsf", 0.5)):
        scores = fused(equal, "sum", normalise=normalise)["q"]
        assert set(scores.values()) == {value}
    # Equal scores: the higher id has the better rank, in a run and among the fused ones.
    assert fused([equal[0], {"q": {"c": 7.0}}], k=1) == {"q": {"c": 1 / 2, "b": 1 / 2, "a": 1 / 3}}


@pytest.mark.parametrize("size", [1e-310, 1e200, 1e308])
def test_normalised_scores_are_the_same_whatever_their_size(size):
    usual = [{"q": {"a": 1.0, "b": 0.5, "c": -1.0}}, SECOND]
    others = [{"q": {doc: score * size for doc, score in usual[0]["q"].items()}}, SECOND]
    for normalise in ("min-max", "z-score", "dbsf"):
        expected = fused(usual, "sum", normalise=normalise)["q"]
        assert fused(others, "sum", normalise=normalise)["q"] == pytest.approx(expected)


def test_a_ranking_without_scores_has_the_scores_n_to_1():
    run = Run.from_rankings({"q": ["x", "y", "z"]})
    assert fused([run, run], "sum") == {"q": {"x": 6, "y": 4, "z": 2}}


rankings = st.dictionaries(
    st.sampled_from("abcdef"), st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 1e-9, 7.0]), min_size=1
)
queries = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), rankings, min_size=1)


@given(st.lists(queries, min_size=3, max_size=3), st.sampled_from(["rrf", "sum", "max"]))
def test_neither_the_order_of_the_runs_nor_that_of_the_queries_changes_a_bit(runs, method):
    named = dict(zip("xyz", runs, strict=True))
    weights = [0.2, 0.5, 0.3]
    forward = fused(named, method, weights=weights)
    backward = fused(
        {name: dict(reversed(run.items())) for name, run in reversed(named.items())},
        method,
        weights=weights[::-1],
    )
    assert forward == backward
    assert {q: list(docs) for q, docs in forward.items()} == {
        q: list(docs) for q, docs in backward.items()
    }


def test_a_fused_run_is_a_run_and_a_grid_has_27_with_their_weights():
    qrels = {"q": {"b": 1}}
    assert evaluate(qrels, fuse([FIRST, SECOND]), ["MRR"])["MRR"] == 1
    grid = fusion_grid({"bm25": FIRST, "dense": SECOND})
    assert len(grid) == 27
    expected = fused([FIRST, SECOND], k=10, weights=[0.3, 0.7])
    assert grid["rrf k=10 bm25 .3"].as_dict() == expected


@pytest.mark.parametrize(
    ("runs", "settings", "error", "words"),
    [
        ([FIRST], {}, InputError, "two runs or more, not 1"),
        ([FIRST, {"q": {"a": math.nan}}], {}, RunError, "^run 2: "),
        ({"x": FIRST, "y": 3}, {}, RunError, "^y: "),
        ([FIRST, SECOND], {"method": "mnz"}, SettingError, "choose one of 'rrf'"),
        ([FIRST, SECOND], {"normalise": "sum"}, SettingError, "choose one of 'min-max'"),
        ([FIRST, SECOND], {"normalise": "dbsf"}, SettingError, "normalise for the others"),
        ([FIRST, SECOND], {"k": -1}, SettingError, "k must be a finite number from 0"),
        ([FIRST, SECOND], {"k": 60, "method": "sum"}, SettingError, "k is for method='rrf'"),
        ([FIRST, SECOND], {"depth": 0}, SettingError, "depth"),
        ([FIRST, SECOND], {"weights": [1]}, SettingError, "from 0 for each of 'run 1', 'run 2'"),
        ([FIRST, SECOND], {"weights": {"x": 1}}, SettingError, "a finite number from 0"),
        ([FIRST, SECOND], {"weights": [0, 0]}, SettingError, "one of them above 0"),
        ([FIRST, SECOND], {"weights": [1, -1]}, SettingError, "a finite number from 0"),
    ],
)
def test_what_has_no_fusion_is_refused(runs, settings, error, words):
    with pytest.raises(error, match=words):
        fuse(runs, **settings)
    if error is not SettingError and len(runs) == 1:
        with pytest.raises(InputError, match="two runs"):
            fusion_grid([FIRST, SECOND, FIRST])


def test_a_document_listed_twice_is_an_error_that_names_the_run():
    with pytest.raises(DuplicateDocumentError, match=r"^run 1: query 'q' lists 'a' more than once"):
        fuse([Run.from_rankings({"q": ["a", "b", "a"]}), FIRST])


@pytest.mark.parametrize(
    ("runs", "settings", "words"),
    [
        ([FIRST, {"q": {"a": 1.0}, "p": {"a": 1.0}}], {}, r"run 1 has no ranking for 1 of 2 .*'p'"),
        (
            [FIRST, SECOND],
            {"method": "sum"},
            "over 8 in run 1 and 0.2 in run 2, so run 1 decides nearly alone",
        ),
        (
            [FIRST, SECOND],
            {"method": "sum", "normalise": "min-max"},
            "run 1 hold 3 documents and those of run 2 2",
        ),
        (
            [FIRST | {"p": {"a": 1.0}}, SECOND | {"p": {"a": 1.0}}],
            {"method": "sum", "normalise": "min-max"},
            "run 1 hold 2 documents and those of run 2 1.5",
        ),
    ],
)
def test_what_misleads_is_warned_of(runs, settings, words):
    with pytest.warns(BeirEvalWarning, match=words):
        fuse(runs, **settings)


def test_queries_without_a_document_fuse_to_nothing():
    assert fused([{"q": {}}, {}], "sum") == {}
    assert fused([FIRST, {"q": {}}]) == fused([FIRST, {}])


def test_nothing_is_said_of_runs_that_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fuse([FIRST, SECOND])
        fuse([FIRST, SECOND], "sum", normalise="min-max", depth=2)
        fuse([FIRST, FIRST], "sum")
