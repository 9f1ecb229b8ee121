"""Every spelling in use is parsed, printed names are parsed back, bad names are explained."""

import math
import pickle
import re

import numpy as np
import pytest

from beir_eval import (
    F1,
    MAP,
    MRR,
    RBP,
    IPrec,
    Measure,
    Precision,
    Rprec_mult,
    evaluate,
    nDCG,
    parse,
)
from beir_eval.errors import MeasureError, SettingError, UnknownMeasureError
from beir_eval.measures import definitions, parse_all, spelled
from beir_eval.measures.names import names_as_typed

SPELLINGS = {
    # BEIR
    "NDCG@10": "nDCG@10",
    "relative_P.5": "R_cap@5",
    "Rprec_mult.2": "Rprec_mult(multiple=2)",
    "recall_cap@100": "R_cap@100",
    "Accuracy@5": "Success@5",
    "top_k_accuracy@5": "Success@5",
    # trec_eval
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.10": "nDCG@10",
    "map_cut_100": "MAP@100",
    "P_5": "Precision@5",
    "recip_rank": "MRR",
    "success_5": "Success@5",
    "gm_map": "gm_map",
    "set_P": "Precision",
    "set_F": "F1",
    "set_map": "set_map",
    "11pt_avg": "AP_11pt",
    "iprec_at_recall_0.10": "IPrec(recall=0.1)",
    "iprec_at_recall..1": "IPrec(recall=0.1)",
    "num_rel_ret": "num_rel_ret",
    # ir_measures
    "nDCG(dcg='exp-log2')@10": 'nDCG(gain="exp")@10',
    "nDCG(dcg='log2')@10": "nDCG@10",
    "AP": "MAP",
    "R@100": "Recall@100",
    "P(rel=2)@5": "Precision(rel=2)@5",
    "IPrec@0.1": "IPrec(recall=0.1)",
    "RBP(p=0.9, rel=2)": "RBP(p=0.9, rel=2)",
    "SetAP": "set_map",
    "Bpref(rel=2)": "bpref(rel=2)",
    "P(judged_only=True)@5": "Precision(judged_only=True)@5",
    # ranx
    "hit_rate@5": "Success@5",
    "S@5": "Success@5",
    "r-precision": "Rprec",
    "rbp.95": "RBP(p=0.95)",
    "ndcg_burges@5": 'nDCG(gain="exp")@5',
    "hits@5": "utility(other=0)@5",
    "map-l2": "MAP(rel=2)",
    "mrr@10-l2": "MRR(rel=2)@10",
    "hit_rate@5-L2": "Success(rel=2)@5",
    "ndcg_at_10": "nDCG@10",
    # MTEB, and names that are identifiers in Python
    "hit_rate_at_5": "Success@5",
    "r_cap_at_100": "R_cap@100",
    # ours, with blanks and capitals
    "  nDCG@10 ": "nDCG@10",
    "PRECISION@5": "Precision@5",
    'nDCG(gain="exp")@10': 'nDCG(gain="exp")@10',
    "nDCG(gain=exp)@10": 'nDCG(gain="exp")@10',
    "nDCG(dcg=exp-log2)@10": 'nDCG(gain="exp")@10',
    "IPrec(recall=0.5, rounding=trec_eval9)": "IPrec(recall=0.5)",
    "nDCG(gains={0:0,1:1,2:3})@10": "nDCG(gain={0: 0, 1: 1, 2: 3})@10",
    # ir_measures leaves out grades that are their own gains
    "nDCG(gains={2:3})@10": "nDCG(gain={1: 1, 2: 3})@10",
    "nDCG(gains={0.5:3, 1:4, 2:5})@10": "nDCG(gain={0.5: 3, 1: 4, 2: 5})@10",
    "CG(gain={0: 0, 1: 2, 2: 2.5})@3": "CG(gain={0: 0, 1: 2, 2: 2.5})@3",
    "F1(beta=0.5)@10": "F1(beta=0.5)@10",
}


