"""Checkpoints in order: the curve, the best step, and where the run settled."""

import csv
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval.comparison.checkpoints import CheckpointCurve, checkpoint_curve
from beir_eval.comparison.checkpoints.checkpoint_curve import find_settling
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.step_names import LAST_NUMBER, steps_of
from beir_eval.errors import (
    NotEvaluatedError,
    SettingError,
)
from beir_eval.significance import paired_t, sign_flip
from made_results import MEASURE, made

RNG = np.random.default_rng(0)
#: The mean rises up to the third step, then stays level.
LEVELS = (0.2, 0.35, 0.5, 0.5, 0.5)
SCORES = np.clip(
    np.array(LEVELS)[:, None] + RNG.normal(0, 0.1, 30) + RNG.normal(0, 0.05, (5, 30)), 0, 1
)


def results(scores=SCORES, names=None):
    system_names = names or [f"model-step{100 * number}" for number in range(1, len(scores) + 1)]
    return {name: made(values, name) for name, values in zip(system_names, scores, strict=True)}


# The curve


def test_a_printed_curve_has_conclusions_means_and_which_chance_is_in_p():
    result = checkpoint_curve(results(names=[f"\x1b[31m{number}" for number in range(5)]))
    text = str(result)
    assert text.startswith(f"{MEASURE}, 30 queries: no step after ")
    assert result.to_table().text().replace("\x1b", "\\x1b") in text
    assert "\x1b" not in text
    for words in ("the sampling of queries", "not for noise of training"):
        assert words in text + result.to_markdown()


def test_a_level_of_half_a_percent_makes_no_interval_of_100_percent():
    result = checkpoint_curve(results(), alpha=0.005)
    assert "means have t intervals, 99.5% each" in result.to_markdown()
    assert f"{MEASURE}, with 99.5% intervals" in str(result.plot().spec)


def test_the_curve_is_each_mean_with_its_interval_by_step():
    reversed_results = dict(reversed(results().items()))
    result = checkpoint_curve(reversed_results)
    points = result.curve(MEASURE)
    assert [point.step for point in points] == [100, 200, 300, 400, 500]
    assert [point.mean for point in points] == pytest.approx(SCORES.mean(axis=1), abs=1e-12)
    for point, row in zip(points, SCORES, strict=True):
        interval = stats.ttest_1samp(row, 0).confidence_interval(0.95)
        assert (point.low, point.high) == pytest.approx((interval.low, interval.high))
    assert result == checkpoint_curve(results())


def test_each_step_is_compared_with_the_step_before():
    result = checkpoint_curve(results(), draws=3_000)
    assert [(change.against, change.system) for change in result.changes] == list(
        itertools.pairwise(f"model-step{100 * number}" for number in range(1, 6))
    )
    p = [sign_flip(later - earlier, draws=3_000).p for earlier, later in itertools.pairwise(SCORES)]
    # The random signs are those of query ids, not of positions.
    assert [change.p for change in result.changes] == pytest.approx(p, abs=0.05)
    assert [change.verdict for change in result.changes][:2] == ["better", "better"]


# The best step


def test_the_best_step_has_the_highest_mean_and_the_first_wins_a_tie():
    scores = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.6, 0.5, 0.4]])
    outcome = checkpoint_curve(results(scores)).outcome(MEASURE)
    assert (outcome.best.step, outcome.best.name) == (200, "model-step200")
    assert outcome.score == 0.5


def test_the_text_names_the_best_step_and_says_once_that_it_is_best_partly_by_chance():
    by_measure = {name: made(values, name) for name, values in zip("12345", SCORES, strict=True)}
    result = checkpoint_curve(by_measure)
    document = result.document()
    [(first, _)], last = document.sentences, document.notes[-2]
    assert first == f"{MEASURE}, 30 queries: no step after 3 is shown to be better than step 3"
    assert last.startswith("The highest of 5 means tends to be too high: beir-eval choose")
    assert last in result.to_markdown()


# The unbeaten step: the first that no later one beats


