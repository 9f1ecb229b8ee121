"""Checkpoints in order: the curve, the best step and its bias, and the settled step."""

import csv
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval import compare, evaluate, read_qrels, read_run
from beir_eval.comparison.checkpoints import CheckpointCurve, checkpoint_curve
from beir_eval.comparison.checkpoints.steps import LAST_NUMBER, steps_of
from beir_eval.errors import (
    InputError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
)
from beir_eval.significance import best_of_many, sign_flip
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


def test_the_curve_is_each_mean_with_its_interval_by_step():
    reversed_results = dict(reversed(results().items()))
    result = checkpoint_curve(reversed_results)
    points = result.curve(MEASURE)
    assert [point.step for point in points] == [100, 200, 300, 400, 500]
    assert [point.mean for point in points] == pytest.approx(SCORES.mean(axis=1), abs=1e-12)
    intervals = [stats.ttest_1samp(row, 0).confidence_interval(0.95) for row in SCORES]
    assert [point.low for point in points] == pytest.approx(
        [interval.low for interval in intervals]
    )
    assert [point.high for point in points] == pytest.approx(
        [interval.high for interval in intervals]
    )
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


def test_the_bias_is_the_mean_of_the_resampled_maximum_less_the_maximum():
    scores = RNG.normal(0, 1, (4, 12))
    result = best_of_many(scores, draws=20_000)
    queries = np.random.default_rng(0).integers(0, 12, size=(20_000, 12))
    resampled = scores[:, queries].mean(axis=2)
    excess = resampled.max(axis=0) - scores.mean(axis=1).max()
    error = excess.std() / math.sqrt(len(excess))
    assert abs(result.bias - excess.mean()) < 4 * error
    excess_over_best = (resampled.max(axis=0) - resampled[result.best]).mean()
    assert math.isclose(result.bias, float(excess_over_best), rel_tol=1e-9)
    shares = np.bincount(resampled.argmax(axis=0), minlength=4) / 20_000
    np.testing.assert_allclose(result.chosen, shares, atol=1e-12)


@given(st.integers(0, 1_000), st.integers(1, 5), st.integers(2, 9))
def test_the_bias_is_never_below_zero_and_is_zero_for_a_single_system(seed, rows, queries):
    result = best_of_many(np.random.default_rng(seed).random((rows, queries)), draws=50)
    assert result.bias >= 0
    assert rows > 1 or result.bias == 0


def test_for_equal_checkpoints_the_bootstrap_estimates_two_fifths_of_the_bias():
    rng = np.random.default_rng(1)
    samples = rng.normal(0, 1, (400, 5, 50))
    true_bias = samples.mean(axis=2).max(axis=1).mean()
    estimated_bias = np.mean([best_of_many(scores, draws=200).bias for scores in samples])
    assert estimated_bias / true_bias == pytest.approx(math.sqrt(2) - 1, abs=0.06)


def test_the_text_warns_that_the_best_is_biased():
    result = checkpoint_curve(results())
    bias = result.outcome(MEASURE).bias
    assert f"The best of 5 is biased upward, here by about {bias:.4f} or more" in result.notes()[0]
    assert result.notes()[0] in result.to_markdown()


# The settled step: the first after which nothing improved


def test_the_step_after_which_nothing_improved_is_the_first_of_the_plateau():
    outcome = checkpoint_curve(results()).outcome(MEASURE)
    assert outcome.settled.step == 300
    assert outcome.p_settled > 0.05


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


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_settled_step_is_the_first_that_no_later_step_improves_on_by_enumeration(seed):
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
    assert outcome.settled.step == 100 * (expected + 1)
    assert (outcome.p_settled is None) == (expected == 3)


def test_the_settled_step_of_a_model_that_improves_to_the_end_is_its_last():
    scores = np.array([[0.1], [0.2], [0.3]]) + RNG.normal(0, 0.01, (3, 20))
    result = checkpoint_curve(results(scores))
    assert result.outcome(MEASURE).settled.step == 300
    assert "up to the last, step 300 (model-step300)" in result.to_markdown()


