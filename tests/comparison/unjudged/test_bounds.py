"""Between which differences two systems lie, however unjudged documents are judged."""

from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Run, compare_runs, evaluate
from beir_eval.measures import parse
from completions import MEASURES, Case, refutations, unconfirmed
from strategies import DOC_IDS, QUERY_IDS, judged

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

EXACT = ["DCG@3", "CG@2", "Precision@3", "Precision(rel=2)@3", "RBP@3"]
DIVIDED = ["nDCG@3", 'nDCG(gain="exp")@4', "Recall@3", "R_cap@3", "F1@3"]
WITHOUT_BOUNDS = ["MAP@3", "ERR@3", "Rprec", "bpref@3", "nDCG(judged_only=True)@3"]

rankings = st.lists(st.sampled_from(DOC_IDS[:7]), unique=True, max_size=4)


@st.composite
def two_systems(draw):
    """Draw qrels of two queries or more, and two systems of one run."""
    judgements = st.dictionaries(
        st.sampled_from(QUERY_IDS[:3]), judged(st.integers(-1, 2)), min_size=2, max_size=3
    )
    qrels = draw(judgements)
    runs = [{query: draw(rankings) for query in qrels} for _ in "ab"]
    return qrels, runs


def highest_grade(qrels):
    return max(chain([1], *map(dict.values, qrels.values())))


def effect_of(qrels, runs, measure, **settings):
    """Return what unjudged documents could change about b − a."""
    made = {
        name: run if isinstance(run, (Run, list)) else Run.from_rankings(run)
        for name, run in runs.items()
    }
    comparison = compare_runs(qrels, made, measure, draws=100, likeness_k=None, **settings)
    return comparison.unjudged[0]


def extremes(qrels, runs, measure, grades):
    """Return the extremes of b − a over all grades of the unjudged documents of the top three.

    Args:
        grades: the grades to try for each document; None leaves it unjudged.
    """
    lows, highs = [], []
    for query, judgements in qrels.items():
        retrieved = {doc for run in runs for doc in run[query][:3]}
        unjudged = sorted(retrieved - set(judgements))
        completed = {"highest": {"elsewhere": highest_grade(qrels)}}
        for number, choice in enumerate(product([None, *grades], repeat=len(unjudged))):
            chosen = {
                doc: grade for doc, grade in zip(unjudged, choice, strict=True) if grade is not None
            }
            completed[str(number)] = judgements | chosen
        scores = [
            evaluate(
                completed, Run.from_rankings(dict.fromkeys(completed, run[query])), measure
            ).scores(measure)[1:]
            for run in runs
        ]
        difference = scores[1] - scores[0]
        lows.append(difference.min())
        highs.append(difference.max())
    return np.mean(lows), np.mean(highs)


