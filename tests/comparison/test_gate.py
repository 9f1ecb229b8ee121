"""The gate decides each system by itself, and says why, and what it could have missed."""

import math
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from beir_eval import BeirEvalWarning, EvaluationResult, compare, evaluate, write_qrels, write_run
from beir_eval.comparison import assert_no_regression, check_gate, to_junit
from beir_eval.comparison.gate import check_floors
from beir_eval.comparison.gate_output import full_reason, gate_document
from beir_eval.errors import InputError, NotEvaluatedError, SettingError
from beir_eval.significance import sign_flip, smallest_margin
from beir_eval.significance.equivalence import non_inferiority
from beir_eval.significance.sign_flip import sign_flip_many
from beir_eval.significance.validation import without_noise
from command_line import output_of, refusal, run
from made_results import given

RANKS = np.random.default_rng(0).integers(2, 9, 40).tolist()
QRELS = {f"q{query:02}": {"a": 1} for query in range(40)}


def run_with_ranks(ranks):
    """Return rankings of 20 documents, with the relevant one at these ranks."""
    return {
        f"q{query:02}": {
            ("a" if position == rank else f"x{position}"): -position for position in range(1, 21)
        }
        for query, rank in enumerate(ranks)
    }


RUNS = {
    "old": run_with_ranks(RANKS),
    "same": run_with_ranks(np.random.default_rng(1).permutation(RANKS).tolist()),
    "worse": run_with_ranks([rank + 3 for rank in RANKS]),
    "better": run_with_ranks([rank - 1 for rank in RANKS]),
    "nearly": run_with_ranks([*RANKS[:-1], RANKS[-1] + 1]),
}


def result(name):
    return evaluate(QRELS, RUNS[name], ["MRR", "nDCG@10"], name=name)


def by_query(row):
    return {f"q{index:02}": float(score) for index, score in enumerate(row)}


def checks(*names, **settings):
    non_inferior = settings.pop("non_inferior", False)
    comparison = compare([result(name) for name in names], baseline=names[0], **settings)
    return check_gate(comparison, "MRR", non_inferior=non_inferior)


#: {case: what the gate says of the new system}.
REASONS = tomllib.loads((Path(__file__).parent / "reasons.toml").read_text())
#: {case: (old scores, new scores, settings of the comparison, settings of the gate)}.
GATES = {
    "t-test": ([0.5] * 4, [0.25, 0.5] * 2, {"test": "t"}, {}),
    "low-level": ([0.5] * 12, [0.25] * 12, {"alpha": 0.001}, {}),
    "few": ([0.5] * 4, [0.25] * 4, {}, {}),
    "gains": ([0.0] * 9, [1.0] * 9, {}, {}),
    "no-power": ([0.0, 1.0] * 5, [1.0, 0.0] * 5, {"alpha": 0.01}, {}),
    "small-margin": ([0.5] * 6, [0.25] * 6, {"margin": 0.02}, {"non_inferior": True}),
    "undecided": ([0.5] * 30, [0.5] * 30, {}, {"non_inferior": True}),
    "non-inferior": ([0.5] * 30, [0.5] * 30, {"margin": 0.1}, {"non_inferior": True}),
    "inferior": ([0.5] * 30, [0.25] * 30, {"margin": 0.1}, {"non_inferior": True}),
    "floor": (None, [0.5, 1.0] * 10, {}, {"floors": {"nDCG@10": 0.7}}),
    "low-end": (None, [0.5, 1.0] * 10, {}, {"floors": {"nDCG@10": 0.7}, "floor_interval": True}),
    "no-spread": (None, [1.0] * 30, {}, {"floors": {"nDCG@10": 0.7}, "floor_interval": True}),
    "one-query": (None, [1.0], {}, {"floors": {"nDCG@10": 0.7}}),
}


@pytest.mark.parametrize("case", GATES)
def test_a_reason_has_the_numbers_of_the_scores(case):
    old, new, settings, of_gate = GATES[case]
    if old is None:
        [check] = check_floors(*given({"new": new}), **of_gate)
    else:
        results = given({"old": old, "new": new})
        [check] = check_gate(compare(results, baseline="old", **settings), **of_gate)
    assert full_reason(check) == REASONS[case]