def test_equal_checkpoints_seldom_seem_to_improve():
    rng = np.random.default_rng(2)
    beyond_first = 0
    for _ in range(60):
        scores = rng.normal(0.5, 0.1, (1, 15)) + rng.normal(0, 0.05, (3, 15))
        outcome = checkpoint_curve(results(scores), draws=300).outcome(MEASURE)
        beyond_first += outcome.settled.step > 100
    assert beyond_first <= 8  # at most 3 expected; 8 or fewer in 99 of 100 cases


# Steps in names, and steps passed


@pytest.mark.parametrize(
    ("names", "steps", "expected"),
    [
        (["m2-10", "m2-9"], None, [9, 10]),
        (["ckpt_10.bin", "ckpt_200.bin"], None, [10, 200]),
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
        (["first", "step2"], r"(?P<step>\d+)", "in 'first'; hand over another pattern"),
        (["a-1", "b-1"], r"(?P<step>\d+)", "'a-1', 'b-1' have the same step, 1"),
        (["a", "b"], r"\d+", "must have a group for the step"),
        (["a", "b"], "(", "no regular expression"),
        (["a-1", "a-x"], "a-(.)", "no step is found by .* in 'a-x'"),
        (["a", "b"], ["a"], "without a step: 'b'"),
        (["a", "b"], ["a", "b", "c"], "not among the results: 'c'"),
        (["a", "b"], ["a", "b", "a"], "a name stands twice"),
        (["a", "b"], {"a": 1}, "without a step: 'b'"),
        (["a", "b"], {"a": 1, "b": "2"}, "the step of 'b' must be a number, not '2'"),
        (["a", "b"], {"a": 1, "b": math.nan}, "must be a number"),
        (["a", "b"], {"a": 1, "b": 1.0}, "the same step"),
    ],
)
def test_an_invalid_missing_or_shared_step_is_refused(names, steps, message):
    with pytest.raises(SettingError, match=message):
        checkpoint_curve(results(SCORES[:2], names), steps)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"alpha": 0}, SettingError),
        ({"margin": 0}, SettingError),
        ({"draws": 0}, SettingError),
        ({"rng": None}, SettingError),
        ({"on": "union"}, SettingError),
        ({"measures": "MAP"}, NotEvaluatedError),
    ],
)
def test_an_invalid_setting_is_refused(options, error):
    with pytest.raises(error):
        checkpoint_curve(results(), **options)


# Queries and repeats


def test_different_queries_are_an_error_or_an_intersection():
    mixed = results() | {"model-step600": made(SCORES[0, :28], "model-step600")}
    with pytest.raises(QueryMismatchError):
        checkpoint_curve(mixed)
    result = checkpoint_curve(mixed, on="intersection")
    assert result.outcome(MEASURE).num_queries == 28
    assert "model-step100: 2 queries left out" in result.to_markdown()


def test_one_checkpoint_or_one_query_is_an_error():
    with pytest.raises(ResultError, match="two systems or more"):
        checkpoint_curve(results(SCORES[:1]))
    with pytest.raises(InputError, match="1 query"):
        checkpoint_curve(results(SCORES[:, :1]))


def test_a_query_without_a_score_is_left_out_for_that_measure():
    scores = SCORES.copy()
    scores[2, 4] = math.nan
    result = checkpoint_curve(results(scores))
    assert result.outcome(MEASURE).num_queries == 29
    assert result.curve(MEASURE)[0].mean == pytest.approx(float(np.delete(SCORES[0], 4).mean()))


def test_repeats_of_a_checkpoint_are_averaged():
    repeated = results(SCORES[:2])
    repeated["model-step200"] = [made(SCORES[1] + shift) for shift in (-0.1, 0.1)]
    result = checkpoint_curve(repeated)
    assert result.curve(MEASURE)[1].mean == pytest.approx(float(SCORES[1].mean()))