@settings(max_examples=settings.default.max_examples // 2)
@given(two_systems(), st.sampled_from(EXACT))
def test_bounds_of_sums_are_the_extremes_over_all_judgements(case, measure):
    qrels, runs = case
    effect = effect_of(qrels, dict(zip("ab", runs, strict=True)), measure)
    highest = max(highest_grade(qrels), 2) if "rel=2" in measure else highest_grade(qrels)
    low, high = extremes(qrels, runs, measure, [highest])
    assert (effect.low, effect.high) == pytest.approx((low, high), abs=1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(two_systems(), st.sampled_from(DIVIDED))
def test_bounds_of_normalised_sums_hold_and_are_reached_where_the_lead_can_be_above_0(
    case, measure
):
    qrels, runs = case
    effect = effect_of(qrels, dict(zip("ab", runs, strict=True)), measure)
    low, high = extremes(qrels, runs, measure, range(1, highest_grade(qrels) + 1))
    assert effect.low - 1e-9 <= low
    assert high <= effect.high + 1e-9
    if len(qrels) == 1 and high > 0:
        assert effect.high == pytest.approx(high, abs=1e-9)


def test_an_end_above_0_of_a_normalised_sum_is_reached_by_grades_below_the_highest():
    # An exhaustive search finds the same; the highest grade alone would reach .5 only.
    qrels = {"q1": {"r": 2}, "q2": {"r": 2}}
    runs = [{"q1": ["x", "y", "r"], "q2": ["r"]}, {"q1": ["r", "z"], "q2": ["r"]}]
    effect = effect_of(qrels, dict(zip("ab", runs, strict=True)), "nDCG@3")
    low, high = extremes(qrels, runs, "nDCG@3", [1, 2])
    assert effect.high == pytest.approx(high, abs=1e-9)
    assert effect.low <= low


def test_one_document_has_one_grade_in_both_systems():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    same = {"q1": ["x", "r"], "q2": ["r"]}
    effect = effect_of(qrels, {"a": same, "b": same}, "Precision@2")
    assert (effect.low, effect.high, effect.verdict_change) == (0, 0, "cannot")


def test_documents_that_nobody_retrieved_add_to_the_number_of_relevant_ones():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a, b = {"q1": ["r"], "q2": ["r"]}, {"q1": ["n"], "q2": ["r"]}
    qrels["q1"]["n"] = 0
    # a recalls 1 and b 0 of the judged; of ever more relevant documents a recalls ever less.
    effect = effect_of(qrels, {"a": a, "b": b}, "Recall@1")
    assert (effect.low, effect.high) == pytest.approx((-1 / 2, 0))
    # The ideal ranking of nDCG@1 has room for one document.
    effect = effect_of(qrels, {"a": a, "b": b}, "nDCG@1")
    assert (effect.low, effect.high) == pytest.approx((-1 / 2, -1 / 2))


@pytest.mark.parametrize("cutoff", [10, 1000])
def test_the_ideal_grows_up_to_a_cutoff_far_beyond_the_documents(cutoff):
    """The limit of the ideal is that of the cutoff, though only two documents are known."""
    qrels = {f"q{number}": {"d0": 1, "d1": 1} for number in range(50)}
    better = {query: {"d0": 9.0, "d1": 8.0} for query in qrels}
    worse = {q: better[q] if n >= 40 else {"d1": 1.0} for n, q in enumerate(qrels)}
    [pair] = compare_runs(qrels, {"a": worse, "b": better}, f"nDCG@{cutoff}").unjudged
    assert pair.verdict_change == "cannot"
    # On 40 of the 50 queries "b" leads by a document at rank 2, whatever else is relevant.
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, cutoff + 1))
    assert pair.low == pytest.approx(40 / 50 * (1 / np.log2(3)) / ideal)


def test_documents_with_negative_grades_stay_as_they_are():
    qrels = {"q1": {"r": 1, "x": -1}, "q2": {"r": 1}}
    runs = {"a": {"q1": ["r"], "q2": ["r"]}, "b": {"q1": ["x"], "q2": ["r"]}}
    effect = effect_of(qrels, runs, "Precision@1")
    assert (effect.low, effect.high) == (-1 / 2, -1 / 2)
    assert (effect.judged, effect.judged_against) == (1 / 2, 1)


@pytest.mark.parametrize(
    ("policies", "unjudged"),
    [
        ({"duplicates": "first"}, 3),
        ({"duplicates": "keep"}, 2),
        ({"duplicates": "first", "drop_identical_ids": True}, 3),
    ],
)
def test_the_policies_of_the_evaluation_decide_which_documents_are_in_the_top(policies, unjudged):
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    a = {"q1": ["q1", "x", "x", "y", "z"], "q2": ["r"]}
    b = {"q1": ["r"], "q2": ["r"]}
    effect = effect_of(qrels, {"a": a, "b": b}, "Precision@3", **policies)
    # b has r at rank 1; at worst, all unjudged documents in the first three of a are relevant.
    assert effect.low == pytest.approx((1 / 3 - unjudged / 3) / 2)


@pytest.mark.parametrize(
    ("measure", "length", "is_bounded"),
    [
        ("DCG", 100, True),
        ("DCG", 101, False),  # documents below rank 100 are not looked at
        ("DCG@120", 150, True),
        ("MAP", 10, False),
    ],
)
def test_bounds_are_known_if_all_ranks_that_matter_were_looked_at(measure, length, is_bounded):
    qrels = {f"q{n:02}": {"r": 1} for n in range(12)}
    short = {key: ["r"] for key in qrels}
    long = {key: ["r", *(f"x{n}" for n in range(length - 1))] for key in qrels}
    effect = effect_of(qrels, {"a": short, "b": long}, measure)
    assert (effect.low is not None) == is_bounded
    assert effect.depth == parse(measure).cutoff


