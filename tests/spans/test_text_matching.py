"""Judged texts are matched with retrieved ones by the letters that they share."""

import pytest

from beir_eval import evaluate
from beir_eval.errors import InputError, QrelsError, SettingError
from beir_eval.spans import match_texts

GOLD = "The committee approved the yearly budget in March."


def recall(judged, texts, **settings):
    qrels, run = match_texts({"q": judged}, {"q": texts}, **settings)
    return evaluate(qrels, run, "Recall").means["Recall"].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Before. {GOLD} After.", 1),
        (GOLD.upper().replace(" ", "\n"), 1),
        ("approved the yearly budget in march", 0),  # 30 of 42 letters
        ("The committee approved the yearly budg", 1),  # 32 of 42 letters
        ("The committee approved a yearly budget in March.", 0),  # no run of 32 letters
        ("", 0),
    ],
)
def test_a_run_of_three_quarters_of_the_letters_is_a_match(text, expected):
    assert recall([GOLD], [text]) == expected


def test_short_texts_are_found_between_word_boundaries():
    assert recall(["2019"], ["In 2019 it rained"]) == 1
    assert recall(["2019"], ["Part 12019-b"]) == 0
    assert recall(["new york"], ["in New   York."]) == 1


def test_a_text_that_holds_several_takes_as_many_ranks_the_best_first():
    qrels, run = match_texts({"q": {GOLD: 1, "March": 3}}, {"q": ["no", GOLD, GOLD]})
    result = evaluate(qrels, run, ["Recall@2", "Recall(rel=3)@2", "Recall@3", "MRR"])
    assert [mean.value for mean in result.means.values()] == [1 / 2, 1, 1, 1 / 2]
    assert [doc_ids for _, doc_ids, _ in run.rankings()] == [["text 1", "March", GOLD, "text 3"]]


def test_what_cannot_match_is_an_error():
    with pytest.raises(InputError, match="without letters"):
        match_texts({"q": ["?!"]}, {"q": ["text"]})
    with pytest.raises(SettingError, match="above 0 and at most 1"):
        match_texts({"q": ["a text"]}, {"q": ["text"]}, overlap=0)
    with pytest.raises(QrelsError):
        match_texts({}, {"q": ["text"]})
