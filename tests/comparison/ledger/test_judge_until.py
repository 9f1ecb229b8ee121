"""Two fixed systems whose queries are judged one by one until it is decided."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.comparison.ledger import SequentialComparison, judge_until
from beir_eval.errors import InputError, JudgingError, SettingError
from beir_eval.significance.bounded_mean import lower_confidence_bound

RNG = np.random.default_rng(0)
GAINS = {
    f"q{number}": float(value)
    for number, value in enumerate(np.clip(RNG.normal(0.1, 0.2, 300), -1, 1))
}


class Judge:
    """A judge that counts its calls and can fail at one of them."""

    def __init__(self, differences, fails_at=None, error=None):
        self.differences, self.fails_at, self.error = differences, fails_at, error
        self.calls = []

    def __call__(self, query_id):
        if len(self.calls) == self.fails_at:
            raise self.error
        self.calls.append(query_id)
        return self.differences[query_id]


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        (GAINS, "better"),
        ({query_id: -gain for query_id, gain in GAINS.items()}, "worse"),
        ({query_id: 0.001 * (gain > 0) for query_id, gain in GAINS.items()}, "undecided"),
        ({f"q{number}": 0.0 for number in range(1000)}, "equal"),
    ],
)
def test_it_judges_until_the_verdict_and_no_further(differences, verdict):
    judge = Judge(differences)
    result = judge_until(differences, judge)
    assert result.verdict == verdict
    assert list(result.judged) == judge.calls
    assert result.judged == {query_id: differences[query_id] for query_id in judge.calls}
    assert result.num_queries == len(differences)
    assert (len(judge.calls) == len(differences)) == (verdict == "undecided")
    assert result.difference == pytest.approx(np.mean(list(result.judged.values())))
    assert str(result).startswith("equal within 0.01" if verdict == "equal" else verdict)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=60),
    st.sampled_from([0.05, 0.3, 0.9]),
    st.sampled_from([0.05, 0.5]),
    st.integers(0, 5),
)
@settings(max_examples=settings.default.max_examples // 3, deadline=None)
def test_the_verdict_agrees_with_the_confidence_sequence(values, margin, alpha, seed):
    differences = {f"q{number}": value for number, value in enumerate(values)}
    result = judge_until(differences, differences.get, margin=margin, alpha=alpha, rng=seed)
    judged = np.array(list(result.judged.values()))
    low = lower_confidence_bound(judged, lowest=-1, alpha=alpha / 2)
    high = -lower_confidence_bound(-judged, lowest=-1, alpha=alpha / 2)
    assert (result.low, result.high) == pytest.approx((low, high), abs=1e-12)
    if result.verdict == "better":
        assert result.low >= 0
    elif result.verdict == "worse":
        assert result.high <= 0
    elif result.verdict == "equal":
        assert -margin <= result.low <= result.high <= margin
        assert result.low < 0 < result.high
    else:
        assert result.low < 0 < result.high
        assert result.low < -margin or result.high > margin
        assert len(judged) == len(values)
    if result.verdict in {"better", "worse"}:
        assert result.e_value >= 1 / alpha * (1 - 1e-9)


def test_the_order_is_random_and_depends_on_the_seed_and_the_set_of_ids_only():
    first = judge_until(GAINS, GAINS.get)
    assert judge_until(reversed(list(GAINS)), GAINS.get) == first
    others = judge_until(GAINS, GAINS.get, rng=1)
    assert list(others.judged) != list(first.judged)
    assert list(first.judged) != sorted(first.judged)


@pytest.mark.parametrize("fails_at", [0, 1, 7])
def test_what_was_judged_before_an_error_is_kept_and_not_judged_again(fails_at):
    whole = judge_until(GAINS, GAINS.get)
    judge = Judge(GAINS, fails_at, TimeoutError("no answer"))
    with pytest.raises(
        JudgingError, match=r"TimeoutError: no answer.*judged=… to resume"
    ) as caught:
        judge_until(GAINS, judge)
    assert caught.value.judged == {query_id: GAINS[query_id] for query_id in judge.calls}
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert pickle.loads(pickle.dumps(caught.value)).judged == caught.value.judged  # noqa: S301
    judge = Judge(GAINS)
    assert judge_until(GAINS, judge, judged=caught.value.judged) == whole
    assert judge.calls == list(whole.judged)[fails_at:]


def test_an_interruption_stays_what_it_is_and_has_what_was_judged():
    judge = Judge(GAINS, 4, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        judge_until(GAINS, judge)
    assert list(caught.value.judged) == judge.calls


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, -1.01, None, "0.5", True, [0.1]])
def test_a_difference_that_is_no_number_within_the_range_is_refused(value):
    third = list(judge_until(GAINS, GAINS.get).judged)[2]
    with pytest.raises(JudgingError, match="must be a number from -1 to 1, not") as caught:
        judge_until(GAINS, lambda query_id: value if query_id == third else GAINS[query_id])
    assert repr(third) in str(caught.value)
    assert len(caught.value.judged) == 2
    with pytest.raises(InputError, match=f"judged: query '{third}': the difference must be"):
        judge_until(GAINS, GAINS.get, judged={third: value})


def test_a_larger_range_is_stated_and_scales_everything():
    scaled = {query_id: 100 * gain for query_id, gain in GAINS.items()}
    result = judge_until(scaled, scaled.get, score_range=100, margin=1)
    expected = judge_until(GAINS, GAINS.get)
    assert list(result.judged) == list(expected.judged)
    assert (result.low, result.high) == pytest.approx((100 * expected.low, 100 * expected.high))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"query_ids": []}, InputError, "query_ids are empty"),
        ({"query_ids": "abc"}, InputError, "query_ids must be a list of ids"),
        ({"query_ids": 3}, InputError, "query_ids"),
        ({"query_ids": ["a", "b", "a"]}, InputError, "listed more than once: 'a'"),
        ({"query_ids": ["a", None]}, InputError, "an id must be text or an integer"),
        ({"judged": {"zz": 0.1}}, InputError, "not among query_ids: 'zz'"),
        ({"margin": 0}, SettingError, "margin must be a number above 0"),
        ({"margin": 1.0}, SettingError, "must be smaller than score_range"),
        ({"alpha": 0}, SettingError, "alpha must lie between 0 and 1"),
        ({"score_range": -1}, SettingError, "score_range must be a number above 0"),
        ({"rng": None}, SettingError, "rng must be a seed"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_is_judged(arguments, error, message):
    judge = Judge(GAINS)
    with pytest.raises(error, match=message):
        judge_until(**({"query_ids": GAINS, "difference": judge} | arguments))
    assert judge.calls == []


def test_the_result_can_be_written_as_json_and_read_again():
    result = judge_until(GAINS, GAINS.get)
    again = SequentialComparison.model_validate_json(result.model_dump_json())
    assert again == result
    assert list(again.judged) == list(result.judged)