@pytest.mark.parametrize("measure", WITHOUT_BOUNDS)
def test_other_measures_have_no_bounds_and_no_verdict_that_cannot_change(measure):
    qrels = {f"q{n}": {"r": 1, "n": 0} for n in range(8)}
    runs = {"a": {key: ["r", "x"] for key in qrels}, "b": {key: ["n", "r"] for key in qrels}}
    effect = effect_of(qrels, runs, measure)
    assert (effect.low, effect.high) == (None, None)
    assert effect.verdict_change != "cannot"


@pytest.mark.parametrize(
    "settings",
    [{"ties": "best"}, {"ties": "worst"}],
)
def test_there_are_no_bounds_if_ranks_depend_on_grades(settings):
    qrels = {f"q{n}": {"r": 1, "n": 0} for n in range(8)}
    tied = {query: {"r": 1.0, "x": 1.0} for query in qrels}
    plain = {query: {"n": 2.0, "r": 1.0} for query in qrels}
    comparison = compare_runs(qrels, {"a": tied, "b": plain}, "nDCG@2", **settings)
    [effect] = comparison.unjudged
    assert (effect.low, effect.verdict_change, effect.judged_against) == (None, "not known", 1 / 2)


def test_there_are_no_bounds_if_a_relevant_document_would_add_a_query():
    qrels = {f"q{n}": {"r": 1, "x": 0} for n in range(8)} | {"q8": {"x": 0}}
    runs = {
        "a": {key: ["x", "r"] for key in qrels},
        "b": {key: ["r", "x"] for key in qrels} | {"q8": ["h"]},
    }
    assert effect_of(qrels, runs, "nDCG@2", no_relevant="skip").low is None
    assert effect_of(qrels, runs, "nDCG@2").low is not None


def test_a_factor_that_depends_on_the_number_retrieved_leaves_bounds_unknown():
    qrels = {f"q{n}": {"r": 1} for n in range(8)}
    short = {key: ["x"] for key in qrels}
    long = {key: ["r", "y", "z"] for key in qrels}
    assert effect_of(qrels, {"a": long, "b": short}, "Precision").low is None
    assert effect_of(qrels, {"a": long, "b": long}, "Precision").low is not None


def test_a_table_of_gains_without_the_highest_grade_leaves_bounds_unknown():
    qrels = {f"q{n}": {"r": 1} for n in range(8)} | {"q8": {"r": 3}}
    runs = {"a": {key: ["x"] for key in qrels}, "b": {key: ["r"] for key in qrels}}
    assert effect_of(qrels, runs, "nDCG(gain={1: 1, 3: 7})@2").low is not None
    qrels["q8"] = {"r": 1}
    qrels["elsewhere"] = {"other": 2}
    with pytest.raises(Exception, match="gain"):
        effect_of(qrels, runs, "nDCG(gain={1: 1, 3: 7})@2")


@pytest.mark.parametrize("measure", MEASURES)
def test_no_judgements_refute_a_bound_or_a_verdict_that_cannot_change(measure):
    for seed in range(settings.default.max_examples // 20):
        rng = np.random.default_rng([seed, 5])
        case = Case.random(rng, (measure, "Precision@1"))
        try:
            comparison = case.compare(case.qrels, keep_top=100)
        except ValueError:  # fewer than two queries have a score
            continue
        assert list(unconfirmed(case, comparison)) == []
        for _ in range(3):
            completion = case.completion(rng, int(rng.integers(1, 4)))
            assert list(refutations(case, comparison, completion)) == []


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**9))
def test_no_judgements_of_random_cases_refute_anything(seed):
    rng = np.random.default_rng(seed)
    case = Case.random(rng)
    try:
        comparison = case.compare(case.qrels, keep_top=100)
    except ValueError:
        return
    assert list(unconfirmed(case, comparison)) == []
    completion = case.completion(rng, int(rng.integers(1, 4)))
    assert list(refutations(case, comparison, completion)) == []