def exact_p_greater(differences):
    total = math.fsum(differences)
    totals = [
        math.fsum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(flipped_total >= total - 1e-9 for flipped_total in totals) / len(totals)


def plain_holm(p):
    running, corrected = 0.0, {}
    for position, (value, row) in enumerate(sorted((value, row) for row, value in enumerate(p))):
        running = max(running, min(1.0, (len(p) - position) * value))
        corrected[row] = running
    return [corrected[row] for row in range(len(p))]


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10_000))
def test_the_unbeaten_step_is_the_first_that_no_later_step_improves_on_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    scores = rng.random((4, 6)).round(1) * 0.3 + np.sort(rng.random(4).round(1))[:, None] * 0.7
    expected = next(
        step
        for step in range(4)
        if step == 3
        or min(plain_holm([exact_p_greater(later - scores[step]) for later in scores[step + 1 :]]))
        > 0.05
    )
    outcome = checkpoint_curve(results(scores)).outcome(MEASURE)
    assert outcome.unbeaten.step == 100 * (expected + 1)
    assert (outcome.p_unbeaten is None) == (expected == 3)


def test_a_model_that_improves_to_the_end_has_not_settled():
    scores = np.array([[0.1], [0.2], [0.3]]) + RNG.normal(0, 0.01, (3, 20))
    result = checkpoint_curve(results(scores))
    outcome = result.outcome(MEASURE)
    assert (outcome.unbeaten.step, outcome.p_unbeaten, outcome.settled) == (300, None, None)
    assert "every earlier step is beaten" in outcome.why_not_settled
    assert (
        "each step before the last, 300, is shown to be worse than a later one"
        in result.to_markdown()
    )
    assert not {"●", "○"} & {row[2][-1] for row in result.to_table().rows}


# The settled step: the unbeaten one, if a later gain of the margin would have been noticed


def plateau(num_queries, sd, steps=4):
    """Return scores whose differences from the first step have this standard deviation."""
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 1, (steps, num_queries))
    noise[0] = 0
    noise -= noise.mean(axis=1, keepdims=True)
    noise[1:] /= noise[1:].std(axis=1, ddof=1, keepdims=True)
    return 0.5 + sd * noise


def power_at_a_third_of_the_level(gain, sd, num_queries):
    """Return the power of the one-sided t test at .05 / 3, by scipy's noncentral t."""
    stats = pytest.importorskip("scipy.stats")
    limit = stats.t.isf(0.05 / 3, num_queries - 1)
    return stats.nct.sf(limit, num_queries - 1, gain / sd * math.sqrt(num_queries))


@pytest.mark.simulation
def test_the_detectable_gain_is_detected_with_a_power_of_80_percent_at_any_later_step():
    scores = plateau(60, 0.1)
    scores[2] += scores[2] - scores[0]  # This step varies twice as much as the others.
    outcome = checkpoint_curve(results(scores), draws=2_000).outcome(MEASURE)
    assert outcome.unbeaten.step == 100
    assert power_at_a_third_of_the_level(outcome.detectable, 0.2, 60) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("margin_in_detectable_gains", "has_settled"), [(0.99, False), (1.01, True)]
)
def test_a_run_has_settled_if_a_later_gain_of_the_margin_is_detectable(
    margin_in_detectable_gains, has_settled
):
    evaluated = results(plateau(60, 0.1))
    detectable = checkpoint_curve(evaluated, draws=2_000).outcome(MEASURE).detectable
    result = checkpoint_curve(
        evaluated, margin=margin_in_detectable_gains * detectable, draws=2_000
    )
    outcome = result.outcome(MEASURE)
    assert (outcome.settled == outcome.unbeaten) == has_settled
    assert (outcome.why_not_settled is None) == has_settled
    assert (
        "settled at step 100: each later step is shown to" in result.document().sentences[0].text
    ) == has_settled
    mark = "●" if has_settled else "○"
    assert result.to_table().rows[0][2].endswith(mark)


@pytest.mark.parametrize(("gain", "has_settled"), [(0.02, False), (0.005, True)])
def test_a_run_has_settled_only_if_each_later_step_is_shown_to_gain_less_than_the_margin(
    gain, has_settled
):
    scores = plateau(60, 0.1)
    scores[2] += gain
    detectable = find_settling(scores, ComparisonSettings(draws=2_000)).detectable
    settling = find_settling(scores, ComparisonSettings(margin=1.01 * detectable, draws=2_000))
    p = paired_t(scores[2] - scores[0] - 1.01 * detectable, alternative="less").p
    assert settling.unbeaten == 0
    assert settling.settled == (p <= 0.05) == has_settled
    if not has_settled:
        for words in (f"less than {1.01 * detectable:g}", f"largest p {p:.4f}"):
            assert words in settling.why_not_settled


