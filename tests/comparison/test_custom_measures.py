"""Scores computed elsewhere are compared, also on measures for which lower is better."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import (
    EvaluationResult,
    check_gate,
    checkpoint_curve,
    compare,
    compare_benchmark,
    evaluate,
    write_report,
)
from beir_eval.comparison import Comparison, to_junit
from beir_eval.comparison.tables import judged_table
from beir_eval.errors import (
    MeasureError,
    NotEvaluatedError,
    QueryMismatchError,
    ResultError,
    UnknownMeasureError,
)
from beir_eval.measures.scales import scale_of

RNG = np.random.default_rng(0)
BASE = RNG.uniform(1, 2, 30)
FASTER = BASE - 0.3 + RNG.normal(0, 0.1, 30)


def given_scores(name, seconds, *, higher_is_better=False, measure="seconds", **settings):
    scores = {f"q{number:03}": float(score) for number, score in enumerate(seconds)}
    return EvaluationResult.from_scores(
        name, {measure: scores}, higher_is_better=higher_is_better, **settings
    )


def mirrored(scores):
    """Return results of seconds, and the same results as gains: higher is better."""
    return (
        [given_scores(name, row) for name, row in scores.items()],
        [given_scores(name, -row, higher_is_better=True) for name, row in scores.items()],
    )


def values_of(records, *fields):
    return [tuple(getattr(record, field) for field in fields) for record in records]


systems = st.integers(2, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 9.0]), min_size=size, max_size=size),
        min_size=4,
        max_size=12,
    )
)


@given(systems, st.booleans(), st.sampled_from([None, "holm"]))
def test_a_verdict_where_lower_is_better_is_that_on_the_negated_scores(
    rows, has_baseline, correction
):
    columns = np.array(rows).T
    scores = {f"s{number}": column for number, column in enumerate(columns)}
    baseline = "s0" if has_baseline else None
    lower, higher = (
        compare(results, baseline=baseline, correction=correction, draws=500, margin=0.2)
        for results in mirrored(scores)
    )
    evidence = ("p", "p_corrected", "p_equal", "p_t", "wins", "ties", "losses", "verdict")
    assert values_of(lower.differences, *evidence) == values_of(higher.differences, *evidence)
    for ours, theirs in zip(lower.differences, higher.differences, strict=True):
        assert ours.gain == theirs.difference == -ours.difference
        np.testing.assert_allclose((ours.low, ours.high), (-theirs.high, -theirs.low), atol=1e-12)
        assert ours.reversed().verdict == theirs.reversed().verdict
    cells = [[cell for _, cell in table.to_table().rows] for table in (lower, higher)]
    assert values_of(cells[0], "mark", "is_best") == values_of(cells[1], "mark", "is_best")
    for non_inferior in (False, True) if has_baseline else ():
        ours, theirs = (check_gate(pair, non_inferior=non_inferior) for pair in (lower, higher))
        assert values_of(ours, "passed") == values_of(theirs, "passed")


def test_the_faster_system_is_better_in_every_output(tmp_path):
    comparison = compare(
        [given_scores("slow", BASE), given_scores("fast", FASTER)], baseline="slow"
    )
    difference = comparison.difference("seconds", "fast")
    assert difference.verdict == "better"
    assert difference.difference < 0 < difference.gain
    assert difference.wins > difference.losses
    row = r"\| fast +\| \S+ \| -0\.2724 \| -0\.3081 … -0\.2366 \| ≤0\.0001 \| +better \|"
    assert re.search(row, comparison.to_markdown())
    reason = "fast is not shown to be worse than slow (seconds, lower is better, 30 queries)"
    assert f"{reason}: -0.2724 (90% interval: " in to_junit(check_gate(comparison))
    assert any("lower is better; a difference above 0 is a loss" in n for n in comparison.notes())
    assert comparison.to_table().rows[0][1].is_best
    [row] = csv.DictReader(io.StringIO(comparison.to_csv()))
    assert (row["verdict"], row["higher_is_better"]) == ("better", "False")
    gained, lost = comparison.improvements("seconds", 3), comparison.regressions("seconds")
    assert all(query.difference < 0 for query in gained)
    assert all(query.difference > 0 for query in lost)
    assert gained == sorted(gained, key=lambda query: query.difference)
    bars = comparison.plot("queries").spec["datasets"]["rows"]
    assert bars[-1]["query"] == gained[0].query_id
    write_report(tmp_path / "report.html", comparison)
    page = (tmp_path / "report.html").read_text()
    assert "seconds (lower is better), 30 queries: fast is better than slow" in page
    assert '"lower_is_better":["seconds"]' in page
    assert "query_figures_of_losses" in page


def test_a_curve_of_seconds_has_the_best_and_the_unbeaten_step_of_the_negated_scores():
    steps = {"s1": BASE, "s2": FASTER, "s3": FASTER + 0.001, "s4": BASE}
    lower, higher = (checkpoint_curve(results) for results in mirrored(steps))
    ours, theirs = lower.outcome("seconds"), higher.outcome("seconds")
    fields = ("best", "unbeaten", "p_unbeaten")
    assert values_of([ours], *fields) == values_of([theirs], *fields)
    assert ours.best.step == 2
    assert ours.score == -theirs.score == pytest.approx(FASTER.mean())
    assert "seconds (lower is better), 30 queries: no step after" in lower.to_markdown()
    assert type(lower).model_validate_json(lower.model_dump_json()) == lower


def test_a_comparison_over_data_sets_ranks_the_fastest_first():
    lower, higher = (
        compare_benchmark(
            {result.name: {"one": result, "two": result} for result in results},
            baseline=None,
            measure="seconds",
        )
        for results in mirrored({"slow": BASE, "fast": FASTER, "same": FASTER})
    )
    fields = ("system", "rank", "rank_low", "rank_high", "first", "groups")
    assert values_of(lower.averages, *fields) == values_of(higher.averages, *fields)
    assert [row.average for row in lower.averages] == [-row.average for row in higher.averages]
    fields = ("verdict", "p", "p_corrected", "better", "worse", "significantly_better")
    assert values_of(lower.differences, *fields) == values_of(higher.differences, *fields)
    assert lower.averages[0].system in ("fast", "same")
    assert lower.difference("fast", "slow").verdict == "better"
    assert lower.headline().text.startswith("seconds (lower is better), 2 data sets: ")
    assert "-0.2724" in lower.to_markdown()
    assert type(lower).model_validate_json(lower.model_dump_json()) == lower


def test_a_result_of_evaluate_and_one_from_elsewhere_are_compared_and_the_notes_say_so():
    qrels = {f"q{number:03}": {"a": 1} for number in range(10)}
    ours = evaluate(qrels, {query: {"a": 1} for query in qrels}, ["MRR", "nDCG@10"], name="ours")
    theirs = EvaluationResult.from_scores(
        "theirs", {"recip_rank": dict.fromkeys(qrels, 0.5), "x": dict.fromkeys(qrels, 1)},
        higher_is_better=True,
    )  # fmt: skip
    comparison = compare([ours, theirs], baseline="theirs")
    assert comparison.measures == ("MRR",)
    assert comparison.difference("MRR", "ours").verdict == "better"
    assert comparison.computed_elsewhere == ("theirs",)
    [note] = [note for note in comparison.notes() if "computed elsewhere" in note]
    for words in ("scores of theirs", "judgements and settings", "not known"):
        assert words in note
    [known, unknown] = judged_table(comparison).rows
    assert (known[1], unknown[1]) == ("100%", "?")
    assert comparison.likeness is None
    # What is known of the others is still compared.
    skipped = evaluate(qrels, {q: {"a": 1} for q in qrels}, ["MRR"], missing="skip", name="third")
    with pytest.raises(ResultError, match="'ours' and 'third' were evaluated differently"):
        compare([theirs, ours, skipped])


def test_scores_from_elsewhere_alone_have_no_analysis_of_documents(tmp_path):
    first, second = (
        given_scores("A", BASE, measure="our MRR"),
        given_scores("B", FASTER, measure="our MRR"),
    )
    comparison = compare([first, second])
    assert judged_table(comparison) is None
    assert "judged" not in str(comparison)
    comparison.save(tmp_path / "comparison.json")
    loaded = Comparison.load(tmp_path / "comparison.json")
    assert loaded == comparison
    assert loaded.notes() == comparison.notes()
    assert scale_of("our MRR", loaded.custom_measures).higher_is_better is False


def test_a_system_must_state_the_same_bounds_and_direction_as_the_others():
    first = given_scores("A", BASE, bounds=(0, 5))
    with pytest.raises(ResultError, match=r"'A' and 'B' .* seconds: from 0 to 5.*from 0 to 9"):
        compare([first, given_scores("B", BASE, bounds=(0, 9))])
    with pytest.raises(ResultError, match="lower is better; and from 0 to 5, higher is better"):
        compare([first, given_scores("B", BASE, bounds=(0, 5), higher_is_better=True)])
    with pytest.raises(ResultError, match="different scales"):
        compare_benchmark(
            {name: {"one": first, "two": given_scores("A", BASE)} for name in "AB"},
            baseline=None,
            measure="seconds",
        )
    with pytest.raises(ResultError, match="different scales"):
        write_report("never written.html", [first, given_scores("B", BASE)])


def test_a_measure_or_query_that_a_system_lacks_is_named():
    first, other = given_scores("A", BASE), given_scores("B", BASE, measure="cost")
    with pytest.raises(NotEvaluatedError, match="seconds was not evaluated for 'B'; it holds cost"):
        compare([first, other], measures="seconds")
    with pytest.raises(UnknownMeasureError, match="no measure 'minutes'"):
        compare([first, first.model_copy(update={"name": "B"})], measures="minutes")
    with pytest.raises(MeasureError, match="no measure in common"):
        compare([first, other])
    with pytest.raises(QueryMismatchError, match="Give every system the same queries"):
        compare([first, given_scores("B", BASE[:20])])
    assert compare([first, given_scores("B", BASE[:20])], on="intersection").left_out == {"A": 10}