@pytest.mark.parametrize(("text", "name"), SPELLINGS.items())
def test_every_spelling_in_use_is_parsed(text, name):
    assert str(parse(text)) == name


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_result_can_be_looked_up_by_every_spelling(text):
    grades = {"a": 2, "b": 1, "c": 0}
    result = evaluate({"q": grades}, {"q": {"a": 1.0, "c": 0.5}}, [text])
    assert result[text] == result.scores(text)[0] or parse(text).name == "gm_map"
    assert result[parse(text)] == result[text]


CANONICAL = [
    *("nDCG@10", "MAP@100", "Recall@100", "R_cap@100", "Precision@10", "MRR@10", "Success@5"),
    *("F1@10", "CG@5", "DCG@5", "Rprec", "bpref", "RBP(p=0.8)", "ERR@20", "Judged@10", "Hole@10"),
    *("infAP", "Precision(rel=2)@5", 'nDCG(gain="exp")@10', "IPrec(recall=0.1)", "AP_11pt"),
]


@pytest.mark.parametrize("name", sorted({*SPELLINGS.values(), *CANONICAL}))
def test_a_canonical_name_prints_as_itself(name):
    measure = parse(name)
    assert str(measure) == repr(measure) == name
    assert parse(measure) is measure
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301 - made here


def test_a_parameter_at_its_default_is_not_part_of_the_name():
    assert nDCG(gain="linear") @ 10 == nDCG @ 10
    assert F1(beta=1.0) == F1
    assert Precision(judged_only=False) == Precision
    assert Precision(rel=2.0) == Precision(rel=2) == Precision(rel=np.float32(2))
    assert str(Precision(rel=2.0) @ np.int64(5)) == "Precision(rel=2)@5"


def test_the_name_of_rbp_always_includes_its_persistence():
    assert str(RBP) == str(parse("RBP")) == "RBP(p=0.8)"
    assert str(RBP(p=0.5) @ 10) == "RBP(p=0.5)@10"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("nDGC@10", r"did you mean nDCG@10\?"),
        ("ndgc_cut_5", r"did you mean nDCG@5\?"),
        ("Recal(rel=2)@100", r"did you mean Recall\(rel=2\)@100\?"),
        ("nDGC@0", r"did you mean nDCG\?"),
        ("hitrat@5", "did you mean Success"),
        ("", r"did you mean Precision or Recall or F1\?"),
        ("@10", "no measure"),
        ("nDCG(", "no measure"),
        ("qwertyuiop", "lists them all"),
    ],
)
def test_an_unknown_measure_gets_a_hint(text, hint):
    with pytest.raises(UnknownMeasureError, match=hint):
        parse(text)


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        # two edits of at least eight letters
        ("presison", "Precision"),
        ("precisn", "Precision or Rprec"),
        # one edit of fewer letters
        ("pa", "Precision or MAP"),
        ("dncg", "DCG or nDCG"),
        # the first three, where more are as near
        ("q", "Precision or Recall or F1"),
        # the names of the three most similar spellings, where none is near
        ("average_recall", "MAP or Recall or R_cap"),
        ("num_retrieved", "num_ret or num_rel_ret"),
        ("apapp", "MAP or AP_11pt"),
        # edits are counted in names of at most 30 characters
        ("expected_reciprocal_rank_query", "ERR"),
        ("expected_reciprocal_rank_query1", "ERR or MRR"),
    ],
)
def test_the_names_with_the_fewest_edits_are_suggested_or_else_the_most_similar(text, suggested):
    with pytest.raises(UnknownMeasureError, match=rf"did you mean {suggested}\?"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nDCG10", "nDCG@10"),
        ("nDCG 10", "nDCG@10"),
        ("ndcg at 10", "nDCG@10"),
        ("map@", "MAP@10"),
        ("cosine_ndcg@10", "nDCG@10"),
        ("dot-score_MRR@5", "MRR@5"),
    ],
)
def test_a_name_in_an_odd_spelling_gets_the_one_that_was_meant(text, meant):
    for parse_one in (parse, parse_all):
        with pytest.raises(UnknownMeasureError, match=f"did you mean {meant}\\?"):
            parse_one(text)