@pytest.mark.slow
def test_a_system_fails_exactly_if_the_verdict_at_twice_alpha_is_worse():
    """So its interval, that of the verdict, leaves out 0 on the side of a loss."""
    rng = np.random.default_rng(7)
    for number in range(60):
        num_queries = int(rng.integers(5, 40))
        scores = np.round(rng.normal(0.5, 0.2, (2, num_queries)), 1)
        better, bounds = bool(number % 2), None if number % 3 else (-2.0, 3.0)
        rows = dict(zip(("old", "new"), scores, strict=True))
        results = given(rows, "score", bounds=bounds, higher_is_better=better)
        test = ("sign_flip", "t")[number % 5 == 0]
        [check] = check_gate(compare(results, baseline="old", test=test, alpha=0.1))
        [pair] = compare(results, baseline="old", test=test, alpha=0.2).differences
        assert (check.low, check.high) == (pair.low, pair.high)
        is_loss = check.high < 0 if better else check.low > 0
        is_worse = pair.verdict == "worse"
        assert (check.outcome == "failed") == is_worse == is_loss == (check.p <= 0.1)
        differences = (scores[1] - scores[0]) * (1 if better else -1)
        if test == "sign_flip":
            expected = sign_flip(without_noise(differences), alternative="less").p
            assert check.p == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("new", "loss"),
    [([0.5, 0.0, 0.5], "0.843"), ([0.5, 0.0, 0.0], "1")],  # the interval goes to -.843, to -1.14
)
def test_the_loss_that_is_not_excluded_is_that_of_the_interval_if_the_measure_can_have_it(
    new, loss
):
    results = given({"old": [0.0, 0.5, 0.5], "new": new}, "MRR")
    [check] = check_gate(compare(results, baseline="old", test="t"))
    assert check.low <= -float(loss) + 0.001
    assert check.note.endswith(f"differ: a loss of up to {loss} is not excluded")


def many_results(num_systems, num_queries=60):
    """Return results of systems of about the same quality; the first is named "old"."""
    rng = np.random.default_rng(5)
    names = ["old", *(f"new {number}" for number in range(1, num_systems))]
    quality = rng.normal(0.5, 0.2, num_queries)
    rows = {name: quality + rng.normal(-0.02, 0.1, num_queries) for name in names}
    return given({name: np.clip(row, 0, 1) for name, row in rows.items()})


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"non_inferior": True}, {"floors": {"nDCG@10": 0.5}}])
@pytest.mark.parametrize("test", ["sign_flip", "t"])
def test_a_check_is_the_same_alone_among_nine_others_and_in_any_order(settings, test):
    old, *others = many_results(10)

    def checks_by_system(results):
        comparison = compare(results, baseline="old", test=test)
        return {check.system: check for check in check_gate(comparison, "nDCG@10", **settings)
                if check.rule == "floor" or "floors" not in settings}  # fmt: skip

    among = checks_by_system([old, *others])
    assert checks_by_system([*others[::-1], old]) == among
    for other in others:
        assert checks_by_system([old, other]) == {other.name: among[other.name]}
    assert len({check.p for check in among.values()}) > 1 or "floors" in settings


@pytest.mark.parametrize("lacks", ["scores", "queries"])
@pytest.mark.parametrize("settings", [{}, {"non_inferior": True}, {"floors": {"nDCG@10": 0.4}}])
def test_systems_are_tested_on_the_queries_that_they_share_with_the_baseline(lacks, settings):
    """A third system with few queries changes neither p, interval nor number of queries."""
    rng = np.random.default_rng(2)
    scores = {name: by_query(rng.uniform(0.3, 0.7, 20)) for name in ("old", "new")}
    scores["third"] = dict(list(scores["old"].items())[::2])
    if lacks == "scores":
        scores["third"] = dict.fromkeys(scores["old"]) | scores["third"]
    old, new, third = (
        EvaluationResult.from_scores(name, {"nDCG@10": by_query})
        for name, by_query in scores.items()
    )
    alone = check_gate(compare([old, new], baseline="old"), **settings)
    among = check_gate(compare([old, new, third], baseline="old", on="intersection"), **settings)
    assert alone == [check for check in among if check.system == "new"]
    assert {check.num_queries for check in alone} == {20}
    assert all("20 queries" in check.reason for check in alone)


