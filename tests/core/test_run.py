"""A run is accepted in any form and never changed, or refused with an error that names the ids."""

import math
import re
from collections import OrderedDict, UserDict
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import assume, given

from beir_eval import Qrels, Run, evaluate
from beir_eval.errors import DuplicateDocumentError, InputError, QrelsError, RunError
from strategies import qrels_and_run

QRELS = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}


@given(qrels_and_run())
def test_columns_hold_the_same_run_as_the_mapping(case):
    qrels, run = case
    run = {query: ranked for query, ranked in run.items() if ranked}
    assume(set(run) & set(qrels))
    rows = [(query, doc, score) for query, ranked in run.items() for doc, score in ranked.items()]
    columns = Run.from_columns(*zip(*rows, strict=True))
    assert list(columns.query_ids) == list(run)
    for ties in ("trec_eval9", "trec_eval10", "input", "best", "worst"):
        assert evaluate(qrels, columns, ties=ties, keep_top=5) == evaluate(
            qrels, run, ties=ties, keep_top=5
        )
    assert columns.fingerprint() == Run(run).fingerprint()


class Tensor:
    """Looks like a 0-d tensor: a number only through ``__float__``."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


@pytest.mark.parametrize(
    "number", [float, int, np.float32, np.float16, np.int64, np.float64, Tensor, bool]
)
def test_a_score_may_be_any_kind_of_number(number):
    run = {"q": {"x": number(0), "a": number(1)}}
    assert evaluate(QRELS, run, ["P@1"]).per_query["q"]["Precision@1"] == 1


@pytest.mark.parametrize(
    "score", [float("nan"), float("inf"), -float("inf"), "0.5", None, [1], 1j, 10**400]
)
@pytest.mark.parametrize("doc", ["a", "x"])
def test_a_score_that_is_not_a_finite_number_is_named(score, doc):
    problem = rf"score of document '{doc}' for query 'q' is .*finite number"
    with pytest.raises(RunError, match=problem):
        evaluate(QRELS, {"q": {"y": 1.0, doc: score}, "r": {}}, ["P@1"])
    with pytest.raises(RunError, match=problem):
        Run.from_columns(["q", "q"], ["y", doc], [1.0, score])


@pytest.mark.parametrize("wrong", [None, 3, [("q", "a", 1.0)], "run.trec"])
def test_a_run_of_another_shape_is_refused(wrong):
    with pytest.raises(RunError, match=r"must be \{query_id: \{doc_id: score\}\}"):
        Run(wrong)


def test_a_list_where_scores_were_expected_is_refused_with_the_remedy():
    with pytest.raises(RunError, match=r"query 'q' must be .*Run.from_rankings"):
        evaluate(QRELS, {"q": ["a", "b"]})


@pytest.mark.parametrize("bad_id", [None, 1.5, True, b"a", ("a",), ""])
def test_an_id_that_is_neither_text_nor_an_integer_is_refused(bad_id):
    problem = re.escape(
        f"an id must be text or an integer, not {bad_id!r}" if bad_id != "" else "an id is empty"
    )
    with pytest.raises(RunError, match=f"^run: {problem}"):
        evaluate(QRELS, {bad_id: {"a": 1.0}})
    with pytest.raises(RunError, match=f"^run: {problem}"):
        Run.from_columns(["q"], [bad_id], [1.0])
    with pytest.raises(RunError, match=f"^run: {problem}"):
        Run.from_rankings({"q": [bad_id]})
    with pytest.raises(RunError, match=f"^the ranking of query 'q': {problem}"):
        evaluate(QRELS, {"q": {bad_id: 1.0}})


@pytest.mark.parametrize("run", [{"a": 0.5, 7: 0.9}, {7: 0.9, "a": 0.5}, {"7": 0.9, 3: 0.5}])
def test_a_judged_document_is_found_among_integer_and_text_ids(run):
    rows = [("q", doc, score) for doc, score in run.items()]
    for form in ({"q": run}, Run.from_columns(*zip(*rows, strict=True))):
        result = evaluate({"q": {"7": 1}}, form, ["P@1"], keep_top=2)
        assert result["P@1"] == 1
        assert result.top["q"].grades[0] == 1
    with pytest.raises(RunError, match="both as an integer and as text"):
        evaluate({"q": {"7": 1, "8": 0}}, {"q": {"a": 0.1, "7": 0.2, 7: 0.9, 8: 0.1}})


def test_an_unjudged_document_with_an_integer_id_and_a_text_id_is_refused():
    ranking = {str(number): float(number) for number in range(1000)} | {7: 0.5}
    with pytest.raises(RunError, match="both as an integer and as text"):
        evaluate({"q": {"judged": 1}}, {"q": ranking})
    del ranking[7]
    assert evaluate({"q": {"999": 1}}, {"q": ranking}, ["P@1"])["P@1"] == 1


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType, UserDict])
def test_any_mapping_gives_the_result_of_a_dict(kind):
    run = {"q": {"a": 1.0, "b": 2, "q": 0.5}, "r": {}}
    expected = evaluate({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, run)
    mapping = kind({query: kind(ranking) for query, ranking in run.items()})
    assert evaluate({"q": {"a": 1, "b": 2}, "r": {"c": 1}}, mapping) == expected
    assert expected.counted.identical_ids == 1


class Colour(str, Enum):  # noqa: UP042 - StrEnum hides the difference
    RED = "r"
    BLUE = "b"


def test_an_id_of_a_subclass_of_str_equals_its_text():
    run, qrels = {"q": {"b": 2.0, "r": 1.0}}, {"q": {"r": 2, "b": 1}}
    expected = evaluate(qrels, run)
    by_colour = {"q": {Colour.BLUE: 2.0, Colour.RED: 1.0}}
    assert evaluate(qrels, by_colour) == expected
    assert evaluate({"q": {Colour.RED: 2, Colour.BLUE: 1}}, run) == expected
    assert evaluate({Colour.RED: qrels["q"]}, {"r": run["q"]})["nDCG@10"] == expected["nDCG@10"]
    assert evaluate(qrels, {"q": {np.str_("b"): 2.0, np.str_("r"): 1.0}}) == expected


def test_a_query_added_or_removed_after_the_run_was_made_is_refused():
    live = {"q": {"a": 1.0}}
    run = Run(live)
    for changed in ({}, {"q": {"a": 1.0}, "z": {"a": 1.0}}, {"z": {"a": 1.0}}):
        live.clear()
        live.update(changed)
        for settings in ({}, {"fingerprint": True}):
            with pytest.raises(RunError, match="other queries than when it was passed"):
                evaluate(QRELS, run, **settings)


def test_a_bad_score_of_a_query_that_is_not_judged_is_named_when_the_run_is_listed():
    run = Run({"q": {"a": 1.0}, "z": {"b": "high"}})
    with pytest.raises(RunError, match=r"'b'.*'z'|'z'.*'b'"):
        list(run.rankings())


def test_an_integer_id_and_a_text_id_must_not_name_the_same_query():
    for make in (Run, Run.from_rankings):
        with pytest.raises(RunError, match="same query"):
            make({7: {}, "7": {}} if make is Run else {7: [], "7": []})


@pytest.mark.parametrize("ranking", ["abc", {"a": 1.0}, {"a", "b"}, 7, None, b"abc"])
def test_a_ranking_that_is_not_a_list_is_refused(ranking):
    with pytest.raises(RunError, match="query 'q' must be a list of ids"):
        Run.from_rankings({"q": ranking})


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ((None, None, None), "three columns"),
        ((["q", "q"], ["a"], [1.0]), "there are 2 query_ids, 1 doc_ids and 1 scores"),
        (("ab", ["a", "b"], [1.0, 2.0]), "a column must be a list, not 'ab'"),
    ],
)
def test_what_is_not_three_columns_of_one_length_is_refused(columns, problem):
    with pytest.raises(RunError, match=problem):
        Run.from_columns(*columns)


def test_columns_may_mix_queries_and_may_be_arrays():
    run = Run.from_columns(np.array(["q", "r", "q"]), np.array([1, 2, 3]), np.float32([1, 1, 2]))
    result = evaluate({"q": {3: 1}, "r": {2: 1}}, run, ["P@1"], keep_top=2)
    assert result["P@1"] == 1
    assert result.top["q"].doc_ids == ("3", "1")


def test_the_run_is_read_when_it_is_evaluated_and_not_before():
    live = {"q": {"a": float("nan")}}
    run = Run(live)
    live["q"]["a"] = 1.0
    assert evaluate(QRELS, run, ["P@1"]).per_query["q"]["Precision@1"] == 1


def test_the_ranking_of_a_query_that_is_not_judged_is_not_checked():
    run = Run({"unknown": {"a": None}, "other": ["a"], "q": {"a": 1.0}})
    assert evaluate(QRELS, run, ["P@1"]).per_query["q"]["Precision@1"] == 1


class LazyMapping(Mapping):
    """Records each ranking that is loaded."""

    def __init__(self, run):
        self.run, self.loaded = run, []

    def __iter__(self):
        return iter(self.run)

    def __len__(self):
        return len(self.run)

    def __getitem__(self, query):
        self.loaded.append(query)
        return self.run[query]


def test_a_lazy_mapping_loads_only_the_rankings_of_judged_queries():
    run = LazyMapping({"x": {"a": 1.0}, "q": {"a": 1.0}, "y": {"a": 1.0}})
    assert evaluate(QRELS, run, ["P@1"]).per_query["q"]["Precision@1"] == 1
    assert run.loaded == ["q"]


def test_the_error_names_the_first_bad_score_in_the_order_of_the_run():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q3": {"a": 1.0}, "q2": {"b": math.inf}, "q1": {"c": math.nan}}
    with pytest.raises(RunError, match="document 'b' for query 'q2' is inf"):
        evaluate(qrels, run)


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")  # all scores are tied
def test_many_blocks_give_the_same_result_as_one(monkeypatch):
    qrels = {f"q{n}": {f"d{n}": 1, f"d{n + 1}": 2} for n in range(50)}
    run = {
        f"q{q}": {f"d{(q + n * 7) % 60}": float((n + 4) % 5) for n in range(40)}
        for q in range(len(qrels))
    }
    in_one_block = evaluate(qrels, run, keep_top=3)
    monkeypatch.setattr("beir_eval.core.run_sources.mapping.BLOCK_SCORES", 1)
    assert evaluate(qrels, run, keep_top=3) == in_one_block


def test_a_run_is_listed_as_a_dict_and_as_a_dataframe():
    run = Run.from_columns(["q", "r", "q"], ["a", "c", "b"], [0.5, 1, 0.25])
    assert run.as_dict() == {"q": {"a": 0.5, "b": 0.25}, "r": {"c": 1.0}}
    assert run.to_dataframe().rows() == [("q", "a", 0.5), ("q", "b", 0.25), ("r", "c", 1.0)]
    without_scores = Run.from_rankings({"q": ["a", "b"], "r": []})
    assert without_scores.as_dict() == {"q": {"a": 2.0, "b": 1.0}, "r": {}}
    assert without_scores.to_dataframe().rows() == [("q", "a", 2.0), ("q", "b", 1.0)]


def test_a_ranking_with_a_document_twice_is_no_dict():
    run = Run.from_rankings({"q": ["a", "b", "a"]})
    with pytest.raises(DuplicateDocumentError, match=r"query 'q' lists 'a' more than once"):
        run.as_dict()
    assert len(run.to_dataframe()) == 3


def test_an_id_that_is_not_unicode_is_not_put_into_a_dataframe():
    with pytest.raises(InputError, match="Unicode"):
        Run({"q": {"\ud800": 1.0}}).to_dataframe()
    with pytest.raises(InputError, match="Unicode"):
        Qrels({"\ud800": {"a": 1}}).to_dataframe()


@pytest.mark.parametrize(
    ("rows", "remedy"),
    [
        ([{"query_id": "q", "doc_id": "a"}], "for rows, pass a dataframe"),
        ([{"first": {"q": {"a": 1.0}}}], r"compare_runs\(qrels, {name: run}\) takes several runs"),
        (np.zeros((1, 3)), "Run.from_arrays takes the arrays of an index"),
        ([("q", "a", 1.0)], "must be {query_id"),
        ([], "must be {query_id"),
    ],
)
def test_rows_in_place_of_a_run_or_qrels_are_refused_with_the_remedy(rows, remedy):
    with pytest.raises(RunError, match=remedy):
        Run(rows)
    with pytest.raises(QrelsError, match=remedy):
        Qrels(rows)


def test_runs_of_several_systems_are_refused_as_one_run():
    with pytest.raises(RunError, match=r"under 'first' there are dicts of dicts; for {name: run}"):
        Run({"first": {"q": {"a": 1.0}}, "second": {"q": {"a": 0.5}}})


def test_a_run_shows_its_number_of_queries_and_is_not_coerced_again():
    assert repr(Run({"q": {}})) == "Run(1 query)"
    assert len(Run({"q": {}, "r": {}})) == 2
    assert Run.coerce(run := Run({})) is run


def test_the_fingerprint_depends_only_on_the_content():
    run = Run({"q": {"a": 1.0, "b": 2.0}, "r": {}})
    assert run.fingerprint() == Run({"r": {}, "q": {"a": 1, "b": 2}}).fingerprint()
    assert run.fingerprint() != Run({"q": {"b": 2.0, "a": 1.0}, "r": {}}).fingerprint()
    assert Run.from_rankings({"q": ["a", "b"]}).fingerprint() != run.fingerprint()
    # Without the empty ranking of r.
    assert run.fingerprint() != Run({"q": {"a": 1.0, "b": 2.0}}).fingerprint()


def test_an_interrupt_while_a_frame_is_read_stays_one():
    class Slow:
        @property
        def index(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run.from_dataframe(Slow())
