"""Predicted answers are credited for the gold answers that they match, each once."""

import pytest

from beir_eval.errors import InputError, SettingError
from beir_eval.evaluation import (
    answers_to_relevance,
    evaluate_answers,
    normalize_answer,
    token_f1,
)

MEASURES = ["Success@1", "Success@2", "Success@3", "MRR", "MAP"]


def test_a_gold_answer_at_rank_three_has_a_reciprocal_rank_of_one_third():
    result = evaluate_answers([["Elon Musk", "Tony", "Stark"]], ["Stark"], [*MEASURES, "P@1"])
    assert [result[f"Success@{n}"] for n in (1, 2, 3)] == [0, 0, 1]
    assert result["MRR"] == result["MAP"] == 1 / 3
    precisions = evaluate_answers(
        [["Elon Musk", "Tony", "Stark"]], ["Stark"], ["P@1", "P@2", "P@3"]
    )
    assert round(sum(precisions.aggregate.values()) / 3, 3) == 0.111


def test_each_gold_answer_of_a_list_is_relevant_by_itself():
    gold = ["Brooklyn", "New York", "New York City"]
    result = evaluate_answers([["New York", "Brooklyn", "Boston"]], [gold], ["P@2", "P@3", "R@2"])
    assert result["P@2"] == 1
    assert result["P@3"] == result["R@2"] == 2 / 3


def test_gold_answers_in_a_dict_have_grades():
    gold = {"Mjolnir": 3, "Stormbreaker": 2, "Jarnbjorn": 1}
    predictions = ["Infinity Gauntlet", "Mjolnir", "Stormbreaker"]
    result = evaluate_answers({"q": predictions}, {"q": gold}, ["DCG@3", "nDCG@3"])
    assert (round(result["DCG@3"], 2), round(result["nDCG@3"], 2)) == (2.89, 0.61)


@pytest.mark.parametrize(
    "gold", [{"the USA", "United States"}, ["the USA", "United States"], [{"USA", "United States"}]]
)
def test_aliases_of_an_answer_count_as_one_relevant_document(gold):
    gold_lists = "aliases" if isinstance(gold, list) and isinstance(gold[0], str) else "answers"
    measures = ["R@1", "P@2", "num_rel"]
    result = evaluate_answers([["USA", "united states"]], [gold], measures, gold_lists=gold_lists)
    assert result["num_rel"] == 1
    assert result["Recall@1"] == 1
    assert result["P@2"] == 1 / 2  # the second prediction repeats the first
    assert result.counted.duplicates == 1


def test_a_second_match_of_the_same_answer_takes_a_rank_and_gains_nothing():
    result = evaluate_answers([["Paris", "paris", "Rome"]], [["Paris", "Rome"]], ["MAP", "P@3"])
    assert result["MAP"] == (1 / 1 + 2 / 3) / 2
    assert result["P@3"] == 2 / 3


def test_a_prediction_that_matches_several_answers_is_credited_for_the_best_uncredited_answer():
    gold = {"York": 1, "New York": 2}
    predictions = [["New York, York", "York is in New York", "York"]]
    result = evaluate_answers(predictions, [gold], ["CG@1", "CG@2", "CG@3"], match="contains")
    assert list(result.aggregate.values()) == [2, 3, 3]


@pytest.mark.parametrize(
    ("match", "prediction", "gold", "expected"),
    [
        ("exact", "Paris", "Paris", True),
        ("exact", "paris", "Paris", False),
        ("normalized", "the  PARIS!", "Paris", True),
        ("normalized", "Paris, France", "Paris", False),
        ("normalized", "The", "A", False),
        ("normalized", "The", "The", True),
        ("contains", "It is Paris, France.", "paris france", True),
        ("contains", "Parisian", "Paris", False),
        ("contains", "France Paris", "Paris France", False),
        ("contains", "anything", "the", False),
        ("f1", "New York City", "New York", True),
        ("f1", "York minster in England", "New York", False),
        (lambda prediction, gold: prediction.startswith(gold), "Parisian", "Paris", True),
    ],
)
def test_a_match_rule_decides_whether_a_prediction_is_credited(match, prediction, gold, expected):
    result = evaluate_answers([[prediction]], [gold], ["Success@1"], match=match)
    assert result["Success@1"] == expected


def test_the_f1_threshold_is_reached_at_equality():
    for threshold, expected in ((0.8, 1), (0.81, 0)):
        result = evaluate_answers(
            [["New York City"]], ["New York"], ["P@1"], match="f1", threshold=threshold
        )
        assert result["P@1"] == expected


def test_normalization_and_f1_follow_squad():
    assert normalize_answer("The  Cat's an-imal, a THE") == "cats animal"
    # "a" is an article and left out.
    assert token_f1("a b c", "b c d") == 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)
    assert token_f1("x x", "x") == 2 * (1 / 2) * 1 / (1 / 2 + 1)
    assert token_f1("", "x") == token_f1("the", "the") == 0


def test_an_empty_prediction_list_is_an_empty_ranking():
    result = evaluate_answers([[], ["Paris"]], ["Rome", "Paris"], ["MRR"])
    assert result["MRR"] == 1 / 2
    assert result.counted.queries_empty == ("0",)


def test_questions_are_joined_by_their_ids():
    qrels, run = answers_to_relevance({7: ["a"], "8": ["b"]}, {"8": "b", "7": "x"}, match="exact")
    assert qrels.query_ids == ("8", "7")
    assert {query: docs for query, docs, _ in run.rankings()} == {
        "8": ["gold 0"],
        "7": ["prediction 0"],
    }


@pytest.mark.parametrize(
    ("predictions", "gold", "problem"),
    [
        ([["a"]], ["a", "b"], "only one of them has '1'"),
        ({"q": ["a"]}, {"r": "a"}, "only one of them has 'q', 'r'"),
        ([], [], "there is no question"),
        ({}, {}, "there is no question"),
        ("abc", ["a"], "predictions must be .* not str"),
        ([["a"]], 5, "gold must be .* not int"),
        (["abc"], ["a"], "question '0' must be a list of texts, not 'abc'"),
        ([[1]], ["a"], "must be a list of texts"),
        ([None], ["a"], "must be a list of texts"),
        ([["a"]], [[]], "and not empty"),
        ([["a"]], [set()], "must be a text that says it"),
        ([["a"]], [""], "must be a text that says it"),
        ([["a"]], [" "], "must be a text that says it"),
        ([["a"]], [["b", None]], "must be a text that says it"),
        ([["a"]], [7], "must be a text, a set of aliases"),
        ({None: ["a"]}, {None: "a"}, "predictions: an id must be text"),
        ({1: ["x"], "1": ["y"]}, {1: "x"}, "name the same question"),
        ([["a"]], [{}], "and not empty"),
        ([["a"]], [{"a": "high"}], "the grade of 'a' for question '0' is 'high'"),
        ([["a"]], [{"a": None}], "the grade of 'a' for question '0' is None"),
    ],
)
def test_malformed_predictions_and_answers_are_refused(predictions, gold, problem):
    with pytest.raises(InputError, match=problem):
        answers_to_relevance(predictions, gold)


@pytest.mark.parametrize(
    "wrong",
    [
        {"match": "fuzzy"},
        {"threshold": 0},
        {"threshold": 1.5},
        {"threshold": "0.5"},
        {"gold_lists": "x"},
    ],
)
def test_a_wrong_setting_is_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        answers_to_relevance([["a"]], ["a"], **wrong)