def test_the_non_inferiority_gate_passes_only_what_is_shown_to_lose_less_than_the_margin():
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.2, 0.8, 400)
    rows = {"old": scores, "same": scores + rng.normal(0, 0.02, 400), "bad": scores - 0.05}
    comparison = compare(given(rows), baseline="old", margin=0.02)
    gate = check_gate(comparison, non_inferior=True)
    assert "p, margin 0.02" in gate_document(gate, comparison).tables[0].header
    for check in gate:
        row = rows[check.system]
        test = non_inferiority(row - scores, delta=0.02)
        assert (check.p, check.low) == (
            pytest.approx(test.p, rel=1e-6), pytest.approx(test.low, rel=1e-6)
        )  # fmt: skip
        assert check.passed == test.non_inferior == (check.system == "same")
    [few] = checks("old", "same", non_inferior=True, margin=0.02)
    assert few.outcome == "undecided"
    assert few.smallest_margin == smallest_margin(40)


def test_gains_can_show_a_margin_that_equal_scores_cannot():
    """So no margin is too small for non-inferiority, whatever the scores are."""
    results = given({"old": [0.3] * 30, "gains": [0.5] * 30, "same": [0.3] * 30})
    gains, same = check_gate(compare(results, baseline="old"), non_inferior=True)
    assert gains.outcome == "passed"
    assert gains.limit < gains.smallest_margin
    assert same.outcome == "undecided"


def test_the_reason_of_an_unbounded_measure_says_that_t_alone_decides():
    rows = {"old": [1.0, 1.1] * 20, "new": [1.0, 1.1001] * 20}
    results = given(rows, "seconds", higher_is_better=False)
    [check] = check_gate(compare(results, baseline="old"), non_inferior=True)
    assert check.passed
    assert check.smallest_margin is None
    sentence = "by the t test alone, which overlooks rare large losses: the measure has no bounds"
    assert check.note == sentence


def test_a_pass_says_which_loss_would_go_unnoticed():
    [check] = checks("old", "same")
    assert check.passed
    low, high = check.detectable_low, check.detectable_high
    assert 0 < low < check.detectable < high < 1
    loss = f"{float(f'{check.detectable:.1g}'):g}"
    assert check.note.startswith(f"A true loss of about {loss} fails this gate 80% of the time;")
    margin = "non_inferior=True passes only if a loss of 0.01, the margin, is ruled out"
    assert check.note.endswith(margin)
    [check] = checks("old", "nearly")
    assert check.note == (
        "only 1 of 40 queries differs, too few for a significant loss at 0.05: a loss of up to "
        "0.0734 is not excluded"
    )
    [check] = check_gate(
        compare({"old": result("old"), "again": result("old")}, baseline="old"), "MRR"
    )
    assert check.reason == "again and old score the same on every query (MRR, 40 queries)"
    assert check.note == "no difference on 40 queries: a loss of up to 0.0722 is not excluded"


@pytest.mark.simulation
def test_the_loss_that_goes_unnoticed_goes_unnoticed_in_a_fifth_of_simulated_experiments():
    """The stated loss is missed with 20%, up to four standard errors."""
    rng = np.random.default_rng(11)
    differences = rng.normal(0, 0.1, 80)
    results = given({"old": np.full(80, 0.5), "new": 0.5 + differences})
    [check] = check_gate(compare(results, baseline="old"))
    samples = rng.choice(differences - differences.mean(), (1_000, 80)) - check.detectable
    p = sign_flip_many(samples, alternative="less", draws=999).p
    assert (p > 0.05).mean() == pytest.approx(0.2, abs=4 * math.sqrt(0.2 * 0.8 / 1_000))


def old_and_worse(num_queries):
    """Return the results of the systems "old" and "worse" on the first queries."""
    few = {query: QRELS[query] for query in list(QRELS)[:num_queries]}
    return [
        evaluate(few, {query: RUNS[name][query] for query in few}, "MRR", name=name)
        for name in ("old", "worse")
    ]


def test_too_few_queries_for_any_loss_to_be_significant_are_undecidable():
    old, worse = old_and_worse(4)
    with pytest.raises(InputError, match=r"no loss of worse could be significant at 0\.05"):
        assert_no_regression(worse, old, "MRR")


def test_a_level_of_exactly_the_smallest_p_decides_and_a_lower_one_does_not():
    old, worse = old_and_worse(5)
    [check] = check_gate(compare([old, worse], baseline="old", alpha=2**-5))
    assert (check.outcome, check.p) == ("failed", 2**-5)  # all of five queries lost
    [check] = check_gate(compare([old, worse], baseline="old", alpha=0.99 * 2**-5))
    assert check.outcome == "undecided"


