"""Looks at one test set during a training run: their verdicts, and what a ledger refuses."""

import math
from dataclasses import asdict, fields

import numpy as np
import pytest

from beir_eval import EvaluationResult, evaluate
from beir_eval.comparison.ledger import Ledger, LedgerSettings, Look
from beir_eval.core.ids import hash_ids
from beir_eval.errors import (
    BeirEvalError,
    BeirEvalWarning,
    FileFormatError,
    InputError,
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    SettingError,
)
from beir_eval.significance import paired_t
from beir_eval.significance.sign_vectors import SignVectors
from ledger_results import BASELINE, CHECKPOINTS, DIGITS, checkpoint, with_hash
from made_results import MEASURE, made

START = with_hash(BASELINE, "start")
DRAWS = 1_999


def new_ledger(tmp_path, **settings):
    options = {"looks": 12, "draws": DRAWS} | settings
    return Ledger(tmp_path / "ledger.jsonl", START, MEASURE, **options)


# Verdicts


def naive_verdicts(gains, levels, alternative):
    """Return the verdicts of all looks, with the signs of all draws at hand."""
    keys = hash_ids(f"q{number:04}" for number in range(gains.shape[1]))
    blocks = SignVectors.choose(len(keys), DRAWS, 0).blocks(keys)
    signs = 2 * np.concatenate([block.copy() for block in blocks], axis=1) - 1
    if alternative == "greater":
        signs = np.concatenate([signs, -signs], axis=1)
    paths = np.concatenate([np.ones((len(keys), 1)), signs], axis=1)
    statistics = gains @ paths / np.sqrt((gains**2).sum(axis=1, keepdims=True))
    if alternative == "two-sided":
        statistics = np.abs(statistics)
    living, verdicts, num_spent = list(range(paths.shape[1])), [], 0
    for row, level in zip(statistics.round(9), levels, strict=True):
        allowed = math.floor(level * paths.shape[1] + 1e-9) - num_spent
        others = np.sort([row[path] for path in living if path])[::-1]
        verdicts.append(allowed > 0 and row[0] > others[allowed - 1])
        values = np.sort([row[path] for path in living])
        spent = [
            path for path in living if len(values) - np.searchsorted(values, row[path]) <= allowed
        ]
        living = [path for path in living if path not in spent]
        num_spent += len(spent)
    return verdicts


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_verdicts_are_those_of_the_joint_sign_flips_of_all_looks(tmp_path, alternative):
    ledger = new_ledger(tmp_path, alternative=alternative)
    looks = [ledger.record(checkpoint(number)) for number in range(12)]
    levels = [0.05 * (look + 1) / 12 for look in range(12)]
    expected = naive_verdicts(CHECKPOINTS - BASELINE, levels, alternative)
    assert [look.verdict == "better" for look in looks] == expected
    assert 0 < sum(expected) < 12
    assert ledger.looks == tuple(looks)


