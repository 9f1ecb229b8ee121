"""What a comparison takes as a sample: repeats, and clusters of queries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beir_eval import Comparison, EvaluationResult, compare, compare_slices
from beir_eval.comparison import check_gate
from beir_eval.comparison.limits import chances_of
from beir_eval.errors import BeirEvalWarning, InputError, ResultError, SettingError
from beir_eval.significance import crossed_tests, sign_flip
from made_results import made

MEASURE = "nDCG@10"
QUERIES = [f"q{number:03}" for number in range(60)]
RNG = np.random.default_rng(0)
BASE = RNG.uniform(0.3, 0.7, len(QUERIES))


def scored(name, shift=0.0, noise=0.05, *, seed=0, seed_shift=0.0, base=BASE):
    """Return a result with scores about those of the base."""
    scores = base + shift + seed_shift + noise * np.random.default_rng(seed).normal(size=len(base))
    by_query = dict(zip(QUERIES, np.clip(scores, 0, 1).tolist(), strict=True))
    return EvaluationResult.from_scores(name, {MEASURE: by_query})


def seeds(name, shifts, shift=0.0, first_seed=0):
    """Return the repeats of a system; each number shifts the scores of one repeat."""
    return [
        scored(f"{name}{index}", shift, seed=first_seed + index, seed_shift=seed_shift)
        for index, seed_shift in enumerate(shifts)
    ]


SWINGS = (-0.04, 0.0, 0.04)
CLUSTERS = {query: f"topic {index // 5}" for index, query in enumerate(QUERIES)}
UNEQUAL = np.repeat(range(10), (1, 1, 1, 2, 2, 3, 4, 6, 15, 25)).tolist()
UNEQUAL_CLUSTERS = dict(zip(QUERIES, UNEQUAL, strict=True))


def array_of(results):
    return np.array([result.scores(MEASURE) for result in results])


# Repeats


def test_with_two_repeats_of_every_system_p_is_over_queries_and_repeats():
    systems = {"a": seeds("a", SWINGS, 0.04), "b": seeds("b", SWINGS, 0.0, 10)}
    comparison = compare(systems, baseline="b")
    pair = comparison.difference(MEASURE, "a")
    tests = crossed_tests([array_of(systems["a"]), array_of(systems["b"])], [(0, 1)])
    assert comparison.settings.repeats == "random"
    assert pair.p == pytest.approx(tests.p()[0])
    assert pair.p_queries < 0.001 < pair.p
    assert pair.verdict == "undecided"
    assert pair.repeat_variance == pytest.approx(tests.repeat_variances[0])
    averaged = compare(systems, baseline="b", repeats="averaged").difference(MEASURE, "a")
    assert averaged.verdict == "better"
    assert averaged.p == pair.p_queries
    # The noise that would undo the verdict is below the noise that there is.
    assert averaged.noise_to_undo < pair.repeat_deviation


def test_equal_repeats_have_the_p_over_queries_and_no_narrower_interval():
    """A t interval over queries and repeats is narrower here than that of the sign-flip test."""
    shifts = {"a": 0.02, "b": 0.0, "c": 0.01}
    systems = {
        name: [scored(name, shift, seed=seed)] * 3
        for seed, (name, shift) in enumerate(shifts.items(), start=1)
    }
    both, averaged = (
        compare(systems, baseline="b", repeats=kind, correction="holm").differences
        for kind in ("random", "averaged")
    )
    for pair, alone in zip(both, averaged, strict=True):
        assert pair.p_queries == alone.p_corrected
        assert pair.low <= alone.low < alone.high <= pair.high
    assert (both[0].low, both[0].high) == (averaged[0].low, averaged[0].high)


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(
    shift=st.sampled_from([0.0, 0.03, 0.06, 0.2]),
    swing=st.sampled_from([0.0, 0.01, 0.05]),
    correction=st.sampled_from([None, "holm", "bonferroni", "none"]),
    kind=st.sampled_from(["random", "paired"]),
    test=st.sampled_from(["sign_flip", "t"]),
)
def test_verdict_and_interval_agree_over_repeats(shift, swing, correction, kind, test):
    swings = (-swing, swing)
    systems = {
        "a": seeds("a", swings, shift),
        "b": seeds("b", swings, 0.0, 10),
        "c": seeds("c", swings, shift / 2, 20),
    }
    comparison = compare(
        systems, baseline="b", repeats=kind, correction=correction, test=test, draws=999
    )
    for pair in comparison.differences:
        is_decided = pair.verdict in ("better", "worse")
        assert is_decided == (pair.low > 0 or pair.high < 0)
        assert pair.p_queries <= pair.p_corrected


def test_a_deterministic_system_may_have_one_run():
    systems = {"bm25": scored("bm25"), "dense": seeds("dense", SWINGS, 0.05, 10)}
    assert compare(systems, baseline="bm25").settings.repeats == "averaged"
    with pytest.raises(SettingError, match="'bm25': one run shows nothing about the noise"):
        compare(systems, baseline="bm25", repeats="random")
    comparison = compare(systems, baseline="bm25", deterministic=["bm25"])
    assert comparison.settings.repeats == "random"
    tests = crossed_tests(
        [array_of([systems["bm25"]]), array_of(systems["dense"])], [(1, 0)], deterministic=[0]
    )
    pair = comparison.difference(MEASURE, "dense")
    assert pair.repeat_variance == pytest.approx(tests.repeat_variances[0])


def test_one_run_each_says_which_noise_of_training_would_undo_the_verdict_in_one_line():
    systems = {"a": scored("a", 0.05), "b": scored("b", seed=1)}
    comparison = compare(systems, baseline="b")
    noise = comparison.difference(MEASURE, "a").noise_to_undo
    [note] = [note for note in comparison.notes() if "raining noise" in note]
    end = f"would make a vs b on {MEASURE} undecided"
    assert note == f"Training noise of SD {noise:.2g} in each run {end}"
    none = compare(systems, baseline="b", deterministic=["a", "b"])
    assert none.difference(MEASURE, "a").noise_to_undo is None
    assert not any("raining noise" in note for note in none.notes())


def test_that_noise_makes_the_difference_of_two_such_systems_undecided():
    first, second = scored("a", 0.05), scored("b", seed=1)
    noise = compare({"a": first, "b": second}, baseline="b").difference(MEASURE, "a").noise_to_undo
    # Many repeats whose means vary that much about the same two runs, one of which is drawn.
    swing = np.random.default_rng(3).normal(size=2000)
    swing = (swing - swing.mean()) / swing.std() * noise
    arrays = [array_of([result]) + swing[:, None] for result in (first, second)]
    tests = crossed_tests(arrays, [(0, 1)])
    of_one = tests.repeat_variances[0] * 2000
    variance = tests.query_variances[0] + of_one
    half_width = (1.96 * of_one + 2.0 * tests.query_variances[0]) / variance * variance**0.5
    assert half_width == pytest.approx(abs(tests.differences[0]), rel=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": "both"}, "repeats='both' is not known"),
        ({"repeats": "random", "correction": "max-t"}, "flips the signs of queries only"),
        ({"deterministic": "a"}, r"must be a list of names, such as \['a'\]"),
        ({"deterministic": ["c"]}, "names 'c', which is no system; there are 'a', 'b'"),
        ({"deterministic": ["a"]}, "'a', but its repeats have different nDCG@10"),
    ],
)
def test_settings_that_do_not_go_with_repeats_are_refused(options, message):
    systems = {"a": seeds("a", SWINGS), "b": seeds("b", SWINGS, 0, 10)}
    with pytest.raises(SettingError, match=message):
        compare(systems, **options)


def test_paired_repeats_must_be_equally_many_and_random_ones_need_not():
    systems = {"a": seeds("a", SWINGS), "b": seeds("b", SWINGS[:2], 0, 10)}
    with pytest.raises(SettingError, match="there are a 3, b 2; choose repeats='random'"):
        compare(systems, repeats="paired")
    comparison = compare(systems)
    assert str(comparison).startswith("nDCG@10, 60 queries and 2 to 3 repeats: ")


def test_a_gate_over_repeats_needs_a_loss_beyond_their_noise():
    systems = {"new": seeds("new", SWINGS, -0.03), "old": seeds("old", SWINGS, 0, 10)}
    over_repeats = compare(systems, baseline="old")
    [check] = check_gate(over_repeats)
    [averaged] = check_gate(compare(systems, baseline="old", repeats="averaged"))
    assert (check.outcome, averaged.outcome) == ("passed", "failed")
    assert check.p > averaged.p
    assert "60 queries and the repeats of the systems" in check.reason
    [limited] = check_gate(compare(systems, baseline="old", margin=0.1), non_inferior=True)
    assert limited.p > 0.05


# Clusters


def summed(differences):
    """Return the sums of differences by cluster."""
    labels = list(CLUSTERS.values())
    return np.array(
        [differences[[label == topic for label in labels]].sum() for topic in dict.fromkeys(labels)]
    )


def test_signs_are_flipped_by_whole_clusters():
    topics = RNG.normal(size=12).repeat(5) * 0.1
    related = scored("a", 0.02, base=BASE + topics)
    base = scored("b", seed=1)
    comparison = compare({"a": related, "b": base}, baseline="b", clusters=CLUSTERS)
    pair = comparison.difference(MEASURE, "a")
    differences = array_of([related])[0] - array_of([base])[0]
    assert pair.p == sign_flip(summed(differences)).p  # all 2^11 sign vectors
    assert pair.exact
    assert pair.num_clusters == 12
    alone = compare({"a": related, "b": base}, baseline="b").difference(MEASURE, "a")
    assert alone.difference == pytest.approx(pair.difference)
    assert alone.p < pair.p
    assert "12 clusters of 60 queries" in str(comparison)
    assert "12 clusters of 60 queries" in comparison.to_markdown()


@pytest.mark.parametrize("interval", ["test", "t"])
@pytest.mark.parametrize("test", ["sign_flip", "t"])
def test_each_query_as_a_cluster_of_its_own_is_like_no_clusters(interval, test):
    systems = {"a": scored("a", 0.02), "b": scored("b", seed=1), "c": scored("c", seed=2)}
    own = {query: query for query in QUERIES}
    plain = compare(systems, baseline="b", interval=interval, test=test, draws=2000)
    clustered = compare(
        systems, baseline="b", interval=interval, test=test, draws=2000, clusters=own
    )
    for expected, actual in zip(plain.differences, clustered.differences, strict=True):
        assert actual.num_clusters == len(QUERIES)
        assert actual.verdict == expected.verdict
        for field in ("difference", "low", "high", "p_t", "p_equal", "wins"):
            expected_value = pytest.approx(getattr(expected, field), abs=1e-9)
            assert getattr(actual, field) == expected_value, field
        # The sign vectors are drawn by the keys of the clusters, here those of the queries.
        assert actual.p == pytest.approx(expected.p)
    for expected, actual in zip(plain.means, clustered.means, strict=True):
        assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high))


def test_repeating_every_query_five_times_as_a_cluster_changes_nothing():
    """Copies of a query hold nothing new: p and intervals are those without the copies."""
    few = QUERIES[:12]
    systems, copied = {}, {}
    for seed, name in enumerate(("a", "b")):
        scores = dict(zip(few, np.random.default_rng(seed).random(12).tolist(), strict=True))
        systems[name] = EvaluationResult.from_scores(name, {MEASURE: scores})
        many = {f"{query}.{copy}": score for query, score in scores.items() for copy in range(5)}
        copied[name] = EvaluationResult.from_scores(name, {MEASURE: many})
    clusters = {f"{query}.{copy}": query for query in few for copy in range(5)}
    expected = compare(systems, baseline="b").difference(MEASURE, "a")
    actual = compare(copied, baseline="b", clusters=clusters).difference(MEASURE, "a")
    for field in ("difference", "low", "high", "p", "p_t", "p_equal"):
        assert getattr(actual, field) == pytest.approx(getattr(expected, field)), field
    assert compare(copied, baseline="b").difference(MEASURE, "a").p < actual.p


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=6, max_size=9),
    shift=st.sampled_from([0.0, 0.05, 0.2]),
    test=st.sampled_from(["sign_flip", "t"]),
    correction=st.sampled_from([None, "holm"]),
)
def test_verdict_and_interval_agree_for_clusters_of_any_sizes(sizes, shift, test, correction):
    labels = np.repeat(np.arange(len(sizes)), sizes)[: len(QUERIES)]
    clusters = {
        query: int(labels[min(index, len(labels) - 1)]) for index, query in enumerate(QUERIES)
    }
    systems = {"a": scored("a", shift), "b": scored("b", seed=1), "c": scored("c", seed=2)}
    if correction is None and test == "t":
        correction = "holm"
    comparison = compare(
        systems, baseline="b", clusters=clusters, test=test, correction=correction, draws=999
    )
    for pair in comparison.differences:
        assert (pair.verdict in ("better", "worse")) == (pair.low > 0 or pair.high < 0)


def test_fewer_than_six_clusters_give_no_verdict_and_say_so():
    five = {query: index // 12 for index, query in enumerate(QUERIES)}
    systems = {"a": scored("a", 0.3, 0.0), "b": scored("b", noise=0.0)}
    for alpha in (0.05, 0.2):
        comparison = compare(systems, baseline="b", clusters=five, alpha=alpha, test="t")
        pair = comparison.difference(MEASURE, "a")
        assert (pair.verdict, pair.p_corrected) == ("undecided", 1.0)
        assert "fewer than 6 clusters (5) decide nothing" in str(comparison)
        [check] = check_gate(comparison)
        assert check.outcome == "undecided"


def test_exactly_six_clusters_give_a_verdict_and_decide_a_gate():
    six = {query: index // 10 for index, query in enumerate(QUERIES)}
    systems = {"a": scored("a", 0.3, 0.0), "b": scored("b", noise=0.0)}
    comparison = compare(systems, baseline="b", clusters=six)
    pair = comparison.difference(MEASURE, "a")
    assert (pair.verdict, pair.p) == ("better", 2 / 2**6)
    assert check_gate(comparison)[0].outcome == "passed"


def test_a_gate_takes_whole_clusters():
    systems = {"new": scored("new", -0.03), "old": scored("old", seed=1)}
    comparison = compare(systems, baseline="old", clusters=CLUSTERS)
    [check] = check_gate(comparison)
    differences = array_of([systems["new"]])[0] - array_of([systems["old"]])[0]
    assert check.p == sign_flip(summed(differences), alternative="less").p
    assert "60 queries in 12 clusters" in check.reason
    [check] = check_gate(comparison, non_inferior=True)
    assert check.outcome == "failed"
    assert "by a one-sided test it is worse (p" in check.note
    same = {"new": scored("new", 0.0), "old": scored("old", seed=1)}
    [check] = check_gate(compare(same, baseline="old", clusters=CLUSTERS), non_inferior=True)
    assert "even if the scores were equal on 12 clusters" in check.note
    assert check.note.endswith("or more: add clusters")
    [check] = check_gate(comparison, [], floors={MEASURE: 0.2}, floor_interval=True)
    [plain] = check_gate(
        compare(systems, baseline="old"), [], floors={MEASURE: 0.2}, floor_interval=True
    )
    assert check.value == plain.value
    assert check.low != plain.low


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ({"q000": "a"}, "59 of 60 queries have no cluster: 'q001'"),
        (["a"], "clusters must be {query_id: label}"),
        ({"q000": None}, "query 'q000' has None; the label"),
        (dict.fromkeys(QUERIES, "topic"), "are all in one cluster"),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(clusters, message):
    with pytest.raises(InputError, match=message):
        compare({"a": scored("a"), "b": scored("b", seed=1)}, clusters=clusters)


# What the p-value covers


def test_every_source_of_chance_is_in_p_or_not():
    systems = {"a": seeds("a", SWINGS, 0.1), "b": seeds("b", SWINGS, 0, 10)}
    comparison = compare(systems, baseline="b", clusters=CLUSTERS)
    plain = compare({"a": scored("a"), "b": scored("b", seed=1)}, baseline="b")
    for compared, sampled in ((comparison, {"related queries", "repeats"}), (plain, set())):
        chances = chances_of(compared)
        in_p = {chance.source for chance in chances if chance.in_p}
        assert in_p == {"queries", "comparisons", "measures"} | sampled
        assert {"choice", "repeated looks"} <= {chance.source for chance in chances} - in_p
        assert compared.chance_table().text().count("\n") >= len(chances)
    rows = [tuple(map(str, row)) for row in plain.chance_table().rows]
    assert ("queries", "yes", "a sample of 60 queries") in rows
    assert ("repeats", "no", "these runs only, one of each system (else repeats)") in rows


def test_a_saved_comparison_with_too_few_labels_is_refused():
    comparison = compare({"a": scored("a"), "b": scored("b", seed=1)}, baseline="b")
    saved = comparison.model_dump(mode="json") | {"clusters": ["a"]}
    with pytest.raises(ResultError, match="clusters: 60 labels were expected"):
        Comparison.from_content(saved, "comparison.json")


# What first misled a reader


def test_clusters_of_unequal_sizes_leave_a_narrow_interval_narrow():
    systems = {
        "a": [scored(f"a{seed}", 0.2, 0.01, seed=seed) for seed in range(3)],
        "b": [scored(f"b{seed}", 0.0, 0.01, seed=seed + 9) for seed in range(3)],
    }
    for options in ({}, {"repeats": "averaged"}, {"test": "t"}):
        comparison = compare(systems, baseline="b", clusters=UNEQUAL_CLUSTERS, **options)
        pair = comparison.difference(MEASURE, "a")
        assert pair.high - pair.low < 0.02, options
        assert pair.verdict == "better"
    one_run = {name: repeats[0] for name, repeats in systems.items()}
    pair = compare(one_run, baseline="b", clusters=UNEQUAL_CLUSTERS).difference(MEASURE, "a")
    assert pair.noise_to_undo > 0.06


def test_the_t_test_of_clusters_agrees_with_that_of_equal_clusters_written_out():
    systems = {"a": scored("a", 0.03), "b": scored("b", seed=1)}
    pair = compare(systems, baseline="b", clusters=CLUSTERS, test="t").difference(MEASURE, "a")
    differences = array_of([systems["a"]])[0] - array_of([systems["b"]])[0]
    expected = stats.ttest_1samp(differences.reshape(12, 5).mean(axis=1), 0.0)
    assert pair.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high))


def test_p_t_of_clusters_of_unequal_sizes_is_that_of_the_t_test():
    systems = {"a": scored("a", 0.01), "b": scored("b", seed=1)}
    by_t, by_signs = (
        compare(systems, baseline="b", clusters=UNEQUAL_CLUSTERS, test=test).differences[0]
        for test in ("t", "sign_flip")
    )
    assert by_t.p_t == by_t.p
    assert by_signs.p_t == by_t.p


def test_a_gate_counts_the_clusters_of_the_measure_it_checks():
    systems = {}
    for seed, name in enumerate(("new", "old")):
        scores = dict(zip(QUERIES, np.random.default_rng(seed).random(60).tolist(), strict=True))
        few = {query: score for query, score in scores.items() if query < "q025"}
        systems[name] = EvaluationResult.from_scores(
            name, {MEASURE: scores, "MRR": {query: few.get(query) for query in QUERIES}}
        )
    comparison = compare(systems, baseline="old", clusters=CLUSTERS, measures=[MEASURE, "MRR"])
    outcomes = {check.measure: check.outcome for check in check_gate(comparison)}
    assert outcomes["MRR"] == "undecided"
    assert outcomes[MEASURE] != "undecided"


def test_a_floor_over_an_interval_needs_clusters_and_says_that_repeats_are_not_in_it():
    systems = {"new": seeds("new", SWINGS), "old": seeds("old", SWINGS, 0, 10)}
    three = {query: index // 20 for index, query in enumerate(QUERIES)}
    options = {"floors": {MEASURE: 0.1}, "floor_interval": True}
    [check] = check_gate(compare(systems, baseline="old", clusters=three), [], **options)
    assert check.outcome == "undecided"
    [check] = check_gate(compare(systems, baseline="old"), [], **options)
    assert "60 queries, not over repeats" in check.reason


def test_the_noise_that_undoes_a_verdict_names_the_least_certain_one():
    base = made([BASE / 2, BASE / 2], "b", ("MRR", "P@5"))
    noise = 0.02 * np.random.default_rng(3).normal(size=60)
    gains = made([BASE / 2 + 0.01 + noise, BASE / 2 + 0.2 + noise], "a", ("MRR", "P@5"))
    comparison = compare([gains, base], baseline="b")
    assert comparison.difference("MRR", "a").verdict == "better"
    assert any(" on MRR undecided" in note for note in comparison.notes())


def test_no_p_over_repeats_is_stated_where_none_is_needed_or_none_was_used():
    systems = {"s": seeds("s", SWINGS), "d1": scored("d1", 0.1), "d2": scored("d2", seed=1)}
    comparison = compare(systems, baseline="d2", deterministic=["d1", "d2"])
    assert comparison.difference(MEASURE, "d1").p_queries is None
    assert comparison.difference(MEASURE, "s").p_queries is not None
    assert "3 repeats of each other system" in comparison.chance_table().text()
    three = {query: index // 20 for index, query in enumerate(QUERIES)}
    repeats = {"a": seeds("a", SWINGS), "b": seeds("b", SWINGS, 0, 10)}
    assert compare(repeats, baseline="b", clusters=three).difference(MEASURE, "a").p_queries is None


def test_the_smallest_margin_of_unequal_clusters_is_the_smallest_that_can_be_shown():
    sizes = (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 7, 9, 13)
    clusters = dict(zip(QUERIES, np.repeat(range(16), sizes).tolist(), strict=True))
    equal = {"a": scored("a"), "b": scored("b")}
    least = compare(equal, baseline="b", clusters=clusters).difference(MEASURE, "a").smallest_margin
    for factor, is_shown in ((0.98, False), (1.02, True)):
        with pytest.warns(BeirEvalWarning, match="of the range of the measure"):
            comparison = compare(equal, baseline="b", clusters=clusters, margin=least * factor)
        assert (comparison.difference(MEASURE, "a").p_equal <= 0.05) is is_shown


def test_a_latex_caption_says_what_p_is_over():
    systems = {"a": seeds("a", SWINGS), "b": seeds("b", SWINGS, 0, 10)}
    caption = compare(systems, baseline="b", clusters=CLUSTERS).to_latex()
    assert "60 queries in 12 clusters" in caption
    assert "test over queries and repeats" in caption


def test_slices_say_that_repeats_are_not_in_their_verdicts():
    systems = {"a": seeds("a", SWINGS, 0.1), "b": seeds("b", SWINGS, 0, 10)}
    halves = {query: "first" if query < "q030" else "second" for query in QUERIES}
    text = "what is said of slices holds for these repeats"
    assert text in str(compare_slices(systems, halves, baseline="b"))
    single = {"a": systems["a"][0], "b": systems["b"][0]}
    assert text not in str(compare_slices(single, halves, baseline="b"))
