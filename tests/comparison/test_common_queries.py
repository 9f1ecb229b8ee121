"""Verdicts that missing queries bring about stand beside those over the queries that all have."""

import pytest

from beir_eval import compare, compare_benchmark, compare_runs, evaluate, write_report
from beir_eval.benchmark import AcrossDatasets

QRELS = {f"q{number:02}": {"d": 1} for number in range(24)}
FIRST = {"d": 3.0, "x": 2.0}
SECOND = {"x": 3.0, "d": 2.0}
#: Right about a quarter of the queries and without the others; and second best everywhere.
PARTIAL = dict.fromkeys(list(QRELS)[:6], FIRST)
WHOLE = dict.fromkeys(QRELS, SECOND)
WHERE = "over the 6 of 24 queries that all systems have"
VERDICTS = (
    "MRR, 24 queries: whole is better than partial; this depends on 18 missing queries\n"
    f"MRR, {WHERE}: whole is worse than partial\n"
)


@pytest.fixture
def comparison():
    return compare_runs(QRELS, {"partial": PARTIAL, "whole": WHOLE}, "MRR")


def test_the_differences_are_those_of_comparing_the_common_queries_only(comparison):
    results = [
        evaluate(QRELS, run, "MRR", missing="skip", name=name)
        for name, run in (("partial", PARTIAL), ("whole", WHOLE))
    ]
    [expected] = compare(results, on="intersection").differences
    [difference] = comparison.on_common_queries.differences
    assert difference == expected
    assert difference.difference == -0.5
    assert comparison.on_common_queries.num_queries == 6


@pytest.mark.parametrize(("number", "num_differences"), [(1, 0), (2, 1)])
def test_two_common_queries_are_compared_and_a_single_one_is_not(number, num_differences):
    partial = dict.fromkeys(list(QRELS)[:number], FIRST)
    common = compare_runs(QRELS, {"partial": partial, "whole": WHOLE}, "MRR").on_common_queries
    assert (common.num_queries, len(common.differences)) == (number, num_differences)


def test_the_verdict_over_common_queries_is_in_every_output(comparison, tmp_path):
    assert VERDICTS in str(comparison)
    assert "compare on the 6, which may be the easier ones: missing='skip'" in str(comparison)
    for text in (comparison.to_markdown(), comparison.to_latex()):
        assert f"MRR, {WHERE}: whole is worse than partial" in text
    write_report(tmp_path / "report.html", comparison)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"MRR, {WHERE}: whole is worse than partial" in page
    assert '<section class="verdict undecided"' in page


def test_a_query_that_a_repeat_of_a_system_lacks_is_said_to_be_missing_from_this_system():
    ranked = {query: dict.fromkeys(docs, 1.0) for query, docs in QRELS.items()}
    whole = evaluate(QRELS, ranked, "MRR")
    partial = evaluate(QRELS, dict([*ranked.items()][2:]), "MRR")
    text = str(compare({"new": [whole, partial], "old": whole}, baseline="old"))
    assert "new loses most on q00 (-0.50, missing from new), gains on none." in text


def test_a_verdict_that_missing_queries_do_not_change_says_how_many_are_missing():
    partial = dict.fromkeys(list(QRELS)[:20], SECOND)
    text = str(
        compare_runs(QRELS, {"partial": partial, "best": dict.fromkeys(QRELS, FIRST)}, "nDCG@10")
    )
    assert (
        "24 queries: best is better than partial, with 4 queries missing\nwarning: partial: 4"
        in text
    )
    rows = [line.split()[:3] for line in text.splitlines()]
    assert ["nDCG@10", "mean", "answered"] in rows
    assert ["best", "1.0000", "24"] in rows
    assert ["partial", "0.5258", "20"] in rows


def test_a_verdict_on_the_best_that_stays_does_not_depend_on_missing_queries():
    partial = dict.fromkeys(list(QRELS)[:12], SECOND)
    runs = {"best": dict.fromkeys(QRELS, FIRST), "whole": WHOLE, "partial": partial}
    first, *_ = str(compare_runs(QRELS, runs, "MRR")).splitlines()
    assert first == "MRR, 24 queries: best is the best of 3, with 12 queries missing"


