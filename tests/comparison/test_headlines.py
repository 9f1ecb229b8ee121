"""The verdicts on a measure in one sentence."""

import numpy as np
import pytest

from beir_eval import compare
from beir_eval.comparison.verdict_sentences import headlines
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
    assert headlines(comparison)[0].text == "nDCG@10: B is better than A by less than 0.1"
    [difference] = comparison.differences
    margin = (difference.difference + difference.high) / 2
    results = [made(base, "A"), made(better, "B")]
    comparison = compare(results, baseline="A", margin=margin, draws=500)
    text = f"B is better than A by less than {margin:g} (estimated)"
    assert headlines(comparison)[0].text == f"nDCG@10: {text}"
    assert text in comparison.to_markdown()


def test_many_systems_with_one_verdict_are_counted():
    base, better = scores_apart(0.2)
    results = [made(base, "A"), *(made(better + number / 100, f"B{number}") for number in range(5))]
    text = headlines(compare(results, baseline="A", draws=500))[0].text
    assert text == "nDCG@10: all 5 are better than A"


#: Means of three groups, far apart; within a group systems differ by chance.
GROUPS = {"high": 0.8, "middle": 0.5, "low": 0.2}


def compared(*groups, **options):
    """Return the headline of a comparison of one system for each of these groups."""
    rng = np.random.default_rng(5)
    scores = [np.full(40, GROUPS[group]) + rng.normal(0, 0.05, 40) for group in groups]
    names = [f"{group}{number}" for number, group in enumerate(groups)]
    results = [made(row, name) for row, name in zip(scores, names, strict=True)]
    return headlines(compare(results, draws=2000, **options))[0].text.removeprefix("nDCG@10: ")


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (("high", "middle", "low"), "high0 is the best of 3"),
        (("high", "middle", "middle"), "high0 is the best of 3"),
        (("low", "low", "low"), "undecided which of 3 is best"),
        (
            ("high", "high", "low"),
            "undecided whether high1 or high0 is best; both are better than low2",
        ),
        (
            ("low", "high", "high", "high", "low"),
            "undecided which of 3 is best; all 3 are better than the other 2",
        ),
    ],
)
def test_of_all_pairs_the_systems_that_no_other_is_better_than_may_be_the_best(groups, text):
    assert compared(*groups) == text


def test_systems_that_are_not_best_need_not_be_worse_than_each_that_may_be():
    scores = np.random.default_rng(5).normal([[0.8], [0.75], [0.76]], 0.05, (3, 40))
    scores[2] += np.tile([0.25, -0.25], 20)
    results = [made(row, name) for row, name in zip(scores, "abc", strict=True)]
    text = headlines(compare(results, draws=2000))[0].text
    assert text == "nDCG@10: undecided whether a or c is best; b is not best"


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        (("middle", "high", "high"), "high1 and high2 are better than middle0"),
        (("middle", "high", "low"), "high1 is better than middle0, low2 is worse"),
        (
            ("middle", "high", "high", "middle", "low"),
            "2 of 4 are better than middle0, 1 is worse, 1 is undecided",
        ),
    ],
)
def test_systems_against_a_baseline_are_counted_by_their_verdicts(groups, text):
    assert compared(*groups, baseline="middle0", margin=0.001) == text


def test_equivalent_and_identical_systems_have_sentences_of_their_own():
    scores = np.linspace(0.2, 0.8, 60)
    same, near = made(scores, "same"), made(scores + 1e-4 * np.tile([1, -1], 30), "near")
    results = [made(scores, "first"), same, near]
    again = [*results[:2], made(scores, "again")]
    for compared_results, baseline, text in (
        (results[:2], None, "same and first score the same on every query"),
        ([results[0], near], None, "near and first differ by less than 0.1"),
        (
            results,
            "first",
            (
                "near differs from first by less than 0.1, "
                "same scores the same as first on every query"
            ),
        ),
        (results, None, "all 3 differ by less than 0.1"),
        (again, None, "all 3 score the same on every query"),
    ):
        comparison = compare(compared_results, baseline=baseline, margin=0.1)
        assert headlines(comparison)[0].text == f"nDCG@10: {text}"