def test_a_look_has_the_numbers_of_a_paired_comparison(tmp_path):
    ledger = new_ledger(tmp_path)
    for number in range(3):
        look = ledger.record(checkpoint(number))
        differences = CHECKPOINTS[number] - BASELINE
        assert look.difference == pytest.approx(differences.mean())
        assert look.t == pytest.approx(paired_t(differences).statistic)
        counts = [(differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum()]
        assert [look.wins, look.ties, look.losses] == counts
        assert (look.number, look.step, look.num_queries) == (number + 1, f"step-{number}", 40)
        assert (abs(look.t) > look.critical_t) == (look.verdict != "undecided")
        assert look.alpha_spent <= look.level == pytest.approx(0.05 * (number + 1) / 12)


def test_a_worse_checkpoint_is_worse_and_never_so_if_only_better_can_be_decided(tmp_path):
    worse = with_hash(BASELINE - 0.1, "worse")
    assert new_ledger(tmp_path).record(worse).verdict == "worse"
    ledger = Ledger(tmp_path / "b", START, MEASURE, draws=DRAWS, alternative="greater")
    look = ledger.record(worse)
    assert look.verdict == "undecided"
    assert look.t < 0


def test_of_a_measure_for_which_lower_is_better_a_lower_score_is_better(tmp_path):
    def seconds(name, values):
        scores = {"seconds": {f"q{number}": value for number, value in enumerate(values)}}
        return EvaluationResult.from_scores(name, scores, higher_is_better=False)

    start = seconds("start", BASELINE)
    ledger = Ledger(tmp_path / "l", start, "seconds", draws=DRAWS, alternative="greater")
    faster, slower = (
        ledger.record(seconds(name, BASELINE + shift + 0.01 * np.sin(np.arange(40))))
        for name, shift in (("fast", -0.1), ("slow", 0.1))
    )
    assert (faster.verdict, slower.verdict) == ("better", "undecided")
    assert faster.difference == pytest.approx(-0.1, abs=0.01)
    assert faster.t < 0 < slower.t
    assert faster.wins == 40
    assert any("computed elsewhere" in note for note in ledger.notes())
    assert any("symmetric about 0, the chance" in note for note in ledger.notes())
    assert any("below 0 is better" in note for note in ledger.notes())


def test_equal_differences_have_an_infinite_t_and_equal_scores_no_verdict(tmp_path):
    ledger = new_ledger(tmp_path)
    shifted = ledger.record(with_hash(BASELINE + 0.125, "shifted"))
    assert shifted.t == math.inf
    assert shifted.verdict == "better"
    same = ledger.record(with_hash(BASELINE, "same"))
    assert (same.verdict, same.bound, same.t, same.ties) == ("undecided", None, 0.0, 40)
    for words in ("look 2 of 12: 0.0000", "t = 0.0", "undecided", "no verdict was possible"):
        assert words in str(same)


def test_scores_that_differ_by_rounding_only_are_equal(tmp_path):
    look = new_ledger(tmp_path).record(with_hash(BASELINE * (1 + 1e-15), "rounded"))
    assert look.ties == 40


def test_a_query_without_a_score_is_left_out_of_its_look(tmp_path):
    ledger = new_ledger(tmp_path)
    scores = CHECKPOINTS[5].copy()
    scores[3] = math.nan
    look = ledger.record(with_hash(scores, "undefined"))
    assert look.num_queries == 39
    assert look.t == pytest.approx(paired_t(np.delete(CHECKPOINTS[5] - BASELINE, 3)).statistic)
    with pytest.raises(InputError, match="a comparison needs two or more"):
        ledger.record(with_hash([*scores[:1], *[math.nan] * 39], "almost all undefined"))


@pytest.mark.parametrize(
    ("t", "critical", "texts"),
    [(2.1, 2.9, ("2.1", "2.9")), (2.94, 2.92, ("2.94", "2.92")), (-2.94, 2.92, ("-2.94", "2.92"))],
)
def test_t_has_as_many_decimals_as_tell_it_from_the_value_that_decides(t, critical, texts):
    def statistic(value):
        return value / math.sqrt((299 + value**2) / 300)

    look = Look(
        number=7, planned=50, step="s", difference=math.copysign(0.012, t),
        statistic=statistic(abs(t)), bound=statistic(critical), verdict="undecided", level=0.1,
        alpha_spent=0.1, num_spent=1, spent=(), wins=1, ties=0, losses=0, num_queries=300,
        margin=0.01, scores_sha256="",
    )  # fmt: skip
    assert (look.t_text, look.critical_text) == texts
    assert look.t == pytest.approx(t)
    assert look.critical_t == pytest.approx(critical)


def test_a_decided_difference_below_the_margin_is_better_by_less_than_it(tmp_path):
    ledger = new_ledger(tmp_path, margin=0.05)
    look = ledger.record(with_hash(BASELINE + 0.02, "small"))
    assert "better by less than 0.05 (estimated)" in str(look)
    assert look.verdict == "better"


# Plans


def test_check_refuses_what_record_would_refuse_for_any_scores_and_records_nothing(tmp_path):
    ledger = new_ledger(tmp_path, looks=2)
    ledger.record(checkpoint(0))
    zeros = with_hash(0 * BASELINE, "zeros")
    ledger.check(zeros, ["step-0", "step-1"])
    ledger.check(zeros, [])
    with pytest.raises(ResultError, match="2 checkpoints are new, but of 2 planned looks 1 are"):
        ledger.check(zeros, ["step-1", "step-0", "step-2"])
    for wrong, error in (
        (with_hash(BASELINE, "other", digits=DIGITS[::-1]), ResultError),
        (with_hash(BASELINE[:30], "fewer"), QueryMismatchError),
        (made(BASELINE, "without"), ResultError),
        ("result", ResultError),
    ):
        with pytest.raises(error) as expected:
            ledger.record(wrong)
        with pytest.raises(error) as caught:
            ledger.check(wrong, ["step-1"])
        assert str(caught.value) == str(expected.value)
    assert len(ledger.looks) == 1
    ledger.record(checkpoint(1))
    ledger.check(zeros, ["step-1", "step-0"])
    with pytest.raises(ResultError, match="all 2 planned looks are used up"):
        ledger.check(zeros, ["step-2"])
    Ledger(tmp_path / "open", START, MEASURE, looks=None).check(
        zeros, [str(number) for number in range(99)]
    )


def test_a_look_beyond_the_plan_is_refused_or_spends_the_reserve(tmp_path):
    ledger = new_ledger(tmp_path, looks=2)
    for number in range(2):
        ledger.record(checkpoint(number))
    with pytest.raises(ResultError, match="all 2 planned looks are used up"):
        ledger.record(checkpoint(2))
    assert ledger.record(checkpoint(1)).number == 2
    reserved = Ledger(tmp_path / "r", START, MEASURE, looks=2, reserve=0.5, draws=DRAWS)
    looks = [reserved.record(checkpoint(number)) for number in range(4)]
    levels = [look.level for look in looks]
    assert levels[:2] == pytest.approx([0.0125, 0.025])
    assert 0.025 < levels[2] < levels[3] < 0.05
    assert str(looks[1]).startswith("look 2 of 2: ")
    assert str(looks[2]).startswith("look 3 (2 planned): ")


def test_an_open_ended_ledger_takes_any_number_of_looks(tmp_path):
    ledger = new_ledger(tmp_path, looks=None)
    looks = [ledger.record(checkpoint(number)) for number in range(15)]
    assert looks[-1].level < 0.05
    assert str(looks[-1]).startswith("look 15: ")


# What is refused


def test_the_same_step_with_the_same_scores_is_not_counted_again(tmp_path):
    ledger = new_ledger(tmp_path)
    first = ledger.record(checkpoint(0))
    second = ledger.record(checkpoint(1), step=100)
    assert ledger.record(checkpoint(0)) == first
    assert ledger.record(checkpoint(1), step="100") == second
    assert len(ledger.looks) == 2
    with pytest.raises(ResultError, match=r"'step-0' is recorded with other scores, as look 1"):
        ledger.record(checkpoint(2), step="step-0")
    assert ledger.record(checkpoint(0), step="trained again").number == 3


def test_the_order_of_the_queries_in_a_result_does_not_matter(tmp_path):
    ledger = new_ledger(tmp_path)
    qrels = {f"q{number:04}": {"a": 1} for number in range(40)}
    runs = [{query: {"a": 1.0, "b": 2.0 * (number % 3 > 0)} for number, query in enumerate(qrels)}]
    runs.append(dict(reversed(runs[0].items())))
    judgements = [qrels, dict(reversed(qrels.items()))]
    looks = []
    for run, judged in zip(runs, judgements, strict=True):
        result = evaluate(judged, run, [MEASURE], name="s").model_copy(
            update={"provenance": START.provenance}
        )
        looks.append(ledger.record(result))
    assert looks[0] == looks[1]
    assert len(ledger.looks) == 1


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (with_hash(BASELINE, "s", "f" * 64), ResultError, "is of another test set"),
        (made(BASELINE, "s"), ResultError, r"evaluate\(\.\.\., fingerprint=True\)"),
        (with_hash(BASELINE[:39], "s"), QueryMismatchError, "evaluated on different queries"),
        (
            with_hash(BASELINE, "s", measures=["MRR"]),
            NotEvaluatedError,
            "nDCG@10 was not evaluated for 's'",
        ),
        (BASELINE, ResultError, "result must be an EvaluationResult"),
        (None, ResultError, "result must be an EvaluationResult"),
        (
            EvaluationResult.from_scores("s", {MEASURE: {"q0000": 0.5, "q0001": 0.5}}),
            ResultError,
            "the scores of 's' were computed elsewhere, those of 'start' were not",
        ),
    ],
)
def test_another_test_set_or_measure_is_refused(tmp_path, result, error, message):
    ledger = new_ledger(tmp_path)
    before = ledger.path.read_bytes()
    with pytest.raises(error, match=message):
        ledger.record(result)
    assert ledger.path.read_bytes() == before