def test_a_run_that_may_have_improved_unnoticed_says_which_gain_was_too_small_to_see():
    result = checkpoint_curve(results(plateau(60, 0.1)), draws=2_000)
    outcome = result.outcome(MEASURE)
    assert outcome.settled is None
    for words in (f"below {outcome.detectable:.4f}", "missed", "20%"):
        assert words in outcome.why_not_settled
    [(first, _)], second = result.document().sentences, result.document().notes[0]
    assert first == f"{MEASURE}, 60 queries: no step after 100 is shown to be better than step 100"
    size = f"{outcome.detectable:.1g}"
    assert second == f"Gains below {size} after step 100 can go unnoticed."


def test_no_sensitivity_is_claimed_where_few_queries_differ():
    scores = np.tile(RNG.random(40), (3, 1))
    few_differ = scores.copy()
    few_differ[2, :9] -= 0.1
    constant = scores - 0.1 * np.arange(3)[:, None]
    for values, reason in [
        (scores, "a later step differs from it on 0 of 40 queries; with fewer than 10"),
        (few_differ, "differs from it on 0 of 40 queries"),
        (few_differ[[0, 2]], "differs from it on 9 of 40 queries"),
        (constant, "the same on every query"),
    ]:
        outcome = checkpoint_curve(results(values), draws=2_000).outcome(MEASURE)
        assert outcome.unbeaten.step == 100
        assert (outcome.settled, outcome.detectable) == (None, None)
        assert reason in outcome.why_not_settled


def settling_after_losses(num_losses, **settings):
    """Return the settling of two steps, of which the second loses on so many of 40 queries."""
    rng = np.random.default_rng(6)
    scores = np.tile(rng.random(40), (2, 1))
    scores[1, :num_losses] -= rng.uniform(0.1, 0.2, num_losses)
    return find_settling(scores, ComparisonSettings(**settings))


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 10), (2**-11, 11), (2**-11.5, 12)])
def test_a_detectable_gain_is_known_from_exactly_the_fewest_differing_queries_on(alpha, fewest):
    assert fewest == 10 or 2**-fewest <= alpha < 2 ** (1 - fewest)  # p if all of them gain
    assert settling_after_losses(fewest, alpha=alpha, draws=4_000).detectable is not None
    settling = settling_after_losses(fewest - 1, alpha=alpha, draws=4_000)
    assert settling.detectable is None
    assert f"with fewer than {fewest} it is not known" in settling.why_not_settled


def test_draws_are_refused_unless_the_smallest_p_of_a_later_step_can_be_the_level():
    settings = {"alpha": 2**-6, "num_losses": 40}
    # One-sided: a sign vector and its opposite are two, so the smallest p is 1 / (2 · (31 + 1)).
    assert settling_after_losses(**settings, draws=31).detectable is not None
    with pytest.raises(SettingError, match=r"^30 sign .* takes 31 draws or more"):
        settling_after_losses(**settings, draws=30)
    with pytest.raises(SettingError, match="39 draws or more"):  # 0.5 / 40 = .05 / 4 · 2 / 2
        checkpoint_curve(results(plateau(400, 0.01, 5)), draws=20)


@pytest.mark.simulation
def test_a_later_gain_of_the_margin_is_seldom_overlooked_by_a_run_that_settled():
    rng = np.random.default_rng(4)
    settled_early = 0
    for _ in range(60):
        scores = np.array([[0.5], [0.5], [0.51]]) + rng.normal(0, 0.025, (3, 200))
        settling = find_settling(scores, ComparisonSettings(draws=500))
        settled_early += settling.settled and settling.unbeaten < 2
    assert settled_early <= 9  # about 4 expected; without the t tests about 12


# Steps in names, and steps passed


