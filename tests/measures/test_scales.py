"""The bounds of scores, and whether higher is better."""

import math

import numpy as np
import pytest

from beir_eval.errors import SettingError
from beir_eval.evaluation import ScoreScale
from beir_eval.measures.scales import scale_of


def test_a_scale_knows_its_range_its_gains_and_the_best_score():
    points = ScoreScale((np.float32(-1), 3))
    assert (points.bounds, points.range, str(points)) == (
        (-1.0, 3.0),
        4.0,
        "from -1 to 3, higher is better",
    )
    assert points.gains(0.5) == 0.5
    assert points.best([0.1, 0.7, 0.2]) == 0.7
    seconds = ScoreScale(higher_is_better=False)
    assert (seconds.range, str(seconds)) == (None, "without bounds, lower is better")
    assert seconds.gains(np.array([0.5, -1.0])).tolist() == [-0.5, 1.0]
    assert seconds.best([0.1, 0.7]) == 0.1
    assert math.isnan(seconds.best([]))


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (1, "two finite numbers"),
        ((0, 1, 2), "two finite numbers"),
        ((0, math.inf), "two finite numbers"),
        ((1, 0), "in this order"),
        ((1, 1), "in this order"),
        ((-1e308, 1e308), "beyond what a float can hold"),
    ],
)
def test_bounds_that_are_no_range_are_refused(bounds, text):
    with pytest.raises(SettingError, match=text):
        ScoreScale(bounds)


def test_the_direction_is_true_or_false():
    with pytest.raises(SettingError, match="True or False, not 'lower'"):
        ScoreScale(higher_is_better="lower")


def test_a_custom_measure_has_the_stated_scale_and_a_registered_one_its_own():
    custom = {"seconds": ScoreScale(higher_is_better=False)}
    assert scale_of("seconds", custom) is custom["seconds"]
    assert scale_of("nDCG@10", custom) == ScoreScale((0.0, 1.0))


def test_scores_beyond_a_bound_by_more_than_a_millionth_of_the_range_are_outside():
    scale = ScoreScale((-1, 3))
    scores = np.array([-1 - 5e-6, -1 - 3e-6, 0, math.nan, 3 + 3e-6, 3 + 5e-6])
    assert scale.is_outside(scores).tolist() == [True, False, False, False, False, True]
    share = ScoreScale((0, 1))
    assert not share.is_outside(-1e-6)
    assert share.is_outside(math.nextafter(-1e-6, -1))
    assert scale.is_outside(3.1)
    assert not scale.is_outside(3)
    assert not ScoreScale().is_outside(scores).any()