def test_other_settings_of_the_evaluation_are_refused(tmp_path):
    ledger = new_ledger(tmp_path)
    qrels = {f"q{number:04}": {"a": 1} for number in range(40)}
    result = evaluate(qrels, {query: {"a": 1.0} for query in qrels}, [MEASURE], ties="worst")
    result = result.model_copy(update={"provenance": START.provenance})
    with pytest.raises(ResultError, match="ties='trec_eval9' and 'worst'"):
        ledger.record(result)


@pytest.mark.parametrize("step", [1.5, b"x", "", ["a"], "\ud800", True])
def test_a_step_is_text_or_a_whole_number(tmp_path, step):
    with pytest.raises(SettingError, match="step must be"):
        new_ledger(tmp_path).record(checkpoint(0), step=step)


def test_a_ledger_is_opened_again_with_everything_it_was_created_with(tmp_path):
    ledger = new_ledger(tmp_path, reserve=0.2, margin=0.02, alternative="greater", rng=3)
    ledger.record(checkpoint(0))
    again = Ledger.open(ledger.path)
    assert again.settings == ledger.settings
    assert again.baseline == ledger.baseline
    assert again.measure == MEASURE
    assert again.looks == ledger.looks
    same = Ledger(ledger.path, START, "ndcg_cut_10", **asdict(ledger.settings))
    assert same.record(checkpoint(1)).number == 2
    assert [look.number for look in ledger.looks] == [1, 2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("looks", 20), ("looks", None), ("reserve", 0.1), ("margin", 0.02), ("alpha", 0.1),
        ("alternative", "greater"), ("draws", 3_000), ("rng", 1),
    ],
)  # fmt: skip
def test_another_setting_is_refused_with_both_values(tmp_path, name, value):
    ledger = new_ledger(tmp_path)
    held = asdict(ledger.settings)[name]
    with pytest.raises(SettingError, match=f"the ledger has {name}={held!r}, not {value!r}"):
        new_ledger(tmp_path, **{name: value})