@pytest.mark.parametrize(
    ("names", "steps", "expected"),
    [
        (["ckpt_10.bin", "ckpt_200.bin"], None, [10, 200]),
        (["m-step-1k", "m-step-500"], None, [500, 1000]),
        (["ckpt-1.5M", "ckpt-900k"], None, [900_000, 1_500_000]),
        (["a_2_10", "a_2_9"], None, [9, 10]),
        (["10-a1", "9-b2"], r"^(?P<step>\d+)", [9, 10]),
        (["e0.5", "e1.0"], r"e([\d.]+)", [0.5, 1]),
        (["x", "y"], ["y", "x"], [1, 2]),
        (["x", "y"], {"x": 2000, "y": 0.5}, [0.5, 2000]),
    ],
)
def test_a_step_is_read_from_the_name_or_passed(names, steps, expected):
    evaluated = results(SCORES[:2], names)
    result = checkpoint_curve(evaluated) if steps is None else checkpoint_curve(evaluated, steps)
    assert [checkpoint.step for checkpoint in result.checkpoints] == expected


@pytest.mark.parametrize(
    ("names", "steps", "message"),
    [
        (["first", "step2"], r"(?P<step>\d+)", "in 'first'; pass another pattern"),
        (["step-1e2", "step-3"], None, "no step is found by .* in 'step-1e2'"),
        (["a-1", "b-1"], r"(?P<step>\d+)", "'a-1', 'b-1' have the same step, 1"),
        (["a", "b"], r"\d+", "must have a group for the step"),
        (["a", "b"], "(", "no regular expression"),
        (["a", "b"], ["a"], "without a step: 'b'"),
        (["a", "b"], ["a", "b", "c"], "not among the results: 'c'"),
        (["a", "b"], ["a", "b", "a"], "a name is listed twice"),
        (["a", "b"], {"a": 1, "b": "2"}, "the step of 'b' must be a number, not '2'"),
        (["a", "b"], {"a": 1, "b": 1.0}, "the same step"),
    ],
)
def test_an_invalid_missing_or_shared_step_is_refused(names, steps, message):
    stated = () if steps is None else (steps,)
    with pytest.raises(SettingError, match=message):
        checkpoint_curve(results(SCORES[:2], names), *stated)


# Queries and repeats


def test_a_query_without_a_score_is_left_out_for_that_measure():
    scores = SCORES.copy()
    scores[2, 4] = math.nan
    result = checkpoint_curve(results(scores))
    assert result.outcome(MEASURE).num_queries == 29
    assert result.curve(MEASURE)[0].mean == pytest.approx(float(np.delete(SCORES[0], 4).mean()))


def test_a_hundred_checkpoints_are_compared():
    # Every query gains 0.02 per step up to the fortieth; then nothing changes.
    gains = 0.02 * np.minimum(np.arange(1, 101), 40)
    scores = gains[:, None] + RNG.uniform(0, 0.2, 30)
    # With 99 comparisons, the smallest p that 10,000 draws can give is significant: 0.0099.
    result = checkpoint_curve(results(scores), draws=10_000)
    assert [change.verdict for change in result.changes] == ["better"] * 39 + ["identical"] * 60
    outcome = result.outcome(MEASURE)
    assert (outcome.best.step, outcome.unbeaten.step) == (4_000, 4_000)


# Files, tables and text


def test_a_step_that_is_a_whole_number_stays_one_in_a_saved_curve():
    result = checkpoint_curve(results())
    loaded = CheckpointCurve.model_validate_json(result.model_dump_json())
    assert isinstance(loaded.checkpoints[0].step, int)


def test_tables_mark_the_best_and_the_unbeaten_step():
    result = checkpoint_curve(results())
    rows = {row[0]: row for row in result.to_table().rows}
    assert rows["300"][2].endswith(("○", "★○"))
    assert sum("★" in row[2] for row in rows.values()) == 1
    assert "| 100 to 200 |" in result.to_markdown()
    assert "<table>" in result._repr_html_()
    points = list(csv.DictReader(result.to_csv().splitlines()))
    assert [float(point["mean"]) for point in points] == [point.mean for point in result.points]
    with pytest.raises(NotEvaluatedError, match="MAP was not compared"):
        result.curve("MAP")


def test_steps_may_be_fractions_or_integers_beyond_the_precision_of_floats():
    assert steps_of(["epoch-0.5", "epoch-1.0", "epoch-1.7"], LAST_NUMBER) == [0.5, 1, 1.7]
    names = ["s-20240101123045123", "s-20240101123045124"]
    assert steps_of(names, LAST_NUMBER) == [20240101123045123, 20240101123045124]
