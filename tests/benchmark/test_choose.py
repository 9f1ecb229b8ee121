"""``choose``: what is chosen, with which test, on which queries, and what is refused."""

import numpy as np
import pytest

from beir_eval import EvaluationResult, choose, compare
from beir_eval.benchmark import ChoiceResult, compare_benchmark
from beir_eval.errors import InputError, QueryMismatchError, ResultError, SettingError
from made_results import MEASURE, made


def made_scores(num_queries=60, gains=(0.0, 0.02, 0.2), seed=0):
    """Return {name: scores}: a baseline, and candidates that gain about so much."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 0.6, num_queries)
    noisy = {
        f"c{number}": np.clip(base + rng.normal(gain, 0.1, num_queries), 0, 1)
        for number, gain in enumerate(gains)
    }
    return {"base": base} | noisy


def results_of(scores, prefix="q"):
    return {name: made(row, name, prefix=prefix) for name, row in scores.items()}


SCORES = made_scores()
RESULTS = results_of(SCORES)


def test_the_best_is_chosen_and_its_test_chooses_again():
    choice = choose(RESULTS, "base", MEASURE)
    gains = np.array([SCORES[name] - SCORES["base"] for name in ("c0", "c1", "c2", "base")])
    assert (choice.candidate, choice.against, choice.verdict) == ("c2", "base", "better")
    assert choice.in_sample == pytest.approx(gains[2].mean())
    assert choice.chosen_in == {"c2": 500}
    assert choice.held_out == pytest.approx(choice.in_sample)
    assert choice.low > 0
    assert "99.5% interval" in str(choose(RESULTS, "base", MEASURE, alpha=0.005))
    first, *_, last = str(choice).splitlines()
    assert first == f"{MEASURE}, 60 queries: c2, the highest of 3, is better than base"
    query, loss = choice.largest_loss
    assert loss == pytest.approx(gains[2].min())
    assert last == f"c2 loses most on {query} ({loss:+.2f})."
    assert "The same was chosen in every part" in str(choice)
    assert "Better means p of at most 0.025" in str(choice)


def test_no_gain_is_never_worse_and_says_on_which_queries():
    choice = choose(results_of(made_scores(gains=(-0.002, -0.001, 0.001))), "base", MEASURE)
    assert choice.verdict == "undecided"
    assert "no gain over base is shown on queries that did not choose it" in str(choice)
    (first, most), (second, fewer), *_ = sorted(choice.chosen_in.items(), key=lambda row: -row[1])
    assert "Of 500 choices, each on a part of the queries" in str(choice)
    assert f"{most} fell on {first}, {fewer} on {second}" in str(choice)
    worse = choose(results_of(made_scores(gains=(-0.3, -0.2))), "base", MEASURE)
    assert (worse.verdict, worse.candidate) == ("undecided", "base")
    assert "none of 2 has a better mean than base" in str(worse)
    assert "worse" not in str(worse)


def test_every_baseline_must_be_beaten():
    scores = made_scores(gains=(0.19, 0.2, 0.21))
    scores["strong"] = scores["base"] + 0.2
    choice = choose(results_of(scores), ["base", "strong"], MEASURE)
    alone = {
        name: choose(results_of({k: v for k, v in scores.items() if k != other}), name, MEASURE)
        for name, other in (("base", "strong"), ("strong", "base"))
    }
    assert (choice.against, choice.verdict) == ("strong", "undecided")
    assert choice.p == max(of_one.p for of_one in alone.values()) == alone["strong"].p
    assert alone["base"].verdict == "better"
    dev = {name: made(row, name, prefix="dev") for name, row in scores.items()}
    on_dev = choose(results_of(scores), ["base", "strong", "base"], MEASURE, dev=dev)
    for of_several in (choice, on_dev):
        assert of_several.baselines == ("base", "strong")
        assert "Better means better than each of 'base', 'strong'." in str(of_several)


def test_dev_chooses_and_the_others_are_an_ordinary_comparison():
    dev = results_of(made_scores(40, (0.1, 0.3, 0.0), seed=1), prefix="dev")
    choice = choose(RESULTS, "base", MEASURE, dev=dev)
    assert choice.candidate == "c1"
    expected = compare({name: RESULTS[name] for name in ("c1", "base")}, MEASURE, baseline="base")
    assert choice.comparison.differences == expected.differences
    pair = expected.differences[0]
    assert (choice.verdict, choice.p, choice.held_out) == (pair.verdict, pair.p, pair.difference)
    assert (choice.num_chose, choice.num_queries) == (40, 60)
    chosen = f"c1, the best of 3 (gain over base there: {choice.in_sample:+.4f})."
    assert str(choice).splitlines()[1] == f"Chosen on 40 other queries: {chosen}"
    with pytest.raises(InputError, match="60 queries choose and are compared: "):
        choose(RESULTS, "base", MEASURE, dev=RESULTS)
    with pytest.raises(InputError, match="60 queries choose and are compared: "):
        choose(
            RESULTS, "base", MEASURE, dev={name: {"x": result} for name, result in RESULTS.items()}
        )
    assert ChoiceResult.model_validate_json(choice.model_dump_json()) == choice
    without = {name: RESULTS[name] for name in ("base", "c0", "c1")}
    for pair in ((without, dev), (RESULTS, {name: dev[name] for name in without})):
        with pytest.raises(ResultError, match=r"results and dev need the same systems.* 'c2'"):
            choose(pair[0], "base", MEASURE, dev=pair[1])
    with pytest.raises(SettingError, match="4 sign vectors are too few"):
        choose(RESULTS, "base", MEASURE, dev=dev, draws=4)


def several(prefix="q", seeds=(3, 4)):
    tables = [made_scores(size, seed=seed) for size, seed in zip((30, 90), seeds, strict=True)]
    names = ("one", "two")
    return {
        system: {
            name: made(table[system], system, prefix=prefix)
            for name, table in zip(names, tables, strict=True)
        }
        for system in tables[0]
    }, tables


def test_several_data_sets_choose_one_candidate_by_the_unweighted_average():
    results, tables = several()
    choice = choose(results, "base", MEASURE)
    gains = [table["c2"] - table["base"] for table in tables]
    assert choice.in_sample == pytest.approx(np.mean([gain.mean() for gain in gains]))
    assert choice.by_dataset == pytest.approx(
        {name: gain.mean() for name, gain in zip(("one", "two"), gains, strict=True)}
    )
    assert choice.num_queries == 120
    assert "2 data sets, 120 queries: c2, the highest of 3, is better than base" in str(choice)
    dev, _ = several("dev", (5, 6))
    on_dev = choose(results, "base", MEASURE, dev=dev)
    pair = {name: results[name] for name in ("c2", "base")}
    assert on_dev.comparison == compare_benchmark(pair, MEASURE, baseline="base")
    renamed = {
        system: {f"{name}-copy": result for name, result in by_dataset.items()}
        for system, by_dataset in results.items()
    }
    for same in (results, renamed):
        with pytest.raises(InputError, match="120 queries choose and are compared: 'one"):
            choose(results, "base", MEASURE, dev=same)
    alone = {system: {"one": by_dataset["one"]} for system, by_dataset in results.items()}
    assert ", 1 data set, 30 queries" in str(choose(alone, "base", MEASURE))


def test_a_constant_for_all_systems_and_their_order_change_nothing():
    choice = choose(RESULTS, "base", MEASURE)
    raised = results_of({name: row / 2 + 0.1 for name, row in SCORES.items()})
    halved = choose(raised, "base", MEASURE)
    assert (halved.p, halved.chosen_in) == (choice.p, choice.chosen_in)
    assert halved.held_out == pytest.approx(choice.held_out / 2)
    backwards = choose(dict(reversed(RESULTS.items())), "base", MEASURE)
    assert (backwards.p, backwards.candidate) == (choice.p, choice.candidate)


def test_related_queries_are_in_one_part_with_one_sign():
    clusters = {f"q{number:03}": f"t{number // 2}" for number in range(60)}
    ids = RESULTS["base"].query_ids
    labels = {query: clusters[f"q{number:03}"] for number, query in enumerate(sorted(ids))}
    choice = choose(RESULTS, "base", MEASURE, clusters=labels)
    assert choice.p >= choose(RESULTS, "base", MEASURE).p
    assert choice.largest_loss == choose(RESULTS, "base", MEASURE).largest_loss
    assert str(choice).startswith(f"{MEASURE}, 60 queries in 30 clusters: c2")
    with pytest.raises(InputError, match=r"fewer than 6 clusters \(2\) decide nothing"):
        choose(RESULTS, "base", MEASURE, clusters={query: int(query[-1] > "4") for query in ids})
    with pytest.raises(SettingError, match="clusters are for one data set"):
        choose(several()[0], "base", MEASURE, clusters=labels)


def seconds_of(scores, prefix, *, higher_is_better=False):
    return {
        name: EvaluationResult.from_scores(
            name,
            {"seconds": {f"{prefix}{number}": 2 - score for number, score in enumerate(row)}},
            higher_is_better=higher_is_better,
        )
        for name, row in scores.items()
    }


def test_where_lower_is_better_the_lowest_is_chosen_and_every_gain_is_positive():
    results, dev = seconds_of(SCORES, "q"), seconds_of(made_scores(40, seed=1), "dev")
    alone = choose(results, "base", "seconds")
    on_dev = choose(results, "base", "seconds", dev=dev)
    for choice in (alone, on_dev):
        assert (choice.candidate, choice.verdict) == ("c2", "better")
        assert choice.in_sample > 0
        assert 0 < choice.low < choice.held_out < choice.high
        assert str(choice).startswith("seconds (lower is better), 60 queries: ")
    assert "c2, the lowest of 3, is better than base" in str(alone)
    assert on_dev.held_out == pytest.approx(alone.in_sample)
    assert "gain over base there: +" in str(on_dev)
    assert alone.largest_loss[1] < 0
    with pytest.raises(ResultError, match="'results' and 'dev' state different scales"):
        choose(results, "base", "seconds", dev=seconds_of(SCORES, "dev", higher_is_better=True))


def test_of_baselines_with_the_same_p_the_strongest_is_named_whatever_their_order():
    scores = made_scores(gains=(0.4, 0.4, 0.4))
    scores["strong"] = scores["base"] + 0.05
    dev = results_of(made_scores(40, (0.4, 0.4, 0.4), seed=1), prefix="dev")
    dev["strong"] = dev["base"]
    for baselines in (["base", "strong"], ["strong", "base"]):
        for others in (None, dev):
            choice = choose(results_of(scores), baselines, MEASURE, dev=others)
            assert (choice.against, choice.verdict) == ("strong", "better")


def test_queries_without_a_score_of_every_system_are_counted():
    rows = {"c0": SCORES["c0"].copy(), **{name: SCORES[name] for name in ("base", "c1", "c2")}}
    rows["c0"][:3] = np.nan
    choice = choose(results_of(rows), "base", MEASURE)
    assert (choice.num_queries, choice.left_out) == (57, 3)
    words = "3 queries without a score of every system: left out of the choice"
    dev = {name: made(row, name, prefix="dev") for name, row in rows.items()}
    for of_either in (choice, choose(RESULTS, "base", MEASURE, dev=dev)):
        assert of_either.warnings() == [words]


def test_names_that_differ_in_a_seed_are_warned_of():
    renamed = dict(zip(("base", "m-seed1", "m-seed2", "n"), RESULTS.values(), strict=True))
    choice = choose(renamed, "base", MEASURE)
    assert "'m-seed1', 'm-seed2' differ in a seed only" in choice.warnings()[0]
    for names in (RESULTS, ("base", "run1", "run2", "n")):  # names of TREC are no repeats
        others = dict(zip(names, RESULTS.values(), strict=True))
        assert choose(others, "base", MEASURE).warnings() == []


FEWER = RESULTS | {"c0": made(SCORES["c0"][:50], "c0")}
GAP = several()[0] | {"c0": {"one": several()[0]["c0"]["one"]}}


@pytest.mark.parametrize(
    ("results", "baseline", "settings", "error", "words"),
    [
        (RESULTS, "none", {}, SettingError, "there is no system 'none'"),
        (RESULTS, [], {}, InputError, "a baseline and two candidates"),
        (RESULTS, ["base", "c0", "c1"], {}, InputError, "two candidates or more, not 'c2'"),
        (results_of(made_scores(29)), "base", {}, InputError, "29 queries are too few"),
        (RESULTS, "base", {"draws": 30}, SettingError, "it takes 39 draws or more"),
        (RESULTS, "base", {"alpha": 0.5}, SettingError, "alpha must lie below 0.5"),
        (RESULTS, "base", {"dev": {"x": RESULTS["base"]}}, ResultError, "^dev: two systems"),
        (RESULTS | {"c0": [RESULTS["c0"]] * 2}, "base", {}, ResultError, "not repeats .* for 'c0'"),
        ({"q1": {"a": 1}, "q2": {"a": 1}}, "q1", {}, ResultError, "as for 'q1, a', 'q2, a'"),
        (RESULTS, RESULTS["base"], {}, SettingError, "must be the name of a system"),
        (FEWER, "base", {}, QueryMismatchError, r"Beyond the 50 .*, those of the same qrels$"),
        (GAP, "base", {}, ResultError, "Evaluate them$"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(results, baseline, settings, error, words):
    with pytest.raises(error, match=words):
        choose(results, baseline, MEASURE, **settings)