@pytest.mark.parametrize(
    ("baseline", "measure", "message"),
    [
        (with_hash(BASELINE, "other"), MEASURE, "the baseline of the ledger is 'start', not 'oth"),
        (with_hash(BASELINE + 0.01, "start"), MEASURE, "has other scores than that of the ledger"),
        (with_hash(BASELINE[:30], "start"), MEASURE, "has other query ids than that of the led"),
        (with_hash(BASELINE, "start", "f" * 64), MEASURE, "is of another test set"),
        (with_hash(BASELINE, "start", measures=["MRR"]), "MRR", "the ledger is for nDCG@10, not f"),
    ],
)
def test_another_baseline_or_measure_is_refused(tmp_path, baseline, measure, message):
    new_ledger(tmp_path)
    with pytest.raises(ResultError, match=message):
        Ledger(tmp_path / "ledger.jsonl", baseline, measure, looks=12, draws=DRAWS)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"baseline": made(BASELINE)}, ResultError, "fingerprint=True"),
        ({"baseline": "bm25"}, ResultError, "baseline must be an EvaluationResult"),
        ({"measure": "MRR"}, NotEvaluatedError, "MRR was not evaluated for 'start'"),
        ({"measure": "nDGC@10"}, MeasureError, "nDGC"),
        ({"measure": [MEASURE, "MRR"]}, SettingError, "a ledger has one measure, not 2"),
        ({"path": 3}, InputError, "must be text or a Path"),
        ({"looks": 0}, SettingError, "looks must be a whole number above 0"),
        ({"looks": 2.5}, SettingError, "looks must be a whole number above 0"),
        ({"reserve": 1}, SettingError, "reserve must be a number from 0 to below 1"),
        ({"margin": -1}, SettingError, "margin must be a number above 0"),
        ({"alpha": 2}, SettingError, "alpha must lie between 0 and 1"),
        ({"alternative": "less"}, SettingError, "choose one of 'two-sided', 'greater'"),
        ({"draws": 18}, SettingError, "with fewer than 19"),
        ({"draws": 10**9}, SettingError, "draws must be at most 10,000,000"),
        ({"rng": -1}, SettingError, "rng must be a seed"),
    ],
)
def test_invalid_arguments_create_no_file(tmp_path, arguments, error, message):
    valid = {"path": tmp_path / "ledger.jsonl", "baseline": START, "measure": MEASURE}
    with pytest.raises(error, match=message):
        Ledger(**(valid | arguments))
    assert list(tmp_path.iterdir()) == []


