"""How far the order of equal scores decides the means of the systems of a comparison."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Run, compare_runs, evaluate
from strategies import QUERY_IDS, judged, ranking

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")


def test_the_range_goes_from_the_worst_to_the_best_order():
    qrels = {"q1": {"r": 1, "n": 0}, "q2": {"r": 1}}
    tied = {"q1": {"r": 1.0, "x": 1.0, "n": 1.0}, "q2": {"r": 1.0}}
    plain = {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"plain": plain, "tied": tied}, ["MRR", "Judged@2"])
    [ties] = comparison.ties
    assert (ties.measure, ties.system) == ("MRR", "tied")
    assert (ties.low, ties.high) == ((1 / 3 + 1) / 2, 1)
    sentence = "Ties: depending on how they are broken, tied scores 0.6667 to 1.0000 on MRR"
    assert sentence in comparison.notes()


@pytest.mark.parametrize(
    ("policies", "systems"),
    [
        ({"ties": "trec_eval9"}, ["a", "b"]),
        ({"ties": "trec_eval10"}, ["b"]),
        ({"ties": "input"}, ["b"]),
        ({"order": "given"}, []),
    ],
)
def test_scores_tie_in_the_precision_of_the_rule(policies, systems):
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    near = {"q1": {"r": 0.1234567890, "x": 0.1234567891}, "q2": {"r": 1.0}}
    equal = {"q1": {"r": 1.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"a": near, "b": equal}, "MRR", **policies)
    assert [(ties.system, ties.low, ties.high) for ties in comparison.ties] == [
        (system, (1 / 2 + 1) / 2, 1) for system in systems
    ]


def test_rankings_without_scores_have_no_tie_interval():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    assert compare_runs(qrels, {"a": run, "b": run}, "MRR").ties == ()


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.dictionaries(st.sampled_from(QUERY_IDS[:3]), judged(), min_size=2, max_size=3),
    st.data(),
    st.sampled_from(["trec_eval9", "trec_eval10", "input"]),
    st.sampled_from(["nDCG@3", "MRR", "MAP@4", "Rprec"]),
)
def test_the_ends_are_the_means_of_evaluations_with_ties_worst_and_best(qrels, data, ties, measure):
    def levels(docs):
        """Return the scores as whole numbers that tie where they do under the rule."""
        kind = np.float32 if ties == "trec_eval9" else np.float64
        distinct = sorted({kind(score) for score in docs.values()})
        return {doc: float(distinct.index(kind(score))) for doc, score in docs.items()}

    def run_of_levels(run):
        return {query: levels(docs) for query, docs in run.items()}

    runs = {
        name: [{query: data.draw(ranking()) for query in qrels} for _ in range(repeats)]
        for name, repeats in (("a", 1), ("b", 2))
    }
    comparison = compare_runs(qrels, runs, measure, draws=100, likeness_k=None, ties=ties)
    for tie_range in comparison.ties:
        low, high = (
            np.mean(
                [
                    evaluate(qrels, run_of_levels(run), measure, ties=extreme)[measure]
                    for run in runs[tie_range.system]
                ]
            )
            for extreme in ("worst", "best")
        )
        assert (tie_range.low, tie_range.high) == pytest.approx((low, high), abs=1e-12)
        assert tie_range.low - 1e-12 <= comparison.mean(measure, tie_range.system).mean
        assert comparison.mean(measure, tie_range.system).mean <= tie_range.high + 1e-12
    assert {ties.system for ties in comparison.ties} <= {
        name
        for name, repeats in runs.items()
        if any(
            len(set(docs.values())) < len(docs)
            for run in map(run_of_levels, repeats)
            for docs in run.values()
        )
    }
