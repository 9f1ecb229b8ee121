"""Properties that every measure has for any data."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import textbook
from beir_eval import (
    ERR,
    F1,
    MAP,
    MRR,
    RBP,
    Hole,
    IPrec,
    Judged,
    Precision,
    Qrels,
    R_cap,
    RBP_residual,
    Recall,
    RelevanceMatrix,
    Run,
    evaluate,
    gm_map,
    nDCG,
    parse,
)
from beir_eval.core import EvaluationSettings, relate
from beir_eval.errors import MeasureError, ResultError
from beir_eval.measures import definitions
from strategies import DOC_IDS, qrels_and_rows, qrels_and_run
from time_limit import time_limit

CUTOFFS = (1, 2, 3, 5, 10, 100)
#: Measures that need a parameter, with a value for it.
REQUIRED = {"IPrec": "IPrec(recall=0.3)", "Rprec_mult": "Rprec_mult(multiple=1.5)"}


def every_measure(cutoff=None):
    """Yield every measure of the registry, with the cutoff if the measure takes one."""
    for definition in definitions().values():
        name = REQUIRED.get(definition.name, definition.name)
        yield parse(
            f"{name}@{cutoff}"
            if cutoff and definition.name not in REQUIRED and definition.cutoff != "none"
            else name
        )


MEASURES = [*every_measure(), *every_measure(3)]
UNBOUNDED = {"CG", "DCG", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
UNBOUNDED |= {"utility"}
#: A deeper cutoff never lowers these.
MONOTONE = [Recall, MAP, MRR, parse("Success"), parse("CG"), parse("DCG"), ERR, RBP]


def matrix_of(qrels, run):
    return relate(Qrels(qrels), Run(run), EvaluationSettings())[0]


#: Values for the parameters of measures; a gain table needs every grade of the qrels.
PARAMETERS = {
    "rel": st.sampled_from((0.5, 1, 2)),
    "beta": st.sampled_from((0.1, 1, 7)),
    "max_grade": st.sampled_from((4, 9)),
    "p": st.sampled_from((0.01, 0.5, 0.99)),
    "multiple": st.sampled_from((0.3, 1, 4)),
    "relevant": st.sampled_from((-3, 2)),
    "other": st.sampled_from((-3, 2)),
    "missed": st.sampled_from((-3, 2)),
    "recall": st.sampled_from((0, 0.4, 1)),
    "rounding": st.sampled_from(("trec_eval10", "trec_eval9")),
    "gain": st.sampled_from(
        (
            "linear",
            "exp",
            {0: 0, 0.3: 0.1, 1: 0.3, 2: 0.3, 3: 1e-9 + 0.3, 4: 700},
            {-1: 0, 0: 0.2, 0.3: 0.2, 1: 1, 2: 2, 3: 3, 4: 4},  # grade 0 has a gain
        )
    ),
    "judged_only": st.booleans(),
}
fractional_grades = st.sampled_from((-1.5, 0, 0.3, 1, 2, 3, 4))


@given(qrels_and_run(fractional_grades), st.data())
def test_no_score_lies_outside_the_bounds_of_its_measure_whatever_its_parameters(case, data):
    matrix = matrix_of(*case)
    for measure in MEASURES:
        names = [*measure.definition.defaults, "judged_only"]
        drawn = measure(**{name: data.draw(PARAMETERS[name], name) for name in names})
        scores = drawn.scores(matrix)
        low, high = drawn.bounds or (-math.inf, math.inf)
        defined = scores[~np.isnan(scores)]
        assert (low - 1e-12 < defined).all(), drawn
        assert (defined < high + 1e-12).all(), drawn


@given(qrels_and_rows())
def test_no_score_lies_outside_the_bounds_where_a_ranking_repeats_documents(case):
    qrels, rows = case
    result = evaluate(
        qrels, Run.from_columns(*zip(*rows, strict=True)), MEASURES, duplicates="keep"
    )
    for measure in MEASURES:
        low, high = measure.bounds or (-math.inf, math.inf)
        scores = result.scores(measure)
        assert not ((scores < low - 1e-12) | (scores > high + 1e-12)).any(), measure


def test_every_measure_states_its_bounds_but_counts_sums_of_gains_and_utility():
    without = {name for name, definition in definitions().items() if not definition.bounds}
    assert without == UNBOUNDED, "a measure without bounds joins UNBOUNDED"
    # The reason: deeper rankings, higher grades and other weights have no highest score.
    qrels = {"q": {f"d{number}": number + 1 for number in range(30)}}
    run = {"q": {f"d{number}": -number for number in range(30)}}
    for name in UNBOUNDED - {"num_q", "num_nonrel_judged_ret"}:
        assert evaluate(qrels, run, [name])[name] > 1


def matrix_of_every_ranking_of_four(judged_elsewhere):
    """Return the matrix of all rankings of four grades or None, and the grades of its rows."""
    rankings = list(product((None, -1, 0, 1, 2), repeat=4))
    qrels, run = {}, {}
    for grades in rankings:
        run[str(grades)], judged = ranking_of(grades)
        qrels[str(grades)] = judged | judged_elsewhere
    return matrix_of(qrels, run), rankings


#: Four documents with grades up to 2 stay below 1. ERR: the first one alone scores 3/4. RBP: the
#: weights of four ranks add up to 1 − 0.8^4. Rprec_mult: of 1.5 R documents, R are relevant.
HIGHEST_OF_FOUR = {"ERR": 3 / 4, "RBP": 1 - 0.8**4, "Rprec_mult": 2 / 3}


@pytest.mark.parametrize(
    "measure", [measure for measure in every_measure() if measure.bounds is not None], ids=str
)
def test_short_rankings_reach_the_bounds_of_every_bounded_measure_or_come_close(measure):
    matrix, _ = matrix_of_every_ranking_of_four({"elsewhere": 0})
    scores = measure.scores(matrix)
    low, high = measure.bounds
    if measure.name != "RBP_residual":  # there is always a residual after four documents
        assert np.nanmin(scores) == pytest.approx(low, abs=1e-12)
    highest = high * HIGHEST_OF_FOUR.get(measure.name, 1)
    unless = f"{measure.name} joins HIGHEST_OF_FOUR if four documents cannot reach {high}"
    assert highest - 1e-12 < np.nanmax(scores) < high + 1e-12, unless


def order_in_ties(grade):
    """The order of tied documents that ties="best" promises: relevant, unjudged, not relevant."""
    if grade is None:
        return (1, 0)
    return (2, grade) if grade > 0 else (0, grade)


@pytest.mark.parametrize(
    "measures",
    list(zip(every_measure(), every_measure(3), strict=True)),
    ids=lambda pair: pair[0].name,
)
def test_tied_documents_score_best_by_grade_for_exactly_the_measures_that_say_so(measures):
    matrix, rankings = matrix_of_every_ranking_of_four({"elsewhere": 1})
    row_of = {grades: row for row, grades in enumerate(rankings)}
    is_extreme = True
    for measure, num_above in product(measures, (0, 1, 2)):  # so many documents before the tie
        halves = [
            (grades[:num_above], tuple(sorted(grades[num_above:], key=order_in_ties)))
            for grades in rankings
        ]
        worst = [row_of[above + tied] for above, tied in halves]
        best = [row_of[above + tied[::-1]] for above, tied in halves]
        sign = 1 if measure.definition.higher_is_better else -1
        scores = sign * np.nan_to_num(measure.scores(matrix))
        is_extreme &= bool((scores <= scores[best] + 1e-12).all())
        is_extreme &= bool((scores >= scores[worst] - 1e-12).all())
    assert is_extreme == measures[0].has_tie_extremes


def ranking_of(grades):
    """Return {document: score}, best first, and {document: grade} of the judged documents."""
    docs = [f"d{number}" for number in range(len(grades))]
    run = {doc: float(-rank) for rank, doc in enumerate(docs)}
    return run, {doc: grade for doc, grade in zip(docs, grades, strict=True) if grade is not None}


def test_moving_a_relevant_document_above_an_unjudged_one_never_worsens_a_score():
    rankings = list(product((None, 0, 1, 2), repeat=4))
    qrels, run = {}, {}
    for grades in rankings:
        run[str(grades)], judged = ranking_of(grades)
        qrels[str(grades)] = judged | {"not retrieved": 2}
    moves = [
        (row, rankings.index((*grades[:above], grades[above + 1], None, *grades[above + 2 :])))
        for row, grades in enumerate(rankings)
        for above in range(3)
        if grades[above] is None and grades[above + 1]
    ]
    before, after = np.array(moves).T
    matrix = matrix_of(qrels, run)
    for measure in MEASURES:
        scores = measure.scores(matrix)
        change = scores[after] - scores[before]
        if measure.definition.higher_is_better:
            assert (change >= -1e-12).all(), measure
        else:
            assert (change <= 1e-12).all(), measure
            assert (change < -1e-12).any() or measure.cutoff is None, measure
    others = {name for name, definition in definitions().items() if not definition.rates_systems}
    assert others == {"Hole", "RBP_residual"}


def test_an_unjudged_document_counts_as_not_relevant_for_exactly_the_measures_that_say_so():
    matrix, rankings = matrix_of_every_ranking_of_four({"elsewhere": 1})
    row_of = {grades: row for row, grades in enumerate(rankings)}
    judged = [row_of[tuple(grade or 0 for grade in grades)] for grades in rankings]
    for measure in every_measure():
        scores = measure.scores(matrix)
        is_same = np.array_equal(scores[judged], scores, equal_nan=True)
        assert is_same == (measure.definition.unjudged == "not relevant"), measure


@given(qrels_and_run())
def test_only_judged_and_hole_can_be_undefined(case):
    matrix = matrix_of(*case)
    for measure in MEASURES:
        undefined = np.isnan(measure.scores(matrix))
        if measure.name in ("Judged", "Hole"):
            assert (undefined == (matrix.num_retrieved == 0)).all()
        else:
            assert not undefined.any(), measure


@given(qrels_and_run())
def test_a_deeper_cutoff_never_lowers_a_monotone_measure(case):
    matrix = matrix_of(*case)
    for measure in MONOTONE:
        shallow = np.zeros(matrix.num_queries)
        for k in CUTOFFS:
            deeper = (measure @ k).scores(matrix)
            assert (deeper >= shallow).all(), measure
            shallow = deeper
        assert (measure.scores(matrix) >= shallow).all(), measure


@given(qrels_and_run(), st.integers(1, 30))
def test_an_unjudged_tail_changes_no_measure_with_a_cutoff_above_it(case, length):
    qrels, run = case
    with_tail = {
        query: ranked | {f"tail{n}": -1e31 - n * 1e29 for n in range(length)}
        for query, ranked in run.items()
        if ranked
    }
    run = {query: ranked for query, ranked in run.items() if ranked}
    assume(set(run) & set(qrels))
    before, after = matrix_of(qrels, run), matrix_of(qrels, with_tail)
    # Not in the list: measures that divide by the number of retrieved documents.
    for name in ("nDCG", "MAP", "Recall", "MRR", "Rprec", "bpref", "infAP", "ERR", "RBP", "CG"):
        measure = parse(name)
        np.testing.assert_array_equal(measure.scores(before), measure.scores(after))
    for measure in (Precision, R_cap, F1, nDCG):
        np.testing.assert_array_equal((measure @ 5).scores(before), (measure @ 5).scores(after))


@given(qrels_and_run(), st.randoms(use_true_random=False))
def test_the_order_of_queries_and_documents_changes_nothing(case, rng):
    qrels, run = case

    def shuffled(mapping):
        return dict(rng.sample(list(mapping.items()), len(mapping)))

    mixed_qrels = {query: shuffled(judged) for query, judged in shuffled(qrels).items()}
    mixed_run = {query: shuffled(ranked) for query, ranked in shuffled(run).items()}
    before = evaluate(qrels, run, MEASURES)
    after = evaluate(mixed_qrels, mixed_run, MEASURES)
    assert _without_nan(before.aggregate) == _without_nan(after.aggregate)
    for query, scores in before.per_query.items():
        assert _without_nan(scores) == _without_nan(after.per_query[query])


def _without_nan(scores):
    return {name: None if math.isnan(value) else value for name, value in scores.items()}


@given(qrels_and_run(complete=True))
def test_measuring_parts_and_joining_equals_measuring_the_whole(case):
    qrels, run = case
    matrix = matrix_of(qrels, run)
    parts = [matrix.select(np.array([row])) for row in range(matrix.num_queries)]
    joined = RelevanceMatrix.concatenate(parts)
    assert joined.query_ids == matrix.query_ids
    for measure in MEASURES:
        expected = measure.scores(matrix)
        np.testing.assert_array_equal(measure.scores(joined), expected)
        scores_of_parts = np.concatenate([measure.scores(part) for part in parts])
        np.testing.assert_array_equal(scores_of_parts, expected)


def test_shared_queries_are_named_without_comparing_each_with_all_others():
    queries = [f"q{query}" for query in range(100_000)]  # a second; otherwise minutes
    matrix = matrix_of(*({query: {"a": value} for query in queries} for value in (1, 1.0)))
    with time_limit(60), pytest.raises(ResultError, match="and 99995 more"):
        RelevanceMatrix.concatenate([matrix, matrix])


@given(qrels_and_run())
def test_every_measure_with_a_textbook_loop_equals_it(case):
    qrels, run = case
    top_grade = max(grade for judged in qrels.values() for grade in judged.values())
    loops = {
        Precision: textbook.precision,
        Recall: textbook.recall,
        MAP: textbook.average_precision,
        MRR: textbook.reciprocal_rank,
        nDCG: textbook.ndcg,
        nDCG(gain="exp"): lambda *args: textbook.ndcg(*args, gain=lambda grade: 2**grade - 1),
        nDCG(gain={1: 1, 2: 5, 3: 5, 4: 9}): lambda *args: textbook.ndcg(
            *args, gain={1: 1, 2: 5, 3: 5, 4: 9}.get
        ),
        RBP(p=0.7): lambda *args: textbook.rbp(*args, p=0.7),
        Precision(rel=2): lambda *args: textbook.precision(*args, rel=2),
        MAP(rel=3): lambda *args: textbook.average_precision(*args, rel=3),
    }
    if top_grade > 0:
        loops[ERR] = lambda *args: textbook.err(*args, max_grade=top_grade)
    result = evaluate(qrels, run, [measure @ k for measure in loops for k in CUTOFFS])
    for query, judged in qrels.items():
        ids = textbook.rank_documents(list(run.get(query, {}).items()), judged)
        grades = textbook.grades_by_rank(ids, judged)
        for measure, loop in loops.items():
            for k in CUTOFFS:
                expected = pytest.approx(loop(grades, judged, k), abs=1e-12)
                assert result.per_query[query][str(measure @ k)] == expected, measure @ k


def half_away_from_zero(number):
    return math.floor(number + 0.5)


def up_from_a_tenth(number):
    return math.floor(number + 0.9)


#: {measure: its loop over ranks}, without a cutoff.
LOOPS = {
    "Judged": textbook.judged_share,
    "bpref": textbook.bpref,
    "bpref(rel=2)": lambda *args: textbook.bpref(*args, rel=2),
    "gm_bpref": lambda *args: max(textbook.bpref(*args), 0.00001),
    "infAP": textbook.inferred_ap,
    "infAP(rel=2)": lambda *args: textbook.inferred_ap(*args, rel=2),
    "RBP": lambda *args: textbook.rbp(*args, p=0.8),
    "IPrec(recall=0.3)": lambda *args: textbook.interpolated_precision(*args, 0.3, up_from_a_tenth),
    'IPrec(recall=0.3, rounding="trec_eval10")': lambda *args: textbook.interpolated_precision(
        *args, 0.3, half_away_from_zero
    ),
    "AP_11pt": lambda *args: textbook.eleven_point_average(*args, up_from_a_tenth),
    'AP_11pt(rounding="trec_eval10")': lambda *args: textbook.eleven_point_average(
        *args, half_away_from_zero
    ),
    "G": textbook.normalized_gain,
    "G(gain={1: 0.3, 2: 5})": lambda *args: textbook.normalized_gain(*args, {1: 0.3, 2: 5}.get),
    "binG": textbook.binary_gain,
}
LOOPS_WITHOUT_CUTOFF = {
    "Rndcg": textbook.ndcg_at_falls,
    "Rndcg(gain={1: 3, 2: 3})": lambda *args: textbook.ndcg_at_falls(*args, {1: 3, 2: 3}.get),
    "ndcg_rel": textbook.ndcg_at_documents,
    'ndcg_rel(gain="exp")': lambda *args: textbook.ndcg_at_documents(
        *args, lambda grade: 2**grade - 1
    ),
}


@pytest.mark.parametrize(
    "judged_elsewhere", [{}, {"elsewhere": 2}, {"elsewhere": 1, "there": 1, "beyond": 0}]
)
def test_every_ranking_of_four_scores_as_a_textbook_loop_over_its_ranks(judged_elsewhere):
    rankings = [
        grades for grades in product((None, -1, 0, 1, 2), repeat=4) if set(grades) != {None}
    ]
    judged = [ranking_of(grades)[1] | judged_elsewhere for grades in rankings]
    names = [str(number) for number in range(len(rankings))]
    runs = [ranking_of(grades)[0] for grades in rankings]
    matrix = matrix_of(dict(zip(names, judged, strict=True)), dict(zip(names, runs, strict=True)))
    for name, loop in LOOPS.items():
        for k in (None, 1, 3):
            measure = parse(name) if k is None else parse(name) @ k
            expected = [loop(*case, k) for case in zip(rankings, judged, strict=True)]
            assert measure.scores(matrix) == pytest.approx(expected, abs=1e-12), measure
    for name, loop in LOOPS_WITHOUT_CUTOFF.items():
        expected = [loop(*case) for case in zip(rankings, judged, strict=True)]
        assert parse(name).scores(matrix) == pytest.approx(expected, abs=1e-12), name


@given(qrels_and_run(complete=True), st.floats(0.1, 0.9))
def test_rbp_and_its_residual_add_up_to_the_highest_rbp_that_is_possible(case, p):
    qrels, run = case
    result = evaluate(qrels, run, [RBP(p=p) @ 4, RBP_residual(p=p) @ 4])
    for query, judged in qrels.items():
        ids = textbook.rank_documents(list(run[query].items()), judged)
        highest = textbook.rbp_highest(textbook.grades_by_rank(ids, judged), judged, 4, p)
        assert sum(result.per_query[query].values()) == pytest.approx(highest, abs=1e-12)


def test_the_residual_of_a_long_judged_ranking_comes_close_to_its_lower_bound():
    docs = [f"d{number}" for number in range(200)]
    run = {doc: -float(rank) for rank, doc in enumerate(docs)}
    result = evaluate({"q": dict.fromkeys(docs, 0)}, {"q": run}, [RBP_residual])
    assert result[RBP_residual] == pytest.approx(RBP_residual.bounds[0], abs=1e-12)


@given(qrels_and_run())
def test_hole_is_1_minus_judged(case):
    result = evaluate(*case, [Judged @ 3, Hole @ 3, Judged, Hole])
    np.testing.assert_array_equal(result.scores(Hole @ 3), 1 - result.scores(Judged @ 3))
    np.testing.assert_array_equal(result.scores(Hole), 1 - result.scores(Judged))


def test_judged_divides_by_the_number_retrieved_if_the_list_is_short():
    run = {"q": {"a": 2.0, "x": 1.0}}
    assert evaluate({"q": {"a": 1}}, run, [Judged @ 10])["Judged@10"] == 1 / 2


def test_a_negative_grade_is_not_judged():
    run = {"q": {"a": 2.0, "x": 1.0}}
    result = evaluate(
        {"q": {"a": 1, "x": -1}}, run, [Judged @ 10, "bpref", "num_nonrel_judged_ret"]
    )
    assert result["Judged@10"] == 1 / 2
    assert result["num_nonrel_judged_ret"] == 0


@given(qrels_and_run(complete=True))
def test_judged_only_equals_deleting_unjudged_documents(case):
    qrels, run = case
    judged_run = {
        query: {doc: score for doc, score in ranked.items() if qrels[query].get(doc, -1) >= 0}
        for query, ranked in run.items()
        if query in qrels
    }
    # Without infAP, which also counts pooled documents.
    measures = [measure for measure in MEASURES if measure.name != "infAP"]
    condensed = evaluate(qrels, run, [measure(judged_only=True) for measure in measures])
    deleted = evaluate(qrels, judged_run, measures)
    np.testing.assert_array_equal(condensed.values.array, deleted.values.array)


def test_interpolated_precision_depends_on_the_rounding():
    # Recall 0.7 of 2 relevant documents is 1.4: rounded, 1 document; ⌊1.4 + 0.9⌋ is 2.
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0}}
    for rounding, expected in (("trec_eval10", 1), ("trec_eval9", 0)):
        measure = IPrec(recall=0.7, rounding=rounding)
        assert evaluate(qrels, run, [measure])[measure] == expected


def test_half_a_document_rounds_away_from_zero():
    # Recall 0.5 of 3 relevant documents is 1.5, which rounds to 2, as lround in C does.
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0}}
    for recall, expected in ((0.5, 0), (0.4, 1)):
        measure = IPrec(recall=recall, rounding="trec_eval10")
        assert evaluate(qrels, run, [measure])[measure] == expected


def test_the_geometric_mean_floors_a_query_without_a_hit():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}, "r": {"x": 1.0}}
    result = evaluate(qrels, run, [gm_map])
    assert result["gm_map"] == pytest.approx(math.sqrt(1 * 0.00001), rel=1e-14)


@pytest.mark.parametrize(
    "measure", [measure for measure in every_measure() if measure.name not in REQUIRED], ids=str
)
def test_the_function_of_a_measure_has_the_parameters_of_its_name_as_defaults(measure):
    matrix, _ = matrix_of_every_ranking_of_four({"elsewhere": 1})
    scores = measure.definition.function(matrix)
    np.testing.assert_array_equal(np.asarray(scores, dtype=np.float64), measure.scores(matrix))


def test_bpref_of_positives_only_is_the_recall_of_the_ranking():
    qrels = {"q": dict.fromkeys(DOC_IDS[:6], 1)}
    run = {"q": {doc: float(rank) for rank, doc in enumerate(DOC_IDS[3:])}}
    result = evaluate(qrels, run, ["bpref", "Recall"])
    assert result["bpref"] == result["Recall"] == 3 / 6


def test_f1_weighs_recall_by_beta():
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}, {"q": {"a": 2.0, "x": 1.0}}
    precision, recall = 1 / 2, 1 / 4
    expected = (1 + 4) * precision * recall / (4 * precision + recall)
    assert evaluate(qrels, run, [F1(beta=2) @ 2])["F1(beta=2)@2"] == pytest.approx(expected)


def test_err_takes_the_highest_grade_of_the_whole_qrels():
    qrels, run = {"q": {"a": 1}, "r": {"b": 3}}, {"q": {"a": 1.0}}
    assert evaluate(qrels, run, [ERR], missing="skip")["ERR"] == (2**1 - 1) / 2**3
    assert evaluate(qrels, run, [ERR(max_grade=4)]).scores("ERR(max_grade=4)")[0] == 1 / 2**4
    with pytest.raises(MeasureError, match="grade 3, above max_grade=2"):
        evaluate(qrels, run, [ERR(max_grade=2)])


@pytest.mark.parametrize(
    ("judged", "measure", "missing"),
    [
        ({"a": 3}, "nDCG(gain={1: 1, 2: 2})", r"3\.0"),
        ({"a": 1, "not retrieved": 3}, "CG(gain={1: 1})", r"3\.0; it knows 0\.0, 1\.0"),
        ({"a": 1, "not retrieved": 3}, "G(gain={1: 1})", r"3\.0; it knows 0\.0, 1\.0"),
        ({"a": 0.5}, "CG(gain={1: 1})", r"0\.5"),
    ],
)
def test_a_gain_table_must_know_every_grade_above_zero(judged, measure, missing):
    with pytest.raises(MeasureError, match=f"no gain for grade {missing}"):
        evaluate({"q": judged}, {"q": {"a": 1.0}}, [measure])


@pytest.mark.parametrize(
    ("judged", "measure"),
    [({"a": 2, "b": -1}, "CG(gain={2: 7})"), ({"a": 0.5}, "CG(gain={0.5: 7})")],
)
def test_a_gain_table_needs_no_other_grades(judged, measure):
    assert evaluate({"q": judged}, {"q": {"a": 1.0}}, [measure])[measure] == 7


@pytest.mark.parametrize(("gain", "total"), [("linear", 0), ("exp", 0), ({1: 5}, 0), ({0: 3}, 3)])
def test_negative_grades_gain_nothing_and_grade_zero_only_what_a_table_says(gain, total):
    measure = parse("CG")(gain=gain)
    qrels = {"q": {"a": -0.5, "b": -1, "c": -3, "d": 0}}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    assert evaluate(qrels, run, [measure])[measure] == total


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_an_empty_ranking_and_a_missing_query_score_alike(measure):
    qrels = {"q": {"a": 1}, "r": {"b": 1, "c": 0}}
    empty = evaluate(qrels, {"q": {"a": 1.0}, "r": {}}, [measure])
    missing = evaluate(qrels, {"q": {"a": 1.0}}, [measure])
    np.testing.assert_array_equal(empty.values.array, missing.values.array)
    nonzero_scores = {
        "num_q": 1,
        "num_rel": 1,
        "gm_map": 0.00001,
        "gm_bpref": 0.00001,
        "RBP_residual": 1,
    }
    expected = (
        math.nan if measure.name in ("Judged", "Hole") else nonzero_scores.get(measure.name, 0)
    )
    score = f"{measure.name} of an empty ranking: state it in nonzero_scores"
    np.testing.assert_array_equal(empty.scores(measure)[1], expected, err_msg=score)