def test_a_number_that_is_no_cutoff_is_not_suggested():
    for text in ("nDCG0", "cosine_ndcg@ten", "cosine_ndcg@", "nDCG0000000000000000000010"):
        with pytest.raises(UnknownMeasureError) as raised:
            parse(text)
        assert "@" not in str(raised.value).partition("did you mean")[2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nDCG@0", "1 or more, not 0"),
        ("nDCG@-5", "'-5' is not a whole number above 0"),
        ("Rprec@5", "takes no cutoff"),
        ("Rprec_mult", "needs the parameter multiple"),
        ("IPrec", "needs the parameter recall"),
        ("IPrec@2", "recall must be from 0 to 1"),
        ("nDCG(rel=2)@10", "no parameter 'rel'; it takes gain, judged_only"),
        ("P(rel=0)@5", "rel must be above 0"),
        ("P(rel='high')@5", "rel must be a number"),
        ("P(judged_only=1)@5", "judged_only must be True or False"),
        ("RBP(p=1)", "p must be above 0 and below 1"),
        ("nDCG(gain='cubic')@5", "gain='cubic' is not known; choose one of 'linear', 'exp'"),
        ("nDCG(gain={1: 3, 2: 1})@5", "nor decrease with the grade"),
        ("nDCG(gain={1: -3, 2: 1})@5", "must not be negative"),
        ("nDCG(gain={})@5", "1 to 1000 grades, not 0"),
        ("nDCG(gain=[1, 2])@5", "gain must be 'linear', 'exp' or a table"),
        ("P(rel=)@5", "is not a list of parameters"),
        ("P(rel=__import__('os'))@5", "is not a list of parameters"),
        ("MAP(2)", "is not a list of parameters"),
        ("MAP(**x)", "is not a list of parameters"),
        (
            "IPrec(recall=0.5, rounding='up')",
            "rounding='up' is not known; choose one of 'trec_eval9'",
        ),
        ("ERR(max_grade=inf)", "max_grade must be a number, not 'inf'"),
        ("nDCG(gain=exp, gains={1: 2})@10", "no parameter 'gains'"),
        ("ndcg@10-l2", "such as nDCG(gain={1: 0, 2: 2, 3: 3})@10"),
        ("map-l2-l3", "no measure 'map-l2-l3'"),
        ("err@20-l2", "ERR takes none; write ERR@20"),
        ("P(rel=1)@5-l2", "states two levels of relevance; leave one out: Precision(rel=1)@5"),
        ("nDCG(gain=[(1, 1), (1, 2)])@5", "each grade once"),
        (f"nDCG@{'9' * 20}", "at most 9007199254740992, not 9999"),
        (f"nDCG@00{'9' * 21}", "the cutoff has 21 digits; it must be at most 9007199254740992"),
        (f"P(rel={'9' * 400})@5", "rel must be a finite number"),
        ("F1(beta=1e200)@5", "beta must be above 0 and below"),
        ("nDCG(dcg='exp')@5", "dcg must be one of 'log2', 'exp-log2', not 'exp'"),
    ],
)
def test_an_impossible_measure_is_explained(text, problem):
    with pytest.raises(MeasureError, match=re.escape(problem)):
        parse(text)


def test_the_largest_values_that_are_allowed_are_accepted():
    assert (nDCG @ 2**53).cutoff == 2**53
    longest_table = {grade: grade for grade in range(1000)}
    assert len(dict(nDCG(gain=longest_table).parameters)["gain"]) == 1000
    with pytest.raises(MeasureError, match="1 to 1000 grades, not 1001"):
        nDCG(gain=longest_table | {1000: 1000})
    for recall in (0, 1):
        assert dict(parse(f"IPrec(recall={recall})").parameters)["recall"] == recall


