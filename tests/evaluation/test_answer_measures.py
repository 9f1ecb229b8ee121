"""One answer a question: exact match, token F1 and containment, over all gold answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.errors import FileFormatError, InputError, SettingError
from beir_eval.evaluation import answer_scores, read_gold_answers


def test_each_score_is_the_highest_over_the_gold_answers():
    scores = answer_scores(
        {"q1": "The Eiffel Tower, Paris", "q2": ["Berlin", "Rome"], "q3": "42", "other": "x"},
        {"q1": ["Louvre", "eiffel tower"], "q2": "rome", "q3": {"forty-two", "42."}, "q4": "yes"},
    )
    assert scores["EM"] == {"q1": 0, "q2": 0, "q3": 1, "q4": 0}
    assert scores["token F1"] == {"q1": pytest.approx(0.8), "q2": 0, "q3": 1, "q4": 0}
    assert scores["contains"] == {"q1": 1, "q2": 0, "q3": 1, "q4": 0}


def squad_f1(prediction, truth):
    """The arithmetic of SQuAD 2.0's evaluation script, written anew."""
    words, gold_words = prediction.lower().split(), truth.lower().split()
    if not words or not gold_words:
        return float(words == gold_words)
    shared = sum(min(words.count(word), gold_words.count(word)) for word in set(words))
    if not shared:
        return 0.0
    precision, recall = shared / len(words), shared / len(gold_words)
    return 2 * precision * recall / (precision + recall)


WORDS = st.lists(st.sampled_from(["red", "green", "Blue", "seven"]), max_size=5).map(" ".join)


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_token_f1_and_exact_match_are_those_of_squad(prediction, gold):
    scores = answer_scores({"q": prediction}, {"q": gold})
    assert scores["token F1"]["q"] == pytest.approx(max(squad_f1(prediction, g) for g in gold))
    assert scores["EM"]["q"] == max(prediction.lower() == text.lower() for text in gold)
    assert 0 <= scores["EM"]["q"] <= scores["token F1"]["q"] <= 1


def test_gold_answers_for_no_question_and_unknown_measures_are_refused():
    with pytest.raises(InputError, match="there are no gold answers"):
        answer_scores({"q": "x"}, {"q": []})
    with pytest.raises(InputError, match="gold answers are for 'a', the predictions for 'b'"):
        answer_scores({"b": "x"}, {"a": "x"})
    with pytest.raises(SettingError, match="measures='BLEU' is not known"):
        answer_scores({"b": "x"}, {"b": "x"}, ["BLEU"])


def test_gold_answers_are_read_from_lines_and_from_the_metadata_of_queries(tmp_path):
    path = tmp_path / "gold.jsonl"
    lines = [
        {"_id": "q1", "answers": ["Paris", "paris,\u2028france"]},
        {"_id": 2, "answers": "Rome"},
        {"_id": "q3", "text": "who?", "metadata": {"answers": ["nobody"]}},
        {"_id": "q4", "text": "why?"},
    ]
    rows = [json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("\n".join(rows) + "\n\n")
    assert read_gold_answers(path) == {
        "q1": ["Paris", "paris,\u2028france"],
        "2": ["Rome"],
        "q3": ["nobody"],
    }


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "line 1: a record such as"),
        ("{", "line 1: not a line of JSON"),
        ('{"answers": ["x"]}', "line 1: the record has no id"),
        ('{"_id": "q", "answers": [1]}', "the answers of 'q' are [1]; texts were expected"),
        ('{"_id": "q", "answers": "x"}\n{"_id": "q", "answers": "y"}', "line 2: the query 'q'"),
        ("[" * 100_000, "line 1: not a line of JSON"),
    ],
)
def test_a_damaged_file_of_gold_answers_is_refused_with_the_line(line, problem, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(line)
    with pytest.raises(FileFormatError) as caught:
        read_gold_answers(path)
    assert problem in str(caught.value)