def test_a_loss_on_exactly_the_fewest_queries_that_can_be_significant_is_not_called_impossible():
    ranks = [rank + (query < 5) for query, rank in enumerate(RANKS)]
    nearly = evaluate(QRELS, run_with_ranks(ranks), "MRR", name="nearly")
    impossible = "only 5 of 40 queries differ, too few for a significant loss"
    results = [nearly, result("old")]
    for alpha, is_impossible in ((2**-5, False), (0.99 * 2**-5, True)):
        [check] = check_gate(compare(results, baseline="nearly", measures="MRR", alpha=alpha))
        assert check.outcome == "passed"
        assert (impossible in check.note) is is_impossible


def test_two_queries_are_enough_for_a_floor():
    results = given({"a": [1 / 2, 1.0], "b": [1 / 2, 1.0]}, "MRR")
    [check, _] = check_gate(compare(results), floors={"MRR": 3 / 4})
    assert (check.outcome, check.value) == ("passed", 3 / 4)


def test_missing_queries_are_undecidable_unless_they_are_allowed():
    half = evaluate(
        QRELS, {query: RUNS["old"][query] for query in list(QRELS)[::2]}, "MRR", name="half"
    )
    comparison = compare([result("old"), half], baseline="old", measures="MRR")
    lacks = "half lacks 20 of 40 judged queries. Complete the run"
    pair, floor = check_gate(comparison, floors={"MRR": 0.1})
    assert pair.reason.startswith(f"half vs old, MRR: {lacks}")
    assert floor.reason.startswith(f"half, MRR: {lacks}")
    for check in (pair, floor):
        assert check.outcome == "undecided"
        assert "accept that with allow_missing=True" in check.reason
        assert check.value is None
    [check] = check_gate(comparison, allow_missing=True)
    assert check.outcome == "failed"
    [check] = check_gate(compare([half, result("old")], baseline="half", measures="MRR"))
    assert check.outcome == "undecided"
    with pytest.raises(InputError, match="half lacks 20 of 40 judged queries"):
        assert_no_regression(half, result("old"), "MRR")
    with pytest.raises(AssertionError, match="half is worse than old"):
        assert_no_regression(half, result("old"), "MRR", allow_missing=True)


def test_an_empty_run_and_one_whose_ids_do_not_match_are_undecidable_whatever_is_allowed():
    empty = evaluate(QRELS, {query: {} for query in QRELS}, "MRR", name="empty")
    other = {query: {f"x_{doc}": score for doc, score in RUNS["old"][query].items()}
             for query in QRELS}  # fmt: skip
    with pytest.warns(BeirEvalWarning, match="do not match"):
        comparison = compare(
            [result("old"), empty, evaluate(QRELS, other, "MRR", name="other")],
            baseline="old",
            measures="MRR",
        )
    first, second = check_gate(comparison, allow_missing=True)
    assert (first.outcome, second.outcome) == ("undecided", "undecided")
    assert "the run of empty has no document for any judged query" in first.reason
    assert "the document ids of other do not match those of the qrels" in second.reason


def test_a_floor_is_a_ceiling_where_lower_is_better_and_needs_no_baseline():
    rows = {"fast": [1.0, 1.2] * 10, "slow": [2.0, 2.2] * 10}
    results = given(rows, "seconds", higher_is_better=False)
    fast, slow = check_gate(compare(results), floors={"seconds": 1.5})
    assert (fast.outcome, slow.outcome) == ("passed", "failed")
    assert "is above the ceiling 1.5" in slow.reason
    fast, slow = check_gate(compare(results), floors={"seconds": 1.11}, floor_interval=True)
    assert (fast.outcome, slow.outcome) == ("failed", "failed")


def test_a_floor_of_a_measure_that_a_result_does_not_hold_is_refused_if_queries_are_missing_too():
    half = {query: RUNS["old"][query] for query in list(QRELS)[::2]}
    with pytest.raises(NotEvaluatedError, match="Recall@5 was not evaluated for 'half'"):
        check_floors(evaluate(QRELS, half, "MRR", name="half"), {"Recall@5": 0.5})


def test_equal_scores_have_no_interval_that_a_floor_could_be_compared_with():
    scores, low = given({"perfect": [1.0] * 30, "low": [0.5] * 30}, "MRR")
    [check] = check_floors(scores, {"MRR": 0.95})
    assert (check.outcome, check.low, check.high) == ("passed", -math.inf, math.inf)
    assert "mean MRR 1.0000 (the same score on all 30 queries): the mean is not" in check.reason
    assert check_floors(scores, {"MRR": 0.95}, floor_interval=True)[0].outcome == "undecided"
    assert check_floors(low, {"MRR": 0.95}, floor_interval=True)[0].outcome == "failed"