def test_a_single_common_query_is_not_offered_for_a_comparison():
    partial = dict.fromkeys(list(QRELS)[:1], FIRST)
    assert "Complete the runs" not in str(compare_runs(QRELS, {"one": partial, "whole": WHOLE}))


def test_nothing_is_said_if_every_system_has_all_queries_or_missing_ones_are_left_out():
    whole = compare_runs(QRELS, {"a": dict.fromkeys(QRELS, FIRST), "b": WHOLE}, "MRR")
    runs = {"partial": PARTIAL, "whole": WHOLE}
    skipped = compare_runs(QRELS, runs, "MRR", missing="skip", on="intersection")
    for comparison in (whole, skipped):
        assert comparison.on_common_queries is None
        assert "that all systems have" not in "\n".join(comparison.notes()) + str(comparison)
        assert "queries  " not in str(comparison)  # a column


def test_too_few_common_queries_are_said_to_be_too_few():
    runs = {"a": {"q00": FIRST, "q01": FIRST}, "b": {"q01": FIRST, "q02": FIRST}}
    text = str(compare_runs(QRELS, runs, "MRR"))
    assert "MRR, over the 1 of 24 queries that all systems have: too few" in text


def test_a_query_that_one_repeat_lacks_is_not_common():
    runs = {"partial": [PARTIAL, dict.fromkeys(QRELS, FIRST)], "whole": WHOLE}
    assert compare_runs(QRELS, runs, "MRR").on_common_queries.num_queries == 6


def evaluated(**runs):
    """Return the results of runs by system on the data sets x and y."""
    return {
        name: {dataset: evaluate(QRELS, run, "MRR") for dataset in ("x", "y")}
        for name, run in runs.items()
    }


def test_averages_over_data_sets_have_their_verdict_over_common_queries(tmp_path):
    results = evaluated(partial=PARTIAL, whole=WHOLE)
    results["partial"]["z"] = results["whole"]["z"] = evaluate(QRELS, WHOLE, "MRR")
    across = compare_benchmark(results, baseline="partial", measure="MRR")
    where = "over the 36 of 72 queries that all systems have"
    [difference] = across.on_common_queries.differences
    assert difference.difference == pytest.approx(-1 / 3)
    assert (difference.verdict, difference.significantly_worse) == ("worse", 0)
    over_all, over_common = across.headline().text.split(". ")
    assert over_all.endswith("3 data sets: whole is better than partial on average")
    assert over_common.endswith(f"{where}: whole is worse than partial on average")
    assert across.headline().verdict == "undecided"
    assert where in across.to_markdown()
    across.save(tmp_path / "across.json")
    assert AcrossDatasets.load(tmp_path / "across.json") == across


def test_averages_say_nothing_of_common_queries_without_missing_ones():
    results = evaluated(a=dict.fromkeys(QRELS, FIRST), b=WHOLE)
    across = compare_benchmark(results, baseline="a", measure="MRR")
    assert across.on_common_queries is None
    assert "that all systems have" not in across.to_markdown()


def test_averages_need_two_common_queries_on_every_data_set():
    results = evaluated(a={"q00": FIRST, "q01": FIRST}, b={"q01": FIRST, "q02": FIRST})
    across = compare_benchmark(results, baseline="a", measure="MRR")
    assert across.on_common_queries.differences == ()
    assert across.headline().text.endswith("queries that all systems have: too few for a verdict")
    assert "too few for a verdict" in across.to_markdown()


def test_the_colour_of_the_page_follows_the_verdicts_on_its_first_measure(tmp_path):
    # All rankings hold the relevant document, so Success@2 is about missing queries only: whole is
    # better over all queries, and no query differs over the common ones.
    runs = {"partial": PARTIAL, "whole": dict.fromkeys(QRELS, FIRST)}
    comparison = compare_runs(QRELS, runs, ["MRR", "Success@2"])
    common = comparison.on_common_queries
    differences = (comparison.difference("MRR", "whole"), common.differences[1])
    better = common.model_copy(update={"differences": differences})
    complete = comparison.model_copy(update={"on_common_queries": better})
    for shown, verdict in ((comparison, "undecided"), (complete, "better")):
        write_report(tmp_path / "report.html", shown)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert f'<section class="verdict {verdict}"' in page
