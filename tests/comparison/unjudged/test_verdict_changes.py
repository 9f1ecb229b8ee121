"""Whether unjudged documents could change a verdict: could, cannot, not known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import Comparison, Run, compare, compare_runs, evaluate, read_qrels, read_run
from beir_eval.comparison.unjudged.analysis import ratio_of, smallest_ratio
from beir_eval.comparison.unjudged.tables import UNJUDGED_TITLE
from beir_eval.errors import NotEvaluatedError

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")


def comparison_of(qrels, rankings, measure, **settings):
    runs = {name: Run.from_rankings(ranking) for name, ranking in rankings.items()}
    return compare_runs(qrels, runs, measure, **settings)


def everywhere(count, ranking):
    return {f"q{n:02}": ranking for n in range(count)}


# Verdicts


def test_a_verdict_could_change_if_judgements_undo_it_and_cannot_if_all_is_judged():
    qrels = everywhere(12, {"r": 1})
    rankings = {"base": everywhere(12, ["x", "r"]), "new": everywhere(12, ["r", "x"])}
    comparison = comparison_of(qrels, rankings, "MRR@2", baseline="base")
    [effect] = comparison.unjudged
    assert comparison.differences[0].verdict == "better"
    assert (effect.low, effect.high, effect.verdict_change) == (0, 1 / 2, "could")
    sentence = (
        "Unjudged documents could change this verdict (the difference could be 0.0000 to +0.5000)."
    )
    assert sentence in str(comparison)
    judged = everywhere(12, {"r": 1, "x": 0})
    comparison = comparison_of(judged, rankings, "MRR@2", baseline="base")
    [effect] = comparison.unjudged
    assert (effect.low, effect.high, effect.verdict_change) == (1 / 2, 1 / 2, "cannot")
    assert effect.judged == 1
    assert "Unjudged documents cannot change this verdict." in str(comparison)


def test_a_verdict_could_change_because_its_significance_could_be_lost():
    better = {f"q{n:02}": ["r", "x"] if n < 9 else ["x", "r"] for n in range(12)}
    # In four queries the base ranks an unjudged h first: if h is relevant, both succeed there.
    base = {f"q{n:02}": ["h", "r"] if n < 4 else ["x", "r"] for n in range(12)}
    rankings = {"base": base, "new": better}
    qrels = everywhere(12, {"r": 1, "x": 0})
    comparison = comparison_of(qrels, rankings, "Success@1", baseline="base")
    [effect], [difference] = comparison.unjudged, comparison.differences
    assert difference.verdict == "better"
    assert effect.low > 0
    qrels_with_h = everywhere(12, {"r": 1, "x": 0, "h": 1})
    [with_h] = comparison_of(qrels_with_h, rankings, "Success@1", baseline="base").differences
    assert with_h.verdict == "undecided"
    assert effect.verdict_change == "could"


@pytest.mark.parametrize(("num_unjudged", "change"), [(3, "not known"), (12, "could")])
def test_equality_could_change_if_the_mean_could_pass_the_margin(num_unjudged, change):
    qrels = everywhere(12, {"r": 1})
    longer = {f"q{n:02}": ["r", "x"] if n < num_unjudged else ["r"] for n in range(12)}
    rankings = {"a": everywhere(12, ["r"]), "b": longer}
    comparison = comparison_of(qrels, rankings, "Precision@2", margin=0.45)
    assert comparison.differences[0].verdict == "equal"
    assert comparison.unjudged[0].verdict_change == change


def test_documents_below_rank_10_could_change_a_verdict_on_average_precision():
    tail = [f"j{n}" for n in range(10)]
    qrels = everywhere(10, {"r": 1} | dict.fromkeys([*tail, "j"], 0))
    better = everywhere(10, ["r", *tail, "j"])
    worse = everywhere(10, ["j", "r", *tail[:9], *(f"h{n}" for n in range(20))])
    comparison = comparison_of(qrels, {"worse": worse, "better": better}, "MAP")
    assert comparison.differences[0].verdict == "better"
    [effect] = comparison.unjudged
    assert (effect.low, effect.verdict_change) == (None, "could")
    assert "Unjudged documents could change this verdict." in str(comparison)


def test_equal_differences_have_the_p_of_sign_flips_in_a_t_test_too():
    # All five differences could be equal, with p .0625; of nearly equal ones p is far below .05.
    qrels = {f"q{n}": {"r": 1, "x": 0} for n in range(5)}
    rankings = {"a": {query: ["x", "r"] for query in qrels}}
    rankings["b"] = {f"q{n}": ["r" if n < 4 else "h", "x"] for n in range(5)}
    settings = {"test": "t", "correction": "none"}
    comparison = comparison_of(qrels, rankings, "Precision@1", **settings)
    assert comparison.differences[0].verdict == "better"
    assert comparison.unjudged[0].verdict_change != "cannot"
    qrels["q4"] = {"h": 1}
    [difference] = comparison_of(qrels, rankings, "Precision@1", **settings).differences
    assert (difference.verdict, difference.p) == ("undecided", 1 / 16)


@pytest.mark.parametrize(
    "settings",
    [
        {"chosen_from": 5},
        {"clusters": {f"q{n:02}": f"c{n // 2}" for n in range(16)}},
    ],
)
def test_of_some_tests_nothing_is_known(settings):
    qrels = everywhere(16, {"r": 1, "x": 0})
    rankings = {"a": everywhere(16, ["x", "r"]), "b": everywhere(16, ["r", "x"])}
    comparison = comparison_of(qrels, rankings, "MRR", baseline="a", **settings)
    assert [effect.verdict_change for effect in comparison.unjudged] == ["not known"]
    text = "Whether unjudged documents could change this verdict is not known."
    assert text in str(comparison)


def test_of_several_verdicts_the_counts_are_printed():
    qrels = everywhere(12, {"r": 1, "x": 0})
    rankings = {
        "a": everywhere(12, ["x", "r"]),
        "b": everywhere(12, ["r", "x"]),
        "c": everywhere(12, ["h", "r"]),
    }
    comparison = comparison_of(qrels, rankings, "MRR@2", baseline="a")
    assert [effect.verdict_change for effect in comparison.unjudged] == ["cannot", "could"]
    assert "Unjudged documents could change 1 of 2 verdicts." in str(comparison)


@pytest.mark.parametrize(("judged", "is_caution"), [({"x": 0}, True), ({}, False)])
def test_a_verdict_that_could_change_is_a_caution_only_where_most_of_the_top_is_judged(
    judged, is_caution
):
    qrels = everywhere(12, {"r": 1} | judged)
    rankings = {"a": everywhere(12, ["x", "h"]), "b": everywhere(12, ["r", "h"])}
    rankings["a"] = everywhere(12, ["h", "x"])
    comparison = comparison_of(qrels, rankings, "MRR@2", baseline="a")
    assert comparison.unjudged[0].verdict_change == "could"
    notes = [note for note in comparison.notes() if note.startswith("Unjudged documents could")]
    assert len(notes) == is_caution
    assert str(comparison).count("Unjudged documents could change this verdict") == 1


@given(st.data())
def test_the_smallest_ratio_is_below_that_of_every_point_of_the_box(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**9)))
    size = data.draw(st.integers(2, 12))
    low = rng.normal(0.4, 0.3, (1, size))
    high = low + rng.random((1, size)) * rng.choice([0.01, 0.3, 2.0])
    if low.sum() <= 0:
        return
    bound = smallest_ratio(low, high)[0]
    points = low + (high - low) * np.vstack(
        [rng.random((200, size)), rng.integers(0, 2, (200, size))]
    )
    assert bound <= ratio_of(points).min() + 1e-12


# Documents to judge


def test_the_documents_that_would_change_most_come_first():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    rankings = {
        "a": {"q1": ["r", "x", "z"], "q2": ["r"]},
        "b": {"q1": ["y", "x", "r", "z"], "q2": ["r"]},
        "c": {"q1": ["y"], "q2": ["r"]},
    }
    comparison = comparison_of(qrels, rankings, ["Precision@2", "DCG@2"], baseline="a")
    first, second = comparison.documents_to_judge()
    assert (first.query_id, first.doc_id, first.ranks) == ("q1", "y", {"b": 1, "c": 1})
    assert first.changes == {"b": {"a": 1 / 4}, "c": {"a": 1 / 4}}
    assert first.total == 1 / 2
    assert (second.doc_id, second.changes) == ("x", {"c": {"a": -1 / 4}})
    assert second.ranks == {"a": 2, "b": 2}
    assert comparison.documents_to_judge(1) == [first]
    by_gain = comparison.documents_to_judge(measure="DCG@2")
    assert by_gain[0].changes["b"]["a"] == pytest.approx(1 / 2)
    with pytest.raises(NotEvaluatedError, match="MRR was not compared"):
        comparison.documents_to_judge(measure="MRR")


@pytest.mark.parametrize("measure", ["nDCG@3", "Recall@2", "MRR@3", "F1@3", "R_cap@2", "nDCG"])
def test_a_change_equals_the_shift_of_the_difference_if_the_document_is_relevant(measure):
    qrels = {f"q{n}": {"r": 2, "s": 1, "n": 0} for n in range(4)} | {"q9": {"n": 0}}
    rankings = {
        "a": {key: ["x", "r", "n", "y", "s"] for key in qrels},
        "b": {key: ["n", "y", "r", "z", "x"] for key in qrels},
    }
    comparison = comparison_of(qrels, rankings, measure)
    documents = comparison.documents_to_judge()
    assert documents
    for document in documents:
        with_document = qrels | {document.query_id: qrels[document.query_id] | {document.doc_id: 2}}
        after = comparison_of(with_document, rankings, measure, unjudged=False)
        change = after.differences[0].difference - comparison.differences[0].difference
        assert document.changes["b"]["a"] == pytest.approx(change, abs=1e-12)
        assert document.total == pytest.approx(abs(change), abs=1e-12)


def test_the_ranks_are_those_of_the_evaluation():
    qrels = {f"q{number}": {"1": 1, "2": 0} for number in range(6)}
    tied = {query: {"30": 0.5, "10": 0.5, "1": 0.5, "20": 0.5, "2": 0.5} for query in qrels}
    other = {query: {"1": 0.9, "10": 0.5, "20": 0.4} for query in qrels}
    comparison = compare_runs(qrels, {"a": tied, "b": other}, ["nDCG@5", "MAP"], draws=100)
    top = evaluate(qrels, tied, "nDCG@5", keep_top=5).top["q0"].doc_ids
    assert comparison.to_judge
    for document in comparison.to_judge:
        assert top[document.ranks["a"] - 1] == document.doc_id


# Results, files


def results():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    runs = {"a": {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}, "b": {"q1": {"x": 1.0}}}
    return [evaluate(qrels, run, ["MRR@2", "MAP"], name=name) for name, run in runs.items()]


def test_saved_results_give_judged_shares_only_and_a_note_points_to_compare_runs():
    comparison = compare(results())
    at_two, no_cutoff = comparison.unjudged
    assert (at_two.judged, at_two.judged_against) == (0, 2 / 3)
    assert (at_two.low, at_two.verdict_change) == (None, "not known")
    assert (no_cutoff.judged, no_cutoff.judged_against, no_cutoff.depth) == (0, 2 / 3, None)
    [note] = [note for note in comparison.notes() if "compare_runs(qrels, runs)" in note]
    assert note in comparison.to_markdown()
    with pytest.raises(NotEvaluatedError, match="known to compare_runs"):
        comparison.documents_to_judge()


def test_a_judged_share_is_not_known_if_a_repeat_did_not_count_at_that_cutoff():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 2.0, "x": 1.0} for query in qrels}
    narrow = evaluate(qrels, run, ["MRR@2", "nDCG@1"])
    wide = narrow.model_copy(
        update={
            "counted": narrow.counted.model_copy(
                update={"judged_in_top": {1: narrow.counted.judged_in_top[1]}}
            )
        }
    )
    for repeats in ([narrow, wide], [wide, narrow]):
        comparison = compare({"a": repeats, "b": [narrow, narrow]}, measures=["MRR@2", "nDCG@1"])
        at_two, at_one = comparison.unjudged
        assert (at_two.judged_against, at_two.judged) == (None, 1 / 2)
        assert (at_one.judged_against, at_one.judged) == (1, 1)


def test_the_results_keep_no_more_top_documents_than_before():
    qrels = {f"q{n}": {"r": 1} for n in range(3)}
    run = {query: {"r": 900.0} | {f"x{n}": 800.0 - n for n in range(200)} for query in qrels}
    comparison = compare_runs(qrels, {"a": run, "b": run}, ["Recall@150", "MAP"])
    assert {len(top.doc_ids) for top in comparison.results["a"][0].top.values()} == {100}
    assert [effect.depth for effect in comparison.unjudged] == [150, None]


def test_the_analysis_is_left_out_on_request():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = {"q1": {"r": 1.0, "x": 0.5}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"a": run, "b": run}, "MRR", unjudged=False, likeness_k=None)
    assert (comparison.unjudged, comparison.to_judge, comparison.ties) == (None, None, ())
    assert UNJUDGED_TITLE not in comparison.to_markdown()


def test_a_comparison_is_equal_after_saving_and_loading(tmp_path):
    qrels = everywhere(12, {"r": 1})
    runs = {
        "a": Run.from_rankings(everywhere(12, ["x", "r"])),
        "b": [Run.from_rankings(everywhere(12, ["r", other])) for other in "xy"],
    }
    comparison = compare_runs(qrels, runs, ["nDCG@2", "Judged@2"])
    assert "of a system's repeats, the first is taken" in comparison.to_markdown()
    comparison.save(tmp_path / "found.json")
    assert Comparison.load(tmp_path / "found.json") == comparison


def test_comparisons_saved_without_the_analysis_still_load():
    content = compare(results()).model_dump(mode="json")
    for name in ("unjudged", "to_judge", "ties", "likeness"):
        del content[name]
    loaded = Comparison.model_validate(content)
    assert (loaded.unjudged, loaded.to_judge, loaded.ties) == (None, None, ())
    assert loaded.to_markdown()


# Real runs


@pytest.fixture
def dl19(realdata):
    def read_runs(*names):
        folder = realdata / "runs" / "dl19"
        return {name: read_run(folder / f"{name}.trec") for name in names}

    return read_qrels(realdata / "qrels" / "dl19-passage.trec"), read_runs


def test_unjudged_documents_cannot_reverse_that_dense_retrieval_is_better_than_bm25_at_10(dl19):
    qrels, read_runs = dl19
    comparison = compare_runs(
        qrels, read_runs("bm25", "ada2"), ["nDCG@10", "MAP@100"], baseline="bm25"
    )
    ndcg, average_precision = comparison.unjudged
    assert ndcg.verdict_change == "cannot"
    difference = comparison.difference("nDCG@10", "ada2").difference
    assert 0.16 < ndcg.low <= difference <= ndcg.high < 0.29
    assert (ndcg.judged_against, round(ndcg.judged, 3)) == (1.0, 0.914)
    # Below rank 10 half of what bm25 and ada2 retrieve was never judged.
    assert average_precision.verdict_change == "could"
    assert average_precision.judged < 0.55
    first = comparison.documents_to_judge(1)[0]
    assert first.ranks["ada2"] <= 10


@pytest.mark.slow
def test_repeats_of_a_re_ranker_are_alike_and_little_is_known_of_their_verdicts(dl19):
    qrels, read_runs = dl19
    runs = read_runs(*(f"bm25+gpt35-repeat{number}" for number in range(1, 6)))
    comparison = compare_runs(qrels, runs, "nDCG@10", duplicates="first")
    assert len(comparison.unjudged) == len(comparison.likeness) == 10
    assert all(effect.low <= effect.high for effect in comparison.unjudged)
    assert all(pair.rbo > 0.85 and pair.overlap > 0.8 for pair in comparison.likeness)


def test_one_run_of_all_pairs_of_thirteen_systems_is_analysed(dl19, realdata):
    qrels, read_runs = dl19
    names = [path.stem for path in sorted((realdata / "runs" / "dl19").iterdir())]
    comparison = compare_runs(
        qrels, read_runs(*names), "nDCG@10", duplicates="first", draws=500, likeness_k=None
    )
    assert len(comparison.unjudged) == 78
    assert all(effect.low is not None for effect in comparison.unjudged)