@pytest.mark.parametrize("floor_interval", [False, True])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_system_exactly_at_its_floor_passes_and_a_step_of_rounding_beyond_it_fails(
    higher_is_better, floor_interval
):
    rows = dict.fromkeys("ab", [1 / 2, 1.0] * 10)
    comparison = compare(given(rows, "quality", higher_is_better=higher_is_better))
    mean = comparison.mean("quality", "a")

    def check_with(limit):
        settings = {"floors": {"quality": limit}, "floor_interval": floor_interval}
        return check_gate(comparison, **settings)[0]

    checked = check_with(0.0)
    assert (checked.rule, checked.against, checked.limit) == ("floor", None, 0.0)
    assert checked.value == (10 * 1 / 2 + 10 * 1) / 20
    assert (checked.low, checked.high) == pytest.approx((mean.low, mean.high))
    end = (checked.low if higher_is_better else checked.high) if floor_interval else checked.value
    beyond = np.nextafter(end, math.inf if higher_is_better else -math.inf)
    assert check_with(end).outcome == "passed"
    assert check_with(float(beyond)).outcome == "failed"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measures": []}, "checks nothing"),
        ({"floor_interval": True}, "floor_interval is about floors"),
        ({"floors": {"MRR": float("nan")}}, "must be a finite number, not nan"),
        ({"floors": {"MRR": 0.3, "RR": 0.4}}, "MRR has two floors, 0.3 and 0.4"),
        ({"floors": {"MRR": "high"}}, "must be a finite number, not 'high'"),
        ({"floors": {"RR": 45}}, "the floor of MRR must be between 0 and 1, not 45"),
        ({"floors": {"MRR": -0.1}}, "must be between 0 and 1, not -0.1"),
    ],
)
def test_a_gate_that_checks_nothing_or_no_number_is_an_error(settings, message):
    comparison = compare([result("old"), result("same")], baseline="old")
    with pytest.raises(SettingError, match=message):
        check_gate(comparison, **settings)


def test_a_failed_check_lists_the_queries_that_lost_most_in_every_output(files):
    options = ["--gate", "MRR", "-o", files / "g.md", "-o", files / "g.xml"]
    runs = [files / f"{name}.trec" for name in ("old", "worse", "better")]
    outcome = run_command(files / "qrels.trec", *runs, *options)
    comparison = compare([result(name) for name in ("old", "worse", "better")], baseline="old")
    worse, better = check_gate(comparison, "MRR")
    worst = comparison.regressions("MRR", 5, system="worse")
    assert [line.partition(":")[0] for line in worse.lost_most] == [loss.query_id for loss in worst]
    assert better.lost_most == ()
    named = [f"{loss.query_id} ({loss.difference:+.2f})" for loss in worst[:3]]
    sentence = f"worse loses most on {named[0]}, {named[1]} and {named[2]}."
    for text in (outcome.stdout, (files / "g.md").read_text()):
        assert text.count("loses most") == text.count(sentence) == 1
    [failure] = ET.parse(files / "g.xml").getroot().iter("failure")  # noqa: S314 - ours
    assert [line.strip() for line in failure.text.splitlines()[1:]] == list(worse.lost_most)


def test_only_queries_that_lost_something_lost_most():
    results = given({"old": [0.5] * 30, "new": [0.25, 0.0] + [0.5] * 28})
    [check] = check_gate(compare(results, baseline="old"), non_inferior=True)
    assert check.lost_most == ()  # it is undecided
    [check] = check_gate(compare(results, baseline="old", margin=0.1), non_inferior=True)
    assert check.lost_most == (
        "q01: 0.5000 -> 0.0000 (-0.5000)",
        "q00: 0.5000 -> 0.2500 (-0.2500)",
    )


def test_the_screen_of_a_gate_has_the_outcome_of_each_system():
    half = evaluate(QRELS, {q: RUNS["old"][q] for q in list(QRELS)[::2]}, "MRR", name="half")
    comparison = compare([result("old"), result("worse"), half], baseline="old", measures="MRR")
    document = gate_document(check_gate(comparison), comparison)
    assert [text.partition(": ")[0] for text, _ in document.sentences] == [
        "gate failed",
        "gate undecided",
    ]
    outcomes = {str(row[0]): str(row[-1]) for row in document.tables[0].rows}
    assert outcomes == {"old": "baseline", "worse": "failed", "half": "undecided"}


