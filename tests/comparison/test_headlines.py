"""The verdicts on a measure in one sentence."""

from beir_eval import compare
from beir_eval.comparison.headlines import headline, headlines
from made_results import made, scores_apart

MEASURES = ("nDCG@10", "MAP@100")


def test_measures_with_the_same_verdicts_share_a_sentence():
    base, better = scores_apart(0.2)
    results = [made([base] * 2, "A", MEASURES), made([better] * 2, "B", MEASURES)]
    [sentence] = headlines(compare(results, baseline="A", draws=500))
    assert sentence.text == "nDCG@10, MAP@100: B is better than A"
    results[1] = made([better, base - better + base], "B", MEASURES)
    texts = [sentence.text for sentence in headlines(compare(results, baseline="A", draws=500))]
    assert texts == ["nDCG@10: B is better than A", "MAP@100: B is worse than A"]


def test_a_significant_difference_below_the_margin_says_that_it_is_smaller():
    base, better = scores_apart(0.05)
    comparison = compare([made(base, "A"), made(better, "B")], baseline="A", margin=0.1, draws=500)
    assert headline(comparison).text == "nDCG@10: B is better than A by less than 0.1"
    [difference] = comparison.differences
    margin = (difference.difference + difference.high) / 2
    results = [made(base, "A"), made(better, "B")]
    comparison = compare(results, baseline="A", margin=margin, draws=500)
    text = f"B is better than A by less than {margin:g} (estimated)"
    assert headline(comparison).text == f"nDCG@10: {text}"
    assert f"better by less than {margin:g} (estimated)" in comparison.to_markdown()


def test_many_systems_with_one_verdict_are_counted():
    base, better = scores_apart(0.2)
    results = [made(base, "A"), *(made(better + number / 100, f"B{number}") for number in range(5))]
    text = headline(compare(results, baseline="A", draws=500)).text
    assert text == "nDCG@10: all 5 others are better than A"