def test_a_hundred_checkpoints_are_compared():
    # Every query gains 0.02 per step up to the fortieth; then nothing changes.
    gains = 0.02 * np.minimum(np.arange(1, 101), 40)
    scores = gains[:, None] + RNG.uniform(0, 0.2, 30)
    # With 99 comparisons, the smallest p that 10,000 draws can give is significant: 0.0099.
    result = checkpoint_curve(results(scores), draws=10_000)
    assert [change.verdict for change in result.changes] == ["better"] * 39 + ["equal"] * 60
    outcome = result.outcome(MEASURE)
    assert (outcome.best.step, outcome.settled.step) == (4_000, 4_000)


# Files, tables and text


def test_two_calls_and_a_saved_and_loaded_curve_are_equal(tmp_path):
    result = checkpoint_curve(results())
    result.save(tmp_path / "found.json.gz")
    loaded = CheckpointCurve.load(tmp_path / "found.json.gz")
    assert loaded == result == checkpoint_curve(results())
    assert isinstance(loaded.checkpoints[0].step, int)
    (tmp_path / "bad.json").write_text("nonsense")
    with pytest.raises(ResultError, match="not a saved curve of checkpoints"):
        CheckpointCurve.load(tmp_path / "bad.json")


def test_tables_mark_the_best_and_the_settled_step():
    result = checkpoint_curve(results())
    rows = {row[0]: row for row in result.to_table().rows}
    assert rows["300"][2].endswith(("●", "★●"))
    assert sum("★" in row[2] for row in rows.values()) == 1
    assert "| 100 to 200 |" in result.to_markdown()
    assert "<table>" in result._repr_html_()
    points = list(csv.DictReader(result.to_csv().splitlines()))
    assert [float(point["mean"]) for point in points] == [point.mean for point in result.points]
    with pytest.raises(NotEvaluatedError, match="MAP is not in the curve"):
        result.curve("MAP")


def test_html_in_names_is_escaped():
    result = checkpoint_curve(results(SCORES[:2], ["a|b <img src=x> 1", "2"]))
    assert "<img" not in result.to_markdown()
    assert "<img" not in result._repr_html_()


# Real runs


def test_three_real_checkpoints_get_their_curve_and_verdicts(realdata):
    names = ["bm25+vicuna-7b-step800", "bm25+vicuna-7b-v2", "bm25+vicuna-7b-v2-aug"]
    qrels = read_qrels(realdata / "qrels" / "dl19-passage.trec")
    evaluated = {
        name: evaluate(
            qrels,
            read_run(realdata / "runs" / "dl19" / f"{name}.trec"),
            [MEASURE, "MAP@100"],
            name=name,
            duplicates="first",
        )
        for name in reversed(names)
    }
    result = checkpoint_curve(evaluated, names)
    assert [point.name for point in result.curve(MEASURE)] == names
    assert [point.mean for point in result.curve(MEASURE)] == pytest.approx(
        [evaluated[name][MEASURE] for name in names]
    )
    comparison = compare(evaluated)
    for change in result.changes:
        assert change.p == comparison.difference(change.measure, change.system, change.against).p
        assert change.verdict in {"undecided", "equal"}
    assert {result.outcome(measure).settled.step for measure in result.measures} == {1}
    assert 0 < result.outcome(MEASURE).bias < 0.02
    with pytest.raises(SettingError, match="have the same step, 2"):
        checkpoint_curve(evaluated)


def test_steps_may_be_fractions_or_integers_beyond_the_precision_of_floats():
    assert steps_of(["epoch-0.5", "epoch-1.0", "epoch-1.7"], LAST_NUMBER) == [0.5, 1, 1.7]
    names = ["s-20240101123045123", "s-20240101123045124"]
    assert steps_of(names, LAST_NUMBER) == [20240101123045123, 20240101123045124]