def test_exactly_the_fewest_draws_that_can_give_a_verdict_are_enough(tmp_path):
    ledger = Ledger(tmp_path / "l", START, MEASURE, draws=19)  # p can be 1 / (19 + 1) = 0.05
    assert ledger.settings.draws == 19


ODD_OBJECTS = [
    None, 3, -1, True, 0.5, math.nan, 10**5000, "", "x", "a\0b", "\ud800", b"x", object(), [], {},
    np.array([1, 2]), {"a": 3},
]  # fmt: skip


@pytest.mark.parametrize(
    "argument", ["baseline", "measure", *(field.name for field in fields(LedgerSettings)), "step"]
)
def test_an_odd_argument_raises_an_error_of_this_package(tmp_path, argument):
    for number, odd in enumerate(ODD_OBJECTS):
        arguments = {"baseline": START, "measure": MEASURE, "draws": DRAWS, "step": "s"}
        arguments[argument] = odd
        step = arguments.pop("step")
        message = ""
        try:
            Ledger(tmp_path / f"l{number}", **arguments).record(checkpoint(0), step)
        except BeirEvalError as error:
            message = str(error)
        assert len(message) < 1_000


def test_settings_are_stored_as_plain_numbers():
    settings = LedgerSettings(looks=np.int64(9), alpha=np.float64(0.1), rng=np.int32(2))
    assert all(type(value) in {int, float, str} for value in asdict(settings).values())


# Output


def test_every_output_has_the_looks_and_says_when_they_hold(tmp_path):
    ledger = new_ledger(tmp_path)
    looks = [ledger.record(checkpoint(number)) for number in (0, 11)]
    for text in (str(ledger), ledger.to_markdown()):
        for look in looks:
            assert look.step in text
            assert look.t_text in text
            assert look.critical_text in text
        assert "only if training does not react to what the ledger prints" in text
        assert "2 looks so far, of 12 planned looks" in text
    assert "step-11" in ledger._repr_html_()
    assert [row[0] for row in ledger.to_table().rows] == ["1", "2"]
    assert repr(ledger).startswith("Ledger(")


def test_missing_queries_of_a_checkpoint_are_said_in_every_output(tmp_path):
    qrels = {f"q{number:04}": {"a": 1} for number in range(40)}
    whole = {query: {"a": 1.0} for query in qrels}
    start, partial = (
        evaluate(qrels, run, [MEASURE], name=name, fingerprint=True)
        for name, run in (("start", whole), ("half", dict(list(whole.items())[:20])))
    )
    ledger = Ledger(tmp_path / "l", start, MEASURE, draws=DRAWS)
    look = ledger.record(partial)
    [warning] = look.warnings
    assert warning.startswith("half: 20 of 40 judged queries are missing")
    assert warning in str(ledger)
    assert ledger.warnings() == [warning]
    with pytest.warns(BeirEvalWarning, match="unmatched: "):
        ledger.record(
            evaluate(
                qrels,
                {query: {"zz1": 1.0} for query in qrels},
                [MEASURE],
                name="unmatched",
                fingerprint=True,
            )
        )


def test_the_digits_of_both_test_sets_are_named(tmp_path):
    with pytest.raises(ResultError, match=f"{'f' * 12}…, that of the ledger's {DIGITS[:12]}…"):
        new_ledger(tmp_path).record(with_hash(BASELINE, "s", "f" * 64))


def test_another_file_is_no_ledger(tmp_path):
    START.save(tmp_path / "result.json")
    with pytest.raises(FileFormatError, match="this is a saved result, not a ledger"):
        Ledger.open(tmp_path / "result.json")
    with pytest.raises(FileNotFoundError):
        Ledger.open(tmp_path / "absent")