@pytest.mark.parametrize(
    ("parameter", "limit"), [("p", 0), ("p", 1), ("beta", 0), ("beta", 1e6), ("rel", 0)]
)
def test_a_limit_that_is_excluded_is_refused_and_values_next_to_it_are_not(parameter, limit):
    measure = {"p": RBP, "beta": F1, "rel": Precision}[parameter]
    with pytest.raises(MeasureError, match=f"{parameter} must be above 0"):
        measure(**{parameter: limit})
    inside = math.nextafter(limit, 0.5)
    assert dict(measure(**{parameter: inside}).parameters)[parameter] == inside


def test_other_digits_than_ascii_are_no_cutoff():
    for text in ("ndcg_cut_\u0661\u0660", "ndcg_at_\uff11\uff10", "rbp.\u0669"):
        with pytest.raises(UnknownMeasureError):
            parse(text)
    assert parse("NDCG_AT_10") == nDCG @ 10
    assert parse("RBP.95") == RBP(p=0.95)


@pytest.mark.parametrize("cutoff", [0, -1, True, 2.5, "10", None])
def test_an_impossible_cutoff_is_explained(cutoff):
    with pytest.raises(MeasureError, match="cutoff must be"):
        nDCG @ cutoff


def test_a_number_and_an_empty_list_are_refused_as_measures():
    with pytest.raises(MeasureError, match=r"a name such as .* or a Measure, not 10"):
        parse(10)
    with pytest.raises(MeasureError, match="no measure is named"):
        parse_all([])


def test_a_single_name_is_parsed_like_a_list_and_repeats_are_removed():
    assert parse_all("nDCG@10") == (nDCG @ 10,)
    assert parse_all(["nDCG@10", "ndcg_cut_10", nDCG @ 10]) == (nDCG @ 10,)


@pytest.mark.parametrize(
    "texts",
    [
        "nDCG@10, MAP@100",
        "nDCG@10,MAP@100,",
        "nDCG @ 10  MAP@ 100",
        ["ndcg_cut_10 map_cut_100"],
        ["nDCG@10,MAP@100", MAP @ 100],
    ],
)
def test_commas_and_blanks_separate_several_names_in_a_text(texts):
    assert parse_all(texts) == (nDCG @ 10, MAP @ 100)


def test_commas_and_blanks_in_brackets_and_around_a_cutoff_belong_to_a_name():
    text = 'nDCG (gain="exp", judged_only=True) @ 10, Precision( rel=2 )@5'
    assert parse_all(text) == (nDCG(gain="exp", judged_only=True) @ 10, Precision(rel=2) @ 5)


def test_a_look_up_of_one_measure_refuses_several():
    with pytest.raises(MeasureError, match="one measure was expected, not 2: 'nDCG@10', 'MAP'"):
        parse("nDCG@10,MAP")


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("ndcg_cut.5,10", [nDCG @ 5, nDCG @ 10]),
        ("P.5,10", [Precision @ 5, Precision @ 10]),
        ("nDCG@5, 10, MAP", [nDCG @ 5, nDCG @ 10, MAP]),
        ("MAP,P(rel=2)@1,3,5 MRR", [MAP, *(Precision(rel=2) @ k for k in (1, 3, 5)), MRR]),
        ("iprec_at_recall.0.1,0.25", [IPrec(recall=0.1), IPrec(recall=0.25)]),
        ("IPrec@0.1,.5", [IPrec(recall=0.1), IPrec(recall=0.5)]),
        ("map_cut.5,map_cut.10,5", [MAP @ 5, MAP @ 10]),
    ],
)
def test_a_list_of_cutoffs_is_several_measures(text, measures):
    assert parse_all(text) == parse_all([text]) == tuple(measures)