def test_a_failed_check_says_why_the_verdict_on_the_same_pair_is_undecided():
    nearly = [rank + (query < 5) for query, rank in enumerate(RANKS)]  # 5 losses: p = 1/32
    new = evaluate(QRELS, run_with_ranks(nearly), ["MRR"], name="new")
    comparison = compare([result("old"), new], baseline="old", measures="MRR")
    [check] = check_gate(comparison)
    assert (check.outcome, comparison.differences[0].verdict) == ("failed", "undecided")
    sentence = "The verdict on new (MRR) is undecided because its test is two-sided (p 0.0625)."
    assert sentence in comparison.model_copy(update={"gate": (check,)}).to_markdown()


def test_a_gate_needs_a_baseline():
    with pytest.raises(SettingError, match="needs a baseline"):
        check_gate(compare([result("old"), result("same")]))


def test_junit_has_a_case_for_every_check_and_holds_any_name():
    results = {"old": result("old"), 'a<b>&"\x00': result("worse"), "fine": result("better")}
    suite = ET.fromstring(to_junit(check_gate(compare(results, baseline="old"))))  # noqa: S314 - ours
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "2", "0"]
    names = [case.get("name") for case in suite]
    assert 'a<b>&"? against old' in names
    failed = [case for case in suite if case.find("failure") is not None]
    assert "worse than old (MRR, 40 queries): -0." in failed[0].find("failure").get("message")
    missing = evaluate(QRELS, {"q00": RUNS["old"]["q00"]}, "MRR", name="few")
    checks = check_gate(compare([result("old"), missing], baseline="old"), floors={"MRR": 0.2})
    suite = ET.fromstring(to_junit(checks))  # noqa: S314 - ours
    assert (suite.get("failures"), suite.get("errors")) == ("0", "2")
    assert {case.get("name") for case in suite} == {"few against old", "few against the floor 0.2"}
    assert all("judged queries. Complete" in case.find("error").get("message") for case in suite)


def test_assert_no_regression_fails_on_a_regression_and_names_the_queries():
    assert_no_regression(result("better"), result("old"), "MRR")
    with pytest.raises(
        AssertionError, match=r"(?s)worse is worse than old \(.*one-sided p.*lost most.*->"
    ) as caught:
        assert_no_regression(result("worse"), result("old"), "MRR")
    assert str(caught.value).count("->") == 5
    with pytest.raises(InputError, match=r"rule out only losses of 0\.0722"):
        assert_no_regression(result("same"), result("old"), "MRR", non_inferior=True)
    with pytest.raises(AssertionError, match=r"same is not shown to lose less than 0\.08"):
        assert_no_regression(result("same"), result("old"), "MRR", non_inferior=True, margin=0.08)


# The command


@pytest.fixture
def files(tmp_path):
    write_qrels(QRELS, tmp_path / "qrels.trec")
    for name, rankings in RUNS.items():
        write_run(rankings, tmp_path / f"{name}.trec")
    return tmp_path


def run_command(*arguments):
    return run("compare", *arguments)


def test_the_margin_of_non_inferiority_decides_the_exit_code(files):
    arguments = [files / "qrels.trec", files / "old.trec", files / "same.trec", "--gate", "MRR"]
    assert run_command(*arguments).exit_code == 0
    assert run_command(*arguments, "--non-inferior").exit_code == 2
    failed = run_command(*arguments, "--non-inferior", "--margin", "0.08")
    assert (failed.exit_code, "p, margin 0.08" in failed.output) == (1, True)
    assert run_command(*arguments, "--non-inferior", "--margin", "0.4").exit_code == 0
    output = refusal(run_command(*arguments, "--non-inferior", "--margin", "1"))
    assert "a margin of 1 is 100% of the range" in output


def test_saved_results_of_the_same_name_are_named_after_their_files(files):
    """They need only the measure of the gate."""
    for file, name in (("before", "old"), ("after", "worse")):
        evaluate(QRELS, RUNS[name], ["MRR"], name="bm25").save(files / f"{file}.json")
    outcome = run_command(files / "before.json", files / "after.json", "--gate", "MRR")
    assert outcome.exit_code == 1, outcome.output
    assert "gate failed: after is worse than before (MRR, 40 queries)" in output_of(outcome)