@pytest.mark.parametrize(
    ("text", "single"),
    [
        ("nDCG@5,10", "'nDCG@5', 'nDCG@10'"),
        ("IPrec@0.1,0.2", "'IPrec@0.1', 'IPrec@0.2'"),
    ],
)
def test_a_list_of_cutoffs_where_one_measure_is_expected_is_an_error_with_the_single_names(
    text, single
):
    expected = f"one measure was expected, not 2: {single}; name one of them (parse_all reads"
    with pytest.raises(UnknownMeasureError, match=re.escape(expected)):
        parse(text)


@pytest.mark.parametrize(
    "text", ["MAP,10", "10", "5,10", "MAP 10,20", "P.5 10", "utility.1,-1,0,0"]
)
def test_a_number_without_a_name_with_a_number_before_it_is_no_cutoff(text):
    with pytest.raises(UnknownMeasureError):
        parse_all(text)


@pytest.mark.parametrize("typed", ["p@5", "P_5", "prec@5", "R@9", "ndcg_cut.5", "map_cut_5", "F@2"])
def test_a_spelling_of_the_canonical_name_is_no_other_name(typed):
    assert names_as_typed([typed]) == {}


@pytest.mark.parametrize(
    ("typed", "canonical", "named"),
    [
        ("Hits@10", "utility(other=0)@10", "Hits@10"),
        ("hits(missed=-1)", "utility(missed=-1, other=0)", "hits(missed=-1)"),
        ("hit_rate_at_5", "Success@5", "hit_rate@5"),
        ("set_P", "Precision", "set_P"),
        ("ndcg_burges@5", 'nDCG(gain="exp")@5', "ndcg_burges@5"),
        ("relative_P_5", "R_cap@5", "relative_P@5"),
        ("hit-l2", "Success(rel=2)", "hit(rel=2)"),
    ],
)
def test_another_name_of_a_measure_is_kept_with_its_parameters(typed, canonical, named):
    assert names_as_typed([typed]) == {canonical: named}
    assert parse(named) == parse(canonical) == parse(typed)


def test_of_two_names_for_a_measure_the_first_is_kept():
    assert names_as_typed(["RR", "MRR,recip_rank"]) == {"MRR": "RR"}
    assert names_as_typed(["MRR", "RR"]) == names_as_typed(["seconds", MAP]) == {}


def test_results_can_be_named_as_in_other_tools():
    names = ["nDCG@10", "MAP", "MRR@10", "R_cap@5", "Hole@10", "Precision(rel=2)@5", "P"]
    result = evaluate({"q": {"a": 2}}, {"q": {"a": 1.0}}, names)
    assert list(result.as_dict(names="beir")) == [
        *("NDCG@10", "MAP", "MRR@10", "R_cap@5", "Hole@10", "Precision(rel=2)@5", "Precision")
    ]
    assert list(result.as_dict(names="trec_eval")) == [
        *("ndcg_cut_10", "map", "MRR@10", "relative_P_5", "Hole@10", "Precision(rel=2)@5", "set_P")
    ]
    assert list(result.as_dict(names="ir_measures")) == [
        *("nDCG@10", "AP", "RR@10", "R_cap@5", "Hole@10", "P(rel=2)@5", "SetP")
    ]
    assert list(result.as_dict()) == list(result.measures)
    with pytest.raises(SettingError, match="names='ranx'"):
        result.as_dict(names="ranx")


def test_a_level_that_another_tool_would_round_keeps_our_name():
    assert spelled(IPrec(recall=0.25), "trec_eval") == "iprec_at_recall_0.25"
    assert spelled(IPrec(recall=0.125), "trec_eval") == "IPrec(recall=0.125)"
    assert spelled(Rprec_mult(multiple=1.005), "trec_eval") == "Rprec_mult(multiple=1.005)"


def test_every_measure_documents_its_formula_source_and_example():
    for definition in definitions().values():
        text = definition.documentation
        assert "Formula: " in text, definition.name
        assert "Undefined " in text, definition.name
        assert "Source: " in text, definition.name
        assert ">>> " in text, definition.name
        assert definition.summary.endswith("."), definition.name
        assert Measure(definition.name).definition is definition
